//! The answer of `episodes`: what happened when.
//!
//! In: a lake, the length of intervals, and the rule for an interval that stands out. Out: a row
//! per episode, and the counts of every interval. A row has the user, job and reason with most of
//! the events, and what the cluster did before and after.

mod answer;
mod charts;
mod found;
mod plan;
mod seen;
mod step;
mod surges;
mod table;
mod when;

use crate::results::kind::Kind;
use crate::results::shares::{Share, share};
use crate::schema::{STARTS, Table};

pub use answer::{EpisodeRow, EpisodesAnswer, OfKind};
pub(super) use found::asked;
pub use found::{Episodes, episodes};
pub use plan::EpisodesPlan;
pub(crate) use step::STEP;
pub use surges::{DayRow, LongQueue};

/// The result.
pub const KIND: Kind<'static> = Kind {
    captions: &[
        ("episodes", "Episodes"),
        ("episodes-days", "Days with far more than the median day"),
        ("episodes-kinds", "How much of it fell into episodes"),
        ("episodes-intervals", "All intervals"),
    ],
    tables: &[Table::JobEvents, Table::TaskEvents, Table::MachineEvents],
    remarks: &["status ", "wait ", STARTS, "pods deleted"],
    sentence: Some(|it| it.found::<EpisodesAnswer>()?.sentence()),
    names: Some(|it| it.found().map(EpisodesAnswer::names).unwrap_or_default()),
    figure: Some("episodes-time"),
    ..Kind::called("episodes", "What happened when").holding::<EpisodesAnswer>()
};

/// The shares of the answer.
pub const SHARES: [Share; 7] = [
    share("share", "count", "events of the same kind in the time that is known"),
    share("user_share", "events of the user in the episode", "count"),
    share("job_share", "events of the job in the episode", "count"),
    share("machine_share", "attempts on the machine that ended so in the episode", "count"),
    share("reason_share", "events of jobs that ended for the reason in the episode", "count"),
    share(
        "queue_user_share",
        "time waited by tasks of the user in the longest queue",
        "that of all tasks",
    ),
    share("in_episodes_share", "events in all episodes of the kind", "events of the kind"),
];
