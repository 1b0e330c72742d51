//! Seconds spent in attempts that ended with anything but FINISH.
//!
//! The time of an attempt counts only at its end: before that, its outcome is unknown. The time for
//! which it was suspended does not count.

use crate::facts::tasks::{Attempt, TaskView};
use crate::schema::EventType;
use crate::units::MICROS_PER_SECOND;

/// The end of the attempt with which each sum is reached, for the sums that are.
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
