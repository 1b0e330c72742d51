//! Values that a log does not record, so that the ingest assumes them: waits and statuses.
//!
//! In: the counted remarks of a lake. Out: notes for answers.

use crate::digits;
use crate::lake::Lake;
use crate::schema::{STARTS, Table};

/// The waits that a log does not record. Jobs without a recorded wait count as started when they
/// were submitted.
pub(crate) struct AssumedWaits {
    /// Whether the log records none of these waits.
    pub of_all: bool,
    /// Whether the waits of tasks that never started are known, although those of other tasks are
    /// not.
    pub knows_unstarted: bool,
    /// The note about the number of unknown waits.
    pub note: String,
}

/// The first words of remarks about unknown waits before the first attempt of a task.
pub(crate) const NO_WAIT: [&str; 3] =
    ["wait unknown", "no submit time: submitted at the start", STARTS];

/// The first words of the same remark about tasks that never started.
const NEVER_STARTED: &str = "no submit time: submitted at the end";

/// The first words of the same remark about later attempts.
const LATER: &str = "no submit time of a later attempt";

/// The waits that a study needs, with their number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitsOf {
    /// The first wait of each task, including tasks that never started: the number of all tasks,
    /// and of those that started.
    Tasks(u64, u64),
    /// The first wait of each task that started, in a log with one task per job.
    Started(u64),
    /// The wait before each attempt that started.
    Attempts(u64),
}

/// Describes the waits that the study needs and the log does not record; `None` if there are none.
pub(crate) fn assumed_waits(lake: &Lake, asked: WaitsOf) -> Option<AssumedWaits> {
    let remarked = |wording: &str| remarked(lake, wording);
    let one = if lake.source().is_log() { "job" } else { "task" };
    waits_of(&remarked, asked, one)
}

/// Like `assumed_waits`. `remarked` counts remarks by their first words; `one` is the noun for what
/// waits, a job or a task.
fn waits_of(
    remarked: &dyn Fn(&str) -> u64,
    asked: WaitsOf,
    one: &'static str,
) -> Option<AssumedWaits> {
    let started: u64 = NO_WAIT.iter().map(|wording| remarked(wording)).sum();
    let (later, never) = (remarked(LATER), remarked(NEVER_STARTED));
    let (assumed, count, noun) = match asked {
        // The waits of tasks that never started may be known even if those of other tasks are not.
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

/// The note if the log records no status, so that jobs that ran count as finished.
pub(crate) fn assumed_ends(lake: &Lake, finished: u64) -> Option<String> {
    is_assumed(lake, "status unknown", finished).then(|| {
        format!(
            "Whether a job finished is unknown: the log records no status for any of the {} that \
            ran, which count as finished.",
            digits::counted(finished, "job")
        )
    })
}

/// Whether an assumption was made for all of `count` values. `wording` is the beginning of its
/// remarks.
pub(crate) fn is_assumed(lake: &Lake, wording: &str, count: u64) -> bool {
    0 < count && count <= remarked(lake, wording)
}

/// The number of remarks that begin with `wording`.
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
        // Of the tasks that started, 300 have a wait.
        let (of_all, note) = of(&created, WaitsOf::Tasks(1800, 1500)).unwrap();
        assert!(!of_all && note.contains("no wait for 1,200 of 1,800 tasks"), "{note}");
        let submitted = "no submit time: submitted at the start";
        let never = "no submit time: submitted at the end, as it never started";
        assert!(of(&[(submitted, 5), (never, 2)], WaitsOf::Tasks(7, 5)).unwrap().0);
        assert_eq!(of(&[(submitted, 5)], WaitsOf::Tasks(0, 0)), None);
        assert_eq!(of(&[], WaitsOf::Tasks(9, 4)), None);
    }
}
