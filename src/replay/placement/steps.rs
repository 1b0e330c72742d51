//! Requests and free capacity in steps: the number of requested amounts that fit.
//!
//! In: the requests of the tasks of a workload. Out: for a demand, its step of CPU and its step of
//! memory; for a machine, the number of steps of each that fit its free capacity. A demand fits if
//! and only if both of its steps fit. Memory has a step for each requested amount; CPU has only a
//! few, since a search tree stores a number for each. If there are more amounts than steps, amounts
//! between two steps count as the lower one, and a demand that seems to fit must be checked:
//!
//! ```text
//!  requested     .1  .2  .25   .5        .7  .8      1
//!  steps of CPU  |0------|1----|2--------|3----------|4
//!  free .6       |===============|                          3 steps: .1, .25 and .5 fit
//! ```

use crate::replay::room::Room;
use crate::replay::workload::{Column, Workload};

/// The most steps of CPU.
pub(in crate::replay) const CPU_STEPS: usize = 32;

/// The most steps of memory; all fit if the memory of machines is unknown.
const MEMORY_STEPS: u16 = u16::MAX - 1;

/// An amount of memory in steps, by step of CPU.
pub(in crate::replay) type Most = [u16; CPU_STEPS];

/// The amounts at which steps begin, ascending.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Steps {
    cpu: Vec<u64>,
    memory: Vec<u64>,
}

/// Enough of all resources.
pub(in crate::replay) const NO_BOUND: Most = [MEMORY_STEPS; CPU_STEPS];

/// The steps of a demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::replay) struct Need {
    /// Its step of CPU.
    pub(in crate::replay) cpu: u8,
    /// Steps of memory that must fit, from 1.
    pub(in crate::replay) memory: u16,
}

impl Need {
    /// A need that fits on no machine.
    pub(in crate::replay) const NOBODY: Self = Self { cpu: 0, memory: u16::MAX };
}

/// The steps that fit in a free capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// Steps of CPU that fit.
    pub(super) cpu: u8,
    /// Steps of memory that fit.
    pub(super) memory: u16,
}

impl Offer {
    /// Whether another offer is at least as large in both.
    #[inline]
    pub(super) fn is_within(self, other: Self) -> bool {
        self.cpu <= other.cpu && self.memory <= other.memory
    }

    /// Whether it is enough for `need`.
    #[inline]
    pub(super) fn covers(self, need: Need) -> bool {
        need.cpu < self.cpu && need.memory <= self.memory
    }
}

impl Steps {
    /// The steps of a workload.
    pub(in crate::replay) fn of(workload: &Workload) -> Self {
        let cpu = amounts(workload.cpu.values().collect());
        let memory = amounts(workload.memory.values().collect());
        Self { cpu: thinned(&cpu, CPU_STEPS), memory: thinned(&memory, usize::from(MEMORY_STEPS)) }
    }

    /// The steps of a demand of the workload.
    #[inline]
    pub(in crate::replay) fn need(&self, demand: [u64; 2]) -> Need {
        let cpu = self.cpu.partition_point(|&step| step <= demand[0]);
        let memory = self.memory.partition_point(|&step| step <= demand[1]);
        debug_assert!(0 < cpu && 0 < memory, "no task asks for less than the least");
        Need {
            cpu: u8::try_from(cpu.saturating_sub(1)).expect("at most `CPU_STEPS`"),
            memory: u16::try_from(memory).expect("at most `MEMORY_STEPS`"),
        }
    }

    /// The steps of every task of the workload.
    pub(in crate::replay) fn needs(&self, workload: &Workload) -> Column<Need> {
        if let (Column::Same(cpu), Column::Same(memory)) = (&workload.cpu, &workload.memory) {
            return Column::Same(self.need([*cpu, *memory]));
        }
        let tasks = (0..).take(workload.task_count);
        Column::Each(tasks.map(|task| self.need(workload.demand(task))).collect())
    }

    /// The steps that fit in a room.
    #[inline]
    pub(super) fn offer(&self, room: Room) -> Offer {
        let cpu = self.cpu.partition_point(|&step| step <= room.cpu);
        let memory = room.memory.map_or(MEMORY_STEPS, |memory| {
            let steps = self.memory.partition_point(|&step| step <= memory);
            u16::try_from(steps).expect("at most `MEMORY_STEPS`")
        });
        Offer { cpu: u8::try_from(cpu).expect("at most `CPU_STEPS`"), memory }
    }
}

/// The different amounts in order, with how often each is requested.
fn amounts(mut all: Vec<u64>) -> Vec<(u64, usize)> {
    all.sort_unstable();
    all.chunk_by(|one, other| one == other).map(|equal| (equal[0], equal.len())).collect()
}

/// At most `most` of the amounts, including the least: those requested most often, and others in
/// between, so that the requests are spread about equally over the steps.
fn thinned(amounts: &[(u64, usize)], most: usize) -> Vec<u64> {
    if amounts.len() <= most {
        return amounts.iter().map(|&(amount, _)| amount).collect();
    }
    let total: usize = amounts.iter().map(|&(_, count)| count).sum();
    let mut is_step = vec![false; amounts.len()];
    is_step[0] = true;
    let mut steps = 1;
    // Each amount that is requested this often is a step. The other amounts have one step per
    // stretch.
    let stretch = total.div_ceil(most);
    let mut since = 0;
    for (idx, &(_, count)) in amounts.iter().enumerate().skip(1) {
        since += count;
        if stretch <= since && steps < most {
            is_step[idx] = true;
            steps += 1;
            since = 0;
        }
    }
    let mut by_count: Vec<usize> = (0..amounts.len()).filter(|&idx| !is_step[idx]).collect();
    by_count.sort_by_key(|&idx| std::cmp::Reverse(amounts[idx].1));
    for idx in by_count.into_iter().take(most - steps) {
        is_step[idx] = true;
    }
    let steps = amounts.iter().zip(is_step).filter(|(_, is_step)| *is_step);
    steps.map(|(&(amount, _), _)| amount).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// With few amounts, the steps show exactly which demands fit. With many amounts, they show
        /// at least these demands, and are exact for frequent amounts.
        #[test]
        fn what_fits_has_its_steps(
            demands in prop::collection::vec((0_u64..200, 0_u64..60), 1..300),
            rooms in prop::collection::vec((0_u64..220, prop::option::of(0_u64..70)), 1..30),
        ) {
            let mut workload = Workload::plain(demands.len(), Column::Same(1));
            workload.cpu = Column::Each(demands.iter().map(|demand| demand.0).collect());
            workload.memory = Column::Each(demands.iter().map(|demand| demand.1).collect());
            let steps = Steps::of(&workload);
            prop_assert!(steps.cpu.len() <= CPU_STEPS && steps.cpu.is_sorted());
            let is_exact = amounts(workload.cpu.values().collect()).len() <= CPU_STEPS;
            for (cpu, memory) in rooms {
                let offer = steps.offer(Room { cpu, memory });
                for &(demand_cpu, demand_memory) in &demands {
                    let demand = [demand_cpu, demand_memory];
                    let fits = Room { cpu, memory }.holds(demand);
                    let covers = offer.covers(steps.need(demand));
                    prop_assert!(covers || !fits);
                    let is_known = is_exact || steps.cpu.contains(&demand_cpu);
                    prop_assert!(!is_known || covers == fits, "{:?} {:?}", demand, (cpu, memory));
                }
            }
        }
    }

    #[test]
    fn what_is_asked_for_often_is_a_step() {
        let mut cpu: Vec<u64> = (0..1_000).collect();
        cpu.extend(std::iter::repeat_n(777, 500));
        cpu.extend(std::iter::repeat_n(123, 40));
        let steps = thinned(&amounts(cpu), CPU_STEPS);
        assert_eq!((steps.len(), steps[0]), (CPU_STEPS, 0));
        assert!(steps.contains(&777) && steps.contains(&123));
    }
}
