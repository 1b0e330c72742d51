//! The outcomes of jobs or tasks as they are stored and read back, and their sentence.

use serde::{Deserialize, Serialize};

use super::SHARES;
use super::other::{self, NEVER_STARTED};
use crate::answers::flow;
use crate::answers::sentences::{Ends, percent};
use crate::digits::counted;
use crate::results::shares::Terms;
use crate::studies::censoring::Censoring;
use crate::studies::named::Named;
use crate::studies::outcomes::{Classes, Classification, OutcomeRow, ReasonRow};

/// The answer of `classify`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassifyAnswer {
    /// One row per outcome.
    pub rows: Vec<OutcomeRow>,
    /// All jobs or tasks.
    pub total: u64,
    /// Every exact event sequence, the most frequent first.
    pub sequences: Vec<OutcomeRow>,
    /// The jobs, tasks or attempts that cross the edges of the window.
    pub censoring: Censoring,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// Counts by outcome and reason; `None` if the user did not request them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasons: Option<Vec<ReasonRow>>,
    /// Tasks whose last event is FINISH, by the outcome of their job. `None` unless an analysis
    /// counts tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_of: Option<Named<u64>>,
}

impl ClassifyAnswer {
    /// The answer about a count; `of` is `jobs` or `tasks`.
    pub(crate) fn of(outcome: &Classification, of: &'static str) -> Self {
        let censoring = Censoring {
            of,
            left_censored: outcome.left_censored,
            censored: Some(outcome.censored),
            ..Censoring::default()
        };
        Self {
            rows: outcome.rows.clone(),
            total: outcome.total,
            sequences: outcome.sequences.clone(),
            censoring,
            terms: Terms::of(&SHARES),
            reasons: None,
            finished_of: None,
        }
    }

    /// The number of jobs or tasks that finished.
    pub(crate) fn finished(&self) -> u64 {
        let finished = self.rows.iter().filter(|row| row.outcome == "finished");
        finished.map(|row| row.count).sum()
    }

    /// Whether the chart of paths, which counts by the last event, differs from the rows.
    pub(crate) fn is_counted_in_two_ways(&self) -> bool {
        let is_by_sequence = self.rows.iter().any(|row| row.sequence.is_some());
        is_by_sequence && differing(&self.rows, &self.sequences).next().is_some()
    }

    /// An outcome in the words of a sentence. For `other`, the words say what it consists of.
    pub(crate) fn words(&self, outcome: &str) -> String {
        let parts = || other::parts(&self.sequences).into_iter().filter(|part| SAID < part.share);
        match outcome {
            "running" => "still running at the end".to_owned(),
            "killed" if parts().any(|part| part.words == NEVER_STARTED) => {
                "killed while running".to_owned()
            }
            "other" => {
                let more = if parts().nth(PARTS_SAID).is_some() { ", and others" } else { "" };
                let parts = parts().take(PARTS_SAID);
                let parts = parts.map(|part| format!("{} {}", percent(part.share), part.words));
                let parts: Vec<String> = parts.collect();
                match parts.as_slice() {
                    [] => "with another outcome".to_owned(),
                    parts => format!("other ({}{more})", parts.join(", ")),
                }
            }
            known => known.to_owned(),
        }
    }

    /// The counts by the last event, the largest first. `None` if the rows count by exact sequence
    /// and few have the outcome `other`, which says little; also `None` without sequences.
    pub(crate) fn by_last_event(&self) -> Option<Vec<Ending>> {
        let others = self.rows.iter().filter(|row| row.outcome == "other");
        let share: f64 = others.map(|row| row.share).sum();
        let is_by_sequence = self.rows.iter().any(|row| row.sequence.is_some());
        if is_by_sequence && share < MANY || self.sequences.is_empty() {
            return None;
        }
        let mut all = self.endings();
        all.retain(|ending| SAID < ending.share);
        Some(all)
    }

    /// The counts by the last event, the largest first.
    pub(crate) fn endings(&self) -> Vec<Ending> {
        let parts = other::parts(&self.sequences);
        let early = parts.iter().find(|part| part.words == NEVER_STARTED && SAID < part.share);
        let words = |outcome: &str| match outcome {
            "killed" => early.map_or_else(
                || "killed".to_owned(),
                |part| format!("killed ({} before the start)", percent(part.share)),
            ),
            "evicted" => "evicted and not started again under the same id".to_owned(),
            "pending" => "still waiting at the end".to_owned(),
            known => self.words(known),
        };
        let all = Classes::Terminal.outcomes().iter().map(|outcome| {
            let count = flow::ending_as(&self.sequences, outcome);
            #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 jobs or tasks")]
            let share = count as f64 / self.total.max(1) as f64;
            Ending { outcome, count, share, words: words(outcome) }
        });
        let mut all: Vec<Ending> = all.filter(|ending| 0 < ending.count).collect();
        all.sort_by(|one, other| other.share.total_cmp(&one.share));
        all
    }

    /// The sentence with the share of each outcome that occurs. It counts by the last event if that
    /// says more.
    pub(crate) fn sentence(&self, ends: Ends) -> String {
        let total = self.total;
        let of = self.censoring.of.trim_end_matches('s');
        let of = if of.is_empty() { "job" } else { of };
        if total == 0 {
            return format!("There are no {of}s");
        }
        if let Some(last) = self.by_last_event().filter(|_| ends == Ends::Known) {
            let last: Vec<String> = last.iter().map(Ending::said).collect();
            let all = counted(total, of);
            return format!("Of {all}, by their last event, {}", last.join(", "));
        }
        let parts = self.rows.iter().filter(|row| 0.0 < row.share);
        let parts = parts.map(|row| match (ends, row.outcome.as_str()) {
            (Ends::Assumed, "finished") => {
                format!("{} ran to an end that the log does not record", percent(row.share))
            }
            (_, outcome) => format!("{} {}", percent(row.share), self.words(outcome)),
        });
        let parts: Vec<String> = parts.collect();
        format!("Of {}, {}", counted(total, of), parts.join(", "))
    }
}

/// The jobs or tasks with one outcome, counted by their last event.
pub(crate) struct Ending {
    pub outcome: &'static str,
    pub count: u64,
    /// Their share of all.
    pub share: f64,
    /// The outcome in the words of a sentence.
    pub words: String,
}

impl Ending {
    /// The share and the outcome, such as `52.8 % finished`.
    pub(crate) fn said(&self) -> String {
        format!("{} {}", percent(self.share), self.words)
    }
}

/// The outcomes, except `other`, whose count by the last event differs from the count in the rows:
/// the outcome and both counts.
pub(super) fn differing<'a>(
    rows: &'a [OutcomeRow],
    sequences: &'a [OutcomeRow],
) -> impl Iterator<Item = (&'a str, u64, u64)> {
    let known = rows.iter().filter(|row| row.outcome != "other");
    let both =
        known.map(|row| (&*row.outcome, flow::ending_as(sequences, &row.outcome), row.count));
    both.filter(|(_, here, there)| here != there)
}

/// A sentence names at most this many parts of `other`, each with a share above `SAID`.
const PARTS_SAID: usize = 3;
const SAID: f64 = 0.0005;

/// If `other` has at least this share, a sentence begins with the last events.
const MANY: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_reported_with_their_shares() {
        let row = |outcome: &str, count: u64, share: f64| OutcomeRow {
            outcome: outcome.to_owned(),
            count,
            share,
            ..OutcomeRow::default()
        };
        let rows =
            vec![row("finished", 385_581, 0.57372), row("failed", 9, 0.0), row("killed", 9, 0.4)];
        let answer = ClassifyAnswer { rows, total: 672_074, ..ClassifyAnswer::default() };
        assert_eq!(answer.sentence(Ends::Known), "Of 672,074 jobs, 57.4 % finished, 40.0 % killed");
        assert_eq!(answer.finished(), 385_581);
        assert_eq!(
            answer.sentence(Ends::Assumed),
            "Of 672,074 jobs, 57.4 % ran to an end that the log does not record, 40.0 % killed"
        );
        assert_eq!(ClassifyAnswer::default().sentence(Ends::Known), "There are no jobs");
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small share")]
    fn other_outcomes_are_reported_by_what_they_consist_of() {
        let row = |sequence: Option<&str>, outcome: &str, share: f64| OutcomeRow {
            sequence: sequence.map(str::to_owned),
            outcome: outcome.to_owned(),
            count: (share * 1000.0) as u64,
            share,
        };
        let answer = ClassifyAnswer {
            rows: vec![row(None, "other", 0.2), row(Some("015"), "killed", 0.1)],
            sequences: vec![
                row(Some("05"), "other", 0.15),
                row(Some("012"), "other", 0.0499),
                row(Some("016"), "other", 0.0001),
                row(Some("015"), "killed", 0.1),
            ],
            total: 1000,
            ..ClassifyAnswer::default()
        };
        assert_eq!(
            answer.sentence(Ends::Known),
            "Of 1,000 jobs, by their last event, 25.0 % killed (15.0 % before the start), 4.9 % evicted and \
            not started again under the same id"
        );
        assert_eq!(answer.words("other"), "other (15.0 % killed before the start, 5.0 % evicted)");
        assert_eq!(answer.words("killed"), "killed while running");
    }
}
