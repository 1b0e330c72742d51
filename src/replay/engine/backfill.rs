//! EASY backfilling: later tasks may start, but never delay the first waiting task.
//!
//! In: the waiting [`crate::replay::line::Line`] and the planned ends of running attempts. Out:
//! starts. The first task that fits nowhere gets a reservation on the machine that is planned to
//! have room for it first. A later task may start on another machine. On the reserved machine it
//! may start only if it is planned to end before the reservation begins, or uses only what the
//! first task leaves free. A planned running time is an estimate
//! ([`Workload::estimate_us`](crate::replay::workload::Workload::estimate_us)) divided by the
//! machine's speed; an attempt that runs longer counts as ending now.
//!
//! ```text
//!  machine  |=====a=====|==== b, needs all ====|      b waits and is reserved the machine
//!           |=c=|                                     c ends before b begins
//! ```
//!
//! A start costs a search of the line and one of the machines (the logarithm of their number). If
//! the next reservation is for the same task, only the machines that have changed since, and their
//! attempts, are checked. Requests that found no machine rule out all larger ones in the same
//! round.

use std::collections::BTreeSet;

use super::Engine;
use crate::replay::estimates::Steps;
use crate::replay::gpus::{FreeGpus, GpuAsk};
use crate::replay::line::{Ask, Line};
use crate::replay::policies::Predict;
use crate::replay::room::Room;
use crate::replay::state::Role;
use crate::replay::state::State;

/// The reservation of the first task that has to wait.
#[derive(Clone, Copy, Debug)]
struct Reservation {
    machine: u32,
    /// When the machine is planned to have room.
    at_us: i64,
    /// The capacity that the first task leaves free then.
    spare: Room,
    /// The largest free amount of each resource on any other machine; `None` if there is no other.
    elsewhere: Option<Room>,
    /// The job of the first task, if tasks of one job must not share a machine: its tasks must have
    /// left by then.
    apart_from: Option<u32>,
    /// Whether the first task waits for GPUs: no task with GPUs that ends later may begin on the
    /// machine.
    has_gpus: bool,
}

impl Reservation {
    /// Whether a task may start on a machine without delaying the first one.
    fn allows(&self, state: &State<'_>, machine: u32, task: u32) -> bool {
        let ask = state.ask_of(task);
        let is_sibling = self.apart_from.is_some_and(|job| state.workload.job.get(task) == job);
        machine != self.machine
            || self.ends_before(state, &ask)
            || (!is_sibling && self.spare.holds(ask.demand) && !self.takes_gpus(state, task))
    }

    fn takes_gpus(&self, state: &State<'_>, task: u32) -> bool {
        self.has_gpus && !state.workload.gpus.get(task).is_none()
    }

    fn ends_before(&self, state: &State<'_>, ask: &Ask) -> bool {
        planned_end_us(state, self.machine, ask.estimate_us) <= self.at_us
    }
}

/// When an attempt that begins now on a machine is planned to end.
#[expect(clippy::cast_precision_loss, reason = "a plan is far shorter than 2^53 µs")]
#[expect(clippy::cast_possible_truncation, reason = "saturates at the end of time")]
pub(super) fn planned_end_us(state: &State<'_>, machine: u32, estimate_us: i64) -> i64 {
    let speed = state.machines.speed[machine as usize];
    let takes_us =
        if speed == 1.0 { estimate_us } else { (estimate_us as f64 / speed).ceil() as i64 };
    state.now_us.saturating_add(takes_us)
}

/// When a machine is planned to have room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    /// Now.
    Now,
    /// After the attempts planned to end by then, µs.
    At(i64),
}

/// The planned ends of running attempts. Kept only if the order makes reservations.
#[derive(Debug)]
pub(super) struct Plans {
    /// Machine, end (µs) and slot of every running attempt.
    ends: BTreeSet<(u32, i64, u32)>,
    /// The end by slot, µs.
    end_of: Vec<i64>,
    /// How often the plan was prolonged, by slot; only if running times are predicted.
    prolonged: Vec<u8>,
    /// The task of the last search; the times at which machines have room for it, in order of time
    /// and by machine; and the machines that have changed since.
    asked_for: Option<u32>,
    answers: BTreeSet<(When, u32)>,
    answer_of: Vec<Option<When>>,
    changed: Vec<u32>,
}

impl Plans {
    /// No plans yet.
    pub(super) fn new(machine_count: usize) -> Self {
        Self {
            ends: BTreeSet::new(),
            end_of: Vec::new(),
            prolonged: Vec::new(),
            asked_for: None,
            answers: BTreeSet::new(),
            answer_of: vec![None; machine_count],
            changed: Vec::new(),
        }
    }

    /// Marks a machine as changed.
    pub(super) fn touch(&mut self, machine: u32) {
        if self.asked_for.is_none() {
            return;
        }
        self.changed.push(machine);
        if self.answer_of.len() < self.changed.len() {
            self.asked_for = None;
        }
    }

    /// The machines to check for a task: only the changed ones if the last search was for it, or
    /// else all.
    fn machines_to_ask(&mut self, task: u32) -> Vec<u32> {
        let changed = std::mem::take(&mut self.changed);
        if self.asked_for.replace(task) == Some(task) {
            return changed;
        }
        self.answers.clear();
        self.answer_of.fill(None);
        (0..).take(self.answer_of.len()).collect()
    }

    fn set_answer(&mut self, machine: u32, answer: Option<When>) {
        let old = std::mem::replace(&mut self.answer_of[machine as usize], answer);
        if let Some(old) = old {
            self.answers.remove(&(old, machine));
        }
        self.answers.extend(answer.map(|when| (when, machine)));
    }

    /// The machine that has room first; among machines with overdue plans, the lowest number.
    fn first(&self, now_us: i64) -> Option<u32> {
        let overdue = self.answers.range(..=(When::At(now_us), u32::MAX));
        let overdue = overdue.map(|&(_, machine)| machine).min();
        overdue.or_else(|| self.answers.first().map(|&(_, machine)| machine))
    }

    /// An attempt has begun; returns its planned end, µs.
    pub(super) fn begun(&mut self, state: &State<'_>, slot: u32) -> i64 {
        let idx = slot as usize;
        let (task, machine) = (state.attempts.task[idx], state.attempts.machine[idx]);
        let end_us = planned_end_us(state, machine, state.ask_of(task).estimate_us);
        if self.end_of.len() <= idx {
            self.end_of.resize(idx + 1, 0);
            self.prolonged.resize(idx + 1, 0);
        }
        self.prolonged[idx] = 0;
        self.end_of[idx] = end_us;
        self.ends.insert((machine, end_us, slot));
        self.touch(machine);
        end_us
    }

    /// An attempt has left its machine.
    pub(super) fn ended(&mut self, state: &State<'_>, slot: u32) {
        let idx = slot as usize;
        self.ends.remove(&(state.attempts.machine[idx], self.end_of[idx], slot));
        self.touch(state.attempts.machine[idx]);
    }

    /// Prolongs the plans of attempts that run longer than planned, up to the requested time.
    fn prolong(&mut self, state: &State<'_>, steps: Steps) {
        for machine in (0..).take(self.answer_of.len()) {
            let overdue = self.on(machine).take_while(|&(end_us, _)| end_us <= state.now_us);
            for (end_us, slot) in overdue.collect::<Vec<_>>() {
                let idx = slot as usize;
                let requested_us = state.workload.requested_us.get(state.attempts.task[idx]);
                let latest_us = requested_us.map_or(i64::MAX, |requested_us| {
                    let so_far_us = state.now_us - state.attempts.start_us[idx];
                    planned_end_us(state, machine, requested_us).saturating_sub(so_far_us)
                });
                let mut later_us = end_us;
                while later_us <= state.now_us && later_us < latest_us {
                    let step_us = steps.step_us(usize::from(self.prolonged[idx]));
                    later_us = (later_us + step_us).min(latest_us);
                    self.prolonged[idx] = self.prolonged[idx].saturating_add(1);
                }
                if later_us != end_us {
                    self.ends.remove(&(machine, end_us, slot));
                    self.ends.insert((machine, later_us, slot));
                    self.end_of[idx] = later_us;
                    self.touch(machine);
                }
            }
        }
    }

    /// The rest of each plan on a machine takes `factor` times as long from now on.
    #[expect(clippy::cast_precision_loss, reason = "a plan is far shorter than 2^53 µs")]
    #[expect(clippy::cast_possible_truncation, reason = "saturates at the end of time")]
    pub(super) fn stretch(&mut self, now_us: i64, machine: u32, factor: f64) {
        for (end_us, slot) in self.on(machine).collect::<Vec<_>>() {
            let left_us = (end_us.saturating_sub(now_us).max(0) as f64 * factor).ceil() as i64;
            let later_us = now_us.saturating_add(left_us);
            self.ends.remove(&(machine, end_us, slot));
            self.ends.insert((machine, later_us, slot));
            self.end_of[slot as usize] = later_us;
        }
    }

    /// The planned ends of all running attempts and their slots, by machine.
    pub(super) fn all(&self) -> impl Iterator<Item = (i64, u32)> + '_ {
        self.ends.iter().map(|&(_, end_us, slot)| (end_us, slot))
    }

    /// The planned ends on a machine and their slots, in order.
    fn on(&self, machine: u32) -> impl Iterator<Item = (i64, u32)> + '_ {
        let all = (machine, i64::MIN, 0)..=(machine, i64::MAX, u32::MAX);
        self.ends.range(all).map(|&(_, end_us, slot)| (end_us, slot))
    }
}

impl Engine<'_> {
    /// Starts waiting tasks: the first one as long as it fits, then each task that does not delay
    /// it.
    pub(super) fn backfill(&mut self) {
        let mut reservation: Option<Reservation> = None;
        // The last task that was passed over.
        let mut passed: Option<u32> = None;
        // Requests that found no machine: free capacity only shrinks, so larger requests find none
        // either.
        let mut in_vain: Vec<Ask> = Vec::new();
        if self.order.line().is_none_or(Line::is_empty) {
            return;
        }
        if let Predict::LastTwo(steps) = self.passing.predict
            && let Some(plans) = &mut self.plans
        {
            plans.prolong(&self.state, steps);
        }
        let largest = self.largest();
        while let Some(task) = self.next_to_start(passed, reservation.as_ref(), largest, &in_vain) {
            if let Some(depth) = self.passing.depth.bound()
                && depth < self.order.line().map_or(0, |line| line.before(task))
            {
                break;
            }
            if let Some(machine) = self.find(task, reservation.as_ref()) {
                self.order.forget(task);
                if let Some(held) = reservation.as_mut().filter(|held| held.machine == machine)
                    && !held.ends_before(&self.state, &self.state.ask_of(task))
                {
                    let demand = self.state.workload.demand(task);
                    held.spare = held.spare.without(demand);
                }
                self.start(task, machine, Role::Original);
                if self.state.roomy == 0 {
                    break;
                }
            } else {
                passed = Some(task);
                let Some(held) = &reservation else {
                    reservation = self.reserve(task);
                    continue;
                };
                if self.is_like_others(task, held) {
                    let ask = self.state.ask_of(task);
                    in_vain.retain(|old| !ask.is_within(old));
                    in_vain.push(ask);
                }
            }
        }
        if let Some(depth) = self.passing.depth.bound() {
            let waiting = self.order.line().map_or(0, Line::len);
            self.depth_cuts += u64::from(0 < self.state.roomy && depth + 1 < waiting);
        }
    }

    /// Whether a task can be turned down only because of its request, and no capacity is freed
    /// before the next task is tried.
    fn is_like_others(&self, task: u32, held: &Reservation) -> bool {
        let workload = self.state.workload;
        self.speculation.is_none()
            && self.kill.is_none()
            && !workload.is_apart.get(task)
            && workload.gpus.get(task).is_none()
            && held.apart_from != Some(workload.job.get(task))
    }

    /// The next task in line that may start; before there is a reservation, the next that may start
    /// or get the reservation. No task that could start is skipped.
    fn next_to_start(
        &self,
        passed: Option<u32>,
        reservation: Option<&Reservation>,
        largest: Room,
        in_vain: &[Ask],
    ) -> Option<u32> {
        let Some(held) = reservation else {
            return self.order.line()?.seek(passed, |ask| largest.holds(ask.demand));
        };
        let (state, finder) = (&self.state, &self.finder);
        let here = state.machines.free[held.machine as usize];
        let line = self.order.line()?;
        line.seek(passed, |ask| {
            let waits_for_nobody = || held.ends_before(state, ask) || held.spare.holds(ask.demand);
            (held.elsewhere.is_some_and(|room| room.holds(ask.demand))
                || here.holds(ask.demand) && waits_for_nobody())
                && finder.may_hold(state, ask.demand, state.steps.need(ask.demand))
                && !in_vain.iter().any(|old| old.is_within(ask))
        })
    }

    /// The largest amount of each resource that any present machine has.
    fn largest(&self) -> Room {
        let machines = self.state.machines.capacity.iter().zip(&self.state.machines.is_present);
        let present = machines.filter(|(_, present)| **present);
        present.map(|(capacity, _)| *capacity).fold(Room::NOTHING, Room::most)
    }

    /// Finds a machine for a waiting task.
    fn find(&mut self, task: u32, reservation: Option<&Reservation>) -> Option<u32> {
        let Some(held) = reservation else { return self.find_any(task) };
        let state = &self.state;
        let rule = self.speculation.as_deref();
        let suits = |machine: u32| {
            rule.is_none_or(|rule| rule.allows(state, machine, task))
                && held.allows(state, machine, task)
        };
        self.finder.find(state, task, Some(&suits))
    }

    /// Reserves for a task the machine that is planned to have room first.
    fn reserve(&mut self, task: u32) -> Option<Reservation> {
        let machine = if self.speculation.is_some() {
            self.first_allowed(task)?
        } else {
            let asked = self.plans.as_mut()?.machines_to_ask(task);
            for machine in asked {
                let answer = self.room_from(machine, task);
                self.plans.as_mut()?.set_answer(machine, answer);
            }
            self.plans.as_ref()?.first(self.state.now_us)?
        };
        let held = self.room_at(machine, task)?;
        Some(Reservation { elsewhere: self.free_beside(machine), ..held })
    }

    /// The same choice, if a rule about running tasks may forbid machines.
    fn first_allowed(&self, task: u32) -> Option<u32> {
        let state = &self.state;
        let rule = self.speculation.as_deref();
        (0..)
            .take(state.machines.free.len())
            .filter(|&machine| rule.is_none_or(|rule| rule.allows(state, machine, task)))
            .filter_map(|machine| Some((self.room_at(machine, task)?.at_us, machine)))
            .min()
            .map(|(_, machine)| machine)
    }

    /// When a machine has room for a task; `None` if it is too small or absent.
    fn room_from(&self, machine: u32, task: u32) -> Option<When> {
        let mut outlook = Outlook::of(&self.state, machine, task)?;
        if outlook.is_enough() {
            return Some(When::Now);
        }
        let mut ends = self.plans.as_ref()?.on(machine);
        ends.find_map(|(end_us, slot)| {
            outlook.release(&self.state, slot);
            outlook.is_enough().then_some(When::At(end_us))
        })
    }

    /// The largest free amount of each resource on any other machine.
    fn free_beside(&self, machine: u32) -> Option<Room> {
        let others = (0..).zip(&self.state.machines.free).filter(|(other, _)| *other != machine);
        others.map(|(_, free)| *free).reduce(Room::most)
    }

    /// The reservation that a machine can offer a task; `None` if it is too small or absent.
    fn room_at(&self, machine: u32, task: u32) -> Option<Reservation> {
        let mut outlook = Outlook::of(&self.state, machine, task)?;
        let mut at_us = self.state.now_us;
        for (end_us, slot) in self.plans.as_ref()?.on(machine) {
            // Attempts that end at the same instant all free their capacity at that instant.
            if outlook.is_enough() && at_us < end_us {
                break;
            }
            outlook.release(&self.state, slot);
            at_us = at_us.max(end_us);
        }
        let is_enough = outlook.is_enough();
        let Outlook { free, demand, apart_from, gpus, .. } = outlook;
        let spare = is_enough.then(|| free.without(demand))?;
        let has_gpus = gpus.is_some();
        Some(Reservation { machine, at_us, spare, elsewhere: None, apart_from, has_gpus })
    }
}

/// The capacity that is free for a task on a machine, while attempts end there.
#[derive(Clone, Debug)]
struct Outlook {
    demand: [u64; 2],
    free: Room,
    /// The job of the task, if tasks of one job must not share a machine, and the number of its
    /// tasks on the machine.
    apart_from: Option<u32>,
    siblings: usize,
    /// The requested and the free GPUs; `None` if the task requests none.
    gpus: Option<(GpuAsk, FreeGpus)>,
}

impl Outlook {
    /// The state now; `None` if the machine is too small or absent.
    fn of(state: &State<'_>, machine: u32, task: u32) -> Option<Self> {
        let (idx, workload) = (machine as usize, state.workload);
        let demand = workload.demand(task);
        if !state.machines.is_present[idx] || !state.machines.capacity[idx].holds(demand) {
            return None;
        }
        let free = state.machines.free[idx];
        let apart_from = workload.is_apart.get(task).then(|| workload.job.get(task));
        let ask = workload.gpus.get(task);
        let gpus = state.machines.gpus.get(idx).filter(|_| !ask.is_none());
        if gpus.is_some() && !FreeGpus::all(state.cluster.gpus[idx]).holds(ask) {
            return None;
        }
        let gpus = gpus.map(|free| (ask, free.clone()));
        let mut outlook = Self { demand, free, apart_from, siblings: 0, gpus };
        if apart_from.is_some() {
            let slots = state.on_machine(machine);
            outlook.siblings = slots.filter(|&slot| outlook.is_sibling(state, slot)).count();
        }
        Some(outlook)
    }

    fn is_sibling(&self, state: &State<'_>, slot: u32) -> bool {
        let other = state.attempts.task[slot as usize];
        self.apart_from.is_some_and(|job| state.workload.job.get(other) == job)
    }

    fn release(&mut self, state: &State<'_>, slot: u32) {
        self.free = self.free.with(state.workload.demand(state.attempts.task[slot as usize]));
        self.siblings -= usize::from(self.is_sibling(state, slot));
        if let Some((_, free)) = &mut self.gpus {
            let (idx, task) = (slot as usize, state.attempts.task[slot as usize]);
            free.give_back(state.attempts.gpus[idx], state.workload.gpus.get(task));
        }
    }

    fn is_enough(&self) -> bool {
        let has_gpus = self.gpus.as_ref().is_none_or(|(ask, free)| free.holds(*ask));
        self.siblings == 0 && self.free.holds(self.demand) && has_gpus
    }
}
