//! The recorded schedule of the replayed tasks, in the numbers that a replay gives.
//!
//! In: the replayed tasks with their recorded waits and ends. Out: [`Schedule`], to be compared
//! with the policies. A task that still runs at the end of the window counts as finished there,
//! since a replay finishes it after the same running time. Tasks submitted before the window have
//! no recorded wait. Times are as recorded; the load of the plan does not change them.

use serde::{Deserialize, Serialize};

use super::items::Item;
use crate::fairness::indices::bounded_slowdown;
use crate::replay::metrics::{BOUND_S, Spread, cut_jobs};
use crate::replay::workload::{Column, Fate, Workload};
use crate::units::micros_to_seconds;

/// The recorded schedule of the replayed tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Schedule {
    /// Tasks that finished, or still ran at the end of the window.
    pub finished: u64,
    /// First submit to first start of tasks that were submitted in the window and started, s.
    pub waiting_s: Option<Spread>,
    /// First submit to last end of jobs, s.
    pub job_response_s: Option<Spread>,
    /// The same for jobs that the end of the window does not cut, s; `None` if it cuts no job, or
    /// all jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_job_response_s: Option<Spread>,
    /// Submit to end over run time, of tasks that finished; bounded as for a replay.
    pub bounded_slowdown: Option<Spread>,
    /// Requested CPU x running time, from the start of the window on, of all recorded attempts of
    /// these tasks and of tasks with too little data for a replay; in the unit of the log.
    pub cpu_s: f64,
    /// The part of `cpu_s` in attempts that are not replayed.
    pub dropped_cpu_s: f64,
    /// `dropped_cpu_s` over `cpu_s`; `None` if that is 0.
    pub dropped_cpu_share: Option<f64>,
}

impl Schedule {
    /// The responses of jobs that the end of the window does not cut, s.
    pub fn responses_of_whole_jobs(&self) -> Option<Spread> {
        self.whole_job_response_s.or(self.job_response_s)
    }
}

/// The recorded schedule of tasks in the order of the workload; `end_us` is the end of the window.
pub(super) fn schedule(items: &[Item], workload: &Workload, end_us: i64) -> Schedule {
    let ended_us = |item: &Item| item.ended_us.unwrap_or(end_us).max(item.arrival_us);
    let finished = || items.iter().filter(|item| item.fate == Fate::Finishes);
    let slowdown = |item: &Item| {
        let run_s = micros_to_seconds(item.work_us);
        let response_s = micros_to_seconds(ended_us(item) - item.arrival_us);
        bounded_slowdown(response_s - run_s, run_s, BOUND_S)
    };
    let waits = items.iter().filter_map(|item| item.wait_us.map(micros_to_seconds));
    // First submit and last end. A job starts with its tasks that do not wait for other tasks.
    let mut spans = vec![(i64::MAX, i64::MIN); workload.job_count()];
    for (task, item) in (0..).zip(items) {
        let (first_us, last_us) = &mut spans[workload.job.get(task) as usize];
        if !workload.dependencies.waits(task) {
            *first_us = item.arrival_us.min(*first_us);
        }
        *last_us = ended_us(item).max(*last_us);
    }
    let responses = spans.iter().map(|(first_us, last_us)| micros_to_seconds(last_us - first_us));
    let of_whole = || {
        let whole = responses.clone().zip(cut_jobs(workload)).filter(|(_, is_cut)| !is_cut);
        Spread::of(whole.map(|(response_s, _)| response_s).collect())
    };
    Schedule {
        finished: finished().count() as u64,
        waiting_s: Spread::of(waits.collect()),
        whole_job_response_s: (workload.is_cut != Column::Same(false)).then(of_whole).flatten(),
        job_response_s: Spread::of(responses.clone().collect()),
        bounded_slowdown: Spread::of(finished().map(slowdown).collect()),
        ..Schedule::default()
    }
}
