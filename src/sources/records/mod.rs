//! The common part of accounting logs: the events of one attempt of a task per row.
//!
//! In: lines that a [`RecordFormat`] has split into fields. Out: SUBMIT, SCHEDULE and the end of
//! each attempt in `task_events`; the same in `job_events` if a job is one task, otherwise the
//! first SUBMIT, the first SCHEDULE and the last end of its tasks. Rows of the same task are its
//! attempts, in any order; a row that repeats an attempt of its task is left out. An
//! assumption is made only if there would be no event at all, and each is counted
//! ([`Notes`](crate::sources::part::Notes)).
//!
//! | Row | Events |
//! |---|---|
//! | starts before the submit | submitted at the start |
//! | ends before the start | no length, at the start |
//! | the same submit as the last attempt of the task so far | no second SUBMIT |
//! | the same start as the last attempt so far, which ended then | another attempt |
//! | the same start as the last attempt so far, which did not | its end, if it had none |
//! | not ended | no end event: open |
//!
//! A job of several tasks has failed if one of them has failed. Otherwise it was killed, lost or
//! evicted if one of them was, in this order. It has finished if all have finished, and is open
//! while one is open.
//!
//! `row_id` holds three numbers, from the high bits to the low. The first is the part. The second
//! is the turn of the event among those of other attempts at the same instant: 0 for the end of an
//! attempt that took time, 1 for an attempt that took none, 2 for an attempt that goes on. The
//! third is line × 4, plus 0 for SUBMIT, 1 for SCHEDULE and 2 for the end.

pub(super) mod accounted;
pub(super) mod amounts;
pub(super) mod clock;
pub(super) mod clusters;
pub(super) mod fields;
mod fleet;
mod history;
mod jobs;
pub(super) mod lines;
pub(super) mod machines;
pub(super) mod numbers;
mod parser;
pub(super) mod patterns;
pub(super) mod quotes;
mod record;
mod repeats;
pub(super) mod row;
pub(super) mod snapshots;
pub(super) mod states;
pub(super) mod times;
pub(super) mod turns;

use std::collections::BTreeMap;

use crate::schema::{EventType, ROW_ID_LINE_BITS};

pub(super) use self::fields::Fault;
pub(super) use self::fleet::{machine_id, only_machine};
pub(super) use self::lines::Line;
pub(super) use self::numbers::{hash, number_of_name};
pub(super) use self::parser::{RecordParser, RecordRows};
pub(super) use self::record::{Life, Record, Turn};
pub(super) use self::repeats::find_repeats;

pub(super) const SUBMIT: i32 = EventType::Submit.number();
pub(super) const SCHEDULE: i32 = EventType::Schedule.number();
pub(super) const EVICT: i32 = EventType::Evict.number();
pub(super) const FAIL: i32 = EventType::Fail.number();
pub(super) const FINISH: i32 = EventType::Finish.number();
pub(super) const KILL: i32 = EventType::Kill.number();
pub(super) const LOST: i32 = EventType::Lost.number();

/// The status of an end in the standard workload format: 1 completed, 0 failed, 5 cancelled.
pub(super) const fn status_of(event: i32) -> Option<i32> {
    match event {
        FINISH => Some(1),
        FAIL => Some(0),
        KILL => Some(5),
        _ => None,
    }
}

/// Row numbers per line.
const EVENTS_PER_LINE: u64 = 4;

/// Bits of a row number below its turn, which orders events of one instant before their lines do;
/// see [`history::Seen::turns`].
const TURN_BITS: u32 = ROW_ID_LINE_BITS - 2;

/// Counts of what was assumed, by wording.
#[derive(Default)]
pub(super) struct Remarks {
    counts: BTreeMap<&'static str, u64>,
    /// What was counted for the current line by [`Remarks::add_once`].
    of_line: Vec<&'static str>,
    /// What was counted since the beginning of the current line.
    since_begin: Option<Vec<(&'static str, u64)>>,
}

impl Remarks {
    /// All of them, by their wording.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.counts.iter().map(|(&wording, &count)| (wording, count))
    }

    /// Counts one more.
    pub(super) fn add(&mut self, wording: &'static str) {
        self.add_many(wording, 1);
    }

    /// Begins another line.
    fn begin_line(&mut self) {
        self.of_line.clear();
        self.since_begin.get_or_insert_default().clear();
    }

    /// Ends it. The counts of a rejected line are undone.
    fn end_line(&mut self, is_kept: bool) {
        let own = self.since_begin.take().unwrap_or_default();
        for (wording, count) in own.into_iter().filter(|_| !is_kept) {
            if let Some(all) = self.counts.get_mut(wording) {
                *all -= count;
            }
        }
        self.counts.retain(|_, count| is_kept || 0 < *count);
    }

    /// Counts the current line, once for all of its fields.
    pub(super) fn add_once(&mut self, wording: &'static str) {
        if !self.of_line.contains(&wording) {
            self.of_line.push(wording);
            self.add(wording);
        }
    }

    /// Returns all counts, and starts again from zero.
    fn take(&mut self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut self.counts)
    }

    /// Counts `count` more.
    pub(super) fn add_many(&mut self, wording: &'static str, count: u64) {
        if 0 < count {
            *self.counts.entry(wording).or_default() += count;
            if let Some(own) = &mut self.since_begin {
                own.push((wording, count));
            }
        }
    }
}

/// The result of reading a line: an attempt, nothing, or a fault.
pub(super) type Parsed<'a> = Result<Option<Record<'a>>, Fault>;

/// A format with one attempt per row.
pub(super) trait RecordFormat: Send {
    /// Whether a job may have several tasks, whose events are combined.
    const HAS_TASKS: bool;

    /// The number of attempts in a line, for each of which [`record`](Self::record) is called.
    fn attempt_count(&mut self, _line: &[u8]) -> usize {
        1
    }

    /// The same, for a line with one attempt or with only good ones. If one of several is bad, the
    /// whole job is left out, since its outcome could differ without that attempt.
    ///
    /// # Errors
    /// The fault of the first bad attempt.
    fn whole_count(&mut self, line: Line<'_>) -> Result<usize, Fault> {
        let count = self.attempt_count(line.raw);
        if 1 < count {
            for _ in 0..count {
                let record = self.record(line, &mut Remarks::default())?;
                record.map_or(Ok(()), |record| RecordRows::check(&record))?;
            }
            self.attempt_count(line.raw);
        }
        Ok(count)
    }

    /// Splits a line into fields and makes a record of them; `None` for a line that is not an
    /// attempt, such as a header.
    fn record<'a>(&'a mut self, line: Line<'a>, remarks: &mut Remarks) -> Parsed<'a>;

    /// The separator of its fields, if those in quotes may have line ends.
    fn separator_of_quotes(&self) -> Option<u8> {
        None
    }

    /// The remark about tasks that end with an eviction.
    const EVICTED_AT_LAST: Option<&'static str> = None;

    /// Whether `machine_events` are made from its rows.
    fn has_fleet(&self) -> bool {
        false
    }
}
