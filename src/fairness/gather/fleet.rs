//! The machines of a lake, and their capacity over time.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Float32Type, Int32Type, Int64Type};
use rustc_hash::FxHashMap;

use super::Cluster;
use crate::facts::FactError;
use crate::facts::machines::GPU_CAPACITY;
use crate::fairness::history::{Capacity, Grid, Machine};
use crate::schema::{ROW_ID, Table};
use crate::studies::meter::Resource;

/// The machines of a lake.
pub(super) struct Fleet {
    /// Platform, CPU and memory by id, as first announced.
    pub(super) known: BTreeMap<i64, Machine>,
    /// The first machine of the class (same platform, CPU and memory) of each machine, by id.
    alike: FxHashMap<i64, i64>,
    /// (time, id, capacity or gone), in order; `None` if no machine has a known CPU.
    events: Option<Vec<(i64, i64, Option<Capacity>)>>,
}

impl Fleet {
    /// Reads the machines. If GPUs are charged, the capacity of GPUs replaces that of CPU.
    pub(super) fn read(cluster: &Cluster, charged: Resource) -> Result<Self, FactError> {
        let lake = &cluster.lake;
        if !lake.has(Table::MachineEvents) {
            return Ok(Self { known: BTreeMap::new(), alike: FxHashMap::default(), events: None });
        }
        let of_gpus = charged == Resource::Gpu;
        let records_gpus = of_gpus && lake.has_column(Table::MachineEvents, GPU_CAPACITY);
        let mut columns = vec![
            ROW_ID,
            "time_us",
            "machine_id",
            "event_type",
            "platform_id",
            "cpu_capacity",
            "memory_capacity",
        ];
        columns.extend(Some(GPU_CAPACITY).filter(|_| records_gpus));
        let mut known: BTreeMap<i64, Machine> = BTreeMap::new();
        let mut events = Vec::new();
        for batch in lake.read(Table::MachineEvents, None, &columns)? {
            let long = |idx: usize| batch.column(idx).as_primitive::<Int64Type>();
            let float = |idx: usize| batch.column(idx).as_primitive::<Float32Type>();
            let types = batch.column(3).as_primitive::<Int32Type>();
            let platforms = batch.column(4).as_string::<i32>();
            for row in 0..batch.num_rows() {
                let cell = |idx: usize| float(idx).is_valid(row).then(|| float(idx).value(row));
                let id = long(2).value(row);
                let platform = platforms.is_valid(row).then(|| platforms.value(row).to_owned());
                let machine = known.entry(id).or_default();
                machine.platform = machine.platform.take().or(platform);
                machine.cpu = machine.cpu.or(cell(5));
                machine.memory = machine.memory.or(cell(6));
                let gpus = || batch.column(7).as_primitive::<Int32Type>();
                let gpus = || gpus().is_valid(row).then(|| f64::from(gpus().value(row)));
                let there = (types.value(row) != 1).then(|| Capacity {
                    cpu: if records_gpus { gpus() } else { cell(5).map(f64::from) }.unwrap_or(0.0),
                    memory: cell(6).map_or(0.0, f64::from),
                });
                events.push((long(1).value(row), long(0).value(row), id, there));
            }
        }
        let alike = alike(&known);
        let is_known = known.values().any(|machine| machine.cpu.is_some());
        if !is_known || of_gpus && !records_gpus {
            return Ok(Self { known, alike, events: None });
        }
        events.sort_by_key(|event| (event.0, event.1));
        let shifted = |time: i64| time.saturating_add(cluster.shift_us);
        let events =
            events.into_iter().map(|(time, _, id, there)| (shifted(time), id, there)).collect();
        Ok(Self { known, alike, events: Some(events) })
    }

    /// The machine that represents the class of a machine; the machine itself if nothing is known
    /// about it.
    pub(super) fn of_class(&self, id: i64) -> i64 {
        self.alike.get(&id).copied().unwrap_or(id)
    }

    /// Adds the capacity at the end of each interval.
    fn add_capacity(&self, grid: &Grid, sums: &mut [Capacity]) {
        let mut events = self.events.iter().flatten().peekable();
        let mut there: BTreeMap<i64, Capacity> = BTreeMap::new();
        let mut now = Capacity::default();
        for (interval, sum) in (0..).zip(sums) {
            let mut is_changed = false;
            while let Some((_, id, capacity)) =
                events.next_if(|event| event.0 <= grid.start_of(interval + 1))
            {
                is_changed = true;
                match capacity {
                    Some(capacity) => there.insert(*id, *capacity),
                    None => there.remove(id),
                };
            }
            if is_changed {
                now = Capacity {
                    cpu: there.values().map(|machine| machine.cpu).sum(),
                    memory: there.values().map(|machine| machine.memory).sum(),
                };
            }
            sum.cpu += now.cpu;
            sum.memory += now.memory;
        }
    }
}

/// Platform, and the bits of CPU and memory.
type Class<'a> = (Option<&'a str>, Option<u32>, Option<u32>);

fn alike(known: &BTreeMap<i64, Machine>) -> FxHashMap<i64, i64> {
    let mut first: FxHashMap<Class<'_>, i64> = FxHashMap::default();
    let bits = |number: Option<f32>| number.map(f32::to_bits);
    known
        .iter()
        .map(|(&id, machine)| {
            let class = (machine.platform.as_deref(), bits(machine.cpu), bits(machine.memory));
            (id, *first.entry(class).or_insert(id))
        })
        .collect()
}

/// The capacity of all clusters at the end of each interval; empty if one of them is unknown.
pub(super) fn capacity(fleets: &[Fleet], grid: &Grid) -> Vec<Capacity> {
    if fleets.iter().any(|fleet| fleet.events.is_none()) {
        return Vec::new();
    }
    let mut sums = vec![Capacity::default(); grid.count as usize];
    for fleet in fleets {
        fleet.add_capacity(grid, &mut sums);
    }
    sums
}
