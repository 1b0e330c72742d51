//! The first place of a row with room: a tree of maxima.
//!
//! In: what is free at each place, CPU and memory. Out: the lowest place that has enough of both
//! and is accepted. A node holds the largest CPU and the largest memory below it, not always of
//! one machine, so a search may turn back; mostly it goes straight down.

use crate::replay::room::Room;

/// The tree; places are its leaves.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Room>,
    leaves: usize,
}

impl Tree {
    /// A tree for `count` places with nothing free.
    pub(super) fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two();
        Self { nodes: vec![Room::NOTHING; 2 * leaves], leaves }
    }

    /// Sets what is free at a place.
    #[inline]
    pub(super) fn set(&mut self, place: usize, free: Room) {
        let mut node = self.leaves + place;
        self.nodes[node] = free;
        while 1 < node {
            node /= 2;
            let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
            let best = left.most(right);
            if self.nodes[node] == best {
                break;
            }
            self.nodes[node] = best;
        }
    }

    /// The first place with room for `demand` that is accepted.
    #[inline]
    pub(super) fn first(
        &self,
        demand: [u64; 2],
        accepts: &mut dyn FnMut(usize) -> bool,
    ) -> Option<usize> {
        self.leftmost(1, demand, accepts)
    }

    fn leftmost(
        &self,
        node: usize,
        demand: [u64; 2],
        accepts: &mut dyn FnMut(usize) -> bool,
    ) -> Option<usize> {
        if !self.nodes[node].holds(demand) {
            return None;
        }
        if self.leaves <= node {
            let place = node - self.leaves;
            return accepts(place).then_some(place);
        }
        self.leftmost(2 * node, demand, accepts)
            .or_else(|| self.leftmost(2 * node + 1, demand, accepts))
    }
}
