//! The submit, start and end of an attempt, from the columns of the export.

use super::super::records::clock::times;
use super::super::records::fields::whole;
use super::super::records::states::{Fate, States};
use super::super::records::times::{AttemptTimes, Times};
use super::super::records::{Fault, Remarks};
use super::super::reject::RejectReason;
use super::Row;
use super::columns::Col;
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
/// running.
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
    all.fill((may_begin, fate.end().is_some()), remarks);
    if fate.end().is_some() && all.end_us.is_none() {
        remarks.add("ended, but no end time: left open");
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
    if run_us == Some(0) && all.start_us.zip(all.submit_us).is_some_and(|(start, at)| start < at) {
        remarks.add("a start before the submit and no run time: no SCHEDULE");
        all.start_us = None;
    }
    Ok(all.of_attempt(fate.end(), remarks))
}

/// Whether a job that has ended was never given a machine.
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
    let run_us = per_cpu(row, Col::CpuTimeRaw, cpus.had.or(cpus.asked))?;
    if run_us.is_some() {
        remarks.add("no run time: CPUTimeRAW divided by the processors");
    }
    Ok(run_us)
}

/// A sum over the processors in seconds, as the time of each, µs.
fn per_cpu(row: &Row<'_>, column: Col, cpus: Option<i32>) -> Result<Option<i64>, Fault> {
    let raw = row.raw(column);
    if matches!(raw, b"" | b"Unknown" | b"INVALID") {
        return Ok(None);
    }
    let seconds = whole(raw).ok_or((column.name(), RejectReason::BadValue))?;
    Ok(cpus.map(|cpus| seconds * MICROS_PER_SECOND / i64::from(cpus)))
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
    let planned_us = row.span(Col::Planned)?.or(row.span(Col::Reserved)?);
    let of_cpus = |column: Col| per_cpu(row, column, cpus.asked.or(cpus.had));
    all.wait_us = planned_us.or(of_cpus(Col::ResvCpuRaw)?).or(of_cpus(Col::PlannedCpuRaw)?);
    all.submit(remarks);
    all.submit_us.map(|_| ()).ok_or(("Submit", RejectReason::EmptyMandatory))
}
