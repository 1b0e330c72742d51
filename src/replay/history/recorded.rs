//! A history, as a workload.

use super::counts::Counts;
use super::numbers::scaled;
use super::over_time::OverTime;
use super::schedule::Schedule;
use crate::replay::feedback::{Arrivals, Feedback, Stay, submissions};
use crate::replay::gpus::GpuAsk;
use crate::replay::workload::{Column, Workload};
use crate::units::MICROS_PER_SECOND;

/// A history, as a workload.
#[derive(Clone, Debug)]
pub struct History {
    /// The tasks.
    pub workload: Workload,
    /// The job of each task, and the index of the task in its job.
    pub ids: Vec<(i64, i32)>,
    /// The recorded submission and end of each job, at the load of the plan; only if users react.
    pub stays: Vec<Stay>,
    /// The counts.
    pub counts: Counts,
    /// The recorded schedule; `None` if the log records no waits.
    pub schedule: Option<Schedule>,
    /// The record over time; `None` if it cannot be compared with a replay.
    pub over_time: Option<OverTime>,
    /// Tasks that request GPUs although no machine records GPUs: the workload leaves out these
    /// requests.
    pub unchecked_gpus: u64,
    /// The factor of the machines' capacities.
    pub overcommit: f64,
    /// The assumptions, as sentences.
    pub assumptions: Vec<String>,
}

impl History {
    /// The event that each job follows if users react; `None` if they do not.
    pub fn feedback(&self, arrivals: Arrivals, load: f64) -> Option<Feedback> {
        let Arrivals::Closed { gap_s } = arrivals else { return None };
        let followed = submissions(&self.stays, scaled(gap_s * MICROS_PER_SECOND, load));
        Some(Feedback::new(&self.workload, followed))
    }

    pub(super) fn leave_out_gpus(&mut self) {
        self.unchecked_gpus = self.workload.asks_for_gpus();
        self.workload.gpus = Column::Same(GpuAsk::NONE);
    }
}
