//! Hadoop's first speculation (0.14 to 0.20 and 1.x): copies tasks 20 % behind the average.
//!
//! As coded: the average counts every task of the phase (unstarted 0, finished 1, in 32 bits), so
//! it passes 0.2 late, and a task over 0.8 is never copied. The minute counts from the start of the
//! **job**; manuals say from the start of the attempt (`age_from`). There is no cap and no ranking:
//! the lowest task index comes first. Hadoop updates its average by adding differences in 32 bits;
//! here it is summed exactly and rounded once, so it has no drift.

use std::sync::Arc;

use super::support::{WAITING, Waiting, entry, word};
use super::{Detector, End, Ended, Family, Flag, GroupInfo, Kind, Outlook, Plan, Running, Scene};
use crate::notation::{Notation, NotationError};
use crate::units::micros_to_seconds;

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "hadoop",
    about: "Hadoop MR1: progress 20 % under the average of all tasks, a minute after job start",
    curve: ("gap", &["0.6", "0.5", "0.4", "0.3", "0.2", "0.1", "0.05"]),
    family: Family::Hadoop,
    steers: false,
    #[cfg(test)]
    variants: &[
        "age_from=attempt,waiting=ignored,gap=0.1",
        "age_s=2,gap=0.1",
        "age_from=attempt,age_s=3,gap=0.05,waiting=ignored",
        "gap=0,age_s=1",
    ],
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AgeFrom {
    Job,
    Attempt,
}

const AGE_FROM: &[(&str, AgeFrom)] = &[("job", AgeFrom::Job), ("attempt", AgeFrom::Attempt)];

#[derive(Clone, Copy, Debug)]
struct Config {
    /// Minimum distance of progress below the average; 0.2 (`SPECULATIVE_GAP`).
    gap: f64,
    /// The lag, s; 60 (`SPECULATIVE_LAG`).
    age_s: f64,
    /// The start of the lag: `job` as coded (default), `attempt` as the manuals say.
    age_from: AgeFrom,
    /// Whether waiting tasks come before copies; `first` as coded (default).
    waiting: Waiting,
}

impl Config {
    fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        Ok(Self {
            gap: notation.number("gap", "a share from 0 to 1", 0.2, 0.0..=1.0)?,
            age_s: notation.number("age_s", "a time in seconds", 60.0, 0.0..)?,
            age_from: notation.choice("age_from", "`job` or `attempt`", AgeFrom::Job, AGE_FROM)?,
            waiting: notation.choice("waiting", "`first` or `ignored`", Waiting::First, WAITING)?,
        })
    }
}

impl Plan for Config {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Hadoop { config: *self, tasks: Vec::new(), done: 0 })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("gap", self.gap.to_string()),
            ("age_s", self.age_s.to_string()),
            ("age_from", word(AGE_FROM, &self.age_from)),
            ("waiting", word(WAITING, &self.waiting)),
        ]
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates")]
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6) as i64
}

/// The parts of a progress in the exact sum.
const PARTS: f64 = 1_099_511_627_776.0; // 2^40

#[derive(Clone, Copy, Debug, Default)]
struct Task {
    is_done: bool,
    /// The best progress of its running attempts, in parts; 0 between two calls.
    best: u64,
}

struct Hadoop {
    config: Config,
    tasks: Vec<Task>,
    done: u64,
}

impl Hadoop {
    /// The average progress of all tasks.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "progress is from 0 to 1, and the sum of 16 million of them fits"
    )]
    fn average(&mut self, scene: &Scene<'_>) -> f32 {
        let mut sum = self.done * (PARTS as u64);
        for running in scene.running {
            let task = entry(&mut self.tasks, running.task);
            let parts = (f64::from(running.progress.value() as f32) * PARTS) as u64;
            if !task.is_done && task.best < parts {
                sum += parts - task.best;
                task.best = parts;
            }
        }
        for running in scene.running {
            self.tasks[running.task as usize].best = 0;
        }
        (sum as f64 / PARTS / f64::from(scene.task_count.max(1))) as f32
    }
}

impl Detector for Hadoop {
    fn ended(&mut self, end: &Ended) {
        let task = entry(&mut self.tasks, end.task);
        if end.how == End::Finished && !task.is_done {
            task.is_done = true;
            self.done += 1;
        }
    }

    /// A single task is not behind its own average, except by rounding.
    fn judges_lone_tasks(&self) -> bool {
        self.config.gap < 1e-3
    }

    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let Config { gap, age_s, age_from, waiting } = self.config;
        if waiting == Waiting::First && 0 < scene.waiting {
            return;
        }
        if age_from == AgeFrom::Job && micros_to_seconds(scene.now_us - scene.begun_us) < age_s {
            return;
        }
        let average = f64::from(self.average(scene));
        let first = flags.len();
        for (position, running) in scene.running.iter().enumerate() {
            let is_late = running.has_progress && gap <= average - running.progress.value();
            let is_old = age_from == AgeFrom::Job || age_s <= running.age_s(scene.now_us);
            if is_late && is_old && !running.has_copy && !self.tasks[running.task as usize].is_done
            {
                flags.push(Flag::copy(position));
            }
        }
        flags[first..].sort_by_key(|flag| scene.running[flag.position].task);
        flags.truncate(first + scene.free_slots as usize);
    }

    fn reads_reports(&self, scene: &Scene<'_>) -> bool {
        self.config.waiting != Waiting::First || scene.waiting == 0
    }

    /// While rates stay constant, the average and each progress are linear.
    fn quiet_until_us(&self, scene: &Scene<'_>, outlook: Outlook) -> i64 {
        let Config { gap, age_s, age_from, waiting } = self.config;
        if waiting == Waiting::First && 0 < scene.waiting {
            return i64::MAX;
        }
        let from_us = |running: &Running| match age_from {
            AgeFrom::Job => scene.begun_us,
            AgeFrom::Attempt => running.start_us,
        };
        let open = scene.running.iter().filter(|running| running.has_progress && !running.has_copy);
        // Neither the average nor any progress changes: late attempts are flagged when old enough.
        if outlook.is_stalled {
            let aged_us = |running: &Running| {
                let from_us = from_us(running);
                if age_s <= micros_to_seconds(scene.now_us.saturating_sub(from_us)) {
                    return i64::MAX;
                }
                from_us.saturating_add(micros(age_s - 0.001)).max(scene.now_us)
            };
            return open.map(aged_us).min().unwrap_or(i64::MAX);
        }
        let tasks = f64::from(scene.task_count.max(1));
        let rate = |running: &Running| {
            let age_s = running.age_s(scene.now_us);
            if 0.0 < age_s { running.progress.value() / age_s } else { 0.0 }
        };
        let sum = |value: &dyn Fn(&Running) -> f64| scene.running.iter().map(value).sum::<f64>();
        #[expect(clippy::cast_precision_loss, reason = "a count of tasks")]
        let average = (self.done as f64 + sum(&|running| running.progress.value())) / tasks;
        let slope = sum(&rate) / tasks;
        let until_us = |running: &Running| {
            // Hadoop's average has 32 bits: near the gap every heartbeat counts.
            let short = gap - 1e-6 - (average - running.progress.value());
            let steeper = slope - rate(running);
            let old_us = from_us(running).saturating_add(micros(age_s - 0.001));
            let near_us = match short {
                short if short <= 0.0 => scene.now_us,
                _ if steeper <= 0.0 => i64::MAX,
                short => scene.now_us.saturating_add(micros(0.99 * short / steeper)),
            };
            old_us.max(near_us)
        };
        open.map(until_us).min().unwrap_or(i64::MAX).min(outlook.steady_until_us)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Group;

    #[test]
    fn a_task_a_gap_behind_the_average_is_copied() {
        // Exact binary fractions: the average of 4 tasks is 0.75.
        let mut group = Group::of("hadoop:gap=0.25", 4);
        group.run(0, 0, 0.5).run(1, 0, 0.5).finish(2..4, 0, 50);
        assert_eq!(group.judge(59), Vec::<u32>::new(), "the job is younger than a minute");
        assert_eq!(group.judge(60), [0, 1]);
    }

    #[test]
    fn unstarted_tasks_count_as_nothing() {
        let mut group = Group::of("hadoop:gap=0.25,waiting=ignored", 8);
        group.waiting = 4;
        group.run(0, 0, 0.5).run(1, 0, 0.5).finish(2..4, 0, 50);
        assert_eq!(group.judge(60), Vec::<u32>::new(), "the average is 3/8");
        group.set(0, 0.125);
        assert_eq!(group.judge(61), Vec::<u32>::new(), "and falls with its tasks: 0.328");
        let mut group = Group::of("hadoop:gap=0.25,waiting=ignored", 8);
        group.waiting = 2;
        group.run(0, 0, 0.125).run(1, 0, 1.0).finish(2..6, 0, 50);
        assert_eq!(group.judge(61), [0], "5.125/8 is over 3/8");
        group.detector = Group::of("hadoop:gap=0.25", 8).detector;
        assert_eq!(group.judge(61), Vec::<u32>::new(), "waiting tasks come first");
    }

    #[test]
    fn the_minute_counts_from_job_or_attempt() {
        for (age_from, expected) in [("job", vec![0]), ("attempt", vec![])] {
            let mut group = Group::of(&format!("hadoop:age_from={age_from}"), 4);
            group.finish(1..4, 0, 40);
            group.run(0, 50, 0.0);
            assert_eq!(group.judge(60), expected, "{age_from}");
        }
    }

    #[test]
    fn a_task_over_four_fifths_is_never_copied() {
        let mut group = Group::of("hadoop", 1_000);
        group.finish(1..1_000, 0, 50);
        group.run(0, 0, 0.81);
        assert_eq!(group.judge(10_000), Vec::<u32>::new());
        group.set(0, 0.79);
        assert_eq!(group.judge(10_010), [0]);
    }
}
