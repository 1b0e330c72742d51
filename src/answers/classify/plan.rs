//! The plan of `classify`: what is counted, how, and in which windows.

use serde::{Deserialize, Serialize};

use super::KINDS;
use crate::answers::words::text;
use crate::digits::{self, grouped};
use crate::facts::window::Windows;
use crate::results::kind::Kind;
use crate::schema::Table;
use crate::studies::outcomes::{Classes, Classification, Window};
use crate::units::micros_to_seconds;

/// What is counted, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClassifyPlan {
    /// What is counted
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub by: By,

    /// How outcomes are defined: sequence or terminal
    ///
    /// `sequence`: by the exact event sequence as published, 014 finished, 013 failed, 015 killed,
    /// 01 running, everything else other. `terminal`: by the last terminal event (evicted, failed,
    /// finished, killed, lost), unless a SUBMIT or SCHEDULE comes after it (pending, running);
    /// UPDATE events do not affect the outcome.
    ///
    /// By `sequence`, the published one, a job that was evicted or requeued and then finished is
    /// `other`; by `terminal`, its last event, it finished. `analyze` takes `terminal` for
    /// every trace except those of Google, and for the joined CSV of 2019, a sample of events.
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLASSES", default_value_t))]
    #[serde(with = "text")]
    pub classes: Classes,

    /// List every exact sequence instead of the outcomes
    ///
    /// Shows what `other` consists of. The JSON always has the sequences.
    #[cfg_attr(feature = "cli", arg(long))]
    pub sequences: bool,

    /// Split each outcome by the reason why the jobs ended
    ///
    /// For logs that record it (slurm): `TIMEOUT`, `OUT_OF_MEMORY`, `NODE_FAIL`, ... of the attempt
    /// that decides the outcome of the job.
    #[cfg_attr(feature = "cli", arg(long, conflicts_with_all = ["sequences", "engine"]))]
    pub by_reason: bool,
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Jobs, from `job_events`
    #[default]
    Job,
    /// Tasks, from `task_events`
    Task,
}

impl By {
    pub const fn table(self) -> Table {
        match self {
            Self::Job => Table::JobEvents,
            Self::Task => Table::TaskEvents,
        }
    }

    pub(super) const fn query(self) -> &'static str {
        match self {
            Self::Job => "q01_job_outcomes",
            Self::Task => "q02_task_outcomes",
        }
    }

    pub(super) const fn window(self, windows: Windows) -> Window {
        let end_us = match self {
            Self::Job => windows.job_end_us,
            Self::Task => windows.task_end_us,
        };
        Window { windows, end_us }
    }

    /// The kind of result.
    pub const fn kind(self) -> &'static Kind<'static> {
        match self {
            Self::Job => &KINDS[0],
            Self::Task => &KINDS[1],
        }
    }

    /// The noun for what is counted.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Job => "jobs",
            Self::Task => "tasks",
        }
    }
}

/// The choice of what is counted, how it is counted, and in which windows.
#[derive(Clone, Copy)]
pub struct Choice {
    pub plan: ClassifyPlan,
    pub windows: Windows,
}

impl Choice {
    /// Reports what crosses the start or the end of the window.
    ///
    /// The end of the window never changes an outcome, because it is never before the last event.
    /// It only closes jobs or tasks that are still open.
    pub fn edges(self, outcome: &Classification) -> String {
        let end_us = self.plan.by.window(self.windows).end_us;
        let is = |count: u64| if count == 1 { "is" } else { "are" };
        // The job of a task may have ended in a part that is not loaded. The task then ended with
        // it.
        let left = |count: u64| match (self.plan.by, count) {
            (By::Job, count) => format!("{} open", is(count)),
            (By::Task, 1) => "without an end in the loaded parts is open".to_owned(),
            (By::Task, _) => "without an end in the loaded parts are open".to_owned(),
        };
        let of = |count: u64| digits::counted(count, self.plan.by.plural().trim_end_matches('s'));
        let end = format!("({})", digits::instant(micros_to_seconds(end_us)));
        let (begun, open) = (outcome.left_censored, outcome.censored);
        let before =
            format!("{} that began before the window (time 0) {} included", of(begun), is(begun));
        match (begun, open) {
            (0, 0) => String::new(),
            (0, _) => format!("{} {} at the end of the window {end}", of(open), left(open)),
            (_, 0) => before,
            _ => format!("{before}, {} {} at its end {end}", grouped(open), left(open)),
        }
    }
}
