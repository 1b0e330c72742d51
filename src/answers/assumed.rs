//! What a log does not record and the ingest assumed: waits and statuses.
//!
//! In: the counted remarks of a lake. Out: notes for answers.

use crate::digits;
use crate::lake::Lake;
use crate::schema::Table;

/// Waits that a log does not record: the jobs count as started when they were submitted.
pub(crate) struct AssumedWaits {
    /// Whether no wait is recorded.
    pub of_all: bool,
    /// How many are not.
    pub note: String,
}

/// How the remarks about such waits of tasks begin, those before a first attempt.
pub(crate) const NO_WAIT: [&str; 2] = ["wait unknown", "no submit time: submitted at the start"];

/// The same for tasks that never started.
const NEVER_STARTED: &str = "no submit time: submitted at the end";

/// The same for later attempts.
const LATER: &str = "no submit time of a later attempt";

/// Waits that a study asks for, with their number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitsOf {
    /// The first of each task, also of those that never started.
    Tasks(u64),
    /// The first of each task that started, in a log with a task per job.
    Started(u64),
    /// Those before each attempt that started.
    Attempts(u64),
}

/// The waits of those asked for that the log does not record, if any.
pub(crate) fn assumed_waits(lake: &Lake, asked: WaitsOf) -> Option<AssumedWaits> {
    let started: u64 = NO_WAIT.iter().map(|wording| remarked(lake, wording)).sum();
    let later = remarked(lake, LATER);
    let (assumed, count, noun) = match asked {
        WaitsOf::Tasks(count) => (started + remarked(lake, NEVER_STARTED), count, "job"),
        WaitsOf::Started(count) => (started, count, "job"),
        WaitsOf::Attempts(count) if later == 0 => (started, count, "job"),
        WaitsOf::Attempts(count) => (started + later, count, "attempt"),
    };
    if assumed == 0 || count == 0 {
        return None;
    }
    let jobs = digits::counted(count, noun);
    let of_all = count <= assumed;
    let note = if of_all {
        format!(
            "No wait is known: the log records none for any of its {jobs}, which are assumed to \
             start when they are submitted."
        )
    } else {
        format!(
            "The log records no wait for {} of {jobs}: they are assumed to start when they are \
             submitted, and {}.",
            digits::grouped(assumed),
            if noun == "job" { "count with a wait of 0" } else { "add no waiting time" }
        )
    };
    Some(AssumedWaits { of_all, note })
}

/// The note if the log records no status, and jobs that ran count as finished.
pub(crate) fn assumed_ends(lake: &Lake, finished: u64) -> Option<String> {
    is_assumed(lake, "status unknown", finished).then(|| {
        format!(
            "Whether a job finished is unknown: the log records no status for any of the {} that \
            ran, which count as finished.",
            digits::counted(finished, "job")
        )
    })
}

/// Whether an assumption was made for all of `count` values; `wording` is how its remarks begin.
pub(crate) fn is_assumed(lake: &Lake, wording: &str, count: u64) -> bool {
    0 < count && count <= remarked(lake, wording)
}

/// How often a remark was made that begins so.
fn remarked(lake: &Lake, wording: &str) -> u64 {
    let remarks = lake.remarks(Table::TaskEvents).into_iter();
    remarks.filter(|(said, _)| said.starts_with(wording)).map(|(_, count)| count).sum()
}
