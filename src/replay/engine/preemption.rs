//! Preemption: attempts of lower priority are evicted for a waiting task.
//!
//! In: a task that fits nowhere. Out: a machine with room for it, after evictions. The search
//! compares the next few machines that can make room, beginning after the machine used last, and
//! chooses the one that wastes the least time. There the lowest priority is evicted first, and
//! among equals the attempt that began last. A start does not add room: an attempt holds exactly
//! what its eviction would free. So a task that found no room finds none until an attempt ends, and
//! is not tried before.
//!
//! The attempts on each machine are kept in the order of eviction. For each priority, a tree over
//! the machines holds what they could free, so machines that can make no room are skipped: a search
//! costs the logarithm of the number of machines for each machine compared, plus the attempts to
//! evict there. A start or an end changes the free capacity for its own priority and those below; a
//! tree is updated when it is searched. If there are many priorities, they share [`BANDS`] trees;
//! each tree is exact for its highest priority.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Engine;
use crate::replay::journal::Kind;
use crate::replay::placement::{Most, Need, Tree};
use crate::replay::room::Room;
use crate::replay::state::State;
use crate::replay::workload::NONE;

/// The state of preemption.
#[derive(Debug)]
pub(super) struct Preemption {
    /// The attempts on each machine, in the order of eviction.
    held: Vec<Vec<Held>>,
    /// Attempts running, by priority.
    running: BTreeMap<Priority, u32>,
    /// By priority, ascending.
    bands: Vec<Band>,
    /// By machine, the number of bands with an outdated entry for it.
    stale: Vec<u16>,
    hopeless: Vec<Hopeless>,
    /// The most machines compared.
    looks: usize,
    /// Where the next search starts.
    next: usize,
}

/// The room that machines have or could make for tasks of some priorities.
#[derive(Debug)]
struct Band {
    /// The highest of these priorities.
    top: Priority,
    tree: Tree,
    /// Machines that have changed since the last search.
    stale: Vec<u32>,
}

/// The most trees.
const BANDS: usize = 16;

/// The most demands remembered.
const HOPELESS_MAX: usize = 256;

/// A task without a known priority ranks below all others.
type Priority = Option<i32>;

/// An attempt on a machine.
#[derive(Clone, Copy, Debug)]
struct Held {
    priority: Priority,
    start_us: i64,
    slot: u32,
    demand: [u64; 2],
}

impl Held {
    /// The order of eviction: the lowest priority first, and among equals the attempt that began
    /// last.
    fn rank(&self) -> (Priority, Reverse<i64>, u32) {
        (self.priority, Reverse(self.start_us), self.slot)
    }
}

/// A demand for which no machine can make room.
#[derive(Clone, Copy, Debug)]
struct Hopeless {
    priority: Priority,
    demand: [u64; 2],
    need: Need,
    /// The job of the task, if tasks of one job must not share a machine; `NONE` otherwise.
    job: u32,
}

impl Hopeless {
    fn of(state: &State<'_>, task: u32) -> Self {
        let workload = state.workload;
        let job = if workload.is_apart.get(task) { workload.job.get(task) } else { NONE };
        let (demand, need) = (workload.demand(task), state.need(task));
        Self { priority: workload.priority.get(task), demand, need, job }
    }

    /// Whether `other` cannot be served either.
    fn covers(&self, other: &Self) -> bool {
        other.priority <= self.priority
            && self.demand[0] <= other.demand[0]
            && self.demand[1] <= other.demand[1]
            && (self.job == NONE || self.job == other.job)
    }

    /// Whether a machine that can free `room` could serve it.
    fn fits(&self, state: &State<'_>, machine: u32, room: Room) -> bool {
        room.holds(self.demand) && (self.job == NONE || !state.has_sibling(machine, self.job))
    }
}

impl Preemption {
    /// `None` if `looks` is 0.
    pub(super) fn new(state: &State<'_>, looks: u32) -> Option<Self> {
        if looks == 0 {
            return None;
        }
        let count = state.machines.free.len();
        let mut levels: Vec<Priority> = state.workload.priority.values().collect();
        levels.sort_unstable();
        levels.dedup();
        let tops = levels.chunks(levels.len().div_ceil(BANDS).max(1)).filter_map(<[_]>::last);
        let band = |&top: &Priority| Band { top, tree: Tree::new(count), stale: Vec::new() };
        let mut preemption = Self {
            held: vec![Vec::new(); count],
            running: BTreeMap::new(),
            bands: tops.map(band).collect(),
            stale: vec![0; count],
            hopeless: Vec::new(),
            looks: usize::try_from(looks).expect("at least 32 bits"),
            next: 0,
        };
        (0..).take(count).for_each(|machine| preemption.touch(machine));
        Some(preemption)
    }

    /// An attempt has begun in `slot` (`true`) or ended there.
    #[inline]
    pub(super) fn count(&mut self, state: &State<'_>, task: u32, slot: u32, begins: bool) {
        let priority = state.workload.priority.get(task);
        let machine = state.attempts.machine[slot as usize];
        let start_us = state.attempts.start_us[slot as usize];
        let held = Held { priority, start_us, slot, demand: state.workload.demand(task) };
        let all = &mut self.held[machine as usize];
        let place = all.partition_point(|other| other.rank() < held.rank());
        let running = self.running.entry(priority).or_default();
        if begins {
            *running += 1;
            all.insert(place, held);
        } else {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&priority);
            }
            all.remove(place);
        }
        // For tasks that could evict the attempt, the available room is unchanged.
        let bands = self.bands.partition_point(|band| band.top <= priority);
        self.forget(machine, bands);
    }

    /// A machine has joined, left or changed.
    pub(super) fn touch(&mut self, machine: u32) {
        self.forget(machine, self.bands.len());
    }

    /// Marks a machine as outdated in the first `bands` bands.
    fn forget(&mut self, machine: u32, bands: usize) {
        let stale = &mut self.stale[machine as usize];
        for (idx, band) in self.bands[..bands].iter_mut().enumerate() {
            if *stale & (1 << idx) == 0 {
                *stale |= 1 << idx;
                band.stale.push(machine);
            }
        }
    }

    /// The band of a priority, updated.
    fn band(&mut self, state: &State<'_>, priority: Priority) -> &Band {
        let idx = self.bands.partition_point(|band| band.top < priority);
        let top = self.bands[idx].top;
        for machine in std::mem::take(&mut self.bands[idx].stale) {
            self.stale[machine as usize] &= !(1 << idx);
            let is_present = state.machines.is_present[machine as usize];
            let room = is_present.then(|| self.room(state, machine, top));
            self.bands[idx].tree.set(machine as usize, &state.steps, room);
        }
        &self.bands[idx]
    }

    /// The free room of a machine if all attempts below a priority were evicted.
    #[inline]
    fn room(&self, state: &State<'_>, machine: u32, priority: Priority) -> Room {
        let free = state.machines.free[machine as usize];
        let lower = self.held[machine as usize].iter().take_while(|held| held.priority < priority);
        lower.fold(free, |sum, held| sum.with(held.demand))
    }

    /// An attempt has ended on a machine, or the machine has joined or grown.
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

    /// The most memory, by step of CPU, that any machine could have for a task and its equals;
    /// `None` if no attempt of lower priority runs.
    pub(super) fn most(&mut self, state: &State<'_>, task: u32) -> Option<Most> {
        let priority = state.workload.priority.get(task);
        self.has_lower(priority).then(|| *self.band(state, priority).tree.most())
    }

    fn has_lower(&self, priority: Priority) -> bool {
        self.running.first_key_value().is_some_and(|(&lowest, _)| lowest < priority)
    }

    /// The machine that wastes the least time among the next few that can make room.
    fn cheapest(&self, state: &State<'_>, wanted: &Hopeless) -> Option<u32> {
        let band = self.bands.partition_point(|band| band.top < wanted.priority);
        let number = |place| u32::try_from(place).expect("machines are numbered in u32");
        let (tree, mut looks) = (&self.bands[band].tree, self.looks);
        let mut best: Option<(i64, u32)> = None;
        for (mut from, end) in [(self.next, usize::MAX), (0, self.next)] {
            while 0 < looks {
                let mut lost_us = None;
                let place = tree.first(wanted.need, from, |place| {
                    if place < end {
                        lost_us = self.lost_us(state, number(place), wanted);
                    }
                    end <= place || lost_us.is_some()
                });
                let Some((place, lost_us)) = place.zip(lost_us) else { break };
                let found = (lost_us, number(place));
                best = Some(best.map_or(found, |best| best.min(found)));
                from = place + 1;
                looks -= 1;
            }
        }
        best.map(|(_, machine)| machine)
    }

    /// The time wasted if a machine makes room, µs; `None` if it cannot.
    #[inline]
    fn lost_us(&self, state: &State<'_>, machine: u32, wanted: &Hopeless) -> Option<i64> {
        let mut free = state.machines.free[machine as usize];
        let mut lost_us = 0;
        let mut lower = self.held[machine as usize].iter();
        while !free.holds(wanted.demand) {
            let held = lower.next().filter(|held| held.priority < wanted.priority)?;
            free = free.with(held.demand);
            lost_us += state.now_us - held.start_us;
        }
        let is_apart = wanted.job != NONE && state.has_sibling(machine, wanted.job);
        (!is_apart).then_some(lost_us)
    }

    /// The attempts to evict from a machine that can make room.
    fn victims(
        &self,
        state: &State<'_>,
        machine: u32,
        wanted: &Hopeless,
    ) -> impl Iterator<Item = &Held> {
        let mut free = state.machines.free[machine as usize];
        self.held[machine as usize].iter().take_while(move |held| {
            let goes = !free.holds(wanted.demand);
            free = free.with(held.demand);
            goes
        })
    }
}

impl Engine<'_> {
    /// Evicts attempts of lower priority until the task fits, on the machine that wastes the least
    /// time.
    pub(super) fn make_room(&mut self, task: u32) -> Option<u32> {
        // It is unknown here which attempts hold the needed GPUs: tasks that request GPUs evict no
        // attempt.
        if !self.state.workload.gpus.get(task).is_none() && !self.state.machines.gpus.is_empty() {
            return None;
        }
        let preemption = self.preemption.as_mut()?;
        let wanted = Hopeless::of(&self.state, task);
        if !preemption.has_lower(wanted.priority)
            || preemption.hopeless.iter().any(|known| known.covers(&wanted))
        {
            return None;
        }
        let (state, count) = (&self.state, self.state.machines.free.len());
        let may_fit = preemption.band(state, wanted.priority).tree.may_hold(wanted.need);
        if !may_fit {
            return None;
        }
        let Some(machine) = preemption.cheapest(state, &wanted) else {
            preemption.hopeless.retain(|old| !wanted.covers(old));
            if preemption.hopeless.len() < HOPELESS_MAX {
                preemption.hopeless.push(wanted);
            }
            return None;
        };
        preemption.next = (machine as usize + 1) % count;
        let victims = preemption.victims(state, machine, &wanted);
        for slot in victims.map(|held| held.slot).collect::<Vec<u32>>() {
            let victim = self.state.attempts.task[slot as usize];
            self.end(slot, Kind::Evict);
            self.wait_again(victim);
        }
        Some(machine)
    }
}
