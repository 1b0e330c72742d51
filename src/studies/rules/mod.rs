//! Rules that condemn a task, each swept over a grid of one parameter.
//!
//! In: one task's history. Out: for each parameter of the grid the instant at which the rule would
//! have killed the task. A rule reads nothing after that instant, so its savings were really
//! possible. Grids ascend from strict to lenient: if a parameter condemns a task, so do all smaller
//! ones, and no later.

use thiserror::Error;

use crate::facts::FactError;
use crate::facts::tasks::TaskView;
use crate::faults::{Code, Fault};
use crate::notation::{Notation, NotationError};

mod about;
#[cfg(test)]
mod causality;
mod dead_time;
mod events;
mod failures;
mod history;
mod limit;
mod of_job;
mod own;
mod restarts;
mod retries;
mod spare;
mod written;

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
    /// A job that will not finish, judging by its user's past.
    History(HistoryRule),
    /// A custom rule.
    Own(OwnRule),
}

impl Rule {
    /// Rules compared by default.
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

    /// Reads the settings besides the swept parameter.
    fn read_settings(self, notation: &mut Notation) -> Result<Self, NotationError> {
        Ok(match self {
            Self::Retries(retries) => Self::Retries(retries.read(notation)?),
            Self::Limit(limit) => Self::Limit(limit.read(notation)?),
            Self::History(history) => Self::History(history.read(notation)?),
            other => other,
        })
    }

    /// The settings besides the swept parameter; `None` for a rule without settings.
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
            Self::Restarts => "restarts per hour",
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
            Self::Restarts => "restarts/h",
            Self::Own(_) => "",
        }
    }

    /// The grid that is swept when none is given.
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

/// A rule with its grid, further rules that must also have fired, and the tasks it spares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleGrid {
    /// The rule whose parameter is swept.
    pub rule: Rule,
    /// The parameters, ascending.
    pub grid: Vec<i64>,
    /// Whether the parameters were written with the rule, as in `events=20`.
    pub is_given: bool,
    /// Rules that must also have condemned the task, each with its fixed parameter.
    pub and: Vec<(Rule, i64)>,
    /// Tasks with one of these values are never killed.
    pub spare: Vec<(SpareKey, String)>,
}

impl RuleGrid {
    /// A rule without conditions or spared tasks.
    pub fn new(rule: Rule, grid: Vec<i64>) -> Self {
        Self { rule, grid, is_given: false, and: Vec::new(), spare: Vec::new() }
    }

    /// A custom rule over a grid of its parameter; `rule` returns when a task is killed.
    ///
    /// The grid ascends from strict to lenient. A sweep refuses a grid that does not, a rule that
    /// kills earlier under a more lenient parameter, and a rule that uses the future.
    pub fn own(
        name: impl Into<String>,
        grid: impl IntoIterator<Item = i64>,
        rule: impl Condemn + 'static,
    ) -> Self {
        let grid: Vec<i64> = grid.into_iter().collect();
        Self::new(Rule::Own(OwnRule::new(name.into(), grid.clone(), rule)), grid)
    }

    /// The same rule over another grid of its parameter.
    #[must_use]
    pub fn over(self, grid: impl IntoIterator<Item = i64>) -> Self {
        Self { grid: grid.into_iter().collect(), ..self }
    }

    /// Refuses a grid that is empty or does not ascend, whose rows would belong to other
    /// parameters.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), RuleError> {
        let rule = || self.to_string();
        if self.grid.is_empty() {
            return Err(RuleError::NoGrid { rule: rule() });
        }
        let is_odd = |pair: &&[i64]| pair[1] <= pair[0];
        match self.grid.windows(2).find(is_odd) {
            Some(pair) => {
                Err(RuleError::Unsorted { rule: rule(), before: pair[0], after: pair[1] })
            }
            None => Ok(()),
        }
    }

    /// Whether a task is never killed.
    pub fn spares(&self, priority: Option<i32>, owner: Owner<'_>) -> bool {
        self.spare.iter().any(|(key, value)| key.is_of(value, priority, owner))
    }

    /// Whether it needs the chance that a job does not finish.
    pub fn asks_history(&self) -> bool {
        let mut rules = std::iter::once(&self.rule).chain(self.and.iter().map(|(rule, _)| rule));
        rules.any(|rule| matches!(rule, Rule::History(_)))
    }

    /// Whether it needs that chance while the job runs.
    pub fn asks_hazards(&self) -> bool {
        let mut rules = std::iter::once(&self.rule).chain(self.and.iter().map(|(rule, _)| rule));
        rules.any(|rule| matches!(rule, Rule::History(history) if history.by != By::Submission))
    }

    /// The rule and those that must also have fired, each with its parameter; `None` unless the
    /// rule has exactly one.
    pub fn conditions(&self) -> Option<Vec<(&Rule, i64)>> {
        let &[parameter] = self.grid.as_slice() else { return None };
        let others = self.and.iter().map(|(rule, parameter)| (rule, *parameter));
        Some(std::iter::once((&self.rule, parameter)).chain(others).collect())
    }

    /// Fills `times` with the instants at which the first parameters of the grid kill the task; the
    /// others never do.
    ///
    /// # Errors
    /// A custom rule breaks a promise of rules.
    pub fn kill_times(
        &self,
        task: &TaskView<'_>,
        owner: Owner<'_>,
        times: &mut Vec<i64>,
    ) -> Result<(), RuleError> {
        times.clear();
        if self.spares(Some(task.priority), owner) {
            return Ok(());
        }
        self.rule.kill_times(task, owner, &self.grid, times)?;
        if times.is_empty() {
            return Ok(());
        }
        let mut other = Vec::new();
        for (rule, parameter) in &self.and {
            rule.kill_times(task, owner, &[*parameter], &mut other)?;
            let Some(&fired) = other.first() else {
                times.clear();
                return Ok(());
            };
            for time in times.iter_mut() {
                *time = (*time).max(fired);
            }
        }
        Ok(())
    }
}

/// A kill rule whose result would be meaningless.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A grid without a parameter.
    #[error("kill rule `{rule}` has no thresholds")]
    NoGrid {
        /// The rule.
        rule: String,
    },
    /// A grid that does not ascend.
    #[error(
        "kill rule `{rule}`: threshold {after} comes after {before}, but thresholds must ascend"
    )]
    Unsorted {
        /// The rule.
        rule: String,
        /// A parameter.
        before: i64,
        /// The next one.
        after: i64,
    },
    /// A custom rule under which a more lenient parameter kills earlier, or at all.
    #[error(
        "kill rule `{rule}` kills task {task} earlier with {after} than with {before}, but a larger \
         threshold is more lenient"
    )]
    NotLenient {
        /// The rule.
        rule: String,
        /// The task, as job and index.
        task: String,
        /// A parameter.
        before: i64,
        /// The next one.
        after: i64,
    },
    /// A custom rule whose kill depends on later events.
    #[error(
        "kill rule `{rule}` kills task {task} at {at_us} µs, but what had happened by then does \
        not imply it"
    )]
    LooksAhead {
        /// The rule.
        rule: String,
        /// The task, as job and index.
        task: String,
        /// The kill, µs.
        at_us: i64,
    },
}

impl From<RuleError> for FactError {
    fn from(error: RuleError) -> Self {
        Self::Rule(error.into())
    }
}

impl Fault for RuleError {
    fn code(&self) -> Code {
        Code::Usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::events::Event;
    use crate::facts::tasks::{Attempt, EndedBy};
    use crate::schema::EventType;

    /// A task of one event per minute.
    fn check(rule: &str, grid: &[i64], sequence: &str, expected_minutes: &[i64]) {
        let events: Vec<Event> = (0_i64..)
            .zip(sequence.bytes())
            .map(|(idx, digit)| Event {
                time_us: idx * 60_000_000,
                row_id: idx,
                event_type: EventType::of(digit - b'0').unwrap(),
                row: 0,
            })
            .collect();
        let mut attempts: Vec<Attempt> = Vec::new();
        for pair in events.windows(2).filter(|pair| pair[0].event_type == EventType::Schedule) {
            attempts.push(Attempt {
                start_us: pair[0].time_us,
                end_us: pair[1].time_us,
                ended_by: EndedBy::Event(pair[1].event_type),
                cpu_request: None,
                memory: None,
                gpus: None,
                cpu_used: None,
                ran_us: None,
                machine_id: None,
                row: 0,
            });
        }
        let task = TaskView {
            job_id: 1,
            task_index: 0,
            events: &events,
            attempts: &attempts,
            windows: &[],
            priority: 0,
            phase: None,
            requested_us: None,
            job_end_us: None,
        };
        let mut rule: RuleGrid = rule.parse().unwrap();
        rule.grid = grid.to_vec();
        let mut times = Vec::new();
        let owner = Owner { scheduling_class: Some(3), user: Some("u=1"), ..Owner::default() };
        rule.kill_times(&task, owner, &mut times).unwrap();
        let minutes: Vec<i64> = times.iter().map(|time| time / 60_000_000).collect();
        assert_eq!(minutes, expected_minutes, "{rule} on {sequence}");
    }

    #[test]
    fn rules_condemn_at_the_instant_they_know() {
        //      minute: 012345678901
        check("events", &[2, 3, 11, 12], "013013013014", &[2, 3, 11]);
        check("failures", &[1, 2, 3, 4], "013013013014", &[2, 5, 8]);
        check("failures", &[1, 2], "013012013014", &[2]);
        check("dead-time", &[60, 120, 180, 181], "013013013014", &[2, 5, 8]);
        check("restarts", &[1, 2, 3, 4], "013013013014", &[4, 7, 10]);
        // Only its own failures, with other ends between them: 2, 8 and 11 minutes.
        check("k8s:per=task", &[0, 1, 2, 3], "013012013013", &[2, 8, 11]);
        check("k8s:per=task,on=fail+evict", &[0, 1, 2], "013012013014", &[2, 5, 8]);
        check("spark:per=task", &[1, 2, 3], "013012013014", &[2, 8]);
        check("hadoop:per=task+events=7", &[1, 2], "013012013014", &[7, 8]);
        // Attempts of one minute: an attempt that ends at its limit is left alone.
        check("slurm", &[20, 59, 60], "014", &[1, 1]);
        check("slurm:of=requested", &[10, 100], "014", &[]);
        check("events+failures=3", &[2, 10], "013013013014", &[8, 10]);
        check("events+failures=9", &[2, 10], "013013013014", &[]);
        check("events~priority=1~class=2~user=v", &[2], "013014", &[2]);
        for spared in ["events~priority=0", "events~class=3", "events~user=u=1"] {
            check(spared, &[2], "013014", &[]);
        }
    }
}
