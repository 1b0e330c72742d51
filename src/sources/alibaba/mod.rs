//! The common parts of Alibaba's cluster traces of 2017 and 2018: batch tasks, their instances and
//! machines, each a separate table (CSV without a header).
//!
//! In: lines of comma-separated fields. Out: the events of an attempt, from its state and two
//! times; the position of a try among the tries of its instance; the table of each file; the
//! requests of tasks.
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
//! tries (`seq_no`) are its attempts. A later try has no SUBMIT.
//!
//! If an instance has several tries, an interrupted try lost against a backup. If it is the first
//! try, it ends when the next starts. If it is a later one, it is left out and counted, since the
//! lake has one attempt of a task at a time. To save memory, rows of one instance are not compared.
//! So other tries that overlap are not recognised, and an interrupted first try stays open if its
//! later tries were interrupted too.

use super::records::amounts::float;
use super::records::states::{Fate, States};
use super::records::{Life, Record, Remarks, Turn};
use super::rows::Cell;
use crate::schema::{EventType, SEVERAL_INSTANCES};

pub(super) mod files;
pub(super) mod requests;

/// The states of tasks and instances.
pub(super) const STATES: &States = &[
    (Fate::Pending, "Ready Waiting"),
    (Fate::Running, "Running"),
    (Fate::Ended(EventType::Finish), "Terminated"),
    (Fate::Ended(EventType::Fail), "Failed"),
    (Fate::Ended(EventType::Kill), "Cancelled Interrupted"),
];

/// The place of the end reason among the cells of an instance that only its format has.
const END_REASON_CELL: usize = 1;

/// The life of an attempt from its state, start and end. The tables have no submit times. A time is
/// `None` if it is outside the trace.
pub(super) fn life(
    fate: Fate,
    (start_us, end_us): (Option<i64>, Option<i64>),
    remarks: &mut Remarks,
) -> Life {
    let (end, has_begun) = (fate.end(), fate.has_begun());
    remarks.add("no submit time: submitted at the start");
    if start_us.is_none() {
        remarks.add(if has_begun {
            "start time 0 (before the trace): set to the start of the trace"
        } else {
            "not started and without a time: submitted at the start of the trace"
        });
    }
    if end.is_some() && end_us.is_none() {
        remarks.add("ended, but no end time: left open");
    }
    let start_us = start_us.unwrap_or(0);
    Life::of(Some(start_us), has_begun.then_some(start_us), end_us.zip(end))
}

/// The record with the position of its try, from the number of the try and the number of tries;
/// `None` if it is a backup that lost. A first try that lost has no end: the next one closes it.
pub(super) fn turn<'a>(
    (number, count): (i32, i32),
    mut record: Record<'a>,
    remarks: &mut Remarks,
) -> Option<Record<'a>> {
    let has_lost = 1 < count && record.end_reason == Some("Interrupted");
    if has_lost && 1 < number {
        remarks.add("backups that lost (Interrupted): left out");
        return None;
    }
    if has_lost {
        remarks
            .add("first tries that lost against a backup (Interrupted): end where the next starts");
        (record.life.end, record.end_reason) = (None, None);
        record.own[END_REASON_CELL] = Cell::Missing;
    }
    if 1 < number {
        remarks.add("later tries of an instance: attempts without a SUBMIT");
    }
    // A try that lost does not decide the outcome of the job, nor does one before the last.
    record.turn = Some(Turn { is_first: number <= 1, is_deciding: count <= number && !has_lost });
    Some(record)
}

/// Counts an attempt whose CPU time cannot be charged.
pub(super) fn check_cpu(cpu: Option<f32>, life: &Life, remarks: &mut Remarks) {
    if cpu.is_none() && life.start_us.is_some() {
        remarks.add("CPU request unknown: no CPU time is charged");
    }
}

/// Counts a task that stands for several instances, which may have started later and ended earlier.
pub(super) fn count_several(instances: i32, remarks: &mut Remarks) {
    if 1 < instances {
        remarks.add(SEVERAL_INSTANCES);
    }
}

/// The total amount of all instances, from the amount of each.
pub(super) fn of_all(each: Option<f32>, instances: i32) -> Option<f32> {
    each.map(|each| each * float(instances))
}
