//! What Alibaba's cluster traces of 2017 and 2018 share: batch tasks, their instances and machines,
//! each a table of its own (CSV without a header).
//!
//! In: lines whose fields are between commas. Out: what a state and two times make of an attempt,
//! which try of an instance it is, which file is which table, and what tasks request.
//!
//! | Status | Events |
//! |---|---|
//! | Terminated | SUBMIT, SCHEDULE, FINISH |
//! | Failed | SUBMIT, SCHEDULE, FAIL |
//! | Cancelled, Interrupted | SUBMIT, SCHEDULE, KILL |
//! | Running | SUBMIT, SCHEDULE |
//! | Ready, Waiting | SUBMIT |
//!
//! Times are seconds since the start of the trace. Instances are the tasks of the lake, and their
//! tries (`seq_no`) its attempts. A later try has no SUBMIT of its own; tries that overlap (a backup)
//! are both there. Rows are not compared with each other, so that memory does not grow with them.

use super::records::amounts::float;
use super::records::states::{Fate, States};
use super::records::{Life, Remarks, Turn};
use crate::schema::EventType;

pub(super) mod files;
pub(super) mod requests;

/// What a task or an instance may be.
pub(super) const STATES: &States = &[
    (Fate::Pending, "Ready Waiting"),
    (Fate::Running, "Running"),
    (Fate::Ended(EventType::Finish), "Terminated"),
    (Fate::Ended(EventType::Fail), "Failed"),
    (Fate::Ended(EventType::Kill), "Cancelled Interrupted"),
];

/// What a state and its times make of an attempt whose table has no time of submission; a time that
/// is not known lies outside of the trace.
pub(super) fn life(
    fate: Fate,
    (start_us, end_us): (Option<i64>, Option<i64>),
    remarks: &mut Remarks,
) -> Life {
    let (end, has_begun) = (fate.end(), fate.has_begun());
    remarks.add("no submit time: submitted at the start");
    if start_us.is_none() {
        remarks.add(if has_begun {
            "start time of 0, outside of the trace: at its start"
        } else {
            "not started, and no time: submitted at the start of the trace"
        });
    }
    if end.is_some() && end_us.is_none() {
        remarks.add("ended, but no end time: left open");
    }
    let start_us = start_us.unwrap_or(0);
    Life {
        submit_us: Some(start_us),
        start_us: has_begun.then_some(start_us),
        end: end_us.zip(end),
    }
}

/// The place of a try: its number, and how many there are.
pub(super) fn turn(
    (number, count): (i32, i32),
    end_reason: Option<&str>,
    remarks: &mut Remarks,
) -> Turn {
    if 1 < number {
        remarks.add("later tries of an instance: attempts without a SUBMIT of their own");
    }
    // A backup that lost says nothing of what became of the job, nor does a try before the last.
    let is_backup = 1 < count && end_reason == Some("Interrupted");
    Turn { is_first: number <= 1, is_deciding: count <= number && !is_backup }
}

/// Counts an attempt of which the CPU cannot be charged.
pub(super) fn check_cpu(cpu: Option<f32>, life: &Life, remarks: &mut Remarks) {
    if cpu.is_none() && life.start_us.is_some() {
        remarks.add("CPU request unknown: no CPU time is charged");
    }
}

/// An amount of each of several instances, for all of them.
pub(super) fn of_all(each: Option<f32>, instances: i32) -> Option<f32> {
    each.map(|each| each * float(instances))
}
