//! Custom kill rules, with checks of what every rule promises.
//!
//! In: a function from a task and a parameter to the instant of the kill. Out: the same instants,
//! checked for each task. A larger parameter must not kill earlier, and the instant may depend only
//! on events up to it, so the savings in a sweep were really possible.

use std::fmt;
use std::sync::Arc;

use super::RuleError;
use crate::facts::tasks::{Attempt, EndedBy, TaskView};

/// Decides when a custom rule kills a task.
pub trait Condemn: Send + Sync {
    /// The instant at which the rule with this parameter kills the task, µs; `None` for never. It
    /// may depend only on what has happened to the task by that instant.
    fn kill_us(&self, task: &TaskView<'_>, parameter: i64) -> Option<i64>;
}

impl<F> Condemn for F
where
    F: Fn(&TaskView<'_>, i64) -> Option<i64> + Send + Sync,
{
    fn kill_us(&self, task: &TaskView<'_>, parameter: i64) -> Option<i64> {
        self(task, parameter)
    }
}

/// A custom rule with its name.
#[derive(Clone)]
pub struct OwnRule {
    name: Arc<str>,
    grid: Arc<[i64]>,
    rule: Arc<dyn Condemn>,
}

impl fmt::Debug for OwnRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnRule").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for OwnRule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.rule, &other.rule)
    }
}

impl Eq for OwnRule {}

impl OwnRule {
    pub(super) fn new(name: String, grid: Vec<i64>, rule: impl Condemn + 'static) -> Self {
        Self { name: name.into(), grid: grid.into(), rule: Arc::new(rule) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The instant at which it kills the task, µs; see [`Condemn::kill_us`].
    pub fn kill_us(&self, task: &TaskView<'_>, parameter: i64) -> Option<i64> {
        self.rule.kill_us(task, parameter)
    }

    pub(super) fn default_grid(&self) -> Vec<i64> {
        self.grid.to_vec()
    }

    /// The instant of the kill for each parameter that kills, starting with the first parameter.
    pub(super) fn kill_times(
        &self,
        task: &TaskView<'_>,
        grid: &[i64],
        times: &mut Vec<i64>,
    ) -> Result<(), RuleError> {
        let mut spares = false;
        for (idx, &parameter) in grid.iter().enumerate() {
            let kill_us = self.rule.kill_us(task, parameter);
            let is_earlier = match (kill_us, times.last()) {
                (Some(_), _) if spares => true,
                (Some(kill_us), Some(&before)) => kill_us < before,
                _ => false,
            };
            if is_earlier {
                return Err(RuleError::NotLenient {
                    rule: self.name.to_string(),
                    task: name_of(task),
                    before: grid[idx - 1],
                    after: parameter,
                });
            }
            match kill_us {
                Some(at_us) if self.known_by(task, parameter, at_us) != kill_us => {
                    let (rule, task) = (self.name.to_string(), name_of(task));
                    return Err(RuleError::LooksAhead { rule, task, at_us });
                }
                Some(at_us) => times.push(at_us),
                None => spares = true,
            }
        }
        Ok(())
    }

    /// The rule's answer for a task with only the events up to `at_us`.
    fn known_by(&self, task: &TaskView<'_>, parameter: i64, at_us: i64) -> Option<i64> {
        let events = &task.events[..task.events.partition_point(|event| event.time_us <= at_us)];
        let begun = task.attempts.iter().filter(|attempt| attempt.start_us <= at_us);
        let attempts: Vec<Attempt> = begun
            .map(|attempt| {
                let is_over = attempt.end_us <= at_us;
                let open =
                    Attempt { end_us: at_us, ended_by: EndedBy::Nothing, ran_us: None, ..*attempt };
                if is_over { *attempt } else { open }
            })
            .collect();
        let ended = task.windows.partition_point(|window| window.start_us <= at_us);
        let windows: Vec<_> =
            task.windows[..ended].iter().copied().filter(|window| window.end_us <= at_us).collect();
        let job_end_us = task.job_end_us.filter(|&end_us| end_us <= at_us);
        let seen = TaskView { events, attempts: &attempts, windows: &windows, job_end_us, ..*task };
        self.rule.kill_us(&seen, parameter)
    }
}

fn name_of(task: &TaskView<'_>) -> String {
    format!("{} {}", task.job_id, task.task_index)
}

#[cfg(test)]
mod tests {
    use crate::facts::events::Event;
    use crate::facts::tasks::TaskView;
    use crate::schema::EventType;
    use crate::studies::rules::{Owner, RuleError, RuleGrid};

    const HOUR: i64 = 3_600_000_000;

    /// Checks a rule on SUBMIT, SCHEDULE, EVICT repeated, one event every ten minutes.
    fn check(rule: &RuleGrid) -> Result<Vec<i64>, RuleError> {
        let events: Vec<Event> = (0_i64..12)
            .map(|idx| Event {
                time_us: idx * 600_000_000,
                row_id: idx,
                event_type: EventType::of(idx % 3).unwrap(),
                row: 0,
            })
            .collect();
        let task = TaskView {
            job_id: 7,
            task_index: 1,
            events: &events,
            attempts: &[],
            windows: &[],
            priority: 0,
            phase: None,
            requested_us: None,
            job_end_us: None,
        };
        let mut times = Vec::new();
        rule.kill_times(&task, Owner::default(), &mut times)?;
        Ok(times.into_iter().map(|time| time / 60_000_000).collect())
    }

    #[test]
    fn a_custom_rule_kills_when_it_says() {
        // EVICT at 20, 50, 80 and 110 minutes.
        let evicted = |task: &TaskView<'_>, count: i64| {
            task.nth_within(EventType::Evict, usize::try_from(count).ok()?, HOUR)
        };
        assert_eq!(check(&RuleGrid::own("evicted", [1, 2, 3], evicted)).unwrap(), [20, 50, 80]);
        let half = |task: &TaskView<'_>, count: i64| {
            task.nth_within(EventType::Evict, usize::try_from(count).ok()?, HOUR / 3)
        };
        assert_eq!(check(&RuleGrid::own("evicted", [1, 2], half)).unwrap(), [20]);
    }

    #[test]
    fn a_custom_rule_that_breaks_its_promise_is_refused() {
        let eager = |_: &TaskView<'_>, count: i64| Some(HOUR / count);
        let refused = check(&RuleGrid::own("eager", [1, 2], eager)).unwrap_err();
        assert!(matches!(refused, RuleError::NotLenient { before: 1, after: 2, .. }), "{refused}");
        let late = |_: &TaskView<'_>, count: i64| (count == 2).then_some(HOUR);
        let refused = check(&RuleGrid::own("late", [1, 2], late)).unwrap_err();
        assert!(matches!(refused, RuleError::NotLenient { .. }), "{refused}");
        // A rule that uses the future: it kills a task at its start if its last event is EVICT.
        let ahead = |task: &TaskView<'_>, _: i64| {
            let is_evicted = task.events.last()?.event_type == EventType::Evict;
            is_evicted.then(|| task.events[0].time_us)
        };
        let refused = check(&RuleGrid::own("ahead", [1], ahead)).unwrap_err();
        assert!(matches!(refused, RuleError::LooksAhead { at_us: 0, .. }), "{refused}");
    }

    #[test]
    fn grids_that_do_not_ascend_are_refused() {
        let rule = |grid: &[i64]| "events".parse::<RuleGrid>().unwrap().over(grid.to_vec()).check();
        assert!(rule(&[1, 2, 9]).is_ok());
        assert!(matches!(rule(&[]), Err(RuleError::NoGrid { .. })));
        for odd in [&[2, 1][..], &[1, 1], &[1, 3, 2]] {
            assert!(matches!(rule(odd), Err(RuleError::Unsorted { .. })), "{odd:?}");
        }
    }
}
