//! The detector as a policy: the groups that it judges, and the copies and probes that it requests.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::group::Group;
use super::plan::Plan;
use super::sleep::Sleep;
use super::slots::slots;
use crate::replay::detectors::{
    Action, Detector, End, Ended, Flag, GroupInfo, Outlook, Progress, Running, Scene, Standing,
};
use crate::replay::journal::Kind as Happening;
use crate::replay::policies::{Place, Speculation, Wish};
use crate::replay::random::Draws;
use crate::replay::room::Room;
use crate::replay::state::{Phase, Role, State};

/// A requested copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    task: u32,
    demand: [u64; 2],
}

pub(super) struct Watch {
    pub(super) plan: Plan,
    /// Whether groups of one task are judged.
    pub(super) judges_lone_tasks: bool,
    /// Whether the detector forbids machines or requests probes.
    pub(super) steers: bool,
    pub(super) sleep: Sleep,
    pub(super) groups: Vec<Option<Group>>,
    pub(super) position: Vec<u32>,
    pub(super) sizes: Vec<u32>,
    /// Groups to be judged: those with running attempts.
    pub(super) active: BTreeSet<u32>,
    /// Whether the last call of [`next`](Speculation::next) since the heartbeat found no copy or
    /// probe to start. From then on, one can start only on a machine that gains room.
    pub(super) is_settled: bool,
    /// Whether each task ever had a copy.
    pub(super) was_copied: Vec<bool>,
    /// The number of restarts of each task.
    pub(super) restarts: FxHashMap<u32, u32>,
    /// By slot, the attempt's number in its group.
    pub(super) number: Vec<u32>,
    /// Requested copies, the most urgent first.
    pub(super) wishes: Vec<Wanted>,
    pub(super) flags: Vec<Flag>,
    /// Attempts that fit in the free capacity and in the total capacity, at the last heartbeat.
    pub(super) slots: [u32; 2],
    pub(super) draws: Draws,
    pub(super) probes: u64,
    /// When the last probe of each machine began, µs: a probe that takes no time gives no speed, so
    /// no other probe starts at the same instant.
    pub(super) probed_us: Vec<Option<i64>>,
}

impl Watch {
    /// The group of a task, if it is ever judged.
    fn watched(&mut self, state: &State<'_>, task: u32) -> Option<&mut Group> {
        let size = self.sizes[state.workload.group.get(task) as usize];
        (self.judges_lone_tasks || 1 < size).then(|| self.group(state, task))
    }

    /// An attempt or task of a group has begun or ended: the group is judged at the next heartbeat
    /// if one of its attempts runs.
    fn wake(&mut self, number: u32) {
        let group = self.groups[number as usize].as_mut();
        self.sleep.wake(number, group.filter(|group| !group.slots.is_empty()));
    }

    /// Whether a group is not judged until one of its attempts begins or ends.
    fn rests(&mut self, state: &State<'_>, number: u32) -> bool {
        let Some(group) = &mut self.groups[number as usize] else { return true };
        if self.steers || !self.plan.lets_sleep {
            return false;
        }
        let tasks_now = u32::try_from(group.slots.len()).expect("slots are numbered in u32");
        let tasks_now = tasks_now - group.copies_now;
        let scene = Scene {
            running: &[],
            waiting: group.submitted.saturating_sub(group.over + tasks_now),
            copies: group.copies_now,
            ..group.scene(state.now_us, self.slots)
        };
        let rests = !group.detector.reads_reports(&scene);
        if rests {
            let heeds_slots = group.detector.heeds_slots(&scene);
            self.sleep.let_sleep(state, number, group, i64::MAX, heeds_slots);
        }
        rests
    }

    /// Lets a group sleep for as long as its detector reports that it flags none of its attempts.
    fn fall_asleep(&mut self, state: &State<'_>, number: u32) {
        let Some(group) = &mut self.groups[number as usize] else { return };
        // A new attempt has not reported yet, and a lost one no longer reports.
        let reports = |running: &Running| running.start_us < state.now_us;
        if self.steers || 0 < group.lost || !group.running.iter().all(reports) {
            return;
        }
        let steady_until_us = self.sleep.steady_until_us(state);
        let outlook =
            Outlook { steady_until_us, heartbeat_us: self.plan.period_us(), is_stalled: false };
        let scene = group.scene(state.now_us, self.slots);
        let until_us = group.detector.quiet_until_us(&scene, outlook);
        let heeds_slots = group.detector.heeds_slots(&scene);
        if state.now_us < until_us {
            self.sleep.let_sleep(state, number, group, until_us, heeds_slots);
        }
    }

    pub(super) fn group(&mut self, state: &State<'_>, task: u32) -> &mut Group {
        let number = state.workload.group.get(task);
        let group = &mut self.groups[number as usize];
        group.get_or_insert_with(|| {
            let speeds = if self.plan.knows_nodes { known_speeds(state, task) } else { Vec::new() };
            let info = GroupInfo { speeds: &speeds, ..GroupInfo::default() };
            Group::new(self.plan.detector.build(&info), state.now_us)
        })
    }

    /// Updates the reports of a group.
    fn look(&mut self, state: &State<'_>, number: u32) {
        let Some(group) = &mut self.groups[number as usize] else { return };
        let is_even = self.sleep.is_steady() && group.lost == 0;
        group.look(state, is_even);
        #[cfg(test)]
        assert_eq!(
            self.groups[number as usize].as_ref().map(Group::shown),
            self.plainly(state, number)
        );
    }

    /// The shown data, computed again from the state: attempts, and the copies and tasks among
    /// them.
    #[cfg(test)]
    fn plainly(&self, state: &State<'_>, number: u32) -> Option<(Vec<Running>, u32, u32)> {
        let group = self.groups[number as usize].as_ref()?;
        let (mut shown, mut copies, mut tasks) = (Vec::new(), 0, 0);
        for &slot in &group.slots {
            let idx = slot as usize;
            let attempts = &state.attempts;
            let task = attempts.task[idx];
            let start_us = attempts.start_us[idx];
            // A lost attempt made its last report before its machine left.
            let reported_us =
                if attempts.is_lost[idx] { attempts.since_us[idx] } else { state.now_us };
            match attempts.role[idx] {
                Role::Original => tasks += 1,
                Role::Copy | Role::Probe => copies += 1,
            }
            let others = state
                .of_task(task)
                .filter(|&other| other != slot && attempts.role[other as usize] != Role::Probe);
            shown.push(Running {
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
        shown.sort_by_key(|running: &Running| (running.start_us, running.task));
        Some((shown, copies, tasks))
    }

    fn standing(&self, state: &State<'_>, machine: u32, task: u32) -> Standing {
        let number = state.workload.group.get(task) as usize;
        self.groups[number].as_ref().map_or(Standing::Normal, |group| {
            group.detector.standing(&group.scene(state.now_us, self.slots), machine)
        })
    }

    /// A probe for an idle machine that is very slow.
    fn probe(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
        if !self.steers {
            return None;
        }
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
            let chosen = originals.nth(usize::try_from(lot).expect("below the length"));
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

/// The tasks per second of every machine, for tasks like this one.
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
        self.sleep.wake_due(state, &mut self.groups);
        let awake = self.sleep.awake();
        if awake.is_empty() {
            return;
        }
        self.slots = slots(state);
        for number in awake {
            if self.rests(state, number) {
                continue;
            }
            self.look(state, number);
            let Some(group) = &mut self.groups[number as usize] else { continue };
            self.flags.clear();
            let mut detector = std::mem::replace(&mut group.detector, Box::new(Absent));
            detector.judge(&group.scene(state.now_us, self.slots), &mut self.flags);
            group.detector = detector;
            for flag in &self.flags {
                let flagged = &group.running[flag.position];
                let of_slot = |slot: &u32| self.number[*slot as usize];
                let place = group.slots.binary_search_by_key(&flagged.attempt, of_slot);
                let Ok(slot) = place.map(|place| group.slots[place]) else { continue };
                match flag.action {
                    Action::Restart => {
                        let task = state.attempts.task[slot as usize];
                        let count = self.restarts.entry(task).or_default();
                        if *count < self.plan.restarts_max {
                            *count += 1;
                            restarts.push(slot);
                        }
                    }
                    Action::Copy => {
                        let task = state.attempts.task[slot as usize];
                        let demand = state.workload.demand(task);
                        self.wishes.push(Wanted { task, demand });
                    }
                }
            }
            // A group with flagged attempts is judged again, even if they do not get their copies.
            if self.flags.is_empty() {
                self.fall_asleep(state, number);
            }
        }
    }

    fn next(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
        // Once settled, a requested copy can start only on a machine that gained room.
        let most = state.fresh.iter().fold(Room::NOTHING, |most, &machine| {
            let free = state.machines.free[machine as usize];
            if state.machines.is_present[machine as usize] { most.most(free) } else { most }
        });
        for &Wanted { task, demand } in &self.wishes {
            if self.is_settled && !most.holds(demand) {
                continue;
            }
            if state.tasks.phase[task as usize] != Phase::Running {
                continue;
            }
            let number = state.workload.group.get(task) as usize;
            let Some(group) = &self.groups[number] else { continue };
            let scene = group.scene(state.now_us, self.slots);
            let suits = |machine: u32| group.detector.suits(&scene, machine);
            if self.is_settled && !state.has_fresh(demand, suits) {
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
        self.steers
    }

    fn allows(&self, state: &State<'_>, machine: u32, task: u32) -> bool {
        if self.standing(state, machine, task) != Standing::VerySlow {
            return true;
        }
        // If no attempt of the group runs, there is nothing to probe with: a slow machine may run
        // the task if no better one has room.
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
        let Some(group) = self.watched(state, task) else { return };
        // A task that is submitted again is already counted.
        group.submitted += u32::from(started == 0);
        self.wake(state.workload.group.get(task));
    }

    fn started(&mut self, state: &State<'_>, slot: u32) {
        let idx = slot as usize;
        let (task, role) = (state.attempts.task[idx], state.attempts.role[idx]);
        if role == Role::Probe {
            return;
        }
        let (place, was_copied) = (self.position[task as usize], self.was_copied[task as usize]);
        let Some(group) = self.watched(state, task) else { return };
        let number = group.attempts;
        group.attempts += 1;
        group.copies_now += u32::from(role == Role::Copy);
        group.slots.push(slot);
        group.detector.started(number, place, state.now_us);
        let running = Running {
            attempt: number,
            task: place,
            machine: state.attempts.machine[idx],
            start_us: state.now_us,
            progress: Progress::NONE,
            reported_us: state.now_us,
            has_progress: false,
            has_copy: false,
            was_copied,
        };
        group.begin(state, slot, running);
        if self.number.len() <= idx {
            self.number.resize(idx + 1, 0);
        }
        self.number[idx] = number;
        let number = state.workload.group.get(task);
        self.active.insert(number);
        self.wake(number);
        if role == Role::Copy {
            self.was_copied[task as usize] = true;
            self.wishes.retain(|other| other.task != task);
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
        let place =
            group.slots.binary_search_by_key(&self.number[idx], |&slot| self.number[slot as usize]);
        group.slots.remove(place.expect("it was running"));
        group.end(self.number[idx]);
        group.copies_now -= u32::from(state.attempts.role[idx] == Role::Copy);
        group.lost -= u32::from(state.attempts.is_lost[idx]);
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
        let is_idle = group.slots.is_empty();
        if is_idle {
            group.clear();
            self.active.remove(&number);
        }
        self.wake(number);
    }

    fn lost(&mut self, state: &State<'_>, slot: u32) {
        let idx = slot as usize;
        let number = state.workload.group.get(state.attempts.task[idx]);
        if let Some(group) = &mut self.groups[number as usize]
            && state.attempts.role[idx] != Role::Probe
        {
            group.lost += 1;
            self.wake(number);
        }
    }

    fn concluded(&mut self, state: &State<'_>, task: u32) {
        let was_submitted = state.tasks.events[task as usize] != 0;
        let number = state.workload.group.get(task);
        let size = self.sizes[number as usize];
        let Some(group) = self.watched(state, task) else { return };
        group.submitted += u32::from(!was_submitted);
        group.over += 1;
        if group.over == size {
            self.groups[number as usize] = None;
        }
        self.wake(number);
    }
}

/// Replaces a detector while it is called.
struct Absent;

impl Detector for Absent {
    fn judge(&mut self, _scene: &Scene<'_>, _flags: &mut Vec<Flag>) {}
}
