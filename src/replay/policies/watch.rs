//! Straggler detectors at work: what they flag is copied, or killed and started anew.
//!
//! In: any detector by its name (`late`, `yarn`, `poisson`, ...) with its own parameters, and
//! three of the policy. At each heartbeat every group with running attempts is judged; flagged
//! copies go to free machines that suit, until the next heartbeat; restarts happen at once.
//!
//! ```text
//!  heartbeat   |----------|----------|      progress is reported at every heartbeat
//!  flagged        copies of what was flagged at the last one go out as machines become free
//! ```
//! - `heartbeat_s`: time between two heartbeats, 3 s; after a million of them at which no
//!   attempt has begun or ended, and as long as nothing that runs can be judged, the next is just
//!   before the next event;
//! - `copies=first|last`: whether flagged copies go before waiting tasks, `first`: a detector that
//!   holds back while its group waits flags nothing then;
//! - `nodes=known|unknown`: whether the speeds of machines are known from earlier jobs, `unknown`.
//!
//! A machine that the detector calls very slow gets no task, only a probe at a time: a copy of a
//! running task whose result is thrown away and whose speed is told to the detector.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Heartbeat, Place, Speculation, SpeculationPlan, Wish};
use crate::notation::{Notation, NotationError};
use crate::replay::detectors::{
    self, Action, Detector, DetectorPlan, End, Ended, Finished, Flag, GroupInfo, Running, Scene,
    Standing,
};
use crate::replay::journal::Kind as Happening;
use crate::replay::random::{Draws, Purpose};
use crate::replay::room::Room;
use crate::replay::state::{Phase, Role, State};

/// Keys that are the policy's and not the detector's.
const KEYS: [&str; 3] = ["heartbeat_s", "copies", "nodes"];

#[derive(Clone, Debug)]
struct Plan {
    detector: DetectorPlan,
    heartbeat_s: f64,
    goes_first: bool,
    knows_nodes: bool,
}

/// The name of the detector that a part of a policy names, if it is one.
pub(super) fn name(part: &str) -> Option<&'static str> {
    let name = part.split(':').next().unwrap_or(part).trim();
    detectors::KINDS.iter().map(|kind| kind.name).find(|known| *known == name)
}

/// Puts a detector to work, told no speeds of machines.
pub(super) fn around(detector: DetectorPlan, heartbeat_s: f64) -> Arc<dyn SpeculationPlan> {
    Arc::new(Plan { detector, heartbeat_s, goes_first: true, knows_nodes: false })
}

/// Reads a detector with the policy's own parameters among its.
pub(super) fn read(part: &str) -> Result<Arc<dyn SpeculationPlan>, NotationError> {
    let (name, pairs) = part.split_once(':').unwrap_or((part, ""));
    let is_own = |pair: &&str| KEYS.contains(&pair.split('=').next().unwrap_or("").trim());
    let (own, detectors): (Vec<&str>, Vec<&str>) =
        pairs.split(',').filter(|pair| !pair.trim().is_empty()).partition(is_own);
    let mut notation = Notation::parse("policy", &format!("{name}:{}", own.join(",")))?;
    let (copies, nodes) =
        ([("first", true), ("last", false)], [("known", true), ("unknown", false)]);
    let plan = Plan {
        heartbeat_s: notation.number("heartbeat_s", "a time above 0 s", 3.0, 1e-3..=1e9)?,
        goes_first: notation.choice("copies", "`first` or `last`", true, &copies)?,
        knows_nodes: notation.choice("nodes", "`known` or `unknown`", false, &nodes)?,
        detector: format!("{name}:{}", detectors.join(",")).trim_end_matches(':').parse()?,
    };
    notation.finish()?;
    Ok(Arc::new(plan))
}

impl Plan {
    #[expect(clippy::cast_possible_truncation, reason = "at most 10^9 s")]
    fn period_us(&self) -> i64 {
        (self.heartbeat_s * 1e6) as i64
    }

    fn judges_lone_tasks(&self) -> bool {
        self.detector.build(&GroupInfo::default()).judges_lone_tasks()
    }
}

impl SpeculationPlan for Plan {
    fn build(&self, state: &State<'_>) -> Option<Box<dyn Speculation>> {
        let groups = (0..state.workload.group_count()).map(|_| None).collect();
        let (position, sizes) = positions(state);
        Some(Box::new(Watch {
            plan: self.clone(),
            judges_lone_tasks: self.judges_lone_tasks(),
            groups,
            position,
            sizes,
            active: BTreeSet::new(),
            is_settled: false,
            was_copied: vec![false; state.workload.task_count],
            number: Vec::new(),
            wishes: Vec::new(),
            flags: Vec::new(),
            slots: [0; 2],
            draws: Draws::new(0, Purpose::Choice),
            probes: 0,
            probed_us: vec![None; state.machines.speed.len()],
        }))
    }

    fn heartbeat(&self) -> Option<Heartbeat> {
        let sees_lone_tasks = self.judges_lone_tasks();
        Some(Heartbeat { period_us: self.period_us(), sees_lone_tasks })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let text = self.detector.to_string();
        let pairs = text.split_once(':').map_or("", |(_, pairs)| pairs);
        let mut parameters: Vec<(&'static str, String)> = vec![
            ("heartbeat_s", self.heartbeat_s.to_string()),
            ("copies", if self.goes_first { "first" } else { "last" }.to_owned()),
            ("nodes", if self.knows_nodes { "known" } else { "unknown" }.to_owned()),
        ];
        // The detector writes its own pairs; the first key carries them all.
        if let (Some(last), false) = (parameters.last_mut(), pairs.is_empty()) {
            last.1 = format!("{},{pairs}", last.1);
        }
        parameters
    }
}

/// The position of each task within its group, and the groups' sizes.
fn positions(state: &State<'_>) -> (Vec<u32>, Vec<u32>) {
    let mut sizes = vec![0; state.workload.group_count()];
    let position = (0..).take(state.workload.task_count).map(|task| {
        let size: &mut u32 = &mut sizes[state.workload.group.get(task) as usize];
        *size += 1;
        *size - 1
    });
    let position = position.collect();
    (position, sizes)
}

/// A group that has begun.
struct Group {
    detector: Box<dyn Detector>,
    finished: Finished,
    begun_us: i64,
    /// Attempts so far.
    attempts: u32,
    submitted: u32,
    over: u32,
    /// Slots of its running attempts, in order of start.
    slots: Vec<u32>,
    /// Attempts as they were at the last heartbeat, by (start, task).
    running: Vec<Running>,
    /// Copies and different tasks among them.
    copies: u32,
    running_tasks: u32,
}

struct Watch {
    plan: Plan,
    /// Whether groups of one task are judged.
    judges_lone_tasks: bool,
    groups: Vec<Option<Group>>,
    position: Vec<u32>,
    sizes: Vec<u32>,
    /// Groups to be judged: those with running attempts.
    active: BTreeSet<u32>,
    /// Whether no wish could be granted since the last heartbeat: from then on only a machine that
    /// gets room can grant one.
    is_settled: bool,
    /// By task, whether it has ever been given a copy.
    was_copied: Vec<bool>,
    /// By slot, the attempt's number within its group.
    number: Vec<u32>,
    /// Tasks to be copied, the most urgent first.
    wishes: Vec<u32>,
    flags: Vec<Flag>,
    /// Attempts that fit the free capacity, and all of it, at the last heartbeat.
    slots: [u32; 2],
    draws: Draws,
    probes: u64,
    /// By machine, when its last probe began, µs: one that takes no time says nothing, and
    /// another at the same instant would say no more.
    probed_us: Vec<Option<i64>>,
}

impl Group {
    fn scene(&self, now_us: i64, slots: [u32; 2]) -> Scene<'_> {
        Scene {
            now_us,
            begun_us: self.begun_us,
            running: &self.running,
            finished: &self.finished,
            task_count: self.submitted,
            waiting: self.submitted.saturating_sub(self.over + self.running_tasks),
            over: self.over,
            slots: slots[1],
            free_slots: slots[0],
            copies: self.copies,
        }
    }
}

impl Watch {
    fn group(&mut self, state: &State<'_>, task: u32) -> &mut Group {
        let number = state.workload.group.get(task);
        let group = &mut self.groups[number as usize];
        group.get_or_insert_with(|| {
            let speeds = if self.plan.knows_nodes { known_speeds(state, task) } else { Vec::new() };
            let info = GroupInfo { speeds: &speeds, ..GroupInfo::default() };
            Group {
                detector: self.plan.detector.build(&info),
                finished: Finished::default(),
                begun_us: state.now_us,
                attempts: 0,
                submitted: 0,
                over: 0,
                slots: Vec::new(),
                running: Vec::new(),
                copies: 0,
                running_tasks: 0,
            }
        })
    }

    /// What the attempts of a group report now.
    fn look(&mut self, state: &State<'_>, number: u32) {
        let Some(group) = &mut self.groups[number as usize] else { return };
        group.running.clear();
        (group.copies, group.running_tasks) = (0, 0);
        for &slot in &group.slots {
            let idx = slot as usize;
            let attempts = &state.attempts;
            let task = attempts.task[idx];
            let start_us = attempts.start_us[idx];
            // A lost attempt made its last report before its machine went.
            let reported_us =
                if attempts.is_lost[idx] { attempts.since_us[idx] } else { state.now_us };
            match attempts.role[idx] {
                Role::Original => group.running_tasks += 1,
                Role::Copy | Role::Probe => group.copies += 1,
            }
            let others = state
                .of_task(task)
                .filter(|&other| other != slot && attempts.role[other as usize] != Role::Probe);
            group.running.push(Running {
                attempt: self.number[idx],
                task: self.position[task as usize],
                machine: attempts.machine[idx],
                start_us,
                progress: state.progress(slot),
                reported_us,
                has_progress: start_us < reported_us && attempts.work[idx].is_finite(),
                has_copy: others.count() != 0,
                was_copied: self.was_copied[task as usize],
            });
        }
        group.running.sort_by_key(|running| (running.start_us, running.task));
    }

    fn standing(&self, state: &State<'_>, machine: u32, task: u32) -> Standing {
        let number = state.workload.group.get(task) as usize;
        self.groups[number].as_ref().map_or(Standing::Normal, |group| {
            group.detector.standing(&group.scene(state.now_us, self.slots), machine)
        })
    }

    /// A probe for a machine that is very slow and idle.
    fn probe(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
        let is_idle = |machine: u32| {
            let idx = machine as usize;
            state.machines.is_present[idx]
                && state.machines.running[idx] == 0
                && self.probed_us[idx] != Some(state.now_us)
        };
        if self.is_settled && !state.fresh.iter().any(|&machine| is_idle(machine)) {
            return None;
        }
        let mut slow = Vec::new();
        for &number in &self.active {
            let group = self.groups[number as usize].as_ref()?;
            slow.clear();
            group.detector.very_slow(&group.scene(state.now_us, self.slots), &mut slow);
            slow.retain(|&machine| is_idle(machine));
            if slow.is_empty() {
                continue;
            }
            let mut originals = (group.slots.iter().copied())
                .filter(|&slot| state.attempts.role[slot as usize] == Role::Original);
            let count = originals.clone().count();
            if count == 0 {
                continue;
            }
            let lot = self.draws.bits(0, self.probes) % count as u64;
            let chosen = originals.nth(usize::try_from(lot).expect("below a length"));
            let task = state.attempts.task[chosen.expect("counted") as usize];
            if let Some(machine) = place(task, &|machine| slow.contains(&machine)) {
                self.probes += 1;
                self.probed_us[machine as usize] = Some(state.now_us);
                return Some(Wish { task, machine, role: Role::Probe });
            }
        }
        None
    }
}

/// Tasks per second of every machine for tasks like this one.
#[expect(clippy::cast_precision_loss, reason = "work is far below 2^53 µs")]
fn known_speeds(state: &State<'_>, task: u32) -> Vec<(u32, f64)> {
    let work_s = (state.workload.work_us.get(task).max(1) as f64) / 1e6;
    (0..).zip(&state.machines.speed).map(|(machine, speed)| (machine, speed / work_s)).collect()
}

impl Speculation for Watch {
    fn heartbeat_us(&self) -> Option<i64> {
        Some(self.plan.period_us())
    }

    fn is_watching(&self) -> bool {
        !self.active.is_empty()
    }

    fn heartbeat(&mut self, state: &State<'_>, restarts: &mut Vec<u32>) {
        self.wishes.clear();
        self.is_settled = false;
        self.slots = slots(state);
        let active: Vec<u32> = self.active.iter().copied().collect();
        for number in active {
            self.look(state, number);
            let Some(group) = &mut self.groups[number as usize] else { continue };
            self.flags.clear();
            let mut detector = std::mem::replace(&mut group.detector, Box::new(Absent));
            detector.judge(&group.scene(state.now_us, self.slots), &mut self.flags);
            group.detector = detector;
            for flag in &self.flags {
                let flagged = &group.running[flag.position];
                let slot =
                    group.slots.iter().find(|&&slot| self.number[slot as usize] == flagged.attempt);
                let Some(&slot) = slot else { continue };
                match flag.action {
                    Action::Restart => restarts.push(slot),
                    Action::Copy => self.wishes.push(state.attempts.task[slot as usize]),
                }
            }
        }
    }

    fn next(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
        for &task in &self.wishes {
            if state.tasks.phase[task as usize] != Phase::Running {
                continue;
            }
            let number = state.workload.group.get(task) as usize;
            let Some(group) = &self.groups[number] else { continue };
            let scene = group.scene(state.now_us, self.slots);
            let suits = |machine: u32| group.detector.suits(&scene, machine);
            if self.is_settled && !state.has_fresh(state.workload.demand(task), suits) {
                continue;
            }
            if let Some(machine) = place(task, &suits) {
                return Some(Wish { task, machine, role: Role::Copy });
            }
        }
        let probe = self.probe(state, place);
        self.is_settled = probe.is_none();
        probe
    }

    fn goes_first(&self) -> bool {
        self.plan.goes_first
    }

    fn steers(&self) -> bool {
        self.plan.detector.steers()
    }

    fn allows(&self, state: &State<'_>, machine: u32, task: u32) -> bool {
        if self.standing(state, machine, task) != Standing::VerySlow {
            return true;
        }
        // With nothing running there is nothing to probe with: better slow than never.
        let number = state.workload.group.get(task) as usize;
        let is_idle = self.groups[number].as_ref().is_none_or(|group| group.slots.is_empty());
        let demand = state.workload.demand(task);
        let is_better = |other: u32| {
            state.fits(other, demand) && self.standing(state, other, task) != Standing::VerySlow
        };
        is_idle && !(0..).take(state.machines.speed.len()).any(is_better)
    }

    fn submitted(&mut self, state: &State<'_>, task: u32) {
        let started = state.tasks.started[task as usize];
        let group = self.group(state, task);
        // What comes back is counted already.
        group.submitted += u32::from(started == 0);
    }

    fn started(&mut self, state: &State<'_>, slot: u32) {
        let idx = slot as usize;
        let (task, role) = (state.attempts.task[idx], state.attempts.role[idx]);
        if role == Role::Probe {
            return;
        }
        let place = self.position[task as usize];
        let group = self.group(state, task);
        let number = group.attempts;
        group.attempts += 1;
        group.slots.push(slot);
        group.detector.started(number, place, state.now_us);
        if self.number.len() <= idx {
            self.number.resize(idx + 1, 0);
        }
        self.number[idx] = number;
        let number = state.workload.group.get(task);
        if self.judges_lone_tasks || 1 < self.sizes[number as usize] {
            self.active.insert(number);
        }
        if role == Role::Copy {
            self.was_copied[task as usize] = true;
            self.wishes.retain(|&other| other != task);
        }
    }

    fn ending(&mut self, state: &State<'_>, slot: u32, how: Happening) {
        let idx = slot as usize;
        let (task, machine) = (state.attempts.task[idx], state.attempts.machine[idx]);
        let start_us = state.attempts.start_us[idx];
        let number = state.workload.group.get(task);
        let Some(group) = &mut self.groups[number as usize] else { return };
        if state.attempts.role[idx] == Role::Probe {
            if how == Happening::ProbeEnd && start_us < state.now_us {
                let length_s = crate::units::micros_to_seconds(state.now_us - start_us);
                group.detector.probed(machine, length_s.recip());
            }
            return;
        }
        group.slots.retain(|&other| other != slot);
        let end = Ended {
            attempt: self.number[idx],
            task: self.position[task as usize],
            machine,
            start_us,
            end_us: state.now_us,
            how: match how {
                Happening::Finish => End::Finished,
                Happening::Fail | Happening::Evict | Happening::Lost => End::Failed,
                _ => End::Killed,
            },
        };
        if how == Happening::Finish {
            group.finished.add(end);
        }
        group.detector.ended(&end);
        if group.slots.is_empty() {
            self.active.remove(&number);
            group.running.clear();
            (group.copies, group.running_tasks) = (0, 0);
        }
    }

    fn concluded(&mut self, state: &State<'_>, task: u32) {
        let was_submitted = state.tasks.events[task as usize] != 0;
        let group = self.group(state, task);
        group.submitted += u32::from(!was_submitted);
        group.over += 1;
        let number = state.workload.group.get(task) as usize;
        if self.groups[number].as_ref().is_some_and(|group| group.over == self.sizes[number]) {
            self.groups[number] = None;
        }
    }
}

/// Attempts of the least demand that fit the free capacity, and the whole.
fn slots(state: &State<'_>) -> [u32; 2] {
    let least = state.least_demand();
    // As many as can be numbered where neither resource sets a bound.
    let fit = |room: Room| {
        let of_cpu = room.cpu.checked_div(least[0]);
        let of_memory = room.memory.and_then(|memory| memory.checked_div(least[1]));
        of_cpu.into_iter().chain(of_memory).min().unwrap_or(u64::from(u32::MAX))
    };
    let mut sums = [0_u64; 2];
    for (machine, &present) in state.machines.is_present.iter().enumerate() {
        if present {
            sums[0] = sums[0].saturating_add(fit(state.machines.free[machine]));
            sums[1] = sums[1].saturating_add(fit(state.machines.capacity[machine]));
        }
    }
    sums.map(|sum| u32::try_from(sum).unwrap_or(u32::MAX))
}

/// Stands in for a detector while it is asked.
struct Absent;

impl Detector for Absent {
    fn judge(&mut self, _scene: &Scene<'_>, _flags: &mut Vec<Flag>) {}
}
