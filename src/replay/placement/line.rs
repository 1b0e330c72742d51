//! Machines with room in the order in which they asked for work.
//!
//! In: machines that have got room or lost it. Out: the first in line that serves a task. A
//! machine keeps its place until it has no room for anything; it leaves then, and stands at the
//! back when it has room again. Where tasks ask for different amounts a tree over the places finds
//! the first with room without asking those before it.

use super::tree::Tree;
use crate::replay::state::State;
use crate::replay::workload::NONE;

/// The line.
#[derive(Debug)]
pub(super) struct Line {
    /// Machines by place; `NONE` where one has left.
    places: Vec<u32>,
    /// By machine, its place, or `NONE`.
    place_of: Vec<u32>,
    /// The first place that is taken, and the first behind the last.
    front: usize,
    back: usize,
    /// What is free by place.
    tree: Option<Tree>,
}

impl Line {
    /// An empty line. `is_uniform` if all tasks ask for the same.
    pub(super) fn new(machine_count: usize, is_uniform: bool) -> Self {
        let room = 2 * machine_count.max(1);
        Self {
            places: vec![NONE; room],
            place_of: vec![NONE; machine_count],
            front: 0,
            back: 0,
            tree: (!is_uniform).then(|| Tree::new(room)),
        }
    }

    /// A machine has more room than before.
    #[inline]
    pub(super) fn freed(&mut self, state: &State<'_>, machine: u32) {
        let place = self.place_of[machine as usize];
        if place != NONE {
            if let Some(tree) = &mut self.tree {
                tree.set(place as usize, state.machines.free[machine as usize]);
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
        if let Some(tree) = &mut self.tree {
            tree.set(place as usize, state.machines.free[machine as usize]);
        }
        if !state.has_room(machine) {
            self.places[place as usize] = NONE;
            self.place_of[machine as usize] = NONE;
        }
    }

    #[inline]
    fn put(&mut self, state: &State<'_>, machine: u32) {
        self.places[self.back] = machine;
        self.place_of[machine as usize] = u32::try_from(self.back).expect("two per machine");
        if let Some(tree) = &mut self.tree {
            tree.set(self.back, state.machines.free[machine as usize]);
        }
        self.back += 1;
    }

    /// Moves everyone to the beginning of the places.
    #[cold]
    fn close_up(&mut self, state: &State<'_>) {
        let line: Vec<u32> =
            self.places[self.front..].iter().copied().filter(|&machine| machine != NONE).collect();
        self.places.fill(NONE);
        if let Some(tree) = &mut self.tree {
            *tree = Tree::new(self.places.len());
        }
        (self.front, self.back) = (0, 0);
        for machine in line {
            self.put(state, machine);
        }
    }

    /// Whether all tasks ask for the same.
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

    /// The first machine with room for `demand` that `serves`.
    #[inline]
    pub(super) fn find(
        &mut self,
        state: &State<'_>,
        demand: [u64; 2],
        serves: &mut dyn FnMut(u32) -> bool,
    ) -> Option<u32> {
        let first = self.first()?;
        if state.fits(first, demand) && serves(first) {
            return Some(first);
        }
        let mut is_found =
            |machine: u32| machine != NONE && state.fits(machine, demand) && serves(machine);
        let Some(tree) = &self.tree else {
            let others = &self.places[self.front + 1..self.back];
            return others.iter().copied().find(|&machine| is_found(machine));
        };
        let place = tree.first(demand, &mut |place| {
            // What a machine had left when it left still stands at its place, too little for any
            // task; and a task that asks for nothing has room at places where nobody is.
            let machine = self.places.get(place).copied().unwrap_or(NONE);
            machine != first && is_found(machine)
        })?;
        Some(self.places[place])
    }
}
