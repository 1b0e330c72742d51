//! Flink's slow task detector: running time against a multiple of the median of the fastest tasks.
//!
//! Once `ratio` of the group's tasks have finished, the baseline is the upper median of the k =
//! round(tasks * ratio) fastest, times the multiplier, truncated to milliseconds. This is as coded;
//! the documentation says the first k to finish (`of`). Traces have no input sizes, so times are
//! not divided by them. Progress is not used.

use std::sync::Arc;

use super::support::{copy_slow, count_as_f64, first_of_age_us, whole, word};
use super::{Detector, Family, Flag, GroupInfo, Kind, Outlook, Plan, Scene};
use crate::notation::{Notation, NotationError};

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "flink",
    about: "Flink's slow task detector: 1.5 times the median of the fastest three quarters",
    curve: ("multiplier", &["5", "3", "2", "1.5", "1.3", "1.1"]),
    family: Family::Others,
    steers: false,
    #[cfg(test)]
    variants: &[
        "of=first,ratio=0.25,lower_bound_s=10",
        "of=first,ratio=0.25,lower_bound_s=1000",
        "ratio=0.25,lower_bound_s=2",
        "of=first,ratio=0.4,lower_bound_s=1",
    ],
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Fastest,
    First,
}

const OF: &[(&str, Of)] = &[("fastest", Of::Fastest), ("first", Of::First)];

#[derive(Clone, Copy, Debug)]
struct Config {
    /// Least age of a slow task, s; 60 (`baseline-lower-bound`).
    lower_bound_s: f64,
    /// Share of tasks that must have finished; 0.75 (`baseline-ratio`).
    ratio: f64,
    /// Multiple of the baseline; 1.5 (`baseline-multiplier`).
    multiplier: f64,
    /// The tasks of the median: the `fastest` as coded (default), or the `first` to finish.
    of: Of,
}

impl Config {
    fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let below_one = |ratio: &f64| (0.0..1.0).contains(ratio);
        Ok(Self {
            lower_bound_s: notation.number("lower_bound_s", "a time in seconds", 60.0, 0.0..)?,
            ratio: notation.take_if("ratio", "a share from 0 to below 1", 0.75, below_one)?,
            multiplier: notation.number("multiplier", "a positive factor", 1.5, 1e-9..)?,
            of: notation.choice("of", "`fastest` or `first`", Of::Fastest, OF)?,
        })
    }
}

impl Plan for Config {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Flink { config: *self, limit_s: None, first: Vec::new(), first_count: usize::MAX })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("lower_bound_s", self.lower_bound_s.to_string()),
            ("ratio", self.ratio.to_string()),
            ("multiplier", self.multiplier.to_string()),
            ("of", word(OF, &self.of)),
        ]
    }
}

struct Flink {
    config: Config,
    /// The age at which attempts were flagged at the last heartbeat, s; `None` while too few have
    /// finished.
    limit_s: Option<f64>,
    /// Lengths of the first to finish, ascending, µs; sorted once per count.
    first: Vec<i64>,
    first_count: usize,
}

impl Flink {
    /// The age from which a task is slow, s; `None` while too few have finished.
    fn baseline_s(&mut self, scene: &Scene<'_>) -> Option<f64> {
        let Config { ratio, multiplier, of, .. } = self.config;
        let tasks = f64::from(scene.task_count.max(1));
        if count_as_f64(scene.finished.count()) / tasks < ratio {
            return None;
        }
        let count = whole((tasks * ratio + 0.5).floor()).min(scene.finished.count());
        if count == 0 {
            return Some(0.0);
        }
        let median_us = match of {
            Of::Fastest => scene.finished.lengths_us()[count / 2],
            Of::First => {
                if self.first_count != count {
                    let ends = &scene.finished.ends()[..count];
                    self.first.clear();
                    self.first.extend(ends.iter().map(super::Ended::length_us));
                    self.first.sort_unstable();
                    self.first_count = count;
                }
                self.first[count / 2]
            }
        };
        #[expect(clippy::cast_precision_loss, reason = "a length is far below 2^53 µs")]
        let baseline_ms = (median_us as f64 * multiplier / 1e3).floor();
        Some(baseline_ms / 1e3)
    }
}

impl Detector for Flink {
    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let lower_bound_s = self.config.lower_bound_s;
        self.limit_s = self.baseline_s(scene).map(|baseline_s| baseline_s.max(lower_bound_s));
        let Some(limit_s) = self.limit_s else { return };
        copy_slow(scene, flags, |running| limit_s <= running.age_s(scene.now_us));
    }

    fn quiet_until_us(&self, scene: &Scene<'_>, _outlook: Outlook) -> i64 {
        let Some(limit_s) = self.limit_s else { return i64::MAX };
        first_of_age_us(scene, limit_s, |running| !running.has_copy)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Group;

    /// Parallelism 10; 50, 52, 55, 58, 60, 61, 65, 70 s.
    fn example(detector: &str) -> Group {
        let mut group = Group::of(detector, 10);
        group.run(8, 0, 0.0).run(9, 0, 0.0);
        for (task, end_s) in (0..).zip([50, 52, 55, 58, 60, 61, 65, 70]) {
            assert_eq!(group.judge(end_s), Vec::<u32>::new(), "fewer than 8 of 10");
            group.run(task, 0, 0.0).stop(task, end_s);
        }
        group
    }

    #[test]
    fn the_baseline_is_ninety_seconds() {
        for of in ["fastest", "first"] {
            let mut group = example(&format!("flink:of={of}"));
            assert_eq!(group.judge(89), Vec::<u32>::new(), "{of}");
            assert_eq!(group.judge(90), [8, 9], "{of}");
        }
    }

    #[test]
    fn the_lower_bound_and_an_empty_baseline_hold() {
        let mut group = example("flink:lower_bound_s=120");
        assert_eq!(group.judge(119), Vec::<u32>::new());
        assert_eq!(group.judge(120), [8, 9]);
        let mut group = Group::of("flink:ratio=0,lower_bound_s=30", 2);
        group.run(0, 0, 0.0);
        assert_eq!(group.judge(29), Vec::<u32>::new());
        assert_eq!(group.judge(30), [0], "no baseline: everything over the lower bound");
    }

    #[test]
    fn the_fastest_are_not_the_first() {
        // Three of four finish: first those of 40 and 30 s, then one of 5 s.
        for (of, limit_s) in [("fastest", 45), ("first", 45)] {
            let mut group = Group::of(&format!("flink:ratio=0.5,lower_bound_s=0,of={of}"), 4);
            group.run(0, 0, 0.0).run(1, 0, 0.0).run(3, 0, 0.0);
            group.stop(1, 30);
            group.stop(0, 40);
            assert_eq!(group.judge(limit_s), Vec::<u32>::new(), "upper median 40, 60 s");
            group.run(2, 40, 0.0).stop(2, 45);
            let expected = if of == "fastest" { vec![3] } else { vec![] };
            assert_eq!(group.judge(limit_s), expected, "{of}: of 5 and 30, or of 30 and 40");
        }
    }
}
