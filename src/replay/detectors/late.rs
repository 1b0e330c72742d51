//! LATE as published (Zaharia et al., OSDI'08): copies the attempts that will end last, on machines
//! that are not slow.
//!
//! Rate = progress / running time, time left = (1 - progress) / rate, both by the last report.
//! Among the attempts whose rate is below the 25th percentile of all rates and whose task never had
//! a copy, the one with the most time left is copied, as long as fewer copies run than a tenth of
//! the slots. A machine is slow if the work it has done (the sum of the progress of its finished
//! and running tasks of this group) is below the 25th percentile of machines; a machine that has
//! done no work yet is not known to be slow. Percentiles are interpolated linearly.
//!
//! Rates and times left are fractions of whole numbers, compared exactly by cross-multiplied
//! integers: equal rates are never below each other, because no quotient is rounded. Among attempts
//! with equal time left, the lower task index comes first. Work done on machines is summed in parts
//! of 2^-40 of a task.
//!
//! `slow_share` and `slow_rate` replace the percentile of rates by the criterion of another paper,
//! see [`criterion`](super::criterion).

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::criterion::{Criterion, Rates};
use super::progress::Ratio;
use super::support::{
    ONE_TASK, WAITING, Waiting, copy_first, first_of_age_us, place_of_percentile, room_below,
    task_parts, word,
};
use super::{Detector, End, Ended, Family, Flag, GroupInfo, Kind, Outlook, Plan, Running, Scene};
use crate::notation::{Notation, NotationError};

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "late",
    about: "LATE as published: slowest quarter by rate, longest time left first, 10 % of slots",
    curve: ("slow_task", &["2.5", "5", "10", "25", "40", "60", "80"]),
    family: Family::Hadoop,
    steers: false,
    #[cfg(test)]
    variants: &[
        "cap=1,age_s=0,slow_task=60,waiting=ignored",
        "slow_share=0.2,slow_rate=0.5,age_s=0,cap=1,waiting=ignored",
        "budget=0.1,min_age_s=100",
        "cap=1,age_s=400,slow_task=60,waiting=ignored",
        "slow_share=0.2,slow_rate=0.9,age_s=400,cap=1,waiting=ignored",
        "slow_share=0.4,age_s=100,cap=1",
        "age_s=2",
        "age_s=9,waiting=ignored,cap=0.3",
        "age_s=0,slow_task=60,budget=0.5,min_age_s=7",
    ],
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug)]
struct Config {
    /// Copies that may run at once, as a share of the slots; 0.1 (`SpeculativeCap`).
    cap: f64,
    /// Percentile of rates below which an attempt is slow; 25 (`SlowTaskThreshold`).
    slow_task: f64,
    /// The criterion that replaces this percentile; not given by default.
    criterion: Criterion,
    /// Percentile of work done below which a machine is slow; 25 (`SlowNodeThreshold`).
    slow_node: f64,
    /// Minimum age of an attempt, s; 60.
    age_s: f64,
    /// Whether waiting tasks come before copies; `first` by default, as in Hadoop.
    waiting: Waiting,
}

impl Config {
    fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let percent = "a percentile from 0 to 100";
        Ok(Self {
            cap: notation.number("cap", "a share from 0 to 1", 0.1, 0.0..=1.0)?,
            slow_task: notation.number("slow_task", percent, 25.0, 0.0..=100.0)?,
            criterion: Criterion::read(notation)?,
            slow_node: notation.number("slow_node", percent, 25.0, 0.0..=100.0)?,
            age_s: notation.number("age_s", "a time in seconds", 60.0, 0.0..)?,
            waiting: notation.choice("waiting", "`first` or `ignored`", Waiting::First, WAITING)?,
        })
    }
}

impl Plan for Config {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Late {
            config: *self,
            rates: Vec::new(),
            all_rates: Rates::new(self.criterion),
            ranked: Vec::new(),
            done: FxHashMap::default(),
            nodes: RefCell::default(),
        })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let [slow_share, slow_rate] = self.criterion.parameters();
        vec![
            ("cap", self.cap.to_string()),
            ("slow_task", self.slow_task.to_string()),
            slow_share,
            slow_rate,
            ("slow_node", self.slow_node.to_string()),
            ("age_s", self.age_s.to_string()),
            ("waiting", word(WAITING, &self.waiting)),
        ]
    }
}

struct Late {
    config: Config,
    rates: Vec<Ratio>,
    /// Rates for the criterion.
    all_rates: Rates,
    /// Time left and position of the attempts that may be copied.
    ranked: Vec<(Ratio, usize)>,
    /// The number of finished tasks, by machine.
    done: FxHashMap<u32, u32>,
    /// Computed only when a machine is checked.
    nodes: RefCell<Nodes>,
}

/// Work done by each machine at one time.
#[derive(Debug, Default)]
struct Nodes {
    now_us: Option<i64>,
    /// The number of attempts, and the first and last report, that `work` was computed from; `None`
    /// after an attempt has ended or was judged.
    shown: Option<(usize, Option<[i64; 2]>)>,
    /// Work in parts of a task.
    work: FxHashMap<u32, u64>,
    threshold: u64,
}

/// The least age of a report, µs: a report at the start counts as a millisecond old.
const AGE_MIN_US: u64 = 1_000;

/// Progress per µs at the last report.
fn rate(running: &Running) -> Ratio {
    let (progress, age_us) = (running.progress, running.reported_age_us().max(AGE_MIN_US));
    // Linear progress is counted in whole or half microseconds of age, which cancel out.
    for parts in 1..=2 {
        if age_us.checked_mul(parts) == Some(progress.done()) {
            return Ratio { top: u128::from(parts), bottom: u128::from(progress.total()) };
        }
    }
    Ratio {
        top: u128::from(progress.done()),
        bottom: u128::from(progress.total()) * u128::from(age_us),
    }
}

/// Time left by the last report, µs; infinite without progress.
fn time_left(running: &Running) -> Ratio {
    let (progress, age_us) = (running.progress, running.reported_age_us().max(AGE_MIN_US));
    Ratio {
        top: u128::from(progress.left()) * u128::from(age_us),
        bottom: u128::from(progress.done()),
    }
}

impl Late {
    fn weigh_nodes(&self, scene: &Scene<'_>, nodes: &mut Nodes) {
        nodes.work.clear();
        let whole = |(&machine, &count): (&u32, &u32)| (machine, u64::from(count) * ONE_TASK);
        nodes.work.extend(self.done.iter().map(whole));
        for running in scene.running {
            *nodes.work.entry(running.machine).or_insert(0) += task_parts(running.progress);
        }
        let mut work: Vec<u64> = nodes.work.values().copied().collect();
        let place = place_of_percentile(self.config.slow_node, work.len());
        nodes.threshold = place.map_or(0, |place| *work.select_nth_unstable(place).1);
    }
}

impl Detector for Late {
    fn ended(&mut self, end: &Ended) {
        self.nodes.get_mut().shown = None;
        self.all_rates.ended(end);
        if end.how == End::Finished {
            *self.done.entry(end.machine).or_insert(0) += 1;
        }
    }

    /// A rate is never below a percentile of itself, nor below a share of its own mean.
    fn judges_lone_tasks(&self) -> bool {
        self.config.criterion.is_given()
    }

    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let Config { cap, slow_task, age_s, waiting, .. } = self.config;
        self.nodes.get_mut().shown = None;
        let room = room_below(cap * f64::from(scene.slots), scene.copies, scene.free_slots);
        if room == 0 || (waiting == Waiting::First && 0 < scene.waiting) {
            return;
        }
        self.rates.clear();
        self.rates.extend(scene.running.iter().filter(|running| running.has_progress).map(rate));
        let Some(place) = place_of_percentile(slow_task, self.rates.len()) else { return };
        let (_, &mut threshold, _) =
            self.rates.select_nth_unstable_by(place, |one, other| one.compare(*other));
        let bounds = self.all_rates.bounds(scene);
        let is_slow = |running: &Running| match bounds {
            Some(bounds) => bounds.is_slow(running),
            None => rate(running).compare(threshold).is_lt(),
        };
        self.ranked.clear();
        for (position, running) in scene.running.iter().enumerate() {
            let is_free = running.has_progress && !running.has_copy && !running.was_copied;
            if is_free && age_s <= running.age_s(scene.now_us) && is_slow(running) {
                self.ranked.push((time_left(running), position));
            }
        }
        let task = |position: usize| scene.running[position].task;
        copy_first(&mut self.ranked, room, flags, |one, other| {
            other.0.compare(one.0).then_with(|| task(one.1).cmp(&task(other.1)))
        });
    }

    /// While rates stay constant, the same attempts stay slow. Those that are old enough have been
    /// flagged, or no more copies may run.
    fn quiet_until_us(&self, scene: &Scene<'_>, outlook: Outlook) -> i64 {
        let Config { cap, age_s, waiting, .. } = self.config;
        let is_held = waiting == Waiting::First && 0 < scene.waiting;
        let room = room_below(cap * f64::from(scene.slots), scene.copies, scene.free_slots);
        if room == 0 || is_held {
            return i64::MAX;
        }
        let is_young = |running: &Running| {
            running.has_progress && !running.was_copied && running.age_s(scene.now_us) < age_s
        };
        let aged_us = first_of_age_us(scene, age_s, is_young);
        // The same progress at different ages: the lower of two rates stays the lower one.
        if outlook.is_stalled && !self.config.criterion.is_given() {
            return aged_us;
        }
        aged_us.min(outlook.steady_until_us)
    }

    fn reads_reports(&self, scene: &Scene<'_>) -> bool {
        let is_held = self.config.waiting == Waiting::First && 0 < scene.waiting;
        let cap = self.config.cap * f64::from(scene.slots);
        !is_held && 0 < room_below(cap, scene.copies, scene.free_slots)
    }

    fn heeds_slots(&self, scene: &Scene<'_>) -> bool {
        room_below(self.config.cap * f64::from(scene.slots), scene.copies, u32::MAX) == 0
    }

    fn suits(&self, scene: &Scene<'_>, machine: u32) -> bool {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.now_us != Some(scene.now_us) {
            let ends = scene.running.first().zip(scene.running.last());
            let ends = ends.map(|(first, last)| [first.reported_us, last.reported_us]);
            let shown = Some((scene.running.len(), ends));
            if nodes.shown != shown {
                self.weigh_nodes(scene, &mut nodes);
            }
            (nodes.now_us, nodes.shown) = (Some(scene.now_us), shown);
        }
        nodes.work.get(&machine).is_none_or(|&work| nodes.threshold <= work)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Group;

    /// A(.9, 300 s), B(.3, 100 s), C(.2, 200 s), D(.5, 100 s): rates .003, .003, .001, .005.
    fn example(detector: &str) -> Group {
        let mut group = Group::of(detector, 4);
        group.run(0, 0, 0.9).run(2, 100, 0.2).run(1, 200, 0.3).run(3, 200, 0.5);
        group
    }

    #[test]
    fn the_slow_one_with_the_most_time_left_is_copied() {
        assert_eq!(example("late").judge(300), [2]);
        // A, B and C are below the 90th percentile; time left is 800, 233.3 and 33.3 s.
        assert_eq!(example("late:slow_task=90,cap=1").judge(300), [2, 1, 0]);
    }

    #[test]
    fn another_criterion_takes_the_place_of_the_percentile() {
        // Rates .003, .003, .001 and .005, their mean is .003; the slowest quarter is .001.
        assert_eq!(example("late:slow_share=0.25,slow_rate=0.5").judge(300), [2]);
        let none = Vec::<u32>::new();
        assert_eq!(example("late:slow_share=0.25,slow_rate=0.3").judge(300), none, "under .0009");
        // The slowest half is three attempts, because two are equal; 800, 233.3 and 33.3 s are
        // left.
        assert_eq!(example("late:slow_share=0.5,cap=1").judge(300), [2, 1, 0]);
        // Four that took 10 s raise the mean to .0515: all are below half of it.
        let mut group = example("late:slow_rate=0.5,cap=1");
        group.finish(4..8, 0, 10);
        assert_eq!(group.judge(300), [2, 1, 3, 0]);
    }

    #[test]
    fn the_cap_counts_copies_that_run() {
        let mut group = example("late:slow_task=90,cap=0.5");
        assert_eq!(group.judge(300), [2, 1]);
        assert_eq!(group.judge(301), Vec::<u32>::new(), "two of four slots are half");
        group.copies = 1;
        assert_eq!(group.judge(302), [0], "never the same task twice");
        let mut group = example("late:slow_task=90,cap=1");
        group.free_slots = 1;
        assert_eq!(group.judge(300), [2]);
    }

    #[test]
    fn equals_are_not_slow_and_nobody_is_copied_twice() {
        let mut group = Group::of("late:cap=1", 3);
        group.run(0, 0, 0.5).run(1, 0, 0.5).run(2, 0, 0.5);
        assert_eq!(group.judge(100), Vec::<u32>::new(), "rates below the percentile, not at it");
        group.set(1, 0.25);
        assert_eq!(group.judge(101), [1]);
        group.running[1].has_copy = false;
        group.copies = 0;
        assert_eq!(group.judge(102), Vec::<u32>::new(), "its copy was lost");
    }

    #[test]
    fn young_attempts_and_waiting_tasks_hold_copies_off() {
        assert_eq!(example("late:age_s=201").judge(300), Vec::<u32>::new());
        let mut group = example("late");
        group.waiting = 1;
        assert_eq!(group.judge(300), Vec::<u32>::new());
    }

    #[test]
    fn a_machine_with_little_done_is_slow() {
        let mut group = Group::of("late", 9);
        for (machine, done) in [(0, 3), (1, 2), (2, 2)] {
            for task in 0..done {
                group.run_on(machine * 3 + task, machine, 0, 0.0).stop(machine * 3 + task, 10);
            }
        }
        // Work 3, 2, 2 and 0.5: the 25th percentile is 1.625.
        group.run_on(8, 3, 0, 0.5);
        for (machine, suits) in [(0, true), (1, true), (2, true), (3, false), (4, true)] {
            let told = group.ask(100, |detector, scene| detector.suits(scene, machine));
            assert_eq!(told, suits, "machine {machine}");
        }
    }
}
