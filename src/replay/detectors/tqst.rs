//! TQST (Cui et al., 2014): slow machines get no copies, and the slowest ones no tasks.
//!
//! The last quarter of the running tasks by estimated end is slow. Of those, the one that gains
//! most from a copy started now (with the mean length of finished attempts) is copied first. Copies
//! start while fewer copies run than the largest of 10, 1 % of all tasks and 10 % of the running
//! ones. The slowest quarter of the machines by the mean speed of their tasks is slow and gets no
//! copies ([`Detector::suits`]). The slowest tenth is very slow if its speed is also below half the
//! average: it gets only probes until it is faster ([`Detector::standing`]).
//!
//! A machine's speed is the mean rate of its running tasks that have progressed, or else the last
//! known one: of a task that finished there, of a probe, or of an earlier job
//! ([`GroupInfo::speeds`]). Estimated ends are whole microseconds; among equal ones the lower task
//! index comes first, and among equally fast machines the lower number is slower.
//!
//! Algorithm 2 gives a free machine that is not slow a copy if one is requested, or else a new
//! task. So copies are requested even if no machine is free at the heartbeat, and start on the next
//! suitable machine (`waiting=ignored`, and `copies=first` of the replay, both by default);
//! `waiting=first` blocks copies while tasks of the group wait. Parameters set what the paper
//! leaves open: whether the last quarter is of the running or of all tasks, how a tenth of nine
//! machines is rounded, and the time limit that the paper mentions (`age_s`). Its experiments
//! replace the last quarter by another criterion, see [`criterion`](super::criterion):
//! `slow_share=0.2,slow_rate=0.5`.

use std::cell::{RefCell, RefMut};
use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::criterion::{Criterion, Rates};
use super::support::{
    WAITING, Waiting, copy_first, count_as_f64, first_of_age_us, keep_first, room_below, whole,
    word,
};
use super::{
    Detector, End, Ended, Family, Flag, GroupInfo, Kind, NO_MACHINE, Outlook, Plan, Running, Scene,
    Standing,
};
use crate::notation::{Notation, NotationError};
use crate::units::micros_to_seconds;

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "tqst",
    about: "Cui et al. 2014: last quarter by estimated end, no copies on slow nodes",
    curve: ("slow_task", &["2", "5", "10", "25", "50", "75", "100"]),
    family: Family::Hadoop,
    steers: true,
    #[cfg(test)]
    variants: &[
        "of=all,rounding=down,min_tasks=2,age_s=0,waiting=first",
        "slow_share=0.2,slow_rate=0.5,age_s=0",
        "of=all,rounding=down,min_tasks=2,age_s=500,waiting=first",
        "slow_share=0.3,slow_rate=0.9,age_s=500",
        "age_s=2",
        "min_tasks=2,age_s=4,waiting=first",
    ],
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Running,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounding {
    Up,
    Down,
}

impl Rounding {
    fn share(self, percent: f64, count: usize) -> usize {
        let part = percent / 100.0 * count_as_f64(count);
        // 10 % of 30 is slightly above 3 as a float, but must not be rounded up to 4.
        whole(match self {
            Self::Up => (part - 1e-9).ceil(),
            Self::Down => (part + 1e-9).floor(),
        })
    }
}

const OF: &[(&str, Of)] = &[("running", Of::Running), ("all", Of::All)];
const ROUNDINGS: &[(&str, Rounding)] = &[("up", Rounding::Up), ("down", Rounding::Down)];

#[derive(Clone, Copy, Debug)]
struct Config {
    /// Share of the tasks that is slow, by estimated end, %; 25.
    slow_task: f64,
    /// The criterion that replaces this share; not given by default.
    criterion: Criterion,
    /// Share of the machines that is slow, by speed, %; 25.
    slow_node: f64,
    /// Share of the machines that may be very slow, %; 10.
    very_slow: f64,
    /// Share of the average speed below which they are very slow; 0.5.
    under: f64,
    /// The tasks that `slow_task` is a share of; `running`.
    of: Of,
    /// How shares are rounded; `up`, so that one of nine machines can be very slow.
    rounding: Rounding,
    /// Copies that may always run; 10.
    min_tasks: f64,
    /// Copies that may run, as a share of all tasks; 0.01.
    cap_total: f64,
    /// Copies that may run, as a share of running tasks; 0.1.
    cap_running: f64,
    /// Minimum age of an attempt, s; 60.
    age_s: f64,
    /// Whether waiting tasks come before copies; `ignored` as in the pseudo-code.
    waiting: Waiting,
}

impl Config {
    fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let (part, share) = ("a part from 0 to 100 %", "a share from 0 to 1");
        Ok(Self {
            slow_task: notation.number("slow_task", part, 25.0, 0.0..=100.0)?,
            criterion: Criterion::read(notation)?,
            slow_node: notation.number("slow_node", part, 25.0, 0.0..=100.0)?,
            very_slow: notation.number("very_slow", part, 10.0, 0.0..=100.0)?,
            under: notation.number("under", share, 0.5, 0.0..=1.0)?,
            of: notation.choice("of", "`running` or `all`", Of::Running, OF)?,
            rounding: notation.choice("rounding", "`up` or `down`", Rounding::Up, ROUNDINGS)?,
            min_tasks: notation.number("min_tasks", "a number of at least 0", 10.0, 0.0..)?,
            cap_total: notation.number("cap_total", share, 0.01, 0.0..=1.0)?,
            cap_running: notation.number("cap_running", share, 0.1, 0.0..=1.0)?,
            age_s: notation.number("age_s", "a time in seconds", 60.0, 0.0..)?,
            waiting: notation.choice(
                "waiting",
                "`first` or `ignored`",
                Waiting::Ignored,
                WAITING,
            )?,
        })
    }
}

impl Plan for Config {
    fn build(&self, group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Tqst {
            config: *self,
            ranked: Vec::new(),
            rates: Rates::new(self.criterion),
            nodes: RefCell::new(Nodes {
                known: group.speeds.iter().copied().collect(),
                ..Nodes::default()
            }),
        })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let [slow_share, slow_rate] = self.criterion.parameters();
        vec![
            ("slow_task", self.slow_task.to_string()),
            slow_share,
            slow_rate,
            ("slow_node", self.slow_node.to_string()),
            ("very_slow", self.very_slow.to_string()),
            ("under", self.under.to_string()),
            ("of", word(OF, &self.of)),
            ("rounding", word(ROUNDINGS, &self.rounding)),
            ("min_tasks", self.min_tasks.to_string()),
            ("cap_total", self.cap_total.to_string()),
            ("cap_running", self.cap_running.to_string()),
            ("age_s", self.age_s.to_string()),
            ("waiting", word(WAITING, &self.waiting)),
        ]
    }
}

struct Tqst {
    config: Config,
    /// Estimated end, µs, and position.
    ranked: Vec<(i64, usize)>,
    /// Rates for the criterion.
    rates: Rates,
    /// Computed only when a machine is checked.
    nodes: RefCell<Nodes>,
}

/// The speeds of the machines at one time.
#[derive(Debug, Default)]
struct Nodes {
    /// Whether the machines have been sorted since the last heartbeat or probe.
    is_sorted: bool,
    /// Last known speed by machine, tasks per second.
    known: FxHashMap<u32, f64>,
    /// Sum (parts) and count of the rates of running tasks by machine.
    rates: FxHashMap<u32, (u128, f64)>,
    slow: FxHashMap<u32, Standing>,
}

/// If two starts differ by less than this, rounding may change the order of the estimated ends, µs.
const CLOSE_US: i64 = 1_000;

/// The parts of a task per µs, in which rates are summed: sums do not depend on their order.
const PARTS: u128 = 1 << 80;

/// Tasks per second from the mean of rates in parts.
#[expect(clippy::cast_precision_loss, reason = "rounded here and nowhere else")]
fn speed(sum: u128, count: f64) -> f64 {
    sum as f64 / count / PARTS as f64 * 1e6
}

/// The rate of a task with a length, in parts.
fn rate(length_us: i64) -> u128 {
    PARTS / u128::try_from(length_us).unwrap_or(0).max(1)
}

/// The order of estimated ends: the latest first, and among equal ones the lower task index.
fn latest(scene: &Scene<'_>) -> impl Fn(&(i64, usize), &(i64, usize)) -> Ordering {
    let task = |position: usize| scene.running[position].task;
    move |one, other| other.0.cmp(&one.0).then_with(|| task(one.1).cmp(&task(other.1)))
}

impl Tqst {
    /// The number of further copies that may be requested. If copies go before waiting tasks, they
    /// may be requested before a machine is free.
    fn room(&self, scene: &Scene<'_>) -> usize {
        let Config { min_tasks, cap_total, cap_running, waiting, .. } = self.config;
        let running_count = count_as_f64(scene.running.len());
        let cap =
            min_tasks.max(cap_total * f64::from(scene.task_count)).max(cap_running * running_count);
        let free_slots = match waiting {
            Waiting::First => scene.free_slots,
            Waiting::Ignored => u32::MAX,
        };
        room_below(cap, scene.copies, free_slots)
    }

    /// Puts the slow attempts into `ranked`, with their estimated ends.
    fn rank_slow(&mut self, scene: &Scene<'_>) {
        let Config { slow_task, of, rounding, .. } = self.config;
        self.ranked.clear();
        for (position, running) in scene.running.iter().enumerate() {
            if running.has_progress {
                // An estimate is at most ten thousand times the age.
                let longest_us = running.reported_age_us().saturating_mul(10_000);
                let longest_us = i64::try_from(longest_us).unwrap_or(i64::MAX);
                let length_us = running.estimated_length_us().unwrap_or(i64::MAX).min(longest_us);
                self.ranked.push((running.start_us.saturating_add(length_us), position));
            }
        }
        if let Some(bounds) = self.rates.bounds(scene) {
            self.ranked.retain(|&(_, position)| bounds.is_slow(&scene.running[position]));
            return;
        }
        let tasks = match of {
            Of::Running => self.ranked.len(),
            Of::All => scene.task_count as usize,
        };
        let slow = rounding.share(slow_task, tasks);
        if slow < self.ranked.len() {
            keep_first(&mut self.ranked, slow, latest(scene));
        }
    }

    fn nodes(&self, scene: &Scene<'_>) -> RefMut<'_, Nodes> {
        let mut nodes = self.nodes.borrow_mut();
        if !nodes.is_sorted {
            self.sort_nodes(scene, &mut nodes);
        }
        nodes
    }

    /// The time until which no further copy becomes worthwhile while only ages grow. A copy saves a
    /// share of the age, so it is worthwhile from some age on. Slow attempts stay slow, unless two
    /// began so close together that rounding decides which one is slow.
    fn stalled_until_us(&self, scene: &Scene<'_>) -> i64 {
        let Config { age_s, criterion, waiting, slow_task, of, rounding, .. } = self.config;
        let is_held = waiting == Waiting::First && 0 < scene.waiting;
        let Some(mean_s) = scene.finished.mean_s() else { return scene.now_us };
        if self.room(scene) == 0 || is_held {
            return i64::MAX;
        }
        let mut starts_us: Vec<i64> =
            scene.running.iter().map(|running| running.start_us).collect();
        starts_us.sort_unstable();
        let tasks = match of {
            Of::Running => starts_us.len(),
            Of::All => scene.task_count as usize,
        };
        let slow = rounding.share(slow_task, tasks);
        let is_close = match (slow.checked_sub(1), starts_us.get(slow)) {
            (Some(last), Some(next_us)) => (1..CLOSE_US).contains(&(next_us - starts_us[last])),
            _ => false,
        };
        if criterion.is_given() || is_close {
            return scene.now_us;
        }
        let until_us = |running: &Running| {
            let Some(length_us) = running.estimated_length_us() else { return scene.now_us };
            let left_s = micros_to_seconds(length_us - (scene.now_us - running.start_us));
            let age_now_s = running.age_s(scene.now_us);
            if mean_s < left_s && age_s <= age_now_s {
                return i64::MAX;
            }
            // The time left grows with the age; slightly early, because both are rounded.
            let progress = running.progress;
            #[expect(clippy::cast_precision_loss, reason = "ninety-nine of a hundred")]
            let part = progress.left() as f64 / progress.done() as f64;
            let worth_s = (mean_s / part * (1.0 - 1e-9) - 0.001).max(age_s * (1.0 - 1e-9) - 0.001);
            #[expect(clippy::cast_possible_truncation, reason = "saturates")]
            let grown_us = (worth_s * 1e6) as i64;
            running.start_us.saturating_add(grown_us).max(scene.now_us)
        };
        let open = scene.running.iter().filter(|running| !running.has_copy && !running.was_copied);
        open.map(until_us).min().unwrap_or(i64::MAX)
    }

    fn sort_nodes(&self, scene: &Scene<'_>, nodes: &mut Nodes) {
        nodes.is_sorted = true;
        nodes.rates.clear();
        for running in scene.running {
            let length_us = running.estimated_length_us().filter(|&length_us| 0 < length_us);
            if let Some(length_us) = length_us.filter(|_| running.has_progress) {
                let rates = nodes.rates.entry(running.machine).or_insert((0, 0.0));
                rates.0 += rate(length_us);
                rates.1 += 1.0;
            }
        }
        let running =
            nodes.rates.iter().map(|(&machine, rates)| (machine, speed(rates.0, rates.1)));
        nodes.known.extend(running);
        let known = nodes.known.iter().map(|(&machine, &speed)| (machine, speed));
        let mut speeds: Vec<(f64, usize)> = known
            .filter(|&(machine, _)| machine != NO_MACHINE)
            .map(|(machine, speed)| (-speed, machine as usize))
            .collect();
        // The slowest machines first.
        keep_first(&mut speeds, usize::MAX, |one, other| {
            other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1))
        });
        let Config { slow_node, very_slow, under, rounding, .. } = self.config;
        let average =
            -speeds.iter().map(|(speed, _)| speed).sum::<f64>() / count_as_f64(speeds.len().max(1));
        let slow = rounding.share(slow_node, speeds.len());
        let very = rounding.share(very_slow, speeds.len());
        nodes.slow.clear();
        for (rank, &(speed, machine)) in speeds.iter().enumerate().take(slow.max(very)) {
            let is_very = rank < very && -speed < under * average;
            let standing = if is_very { Standing::VerySlow } else { Standing::Slow };
            if is_very || rank < slow {
                #[expect(clippy::cast_possible_truncation, reason = "it was converted from u32")]
                nodes.slow.insert(machine as u32, standing);
            }
        }
    }
}

impl Detector for Tqst {
    fn ended(&mut self, end: &Ended) {
        self.rates.ended(end);
        if end.how == End::Finished && 0 < end.length_us() {
            let speed = speed(rate(end.length_us()), 1.0);
            self.nodes.get_mut().known.insert(end.machine, speed);
        }
    }

    fn probed(&mut self, machine: u32, speed: f64) {
        let nodes = self.nodes.get_mut();
        nodes.known.insert(machine, speed);
        nodes.is_sorted = false;
    }

    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        self.nodes.get_mut().is_sorted = false;
        let Config { waiting, age_s, .. } = self.config;
        let room = self.room(scene);
        let is_held = waiting == Waiting::First && 0 < scene.waiting;
        let Some(mean_s) = scene.finished.mean_s().filter(|_| 0 < room && !is_held) else {
            return;
        };
        self.rank_slow(scene);
        // A copy that starts now ends at the same time for any attempt.
        self.ranked.retain(|&(end_us, position)| {
            let running = &scene.running[position];
            let is_free = !running.has_copy && !running.was_copied;
            let saves = mean_s < micros_to_seconds(end_us - scene.now_us);
            saves && is_free && age_s <= running.age_s(scene.now_us)
        });
        copy_first(&mut self.ranked, room, flags, latest(scene));
    }

    /// While rates stay constant, estimated ends also stay constant, and a copy saves less and
    /// less.
    fn quiet_until_us(&self, scene: &Scene<'_>, outlook: Outlook) -> i64 {
        let age_s = self.config.age_s;
        if outlook.is_stalled {
            return self.stalled_until_us(scene);
        }
        let is_open =
            |running: &Running| running.has_progress && !running.has_copy && !running.was_copied;
        // Below a ten-thousandth of the work, the estimate grows with the age.
        let is_new = |running: &Running| {
            is_open(running)
                && running.progress.done().saturating_mul(10_000) < running.progress.total()
        };
        if scene.running.iter().any(is_new) {
            return scene.now_us;
        }
        let is_young = |running: &Running| is_open(running) && running.age_s(scene.now_us) < age_s;
        first_of_age_us(scene, age_s, is_young).min(outlook.steady_until_us)
    }

    fn suits(&self, scene: &Scene<'_>, machine: u32) -> bool {
        self.standing(scene, machine) == Standing::Normal
    }

    fn standing(&self, scene: &Scene<'_>, machine: u32) -> Standing {
        self.nodes(scene).slow.get(&machine).copied().unwrap_or(Standing::Normal)
    }

    fn very_slow(&self, scene: &Scene<'_>, machines: &mut Vec<u32>) {
        let nodes = self.nodes(scene);
        let found = nodes.slow.iter().filter(|(_, standing)| **standing == Standing::VerySlow);
        machines.extend(found.map(|(&machine, _)| machine));
        machines.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Progress;
    use super::super::testing::Group;
    use super::*;

    fn standings(group: &mut Group, now_s: i64) -> Vec<Standing> {
        group.flags(now_s);
        (0..4).map(|m| group.ask(now_s, |detector, scene| detector.standing(scene, m))).collect()
    }

    /// 12 tasks: machines 0 to 2 need one minute for each, machine 3 needs three. Free machines are
    /// served in the given order. Returns when all tasks are done, s.
    fn run_example(text: &str, slaves: [u32; 4]) -> i64 {
        let mut group = Group::of(text, 12);
        let mut ends: Vec<(u32, u32, i64)> = Vec::new();
        let mut next = 0;
        let mut done = [false; 12];
        for now_s in (0..1_000).step_by(10) {
            ends.retain(|&(task, machine, end_s)| {
                let is_over = end_s <= now_s || done[task as usize];
                let is_in = group.running.iter().any(|r| r.task == task && r.machine == machine);
                if is_over && !done[task as usize] && is_in {
                    group.stop(task, now_s);
                }
                done[task as usize] |= is_over;
                !is_over
            });
            group.running.retain(|running| !done[running.task as usize]);
            if done.iter().all(|&is_done| is_done) {
                return now_s;
            }
            for running in &mut group.running {
                let length_us = if running.machine == 3 { 180_000_000.0 } else { 60_000_000.0 };
                #[expect(clippy::cast_precision_loss, reason = "a few minutes")]
                let age_us = (now_s * 1_000_000 - running.start_us) as f64;
                running.progress = Progress::of_value(age_us / length_us);
                running.reported_us = now_s * 1_000_000;
            }
            for machine in slaves {
                group.waiting = 12 - next;
                if ends.iter().any(|&(_, other, _)| other == machine) {
                    continue;
                }
                let ask = |detector: &dyn Detector, scene: &Scene<'_>| {
                    (detector.suits(scene, machine), detector.standing(scene, machine))
                };
                let (suits, standing) = group.ask(now_s, ask);
                if standing == Standing::VerySlow {
                    continue;
                }
                group.free_slots = 1;
                let copy = if suits { group.judge(now_s) } else { Vec::new() };
                let length_s = if machine == 3 { 180 } else { 60 };
                if let Some(&task) = copy.first() {
                    ends.push((task, machine, now_s + length_s));
                } else if next < 12 {
                    ends.push((next, machine, now_s + length_s));
                    group.run_on(next, machine, now_s, 0.0);
                    next += 1;
                }
            }
        }
        unreachable!("it ends")
    }

    #[test]
    fn the_example_takes_four_minutes() {
        // Plain copies take 5 minutes if machine 3 is served first at minute 3 and an attempt that
        // is a minute old is copied; 4 if it is served last.
        for (detector, first, last) in [
            ("tqst", 240, 240),
            ("tqst:waiting=first", 240, 240),
            ("hadoop:age_from=attempt", 300, 240),
            ("none", 360, 240),
        ] {
            assert_eq!(run_example(detector, [3, 0, 1, 2]), first, "{detector}");
            assert_eq!(run_example(detector, [0, 1, 2, 3]), last, "{detector}");
        }
    }

    #[test]
    fn machines_stand_by_their_speed() {
        let mut group = Group::of("tqst", 40);
        for machine in 0..4 {
            group.run_on(machine, machine, 0, if machine == 3 { 0.3 } else { 0.9 });
            group.running.last_mut().unwrap().reported_us = 60_000_000;
        }
        let normal = Standing::Normal;
        assert_eq!(standings(&mut group, 60), [normal, normal, normal, Standing::VerySlow]);
        // 0.45 of 0.9 is over half of the average, 0.79.
        group.running[3].progress = Progress::of_value(0.45);
        assert_eq!(standings(&mut group, 61), [normal, normal, normal, Standing::Slow]);
        assert!(!group.ask(61, |detector, scene| detector.suits(scene, 3)));
    }

    #[test]
    fn probes_return_a_machine_to_service() {
        let speeds = [(0, 1.0), (1, 1.0), (2, 1.0), (3, 0.2)];
        let plan: super::super::DetectorPlan = "tqst".parse().unwrap();
        let mut group = Group::of("none", 40);
        group.detector = plan.build(&GroupInfo { speeds: &speeds, ..GroupInfo::default() });
        assert_eq!(standings(&mut group, 0)[3], Standing::VerySlow, "known from an earlier job");
        group.detector.probed(3, 0.3);
        assert_eq!(standings(&mut group, 0)[3], Standing::VerySlow);
        group.detector.probed(3, 0.9);
        assert_eq!(standings(&mut group, 0)[3], Standing::Slow);
        group.detector.probed(3, 1.1);
        assert_eq!(standings(&mut group, 0)[3], Standing::Normal);
    }

    #[test]
    fn copies_are_wanted_before_a_machine_is_free() {
        for (waiting, expected) in [("ignored", vec![4]), ("first", vec![])] {
            let mut group = Group::of(&format!("tqst:waiting={waiting}"), 12);
            group.finish(0..4, 0, 30);
            group.run(4, 0, 0.1);
            (group.free_slots, group.waiting) = (0, 7);
            assert_eq!(group.judge(60), expected, "waiting={waiting}");
        }
    }

    #[test]
    fn a_criterion_takes_the_place_of_the_last_quarter() {
        // Four rates of 1/30 per s; at 60 s eight of .9/60 to .2/60: their mean is .0172.
        let judge = |text: &str| {
            let mut group = Group::of(text, 12);
            group.finish(0..4, 0, 30);
            for (task, progress) in (4..12).zip([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]) {
                group.run(task, 0, progress);
            }
            group.judge(60)
        };
        assert_eq!(judge("tqst:slow_share=0.2,slow_rate=0.5"), [11, 10, 9], "a fifth of twelve");
        assert_eq!(judge("tqst:slow_rate=0.5"), [11, 10, 9, 8], "under .0086: .5/60 is .0083");
        assert_eq!(judge("tqst:slow_share=0.2,slow_rate=0.3"), [11, 10], "under .0052");
        assert_eq!(judge("tqst:slow_share=0.5"), [11, 10, 9, 8, 7], "the sixth saves nothing");
    }

    #[test]
    fn the_last_quarter_is_copied_if_that_saves_time() {
        let mut group = Group::of("tqst", 12);
        group.finish(0..4, 0, 30);
        for (task, progress) in (4..12).zip([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]) {
            group.run(task, 0, progress);
        }
        assert_eq!(group.judge(59), Vec::<u32>::new(), "a minute old");
        assert_eq!(group.judge(60), [11, 10], "a quarter of eight");
        let mut group = Group::of("tqst:of=all,min_tasks=1", 12);
        group.finish(0..4, 0, 30);
        group.run(4, 0, 0.1).run(5, 0, 0.2).run(6, 0, 0.9);
        assert_eq!(group.judge(60), [4], "three of twelve, one copy at a time");
        group.copies = 0;
        assert_eq!(group.judge(61), [5]);
        group.copies = 0;
        assert_eq!(group.judge(62), Vec::<u32>::new(), "the third ends before its copy would");
    }
}
