//! The common part of the standard and the grid workload format: the events of one job per line.
//!
//! In: lines that a [`LineFormat`] has split into fields. Out: for each job, which has one task
//! (index 0), the same events in `job_events` and `task_events`; and one row of `machine_events`
//! for the whole system. Missing (-1) stays missing: an assumption is made only if there would be
//! no event at all, and each is counted ([`Notes`](crate::sources::part::Notes)).
//!
//! ```text
//!  submit          submit + wait                  submit + wait + run
//!    SUBMIT ............ SCHEDULE ------------------------ FINISH, FAIL or KILL
//!                                                          by status 1, 0, 5
//! ```
//!
//! | Line | Events |
//! |---|---|
//! | wait missing, run known | started at the submit |
//! | wait negative (registered late) | submitted at the start; `wait_us` keeps the wait |
//! | run known, status missing | finished: it has ended, and no failure is known |
//! | run missing, status 1, 0 or 5 | SUBMIT and the end at submit + wait; no SCHEDULE, no length |
//! | run 0, status 5, no processors | SUBMIT and KILL at submit + wait: cancelled while it waited |
//! | run and status missing | SUBMIT only |
//! | status 2, 3, 4 (partial runs), and a line for the whole job | none |
//! | status 2, 3, 4 (partial runs) alone | attempts ended by EVICT (2), FINISH (3), FAIL (4) |
//! | a job number that an earlier line has | a reject |
//!
//! The CPU request is the number of processors that the job had, or else requested. The system is
//! one machine with `MaxProcs` (or `MaxNodes`) processors from time 0: the formats do not record
//! the nodes of a job, and a job needs all its processors at the same time. `row_id` holds line ×
//! 4, plus 0 for SUBMIT, 1 for SCHEDULE and 2 for the end.

mod cells;
mod fields;
mod parser;

use super::reject::RejectReason;
use super::rows::Cell;

pub(super) use self::fields::{any_micros, name, quantity, span_micros, status, whole};
pub(super) use self::parser::LogParser;

/// A column and what is wrong there.
pub(super) type Fault = (&'static str, RejectReason);

/// A format with one job per line.
pub(super) trait LineFormat: Send {
    /// The first byte of a line of the header.
    const COMMENT: u8;

    /// Splits a line into fields and makes a job of them.
    fn job<'a>(&mut self, line: &'a [u8]) -> Result<LogJob<'a>, Fault>;
}

/// The identifier of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobKey<'a> {
    /// A number.
    Number(i64),
    /// A name; the job gets a number that no other job has.
    Name(&'a str),
}

/// A job from its line; -1 is `None`.
#[derive(Clone, Debug)]
pub(super) struct LogJob<'a> {
    pub key: JobKey<'a>,
    pub submit_us: Option<i64>,
    pub wait_us: Option<i64>,
    pub run_us: Option<i64>,
    pub processors: Option<i32>,
    pub cpu_time_us: Option<i64>,
    pub used_memory_kib: Option<f32>,
    pub requested_processors: Option<i32>,
    pub requested_time_us: Option<i64>,
    pub requested_memory_kib: Option<f32>,
    pub status: Option<i32>,
    pub user: Option<&'a str>,
    pub group: Option<&'a str>,
    pub executable: Option<&'a str>,
    pub queue: Option<&'a str>,
    pub partition: Option<&'a str>,
    /// The columns that only this format has.
    pub own: Vec<Cell<'a>>,
    /// A remark about the line.
    pub remark: Option<&'static str>,
}
