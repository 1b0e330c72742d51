//! One number per job or task, by group and outcome: the values of distributions.
//!
//! In: a lake, and the measured quantity. Out: [`Samples`], counted values. Each thread reads one
//! bucket at a time and only counts are kept. So memory depends on the largest bucket and the
//! number of different values, not on the size of the trace.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::censoring::Censoring;
use super::counted::{Counted, Edges, Value};
use super::ledger::GroupBy;
pub use super::split::{Group, OutcomeOf, Split};
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::jobs::{Job, Jobs, by_terminal};
use crate::facts::task_values::{Wait, WaitEnd, is_submitted_before, wait_of};
use crate::facts::tasks::{TaskView, Tasks};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;

/// What is described.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// First SCHEDULE to last event of each job
    #[default]
    JobDurations,
    /// Tasks of each job
    TasksPerJob,
    /// Events of each task
    EventsPerTask,
    /// First SUBMIT to first SCHEDULE of each task
    Waiting,
    /// Attempts of each task
    Attempts,
    /// Kaplan-Meier curve of job durations, unended jobs censored
    JobSurvival,
    /// Chance that a task's job finishes, given its events so far
    FinishGivenEvents,
    /// Running time of each attempt as a share of the requested time
    Estimates,
}

impl What {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JobDurations => "job-durations",
            Self::TasksPerJob => "tasks-per-job",
            Self::EventsPerTask => "events-per-task",
            Self::Waiting => "waiting",
            Self::Attempts => "attempts",
            Self::JobSurvival => "job-survival",
            Self::FinishGivenEvents => "finish-given-events",
            Self::Estimates => "estimates",
        }
    }

    /// The unit of the values.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::JobDurations | Self::Waiting | Self::JobSurvival => "s",
            Self::TasksPerJob => "tasks",
            Self::EventsPerTask | Self::FinishGivenEvents => "events",
            Self::Attempts => "attempts",
            Self::Estimates => "%",
        }
    }

    /// Number of stored amounts in one unit.
    pub fn per_unit(self) -> f64 {
        match self {
            // Stored in billionths of the requested time.
            Self::Estimates => 1e7,
            _ if self.is_time() => 1e6,
            _ => 1.0,
        }
    }

    /// Whether the values are lengths of time.
    pub fn is_time(self) -> bool {
        self.unit() == "s"
    }

    /// Whether the end of the window can cut values off. This holds for times, and for counts of
    /// events or attempts.
    fn has_end(self) -> bool {
        self.is_time() || matches!(self, Self::EventsPerTask | Self::Attempts | Self::Estimates)
    }

    /// What has one value each: `jobs`, `tasks` or `attempts`.
    pub const fn of(self) -> &'static str {
        match self {
            Self::JobDurations | Self::TasksPerJob | Self::JobSurvival => "jobs",
            Self::Estimates => "attempts",
            _ => "tasks",
        }
    }

    /// Whether each task has a value that does not depend on the outcome of its job.
    pub const fn is_of_tasks_alone(self) -> bool {
        matches!(self, Self::EventsPerTask | Self::Waiting | Self::Attempts | Self::Estimates)
    }

    /// The tables that are required. If `job_events` exists, it is read for outcomes as well.
    pub fn tables(self, group_by: Option<GroupBy>) -> Vec<Table> {
        match self {
            Self::JobDurations | Self::JobSurvival if group_by == Some(GroupBy::Priority) => {
                vec![Table::JobEvents, Table::TaskEvents]
            }
            Self::JobDurations | Self::JobSurvival => vec![Table::JobEvents],
            Self::FinishGivenEvents => vec![Table::JobEvents, Table::TaskEvents],
            _ => vec![Table::TaskEvents],
        }
    }
}

/// Counted values by group and outcome.
#[derive(Debug, Default)]
pub struct Samples {
    /// By group and position of the outcome. Unmatched jobs have the position after the last
    /// outcome.
    pub values: BTreeMap<(Group, usize), Counted>,
    /// Tasks that have no value because they began before the window.
    pub left_out: u64,
    /// By group, the largest number of tasks of one finished job that reached 1, 2, ... events. Only
    /// for [`What::FinishGivenEvents`].
    pub of_one_job: BTreeMap<Group, Vec<u64>>,
}

impl Samples {
    /// The values of an outcome in all groups.
    pub fn of_outcome(&self, outcome: usize) -> Counted {
        self.of(|key| key.1 == outcome)
    }

    /// The values with a key that `is_in` accepts.
    pub fn of(&self, is_in: impl Fn(&(Group, usize)) -> bool) -> Counted {
        let own = self.values.iter().filter(|(key, _)| is_in(key));
        own.map(|(_, values)| values.clone()).fold(Counted::default(), Counted::merge)
    }

    /// Drops values that are cut off at the end of the window, and returns their number.
    pub fn without_censored(&mut self) -> u64 {
        let count = |values: &Counted| values.count(Value::is_censored);
        let left_out = self.values.values().map(count).sum();
        self.values.values_mut().for_each(|values| values.retain(|value| !value.is_censored()));
        left_out
    }

    /// Keeps only the waits that ended in this way.
    pub fn keep_waits(&mut self, waits: Waits) {
        let is_kept = |value: Value| match waits {
            Waits::All => true,
            Waits::Started => !value.is_unstarted() && !value.is_censored(),
            Waits::Ended => value.is_unstarted(),
        };
        self.values.values_mut().for_each(|values| values.retain(is_kept));
    }

    /// The values that cross the edges of the window.
    pub fn censoring(&self, what: What) -> Censoring {
        let count = |is_in: fn(Value) -> bool| -> u64 {
            self.values.values().map(|values| values.count(is_in)).sum()
        };
        Censoring {
            of: what.of(),
            left_censored: count(Value::is_left_censored),
            left_censored_out: self.left_out,
            censored: what.has_end().then(|| count(Value::is_censored)),
            censored_out: 0,
            ended_waiting: (what == What::Waiting).then(|| count(Value::is_unstarted)),
            is_of_counts: !what.is_time(),
        }
    }

    pub(crate) fn merge(mut self, other: Self) -> Self {
        for (key, values) in other.values {
            let own = self.values.entry(key).or_default();
            *own = std::mem::take(own).merge(values);
        }
        self.left_out += other.left_out;
        for (group, most) in other.of_one_job {
            let own = self.of_one_job.entry(group).or_default();
            keep_most(own, &most);
        }
        self
    }
}

/// Keeps the larger number at each position.
fn keep_most(own: &mut Vec<u64>, other: &[u64]) {
    own.resize(own.len().max(other.len()), 0);
    own.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

/// Measures every job or task of a lake in several ways, in one pass. Returns samples in the order
/// of `asked`.
pub fn collect(
    lake: &Lake,
    windows: Windows,
    asked: &[(What, Split)],
) -> Result<Vec<Samples>, FactError> {
    let tables = require(lake, asked)?;
    let read = [Table::JobEvents, Table::TaskEvents].into_iter().filter(|it| tables.contains(it));
    let rows = lake.expect_rows(&read.collect::<Vec<Table>>());
    let none = || asked.iter().map(|_| Samples::default()).collect();
    (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(|number| {
            let collected = collect_bucket(&Bucket::shared(lake, number, windows), asked)?;
            lake.step(rows)?;
            Ok(collected)
        })
        .try_reduce(none, |one, other| Ok(merge_all(one, other)))
}

/// The tables that are read.
///
/// # Errors
/// The lake does not have one of them.
pub(crate) fn require(lake: &Lake, asked: &[(What, Split)]) -> Result<Vec<Table>, FactError> {
    let tables = asked.iter().flat_map(|(what, split)| what.tables(split.group_by));
    let tables: Vec<Table> = tables.collect();
    tables.iter().try_for_each(|&table| lake.require(table).map(|_| ()))?;
    Ok(tables)
}

/// The samples of a bucket, which should be a [shared](Bucket::shared) one.
pub(crate) fn collect_bucket(
    bucket: &Bucket<'_>,
    asked: &[(What, Split)],
) -> Result<Vec<Samples>, FactError> {
    asked.iter().map(|&asked| collect_one(bucket, asked)).collect()
}

/// Merges the samples of more buckets.
pub(crate) fn merge_all(own: Vec<Samples>, others: Vec<Samples>) -> Vec<Samples> {
    own.into_iter().zip(others).map(|(own, other)| own.merge(other)).collect()
}

fn collect_one(bucket: &Bucket<'_>, (what, split): (What, Split)) -> Result<Samples, FactError> {
    let (jobs, windows) = (bucket.jobs()?, bucket.windows);
    let mut collector = Collector::new(&jobs, windows, split);
    let mut left_out = 0;
    let of_tasks = what.tables(split.group_by).contains(&Table::TaskEvents);
    let tasks = of_tasks.then(|| bucket.tasks_alone()).transpose()?;
    match (what, &tasks) {
        (What::JobDurations | What::JobSurvival, _) => {
            let sizes = tasks.as_ref().map(|tasks| sizes_of(tasks, windows));
            collector.durations(&sizes.unwrap_or_default());
        }
        (What::TasksPerJob, Some(tasks)) => collector.sizes(&sizes_of(tasks, windows)),
        (_, Some(tasks)) => tasks.for_each(|task| left_out += collector.task(task, what)),
        (_, None) => unreachable!("values per task read the tasks"),
    }
    Ok(collector.finish(left_out))
}

/// Data about a job that comes from its tasks.
#[derive(Clone, Copy, Default)]
pub(super) struct JobSize {
    pub(super) tasks: i64,
    pub(super) priority: Option<i32>,
    /// Whether a task began before the window.
    pub(super) is_before: bool,
}

fn sizes_of(tasks: &Tasks, windows: Windows) -> FxHashMap<i64, JobSize> {
    let mut sizes: FxHashMap<i64, JobSize> = FxHashMap::default();
    tasks.for_each(|task| {
        let size = sizes.entry(task.job_id).or_default();
        size.tasks += 1;
        size.priority = size.priority.max(Some(task.priority));
        size.is_before |= is_before(task, windows);
    });
    sizes
}

fn is_before(task: &TaskView<'_>, windows: Windows) -> bool {
    task.events.first().is_some_and(|event| windows.has_begun_before(event.time_us))
}

/// The flags of a wait, by how it ended.
pub(super) fn edges_of(wait: Wait) -> Edges {
    Edges {
        is_censored: wait.end == WaitEnd::Open,
        is_unstarted: wait.end == WaitEnd::Ended,
        ..Edges::default()
    }
}

/// Which waits are described, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Waits {
    /// All of them
    #[default]
    All,
    /// Those that ended with the first attempt
    Started,
    /// Those that ended with the task or its job, before the first attempt
    Ended,
}

/// Collects values into samples.
pub(super) struct Collector<'a> {
    jobs: &'a Jobs,
    windows: Windows,
    split: Split,
    values: BTreeMap<(Group, usize), Vec<Value>>,
    /// For each finished job of a group, how many tasks have 0, 1, 2, ... events.
    finished: FxHashMap<(Group, i64), Vec<u64>>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(jobs: &'a Jobs, windows: Windows, split: Split) -> Self {
        Self { jobs, windows, split, values: BTreeMap::new(), finished: FxHashMap::default() }
    }

    pub(super) fn finish(self, left_out: u64) -> Samples {
        let values = self.values.into_iter().map(|(key, values)| (key, Counted::from(values)));
        let mut of_one_job: BTreeMap<Group, Vec<u64>> = BTreeMap::new();
        #[expect(clippy::iter_over_hash_type, reason = "the largest numbers have no order")]
        for ((group, _), mut tasks) in self.finished {
            for events in (1..tasks.len()).rev() {
                tasks[events - 1] += tasks[events];
            }
            keep_most(of_one_job.entry(group).or_default(), tasks.get(1..).unwrap_or_default());
        }
        Samples { values: values.collect(), left_out, of_one_job }
    }

    fn push(&mut self, job: Option<&Job>, priority: Option<i32>, value: Value) {
        let key = (self.split.group(job, self.jobs, priority), self.split.outcome(job, None));
        self.values.entry(key).or_default().push(value);
    }

    /// Adds the value of a task. `own` has the position of the outcome of the task itself in the
    /// outcomes of [`Classes::Terminal`], and the value.
    pub(super) fn push_task(
        &mut self,
        what: What,
        (job_id, priority): (i64, Option<i32>),
        own: (u8, Value),
    ) {
        let jobs = self.jobs;
        let job = jobs.find(job_id).map(|position| &jobs.jobs[position]);
        // It is unknown whether an open job will finish, so it has no outcome here.
        let is_open = |job: &Job| job.is_open_at(self.windows.job_end_us);
        let settled = job.filter(|job| what != What::FinishGivenEvents || !is_open(job));
        let outcome = self.split.outcome(settled, Some(own.0));
        let key = (self.split.group(job, jobs, priority), outcome);
        if what == What::FinishGivenEvents && outcome == 0 {
            let tasks = self.finished.entry((key.0.clone(), job_id)).or_default();
            let events = usize::try_from(own.1.amount()).expect("a task has few events");
            tasks.resize(tasks.len().max(events + 1), 0);
            tasks[events] += 1;
        }
        self.values.entry(key).or_default().push(own.1);
    }

    pub(super) fn durations(&mut self, sizes: &FxHashMap<i64, JobSize>) {
        let jobs = self.jobs;
        let end_us = self.windows.job_end_us;
        for job in &jobs.jobs {
            if let Some(duration) = job.duration_us(end_us) {
                let edges = Edges {
                    is_left_censored: self.windows.has_begun_before(job.first_event_us),
                    is_cut_before: job
                        .first_schedule_us
                        .is_some_and(|start_us| self.windows.has_begun_before(start_us)),
                    is_censored: job.is_open_at(end_us),
                    is_unstarted: false,
                };
                let priority = sizes.get(&job.id).and_then(|size| size.priority);
                self.push(Some(job), priority, Value::new(duration, edges));
            }
        }
    }

    pub(super) fn sizes(&mut self, sizes: &FxHashMap<i64, JobSize>) {
        let jobs = self.jobs;
        #[expect(clippy::iter_over_hash_type, reason = "values are sorted before they are counted")]
        for (&id, size) in sizes {
            let job = jobs.find(id).map(|position| &jobs.jobs[position]);
            let (is_left_censored, is_cut_before) = (size.is_before, size.is_before);
            let edges = Edges { is_left_censored, is_cut_before, ..Edges::default() };
            self.push(job, size.priority, Value::new(size.tasks, edges));
        }
    }

    /// Measures a task; returns 1 if it is left out because it began before the window.
    fn task(&mut self, task: &TaskView<'_>, what: What) -> u64 {
        let whole = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let begun = Edges {
            is_left_censored: is_before(task, self.windows),
            is_cut_before: is_before(task, self.windows),
            is_censored: task.is_open(self.windows.task_end_us),
            is_unstarted: false,
        };
        if what == What::Estimates {
            self.estimates(task, begun);
            return 0;
        }
        let (amount, edges) = match what {
            What::Waiting => match wait_of(task, self.windows) {
                Some(wait) => (wait.span_us, edges_of(wait)),
                None => return u64::from(is_submitted_before(task, self.windows)),
            },
            What::Attempts => (whole(task.attempts.len()), begun),
            _ => (whole(task.events.len()), begun),
        };
        let own = (by_terminal(task.events), Value::new(amount, edges));
        self.push_task(what, (task.job_id, Some(task.priority)), own);
        0
    }

    /// Measures those attempts of a task that have a requested time.
    fn estimates(&mut self, task: &TaskView<'_>, begun: Edges) {
        for attempt in task.attempts {
            let Some(requested_us) = attempt.requested_us else { continue };
            let is_cut_before = self.windows.has_begun_before(attempt.start_us);
            let edges = Edges { is_censored: attempt.is_open(), is_cut_before, ..begun };
            let requested_us = i128::from(requested_us);
            let run = i128::from(attempt.run_us()) * BILLION;
            // Rounded to the nearest.
            let used = (run + requested_us / 2).div_euclid(requested_us.max(1));
            let used = i64::try_from(used).unwrap_or(i64::MAX);
            let own = (by_terminal(task.events), Value::new(used, edges));
            self.push_task(What::Estimates, (task.job_id, Some(task.priority)), own);
        }
    }
}

/// Shares of requested times are stored in billionths.
const BILLION: i128 = 1_000_000_000;

/// Whether an attempt ran longer than requested, by its share of the requested time.
pub fn is_overrun(value: Value) -> bool {
    BILLION < i128::from(value.amount())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::events::Event;
    use crate::facts::tasks::{Attempt, EndedBy};
    use crate::facts::window::OpenAttempts;
    use crate::schema::EventType;
    use crate::studies::outcomes::Classes;

    #[test]
    fn an_estimate_is_used_up_by_a_share() {
        //  requested 100 s   |-- 25 s --|   |----- 100 s -----|   |------ 150 s ...
        //  and                                 |- 25 s -|......suspended......|- 25 s -|
        let attempt = |start_s: i64, end_s: i64, ended_by| Attempt {
            start_us: start_s * 1_000_000,
            end_us: end_s * 1_000_000,
            ended_by,
            cpu_request: None,
            memory: None,
            gpus: None,
            machine_id: None,
            cpu_used: None,
            requested_us: Some(100_000_000),
            ran_us: None,
            row: 0,
        };
        let failed = EndedBy::Event(EventType::Fail);
        let suspended = Attempt { ran_us: Some(50_000_000), ..attempt(150, 290, failed) };
        let open = attempt(300, 450, EndedBy::Nothing);
        let attempts = [attempt(0, 25, failed), attempt(30, 130, failed), suspended, open];
        let event = Event { time_us: 0, row_id: 0, event_type: EventType::Schedule, row: 0 };
        let mut task = TaskView {
            job_id: 1,
            task_index: 0,
            events: &[event],
            attempts: &attempts,
            windows: &[],
            priority: 0,
            phase: None,
            requested_us: Some(100_000_000),
            job_end_us: None,
        };
        let jobs = Jobs::default();
        let split = Split { classes: Classes::Terminal, of: OutcomeOf::Job, group_by: None };
        let windows = Windows {
            job_end_us: i64::MAX,
            task_end_us: i64::MAX,
            first_us: 0,
            open_attempts: OpenAttempts::default(),
        };
        let of = |task: &TaskView<'_>| {
            let mut collector = Collector::new(&jobs, windows, split);
            assert_eq!(collector.task(task, What::Estimates), 0);
            collector.finish(0).of(|_| true)
        };
        let all = of(&task);
        let amounts: Vec<i64> = all.runs().map(|(value, _)| value.amount()).collect();
        assert_eq!(amounts, [250_000_000, 500_000_000, 1_000_000_000, 1_500_000_000]);
        assert_eq!((all.count(is_overrun), all.count(Value::is_censored)), (1, 1));
        let unknown = attempts.map(|attempt| Attempt { requested_us: None, ..attempt });
        task.attempts = &unknown;
        assert_eq!(of(&task).count(|_| true), 0, "nothing was requested");
    }
}
