//! Outcomes of jobs and tasks: counts by event sequence or by last terminal event.
//!
//! In: the table of `q01_job_outcomes` or `q02_task_outcomes`, bucket by bucket. Out: a
//! [`Classification`]; its counts add up to the number of jobs or tasks. The order of rows is
//! fixed: the published classes first, then by descending count.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::facts::events::Event;
use crate::facts::jobs::{self, Job};
use crate::facts::window::Windows;
use crate::studies::named::Named;

/// How outcomes are defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Classes {
    /// By the exact event sequence, as published: 014, 013, 015, 01, other.
    #[default]
    Sequence,
    /// By the last terminal event, unless a SUBMIT or SCHEDULE follows it.
    Terminal,
}

impl Classes {
    /// The column of the facts that holds the outcome.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Sequence => "outcome_sequence",
            Self::Terminal => "outcome_terminal",
        }
    }

    /// Every outcome of this classification, in display order.
    pub const fn outcomes(self) -> &'static [&'static str] {
        match self {
            Self::Sequence => &["finished", "failed", "killed", "running", "other"],
            Self::Terminal => &[
                "finished", "failed", "killed", "evicted", "lost", "pending", "running", "unknown",
            ],
        }
    }

    /// The outcome of a job, as a position in [`Self::outcomes`].
    pub(crate) fn of_job(self, job: &Job) -> usize {
        usize::from(match self {
            Self::Sequence => job.by_sequence,
            Self::Terminal => job.by_terminal,
        })
    }

    /// The event sequence of an outcome.
    fn sequence_of(self, outcome: &str) -> Option<&'static str> {
        match (self, outcome) {
            (Self::Sequence, "finished") => Some("014"),
            (Self::Sequence, "failed") => Some("013"),
            (Self::Sequence, "killed") => Some("015"),
            (Self::Sequence, "running") => Some("01"),
            _ => None,
        }
    }

    /// Whether an event sequence has a named outcome, so that it does not count as `other`.
    pub(crate) fn is_named(sequence: &str) -> bool {
        let own = |outcome: &&str| Self::Sequence.sequence_of(outcome) == Some(sequence);
        Self::Sequence.outcomes().iter().any(own)
    }
}

impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sequence => "sequence",
            Self::Terminal => "terminal",
        })
    }
}

/// A name that is not a definition of outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is neither `sequence` nor `terminal`")]
pub struct ClassesError(String);

impl FromStr for Classes {
    type Err = ClassesError;

    fn from_str(name: &str) -> Result<Self, ClassesError> {
        match name {
            "sequence" => Ok(Self::Sequence),
            "terminal" => Ok(Self::Terminal),
            _ => Err(ClassesError(name.to_owned())),
        }
    }
}

/// One line of a classification.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutcomeRow {
    /// The event sequence; `None` if the outcome has many.
    pub sequence: Option<String>,
    /// The outcome.
    pub outcome: String,
    /// Jobs or tasks.
    pub count: u64,
    /// Share of all.
    pub share: f64,
}

/// One line of a classification that is split by end reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReasonRow {
    /// The outcome.
    pub outcome: Cow<'static, str>,
    /// The outcome, with words that say what happened in place of `other`. `None` if outcomes are
    /// defined by the last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<Cow<'static, str>>,
    /// The reason for the end, in the words of the log; `None` while the job or task is open.
    pub end_reason: Option<String>,
    /// Jobs or tasks.
    pub count: u64,
    /// Share of all.
    pub share: f64,
}

/// Makes rows from counts. The keys are the position of the outcome in [`Classes::outcomes`], the
/// words for `other`, and the reason. Rows are in the order of outcomes, then by descending count.
pub fn reason_rows(
    counts: BTreeMap<(usize, Option<&'static str>, Option<String>), u64>,
    classes: Classes,
) -> Vec<ReasonRow> {
    let total: u64 = counts.values().sum();
    let mut rows: Vec<(usize, ReasonRow)> = counts
        .into_iter()
        .map(|((place, of_other, end_reason), count)| {
            let (outcome, share) = (classes.outcomes()[place], ratio(count, total));
            let course = match classes {
                Classes::Sequence => Some(of_other.unwrap_or(outcome).into()),
                Classes::Terminal => None,
            };
            (place, ReasonRow { outcome: outcome.into(), course, end_reason, count, share })
        })
        .collect();
    rows.sort_by_key(|(place, row)| (*place, std::cmp::Reverse(row.count)));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The number of jobs or tasks per outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Classification {
    /// One row per outcome.
    pub rows: Vec<OutcomeRow>,
    /// All jobs or tasks.
    pub total: u64,
    /// Every exact sequence by descending count, including those that count as `other`.
    pub sequences: Vec<OutcomeRow>,
    /// Jobs or tasks with a first event before the window (at time 0).
    pub left_censored: u64,
    /// Jobs or tasks open at the window's end.
    pub censored: u64,
}

/// The window in which jobs or tasks are observed.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The windows of the lake.
    pub windows: Windows,
    /// The end of the window for these jobs or tasks, µs.
    pub end_us: i64,
}

/// Counts sequences and outcomes, one job, task or table at a time.
#[derive(Debug, Default)]
pub struct Counter {
    counts: BTreeMap<(String, String), u64>,
    seen: FxHashMap<String, (&'static str, u64)>,
    scratch: String,
    left_censored: u64,
    censored: u64,
    /// Tasks with FINISH as their last event, by the outcome of their job.
    finished_of: BTreeMap<&'static str, u64>,
}

impl Counter {
    /// Counts a task with FINISH as its last event, under the outcome of its job.
    pub(crate) fn add_finished(&mut self, of_job: &'static str) {
        *self.finished_of.entry(of_job).or_default() += 1;
    }

    /// The finished tasks of known jobs, by the outcome of the job.
    pub(crate) fn finished_of(&self) -> Named<u64> {
        self.finished_of.iter().map(|(outcome, count)| (*outcome, *count)).collect()
    }

    /// Counts one job or task by its events.
    pub fn add_events(&mut self, events: &[Event], classes: Classes, window: Window) {
        let (first, last) = (events.first().copied(), events.last().copied());
        if let Some((first, last)) = first.zip(last) {
            let is_ended = jobs::is_ended(jobs::by_terminal(events));
            self.count_edges(window, first.time_us, last.time_us, is_ended);
        }
        let outcome = match classes {
            Classes::Sequence => jobs::SEQUENCE_OUTCOMES[usize::from(jobs::by_sequence(events))],
            Classes::Terminal => jobs::TERMINAL_OUTCOMES[usize::from(jobs::by_terminal(events))],
        };
        // The key is written into a reused buffer, because almost all sequences are known already.
        self.scratch.clear();
        jobs::write_sequence(events, &mut self.scratch);
        match self.seen.get_mut(self.scratch.as_str()) {
            Some((_, count)) => *count += 1,
            None => {
                self.seen.insert(self.scratch.clone(), (outcome, 1));
            }
        }
    }

    fn count_edges(&mut self, window: Window, first_us: i64, last_us: i64, is_ended: bool) {
        self.left_censored += u64::from(window.windows.has_begun_before(first_us));
        self.censored += u64::from(!is_ended || window.end_us < last_us);
    }

    /// Adds the counts of another counter.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.left_censored += other.left_censored;
        self.censored += other.censored;
        for (outcome, count) in &other.finished_of {
            *self.finished_of.entry(outcome).or_default() += count;
        }
        for (key, count) in other.into_counts() {
            *self.counts.entry(key).or_default() += count;
        }
        self
    }

    fn into_counts(mut self) -> BTreeMap<(String, String), u64> {
        // Each sequence has one outcome; the ordered map makes the order deterministic.
        for (sequence, (outcome, count)) in self.seen.drain().collect::<BTreeMap<_, _>>() {
            *self.counts.entry((sequence, outcome.to_owned())).or_default() += count;
        }
        self.counts
    }

    /// Counts the rows of a table from `q01` or `q02`.
    pub fn add(&mut self, facts: &RecordBatch, classes: Classes, window: Window) {
        let text = |name: &str| {
            facts.column_by_name(name).expect("the query has this column").as_string::<i32>()
        };
        let (sequences, outcomes) = (text("sequence"), text(classes.column()));
        let ends = text(Classes::Terminal.column());
        let times = |name: &str| {
            let column = facts.column_by_name(name).expect("the query has this column");
            column.as_primitive::<Int64Type>()
        };
        let (begins, lasts) = (times("first_event_us"), times("last_event_us"));
        debug_assert_eq!(sequences.null_count() + outcomes.null_count(), 0, "every task has both");
        for row in 0..facts.num_rows() {
            let key = (sequences.value(row).to_owned(), outcomes.value(row).to_owned());
            *self.counts.entry(key).or_default() += 1;
            let end = jobs::TERMINAL_OUTCOMES.iter().position(|name| *name == ends.value(row));
            let is_ended = end.and_then(|end| u8::try_from(end).ok()).is_some_and(jobs::is_ended);
            self.count_edges(window, begins.value(row), lasts.value(row), is_ended);
        }
    }

    /// The counts as tables.
    pub fn finish(self, classes: Classes) -> Classification {
        let (left_censored, censored) = (self.left_censored, self.censored);
        let counts = self.into_counts();
        let total = counts.values().sum();
        let share = |count: u64| if total == 0 { 0.0 } else { ratio(count, total) };
        let rows = classes
            .outcomes()
            .iter()
            .map(|&outcome| {
                let count = counts
                    .iter()
                    .filter(|((_, name), _)| name == outcome)
                    .map(|(_, count)| count)
                    .sum();
                let sequence = classes.sequence_of(outcome).map(str::to_owned);
                OutcomeRow { sequence, outcome: outcome.to_owned(), count, share: share(count) }
            })
            .collect();
        let mut sequences: Vec<OutcomeRow> = counts
            .into_iter()
            .map(|((sequence, outcome), count)| OutcomeRow {
                sequence: Some(sequence),
                outcome,
                count,
                share: share(count),
            })
            .collect();
        sequences.sort_by(|one, other| {
            other.count.cmp(&one.count).then_with(|| one.sequence.cmp(&other.sequence))
        });
        Classification { rows, total, sequences, left_censored, censored }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 tasks")]
fn ratio(count: u64, total: u64) -> f64 {
    count as f64 / total as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int64Array, StringArray};
    use arrow::datatypes::{DataType, Field, Schema};

    use super::*;
    use crate::facts::window::OpenAttempts;

    #[test]
    fn counts_add_up_and_rare_sequences_are_kept() {
        let texts = ["sequence", "outcome_sequence", "outcome_terminal"]
            .map(|name| Field::new(name, DataType::Utf8, false));
        let times = ["first_event_us", "last_event_us"]
            .map(|name| Field::new(name, DataType::Int64, false));
        let facts = RecordBatch::try_new(
            Arc::new(Schema::new([texts.to_vec(), times.to_vec()].concat())),
            vec![
                Arc::new(StringArray::from(vec!["014", "015", "014", "01"])),
                Arc::new(StringArray::from(vec!["finished", "killed", "finished", "running"])),
                Arc::new(StringArray::from(vec!["finished", "killed", "finished", "running"])),
                Arc::new(Int64Array::from(vec![0, 600, 600, 0])),
                Arc::new(Int64Array::from(vec![700, 700, i64::MAX, 0])),
            ],
        )
        .unwrap();
        let mut counter = Counter::default();
        let windows = Windows {
            job_end_us: 800,
            task_end_us: 800,
            first_us: 1,
            open_attempts: OpenAttempts::default(),
        };
        counter.add(&facts, Classes::Sequence, Window { windows, end_us: 800 });
        let table = counter.finish(Classes::Sequence);
        assert_eq!(table.total, 4);
        assert_eq!(table.rows.iter().map(|row| row.count).collect::<Vec<u64>>(), [2, 0, 1, 1, 0]);
        // The job that still runs, and the job that finishes after the window.
        assert_eq!((table.left_censored, table.censored), (2, 2));
        assert_eq!(table.rows[0].sequence.as_deref(), Some("014"));
        assert_eq!(table.rows[4].sequence, None);
        assert_eq!(table.sequences[0].sequence.as_deref(), Some("014"));
        assert_eq!(table.sequences[0].share, 0.5);
    }
}
