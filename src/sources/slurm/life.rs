//! When an attempt was submitted, began and ended, from the columns that there are.

use super::super::records::fields::{span_us, whole};
use super::super::records::{EVICT, FAIL, FINISH, Fault, KILL, LOST, Life, Remarks};
use super::super::rows::RejectReason;
use super::super::zone::Instant;
use super::columns::Col;
use super::values::Cpus;
use super::{Row, TWICE};
use crate::units::MICROS_PER_SECOND;

/// What a state says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The event that ends the attempt.
    event: Option<i32>,
    /// Why it ended.
    pub(super) reason: Option<&'static str>,
    /// As the standard workload format has it: 1 completed, 0 failed, 5 cancelled.
    pub(super) status: Option<i32>,
    has_begun: bool,
}

/// States that end an attempt: name, short name, event.
const ENDS: [(&str, &str, i32); 13] = [
    ("COMPLETED", "CD", FINISH),
    ("FAILED", "F", FAIL),
    ("OUT_OF_MEMORY", "OOM", FAIL),
    ("TIMEOUT", "TO", FAIL),
    ("DEADLINE", "DL", FAIL),
    ("LAUNCH_FAILED", "LF", FAIL),
    ("SPECIAL_EXIT", "SE", FAIL),
    ("CANCELLED", "CA", KILL),
    ("REVOKED", "RV", KILL),
    ("PREEMPTED", "PR", EVICT),
    ("REQUEUED", "RQ", EVICT),
    ("NODE_FAIL", "NF", LOST),
    ("BOOT_FAIL", "BF", LOST),
];

/// States of an attempt that has not ended, and whether it has begun.
const OPEN: [(&str, &str, bool); 17] = [
    ("RUNNING", "R", true),
    ("PENDING", "PD", false),
    ("SUSPENDED", "S", true),
    ("RESIZING", "RS", true),
    ("COMPLETING", "CG", true),
    ("CONFIGURING", "CF", false),
    ("STOPPED", "ST", true),
    ("SIGNALING", "SI", true),
    ("STAGE_OUT", "SO", true),
    ("REQUEUE_HOLD", "RH", false),
    ("REQUEUE_FED", "RF", false),
    ("RESV_DEL_HOLD", "RD", false),
    ("POWER_UP_NODE", "PU", false),
    ("RECONFIG_FAIL", "RC", false),
    ("UPDATE_DB", "UD", true),
    ("EXPEDITING", "EX", false),
    ("POWER_WAIT", "PW", false),
];

impl State {
    /// Reads `COMPLETED`, `CANCELLED by 1001`, `CANCELLED+` or a short name.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let word = word.strip_suffix(b"+").unwrap_or(word);
        let is = |name: &str, short: &str| {
            name.as_bytes().eq_ignore_ascii_case(word) || short.as_bytes() == word
        };
        if let Some(&(name, _, event)) = ENDS.iter().find(|(name, short, _)| is(name, short)) {
            let status = match event {
                FINISH => Some(1),
                KILL => Some(5),
                FAIL => Some(0),
                _ => None,
            };
            return Some(Self { event: Some(event), reason: Some(name), status, has_begun: true });
        }
        let open = OPEN.iter().find(|(name, short, _)| is(name, short));
        open.map(|&(_, _, has_begun)| Self { event: None, reason: None, status: None, has_begun })
    }
}

/// An attempt in time.
pub(super) struct Told {
    pub(super) life: Life,
    pub(super) state: State,
    pub(super) wait_us: Option<i64>,
    pub(super) run_us: Option<i64>,
}

/// The times of a row, derived where a column is missing.
pub(super) fn life(row: &Row<'_>, cpus: &Cpus, remarks: &mut Remarks) -> Result<Told, Fault> {
    let mut state = State::read(row.raw(Col::State)).ok_or_else(|| {
        let is_empty = row.raw(Col::State).is_empty();
        (
            "State",
            if is_empty { RejectReason::EmptyMandatory } else { RejectReason::UnknownEventType },
        )
    })?;
    let run_us = run_us(row, cpus, remarks)?;
    let (mut start_us, mut end_us) = times(row, run_us, remarks)?;
    if end_us.is_none()
        && state.event.is_some()
        && let Some((start, run)) = start_us.zip(run_us)
    {
        remarks.add("no end time: start and run time");
        end_us = start.checked_add(run);
    }
    // A start that the log says is unknown is one that never was, unless it has run.
    if start_us.is_none()
        && state.has_begun
        && let Some((end, run)) = end_us.zip(run_us)
        && (!row.layout.has(Col::Start) || 0 < run)
    {
        remarks.add("no start time: end less the run time");
        start_us = end.checked_sub(run);
    }
    if state.event.is_some() && end_us.is_none() {
        remarks.add("ended, but no end time: left open");
        (state.event, state.status, state.reason) = (None, None, None);
    }
    if !state.has_begun {
        start_us = None;
    }
    if let Some(((start, end), run)) = start_us.zip(end_us).zip(run_us)
        && end - start < run
    {
        // A suspended job runs for less, and none for more: its clock was put back in between.
        remarks.add("run time longer than from start to end: ended at the start and run time");
        end_us = start.checked_add(run);
    }
    let length_us = start_us.zip(end_us).map(|(start, end)| end.saturating_sub(start));
    if state.event.is_some() && start_us.is_some() && has_not_run(row, state, run_us.or(length_us))
    {
        remarks.add("ended before a start: no SCHEDULE");
        start_us = None;
    } else if let Some((run, length)) = run_us.zip(length_us)
        && run < length
    {
        remarks.add("run time shorter than from start to end: CPU time is that of the run time");
    }
    let submit_us = submit_us(row, start_us.or(end_us), cpus, remarks)?;
    if run_us == Some(0) && start_us.zip(submit_us).is_some_and(|(start, submit)| start < submit) {
        remarks.add("a start before the submit and no run time: no SCHEDULE");
        start_us = None;
    }
    let wait_us = start_us.zip(submit_us).map(|(start, submit)| start.saturating_sub(submit));
    Ok(Told {
        life: Life { submit_us, start_us, end: end_us.zip(state.event) },
        state,
        wait_us,
        run_us: run_us.or(length_us).filter(|_| start_us.is_some()),
    })
}

/// The start and the end. Where the clock showed one of them twice, they are the pair that the run
/// time fits best.
fn times(
    row: &Row<'_>,
    run_us: Option<i64>,
    remarks: &mut Remarks,
) -> Result<(Option<i64>, Option<i64>), Fault> {
    let start = row.instant(Col::Start, remarks)?;
    let end = row.instant(Col::End, remarks)?;
    let is_twice = [start, end].iter().flatten().any(|instant| instant.second().is_some());
    let (first_start, first_end) = (start.map(Instant::first), end.map(Instant::first));
    let Some(((start, end), run)) = start.zip(end).zip(run_us).filter(|_| is_twice) else {
        if is_twice {
            remarks.add(TWICE);
        }
        return Ok((first_start, first_end));
    };
    remarks.add("local times that came twice as the clock was put back: by the run time");
    let (start, end) = Instant::fit(start, end, run);
    Ok((Some(start), Some(end)))
}

/// Whether a job that has ended was never given a machine.
fn has_not_run(row: &Row<'_>, state: State, run_us: Option<i64>) -> bool {
    if run_us != Some(0) {
        return false;
    }
    match row.raw(Col::NodeList) {
        b"None assigned" | b"None" | b"(null)" => true,
        b"" => state.event == Some(KILL) || row.raw(Col::AllocCpus) == b"0",
        _ => false,
    }
}

/// How long it ran, without what it was suspended for.
fn run_us(row: &Row<'_>, cpus: &Cpus, remarks: &mut Remarks) -> Result<Option<i64>, Fault> {
    let raw = row.raw(Col::ElapsedRaw);
    if !raw.is_empty() {
        let seconds = whole(raw).ok_or(("ElapsedRaw", RejectReason::BadValue))?;
        return Ok(Some(seconds * MICROS_PER_SECOND));
    }
    match row.raw(Col::Elapsed) {
        b"" | b"Unknown" | b"INVALID" => {}
        raw => return span_us(raw).map(Some).ok_or(("Elapsed", RejectReason::BadValue)),
    }
    let raw = row.raw(Col::CpuTimeRaw);
    let Some(cpus) = cpus.had.or(cpus.asked).filter(|_| !raw.is_empty()) else { return Ok(None) };
    let seconds = whole(raw).ok_or(("CPUTimeRAW", RejectReason::BadValue))?;
    remarks.add("no run time: CPUTimeRAW over the processors");
    Ok(Some(seconds * MICROS_PER_SECOND / i64::from(cpus)))
}

/// When it was submitted.
fn submit_us(
    row: &Row<'_>,
    begun_us: Option<i64>,
    cpus: &Cpus,
    remarks: &mut Remarks,
) -> Result<Option<i64>, Fault> {
    if let Some(submit_us) = row.time(Col::Submit, remarks)? {
        return Ok(Some(submit_us));
    }
    if let Some(eligible_us) = row.time(Col::Eligible, remarks)? {
        remarks.add("no submit time: when it became eligible");
        return Ok(Some(eligible_us));
    }
    let Some(begun_us) = begun_us else { return Ok(None) };
    for column in [Col::Planned, Col::Reserved] {
        let raw = row.raw(column);
        if !matches!(raw, b"" | b"INVALID" | b"Unknown") {
            let wait = span_us(raw).ok_or((column.name(), RejectReason::BadValue))?;
            remarks.add("no submit time: start less the wait");
            return Ok(Some(begun_us.saturating_sub(wait)));
        }
    }
    for column in [Col::ResvCpuRaw, Col::PlannedCpuRaw] {
        if let Some((seconds, cpus)) = whole(row.raw(column)).zip(cpus.asked.or(cpus.had)) {
            remarks.add("no submit time: start less the wait");
            let wait = seconds * MICROS_PER_SECOND / i64::from(cpus);
            return Ok(Some(begun_us.saturating_sub(wait)));
        }
    }
    remarks.add("no submit time: submitted at the start");
    Ok(Some(begun_us))
}
