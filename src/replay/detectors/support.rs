//! What several detectors need: percentiles and the largest few without sorting, per-attempt
//! tables that grow, sums that are exact in any order, and words for choices.
//!
//! In: buffers that their owner reuses. Out: numbers. Nothing in here knows a rule.

use std::fmt;
use std::str::FromStr;

use super::Flag;

/// The `percent`-th percentile (R-7, linear interpolation) of `values`, which are reordered;
/// `None` of nothing.
pub(super) fn percentile(values: &mut [f64], percent: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let place = count_as_f64(values.len() - 1) * (percent / 100.0);
    let below = whole(place.floor());
    let (_, lower, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let lower = *lower;
    let part = place - place.floor();
    if part == 0.0 {
        return Some(lower);
    }
    let upper = above.iter().copied().min_by(f64::total_cmp).unwrap_or(lower);
    Some(lower + (upper - lower) * part)
}

/// Flags copies of the `room` attempts with the largest scores, the largest first; of equal
/// scores the one that stands first in the scene.
pub(super) fn copy_largest(scored: &mut Vec<(f64, usize)>, room: usize, flags: &mut Vec<Flag>) {
    keep_largest(scored, room);
    flags.extend(scored.iter().map(|&(_, position)| Flag::copy(position)));
}

/// Keeps the `room` largest scores, in descending order; of equal scores the lower position.
pub(super) fn keep_largest(scored: &mut Vec<(f64, usize)>, room: usize) {
    let descending =
        |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1));
    if room == 0 {
        scored.clear();
    } else if room < scored.len() {
        scored.select_nth_unstable_by(room - 1, descending);
        scored.truncate(room);
    }
    scored.sort_unstable_by(descending);
}

/// How many more copies may start while fewer than `cap` run: from `copies` up to the first whole
/// number that is not below `cap`, and not more than there are free slots.
pub(super) fn room_below(cap: f64, copies: u32, free_slots: u32) -> usize {
    // 0.1 * 30 is a little more than 3 and must not count as 4.
    let most = whole((cap - 1e-9).ceil());
    most.saturating_sub(copies as usize).min(free_slots as usize)
}

/// The entry of `idx`, made where it is missing.
pub(super) fn entry<T: Clone + Default>(entries: &mut Vec<T>, idx: u32) -> &mut T {
    let idx = idx as usize;
    if entries.len() <= idx {
        entries.resize(idx + 1, T::default());
    }
    &mut entries[idx]
}

/// A count as a float.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 of anything")]
pub(super) fn count_as_f64(count: usize) -> f64 {
    count as f64
}

/// A whole, non-negative float as a count; saturates.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates on purpose")]
pub(super) fn whole(value: f64) -> usize {
    value as usize
}

/// Mean and standard deviation of whole numbers, exact in any order of adding and removing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ExactSums {
    count: i128,
    sum: i128,
    squares: i128,
}

impl ExactSums {
    pub(super) fn add(&mut self, value: i64) {
        let value = i128::from(value);
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Puts `new` in the place of `old`, which was added before.
    pub(super) fn replace(&mut self, old: i64, new: i64) {
        let (old, new) = (i128::from(old), i128::from(new));
        self.sum += new - old;
        self.squares += new * new - old * old;
    }

    /// NaN of nothing.
    #[expect(clippy::cast_precision_loss, reason = "the one place where exactness ends")]
    pub(super) fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }

    /// Of the population; 0 of at most one.
    #[expect(clippy::cast_precision_loss, reason = "the one place where exactness ends")]
    pub(super) fn deviation(&self) -> f64 {
        if self.count <= 1 {
            return 0.0;
        }
        let count = self.count as f64;
        let exact = self.count.checked_mul(self.squares).zip(self.sum.checked_mul(self.sum));
        match exact {
            Some((left, right)) => ((left - right).max(0) as f64).sqrt() / count,
            None => (self.squares as f64 / count - self.mean().powi(2)).max(0.0).sqrt(),
        }
    }
}

/// A number, or `off`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OrOff(pub(super) Option<f64>);

impl FromStr for OrOff {
    type Err = std::num::ParseFloatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" { Ok(Self(None)) } else { text.parse().map(|value| Self(Some(value))) }
    }
}

impl fmt::Display for OrOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("off"),
            Some(value) => value.fmt(f),
        }
    }
}

impl OrOff {
    /// Whether it is off, or a finite number above 0.
    pub(super) fn is_off_or_positive(&self) -> bool {
        self.0.is_none_or(|value| value.is_finite() && 0.0 < value)
    }
}

/// The word of `value` among `choices`.
pub(super) fn word<T: PartialEq>(choices: &[(&str, T)], value: &T) -> String {
    let found = choices.iter().find(|(_, choice)| choice == value);
    found.expect("every choice has its word").0.to_owned()
}

/// Whether tasks that wait for a machine come before copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// No copy starts while a task of the group waits: a free slot is given to that task.
    First,
    /// Copies start whether tasks wait or not.
    Ignored,
}

/// As it is written.
pub(super) const WAITING: &[(&str, Waiting)] =
    &[("first", Waiting::First), ("ignored", Waiting::Ignored)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate() {
        let mut rates = [0.005, 0.003, 0.001, 0.003];
        assert_eq!(percentile(&mut rates, 25.0), Some(0.0025));
        assert_eq!(percentile(&mut rates, 100.0), Some(0.005));
        assert_eq!(percentile(&mut rates, 0.0), Some(0.001));
        assert_eq!(percentile(&mut [], 25.0), None);
    }

    #[test]
    fn the_largest_few_come_in_order() {
        let mut scored = vec![(1.0, 0), (3.0, 1), (2.0, 2), (3.0, 3), (0.0, 4)];
        keep_largest(&mut scored, 3);
        assert_eq!(scored, [(3.0, 1), (3.0, 3), (2.0, 2)]);
        keep_largest(&mut scored, 0);
        assert!(scored.is_empty());
    }

    #[test]
    fn room_is_what_is_left_below_the_cap() {
        assert_eq!(room_below(0.4, 0, u32::MAX), 1);
        assert_eq!(room_below(0.1 * 30.0, 1, u32::MAX), 2);
        assert_eq!(room_below(10.0, 12, u32::MAX), 0);
        assert_eq!(room_below(10.0, 0, 4), 4);
    }

    #[test]
    fn exact_sums_forget_nothing() {
        let mut sums = ExactSums::default();
        for value in [90_000, 100_000, 110_000, 1] {
            sums.add(value);
        }
        sums.replace(1, 100_000);
        assert_eq!((sums.count, sums.mean()), (4, 100_000.0));
        assert!((sums.deviation() - 7_071.067_8).abs() < 1e-4);
    }
}
