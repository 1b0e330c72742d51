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
//! A task waits from its SUBMIT until it is scheduled or ended, at the request as it stands then.
//! A user is there from the first submission on, and in the group of that. Nothing in an interval
//! depends on what comes after it. Under `end` an attempt that is still open is not charged, and
//! counted.

use arrow::array::AsArray;
use arrow::datatypes::Float32Type;
use arrow::record_batch::RecordBatch;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::fleet::Fleet;
use self::people::{First, People};
use super::history::{AttemptEnd, Grid, History, NOBODY};
use crate::facts::FactError;
use crate::facts::jobs::Jobs;
use crate::facts::tasks::{Attempt, EndedBy, TaskView, Tasks, Usage};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{EventType, ROW_ID, Table};
use crate::studies::ledger::CpuDefinition;
use crate::units::{CpuRate, CpuTime, micros_to_seconds};

mod fleet;
mod merge;
mod people;

/// When CPU time is charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Accrual {
    /// When an attempt ends, all at once: the paper's, a staircase of finished work
    #[default]
    End,
    /// As it runs, interval by interval
    Running,
}

/// What usage is told apart by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
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
    /// Without an end of their own and closed at the end of their job; those that use something
    /// in the intervals that are shown.
    pub closed_with_job: u64,
    /// What they use in those intervals, whenever it is charged.
    #[serde(serialize_with = "in_seconds")]
    pub closed_with_job_cpu: CpuTime,
    /// Counted as 0 by `requested`.
    pub without_request: u64,
    /// Charged by the CPU time that a log tells of them (`measured`).
    pub with_cpu_time: u64,
    /// Without the user (or what else is told apart), put under `-`.
    pub without_name: u64,
    /// Users who have submitted something by the end of the span, of which no task has run.
    pub users_without_attempts: u64,
}

fn in_seconds<S: serde::Serializer>(cpu: &CpuTime, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(cpu.seconds())
}

/// Usage could not be gathered.
#[derive(Debug, Error)]
pub enum GatherError {
    /// A table that is not there or does not read.
    #[error(transparent)]
    Fact(#[from] FactError),
    /// CPU time by the published definition, which knows jobs and no times within them.
    #[error("usage over time cannot be `published`: that definition knows whole jobs only")]
    Published,
    /// Intervals without a length, or none of them.
    #[error("{count} intervals of {interval_us} µs, not at least one of at least 1 µs")]
    Intervals {
        /// How many.
        count: u32,
        /// How long.
        interval_us: i64,
    },
    /// Nothing to gather from.
    #[error("there is no lake to gather usage from")]
    NoLake,
    /// There is more of it than memory is given for.
    #[error("usage of more than {CELLS_MAX} users, machines and intervals would fill memory")]
    TooMuch,
}

/// Cells that are held at most: about 5 GB.
pub const CELLS_MAX: usize = 12_000_000;

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
    people: People,
    machines: Interned<(Option<i64>, Option<String>)>,
    cells: FxHashMap<Key, Sums>,
    /// By machine and user, CPU time of the intervals that are shown.
    on_machines: FxHashMap<(u32, u32), CpuTime>,
    ends: Vec<AttemptEnd>,
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

impl Plan {
    /// Refuses a plan whose answer would not be what it says.
    fn check(&self) -> Result<(), GatherError> {
        let Grid { interval_us, count, .. } = self.grid;
        if self.cpu == CpuDefinition::Published {
            return Err(GatherError::Published);
        }
        if interval_us < 1 || count < 1 {
            return Err(GatherError::Intervals { count, interval_us });
        }
        Ok(())
    }
}

/// Adds up the usage of all lakes.
///
/// # Errors
/// The plan makes no sense, a table is missing or does not read, there is too much of it, or the
/// caller's callback says to stop; nothing is kept then.
pub fn gather(clusters: &[Cluster], plan: &Plan) -> Result<(History, Counts), GatherError> {
    plan.check()?;
    if clusters.is_empty() {
        return Err(GatherError::NoLake);
    }
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
                let part = fold_bucket(clusters, &fleets[idx], idx, bucket, plan)?;
                clusters[idx].lake.step(rows[idx])?;
                Ok(part)
            })
            .collect::<Result<_, FactError>>()?;
        for (part, &(idx, _)) in parts.into_iter().zip(some) {
            if CELLS_MAX < part.cells.len() {
                return Err(GatherError::TooMuch);
            }
            all.add(&fleets[idx], plan, part);
        }
        if CELLS_MAX < all.cell_count() {
            return Err(GatherError::TooMuch);
        }
    }
    Ok(all.history(clusters, &fleets, plan))
}

/// The columns of a bucket's `task_events` that only some questions need, row by row.
struct Extra {
    cpu: Vec<Option<f32>>,
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
        let mut columns = vec![ROW_ID, "cpu_request", "memory_request"];
        columns.extend([user, group, site, queue].into_iter().flatten());
        let batches = lake.read(Table::TaskEvents, Some(bucket), &columns)?;
        let texts = |column: Option<&str>| column.map(|column| texts(&batches, column));
        Ok(Self {
            cpu: floats(&batches, "cpu_request"),
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
    let mut fold = Fold { plan, fleet, cluster, jobs: &jobs, extra: &extra, part: &mut part };
    fold.submitters();
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
    /// Users of `job_events`, whether or not any of their tasks is known.
    fn submitters(&mut self) {
        if self.plan.by != By::User {
            return;
        }
        for job in &self.jobs.jobs {
            let Some(user) = job.user else { continue };
            let at = job.first_submit_us.or(job.first_schedule_us).unwrap_or(job.last_event_us);
            // After its tasks of the same time, which know the group.
            let first = First { at_us: self.shifted(at), job_id: job.id, task_index: i32::MAX };
            let name = self.qualified(self.jobs.names.get(user));
            self.part.people.see(&name, first, None);
        }
    }

    fn task(&mut self, task: &TaskView<'_>) {
        // What has passed the bound is not told any longer.
        if CELLS_MAX < self.part.cells.len() {
            return;
        }
        self.waits(task);
        for attempt in task.attempts {
            let who = self.who(task, attempt.row, attempt.start_us, attempt.machine_id);
            self.part.people.has_run(who);
            self.attempt(task, attempt, who);
            self.end(task, attempt, who);
        }
    }

    fn shifted(&self, time_us: i64) -> i64 {
        time_us.saturating_add(self.cluster.shift_us)
    }

    /// A name, with that of the cluster where users of the same name are to be told apart.
    fn qualified(&self, name: &str) -> String {
        if self.plan.separate_users && self.plan.by != By::Cluster {
            return format!("{}/{name}", self.cluster.name);
        }
        name.to_owned()
    }

    /// Whose a task is by one of its events.
    fn who(&mut self, task: &TaskView<'_>, row: u32, time_us: i64, machine: Option<i64>) -> u32 {
        let job = self.jobs.find(task.job_id).map(|position| &self.jobs.jobs[position]);
        let extra = self.extra;
        let name = match self.plan.by {
            By::User => match job {
                Some(job) => job.user.map(|user| self.jobs.names.get(user).to_owned()),
                None => cell_of(extra.user.as_ref(), row).map(str::to_owned),
            },
            By::Group => cell_of(extra.group.as_ref(), row).map(str::to_owned),
            By::Site => cell_of(extra.site.as_ref(), row).map(str::to_owned),
            By::Queue => cell_of(extra.queue.as_ref(), row).map(str::to_owned),
            By::Machine => machine.map(|id| id.to_string()),
            By::Class => {
                job.and_then(|job| job.scheduling_class).map(|class| format!("class {class}"))
            }
            By::Cluster => Some(self.cluster.name.clone()),
        };
        let name = self.qualified(name.as_deref().unwrap_or(NOBODY));
        let (job_id, task_index) = (task.job_id, task.task_index);
        let first = First { at_us: self.shifted(time_us), job_id, task_index };
        self.part.people.see(&name, first, cell_of(extra.group.as_ref(), row))
    }

    /// The waits of a task: from each SUBMIT until it is scheduled or ended, or its job has ended,
    /// at the request that is known by then.
    fn waits(&mut self, task: &TaskView<'_>) {
        // Where a task will run is not known while it waits.
        if matches!(self.plan.by, By::Machine | By::Site) {
            return;
        }
        let mut since: Option<(i64, u32)> = None;
        let mut request = None;
        for event in task.events {
            let (is_submit, is_update) = (
                event.event_type == EventType::Submit,
                event.event_type == EventType::UpdatePending,
            );
            if let Some((from_us, row)) = since
                && (event.event_type.is_deciding() || is_update)
            {
                self.wait(task, row, [from_us, event.time_us], request);
            }
            if is_submit || is_update && since.is_some() {
                request = self.extra.cpu[event.row as usize].or(request);
                since = Some((event.time_us, since.map_or(event.row, |(_, row)| row)));
            } else if event.event_type.is_deciding() {
                (since, request) = (None, None);
            }
        }
        if let Some((from_us, row)) = since {
            let job = self.jobs.find(task.job_id).map(|position| &self.jobs.jobs[position]);
            let ended_us = job.filter(|job| job.is_ended()).map(|job| job.last_event_us);
            let window_end_us = self.cluster.windows.task_end_us;
            let end_us = ended_us.map_or(window_end_us, |end| end.min(window_end_us));
            // A submission may lie behind the window.
            let until_us = end_us.max(from_us);
            self.wait(task, row, [from_us, until_us], request);
        }
    }

    fn wait(
        &mut self,
        task: &TaskView<'_>,
        row: u32,
        [from_us, until_us]: [i64; 2],
        request: Option<f32>,
    ) {
        let who = self.who(task, row, from_us, None);
        let asked = match self.plan.cpu {
            CpuDefinition::Slots => CpuRate::ONE,
            _ => request.map_or(CpuRate::ZERO, CpuRate::new),
        };
        let machine = self.part.machines.put(&(None, None));
        let (from_us, until_us) = (self.shifted(from_us), self.shifted(until_us));
        self.plan.grid.split(from_us, until_us, |interval, length_us| {
            let sums = Sums { waiting: asked.over(length_us), ..Sums::default() };
            if sums.waiting != CpuTime::ZERO {
                add(&mut self.part.cells, (interval, who, machine), sums);
            }
        });
    }

    fn attempt(&mut self, task: &TaskView<'_>, attempt: &Attempt, who: u32) {
        let plan = self.plan;
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
        counts.with_cpu_time += u64::from(attempt.cpu_used.is_some());
        counts.without_name += u64::from(self.part.people.is_nobody(who));
        let memory = self.extra.memory[attempt.row as usize].map_or(CpuRate::ZERO, CpuRate::new);
        let rate = match plan.cpu {
            CpuDefinition::Slots => CpuRate::ONE,
            CpuDefinition::Measured => attempt.used_rate(self.cluster.lake.source()),
            _ => attempt.requested_rate(),
        };
        let mut pieces = vec![(attempt.start_us, attempt.end_us, rate, memory)];
        if plan.cpu == CpuDefinition::Measured {
            pieces.extend(
                measured(task, attempt).map(|(from, to, rate)| (from, to, rate, CpuRate::ZERO)),
            );
        }
        self.charge(attempt, &pieces, who, [machine, told]);
    }

    /// Charges the pieces of an attempt; the machines are the one that it ran on and the one that
    /// its cells name.
    fn charge(&mut self, attempt: &Attempt, pieces: &[Piece], who: u32, [machine, told]: [u32; 2]) {
        let grid = &self.plan.grid;
        let shift = self.cluster.shift_us;
        let (cells, on_machines) = (&mut self.part.cells, &mut self.part.on_machines);
        let shown_from = self.plan.shown_from;
        let mut shown = CpuTime::ZERO;
        let mut put = |interval, sums: Sums| {
            if shown_from <= interval && sums.cpu != CpuTime::ZERO {
                *on_machines.entry((machine, who)).or_default() += sums.cpu;
            }
            add(cells, (interval, who, told), sums);
        };
        let is_charged = self.plan.accrual == Accrual::Running;
        for &(from, to, rate, memory) in pieces {
            grid.split(from + shift, to + shift, |interval, length_us| {
                let (held, held_memory) = (rate.over(length_us), memory.over(length_us));
                let mut sums = Sums { held, held_memory, ..Sums::default() };
                shown += if shown_from <= interval { held } else { CpuTime::ZERO };
                if is_charged {
                    (sums.cpu, sums.memory) = (held, held_memory);
                }
                put(interval, sums);
            });
        }
        let until = |&(from, to, rate, _): &Piece| {
            let (from, to) = ((from + shift).max(grid.start_us), (to + shift).min(grid.end_us()));
            (rate != CpuRate::ZERO && from < to).then_some(to)
        };
        if let Some(last_us) = pieces.iter().filter_map(until).max() {
            self.part.people.has_used(who, last_us);
        }
        if attempt.ended_by == EndedBy::Job && shown != CpuTime::ZERO {
            self.part.counts.closed_with_job += 1;
            self.part.counts.closed_with_job_cpu += shown;
        }
        let is_due = self.plan.accrual == Accrual::End && !attempt.is_open();
        if let Some(interval) = grid.interval_of(attempt.end_us + shift).filter(|_| is_due) {
            let cpu = pieces.iter().map(|piece| piece.2.over(piece.1 - piece.0)).sum();
            let memory = pieces.iter().map(|piece| piece.3.over(piece.1 - piece.0)).sum();
            put(interval, Sums { cpu, memory, ..Sums::default() });
        }
    }

    /// Wait and run of an attempt that has ended. Whether its task runs again is not known by then.
    fn end(&mut self, task: &TaskView<'_>, attempt: &Attempt, who: u32) {
        if !self.plan.keeps_ends || attempt.is_open() {
            return;
        }
        let start = attempt.start_us;
        // A submit at 0 of the Google trace is one before the window.
        let is_known = |&submit: &i64| {
            submit <= start && (submit != 0 || !self.cluster.lake.source().is_google())
        };
        let interval = self.plan.grid.interval_of(self.shifted(attempt.end_us));
        let (Some(submit), Some(interval)) = (submit_of(task, attempt).filter(is_known), interval)
        else {
            return;
        };
        self.part.ends.push(AttemptEnd {
            interval,
            who,
            wait_s: micros_to_seconds(start - submit),
            run_s: micros_to_seconds(attempt.end_us - start),
        });
    }
}

/// The SUBMIT that an attempt waited from: the first since the attempt before had ended.
fn submit_of(task: &TaskView<'_>, attempt: &Attempt) -> Option<i64> {
    let mut submit = None;
    for event in task.events.iter().take_while(|event| event.row != attempt.row) {
        match event.event_type {
            EventType::Submit => submit = submit.or(Some(event.time_us)),
            kind if kind.is_deciding() => submit = None,
            _ => {}
        }
    }
    submit
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
