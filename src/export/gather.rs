//! Reads the tasks of a lake, bucket by bucket, for export.
//!
//! In: a lake and, optionally, the journal of a replay. Out: every task as an [`Item`] on disk,
//! ordered by submission and row in the raw files; the names in use; and counts of data that no
//! format can hold. At most one bucket is in memory.

use std::collections::BTreeSet;

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use rustc_hash::FxHashMap;

use super::cells::{Cells, LEFT_OUT};
use super::items::{Counts, Item, Life, Named, Stage, State};
use super::names::Names;
use super::replayed::Replayed;
use super::spill::Spill;
use crate::facts::tasks::{TaskView, Tasks, Usage};
use crate::facts::window::Windows;
use crate::faults::{Context, Result};
use crate::lake::Lake;
use crate::schema::{EventType, Source, Table};
use crate::sources::alibaba_2018::number_of_task;

/// The tasks and their names.
pub(super) struct Gathered {
    pub items: Spill,
    pub names: [Names; Named::ALL.len()],
    pub counts: Counts,
    /// Dependencies between stages: the dependent stage, and the stage before it.
    pub waits_for: BTreeSet<(Stage, Stage)>,
    /// Whether the id of its job is a unique number for every task.
    pub has_numbers: bool,
    /// Whether a job has the number 0.
    pub has_zero: bool,
    /// The first submission.
    pub first_us: Option<i64>,
}

/// A callback for each task, while its usage windows are in memory.
pub(super) type Visit<'a> = dyn FnMut(&TaskView<'_>, &Item) -> Result<()> + 'a;

/// Reads all tasks.
pub(super) fn gather(
    lake: &Lake,
    usage: Usage,
    replayed: Option<&Replayed>,
    items: Spill,
    visit: &mut Visit<'_>,
) -> Result<Gathered> {
    lake.require(Table::TaskEvents)?;
    let mut all = Gathered {
        items,
        names: Default::default(),
        counts: Counts::default(),
        waits_for: BTreeSet::new(),
        has_numbers: true,
        has_zero: false,
        first_us: None,
    };
    let windows = Windows::of(lake);
    let rows = lake.expect_rows(&[Table::TaskEvents]);
    let mut number = 0;
    for bucket in 0..lake.bucket_count() {
        let mut cells = Cells::default();
        let columns = Cells::columns(lake);
        let take = |batch: &arrow::record_batch::RecordBatch| cells.push(batch);
        let tasks = Tasks::read_beside(lake, bucket, windows, usage, &columns, take)?;
        let programs = programs(lake, bucket)?;
        let mut items = Vec::with_capacity(tasks.len());
        let mut failed = None;
        tasks.for_each(|task| {
            let life = all.life(task, lake.source(), replayed);
            let Some(life) = life.filter(|_| failed.is_none()) else { return };
            number += 1;
            let item = all.item(task, life, number, &cells, &programs);
            failed = visit(task, &item).err();
            items.push(item);
        });
        failed.map_or(Ok(()), Err)?;
        all.items.push(&mut items).context("could not write a temporary file")?;
        lake.step(rows)?;
    }
    if let Some(replayed) = replayed {
        let unknown = replayed.len().saturating_sub(all.items.len());
        all.counts.add("tasks of the journal that the lake does not have: left out", unknown);
    }
    Ok(all)
}

impl Gathered {
    /// The life of a task; `None` if it is left out.
    fn life(
        &mut self,
        task: &TaskView<'_>,
        source: Source,
        replayed: Option<&Replayed>,
    ) -> Option<Life> {
        let key = (task.job_id, i64::from(task.task_index));
        let life = match replayed {
            Some(replayed) => replayed.life(key),
            None => Life::of(task, source),
        };
        let wording = match replayed {
            Some(_) => "tasks of the lake that were not replayed: left out",
            None => "tasks without a deciding event: left out",
        };
        self.counts.see(life.is_none(), wording);
        life
    }

    /// A task with the cells of its rows.
    fn item(
        &mut self,
        task: &TaskView<'_>,
        life: Life,
        number: i64,
        cells: &Cells,
        programs: &FxHashMap<i64, String>,
    ) -> Item {
        let attempt = task.attempts.last().map(|attempt| attempt.row);
        let rows = || attempt.into_iter().chain(task.events.iter().rev().map(|event| event.row));
        let row = rows().next().unwrap_or(0);
        let text = |column: &str| rows().find_map(|row| cells.text(column, row));
        let real = |column: &str| rows().find_map(|row| cells.real(column, row));
        let is_over = !matches!(life.state, State::Waiting | State::Running);
        let texts: [Option<&str>; Named::ALL.len()] = Named::ALL.map(|named| match named {
            Named::User => text("user"),
            Named::Group => text("user_group"),
            Named::Program => text("executable").or(programs.get(&task.job_id).map(String::as_str)),
            Named::Queue => text("queue").or_else(|| text("qos")),
            Named::Partition => text("partition"),
            Named::GpuModel => text("gpu_model"),
            Named::EndReason => text("end_reason").filter(|_| is_over),
        });
        let mut names = [None; Named::ALL.len()];
        for ((name, list), text) in names.iter_mut().zip(&mut self.names).zip(texts) {
            *name = text.map(|text| list.place(text));
        }
        for (column, wording) in LEFT_OUT {
            self.counts.see(rows().any(|row| cells.has(column, row)), wording);
        }
        // Formats have a single queue, but a log may have a queue and a quality of service.
        let has_both = text("queue").is_some() && text("qos").is_some();
        self.counts.see(has_both, "qualities of service: left out");
        let log = cells.logged(row);
        let item = Item {
            life,
            row_id: task.events.first().map_or(0, |event| event.row_id),
            job_id: task.job_id,
            task_index: i64::from(task.task_index),
            number,
            stage: match text("task_name") {
                Some(name) => number_of_task(name).map(i64::from),
                None => Some(i64::from(task.task_index)),
            },
            log,
            cpu: real("cpu_request"),
            memory: real("memory_request"),
            gpu: real("gpu_request"),
            names,
        };
        self.note(task, &item, text("depends_on"));
        item
    }

    /// Collects data about all items.
    fn note(&mut self, task: &TaskView<'_>, item: &Item, depends_on: Option<&str>) {
        self.has_numbers &= item.task_index == 0 && 0 <= item.job_id;
        self.has_zero |= item.job_id == 0;
        self.first_us = self.first_us.into_iter().chain([item.life.submit_us]).min();
        let siblings = depends_on.into_iter().flat_map(|text| text.split(' '));
        let siblings = siblings.filter_map(|number| number.parse::<i64>().ok());
        let siblings = siblings.map(|number| (item.job_id, number));
        let before = item.log.preceding_job.map(|job| (job, 0));
        if let Some(stage) = item.stage() {
            self.waits_for.extend(before.into_iter().chain(siblings).map(|other| (stage, other)));
        }
        let life = &item.life;
        // If a task is waiting again, its last attempt has not begun, so all attempts so far are
        // earlier ones.
        let is_last_written = i64::from(life.state != State::Waiting);
        let earlier = u64::try_from(life.attempts - is_last_written).unwrap_or(0);
        self.counts.add("attempts before the last of a task: left out", earlier);
        let wording = "jobs of partial runs: one run of their total length, without the breaks";
        self.counts.see(life.is_joined, wording);
        let is_suspended = life.ran_us.is_some();
        let wording = "suspended tasks: run without a break for the time that they ran";
        self.counts.see(is_suspended, wording);
        let first = task.events.first().map(|event| event.event_type);
        let has_begun = first.is_some_and(|kind| kind != EventType::Submit);
        self.counts.see(has_begun, "tasks whose first event is not SUBMIT: submitted then");
    }

    /// The number of a task. It is the id of its job if `may_be_own` and if these ids are unique
    /// for all tasks.
    pub(super) fn id(&self, (number, job_id): (i64, i64), may_be_own: bool) -> i64 {
        if may_be_own && self.has_numbers { job_id } else { number }
    }
}

/// The programs of jobs, if only `job_events` has them.
fn programs(lake: &Lake, bucket: u32) -> Result<FxHashMap<i64, String>> {
    let mut programs = FxHashMap::default();
    if lake.has_column(Table::TaskEvents, "executable") || !lake.has(Table::JobEvents) {
        return Ok(programs);
    }
    let columns = ["job_id", "logical_job_name"];
    lake.scan(Table::JobEvents, Some(bucket), &columns, |batch| {
        let jobs = batch.column(0).as_primitive::<Int64Type>();
        let names = batch.column(1).as_string::<i32>();
        for row in (0..batch.num_rows()).filter(|&row| names.is_valid(row)) {
            programs.entry(jobs.value(row)).or_insert_with(|| names.value(row).to_owned());
        }
    })?;
    Ok(programs)
}
