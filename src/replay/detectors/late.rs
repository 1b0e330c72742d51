//! LATE as published (Zaharia et al., OSDI'08): copy what will end last, on nodes that are not
//! slow.
//!
//! Rate = progress / running time, time left = (1 - progress) / rate, both by the last report. Of
//! the attempts whose rate is below the 25th percentile of all rates and whose task never had a
//! copy, the one with the most time left is copied, as long as fewer copies run than a tenth of
//! the slots. A machine is slow when the work it has done (the sum of the progress of its finished
//! and running tasks of this group) is below the 25th percentile of machines; one that has done
//! nothing yet is not known to be slow. Percentiles interpolate linearly.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::support::{WAITING, Waiting, copy_largest, percentile, room_below, word};
use super::{Detector, End, Ended, Flag, GroupInfo, Kind, Plan, Running, Scene};
use crate::notation::{Notation, NotationError};

/// The kind.
pub(super) const KIND: Kind = Kind {
    name: "late",
    about: "LATE as published: slowest quarter by rate, longest time left first, 10 % of slots",
    curve: ("slow_task", &["2.5", "5", "10", "25", "40", "60", "80"]),
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug)]
struct Config {
    /// Copies that may run at once, as a share of the slots; 0.1 (`SpeculativeCap`).
    cap: f64,
    /// Percentile of rates below which an attempt is slow; 25 (`SlowTaskThreshold`).
    slow_task: f64,
    /// Percentile of work done below which a machine is slow; 25 (`SlowNodeThreshold`).
    slow_node: f64,
    /// Least time an attempt has run, s; 60.
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
            ranked: Vec::new(),
            done: FxHashMap::default(),
            nodes: RefCell::default(),
        })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("cap", self.cap.to_string()),
            ("slow_task", self.slow_task.to_string()),
            ("slow_node", self.slow_node.to_string()),
            ("age_s", self.age_s.to_string()),
            ("waiting", word(WAITING, &self.waiting)),
        ]
    }
}

struct Late {
    config: Config,
    rates: Vec<f64>,
    ranked: Vec<(f64, usize)>,
    /// Finished tasks by machine.
    done: FxHashMap<u32, u32>,
    /// Only worked out when a machine asks.
    nodes: RefCell<Nodes>,
}

/// Work done by machine, at one moment.
#[derive(Debug, Default)]
struct Nodes {
    now_us: Option<i64>,
    work: FxHashMap<u32, f64>,
    threshold: f64,
}

/// Progress per second at the last report; a report made at the start counts as a millisecond old.
fn rate(running: &Running) -> f64 {
    running.progress / running.age_s(running.reported_us).max(1e-3)
}

impl Late {
    fn weigh_nodes(&self, scene: &Scene<'_>, nodes: &mut Nodes) {
        nodes.now_us = Some(scene.now_us);
        nodes.work.clear();
        nodes.work.extend(self.done.iter().map(|(&machine, &count)| (machine, f64::from(count))));
        for running in scene.running {
            *nodes.work.entry(running.machine).or_insert(0.0) += running.progress;
        }
        let mut work: Vec<f64> = nodes.work.values().copied().collect();
        nodes.threshold = percentile(&mut work, self.config.slow_node).unwrap_or(0.0);
    }
}

impl Detector for Late {
    fn ended(&mut self, end: &Ended) {
        if end.how == End::Finished {
            *self.done.entry(end.machine).or_insert(0) += 1;
        }
    }

    /// A rate is below no percentile of itself.
    fn judges_lone_tasks(&self) -> bool {
        false
    }

    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let Config { cap, slow_task, age_s, waiting, .. } = self.config;
        let room = room_below(cap * f64::from(scene.slots), scene.copies, scene.free_slots);
        if room == 0 || (waiting == Waiting::First && 0 < scene.waiting) {
            return;
        }
        self.rates.clear();
        self.rates.extend(scene.running.iter().filter(|running| running.has_progress).map(rate));
        let Some(threshold) = percentile(&mut self.rates, slow_task) else { return };
        self.ranked.clear();
        for (position, running) in scene.running.iter().enumerate() {
            let is_free = running.has_progress && !running.has_copy && !running.was_copied;
            if is_free && age_s <= running.age_s(scene.now_us) {
                let rate = rate(running);
                if rate < threshold {
                    self.ranked.push(((1.0 - running.progress) / rate, position));
                }
            }
        }
        copy_largest(&mut self.ranked, room, flags);
    }

    fn suits(&self, scene: &Scene<'_>, machine: u32) -> bool {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.now_us != Some(scene.now_us) {
            self.weigh_nodes(scene, &mut nodes);
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
