//! Usage over time out of lakes: who used what in which interval.
//!
//! In: lakes and what to tell apart. Out: a [`History`]. Every bucket is folded by itself and the
//! sums are exact, so that neither threads nor buckets move a digit; a test compares the sums of
//! users with those of the ledger.
//!
//! ```text
//!  task      SUBMIT ···· SCHEDULE ======================= FINISH
//!  running   waiting     | CPU of each interval as it runs |
//!  end       waiting                                       ^ all of it here (the paper's)
//!  interval  [----------)[----------)[----------)[----------)
//! ```
//!
//! A wait counts at the request of the attempt that it led to. Under `end` an attempt that is
//! still open is not charged, and counted.

use std::collections::BTreeSet;

use arrow::array::AsArray;
use arrow::datatypes::Float32Type;
use arrow::record_batch::RecordBatch;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;

use self::fleet::Fleet;
use super::history::{Grid, History, TaskEnd};
use crate::facts::FactError;
use crate::facts::jobs::Jobs;
use crate::facts::tasks::{Attempt, TaskView, Tasks, Usage};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::progress;
use crate::schema::{ROW_ID, Table};
use crate::studies::ledger::CpuDefinition;
use crate::units::{CpuRate, CpuTime, micros_to_seconds};

mod fleet;
mod merge;

/// When CPU time is charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Accrual {
    /// When an attempt ends, all at once: the paper's, a staircase of finished work
    #[default]
    End,
    /// As it runs, interval by interval
    Running,
}

/// What usage is told apart by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Who submitted the job
    #[default]
    User,
    /// Group of the user, where the log has it
    Group,
    /// Machine that the attempt ran on
    Machine,
    /// Site or partition that it ran on, where the log has it
    Site,
    /// Queue it was submitted to, where the log has it
    Queue,
    /// Scheduling class
    Class,
    /// Lake that it is in
    Cluster,
}

/// How machines are told apart in the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// By cluster, platform, capacity and site.
    Classes,
    /// One by one.
    Each,
}

/// What to gather.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What CPU time means; not `published`, which is known per job only.
    pub cpu: CpuDefinition,
    /// When it is charged.
    pub accrual: Accrual,
    /// What is told apart.
    pub by: By,
    /// How machines are told apart.
    pub machines: Machines,
    /// Whether users of one name on two clusters are two users.
    pub separate_users: bool,
    /// The intervals.
    pub grid: Grid,
    /// Intervals before this one are fed and not shown.
    pub shown_from: u32,
    /// Whether the ends of tasks are kept: one entry per task, for indices that read them.
    pub keeps_ends: bool,
    /// Whether cells tell machines apart, for indices that read them; otherwise only the sums per
    /// user and machine do, and there is a cell per user and interval and not per class besides.
    pub keeps_machines: bool,
}

/// A lake to gather from.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its name in tables and charts.
    pub name: String,
    /// The lake.
    pub lake: Lake,
    /// Where attempts without an end of their own are closed.
    pub windows: Windows,
    /// Added to every time of the lake, µs.
    pub shift_us: i64,
}

/// What was counted on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Attempts.
    pub attempts: u64,
    /// Still open at the end of the window.
    pub open_attempts: u64,
    /// Counted as 0 by `requested`.
    pub without_request: u64,
    /// Without the user (or what else is told apart), put under `-`.
    pub without_name: u64,
    /// Users of `job_events` none of whose tasks has run.
    pub users_without_attempts: u64,
}

/// The name of what has none.
pub const NOBODY: &str = "-";

/// Part of an attempt: from, to (µs), CPU rate, memory rate.
type Piece = (i64, i64, CpuRate, CpuRate);

type Key = (u32, u32, u32);

/// What is added up for a user on a machine in an interval, as in [`Cell`](super::history::Cell).
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    cpu: CpuTime,
    memory: CpuTime,
    waiting: CpuTime,
    held: CpuTime,
    held_memory: CpuTime,
}

/// What one bucket adds; names and machines are its own positions.
#[derive(Default)]
struct Part {
    cluster: u32,
    names: Interned<String>,
    machines: Interned<(Option<i64>, Option<String>)>,
    cells: FxHashMap<Key, Sums>,
    /// By machine and user, CPU time of the intervals that are shown.
    on_machines: FxHashMap<(u32, u32), CpuTime>,
    ends: Vec<TaskEnd>,
    /// Users who have submitted a job.
    submitted: BTreeSet<String>,
    groups: FxHashMap<(u32, String), CpuTime>,
    counts: Counts,
}

/// Values that occur, each once, by position.
struct Interned<T> {
    all: Vec<T>,
    index: FxHashMap<T, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { all: Vec::new(), index: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    fn put(&mut self, value: &T) -> u32 {
        if let Some(&position) = self.index.get(value) {
            return position;
        }
        let position = u32::try_from(self.all.len()).expect("a bucket has fewer than 2^32 names");
        self.all.push(value.clone());
        self.index.insert(value.clone(), position);
        position
    }
}

/// Adds up the usage of all lakes.
pub fn gather(clusters: &[Cluster], plan: &Plan) -> Result<(History, Counts), FactError> {
    let fleets: Vec<Fleet> = clusters.iter().map(Fleet::read).collect::<Result<_, _>>()?;
    let buckets: Vec<(usize, u32)> = clusters
        .iter()
        .enumerate()
        .flat_map(|(idx, cluster)| {
            (0..cluster.lake.bucket_count()).map(move |bucket| (idx, bucket))
        })
        .collect();
    let tables = [Table::TaskEvents, Table::TaskUsage];
    let rows: Vec<u64> = clusters.iter().map(|cluster| cluster.lake.expect_rows(&tables)).collect();
    let mut all = merge::Merger::default();
    // A few buckets at once: each has cells of most users, and all of them together would be
    // many times the sum.
    for some in buckets.chunks(2 * rayon::current_num_threads()) {
        let parts: Vec<Part> = some
            .par_iter()
            .with_max_len(1)
            .map(|&(idx, bucket)| {
                let part = fold_bucket(clusters, &fleets[idx], idx, bucket, plan);
                progress::step(rows[idx]);
                part
            })
            .collect::<Result<_, _>>()?;
        for (part, &(idx, _)) in parts.into_iter().zip(some) {
            all.add(&fleets[idx], plan, part);
        }
    }
    Ok(all.history(clusters, &fleets, plan))
}

/// The columns of a bucket's `task_events` that only some questions need, row by row.
struct Extra {
    memory: Vec<Option<f32>>,
    user: Option<Vec<Option<String>>>,
    group: Option<Vec<Option<String>>>,
    site: Option<Vec<Option<String>>>,
    queue: Option<Vec<Option<String>>>,
}

impl Extra {
    fn read(lake: &Lake, bucket: u32, by: By) -> Result<Self, FactError> {
        let has = |column: &&'static str| lake.has_column(Table::TaskEvents, column);
        let user = Some("user").filter(|_| by == By::User && !lake.has(Table::JobEvents));
        let group = Some("user_group").filter(has);
        let site = ["last_run_site", "partition"].into_iter().find(|column| has(column));
        let queue = Some("queue").filter(|column| by == By::Queue && has(column));
        let mut columns = vec![ROW_ID, "memory_request"];
        columns.extend([user, group, site, queue].into_iter().flatten());
        let batches = lake.read(Table::TaskEvents, Some(bucket), &columns)?;
        let texts = |column: Option<&str>| column.map(|column| texts(&batches, column));
        Ok(Self {
            memory: floats(&batches, "memory_request"),
            user: texts(user),
            group: texts(group),
            site: texts(site),
            queue: texts(queue),
        })
    }
}

fn floats(batches: &[RecordBatch], column: &str) -> Vec<Option<f32>> {
    let of = |batch: &RecordBatch| -> Vec<Option<f32>> {
        let cells = batch.column_by_name(column).expect("the column was asked for");
        cells.as_primitive::<Float32Type>().iter().collect()
    };
    batches.iter().flat_map(of).collect()
}

fn texts(batches: &[RecordBatch], column: &str) -> Vec<Option<String>> {
    let of = |batch: &RecordBatch| -> Vec<Option<String>> {
        let cells = batch.column_by_name(column).expect("the column was asked for");
        cells.as_string::<i32>().iter().map(|cell| cell.map(str::to_owned)).collect()
    };
    batches.iter().flat_map(of).collect()
}

fn fold_bucket(
    clusters: &[Cluster],
    fleet: &Fleet,
    idx: usize,
    bucket: u32,
    plan: &Plan,
) -> Result<Part, FactError> {
    let cluster = &clusters[idx];
    let lake = &cluster.lake;
    let needs_jobs = matches!(plan.by, By::User | By::Class) && lake.has(Table::JobEvents);
    let jobs = if needs_jobs { Jobs::read(lake, bucket)? } else { Jobs::default() };
    let usage = if plan.cpu.needs_usage() { Usage::Read } else { Usage::Skip };
    let tasks = Tasks::read(lake, bucket, cluster.windows, usage)?;
    let extra = Extra::read(lake, bucket, plan.by)?;
    let cluster_idx = u32::try_from(idx).expect("a few clusters");
    let mut part = Part { cluster: cluster_idx, ..Part::default() };
    if plan.by == By::User && !plan.separate_users {
        let users = jobs.jobs.iter().filter_map(|job| job.user);
        part.submitted = users.map(|user| jobs.names.get(user).to_owned()).collect();
    }
    let mut fold = Fold { plan, fleet, cluster, jobs: &jobs, extra: &extra, part: &mut part };
    tasks.for_each(|task| fold.task(task));
    Ok(part)
}

struct Fold<'a> {
    plan: &'a Plan,
    fleet: &'a Fleet,
    cluster: &'a Cluster,
    jobs: &'a Jobs,
    extra: &'a Extra,
    part: &'a mut Part,
}

fn cell_of(column: Option<&Vec<Option<String>>>, row: u32) -> Option<&str> {
    column?[row as usize].as_deref()
}

impl Fold<'_> {
    fn task(&mut self, task: &TaskView<'_>) {
        let mut last = None;
        for attempt in task.attempts {
            let who = self.who(task, attempt);
            self.attempt(task, attempt, who);
            last = Some((attempt, who));
        }
        if let Some((attempt, who)) = last {
            self.end(task, attempt, who);
        }
    }

    /// Whose attempt it is.
    fn who(&mut self, task: &TaskView<'_>, attempt: &Attempt) -> u32 {
        let job = self.jobs.find(task.job_id).map(|position| &self.jobs.jobs[position]);
        let extra = self.extra;
        let name = match self.plan.by {
            By::User => match job {
                Some(job) => job.user.map(|user| self.jobs.names.get(user).to_owned()),
                None => cell_of(extra.user.as_ref(), attempt.row).map(str::to_owned),
            },
            By::Group => cell_of(extra.group.as_ref(), attempt.row).map(str::to_owned),
            By::Site => cell_of(extra.site.as_ref(), attempt.row).map(str::to_owned),
            By::Queue => cell_of(extra.queue.as_ref(), attempt.row).map(str::to_owned),
            By::Machine => attempt.machine_id.map(|id| id.to_string()),
            By::Class => {
                job.and_then(|job| job.scheduling_class).map(|class| format!("class {class}"))
            }
            By::Cluster => Some(self.cluster.name.clone()),
        };
        self.part.counts.without_name += u64::from(name.is_none());
        let mut name = name.unwrap_or_else(|| NOBODY.to_owned());
        if self.plan.separate_users && self.plan.by != By::Cluster {
            name = format!("{}/{name}", self.cluster.name);
        }
        self.part.names.put(&name)
    }

    fn attempt(&mut self, task: &TaskView<'_>, attempt: &Attempt, who: u32) {
        let plan = self.plan;
        let shift = self.cluster.shift_us;
        let site = cell_of(self.extra.site.as_ref(), attempt.row).map(str::to_owned);
        // Machines of a class are one from the start: each would be a cell of its own.
        let machine_id = attempt.machine_id.map(|id| match plan.machines {
            Machines::Each => id,
            Machines::Classes => self.fleet.of_class(id),
        });
        let machine = self.part.machines.put(&(machine_id, site));
        let told =
            if plan.keeps_machines { machine } else { self.part.machines.put(&(None, None)) };
        let is_open = attempt.is_open();
        let counts = &mut self.part.counts;
        counts.attempts += 1;
        counts.open_attempts += u64::from(is_open);
        counts.without_request += u64::from(attempt.cpu_request.is_none());
        let requested = attempt.cpu_request.map_or(CpuRate::ZERO, CpuRate::new);
        let memory = self.extra.memory[attempt.row as usize].map_or(CpuRate::ZERO, CpuRate::new);
        let held = if plan.cpu == CpuDefinition::Slots { CpuRate::ONE } else { requested };
        let mut pieces = vec![(attempt.start_us, attempt.end_us, held, memory)];
        if plan.cpu == CpuDefinition::Measured {
            pieces[0].2 = CpuRate::ZERO;
            pieces.extend(
                measured(task, attempt).map(|(from, to, rate)| (from, to, rate, CpuRate::ZERO)),
            );
        }
        let cpu = self.charge(attempt, &pieces, who, [machine, told]);
        if let Some(submit_us) = submit_before(task, attempt) {
            plan.grid.split(submit_us + shift, attempt.start_us + shift, |interval, length_us| {
                let sums = Sums { waiting: held.over(length_us), ..Sums::default() };
                add(&mut self.part.cells, (interval, who, told), sums);
            });
        }
        if let Some(group) = cell_of(self.extra.group.as_ref(), attempt.row) {
            *self.part.groups.entry((who, group.to_owned())).or_default() += cpu;
        }
    }

    /// Charges the pieces of an attempt and returns their CPU; `machines` are the one that it ran on
    /// and the one that its cells name.
    fn charge(
        &mut self,
        attempt: &Attempt,
        pieces: &[Piece],
        who: u32,
        [machine, told]: [u32; 2],
    ) -> CpuTime {
        let grid = &self.plan.grid;
        let shift = self.cluster.shift_us;
        let (cells, on_machines) = (&mut self.part.cells, &mut self.part.on_machines);
        let shown_from = self.plan.shown_from;
        let mut put = |interval, sums: Sums| {
            if shown_from <= interval && sums.cpu != CpuTime::ZERO {
                *on_machines.entry((machine, who)).or_default() += sums.cpu;
            }
            add(cells, (interval, who, told), sums);
        };
        let is_charged = self.plan.accrual == Accrual::Running;
        let mut ran = CpuTime::ZERO;
        for &(from, to, rate, memory) in pieces {
            grid.split(from + shift, to + shift, |interval, length_us| {
                let (held, held_memory) = (rate.over(length_us), memory.over(length_us));
                let mut sums = Sums { held, held_memory, ..Sums::default() };
                if is_charged {
                    (sums.cpu, sums.memory) = (held, held_memory);
                }
                ran += held;
                put(interval, sums);
            });
        }
        let mut cpu = CpuTime::ZERO;
        match self.plan.accrual {
            Accrual::Running => {
                cpu = ran;
            }
            Accrual::End if !attempt.is_open() => {
                if let Some(interval) = grid.interval_of(attempt.end_us + shift) {
                    cpu = pieces.iter().map(|piece| piece.2.over(piece.1 - piece.0)).sum();
                    let memory = pieces.iter().map(|piece| piece.3.over(piece.1 - piece.0)).sum();
                    put(interval, Sums { cpu, memory, ..Sums::default() });
                }
            }
            Accrual::End => {}
        }
        cpu
    }

    /// Wait and run of a task that has ended.
    fn end(&mut self, task: &TaskView<'_>, last: &Attempt, who: u32) {
        if !self.plan.keeps_ends {
            return;
        }
        let first = task.attempts[0].start_us;
        let submit =
            task.events.iter().find(|event| event.event_type == 0).map(|event| event.time_us);
        // A submit at 0 of the Google trace is one before the window.
        let is_known = |&submit: &i64| {
            submit <= first && (submit != 0 || !self.cluster.lake.source().is_google())
        };
        let interval = self.plan.grid.interval_of(last.end_us + self.cluster.shift_us);
        let (Some(submit), Some(interval), false) =
            (submit.filter(is_known), interval, last.is_open())
        else {
            return;
        };
        self.part.ends.push(TaskEnd {
            interval,
            who,
            wait_s: micros_to_seconds(first - submit),
            run_s: micros_to_seconds(last.end_us - first),
        });
    }
}

fn add(cells: &mut FxHashMap<Key, Sums>, key: Key, part: Sums) {
    let sums = cells.entry(key).or_default();
    sums.cpu += part.cpu;
    sums.memory += part.memory;
    sums.waiting += part.waiting;
    sums.held += part.held;
    sums.held_memory += part.held_memory;
}

/// The parts of usage windows inside an attempt.
fn measured<'a>(
    task: &'a TaskView<'_>,
    attempt: &'a Attempt,
) -> impl Iterator<Item = (i64, i64, CpuRate)> + 'a {
    task.windows
        .iter()
        .take_while(|window| window.start_us < attempt.end_us)
        .map(|window| {
            let (from, to) =
                (window.start_us.max(attempt.start_us), window.end_us.min(attempt.end_us));
            (from, to, CpuRate::new(window.rate))
        })
        .filter(|(from, to, _)| from < to)
}

/// The SUBMIT that an attempt waited from: the last before it and after the attempt before.
fn submit_before(task: &TaskView<'_>, attempt: &Attempt) -> Option<i64> {
    let until = task.events.iter().take_while(|event| event.row != attempt.row);
    let mut submit = None;
    for event in until {
        match event.event_type {
            0 => submit = Some(event.time_us),
            1..=6 => submit = None,
            _ => {}
        }
    }
    submit
}
