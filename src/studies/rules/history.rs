//! Kills tasks that will probably not finish, according to the past jobs of their user.
//!
//! In: the events of a task, and the chance that its job does not finish. The chance comes from
//! [`predict`](crate::studies::predict) and from jobs that had ended by then. Out: the kill. The
//! chance is that at the submission of the job (`rate`), or the current one from the age of the
//! task (`by=age`), or the current one from its age and events (`by=events`).
//!
//! ```text
//!  history:p=0.95,after=60    chance 0.97   |-- 60 s --x      from the first SCHEDULE of the task
//!                             chance 0.90   |-------------- not killed
//!  ..,by=events                        0.90 |-- 60 s ----fail-0.93---fail-0.96 x
//! ```
//! A task that is over by then is not killed until it is submitted or scheduled again. With
//! `per=job` the whole job ends once `tasks` of its tasks are condemned. The rule reads nothing
//! after the kill.

use super::retries::SCOPES;
use super::{Owner, Scope};
use crate::facts::tasks::TaskView;
use crate::notation::{Notation, NotationError};
use crate::schema::EventType;
use crate::studies::predict::known::ages_us;
use crate::units::MICROS_PER_SECOND;

/// The rule, without its threshold for the chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryRule {
    /// No task is killed earlier than this many seconds after its first SCHEDULE.
    pub after_s: i64,
    /// Whether the task or its job is ended.
    pub scope: Scope,
    /// How many tasks of a job must be condemned before it is ended.
    pub tasks: usize,
    /// The data behind the chance.
    pub by: By,
}

/// The data from which a job's chance is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The jobs that had ended when it was submitted.
    Submission,
    /// The jobs that have ended by now, and the task's age.
    Age,
    /// The same as `Age`, and the task's events so far.
    Events,
}

impl By {
    /// All variants in their notation.
    const WORDS: [(&'static str, Self); 3] =
        [("submission", Self::Submission), ("age", Self::Age), ("events", Self::Events)];

    const fn word(self) -> &'static str {
        match self {
            Self::Submission => "submission",
            Self::Age => "age",
            Self::Events => "events",
        }
    }
}

/// The default of the smallest age at which tasks are killed, s.
const AFTER_S: i64 = 60;

/// The largest age in the notation, s: a hundred days.
const AFTER_MAX_S: i64 = 8_640_000;

impl Default for HistoryRule {
    fn default() -> Self {
        Self { after_s: AFTER_S, scope: Scope::Task, tasks: 1, by: By::Submission }
    }
}

impl HistoryRule {
    /// Reads the settings other than the chance.
    pub(super) fn read(mut self, notation: &mut Notation) -> Result<Self, NotationError> {
        let is_age = |age: &i64| (0..=AFTER_MAX_S).contains(age);
        let expected = "a time in whole seconds from 0 to 8640000";
        self.after_s = notation.take_if("after", expected, self.after_s, is_age)?;
        let expected = "`submission`, `age` or `events`";
        self.by = notation.choice("by", expected, self.by, &By::WORDS)?;
        self.scope = notation.choice("per", "`job` or `task`", self.scope, &SCOPES)?;
        if self.scope == Scope::Job {
            let expected = "a number of tasks from 1";
            self.tasks = notation.take_if("tasks", expected, self.tasks, |&tasks| 0 < tasks)?;
        }
        Ok(self)
    }

    /// Writes the settings other than the chance, if they differ from the default.
    pub(super) fn settings(self) -> Vec<(&'static str, String)> {
        let usual = Self::default();
        let mut settings = Vec::new();
        if self.after_s != usual.after_s {
            settings.push(("after", self.after_s.to_string()));
        }
        if self.by != usual.by {
            settings.push(("by", self.by.word().to_owned()));
        }
        if self.scope != usual.scope {
            settings.push(("per", "job".to_owned()));
        }
        if self.tasks != usual.tasks {
            settings.push(("tasks", self.tasks.to_string()));
        }
        settings
    }

    /// Fills `times` with the instants at which the first chances of the grid kill a task.
    pub(super) fn kill_times(
        self,
        task: &TaskView<'_>,
        owner: Owner<'_>,
        grid: &[i64],
        times: &mut Vec<i64>,
    ) {
        let first = task.events.iter().find(|event| event.event_type == EventType::Schedule);
        let Some(first_us) = first.map(|first| first.time_us) else { return };
        let after_us = self.after_s.saturating_mul(MICROS_PER_SECOND);
        let Some(from_us) = first_us.checked_add(after_us) else { return };
        let Some(moment) = owner.moment.filter(|_| self.by != By::Submission) else {
            let reached = owner.chance.map_or(0, |chance| reached(chance, grid));
            if self.by == By::Submission && 0 < reached {
                let condemned_us = condemned_us(task, from_us);
                times.extend(condemned_us.into_iter().flat_map(|at_us| vec![at_us; reached]));
            }
            return;
        };
        for at_us in looks_us(task, first_us, from_us, moment.end_us()) {
            let past = task.events.partition_point(|event| event.time_us <= at_us);
            if is_over(task, past, at_us) {
                continue;
            }
            let events = if self.by == By::Events { past } else { 0 };
            let reached = reached(moment.chance(at_us, at_us - first_us, events), grid);
            times.resize(times.len().max(reached), at_us);
            if times.len() == grid.len() {
                return;
            }
        }
    }
}

/// The number of thresholds of the grid, in per cent, that a chance reaches.
fn reached(chance: f64, grid: &[i64]) -> usize {
    #[expect(clippy::cast_precision_loss, reason = "per cent")]
    let is_reached = |per_cent: &&i64| **per_cent as f64 <= chance * 100.0;
    grid.iter().take_while(is_reached).count()
}

/// The kill, µs, of a task that is condemned from `from_us` on. If the task is over by then, it is
/// killed when it is next submitted or scheduled.
fn condemned_us(task: &TaskView<'_>, from_us: i64) -> Option<i64> {
    let past = task.events.partition_point(|event| event.time_us <= from_us);
    if !is_over(task, past, from_us) {
        return Some(from_us);
    }
    let back = |kind: EventType| matches!(kind, EventType::Submit | EventType::Schedule);
    task.events[past..].iter().find(|event| back(event.event_type)).map(|event| event.time_us)
}

/// Whether a task is over after its first `past` events.
fn is_over(task: &TaskView<'_>, past: usize, at_us: i64) -> bool {
    let deciding = task.events[..past].iter().rev().find(|event| event.event_type.is_deciding());
    deciding.is_some_and(|event| event.event_type.is_terminal())
        || task.job_end_us.is_some_and(|end_us| end_us <= at_us)
}

/// The instants at which a task is checked: when it may be killed for the first time, and then at
/// certain ages and at its events, up to the end of the tables.
fn looks_us(task: &TaskView<'_>, first_us: i64, from_us: i64, end_us: i64) -> Vec<i64> {
    let ages = ages_us().filter_map(|age_us| first_us.checked_add(age_us));
    let ages = ages.filter(|&at_us| from_us < at_us).chain([from_us]);
    let events = task.events.iter().map(|event| event.time_us);
    let events = events.filter(|&at_us| from_us < at_us && at_us < i64::MAX);
    let mut looks: Vec<i64> = ages.filter(|&at_us| at_us <= end_us).chain(events).collect();
    looks.sort_unstable();
    looks.dedup();
    looks
}

/// Reads a chance in steps of 0.01, and returns it in per cent.
pub(super) fn read_chance(text: &str) -> Option<i64> {
    let per_cent =
        text.parse::<f64>().ok().filter(|chance| 0.0 < *chance && *chance <= 1.0)? * 100.0;
    #[expect(clippy::cast_possible_truncation, reason = "from 0 to 100")]
    let whole = per_cent.round() as i64;
    #[expect(clippy::cast_precision_loss, reason = "from 0 to 100")]
    let is_whole = (per_cent - whole as f64).abs() < 1e-9 && 0 < whole;
    is_whole.then_some(whole)
}

/// Writes a value in per cent as a chance.
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
    use crate::studies::predict::hazards::tests::{Job, STEP_S, before, hazards, job, with_task};
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
        // The task is over by then, and is submitted again at 200 s.
        let short = [(0, 0), (10, 1), (30, 3), (200, 0), (220, 1), (230, 4)];
        assert_eq!(times("history:p=0.5", 1.0, &short), [200]);
        assert_eq!(times("history:p=0.5", 1.0, &short[..3]), [0_i64; 0]);
    }

    /// The times at which a task of job 1000 is killed, given other jobs.
    fn looked_at(rule: &str, jobs: &[Job], events: &[(i64, u8)]) -> Vec<i64> {
        let (rule, mut times): (RuleGrid, _) = (rule.parse().unwrap(), Vec::new());
        let hazards = hazards(jobs);
        with_task(events, |task| {
            let owner = Owner { moment: hazards.of_job(1000), ..Owner::default() };
            rule.kill_times(task, owner, &mut times).unwrap();
        });
        times
    }

    proptest! {
        /// Events after a kill never change the kill.
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

        /// Jobs that end after a kill, and later events of the task, never change the kill.
        #[test]
        fn the_future_moves_no_kill_by_events(
            jobs in prop::collection::vec(job(), 0..12),
            other in prop::collection::vec(job(), 0..6),
            own in prop::collection::vec((0_i64..70, 0_u8..7), 1..9),
            after in prop::collection::vec((1_i64..70, 0_u8..7), 0..9),
            by in prop::sample::select(vec!["age", "events"]),
        ) {
            let mut own = own;
            own.sort_unstable_by_key(|event| event.0);
            for event in &mut own {
                event.0 *= STEP_S;
            }
            let rule = format!("history:p={{0.3,0.5,0.6,0.7,0.8,0.9}},after=30,by={by}");
            let found = looked_at(&rule, &jobs, &own);
            prop_assert!(found.is_sorted());
            for (idx, &kill_us) in found.iter().enumerate() {
                let mut others = before(&jobs, kill_us);
                let later = |job: &Job| before(std::slice::from_ref(job), kill_us).is_empty();
                others.extend(other.iter().filter(|job| later(job)).cloned());
                let mut events: Vec<(i64, u8)> =
                    own.iter().copied().filter(|event| event.0 * MICROS_PER_SECOND <= kill_us).collect();
                let mut at_s = kill_us / MICROS_PER_SECOND;
                for &(wait_s, kind) in &after {
                    at_s += wait_s * STEP_S;
                    events.push((at_s, kind));
                }
                let again = looked_at(&rule, &others, &events);
                prop_assert_eq!(again.get(idx), Some(&kill_us));
            }
        }
    }
}
