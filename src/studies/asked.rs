//! The settings of a study, and the data about each job while its bucket is in memory.

use super::predict::hazards::Moment;
use serde::{Deserialize, Serialize};

use super::meter::Meter;
use super::outcomes::Classes;
use super::rules::RuleGrid;
use crate::facts::jobs::{ACCOUNT, END_REASON, Job, LABELS, QOS, QUEUE};
use crate::units::CpuTime;

/// The outcome of jobs without a row in `job_events`.
pub const UNMATCHED: &str = "unmatched";

/// The priority, class or user of jobs for which it is unknown.
pub const UNKNOWN: &str = "-";

/// Sort key for the values of groups in tables: unknown first, numbers by size, then texts.
pub(super) fn order_of(value: &str) -> (i64, &str) {
    let number = if value == UNKNOWN { i64::MIN } else { value.parse().unwrap_or(i64::MAX) };
    (number, value)
}

/// What jobs are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GroupBy {
    /// Scheduling class of the job, last seen
    Class,
    /// Largest priority among the job's tasks
    Priority,
    /// User of the job
    User,
    /// Why the job ended, in logs that record it: `TIMEOUT`, `OUT_OF_MEMORY`, ...
    Reason,
    /// Quality of service of the job, in logs that have it
    Qos,
    /// Account or group of the user, in logs that have it
    Account,
    /// Queue or partition of the job, in logs that have it
    Queue,
}

impl GroupBy {
    /// The name of the column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Class => "scheduling_class",
            Self::Priority => "priority",
            Self::User => "user",
            Self::Reason => END_REASON,
            Self::Qos => QOS,
            Self::Account => "account",
            Self::Queue => QUEUE,
        }
    }

    /// The position in [`LABELS`] of the column of a log with this key.
    pub(crate) fn label(self) -> Option<usize> {
        let column = match self {
            Self::Qos => QOS,
            Self::Account => ACCOUNT,
            Self::Queue => QUEUE,
            _ => return None,
        };
        LABELS.iter().position(|known| *known == column)
    }

    pub(super) fn key(self, row: &JobRow<'_>) -> String {
        self.of(row).unwrap_or_else(|| UNKNOWN.to_owned())
    }

    /// The value of a job, if known.
    pub(super) fn of(self, row: &JobRow<'_>) -> Option<String> {
        match self {
            Self::Class => Some(row.job?.scheduling_class?.to_string()),
            Self::Priority => Some(row.priority?.to_string()),
            Self::User => row.user.map(str::to_owned),
            Self::Reason => row.reason.map(str::to_owned),
            Self::Qos | Self::Account | Self::Queue => row.labels[self.label()?].map(str::to_owned),
        }
    }
}

/// The settings of a study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The quantity that is added up, and its definition.
    pub meter: Meter,
    /// How outcomes are defined.
    pub classes: Classes,
    /// The keys by which the ledger is split.
    pub groups: Vec<GroupBy>,
    /// The key by which the sweep is split, if any.
    pub sweep_by: Option<GroupBy>,
    /// Whether a task that has finished by the time of its kill is spared.
    pub spares_finished: bool,
    /// Kill rules to sweep.
    pub rules: Vec<RuleGrid>,
    /// The time that separates past and future, if a choice is tested, µs.
    pub split_us: Option<i64>,
    /// Number of resamplings of the jobs; 0 for none.
    pub rounds: usize,
    /// Seed of the resampling.
    pub seed: u64,
    /// A position in the grid of the first rule. All jobs that this parameter harms are listed.
    pub all_harmed_at: Option<usize>,
}

impl Asked {
    /// Number of outcomes, unmatched ones included.
    pub(super) fn outcome_count(&self) -> usize {
        self.classes.outcomes().len() + 1
    }
}

/// Data about a job while its bucket is in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct JobRow<'a> {
    /// The job.
    pub job_id: i64,
    /// Its events in `job_events`; `None` if it has none.
    pub job: Option<&'a Job>,
    /// The user.
    pub user: Option<&'a str>,
    /// The name.
    pub name: Option<&'a str>,
    /// Why it ended.
    pub reason: Option<&'a str>,
    /// Its cells of [`LABELS`].
    pub labels: [Option<&'a str>; LABELS.len()],
    /// The largest priority among its tasks.
    pub priority: Option<i32>,
    /// Tasks with at least one event.
    pub task_count: u64,
    /// Position of its outcome; one past the last if unmatched.
    pub outcome: usize,
    /// CPU (or memory time) of all its tasks.
    pub cpu: CpuTime,
    /// The chance that it does not finish, if a rule needs it.
    pub chance: Option<f64>,
    /// The chance while it runs, if a rule needs it.
    pub moment: Option<Moment<'a>>,
    /// By rule, what the first parameters of its grid would have done to the job. The later
    /// parameters condemn no task of the job. Empty if no rule condemns a task.
    pub kills: Vec<Vec<KillStep>>,
}

impl JobRow<'_> {
    /// Whether it finished.
    pub(super) const fn is_finished(&self) -> bool {
        self.outcome == 0
    }
}

/// What one parameter of a rule would have done to a job.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KillStep {
    /// Condemned tasks.
    pub tasks: u64,
    /// Condemned tasks that had finished by the time of their kill.
    pub at_end: u64,
    /// CPU of the condemned tasks after their kill.
    pub saved: CpuTime,
    /// CPU of the condemned tasks up to their kill.
    pub spent: CpuTime,
}
