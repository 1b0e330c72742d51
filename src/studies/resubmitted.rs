//! Whether failed and killed tasks have many events because they were resubmitted.
//!
//! In: a lake of a trace with events. Out: of the tasks with more than three events, how many have
//! a SUBMIT after an event that ended them (section 4.1 of the study of 2017). A task counts as
//! failed or killed by the outcome of its job, or by its last event; both are counted.

use rayon::prelude::*;

use crate::facts::FactError;
use crate::facts::events::Event;
use crate::facts::jobs::{Jobs, by_terminal};
use crate::facts::tasks::{Tasks, Usage};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{EventType, Table};

/// The number of events of a task that is submitted, runs and ends; a long task has more.
const EVENTS_OF_ONE_LIFE: usize = 3;

/// Long tasks, and how many of them were resubmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongTasks {
    /// Tasks with more than three events.
    pub count: u64,
    /// Those of them with a SUBMIT after an end.
    pub submitted_again: u64,
}

impl LongTasks {
    fn add(&mut self, is_again: bool) {
        self.count += 1;
        self.submitted_again += u64::from(is_again);
    }

    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            submitted_again: self.submitted_again + other.submitted_again,
        }
    }

    /// The share that was resubmitted, %; `None` if there are no long tasks.
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 tasks")]
    pub fn again_percent(self) -> Option<f64> {
        (0 < self.count).then(|| self.submitted_again as f64 / self.count as f64 * 100.0)
    }
}

/// Long tasks that failed or were killed, by both definitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailedOrKilled {
    /// Tasks of failed and killed jobs, by the sequence of the job.
    pub by_job: LongTasks,
    /// Tasks that failed or were killed by their own last event.
    pub by_own_end: LongTasks,
}

impl FailedOrKilled {
    fn plus(self, other: Self) -> Self {
        Self {
            by_job: self.by_job.plus(other.by_job),
            by_own_end: self.by_own_end.plus(other.by_own_end),
        }
    }
}

/// Whether a SUBMIT follows an event that ends a task.
fn is_submitted_again(events: &[Event]) -> bool {
    let after_an_end = events.iter().skip_while(|event| !event.event_type.is_terminal());
    after_an_end.into_iter().any(|event| event.event_type == EventType::Submit)
}

/// Counts the long tasks of failed and killed jobs, and the long tasks that failed or were killed
/// by their own last event.
pub fn long_tasks(lake: &Lake, windows: Windows) -> Result<FailedOrKilled, FactError> {
    lake.require(Table::TaskEvents)?;
    let rows = lake.expect_rows(&[Table::TaskEvents]);
    (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(|bucket| {
            let counted = long_tasks_of(lake, bucket, windows)?;
            lake.step(rows)?;
            Ok(counted)
        })
        .try_reduce(FailedOrKilled::default, |one, other| Ok(one.plus(other)))
}

fn long_tasks_of(lake: &Lake, bucket: u32, windows: Windows) -> Result<FailedOrKilled, FactError> {
    // "failed" and "killed" are second and third in the outcomes of both classes.
    let is_bad = |outcome: u8| matches!(outcome, 1 | 2);
    let jobs = if lake.has(Table::JobEvents) { Jobs::read(lake, bucket)? } else { Jobs::default() };
    let mut counted = FailedOrKilled::default();
    Tasks::read(lake, bucket, windows, Usage::Skip)?.for_each(|task| {
        if task.events.len() <= EVENTS_OF_ONE_LIFE {
            return;
        }
        let is_again = is_submitted_again(task.events);
        let job = jobs.find(task.job_id).map(|position| &jobs.jobs[position]);
        if job.is_some_and(|job| is_bad(job.by_sequence)) {
            counted.by_job.add(is_again);
        }
        if is_bad(by_terminal(task.events)) {
            counted.by_own_end.add(is_again);
        }
    });
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_submitted_again_if_a_submit_follows_an_end() {
        let check = |sequence: &str, expected: bool| {
            let events: Vec<Event> = (0..)
                .zip(sequence.bytes())
                .map(|(row, digit)| Event {
                    time_us: i64::from(row),
                    row_id: i64::from(row),
                    event_type: EventType::of(digit - b'0').unwrap(),
                    row,
                })
                .collect();
            assert_eq!(is_submitted_again(&events), expected, "{sequence}");
        };
        for sequence in ["", "0", "015", "0015", "01788885", "12", "0123"] {
            check(sequence, false);
        }
        for sequence in ["012015", "20", "0130", "0143015", "016801"] {
            check(sequence, true);
        }
        assert_eq!(LongTasks::default().again_percent(), None);
        let three_of_four = LongTasks { count: 4, submitted_again: 3 };
        assert_eq!(three_of_four.again_percent(), Some(75.0));
    }
}
