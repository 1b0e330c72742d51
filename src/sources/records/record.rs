//! A row of a table of jobs.

use crate::sources::rows::Cell;

/// The submit, start and end of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::sources) struct Life {
    pub submit_us: Option<i64>,
    pub start_us: Option<i64>,
    /// The time and the number of the event.
    pub end: Option<(i64, i32)>,
    /// Whether the submit time is assumed to be that of the start, or else of the end.
    pub is_submit_assumed: bool,
}

impl Life {
    /// The life of an attempt whose submit time, if any, is recorded.
    pub(in crate::sources) const fn of(
        submit_us: Option<i64>,
        start_us: Option<i64>,
        end: Option<(i64, i32)>,
    ) -> Self {
        Self { submit_us, start_us, end, is_submit_assumed: false }
    }
}

/// The position of a row among the attempts of its task, if the row contains it.
#[derive(Clone, Copy, Debug)]
pub(in crate::sources) struct Turn {
    /// Whether it is the first; only the first has a SUBMIT.
    pub is_first: bool,
    /// Whether it decides the outcome of the task, and so of the job.
    pub is_deciding: bool,
}

/// A row: an attempt of a task, which is task 0 of its job if the log has no tasks.
#[derive(Debug, Default)]
pub(in crate::sources) struct Record<'a> {
    pub job_id: i64,
    pub task_index: i32,
    pub life: Life,
    /// Its position among the attempts of the task, for rows that are not compared with each other.
    pub turn: Option<Turn>,
    /// Whether it shares the SUBMIT of the previous attempt.
    pub follows: bool,
    /// Whether it is known to be another attempt than those of all rows so far.
    pub is_next: bool,
    pub user: Option<&'a str>,
    pub job_name: Option<&'a str>,
    pub logical_name: Option<&'a str>,
    pub scheduling_class: Option<i32>,
    pub priority: Option<i32>,
    pub machine_id: Option<i64>,
    pub cpu: Option<f32>,
    pub memory: Option<f32>,
    /// The outcome in the words of the log.
    pub end_reason: Option<&'a str>,
    /// The machines that it ran on, as the log names them.
    pub nodes: Option<&'a str>,
    pub cluster: Option<&'a str>,
    /// The columns that only this format has.
    pub own: Vec<Cell<'a>>,
}
