//! The machines of a lake over time: when they were in service, and with what capacity.
//!
//! In: `machine_events`. Out: events in (time, `row_id`) order, and per machine the periods in
//! service.
//!
//! ```text
//!  events      ADD ......... UPDATE ........ REMOVE ...... ADD .........
//!  stretches   |-- 0.5 CPU --|--- 1 CPU -----|   (away)    |-- 1 CPU --|
//! ```

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Float32Type, Int32Type, Int64Type};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::FactError;
use super::tasks::{Tasks, Usage};
use super::window::{Windows, published_end};
use crate::lake::Lake;
use crate::schema::{CAPACITY_FROM_USE, ROW_ID, SYSTEM_MACHINE, Table};
use crate::units::most_at_once;

/// The column of the GPUs of machines.
pub const GPU_CAPACITY: &str = "gpu_capacity";

/// The kind of change to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineChange {
    /// It came or returned.
    Add,
    /// It left.
    Remove,
    /// Its capacity changed.
    Update,
}

/// A row of `machine_events`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineEvent {
    /// When, µs.
    pub time_us: i64,
    /// The file order.
    pub row_id: i64,
    /// The machine.
    pub machine_id: i64,
    /// The kind of change.
    pub change: MachineChange,
    /// Its platform, as a position in [`MachineEvents::platforms`].
    pub platform: Option<u32>,
    /// Its CPU from then on, if the row has it.
    pub cpu: Option<f32>,
    /// Its memory from then on, if the row has it.
    pub memory: Option<f32>,
    /// Its GPUs from then on, if the row has them.
    pub gpus: Option<i32>,
}

/// All events of machines.
#[derive(Clone, Debug, Default)]
pub struct MachineEvents {
    /// In (time, `row_id`) order.
    pub events: Vec<MachineEvent>,
    /// Names of platforms.
    pub platforms: Vec<String>,
    /// The published end of the window, µs, if this is the whole table of the 2011 trace.
    pub window_end_us: Option<i64>,
}

/// A time during which a machine was in service with one capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpTime {
    /// The machine.
    pub machine_id: i64,
    /// Start, µs.
    pub from_us: i64,
    /// End, µs; the end of the requested time if it is open.
    pub to_us: i64,
    /// Its last known CPU.
    pub cpu: Option<f32>,
    /// Its last known memory.
    pub memory: Option<f32>,
    /// Its last known GPUs.
    pub gpus: Option<i32>,
}

/// Whether the capacity of a log is the most processors in use at once.
pub fn is_from_use(lake: &Lake) -> bool {
    lake.remarks(Table::MachineEvents).contains_key(CAPACITY_FROM_USE)
}

/// Keeps one event of the whole system, if each file of a log has one: the first, with the capacity
/// of the whole log. The files may have different capacities if some came later, or in a lake of an
/// older version. Then it does not matter how a log is cut into files. `cells` gives the machine of
/// an event, and its CPU.
///
/// # Errors
/// A table cannot be read.
pub fn join_system<T>(
    lake: &Lake,
    events: &mut Vec<T>,
    cells: impl Fn(&mut T) -> (i64, &mut Option<f32>),
) -> Result<(), FactError> {
    let machines = events.iter_mut().map(|event| cells(event).0);
    let files = machines.filter(|machine_id| *machine_id == SYSTEM_MACHINE).count();
    if files < 2 || !is_from_use(lake) {
        return Ok(());
    }
    let peak = most_in_use(lake)?;
    let mut is_known = false;
    events.retain_mut(|event| {
        let (machine_id, cpu) = cells(event);
        if machine_id != SYSTEM_MACHINE {
            return true;
        }
        *cpu = peak.or(*cpu);
        !std::mem::replace(&mut is_known, true)
    });
    Ok(())
}

/// The most processors in use at once; `None` if no attempt requests any.
fn most_in_use(lake: &Lake) -> Result<Option<f32>, FactError> {
    let windows = Windows::of(lake);
    let changes = (0..lake.bucket_count()).into_par_iter().map(|bucket| {
        let mut changes: Vec<(i64, f32)> = Vec::new();
        Tasks::read(lake, bucket, windows, Usage::Skip)?.for_each(|task| {
            for attempt in task.attempts {
                let Some(cpu) = attempt.cpu_request else { continue };
                changes.extend([(attempt.start_us, cpu), (attempt.end_us, -cpu)]);
            }
        });
        Ok(changes)
    });
    let mut changes = changes.collect::<Result<Vec<_>, FactError>>()?.concat();
    let peak = most_at_once(&mut changes);
    Ok(Some(peak).filter(|peak| 0.0 < *peak))
}

impl MachineEvents {
    /// Reads the table; empty if the lake has none.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(lake: &Lake) -> Result<Self, FactError> {
        let window_end_us = published_end(lake, Table::MachineEvents);
        let mut all = Self { window_end_us, ..Self::default() };
        if !lake.has(Table::MachineEvents) {
            return Ok(all);
        }
        let mut columns = vec![
            ROW_ID,
            "time_us",
            "machine_id",
            "event_type",
            "platform_id",
            "cpu_capacity",
            "memory_capacity",
        ];
        columns.extend(
            Some(GPU_CAPACITY).filter(|column| lake.has_column(Table::MachineEvents, column)),
        );
        let mut known: FxHashMap<String, u32> = FxHashMap::default();
        for batch in lake.read(Table::MachineEvents, None, &columns)? {
            let long = |idx: usize| batch.column(idx).as_primitive::<Int64Type>();
            let types = batch.column(3).as_primitive::<Int32Type>();
            let platforms = batch.column(4).as_string::<i32>();
            let cell = |idx: usize, row: usize| {
                let floats = batch.column(idx).as_primitive::<Float32Type>();
                floats.is_valid(row).then(|| floats.value(row))
            };
            let gpus = batch.column_by_name(GPU_CAPACITY).map(AsArray::as_primitive::<Int32Type>);
            for row in 0..batch.num_rows() {
                let platform = platforms.is_valid(row).then(|| {
                    let name = platforms.value(row);
                    known.get(name).copied().unwrap_or_else(|| {
                        let next = u32::try_from(known.len()).expect("few platforms");
                        known.insert(name.to_owned(), next);
                        all.platforms.push(name.to_owned());
                        next
                    })
                });
                all.events.push(MachineEvent {
                    time_us: long(1).value(row),
                    row_id: long(0).value(row),
                    machine_id: long(2).value(row),
                    change: match types.value(row) {
                        0 => MachineChange::Add,
                        1 => MachineChange::Remove,
                        _ => MachineChange::Update,
                    },
                    platform,
                    cpu: cell(5, row),
                    memory: cell(6, row),
                    gpus: gpus.filter(|cells| cells.is_valid(row)).map(|cells| cells.value(row)),
                });
            }
        }
        all.events.sort_unstable_by_key(|event| (event.time_us, event.row_id));
        join_system(lake, &mut all.events, |event| (event.machine_id, &mut event.cpu))?;
        Ok(all)
    }

    /// The times during which machines were in service with one capacity, up to `end_us`, by
    /// machine and time. If a row has no capacity, the last known capacity of the machine applies.
    pub fn up_times(&self, end_us: i64) -> Vec<UpTime> {
        let mut now: FxHashMap<i64, UpTime> = FxHashMap::default();
        let mut all = Vec::new();
        for event in &self.events {
            let id = event.machine_id;
            let at_us = event.time_us.min(end_us);
            let blank = UpTime {
                machine_id: id,
                from_us: at_us,
                to_us: i64::MIN,
                cpu: None,
                memory: None,
                gpus: None,
            };
            let is_new = !now.contains_key(&id);
            let known = now.entry(id).or_insert(blank);
            let was_there = known.to_us == i64::MAX;
            // An open `to_us` means that the machine is in service.
            if was_there {
                all.push(UpTime { to_us: at_us, ..*known });
            }
            known.cpu = event.cpu.or(known.cpu);
            known.memory = event.memory.or(known.memory);
            known.gpus = event.gpus.or(known.gpus);
            known.from_us = at_us;
            // An UPDATE does not bring a removed machine back.
            let is_there = match event.change {
                MachineChange::Add => true,
                MachineChange::Remove => false,
                MachineChange::Update => was_there || is_new,
            };
            known.to_us = if is_there { i64::MAX } else { i64::MIN };
        }
        let still = now.into_values().filter(|known| known.to_us == i64::MAX);
        all.extend(still.map(|known| UpTime { to_us: end_us.max(known.from_us), ..known }));
        all.retain(|time| time.from_us < time.to_us);
        all.sort_unstable_by_key(|time| (time.machine_id, time.from_us));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_there_between_add_and_remove() {
        let event = |time_us, change, cpu| MachineEvent {
            time_us,
            row_id: time_us,
            machine_id: 7,
            change,
            platform: None,
            cpu,
            memory: None,
            gpus: None,
        };
        // ADD 0.5 at 0, UPDATE 1 at 10, REMOVE at 30, ADD (no capacity) at 40, end at 50
        let events = vec![
            event(0, MachineChange::Add, Some(0.5)),
            event(10, MachineChange::Update, Some(1.0)),
            event(30, MachineChange::Remove, Some(1.0)),
            event(40, MachineChange::Add, None),
        ];
        let all = MachineEvents { events, ..MachineEvents::default() }.up_times(50);
        let times: Vec<_> = all.iter().map(|up| (up.from_us, up.to_us, up.cpu)).collect();
        assert_eq!(times, [(0, 10, Some(0.5)), (10, 30, Some(1.0)), (40, 50, Some(1.0))]);
    }
}
