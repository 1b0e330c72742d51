//! Kill what the past of its user says will not finish.
//!
//! In: the chance that a task's job does not finish, as [`predict`](crate::studies::predict) says at
//! the job's submission from what had ended by then (`rate`), and the task's events. Out: the kill.
//!
//! ```text
//!  history:p=0.95,after=60    chance 0.97   |-- 60 s --x      from the first SCHEDULE of the task
//!                             chance 0.90   |-------------- left alone
//! ```
//! A task that is over by then is left alone until it is submitted or scheduled again. With
//! `per=job` the whole job is ended once `tasks` of its tasks are condemned. Nothing that happens
//! after the kill is looked at.

use super::Scope;
use super::retries::SCOPES;
use crate::facts::tasks::TaskView;
use crate::notation::{Notation, NotationError};
use crate::schema::EventType;
use crate::units::MICROS_PER_SECOND;

/// The rule, without the chance from which it kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryRule {
    /// No task is killed within so many seconds of its first SCHEDULE.
    pub after_s: i64,
    /// What is ended.
    pub scope: Scope,
    /// How many tasks of a job must be condemned before it is ended.
    pub tasks: usize,
}

/// The age from which tasks are killed where nothing else is said, s.
const AFTER_S: i64 = 60;

/// The largest age that can be written, s: a hundred days.
const AFTER_MAX_S: i64 = 8_640_000;

impl Default for HistoryRule {
    fn default() -> Self {
        Self { after_s: AFTER_S, scope: Scope::Task, tasks: 1 }
    }
}

impl HistoryRule {
    /// Takes what is written besides the chance.
    pub(super) fn read(mut self, notation: &mut Notation) -> Result<Self, NotationError> {
        let is_age = |age: &i64| (0..=AFTER_MAX_S).contains(age);
        let expected = "a time in whole seconds from 0 to 8640000";
        self.after_s = notation.take_if("after", expected, self.after_s, is_age)?;
        self.scope = notation.choice("per", "`job` or `task`", self.scope, &SCOPES)?;
        if self.scope == Scope::Job {
            let expected = "a number of tasks from 1";
            self.tasks = notation.take_if("tasks", expected, self.tasks, |&tasks| 0 < tasks)?;
        }
        Ok(self)
    }

    /// What is written besides the chance: what differs from the default.
    pub(super) fn settings(self) -> Vec<(&'static str, String)> {
        let usual = Self::default();
        let mut settings = Vec::new();
        if self.after_s != usual.after_s {
            settings.push(("after", self.after_s.to_string()));
        }
        if self.scope != usual.scope {
            settings.push(("per", "job".to_owned()));
        }
        if self.tasks != usual.tasks {
            settings.push(("tasks", self.tasks.to_string()));
        }
        settings
    }

    /// How many chances of the grid, per cent, a job reaches.
    pub(super) fn reached(chance: Option<f64>, grid: &[i64]) -> usize {
        #[expect(clippy::cast_precision_loss, reason = "per cent")]
        let is_reached =
            |&per_cent: &i64| chance.is_some_and(|chance| per_cent as f64 <= chance * 100.0);
        grid.iter().take_while(|per_cent| is_reached(per_cent)).count()
    }

    /// When a task is condemned whose job's chance is large enough, µs.
    pub(super) fn condemned_us(self, task: &TaskView<'_>) -> Option<i64> {
        let first = task.events.iter().find(|event| event.event_type == EventType::Schedule)?;
        let from_us = first.time_us.checked_add(self.after_s.saturating_mul(MICROS_PER_SECOND))?;
        let past = task.events.partition_point(|event| event.time_us <= from_us);
        let deciding =
            task.events[..past].iter().rev().find(|event| event.event_type.is_deciding());
        let is_over = deciding.is_some_and(|event| event.event_type.is_terminal())
            || task.job_end_us.is_some_and(|end_us| end_us <= from_us);
        if !is_over {
            return Some(from_us);
        }
        let back = |kind: EventType| matches!(kind, EventType::Submit | EventType::Schedule);
        task.events[past..].iter().find(|event| back(event.event_type)).map(|event| event.time_us)
    }
}

/// Reads a chance in steps of 0.01, as per cent.
pub(super) fn read_chance(text: &str) -> Option<i64> {
    let per_cent =
        text.parse::<f64>().ok().filter(|chance| 0.0 < *chance && *chance <= 1.0)? * 100.0;
    #[expect(clippy::cast_possible_truncation, reason = "from 0 to 100")]
    let whole = per_cent.round() as i64;
    #[expect(clippy::cast_precision_loss, reason = "from 0 to 100")]
    let is_whole = (per_cent - whole as f64).abs() < 1e-9 && 0 < whole;
    is_whole.then_some(whole)
}

/// Writes per cent as a chance.
pub(super) fn write_chance(per_cent: i64) -> String {
    match per_cent {
        100 => "1".to_owned(),
        _ => format!("0.{per_cent:02}").trim_end_matches('0').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::events::Event;
    use crate::studies::rules::{Owner, RuleGrid};

    fn times(rule: &str, chance: f64, events: &[(i64, u8)]) -> Vec<i64> {
        let events: Vec<Event> = (0..)
            .zip(events)
            .map(|(row_id, &(second, kind))| Event {
                time_us: second * MICROS_PER_SECOND,
                row_id,
                event_type: EventType::of(kind).unwrap(),
                row: 0,
            })
            .collect();
        let task = TaskView {
            job_id: 1,
            task_index: 0,
            events: &events,
            attempts: &[],
            windows: &[],
            priority: 0,
            phase: None,
            requested_us: None,
            job_end_us: None,
        };
        let rule: RuleGrid = rule.parse().unwrap();
        let mut times = Vec::new();
        let owner = Owner { chance: Some(chance), ..Owner::default() };
        rule.kill_times(&task, owner, &mut times).unwrap();
        times.into_iter().map(|time| time / MICROS_PER_SECOND).collect()
    }

    #[test]
    fn a_task_is_killed_at_its_age_if_its_past_is_bad_enough() {
        let rule = "history:p={0.5,0.9,0.95}";
        let long = [(0, 0), (10, 1), (500, 3)];
        assert_eq!(times(rule, 0.94, &long), [70, 70]);
        assert_eq!(times(rule, 0.49, &long), [0_i64; 0]);
        assert_eq!(times("history:p=0.5,after=0", 0.5, &long), [10]);
        // Over by then; back at 200 s.
        let short = [(0, 0), (10, 1), (30, 3), (200, 0), (220, 1), (230, 4)];
        assert_eq!(times("history:p=0.5", 1.0, &short), [200]);
        assert_eq!(times("history:p=0.5", 1.0, &short[..3]), [0_i64; 0]);
    }

    proptest! {
        /// What comes after the kill could have been anything.
        #[test]
        fn the_future_moves_no_kill(
            before in prop::collection::vec((0_i64..200, 0_u8..7), 1..8),
            after in prop::collection::vec((1_i64..200, 0_u8..7), 0..8),
        ) {
            let mut before = before;
            before.sort_unstable_by_key(|event| event.0);
            if let Some(&kill) = times("history:p=0.5", 1.0, &before).first() {
                let mut other: Vec<(i64, u8)> =
                    before.iter().copied().filter(|event| event.0 <= kill).collect();
                let mut at = kill;
                for (wait, kind) in after {
                    at += wait;
                    other.push((at, kind));
                }
                prop_assert_eq!(times("history:p=0.5", 1.0, &other), [kill]);
            }
        }
    }
}
