//! Jobs in detail, as they are stored and read back.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::job_cpu::{Gathered, JobCpu, ToldUse};
use super::job_record::JobRecord;
use crate::studies::named::Named;
use crate::studies::outcomes::Classes;

/// Jobs that a sweep would harm, the longest jobs of each outcome, and the users of all jobs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct JobDetails {
    /// How outcomes are defined.
    pub classes: Classes,
    /// The jobs, by id.
    pub jobs: Vec<JobDetail>,
    /// Users with the outcomes of all their jobs; users with most jobs come first.
    pub users: Vec<UserOutcomes>,
}

impl JobDetails {
    /// Jobs of the known users that count as finished.
    pub(crate) fn finished(&self) -> u64 {
        self.users.iter().filter_map(|user| user.outcomes.get("finished")).sum()
    }

    /// Number of finished jobs that a rule would harm.
    pub(super) fn harmed(&self) -> u64 {
        self.jobs.iter().filter(|job| job.is_harmed()).count() as u64
    }
}

/// The outcomes of a user's jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserOutcomes {
    /// The user.
    pub user: String,
    /// The number of jobs by outcome, for outcomes that occur.
    pub outcomes: Named<u64>,
}

/// A job in detail. Lists are bounded, but total counts are included.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct JobDetail {
    /// Its number.
    pub job_id: i64,
    /// Its user.
    pub user: Option<String>,
    /// Its name.
    pub job_name: Option<String>,
    /// Its outcome by its exact event sequence.
    pub outcome_by_sequence: Cow<'static, str>,
    /// Its outcome by its last terminal event.
    pub outcome_by_last_event: Cow<'static, str>,
    /// The outcome that the sweep uses, one of the two above; empty in older results, which use the
    /// sequence.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub outcome: Cow<'static, str>,
    /// The unit of its CPU; empty in older results.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub cpu_unit: Cow<'static, str>,
    /// Data that the log records in addition to the events.
    #[serde(skip_serializing_if = "JobRecord::is_empty")]
    pub record: JobRecord,
    /// The beginning of its event sequence.
    pub sequence: String,
    /// The number of its events.
    pub event_count: usize,
    /// The first events.
    pub events: Vec<JobEvent>,
    /// The number of its tasks.
    pub task_count: u64,
    /// The number of attempts of its tasks.
    pub attempt_count: u64,
    /// The total running time of its attempts, s.
    pub running_s: f64,
    /// The CPU that its attempts requested, times their running time. `None` if no request is
    /// known, and in older results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_cpu: Option<f64>,
    /// Lengths of attempts that finished, s, during gathering.
    #[serde(skip)]
    pub(crate) finished_s: Vec<f64>,
    /// Attempts that finished.
    pub finished_attempts: usize,
    /// The shortest finished attempt, s.
    pub finished_s_min: Option<f64>,
    /// The median length of finished attempts, s.
    pub finished_s_median: Option<f64>,
    /// The 95 % quantile of these lengths, s.
    pub finished_s_p95: Option<f64>,
    /// The longest finished attempt, s.
    pub finished_s_max: Option<f64>,
    /// Quantiles of the lengths at 0 %, 5 %, ..., 100 %, s; empty for fewer than ten lengths.
    pub finished_s_quantiles: Vec<f64>,
    /// The requests and usage of its attempts, during gathering.
    #[serde(skip)]
    pub(crate) gathered: Gathered,
    /// The CPU that its running attempts requested and used over time.
    pub cpu: Option<JobCpu>,
    /// The CPU time that a log records for its attempts.
    pub told_use: Option<ToldUse>,
    /// The tasks with most attempts.
    pub tasks: Vec<JobTask>,
    /// The kills that rules would have made in this job.
    pub kills: Vec<JobKill>,
    /// The rules that would have killed tasks of this job, if it finished.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub harmed_by: Vec<String>,
}

impl JobDetail {
    /// Its outcome in the classification of the sweep.
    pub(crate) fn outcome(&self) -> &str {
        if self.outcome.is_empty() { &self.outcome_by_sequence } else { &self.outcome }
    }

    /// Whether it finished, in the classification of the sweep.
    pub(super) fn is_finished(&self) -> bool {
        self.outcome() == "finished"
    }

    /// Whether it finished and a rule would harm it. Older results do not name the rules.
    fn is_harmed(&self) -> bool {
        !self.harmed_by.is_empty() || self.is_finished() && self.kills.iter().any(JobKill::acts)
    }
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobEvent {
    /// When it happened, s.
    pub time_s: f64,
    /// Its type, such as `SUBMIT`.
    pub event: String,
}

/// A task of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobTask {
    /// Its number in the job.
    pub task_index: i32,
    /// The beginning of its event sequence.
    pub sequence: String,
    /// The number of its events.
    pub event_count: usize,
    /// The number of its attempts.
    pub attempt_count: usize,
    /// The first of its attempts.
    pub attempts: Vec<TaskAttempt>,
}

/// An attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskAttempt {
    /// When the task was submitted for this attempt, s; `None` if that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit_s: Option<f64>,
    /// When it began, s.
    pub start_s: f64,
    /// When it ended, s.
    pub end_s: f64,
    /// How it ended.
    pub ended_by: String,
    /// The machine on which it ran.
    pub machine_id: Option<i64>,
}

/// The tasks of a job that a rule would have killed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobKill {
    /// The rule.
    pub rule: String,
    /// The threshold of the rule.
    pub threshold: i64,
    /// The unit of the parameter; empty in older results.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub unit: Cow<'static, str>,
    /// Number of tasks that the rule would have killed.
    pub condemned_tasks: u64,
    /// Number of these tasks that had ended by then, so that nothing is saved; `None` in older
    /// results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_by_then: Option<u64>,
    /// When the rule would have killed the first task, s.
    pub first_s: f64,
    /// The CPU that its tasks requested, times their running time after their kills; `None` if no
    /// request is known, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_cpu: Option<f64>,
}

impl JobKill {
    /// Whether the rule kills a task that has not ended by then.
    pub(super) fn acts(&self) -> bool {
        self.over_by_then != Some(self.condemned_tasks)
    }
}
