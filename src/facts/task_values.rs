//! One number per task, beside the outcome of its job: what distributions are made of.
//!
//! In: a lake. Out: for every task its number of events, of attempts, its first wait, and its
//! job's outcome, bucket by bucket in a fixed order.

use rayon::prelude::*;

use super::FactError;
use super::jobs::Jobs;
use super::tasks::{TaskView, Tasks, Usage};
use super::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;

/// What is known of a task and of its job.
#[derive(Clone, Debug)]
pub struct TaskValue {
    /// The outcome of its job by sequence and by terminal event; `None` when unmatched.
    pub outcomes: Option<(u8, u8)>,
    /// Events.
    pub events: u64,
    /// Attempts.
    pub attempts: u64,
    /// First SUBMIT to first SCHEDULE, or to the window's end where it was never scheduled; µs.
    /// `None` without a SUBMIT, or where it was submitted before the window began (at 0).
    pub wait: Option<Wait>,
    /// The priority last seen.
    pub priority: i32,
    /// The scheduling class of its job.
    pub scheduling_class: Option<i32>,
    /// The user of its job.
    pub user: Option<String>,
}

/// A time spent waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How long, µs.
    pub span_us: i64,
    /// Whether it was never scheduled, so that the wait is only known to be longer.
    pub is_censored: bool,
}

/// Reads every task; `with_users` fills in the users, which costs memory.
pub fn task_values(
    lake: &Lake,
    windows: Windows,
    with_users: bool,
) -> Result<Vec<TaskValue>, FactError> {
    lake.require(Table::TaskEvents)?;
    let parts: Result<Vec<Vec<TaskValue>>, FactError> = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(|bucket| {
            let jobs = if lake.has(Table::JobEvents) {
                Jobs::read(lake, bucket)?
            } else {
                Jobs::default()
            };
            let tasks = Tasks::read(lake, bucket, windows.task_end_us, Usage::Skip)?;
            let mut values = Vec::new();
            tasks.for_each(|task| values.push(value_of(lake, task, &jobs, windows, with_users)));
            Ok(values)
        })
        .collect();
    Ok(parts?.into_iter().flatten().collect())
}

fn value_of(
    lake: &Lake,
    task: &TaskView<'_>,
    jobs: &Jobs,
    windows: Windows,
    with_users: bool,
) -> TaskValue {
    let job = jobs.find(task.job_id).map(|position| &jobs.jobs[position]);
    TaskValue {
        outcomes: job.map(|job| (job.by_sequence, job.by_terminal)),
        events: task.events.len() as u64,
        attempts: task.attempts.len() as u64,
        wait: wait_of(task, windows.task_end_us, lake.source().first_time_us()),
        priority: task.priority,
        scheduling_class: job.and_then(|job| job.scheduling_class),
        user: job
            .filter(|_| with_users)
            .and_then(|job| job.user)
            .map(|user| jobs.names.get(user).to_owned()),
    }
}

fn wait_of(task: &TaskView<'_>, window_end_us: i64, first_time_us: i64) -> Option<Wait> {
    let submit = task.events.iter().find(|event| event.event_type == 0)?.time_us;
    if submit < first_time_us || window_end_us < submit {
        return None;
    }
    // A SCHEDULE before it belongs to an attempt that began before the loaded parts.
    let schedule = task
        .events
        .iter()
        .skip_while(|event| event.event_type != 0)
        .find(|event| event.event_type == 1)
        .map(|event| event.time_us);
    // A task that ended while pending waited until then; one that still pends, at least until now.
    let end = task.events.last().filter(|event| super::events::is_terminal(event.event_type));
    let (until, is_censored) = match (schedule, end) {
        (Some(schedule), _) if submit <= schedule => {
            (schedule.min(window_end_us), window_end_us < schedule)
        }
        (None, Some(end)) => (end.time_us.min(window_end_us), true),
        _ => (window_end_us, true),
    };
    Some(Wait { span_us: until - submit, is_censored })
}
