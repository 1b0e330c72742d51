//! The answer of `load`: the cluster over time, as rows, stacked areas and profiles.
//!
//! In: a lake, the length of intervals, and the groups. Out: means per interval, in total and by
//! group; the arrivals of jobs; waits and slowdowns by size, request and user.

mod answer;
mod arrival_charts;
mod charts;
mod fates;
mod length;
mod loaded;
mod plan;
mod result;
mod size_charts;
pub(crate) mod step;
mod table;
mod units;

use crate::results::kind::Kind;
use crate::results::shares::{Share, share};
use crate::schema::STARTS;

pub use answer::{LevelChange, LoadAnswer, LoadRow, OfSize, Totals, WaitingOf, WholeFrom};
pub(crate) use answer::{WAITS_MIN, averaged, longest_wait, share_of};
pub(crate) use fates::{fate_columns, with_most};
pub use length::{Length, LengthError};
pub use loaded::{Loaded, load};
pub(super) use plan::asked;
pub use plan::{LoadPlan, UsedMemory};
pub(crate) use size_charts::of_request;

/// The result.
pub const KIND: Kind<'static> = Kind {
    captions: &[
        ("load-by-size", "Waits and slowdowns by size of the job"),
        ("load-by-cpu-request", "Waits and slowdowns by the CPU that the job requests"),
        ("load-by-memory-request", "Waits and slowdowns by the memory that the job requests"),
        ("load-by-job-user", "Waits and slowdowns by user"),
        ("load-hours", "Submissions by hour of the week"),
        ("load-dispersion", "Submissions in bursts"),
        ("load-by-priority-band", "Load by priority band"),
        ("load-by-outcome", "Load by outcome of the job"),
        ("load-intervals", "Load of all groups together"),
        ("load-by-machine", "Load of a sample of machines"),
    ],
    remarks: &["status ", "wait ", STARTS, "pods deleted"],
    folded: &["-machines"],
    parts: &[
        ("load-arrivals", "Submissions"),
        ("load-dispersion", "Submissions"),
        ("load-autocorrelation", "Submissions"),
        ("load-size", "Jobs by size and by request"),
    ],
    sentence: Some(|it| it.found::<LoadAnswer>()?.sentence(&it.inputs)),
    figure: Some("load-cpu-allocated"),
    ..Kind::called("load", "The cluster over time").holding::<LoadAnswer>()
};

/// The shares of the answer.
pub const SHARES: [Share; 6] = [
    share("cpu_allocated_share", "cpu_allocated", "cpu_capacity"),
    share("cpu_used_share", "cpu_used", "cpu_allocated"),
    share("memory_allocated_share", "memory_allocated", "memory_capacity"),
    share("memory_used_share", "memory_used", "memory_allocated"),
    share(
        "before_share",
        "cpu_allocated before level.at_s (of a log that lacks early jobs, from whole_from.intervals_from_s on)",
        "cpu_capacity in that time",
    ),
    share("after_share", "cpu_allocated from level.at_s on", "cpu_capacity in that time"),
];
