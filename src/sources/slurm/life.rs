//! When an attempt was submitted, began and ended, from the columns that there are.

use super::super::records::clock::times;
use super::super::records::fields::whole;
use super::super::records::{EVICT, FAIL, FINISH, Fault, KILL, LOST, Life, Remarks, status_of};
use super::super::reject::RejectReason;
use super::Row;
use super::columns::Col;
use super::values::Cpus;
use crate::units::MICROS_PER_SECOND;

/// What a state says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The event that ends the attempt.
    pub(super) event: Option<i32>,
    /// Why it ended.
    pub(super) reason: Option<&'static str>,
    /// As the standard workload format has it: 1 completed, 0 failed, 5 cancelled.
    pub(super) status: Option<i32>,
    has_begun: bool,
}

/// States that end an attempt, each with its short name: the event, and what `sacct` calls it.
const ENDS: [(i32, &str); 5] = [
    (FINISH, "COMPLETED/CD"),
    (FAIL, "FAILED/F OUT_OF_MEMORY/OOM TIMEOUT/TO DEADLINE/DL LAUNCH_FAILED/LF SPECIAL_EXIT/SE"),
    (KILL, "CANCELLED/CA REVOKED/RV"),
    (EVICT, "PREEMPTED/PR REQUEUED/RQ"),
    (LOST, "NODE_FAIL/NF BOOT_FAIL/BF"),
];

/// States of an attempt that has begun and not ended.
const BEGUN: &str = "RUNNING/R SUSPENDED/S RESIZING/RS COMPLETING/CG STOPPED/ST SIGNALING/SI \
    STAGE_OUT/SO UPDATE_DB/UD";

/// States of an attempt that has not begun.
const WAITING: &str = "PENDING/PD CONFIGURING/CF REQUEUE_HOLD/RH REQUEUE_FED/RF RESV_DEL_HOLD/RD \
    POWER_UP_NODE/PU RECONFIG_FAIL/RC EXPEDITING/EX POWER_WAIT/PW";

/// The name of the state among `states` that a word is the name or the short name of; a name that
/// was cut off for its column ends with `+`.
fn named(states: &'static str, word: &[u8]) -> Option<&'static str> {
    let begin = word.strip_suffix(b"+").filter(|begin| CUT_MIN <= begin.len());
    states.split_ascii_whitespace().find_map(|state| {
        let (name, short) = state.split_once('/')?;
        let is_begun = begin.is_some_and(|begin| {
            name.len() >= begin.len() && name.as_bytes()[..begin.len()].eq_ignore_ascii_case(begin)
        });
        let is_it = name.as_bytes().eq_ignore_ascii_case(word) || short.as_bytes() == word;
        (is_it || is_begun).then_some(name)
    })
}

/// Letters that tell any two states apart.
const CUT_MIN: usize = 4;

impl State {
    /// Reads `COMPLETED`, `CANCELLED by 1001`, `CANCELLED+` or a short name.
    pub(super) fn read(text: &[u8]) -> Result<Self, Fault> {
        if text.is_empty() {
            return Err(("State", RejectReason::EmptyMandatory));
        }
        let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let ended = ENDS.iter().find_map(|&(event, states)| Some((event, named(states, word)?)));
        if let Some((event, name)) = ended {
            let (reason, status) = (Some(name), status_of(event));
            return Ok(Self { event: Some(event), reason, status, has_begun: true });
        }
        let has_begun = named(BEGUN, word).is_some();
        if !has_begun && named(WAITING, word).is_none() {
            return Err(("State", RejectReason::UnknownEventType));
        }
        Ok(Self { event: None, reason: None, status: None, has_begun })
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
    let mut state = State::read(row.raw(Col::State))?;
    let run_us = run_us(row, cpus, remarks)?;
    let (start, end) = (row.instant(Col::Start, remarks)?, row.instant(Col::End, remarks)?);
    let (mut start_us, mut end_us) = times(start, end, run_us, None, remarks);
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
    if let Some(elapsed_us) = row.span(Col::Elapsed)? {
        return Ok(Some(elapsed_us));
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
    let planned_us = match row.span(Col::Planned)? {
        None => row.span(Col::Reserved)?,
        planned_us => planned_us,
    };
    let of_cpus = |column: Col| {
        let (seconds, cpus) = whole(row.raw(column)).zip(cpus.asked.or(cpus.had))?;
        Some(seconds * MICROS_PER_SECOND / i64::from(cpus))
    };
    let wait_us = planned_us.or_else(|| of_cpus(Col::ResvCpuRaw));
    let wait_us = wait_us.or_else(|| of_cpus(Col::PlannedCpuRaw));
    remarks.add(match wait_us {
        Some(_) => "no submit time: start less the wait",
        None => "no submit time: submitted at the start",
    });
    Ok(Some(begun_us.saturating_sub(wait_us.unwrap_or(0))))
}
