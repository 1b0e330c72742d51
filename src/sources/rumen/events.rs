//! A job of a Rumen trace, and the events of it and of its tasks.
//!
//! In: a [`LoggedJob`] from its JSON, and one [`LoggedTask`] after the other. Out: times in
//! microseconds with event numbers, in order. Contradictory times are corrected only as the parent
//! module describes.

use std::sync::Arc;

use serde::Deserialize;

use super::super::fields::NAME_MAX;
use super::super::records::turns::{Attempt, Timed, in_turn};
use super::super::records::{FAIL, FINISH, Fault, KILL, Remarks, SCHEDULE, SUBMIT};
use super::super::reject::RejectReason;
use super::tasks::{List, LoggedAttempt, LoggedTask, unescaped};

/// A job without its tasks; times are milliseconds, -1 or 0 if they are missing.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoggedJob {
    #[serde(rename = "jobID")]
    pub job_id: String,
    pub user: Option<String>,
    pub job_name: Option<String>,
    pub queue: Option<String>,
    priority: Option<String>,
    submit_time: Option<i64>,
    launch_time: Option<i64>,
    finish_time: Option<i64>,
    outcome: Option<String>,
    pub total_maps: Option<i64>,
    pub total_reduces: Option<i64>,
    heap_megabytes: Option<i64>,
    #[serde(rename = "jobMapMB")]
    job_map_mb: Option<i64>,
    #[serde(rename = "jobReduceMB")]
    job_reduce_mb: Option<i64>,
}

/// A time in microseconds; null, -1 and 0 are missing.
fn time_us(millis: Option<i64>, column: &'static str) -> Result<Option<i64>, Fault> {
    match millis {
        None | Some(-1 | 0) => Ok(None),
        Some(millis) if millis < 0 => Err((column, RejectReason::NegativeTime)),
        Some(millis) => match millis.checked_mul(1000) {
            Some(micros) if micros < i64::MAX => Ok(Some(micros)),
            _ => Err((column, RejectReason::BadValue)),
        },
    }
}

/// Refuses a name that is too long.
fn check_name(name: Option<impl AsRef<str>>, column: &'static str) -> Result<(), Fault> {
    let is_long = name.is_some_and(|name| NAME_MAX < name.as_ref().len());
    if is_long { Err((column, RejectReason::OutOfRange)) } else { Ok(()) }
}

/// A count; `None` if it is negative or too large.
pub(super) fn count(value: Option<i64>) -> Option<i32> {
    value.and_then(|value| i32::try_from(value).ok()).filter(|&value| 0 <= value)
}

/// The event of a result; `None` if there is no result yet.
fn end_of(result: Option<&str>, column: &'static str) -> Result<Option<i32>, Fault> {
    match result {
        None | Some("RUNNING" | "PREP") => Ok(None),
        Some("SUCCESS" | "SUCCEEDED") => Ok(Some(FINISH)),
        Some("FAILED") => Ok(Some(FAIL)),
        Some("KILLED") => Ok(Some(KILL)),
        Some(_) => Err((column, RejectReason::UnknownEventType)),
    }
}

impl LoggedJob {
    /// Reads a job without its tasks.
    pub(super) fn read(object: &[u8]) -> Result<Self, Fault> {
        let job: Self = serde_json::from_slice(object).map_err(|_| ("", RejectReason::BadValue))?;
        check_name(Some(&job.job_id), "job_id")?;
        check_name(job.user.as_ref(), "user")?;
        check_name(job.job_name.as_ref(), "logical_job_name")?;
        check_name(job.queue.as_ref(), "queue")?;
        Ok(job)
    }

    /// The number of a job named `job_<start of the cluster>_<number>`: start × 10^6 + number.
    pub(super) fn number(&self) -> Option<i64> {
        let (cluster, number) = self.job_id.strip_prefix("job_")?.split_once('_')?;
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_plain(cluster) || !is_plain(number) {
            return None;
        }
        let number: i64 = number.parse().ok().filter(|&number| number < 1_000_000)?;
        cluster.parse::<i64>().ok()?.checked_mul(1_000_000)?.checked_add(number)
    }

    pub(super) fn priority(&self) -> Option<i32> {
        let priority = match self.priority.as_deref()? {
            "DEFAULT" => "NORMAL",
            priority => priority,
        };
        let known = ["VERY_LOW", "LOW", "NORMAL", "HIGH", "VERY_HIGH"];
        known.iter().position(|known| *known == priority).and_then(|place| place.try_into().ok())
    }

    /// The memory request of a task, MiB: that of its phase, or else the heap of the job.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^24 MiB")]
    pub(super) fn memory_mib(&self, phase: &str) -> Option<f32> {
        let of_phase = if phase == "reduce" { self.job_reduce_mb } else { self.job_map_mb };
        let is_given = |value: &i64| 0 < *value;
        let value = of_phase.filter(is_given).or_else(|| self.heap_megabytes.filter(is_given));
        value.map(|value| value as f32)
    }
}

/// The submit, launch and end of a job.
pub(super) struct JobEvents {
    submit_us: i64,
    launch_us: Option<i64>,
    end: Option<(i64, i32)>,
    /// Whether the times were not in order.
    pub is_reordered: bool,
}

impl JobEvents {
    pub(super) fn of(job: &LoggedJob) -> Result<Self, Fault> {
        let submit_us = time_us(job.submit_time, "time_us")?
            .ok_or(("time_us", RejectReason::EmptyMandatory))?;
        let launch_us = time_us(job.launch_time, "launchTime")?;
        let finish_us = time_us(job.finish_time, "finishTime")?;
        let outcome = end_of(job.outcome.as_deref(), "outcome")?;
        let in_order_launch_us = launch_us.map(|launch| launch.max(submit_us));
        let begun_us = in_order_launch_us.unwrap_or(submit_us);
        let end = finish_us.zip(outcome).map(|(finish, kind)| (finish.max(begun_us), kind));
        let is_reordered = in_order_launch_us != launch_us
            || end.is_some_and(|(end_us, _)| Some(end_us) != finish_us);
        Ok(Self { submit_us, launch_us: in_order_launch_us, end, is_reordered })
    }

    /// The events in order.
    pub(super) fn events(&self) -> impl Iterator<Item = (i64, i32)> {
        let launch = self.launch_us.map(|launch_us| (launch_us, SCHEDULE));
        [Some((self.submit_us, SUBMIT)), launch, self.end].into_iter().flatten()
    }
}

/// A task and its events.
pub(super) struct Task {
    pub phase: &'static str,
    pub name: String,
    /// In order of time; an attempt has its start before its end.
    pub events: Vec<TaskEvent>,
    /// Remarks about its attempts.
    pub remarks: Remarks,
}

/// An event of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskEvent {
    pub time_us: i64,
    pub kind: i32,
    pub attempt: Option<i32>,
    pub host: Option<Arc<str>>,
    pub shuffle_end_us: Option<i64>,
    pub sort_end_us: Option<i64>,
}

impl Task {
    /// The events of a task, from its attempts.
    pub(super) fn of(raw: LoggedTask, list: List, life: &JobEvents) -> Result<Self, Fault> {
        let phase = match raw.task_type.as_deref() {
            _ if list == List::Maps => "map",
            _ if list == List::Reduces => "reduce",
            Some("SETUP" | "JOB_SETUP") => "setup",
            Some("CLEANUP" | "JOB_CLEANUP" | "TASK_CLEANUP") => "cleanup",
            _ => "other",
        };
        check_name(Some(&raw.task_id), "task_name")?;
        let mut remarks = Remarks::default();
        let attempts = raw.attempts.iter().map(|attempt| read(attempt, &mut remarks));
        let attempts = attempts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        let has_failed = matches!(raw.task_status.as_deref(), Some("FAILED" | "KILLED"));
        let events = in_turn(attempts, has_failed, &mut remarks);
        let mut task = Self { phase, name: raw.task_id, events, remarks };
        let ready_us = life.launch_us.unwrap_or(life.submit_us);
        let first_us = task.events.first().map_or(ready_us, |event| event.time_us.min(ready_us));
        let submit = TaskEvent { time_us: first_us, kind: SUBMIT, ..TaskEvent::default() };
        if task.events.is_empty() {
            task.remarks.add("tasks without an attempt: SUBMIT only");
        }
        task.events.insert(0, submit);
        Ok(task)
    }
}

impl Timed for TaskEvent {
    fn at(&self) -> (i64, i32) {
        (self.time_us, self.kind)
    }

    fn ended(&self, (time_us, kind): (i64, i32)) -> Self {
        Self { time_us, kind, ..self.clone() }
    }
}

/// An attempt with its times; `None` if it has none.
fn read(
    attempt: &LoggedAttempt,
    remarks: &mut Remarks,
) -> Result<Option<Attempt<TaskEvent>>, Fault> {
    let start_us = time_us(attempt.start_time, "startTime")?;
    let finish_us = time_us(attempt.finish_time, "finishTime")?;
    let kind = end_of(attempt.result.as_deref(), "result")?;
    let end = finish_us.zip(kind);
    let is_turned = start_us.zip(end).is_some_and(|(start, (end, _))| end < start);
    let is_startless = start_us.is_none() && end.is_some();
    let begin_us = if is_turned || is_startless { finish_us } else { start_us };
    for (is_so, wording) in [
        (is_turned, "attempts that end before they start: without length"),
        (is_startless, "attempts without a start: without length"),
        (begin_us.is_none(), "attempts without times: left out"),
    ] {
        remarks.add_many(wording, u64::from(is_so));
    }
    let mut event = TaskEvent { kind: SCHEDULE, ..TaskEvent::default() };
    (event.attempt, event.host) = (attempt.number(), attempt.host()?);
    let shuffle_end_us = time_us(attempt.shuffle_finished, "shuffleFinished")?;
    let sort_end_us = time_us(attempt.sort_finished, "sortFinished")?;
    let Some(time_us) = begin_us else { return Ok(None) };
    let begin = TaskEvent { time_us, ..event.clone() };
    let end = end.map(|at| TaskEvent { shuffle_end_us, sort_end_us, ..event.ended(at) });
    Ok(Some(Attempt { begin, end }))
}

impl LoggedAttempt {
    /// The number at the end of `attempt_..._0`.
    fn number(&self) -> Option<i32> {
        self.attempt_id.as_deref()?.rsplit('_').next()?.parse().ok()
    }

    /// The host without its rack.
    fn host(&self) -> Result<Option<Arc<str>>, Fault> {
        let of_location = || self.location.as_ref()?.layers.as_ref();
        let Some(path) = self.host_name.as_ref().or_else(of_location) else { return Ok(None) };
        let name = path.rsplit('/').next().filter(|name| !name.is_empty());
        check_name(name, "machine_name")?;
        Ok(name.map(|name| unescaped(name).into()))
    }
}
