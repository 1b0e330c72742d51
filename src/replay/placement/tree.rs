//! The first place of a row with free capacity, found in one descent of a tree.
//!
//! In: the free CPU and memory at each place. Out: the lowest place, from a given one on, that has
//! enough of both. Both are counted in [`Steps`]. For each step of CPU, a node stores the most
//! memory of any place below it with that much CPU. So it shows whether one of these places has
//! enough of both. A search costs the logarithm of the number of places. A change costs the same,
//! times a few instructions for all steps of a node together.
//!
//! ```text
//!  place            0      1      2      3
//!  CPU, memory     4, 1   1, 4   2, 2   1, 1
//!  node with CPU 1, 2, 4  : memory 4, 1, 1 │ 2, 2, 0     1 CPU and 3 memory: left
//!                                                        2 CPU and 2 memory: right
//! ```

use super::steps::{CPU_STEPS, Most, Need, Offer, Steps};
use crate::replay::room::Room;

/// Places under a lowest node, which are checked one by one.
const PLACES: usize = 8;

/// The tree.
#[derive(Debug)]
pub(in crate::replay) struct Tree {
    /// Node 1 is the root, and node n has the children 2n and 2n + 1; each node of the second half
    /// covers [`PLACES`] places.
    nodes: Vec<Most>,
    offers: Vec<Offer>,
}

impl Tree {
    /// A tree for `count` places with nothing free.
    pub(in crate::replay) fn new(count: usize) -> Self {
        let lowest = count.div_ceil(PLACES).next_power_of_two();
        Self {
            nodes: vec![[0; CPU_STEPS]; 2 * lowest],
            offers: vec![Offer::default(); lowest * PLACES],
        }
    }

    /// Marks all places as full.
    pub(in crate::replay) fn clear(&mut self) {
        self.nodes.fill([0; CPU_STEPS]);
        self.offers.fill(Offer::default());
    }

    /// Sets the free capacity of a place; `None` if it has no machine.
    #[inline]
    pub(in crate::replay) fn set(&mut self, place: usize, steps: &Steps, free: Option<Room>) {
        let offer = free.map_or(Offer::default(), |room| steps.offer(room));
        let old = std::mem::replace(&mut self.offers[place], offer);
        if old == offer {
            return;
        }
        let block = place / PLACES;
        let mut node = self.nodes.len() / 2 + block;
        if old.is_within(offer) {
            return self.raise(node, offer);
        }
        if offer.is_within(old) && !is_due_to(&self.nodes[node], old) {
            return;
        }
        let mut most = self.most_of(block);
        while differs(&self.nodes[node], &most) {
            self.nodes[node] = most;
            if node == 1 {
                return;
            }
            let other = self.nodes[node ^ 1];
            for (ours, theirs) in most.iter_mut().zip(other) {
                *ours = theirs.max(*ours);
            }
            node /= 2;
        }
    }

    /// A place below a node offers more than before.
    #[inline]
    fn raise(&mut self, mut node: usize, offer: Offer) {
        while 0 < node {
            let mut is_known = true;
            for most in &mut self.nodes[node][..usize::from(offer.cpu)] {
                is_known &= offer.memory <= *most;
                *most = offer.memory.max(*most);
            }
            if is_known {
                return;
            }
            node /= 2;
        }
    }

    /// The most memory of any place of a block, by step of CPU.
    #[inline]
    fn most_of(&self, block: usize) -> Most {
        let mut most = [0; CPU_STEPS];
        for offer in &self.offers[block * PLACES..][..PLACES] {
            for (step, most) in (0_u8..).zip(&mut most) {
                let memory = if step < offer.cpu { offer.memory } else { 0 };
                *most = memory.max(*most);
            }
        }
        most
    }

    /// The most memory of any place, by step of CPU.
    #[inline]
    pub(in crate::replay) fn most(&self) -> &Most {
        &self.nodes[1]
    }

    /// Whether any place may have room for a demand; if false, no place has room.
    #[inline]
    pub(in crate::replay) fn may_hold(&self, need: Need) -> bool {
        self.is_in(1, need)
    }

    #[inline]
    fn is_in(&self, node: usize, need: Need) -> bool {
        need.memory <= self.nodes[node][usize::from(need.cpu)]
    }

    /// The first place from `from` on that may have room for `need` and is accepted.
    #[inline]
    pub(in crate::replay) fn first(
        &self,
        need: Need,
        from: usize,
        mut accepts: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let mut place = self.next(need, from)?;
        while !accepts(place) {
            place = self.next(need, place + 1)?;
        }
        Some(place)
    }

    /// The first place from `from` on with room.
    #[inline]
    fn next(&self, need: Need, from: usize) -> Option<usize> {
        if !self.is_in(1, need) {
            return None;
        }
        let lowest = self.nodes.len() / 2;
        // The rest of the block in which the search begins.
        if !from.is_multiple_of(PLACES) {
            let rest = self.offers.get(from..from.next_multiple_of(PLACES))?;
            if let Some(idx) = rest.iter().position(|offer| offer.covers(need)) {
                return Some(from + idx);
            }
        }
        let mut node = if from == 0 { 1 } else { lowest + from.div_ceil(PLACES) };
        if self.nodes.len() <= node {
            return None;
        }
        // Go up while the stretch that begins here has no room.
        while !self.is_in(node, need) {
            while node % 2 == 1 {
                node /= 2;
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < lowest {
            node = 2 * node + usize::from(!self.is_in(2 * node, need));
        }
        let begin = (node - lowest) * PLACES;
        let block = &self.offers[begin..begin + PLACES];
        let idx = block.iter().position(|offer| offer.covers(need));
        Some(begin + idx.expect("the block has such a place"))
    }
}

/// Whether an offer is the maximum for any of its steps.
#[inline]
fn is_due_to(most: &Most, offer: Offer) -> bool {
    most[..usize::from(offer.cpu)].contains(&offer.memory)
}

/// Whether two differ in any step. Comparing all steps is quicker than stopping at the first
/// difference.
#[inline]
fn differs(one: &Most, other: &Most) -> bool {
    one.iter().zip(other).fold(0, |bits, (one, other)| bits | (one ^ other)) != 0
}
