//! Machines by how much of them is free, for the best and the worst fit.
//!
//! In: machines whose free capacity has changed. Out: the machine that would have the least or the
//! most left (CPU and memory as shares of its capacity, added up). A task reduces that sum by the
//! same amount on all machines of one capacity, so those are kept in order and only the first with
//! room is checked:
//!
//! ```text
//!  capacity [1, 1]    |..x..x.|o........|      x free, but less than the demand's sum
//!  capacity [.5, .5]  |...x..x..x.|o....|      o checked; the better of both is taken
//! ```

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::replay::room::Room;
use crate::replay::state::State;
use crate::replay::workload::NONE;

/// Machines of one capacity.
#[derive(Debug)]
struct Class {
    capacity: Room,
    /// (free sum, machine). For the worst fit, all bits of the machine are inverted: it searches
    /// from the end, so among equals it finds the lowest number first.
    machines: BTreeSet<(u128, u32)>,
}

impl Class {
    /// The sum of the shares of CPU and memory, times the product of both capacities: exact. Only
    /// CPU if memory is unknown.
    fn sum(&self, cpu: u64, memory: u64) -> u128 {
        let Some(of_memory) = self.capacity.memory else { return cpu.into() };
        let part = |amount: u64, of_other: u64| u128::from(amount) * u128::from(of_other.max(1));
        part(cpu, of_memory).saturating_add(part(memory, self.capacity.cpu))
    }
}

/// The machines by class.
#[derive(Debug)]
pub(super) struct Ranks {
    takes_most: bool,
    classes: Vec<Class>,
    /// The class of each capacity.
    numbers: FxHashMap<Room, usize>,
    /// The class and sum of each machine.
    at: Vec<Option<(usize, u128)>>,
}

impl Ranks {
    /// Ranks without machines; `takes_most` for the worst fit.
    pub(super) fn new(machine_count: usize, takes_most: bool) -> Self {
        let (classes, numbers) = (Vec::new(), FxHashMap::default());
        Self { takes_most, classes, numbers, at: vec![None; machine_count] }
    }

    fn key(&self, sum: u128, machine: u32) -> (u128, u32) {
        (sum, if self.takes_most { !machine } else { machine })
    }

    /// A machine's free capacity, capacity or presence has changed.
    pub(super) fn changed(&mut self, state: &State<'_>, machine: u32) {
        let idx = machine as usize;
        if let Some((class, sum)) = self.at[idx].take() {
            let key = self.key(sum, machine);
            self.classes[class].machines.remove(&key);
        }
        if !state.machines.is_present[idx] {
            return;
        }
        let capacity = state.machines.capacity[idx];
        let class = *self.numbers.entry(capacity).or_insert_with(|| {
            self.classes.push(Class { capacity, machines: BTreeSet::new() });
            self.classes.len() - 1
        });
        let free = state.machines.free[idx];
        let sum = self.classes[class].sum(free.cpu, free.memory.unwrap_or(0));
        let key = self.key(sum, machine);
        self.classes[class].machines.insert(key);
        self.at[idx] = Some((class, sum));
    }

    /// The best machine with room for `demand` that passes `serves`; the lowest number among
    /// equals.
    pub(super) fn find(
        &self,
        state: &State<'_>,
        demand: [u64; 2],
        serves: &mut dyn FnMut(u32) -> bool,
    ) -> Option<u32> {
        let mut best = (f64::INFINITY, NONE);
        for class in &self.classes {
            let from = (class.sum(demand[0], demand[1]), 0);
            let mut fits = |machine: u32| state.fits(machine, demand) && serves(machine);
            let found = if self.takes_most {
                let machines = class.machines.range(from..).rev();
                machines.map(|&(_, turned)| !turned).find(|&machine| fits(machine))
            } else {
                let machines = class.machines.range(from..);
                machines.map(|&(_, machine)| machine).find(|&machine| fits(machine))
            };
            if let Some(machine) = found {
                let left = left_share(state, machine, demand);
                let score = if self.takes_most { -left } else { left };
                if (score, machine) < best {
                    best = (score, machine);
                }
            }
        }
        (best.1 != NONE).then_some(best.1)
    }
}

/// The capacity that would be left: CPU and memory as shares of the machine's capacity, added up.
/// Unknown memory has no share.
#[expect(clippy::cast_precision_loss, reason = "capacities are far below 2^53 millionths")]
pub(super) fn left_share(state: &State<'_>, machine: u32, demand: [u64; 2]) -> f64 {
    let idx = machine as usize;
    let (free, capacity) = (state.machines.free[idx], state.machines.capacity[idx]);
    let share =
        |free: u64, demand: u64, capacity: u64| (free - demand) as f64 / capacity.max(1) as f64;
    let of_memory = free.memory.zip(capacity.memory);
    share(free.cpu, demand[0], capacity.cpu)
        + of_memory.map_or(0.0, |(free, capacity)| share(free, demand[1], capacity))
}
