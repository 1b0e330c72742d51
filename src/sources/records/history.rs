//! The events of an attempt, and what is remembered of a task.
//!
//! In: the submit, start and end of an attempt, and the last attempt of the task before it. Out:
//! its events in order. Contradictory times are corrected and counted.

use super::{Fault, Life, Remarks, SCHEDULE, SUBMIT};
use crate::sources::reject::RejectReason;

/// The time (µs), the event, and the position among the rows of its line.
pub(super) type RowEvent = (i64, i32, u64);

/// What is remembered of a task: its last attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub submit_us: i64,
    pub start_us: Option<i64>,
    pub end: Option<(i64, i32)>,
}

impl Seen {
    /// Whether it is an earlier attempt of the task, though its row comes later.
    pub(super) fn is_before(self, other: Self) -> bool {
        (self.submit_us, self.start_us) < (other.submit_us, other.start_us)
    }
}

/// The events of a row, and what is remembered of it.
pub(super) fn events(
    life: &Life,
    before: Option<Seen>,
    remarks: &mut Remarks,
) -> Result<([Option<RowEvent>; 3], Seen), Fault> {
    let is_time = |time_us: i64| (0..i64::MAX).contains(&time_us);
    for (time_us, column) in
        [(life.submit_us, "submit"), (life.start_us, "start"), (life.end.map(|end| end.0), "end")]
    {
        if time_us.is_some_and(|time_us| !is_time(time_us)) {
            return Err((column, RejectReason::NegativeTime));
        }
    }
    let submit_us = life.submit_us.ok_or(("time_us", RejectReason::EmptyMandatory))?;
    let begun_us = life.start_us.unwrap_or(submit_us);
    if begun_us < submit_us {
        remarks.add("started before the submit: submitted at the start");
    }
    let submit_us = submit_us.min(begun_us);
    let end = life.end.map(|(end_us, kind)| {
        if end_us < begun_us {
            remarks.add("ended before it started: no length, set to its start");
        }
        (end_us.max(begun_us), kind)
    });
    let seen = Seen { submit_us, start_us: life.start_us, end };
    let is_resubmitted = before.is_none_or(|before| before.submit_us != submit_us);
    let is_same = |before: Seen| before.start_us.is_some() && before.start_us == seen.start_us;
    if let Some(before) = before.filter(|&before| before != seen && is_same(before)) {
        let end = end.filter(|_| before.end.is_none());
        if end.is_some() {
            remarks.add("rows that repeat the end of an attempt of an earlier row: one attempt");
        }
        let seen = Seen { end: before.end.or(end), ..before };
        return Ok(([None, None, end.map(|(end_us, kind)| (end_us, kind, 2))], seen));
    }
    let events = [
        is_resubmitted.then_some((submit_us, SUBMIT, 0)),
        life.start_us.map(|start_us| (start_us, SCHEDULE, 1)),
        end.map(|(end_us, kind)| (end_us, kind, 2)),
    ];
    Ok((events, seen))
}
