//! The search for the machine of a task.
//!
//! In: a placement, a demand, and conditions on the machine besides free capacity. Out: a machine,
//! or none. The documentation of [`placement`](super) states the costs.

use super::super::random::{Draws, Purpose};
use super::super::state::State;
use super::super::workload::NONE;
use super::Placement;
use super::line::Line;
use super::ranks::Ranks;
use super::steps::{Most, Need};
use super::tree::Tree;

/// The most demands remembered; few different demands wait at a time.
const HOPELESS_MAX: usize = 256;

/// The machines in the order that a placement searches.
#[derive(Debug)]
pub(in crate::replay) struct Finder {
    search: Search,
    hopeless: Vec<Hopeless>,
    passed: Vec<Passed>,
    /// The entry of `passed` that is replaced next.
    oldest: usize,
    numberings: u64,
}

#[derive(Debug)]
enum Search {
    FirstFree(Line),
    FirstFit(Tree),
    /// The tree is used only to check whether there is room.
    Ranked(Ranks, Tree),
    Random {
        draws: Draws,
        choices: u64,
    },
}

/// How far machines have been searched for tasks of a job that must not share a machine. No machine
/// before the place suits tasks with at least this demand.
#[derive(Clone, Copy, Debug)]
struct Passed {
    demand: [u64; 2],
    job: u32,
    place: usize,
}

/// The most searches remembered; tasks of few jobs are placed at a time.
const PASSED_MAX: usize = 8;

/// A demand that no machine can serve.
#[derive(Clone, Copy, Debug)]
struct Hopeless {
    demand: [u64; 2],
    /// The job, if the reason is that its tasks must not share a machine; `NONE` otherwise.
    job: u32,
}

impl Hopeless {
    /// Whether a task that requests `demand` cannot be served either.
    fn covers(&self, demand: [u64; 2], job: u32) -> bool {
        self.demand[0] <= demand[0]
            && self.demand[1] <= demand[1]
            && (self.job == NONE || self.job == job)
    }
}

impl Finder {
    pub(in crate::replay) fn new(kind: Placement, seed: u64, state: &State<'_>) -> Self {
        let count = state.machines.free.len();
        let search = match kind {
            Placement::FirstFree => Search::FirstFree(Line::new(count, state.is_uniform())),
            Placement::FirstFit => Search::FirstFit(Tree::new(count)),
            Placement::BestFit => Search::Ranked(Ranks::new(count, false), Tree::new(count)),
            Placement::WorstFit => Search::Ranked(Ranks::new(count, true), Tree::new(count)),
            Placement::RandomFit => {
                Search::Random { draws: Draws::new(seed, Purpose::Choice), choices: 0 }
            }
        };
        let mut finder =
            Self { search, hopeless: Vec::new(), passed: Vec::new(), oldest: 0, numberings: 0 };
        for machine in (0..).take(count) {
            finder.freed(state, machine);
        }
        finder
    }

    /// An attempt has ended on a machine, or the machine has joined or grown.
    #[inline]
    pub(in crate::replay) fn freed(&mut self, state: &State<'_>, machine: u32) {
        if !self.hopeless.is_empty() {
            self.hopeless.retain(|known| {
                !state.fits(machine, known.demand)
                    || (known.job != NONE && state.has_sibling(machine, known.job))
            });
        }
        match &mut self.search {
            Search::FirstFree(line) => line.freed(state, machine),
            _ => self.changed(state, machine),
        }
        if !self.passed.is_empty() {
            self.look_back(state, machine);
        }
    }

    /// A machine that gained room may suit tasks that had skipped it.
    fn look_back(&mut self, state: &State<'_>, machine: u32) {
        let place = match &self.search {
            Search::FirstFree(line) => {
                if self.numberings != line.numberings() {
                    self.numberings = line.numberings();
                    self.passed.clear();
                }
                line.place_of(machine)
            }
            _ => Some(machine as usize),
        };
        let Some(place) = place else { return };
        for passed in self.passed.iter_mut().filter(|passed| place < passed.place) {
            if state.fits(machine, passed.demand) && !state.has_sibling(machine, passed.job) {
                passed.place = place;
            }
        }
    }

    /// The first place to search for a task of a job whose tasks must not share a machine.
    fn from(&self, demand: [u64; 2], job: u32) -> usize {
        let covers = |passed: &&Passed| {
            passed.job == job && passed.demand[0] <= demand[0] && passed.demand[1] <= demand[1]
        };
        self.passed.iter().filter(covers).map(|passed| passed.place).max().unwrap_or(0)
    }

    /// Records that no machine before a place suits tasks of a job with this demand.
    fn pass(&mut self, new: Passed) {
        let same = |old: &&mut Passed| old.job == new.job && old.demand == new.demand;
        if let Some(old) = self.passed.iter_mut().find(same) {
            old.place = new.place;
        } else if self.passed.len() < PASSED_MAX {
            self.passed.push(new);
        } else {
            self.passed[self.oldest] = new;
            self.oldest = (self.oldest + 1) % PASSED_MAX;
        }
    }

    /// A machine has less room than before.
    #[inline]
    pub(in crate::replay) fn taken(&mut self, state: &State<'_>, machine: u32) {
        match &mut self.search {
            Search::FirstFree(line) => line.taken(state, machine),
            _ => self.changed(state, machine),
        }
    }

    fn changed(&mut self, state: &State<'_>, machine: u32) {
        let idx = machine as usize;
        let free = state.machines.is_present[idx].then(|| state.machines.free[idx]);
        match &mut self.search {
            Search::FirstFit(tree) => tree.set(idx, &state.steps, free),
            Search::Ranked(ranks, tree) => {
                ranks.changed(state, machine);
                tree.set(idx, &state.steps, free);
            }
            Search::FirstFree(_) | Search::Random { .. } => {}
        }
    }

    /// Whether any machine may have room for a demand; if false, no machine has room.
    #[inline]
    pub(in crate::replay) fn may_hold(
        &self,
        state: &State<'_>,
        demand: [u64; 2],
        need: Need,
    ) -> bool {
        self.has_room(state, need) && !self.is_hopeless(demand, NONE)
    }

    /// The most memory that any machine may have, by step of CPU; `None` if a search without
    /// success changes later draws.
    pub(in crate::replay) fn most(&self, state: &State<'_>) -> Option<Most> {
        match &self.search {
            Search::FirstFree(line) => Some(line.most(state)),
            Search::FirstFit(tree) | Search::Ranked(_, tree) => Some(*tree.most()),
            Search::Random { .. } => None,
        }
    }

    fn is_hopeless(&self, demand: [u64; 2], job: u32) -> bool {
        self.hopeless.iter().any(|known| known.covers(demand, job))
    }

    fn has_room(&self, state: &State<'_>, need: Need) -> bool {
        match &self.search {
            Search::FirstFree(line) => line.may_hold(state, need),
            Search::FirstFit(tree) | Search::Ranked(_, tree) => tree.may_hold(need),
            Search::Random { .. } => true,
        }
    }

    /// Finds a machine with room for `task` that passes `suits`, if given. If tasks of its job must
    /// not share a machine, the machine has no sibling of the task.
    #[inline]
    pub(in crate::replay) fn find(
        &mut self,
        state: &State<'_>,
        task: u32,
        suits: Option<&dyn Fn(u32) -> bool>,
    ) -> Option<u32> {
        let is_apart = state.workload.is_apart.get(task);
        // If all tasks request the same, every machine in line has room for any of them.
        if let Search::FirstFree(line) = &mut self.search
            && line.is_uniform()
            && suits.is_none()
            && !is_apart
        {
            return line.first();
        }
        let demand = state.workload.demand(task);
        let job = if is_apart { state.workload.job.get(task) } else { NONE };
        if !self.has_room(state, state.need(task)) || self.is_hopeless(demand, job) {
            return None;
        }
        let from = if job == NONE { 0 } else { self.from(demand, job) };
        // Every machine before `from` has too little room or a sibling.
        let (mut met_sibling, mut met_unsuited) = (0 < from, false);
        let mut serves = |machine: u32| {
            if job != NONE && state.has_sibling(machine, job) {
                met_sibling = true;
                return false;
            }
            let is_suited =
                state.holds_gpus(machine, task) && suits.is_none_or(|suits| suits(machine));
            met_unsuited |= !is_suited;
            is_suited
        };
        let mut at = None;
        let found = match &mut self.search {
            Search::FirstFree(line) => {
                at = line.find(state, task, from, &mut serves);
                at.map(|place| line.machine(place))
            }
            Search::FirstFit(tree) => {
                let number = |place| u32::try_from(place).expect("machines are numbered in u32");
                at = tree.first(state.need(task), from, |place| {
                    state.fits(number(place), demand) && serves(number(place))
                });
                at.map(number)
            }
            Search::Ranked(ranks, _) => ranks.find(state, demand, &mut serves),
            Search::Random { draws, choices } => {
                any_of(state, demand, *draws, choices, &mut serves)
            }
        };
        if let Some(place) = at.filter(|_| met_sibling && !met_unsuited) {
            self.pass(Passed { demand, job, place });
        }
        // Other conditions may change although no machine gains room, so they are no reason to
        // remember a demand.
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

/// A random suitable machine: machines are drawn until one is suitable. If this needs more draws
/// than there are machines, one of the suitable machines is drawn.
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
        // The upper half of the product: uniform to one part in 2^64 over the count.
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
