//! On which machine a task goes.
//!
//! In: a demand, and what besides room a machine must offer. Out: a machine, or none. Machines
//! that were full at the last search are not looked at again until something on them ends, so a
//! blocked queue costs a look at the machines that have changed.

use super::random::{Draws, Purpose};
use super::state::State;
use super::workload::NONE;

/// How a machine is chosen among those with room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The one that has been asking for work longest: the work queue.
    FirstFree,
    /// The lowest number.
    FirstFit,
    /// The one with the least left afterwards: CPU, then memory, as shares of its capacity.
    BestFit,
    /// The one with the most left afterwards.
    WorstFit,
    /// Any, all equally likely.
    RandomFit,
}

/// Every placement with its word.
pub const PLACEMENTS: [(&str, Placement); 5] = [
    ("first-free", Placement::FirstFree),
    ("first-fit", Placement::FirstFit),
    ("best-fit", Placement::BestFit),
    ("worst-fit", Placement::WorstFit),
    ("random-fit", Placement::RandomFit),
];

/// The machines as a placement searches them.
#[derive(Debug)]
pub(super) struct Finder {
    kind: Placement,
    /// Machines with room, the one that asked first in front.
    line: std::collections::VecDeque<u32>,
    is_in_line: Vec<bool>,
    /// Largest free CPU and memory below each node, machines as leaves from `leaves` on.
    tree: Vec<[u64; 2]>,
    leaves: usize,
    /// A demand that fitted nowhere but on the `changed` machines.
    hopeless: Option<[u64; 2]>,
    changed: Vec<u32>,
    draws: Draws,
    choices: u64,
}

impl Finder {
    pub(super) fn new(kind: Placement, seed: u64, state: &State<'_>) -> Self {
        let count = state.machines.free.len();
        let leaves = count.next_power_of_two();
        let mut finder = Self {
            kind,
            line: std::collections::VecDeque::new(),
            is_in_line: vec![false; count],
            tree: if kind == Placement::FirstFit { vec![[0, 0]; 2 * leaves] } else { Vec::new() },
            leaves,
            hopeless: None,
            changed: Vec::new(),
            draws: Draws::new(seed, Purpose::Choice),
            choices: 0,
        };
        for machine in (0..).take(count) {
            finder.freed(state, machine);
        }
        finder
    }

    /// Something has ended on a machine, or it has come.
    #[inline]
    pub(super) fn freed(&mut self, state: &State<'_>, machine: u32) {
        match self.kind {
            Placement::FirstFree => {
                if !self.is_in_line[machine as usize] && state.has_room(machine) {
                    self.is_in_line[machine as usize] = true;
                    self.line.push_back(machine);
                }
            }
            Placement::FirstFit => self.lift(state, machine),
            Placement::BestFit | Placement::WorstFit | Placement::RandomFit => {
                if self.hopeless.is_some() && !self.changed.contains(&machine) {
                    self.changed.push(machine);
                }
            }
        }
    }

    /// A machine has less room than before.
    #[inline]
    pub(super) fn taken(&mut self, state: &State<'_>, machine: u32) {
        if self.kind == Placement::FirstFit {
            self.lift(state, machine);
        }
    }

    /// Finds a machine with room for `demand` that `passes`.
    #[inline]
    pub(super) fn find(
        &mut self,
        state: &State<'_>,
        demand: [u64; 2],
        passes: &dyn Fn(u32) -> bool,
    ) -> Option<u32> {
        match self.kind {
            Placement::FirstFree => self.first_in_line(state, demand, passes),
            Placement::FirstFit => self.leftmost(1, demand, passes),
            _ => self.scan(state, demand, passes),
        }
    }

    #[inline]
    fn first_in_line(
        &mut self,
        state: &State<'_>,
        demand: [u64; 2],
        passes: &dyn Fn(u32) -> bool,
    ) -> Option<u32> {
        while let Some(&machine) = self.line.front() {
            if state.has_room(machine) {
                break;
            }
            self.line.pop_front();
            self.is_in_line[machine as usize] = false;
        }
        self.line.iter().copied().find(|&machine| state.fits(machine, demand) && passes(machine))
    }

    /// Carries a machine's free capacity up the tree.
    fn lift(&mut self, state: &State<'_>, machine: u32) {
        let mut node = self.leaves + machine as usize;
        self.tree[node] = state.machines.free[machine as usize];
        while 1 < node {
            node /= 2;
            let (left, right) = (self.tree[2 * node], self.tree[2 * node + 1]);
            let best = [left[0].max(right[0]), left[1].max(right[1])];
            if self.tree[node] == best {
                break;
            }
            self.tree[node] = best;
        }
    }

    fn leftmost(&self, node: usize, demand: [u64; 2], passes: &dyn Fn(u32) -> bool) -> Option<u32> {
        let best = self.tree[node];
        if best[0] < demand[0] || best[1] < demand[1] {
            return None;
        }
        if self.leaves <= node {
            let machine = u32::try_from(node - self.leaves).expect("machines are numbered in u32");
            // A machine that is gone has nothing free, which is room for a demand of nothing.
            return ((machine as usize) < self.is_in_line.len() && passes(machine))
                .then_some(machine);
        }
        self.leftmost(2 * node, demand, passes)
            .or_else(|| self.leftmost(2 * node + 1, demand, passes))
    }

    fn scan(
        &mut self,
        state: &State<'_>,
        demand: [u64; 2],
        passes: &dyn Fn(u32) -> bool,
    ) -> Option<u32> {
        let known = self.hopeless.is_some_and(|less| less[0] <= demand[0] && less[1] <= demand[1]);
        let mut refused = false;
        let found = if known {
            self.changed.sort_unstable();
            let changed = std::mem::take(&mut self.changed);
            let found = self.choose(state, demand, changed.iter().copied(), &mut refused, passes);
            self.changed = changed;
            found
        } else {
            let count = state.machines.free.len();
            self.choose(state, demand, (0..).take(count), &mut refused, passes)
        };
        // Room that was refused for another reason may serve the next task.
        if found.is_none() && !refused {
            self.hopeless = Some(demand);
            self.changed.clear();
        }
        found
    }

    fn choose(
        &mut self,
        state: &State<'_>,
        demand: [u64; 2],
        machines: impl Iterator<Item = u32>,
        refused: &mut bool,
        passes: &dyn Fn(u32) -> bool,
    ) -> Option<u32> {
        let mut best = (f64::INFINITY, NONE);
        for machine in machines {
            if !state.fits(machine, demand) {
                continue;
            }
            if !passes(machine) {
                *refused = true;
                continue;
            }
            let score = match self.kind {
                Placement::WorstFit => -left_share(state, machine, demand),
                Placement::RandomFit => {
                    self.choices += 1;
                    self.draws.uniform(0, self.choices)
                }
                _ => left_share(state, machine, demand),
            };
            if score < best.0 {
                best = (score, machine);
            }
        }
        (best.1 != NONE).then_some(best.1)
    }
}

/// What would be left, CPU and memory as shares of the machine's capacity, added up.
#[expect(clippy::cast_precision_loss, reason = "capacities are far below 2^53 millionths")]
fn left_share(state: &State<'_>, machine: u32, demand: [u64; 2]) -> f64 {
    let idx = machine as usize;
    let (free, capacity) = (state.machines.free[idx], state.machines.capacity[idx]);
    let share = |resource: usize| {
        (free[resource] - demand[resource]) as f64 / capacity[resource].max(1) as f64
    };
    share(0) + share(1)
}
