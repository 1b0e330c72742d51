//! Rules that condemn a task, each swept over a grid of one parameter.
//!
//! In: the history of one task. Out: for each parameter of the grid the instant at which the rule
//! would have killed the task. A rule reads nothing after that instant, so its savings were really
//! possible. Grids ascend from strict to lenient. If a parameter condemns a task, all smaller
//! parameters condemn it too, at the same time or earlier.

mod about;
#[cfg(test)]
mod causality;
mod dead_time;
mod error;
mod events;
mod failures;
mod grid;
mod history;
mod limit;
mod of_job;
mod own;
mod restarts;
mod retries;
mod spare;
mod written;

use crate::facts::tasks::TaskView;
use crate::notation::{Notation, NotationError};

pub use self::error::RuleError;
pub use self::grid::RuleGrid;
pub use self::history::{By, HistoryRule};
pub use self::limit::LimitOf;
pub use self::of_job::JobEnds;
pub use self::own::{Condemn, OwnRule};
pub use self::restarts::HOUR_US;
pub use self::retries::{Counted, Retries, Scope, System};
pub use self::spare::{Owner, SpareKey};
pub use self::written::RuleList;

/// A rule, without its parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// More events than T (the published rule).
    Events,
    /// A number of FAIL events in a row.
    Failures,
    /// A number of seconds in attempts that did not finish.
    DeadTime,
    /// A number of restarts within an hour.
    Restarts,
    /// More failures than a system retries.
    Retries(Retries),
    /// An attempt longer than a limit.
    Limit(LimitOf),
    /// A job that will probably not finish, according to the past jobs of its user.
    History(HistoryRule),
    /// A custom rule.
    Own(OwnRule),
}

impl Rule {
    /// The rules that are compared by default.
    pub const USUAL: [Self; 4] = [Self::Events, Self::Failures, Self::DeadTime, Self::Restarts];

    /// The names of the rules that come with the program.
    pub const NAMES: [&'static str; 9] = [
        "events",
        "failures",
        "dead-time",
        "restarts",
        "k8s",
        "spark",
        "hadoop",
        "slurm",
        "history",
    ];

    /// The rule of a name, with its default settings.
    pub fn of_name(name: &str) -> Option<Self> {
        let retries = [System::Kubernetes, System::Spark, System::Hadoop].map(Retries::of);
        let others = [Self::Limit(LimitOf::Seconds), Self::History(HistoryRule::default())];
        let named = retries.map(Self::Retries).into_iter().chain(others);
        Self::USUAL.into_iter().chain(named).find(|rule| rule.name() == name)
    }

    /// The name of the swept parameter in the notation.
    pub const fn main_key(&self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Failures => "failures",
            Self::DeadTime => "dead-time",
            Self::Restarts => "restarts",
            Self::Retries(retries) => retries.main_key(),
            Self::Limit(_) => "limit",
            Self::History(_) => "p",
            Self::Own(_) => "threshold",
        }
    }

    /// Describes the parameter in errors.
    const fn expected(&self) -> &'static str {
        match self {
            Self::Events => "a number of events from 1",
            Self::Failures => "a number of failures in a row from 1",
            Self::DeadTime | Self::Limit(LimitOf::Seconds) => "a time in whole seconds from 1",
            Self::Restarts => "a number of restarts within an hour from 1",
            Self::Retries(Retries { system: System::Kubernetes, .. }) => {
                "a number of failures from 0"
            }
            Self::Retries(_) => "a number of failures from 1",
            Self::Limit(LimitOf::Requested) => "a whole number of per cent from 1",
            Self::History(_) => "a chance from 0.01 to 1, in steps of 0.01",
            Self::Own(_) => "a number from 1",
        }
    }

    /// Reads this parameter.
    fn read_parameter(&self, text: &str) -> Option<i64> {
        if let Self::History(_) = self {
            return history::read_chance(text);
        }
        let least = if let Self::Retries(retries) = self { retries.least() } else { 1 };
        text.parse().ok().filter(|&parameter| least <= parameter)
    }

    /// Writes this parameter.
    fn write_parameter(&self, parameter: i64) -> String {
        match self {
            Self::History(_) => history::write_chance(parameter),
            _ => parameter.to_string(),
        }
    }

    /// Reads the settings other than the swept parameter.
    fn read_settings(self, notation: &mut Notation) -> Result<Self, NotationError> {
        Ok(match self {
            Self::Retries(retries) => Self::Retries(retries.read(notation)?),
            Self::Limit(limit) => Self::Limit(limit.read(notation)?),
            Self::History(history) => Self::History(history.read(notation)?),
            other => other,
        })
    }

    /// The settings other than the swept parameter; `None` for a rule without settings.
    fn settings(&self) -> Option<Vec<(&'static str, String)>> {
        match self {
            Self::Retries(retries) => Some(retries.settings()),
            Self::Limit(limit) => Some(limit.settings()),
            Self::History(history) => Some(history.settings()),
            _ => None,
        }
    }

    /// The name on the command line.
    pub fn name(&self) -> &str {
        match self {
            Self::Own(own) => own.name(),
            Self::Retries(retries) => retries.name(),
            Self::Limit(_) => "slurm",
            Self::History(_) => "history",
            rule => rule.main_key(),
        }
    }

    /// What the parameter counts.
    pub const fn parameter(&self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Failures => "failures in a row",
            Self::DeadTime => "s in dead attempts",
            Self::Restarts => "restarts within an hour",
            Self::Retries(_) => "failures",
            Self::Limit(LimitOf::Seconds) => "s of an attempt",
            Self::Limit(LimitOf::Requested) => "% of the requested time",
            Self::History(_) => "% chance not to finish",
            Self::Own(_) => "its own parameter",
        }
    }

    /// The unit of the parameter.
    pub const fn unit(&self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Failures | Self::Retries(_) => "failures",
            Self::DeadTime | Self::Limit(LimitOf::Seconds) => "s",
            Self::Limit(LimitOf::Requested) | Self::History(_) => "%",
            Self::Restarts => "restarts",
            Self::Own(_) => "",
        }
    }

    /// The grid that is swept if no grid is given.
    pub fn default_grid(&self) -> Vec<i64> {
        match self {
            Self::Events => (1..=40).map(|step| step * 10).collect(),
            Self::Failures => vec![1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100],
            Self::DeadTime => vec![60, 300, 600, 1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800],
            Self::Restarts => vec![1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64],
            Self::Retries(retries) => {
                let grid = [0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100];
                grid.into_iter().filter(|&limit| retries.least() <= limit).collect()
            }
            Self::Limit(LimitOf::Seconds) => {
                vec![600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 172_800, 604_800]
            }
            Self::Limit(LimitOf::Requested) => vec![25, 50, 75, 90, 100, 110, 125, 150, 200, 300],
            Self::History(_) => vec![50, 60, 70, 80, 85, 90, 93, 95, 96, 97, 98, 99],
            Self::Own(own) => own.default_grid(),
        }
    }

    fn kill_times(
        &self,
        task: &TaskView<'_>,
        owner: Owner<'_>,
        grid: &[i64],
        times: &mut Vec<i64>,
    ) -> Result<(), RuleError> {
        times.clear();
        match self {
            Self::Events => events::kill_times(task, grid, times),
            Self::Failures => failures::kill_times(task, grid, times),
            Self::DeadTime => dead_time::kill_times(task, grid, times),
            Self::Restarts => restarts::kill_times(task, grid, times),
            Self::Retries(retries) => {
                let failures: Vec<i64> = retries.failures(task).collect();
                retries.kill_times(&failures, grid, times);
            }
            Self::Limit(limit) => limit.kill_times(task, grid, times),
            Self::History(history) => {
                history.kill_times(task, owner, grid, times);
            }
            Self::Own(own) => own.kill_times(task, grid, times)?,
        }
        debug_assert!(times.is_sorted(), "a more lenient parameter kills no earlier");
        debug_assert!(times.len() <= grid.len(), "one instant per parameter");
        Ok(())
    }
}
