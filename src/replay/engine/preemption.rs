//! Making room: attempts of lower priority are evicted for a waiting task.
//!
//! In: a task that fits nowhere. Out: a machine with room for it, after evictions. Taken is the
//! machine where the least time is thrown away, of the next few that can make room, beginning
//! behind the one taken last; there the lowest priority goes first, and among equals the attempt
//! that began last. A start changes nothing about what can be evicted: it
//! takes as much as it may have to give back. So what found no room finds none until something
//! ends, and is not tried again before.

use super::{Engine, Kind};
use crate::replay::state::State;
use crate::replay::workload::NONE;

/// What is known about making room.
#[derive(Debug)]
pub(super) struct Preemption {
    /// The number of each priority among those of the workload.
    level_of: [usize; 256],
    levels: usize,
    /// What attempts hold by machine and level.
    held: Vec<[u64; 2]>,
    /// Attempts running, by level.
    running: Vec<u32>,
    hopeless: Vec<Hopeless>,
    /// Machines compared at most.
    looks: usize,
    /// Where the next search begins.
    next: usize,
}

/// Demands remembered at most.
const HOPELESS_MAX: usize = 256;

/// What no machine can make room for.
#[derive(Clone, Copy, Debug)]
struct Hopeless {
    priority: u16,
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
    fn fits(&self, state: &State<'_>, machine: u32, room: [u64; 2]) -> bool {
        self.demand[0] <= room[0]
            && self.demand[1] <= room[1]
            && (self.job == NONE || !state.has_sibling(machine, self.job))
    }
}

impl Preemption {
    /// Nothing for 0 `looks`.
    pub(super) fn new(state: &State<'_>, looks: u32) -> Option<Self> {
        if looks == 0 {
            return None;
        }
        let mut level_of = [0; 256];
        for task in (0..).take(state.workload.task_count) {
            level_of[usize::from(state.workload.priority.get(task))] = 1;
        }
        let mut levels = 0;
        for level in &mut level_of {
            let is_used = *level == 1;
            *level = levels;
            levels += usize::from(is_used);
        }
        Some(Self {
            level_of,
            levels,
            held: vec![[0, 0]; levels * state.machines.free.len()],
            running: vec![0; levels],
            hopeless: Vec::new(),
            looks: usize::try_from(looks).expect("at least 32 bits"),
            next: 0,
        })
    }

    /// An attempt of `task` has begun on a machine (`true`) or ended there.
    #[inline]
    pub(super) fn count(&mut self, state: &State<'_>, task: u32, machine: u32, begins: bool) {
        let level = self.level_of[usize::from(state.workload.priority.get(task))];
        let held = &mut self.held[machine as usize * self.levels + level];
        for (held, demand) in held.iter_mut().zip(state.workload.demand(task)) {
            *held = if begins { *held + demand } else { *held - demand };
        }
        let running = &mut self.running[level];
        *running = if begins { *running + 1 } else { *running - 1 };
    }

    /// What a machine has free, or could have by evicting what is below a level.
    #[inline]
    fn room(&self, state: &State<'_>, machine: u32, level: usize) -> [u64; 2] {
        let first = machine as usize * self.levels;
        let free = state.machines.free[machine as usize];
        let held = &self.held[first..first + level];
        held.iter().fold(free, |sum, held| [sum[0] + held[0], sum[1] + held[1]])
    }

    fn level(&self, priority: u16) -> usize {
        self.level_of[usize::from(priority)]
    }

    /// Something has ended on a machine, or it has come, or grown.
    #[inline]
    pub(super) fn freed(&mut self, state: &State<'_>, machine: u32) {
        if self.hopeless.is_empty() || !state.machines.is_present[machine as usize] {
            return;
        }
        let mut hopeless = std::mem::take(&mut self.hopeless);
        hopeless.retain(|known| {
            !known.fits(state, machine, self.room(state, machine, self.level(known.priority)))
        });
        self.hopeless = hopeless;
    }

    fn has_lower(&self, level: usize) -> bool {
        self.running[..level].iter().any(|&count| 0 < count)
    }
}

impl Engine<'_> {
    /// Evicts attempts of lower priority until the task fits, where the least time is thrown away.
    pub(super) fn make_room(&mut self, task: u32) -> Option<u32> {
        let preemption = self.preemption.as_mut()?;
        let wanted = Hopeless::of(&self.state, task);
        let level = preemption.level(wanted.priority);
        if !preemption.has_lower(level)
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
                    && wanted.fits(state, machine, preemption.room(state, machine, level))
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
