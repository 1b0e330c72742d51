//! The outcome of a job of several tasks.
//!
//! In: the rows of its tasks. Out: its first submit, its first start, and its last end, with the
//! worst of the final outcomes of its tasks.

use super::history::Seen;
use super::{EVICT, FAIL, FINISH, KILL, LOST, Record};

/// What is known of a job of several tasks.
pub(super) struct JobSum {
    pub line: u64,
    pub submit_us: i64,
    pub start_us: Option<i64>,
    pub end_us: i64,
    /// The rank of the worst end: its position in [`WORST`].
    pub worst: usize,
    /// The number of the reason.
    pub end_reason: Option<u32>,
    pub tasks: u32,
    pub open: u32,
    pub user: Option<Box<str>>,
    pub name: Option<Box<str>>,
}

/// How a task ended.
#[derive(Clone, Copy)]
pub(super) struct Ending {
    pub end_us: i64,
    pub rank: usize,
    /// The number of the reason.
    pub reason: Option<u32>,
}

/// The position of an end in [`WORST`].
pub(super) fn rank(kind: i32) -> usize {
    WORST.iter().position(|&known| known == kind).unwrap_or(0)
}

/// Ends, from the best to the worst, which decides the outcome of a job.
pub(super) const WORST: [i32; 5] = [FINISH, EVICT, LOST, KILL, FAIL];

impl JobSum {
    pub(super) fn of(line: u64, record: &Record<'_>, seen: Seen) -> Self {
        Self {
            line,
            submit_us: seen.submit_us,
            start_us: None,
            end_us: 0,
            worst: 0,
            end_reason: None,
            tasks: 0,
            open: 0,
            user: record.user.map(Box::from),
            name: record.job_name.map(Box::from),
        }
    }

    /// Adds a row of a task; `before` is its last attempt so far.
    pub(super) fn add(
        &mut self,
        record: &Record<'_>,
        (seen, end): (Seen, Option<Ending>),
        before: Option<Seen>,
    ) {
        let is_new = record.turn.map_or(before.is_none(), |turn| turn.is_first);
        self.submit_us = self.submit_us.min(seen.submit_us);
        self.start_us = match (self.start_us, seen.start_us) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.tasks += u32::from(is_new);
        let is_earlier = before.is_some_and(|before| seen.is_before(before));
        if is_earlier || record.turn.is_some_and(|turn| !turn.is_deciding) {
            return;
        }
        // A task has the end of its last attempt.
        if before.is_some_and(|before| before.end.is_none()) {
            self.open -= 1;
        }
        match end {
            None => self.open += 1,
            Some(end) if record.turn.is_some() => self.close(end),
            Some(_) => {}
        }
    }

    /// Adds the end of a task.
    pub(super) fn close(&mut self, end: Ending) {
        self.end_us = self.end_us.max(end.end_us);
        if self.worst <= end.rank {
            self.end_reason = end.reason.or(self.end_reason);
            self.worst = end.rank;
        }
    }
}
