//! The plan of `describe`.
//!
//! In: flags. Out: a plan, and its question.

use serde::{Deserialize, Serialize};

use crate::answers::study::{Definitions, Plan};
use crate::answers::words::{self, Section, Setting, Wrong};
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::studies::ledger::{GroupBy, UNMATCHED};
use crate::studies::outcomes::Classes;
use crate::studies::samples::{OutcomeOf, Split, Waits, What};

/// What is described, and how it is split.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DescribePlan {
    /// What is described
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub what: What,

    /// How outcomes are defined: sequence or terminal
    ///
    /// By `sequence`, the published one, a job that was evicted or requeued and then finished is
    /// `other`; by `terminal`, its last event, it finished. `analyze` takes `terminal` for
    /// every trace except those of Google.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "CLASSES", default_value_t, conflicts_with = "by_own_end")
    )]
    #[serde(skip)]
    pub classes: Classes,

    /// Split by how each task ended, not by how its job ended
    ///
    /// For --what events-per-task, waiting, attempts and estimates. The outcome of a task is its
    /// last terminal event, unless a SUBMIT or SCHEDULE follows it, as `classify --by task
    /// --classes terminal` does. A finished task of a killed job counts as finished.
    #[cfg_attr(feature = "cli", arg(long))]
    pub by_own_end: bool,

    /// Whether to include values open at the end of the window
    ///
    /// By default a job that has not ended is included with its time up to the window's end, and
    /// counted in the column `censored`.
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub censored: Censored,

    /// Which waits to describe, by how they ended
    ///
    /// For --what waiting.
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub waits: Waits,

    /// Split by user, account, queue or other columns
    ///
    /// Rows of all groups together come first, then each group with the outcomes that occur in
    /// it; the chart shows the largest groups. The priority of a job is the largest of its tasks;
    /// the priority of a task is the last one seen.
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEY", value_enum))]
    pub group_by: Option<GroupBy>,
}

impl Plan for DescribePlan {
    fn define(&mut self, definitions: &Definitions) {
        self.classes = definitions.classes;
    }

    fn check_alone(&self) -> Result<(), Usage> {
        Self::check_alone(self).and_then(|()| question(self).map(drop))
    }

    /// One plan for each `what`.
    fn all(section: &Section) -> Result<Vec<Self>, Wrong> {
        let mut section = section.clone();
        let whats = match section.remove("what") {
            Some(Setting::Many(whats)) => whats,
            Some(single) => {
                section.insert("what".to_owned(), single);
                return Ok(vec![words::read(&section)?]);
            }
            None => return Ok(vec![words::read(&section)?]),
        };
        let each = whats.into_iter().map(|what| {
            section.insert("what".to_owned(), Setting::One(what));
            words::read(&section)
        });
        each.collect()
    }
}

/// Whether values that the window's end cuts off are included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Censored {
    /// Include them with their time up to the window's end
    #[default]
    Include,
    /// Leave them out
    Exclude,
}

/// A question to a lake, with all choices.
#[derive(Clone, Copy)]
pub struct Question {
    pub what: What,
    pub classes: Classes,
    pub outcome_of: OutcomeOf,
    pub censored: Censored,
    pub waits: Waits,
    pub group_by: Option<GroupBy>,
}

impl Question {
    /// The question with defaults: all jobs or tasks are included, also those that the end of the
    /// window cuts off. They are split by the outcome of the job, classified by sequence.
    pub(crate) fn plain(what: What) -> Self {
        let (classes, censored) = (Classes::Sequence, Censored::Include);
        let outcome_of = OutcomeOf::Job;
        Self { what, classes, outcome_of, censored, waits: Waits::All, group_by: None }
    }

    /// The same question, split by the outcome of each task instead of its job.
    pub(crate) fn by_own_end(self) -> Self {
        Self { classes: Classes::Terminal, outcome_of: OutcomeOf::Task, ..self }
    }

    pub(super) fn split(self) -> Split {
        Split { classes: self.classes, of: self.outcome_of, group_by: self.group_by }
    }

    /// The name of the outcome at a position; positions after the last are unmatched.
    pub(super) fn outcome_name(self, outcome: usize) -> &'static str {
        self.classes.outcomes().get(outcome).copied().unwrap_or(UNMATCHED)
    }
}

impl DescribePlan {
    /// Whether a lake has rows in the tables that this kind of result needs.
    pub(crate) fn is_answered_by(&self, lake: &Lake) -> bool {
        let has_rows = |table| lake.manifest.table(table).is_some_and(|entry| 0 < entry.rows());
        self.what.tables(self.group_by).into_iter().all(has_rows)
    }

    /// Refuses options that have no effect on what is described. A section of an analysis may have
    /// them, because it describes several quantities.
    ///
    /// # Errors
    /// An option is for another `--what`.
    pub fn check_alone(&self) -> Result<(), Usage> {
        let what = self.what.name();
        if self.waits != Waits::All && self.what != What::Waiting {
            return Err(Usage(format!("--waits is for --what waiting, and this is --what {what}")));
        }
        let is_cut = matches!(self.what, What::JobSurvival | What::FinishGivenEvents);
        if self.censored == Censored::Exclude && is_cut {
            let text = format!("--what {what} always includes open jobs: leave --censored out");
            return Err(Usage(text));
        }
        Ok(())
    }
}

/// The questions of several plans.
///
/// # Errors
/// The same errors as for [`question`].
pub(crate) fn questions<'a>(
    plans: impl Iterator<Item = &'a DescribePlan>,
) -> Result<Vec<Question>, Usage> {
    plans.map(question).collect()
}

/// The question of a plan.
///
/// # Errors
/// The plan has `by_own_end`, but the values depend on the job.
pub fn question(plan: &DescribePlan) -> Result<Question, Usage> {
    let &DescribePlan { what, classes, censored, waits, group_by, .. } = plan;
    let asked = Question { classes, censored, waits, group_by, ..Question::plain(what) };
    match (plan.by_own_end, what.is_of_tasks_alone()) {
        (false, _) => Ok(asked),
        (true, true) => Ok(asked.by_own_end()),
        (true, false) => Err(Usage(format!(
            "--by-own-end splits what each task has by itself, and `{}` depends on the job: give \
            --what events-per-task, waiting, attempts or estimates",
            what.name()
        ))),
    }
}
