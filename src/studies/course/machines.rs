//! Questions 1 and 2: machines by capacity, and the capacity lost while they are away.
//!
//! In: `machine_events`. Out: the rows of `q23` and `q24`.

use std::collections::BTreeMap;

use super::{Row, UNKNOWN};
use crate::facts::machines::{MachineChange, MachineEvent, MachineEvents};
use crate::facts::window::Windows;
use crate::units::micros_to_seconds;

/// Number of machines per capacity. The key is the bits of the capacity, which sort like it.
type Counts = BTreeMap<Option<u32>, u64>;

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn rows(measure: &str, counts: &Counts) -> Vec<Row> {
    let whole = counts.values().sum::<u64>() as f64;
    let row = |(cpu, &count): (&Option<u32>, &u64)| {
        let key = cpu.map_or(f64::from(UNKNOWN), |bits| f64::from(f32::from_bits(bits)));
        Row::share(measure, key, count as f64, whole)
    };
    counts.iter().map(row).collect()
}

/// Machines by CPU capacity: by their last capacity, by that at time 0, and by row.
pub(super) fn capacities(events: &MachineEvents) -> Vec<Row> {
    let (mut last, mut at_start) = (BTreeMap::new(), BTreeMap::new());
    let mut by_row = Counts::new();
    for event in &events.events {
        let cpu = event.cpu.map(f32::to_bits);
        let known = last.entry(event.machine_id).or_insert(None);
        *known = cpu.or(*known);
        if event.change == MachineChange::Add && event.time_us == 0 {
            at_start.entry(event.machine_id).or_insert(cpu);
        }
        *by_row.entry(cpu).or_default() += 1;
    }
    let counted = |by_machine: BTreeMap<i64, Option<u32>>| {
        let mut counts = Counts::new();
        for cpu in by_machine.into_values() {
            *counts.entry(cpu).or_default() += 1;
        }
        counts
    };
    let mut all = rows("machines", &counted(last));
    all.extend(rows("machines at time 0", &counted(at_start)));
    all.extend(rows("rows", &by_row));
    all
}

/// CPU × time of a machine, NCU-s.
#[derive(Clone, Copy, Debug, Default)]
struct Capacity {
    up: f64,
    /// Lost in outages that ended.
    lost: f64,
    /// Lost in the outage that did not end.
    gone: f64,
    /// From its first to its last row.
    between_rows: f64,
}

impl Capacity {
    /// Follows a machine from row to row, up to `end_us`.
    fn of(rows: &[&MachineEvent], end_us: i64) -> Self {
        let last_add = rows.iter().rposition(|row| row.change == MachineChange::Add);
        let mut sums = Self::default();
        let (mut is_away, mut cpu) = (false, 0.0);
        for (idx, row) in rows.iter().enumerate() {
            match row.change {
                MachineChange::Remove => is_away = true,
                MachineChange::Add => is_away = false,
                MachineChange::Update => {}
            }
            cpu = row.cpu.map_or(cpu, f64::from);
            let from_us = row.time_us.min(end_us);
            let next_us = rows.get(idx + 1).map(|next| next.time_us.min(end_us));
            let amount = cpu * micros_to_seconds(next_us.unwrap_or(end_us) - from_us);
            match (is_away, last_add.is_some_and(|last| idx < last)) {
                (false, _) => sums.up += amount,
                (true, true) => sums.lost += amount,
                (true, false) => sums.gone += amount,
            }
            if next_us.is_some() {
                sums.between_rows += amount;
            }
        }
        sums
    }
}

/// The capacity lost, as a share of two denominators, and the number of machines that were away.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn lost(events: &MachineEvents, windows: Windows) -> Vec<Row> {
    let times = events.events.iter().map(|event| event.time_us).filter(|&time| time < i64::MAX);
    let end_us = times.chain([windows.job_end_us, windows.task_end_us]).max().unwrap_or(0);
    let mut machines: BTreeMap<i64, Vec<&MachineEvent>> = BTreeMap::new();
    for event in &events.events {
        machines.entry(event.machine_id).or_default().push(event);
    }
    let mut sums = Capacity::default();
    let mut away = 0_u64;
    for rows in machines.values() {
        let own = Capacity::of(rows, end_us);
        sums.up += own.up;
        sums.lost += own.lost;
        sums.gone += own.gone;
        sums.between_rows += own.between_rows;
        away += u64::from(rows.iter().any(|row| row.change == MachineChange::Remove));
    }
    let Capacity { up, lost, gone, between_rows } = sums;
    vec![
        Row::share("lost", -1.0, lost, lost + up),
        Row::share("lost, between first and last event", -1.0, lost, between_rows),
        Row::share("away", -1.0, lost + gone, lost + gone + up),
        Row::share("machines away", -1.0, away as f64, machines.len() as f64),
    ]
}
