//! Cubed's backup tasks: copies past three times the median, once half of the started tasks are
//! done.
//!
//! As coded in the library of that name (cubed-dev/cubed, `runtime/backup.py`): with N started
//! tasks (at least `min_started`), i = ceil(quantile * N) - 1 and more than i complete, an attempt
//! gets a copy once it has run longer than `multiplier` times entry i (from 0) of the lengths in
//! ascending order. A task is copied once. Not modelled: Cubed counts a backup as one more started
//! task, and checks every two seconds. Progress is not used.
//!
//! ```text
//!  12 started: i = 5                 lengths   10 12 14 16 18 20
//!  5 complete: nothing yet           entry       0  1  2  3  4  5  -> 20 s, copies past 60 s
//! ```

use std::sync::Arc;

use super::support::{copy_slow, entry, first_of_age_us, whole};
use super::{Detector, Family, Flag, GroupInfo, Kind, Outlook, Plan, Scene};
use crate::notation::{Notation, NotationError};

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "cubed",
    about: "Cubed's backup tasks: 3 times the median once half of the started are complete",
    curve: ("multiplier", &["10", "5", "3", "2", "1.5", "1.1"]),
    family: Family::Others,
    steers: false,
    #[cfg(test)]
    variants: &["min_started=2"],
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug)]
struct Config {
    /// Minimum number of started tasks; 10 (`min_tasks`).
    min_started: u32,
    /// The share of the started tasks that must be complete, and the quantile that is measured; 0.5
    /// (`min_completed_fraction`). At 0, Cubed would use the longest length.
    quantile: f64,
    /// Multiple of that quantile; 3 (`slow_factor`).
    multiplier: f64,
}

impl Config {
    fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let share = "a share above 0, at most 1";
        Ok(Self {
            min_started: notation.take("min_started", "a count of tasks", 10)?,
            quantile: notation.number("quantile", share, 0.5, 1e-9..=1.0)?,
            multiplier: notation.number("multiplier", "a positive factor", 3.0, 1e-9..)?,
        })
    }
}

impl Plan for Config {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Cubed { config: *self, has_started: Vec::new(), started: 0 })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("min_started", self.min_started.to_string()),
            ("quantile", self.quantile.to_string()),
            ("multiplier", self.multiplier.to_string()),
        ]
    }
}

struct Cubed {
    config: Config,
    /// By task.
    has_started: Vec<bool>,
    started: u32,
}

impl Cubed {
    /// The age past which an attempt gets a copy, µs; `None` while too few have started or
    /// finished.
    fn limit_us(&self, scene: &Scene<'_>) -> Option<f64> {
        let Config { min_started, quantile, multiplier } = self.config;
        if self.started < min_started {
            return None;
        }
        let place = whole((quantile * f64::from(self.started)).ceil()).checked_sub(1)?;
        let length_us = *scene.finished.lengths_us().get(place)?;
        #[expect(clippy::cast_precision_loss, reason = "a length is far below 2^53 µs")]
        Some(multiplier * length_us as f64)
    }
}

impl Detector for Cubed {
    fn started(&mut self, _attempt: u32, task: u32, _start_us: i64) {
        let has_started = entry(&mut self.has_started, task);
        self.started += u32::from(!*has_started);
        *has_started = true;
    }

    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let Some(limit_us) = self.limit_us(scene) else { return };
        copy_slow(scene, flags, |running| {
            #[expect(clippy::cast_precision_loss, reason = "an age is far below 2^53 µs")]
            let age_us = (scene.now_us - running.start_us) as f64;
            limit_us < age_us && !running.was_copied
        });
    }

    fn judges_lone_tasks(&self) -> bool {
        self.config.min_started <= 1
    }

    fn reads_reports(&self, scene: &Scene<'_>) -> bool {
        self.limit_us(scene).is_some()
    }

    /// The limit changes only when an attempt begins or ends: quiet until the oldest uncopied
    /// attempt is past it.
    fn quiet_until_us(&self, scene: &Scene<'_>, _outlook: Outlook) -> i64 {
        let Some(limit_us) = self.limit_us(scene) else { return i64::MAX };
        first_of_age_us(scene, limit_us / 1e6, |running| !running.has_copy && !running.was_copied)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Group, SECOND};
    use super::*;

    /// Twelve tasks started at 0; five of them complete, in 10, 12, 14, 16 and 18 s.
    fn example() -> Group {
        let mut group = Group::of("cubed", 14);
        for task in 0..12 {
            group.run(task, 0, 0.0);
        }
        for (task, end_s) in (0..).zip([10, 12, 14, 16, 18]) {
            group.stop(task, end_s);
        }
        group
    }

    #[test]
    fn six_of_twelve_must_be_complete() {
        let mut group = example();
        assert_eq!(group.judge(1_000), Vec::<u32>::new(), "five of six");
        let mut group = example();
        group.stop(5, 20);
        assert_eq!(group.judge(60), Vec::<u32>::new(), "three times 20 s, and not past it");
        assert_eq!(group.judge(61), [6, 7, 8, 9, 10, 11]);
        assert_eq!(group.judge(62), Vec::<u32>::new(), "once per task");
    }

    #[test]
    fn the_limit_moves_with_what_starts_and_ends() {
        let mut group = example();
        group.stop(5, 20);
        // The thirteenth: ceil(6.5) = 7 must be complete.
        group.run(12, 50, 0.0);
        assert_eq!(group.judge(61), Vec::<u32>::new(), "six of seven");
        group.stop(12, 61);
        assert_eq!(group.judge(61), [6, 7, 8, 9, 10, 11], "10, 11, 12, ..., 20: entry 6 is 20 s");
        let mut group = example();
        group.stop(5, 30);
        group.run(5, 40, 0.0);
        assert_eq!(group.judge(90), Vec::<u32>::new(), "three times 30 s");
        assert_eq!(group.judge(91), [6, 7, 8, 9, 10, 11], "a task that runs again counts once");
        assert_eq!(group.judge(131), [5]);
    }

    #[test]
    fn it_is_quiet_until_the_oldest_is_past_the_limit() {
        let mut group = example();
        let quiet = |group: &Group, now_s: i64| {
            let outlook = Outlook { steady_until_us: 0, heartbeat_us: SECOND, is_stalled: false };
            group.ask(now_s, |detector, scene| detector.quiet_until_us(scene, outlook))
        };
        assert_eq!(quiet(&group, 19), i64::MAX, "until something ends");
        group.stop(5, 20);
        let until_us = quiet(&group, 20);
        assert!((60 * SECOND - 2..=60 * SECOND).contains(&until_us), "{until_us}");
        assert_eq!(group.judge(61), [6, 7, 8, 9, 10, 11]);
        assert_eq!(quiet(&group, 61), i64::MAX, "all have their copy");
        assert!(!group.detector.judges_lone_tasks());
    }
}
