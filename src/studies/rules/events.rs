//! More than T events: the rule of Mandai, Kawahara and Kasahara (2017), section 4.2.
//!
//! A task is condemned at its event number T + 1, of any type.

use crate::facts::tasks::TaskView;

/// The time of event number T + 1 for each T that the task exceeds.
pub(super) fn kill_times(task: &TaskView<'_>, grid: &[i64], times: &mut Vec<i64>) {
    let exceeded =
        grid.iter().map_while(|&threshold| task.events.get(usize::try_from(threshold).ok()?));
    times.extend(exceeded.map(|event| event.time_us));
}
