//! The job splitter of `YTsaurus`: copies attempts that will run for much longer, while no task
//! waits.
//!
//! As coded in `yt/yt/server/controller_agent` of ytsaurus/ytsaurus: the rules are in
//! `controllers/job_splitter.cpp` at 17b9c62a, the times at which they are checked in
//! `controllers/task.cpp` at 04e823f9, the defaults in `config.cpp`, and the limit on copies in
//! `yt/yt/ytlib/scheduler/config.cpp`. Time left = age * (1 - progress) / progress, by rows read.
//! While no task of the group waits, an attempt that has run for more than `min_time_s` and has
//! more than that left gets a copy if
//!
//! - few attempts run (it is *residual*): at most `residual_min`, or at most `residual` times the
//!   most that have run at once, rounded down, or
//! - it is *long*: among the N attempts in order of their estimated end, it comes at or after entry
//!   `floor(quantile * N)` (from 0), and its time left is at least `excess` times that of entry
//!   `floor(N / 2)`.
//!
//! ```text
//!  20 run, 20 have run at once: more than 16, so not residual. Time left at 100 s:
//!  entry   0 ... 10 ... 15    16    17    18    19
//!  left      100 s (median)  209   210   300   400   -> copies of 17, 18 and 19
//! ```
//!
//! At most `max_copies` copies run at once, and a task has at most one at a time; it may get
//! another one later. Copies count as running attempts, as in `YTsaurus`; only a replay has copies.
//!
//! Differences: progress replaces rows. At each heartbeat, all reports are read before the first
//! attempt is judged, and the long attempts are determined again (in `YTsaurus` at most once a
//! minute, `update_period`). The attempt with the latest estimated end comes first (in `YTsaurus`,
//! the first to report).
//!
//! Left out, since traces record neither rows nor the time to prepare: splitting (by default,
//! input over 1 GB that can be split is split, and copied 5 minutes later at the earliest); a least
//! time of 20 times the preparation; and copies of attempts that have read no rows for 20 times the
//! mean preparation. Also left out: the timeout that users may set (`job_speculation_timeout`), and
//! a wait (in `YTsaurus`, no attempt is judged while a copy is queued).

use std::cmp::Reverse;
use std::sync::Arc;

use super::support::{copy_first, count_as_f64, room_below, whole};
use super::{Detector, Ended, Family, Flag, GroupInfo, Kind, Outlook, Plan, Running, Scene};
use crate::notation::{Notation, NotationError};

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "ytsaurus",
    about: "YTsaurus: over a minute left when few run, else 2.1 times the median's time left",
    curve: ("min_time_s", &["3600", "1200", "600", "300", "120", "60", "20"]),
    family: Family::Others,
    steers: false,
    #[cfg(test)]
    variants: &[
        "residual=0,residual_min=0,max_copies=100",
        "residual=0,residual_min=0,quantile=0.5,excess=1.2,min_time_s=5",
        "residual=1,min_time_s=0,max_copies=2",
        "residual=0.3,residual_min=1,min_time_s=200,budget=0.2",
        "residual=0,residual_min=0,excess=1,min_time_s=1,max_copies=30",
    ],
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug)]
struct Config {
    /// Age and time left that an attempt must exceed, µs; 60 s (`min_job_time`).
    min_time_us: i64,
    /// Share of the attempts before the first candidate for a long one; 0.8
    /// (`candidate_percentile`).
    quantile: f64,
    /// Multiple of the median's time left; 2.1, hard-coded (`ExcessFactor`).
    excess: f64,
    /// The most running attempts that are residual, as a share of the most that have run at once;
    /// 0.8 (`residual_job_factor`). At 0 only `residual_min` counts, which `YTsaurus` does not
    /// allow.
    residual: f64,
    /// At most this many running attempts are always residual; 10
    /// (`residual_job_count_min_threshold`).
    residual_min: u32,
    /// Copies that may run at once; 10 (`max_speculative_job_count_per_task`).
    max_copies: u32,
}

impl Config {
    fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let min_time_s = notation.number("min_time_s", "a time in seconds", 60.0, 0.0..=1e9)?;
        #[expect(clippy::cast_possible_truncation, reason = "at most 10^15")]
        Ok(Self {
            min_time_us: (min_time_s * 1e6).round() as i64,
            quantile: notation.number("quantile", "a share from 0.5 to 1", 0.8, 0.5..=1.0)?,
            excess: notation.number("excess", "a factor of at least 1", 2.1, 1.0..)?,
            residual: notation.number("residual", "a share from 0 to 1", 0.8, 0.0..=1.0)?,
            residual_min: notation.take("residual_min", "a count of attempts", 10)?,
            max_copies: notation.take("max_copies", "a count of copies", 10)?,
        })
    }

    fn is_residual(&self, running: usize, most_running: usize) -> bool {
        let share = whole((self.residual * count_as_f64(most_running)).floor());
        running <= share.max(self.residual_min as usize)
    }

    /// Whether an attempt is old enough and far enough from its end.
    fn is_worth_it(&self, running: &Running) -> bool {
        let age_us = running.reported_us - running.start_us;
        let is_far = |end_us: i64| self.min_time_us < end_us.saturating_sub(running.reported_us);
        self.min_time_us < age_us && estimated_end_us(running).is_some_and(is_far)
    }

    /// The number of copies that may start; none while a task waits.
    fn room(&self, scene: &Scene<'_>) -> usize {
        if 0 < scene.waiting {
            return 0;
        }
        room_below(f64::from(self.max_copies), scene.copies, scene.free_slots)
    }

    /// The time before which a residual attempt is not worth a copy, unless an attempt begins or
    /// ends, µs.
    fn not_before_us(&self, running: &Running, scene: &Scene<'_>, outlook: Outlook) -> i64 {
        let aged_us = running.start_us.saturating_add(self.min_time_us);
        let unknown_us = aged_us.max(outlook.steady_until_us).max(scene.now_us);
        if self.is_worth_it(running) {
            return scene.now_us;
        }
        let (done, left) = (running.progress.done(), running.progress.left());
        if !outlook.is_stalled || left == 0 {
            // If an attempt continues at its rate, its time left decreases.
            return if scene.now_us <= aged_us { aged_us } else { unknown_us };
        }
        // The time left is a fixed multiple of the age. One microsecond too early only costs a
        // heartbeat.
        let after_us = i128::from(self.min_time_us - 1) * i128::from(done) / i128::from(left) - 1;
        let far_us = running.start_us.saturating_add(i64::try_from(after_us).unwrap_or(i64::MAX));
        aged_us.max(far_us).max(scene.now_us)
    }
}

/// When an attempt ends by its last report, µs; `None` before it has any progress.
fn estimated_end_us(running: &Running) -> Option<i64> {
    let length_us = running.has_progress.then(|| running.estimated_length_us())??;
    Some(running.start_us.saturating_add(length_us))
}

impl Plan for Config {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Ytsaurus {
            config: *self,
            running: 0,
            counted_us: i64::MIN,
            most_running: 0,
            ends: Vec::new(),
            slow: Vec::new(),
        })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let min_time_s = crate::units::micros_to_seconds(self.min_time_us);
        vec![
            ("min_time_s", min_time_s.to_string()),
            ("quantile", self.quantile.to_string()),
            ("excess", self.excess.to_string()),
            ("residual", self.residual.to_string()),
            ("residual_min", self.residual_min.to_string()),
            ("max_copies", self.max_copies.to_string()),
        ]
    }
}

/// An estimated end, and its attempt, so that no two are equal.
type Place = (i64, u32);

struct Ytsaurus {
    config: Config,
    /// The number of running attempts after all known starts and ends up to `counted_us`.
    running: usize,
    counted_us: i64,
    /// The most attempts that have run at once; starts and ends in one instant are counted
    /// together.
    most_running: usize,
    /// Reused buffer: estimated ends.
    ends: Vec<Place>,
    /// Reused buffer: the attempts that get a copy, by estimated end and position.
    slow: Vec<(Reverse<Option<i64>>, usize)>,
}

impl Ytsaurus {
    /// Moves to `time_us`, when an attempt begins or ends.
    fn advance(&mut self, time_us: i64) {
        if self.counted_us < time_us {
            self.most_running = self.most_running.max(self.running);
            self.counted_us = time_us;
        }
    }

    fn is_residual(&self, scene: &Scene<'_>) -> bool {
        let running = scene.running.len();
        self.config.is_residual(running, self.most_running.max(running))
    }

    /// The estimated end of the median attempt, and the first candidate; `None` without candidates.
    fn places(&mut self, scene: &Scene<'_>) -> Option<(i64, Place)> {
        let known = |running: &Running| Some((estimated_end_us(running)?, running.attempt));
        self.ends.clear();
        self.ends.extend(scene.running.iter().filter_map(known));
        let count = self.ends.len();
        let middle = count / 2;
        let first = whole((count_as_f64(count) * self.config.quantile).floor()).max(middle);
        if count <= first {
            return None;
        }
        let (below, &mut candidate, _) = self.ends.select_nth_unstable(first);
        if first == middle {
            return Some((candidate.0, candidate));
        }
        let (_, median, _) = below.select_nth_unstable(middle);
        Some((median.0, candidate))
    }

    /// Whether an attempt is long; compares a quotient of floats, as in `YTsaurus`.
    #[expect(clippy::cast_precision_loss, reason = "times are far below 2^53 µs")]
    fn is_long(&self, running: &Running, now_us: i64, (median_us, first): (i64, Place)) -> bool {
        let Some(end_us) = estimated_end_us(running) else { return false };
        let (left, of_median) = ((end_us - now_us) as f64, (median_us - now_us) as f64);
        first <= (end_us, running.attempt) && self.config.excess <= left / of_median
    }
}

impl Detector for Ytsaurus {
    fn started(&mut self, _attempt: u32, _task: u32, start_us: i64) {
        self.advance(start_us);
        self.running += 1;
    }

    fn ended(&mut self, end: &Ended) {
        self.advance(end.end_us);
        self.running = self.running.saturating_sub(1);
    }

    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let config = self.config;
        let is_open = |running: &Running| !running.has_copy && config.is_worth_it(running);
        let room = config.room(scene);
        if room == 0 || !scene.running.iter().any(is_open) {
            return;
        }
        let is_residual = self.is_residual(scene);
        let places = if is_residual { None } else { self.places(scene) };
        let mut slow = std::mem::take(&mut self.slow);
        slow.clear();
        for (position, running) in scene.running.iter().enumerate() {
            let is_long = || places.is_some_and(|it| self.is_long(running, scene.now_us, it));
            if is_open(running) && (is_residual || is_long()) {
                slow.push((Reverse(estimated_end_us(running)), position));
            }
        }
        copy_first(&mut slow, room, flags, Ord::cmp);
        self.slow = slow;
    }

    fn judges_lone_tasks(&self) -> bool {
        self.config.is_residual(1, 1) || self.config.excess <= 1.0
    }

    fn reads_reports(&self, scene: &Scene<'_>) -> bool {
        0 < self.config.room(scene)
    }

    /// While no copy may start, no flag is added. If few attempts run (residual), each one has a
    /// time before which it is not worth a copy. If many run, any of them may become long.
    fn quiet_until_us(&self, scene: &Scene<'_>, outlook: Outlook) -> i64 {
        let Config { max_copies, .. } = self.config;
        if 0 < scene.waiting || max_copies <= scene.copies {
            return i64::MAX;
        }
        let is_residual = self.is_residual(scene);
        let open = scene.running.iter().filter(|running| !running.has_copy);
        let times_us = open.map(|running| {
            if is_residual {
                return self.config.not_before_us(running, scene, outlook);
            }
            running.start_us.saturating_add(self.config.min_time_us).max(scene.now_us)
        });
        times_us.min().unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Group, SECOND};
    use super::*;

    /// Twenty attempts started at 0. By their reports at 100 s, 16 have 100 s left, the others have
    /// 209, 210, 300 and 400 s left.
    fn example(pairs: &str) -> Group {
        let mut group = Group::of(&format!("ytsaurus{pairs}"), 20);
        for task in 0..20 {
            group.run(task, 0, 0.5);
        }
        for (task, left_s) in (16..).zip([209.0, 210.0, 300.0, 400.0]) {
            group.set(task, 100.0 / (100.0 + left_s));
        }
        group
    }

    #[test]
    fn what_has_twice_the_medians_time_left_is_long() {
        assert_eq!(example("").judge(100), [19, 18, 17], "2.09 times is too little, 2.1 is enough");
        assert_eq!(example(":excess=2").judge(100), [19, 18, 17, 16]);
        assert_eq!(example(":min_time_s=99").judge(100), [19, 18, 17]);
        assert_eq!(example(":min_time_s=100").judge(100), Vec::<u32>::new(), "not past it");
        assert_eq!(example(":min_time_s=30").judge(31), [19, 18, 17], "31 s left, and 65 s");
    }

    #[test]
    fn the_first_four_fifths_are_never_long() {
        let mut group = example("");
        // Five of twenty have at least 300 s left: tasks 17, 18 (entries 15, 16), and 15, 16, 19.
        group.set(15, 0.2).set(16, 0.2).set(17, 0.25);
        assert_eq!(group.judge(100), [15, 16, 19, 18]);
        assert_eq!(example(":quantile=0.95").judge(100), [19]);
        assert_eq!(example(":quantile=1").judge(100), Vec::<u32>::new());
    }

    #[test]
    fn where_the_median_is_done_all_that_is_left_is_long() {
        let mut group = example("");
        (0..12).for_each(|task| {
            group.set(task, 1.0);
        });
        // Entry 10 has nothing left; entries 16 to 19 are the last four.
        assert_eq!(group.judge(100), [19, 18, 17, 16]);
        assert_eq!(group.judge(100), Vec::<u32>::new(), "one copy at a time");
    }

    #[test]
    fn few_that_run_are_residual() {
        let mut group = example("");
        group.finish(20..21, 50, 51);
        (0..4).for_each(|task| group.stop(task, 60));
        // 21 have run at once: 16.8, rounded down.
        assert_eq!(group.judge(60), Vec::<u32>::new(), "not past a minute");
        assert_eq!(group.judge(61), [19, 18, 17, 16, 4, 5, 6, 7, 8, 9], "ten at once");
        assert_eq!(group.judge(62), Vec::<u32>::new(), "ten run");
        let mut group = example("");
        (0..3).for_each(|task| group.stop(task, 60));
        assert_eq!(group.judge(61), [19, 18, 17], "17 of 20: more than 16");
        // Ten attempts are few even if no more have run at once.
        let mut group = Group::of("ytsaurus", 10);
        (0..10).for_each(|task| {
            group.run(task, 0, 0.625);
        });
        group.set(7, 0.62);
        assert_eq!(group.judge(100), [7], "60 s left are too little, 61.3 s are enough");
    }

    #[test]
    fn nothing_is_copied_while_a_task_waits() {
        let mut group = example("");
        group.waiting = 1;
        assert_eq!(group.judge(100), Vec::<u32>::new());
        group.waiting = 0;
        group.free_slots = 2;
        assert_eq!(group.judge(100), [19, 18]);
    }

    #[test]
    fn it_is_quiet_until_an_attempt_is_old_enough() {
        let mut group = Group::of("ytsaurus", 3);
        group.run(0, 0, 0.1).run(1, 10, 0.9).run(2, 20, 0.0);
        let quiet = |group: &Group, now_s: i64, steady_s: i64, is_stalled: bool| {
            let (steady_until_us, heartbeat_us) = (steady_s * SECOND, SECOND);
            let outlook = Outlook { steady_until_us, heartbeat_us, is_stalled };
            group.ask(now_s, |detector, scene| detector.quiet_until_us(scene, outlook)) / SECOND
        };
        assert_eq!(group.judge(30), Vec::<u32>::new());
        assert_eq!(quiet(&group, 30, 0, false), 60);
        assert_eq!(group.judge(61), [0]);
        assert_eq!(quiet(&group, 61, 0, false), 70);
        assert_eq!(group.judge(90), Vec::<u32>::new(), "80 s old, 8.9 s left; no progress");
        assert_eq!(quiet(&group, 90, 200, false), 200, "at the same rate neither is ever due");
        assert_eq!(quiet(&group, 90, 0, false), 90);
        group.stop(2, 90);
        // Progress stays at 90 %: a ninth of the age exceeds 60 s when the age exceeds 540 s.
        assert_eq!(quiet(&group, 90, 90, true), 549);
        assert_eq!(group.judge(550), Vec::<u32>::new());
        assert_eq!(group.judge(551), [1]);
        assert_eq!(quiet(&group, 551, 0, false), i64::MAX / SECOND);
        assert!(group.detector.judges_lone_tasks());
    }
}
