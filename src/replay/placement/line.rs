//! Machines with free capacity, in the order in which they became free.
//!
//! In: machines that gained or lost room. Out: the first machine in line that suits a task. A
//! machine keeps its place until it has no room for any task; it then leaves, and joins at the back
//! when it has room again. If tasks request different amounts, a tree over the places finds the
//! first machine with room in logarithmic time. If all tasks request the same, it is the first
//! machine in line, at no cost.

use super::steps::{CPU_STEPS, Most, NO_BOUND, Need};
use super::tree::Tree;
use crate::replay::state::State;
use crate::replay::workload::NONE;

/// The machines in line.
#[derive(Debug)]
pub(super) struct Line {
    /// Machines by place; `NONE` if the machine has left.
    places: Vec<u32>,
    /// The place of each machine, or `NONE`.
    place_of: Vec<u32>,
    /// The first used place, and the first place after the last.
    front: usize,
    back: usize,
    /// The free capacity by place.
    tree: Option<Tree>,
    numberings: u64,
}

impl Line {
    /// An empty line; `is_uniform` if all tasks request the same.
    pub(super) fn new(machine_count: usize, is_uniform: bool) -> Self {
        let room = 2 * machine_count.max(1);
        Self {
            places: vec![NONE; room],
            place_of: vec![NONE; machine_count],
            front: 0,
            back: 0,
            tree: (!is_uniform).then(|| Tree::new(room)),
            numberings: 0,
        }
    }

    /// A machine has more room than before.
    #[inline]
    pub(super) fn freed(&mut self, state: &State<'_>, machine: u32) {
        let place = self.place_of[machine as usize];
        if place != NONE {
            if let Some(tree) = &mut self.tree {
                tree.set(place as usize, &state.steps, Some(state.machines.free[machine as usize]));
            }
        } else if state.has_room(machine) {
            if self.back == self.places.len() {
                self.close_up(state);
            }
            self.put(state, machine);
        }
    }

    /// A machine has less room than before.
    #[inline]
    pub(super) fn taken(&mut self, state: &State<'_>, machine: u32) {
        let place = self.place_of[machine as usize];
        if place == NONE {
            return;
        }
        let stays = state.has_room(machine);
        if let Some(tree) = &mut self.tree {
            let free = stays.then(|| state.machines.free[machine as usize]);
            tree.set(place as usize, &state.steps, free);
        }
        if !stays {
            self.places[place as usize] = NONE;
            self.place_of[machine as usize] = NONE;
        }
    }

    #[inline]
    fn put(&mut self, state: &State<'_>, machine: u32) {
        self.places[self.back] = machine;
        self.place_of[machine as usize] = u32::try_from(self.back).expect("two per machine");
        if let Some(tree) = &mut self.tree {
            tree.set(self.back, &state.steps, Some(state.machines.free[machine as usize]));
        }
        self.back += 1;
    }

    /// Moves all machines to the first places.
    #[cold]
    fn close_up(&mut self, state: &State<'_>) {
        let line: Vec<u32> =
            self.places[self.front..].iter().copied().filter(|&machine| machine != NONE).collect();
        self.places.fill(NONE);
        if let Some(tree) = &mut self.tree {
            tree.clear();
        }
        (self.front, self.back) = (0, 0);
        self.numberings += 1;
        for machine in line {
            self.put(state, machine);
        }
    }

    /// Whether all tasks request the same.
    #[inline]
    pub(super) const fn is_uniform(&self) -> bool {
        self.tree.is_none()
    }

    /// The first machine.
    #[inline]
    pub(super) fn first(&mut self) -> Option<u32> {
        while self.front < self.back && self.places[self.front] == NONE {
            self.front += 1;
        }
        self.places[self.front..self.back].first().copied()
    }

    /// The most memory of any machine, by step of CPU.
    #[inline]
    pub(super) fn most(&self, state: &State<'_>) -> Most {
        let of_equals = if 0 < state.roomy { NO_BOUND } else { [0; CPU_STEPS] };
        self.tree.as_ref().map_or(of_equals, |tree| *tree.most())
    }

    /// Whether any machine may have room for `need`.
    #[inline]
    pub(super) fn may_hold(&self, state: &State<'_>, need: Need) -> bool {
        self.tree.as_ref().map_or(0 < state.roomy, |tree| tree.may_hold(need))
    }

    /// The first place from `from` on whose machine has room for `task` and passes `serves`.
    #[inline]
    pub(super) fn find(
        &mut self,
        state: &State<'_>,
        task: u32,
        from: usize,
        serves: &mut dyn FnMut(u32) -> bool,
    ) -> Option<usize> {
        let demand = state.workload.demand(task);
        let first = self.first()?;
        if from <= self.front && state.fits(first, demand) && serves(first) {
            return Some(self.front);
        }
        let from = from.max(self.front + 1);
        let mut is_found = |machine: u32| state.fits(machine, demand) && serves(machine);
        let Some(tree) = &self.tree else {
            let mut others = (from..self.back).filter(|&place| self.places[place] != NONE);
            return others.find(|&place| is_found(self.places[place]));
        };
        tree.first(state.need(task), from, |place| is_found(self.places[place]))
    }

    /// The machine at a used place.
    #[inline]
    pub(super) fn machine(&self, place: usize) -> u32 {
        self.places[place]
    }

    /// The place of a machine, if it is in line.
    #[inline]
    pub(super) fn place_of(&self, machine: u32) -> Option<usize> {
        let place = self.place_of[machine as usize];
        (place != NONE).then_some(place as usize)
    }

    /// How often places have been numbered again.
    #[inline]
    pub(super) const fn numberings(&self) -> u64 {
        self.numberings
    }
}
