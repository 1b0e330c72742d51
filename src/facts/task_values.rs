//! How long a task waited for its first attempt: the native twin of `wait_us` of `q02`.
//!
//! In: a task's history. Out: the time from its first SUBMIT to the next SCHEDULE. A task that
//! never starts waits until it ends, or until its job does; a task that is still pending waits at
//! least until the end of the window.
//!
//! ```text
//!  started   SUBMIT ------- SCHEDULE
//!  ended     SUBMIT ------- KILL                (the last event of the task, or the end of its job)
//!  open      SUBMIT ------------------------| end of the window
//! ```

use super::tasks::TaskView;
use super::window::Windows;
use crate::schema::EventType;

/// A time spent waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How long, µs.
    pub span_us: i64,
    /// How it ended.
    pub end: WaitEnd,
}

/// How a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// With the first attempt.
    Started,
    /// With the end of the task, or of its job, before any attempt.
    Ended,
    /// Not before the end of the window: the wait is only known to be longer.
    Open,
}

impl WaitEnd {
    /// Parses the name in `q02`.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "started" => Some(Self::Started),
            "ended" => Some(Self::Ended),
            "open" => Some(Self::Open),
            _ => None,
        }
    }
}

pub(crate) fn first_submit(task: &TaskView<'_>) -> Option<i64> {
    task.events
        .iter()
        .find(|event| event.event_type == EventType::Submit)
        .map(|event| event.time_us)
}

/// Whether the task was submitted before the window, so that its wait is unknown.
pub fn is_submitted_before(task: &TaskView<'_>, windows: Windows) -> bool {
    first_submit(task).is_some_and(|submit| windows.is_before(submit))
}

/// First SUBMIT to the next SCHEDULE, or to the end of the wait without one.
///
/// `None` without a SUBMIT, or if it was submitted before or after the window.
pub fn wait_of(task: &TaskView<'_>, windows: Windows) -> Option<Wait> {
    let submit = first_submit(task)?;
    let window_end_us = windows.task_end_us;
    if windows.is_before(submit) || window_end_us < submit {
        return None;
    }
    // An earlier SCHEDULE belongs to an attempt that began before the loaded parts.
    let schedule = task
        .events
        .iter()
        .skip_while(|event| event.event_type != EventType::Submit)
        .find(|event| event.event_type == EventType::Schedule)
        .map(|event| event.time_us);
    let own = task.events.last().filter(|event| event.event_type.is_terminal());
    let own = own.map(|event| event.time_us).filter(|&end_us| end_us <= window_end_us);
    let (until, end) = match (schedule, own.or(task.job_end_us)) {
        (Some(schedule), _) if schedule <= window_end_us => (schedule, WaitEnd::Started),
        (None, Some(end_us)) => (end_us.max(submit), WaitEnd::Ended),
        _ => (window_end_us, WaitEnd::Open),
    };
    Some(Wait { span_us: until - submit, end })
}
