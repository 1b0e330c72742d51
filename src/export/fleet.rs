//! How large the cluster is, for formats that know its size and not its history.
//!
//! In: `machine_events`. Out: the most CPU and machines that were there at once, and the machines of
//! that time by capacity. A log that knows its system as one machine gives one machine.

use std::collections::BTreeMap;

use crate::facts::machines::{MachineChange, MachineEvents};
use crate::faults::Result;
use crate::lake::Lake;
use crate::schema::SYSTEM_MACHINE;

/// CPU and memory of a machine in the units of the lake, as bits, so that they can be compared.
type Capacity = (u32, Option<u32>);

/// The machines of a lake when there was most of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fleet {
    /// The sum of their CPU.
    pub cpu: f64,
    /// Machines by CPU and memory, each with its number.
    pub kinds: Vec<(f32, Option<f32>, u64)>,
    /// All machines that were ever there: number, CPU, memory, platform.
    pub machines: Vec<(i64, Option<f32>, Option<f32>, Option<String>)>,
    /// Whether the one machine is the whole system.
    pub is_system: bool,
    /// Events after the first of each machine, which no form holds.
    pub changes: u64,
}

impl Fleet {
    /// Reads the machines of a lake.
    pub(super) fn read(lake: &Lake) -> Result<Self> {
        let all = MachineEvents::read(lake)?;
        let mut now: BTreeMap<i64, Capacity> = BTreeMap::new();
        let mut known: BTreeMap<i64, (Option<f32>, Option<f32>, Option<u32>)> = BTreeMap::new();
        let (mut cpu, mut fleet) = (0.0, Self::default());
        let mut most = BTreeMap::new();
        let mut events = all.events.iter().peekable();
        while let Some(event) = events.next() {
            let last = known.entry(event.machine_id).or_default();
            *last = (event.cpu.or(last.0), event.memory.or(last.1), event.platform.or(last.2));
            let before = now.remove(&event.machine_id);
            cpu -= before.map_or(0.0, |before| f64::from(f32::from_bits(before.0)));
            if event.change == MachineChange::Remove {
                continue;
            }
            if let (Some(size), memory) = (last.0, last.1) {
                now.insert(event.machine_id, (size.to_bits(), memory.map(f32::to_bits)));
                cpu += f64::from(size);
            }
            // Machines come together: the cluster is looked at before it loses one.
            let is_next_more = events.peek().is_some_and(|next| next.change == MachineChange::Add);
            if fleet.cpu < cpu && !is_next_more {
                fleet.cpu = cpu;
                most.clone_from(&now);
            }
        }
        let mut kinds: BTreeMap<Capacity, u64> = BTreeMap::new();
        for capacity in most.values() {
            *kinds.entry(*capacity).or_default() += 1;
        }
        fleet.is_system = most.len() == 1 && most.contains_key(&SYSTEM_MACHINE);
        fleet.kinds = kinds
            .into_iter()
            .rev()
            .map(|((cpu, memory), count)| (f32::from_bits(cpu), memory.map(f32::from_bits), count))
            .collect();
        fleet.changes = (all.events.len() - known.len()) as u64;
        let name = |platform: u32| all.platforms[platform as usize].clone();
        fleet.machines = known
            .into_iter()
            .map(|(id, (cpu, memory, platform))| (id, cpu, memory, platform.map(name)))
            .collect();
        Ok(fleet)
    }

    /// How many machines there were when there was most of them.
    pub(super) fn len(&self) -> u64 {
        self.kinds.iter().map(|(_, _, count)| count).sum()
    }
}
