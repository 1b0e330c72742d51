//! A task with its events, attempts and usage windows.

use super::events::Event;
use crate::schema::{EventType, Source};
use crate::units::{CpuRate, CpuTime};

/// From a SCHEDULE to the next terminal event or SCHEDULE; without one, to the end of its job
/// ([`OpenAttempts::JobEnd`](super::window::OpenAttempts::JobEnd)) or of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// The SCHEDULE, µs.
    pub start_us: i64,
    /// The end, µs; the end of the window if the attempt is open.
    pub end_us: i64,
    /// What ended it.
    pub ended_by: EndedBy,
    /// The CPU request on the SCHEDULE row.
    pub cpu_request: Option<f32>,
    /// The memory request on the SCHEDULE row, or the used memory from a log, if memory was read.
    pub memory: Option<f32>,
    /// The GPUs requested on the SCHEDULE row, if they were read; 0.5 is half of one.
    pub gpus: Option<f32>,
    /// The machine on which it ran.
    pub machine_id: Option<i64>,
    /// The CPU time used on all its processors together, from a log, if it was read; `None` if the
    /// log does not record it.
    pub cpu_used: Option<CpuTime>,
    /// Its running time, µs, if a log records that it was suspended and so ran for less than its
    /// length.
    pub ran_us: Option<i64>,
    /// The running time that its user requested, µs, if a log has it.
    pub requested_us: Option<i64>,
    /// The SCHEDULE row, in the order in which the bucket's `task_events` are read.
    pub row: u32,
}

/// What ended an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndedBy {
    /// An event of its task, of this type.
    Event(EventType),
    /// The end of its job: the loaded parts have no end event of the attempt.
    Job,
    /// Nothing: it is open, and closed at the end of the window.
    Nothing,
}

impl EndedBy {
    /// The type of its task's event that ended it.
    pub const fn event(self) -> Option<EventType> {
        match self {
            Self::Event(event_type) => Some(event_type),
            Self::Job | Self::Nothing => None,
        }
    }

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Event(event_type) => event_type.name(),
            Self::Job => "end of the job",
            Self::Nothing => "still running",
        }
    }
}

impl Attempt {
    /// The rate of its CPU request; zero if it has none. For a suspended job, the CPU × running
    /// time is spread evenly from start to end.
    pub fn requested_rate(&self) -> CpuRate {
        let rate = self.cpu_request.map_or(CpuRate::ZERO, CpuRate::new);
        self.ran_us.map_or(rate, |ran_us| rate.over(ran_us).per(self.length_us()))
    }

    /// The rate of its slot: one, or less if it was suspended for a time.
    pub fn slot_rate(&self) -> CpuRate {
        let rate = CpuRate::ONE;
        self.ran_us.map_or(rate, |ran_us| rate.over(ran_us).per(self.length_us()))
    }

    /// The memory that it requested or used, as a rate; zero if unknown.
    pub fn held_memory(&self) -> CpuRate {
        self.memory.map_or(CpuRate::ZERO, CpuRate::new)
    }

    /// The GPUs that it requested, as a rate; zero without any. A suspended job keeps them.
    pub fn held_gpus(&self) -> CpuRate {
        self.gpus.map_or(CpuRate::ZERO, CpuRate::new)
    }

    /// The rate of the CPU time that a log records, spread over its run. If the log does not record
    /// it, the rate of its request; for traces with usage windows, zero.
    pub fn used_rate(&self, source: Source) -> CpuRate {
        match self.cpu_used {
            _ if !source.is_log() => CpuRate::ZERO,
            Some(used) => used.per(self.length_us()),
            None => self.requested_rate(),
        }
    }

    /// Whether a log records its CPU time, which can be spread over its run. An attempt that ended
    /// when it started has no run, and its CPU time counts nowhere.
    pub fn records_cpu_time(&self) -> bool {
        self.cpu_used.is_some() && 0 < self.length_us()
    }

    /// Whether it is open at the end of the window.
    pub fn is_open(&self) -> bool {
        self.ended_by == EndedBy::Nothing
    }

    /// From its start to its end, µs, including the time for which it was suspended.
    pub fn length_us(&self) -> i64 {
        self.end_us - self.start_us
    }

    /// How long it ran, µs: its length without the time for which it was suspended.
    pub fn run_us(&self) -> i64 {
        self.ran_us.unwrap_or_else(|| self.length_us())
    }

    /// For how long it was suspended, µs.
    pub fn suspended_us(&self) -> i64 {
        self.ran_us.map_or(0, |ran_us| self.length_us() - ran_us)
    }
}

/// A usage window of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Start, µs.
    pub start_us: i64,
    /// End, µs; not before the start.
    pub end_us: i64,
    /// Mean CPU rate, or the requested column of memory; zero if missing.
    pub rate: f32,
    /// The column of memory that was read along with the CPU rate; zero if missing or not read.
    pub(crate) memory: f32,
    pub(crate) row_id: i64,
}

/// A task.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TaskView<'a> {
    /// The job.
    pub job_id: i64,
    /// The number within the job.
    pub task_index: i32,
    /// The events, in order.
    pub events: &'a [Event],
    /// The attempts, in order; they do not overlap.
    pub attempts: &'a [Attempt],
    /// The usage windows in (start, `row_id`) order; they may overlap.
    pub windows: &'a [Window],
    /// The priority last seen.
    pub priority: i32,
    /// The phase of its job, if the source has phases.
    pub phase: Option<&'a str>,
    /// The running time that its user requested for the first attempt, µs, if a log has it.
    pub requested_us: Option<i64>,
    /// The end of its job, µs, if it is before the end of the window and attempts end with their
    /// jobs.
    pub job_end_us: Option<i64>,
}

impl TaskView<'_> {
    /// The last event that decides whether the task is pending, running or ended.
    fn deciding(&self) -> Option<&Event> {
        self.events.iter().rev().find(|event| event.event_type.is_deciding())
    }

    /// When it finished, µs, if that was its end.
    pub fn finish_us(&self) -> Option<i64> {
        let last = self.deciding().filter(|event| event.event_type == EventType::Finish);
        last.map(|event| event.time_us).filter(|&time_us| time_us < i64::MAX)
    }

    /// The first instant by which `count` events of a type have occurred within `within_us`, µs:
    /// that of the last of them. `None` if that never happens, and for 0 events.
    pub fn nth_within(&self, kind: EventType, count: usize, within_us: i64) -> Option<i64> {
        let times: Vec<i64> = self
            .events
            .iter()
            .filter(|event| event.event_type == kind)
            .map(|event| event.time_us)
            .collect();
        let is_close = |row: &&[i64]| row[row.len() - 1].saturating_sub(row[0]) <= within_us;
        let mut rows = (0 < count).then(|| times.windows(count))?;
        rows.find(is_close).map(|row| row[count - 1])
    }

    /// Whether it is pending or running at the end of the window, so that it may still have events.
    pub fn is_open(&self, window_end_us: i64) -> bool {
        let has_ended = self
            .deciding()
            .is_some_and(|event| event.event_type.is_terminal() && event.time_us <= window_end_us);
        !has_ended && self.job_end_us.is_none()
    }
}
