//! Shared code of detectors: percentiles and the first few in an order, both without sorting all;
//! growing tables by attempt; sums that are exact in any order; and words for choices.
//!
//! In: buffers that the caller reuses. Out: numbers. This module contains no rule.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::{Flag, Progress, Running, Scene};

/// The index, in `count` ascending values, of the first that is not below their `percent`-th
/// percentile (R-7, linear interpolation); `None` if `count` is 0.
///
/// A value is below the percentile exactly if it is below the value at this index. The reason: no
/// value is between the two that are interpolated, and interpolating equal values gives the same
/// value.
pub(super) fn place_of_percentile(percent: f64, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    // 70 % of 10 must not be slightly above 7.
    let place = (count_as_f64(last) * percent / 100.0 - 1e-9).ceil();
    Some(whole(place).min(last))
}

/// Flags copies of the first `room` candidates in the order of `compare`, which has no ties.
pub(super) fn copy_first<T>(
    candidates: &mut Vec<(T, usize)>,
    room: usize,
    flags: &mut Vec<Flag>,
    compare: impl Fn(&(T, usize), &(T, usize)) -> Ordering,
) {
    keep_first(candidates, room, compare);
    flags.extend(candidates.iter().map(|&(_, position)| Flag::copy(position)));
}

/// Keeps the first `room` candidates in the order of `compare`, which has no ties.
pub(super) fn keep_first<T>(
    candidates: &mut Vec<T>,
    room: usize,
    compare: impl Fn(&T, &T) -> Ordering,
) {
    if room == 0 {
        candidates.clear();
    } else if room < candidates.len() {
        candidates.select_nth_unstable_by(room - 1, &compare);
        candidates.truncate(room);
    }
    candidates.sort_unstable_by(compare);
}

/// Flags copies of the running attempts that are slow and have no copy, in order, while there are
/// free slots.
pub(super) fn copy_slow(
    scene: &Scene<'_>,
    flags: &mut Vec<Flag>,
    is_slow: impl Fn(&Running) -> bool,
) {
    let slow = |(_, running): &(usize, &Running)| !running.has_copy && is_slow(running);
    let found = scene.running.iter().enumerate().filter(slow).take(scene.free_slots as usize);
    flags.extend(found.map(|(position, _)| Flag::copy(position)));
}

/// When the first running attempt for which `open` is true reaches the age `age_s`, µs; the current
/// time if one has already reached it.
pub(super) fn first_of_age_us(
    scene: &Scene<'_>,
    age_s: f64,
    open: impl Fn(&Running) -> bool,
) -> i64 {
    let open = scene.running.iter().filter(|running| open(running));
    open.map(|running| {
        if age_s <= running.age_s(scene.now_us) {
            return scene.now_us;
        }
        // A microsecond too early costs a heartbeat; one too late costs a flag.
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let micros = (age_s * 1e6 * (1.0 - 1e-12)).floor() as i64;
        running.start_us.saturating_add(micros - 1).max(scene.now_us)
    })
    .min()
    .unwrap_or(i64::MAX)
}

/// One task, in the parts in which progress is summed.
pub(super) const ONE_TASK: u64 = 1 << 40;

/// Progress in parts of a task, rounded: sums do not depend on their order.
pub(super) fn task_parts(progress: Progress) -> u64 {
    let (done, total) = (u128::from(progress.done()), u128::from(progress.total()));
    let parts = (done * u128::from(ONE_TASK) + total / 2) / total;
    u64::try_from(parts).expect("at most one task")
}

/// The number of copies that may start while fewer than `cap` run: from `copies` up to the first
/// whole number that is not below `cap`, and at most the number of free slots.
pub(super) fn room_below(cap: f64, copies: u32, free_slots: u32) -> usize {
    // 0.1 * 30 is slightly above 3 as a float, but must not count as 4.
    let most = whole((cap - 1e-9).ceil());
    most.saturating_sub(copies as usize).min(free_slots as usize)
}

/// The entry at `idx`; missing entries are added.
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

/// Mean and standard deviation of whole numbers, exact in any order of additions and removals.
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

    /// Replaces `old`, which was added before, by `new`.
    pub(super) fn replace(&mut self, old: i64, new: i64) {
        let (old, new) = (i128::from(old), i128::from(new));
        self.sum += new - old;
        self.squares += new * new - old * old;
    }

    /// A number of deviations, times the count, for [`is_below`](Self::is_below).
    #[expect(clippy::cast_precision_loss, reason = "the one place where exactness ends")]
    pub(super) fn lag(&self, deviations: f64) -> f64 {
        deviations * self.deviation() * (self.count as f64)
    }

    /// Whether `value` is more than a [`lag`](Self::lag) below the mean. The difference is exact:
    /// if all values are equal, none is below the mean.
    #[expect(clippy::cast_precision_loss, reason = "the one place where exactness ends")]
    pub(super) fn is_below(&self, value: i64, lag: f64) -> bool {
        let below = self.sum - self.count * i128::from(value);
        0 < below && lag < below as f64
    }

    /// The mean; NaN if there are no values.
    #[expect(clippy::cast_precision_loss, reason = "the one place where exactness ends")]
    pub(super) fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }

    /// The deviation of the population; 0 for at most one value.
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
    /// Whether it is off or a finite number above 0.
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

/// The choices as written.
pub(super) const WAITING: &[(&str, Waiting)] =
    &[("first", Waiting::First), ("ignored", Waiting::Ignored)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_stand_at_whole_places() {
        for (percent, count, place) in [(25.0, 4, 1), (100.0, 4, 3), (0.0, 4, 0), (25.0, 5, 1)] {
            assert_eq!(place_of_percentile(percent, count), Some(place), "{percent} of {count}");
        }
        assert_eq!(place_of_percentile(70.0, 11), Some(7));
        assert_eq!(place_of_percentile(25.0, 0), None);
    }

    #[test]
    fn the_first_few_come_in_order() {
        let mut scored = vec![(1, 0), (3, 1), (2, 2), (3, 3), (0, 4)];
        let descending = |one: &(i32, usize), other: &(i32, usize)| {
            other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1))
        };
        keep_first(&mut scored, 3, descending);
        assert_eq!(scored, [(3, 1), (3, 3), (2, 2)]);
        keep_first(&mut scored, 0, descending);
        assert!(scored.is_empty());
    }

    #[test]
    fn nothing_is_below_the_mean_of_equals() {
        let mut sums = ExactSums::default();
        // The value is a third of 2^52: a rounded mean of seven such values would differ from the
        // value.
        let value = (1 << 52) / 3;
        (0..7).for_each(|_| sums.add(value));
        assert!(!sums.is_below(value, sums.lag(0.0)));
        assert!(sums.is_below(value - 1, sums.lag(0.0)));
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
