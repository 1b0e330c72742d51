//! Recorded history as a workload and a cluster to be replayed.
//!
//! In: `task_events` and `machine_events` of a lake, and a [`HistoryPlan`] (window, sample, load).
//! Out: a checked [`Workload`] in order of (arrival, job, task), a checked
//! [`Cluster`](super::cluster::Cluster), and in words what had to be assumed. Usage is not read, and no recorded start is kept.
//!
//! ```text
//!  recorded   SUBMIT  |--fail--|  |--evict--|  |----- finish -----|
//!  replayed   arrival, fails after the same work, then finishes after the work of the last try
//! ```

use arrow::array::AsArray;
use arrow::datatypes::{Float32Type, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::random::{Draws, Purpose};
use super::workload::{Column, Estimates, Failures, Fate, Reruns, UNITS, Workload, WorkloadError};
use crate::facts::FactError;
use crate::facts::events::{Event, optional_cells};
use crate::facts::task_values::first_submit;
use crate::facts::tasks::{Attempt, EndedBy, TaskView, Tasks, Usage};
use crate::facts::window::{BEGIN_2011_US, Windows};
use crate::lake::Lake;
use crate::schema::{EventType, Source, Table};

mod assumptions;
mod machines;

pub use self::assumptions::{of_estimates, of_machines};
pub use self::machines::{Fleet, fleet};

/// What of a history is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HistoryPlan {
    /// Tasks that arrive from here on, µs.
    pub from_us: i64,
    /// And before this, µs.
    pub until_us: Option<i64>,
    /// Share of the jobs, sampled with the seed.
    pub sample: f64,
    /// Share of the machines, drawn by the seed.
    pub machines: f64,
    /// Factor of the arrival rate.
    pub load: f64,
    /// Factor of the machines' capacities.
    pub overcommit: f64,
    /// How much work a copy or a restart has.
    pub reruns: RerunWork,
    /// When a task is killed that was killed while it ran.
    pub killed: KilledTasks,
    /// What an order that plans ahead takes for the running time of a task.
    pub estimates: Estimates,
    /// The seed.
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
            seed: 0,
        }
    }
}

/// How much work a copy or a restart has. No trace records it; these are the two extremes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum RerunWork {
    /// The same as its task: the cause of slowness recurs
    #[default]
    Same,
    /// The work of a random finished task of its job: the cause of slowness never recurs
    Sibling,
}

/// When a task is killed that was killed while it ran. One that was killed while it waited leaves
/// at its recorded age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum KilledTasks {
    /// After its recorded running time, as if a limit stopped it
    RunTime,
    /// At its recorded age, as if its user or another job ended it
    Age,
}

/// What was taken and what was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Tasks that are replayed.
    pub tasks: u64,
    /// Their jobs.
    pub jobs: u64,
    /// Tasks that were there before the window, with an unknown past.
    pub began_before: u64,
    /// Tasks still running at the end of the window.
    pub still_running: u64,
    /// Tasks whose last attempt has no end in the loaded parts and ends with its job.
    pub ended_with_job: u64,
    /// Tasks that ended by an eviction or a loss and did not come back.
    pub never_back: u64,
    /// Tasks that are killed after their recorded running time.
    pub stopped: u64,
    /// Tasks that are killed at their recorded age.
    pub killed_at_age: u64,
    /// Failed attempts carried along.
    pub failures: u64,
    /// Recorded attempts that are left to the replay: evicted, lost, or ended before a resubmission.
    pub dropped_attempts: u64,
    /// Tasks of which too little is known: neither run nor killed, or done without a start.
    pub left_out: u64,
    /// Tasks without a CPU request.
    pub without_cpu: u64,
    /// Tasks without a memory request.
    pub without_memory: u64,
    /// Tasks without a priority.
    pub without_priority: u64,
    /// Tasks without a user.
    pub without_user: u64,
    /// Jobs with a task whose user asked for a time.
    pub jobs_with_request: u64,
}

/// A history as a workload.
#[derive(Clone, Debug)]
pub struct History {
    /// The tasks.
    pub workload: Workload,
    /// Job and number within the job, task by task.
    pub ids: Vec<(i64, i32)>,
    /// What was taken.
    pub counts: Counts,
    /// What was assumed, in words.
    pub assumptions: Vec<String>,
}

/// One task on its way from the lake to a workload.
#[derive(Clone, Debug, PartialEq)]
struct Item {
    arrival_us: i64,
    id: (i64, i32),
    work_us: i64,
    fate: Fate,
    failures: Vec<i64>,
    cpu: Option<f32>,
    memory: Option<f32>,
    priority: Option<i32>,
    class: Option<u8>,
    user: Option<String>,
    is_apart: bool,
    requested_us: Option<i64>,
    phase: Option<String>,
}

/// Columns of a bucket's rows that [`TaskView`] does not carry.
struct Cells {
    cpu: Vec<Option<f32>>,
    memory: Vec<Option<f32>>,
    priorities: Vec<Option<i32>>,
    classes: Vec<Option<i32>>,
    requested: Vec<Option<i64>>,
    apart: Vec<bool>,
    users: Vec<Option<u32>>,
    names: Vec<String>,
}

const REQUESTED: &str = "requested_time_us";

impl Cells {
    fn read(lake: &Lake, bucket: u32) -> Result<Self, FactError> {
        let mut columns = vec![
            "cpu_request",
            "memory_request",
            "priority",
            "scheduling_class",
            "different_machines",
            "user",
        ];
        let knows_requested = lake.has_column(Table::TaskEvents, REQUESTED);
        if knows_requested {
            columns.push(REQUESTED);
        }
        let batches = lake.read(Table::TaskEvents, Some(bucket), &columns)?;
        let (users, names) = codes(&batches, "user");
        let mut apart = Vec::with_capacity(users.len());
        for batch in &batches {
            let column = batch.column_by_name("different_machines").expect("it was asked for");
            apart.extend(column.as_boolean().iter().map(|cell| cell == Some(true)));
        }
        Ok(Self {
            cpu: optional_cells::<Float32Type>(&batches, "cpu_request"),
            memory: optional_cells::<Float32Type>(&batches, "memory_request"),
            priorities: optional_cells::<Int32Type>(&batches, "priority"),
            classes: optional_cells::<Int32Type>(&batches, "scheduling_class"),
            requested: if knows_requested {
                optional_cells::<Int64Type>(&batches, REQUESTED)
            } else {
                Vec::new()
            },
            apart,
            users,
            names,
        })
    }
}

fn codes(batches: &[RecordBatch], column: &str) -> (Vec<Option<u32>>, Vec<String>) {
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    let (mut cells, mut names) = (Vec::new(), Vec::new());
    for batch in batches {
        let texts = batch.column_by_name(column).expect("it was asked for").as_string::<i32>();
        for text in texts {
            cells.push(text.map(|text| {
                if let Some(&number) = numbers.get(text) {
                    return number;
                }
                let number = u32::try_from(names.len()).expect("a bucket has fewer than 2^32 rows");
                names.push(text.to_owned());
                numbers.insert(text.to_owned(), number);
                number
            }));
        }
    }
    (cells, names)
}

/// Reads the tasks of a lake.
pub fn workload(
    lake: &Lake,
    windows: Windows,
    plan: &HistoryPlan,
) -> Result<Result<History, WorkloadError>, FactError> {
    lake.require(Table::TaskEvents)?;
    let rows = lake.expect_rows(&[Table::TaskEvents]);
    let parts: Vec<(Vec<Item>, Counts)> = (0..lake.bucket_count())
        .into_par_iter()
        .map(|bucket| {
            let read = items(lake, bucket, windows, plan)?;
            lake.step(rows)?;
            Ok(read)
        })
        .collect::<Result<_, FactError>>()?;
    let mut counts = Counts::default();
    let mut all = Vec::new();
    for (items, part) in parts {
        all.extend(items);
        counts.began_before += part.began_before;
        counts.still_running += part.still_running;
        counts.ended_with_job += part.ended_with_job;
        counts.never_back += part.never_back;
        counts.dropped_attempts += part.dropped_attempts;
        counts.stopped += part.stopped;
        counts.killed_at_age += part.killed_at_age;
        counts.left_out += part.left_out;
    }
    Ok(assemble(all, counts, plan, lake.source()))
}

fn items(
    lake: &Lake,
    bucket: u32,
    windows: Windows,
    plan: &HistoryPlan,
) -> Result<(Vec<Item>, Counts), FactError> {
    let cells = Cells::read(lake, bucket)?;
    let tasks = Tasks::read(lake, bucket, windows, Usage::Skip)?;
    let draws = Draws::new(plan.seed, Purpose::Sample);
    let (mut found, mut counts) = (Vec::new(), Counts::default());
    tasks.for_each(|view| {
        if draws.uniform(view.job_id.cast_unsigned(), 0) < plan.sample {
            found.extend(item(view, &cells, windows, plan, &mut counts));
        }
    });
    Ok((found, counts))
}

/// Whether an event is the end of an attempt: the task ran until then.
fn ends(attempt: Option<&Attempt>, event: &Event) -> bool {
    attempt.is_some_and(|attempt| {
        attempt.ended_by == EndedBy::Event(event.event_type) && attempt.end_us == event.time_us
    })
}

/// Whether a task lost its machine, or the trace its end.
const fn has_lost_machine(event: &Event) -> bool {
    matches!(event.event_type, EventType::Evict | EventType::Lost)
}

/// What happened before the window is moved to its beginning, or to the task's next event.
fn begun_us(view: &TaskView<'_>, windows: Windows) -> i64 {
    let known = view.events.iter().map(|event| event.time_us);
    known.filter(|&at_us| !windows.is_before(at_us)).min().unwrap_or(0).min(BEGIN_2011_US)
}

fn item(
    view: &TaskView<'_>,
    cells: &Cells,
    windows: Windows,
    plan: &HistoryPlan,
    counts: &mut Counts,
) -> Option<Item> {
    let begun_us = begun_us(view, windows);
    let inside = |at_us: i64| if windows.is_before(at_us) { begun_us } else { at_us };
    let first = view.events.first()?;
    let submit_us = first_submit(view).unwrap_or(first.time_us);
    let arrival_us = inside(submit_us.min(first.time_us));
    let is_late = plan.until_us.is_some_and(|until_us| until_us <= arrival_us);
    if arrival_us < plan.from_us || is_late || arrival_us == i64::MAX {
        return None;
    }
    let length = |start_us: i64, end_us: i64| (end_us.max(begun_us) - inside(start_us)).max(0);
    let last = view.attempts.last();
    let ended = view.events.iter().rev().find(|event| event.event_type.is_terminal());
    let ended_by = last.map(|attempt| attempt.ended_by);
    // Without an end of its own: it runs on, or its job has ended meanwhile.
    let is_open = matches!(ended_by, Some(EndedBy::Nothing | EndedBy::Job));
    let age_us = |at_us: i64| (inside(at_us.min(windows.task_end_us)) - arrival_us).max(0);
    let last_us = last.map(|attempt| length(attempt.start_us, attempt.end_us));
    let (fate, work_us) = match ended {
        _ if is_open => (Fate::Finishes, last_us),
        None => (Fate::Finishes, None),
        Some(event) => match event.event_type {
            EventType::Finish => (Fate::Finishes, last_us),
            EventType::Fail => (Fate::Fails, last_us),
            _ if plan.killed == KilledTasks::RunTime && ends(last, event) => {
                (Fate::Stopped, last_us)
            }
            _ => (Fate::Killed { age_us: age_us(event.time_us) }, Some(0)),
        },
    };
    let Some(work_us) = work_us else {
        counts.left_out += 1;
        return None;
    };
    counts.still_running += u64::from(ended_by == Some(EndedBy::Nothing));
    counts.ended_with_job += u64::from(ended_by == Some(EndedBy::Job));
    counts.never_back += u64::from(!is_open && ended.is_some_and(has_lost_machine));
    counts.began_before += u64::from(windows.is_before(first.time_us));
    let carries_last = fate.is_endless();
    counts.stopped += u64::from(fate == Fate::Stopped);
    counts.killed_at_age += u64::from(carries_last);
    let earlier = view.attempts.len() - usize::from(!carries_last && last.is_some());
    let is_failed = |attempt: &&Attempt| attempt.ended_by == EndedBy::Event(EventType::Fail);
    let failures = view.attempts[..earlier].iter().filter(is_failed);
    let failures: Vec<i64> =
        failures.map(|attempt| length(attempt.start_us, attempt.end_us)).collect();
    let kept = failures.len() + view.attempts.len() - earlier;
    let is_killed = ended_by == Some(EndedBy::Event(EventType::Kill));
    let ends_here = usize::from(carries_last && is_killed);
    let dropped = view.attempts.len() - kept;
    counts.dropped_attempts += dropped.saturating_sub(ends_here) as u64;
    let rows = || view.events.iter().rev().map(|event| event.row as usize);
    Some(Item {
        arrival_us,
        id: (view.job_id, view.task_index),
        work_us,
        fate,
        failures,
        cpu: rows().find_map(|row| cells.cpu[row]),
        memory: rows().find_map(|row| cells.memory[row]),
        priority: rows().find_map(|row| cells.priorities[row]),
        class: rows().find_map(|row| cells.classes[row]).and_then(|class| u8::try_from(class).ok()),
        user: rows()
            .find_map(|row| cells.users[row])
            .map(|user| cells.names[user as usize].clone()),
        is_apart: rows().any(|row| cells.apart[row]),
        requested_us: rows()
            .find_map(|row| cells.requested.get(row).copied().flatten())
            .filter(|&requested_us| 0 < requested_us),
        phase: view.phase.map(str::to_owned),
    })
}

/// Millionths of an amount.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below zero")]
#[expect(clippy::cast_precision_loss, reason = "a million is exact")]
fn units(amount: f32) -> u64 {
    (f64::from(amount).max(0.0) * UNITS as f64).round() as u64
}

/// Numbers of things in order of first appearance.
struct Numbers<K>(FxHashMap<K, u32>);

impl<K: std::hash::Hash + Eq> Numbers<K> {
    fn of(&mut self, key: K) -> u32 {
        let next = u32::try_from(self.0.len()).expect("fewer than 2^32 tasks");
        *self.0.entry(key).or_insert(next)
    }

    /// The things by number.
    fn in_order(self) -> impl Iterator<Item = K> {
        let mut keys: Vec<(K, u32)> = self.0.into_iter().collect();
        keys.sort_unstable_by_key(|&(_, number)| number);
        keys.into_iter().map(|(key, _)| key)
    }
}

fn assemble(
    mut items: Vec<Item>,
    mut counts: Counts,
    plan: &HistoryPlan,
    source: Source,
) -> Result<History, WorkloadError> {
    items.sort_unstable_by_key(|item| (item.arrival_us, item.id));
    let mut jobs = Numbers(FxHashMap::default());
    let mut users = Numbers(FxHashMap::default());
    let mut groups = Numbers(FxHashMap::default());
    let (mut job, mut user, mut group) = (Vec::new(), Vec::new(), Vec::new());
    let mut failures = Failures { first: vec![0], work_us: Vec::new() };
    for item in &mut items {
        counts.without_priority += u64::from(item.priority.is_none());
        counts.without_user += u64::from(item.user.is_none());
        job.push(jobs.of(item.id.0));
        user.push(users.of(item.user.take()));
        group.push(groups.of((item.id.0, item.phase.take())));
        failures.work_us.append(&mut item.failures);
        failures.first.push(u32::try_from(failures.work_us.len()).expect("fewer than 2^32"));
        counts.without_cpu += u64::from(item.cpu.is_none());
        counts.without_memory += u64::from(item.memory.is_none());
    }
    let mut has_request = vec![false; jobs.0.len()];
    for (item, &job) in items.iter().zip(&job) {
        has_request[job as usize] |= item.requested_us.is_some();
    }
    counts.jobs_with_request =
        has_request.iter().filter(|has_request| **has_request).count() as u64;
    counts.tasks = items.len() as u64;
    counts.jobs = jobs.0.len() as u64;
    counts.failures = failures.work_us.len() as u64;
    let default_cpu = if source.is_google() { 0 } else { UNITS };
    let start_us = items.first().map_or(0, |item| item.arrival_us);
    let mut workload = Workload::plain(items.len(), Column::Same(0));
    workload.arrival_us =
        each(&items, |item| start_us.saturating_add(scaled(item.arrival_us - start_us, plan.load)));
    if let Some(last) = items.len().checked_sub(1).and_then(|last| u32::try_from(last).ok())
        && workload.arrival_us.get(last) == i64::MAX
    {
        return Err(WorkloadError::Late { load: plan.load });
    }
    workload.work_us = each(&items, |item| item.work_us);
    workload.cpu = each(&items, |item| item.cpu.map_or(default_cpu, units));
    workload.memory = each(&items, |item| item.memory.map_or(0, units));
    workload.priority = each(&items, |item| item.priority);
    workload.class = each(&items, |item| item.class);
    workload.requested_us = each(&items, |item| item.requested_us);
    workload.estimates = plan.estimates;
    workload.is_apart = each(&items, |item| item.is_apart);
    workload.fate = each(&items, |item| item.fate);
    workload.user = Column::Each(user);
    workload.user_names = users.in_order().map(Option::unwrap_or_default).collect();
    workload.job = Column::Each(job);
    workload.group = Column::Each(group);
    workload.failures = failures;
    let mut workload = workload.check()?;
    if plan.reruns == RerunWork::Sibling {
        workload.reruns = Reruns::of_siblings(&workload);
    }
    Ok(History {
        workload,
        ids: items.iter().map(|item| item.id).collect(),
        counts,
        assumptions: assumptions::of(&counts, plan, source),
    })
}

fn each<T>(items: &[Item], value: impl Fn(&Item) -> T) -> Column<T> {
    Column::Each(items.iter().map(value).collect())
}

#[expect(clippy::cast_precision_loss, reason = "a trace is far shorter than 2^53 µs")]
#[expect(clippy::cast_possible_truncation, reason = "a trace is far shorter than 2^63 µs")]
fn scaled(micros: i64, load: f64) -> i64 {
    if load == 1.0 { micros } else { (micros as f64 / load).round() as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: (i64, i32), arrival_us: i64) -> Item {
        Item {
            arrival_us,
            id,
            work_us: 10,
            fate: Fate::Finishes,
            failures: Vec::new(),
            cpu: Some(0.5),
            memory: None,
            priority: None,
            class: None,
            user: None,
            is_apart: false,
            requested_us: None,
            phase: None,
        }
    }

    #[test]
    fn tasks_are_numbered_by_arrival_and_load_brings_them_closer() {
        let mut late = item((7, 0), 300);
        late.failures = vec![4, 5];
        late.user = Some("u".to_owned());
        let items = vec![late, item((9, 1), 100), item((9, 0), 100)];
        let plan = HistoryPlan { load: 2.0, ..HistoryPlan::default() };
        let history = assemble(items, Counts::default(), &plan, Source::Google2011).unwrap();
        assert_eq!(history.ids, [(9, 0), (9, 1), (7, 0)]);
        let workload = history.workload;
        assert_eq!(workload.arrival_us, Column::Each(vec![100, 100, 200]));
        assert_eq!(workload.job, Column::Each(vec![0, 0, 1]));
        assert_eq!(workload.user, Column::Each(vec![0, 0, 1]));
        assert_eq!(workload.cpu.get(0), UNITS / 2);
        assert_eq!(workload.failures.of(2), [4, 5]);
        assert_eq!((history.counts.tasks, history.counts.jobs, history.counts.failures), (3, 2, 2));
        assert_eq!(history.counts.without_memory, 3);
    }
}
