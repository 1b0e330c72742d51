//! EASY backfilling: later tasks may start, but never so that the first one that waits is delayed.
//!
//! In: the waiting [`Line`](crate::replay::line::Line) and what is planned of running attempts.
//! Out: starts. The first task that fits nowhere gets a reservation: of all machines, the one that
//! by the plans will have room for it first. A later task may start elsewhere; on that machine only
//! if by plan it ends before then, or takes only what the first one leaves. A plan is an estimate
//! ([`Workload::estimate_us`](crate::replay::workload::Workload::estimate_us)) over the machine's
//! speed; what runs longer than planned counts as ending now.
//!
//! ```text
//!  machine  |=====a=====|==== b, needs all ====|      b waits and is reserved the machine
//!           |=c=|                                     c ends before b begins
//! ```

use std::collections::BTreeSet;

use super::{Engine, Role};
use crate::replay::line::{Ask, Line};
use crate::replay::state::State;

/// What the first task that has to wait may count on.
#[derive(Clone, Copy, Debug)]
struct Reservation {
    machine: u32,
    /// When it will have room, by the plans.
    at_us: i64,
    /// What it will not need by then.
    spare: [u64; 2],
    /// The job whose tasks must be gone from the machine by then, if the first keeps apart.
    apart_from: Option<u32>,
}

impl Reservation {
    /// Whether a task may start on a machine without delaying the one that waits.
    fn allows(&self, state: &State<'_>, machine: u32, task: u32) -> bool {
        let ask = ask_of(state, task);
        let is_sibling = self.apart_from.is_some_and(|job| state.workload.job.get(task) == job);
        machine != self.machine
            || self.ends_before(state, &ask)
            || (!is_sibling && fits(self.spare, ask.demand))
    }

    fn ends_before(&self, state: &State<'_>, ask: &Ask) -> bool {
        planned_end_us(state, self.machine, ask.estimate_us) <= self.at_us
    }
}

/// What a waiting task asks for.
pub(in crate::replay) fn ask_of(state: &State<'_>, task: u32) -> Ask {
    let failed = state.tasks.failed[task as usize];
    let estimate_us = state.workload.estimate_us(task, failed);
    Ask { demand: state.workload.demand(task), estimate_us }
}

/// When an attempt that begins now on a machine is planned to end.
#[expect(clippy::cast_precision_loss, reason = "a plan is far shorter than 2^53 µs")]
#[expect(clippy::cast_possible_truncation, reason = "saturates at the end of time")]
fn planned_end_us(state: &State<'_>, machine: u32, estimate_us: i64) -> i64 {
    let speed = state.machines.speed[machine as usize];
    let takes_us =
        if speed == 1.0 { estimate_us } else { (estimate_us as f64 / speed).ceil() as i64 };
    state.now_us.saturating_add(takes_us)
}

fn fits(free: [u64; 2], demand: [u64; 2]) -> bool {
    demand[0] <= free[0] && demand[1] <= free[1]
}

fn larger(one: [u64; 2], other: [u64; 2]) -> [u64; 2] {
    [one[0].max(other[0]), one[1].max(other[1])]
}

/// When running attempts are planned to end. Only kept where an order reserves.
#[derive(Debug, Default)]
pub(super) struct Plans {
    /// Machine, end (µs) and slot of every running attempt.
    ends: BTreeSet<(u32, i64, u32)>,
    /// The end by slot, µs.
    end_of: Vec<i64>,
}

impl Plans {
    /// An attempt has begun.
    pub(super) fn begun(&mut self, state: &State<'_>, slot: u32) {
        let idx = slot as usize;
        let (task, machine) = (state.attempts.task[idx], state.attempts.machine[idx]);
        let end_us = planned_end_us(state, machine, ask_of(state, task).estimate_us);
        if self.end_of.len() <= idx {
            self.end_of.resize(idx + 1, 0);
        }
        self.end_of[idx] = end_us;
        self.ends.insert((machine, end_us, slot));
    }

    /// An attempt has left its machine.
    pub(super) fn ended(&mut self, state: &State<'_>, slot: u32) {
        let idx = slot as usize;
        self.ends.remove(&(state.attempts.machine[idx], self.end_of[idx], slot));
    }

    /// What is left of the plans of a machine takes `factor` times as long from now on.
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

    /// Planned ends on a machine and their slots, in order.
    fn on(&self, machine: u32) -> impl Iterator<Item = (i64, u32)> + '_ {
        let all = (machine, i64::MIN, 0)..=(machine, i64::MAX, u32::MAX);
        self.ends.range(all).map(|&(_, end_us, slot)| (end_us, slot))
    }
}

impl Engine<'_> {
    /// Starts waiting tasks: the first as long as it fits, then whoever does not delay it.
    pub(super) fn backfill(&mut self) {
        let mut reservation: Option<Reservation> = None;
        // The last task that was passed over.
        let mut passed: Option<u32> = None;
        let largest = self.most(|state, machine| state.machines.capacity[machine]);
        while let Some(task) = self.next_to_start(passed, reservation.as_ref(), largest) {
            let before = self.order.line().map_or(0, |line| line.before(task));
            if self.passing.depth.bound().is_some_and(|depth| depth < before) {
                break;
            }
            if let Some(machine) = self.find(task, reservation.as_ref()) {
                self.order.forget(task);
                if let Some(held) = reservation.as_mut().filter(|held| held.machine == machine)
                    && !held.ends_before(&self.state, &ask_of(&self.state, task))
                {
                    let demand = self.state.workload.demand(task);
                    held.spare = [held.spare[0] - demand[0], held.spare[1] - demand[1]];
                }
                self.start(task, machine, Role::Original);
                if self.state.roomy == 0 {
                    break;
                }
            } else {
                passed = Some(task);
                reservation = reservation.or_else(|| self.reserve(task));
            }
        }
        if let Some(depth) = self.passing.depth.bound() {
            let waiting = self.order.line().map_or(0, Line::len);
            self.depth_cuts += u64::from(0 < self.state.roomy && depth + 1 < waiting);
        }
    }

    /// The next in line that may start, or, before anything is reserved, that may get a
    /// reservation. Nobody is passed over who could.
    fn next_to_start(
        &self,
        passed: Option<u32>,
        reservation: Option<&Reservation>,
        largest: [u64; 2],
    ) -> Option<u32> {
        let Some(held) = reservation else {
            return self.order.line()?.seek(passed, |ask| fits(largest, ask.demand));
        };
        let elsewhere = self.most(|state, machine| {
            if machine == held.machine as usize { [0, 0] } else { state.machines.free[machine] }
        });
        let has_others = 1 < self.state.machines.free.len();
        let (state, finder) = (&self.state, &self.finder);
        let here = state.machines.free[held.machine as usize];
        let line = self.order.line()?;
        line.seek(passed, |ask| {
            let waits_for_nobody = || held.ends_before(state, ask) || fits(held.spare, ask.demand);
            (has_others && fits(elsewhere, ask.demand)
                || fits(here, ask.demand) && waits_for_nobody())
                && !finder.is_hopeless(ask.demand)
        })
    }

    /// The most of each resource that any machine has that is there.
    fn most(&self, of: impl Fn(&State<'_>, usize) -> [u64; 2]) -> [u64; 2] {
        let machines = self.state.machines.is_present.iter().enumerate();
        let present = machines.filter(|(_, present)| **present);
        present.map(|(machine, _)| of(&self.state, machine)).fold([0, 0], larger)
    }

    /// A machine for a waiting task.
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

    /// Reserves a machine for a task: the one that will have room first by the plans.
    fn reserve(&self, task: u32) -> Option<Reservation> {
        let state = &self.state;
        let rule = self.speculation.as_deref();
        (0..)
            .take(state.machines.free.len())
            .filter(|&machine| rule.is_none_or(|rule| rule.allows(state, machine, task)))
            .filter_map(|machine| self.room_at(machine, task))
            .min_by_key(|held| (held.at_us, held.machine))
    }

    /// What a machine can promise a task; nothing if it is too small or not there.
    fn room_at(&self, machine: u32, task: u32) -> Option<Reservation> {
        let (state, idx) = (&self.state, machine as usize);
        let demand = state.workload.demand(task);
        if !state.machines.is_present[idx] || !fits(state.machines.capacity[idx], demand) {
            return None;
        }
        let workload = state.workload;
        let apart_from = workload.is_apart.get(task).then(|| workload.job.get(task));
        let is_sibling = |slot: u32| {
            let other = state.attempts.task[slot as usize];
            apart_from.is_some_and(|job| workload.job.get(other) == job)
        };
        let mut siblings = if apart_from.is_none() {
            0
        } else {
            state.on_machine(machine).filter(|&slot| is_sibling(slot)).count()
        };
        let (mut free, mut at_us) = (state.machines.free[idx], state.now_us);
        for (end_us, slot) in self.plans.as_ref()?.on(machine) {
            // Everything that ends at the same instant is free by then.
            if fits(free, demand) && siblings == 0 && at_us < end_us {
                break;
            }
            let held = workload.demand(state.attempts.task[slot as usize]);
            free = [free[0] + held[0], free[1] + held[1]];
            siblings -= usize::from(is_sibling(slot));
            at_us = at_us.max(end_us);
        }
        let spare = [free[0].checked_sub(demand[0])?, free[1].checked_sub(demand[1])?];
        Some(Reservation { machine, at_us, spare, apart_from })
    }
}
