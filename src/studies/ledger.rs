//! CPU time (or memory time) per outcome, under one of several definitions that are never mixed.
//!
//! In: the sums of a [`Study`]. Out: a [`Ledger`] that closes: outcomes + unmatched + outside of attempts is
//! the total, exactly. Groups split the same sums by class, priority or user.

use std::collections::BTreeMap;
use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

use super::censoring::Censoring;
use super::fold::{Asked, JobRow, Study};
use super::meter::{Meter, Resource};
use super::outcomes::Classes;
use crate::facts::tasks::tells_cpu_time;
use crate::lake::{Lake, LakeError};
use crate::schema::{Source, Table};
use crate::units::CpuTime;

/// What CPU time means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum CpuDefinition {
    /// Mean CPU rate times length of the usage windows, inside attempts; of a log the CPU time used
    /// that it tells, and `requested` for jobs of which it tells none
    #[default]
    Measured,
    /// Job duration times mean CPU rate times mean machine capacity (2017)
    Published,
    /// CPU request times time running
    Requested,
    /// Time running, in task-seconds
    Slots,
}

impl CpuDefinition {
    /// The unit of its sums in traces of a kind.
    pub const fn unit(self, source: Source) -> &'static str {
        match (self, source) {
            (Self::Slots, _) => "task-s",
            (Self::Requested | Self::Measured, Source::Swf | Source::Gwf) => "processor-s",
            (Self::Requested, Source::Rumen) => "slot-s",
            _ => "NCU-s",
        }
    }

    /// Whether it reads what was used: `task_usage`, or the CPU time that a log tells.
    pub const fn needs_usage(self) -> bool {
        matches!(self, Self::Measured | Self::Published)
    }

    /// Refuses a lake without what the definition reads.
    ///
    /// # Errors
    /// There is no `task_usage`, nor a log that tells the CPU time of any job.
    pub fn check(self, lake: &Lake) -> Result<(), LakeError> {
        if self.needs_usage() && !(self == Self::Measured && tells_cpu_time(lake)?) {
            lake.require(Table::TaskUsage)?;
        }
        Ok(())
    }
}

impl fmt::Display for CpuDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Measured => "measured",
            Self::Published => "published",
            Self::Requested => "requested",
            Self::Slots => "slots",
        })
    }
}

/// The outcome of jobs that `job_events` does not know.
pub const UNMATCHED: &str = "unmatched";

/// The priority, class or user of jobs of which it is not known.
pub const UNKNOWN: &str = "-";

/// What jobs are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum GroupBy {
    /// Scheduling class of the job, last seen
    Class,
    /// Largest priority among the job's tasks
    Priority,
    /// User of the job
    User,
}

impl GroupBy {
    /// The name of its column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Class => "scheduling_class",
            Self::Priority => "priority",
            Self::User => "user",
        }
    }

    fn key(self, row: &JobRow<'_>) -> String {
        self.of(row).unwrap_or_else(|| UNKNOWN.to_owned())
    }

    /// What a job has of it, if that is known.
    pub(super) fn of(self, row: &JobRow<'_>) -> Option<String> {
        match self {
            Self::Class => Some(row.job?.scheduling_class?.to_string()),
            Self::Priority => Some(row.priority?.to_string()),
            Self::User => row.user.map(str::to_owned),
        }
    }
}

/// One line of a ledger.
#[derive(Clone, Debug, Serialize)]
pub struct LedgerRow {
    /// Values of the groups, in the order asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// The outcome of the jobs.
    pub outcome: String,
    /// Jobs; none, like all that follows, where no outcome is known.
    pub jobs: Option<u64>,
    /// Those of them with tasks loaded: all the others say of is how many they are.
    pub jobs_with_tasks: Option<u64>,
    /// Tasks with events.
    pub tasks: Option<u64>,
    /// What is added up, in the ledger's unit.
    pub amount: Option<f64>,
    /// Share of the total.
    pub share: Option<f64>,
    /// The part of `amount` that one job makes up, the one with most.
    pub largest_job_share: Option<f64>,
}

/// What each share of a ledger is a share of.
pub const fn of(resource: Resource) -> [(&'static str, &'static str); 2] {
    let of_row = match resource {
        Resource::Cpu => "cpu of the row",
        Resource::Memory => "memory of the row",
    };
    [
        ("share", "total: outcomes, unmatched and outside_attempts together"),
        ("largest_job_share", of_row),
    ]
}

/// CPU time (or memory time) per outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Ledger {
    /// What is added up, and by which definition; `"cpu": "measured"` in JSON.
    #[serde(flatten)]
    pub meter: Meter,
    /// How outcomes are told.
    pub classes: Classes,
    /// Unit of every sum.
    pub unit: &'static str,
    /// Per outcome (and group).
    pub rows: Vec<LedgerRow>,
    /// The amount of jobs that `job_events` does not know.
    pub unmatched: f64,
    /// That of windows, or parts of them, outside of attempts.
    pub outside_attempts: f64,
    /// Everything.
    pub total: f64,
    /// Usage windows, those without a rate, and those that overlap an earlier one.
    pub windows: u64,
    /// Counted as 0.
    pub windows_without_rate: u64,
    /// Counted like all others.
    pub windows_overlapping: u64,
    /// Attempts.
    pub attempts: u64,
    /// Counted as 0 by `requested`.
    pub attempts_without_request: u64,
    /// Attempts without an end of their own that are closed at the end of their job.
    pub attempts_closed_with_job: u64,
    /// Their amount; none under the published definition, which knows only jobs.
    #[serde(skip)]
    pub closed_with_job_sum: Option<f64>,
    /// Counted by the CPU time that a log tells of them (`measured`).
    pub attempts_with_cpu_time: u64,
    /// What reaches over the edges of the window.
    pub censoring: Censoring,
}

/// Sums over jobs by the values of their groups and the position of their outcome.
#[derive(Clone, Debug, Default)]
pub(super) struct LedgerSums(BTreeMap<(Vec<String>, usize), LedgerSum>);

#[derive(Clone, Copy, Debug, Default)]
struct LedgerSum {
    jobs: u64,
    jobs_with_tasks: u64,
    tasks: u64,
    cpu: CpuTime,
    /// CPU of the job with most.
    largest: CpuTime,
}

impl LedgerSum {
    fn merge(&mut self, other: Self) {
        self.jobs += other.jobs;
        self.jobs_with_tasks += other.jobs_with_tasks;
        self.tasks += other.tasks;
        self.cpu += other.cpu;
        self.largest = self.largest.max(other.largest);
    }
}

impl LedgerSums {
    pub(super) fn add(&mut self, asked: &Asked, row: &JobRow<'_>) {
        let is_matched = row.outcome < asked.classes.outcomes().len();
        let groups = if is_matched { asked.groups.as_slice() } else { &[] };
        let key = groups.iter().map(|group| group.key(row)).collect();
        let own = LedgerSum {
            jobs: 1,
            jobs_with_tasks: u64::from(0 < row.task_count),
            tasks: row.task_count,
            cpu: row.cpu,
            largest: row.cpu,
        };
        self.0.entry((key, row.outcome)).or_default().merge(own);
    }

    pub(super) fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|(key, sum)| self.0.entry(key).or_default().merge(sum));
    }

    pub(super) fn totals(&self, outcome_count: usize) -> Vec<CpuTime> {
        let mut totals = vec![CpuTime::ZERO; outcome_count];
        self.0.iter().for_each(|(key, sum)| totals[key.1] += sum.cpu);
        totals
    }

    /// Jobs with an outcome that have tasks in the loaded parts.
    pub(super) fn jobs_with_tasks(&self, outcome: usize) -> u64 {
        let own = self.0.iter().filter(|(key, _)| key.1 == outcome);
        own.map(|(_, sum)| sum.jobs_with_tasks).sum()
    }
}

/// The ledger of a study, split by the groups that were asked for.
pub fn ledger(study: &Study) -> Ledger {
    let (names, asked) = (study.outcomes(), &study.asked);
    let mut sums = study.ledger.0.clone();
    let unmatched = sums.remove(&(Vec::new(), names.len())).unwrap_or_default().cpu;
    if asked.groups.is_empty() {
        // Every outcome is listed, with 0 where nothing was.
        for outcome in 0..names.len() {
            sums.entry((Vec::new(), outcome)).or_default();
        }
    }
    // Without `job_events` every job is unmatched.
    let known = study.knows_outcomes;
    let total = sums.values().map(|sum| sum.cpu).sum::<CpuTime>() + unmatched + study.outside;
    let rows = sums
        .into_iter()
        .map(|((groups, outcome), sum)| LedgerRow {
            groups,
            outcome: names[outcome].to_owned(),
            jobs: known.then_some(sum.jobs),
            jobs_with_tasks: known.then_some(sum.jobs_with_tasks),
            tasks: known.then_some(sum.tasks),
            amount: known.then(|| sum.cpu.seconds()),
            share: sum.cpu.share_of(total).filter(|_| known),
            largest_job_share: sum.largest.share_of(sum.cpu),
        })
        .collect();
    Ledger {
        meter: asked.meter,
        classes: asked.classes,
        unit: study.unit(),
        rows,
        unmatched: unmatched.seconds(),
        outside_attempts: study.outside.seconds(),
        total: total.seconds(),
        windows: study.usage.windows,
        windows_without_rate: study.usage.without_rate,
        windows_overlapping: study.usage.overlapping,
        attempts: study.attempts,
        attempts_without_request: study.attempts_without_request,
        attempts_closed_with_job: study.closed_with_job.attempts,
        closed_with_job_sum: study.closed_with_job_sum(),
        attempts_with_cpu_time: study.attempts_with_cpu_time,
        censoring: study.censoring(),
    }
}
