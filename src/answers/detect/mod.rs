//! The answer of `detect`: detectors scored on history.
//!
//! In: the flags of the detectors. Out: scores per detector, under every truth, by window and by
//! hour.

mod answer;
pub(crate) mod charts;
mod lines;
mod lineup;
mod order;
pub mod plan;
mod result;
mod shift_charts;
pub(crate) mod step;
mod tables;

use crate::results::kind::Kind;
use crate::results::shares::{Share, share};
use crate::schema::{STARTS, Table};

pub use answer::{DetectAnswer, DetectCurve, DetectPoint};
pub(crate) use lines::closed;
pub use lines::counts_line;
pub use lineup::{Curve, Lineup};
pub use result::{answer, detect_into, put_details, settings};
pub use tables::table_of;

/// The shares and rates in scores and copies.
pub const SHARES: [Share; 11] = [
    share("precision", "hits", "(hits + false_alarms)"),
    share("recall", "hits", "(hits + missed)"),
    share("f1", "2 x hits", "(2 x hits + false_alarms + missed)"),
    share(
        "lead_median_share",
        "time from the flag to the end of the attempt",
        "length of the attempt; the median over hits",
    ),
    share("lost_share", "lost_s", "slot time of all attempts of the groups: task_hours"),
    share(
        "earlier_share",
        "earlier_s",
        "time from first event to last end, summed over the groups: response_hours",
    ),
    share("largest_earlier_share", "largest earlier_s of one job", "earlier_s"),
    share("false_alarms_per_task_hour", "false_alarms", "task_hours"),
    share("rate_in_shift", "false_alarms_in_shift", "task_hours in hours of a shift"),
    share("rate_in_calm", "false_alarms_in_calm", "task_hours in the other compared hours"),
    share("ratio_to_before", "length_median_s of the hour", "the median of the hours before"),
];

/// The result.
pub const KIND: Kind<'static> = Kind {
    captions: &[
        ("detect-settings", "The parameters of each detector"),
        ("detect-truths", "Scores under other definitions of a straggler"),
        ("detect-shifts", "False alarms in hours of change and in others"),
        ("detect-copies", "A dry run of the copies"),
        ("detect-hours", "Hour by hour"),
        ("detect-flags", "Every flag"),
    ],
    tables: &[Table::TaskEvents],
    remarks: &["status ", STARTS],
    sentence: Some(|it| it.found::<DetectAnswer>()?.sentence()),
    names: Some(|it| it.found().map(DetectAnswer::names).unwrap_or_default()),
    folded: &["detect-hours", "detect-shifts"],
    figure: Some("detect-scores"),
    ..Kind::called("detect", "Scores of the detectors").holding::<DetectAnswer>()
};
