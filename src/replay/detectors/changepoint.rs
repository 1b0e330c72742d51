//! Finds when the state of the system last changed, using only a series of levels.
//!
//! In: levels in order of time, one for each stretch of time. Out: when the last change began. Only
//! the past is used: a change is found some levels after it has happened, and is never withdrawn.
//!
//! ```text
//!  level   o o o oo o o|            The series is split at every place; the split with the largest
//!          before      | o oo o     two-sample t statistic is where the mean has changed, if that
//!                      ^ change     statistic is beyond what chance gives.
//! ```
//! This is the change-point model of Hawkins, Qiu and Kang (2003), "The Changepoint Model for
//! Statistical Process Control", Journal of Quality Technology 35(4), 355-366: mean and deviation
//! are unknown and estimated from the series itself. Two things are our own. The paper tabulates
//! the limit; here a change counts if the tail exp(-z^2 / 2) is below [`ALPHA`] divided by the
//! number of splits, where z^2 = n ln(1 + t^2 / n) for a t of n degrees of freedom. Shifts below
//! [`SHIFT_MIN`] do not count, however certain they are.

use std::collections::VecDeque;

/// The most levels compared; older ones are dropped.
const LEVELS_MAX: usize = 512;

/// The fewest levels before and after a split.
const SIDES_MIN: (usize, usize) = (5, 3);

/// The chance of finding a change where there is none, over all splits of one check.
const ALPHA: f64 = 0.0001;

/// The least shift of a logarithm that counts: an increase by a quarter, or a decrease by a fifth.
const SHIFT_MIN: f64 = 0.223;

/// The series of levels since the last change.
#[derive(Debug, Default)]
pub(super) struct ChangePoint {
    /// The time from which the level holds, µs, and the level.
    levels: VecDeque<(i64, f64)>,
    /// When the last change began, µs.
    since_us: Option<i64>,
}

impl ChangePoint {
    /// When the last change began, µs; `None` while there has been none.
    pub(super) fn since_us(&self) -> Option<i64> {
        self.since_us
    }

    /// Adds the level of the stretch that began at `from_us`; returns whether it reveals a change.
    pub(super) fn add(&mut self, from_us: i64, level: f64) -> bool {
        if self.levels.len() == LEVELS_MAX {
            self.levels.pop_front();
        }
        self.levels.push_back((from_us, level));
        let Some(split) = self.split() else { return false };
        self.levels.drain(..split);
        self.since_us = self.levels.front().map(|&(from_us, _)| from_us);
        true
    }

    /// The number of levels before the change, if there is one.
    #[expect(clippy::cast_precision_loss, reason = "at most 512 levels")]
    fn split(&self) -> Option<usize> {
        let count = self.levels.len();
        let last = count.checked_sub(SIDES_MIN.1).filter(|&last| SIDES_MIN.0 <= last)?;
        // Levels relative to the first one, so that squares stay exact if all levels are equal.
        let origin = self.levels.front()?.1;
        let shifted = || self.levels.iter().map(|&(_, level)| level - origin);
        let sum: f64 = shifted().sum();
        let squares: f64 = shifted().map(|level| level * level).sum();
        let splits = (last - SIDES_MIN.0 + 1) as f64;
        let limit = 2.0 * (splits / ALPHA).ln();
        let freedom = count as f64 - 2.0;
        let (mut before, mut best) = (0.0, None);
        for (place, level) in shifted().enumerate() {
            if SIDES_MIN.0 <= place && place <= last {
                let (left, right) = (place as f64, (count - place) as f64);
                let shift = (sum - before) / right - before / left;
                let within = squares - before * before / left - (sum - before).powi(2) / right;
                let deviation = (within.max(0.0) / freedom).sqrt();
                let size = shift.abs() / (1.0 / left + 1.0 / right).sqrt();
                // Among levels without deviation, the largest shift decides.
                let t = size / deviation.max(1e-9);
                let score = freedom * (t * t / freedom).ln_1p();
                if SHIFT_MIN <= shift.abs() && best.is_none_or(|(most, _)| most < score) {
                    best = Some((score, place));
                }
            }
            before += level;
        }
        best.filter(|&(score, _)| limit < score).map(|(_, place)| place)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(levels: &[f64]) -> Vec<(usize, i64)> {
        let mut series = ChangePoint::default();
        let mut found = Vec::new();
        for (at, &level) in levels.iter().enumerate() {
            if series.add(i64::try_from(at).unwrap(), level) {
                found.push((at, series.since_us().unwrap()));
            }
        }
        found
    }

    /// Ten levels near 0, then -1: the third of the new levels reveals the change, which began with
    /// the first of them.
    #[test]
    fn a_change_is_dated_to_its_first_level() {
        let mut levels: Vec<f64> = (0..10).map(|at| f64::from(at % 3) * 0.02).collect();
        levels.extend([-1.0, -1.02, -0.98, -1.0, -1.0]);
        assert_eq!(found(&levels), [(12, 10)]);
        levels.extend([0.0, 0.02, 0.01, 0.0]);
        assert_eq!(found(&levels), [(12, 10), (17, 15)], "and back");
    }

    /// The statistic, computed for one split: t = shift / (s * sqrt(1/5 + 1/3)).
    #[test]
    fn the_limit_is_that_of_a_two_sample_t() {
        // Before: mean 0, squares 4 x 0.01; behind: mean d, squares 2 x 0.01; s^2 = 0.06 / 6.
        let series = |d: f64| [0.1, -0.1, 0.1, -0.1, 0.0, d + 0.1, d - 0.1, d];
        // 6 ln(1 + t^2 / 6) = 2 ln(1 / ALPHA) for the one split of eight levels.
        let t = (6.0 * ((2.0 * (1.0 / ALPHA).ln() / 6.0).exp() - 1.0)).sqrt();
        let shift = t * 0.1 * (1.0_f64 / 5.0 + 1.0 / 3.0).sqrt();
        assert!(found(&series(shift - 0.001)).is_empty());
        assert_eq!(found(&series(shift + 0.001)), [(7, 5)]);
    }

    #[test]
    fn small_shifts_do_not_count_however_certain() {
        let mut levels = vec![0.0; 50];
        levels.extend([0.2; 50]);
        assert!(found(&levels).is_empty());
        levels.extend([0.45; 50]);
        assert_eq!(found(&levels).len(), 1);
    }

    proptest! {
        /// Later levels do not change earlier answers.
        #[test]
        fn only_the_past_is_used(
            levels in prop::collection::vec(-2.0_f64..2.0, 0..80),
            later in prop::collection::vec(-2.0_f64..2.0, 0..20),
        ) {
            let early = found(&levels);
            let all: Vec<f64> = levels.iter().chain(&later).copied().collect();
            let seen = found(&all).into_iter().filter(|&(at, _)| at < levels.len());
            prop_assert_eq!(seen.collect::<Vec<_>>(), early.clone());
            prop_assert!(early.iter().all(|&(at, since)| since < i64::try_from(at).unwrap()));
        }
    }

    /// Independent levels around one mean: a check errs with a chance of at most `ALPHA`, so 200
    /// series of 300 checks err six times at most, as expected from that bound.
    #[test]
    fn a_stationary_series_stays_whole() {
        let series = (0_u64..200).map(|seed| {
            let draws =
                crate::replay::random::Draws::new(seed, crate::replay::random::Purpose::Noise);
            (0..300).map(|at| 0.1 * draws.normal(at, 0)).collect::<Vec<f64>>()
        });
        let errors: usize = series.map(|levels| found(&levels).len()).sum();
        assert!(errors <= 6, "{errors}");
    }
}
