//! Recorded history, as a workload and a cluster to replay.
//!
//! In: `task_events` and `machine_events` of a lake, and a [`HistoryPlan`] (window, sample, load).
//! Out: a checked [`Workload`] in order of (arrival, job, task), a checked
//! [`Cluster`](super::cluster::Cluster), and the assumptions as sentences. Usage is not read, and
//! recorded starts are not used.
//!
//! ```text
//!  recorded   SUBMIT  |--fail--|  |--evict--|  |----- finish -----|
//!  replayed   arrival, fails after the same work, then finishes after the work of the last try
//! ```

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::feedback::{Arrivals, Feedback, Stay, submissions};
use super::workload::{Column, Estimates, Failures, Reruns, UNITS, Workload, WorkloadError};
use crate::facts::FactError;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::replay::gpus::GpuAsk;
use crate::schema::{Source, Table};
use crate::units::MICROS_PER_SECOND;

mod assumptions;
mod gpus;
mod items;
mod machines;
mod pasts;
mod stages;

use self::gpus::Models;
use self::items::{Item, Items};

pub use self::assumptions::{of_estimates, of_feedback, of_gpus, of_late_changes, of_machines};
pub use self::machines::{Fleet, fleet};

/// The part of a history that is replayed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HistoryPlan {
    /// Tasks that arrive from this time on, µs.
    pub from_us: i64,
    /// Tasks that arrive before this time, µs.
    pub until_us: Option<i64>,
    /// Share of the jobs, sampled with the seed.
    pub sample: f64,
    /// Share of the machines, sampled with the seed.
    pub machines: f64,
    /// Factor of the arrival rate.
    pub load: f64,
    /// Factor of the machines' capacities.
    pub overcommit: f64,
    /// How much work a copy or a restart has.
    pub reruns: RerunWork,
    /// When a task is killed that was killed while it ran in the record.
    pub killed: KilledTasks,
    /// What an order that plans ahead uses as running time.
    pub estimates: Estimates,
    /// Whether users react to their jobs in one of the replays.
    pub has_feedback: bool,
    /// The seed of the samples.
    pub seed: u64,
}

impl Default for HistoryPlan {
    fn default() -> Self {
        Self {
            from_us: 0,
            until_us: None,
            sample: 1.0,
            machines: 1.0,
            load: 1.0,
            overcommit: 1.0,
            reruns: RerunWork::Same,
            killed: KilledTasks::Age,
            estimates: Estimates::Requested,
            has_feedback: false,
            seed: 0,
        }
    }
}

/// How much work a copy or a restart has. No trace records it; these are the two extremes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum RerunWork {
    /// The work of the attempt before it: the cause of slowness recurs
    #[default]
    Same,
    /// The work of a random finished task of its job: the cause of slowness never recurs
    Sibling,
}

/// When a killed task is killed. With the first rule, a task that was killed while it waited leaves
/// at its recorded age, or ends at once if it is started earlier: it never ran, so no work is
/// invented. With the second rule, it runs until its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum KilledTasks {
    /// After its recorded running time, as if a limit stopped it
    RunTime,
    /// At its recorded age, as if its user or another job ended it
    Age,
}

/// The numbers of tasks that were replayed, changed and left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Replayed tasks.
    pub tasks: u64,
    /// Jobs of these tasks.
    pub jobs: u64,
    /// Tasks that began before the window, with an unknown past.
    pub began_before: u64,
    /// Tasks still running at the end of the window.
    pub still_running: u64,
    /// Tasks whose last attempt has no end in the loaded parts and so ends with its job.
    pub ended_with_job: u64,
    /// Tasks that were evicted or lost and did not come back.
    pub never_back: u64,
    /// Tasks that are killed after their recorded running time.
    pub stopped: u64,
    /// Tasks that are killed at their recorded age.
    pub killed_at_age: u64,
    /// Failed attempts that are replayed.
    pub failures: u64,
    /// Recorded attempts that are not replayed: evicted, lost, or ended before a resubmission.
    pub dropped_attempts: u64,
    /// Tasks with too little data: neither run nor killed, or done without a start.
    pub left_out: u64,
    /// Tasks without a CPU request.
    pub without_cpu: u64,
    /// Tasks without a memory request.
    pub without_memory: u64,
    /// Tasks without a priority.
    pub without_priority: u64,
    /// Tasks without a user.
    pub without_user: u64,
    /// Jobs with a requested time for some task.
    pub jobs_with_request: u64,
    /// Jobs with a task that still runs at the end of the window; `None` in older results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs_still_running: Option<u64>,
    /// Tasks with a recorded wait: submitted in the window, and started.
    pub recorded_waits: u64,
    /// The sum of these waits from first submit to first start, ms.
    pub recorded_wait_ms: u64,
    /// All tasks of the lake, in the replayed part or not.
    #[serde(skip)]
    pub in_lake: u64,
}

impl Counts {
    /// Adds the counts that were made while other tasks were read.
    fn add(&mut self, part: &Self) {
        self.began_before += part.began_before;
        self.still_running += part.still_running;
        self.ended_with_job += part.ended_with_job;
        self.never_back += part.never_back;
        self.dropped_attempts += part.dropped_attempts;
        self.stopped += part.stopped;
        self.killed_at_age += part.killed_at_age;
        self.left_out += part.left_out;
        self.recorded_waits += part.recorded_waits;
        self.recorded_wait_ms += part.recorded_wait_ms;
        self.in_lake += part.in_lake;
    }

    /// Adds the recorded wait of a task, µs, if it is known.
    fn add_wait(&mut self, wait_us: Option<i64>) {
        let millis = wait_us.and_then(|wait_us| u64::try_from(wait_us / 1000).ok());
        self.recorded_waits += u64::from(millis.is_some());
        self.recorded_wait_ms += millis.unwrap_or(0);
    }

    /// Removes the recorded waits of a log that records none.
    pub const fn without_waits(&mut self) {
        (self.recorded_waits, self.recorded_wait_ms) = (0, 0);
    }

    /// The mean recorded wait, s; `None` if none is known.
    #[expect(clippy::cast_precision_loss, reason = "a mean of far fewer than 2^53 ms")]
    pub fn recorded_wait_s(&self) -> Option<f64> {
        let count = Some(self.recorded_waits).filter(|count| 0 < *count)?;
        Some(self.recorded_wait_ms as f64 / 1e3 / count as f64)
    }
}

/// A history, as a workload.
#[derive(Clone, Debug)]
pub struct History {
    /// The tasks.
    pub workload: Workload,
    /// The job and the index in it of each task.
    pub ids: Vec<(i64, i32)>,
    /// The recorded submission and end of each job, at the load of the plan; only if users react.
    pub stays: Vec<Stay>,
    /// The counts.
    pub counts: Counts,
    /// Tasks that ask for GPUs, of which no machine records any: the workload leaves them out.
    pub unchecked_gpus: u64,
    /// The assumptions, as sentences.
    pub assumptions: Vec<String>,
}

impl History {
    /// What each job follows if users react; `None` if they do not.
    pub fn feedback(&self, arrivals: Arrivals, load: f64) -> Option<Feedback> {
        let Arrivals::Closed { gap_s } = arrivals else { return None };
        let followed = submissions(&self.stays, scaled(gap_s * MICROS_PER_SECOND, load));
        Some(Feedback::new(&self.workload, followed))
    }

    fn leave_out_gpus(&mut self) {
        self.unchecked_gpus = self.workload.asks_for_gpus();
        self.workload.gpus = Column::Same(GpuAsk::NONE);
    }
}

/// Reads the tasks of a lake.
pub fn workload(
    lake: &Lake,
    windows: Windows,
    plan: &HistoryPlan,
) -> Result<Result<History, WorkloadError>, FactError> {
    lake.require(Table::TaskEvents)?;
    let rows = lake.expect_rows(&[Table::TaskEvents]);
    let models = Models::read(lake)?;
    let parts: Vec<Items> = (0..lake.bucket_count())
        .into_par_iter()
        .map(|bucket| {
            let read = Items::read(lake, bucket, windows, plan, models.as_ref())?;
            lake.step(rows)?;
            Ok(read)
        })
        .collect::<Result<_, FactError>>()?;
    let mut assembled = assemble(Items::join(parts), plan, lake.source());
    if let Ok(history) = &mut assembled
        && models.is_some_and(|models| !models.of_machines)
    {
        history.leave_out_gpus();
    }
    Ok(assembled)
}

/// An amount in millionths.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below zero")]
#[expect(clippy::cast_precision_loss, reason = "a million is exact")]
fn units(amount: f32) -> u64 {
    (f64::from(amount).max(0.0) * UNITS as f64).round() as u64
}

/// Numbers for keys, in order of first appearance.
struct Numbers<K>(FxHashMap<K, u32>);

impl<K: std::hash::Hash + Eq> Numbers<K> {
    fn of(&mut self, key: K) -> u32 {
        let next = u32::try_from(self.0.len()).expect("fewer than 2^32 tasks");
        *self.0.entry(key).or_insert(next)
    }

    /// The keys, in the order of their numbers.
    fn in_order(self) -> impl Iterator<Item = K> {
        let mut keys: Vec<(K, u32)> = self.0.into_iter().collect();
        keys.sort_unstable_by_key(|&(_, number)| number);
        keys.into_iter().map(|(key, _)| key)
    }
}

fn assemble(all: Items, plan: &HistoryPlan, source: Source) -> Result<History, WorkloadError> {
    let Items { tasks: mut items, failures, users: user_names, texts, mut counts, .. } = all;
    items.sort_unstable_by_key(|item| (item.arrival_us, item.id));
    let start_us = items.first().map_or(0, |item| item.arrival_us);
    let last = items.last().map(|item| arrival_us(item, start_us, plan.load));
    if last == Some(i64::MAX) {
        return Err(WorkloadError::Late { load: plan.load });
    }
    count(&items, &failures, &mut counts);
    let mut workload = columns(&items, &failures, plan, source);
    let mut users = Numbers(FxHashMap::default());
    workload.user = Column::Each(items.iter().map(|item| users.of(item.user)).collect());
    let name = |user: Option<u32>| user.map(|user| user_names.name(user)).unwrap_or_default();
    workload.user_names = users.in_order().map(|user| name(user).to_owned()).collect();
    let (dependencies, waiting) = stages::dependencies(&items, &texts);
    workload.dependencies = dependencies;
    let mut workload = workload.check()?;
    counts.jobs = workload.job_count() as u64;
    if plan.reruns == RerunWork::Sibling {
        workload.reruns = Reruns::of_siblings(&workload);
    }
    Ok(History {
        workload,
        ids: items.iter().map(|item| item.id).collect(),
        stays: if plan.has_feedback { stays(&items, plan.load) } else { Vec::new() },
        counts,
        unchecked_gpus: 0,
        assumptions: assumptions::of(&counts, waiting, plan, source),
    })
}

/// The recorded jobs, by number; `items` are in order of arrival.
fn stays(items: &[Item], load: f64) -> Vec<Stay> {
    let start_us = items.first().map_or(0, |item| item.arrival_us);
    let mut numbers = Numbers(FxHashMap::default());
    let mut stays: Vec<Stay> = Vec::new();
    let mut named = Vec::new();
    for item in items {
        let end_us = item.ended_us.map(|end_us| start_us + scaled(end_us - start_us, load));
        let job = numbers.of(item.id.0) as usize;
        if let Some(stay) = stays.get_mut(job) {
            // A job ends with the last of its tasks.
            stay.end_us = stay.end_us.zip(end_us).map(|(one, another)| one.max(another));
            continue;
        }
        let submit_us = arrival_us(item, start_us, load);
        stays.push(Stay { user: item.user, submit_us, end_us, after: None });
        named.push(item.more().after);
    }
    for (stay, after) in stays.iter_mut().zip(named) {
        stay.after = after.and_then(|job| numbers.0.get(&job).copied());
    }
    stays
}

/// Counts the tasks with missing values.
fn count(items: &[Item], failures: &[i64], counts: &mut Counts) {
    counts.tasks = items.len() as u64;
    counts.failures = failures.len() as u64;
    let (mut with_request, mut open) = (FxHashSet::default(), FxHashSet::default());
    for item in items {
        counts.without_priority += u64::from(item.priority.is_none());
        counts.without_user += u64::from(item.user.is_none());
        counts.without_cpu += u64::from(item.cpu.is_none());
        counts.without_memory += u64::from(item.memory.is_none());
        if item.more().requested_us.is_some() {
            with_request.insert(item.id.0);
        }
        if item.ended_us.is_none() {
            open.insert(item.id.0);
        }
    }
    counts.jobs_with_request = with_request.len() as u64;
    counts.jobs_still_running = Some(open.len() as u64);
}

fn arrival_us(item: &Item, start_us: i64, load: f64) -> i64 {
    start_us.saturating_add(scaled(item.arrival_us - start_us, load))
}

/// The columns of the tasks, except users.
fn columns(items: &[Item], failures: &[i64], plan: &HistoryPlan, source: Source) -> Workload {
    let start_us = items.first().map_or(0, |item| item.arrival_us);
    let default_cpu = if source.is_google() { 0 } else { UNITS };
    let mut workload = Workload::plain(items.len(), Column::Same(0));
    workload.arrival_us = each(items, |item| arrival_us(item, start_us, plan.load));
    workload.work_us = each(items, |item| item.work_us);
    workload.cpu = each(items, |item| item.cpu.map_or(default_cpu, units));
    workload.memory = each(items, |item| item.memory.map_or(0, units));
    workload.gpus = each(items, |item| item.more().gpus);
    workload.priority = each(items, |item| item.priority);
    workload.class = each(items, |item| item.class);
    workload.requested_us = each(items, |item| item.more().requested_us);
    workload.estimates = plan.estimates;
    workload.is_apart = each(items, |item| item.is_apart);
    workload.fate = each(items, |item| item.fate);
    let mut jobs = Numbers(FxHashMap::default());
    workload.job = Column::Each(items.iter().map(|item| jobs.of(item.id.0)).collect());
    let mut groups = Numbers(FxHashMap::default());
    let group = items.iter().map(|item| groups.of((item.id.0, item.more().phase)));
    workload.group = Column::Each(group.collect());
    let mut first = Vec::with_capacity(items.len() + 1);
    let mut work_us = Vec::with_capacity(failures.len());
    first.push(0);
    for item in items {
        work_us.extend(&failures[item.failures.start as usize..item.failures.end as usize]);
        first.push(u32::try_from(work_us.len()).expect("fewer than 2^32"));
    }
    workload.failures = Failures { first, work_us };
    workload
}

/// A column of one value if all items have the same.
fn each<T: PartialEq>(items: &[Item], value: impl Fn(&Item) -> T) -> Column<T> {
    match items.split_first() {
        Some((first, rest)) if rest.iter().all(|item| value(item) == value(first)) => {
            Column::Same(value(first))
        }
        _ => Column::Each(items.iter().map(value).collect()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a trace is far shorter than 2^53 µs")]
#[expect(clippy::cast_possible_truncation, reason = "a trace is far shorter than 2^63 µs")]
fn scaled(micros: i64, load: f64) -> i64 {
    if load == 1.0 { micros } else { (micros as f64 / load).round() as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::workload::Fate;

    fn item(id: (i64, i32), arrival_us: i64) -> Item {
        Item {
            arrival_us,
            id,
            work_us: 10,
            fate: Fate::Finishes,
            failures: 0..0,
            cpu: Some(0.5),
            memory: None,
            priority: None,
            class: None,
            user: None,
            is_apart: false,
            ended_us: None,
            more: None,
        }
    }

    #[test]
    fn tasks_are_numbered_by_arrival_and_load_brings_them_closer() {
        let mut late = item((7, 0), 300);
        late.failures = 1..3;
        let mut first = item((9, 1), 100);
        first.failures = 0..1;
        let mut all = Items { tasks: vec![late, first, item((9, 0), 100)], ..Items::default() };
        all.failures = vec![7, 4, 5];
        all.tasks[0].user = Some(all.users.code("u"));
        let plan = HistoryPlan { load: 2.0, ..HistoryPlan::default() };
        let history = assemble(all, &plan, Source::Google2011).unwrap();
        assert_eq!(history.ids, [(9, 0), (9, 1), (7, 0)]);
        let workload = history.workload;
        assert_eq!(workload.arrival_us, Column::Each(vec![100, 100, 200]));
        assert_eq!(workload.job, Column::Each(vec![0, 0, 1]));
        assert_eq!(workload.user, Column::Each(vec![0, 0, 1]));
        assert_eq!(workload.user_names, ["", "u"]);
        assert_eq!(workload.cpu.get(0), UNITS / 2);
        assert_eq!(workload.failures.of(1), [7]);
        assert_eq!(workload.failures.of(2), [4, 5]);
        assert_eq!((history.counts.tasks, history.counts.jobs, history.counts.failures), (3, 2, 3));
        assert_eq!(history.counts.without_memory, 3);
    }
}
