//! Making room: attempts of lower priority are evicted for a waiting task.
//!
//! In: a task that fits nowhere. Out: a machine with room for it, after evictions. Taken is the
//! machine where the least time is thrown away, of the next few that can make room, beginning
//! behind the one taken last; there the lowest priority goes first, and among equals the attempt
//! that began last. A start changes nothing about what can be evicted: it
//! takes as much as it may have to give back. So what found no room finds none until something
//! ends, and is not tried again before.

use std::collections::BTreeMap;

use super::{Engine, Kind};
use crate::replay::placement::{Most, NO_BOUND};
use crate::replay::room::Room;
use crate::replay::state::State;
use crate::replay::workload::NONE;

/// What is known about making room.
#[derive(Debug)]
pub(super) struct Preemption {
    /// What attempts hold by machine and priority, the lowest first; only priorities that hold
    /// something, so that a trace may have as many as it has tasks.
    held: Vec<Vec<Held>>,
    /// Attempts running, by priority.
    running: BTreeMap<Priority, u32>,
    hopeless: Vec<Hopeless>,
    /// Machines compared at most.
    looks: usize,
    /// Where the next search begins.
    next: usize,
}

/// Demands remembered at most.
const HOPELESS_MAX: usize = 256;

/// A task without a known priority ranks below all others.
type Priority = Option<i32>;

/// What the attempts of one priority hold on a machine.
#[derive(Clone, Copy, Debug)]
struct Held {
    priority: Priority,
    attempts: u32,
    demand: [u64; 2],
}

/// What no machine can make room for.
#[derive(Clone, Copy, Debug)]
struct Hopeless {
    priority: Priority,
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

    /// Whether a machine could make room that has so much to give.
    fn fits(&self, state: &State<'_>, machine: u32, room: Room) -> bool {
        room.holds(self.demand) && (self.job == NONE || !state.has_sibling(machine, self.job))
    }
}

impl Preemption {
    /// Nothing for 0 `looks`.
    pub(super) fn new(state: &State<'_>, looks: u32) -> Option<Self> {
        if looks == 0 {
            return None;
        }
        Some(Self {
            held: vec![Vec::new(); state.machines.free.len()],
            running: BTreeMap::new(),
            hopeless: Vec::new(),
            looks: usize::try_from(looks).expect("at least 32 bits"),
            next: 0,
        })
    }

    /// An attempt of `task` has begun on a machine (`true`) or ended there.
    #[inline]
    pub(super) fn count(&mut self, state: &State<'_>, task: u32, machine: u32, begins: bool) {
        let priority = state.workload.priority.get(task);
        let demand = state.workload.demand(task);
        let all = &mut self.held[machine as usize];
        let place = all.partition_point(|held| held.priority < priority);
        let running = self.running.entry(priority).or_default();
        if begins {
            *running += 1;
            if all.get(place).is_none_or(|held| held.priority != priority) {
                all.insert(place, Held { priority, attempts: 0, demand: [0, 0] });
            }
            let held = &mut all[place];
            held.attempts += 1;
            // Where memory is not known the sum may pass 2^64, and is never looked at.
            held.demand = [held.demand[0] + demand[0], held.demand[1].wrapping_add(demand[1])];
            return;
        }
        *running -= 1;
        if *running == 0 {
            self.running.remove(&priority);
        }
        let held = &mut all[place];
        held.attempts -= 1;
        held.demand = [held.demand[0] - demand[0], held.demand[1].wrapping_sub(demand[1])];
        if held.attempts == 0 {
            all.remove(place);
        }
    }

    /// What a machine has free, or could have by evicting what is below a priority.
    #[inline]
    fn room(&self, state: &State<'_>, machine: u32, priority: Priority) -> Room {
        let free = state.machines.free[machine as usize];
        let lower = self.held[machine as usize].iter().take_while(|held| held.priority < priority);
        lower.fold(free, |sum, held| sum.with(held.demand))
    }

    /// Something has ended on a machine, or it has come, or grown.
    #[inline]
    pub(super) fn freed(&mut self, state: &State<'_>, machine: u32) {
        if self.hopeless.is_empty() || !state.machines.is_present[machine as usize] {
            return;
        }
        let mut hopeless = std::mem::take(&mut self.hopeless);
        hopeless
            .retain(|known| !known.fits(state, machine, self.room(state, machine, known.priority)));
        self.hopeless = hopeless;
    }

    /// The most memory by step of CPU that any machine could have for a task and its equals; `None`
    /// where nothing of lower priority runs.
    pub(super) fn most(&mut self, state: &State<'_>, task: u32) -> Option<Most> {
        self.has_lower(state.workload.priority.get(task)).then_some(NO_BOUND)
    }

    fn has_lower(&self, priority: Priority) -> bool {
        self.running.first_key_value().is_some_and(|(&lowest, _)| lowest < priority)
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
        let count = state.machines.free.len();
        let machines = (preemption.next..count).chain(0..preemption.next);
        let found = machines
            .map(|machine| u32::try_from(machine).expect("machines are numbered in u32"))
            .filter(|&machine| {
                state.machines.is_present[machine as usize]
                    && wanted.fits(state, machine, preemption.room(state, machine, wanted.priority))
            })
            .take(preemption.looks)
            .map(|machine| victims(state, machine, &wanted))
            .min_by_key(|(lost_us, machine, _)| (*lost_us, *machine));
        let Some((_, machine, victims)) = found else {
            preemption.hopeless.retain(|old| !wanted.covers(old));
            if preemption.hopeless.len() < HOPELESS_MAX {
                preemption.hopeless.push(wanted);
            }
            return None;
        };
        preemption.next = (machine as usize + 1) % count;
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
    while !free.holds(wanted.demand) {
        let slot = slots[count];
        let held = state.workload.demand(state.attempts.task[slot as usize]);
        free = free.with(held);
        lost_us += state.now_us - state.attempts.start_us[slot as usize];
        count += 1;
    }
    slots.truncate(count);
    (lost_us, machine, slots)
}
