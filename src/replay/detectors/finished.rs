//! The finished attempts of a group so far, with their order statistics.
//!
//! In: ends of attempts in order of time. Out: mean, deviation, quantiles and median of the lengths
//! at any time, without sorting again. Only attempts that completed their work are included.

use super::Ended;
use crate::units::micros_to_seconds;

/// The finished attempts of a group.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    /// The attempts, by time of their end.
    ends: Vec<Ended>,
    /// Their lengths, ascending, µs.
    lengths_us: Vec<i64>,
    sum_us: i128,
    sum_of_squares_s: f64,
}

impl Finished {
    /// Adds an attempt; ends come in order of time.
    pub fn add(&mut self, end: Ended) {
        debug_assert!(
            self.ends.last().is_none_or(|last| last.end_us <= end.end_us),
            "ends come in order"
        );
        let length_us = end.length_us();
        let place = self.lengths_us.partition_point(|&other| other <= length_us);
        self.lengths_us.insert(place, length_us);
        self.sum_us += i128::from(length_us);
        self.sum_of_squares_s += micros_to_seconds(length_us).powi(2);
        self.ends.push(end);
    }

    /// The number of attempts.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The attempts, by time of their end.
    pub fn ends(&self) -> &[Ended] {
        &self.ends
    }

    /// The lengths, ascending, µs.
    pub fn lengths_us(&self) -> &[i64] {
        &self.lengths_us
    }

    /// Mean length, s; `None` if there are none.
    #[expect(clippy::cast_precision_loss, reason = "sums of lengths are far below 2^53 µs each")]
    pub fn mean_s(&self) -> Option<f64> {
        (!self.ends.is_empty()).then(|| self.sum_us as f64 / 1e6 / self.ends.len() as f64)
    }

    /// Standard deviation of the population, s; 0 for at most one.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 attempts")]
    pub fn deviation_s(&self) -> f64 {
        match self.mean_s() {
            Some(mean) if 1 < self.ends.len() => {
                (self.sum_of_squares_s / self.ends.len() as f64 - mean * mean).max(0.0).sqrt()
            }
            _ => 0.0,
        }
    }

    /// Median length, µs (for an even number, the mean of the middle two); `None` if there are
    /// none.
    #[expect(clippy::cast_precision_loss, reason = "a length is far below 2^53 µs")]
    pub fn median_us(&self) -> Option<f64> {
        let middle = self.lengths_us.len() / 2;
        let upper = *self.lengths_us.get(middle)? as f64;
        if self.lengths_us.len().is_multiple_of(2) {
            return Some(f64::midpoint(self.lengths_us[middle - 1] as f64, upper));
        }
        Some(upper)
    }

    /// Median length, s.
    pub fn median_s(&self) -> Option<f64> {
        self.median_us().map(|median_us| median_us / 1e6)
    }

    /// The attempts that ended after `since_us`, in order of their end.
    pub fn since(&self, since_us: i64) -> &[Ended] {
        &self.ends[self.ends.partition_point(|end| end.end_us <= since_us)..]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{End, NO_MACHINE};
    use super::*;

    #[test]
    fn statistics_follow_every_end() {
        let mut finished = Finished::default();
        assert_eq!((finished.mean_s(), finished.median_s()), (None, None));
        for (idx, seconds) in [(0, 90), (1, 100), (2, 110), (3, 100)] {
            let end_us = (1_000 + i64::from(idx)) * 1_000_000;
            finished.add(Ended {
                attempt: idx,
                task: idx,
                machine: NO_MACHINE,
                start_us: end_us - seconds * 1_000_000,
                end_us,
                how: End::Finished,
            });
        }
        assert_eq!(finished.mean_s(), Some(100.0));
        assert!((finished.deviation_s() - 7.071_067_8).abs() < 1e-6);
        assert_eq!(finished.median_s(), Some(100.0));
        assert_eq!(finished.lengths_us()[0], 90_000_000);
        assert_eq!(finished.since(1_001_000_000).len(), 2);
    }
}
