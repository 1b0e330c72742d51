//! Consecutive intervals of time, and exact integrals over each of them.
//!
//! In: stretches of time, each with a rate. Out: per interval the integral of all rates. The cost
//! of a stretch does not depend on the number of intervals that it crosses. For the whole intervals
//! in it, only a step up at its start and a step down at its end are stored.
//!
//! ```text
//!  stretch          |-------- rate ---------|
//!  interval   [-----------)[-----------)[-----------)
//!  part             |-----|             |---|          added to the interval itself
//!  step                    +            -              added up over intervals in the end
//! ```

use serde::Serialize;

use crate::units::{CpuRate, CpuTime, micros_to_seconds};

/// Adjacent intervals; the first begins and the last ends with the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Intervals {
    /// Intervals after the first begin at this instant plus multiples of the length, µs. It is at
    /// or before the start of the span, by less than one length.
    #[serde(skip)]
    origin_us: i64,
    /// Start of the span, µs.
    pub start_us: i64,
    /// Length of an interval, µs.
    pub length_us: i64,
    /// End of the span, µs.
    pub end_us: i64,
}

impl Intervals {
    /// Intervals of a span. All have the same length, except perhaps the last.
    pub const fn new([start_us, end_us]: [i64; 2], length_us: i64) -> Self {
        Self { origin_us: start_us, start_us, length_us, end_us }
    }

    /// Intervals that begin at multiples of their length, such as whole hours. The first may begin
    /// later.
    pub const fn at_multiples([start_us, end_us]: [i64; 2], length_us: i64) -> Self {
        let origin_us = start_us - start_us.rem_euclid(length_us);
        Self { origin_us, start_us, length_us, end_us }
    }

    /// The first interval that begins at or after an instant; it may be past the last interval.
    pub fn first_from(&self, at_us: i64) -> usize {
        if at_us <= self.start_us {
            return 0;
        }
        let begun = usize::try_from(at_us - self.origin_us).unwrap_or(usize::MAX);
        begun.div_ceil(usize::try_from(self.length_us).unwrap_or(usize::MAX))
    }

    /// The number of intervals, at least one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below 1")]
    pub fn count(&self) -> usize {
        let whole = self.end_us.max(self.start_us).saturating_sub(self.origin_us).max(1);
        ((whole - 1) / self.length_us + 1) as usize
    }

    /// The start of an interval, µs.
    pub fn start_of(&self, idx: usize) -> i64 {
        let begun_us = i64::try_from(idx).expect("a span has few intervals") * self.length_us;
        (self.origin_us + begun_us).max(self.start_us)
    }

    /// The end of an interval, µs.
    pub fn end_of(&self, idx: usize) -> i64 {
        self.start_of(idx + 1).min(self.end_us.max(self.start_us))
    }

    /// The length of an interval, s.
    pub fn length_s(&self, idx: usize) -> f64 {
        micros_to_seconds(self.end_of(idx) - self.start_of(idx))
    }

    /// The interval of an instant; the end of the span is in the last interval.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below 0")]
    pub fn of(&self, time_us: i64) -> Option<usize> {
        let is_within = (self.start_us..=self.end_us).contains(&time_us);
        let idx = || ((time_us - self.origin_us) / self.length_us) as usize;
        is_within.then(|| idx().min(self.count() - 1))
    }
}

/// Amounts over time, as exact integrals per interval.
#[derive(Clone, Debug, Default)]
pub(in crate::studies) struct Amounts {
    /// By interval: the amounts of stretches that begin or end within it.
    parts: Vec<CpuTime>,
    /// By interval: the change of the rate over whole intervals.
    steps: Vec<CpuRate>,
}

impl Amounts {
    /// Zero in each of `count` intervals.
    pub(in crate::studies) fn new(count: usize) -> Self {
        Self { parts: vec![CpuTime::ZERO; count], steps: vec![CpuRate::ZERO; count] }
    }

    /// Adds a stretch, as far as it is in the span.
    pub(in crate::studies) fn add(
        &mut self,
        at: &Intervals,
        [from_us, to_us]: [i64; 2],
        rate: CpuRate,
    ) {
        let (from, to) = (from_us.max(at.start_us), to_us.min(at.end_us));
        if to <= from || rate == CpuRate::ZERO {
            return;
        }
        let (Some(first), Some(last)) = (at.of(from), at.of(to - 1)) else { return };
        if first == last {
            self.parts[first] += rate.over(to - from);
            return;
        }
        self.parts[first] += rate.over(at.end_of(first) - from);
        self.parts[last] += rate.over(to - at.start_of(last));
        self.steps[first + 1] += rate;
        self.steps[last] -= rate;
    }

    /// Adds other amounts over the same intervals.
    pub(in crate::studies) fn merge(&mut self, other: &Self) {
        self.parts.iter_mut().zip(&other.parts).for_each(|(own, &others)| *own += others);
        self.steps.iter_mut().zip(&other.steps).for_each(|(own, &others)| *own += others);
    }

    /// The integral over each interval.
    pub(in crate::studies) fn integrals(&self, at: &Intervals) -> Vec<CpuTime> {
        let mut rate = CpuRate::ZERO;
        let own = self.parts.iter().zip(&self.steps).enumerate();
        own.map(|(idx, (&part, &step))| {
            rate += step;
            part + rate.over(at.end_of(idx) - at.start_of(idx))
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn intervals_meet_and_the_last_is_cut() {
        //  [0    10)[10    20)[20 25]
        let at = Intervals::new([0, 25], 10);
        assert_eq!(at.count(), 3);
        assert_eq!([at.start_of(2), at.end_of(2)], [20, 25]);
        assert_eq!([0, 9, 10, 25].map(|time| at.of(time)), [Some(0), Some(0), Some(1), Some(2)]);
        assert_eq!([-1, 26, i64::MAX].map(|time| at.of(time)), [None; 3]);
        // A span of length zero is one interval of length zero.
        //  7 [10    20)[20 25]
        let at = Intervals::at_multiples([7, 25], 10);
        assert_eq!((at.count(), [0, 1, 2].map(|idx| at.start_of(idx))), (3, [7, 10, 20]));
        assert_eq!([0, 1, 2].map(|idx| at.end_of(idx)), [10, 20, 25]);
        assert_eq!(
            [6, 7, 9, 10, 25].map(|time| at.of(time)),
            [None, Some(0), Some(0), Some(1), Some(2)]
        );
        assert_eq!([0, 7, 8, 10, 11].map(|time| at.first_from(time)), [0, 0, 1, 1, 2]);
        let none = Intervals::new([7, 7], 10);
        assert_eq!((none.count(), none.length_s(0), none.of(7)), (1, 0.0, Some(0)));
    }

    proptest! {
        #[test]
        fn an_interval_holds_what_lies_in_it(
            length_us in 1_i64..40,
            start_us in 0_i64..60,
            lasts_us in 1_i64..200,
            is_whole in any::<bool>(),
            stretches in prop::collection::vec((-20_i64..280, 0_i64..150, 0_u8..5), 0..20),
        ) {
            let span = [start_us, start_us + lasts_us];
            let begin = if is_whole { Intervals::at_multiples } else { Intervals::new };
            let at = begin(span, length_us);
            let mut amounts = Amounts::new(at.count());
            // Instant by instant, and one half at a time.
            let mut expected = vec![0_i64; at.count()];
            let place = |instant: i64| if is_whole {
                instant / length_us - start_us / length_us
            } else {
                (instant - start_us) / length_us
            };
            for &(from, length, halves) in &stretches {
                amounts.add(&at, [from, from + length], CpuRate::new(f32::from(halves) / 2.0));
                for instant in from.max(span[0])..(from + length).min(span[1]) {
                    expected[usize::try_from(place(instant)).unwrap()] += i64::from(halves);
                }
            }
            let found = amounts.integrals(&at);
            let expected: Vec<CpuTime> = expected
                .into_iter()
                .map(|halves| CpuRate::new(0.5).over(halves))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
