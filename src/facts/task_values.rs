//! How long a task waited for its first attempt.
//!
//! In: a task's history. Out: the time from its first SUBMIT to its first SCHEDULE, or as much of
//! it as the window shows.

use super::events::is_terminal;
use super::tasks::TaskView;
use super::window::Windows;

/// A time spent waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How long, µs.
    pub span_us: i64,
    /// Whether it was never scheduled, so that the wait is only known to be longer.
    pub is_censored: bool,
}

fn first_submit(task: &TaskView<'_>) -> Option<i64> {
    task.events.iter().find(|event| event.event_type == 0).map(|event| event.time_us)
}

/// Whether the task was submitted before the window, so that its wait is not known.
pub fn is_submitted_before(task: &TaskView<'_>, windows: Windows) -> bool {
    first_submit(task).is_some_and(|submit| windows.is_before(submit))
}

/// First SUBMIT to first SCHEDULE, or to the window's end where it was never scheduled.
///
/// `None` without a SUBMIT, or where it was submitted before the window or after it.
pub fn wait_of(task: &TaskView<'_>, windows: Windows) -> Option<Wait> {
    let submit = first_submit(task)?;
    // A SCHEDULE before it belongs to an attempt that began before the loaded parts.
    let schedule = task
        .events
        .iter()
        .skip_while(|event| event.event_type != 0)
        .find(|event| event.event_type == 1)
        .map(|event| event.time_us);
    let end = task.events.last().filter(|event| is_terminal(event.event_type));
    wait_between(submit, schedule, end.map(|event| event.time_us), windows)
}

/// The wait from the first SUBMIT to the first SCHEDULE behind it; `end` is the last event of the
/// task where that is a terminal one. `None` where it was submitted before the window or after it.
pub fn wait_between(
    submit: i64,
    schedule: Option<i64>,
    end: Option<i64>,
    windows: Windows,
) -> Option<Wait> {
    let window_end_us = windows.task_end_us;
    if windows.is_before(submit) || window_end_us < submit {
        return None;
    }
    // A task that ended while pending waited until then; one that still pends, at least until now.
    let (until, is_censored) = match (schedule, end) {
        (Some(schedule), _) if submit <= schedule => {
            (schedule.min(window_end_us), window_end_us < schedule)
        }
        (None, Some(end)) => (end.min(window_end_us), true),
        _ => (window_end_us, true),
    };
    Some(Wait { span_us: until - submit, is_censored })
}
