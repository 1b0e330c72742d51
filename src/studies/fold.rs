//! One pass over a lake for the whole outcome study: ledger, sweep, and who is harmed.
//!
//! In: a lake and the kill rules to sweep. Out: a [`Study`], one row per job, from which every
//! table of the study is summed. Memory follows the largest bucket; the sums are exact, so
//! neither the number of threads nor the order of buckets can move a digit.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::rules::{Owner, RuleGrid};
use crate::facts::FactError;
use crate::facts::jobs::{Job, Jobs};
use crate::facts::tasks::{Spent, TaskView, Tasks, Usage, UsageCounts};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{Source, Table};
use crate::units::{CpuRate, CpuTime};

/// How many definitions of CPU time are added up per task.
pub const TASK_DEFINITIONS: usize = 3;

/// CPU time under each definition that is known per task: slots, requested, measured.
pub type PerDefinition = [CpuTime; TASK_DEFINITIONS];

/// What the study knows of a job.
#[derive(Clone, Debug)]
pub struct JobRow {
    /// The job.
    pub job_id: i64,
    /// What `job_events` says; `None` for a job that it does not know.
    pub job: Option<Job>,
    /// The user.
    pub user: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The largest priority among its tasks.
    pub priority: Option<i32>,
    /// Tasks with at least one event.
    pub task_count: u64,
    /// CPU of all its tasks.
    pub cpu: PerDefinition,
    /// What each rule would have done to it; empty where none condemns a task of it.
    pub kills: Vec<JobKills>,
}

/// What one rule would have done to a job, for the first parameters of its grid (no later one
/// condemns any task of it).
#[derive(Clone, Debug, Default)]
pub struct JobKills {
    /// By parameter.
    pub steps: Vec<KillStep>,
}

/// What one parameter of a rule would have done to a job.
#[derive(Clone, Copy, Debug, Default)]
pub struct KillStep {
    /// Condemned tasks.
    pub tasks: u64,
    /// CPU of the condemned tasks after their kill.
    pub saved: PerDefinition,
    /// CPU of the condemned tasks up to their kill.
    pub spent: PerDefinition,
}

/// The whole study.
#[derive(Debug, Default)]
pub struct Study {
    /// The kind of trace.
    pub source: Source,
    /// Every job of `job_events` or `task_events`, by id within a bucket.
    pub jobs: Vec<JobRow>,
    /// Measured CPU outside of attempts, that of windows without a task included.
    pub outside: CpuTime,
    /// Counts of usage rows.
    pub usage: UsageCounts,
    /// Attempts, and those without a CPU request.
    pub attempts: (u64, u64),
}

/// Folds a lake. Usage is read if it is there and `usage` asks for it.
pub fn fold(
    lake: &Lake,
    windows: Windows,
    rules: &[RuleGrid],
    usage: Usage,
) -> Result<Study, FactError> {
    lake.require(Table::TaskEvents)?;
    let usage = if lake.has(Table::TaskUsage) { usage } else { Usage::Skip };
    let parts: Result<Vec<Study>, FactError> = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(|bucket| fold_bucket(lake, bucket, windows, rules, usage))
        .collect();
    let mut study = Study { source: lake.source(), ..Study::default() };
    for part in parts? {
        study.jobs.extend(part.jobs);
        study.outside += part.outside;
        study.usage.windows += part.usage.windows;
        study.usage.without_rate += part.usage.without_rate;
        study.usage.overlapping += part.usage.overlapping;
        study.attempts.0 += part.attempts.0;
        study.attempts.1 += part.attempts.1;
    }
    Ok(study)
}

fn fold_bucket(
    lake: &Lake,
    bucket: u32,
    windows: Windows,
    rules: &[RuleGrid],
    usage: Usage,
) -> Result<Study, FactError> {
    let known =
        if lake.has(Table::JobEvents) { Jobs::read(lake, bucket)? } else { Jobs::default() };
    let tasks = Tasks::read(lake, bucket, windows.task_end_us, usage)?;
    let mut study = Study { usage: tasks.usage, outside: tasks.orphan_cpu, ..Study::default() };
    let mut rows: Vec<JobRow> = known.jobs.iter().map(|job| row_of(job, &known)).collect();
    let mut unknown: FxHashMap<i64, usize> = FxHashMap::default();
    let mut scratch = Scratch::default();
    tasks.for_each(|task| {
        let position = known.find(task.job_id).unwrap_or_else(|| {
            *unknown.entry(task.job_id).or_insert_with(|| {
                rows.push(JobRow { job_id: task.job_id, job: None, ..blank() });
                rows.len() - 1
            })
        });
        study.outside += scratch.add(task, rules, &mut rows[position]);
        study.attempts.0 += task.attempts.len() as u64;
        study.attempts.1 +=
            task.attempts.iter().filter(|attempt| attempt.cpu_request.is_none()).count() as u64;
    });
    study.jobs = rows;
    Ok(study)
}

fn blank() -> JobRow {
    JobRow {
        job_id: 0,
        job: None,
        user: None,
        name: None,
        priority: None,
        task_count: 0,
        cpu: PerDefinition::default(),
        kills: Vec::new(),
    }
}

fn row_of(job: &Job, known: &Jobs) -> JobRow {
    let name =
        |position: Option<u32>| position.map(|position| known.names.get(position).to_owned());
    JobRow {
        job_id: job.id,
        job: Some(job.clone()),
        user: name(job.user),
        name: name(job.name),
        ..blank()
    }
}

/// Memory that is used again for each task.
#[derive(Default)]
struct Scratch {
    spent: [Spent; TASK_DEFINITIONS],
    times: Vec<i64>,
}

impl Scratch {
    /// Adds a task to its job's row and returns its CPU outside of attempts.
    fn add(&mut self, task: &TaskView<'_>, rules: &[RuleGrid], row: &mut JobRow) -> CpuTime {
        let [slots, requested, measured] = &mut self.spent;
        slots.of_attempts(task.attempts, |_| CpuRate::ONE);
        requested.of_attempts(task.attempts, |attempt| {
            attempt.cpu_request.map_or(CpuRate::ZERO, CpuRate::new)
        });
        measured.of_windows(task.windows, task.attempts);
        let totals: PerDefinition = std::array::from_fn(|idx| self.spent[idx].total());
        row.task_count += 1;
        row.priority = row.priority.max(Some(task.priority));
        add_all(&mut row.cpu, totals);
        for (rule_idx, rule) in rules.iter().enumerate() {
            let scheduling_class = row.job.as_ref().and_then(|job| job.scheduling_class);
            let owner = Owner { scheduling_class, user: row.user.as_deref() };
            rule.kill_times(task, owner, &mut self.times);
            if self.times.is_empty() {
                continue;
            }
            row.kills.resize_with(rules.len(), JobKills::default);
            let steps = &mut row.kills[rule_idx].steps;
            steps.resize_with(steps.len().max(self.times.len()), KillStep::default);
            for (step, &time) in steps.iter_mut().zip(&self.times) {
                let saved: PerDefinition = std::array::from_fn(|idx| self.spent[idx].after(time));
                step.tasks += 1;
                add_all(&mut step.saved, saved);
                add_all(&mut step.spent, std::array::from_fn(|idx| totals[idx] - saved[idx]));
            }
        }
        let all: CpuTime = task
            .windows
            .iter()
            .map(|window| CpuTime::of_rate(window.rate, window.end_us - window.start_us))
            .sum();
        all - totals[2]
    }
}

fn add_all(sums: &mut PerDefinition, parts: PerDefinition) {
    sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
}
