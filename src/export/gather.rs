//! The tasks of a lake, bucket by bucket, on their way to a file.
//!
//! In: a lake and perhaps the journal of a replay. Out: every task as an [`Item`] on disk, in order
//! of (submit, row of the raw files); the names that occur; counts of what no form holds. At most
//! one bucket is in memory.

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use rustc_hash::{FxHashMap, FxHashSet};

use super::cells::Cells;
use super::items::{Counts, Item, Key, Life, Named, State};
use super::names::Names;
use super::replayed::Replayed;
use super::spill::Spill;
use crate::facts::tasks::{TaskView, Tasks, Usage};
use crate::facts::window::Windows;
use crate::faults::{Context, Result};
use crate::lake::Lake;
use crate::schema::{EventType, Source, Table};

/// What was read.
pub(super) struct Gathered {
    pub items: Spill,
    pub names: [Names; Named::ALL.len()],
    pub counts: Counts,
    /// Which task waits for which: number and job of the one, job and task of the other.
    pub waits_for: Vec<(i64, i64, Key)>,
    /// Whether every task has a number of its own already: that of its job.
    pub has_numbers: bool,
    /// The first submit.
    pub first_us: Option<i64>,
}

/// What is done with each task besides, while its usage windows are in memory.
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
        waits_for: Vec::new(),
        has_numbers: true,
        first_us: None,
    };
    let windows = Windows::of(lake, None);
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
    /// The life of a task; `None` where it is left out.
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

    /// A task with all that its rows say.
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
        let log = cells.logged(row);
        let item = Item {
            life,
            row_id: task.events.first().map_or(0, |event| event.row_id),
            job_id: task.job_id,
            task_index: i64::from(task.task_index),
            number,
            log,
            cpu: real("cpu_request"),
            memory: real("memory_request"),
            gpu: real("gpu_request"),
            names,
        };
        self.note(task, &item, text("depends_on"));
        item
    }

    /// Takes from an item what is to be known of all of them.
    fn note(&mut self, task: &TaskView<'_>, item: &Item, depends_on: Option<&str>) {
        self.has_numbers &= item.task_index == 0 && 0 <= item.job_id;
        self.first_us = self.first_us.into_iter().chain([item.life.submit_us]).min();
        let siblings = depends_on.into_iter().flat_map(|text| text.split(' '));
        let siblings = siblings.filter_map(|task| task.parse::<i64>().ok());
        let siblings = siblings.map(|index| (item.job_id, index));
        let before = item.log.preceding_job.map(|job| (job, 0));
        for other in before.into_iter().chain(siblings) {
            self.waits_for.push((item.number, item.job_id, other));
        }
        let life = &item.life;
        let earlier = u64::try_from(life.attempts - 1).unwrap_or(0);
        self.counts.add("attempts before the last of a task: left out", earlier);
        let first = task.events.first().map(|event| event.event_type);
        let has_begun = first.is_some_and(|kind| kind != EventType::Submit);
        self.counts.see(has_begun, "tasks whose first event is not SUBMIT: submitted then");
    }

    /// The number of a task: that of its job where all have one and it `may_be_own`.
    pub(super) fn id(&self, (number, job_id): (i64, i64), may_be_own: bool) -> i64 {
        if may_be_own && self.has_numbers { job_id } else { number }
    }

    /// Which task waits for which, by their numbers: (before, after), of those for which
    /// `is_written` holds.
    pub(super) fn dependencies(
        &mut self,
        may_be_own: bool,
        is_written: impl Fn(&Item) -> bool,
    ) -> Result<Vec<(i64, i64)>> {
        let mut wanted: FxHashSet<Key> = self.waits_for.iter().map(|waits| waits.2).collect();
        let mut numbers: FxHashMap<Key, i64> = FxHashMap::default();
        let mut left_out: FxHashSet<i64> = FxHashSet::default();
        if !wanted.is_empty() {
            self.items
                .for_each(|item| {
                    let key = (item.job_id, item.task_index);
                    if !is_written(item) {
                        left_out.insert(item.number);
                    } else if wanted.remove(&key) {
                        numbers.insert(key, self.id((item.number, item.job_id), may_be_own));
                    }
                    Ok::<(), std::io::Error>(())
                })
                .context("could not read a temporary file")?;
        }
        let mut pairs = Vec::with_capacity(self.waits_for.len());
        for &(number, job_id, key) in &self.waits_for {
            let after = self.id((number, job_id), may_be_own);
            let before = numbers.get(&key).filter(|_| !left_out.contains(&number));
            match before.filter(|&&before| before != after) {
                Some(&before) => pairs.push((before, after)),
                None => self.counts.add("dependencies on tasks that are not there: left out", 1),
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Ok(pairs)
    }
}

/// Which task waits for which: for each the others, in order.
#[derive(Default)]
pub(super) struct Links(Vec<(i64, i64)>);

impl Links {
    /// Of each task (the second) those that it waits for (the first).
    pub(super) fn parents(pairs: &[(i64, i64)]) -> Self {
        let mut links: Vec<(i64, i64)> = pairs.iter().map(|&(one, other)| (other, one)).collect();
        links.sort_unstable();
        Self(links)
    }

    /// Of each task (the first) those that wait for it (the second).
    pub(super) fn children(pairs: &[(i64, i64)]) -> Self {
        Self(pairs.to_vec())
    }

    /// Those of a task.
    pub(super) fn of(&self, number: i64) -> impl Iterator<Item = i64> + '_ {
        let from = self.0.partition_point(|link| link.0 < number);
        self.0[from..].iter().take_while(move |link| link.0 == number).map(|link| link.1)
    }
}

/// The programs of jobs, where only `job_events` says them.
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
