//! The submit, start and end of an attempt, from the columns of the export.

use super::super::records::clock::times;
use super::super::records::fields::{span_us, whole};
use super::super::records::states::{Fate, States};
use super::super::records::times::{AttemptTimes, Times};
use super::super::records::{Fault, Remarks};
use super::super::reject::RejectReason;
use super::columns::{Col, Row};
use super::values::Cpus;
use crate::schema::EventType;
use crate::units::MICROS_PER_SECOND;

/// The states of a job in `sacct`, and the flags that it shows as states.
pub(super) const STATES: &States = &[
    (Fate::Ended(EventType::Finish), "COMPLETED/CD"),
    (
        Fate::Ended(EventType::Fail),
        "FAILED/F OUT_OF_MEMORY/OOM TIMEOUT/TO DEADLINE/DL LAUNCH_FAILED/LF SPECIAL_EXIT/SE",
    ),
    (Fate::Ended(EventType::Kill), "CANCELLED/CA REVOKED/RV"),
    (Fate::Ended(EventType::Evict), "PREEMPTED/PR REQUEUED/RQ"),
    (Fate::Ended(EventType::Lost), "NODE_FAIL/NF BOOT_FAIL/BF"),
    (
        Fate::Running,
        "RUNNING/R SUSPENDED/S RESIZING/RS COMPLETING/CG STOPPED/ST SIGNALING/SI STAGE_OUT/SO \
         UPDATE_DB/UD",
    ),
    (
        Fate::Pending,
        "PENDING/PD CONFIGURING/CF REQUEUE_HOLD/RH REQUEUE_FED/RF RESV_DEL_HOLD/RD \
         POWER_UP_NODE/PU RECONFIG_FAIL/RC EXPEDITING/EX POWER_WAIT/PW",
    ),
];

/// The times of a row; missing ones are derived. A job that ended at an unknown time counts as
/// running, unless it ended in the queue: then it ends after the wait, or else when it was
/// submitted.
pub(super) fn life(
    row: &Row<'_>,
    fate: &mut Fate,
    cpus: &Cpus,
    remarks: &mut Remarks,
) -> Result<AttemptTimes, Fault> {
    let run_us = run_us(row, cpus, remarks)?;
    let (start, end) = (row.instant(Col::Start, remarks)?, row.instant(Col::End, remarks)?);
    let (start_us, end_us) = times(start, end, run_us, None, remarks);
    let mut all = Times { start_us, end_us, run_us, ..Times::default() };
    // If the start is given as unknown, the job has never started, unless it has run.
    let may_begin = fate.has_begun() && (!row.layout.has(Col::Start) || run_us != Some(0));
    if may_begin && !row.layout.has(Col::Start) && !row.layout.has(Col::End) {
        all.start_us = left_queue(row, cpus, remarks)?;
        let count = u64::from(all.start_us.is_some());
        remarks.add_many(
            "no start time: when it became eligible, or else its submit, and the wait",
            count,
        );
    }
    all.fill((may_begin, fate.end().is_some()), remarks);
    let has_no_end = fate.end().is_some() && all.end_us.is_none();
    let ended_in_queue = has_no_end
        && all.start_us.is_none()
        && (run_us == Some(0) || run_us.is_none() && row.layout.has(Col::Start))
        && *fate != Fate::Ended(EventType::Finish);
    if has_no_end && !ended_in_queue {
        *fate = Fate::Running;
    }
    all.start_us = all.start_us.filter(|_| fate.has_begun());
    all.lengthen(remarks);
    let length_us = all.start_us.zip(all.end_us).map(|(start, end)| end - start);
    if all.start_us.is_some() && has_not_run(row, *fate, run_us.or(length_us)) {
        remarks.add("ended before a start: no SCHEDULE");
        all.start_us = None;
    }
    submit(row, &mut all, cpus, remarks)?;
    if ended_in_queue {
        all.end_us = left_queue(row, cpus, remarks)?.or(all.submit_us);
        remarks.add("ended in the queue, but no end time: after the wait, or else at the submit");
    } else if has_no_end {
        remarks.add("ended, but no end time: left open");
    }
    if run_us == Some(0) && all.start_us.zip(all.submit_us).is_some_and(|(start, at)| start < at) {
        remarks.add("a start before the submit and no run time: no SCHEDULE");
        all.start_us = None;
    }
    Ok(all.of_attempt(fate.end(), remarks))
}

/// Whether a job that has ended never got a machine.
fn has_not_run(row: &Row<'_>, fate: Fate, run_us: Option<i64>) -> bool {
    if run_us != Some(0) || fate.end().is_none() {
        return false;
    }
    match row.raw(Col::NodeList) {
        b"None assigned" | b"None" | b"(null)" => true,
        b"" => fate == Fate::Ended(EventType::Kill) || row.raw(Col::AllocCpus) == b"0",
        _ => false,
    }
}

/// The run time, µs, without suspensions.
fn run_us(row: &Row<'_>, cpus: &Cpus, remarks: &mut Remarks) -> Result<Option<i64>, Fault> {
    let seconds_us = per_cpu(row, Col::ElapsedRaw, Some(1))?;
    if let Some(run_us) = seconds_us.map_or_else(|| row.span(Col::Elapsed), |us| Ok(Some(us)))? {
        return Ok(Some(run_us));
    }
    let cpus = cpus.had.or(cpus.asked);
    let run_us = per_cpu(row, Col::CpuTimeRaw, cpus)?.or(per_cpu(row, Col::CpuTime, cpus)?);
    remarks.add_many(
        "no run time: CPUTimeRAW or CPUTime divided by the processors",
        u64::from(run_us.is_some()),
    );
    Ok(run_us)
}

/// Reads a sum over the processors, in seconds or as a span such as `1-02:00:00`. Returns the time
/// of each processor, µs.
fn per_cpu(row: &Row<'_>, column: Col, cpus: Option<i32>) -> Result<Option<i64>, Fault> {
    let raw = row.raw(column);
    if matches!(raw, b"" | b"Unknown" | b"INVALID") {
        return Ok(None);
    }
    let seconds_us = whole(raw).and_then(|seconds| seconds.checked_mul(MICROS_PER_SECOND));
    let sum_us =
        seconds_us.or_else(|| span_us(raw)).ok_or((column.name(), RejectReason::BadValue))?;
    // A sum of 0 is 0 for any number of processors; such a job has 0 processors.
    Ok(if sum_us == 0 { Some(0) } else { cpus.map(|cpus| sum_us / i64::from(cpus)) })
}

/// How long a job waited since it became eligible, µs.
fn wait_us(row: &Row<'_>, cpus: &Cpus) -> Result<Option<i64>, Fault> {
    if let Some(wait_us) = row.span(Col::Planned)?.or(row.span(Col::Reserved)?) {
        return Ok(Some(wait_us));
    }
    let columns = [Col::ResvCpuRaw, Col::PlannedCpuRaw, Col::ResvCpu, Col::PlannedCpu];
    let waits = columns.map(|column| per_cpu(row, column, cpus.asked.or(cpus.had)));
    waits.into_iter().find(|wait| !matches!(wait, Ok(None))).unwrap_or(Ok(None))
}

/// When a job started or ended in the queue: when it became eligible, or else its submit, and the
/// wait.
fn left_queue(row: &Row<'_>, cpus: &Cpus, remarks: &mut Remarks) -> Result<Option<i64>, Fault> {
    let Some(wait_us) = wait_us(row, cpus)? else { return Ok(None) };
    // `submit` reads the submit too, and counts the remarks about it.
    let since_us = match row.time(Col::Eligible, remarks)? {
        Some(eligible_us) => Some(eligible_us),
        None => row.time(Col::Submit, &mut Remarks::default())?,
    };
    Ok(since_us.and_then(|since_us| since_us.checked_add(wait_us)))
}

/// Sets the submit time.
fn submit(row: &Row<'_>, all: &mut Times, cpus: &Cpus, remarks: &mut Remarks) -> Result<(), Fault> {
    all.submit_us = row.time(Col::Submit, remarks)?;
    if all.submit_us.is_none() {
        all.submit_us = row.time(Col::Eligible, remarks)?;
        let count = u64::from(all.submit_us.is_some());
        remarks.add_many("no submit time: when it became eligible", count);
    }
    if all.submit_us.is_some() {
        return Ok(());
    }
    all.wait_us = wait_us(row, cpus)?;
    all.submit(remarks);
    all.submit_us.map(|_| ()).ok_or(("Submit", RejectReason::EmptyMandatory))
}
