//! Hadoop 0.21's variant of LATE: rates one deviation below the mean, longest time left first.
//!
//! Differences from the paper: deviations replace percentiles, a machine is slow by the mean length
//! of its tasks, and the cap counts running tasks and has a floor of ten. As coded, the mean and
//! deviation are over one sample per *scheduling* of a task. The sample is 0 when the task is
//! scheduled, and is replaced by its rate at each report. Samples are never removed, so finished
//! and restarted tasks stay included. Hadoop tests a machine for maps and for reduces; here a group
//! is one phase and has its own test. Hadoop clamps its sums at 0 against rounding; here sums are
//! exact, rates are whole parts of fractions, and times left are compared as fractions: equal ones
//! are ranked by task index.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::progress::Ratio;
use super::support::{
    ExactSums, WAITING, Waiting, copy_first, count_as_f64, entry, first_of_age_us, word,
};
use super::{
    Detector, End, Ended, Family, Flag, GroupInfo, Kind, Outlook, Plan, Progress, Running, Scene,
};
use crate::notation::{Notation, NotationError};

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "late021",
    about: "Hadoop 0.21's version of LATE: rate one standard deviation below the mean, 10 % of running tasks",
    curve: ("slow_task", &["2.5", "2", "1.5", "1", "0.5", "0.25", "0"]),
    family: Family::Hadoop,
    steers: false,
    #[cfg(test)]
    variants: &[
        "slow_task=0,min_cap=1,age_s=0,waiting=ignored",
        "slow_task=0,min_cap=1,age_s=900,waiting=ignored",
        "age_s=2",
        "age_s=5,min_cap=0,min_slots=0.2,cap=0,waiting=ignored,slow_task=0",
    ],
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug)]
struct Config {
    /// Copies that may run, as a share of the running tasks; 0.1 (`speculativecap`).
    cap: f64,
    /// Copies that may always run; 10 (`MIN_SPEC_CAP`).
    min_cap: f64,
    /// Copies that may always run, as a share of the slots; 0.01 (`MIN_SLOTS_CAP`).
    min_slots: f64,
    /// Number of deviations below the mean rate; 1 (`slowtaskthreshold`).
    slow_task: f64,
    /// Number of deviations above the mean length of machines; 1 (`slownodethreshold`).
    slow_node: f64,
    /// Least time since the attempt was dispatched, s; 60 (`SPECULATIVE_LAG`).
    age_s: f64,
    /// Whether waiting tasks come before copies; `first` as coded (default).
    waiting: Waiting,
}

impl Config {
    fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let (share, least) = ("a share from 0 to 1", "a number of at least 0");
        Ok(Self {
            cap: notation.number("cap", share, 0.1, 0.0..=1.0)?,
            min_cap: notation.number("min_cap", least, 10.0, 0.0..)?,
            min_slots: notation.number("min_slots", share, 0.01, 0.0..=1.0)?,
            slow_task: notation.number("slow_task", least, 1.0, 0.0..)?,
            slow_node: notation.number("slow_node", least, 1.0, 0.0..)?,
            age_s: notation.number("age_s", "a time in seconds", 60.0, 0.0..)?,
            waiting: notation.choice("waiting", "`first` or `ignored`", Waiting::First, WAITING)?,
        })
    }

    fn is_at_cap(&self, tasks: usize, copies: f64, slots: u32) -> bool {
        let is_free = copies < self.min_cap || copies < self.min_slots * f64::from(slots);
        tasks == 0 || (!is_free && self.cap <= copies / count_as_f64(tasks))
    }
}

impl Plan for Config {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Late021 {
            config: *self,
            tasks: Vec::new(),
            scan: 0,
            rates: ExactSums::default(),
            ranked: Vec::new(),
            lengths: FxHashMap::default(),
            limit: RefCell::default(),
        })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("cap", self.cap.to_string()),
            ("min_cap", self.min_cap.to_string()),
            ("min_slots", self.min_slots.to_string()),
            ("slow_task", self.slow_task.to_string()),
            ("slow_node", self.slow_node.to_string()),
            ("age_s", self.age_s.to_string()),
            ("waiting", word(WAITING, &self.waiting)),
        ]
    }
}

/// The parts of one progress per millisecond in the exact sums.
const PARTS: u64 = 1 << 52;

/// The parts of 99 % of progress in a microsecond.
#[expect(clippy::cast_possible_truncation, reason = "below 2^62")]
const NEARLY_DONE: u64 = (99 * PARTS as u128 * 1_000 / 100) as u64;

#[derive(Clone, Copy, Debug, Default)]
struct Task {
    /// Its sample in `rates`.
    sample: i64,
    /// The last scan that included it.
    scan: u64,
    /// The best rate of its attempts at their reports, in parts.
    reported: i64,
}

struct Late021 {
    config: Config,
    tasks: Vec<Task>,
    scan: u64,
    rates: ExactSums,
    /// Time left and position of the attempts that may be copied.
    ranked: Vec<(Ratio, usize)>,
    /// Count and sum (µs) of finished lengths by machine.
    lengths: FxHashMap<u32, (f64, i64)>,
    /// The mean length above which a machine is slow, and the time of its computation.
    limit: RefCell<Option<(i64, f64)>>,
}

/// Progress per millisecond after `age_us`, at least a millisecond, in whole parts.
fn rate(progress: Progress, age_us: i64) -> i64 {
    let age_us = u64::try_from(age_us).unwrap_or(0).max(1_000);
    let (done, total) = (progress.done(), progress.total());
    // Rounded down once, so that equal rates have equal parts.
    let rate = if age_us == done {
        PARTS * 1_000 / total
    } else if age_us.checked_mul(2) == Some(done) {
        // A walk counts linear progress in half microseconds of age, which cancels out.
        2 * PARTS * 1_000 / total
    } else if (done, total) == (99, 100) {
        // Attempts that are nearly done: rounding down twice gives the same as rounding down once.
        NEARLY_DONE / age_us
    } else {
        let parts = u128::from(done) * u128::from(PARTS) * 1_000;
        u64::try_from(parts / (u128::from(total) * u128::from(age_us))).unwrap_or(u64::MAX)
    };
    i64::try_from(rate).expect("a rate is at most 1 per ms")
}

/// The time left at `now_us` of an attempt that continues as before, µs, as Hadoop computes it: at
/// least a ten-thousandth of the work is left.
fn time_left(running: &Running, now_us: i64) -> Ratio {
    let progress = running.progress;
    let age_us = u128::try_from(now_us - running.start_us).unwrap_or(0).max(1_000);
    let left = (u128::from(progress.left()) * 10_000).max(u128::from(progress.total()));
    // Ages are below 2^63 µs, so this overflows only if age and work are beyond any history.
    Ratio { top: left.saturating_mul(age_us), bottom: u128::from(progress.done()) * 10_000 }
}

impl Late021 {
    /// Reads the reports; returns the number of running tasks.
    fn read_reports(&mut self, scene: &Scene<'_>) -> usize {
        self.scan += 1;
        let mut count = 0;
        for running in scene.running {
            let task = entry(&mut self.tasks, running.task);
            if task.scan != self.scan {
                *task = Task { scan: self.scan, reported: 0, ..*task };
                count += 1;
            }
            if running.has_progress {
                let age_us = running.reported_us - running.start_us;
                task.reported = task.reported.max(rate(running.progress, age_us));
            }
        }
        for running in scene.running {
            let task = &mut self.tasks[running.task as usize];
            if task.sample != task.reported {
                self.rates.replace(task.sample, task.reported);
                task.sample = task.reported;
            }
        }
        count
    }

    /// The mean length of a machine's tasks above which it is slow, µs.
    fn limit_us(&self) -> f64 {
        let mut means = ExactSums::default();
        #[expect(clippy::cast_possible_truncation, reason = "a length in µs")]
        let all = self.lengths.values().map(|&(count, sum)| (sum_as_f64(sum) / count) as i64);
        all.for_each(|mean| means.add(mean));
        means.mean() + self.config.slow_node * means.deviation()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a sum of lengths is far below 2^53 µs")]
fn sum_as_f64(sum_us: i64) -> f64 {
    sum_us as f64
}

impl Detector for Late021 {
    fn started(&mut self, _attempt: u32, task: u32, _start_us: i64) {
        // Adds a sample of 0; the sample of an earlier scheduling of the task stays.
        entry(&mut self.tasks, task).sample = 0;
        self.rates.add(0);
    }

    fn ended(&mut self, end: &Ended) {
        if end.how != End::Finished {
            return;
        }
        let task = entry(&mut self.tasks, end.task);
        let rate = rate(Progress::ALL, end.length_us());
        self.rates.replace(task.sample, rate);
        task.sample = rate;
        let (count, sum) = self.lengths.entry(end.machine).or_insert((0.0, 0));
        *count += 1.0;
        *sum += end.length_us();
        self.limit.take();
    }

    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let Config { slow_task, age_s, waiting, .. } = self.config;
        let count = self.read_reports(scene);
        let mut room = 0;
        let copies = f64::from(scene.copies);
        while room < scene.free_slots as usize
            && room < scene.running.len()
            && !self.config.is_at_cap(count, copies + count_as_f64(room), scene.slots)
        {
            room += 1;
        }
        if room == 0 || (waiting == Waiting::First && 0 < scene.waiting) {
            return;
        }
        self.ranked.clear();
        let lag = self.rates.lag(slow_task);
        for (position, running) in scene.running.iter().enumerate() {
            // Without a copy, it is the only attempt of its task.
            let is_free = running.has_progress && !running.has_copy;
            if !is_free || running.age_s(scene.now_us) < age_s {
                continue;
            }
            let rate = rate(running.progress, scene.now_us - running.start_us);
            if self.rates.is_below(rate, lag) {
                self.ranked.push((time_left(running, scene.now_us), position));
            }
        }
        let task = |position: usize| scene.running[position].task;
        copy_first(&mut self.ranked, room, flags, |one, other| {
            other.0.compare(one.0).then_with(|| task(one.1).cmp(&task(other.1)))
        });
    }

    /// As in `late`: while rates stay constant, the same attempts stay slow.
    fn quiet_until_us(&self, scene: &Scene<'_>, outlook: Outlook) -> i64 {
        let Config { age_s, waiting, .. } = self.config;
        if waiting == Waiting::First && 0 < scene.waiting {
            return outlook.steady_until_us;
        }
        if outlook.is_done_with(scene) {
            return i64::MAX;
        }
        let is_young = |running: &Running| {
            running.has_progress && !running.has_copy && running.age_s(scene.now_us) < age_s
        };
        first_of_age_us(scene, age_s, is_young).min(outlook.steady_until_us)
    }

    /// `min_cap` copies are always allowed, for any number of slots.
    fn heeds_slots(&self, scene: &Scene<'_>) -> bool {
        self.config.min_cap <= f64::from(scene.copies)
    }

    fn suits(&self, scene: &Scene<'_>, machine: u32) -> bool {
        let Some(&(count, sum)) = self.lengths.get(&machine) else { return true };
        let mut limit = self.limit.borrow_mut();
        let (_, limit_us) = *limit.get_or_insert_with(|| (scene.now_us, self.limit_us()));
        sum_as_f64(sum) / count <= limit_us
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Group;
    use super::*;

    #[test]
    fn short_ways_to_a_rate_round_like_the_fraction() {
        let plain = |progress: Progress, age_us: u64| {
            let age_us = u128::from(age_us.max(1_000));
            let parts = u128::from(progress.done()) * (1 << 52) * 1_000;
            i64::try_from(parts / (u128::from(progress.total()) * age_us)).unwrap()
        };
        for age_us in [0, 999, 1_000, 1_001, 86_399_999_999, 1 << 40, (1 << 52) + 1] {
            for (done, total) in [
                (99, 100),
                (1, 1),
                (0, 7),
                (age_us, age_us.max(1) + 12_345),
                (2 * age_us, 2 * age_us + 777_777),
                (age_us / 3, (age_us / 2).max(1)),
            ] {
                let Some(progress) = Progress::of(done.into(), total.into()) else { continue };
                let age = i64::try_from(age_us).unwrap();
                assert_eq!(
                    rate(progress, age),
                    plain(progress, age_us),
                    "{done}/{total}, {age_us}"
                );
            }
        }
    }

    #[test]
    fn launches_are_those_of_the_test_of_hadoop() {
        // (total, complete early, slots of the type) -> launched, by TestSpeculativeExecution.
        for (total, early, slots, launched) in
            [(1_200, 800, 10, 40), (1_200, 1_150, 10, 10), (1_200, 1_150, 2_000, 20)]
        {
            let mut group = Group::of("late021", total);
            group.slots = slots;
            group.finish(0..early, 0, 100);
            for task in early..total {
                group.run(task, 0, if task % 2 == 0 { 0.1 } else { 0.85 });
            }
            assert_eq!(group.judge(200).len(), launched, "{total} {early} {slots}");
            assert_eq!(group.judge(201).len(), 0, "at the cap");
        }
    }

    #[test]
    fn keys_rank_by_time_left() {
        // Hadoop's key is 1 / time left, per ms.
        let key = |progress: f64, seconds: i64| {
            let mut group = Group::of("none", 1);
            group.run(0, 0, progress);
            let Ratio { top, bottom } = time_left(&group.running[0], seconds * 1_000_000);
            #[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
            let key = bottom as f64 / top as f64 * 1e3;
            format!("{key:.4e}")
        };
        assert_eq!(key(0.85, 317), "1.7876e-5");
        assert_eq!(key(0.2, 65), "3.8462e-6");
        // Both are slow compared with ten finished ones; the second has the higher rate but more
        // time left.
        let mut group = Group::of("late021:min_cap=1", 12);
        group.finish(2..12, 0, 10);
        group.run(0, 0, 0.85).run(1, 252, 0.2);
        assert_eq!(group.judge(317), [1]);
    }

    #[test]
    fn one_deviation_under_the_mean_is_slow() {
        // Rates .003, .003, .001, .005 per s: mean .003, deviation .001414, only C is slow.
        let mut group = Group::of("late021", 4);
        group.run(0, 0, 0.9).run(2, 100, 0.2).run(1, 200, 0.3).run(3, 200, 0.5);
        assert_eq!(group.judge(300), [2]);
    }

    #[test]
    fn the_cap_is_the_larger_of_floor_slots_and_share() {
        let config = Config::read(&mut Notation::parse("detector", "late021").unwrap()).unwrap();
        assert!(config.is_at_cap(0, 0.0, 100), "no candidates");
        assert!(!config.is_at_cap(20, 9.0, 20));
        assert!(config.is_at_cap(20, 10.0, 20));
        assert!(!config.is_at_cap(20, 19.0, 2_000));
        assert!(!config.is_at_cap(400, 39.0, 20));
        assert!(config.is_at_cap(400, 40.0, 20));
    }

    #[test]
    fn a_machine_with_long_tasks_is_slow() {
        let mut group = Group::of("late021", 4);
        for (machine, length_s) in [(2, 90), (0, 100), (1, 110), (3, 400)] {
            group.run_on(machine, machine, 0, 0.0).stop(machine, length_s);
        }
        for machine in 0..5 {
            let told = group.ask(500, |detector, scene| detector.suits(scene, machine));
            assert_eq!(told, machine != 3, "machine {machine}");
        }
    }
}
