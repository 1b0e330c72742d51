//! Making room: attempts of lower priority are evicted for a waiting task.
//!
//! In: a task that fits nowhere. Out: a machine with room for it, after evictions. Taken is the
//! machine where the least time is thrown away; there the lowest priority goes first, and among
//! equals the attempt that began last. A start changes nothing about what can be evicted: it
//! takes as much as it may have to give back. So what found no room finds none until something
//! ends, and is not tried again before.

use super::{Engine, Kind};
use crate::replay::state::State;
use crate::replay::workload::NONE;

/// What is known about making room.
#[derive(Debug)]
pub(super) struct Preemption {
    /// Attempts running, by priority.
    running: [u32; 256],
    hopeless: Vec<Hopeless>,
}

/// Demands remembered at most.
const HOPELESS_MAX: usize = 256;

/// What no machine can make room for.
#[derive(Clone, Copy, Debug)]
struct Hopeless {
    priority: u8,
    demand: [u64; 2],
    /// The job of a task that keeps apart, or `NONE`.
    job: u32,
}

impl Hopeless {
    fn of(state: &State<'_>, task: u32) -> Self {
        let workload = state.workload;
        let job = if workload.is_apart.get(task) { workload.job.get(task) } else { NONE };
        Self { priority: workload.priority.get(task), demand: workload.demand(task), job }
    }

    /// Whether `other` fares no better.
    fn covers(&self, other: &Self) -> bool {
        other.priority <= self.priority
            && self.demand[0] <= other.demand[0]
            && self.demand[1] <= other.demand[1]
            && (self.job == NONE || self.job == other.job)
    }

    /// Whether a machine could make room, evicting all that it may.
    fn fits(&self, state: &State<'_>, machine: u32) -> bool {
        let idx = machine as usize;
        let capacity = state.machines.capacity[idx];
        if !state.machines.is_present[idx]
            || capacity[0] < self.demand[0]
            || capacity[1] < self.demand[1]
            || (self.job != NONE && state.has_sibling(machine, self.job))
        {
            return false;
        }
        let mut free = state.machines.free[idx];
        for slot in state.on_machine(machine) {
            if self.demand[0] <= free[0] && self.demand[1] <= free[1] {
                return true;
            }
            let task = state.attempts.task[slot as usize];
            if state.workload.priority.get(task) < self.priority {
                let held = state.workload.demand(task);
                free = [free[0] + held[0], free[1] + held[1]];
            }
        }
        self.demand[0] <= free[0] && self.demand[1] <= free[1]
    }
}

impl Preemption {
    pub(super) fn new() -> Self {
        Self { running: [0; 256], hopeless: Vec::new() }
    }

    /// An attempt of `priority` has begun (`true`) or ended.
    #[inline]
    pub(super) fn count(&mut self, priority: u8, begins: bool) {
        let running = &mut self.running[usize::from(priority)];
        *running = if begins { *running + 1 } else { *running - 1 };
    }

    /// Something has ended on a machine, or it has come, or grown.
    #[inline]
    pub(super) fn freed(&mut self, state: &State<'_>, machine: u32) {
        self.hopeless.retain(|known| !known.fits(state, machine));
    }

    fn has_lower(&self, priority: u8) -> bool {
        self.running[..usize::from(priority)].iter().any(|&count| 0 < count)
    }
}

impl Engine<'_> {
    /// Evicts attempts of lower priority until the task fits, where the least time is thrown away.
    pub(super) fn make_room(&mut self, task: u32) -> Option<u32> {
        let preemption = self.preemption.as_mut()?;
        let wanted = Hopeless::of(&self.state, task);
        if !preemption.has_lower(wanted.priority)
            || preemption.hopeless.iter().any(|known| known.covers(&wanted))
        {
            return None;
        }
        let state = &self.state;
        let machines = (0..).take(state.machines.free.len());
        let found = machines
            .filter(|&machine| wanted.fits(state, machine))
            .map(|machine| victims(state, machine, &wanted))
            .min_by_key(|(lost_us, machine, _)| (*lost_us, *machine));
        let Some((_, machine, victims)) = found else {
            preemption.hopeless.retain(|old| !wanted.covers(old));
            if preemption.hopeless.len() < HOPELESS_MAX {
                preemption.hopeless.push(wanted);
            }
            return None;
        };
        for slot in victims {
            let victim = self.state.attempts.task[slot as usize];
            self.end(slot, Kind::Evict);
            self.wait_again(victim);
        }
        Some(machine)
    }
}

/// The attempts that have to go from a machine that can make room, and the time they have run.
fn victims(state: &State<'_>, machine: u32, wanted: &Hopeless) -> (i64, u32, Vec<u32>) {
    let rank = |slot: u32| state.workload.priority.get(state.attempts.task[slot as usize]);
    let mut slots: Vec<u32> =
        state.on_machine(machine).filter(|&slot| rank(slot) < wanted.priority).collect();
    slots.sort_by_key(|&slot| {
        (rank(slot), std::cmp::Reverse(state.attempts.start_us[slot as usize]), slot)
    });
    let mut free = state.machines.free[machine as usize];
    let (mut lost_us, mut count) = (0, 0);
    while free[0] < wanted.demand[0] || free[1] < wanted.demand[1] {
        let slot = slots[count];
        let held = state.workload.demand(state.attempts.task[slot as usize]);
        free = [free[0] + held[0], free[1] + held[1]];
        lost_us += state.now_us - state.attempts.start_us[slot as usize];
        count += 1;
    }
    slots.truncate(count);
    (lost_us, machine, slots)
}
