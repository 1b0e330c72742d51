//! The pass over a lake that adds up load.
//!
//! In: a lake and the settings in [`Asked`]. Out: a [`Load`]. A bucket's tasks are added to the
//! sums of a thread before the next bucket is read, so memory depends on the largest bucket, the
//! intervals and the groups, and not on the trace.

use rayon::prelude::*;

use super::arrivals::Arrivals;
use super::groups::{BucketGroups, band_of};
use super::intervals::Amounts;
use super::jobs::{JobSums, Size};
use super::strips::{self, Sample, Strips};
use super::{Amount, By, Capacity, Cells, Groups, Intervals, Sums};
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::jobs::QUEUE;
use crate::facts::machines::{MachineEvents, UpTime, is_from_use};
use crate::facts::tasks::{
    EndedBy, TaskView, Tasks, Usage, Window, has_cpu_times, records_cpu_time, records_used_memory,
};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{EventType, ON_SEVERAL, SYSTEM_MACHINE, Source, Table};
use crate::studies::ledger::UNKNOWN;
use crate::studies::meter::MemoryDefinition;
use crate::studies::outcomes::Classes;
use crate::studies::texts::Texts;
use crate::units::CpuRate;

/// The settings.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The intervals.
    pub at: Intervals,
    /// The key of the groups.
    pub by: By,
    /// How outcomes are defined.
    pub classes: Classes,
    /// Number of users or accounts with their own group.
    pub most: usize,
    /// What used memory means.
    pub memory: MemoryDefinition,
}

/// A span of time for which something is known, µs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first instant of the span.
    pub from_us: i64,
    /// The last instant of the span.
    pub to_us: i64,
}

impl Span {
    /// The span of windows that are sorted by their start; `None` without any.
    fn of(windows: &[Window]) -> Option<Self> {
        let from_us = windows.first()?.start_us;
        let to_us = windows.iter().map(|window| window.end_us).max()?;
        Some(Self { from_us, to_us })
    }

    fn with(own: Option<Self>, [from_us, to_us]: [i64; 2]) -> Self {
        let known = own.unwrap_or(Self { from_us, to_us });
        let (from_us, to_us) = (known.from_us.min(from_us), known.to_us.max(to_us));
        Self { from_us, to_us }
    }

    fn merge(own: Option<Self>, other: Option<Self>) -> Option<Self> {
        other.map(|other| Self::with(own, [other.from_us, other.to_us])).or(own)
    }
}

/// Counts of attempts and usage windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Attempts.
    pub attempts: u64,
    /// Attempts without a CPU request, counted as 0.
    pub without_cpu_request: u64,
    /// Attempts without a memory request, counted as 0.
    pub without_memory_request: u64,
    /// Attempts without a record of GPUs, counted as 0.
    pub without_gpu_request: u64,
    /// Attempts without an end event, closed with their job.
    pub closed_with_job: u64,
    /// Attempts that began before the window.
    pub left_censored: u64,
    /// Attempts open at the end of the window.
    pub censored: u64,
    /// Attempts with a CPU use recorded by the log.
    pub with_cpu_time: u64,
    /// Attempts with a memory use recorded by the log.
    pub with_used_memory: u64,
}

impl Counts {
    fn merge(&mut self, other: Self) {
        self.attempts += other.attempts;
        self.without_cpu_request += other.without_cpu_request;
        self.without_memory_request += other.without_memory_request;
        self.without_gpu_request += other.without_gpu_request;
        self.closed_with_job += other.closed_with_job;
        self.left_censored += other.left_censored;
        self.censored += other.censored;
        self.with_cpu_time += other.with_cpu_time;
        self.with_used_memory += other.with_used_memory;
    }
}

/// The cluster over time.
#[derive(Clone, Debug)]
pub struct Load {
    /// The settings.
    pub asked: Asked,
    /// The kind of trace.
    pub source: Source,
    /// The groups that are not empty, in the order in which they are stacked.
    pub groups: Vec<(String, Cells)>,
    /// The sum of all groups.
    pub all: Cells,
    /// Capacity of the machines.
    pub capacity: Capacity,
    /// The span of the usage table; `None` without one.
    pub usage: Option<Span>,
    /// Whether a log records the CPU, and whether it records the memory, that its jobs used.
    pub recorded: [bool; 2],
    /// Whether the times at which tasks waited are known.
    pub knows_waits: bool,
    /// Counts of attempts and usage windows.
    pub counts: Counts,
    /// Submitted jobs by interval; `None` without `job_events`.
    pub jobs: Option<Vec<u64>>,
    /// When jobs arrived.
    pub arrivals: Arrivals,
    /// Outcomes of jobs by size and by user.
    pub job_sums: JobSums,
    /// A sample of machines over time.
    pub strips: Strips,
}

impl Load {
    /// Whether any attempt has a number of GPUs.
    pub fn knows_gpus(&self) -> bool {
        self.counts.without_gpu_request < self.counts.attempts
    }
}

/// The sums of some buckets.
pub struct Part {
    sums: Vec<Sums>,
    counts: Counts,
    usage: Option<Span>,
    jobs: Vec<u64>,
    arrivals: Arrivals,
    job_sums: JobSums,
    strips: Vec<strips::Sums>,
}

impl Part {
    fn new(asked: &Asked, groups: &Groups, sample: &Sample) -> Self {
        let count = asked.at.count();
        Self {
            sums: groups.names.iter().map(|_| Sums::new(count)).collect(),
            counts: Counts::default(),
            usage: None,
            jobs: vec![0; count],
            arrivals: Arrivals::default(),
            job_sums: JobSums::default(),
            strips: sample.sums(),
        }
    }

    /// Merges both.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.sums.iter_mut().zip(&other.sums).for_each(|(own, others)| own.merge(others));
        self.counts.merge(other.counts);
        self.usage = Span::merge(self.usage, other.usage);
        self.jobs.iter_mut().zip(other.jobs).for_each(|(own, others)| *own += others);
        self.arrivals.merge(other.arrivals);
        self.job_sums.merge(other.job_sums);
        strips::merge(&mut self.strips, &other.strips);
        self
    }
}

/// Adds up a lake.
///
/// # Errors
/// `task_events` is missing, a table cannot be read, or the callback stops the call.
pub fn fold(lake: &Lake, windows: Windows, asked: &Asked) -> Result<Load, FactError> {
    let adding = Adding::of(lake, windows, asked)?;
    let rows = lake.expect_rows(&[Table::JobEvents, Table::TaskEvents, Table::TaskUsage]);
    let part = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .try_fold(
            || adding.nothing(),
            |mut part, bucket| {
                adding.bucket(&Bucket::of(lake, bucket, windows), &mut part)?;
                lake.step(rows)?;
                Ok::<Part, FactError>(part)
            },
        )
        .try_reduce_with(|one, other| Ok(one.merge(other)))
        .unwrap_or_else(|| Ok(adding.nothing()))?;
    Ok(adding.load(part))
}

/// The state needed to add up buckets. The caller reads the buckets.
pub struct Adding {
    asked: Asked,
    source: Source,
    windows: Windows,
    has_jobs: bool,
    recorded: [bool; 2],
    /// The column of used memory that is read together with the CPU rate, if any.
    memory_beside: Option<&'static str>,
    /// What is read a second time for used memory, if needed: logs have it in another place.
    memory_alone: Option<Usage>,
    groups: Groups,
    up: Vec<UpTime>,
    sample: Sample,
}

impl Adding {
    /// Reads the data of the lake as a whole.
    ///
    /// # Errors
    /// Those of [`fold`].
    pub fn of(lake: &Lake, windows: Windows, asked: &Asked) -> Result<Self, FactError> {
        lake.require(Table::TaskEvents)?;
        let up = MachineEvents::read(lake)?.up_times(asked.at.end_us);
        let recorded = [records_cpu_time(lake)?, records_used_memory(lake)?];
        let memory = asked.memory.usage_column().filter(|_| lake.has(Table::TaskUsage));
        let memory_beside = memory.filter(|_| !has_cpu_times(lake));
        let again = memory.filter(|_| memory_beside.is_none()).map(Usage::Memory);
        Ok(Self {
            asked: *asked,
            memory_beside,
            memory_alone: again
                .or_else(|| (memory.is_none() && recorded[1]).then_some(Usage::UsedMemory)),
            source: lake.source(),
            windows,
            has_jobs: lake.has(Table::JobEvents),
            recorded,
            groups: Groups::of(lake, windows, (asked.by, asked.classes, asked.most))?,
            sample: Sample::of(&with_strips(lake, &up), &asked.at),
            up,
        })
    }

    /// The number of cells of a part: intervals × groups.
    pub fn cells(&self) -> usize {
        self.asked.at.count() * self.groups.names.len()
    }

    /// An empty part.
    pub fn nothing(&self) -> Part {
        Part::new(&self.asked, &self.groups, &self.sample)
    }

    /// The load, from the sums of all buckets.
    pub fn load(self, part: Part) -> Load {
        let at = &self.asked.at;
        let cells: Vec<Cells> = part.sums.iter().map(|sums| Cells::of(sums, at)).collect();
        let all = Cells::sum(&cells);
        let groups = self.groups.names.into_iter().zip(cells);
        Load {
            asked: self.asked,
            source: self.source,
            groups: groups.filter(|(_, cells)| !cells.is_empty()).collect(),
            all,
            capacity: Capacity::of(&self.up, at),
            usage: part.usage,
            recorded: self.recorded,
            knows_waits: true,
            counts: part.counts,
            jobs: self.has_jobs.then_some(part.jobs),
            arrivals: part.arrivals,
            job_sums: part.job_sums,
            strips: self.sample.strips(&part.strips, &self.up),
        }
    }

    /// Adds a bucket.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn bucket(&self, bucket: &Bucket<'_>, part: &mut Part) -> Result<(), FactError> {
        let (lake, windows, asked) = (bucket.lake, self.windows, &self.asked);
        let jobs = bucket.jobs_without_names()?;
        let group_of = self.groups.of_bucket(lake, bucket.number, &jobs)?;
        let mut sizes = vec![Size::default(); jobs.jobs.len()];
        let tasks = bucket.tasks(Usage::ReadWithRequests(self.memory_beside))?;
        tasks.for_each(|task| {
            let sums = &mut part.sums[group_of.of(task)];
            part.counts.merge(self.task(&tasks, task, sums));
            part.usage = Span::merge(part.usage, Span::of(task.windows));
            self.windows_of(task, &mut sums.amounts[Amount::CpuUsed as usize], |of| of.rate);
            if self.memory_beside.is_some() {
                let amounts = &mut sums.amounts[Amount::MemoryUsed as usize];
                self.windows_of(task, amounts, |of| of.memory);
            }
            for attempt in task.attempts {
                self.sample.add(&mut part.strips, attempt);
            }
            if let Some(position) = jobs.find(task.job_id) {
                let row = task.events.first().map_or(0, |event| event.row);
                sizes[position].first.get_or_insert((row, task.priority));
                sizes[position].suspended.add(task.attempts);
                // The last known requests; a task that never ran has them too.
                sizes[position].add([0, 1].map(|resource| {
                    task.events
                        .iter()
                        .rev()
                        .find_map(|event| tasks.requests_of(event.row)[resource])
                }));
            }
        });
        drop(tasks);
        self.memory(bucket, &group_of, part)?;
        let queues = Texts::read(lake, bucket.number, QUEUE)?;
        for (job, size) in jobs.jobs.iter().zip(&sizes) {
            if let Some(submit_us) = job.first_submit_us {
                if let Some(interval) = asked.at.of(submit_us) {
                    part.jobs[interval] += 1;
                }
                part.arrivals.add(submit_us, windows.is_before(submit_us));
            }
            let user = job.user.map(|user| jobs.names.get(user));
            let queue = match size.first {
                Some((_, priority)) if self.source.is_google() => band_of(self.source, priority).1,
                Some((row, _)) => queues.of(row),
                None => UNKNOWN,
            };
            part.job_sums.add(job, windows, (user, queue), (size, self.source.is_log()));
        }
        Ok(())
    }

    /// Adds what a task requests over time, and its events.
    fn task(&self, tasks: &Tasks, task: &TaskView<'_>, sums: &mut Sums) -> Counts {
        let at = &self.asked.at;
        let mut counts = Counts { attempts: task.attempts.len() as u64, ..Counts::default() };
        for attempt in task.attempts {
            let time = [attempt.start_us, attempt.end_us];
            let mut add = |amount: Amount, rate| sums.amounts[amount as usize].add(at, time, rate);
            add(Amount::CpuAllocated, attempt.requested_rate());
            add(Amount::MemoryAllocated, attempt.held_memory());
            add(Amount::GpusAllocated, attempt.held_gpus());
            add(Amount::Running, attempt.slot_rate());
            if self.recorded[0] {
                add(Amount::CpuUsed, attempt.used_rate(self.source));
            }
            counts.without_cpu_request += u64::from(attempt.cpu_request.is_none());
            counts.without_memory_request += u64::from(attempt.memory.is_none());
            counts.without_gpu_request += u64::from(attempt.gpus.is_none());
            counts.closed_with_job += u64::from(attempt.ended_by == EndedBy::Job);
            counts.with_cpu_time += u64::from(attempt.records_cpu_time());
            if attempt.start_us < i64::MAX {
                counts.left_censored += u64::from(self.windows.is_before(attempt.start_us));
                counts.censored += u64::from(attempt.is_open());
            }
        }
        waits(self.windows, tasks, task, |time, [cpu, memory, gpus]| {
            let rate = |request: Option<f32>| request.map_or(CpuRate::ZERO, CpuRate::new);
            let mut add = |amount: Amount, rate| sums.amounts[amount as usize].add(at, time, rate);
            add(Amount::CpuPending, rate(cpu));
            add(Amount::MemoryPending, rate(memory));
            add(Amount::GpusPending, rate(gpus));
            add(Amount::Pending, CpuRate::ONE);
        });
        for event in task.events {
            let counts = sums.events.get_mut(event.event_type as usize);
            if let (Some(counts), Some(interval)) = (counts, at.of(event.time_us)) {
                counts[interval] += 1;
            }
        }
        counts
    }

    /// Adds the usage windows of a task, as far as they are inside attempts.
    fn windows_of(
        &self,
        task: &TaskView<'_>,
        amounts: &mut Amounts,
        rate: impl Fn(&Window) -> f32,
    ) {
        for window in task.windows {
            let first = task.attempts.partition_point(|attempt| attempt.end_us <= window.start_us);
            let attempts = task.attempts[first..].iter();
            for attempt in attempts.take_while(|attempt| attempt.start_us < window.end_us) {
                let from_us = window.start_us.max(attempt.start_us);
                let time = [from_us, window.end_us.min(attempt.end_us)];
                amounts.add(&self.asked.at, time, CpuRate::new(rate(window)));
            }
        }
    }

    /// Adds used memory that was not read together with the CPU rate.
    fn memory(
        &self,
        bucket: &Bucket<'_>,
        group_of: &BucketGroups<'_>,
        part: &mut Part,
    ) -> Result<(), FactError> {
        let (lake, asked) = (bucket.lake, &self.asked);
        let Some(usage) = self.memory_alone else { return Ok(()) };
        Tasks::read(lake, bucket.number, self.windows, usage)?.for_each(|task| {
            let sums = &mut part.sums[group_of.of(task)];
            let amounts = &mut sums.amounts[Amount::MemoryUsed as usize];
            if usage != Usage::UsedMemory {
                self.windows_of(task, amounts, |of| of.rate);
                return;
            }
            for attempt in task.attempts {
                part.counts.with_used_memory += u64::from(attempt.memory.is_some());
                let time = [attempt.start_us, attempt.end_us];
                amounts.add(&asked.at, time, attempt.held_memory());
            }
        });
        Ok(())
    }
}

/// The machines that can have a strip. The entry for the whole system of a log is left out. If jobs
/// ran on several machines, the log does not record how they were divided among these, so no
/// machine has a strip.
fn with_strips(lake: &Lake, up: &[UpTime]) -> Vec<UpTime> {
    let remarks = lake.remarks(Table::TaskEvents);
    if remarks.contains_key(ON_SEVERAL) {
        return Vec::new();
    }
    let is_system = |time: &&UpTime| is_from_use(lake) && time.machine_id == SYSTEM_MACHINE;
    up.iter().filter(|time| !is_system(time)).copied().collect()
}

/// The waits of a task, with the requests known by then. A wait is from a SUBMIT until the task is
/// scheduled or ends, or its job ends.
pub(in crate::studies) fn waits(
    windows: Windows,
    tasks: &Tasks,
    task: &TaskView<'_>,
    mut wait: impl FnMut([i64; 2], [Option<f32>; 3]),
) {
    let mut since: Option<i64> = None;
    let mut request = [None; 3];
    // Only the wait after the last deciding event has no recorded end.
    let last = task.events.iter().rposition(|event| event.event_type.is_deciding());
    let end_us = task.job_end_us.unwrap_or(i64::MAX).min(windows.task_end_us);
    for (place, event) in task.events.iter().enumerate() {
        let kind = event.event_type;
        let is_update = kind == EventType::UpdatePending;
        if let Some(from_us) = since
            && (kind.is_deciding() || is_update)
        {
            let is_open = last.is_some_and(|last| last < place);
            let until_us = if is_open { event.time_us.min(end_us) } else { event.time_us };
            wait([from_us, until_us.max(from_us)], request);
        }
        if kind == EventType::Submit || is_update && since.is_some() {
            let now = tasks.requests_of(event.row);
            request = std::array::from_fn(|idx| now[idx].or(request[idx]));
            since = Some(event.time_us);
        } else if kind.is_deciding() {
            (since, request) = (None, [None; 3]);
        }
    }
    if let Some(from_us) = since {
        wait([from_us, end_us.max(from_us)], request);
    }
}
