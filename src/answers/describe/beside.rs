//! Parts of an answer that are not in its table: shares at round amounts, and the waits that ended
//! with an attempt.
//!
//! In: the described values. Out: what sentences and pages need in addition to the table. It is
//! empty in results of older versions.

use serde::{Deserialize, Serialize};

use super::parts::Part;
use super::plan::Question;
use crate::studies::counted::{Counted, Value};
use crate::studies::distributions::{TICKS, TICKS_S, shares_at, summarize, survival_at};
use crate::studies::ledger::UNMATCHED;
use crate::studies::samples::{Waits, What};
use crate::units::micros_to_seconds;

/// A share of the values of an outcome at a round amount.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tick {
    /// The outcome of the jobs, or `all`.
    pub outcome: String,
    /// The amount, in the unit of the values.
    pub value: f64,
    /// Share of values at or below this amount, for a distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_at_or_below: Option<f64>,
    /// Share of jobs that last longer, for a survival curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// The waits that ended with an attempt, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StartedWaits {
    /// Tasks that started.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// 99 % quantile.
    pub p99: Option<f64>,
    /// Longest wait.
    pub max: Option<f64>,
    /// The shortest wait that ended before any attempt; `None` if there is none.
    pub ended_min: Option<f64>,
}

/// The shares of each outcome at round amounts. Groups have none, because there may be many.
pub(super) fn ticks(parts: &[(Part, Counted)], question: Question) -> Vec<Tick> {
    let what = question.what;
    if question.group_by.is_some() {
        return Vec::new();
    }
    let known = parts.iter().filter(|(part, values)| {
        !values.is_empty() && (what != What::JobSurvival || part.outcome != UNMATCHED)
    });
    known.flat_map(|(part, values)| of_part(part.outcome, values, what)).collect()
}

fn of_part(outcome: &str, values: &Counted, what: What) -> Vec<Tick> {
    let of = |(value, share): (f64, f64)| Tick {
        outcome: outcome.to_owned(),
        value,
        share_at_or_below: (what != What::JobSurvival).then_some(share),
        share: (what == What::JobSurvival).then_some(share),
    };
    if what == What::JobSurvival {
        // Nothing is known about times after the longest duration.
        let longest_s = micros_to_seconds(values.largest().map_or(0, Value::amount));
        let ticks: Vec<f64> = TICKS_S.into_iter().filter(|tick| *tick <= longest_s).collect();
        let shares = survival_at(values, &ticks);
        return ticks.into_iter().zip(shares).map(of).collect();
    }
    let ticks: &[f64] = if what.is_time() { &TICKS_S } else { &TICKS };
    let shares = shares_at(values, ticks, what.per_unit());
    ticks.iter().copied().zip(shares).map(of).collect()
}

/// The waits of all tasks that started. `None` unless all waits are described and some ended with
/// an attempt.
pub(super) fn started(all: &Counted, question: Question) -> Option<StartedWaits> {
    if question.what != What::Waiting || question.waits != Waits::All {
        return None;
    }
    let kept = |is_in: fn(Value) -> bool| {
        let mut own = all.clone();
        own.retain(is_in);
        summarize("all", &own, What::Waiting.per_unit())
    };
    let own = kept(|value| !value.is_unstarted() && !value.is_censored());
    let ended = kept(Value::is_unstarted);
    (0 < own.count).then_some(StartedWaits {
        count: own.count,
        mean: own.mean,
        median: own.median,
        p99: own.p99,
        max: own.max,
        ended_min: ended.min,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::counted::Edges;

    fn part(outcome: &'static str) -> Part {
        Part { group: None, outcome }
    }

    #[test]
    fn shares_are_read_at_round_amounts() {
        let counts: Vec<Value> =
            [0, 1, 1, 4].map(|count| Value::new(count, Edges::default())).into();
        let parts = [(part("all"), Counted::from(counts)), (part("failed"), Counted::default())];
        let found = ticks(&parts, Question::plain(What::Attempts));
        let shares: Vec<f64> = found.iter().filter_map(|tick| tick.share_at_or_below).collect();
        assert_eq!(shares[..5], [0.25, 0.75, 0.75, 0.75, 1.0]);
        assert!(found.iter().all(|tick| tick.outcome == "all" && tick.share.is_none()));
        // One job of 90 s: nothing is known about 10 min and more.
        let lasted = vec![Value::new(90_000_000, Edges::default())];
        let found =
            ticks(&[(part("all"), Counted::from(lasted))], Question::plain(What::JobSurvival));
        let last = found.last().unwrap();
        assert_eq!((found.len(), last.value, last.share), (3, 60.0, Some(1.0)));
    }

    #[test]
    fn waits_without_an_attempt_are_kept_apart() {
        let wait = |second: i64, is_unstarted: bool, is_censored: bool| {
            let edges = Edges { is_censored, is_unstarted, ..Edges::default() };
            Value::new(second * 1_000_000, edges)
        };
        let waits = [
            wait(2, false, false),
            wait(4, false, false),
            wait(12, true, false),
            wait(99, false, true),
        ];
        let all = Counted::from(waits.to_vec());
        let found = started(&all, Question::plain(What::Waiting)).unwrap();
        assert_eq!((found.count, found.median, found.ended_min), (2, Some(3.0), Some(12.0)));
        assert_eq!(started(&all, Question::plain(What::JobDurations)), None);
        let none = Counted::from(vec![wait(12, true, false)]);
        assert_eq!(started(&none, Question::plain(What::Waiting)), None);
    }
}
