//! A criterion for slow tasks that several detectors can share: the rate compared with all tasks of
//! the job.
//!
//! In: `slow_share` and `slow_rate` of the notation, and at each heartbeat the group. Out: whether
//! a running attempt is slow. A rate is progress per time: 1 / length of a finished attempt,
//! progress / age at the last report of a running one. An attempt is slow if its rate is among the
//! slowest `slow_share` of all these rates (rounded up, equal rates together) **and** below
//! `slow_rate` times their mean; either may be left out. Cui and others (2014) use the same
//! criterion for LATE, YARN and TQST: `slow_share=0.2,slow_rate=0.5`. If given, it replaces a
//! detector's own criterion (`yarn:mode=intended` uses both). Otherwise a detector decides as
//! published. A finished attempt of length 0 has no rate and does not count.
//!
//! ```text
//!  rates of ten tasks, mean 0.87:   .2  .3  .7  1  1  1  1  1.1  1.2  1.2
//!  slowest 20 %:                    .2  .3
//!  below half of the mean, 0.435:   .2  .3                       both are slow
//! ```

use super::support::{OrOff, count_as_f64, whole};
use super::{End, Ended, Running, Scene};
use crate::notation::{Notation, NotationError};

/// The parameters of the criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Criterion {
    /// The slowest share of the rates; `off` by default.
    share: OrOff,
    /// The share of the mean rate; `off` by default.
    rate: OrOff,
}

impl Criterion {
    /// Reads `slow_share` and `slow_rate`.
    pub(super) fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let mut share = |key: &'static str| {
            let is_share = |value: &OrOff| value.0.is_none_or(|share| (0.0..=1.0).contains(&share));
            notation.take_if(key, "a share from 0 to 1, or `off`", OrOff(None), is_share)
        };
        Ok(Self { share: share("slow_share")?, rate: share("slow_rate")? })
    }

    /// Whether a parameter is given.
    pub(super) fn is_given(self) -> bool {
        self.share.0.is_some() || self.rate.0.is_some()
    }

    /// Both parameters as written.
    pub(super) fn parameters(self) -> [(&'static str, String); 2] {
        [("slow_share", self.share.to_string()), ("slow_rate", self.rate.to_string())]
    }
}

/// The rates of a group that the criterion needs.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    criterion: Criterion,
    /// The sum of the rates of finished attempts, in parts, and their number.
    finished: (u128, usize),
    /// Lengths of running attempts, µs.
    lengths_us: Vec<i64>,
}

/// The bounds of slowness at one heartbeat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The shortest length of the slowest attempts, µs; `None` if the share is 0.
    length_us: Option<i64>,
    /// The rate below which an attempt is slow, in parts.
    rate: f64,
}

/// The parts of a task per µs: sums of whole parts do not depend on their order.
const PARTS: u128 = 1 << 80;

/// The rate of a task with a length, in parts; 0 for an endless one.
fn rate(length_us: i64) -> u128 {
    if length_us == i64::MAX {
        return 0;
    }
    PARTS / u128::try_from(length_us).unwrap_or(0).max(1)
}

/// The length of an attempt by its last report, µs; the maximum while it has not progressed.
fn length_us(running: &Running) -> i64 {
    running.estimated_length_us().unwrap_or(i64::MAX)
}

impl Rates {
    /// No rates yet.
    pub(super) fn new(criterion: Criterion) -> Self {
        Self { criterion, finished: (0, 0), lengths_us: Vec::new() }
    }

    /// Adds the rate of an attempt that finished.
    pub(super) fn ended(&mut self, end: &Ended) {
        if end.how == End::Finished && 0 < end.length_us() {
            self.finished.0 += rate(end.length_us());
            self.finished.1 += 1;
        }
    }

    /// The bounds of slowness now; `None` if the criterion is not given.
    #[expect(clippy::cast_precision_loss, reason = "rounded here and nowhere else")]
    pub(super) fn bounds(&mut self, scene: &Scene<'_>) -> Option<Bounds> {
        let Criterion { share, rate: part } = self.criterion;
        if !self.criterion.is_given() {
            return None;
        }
        self.lengths_us.clear();
        let reporting = scene.running.iter().filter(|running| running.has_progress);
        self.lengths_us.extend(reporting.map(length_us));
        let count = self.finished.1 + self.lengths_us.len();
        let sum = self.lengths_us.iter().map(|&length_us| rate(length_us)).sum::<u128>();
        let mean = (self.finished.0 + sum) as f64 / count_as_f64(count.max(1));
        let slowest = share.0.map_or(count, |share| {
            // 20 % of 15 is slightly above 3 as a float, but must not be rounded up to 4.
            whole((share * count_as_f64(count) - 1e-9).ceil())
        });
        self.lengths_us.sort_unstable();
        Some(Bounds {
            length_us: longest(scene.finished.lengths_us(), &self.lengths_us, slowest),
            rate: part.0.map_or(f64::INFINITY, |part| part * mean),
        })
    }
}

/// The length at position `place` (from 1) of two ascending lists, counted from the longest.
fn longest(one: &[i64], other: &[i64], place: usize) -> Option<i64> {
    let (mut one, mut other) = (one.iter().rev().peekable(), other.iter().rev().peekable());
    let mut found_us = None;
    for _ in 0..place {
        let takes_one = other.peek().is_none_or(|&its| one.peek().is_some_and(|&own| its <= own));
        found_us = if takes_one { one.next() } else { other.next() };
    }
    found_us.copied()
}

impl Bounds {
    /// Whether an attempt with a report is slow.
    #[expect(clippy::cast_precision_loss, reason = "rounded here and nowhere else")]
    pub(super) fn is_slow(self, running: &Running) -> bool {
        let length_us = length_us(running);
        let is_among_slowest = self.length_us.is_some_and(|shortest_us| shortest_us <= length_us);
        is_among_slowest && (rate(length_us) as f64) < self.rate
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::Group;
    use super::*;

    /// The tasks that are slow at 100 s. The first tasks have finished with the given lengths; the
    /// others have run since 0 and have the given progress.
    fn slow(text: &str, lengths_s: &[i64], progress: &[f64]) -> Vec<u32> {
        let mut notation = Notation::parse("detector", text).unwrap();
        let mut rates = Rates::new(Criterion::read(&mut notation).unwrap());
        let first = u32::try_from(lengths_s.len()).unwrap();
        let mut group = Group::of("none", first + u32::try_from(progress.len()).unwrap());
        let mut lengths_s = lengths_s.to_vec();
        lengths_s.sort_unstable(); // Ends come in order.
        for (task, length_s) in (0..).zip(lengths_s) {
            group.run(task, 0, 0.0).stop(task, length_s);
        }
        group.finished.ends().iter().for_each(|end| rates.ended(end));
        for (task, &progress) in (first..).zip(progress) {
            group.run(task, 0, progress);
        }
        group.flags(100);
        let bounds = group.ask(100, |_, scene| rates.clone().bounds(scene)).unwrap();
        let slow = group.running.iter().filter(|running| bounds.is_slow(running));
        slow.map(|running| running.task).collect()
    }

    #[test]
    fn the_slowest_fifth_under_half_of_the_mean_is_slow() {
        // Rates in hundredths per s: 2 (five times), 1, 0.8, 0.7, 0.4, 0.3. Their mean is 1.32.
        let of = |text: &str| slow(text, &[50; 5], &[1.0, 0.8, 0.7, 0.4, 0.3]);
        assert_eq!(of("x:slow_share=0.2,slow_rate=0.5"), [8, 9]);
        assert_eq!(of("x:slow_share=0.3,slow_rate=0.5"), [8, 9], "0.7 is over 0.66");
        assert_eq!(of("x:slow_share=0.3,slow_rate=0.54"), [7, 8, 9]);
        assert_eq!(of("x:slow_share=0.1,slow_rate=0.5"), [9]);
        assert_eq!(of("x:slow_share=0.11,slow_rate=0.5"), [8, 9], "a part counts as a whole");
        assert_eq!(of("x:slow_rate=0.5"), [8, 9], "no share");
        assert_eq!(of("x:slow_share=0.4"), [6, 7, 8, 9], "no rate");
        assert_eq!(of("x:slow_share=0"), [0; 0]);
        assert_eq!(of("x:slow_rate=0"), [0; 0]);
    }

    #[test]
    fn equals_are_slow_together_and_nothing_done_is_slowest() {
        assert_eq!(slow("x:slow_share=0.2", &[], &[0.5, 0.1, 0.1, 0.5, 0.5]), [1, 2]);
        assert_eq!(slow("x:slow_share=0.2,slow_rate=0.5", &[10, 10, 10, 10], &[0.0]), [4]);
        assert_eq!(slow("x:slow_share=0", &[10], &[0.0]), [0; 0], "not even without progress");
    }

    proptest! {
        /// Compares with rates as floats, counted one by one.
        #[test]
        fn slow_is_what_few_are_slower_than(
            lengths_s in prop::collection::vec(0_i64..100, 0..30),
            progress in prop::collection::vec(0_u32..40, 1..30),
            (share, part) in (0_u32..21, 0_u32..21),
        ) {
            let progress: Vec<f64> = progress.iter().map(|&part| f64::from(part) / 40.0).collect();
            let (share, part) = (f64::from(share) / 20.0, f64::from(part) / 20.0);
            // A task of length 0 has no rate.
            let finished = lengths_s.iter().filter(|length_s| 0 < **length_s);
            #[expect(clippy::cast_precision_loss, reason = "seconds")]
            let finished: Vec<f64> = finished.map(|&length_s| 1.0 / length_s as f64).collect();
            let (first, over) = (u32::try_from(lengths_s.len()).unwrap(), finished.len());
            let running = progress.iter().map(|progress| progress / 100.0);
            let rates: Vec<f64> = finished.into_iter().chain(running).collect();
            let count = f64::from(u32::try_from(rates.len()).unwrap());
            let mean = rates.iter().sum::<f64>() / count;
            prop_assume!(rates.iter().all(|rate| 1e-9 < (rate - part * mean).abs()));
            let is_slow = |rate: f64| {
                let slower = rates.iter().filter(|&&other| other < rate - 1e-9).count();
                let slower = f64::from(u32::try_from(slower).unwrap());
                slower < share * count - 1e-6 && rate < part * mean
            };
            let expected: Vec<u32> = (first..)
                .zip(&rates[over..])
                .filter(|(_, rate)| is_slow(**rate))
                .map(|(task, _)| task)
                .collect();
            let text = format!("x:slow_share={share},slow_rate={part}");
            prop_assert_eq!(slow(&text, &lengths_s, &progress), expected);
        }
    }
}
