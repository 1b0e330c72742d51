//! On which machine a task goes.
//!
//! In: a task, and what besides room a machine must offer. Out: a machine, or none. What fitted
//! nowhere is remembered until a machine that would serve it gets room, so a blocked queue costs
//! next to nothing; each placement keeps the machines in an order of its own, so a start costs
//! the logarithm of their number.

use self::line::Line;
use self::ranks::Ranks;
use self::tree::Tree;
use super::random::{Draws, Purpose};
use super::state::State;
use super::workload::NONE;

mod line;
mod ranks;
#[cfg(test)]
mod tests;
mod tree;

/// How a machine is chosen among those with room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The one that has been asking for work longest: the work queue.
    FirstFree,
    /// The lowest number.
    FirstFit,
    /// The one with the least left afterwards: CPU and memory as shares of its capacity, added up.
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

/// Demands remembered at most; a queue waits for few different ones.
const HOPELESS_MAX: usize = 256;

/// The machines as a placement searches them.
#[derive(Debug)]
pub(super) struct Finder {
    search: Search,
    hopeless: Vec<Hopeless>,
}

#[derive(Debug)]
enum Search {
    FirstFree(Line),
    FirstFit(Tree),
    Ranked(Ranks),
    Random { draws: Draws, choices: u64 },
}

/// A demand that no machine serves.
#[derive(Clone, Copy, Debug)]
struct Hopeless {
    demand: [u64; 2],
    /// The job whose tasks keep apart, if that is what stands in the way; or `NONE`.
    job: u32,
}

impl Hopeless {
    /// Whether a task that asks for `demand` fares no better.
    fn covers(&self, demand: [u64; 2], job: u32) -> bool {
        self.demand[0] <= demand[0]
            && self.demand[1] <= demand[1]
            && (self.job == NONE || self.job == job)
    }
}

impl Finder {
    pub(super) fn new(kind: Placement, seed: u64, state: &State<'_>) -> Self {
        let count = state.machines.free.len();
        let search = match kind {
            Placement::FirstFree => Search::FirstFree(Line::new(count, state.is_uniform())),
            Placement::FirstFit => Search::FirstFit(Tree::new(count)),
            Placement::BestFit => Search::Ranked(Ranks::new(count, false)),
            Placement::WorstFit => Search::Ranked(Ranks::new(count, true)),
            Placement::RandomFit => {
                Search::Random { draws: Draws::new(seed, Purpose::Choice), choices: 0 }
            }
        };
        let mut finder = Self { search, hopeless: Vec::new() };
        for machine in (0..).take(count) {
            finder.freed(state, machine);
        }
        finder
    }

    /// Something has ended on a machine, or it has come, or grown.
    #[inline]
    pub(super) fn freed(&mut self, state: &State<'_>, machine: u32) {
        if !self.hopeless.is_empty() {
            self.hopeless.retain(|known| {
                !state.fits(machine, known.demand)
                    || (known.job != NONE && state.has_sibling(machine, known.job))
            });
        }
        match &mut self.search {
            Search::FirstFree(line) => line.freed(state, machine),
            Search::FirstFit(tree) => {
                tree.set(machine as usize, state.machines.free[machine as usize]);
            }
            Search::Ranked(ranks) => ranks.changed(state, machine),
            Search::Random { .. } => {}
        }
    }

    /// A machine has less room than before.
    #[inline]
    pub(super) fn taken(&mut self, state: &State<'_>, machine: u32) {
        match &mut self.search {
            Search::FirstFree(line) => line.taken(state, machine),
            Search::FirstFit(tree) => {
                tree.set(machine as usize, state.machines.free[machine as usize]);
            }
            Search::Ranked(ranks) => ranks.changed(state, machine),
            Search::Random { .. } => {}
        }
    }

    /// Whether it is known that no machine has room for a demand.
    pub(super) fn is_hopeless(&self, demand: [u64; 2]) -> bool {
        self.hopeless.iter().any(|known| known.covers(demand, NONE))
    }

    /// Finds a machine with room for `task` that has no sibling of it if it keeps apart, and that
    /// `suits`, if anything more is asked.
    #[inline]
    pub(super) fn find(
        &mut self,
        state: &State<'_>,
        task: u32,
        suits: Option<&dyn Fn(u32) -> bool>,
    ) -> Option<u32> {
        let is_apart = state.workload.is_apart.get(task);
        // Where all tasks ask for the same, whoever stands in line has room for any of them.
        if let Search::FirstFree(line) = &mut self.search
            && line.is_uniform()
            && suits.is_none()
            && !is_apart
        {
            return line.first();
        }
        let demand = state.workload.demand(task);
        let job = if is_apart { state.workload.job.get(task) } else { NONE };
        if self.hopeless.iter().any(|known| known.covers(demand, job)) {
            return None;
        }
        let (mut met_sibling, mut met_unsuited) = (false, false);
        let mut serves = |machine: u32| {
            if job != NONE && state.has_sibling(machine, job) {
                met_sibling = true;
                return false;
            }
            let is_suited = suits.is_none_or(|suits| suits(machine));
            met_unsuited |= !is_suited;
            is_suited
        };
        let found = match &mut self.search {
            Search::FirstFree(line) => line.find(state, demand, &mut serves),
            Search::FirstFit(tree) => {
                let count = state.machines.free.len();
                let place = tree.first(demand, &mut |place| {
                    // A task that asks for nothing has room on machines that are not there.
                    let machine = u32::try_from(place).expect("machines are numbered in u32");
                    place < count && state.fits(machine, demand) && serves(machine)
                });
                place.map(|place| u32::try_from(place).expect("machines are numbered in u32"))
            }
            Search::Ranked(ranks) => ranks.find(state, demand, &mut serves),
            Search::Random { draws, choices } => {
                any_of(state, demand, *draws, choices, &mut serves)
            }
        };
        // What is asked for besides may change without any machine getting room.
        if found.is_none() && !met_unsuited {
            self.remember(Hopeless { demand, job: if met_sibling { job } else { NONE } });
        }
        found
    }

    #[cold]
    fn remember(&mut self, new: Hopeless) {
        self.hopeless.retain(|old| !new.covers(old.demand, old.job));
        if self.hopeless.len() < HOPELESS_MAX {
            self.hopeless.push(new);
        }
    }
}

/// Any machine that serves: machines are drawn until one does, and if none has after as many
/// draws as there are machines, one is drawn of those that do.
fn any_of(
    state: &State<'_>,
    demand: [u64; 2],
    draws: Draws,
    choices: &mut u64,
    serves: &mut dyn FnMut(u32) -> bool,
) -> Option<u32> {
    let count = state.machines.free.len() as u64;
    let mut draw = |below: u64| {
        *choices += 1;
        // The product's upper half: even to one part in 2^64 over the count.
        let wide = u128::from(draws.bits(0, *choices)) * u128::from(below);
        u32::try_from(wide >> 64).expect("machines are numbered in u32")
    };
    for _ in 0..count {
        let machine = draw(count);
        if state.fits(machine, demand) && serves(machine) {
            return Some(machine);
        }
    }
    let all: Vec<u32> = (0..)
        .take(state.machines.free.len())
        .filter(|&machine| state.fits(machine, demand) && serves(machine))
        .collect();
    if all.is_empty() { None } else { Some(all[draw(all.len() as u64) as usize]) }
}
