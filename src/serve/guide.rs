//! What a form shows in addition to the flags of a command: the question in words, the fields that
//! come first, examples to click, and whether a lake can answer at all.
//!
//! In: the name of a command. Out: texts. No answer depends on them. This module also converts
//! lists: users may write them with spaces or commas, and the command reads one of the two.

use super::lakes::Version;
use crate::answers::form::Form;
use crate::answers::list::STUDIES;

/// The form of a command; `None` for a name that has none.
fn form(command: &str) -> Option<Form> {
    STUDIES.iter().find(|study| study.name == command)?.form
}

/// The question that a command answers; empty for a name that is not a command.
pub(super) fn question(command: &str) -> &'static str {
    form(command).map_or("", |form| form.question)
}

/// Whether a field comes first.
pub(super) fn is_basic(command: &str, field: &str) -> bool {
    form(command).is_some_and(|form| form.first.contains(&field))
}

/// Values of a field, each with its meaning.
type Examples = &'static [(&'static str, &'static str)];

/// Values to click, for fields that take a special notation.
const EXAMPLES: [(&str, &str, Examples); 7] = [
    (
        "replay",
        "policies",
        &[
            ("fifo", "first come, first served"),
            ("easy", "EASY backfilling: short jobs fill gaps, but never delay the first job"),
            ("fair", "the user with the least recent usage first"),
            ("sjf", "the shortest requested time first"),
            ("fifo+late", "first come, first served, with copies of slow tasks"),
            ("fifo+kill:failures=3", "first come, first served; a task ends after 3 failures"),
        ],
    ),
    (
        "sweep",
        "rules",
        &[
            ("events", "a number of events of a task"),
            ("failures=3", "3 failures of a task"),
            ("slurm:limit={3600,14400}", "a running time of 1 or 4 hours"),
            ("k8s:backoff_limit=6", "the seventh failure of a job"),
        ],
    ),
    (
        "predict",
        "rules",
        &[
            ("last", "as the last job of the same user and name"),
            ("rate", "as most earlier jobs of the same user and name"),
            ("class", "as most jobs of the class"),
            ("logistic", "a logistic regression on all of these"),
        ],
    ),
    (
        "detect",
        "detectors",
        &[
            ("all", "all of them"),
            ("late", "LATE: the slowest quarter, the longest time left first"),
            ("spark", "Spark: 1.5 to 3 times the median"),
            ("mantri", "Mantri: restarts or copies by the remaining time"),
            ("flink", "Flink: 1.5 times the median of the fastest three quarters"),
        ],
    ),
    ("detect", "truth", &[("median:1.5", "longer than 1.5 times the median of its group")]),
    ("sweep", "thresholds", &[("10..=400:10", "10, 20, ... 400"), ("5,10,20", "these three")]),
    ("monthly", "timezone", &[("UTC", "as recorded"), ("Europe/Berlin", "local time of a site")]),
];

/// The examples of a field.
pub(super) fn examples(command: &str, field: &str) -> Examples {
    let found = EXAMPLES.iter().find(|(name, of, _)| (*name, *of) == (command, field));
    found.map_or(&[], |(_, _, examples)| examples)
}

/// A list as the command reads it: some take words separated by spaces, some by commas.
pub(super) fn list_of(command: &str, field: &str, value: &str) -> String {
    let separator = match (command, field) {
        ("replay", "policies") | ("detect", "detectors") => " ",
        ("sweep" | "predict", "rules") => ",",
        _ => return value.to_owned(),
    };
    words(value).join(separator)
}

/// The words of a list that is separated by spaces or commas. A comma before `key=value` belongs to
/// the word before it, as in `late:cap=0.1,heartbeat_s=60`, and so does one in braces.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in text.split_whitespace() {
        let (mut depth, mut begin) = (0_usize, 0);
        let mut pieces = Vec::new();
        for (at, letter) in part.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    pieces.push(&part[begin..at]);
                    begin = at + 1;
                }
                _ => {}
            }
        }
        pieces.push(&part[begin..]);
        let mut is_first = true;
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            let has_parameters = words.last().is_some_and(|last| last.contains(':'));
            match words.last_mut() {
                Some(last) if !is_first && has_parameters && is_parameter(piece) => {
                    last.push(',');
                    last.push_str(piece);
                }
                _ => words.push(piece.to_owned()),
            }
            is_first = false;
        }
    }
    words
}

/// Whether a piece is `key=value`, and not a name with its own parameters.
fn is_parameter(piece: &str) -> bool {
    let end = piece.find('=');
    end.is_some_and(|end| !piece[..end].contains([':', '+', '{']))
}

/// Why a lake cannot answer a command; `None` if it can.
pub(super) fn unanswerable(command: &str, lake: &Version) -> Option<String> {
    let study = STUDIES.iter().find(|study| study.name == command)?;
    let tables = study.results.first()?.tables;
    let missing = tables.iter().find(|table| lake.rows.iter().all(|(known, _)| known != *table));
    if let Some(table) = missing {
        return Some(format!("it has no table {table}"));
    }
    let needs_failures = command == "machines" && !lake.has_failures;
    needs_failures.then(|| "the log does not record when machines fail".to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::serve::ask::answers;

    #[test]
    fn every_question_has_its_words() {
        for name in answers() {
            assert!(question(name).ends_with('?'), "{name}");
        }
        for name in answers().filter(|name| *name != "fairness") {
            assert!(form(name).is_some_and(|form| !form.first.is_empty()), "{name}");
        }
    }

    #[test]
    fn policies_may_be_separated_by_commas() {
        for (given, read) in [
            ("fifo,easy", "fifo easy"),
            ("fifo, easy,fair", "fifo easy fair"),
            ("fifo easy", "fifo easy"),
            (
                "late:cap=0.1,heartbeat_s=60,fifo:depth=100",
                "late:cap=0.1,heartbeat_s=60 fifo:depth=100",
            ),
            ("fifo+late:cap={0.05,0.1},easy", "fifo+late:cap={0.05,0.1} easy"),
            ("easy,fifo+kill:slurm:limit=3600", "easy fifo+kill:slurm:limit=3600"),
            (",fifo,,easy,", "fifo easy"),
        ] {
            assert_eq!(list_of("replay", "policies", given), read);
        }
        assert_eq!(list_of("sweep", "rules", "events failures=3"), "events,failures=3");
        assert_eq!(
            list_of("sweep", "rules", "slurm:limit={1,2},k8s:backoff_limit=6,on=fail"),
            "slurm:limit={1,2},k8s:backoff_limit=6,on=fail"
        );
        assert_eq!(list_of("replay", "sample", "0,1"), "0,1");
    }

    #[test]
    fn examples_are_lists_that_stay_as_they_are() {
        for (command, field, examples) in EXAMPLES {
            for (value, meaning) in examples {
                assert_eq!(list_of(command, field, value), *value);
                assert!(!meaning.is_empty());
            }
        }
    }

    proptest! {
        /// Converting a list a second time does not change it.
        #[test]
        fn a_list_stays_the_same(text in "[ab:=,{} +]{0,24}") {
            let once = list_of("replay", "policies", &text);
            prop_assert_eq!(list_of("replay", "policies", &once), once.clone());
        }
    }
}
