//! The progress of the tasks of jobs when a job is predicted, and when jobs ended.
//!
//! In: `task_events`, and the instants at which jobs are predicted and end. Out: a [`Progress`].
//! Only events of a task up to the instant are used. A job without such events is unknown.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::known::{Reached, Stage, stage_of};
use super::step::{Happens, Step};
use crate::facts::FactError;
use crate::facts::tasks::{TaskView, Tasks, Usage};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{EventType, Table};

/// The progress of tasks.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// By job, the number of its tasks at each stage when the job is predicted. Tasks that had not
    /// begun are at no stage.
    asked: FxHashMap<i64, BTreeMap<Stage, u32>>,
    /// By the row of an end, the progress of the tasks of the job.
    ended: FxHashMap<i64, Reached>,
}

/// When jobs are predicted, and the instants and rows of their ends.
#[derive(Default)]
struct Instants {
    asked: FxHashMap<i64, i64>,
    ended: FxHashMap<i64, Vec<(i64, i64)>>,
}

impl Progress {
    /// Reads the tasks of a lake.
    ///
    /// # Errors
    /// There is no `task_events`, or it cannot be read.
    pub fn read(lake: &Lake, windows: Windows, steps: &[Step]) -> Result<Self, FactError> {
        lake.require(Table::TaskEvents)?;
        let mut instants = Instants::default();
        for step in steps {
            match step.what {
                // Nothing is predicted after the end of the tables.
                Happens::Submits { job_id, .. } if step.at_us <= windows.task_end_us => {
                    instants.asked.insert(job_id, step.at_us);
                }
                Happens::Submits { .. } => {}
                Happens::Ends { job_id, .. } => {
                    instants.ended.entry(job_id).or_default().push((step.at_us, step.row_id));
                }
            }
        }
        let rows = lake.expect_rows(&[Table::TaskEvents]);
        let all: Vec<Self> = (0..lake.bucket_count())
            .into_par_iter()
            .with_max_len(1)
            .map(|bucket| {
                let mut found = Self::default();
                let tasks = Tasks::read(lake, bucket, windows, Usage::Skip)?;
                lake.step(rows)?;
                tasks.for_each(|task| found.add(&instants, task));
                Ok(found)
            })
            .collect::<Result<_, FactError>>()?;
        // Each job is in one bucket.
        let mut merged = Self::default();
        for found in all {
            merged.asked.extend(found.asked);
            merged.ended.extend(found.ended);
        }
        Ok(merged)
    }

    fn add(&mut self, instants: &Instants, task: &TaskView<'_>) {
        let job_id = task.job_id;
        let is_there = |at_us: &&i64| task.events.first().is_some_and(|one| one.time_us <= **at_us);
        if let Some(&at_us) = instants.asked.get(&job_id).filter(is_there) {
            let stages = self.asked.entry(job_id).or_default();
            if let Some((age_us, events)) = come_to(task, at_us) {
                *stages.entry(stage_of(age_us, events)).or_default() += 1;
            }
        }
        for &(at_us, row_id) in instants.ended.get(&job_id).into_iter().flatten() {
            if let Some((age_us, events)) = come_to(task, at_us) {
                self.ended.entry(row_id).or_default().add(age_us, events);
            }
        }
    }

    /// Whether any task of the job was known when it is predicted.
    pub fn knows(&self, job_id: i64) -> bool {
        self.asked.contains_key(&job_id)
    }

    /// The stages of the job's tasks that had begun, with the number at each.
    pub(super) fn stages(&self, job_id: i64) -> impl Iterator<Item = (Stage, u32)> {
        let stages = self.asked.get(&job_id).into_iter().flatten();
        stages.map(|(&stage, &count)| (stage, count))
    }

    /// The progress of the tasks of a job when it ended.
    pub(super) fn ended(&self, row_id: i64) -> Option<&Reached> {
        self.ended.get(&row_id)
    }
}

/// The age, µs, and the number of events of a task at an instant. A task that was over keeps the
/// age at its end. `None` for a task that had not begun.
pub(super) fn come_to(task: &TaskView<'_>, at_us: i64) -> Option<(i64, usize)> {
    let past = task.events.partition_point(|event| event.time_us <= at_us);
    let known = &task.events[..past];
    let first = known.iter().find(|event| event.event_type == EventType::Schedule)?;
    let deciding = known.iter().rev().find(|event| event.event_type.is_deciding());
    let over = deciding.filter(|event| event.event_type.is_terminal());
    let last_us = over.map_or(at_us, |event| event.time_us);
    Some((last_us - first.time_us, known.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::hazards::tests::with_task;
    use super::*;
    use crate::units::MICROS_PER_SECOND;

    const JOB: i64 = 1000;

    /// The progress of a job with one task, predicted at one instant and ended at another (s).
    fn known(events: &[(i64, u8)], asked_s: i64, ended_s: i64) -> Progress {
        let instants = Instants {
            asked: [(JOB, asked_s * MICROS_PER_SECOND)].into_iter().collect(),
            ended: [(JOB, vec![(ended_s * MICROS_PER_SECOND, 7)])].into_iter().collect(),
        };
        let mut progress = Progress::default();
        with_task(events, |task| progress.add(&instants, task));
        progress
    }

    #[test]
    fn a_task_is_as_old_as_it_was_and_has_what_had_happened() {
        //  SUBMIT 0, SCHEDULE 10, EVICT 40, SUBMIT 40, SCHEDULE 50, FAIL 700
        let life = [(0, 0), (10, 1), (40, 2), (40, 0), (50, 1), (700, 3)];
        let stage = |at: i64| known(&life, at, 800).stages(JOB).next();
        let at = |age_s: i64, events| Some((stage_of(age_s * MICROS_PER_SECOND, events), 1));
        assert_eq!(stage(5), None);
        assert!(known(&life, 5, 800).knows(JOB), "it waits");
        assert!(!known(&life, -1, 800).knows(JOB), "it was not submitted");
        assert_eq!(stage(20), at(10, 2));
        assert_eq!(stage(80), at(70, 5));
        assert_eq!(stage(690), at(680, 5));
        // The task is over, so its age no longer grows.
        assert_eq!(stage(100_000), at(690, 6));
        assert!(known(&life, 20, 800).ended(7).is_some());
        assert!(known(&life, 20, 5).ended(7).is_none(), "it had not begun");
    }

    proptest! {
        /// Later events of a task do not change the stage.
        #[test]
        fn later_events_change_no_stage(
            before in prop::collection::vec((0_i64..200, 0_u8..7), 0..8),
            one in prop::collection::vec((1_i64..200, 0_u8..7), 0..6),
            other in prop::collection::vec((1_i64..200, 0_u8..7), 0..6),
            asked in 0_i64..200,
        ) {
            let with = |after: &[(i64, u8)]| {
                let past = before.iter().copied().filter(|event| event.0 <= asked);
                let later = after.iter().map(|&(wait, kind)| (asked + wait, kind));
                let mut all: Vec<(i64, u8)> = past.chain(later).collect();
                all.sort_by_key(|event| event.0);
                known(&all, asked, asked)
            };
            let [one, other] = [with(&one), with(&other)];
            let stages = |found: &Progress| found.stages(JOB).collect::<Vec<_>>();
            prop_assert_eq!(stages(&one), stages(&other));
            prop_assert_eq!(one.knows(JOB), other.knows(JOB));
            prop_assert_eq!(
                one.ended(7).map(|reached| reached.shares().collect::<Vec<_>>()),
                other.ended(7).map(|reached| reached.shares().collect::<Vec<_>>())
            );
        }
    }
}
