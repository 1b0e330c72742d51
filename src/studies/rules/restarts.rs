//! A number of restarts (SCHEDULE events after the first) within one hour.

use crate::facts::tasks::TaskView;
use crate::units::MICROS_PER_SECOND;

/// Restarts are counted within this time, µs.
pub const HOUR_US: i64 = 3600 * MICROS_PER_SECOND;

/// For each number of restarts within an hour that is reached, the restart that reaches it.
pub(super) fn kill_times(task: &TaskView<'_>, grid: &[i64], times: &mut Vec<i64>) {
    let restarts = task.attempts.get(1..).unwrap_or_default();
    let mut oldest = 0;
    for (idx, restart) in restarts.iter().enumerate() {
        while restarts[oldest].start_us < restart.start_us.saturating_sub(HOUR_US) {
            oldest += 1;
        }
        let within_hour = i64::try_from(idx - oldest + 1).unwrap_or(i64::MAX);
        while grid.get(times.len()).is_some_and(|&wanted| wanted <= within_hour) {
            times.push(restart.start_us);
        }
    }
}
