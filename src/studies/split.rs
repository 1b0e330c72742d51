//! How values of jobs and tasks are split: by outcome, and by group.

use std::fmt;

use super::ledger::{GroupBy, UNKNOWN};
use super::outcomes::Classes;
use crate::facts::jobs::{Job, Jobs};

/// The group of a job or task; numbers sort before names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Everything, if values are not grouped.
    All,
    /// A priority or a scheduling class.
    Number(i32),
    /// A user.
    Name(String),
    /// The value is unknown.
    Unknown,
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
            Self::Unknown => f.write_str(UNKNOWN),
        }
    }
}

/// Whether the job or the task decides the outcome of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutcomeOf {
    /// The outcome of the job.
    #[default]
    Job,
    /// The last event of the task itself, unless a SUBMIT or SCHEDULE follows it. Only for values
    /// [of tasks alone](super::samples::What::is_of_tasks_alone), with the outcomes of
    /// [`Classes::Terminal`].
    Task,
}

/// How values are split: by outcome, and by group.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// How outcomes are defined.
    pub classes: Classes,
    /// Whether the job or the task decides the outcome.
    pub of: OutcomeOf,
    /// The key by which values are grouped, if any.
    pub group_by: Option<GroupBy>,
}

impl Split {
    /// The position of the outcome of a job, or of a task by its own end.
    pub(super) fn outcome(self, job: Option<&Job>, own_end: Option<u8>) -> usize {
        if let (OutcomeOf::Task, Some(own_end)) = (self.of, own_end) {
            return usize::from(own_end);
        }
        job.map_or(self.classes.outcomes().len(), |job| self.classes.of_job(job))
    }

    pub(super) fn group(self, job: Option<&Job>, jobs: &Jobs, priority: Option<i32>) -> Group {
        let number = |number: Option<i32>| number.map_or(Group::Unknown, Group::Number);
        match self.group_by {
            None => Group::All,
            Some(GroupBy::Priority) => number(priority),
            Some(GroupBy::Class) => number(job.and_then(|job| job.scheduling_class)),
            Some(by) => {
                let of = |job: &Job| match (by, by.label()) {
                    (GroupBy::User, _) => job.user,
                    (_, Some(label)) => job.labels[label],
                    _ => job.end_reason,
                };
                job.and_then(of)
                    .map_or(Group::Unknown, |name| Group::Name(jobs.names.get(name).to_owned()))
            }
        }
    }
}
