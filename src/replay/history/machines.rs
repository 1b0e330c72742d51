//! The machines of a lake, as a cluster to replay on.
//!
//! In: `machine_events`. Out: a checked [`Cluster`] and the changes that were impossible. Events
//! before the start of the window apply from the start; events after the last event of a task are
//! left out, because the trace no longer shows which tasks ran then.

use arrow::datatypes::Float32Type;
use rustc_hash::FxHashMap;

use super::HistoryPlan;
use super::gpus::{self, Models};
use super::numbers::{Numbers, units};
use crate::facts::FactError;
use crate::facts::events::{i32_column, i64_column, optional_cells};
use crate::facts::machines::join_system;
use crate::lake::Lake;
use crate::replay::cluster::{Change, Cluster, ClusterError, MachineChange, Remark};
use crate::replay::gpus::Gpus;
use crate::replay::random::{Draws, Purpose};
use crate::replay::room::Room;
use crate::replay::workload::UNITS;
use crate::schema::{ROW_ID, SYSTEM_MACHINE, Source, Table};

/// A machine event.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MachineEvent {
    at_us: i64,
    row_id: i64,
    id: i64,
    event_type: i32,
    cpu: Option<f32>,
    memory: Option<f32>,
    gpus: Gpus,
}

/// The machines of a lake.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// The cluster that is replayed.
    pub cluster: Cluster,
    /// The impossible changes.
    pub remarks: Vec<Remark>,
    /// Machines whose CPU was unknown at some time.
    pub without_cpu: u64,
    /// Events after the end of the tasks' window, which are left out.
    pub too_late: u64,
}

/// Reads the machines of a lake, with their own capacities; events up to the start of the plan
/// apply from the start, and events after `end_us` are left out.
pub fn fleet(
    lake: &Lake,
    plan: &HistoryPlan,
    end_us: i64,
) -> Result<Result<Fleet, ClusterError>, FactError> {
    lake.require(Table::MachineEvents)?;
    let models = Models::read(lake)?;
    let mut columns =
        vec![ROW_ID, "time_us", "machine_id", "event_type", "cpu_capacity", "memory_capacity"];
    columns.extend(gpus::machine_columns(models.as_ref()));
    let batches = lake.read(Table::MachineEvents, None, &columns)?;
    let cpu = optional_cells::<Float32Type>(&batches, "cpu_capacity");
    let memory = optional_cells::<Float32Type>(&batches, "memory_capacity");
    let mut events = Vec::new();
    for batch in &batches {
        let (row_ids, times) = (i64_column(batch, ROW_ID), i64_column(batch, "time_us"));
        let gpus = gpus::of_machines(models.as_ref(), batch);
        let (ids, types) = (i64_column(batch, "machine_id"), i32_column(batch, "event_type"));
        for row in 0..batch.num_rows() {
            let place = events.len();
            events.push(MachineEvent {
                at_us: times[row],
                row_id: row_ids[row],
                id: ids[row],
                event_type: types[row],
                cpu: cpu[place],
                memory: memory[place],
                gpus: gpus[row],
            });
        }
    }
    events.sort_unstable_by_key(|event: &MachineEvent| (event.at_us, event.row_id));
    join_system(lake, &mut events, |event| (event.id, &mut event.cpu))?;
    let mut found = machines(events, plan, end_us, lake.source());
    if let Ok(fleet) = &mut found
        && !models.is_some_and(|models| models.of_machines)
    {
        fleet.cluster.gpus.clear();
    }
    Ok(found)
}

/// The fleet of events in (time, `row_id`) order.
fn machines(
    mut events: Vec<MachineEvent>,
    plan: &HistoryPlan,
    end_us: i64,
    source: Source,
) -> Result<Fleet, ClusterError> {
    let draws = Draws::new(plan.seed, Purpose::Sample);
    // A log has one capacity for the whole system; its machines have only names.
    events.retain(|event| !source.is_log() || event.id == SYSTEM_MACHINE);
    events.retain(|event| draws.uniform(event.id.cast_unsigned(), 1) < plan.machines);
    let mut numbers = Numbers(FxHashMap::default());
    let mut cluster = Cluster::of_speeds(Vec::new());
    // If the CPU is unknown, a Google machine has none, and any other has one.
    let without = if source.is_google() { 0 } else { UNITS };
    let capacity = |event: &MachineEvent| Room {
        cpu: event.cpu.map_or(without, units),
        memory: event.memory.map(units),
    };
    let (mut lacks_cpu, mut too_late) = (Vec::new(), 0);
    for event in &events {
        let machine = numbers.of(event.id);
        let idx = machine as usize;
        if idx == cluster.speed.len() {
            let Room { cpu, memory } = capacity(event);
            cluster.speed.push(1.0);
            cluster.cpu.push(cpu);
            cluster.memory.push(memory);
            // A machine keeps the GPUs that it joined with.
            cluster.gpus.push(event.gpus);
            cluster.is_present.push(false);
            cluster.ids.push(event.id);
            lacks_cpu.push(false);
        }
        lacks_cpu[idx] |= event.event_type != 1 && event.cpu.is_none();
        if end_us < event.at_us {
            too_late += 1;
            continue;
        }
        let is_early = event.at_us <= plan.from_us;
        let mut change = |change| {
            cluster.changes.push(MachineChange { at_us: event.at_us, machine, change });
        };
        let room = capacity(event);
        match (event.event_type, is_early) {
            (1, true) => cluster.is_present[idx] = false,
            (1, false) => change(Change::Leaves),
            (kind, true) => {
                cluster.is_present[idx] |= kind == 0;
                (cluster.cpu[idx], cluster.memory[idx]) = (room.cpu, room.memory);
            }
            (kind, false) => {
                change(Change::Capacity(room));
                if kind == 0 {
                    change(Change::Joins);
                }
            }
        }
    }
    let (cluster, remarks) = cluster.check()?;
    let without_cpu = lacks_cpu.iter().filter(|lacks_cpu| **lacks_cpu).count() as u64;
    Ok(Fleet { cluster, remarks, without_cpu, too_late })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_there_from_the_start_and_change_later() {
        let event = |at_us, id, event_type, cpu| MachineEvent {
            at_us,
            row_id: at_us,
            id,
            event_type,
            cpu,
            memory: Some(0.25),
            gpus: Gpus::default(),
        };
        let mut events = vec![
            event(50, 5, 0, Some(1.0)),
            event(0, 5, 0, Some(0.5)),
            event(0, 3, 0, Some(0.5)),
            event(20, 5, 1, None),
            event(60, 3, 2, Some(0.75)),
        ];
        events.sort_by_key(|event| event.at_us);
        let fleet = machines(events.clone(), &HistoryPlan::default(), i64::MAX, Source::Google2011)
            .unwrap();
        let (cluster, remarks) = (fleet.cluster, fleet.remarks);
        assert_eq!(fleet.without_cpu, 0);
        assert_eq!(cluster.cpu, [UNITS / 2, UNITS / 2]);
        assert_eq!(cluster.is_present, [true, true]);
        assert_eq!(remarks, []);
        let kinds: Vec<Change> = cluster.changes.iter().map(|change| change.change).collect();
        let capacity = |cpu| Change::Capacity(Room { cpu, memory: Some(UNITS / 4) });
        assert_eq!(
            kinds,
            [Change::Leaves, capacity(UNITS), Change::Joins, capacity(UNITS / 4 * 3)]
        );
        let mut cluster = cluster;
        cluster.overcommit(1.5);
        assert_eq!(cluster.cpu, [UNITS / 4 * 3, UNITS / 4 * 3]);
        let larger = Room { cpu: UNITS / 8 * 9, memory: Some(UNITS / 8 * 3) };
        assert_eq!(cluster.changes[3].change, Change::Capacity(larger));
        let later = HistoryPlan { from_us: 30, ..HistoryPlan::default() };
        let cluster =
            machines(events.clone(), &later, i64::MAX, Source::Google2011).unwrap().cluster;
        assert_eq!(cluster.is_present.iter().filter(|&&there| there).count(), 1);
        // The tasks are known until 55 s.
        let cut = machines(events, &HistoryPlan::default(), 55, Source::Google2011).unwrap();
        let times: Vec<i64> = cut.cluster.changes.iter().map(|change| change.at_us).collect();
        assert_eq!((times, cut.too_late), (vec![20, 50, 50], 1));
    }
}
