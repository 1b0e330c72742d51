//! What became of jobs or tasks, as it is stored and read back, and its sentence.

use serde::{Deserialize, Serialize};

use crate::answers::sentences::{Ends, percent};
use crate::digits::counted;
use crate::results::shares::Terms;
use crate::studies::censoring::Censoring;
use crate::studies::outcomes::{OutcomeRow, ReasonRow};

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
    /// What crosses the edges of the window.
    pub censoring: Censoring,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// Counts by outcome and reason; `None` if they were not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasons: Option<Vec<ReasonRow>>,
}

impl ClassifyAnswer {
    /// The number of jobs or tasks that finished.
    pub(crate) fn finished(&self) -> u64 {
        let finished = self.rows.iter().filter(|row| row.outcome == "finished");
        finished.map(|row| row.count).sum()
    }

    /// The sentence with the share of each outcome that occurs.
    pub(crate) fn sentence(&self, ends: Ends) -> String {
        let total = self.total;
        let of = self.censoring.of.trim_end_matches('s');
        let of = if of.is_empty() { "job" } else { of };
        if total == 0 {
            return format!("There are no {of}s");
        }
        let parts = self.rows.iter().filter(|row| 0.0 < row.share);
        let parts = parts.map(|row| match (ends, row.outcome.as_str()) {
            (Ends::Assumed, "finished") => {
                format!("{} ran to an end that the log does not record", percent(row.share))
            }
            (_, outcome) => format!("{} {outcome}", percent(row.share)),
        });
        let parts: Vec<String> = parts.collect();
        format!("Of {}, {}", counted(total, of), parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_told_with_their_shares() {
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
}
