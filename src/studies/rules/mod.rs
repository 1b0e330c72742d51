//! Rules that condemn a task, each swept over a grid of one parameter.
//!
//! In: one task's history. Out: for each parameter of the grid the instant at which the rule
//! would have killed the task. A rule looks at nothing after that instant, so that what it saves
//! could really have been saved. Grids ascend from strict to lenient: if a parameter condemns a
//! task, so do all before it, no later.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::facts::FactError;
use crate::facts::tasks::TaskView;
use crate::faults::{Code, Fault};
use crate::notation::nearest;

mod dead_time;
mod events;
mod failures;
mod own;
mod restarts;

pub use self::own::{Condemn, OwnRule};
pub use self::restarts::HOUR_US;

/// A rule, without its parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// More events than T (the published one).
    Events,
    /// FAIL so many times in a row.
    Failures,
    /// So many seconds in attempts that came to nothing.
    DeadTime,
    /// So many restarts within an hour.
    Restarts,
    /// A custom one.
    Own(OwnRule),
}

impl Rule {
    /// Every rule that comes with the program.
    pub const ALL: [Self; 4] = [Self::Events, Self::Failures, Self::DeadTime, Self::Restarts];

    /// The name on the command line.
    pub fn name(&self) -> &str {
        match self {
            Self::Own(own) => own.name(),
            rule => rule.known_name().unwrap_or_default(),
        }
    }

    /// The name of a rule that comes with the program.
    pub const fn known_name(&self) -> Option<&'static str> {
        match self {
            Self::Events => Some("events"),
            Self::Failures => Some("failures"),
            Self::DeadTime => Some("dead-time"),
            Self::Restarts => Some("restarts"),
            Self::Own(_) => None,
        }
    }

    /// What the parameter counts.
    pub const fn parameter(&self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Failures => "failures in a row",
            Self::DeadTime => "s in dead attempts",
            Self::Restarts => "restarts per hour",
            Self::Own(_) => "its own parameter",
        }
    }

    /// The unit of the parameter.
    pub const fn unit(&self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Failures => "failures",
            Self::DeadTime => "s",
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
            Self::Own(own) => own.default_grid(),
        }
    }

    fn kill_times(
        &self,
        task: &TaskView<'_>,
        grid: &[i64],
        times: &mut Vec<i64>,
    ) -> Result<(), RuleError> {
        times.clear();
        match self {
            Self::Events => events::kill_times(task, grid, times),
            Self::Failures => failures::kill_times(task, grid, times),
            Self::DeadTime => dead_time::kill_times(task, grid, times),
            Self::Restarts => restarts::kill_times(task, grid, times),
            Self::Own(own) => own.kill_times(task, grid, times)?,
        }
        debug_assert!(times.is_sorted(), "a more lenient parameter kills no earlier");
        debug_assert!(times.len() <= grid.len(), "one instant per parameter");
        Ok(())
    }
}

/// What tasks can be spared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpareKey {
    /// The task's priority.
    Priority,
    /// The job's scheduling class.
    Class,
    /// The job's user.
    User,
}

impl SpareKey {
    /// Everything to spare by.
    pub const ALL: [Self; 3] = [Self::Priority, Self::Class, Self::User];

    const fn name(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Class => "class",
            Self::User => "user",
        }
    }
}

/// Who a task belongs to, for exceptions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Owner<'a> {
    /// The job's scheduling class.
    pub scheduling_class: Option<i32>,
    /// The job's user.
    pub user: Option<&'a str>,
}

/// A rule with its grid, further rules that must have fired as well, and whom it spares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleGrid {
    /// The rule whose parameter is swept.
    pub rule: Rule,
    /// The parameters, ascending.
    pub grid: Vec<i64>,
    /// Rules that must have condemned the task too, each with its fixed parameter.
    pub and: Vec<(Rule, i64)>,
    /// Tasks that are never killed: those with one of these values.
    pub spare: Vec<(SpareKey, String)>,
}

impl RuleGrid {
    /// A rule by itself.
    pub fn new(rule: Rule, grid: Vec<i64>) -> Self {
        Self { rule, grid, and: Vec::new(), spare: Vec::new() }
    }

    /// A custom rule over a grid of its parameter: `rule` says when a task is killed.
    ///
    /// The grid ascends from strict to lenient; a sweep refuses one that does not, a rule that
    /// kills earlier under a more lenient parameter, and one that looks into the future.
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

    /// Refuses a grid that is empty or does not ascend: its rows would be those of other parameters.
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

    /// Whether the task is one of those that are never killed.
    fn is_spared(&self, task: &TaskView<'_>, owner: Owner<'_>) -> bool {
        self.spare.iter().any(|(key, value)| match key {
            SpareKey::Priority => value.parse() == Ok(task.priority),
            SpareKey::Class => {
                owner.scheduling_class.is_some_and(|class| value.parse() == Ok(class))
            }
            SpareKey::User => owner.user == Some(value.as_str()),
        })
    }

    /// Fills `times` with the instants at which the first parameters of the grid kill the task;
    /// the others never do.
    ///
    /// # Errors
    /// A custom rule breaks what every rule promises.
    pub fn kill_times(
        &self,
        task: &TaskView<'_>,
        owner: Owner<'_>,
        times: &mut Vec<i64>,
    ) -> Result<(), RuleError> {
        times.clear();
        if self.is_spared(task, owner) {
            return Ok(());
        }
        self.rule.kill_times(task, &self.grid, times)?;
        if times.is_empty() {
            return Ok(());
        }
        let mut other = Vec::new();
        for (rule, parameter) in &self.and {
            rule.kill_times(task, &[*parameter], &mut other)?;
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

/// A kill rule that cannot be read, or whose answer would mean nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// No such rule.
    #[error("there is no kill rule `{name}` (known: {known}){}", meant(nearest.as_ref()))]
    UnknownRule {
        /// What was written.
        name: String,
        /// The rules there are.
        known: String,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// A further rule without its parameter.
    #[error("`{part}` needs a parameter, such as `failures=3`")]
    NoParameter {
        /// What was written.
        part: String,
    },
    /// A parameter that is not a number from 1.
    #[error("`{part}`: the parameter is not a positive number")]
    BadParameter {
        /// What was written.
        part: String,
    },
    /// Nothing to spare by.
    #[error("tasks cannot be spared by `{name}` (known: priority, class, user)")]
    UnknownSpare {
        /// What was written.
        name: String,
    },
    /// Nothing or the wrong thing to spare.
    #[error("`~{part}` needs a value, such as `~priority=9`")]
    BadSpare {
        /// What was written.
        part: String,
    },
    /// A grid without a parameter.
    #[error("kill rule `{rule}` has no thresholds")]
    NoGrid {
        /// The rule.
        rule: String,
    },
    /// A grid that does not ascend.
    #[error("kill rule `{rule}`: threshold {after} follows {before}, but thresholds ascend")]
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
    /// A custom rule that would not know by its kill what it kills for.
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

fn meant(nearest: Option<&String>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

impl fmt::Display for RuleGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule.name())?;
        self.and
            .iter()
            .try_for_each(|(rule, parameter)| write!(f, "+{}={parameter}", rule.name()))?;
        self.spare.iter().try_for_each(|(key, value)| write!(f, "~{}={value}", key.name()))
    }
}

impl FromStr for RuleGrid {
    type Err = RuleError;

    /// Reads `events`, or `events+failures=3` (the first is swept, the others are fixed), or
    /// `events~priority=9~class=3` (whom it spares).
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let find = |name: &str| {
            let known = Rule::ALL;
            Rule::ALL.into_iter().find(|rule| rule.name() == name).ok_or_else(|| {
                let known: Vec<&str> = known.iter().map(Rule::name).collect();
                let nearest = nearest(name, known.iter().copied()).map(str::to_owned);
                RuleError::UnknownRule { name: name.to_owned(), known: known.join(", "), nearest }
            })
        };
        let mut spared = text.split('~');
        let mut parts = spared.next().unwrap_or_default().split('+');
        let rule = find(parts.next().unwrap_or_default())?;
        let mut and = Vec::new();
        for part in parts {
            let (name, parameter) = part
                .split_once('=')
                .ok_or_else(|| RuleError::NoParameter { part: part.to_owned() })?;
            let parameter = parameter.parse().ok().filter(|&parameter: &i64| 0 < parameter);
            and.push((
                find(name)?,
                parameter.ok_or_else(|| RuleError::BadParameter { part: part.to_owned() })?,
            ));
        }
        let mut spare = Vec::new();
        for part in spared {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let key = SpareKey::ALL.into_iter().find(|key| key.name() == name);
            let key = key.ok_or_else(|| RuleError::UnknownSpare { name: name.to_owned() })?;
            if value.is_empty() || (key != SpareKey::User && value.parse::<i32>().is_err()) {
                return Err(RuleError::BadSpare { part: part.to_owned() });
            }
            spare.push((key, value.to_owned()));
        }
        Ok(Self { grid: rule.default_grid(), rule, and, spare })
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
                cpu_used: None,
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
            job_end_us: None,
        };
        let mut rule: RuleGrid = rule.parse().unwrap();
        rule.grid = grid.to_vec();
        let mut times = Vec::new();
        let owner = Owner { scheduling_class: Some(3), user: Some("u=1") };
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
        check("events+failures=3", &[2, 10], "013013013014", &[8, 10]);
        check("events+failures=9", &[2, 10], "013013013014", &[]);
        check("events~priority=1~class=2~user=v", &[2], "013014", &[2]);
        for spared in ["events~priority=0", "events~class=3", "events~user=u=1"] {
            check(spared, &[2], "013014", &[]);
        }
    }

    #[test]
    fn rules_print_as_they_are_read_and_typos_are_refused() {
        for text in [
            "events",
            "failures+restarts=3",
            "dead-time+events=10+failures=2",
            "events~priority=9~user=a=b",
        ] {
            assert_eq!(text.parse::<RuleGrid>().unwrap().to_string(), text);
        }
        for odd in [
            "",
            "event",
            "events+failures",
            "events+failures=x",
            "events+failures=0",
            "events~x=1",
            "events~class=a",
            "events~user=",
        ] {
            assert!(odd.parse::<RuleGrid>().is_err(), "{odd}");
        }
    }
}
