//! The size of the cluster, for formats that have no history of machines.
//!
//! In: `machine_events`. Out: the most CPU and machines in service at the same time, and the
//! machines of that time by capacity. If a log describes its system as one machine, the result is
//! one machine.

use std::collections::BTreeMap;

use crate::facts::machines::{MachineEvents, UpTime};
use crate::faults::Result;
use crate::lake::Lake;
use crate::schema::SYSTEM_MACHINE;

/// CPU and memory of a machine in the units of the lake, as bits that can be compared, and its
/// GPUs.
type Capacity = (u32, Option<u32>, i32);

/// Machines of equal capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kind {
    pub cpu: f32,
    pub memory: Option<f32>,
    pub gpus: i32,
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

/// The machines of a lake, at the time with the most CPU in service.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fleet {
    /// The sum of the CPU of the machines at that time.
    pub cpu: f64,
    /// The machines at that time by CPU, memory and GPUs.
    pub kinds: Vec<Kind>,
    /// All machines that ever existed.
    pub machines: Vec<Machine>,
    /// Whether one machine represents the whole system.
    pub is_system: bool,
    /// Number of events after the first of each machine; no format can hold them.
    pub changes: u64,
}

impl Fleet {
    /// Reads the machines of a lake.
    pub(super) fn read(lake: &Lake) -> Result<Self> {
        Ok(Self::of(&MachineEvents::read(lake)?))
    }

    fn of(all: &MachineEvents) -> Self {
        let mut known: BTreeMap<i64, Machine> = BTreeMap::new();
        for event in &all.events {
            let last = known.entry(event.machine_id).or_default();
            last.id = event.machine_id;
            (last.cpu, last.memory) = (event.cpu.or(last.cpu), event.memory.or(last.memory));
            if let Some(platform) = event.platform {
                last.platform = Some(all.platforms[platform as usize].clone());
            }
        }
        let up_times = all.up_times(i64::MAX);
        let (cpu, at_us) = fullest(&up_times);
        let mut most: BTreeMap<i64, Capacity> = BTreeMap::new();
        for up in up_times.iter().filter(|up| up.from_us <= at_us && at_us < up.to_us) {
            if let Some(cpu) = up.cpu {
                let gpus = up.gpus.unwrap_or(0);
                most.insert(up.machine_id, (cpu.to_bits(), up.memory.map(f32::to_bits), gpus));
            }
        }
        let mut kinds: BTreeMap<Capacity, u64> = BTreeMap::new();
        for capacity in most.values() {
            *kinds.entry(*capacity).or_default() += 1;
        }
        let kinds = kinds.into_iter().rev().map(|((cpu, memory, gpus), count)| Kind {
            cpu: f32::from_bits(cpu),
            memory: memory.map(f32::from_bits),
            gpus,
            count,
        });
        Self {
            cpu,
            is_system: most.len() == 1 && most.contains_key(&SYSTEM_MACHINE),
            kinds: kinds.collect(),
            changes: (all.events.len() - known.len()) as u64,
            machines: known.into_values().collect(),
        }
    }

    /// The GPUs of the machines at that time.
    pub(super) fn gpus(&self) -> u64 {
        self.kinds.iter().map(|kind| u64::from(kind.gpus.max(0).cast_unsigned()) * kind.count).sum()
    }

    /// The number of machines at that time.
    pub(super) fn len(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.count).sum()
    }
}

/// The most CPU in service at the same time, and the first instant with that much.
fn fullest(up_times: &[UpTime]) -> (f64, i64) {
    let known = || up_times.iter().filter_map(|up| Some((up, f64::from(up.cpu?))));
    let ends = known().map(|(up, cpu)| (up.to_us, -cpu));
    let mut changes: Vec<(i64, f64)> = known().map(|(up, cpu)| (up.from_us, cpu)).collect();
    changes.extend(ends);
    changes.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let (mut now, mut most) = (0.0, (0.0, 0));
    for together in changes.chunk_by(|one, other| one.0 == other.0) {
        now += together.iter().map(|change| change.1).sum::<f64>();
        if most.0 < now {
            most = (now, together[0].0);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::machines::{MachineChange, MachineEvent};

    proptest! {
        /// Promise: the size is the largest sum of the CPU of machines in service at any instant.
        /// This is also true if a machine is added again without having left, or updated after it
        /// left.
        #[test]
        fn the_size_is_the_most_cpu_in_service_at_once(
            drawn in prop::collection::vec((0_i64..12, 0_i64..4, 0..3_usize, 0_u8..5), 0..30),
        ) {
            const CHANGES: [MachineChange; 3] =
                [MachineChange::Add, MachineChange::Remove, MachineChange::Update];
            let mut events: Vec<MachineEvent> = (0..)
                .zip(drawn)
                .map(|(row_id, (time_us, machine_id, change, quarters))| MachineEvent {
                    time_us,
                    row_id,
                    machine_id,
                    change: CHANGES[change],
                    platform: None,
                    cpu: (0 < quarters).then(|| f32::from(quarters) / 4.0),
                    memory: None,
                    gpus: None,
                })
                .collect();
            events.sort_by_key(|event| (event.time_us, event.row_id));
            // The machines and their CPU at each instant, from the rows up to then.
            let at = |instant: i64| -> f64 {
                let of_machine = |id: i64| {
                    let (mut is_there, mut cpu, mut is_new) = (false, None, true);
                    let own = events.iter().filter(|event| event.machine_id == id);
                    for event in own.filter(|event| event.time_us <= instant) {
                        is_there = match event.change {
                            MachineChange::Add => true,
                            MachineChange::Remove => false,
                            MachineChange::Update => is_there || is_new,
                        };
                        (cpu, is_new) = (event.cpu.or(cpu), false);
                    }
                    cpu.filter(|_| is_there).map_or(0.0, f64::from)
                };
                (0..4).map(of_machine).sum()
            };
            let expected = (0..12).map(at).fold(0.0, f64::max);
            let fleet = Fleet::of(&MachineEvents { events: events.clone(), ..MachineEvents::default() });
            prop_assert_eq!(fleet.cpu, expected);
            let sum: f64 = fleet.kinds.iter().map(|kind| f64::from(kind.cpu) * f64::from(u32::try_from(kind.count).unwrap())).sum();
            prop_assert_eq!(sum, expected);
        }
    }
}
