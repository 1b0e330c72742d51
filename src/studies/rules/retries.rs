//! Retry limits with their names and meanings in Kubernetes, Spark and Hadoop.
//!
//! In: the ends of the attempts of a task. Out: the instants of the failures that count. They
//! determine when a task or its job is given up.
//!
//! ```text
//!  k8s:backoff_limit=2     x    x    x          the third failure in the job is more than 2: over
//!  spark:max_failures=2    x    x               the second failure of one task: its job is over
//! ```
//! - Kubernetes, as coded in its job controller (`pkg/controller/job`, 2025): a Job fails when more
//!   than `backoffLimit` of its pods have failed in total. With `per=task`
//!   (`backoffLimitPerIndex`) a single index fails when its failures exceed the limit. A new pod
//!   starts after a wait of 10 s, which doubles with each further failure since the last success,
//!   up to 10 min. The documentation says 6 min, the code has 10 (`MaxJobPodFailureBackOff`).
//!   Evicted pods count as failed, unless a `podFailurePolicy` excludes disruptions. To count them
//!   here (EVICT and LOST), use `on=fail+evict`.
//! - Spark (`spark.task.maxFailures`): the job is aborted at failure number `max_failures` of any
//!   task. Lost executors do not count by default.
//! - Hadoop (`mapreduce.map.maxattempts`): as in Spark. Killed attempts do not count. With
//!   `per=task` only the task is given up (`mapreduce.map.failures.maxpercent=100`).
//!
//! A sweep applies the limit to recorded failures, which happened without these delays. When a job
//! is over, all of its tasks end.

use crate::facts::tasks::TaskView;
use crate::notation::{Notation, NotationError};
use crate::schema::EventType;
use crate::units::MICROS_PER_SECOND;

/// The system with the modelled retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Jobs of Kubernetes.
    Kubernetes,
    /// Spark.
    Spark,
    /// Hadoop `MapReduce`.
    Hadoop,
}

/// What is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The task alone.
    Task,
    /// Its job, with all of its tasks.
    Job,
}

/// Which ends of attempts count as failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// FAIL.
    Failures,
    /// FAIL, EVICT and LOST.
    FailuresAndEvictions,
}

/// Retry rules of a system, without the limit itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// The system.
    pub system: System,
    /// The ends that count as failures.
    pub counted: Counted,
    /// What is ended.
    pub scope: Scope,
    /// The wait after the first failure, s; it doubles with each further failure.
    pub base_s: i64,
    /// The longest wait, s.
    pub max_s: i64,
}

/// The wait after the first failure of a Kubernetes job, s.
const BASE_S: i64 = 10;

/// The longest wait in the code, s; the documentation says 360.
const MAX_S: i64 = 600;

/// The longest wait in the notation, s: a hundred days.
const WAIT_MAX_S: i64 = 8_640_000;

pub(super) const SCOPES: [(&str, Scope); 2] = [("job", Scope::Job), ("task", Scope::Task)];

const COUNTED: [(&str, Counted); 2] =
    [("fail", Counted::Failures), ("fail+evict", Counted::FailuresAndEvictions)];

impl Retries {
    /// The default settings of a system.
    pub const fn of(system: System) -> Self {
        let (base_s, max_s) = match system {
            System::Kubernetes => (BASE_S, MAX_S),
            System::Spark | System::Hadoop => (0, 0),
        };
        Self { system, counted: Counted::Failures, scope: Scope::Job, base_s, max_s }
    }

    /// The name of the rule.
    pub(super) const fn name(self) -> &'static str {
        match self.system {
            System::Kubernetes => "k8s",
            System::Spark => "spark",
            System::Hadoop => "hadoop",
        }
    }

    /// The name of the limit.
    pub(super) const fn main_key(self) -> &'static str {
        match self.system {
            System::Kubernetes => "backoff_limit",
            System::Spark => "max_failures",
            System::Hadoop => "max_attempts",
        }
    }

    /// The smallest limit.
    pub(super) const fn least(self) -> i64 {
        match self.system {
            System::Kubernetes => 0,
            System::Spark | System::Hadoop => 1,
        }
    }

    /// Reads the settings other than the limit.
    pub(super) fn read(mut self, notation: &mut Notation) -> Result<Self, NotationError> {
        self.counted = notation.choice("on", "`fail` or `fail+evict`", self.counted, &COUNTED)?;
        self.scope = notation.choice("per", "`job` or `task`", self.scope, &SCOPES)?;
        if self.system == System::Kubernetes {
            let expected = "a time in whole seconds from 0 to 8640000";
            let is_wait = |wait: &i64| (0..=WAIT_MAX_S).contains(wait);
            self.base_s = notation.take_if("base_s", expected, self.base_s, is_wait)?;
            self.max_s = notation.take_if("max_s", expected, self.max_s, is_wait)?;
        }
        Ok(self)
    }

    /// Writes the settings other than the limit, if they differ from the default.
    pub(super) fn settings(self) -> Vec<(&'static str, String)> {
        let usual = Self::of(self.system);
        let word = |on: Counted| COUNTED.iter().find(|(_, counted)| *counted == on);
        let scope = |per: Scope| SCOPES.iter().find(|(_, scope)| *scope == per);
        let mut settings = Vec::new();
        if let Some((word, _)) = word(self.counted).filter(|_| self.counted != usual.counted) {
            settings.push(("on", (*word).to_owned()));
        }
        if let Some((word, _)) = scope(self.scope).filter(|_| self.scope != usual.scope) {
            settings.push(("per", (*word).to_owned()));
        }
        if self.base_s != usual.base_s {
            settings.push(("base_s", self.base_s.to_string()));
        }
        if self.max_s != usual.max_s {
            settings.push(("max_s", self.max_s.to_string()));
        }
        settings
    }

    /// The number of the failure that exceeds a limit.
    pub const fn fatal(self, limit: i64) -> i64 {
        match self.system {
            System::Kubernetes => limit.saturating_add(1),
            System::Spark | System::Hadoop => limit,
        }
    }

    /// The wait before the next attempt after `before` earlier failures in a row, µs.
    pub fn wait_us(self, before: u32) -> i64 {
        let doubled = self.base_s.saturating_mul(1 << before.min(32));
        doubled.min(self.max_s).saturating_mul(MICROS_PER_SECOND)
    }

    /// Whether an end of an attempt counts as a failure.
    pub const fn counts(self, end: EventType) -> bool {
        match end {
            EventType::Fail => true,
            EventType::Evict | EventType::Lost => {
                matches!(self.counted, Counted::FailuresAndEvictions)
            }
            _ => false,
        }
    }

    /// Whether the failures of all tasks of a job are pooled.
    pub const fn is_pooled(self) -> bool {
        matches!((self.system, self.scope), (System::Kubernetes, Scope::Job))
    }

    /// The instants of the failures of a task that count, µs.
    pub(super) fn failures<'a>(self, task: &'a TaskView<'_>) -> impl Iterator<Item = i64> + 'a {
        let counted = task.events.iter().filter(move |event| self.counts(event.event_type));
        counted.map(|event| event.time_us)
    }

    /// For each limit that the failures exceed, the instant at which the task or job is given up.
    /// Failures must ascend.
    pub(super) fn kill_times(self, failures: &[i64], grid: &[i64], times: &mut Vec<i64>) {
        let fatal = |limit: i64| usize::try_from(self.fatal(limit) - 1).ok();
        times.extend(grid.iter().map_while(|&limit| failures.get(fatal(limit)?)).copied());
    }
}
