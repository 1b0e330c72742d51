//! What a log does not record and the ingest assumed: waits and statuses.
//!
//! In: the counted remarks of a lake. Out: notes for answers.

use crate::digits;
use crate::lake::Lake;
use crate::schema::{STARTS, Table};

/// Waits that a log does not record: the jobs count as started when they were submitted.
pub(crate) struct AssumedWaits {
    /// Whether no wait is recorded.
    pub of_all: bool,
    /// Whether the waits of tasks that never started are known nevertheless.
    pub knows_unstarted: bool,
    /// How many are not.
    pub note: String,
}

/// How the remarks about such waits of tasks begin, those before a first attempt.
pub(crate) const NO_WAIT: [&str; 3] =
    ["wait unknown", "no submit time: submitted at the start", STARTS];

/// The same for tasks that never started.
const NEVER_STARTED: &str = "no submit time: submitted at the end";

/// The same for later attempts.
const LATER: &str = "no submit time of a later attempt";

/// Waits that a study asks for, with their number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitsOf {
    /// The first of each task, also of those that never started: the number of all, and of those
    /// that started.
    Tasks(u64, u64),
    /// The first of each task that started, in a log with a task per job.
    Started(u64),
    /// Those before each attempt that started.
    Attempts(u64),
}

/// The waits of those asked for that the log does not record, if any.
pub(crate) fn assumed_waits(lake: &Lake, asked: WaitsOf) -> Option<AssumedWaits> {
    let remarked = |wording: &str| remarked(lake, wording);
    let one = if lake.source().is_log() { "job" } else { "task" };
    waits_of(&remarked, asked, one)
}

/// The same, from how often a remark was made; `one` is what waits once.
fn waits_of(
    remarked: &dyn Fn(&str) -> u64,
    asked: WaitsOf,
    one: &'static str,
) -> Option<AssumedWaits> {
    let started: u64 = NO_WAIT.iter().map(|wording| remarked(wording)).sum();
    let (later, never) = (remarked(LATER), remarked(NEVER_STARTED));
    let (assumed, count, noun) = match asked {
        // The waits of tasks that never started may be known where those of the others are not.
        WaitsOf::Tasks(all, own) if started + never < all && 0 < own && own <= started => {
            (started, own, one)
        }
        WaitsOf::Tasks(all, _) => (started + never, all, one),
        WaitsOf::Started(count) => (started, count, one),
        WaitsOf::Attempts(count) if later == 0 => (started, count, one),
        WaitsOf::Attempts(count) => (started + later, count, "attempt"),
    };
    if assumed == 0 || count == 0 {
        return None;
    }
    let jobs = digits::counted(count, noun);
    let of_all = count <= assumed;
    let knows_unstarted = matches!(asked, WaitsOf::Tasks(all, _) if count < all);
    let which = if knows_unstarted { " that started" } else { "" };
    let note = if of_all {
        format!(
            "No wait is known: the log records none for any of its {jobs}{which}, which are assumed \
             to start when they are submitted."
        )
    } else {
        format!(
            "The log records no wait for {} of {jobs}: they are assumed to start when they are \
             submitted, and {}.",
            digits::grouped(assumed),
            if noun == one { "count with a wait of 0" } else { "add no waiting time" }
        )
    };
    Some(AssumedWaits { of_all, knows_unstarted, note })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_is_known_if_none_of_those_that_started_is() {
        let of = |remarks: &[(&str, u64)], asked: WaitsOf| {
            let remarked = |begin: &str| {
                let own = remarks.iter().filter(|(wording, _)| wording.starts_with(begin));
                own.map(|(_, count)| count).sum()
            };
            waits_of(&remarked, asked, "task").map(|waits| (waits.of_all, waits.note))
        };
        let created = [("no start time: started when it was created", 1200)];
        let said = "No wait is known: the log records none for any of its 1,200 tasks";
        let (of_all, note) = of(&created, WaitsOf::Tasks(1500, 1200)).unwrap();
        assert!(of_all && note.starts_with(&format!("{said} that started, which")), "{note}");
        let (of_all, note) = of(&created, WaitsOf::Tasks(1200, 1200)).unwrap();
        assert!(of_all && note.starts_with(&format!("{said}, which")), "{note}");
        assert!(of(&created, WaitsOf::Attempts(1200)).unwrap().0);
        // 300 of those that started have a wait.
        let (of_all, note) = of(&created, WaitsOf::Tasks(1800, 1500)).unwrap();
        assert!(!of_all && note.contains("no wait for 1,200 of 1,800 tasks"), "{note}");
        let submitted = "no submit time: submitted at the start";
        let never = "no submit time: submitted at the end, as it never started";
        assert!(of(&[(submitted, 5), (never, 2)], WaitsOf::Tasks(7, 5)).unwrap().0);
        assert_eq!(of(&[(submitted, 5)], WaitsOf::Tasks(0, 0)), None);
        assert_eq!(of(&[], WaitsOf::Tasks(9, 4)), None);
    }
}
