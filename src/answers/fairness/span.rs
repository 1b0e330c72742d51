//! The lakes of a plan, and the intervals that are gathered and shown.

use crate::answers::fairness::Span;
use crate::answers::fairness::plan::{Align, FairnessPlan, Until, machines_of, named_lake};
use crate::defaults::{self, Defaults};
use crate::facts::window::Windows;
use crate::fairness::gather::{By, Cluster, Plan};
use crate::fairness::history::Grid;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::meter::{CpuDefinition, MemoryDefinition, Meter, Resource};
use crate::units::{MICROS_PER_DAY, MICROS_PER_SECOND};

/// The most intervals. More would fill the memory, and no chart could show them.
const INTERVALS_MAX: i64 = 200_000;

pub(super) fn plan(asked: &FairnessPlan, until: Until) -> Result<Span> {
    let mut clusters = Vec::new();
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    for text in &asked.lake {
        let (name, path) = named_lake(text);
        let lake = Lake::open(&path)?;
        let begin =
            lake.require(Table::TaskEvents)?.parts.iter().filter_map(|part| part.min_time_us).min();
        let begin = begin.unwrap_or(0);
        let windows = Windows::ending(&lake, until.window_end_us);
        let windows = windows.map_err(|early| Usage(early.of_option()))?;
        let windows = windows.closing(until.open_attempts);
        let shift_us = match asked.align {
            Align::Clock => 0,
            Align::Start => -begin,
        };
        first = first.min(begin + shift_us);
        // An attempt that ends exactly at the end is in the interval that begins there.
        last = last.max(windows.task_end_us.saturating_add(shift_us).saturating_add(1));
        if clusters.iter().any(|other: &Cluster| other.name == name) {
            let text = format!("two lakes are called `{name}`; name them: --lake NAME=DIR");
            return Err(Usage(text).into());
        }
        clusters.push(Cluster { name, lake, windows, shift_us });
    }
    let length_us =
        asked.days.map_or(last.saturating_sub(first), |days| micros(days, MICROS_PER_DAY));
    let interval = asked.interval.unwrap_or_else(|| defaults::interval_s(length_us).into());
    let interval_us = micros(interval, MICROS_PER_SECOND);
    let origin = first.div_euclid(interval_us) * interval_us;
    let from = origin + micros(asked.from, MICROS_PER_DAY) / interval_us * interval_us;
    let end = asked.days.map_or(last, |days| (from + micros(days, MICROS_PER_DAY)).min(last));
    let warm_up =
        (micros(asked.warm_up, MICROS_PER_DAY) / interval_us).min((from - origin) / interval_us);
    let start_us = from - warm_up * interval_us;
    let count = end.saturating_sub(start_us).saturating_add(interval_us - 1) / interval_us;
    if last <= from || end <= from {
        return Err(Usage("--from and --days select no part of the trace".to_owned()).into());
    }
    if INTERVALS_MAX < count {
        let ways = ways(asked, until, &clusters, interval_us);
        let text = format!("{count} intervals are too many (at most {INTERVALS_MAX}): {ways}");
        return Err(Usage(text).into());
    }
    let lakes: Vec<&Lake> = clusters.iter().map(|cluster| &cluster.lake).collect();
    let usual = Defaults::of_all(&lakes);
    let meter = meter_of(asked, usual.cpu, &lakes)?;
    let unit = unit_of(&clusters, meter)?;
    let in_range = "checked above";
    let grid = Grid { start_us, interval_us, count: u32::try_from(count).expect(in_range) };
    let plan = Plan {
        meter,
        accrual: asked.accrual.unwrap_or(usual.accrual),
        by: asked.by,
        machines: machines_of(asked),
        // Each cluster numbers its own machines.
        separate_users: !asked.same_users || asked.by == By::Machine && 1 < clusters.len(),
        grid,
        shown_from: u32::try_from(warm_up).expect(in_range),
        keeps_ends: true,
        keeps_machines: true,
    };
    check_by(asked.by, &clusters)?;
    Ok(Span { clusters, plan, unit })
}

/// Advice on how to get fewer intervals; the most likely cause comes first.
fn ways(asked: &FairnessPlan, until: Until, clusters: &[Cluster], interval_us: i64) -> String {
    let mut ways = Vec::new();
    let ends = || clusters.iter().map(|cluster| Windows::of(&cluster.lake).task_end_us);
    let is_far = |end: i64| {
        let late = until.window_end_us.unwrap_or(end).saturating_sub(end);
        INTERVALS_MAX < late / interval_us
    };
    if ends().any(is_far) {
        let last_s = ends().max().unwrap_or(0) / MICROS_PER_SECOND;
        ways.push(format!("give an earlier --window-end (the last event is at {last_s} s)"));
    }
    ways.push("give a longer --interval or fewer --days".to_owned());
    if 1 < clusters.len() && asked.align == Align::Clock {
        ways.push("align lakes of different years with --align start".to_owned());
    }
    ways.join(", or ")
}

/// The unit of all lakes.
///
/// # Errors
/// The lakes have different units.
fn unit_of(clusters: &[Cluster], meter: Meter) -> Result<&'static str> {
    let unit = meter.unit(clusters[0].lake.source());
    let Some(other) = clusters.iter().find(|other| meter.unit(other.lake.source()) != unit) else {
        return Ok(unit);
    };
    let (what, way) = match meter.resource() {
        Resource::Cpu => ("CPU", "; `--cpu slots` has the same unit in all lakes"),
        Resource::Memory => ("memory", ""),
        Resource::Gpu => ("GPUs", ""),
    };
    Err(Usage(format!(
        "`{}` counts {meter} {what} in {unit} and `{}` in {}: they cannot be added up{way}",
        clusters[0].name,
        other.name,
        meter.unit(other.lake.source())
    ))
    .into())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "lengths of time are checked to be below 100 years"
)]
fn micros(value: f64, unit: i64) -> i64 {
    (value * unit as f64).round() as i64
}

/// The charged resource and its definition.
///
/// # Errors
/// A lake does not have the data that the definition needs.
fn meter_of(asked: &FairnessPlan, usual: CpuDefinition, lakes: &[&Lake]) -> Result<Meter> {
    let meter = match asked.resource {
        Resource::Cpu => Meter::Cpu(asked.cpu.unwrap_or(usual)),
        Resource::Gpu => Meter::Cpu(CpuDefinition::GpuSlots),
        Resource::Memory => Meter::Memory(match asked.memory {
            Some(memory) => memory,
            None if lakes.iter().all(|lake| lake.has(Table::TaskUsage)) => {
                MemoryDefinition::Canonical
            }
            None => MemoryDefinition::Requested,
        }),
    };
    lakes.iter().try_for_each(|lake| meter.check(lake))?;
    Ok(meter)
}

/// Refuses to group by a column that no lake has.
fn check_by(by: By, clusters: &[Cluster]) -> Result<()> {
    let columns: &[&'static str] = match by {
        By::Group => &["user_group"],
        By::Site => &["last_run_site", "partition"],
        By::Queue => &["queue"],
        By::Qos => &["qos"],
        _ => return Ok(()),
    };
    let has = |cluster: &Cluster| {
        columns.iter().any(|column| cluster.lake.has_column(Table::TaskEvents, column))
    };
    if clusters.iter().any(has) {
        return Ok(());
    }
    let text = format!("no lake has a column `{}`", columns.join("` or `"));
    Err(Usage(text).into())
}
