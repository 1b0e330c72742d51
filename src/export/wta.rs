//! Workflow Trace Archive: tables of workflows, tasks and resources as Parquet, and a summary.
//!
//! In: tasks ordered by submission. Out: in the folders of the format, schema 1.0, `workflows`,
//! `tasks` and `resources`, and `workload/schema-1.0/generic_information.json`. A job is a
//! workflow; a task is a task, with its last attempt.
//!
//! Columns, types and units are those of `objects/*.py` of `atlarge-research/wta-tools`
//! (`get_spark_type`, `get_parquet_meta_dict`); the summary has the fields that its
//! `parse_scripts/validate_parquet_files.py` requires. Every column is present; unknown values are
//! -1 (0 for a runtime), as in that format. Amounts of CPU keep the unit of the lake: the format
//! accepts fractions. Memory is in MiB; a share of a machine is only in `params`. It has no
//! outcomes: `params` of a task is a JSON text with job, task, outcome, reason, names, GPUs, shares
//! of memory and requested time. Parents and children are tasks of the same job.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::fleet::Machine;
use super::gather::Gathered;
use super::items::{Counts, Item, Named, State};
use super::links::Links;
use super::names::Numbers;
use super::scene::Scene;
use super::sheet::{Column, Sheet, Type, Value};
use super::stats;
use crate::digits::shortest;
use crate::faults::{Context, Failure, Result};
use crate::results::store::Files;

const TASKS: &str = "tasks/schema-1.0/part.0.parquet";
const WORKFLOWS: &str = "workflows/schema-1.0/part.0.parquet";
const RESOURCES: &str = "resources/schema-1.0/part.0.parquet";
const SUMMARY: &str = "workload/schema-1.0/generic_information.json";

const MILLIS: i64 = 1_000;

const TASK_COLUMNS: &[Column] = &[
    ("children", Type::Longs, true),
    ("disk_io_time", Type::Long, true),
    ("disk_space_requested", Type::Double, true),
    ("energy_consumption", Type::Long, true),
    ("group_id", Type::Int, true),
    ("id", Type::Long, true),
    ("memory_requested", Type::Double, true),
    ("network_io_time", Type::Long, true),
    ("nfrs", Type::Text, true),
    ("params", Type::Text, true),
    ("parents", Type::Longs, true),
    ("resource_amount_requested", Type::Double, true),
    ("resource_type", Type::Text, true),
    ("resource_used", Type::Long, true),
    ("runtime", Type::Long, true),
    ("submission_site", Type::Int, true),
    ("ts_submit", Type::Long, true),
    ("type", Type::Text, true),
    ("user_id", Type::Int, true),
    ("wait_time", Type::Long, true),
    ("workflow_id", Type::Long, true),
];

const WORKFLOW_COLUMNS: &[Column] = &[
    ("approx_max_concurrent_tasks", Type::Int, true),
    ("critical_path_length", Type::Long, true),
    ("critical_path_task_count", Type::Int, true),
    ("id", Type::Long, true),
    ("nfrs", Type::Text, true),
    ("scheduler", Type::Text, true),
    ("task_count", Type::Int, true),
    ("total_disk_space_usage", Type::Long, true),
    ("total_energy_consumption", Type::Long, true),
    ("total_memory_usage", Type::Double, true),
    ("total_network_usage", Type::Long, true),
    ("total_resources", Type::Double, true),
    ("ts_submit", Type::Long, true),
];

const RESOURCE_COLUMNS: &[Column] = &[
    ("details", Type::Text, true),
    ("disk_space", Type::Long, true),
    ("id", Type::Long, true),
    ("memory", Type::Long, true),
    ("network", Type::Long, true),
    ("num_resources", Type::Double, true),
    ("os", Type::Text, true),
    ("proc_model", Type::Text, true),
    ("type", Type::Text, true),
];

/// Writes all tables. Returns the number of tasks, and counts of what was left out.
pub(super) fn write(
    scene: &Scene<'_>,
    mut all: Gathered,
    files: &mut Files,
) -> Result<(u64, Counts)> {
    let before = all.waits_for.len();
    all.waits_for.retain(|(one, other)| one.0 == other.0);
    let between = before - all.waits_for.len();
    let links = Links::of(&mut all, true, |_| true)?;
    let mut counts = std::mem::take(&mut all.counts);
    counts.add("dependencies between jobs: left out", between as u64);
    counts.add("GPUs of machines: left out", scene.fleet.gpus());
    let mut tasks = Tasks {
        scene,
        numbers: all.names.each_ref().map(super::names::Names::numbers),
        links,
        amounts: stats::Amounts::default(),
        memory: stats::Amounts::default(),
        resource_ms: 0.0,
        counts,
    };
    let mut sheet = Sheet::new(files, TASKS, TASK_COLUMNS)?;
    all.items.for_each(|item| sheet.push(tasks.row(&all, item)))?;
    sheet.finish(files)?;
    let workflows = workflows(scene, &all, files)?;
    resources(scene, files)?;
    let summary = summary(scene, &all, &tasks, workflows);
    let text = serde_json::to_string_pretty(&summary).context("a summary is plain data")?;
    files.put(SUMMARY.to_owned(), format!("{text}\n").as_bytes())?;
    Ok((all.items.len(), tasks.counts))
}

/// Writes the rows of tasks.
struct Tasks<'a> {
    scene: &'a Scene<'a>,
    numbers: [Numbers; Named::ALL.len()],
    links: Links,
    amounts: stats::Amounts,
    memory: stats::Amounts,
    /// The sum of requested amount × running time.
    resource_ms: f64,
    counts: Counts,
}

impl Tasks<'_> {
    fn row(&mut self, all: &Gathered, item: &Item) -> Vec<Value> {
        let life = item.life.rounded(MILLIS);
        let exact = &item.life;
        let exact = [Some(exact.submit_us), exact.start_us, exact.end_us, exact.ran_us];
        let is_rounded = exact.iter().flatten().any(|time_us| time_us % MILLIS != 0);
        self.counts.see(is_rounded, "tasks with times that are not whole milliseconds: rounded");
        let run = life.run_us().filter(|_| life.state != State::Waiting);
        self.counts.see(run.is_none(), "tasks without a whole attempt: a runtime of 0");
        let waits = life.state != State::Waiting;
        let wait = waits.then(|| self.scene.wait_us(&life, &mut self.counts)).flatten();
        let millis = |time_us: Option<i64>| Value::Long(time_us.map_or(-1, |time| time / MILLIS));
        let amount = item.cpu.map(shortest);
        self.counts.see(amount.is_none(), "tasks without a CPU request: an amount of -1");
        let memory = self.scene.memory_mib(item);
        let is_share = memory.is_none() && item.memory.is_some();
        self.counts.see(is_share, "memory requests as shares of a machine: only in params");
        self.amounts.extend(amount);
        self.memory.extend(memory);
        self.resource_ms += amount.unwrap_or(0.0) * exact_ms(run);
        let name = |named: Named| self.numbers[named as usize].get(item.name(named)).unwrap_or(-1);
        let id = all.id((item.number, item.job_id), true);
        let unknown = || Value::Long(-1);
        let text = |text: &str| Value::Text(text.to_owned());
        vec![
            Value::Ids(self.links.children(item)),
            unknown(),
            Value::Double(-1.0),
            unknown(),
            Value::Long(name(Named::Group)),
            Value::Long(id),
            Value::Double(memory.unwrap_or(-1.0)),
            unknown(),
            text("{}"),
            Value::Text(params(self.scene, all, item).to_string()),
            Value::Ids(self.links.parents(item)),
            Value::Double(amount.unwrap_or(-1.0)),
            text("cpu"),
            Value::Long(item.life.machine_id.unwrap_or(-1)),
            Value::Long(run.unwrap_or(0) / MILLIS),
            unknown(),
            millis(Some(life.submit_us)),
            text("atomic"),
            Value::Long(name(Named::User)),
            millis(wait),
            Value::Long(item.job_id),
        ]
    }
}

#[expect(clippy::cast_precision_loss, reason = "times are far below 2^53 ms")]
fn exact_ms(run_us: Option<i64>) -> f64 {
    run_us.map_or(0.0, |run_us| (run_us / MILLIS) as f64)
}

/// Data that the columns cannot hold.
fn params(scene: &Scene<'_>, all: &Gathered, item: &Item) -> Json {
    let mut params = Map::new();
    let mut add = |key: &str, value: Json| {
        if !value.is_null() {
            params.insert(key.to_owned(), value);
        }
    };
    add("job_id", json!(item.job_id));
    add("task_index", json!(item.task_index));
    add("outcome", json!(item.life.state.name()));
    for named in Named::ALL {
        add(named.word(), json!(all.names[named as usize].at(item.name(named))));
    }
    let share = item.memory.filter(|_| scene.mib_per_unit.is_none());
    add("memory_share", json!(share.map(shortest)));
    add("gpu_request", json!(item.gpu.map(shortest)));
    add("requested_time_ms", json!(item.log.requested_time_us.map(|time_us| time_us / MILLIS)));
    Json::Object(params)
}

/// A job.
#[derive(Default)]
struct Workflow {
    tasks: i64,
    amount: f64,
    /// Memory in MiB; `None` if it is unknown for all tasks.
    memory: Option<f64>,
}

/// Writes the jobs, bucket by bucket, ordered by first submission. Returns their number.
fn workflows(scene: &Scene<'_>, all: &Gathered, files: &mut Files) -> Result<u64> {
    let mut sheet = Sheet::new(files, WORKFLOWS, WORKFLOW_COLUMNS)?;
    let mut count = 0;
    all.items.for_each_run(|items| {
        let mut jobs: BTreeMap<i64, (i64, Workflow)> = BTreeMap::new();
        for item in items {
            let submit_us = item.life.rounded(MILLIS).submit_us;
            let (first_us, job) =
                jobs.entry(item.job_id).or_insert_with(|| (submit_us, Workflow::default()));
            *first_us = submit_us.min(*first_us);
            job.tasks += 1;
            job.amount += item.cpu.map_or(0.0, shortest);
            if let Some(mib) = scene.memory_mib(item) {
                *job.memory.get_or_insert(0.0) += mib;
            }
        }
        let mut jobs: Vec<(i64, i64, Workflow)> =
            jobs.into_iter().map(|(id, (first_us, job))| (first_us, id, job)).collect();
        jobs.sort_unstable_by_key(|job| (job.0, job.1));
        count += jobs.len() as u64;
        for (first_us, id, job) in jobs {
            let unknown = || Value::Long(-1);
            sheet.push(vec![
                unknown(),
                unknown(),
                unknown(),
                Value::Long(id),
                Value::Text("{}".to_owned()),
                Value::Text(String::new()),
                Value::Long(job.tasks),
                unknown(),
                unknown(),
                Value::Double(job.memory.unwrap_or(-1.0)),
                unknown(),
                Value::Double(job.amount),
                Value::Long(first_us / MILLIS),
            ])?;
        }
        Ok::<(), Failure>(())
    })?;
    sheet.finish(files)?;
    Ok(count)
}

/// Writes the machines, if the lake has any.
fn resources(scene: &Scene<'_>, files: &mut Files) -> Result<()> {
    if scene.fleet.machines.is_empty() {
        return Ok(());
    }
    let mut sheet = Sheet::new(files, RESOURCES, RESOURCE_COLUMNS)?;
    for Machine { id, cpu, memory, platform } in &scene.fleet.machines {
        let gib =
            memory.zip(scene.mib_per_unit).map(|(memory, mib)| shortest(memory) * mib / 1024.0);
        #[expect(clippy::cast_possible_truncation, reason = "a conversion saturates")]
        let gib = gib.map_or(-1, |gib| gib.round() as i64);
        sheet.push(vec![
            Value::Text("{}".to_owned()),
            Value::Long(-1),
            Value::Long(*id),
            Value::Long(gib),
            Value::Long(-1),
            Value::Double(cpu.map_or(-1.0, shortest)),
            Value::Text(String::new()),
            Value::Text(platform.clone().unwrap_or_default()),
            Value::Text("cluster node".to_owned()),
        ])?;
    }
    sheet.finish(files)
}

/// The summary of the workload.
fn summary(scene: &Scene<'_>, all: &Gathered, tasks: &Tasks<'_>, workflows: u64) -> Json {
    let mut summary = json!({
        "total_workflows": workflows,
        "total_tasks": all.items.len(),
        "domain": "",
        "date_start": null,
        "date_end": null,
        "num_sites": 0,
        "num_resources": tasks.amounts.sum(),
        "num_users": all.names[Named::User as usize].sorted().len(),
        "num_groups": all.names[Named::Group as usize].sorted().len(),
        "total_resource_seconds": tasks.resource_ms / 1000.0,
        "authors": [],
        "workload_description": format!(
            "{}, written by {}. Amounts of CPU in {}; memory in MiB. The outcome of a task is in \
             its params.",
            scene.lake.source().name(),
            crate::PROGRAM,
            scene.unit("cpu_request"),
        ),
    });
    let nothing = stats::Amounts::default();
    for (name, amounts) in [
        ("resource_task", &tasks.amounts),
        ("memory", &tasks.memory),
        ("network_usage", &nothing),
        ("disk_space_usage", &nothing),
        ("energy", &nothing),
    ] {
        for (of, value) in amounts.described() {
            summary[format!("{of}_{name}")] = json!(value);
        }
    }
    summary
}
