//! The size of the cluster, for formats that have no history of machines.
//!
//! In: `machine_events`. Out: the most CPU and machines in service at once, and the machines of
//! that time by capacity. A log that describes its system as one machine results in one machine.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Int32Type, Int64Type};
use rustc_hash::FxHashMap;

use crate::facts::machines::{MachineChange, MachineEvents};
use crate::faults::Result;
use crate::lake::Lake;
use crate::schema::{SYSTEM_MACHINE, Table};

/// CPU and memory of a machine in the units of the lake, as bits that can be compared, and its
/// GPUs.
type Capacity = (u32, Option<u32>, i64);

/// Machines of equal capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kind {
    pub cpu: f32,
    pub memory: Option<f32>,
    pub gpus: i64,
    pub count: u64,
}

/// A machine with its last recorded values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Machine {
    pub id: i64,
    pub cpu: Option<f32>,
    pub memory: Option<f32>,
    pub platform: Option<String>,
}

/// The machines of a lake at the time with the most CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fleet {
    /// The sum of their CPU.
    pub cpu: f64,
    /// Machines by CPU, memory and GPUs.
    pub kinds: Vec<Kind>,
    /// All machines that ever existed.
    pub machines: Vec<Machine>,
    /// Whether one machine stands for the whole system.
    pub is_system: bool,
    /// Events after the first of each machine, which no format has.
    pub changes: u64,
}

impl Fleet {
    /// Reads the machines of a lake.
    pub(super) fn read(lake: &Lake) -> Result<Self> {
        let all = MachineEvents::read(lake)?;
        let gpus = gpus(lake)?;
        let mut now: BTreeMap<i64, Capacity> = BTreeMap::new();
        let mut known: BTreeMap<i64, Machine> = BTreeMap::new();
        let (mut cpu, mut fleet) = (0.0, Self::default());
        let mut most = BTreeMap::new();
        let mut events = all.events.iter().peekable();
        while let Some(event) = events.next() {
            let last = known.entry(event.machine_id).or_default();
            last.id = event.machine_id;
            (last.cpu, last.memory) = (event.cpu.or(last.cpu), event.memory.or(last.memory));
            if let Some(platform) = event.platform {
                last.platform = Some(all.platforms[platform as usize].clone());
            }
            let before = now.remove(&event.machine_id);
            cpu -= before.map_or(0.0, |before| f64::from(f32::from_bits(before.0)));
            if event.change == MachineChange::Remove {
                continue;
            }
            if let (Some(size), memory) = (last.cpu, last.memory) {
                let gpus = gpus.get(&event.machine_id).copied().unwrap_or(0);
                now.insert(event.machine_id, (size.to_bits(), memory.map(f32::to_bits), gpus));
                cpu += f64::from(size);
            }
            // Machines are added together: the size is taken just before one leaves.
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
            .map(|((cpu, memory, gpus), count)| Kind {
                cpu: f32::from_bits(cpu),
                memory: memory.map(f32::from_bits),
                gpus,
                count,
            })
            .collect();
        fleet.changes = (all.events.len() - known.len()) as u64;
        fleet.machines = known.into_values().collect();
        Ok(fleet)
    }

    /// The GPUs of the machines at that time.
    pub(super) fn gpus(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.gpus.max(0).cast_unsigned() * kind.count).sum()
    }

    /// The number of machines at that time.
    pub(super) fn len(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.count).sum()
    }
}

/// The GPUs of machines, if the lake has them.
fn gpus(lake: &Lake) -> Result<FxHashMap<i64, i64>> {
    let mut gpus = FxHashMap::default();
    if !lake.has(Table::MachineEvents) || !lake.has_column(Table::MachineEvents, "gpu_capacity") {
        return Ok(gpus);
    }
    for batch in lake.read(Table::MachineEvents, None, &["machine_id", "gpu_capacity"])? {
        let machines = batch.column(0).as_primitive::<Int64Type>();
        let counts = batch.column(1).as_primitive::<Int32Type>();
        for row in (0..batch.num_rows()).filter(|&row| counts.is_valid(row)) {
            gpus.insert(machines.value(row), i64::from(counts.value(row)));
        }
    }
    Ok(gpus)
}
