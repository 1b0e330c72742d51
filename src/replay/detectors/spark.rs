//! Spark's speculation: copies attempts that run longer than a multiple of the median, once most
//! tasks are done.
//!
//! Version 3 waits for 75 % and takes 1.5 times the mean of the two middle times; version 4 waits
//! for 90 % and takes 3 times the upper one. Every running attempt is tested, and there is no cap.
//! Spark spares an attempt that reads records quickly enough. Traces have no record counts, so this
//! test is off by default; in Spark, too, it has no effect in stages that read no records.
//! `efficiency=progress` uses progress instead of records. It spares few attempts, since a task
//! past a multiple of the median is already slower than average.

use std::sync::Arc;

use super::support::{OrOff, copy_slow, first_of_age_us, whole, word};
use super::{Detector, Family, Flag, GroupInfo, Kind, Outlook, Plan, Scene};
use crate::notation::{Notation, NotationError};

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "spark",
    about: "Spark's speculation: 3 times the median once 90 % are done (version 3: 1.5 and 75 %)",
    curve: ("multiplier", &["5", "4", "3", "2", "1.5", "1.2"]),
    family: Family::Others,
    steers: false,
    #[cfg(test)]
    variants: &[
        "version=3,efficiency=progress",
        "threshold_s=30,executor_slots=100",
        "quantile=0.1,budget=0.2,min_age_s=700",
        "quantile=0.3,multiplier=1.1,min_runtime_s=1",
        "threshold_s=5",
        "version=3,efficiency=progress,quantile=0.2,min_runtime_s=1",
    ],
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Three,
    Four,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Median {
    Upper,
    Mean,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Efficiency {
    Off,
    Progress,
}

const VERSIONS: &[(&str, Version)] = &[("3", Version::Three), ("4", Version::Four)];
const MEDIANS: &[(&str, Median)] = &[("upper", Median::Upper), ("mean", Median::Mean)];
const EFFICIENCIES: &[(&str, Efficiency)] =
    &[("off", Efficiency::Off), ("progress", Efficiency::Progress)];

#[derive(Clone, Copy, Debug)]
struct Config {
    /// The version whose defaults are used: `3` or `4` (default).
    version: Version,
    /// `spark.speculation.multiplier`; 1.5 or 3.
    multiplier: f64,
    /// `spark.speculation.quantile`; 0.75 or 0.9.
    quantile: f64,
    /// `spark.speculation.minTaskRuntime`, s; 0.1.
    min_runtime_s: f64,
    /// `spark.speculation.task.duration.threshold`, s; off. Applies while too few tasks are done,
    /// to groups that fit into one executor.
    threshold_s: OrOff,
    /// Slots of one executor; 1 (the default of `spark.executor.cores` on a cluster manager).
    executor_slots: u32,
    /// The median of an even number: `mean` of the middle two (3) or the `upper` one (4).
    median: Median,
    /// Whether fast attempts are spared, see the module's documentation; `off`.
    efficiency: Efficiency,
    /// `spark.speculation.efficiency.processRateMultiplier`; 0.75.
    rate_multiplier: f64,
    /// `spark.speculation.efficiency.longRunTaskFactor`; 2.
    long_run_factor: f64,
}

impl Config {
    fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let version = notation.choice("version", "3 or 4", Version::Four, VERSIONS)?;
        let (multiplier, quantile, median) = match version {
            Version::Three => (1.5, 0.75, Median::Mean),
            Version::Four => (3.0, 0.9, Median::Upper),
        };
        let (factor, seconds) = ("a positive factor", "a time in seconds");
        Ok(Self {
            version,
            multiplier: notation.number("multiplier", factor, multiplier, 1e-9..)?,
            quantile: notation.number("quantile", "a share from 0 to 1", quantile, 0.0..=1.0)?,
            min_runtime_s: notation.number("min_runtime_s", seconds, 0.1, 0.0..)?,
            threshold_s: notation.take_if(
                "threshold_s",
                "a time in seconds or `off`",
                OrOff(None),
                OrOff::is_off_or_positive,
            )?,
            executor_slots: notation.take("executor_slots", "a count of slots", 1)?,
            median: notation.choice("median", "`upper` or `mean`", median, MEDIANS)?,
            efficiency: notation.choice(
                "efficiency",
                "`off` or `progress`",
                Efficiency::Off,
                EFFICIENCIES,
            )?,
            rate_multiplier: notation.number(
                "rate_multiplier",
                "a factor above 0, at most 1",
                0.75,
                1e-9..=1.0,
            )?,
            long_run_factor: notation.number(
                "long_run_factor",
                "a factor of at least 1",
                2.0,
                1.0..,
            )?,
        })
    }

    /// Whether an attempt that has run for `age_s` gets a copy; the efficiency test compares its
    /// rate with the average rate.
    fn is_slow(&self, age_s: f64, limit: Limit, rate: f64, average: f64) -> bool {
        let is_spared = self.efficiency == Efficiency::Progress
            && !limit.is_custom
            && age_s <= self.long_run_factor * limit.age_s
            && self.rate_multiplier * average <= rate;
        limit.age_s < age_s && !is_spared
    }

    /// The limit; `None` while no attempt is tested.
    fn limit(&self, scene: &Scene<'_>) -> Option<Limit> {
        if scene.task_count <= 1 && self.threshold_s.0.is_none() {
            return None;
        }
        let lengths_us = scene.finished.lengths_us();
        let least = whole((self.quantile * f64::from(scene.task_count)).floor()).max(1);
        if least <= lengths_us.len() {
            #[expect(clippy::cast_precision_loss, reason = "a length is far below 2^53 µs")]
            let median_us = match self.median {
                Median::Upper => lengths_us[lengths_us.len() / 2] as f64,
                Median::Mean => scene.finished.median_us()?,
            };
            // Computed from whole µs, so that 1.15 times 20 s are not slightly less than 23 s.
            let age_s = (self.multiplier * median_us / 1e6).max(self.min_runtime_s);
            return Some(Limit { age_s, is_custom: false });
        }
        let age_s = self.threshold_s.0?;
        (scene.task_count <= self.executor_slots).then_some(Limit { age_s, is_custom: true })
    }
}

/// The age past which attempts are copied, and whether it is `threshold_s`.
#[derive(Clone, Copy, Debug)]
struct Limit {
    age_s: f64,
    is_custom: bool,
}

impl Plan for Config {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Spark { config: *self })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("version", word(VERSIONS, &self.version)),
            ("multiplier", self.multiplier.to_string()),
            ("quantile", self.quantile.to_string()),
            ("min_runtime_s", self.min_runtime_s.to_string()),
            ("threshold_s", self.threshold_s.to_string()),
            ("executor_slots", self.executor_slots.to_string()),
            ("median", word(MEDIANS, &self.median)),
            ("efficiency", word(EFFICIENCIES, &self.efficiency)),
            ("rate_multiplier", self.rate_multiplier.to_string()),
            ("long_run_factor", self.long_run_factor.to_string()),
        ]
    }
}

struct Spark {
    config: Config,
}

impl Detector for Spark {
    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let Some(limit) = self.config.limit(scene) else { return };
        // Finished tasks did all their work: a progress of 1 each, over their whole time.
        let mean_s = scene.finished.mean_s().unwrap_or(f64::INFINITY);
        let average = if scene.finished.count() == 0 { f64::MAX } else { mean_s.recip() };
        copy_slow(scene, flags, |running| {
            let age_s = running.age_s(scene.now_us);
            self.config.is_slow(age_s, limit, running.progress.value() / age_s, average)
        });
    }

    fn reads_reports(&self, scene: &Scene<'_>) -> bool {
        self.config.limit(scene).is_some()
    }

    fn quiet_until_us(&self, scene: &Scene<'_>, _outlook: Outlook) -> i64 {
        match self.config.limit(scene) {
            _ if self.config.efficiency == Efficiency::Progress => scene.now_us,
            None => i64::MAX,
            Some(limit) => first_of_age_us(scene, limit.age_s, |running| !running.has_copy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Group;
    use super::*;

    #[test]
    fn three_medians_once_nine_of_ten_are_done() {
        let mut group = Group::of("spark", 100);
        group.finish(0..89, 0, 10);
        for task in 89..100 {
            group.run(task, 0, 0.0);
        }
        assert_eq!(group.judge(31), Vec::<u32>::new(), "89 of 100");
        group.stop(89, 32);
        assert_eq!(group.judge(30), Vec::<u32>::new(), "strictly over 30 s");
        assert_eq!(group.judge(31).len(), 10);
        assert_eq!(group.judge(32), Vec::<u32>::new(), "one copy each");
    }

    #[test]
    fn a_quick_reader_waits_for_the_long_run() {
        let read = |text: &str| Config::read(&mut Notation::parse("detector", text).unwrap());
        let config = read("spark:efficiency=progress").unwrap();
        let limit = Limit { age_s: 30.0, is_custom: false };
        assert!(config.is_slow(31.0, limit, 700.0, 1_000.0), "700 is under 750 records per s");
        assert!(!config.is_slow(31.0, limit, 900.0, 1_000.0));
        assert!(!config.is_slow(60.0, limit, 900.0, 1_000.0));
        assert!(config.is_slow(60.1, limit, 900.0, 1_000.0));
        assert!(read("spark").unwrap().is_slow(31.0, limit, 900.0, 1_000.0), "off by default");
    }

    #[test]
    fn versions_differ_in_defaults_and_median() {
        // Four of five done, in 10, 20, 30 and 40 s: median 25 and 30 s.
        let mut ages = Vec::new();
        for text in ["spark:version=3", "spark:version=3,median=upper", "spark:quantile=0.8"] {
            let mut group = Group::of(text, 5);
            group.run(4, 0, 0.0);
            for (task, end_s) in [(0, 10), (1, 20), (2, 30), (3, 40)] {
                group.run(task, 0, 0.0).stop(task, end_s);
            }
            ages.extend((41..200).find(|&now_s| !group.judge(now_s).is_empty()));
        }
        assert_eq!(ages, [41, 46, 91], "over 37.5, 45 and 90 s");
    }

    #[test]
    fn a_threshold_tests_small_groups_early() {
        let mut group = Group::of("spark:threshold_s=20,executor_slots=2", 2);
        group.run(0, 0, 0.0).run(1, 0, 0.0);
        assert_eq!(group.judge(20), Vec::<u32>::new());
        assert_eq!(group.judge(21), [0, 1]);
        let mut alone = Group::of("spark", 1);
        alone.run(0, 0, 0.0);
        assert_eq!(alone.judge(100_000), Vec::<u32>::new());
    }
}
