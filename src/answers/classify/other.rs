//! Describes in words what the outcome `other` consists of, if jobs are classified by exact
//! sequence.
//!
//! In: event sequences with their counts. Out: the groups of `other`, the largest first; their
//! counts add up to the count of `other`. Groups have the names that a reader would use: killed
//! before the start, several attempts, evicted.

use crate::answers::flow::Way;
use crate::answers::sentences::percent;
use crate::studies::outcomes::{Classes, OutcomeRow};

/// A group of jobs or tasks, such as a part of those with the outcome `other`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    /// The words for what the jobs or tasks of the group have in common.
    pub words: &'static str,
    /// The number of jobs or tasks.
    pub count: u64,
    /// Their share of all jobs or tasks.
    pub share: f64,
}

/// Killed while waiting, as happens when a user cancels a job in the queue.
pub(crate) const NEVER_STARTED: &str = "killed before the start";

/// The words for a sequence with the outcome `other`.
fn words(way: Way) -> &'static str {
    match (way.has_submit(), way.attempts(), way.end()) {
        (false, ..) => "without a recorded SUBMIT",
        (true, 0, "killed") => NEVER_STARTED,
        (true, 0, "pending") => WAITS_FIRST,
        (true, 0, _) => "ended before the start",
        (true, 1, "evicted") => "evicted",
        (true, 1, "lost") => "lost",
        (true, 1, "pending") => "waiting for another attempt",
        (true, 1, _) => "one attempt and other events",
        (true, ..) => "several attempts",
    }
}

/// Like `words`, for a sequence as text.
pub(super) fn words_of(sequence: &str) -> &'static str {
    words(Way::of(sequence))
}

/// If `other` has at least this share, outcomes by exact sequence say nothing.
const NEARLY_ALL: f64 = 0.9;

/// The warning that nearly all jobs or tasks (`of` is the noun) are `other` by exact sequence.
pub fn nearly_all(rows: &[OutcomeRow], classes: Classes, of: &str) -> Option<String> {
    let others = rows.iter().filter(|row| row.outcome == "other");
    let share: f64 = others.map(|row| row.share).sum();
    (classes == Classes::Sequence && NEARLY_ALL <= share).then(|| {
        format!(
            "{} of the {of} are `other` by their exact sequence of events: `--classes terminal` goes \
            by the last event",
            percent(share)
        )
    })
}

/// Whether a job or task with this sequence is still waiting for its first attempt.
pub(crate) fn waits_first(sequence: &str) -> bool {
    words_of(sequence) == WAITS_FIRST
}

/// Submitted, and neither scheduled nor ended.
const WAITS_FIRST: &str = "waiting for the first attempt";

/// The jobs or tasks without an attempt, grouped by what became of them, the largest group first.
pub(crate) fn without_attempt(sequences: &[OutcomeRow]) -> Vec<Part> {
    grouped(sequences.iter().filter(|row| way(row).attempts() == 0))
}

/// The groups of the outcome `other`, the largest first.
pub(crate) fn parts(sequences: &[OutcomeRow]) -> Vec<Part> {
    let is_named = |row: &OutcomeRow| row.sequence.as_deref().is_some_and(Classes::is_named);
    grouped(sequences.iter().filter(|row| !is_named(row)))
}

fn way(row: &OutcomeRow) -> Way {
    Way::of(row.sequence.as_deref().unwrap_or_default())
}

/// Groups sequences by what they have in common, the largest group first.
fn grouped<'a>(sequences: impl Iterator<Item = &'a OutcomeRow>) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    for row in sequences {
        let words = words(way(row));
        match all.iter_mut().find(|part| part.words == words) {
            Some(part) => {
                part.count += row.count;
                part.share += row.share;
            }
            None => all.push(Part { words, count: row.count, share: row.share }),
        }
    }
    all.sort_by_key(|part| (std::cmp::Reverse(part.count), part.words));
    all
}

/// The largest groups; the rest is one group.
pub(crate) fn main_parts(sequences: &[OutcomeRow]) -> Vec<Part> {
    let mut all = parts(sequences);
    if MAIN < all.len() {
        let rest = all.split_off(MAIN - 1);
        let (count, share) =
            (rest.iter().map(|part| part.count), rest.iter().map(|part| part.share));
        all.push(Part { words: "other courses", count: count.sum(), share: share.sum() });
    }
    all
}

/// The most groups of [`main_parts`].
const MAIN: usize = 4;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(sequence: &str, count: u64) -> OutcomeRow {
        OutcomeRow {
            sequence: Some(sequence.to_owned()),
            outcome: "other".to_owned(),
            count,
            ..OutcomeRow::default()
        }
    }

    #[test]
    fn other_is_reported_by_what_its_sequences_have_in_common() {
        for (sequence, said) in [
            ("05", "killed before the start"),
            ("0", "waiting for the first attempt"),
            ("03", "ended before the start"),
            ("012", "evicted"),
            ("016", "lost"),
            ("0120", "waiting for another attempt"),
            ("01874", "one attempt and other events"),
            ("012014", "several attempts"),
            ("4", "without a recorded SUBMIT"),
        ] {
            assert_eq!(parts(&[row(sequence, 1)])[0].words, said, "{sequence}");
        }
        let finished = OutcomeRow { outcome: "finished".to_owned(), ..row("014", 9) };
        assert_eq!(parts(&[finished]), []);
    }

    #[test]
    fn outcomes_that_are_nearly_all_other_are_warned_of() {
        let rows = |share: f64| {
            [
                OutcomeRow { share, ..row("4", 996) },
                OutcomeRow { outcome: "finished".to_owned(), share: 1.0 - share, ..row("014", 4) },
            ]
        };
        let said = nearly_all(&rows(0.996), Classes::Sequence, "jobs").unwrap();
        assert!(said.starts_with("99.6 % of the jobs are `other` by their exact"), "{said}");
        assert_eq!(nearly_all(&rows(0.5), Classes::Sequence, "jobs"), None);
        assert_eq!(nearly_all(&rows(0.996), Classes::Terminal, "jobs"), None);
    }

    #[test]
    fn what_has_no_attempt_is_reported_whatever_its_outcome() {
        let failed = OutcomeRow { outcome: "failed".to_owned(), ..row("03", 2) };
        let all = [
            row("05", 3),
            row("0", 9),
            row("07", 1),
            row("01", 20),
            row("01201", 5),
            row("5", 4),
            failed,
        ];
        let told: Vec<(&str, u64)> =
            without_attempt(&all).iter().map(|part| (part.words, part.count)).collect();
        assert_eq!(
            told,
            [
                ("waiting for the first attempt", 10),
                ("without a recorded SUBMIT", 4),
                ("killed before the start", 3),
                ("ended before the start", 2),
            ]
        );
        assert!(waits_first("07") && !waits_first("05") && !waits_first("0120"));
    }

    proptest! {
        #[test]
        fn parts_add_up_to_other(
            all in prop::collection::vec(("[0-8]{1,8}|01[345]?", 1..1000_u64), 0..20),
        ) {
            let rows: Vec<OutcomeRow> = all.iter().map(|(text, count)| row(text, *count)).collect();
            let named = ["014", "013", "015", "01"];
            let others = all.iter().filter(|(text, _)| !named.contains(&text.as_str()));
            let total: u64 = others.map(|one| one.1).sum();
            for parts in [parts(&rows), main_parts(&rows)] {
                prop_assert_eq!(parts.iter().map(|part| part.count).sum::<u64>(), total);
            }
            prop_assert!(main_parts(&rows).len() <= MAIN);
        }
    }
}
