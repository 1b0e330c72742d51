//! Seconds spent in attempts that ended with any event other than FINISH.
//!
//! The time of an attempt counts only once it has ended, because its outcome is unknown before. The
//! time for which it was suspended does not count.

use crate::facts::tasks::{Attempt, TaskView};
use crate::schema::EventType;
use crate::units::MICROS_PER_SECOND;

/// For each threshold that is reached, the end of the attempt that reaches it.
pub(super) fn kill_times(task: &TaskView<'_>, grid: &[i64], times: &mut Vec<i64>) {
    let mut dead_us = 0;
    let is_dead =
        |attempt: &&Attempt| attempt.ended_by.event().is_some_and(|kind| kind != EventType::Finish);
    for attempt in task.attempts.iter().filter(is_dead) {
        dead_us += attempt.run_us();
        while grid
            .get(times.len())
            .is_some_and(|&wanted| wanted.saturating_mul(MICROS_PER_SECOND) <= dead_us)
        {
            times.push(attempt.end_us);
        }
    }
}
