//! The ends of jobs.

use super::fates::Fates;
use crate::replay::workload::Workload;
use crate::units::micros_to_seconds;

/// How each job ended.
pub fn job_ends(fates: &Fates, workload: &Workload) -> Vec<JobEnd> {
    let mut spans: Vec<Option<Span>> = vec![None; workload.job_count()];
    for task in (0..).take(workload.task_count) {
        let idx = task as usize;
        let own = Span {
            first_us: submitted_us(fates, workload, task),
            // A refused task took no time, and its job has no end.
            last_us: fates.end_us[idx].filter(|_| !fates.is_refused[idx]),
            is_finished: fates.run_us[idx].is_some(),
            is_condemned: fates.is_condemned[idx],
        };
        let span = &mut spans[workload.job.get(task) as usize];
        *span = Some(span.map_or(own, |span| span.and(own)));
    }
    let end = |span: Option<Span>| {
        let over_us = span.and_then(|span| Some(span.last_us? - span.first_us));
        JobEnd {
            response_s: over_us.map(micros_to_seconds),
            is_finished: over_us.is_some() && span.is_some_and(|span| span.is_finished),
            is_condemned: span.is_some_and(|span| span.is_condemned),
        }
    };
    spans.into_iter().map(end).collect()
}

/// Whether the window cuts a task of each job, by the number of the job.
pub fn cut_jobs(workload: &Workload) -> Vec<bool> {
    let mut cut = vec![false; workload.job_count()];
    for task in (0..).take(workload.task_count).filter(|&task| workload.is_cut.get(task)) {
        cut[workload.job.get(task) as usize] = true;
    }
    cut
}

/// When a task was submitted, µs: in the replay, or else in the record. A job starts with its tasks
/// that do not wait for other tasks.
pub(super) fn submitted_us(fates: &Fates, workload: &Workload, task: u32) -> i64 {
    if workload.dependencies.waits(task) {
        return i64::MAX;
    }
    fates.submit_us[task as usize].unwrap_or_else(|| workload.arrival_us.get(task))
}

/// The time from the first submit of some tasks to their last end.
#[derive(Clone, Copy, Debug)]
struct Span {
    first_us: i64,
    /// `None` if a task has no end.
    last_us: Option<i64>,
    is_finished: bool,
    is_condemned: bool,
}

impl Span {
    fn and(self, other: Self) -> Self {
        Self {
            first_us: self.first_us.min(other.first_us),
            last_us: self.last_us.zip(other.last_us).map(|(one, another)| one.max(another)),
            is_finished: self.is_finished && other.is_finished,
            is_condemned: self.is_condemned || other.is_condemned,
        }
    }
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobEnd {
    /// First submit to last end, s; `None` if a task was refused or not over.
    pub response_s: Option<f64>,
    /// Whether all its tasks finished.
    pub is_finished: bool,
    /// Whether a kill rule condemned one of its tasks.
    pub is_condemned: bool,
}
