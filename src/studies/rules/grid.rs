//! A rule with the grid of its parameter, further conditions, and spared tasks.

use super::Rule;
use super::error::RuleError;
use super::history::By;
use super::own::{Condemn, OwnRule};
use super::spare::{Owner, SpareKey};
use crate::facts::tasks::TaskView;

/// A rule with its grid, further rules that must also have condemned a task, and the tasks that it
/// spares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleGrid {
    /// The rule. Its parameter is swept.
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
    /// The grid must ascend from strict to lenient. A sweep refuses a grid that does not ascend, a
    /// rule that kills earlier with a more lenient parameter, and a rule that uses the future.
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

    /// Refuses a grid that is empty or does not ascend. In such a grid, rows would get the wrong
    /// parameters.
    ///
    /// # Errors
    /// The grid is empty or does not ascend.
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

    /// Whether the rule spares a task with this priority and owner.
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

    /// The rule and its further conditions, each with its parameter. `None` unless the grid has
    /// exactly one parameter.
    pub fn conditions(&self) -> Option<Vec<(&Rule, i64)>> {
        let &[parameter] = self.grid.as_slice() else { return None };
        let others = self.and.iter().map(|(rule, parameter)| (rule, *parameter));
        Some(std::iter::once((&self.rule, parameter)).chain(others).collect())
    }

    /// Fills `times` with the instants at which the first parameters of the grid kill the task. The
    /// remaining parameters never kill it.
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

#[cfg(test)]
mod tests {
    use super::super::grid::*;
    use crate::facts::events::Event;
    use crate::facts::tasks::{Attempt, EndedBy};
    use crate::schema::EventType;

    /// Checks the kills of a task with one event per minute.
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
                requested_us: None,
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
        // Only failures of the task itself, with other ends between them: at 2, 8 and 11 minutes.
        check("k8s:per=task", &[0, 1, 2, 3], "013012013013", &[2, 8, 11]);
        check("k8s:per=task,on=fail+evict", &[0, 1, 2], "013012013014", &[2, 5, 8]);
        check("spark:per=task", &[1, 2, 3], "013012013014", &[2, 8]);
        check("hadoop:per=task+events=7", &[1, 2], "013012013014", &[7, 8]);
        // Attempts of one minute: an attempt that ends exactly at its limit is not killed.
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
