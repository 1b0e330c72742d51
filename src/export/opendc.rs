//! `OpenDC`: `tasks.parquet`, `fragments.parquet` and `topology.json`.
//!
//! In: tasks ordered by submission, with their usage windows while a bucket is in memory. Out: a
//! task for each one that ran, with its last attempt as fragments of constant use; and one cluster
//! with the machines at the time with the most CPU.
//!
//! Columns and types are those of `TaskSchemas.kt` (version 3) and `FragmentSchemas.kt` (version 2)
//! of `atlarge-research/opendc`; the topology follows `TopologySpecs.kt`. Its loader ignores tasks
//! without fragments.
//!
//! | Column | Content |
//! |---|---|
//! | `id`, `name` | a number; `job/task` |
//! | `submission_time`, `duration` | ms, since 1970 or the start of the log; running time of the last attempt |
//! | `cpu_count`, `cpu_capacity` | processors, rounded up; 1000 MHz for each requested processor |
//! | `mem_capacity` | KiB; 0 if unknown or a share |
//! | `gpu_count`, `gpu_capacity` | GPUs, rounded up; 1000 MHz for each requested GPU |
//! | `parents`, `children` | tasks that must end before it; tasks that wait for it |
//! | `cpu_usage` | MHz: from usage windows, the CPU time in a log, or the request |
//!
//! ```text
//!  attempt      |-----------------------------------|
//!  windows   |======|======|         |======|
//!  fragments    |===|======|.........|======|.......|   gaps: the use before them, or else after
//! ```

use std::path::Path;

use serde_json::{Value as Json, json};

use super::fleet::Kind;
use super::gather::Gathered;
use super::items::{Counts, GPU_MODELS, Item, Life, Named, State};
use super::links::Links;
use super::scene::Scene;
use super::sheet::{Column, Sheet, Type, Value};
use crate::digits::shortest;
use crate::facts::tasks::{TaskView, Window};
use crate::faults::{Context, Result};
use crate::results::store::{Files, could_not_write};

const TASKS: &str = "tasks.parquet";
const FRAGMENTS: &str = "fragments.parquet";

const MILLIS: i64 = 1_000;

/// The speed of a processor in the export; the format counts work in MHz.
const MHZ: f64 = 1_000.0;

const TASK_COLUMNS: &[Column] = &[
    ("id", Type::Int, true),
    ("name", Type::Text, false),
    ("submission_time", Type::Millis, true),
    ("duration", Type::Long, true),
    ("cpu_count", Type::Int, true),
    ("cpu_capacity", Type::Double, true),
    ("mem_capacity", Type::Long, true),
    ("gpu_count", Type::Int, false),
    ("gpu_capacity", Type::Double, false),
    ("parents", Type::Ints, false),
    ("children", Type::Ints, false),
    ("deferrable", Type::Bool, false),
    ("deadline", Type::Long, false),
];

const FRAGMENT_COLUMNS: &[Column] = &[
    ("id", Type::Int, true),
    ("duration", Type::Long, true),
    ("cpu_usage", Type::Double, true),
    ("gpu_usage", Type::Double, false),
];

/// The fragments of tasks, while their usage windows are in memory.
pub(super) struct Fragments<'a> {
    scene: &'a Scene<'a>,
    sheet: Sheet,
    filled_ms: u64,
}

impl<'a> Fragments<'a> {
    pub(super) fn new(scene: &'a Scene<'a>, files: &Files) -> Result<Self> {
        let sheet = Sheet::new(files, FRAGMENTS, FRAGMENT_COLUMNS)?;
        Ok(Self { scene, sheet, filled_ms: 0 })
    }

    /// Adds the fragments of a task.
    pub(super) fn add(&mut self, task: &TaskView<'_>, item: &Item) -> Result<()> {
        let Some(life) = ran(item) else { return Ok(()) };
        let (Some(start_us), Some(end_us)) = (life.start_us, life.end_us) else { return Ok(()) };
        let own: &[Window] = if self.scene.plan.journal.is_some() { &[] } else { task.windows };
        let mut pieces = pieces(own, start_us, end_us);
        if pieces.is_empty() {
            pieces.push((life.run_us().unwrap_or(0), None));
        } else {
            let filled: i64 =
                pieces.iter().filter(|piece| piece.1.is_none()).map(|one| one.0).sum();
            self.filled_ms += u64::try_from(filled / MILLIS).unwrap_or(0);
            fill(&mut pieces);
        }
        let gpu = item
            .gpu
            .filter(|&gpus| 0.0 < gpus)
            .map_or(Value::Null, |gpus| Value::Double(shortest(gpus) * MHZ));
        for (length_us, rate) in pieces {
            let cpus = rate.map_or_else(
                || self.scene.logged_cpus(item, life.run_us()),
                |rate| shortest(rate) * self.scene.processors_per_unit,
            );
            self.sheet.push(vec![
                Value::Long(item.number),
                Value::Long(length_us / MILLIS),
                Value::Double(cpus * MHZ),
                gpu.clone(),
            ])?;
        }
        Ok(())
    }
}

/// The last attempt of a task in whole milliseconds; `None` if it did not end or has no length.
fn ran(item: &Item) -> Option<Life> {
    let life = item.life.rounded(MILLIS);
    let has_run = life.state != State::Waiting && life.run_us().is_some_and(|run_us| 0 < run_us);
    (has_run && item.number <= i64::from(i32::MAX)).then_some(life)
}

/// Pieces of an attempt in whole milliseconds, with their lengths, µs, and the rate if a window has
/// it. If windows overlap, the earlier one counts.
fn pieces(windows: &[Window], start_us: i64, end_us: i64) -> Vec<(i64, Option<f32>)> {
    let mut pieces = Vec::new();
    let mut at_us = start_us;
    for window in windows {
        let whole = |time_us: i64| time_us.div_euclid(MILLIS) * MILLIS;
        let from_us = whole(window.start_us).max(at_us);
        let to_us = whole(window.end_us).min(end_us);
        if to_us <= from_us {
            continue;
        }
        if at_us < from_us {
            pieces.push((from_us - at_us, None));
        }
        pieces.push((to_us - from_us, Some(window.rate)));
        at_us = to_us;
    }
    if at_us < end_us && !pieces.is_empty() {
        pieces.push((end_us - at_us, None));
    }
    pieces
}

/// Fills gaps with the rate before them, and an initial gap with the rate after it.
fn fill(pieces: &mut [(i64, Option<f32>)]) {
    let mut last = pieces.iter().find_map(|piece| piece.1);
    for piece in pieces {
        last = piece.1.or(last);
        piece.1 = last;
    }
}

/// Writes tasks and topology. Returns the number of tasks, and counts of what was left out.
pub(super) fn write(
    scene: &Scene<'_>,
    mut all: Gathered,
    fragments: Fragments<'_>,
    files: &mut Files,
) -> Result<(u64, Counts)> {
    let links = Links::of(&mut all, false, |item| ran(item).is_some())?;
    let mut counts = std::mem::take(&mut all.counts);
    counts.add("models of machines: left out", scene.models());
    counts.add("milliseconds between usage windows: taken as the use before", fragments.filled_ms);
    fragments.sheet.finish(files)?;
    let mut sheet = Sheet::new(files, TASKS, TASK_COLUMNS)?;
    let mut largest = (1, 1.0_f64);
    let mut written = 0;
    all.items.for_each(|item| {
        let Some(life) = ran(item) else {
            counts.add("tasks without a whole attempt of a millisecond: left out", 1);
            return Ok(());
        };
        let count = scene.processors(item, &mut counts);
        counts.see(count.is_none(), "tasks without a CPU request: one processor");
        counts.see(life.state != State::Finished, "tasks that did not finish: written as if");
        counts.see(item.log.requested_time_us.is_some(), "requested times: left out");
        for (named, wording) in [
            (Named::User, "users: left out"),
            (Named::Group, "groups of users: left out"),
            (Named::Program, "programs: left out"),
            (Named::Queue, "queues: left out"),
            (Named::Partition, "partitions: left out"),
            (Named::GpuModel, GPU_MODELS),
            (Named::EndReason, "reasons why tasks ended: left out"),
        ] {
            counts.see(item.name(named).is_some(), wording);
        }
        let memory = scene.memory_mib(item).map(|mib| mib * 1024.0);
        counts.see(memory.is_none(), "tasks without a memory request in bytes: 0");
        #[expect(clippy::cast_possible_truncation, reason = "a conversion saturates")]
        let memory = memory.unwrap_or(0.0).ceil() as i64;
        let count = count.unwrap_or(1).min(i64::from(i32::MAX));
        let gpu = item.gpu.filter(|&gpus| 0.0 < gpus).map(shortest);
        #[expect(clippy::cast_possible_truncation, reason = "a conversion saturates")]
        let gpus = gpu.map_or(Value::Null, |gpus| Value::Long(gpus.ceil() as i64));
        largest.0 = largest.0.max(count);
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52 KiB")]
        {
            largest.1 = largest.1.max(memory as f64 * 1024.0);
        }
        written += 1;
        sheet.push(vec![
            Value::Long(item.number),
            Value::Text(format!("{}/{}", item.job_id, item.task_index)),
            Value::Long(life.submit_us / MILLIS),
            Value::Long(life.run_us().unwrap_or(0) / MILLIS),
            Value::Long(count),
            Value::Double(scene.cpus(item) * MHZ),
            Value::Long(memory),
            gpus,
            gpu.map_or(Value::Null, |gpus| Value::Double(gpus * MHZ)),
            Value::Ids(links.parents(item)),
            Value::Ids(links.children(item)),
            Value::Null,
            Value::Null,
        ])
    })?;
    sheet.finish(files)?;
    let topology = topology(scene, largest, &mut counts);
    let text = serde_json::to_string_pretty(&topology).context("a topology is plain data")?;
    files
        .put("topology.json".to_owned(), format!("{text}\n").as_bytes())
        .with_context(|| could_not_write(Path::new("topology.json")))?;
    Ok((written, counts))
}

/// One cluster with the lake's machines. If the lake has no machines, the cluster can hold the
/// largest task.
fn topology(scene: &Scene<'_>, (cpus, bytes): (i64, f64), counts: &mut Counts) -> Json {
    let host = |name: String, count: u64, cores: i64, bytes: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "a conversion saturates")]
        let bytes = bytes.ceil() as i64;
        json!({
            "name": name,
            "count": count,
            "cpu": {"coreCount": cores, "coreSpeed": MHZ},
            "memory": {"memorySize": bytes},
        })
    };
    let kinds = &scene.fleet.kinds;
    let mut hosts: Vec<Json> = Vec::new();
    for (number, &Kind { cpu, memory, gpus, count }) in (1..).zip(kinds) {
        #[expect(clippy::cast_possible_truncation, reason = "a conversion saturates")]
        let cores = (shortest(cpu) * scene.processors_per_unit).floor() as i64;
        let own = memory.zip(scene.mib_per_unit);
        counts.add(
            "machines of unknown memory: as much as fits their tasks",
            match own {
                None => count,
                Some(_) => 0,
            },
        );
        let own = own.map(|(memory, mib)| shortest(memory) * mib * f64::from(1 << 20));
        let mut host = host(format!("host-{number}"), count, cores.max(1), own.unwrap_or(bytes));
        if 0 < gpus {
            host["gpu"] = json!({"count": gpus, "coreCount": 1, "coreSpeed": MHZ});
        }
        hosts.push(host);
    }
    if hosts.is_empty() {
        counts.add("machines unknown: one that holds the largest task", 1);
        hosts.push(host("host-1".to_owned(), 1, cpus, bytes));
    }
    json!({"clusters": [{"name": scene.lake.source().name(), "hosts": hosts}]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_an_attempt_without_gaps() {
        //  attempt  5--------------------------50
        //  windows 0---10  10---20   30---40
        let window = |start: i64, end: i64, rate| Window {
            start_us: start * MILLIS,
            end_us: end * MILLIS,
            rate,
            memory: 0.0,
            row_id: 0,
        };
        let windows =
            [window(0, 10, 0.1), window(10, 20, 0.2), window(15, 20, 9.0), window(30, 40, 0.3)];
        let mut found = pieces(&windows, 5 * MILLIS, 50 * MILLIS);
        fill(&mut found);
        let expected = [(5, 0.1), (10, 0.2), (10, 0.2), (10, 0.3), (10, 0.3)];
        let expected: Vec<(i64, Option<f32>)> =
            expected.iter().map(|&(ms, rate)| (ms * MILLIS, Some(rate))).collect();
        assert_eq!(found, expected);
        let mut late = pieces(&windows[3..], 5 * MILLIS, 35 * MILLIS);
        fill(&mut late);
        assert_eq!(late, [(25 * MILLIS, Some(0.3)), (5 * MILLIS, Some(0.3))]);
        assert!(pieces(&windows, 60 * MILLIS, 70 * MILLIS).is_empty());
    }
}
