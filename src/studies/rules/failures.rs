//! A number of consecutive FAIL events, with no other end of an attempt between them.

use crate::facts::tasks::TaskView;
use crate::schema::EventType;

/// For each number of consecutive failures that is reached, the failure that reaches it first.
pub(super) fn kill_times(task: &TaskView<'_>, grid: &[i64], times: &mut Vec<i64>) {
    let mut row = 0;
    for event in task.events.iter().filter(|event| event.event_type.is_terminal()) {
        row = if event.event_type == EventType::Fail { row + 1 } else { 0 };
        while grid.get(times.len()).is_some_and(|&wanted| wanted <= row) {
            times.push(event.time_us);
        }
    }
}
