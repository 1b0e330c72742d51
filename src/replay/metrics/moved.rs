//! When jobs were submitted, if users react to the ends of their earlier jobs.
//!
//! In: a journal, and the workload with the recorded arrivals. Out: the number of submitted jobs,
//! and how much later than recorded they were submitted.

use serde::{Deserialize, Serialize};

use super::{Spread, fates};
use crate::replay::journal::Journal;
use crate::replay::workload::Workload;
use crate::units::micros_to_seconds;

/// By how much jobs were submitted later than in the workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// Submitted jobs.
    pub jobs_submitted: u64,
    /// The mean delay of these jobs, s; negative if they were submitted earlier.
    pub moved_s_mean: Option<f64>,
}

/// Measures by how much jobs were submitted later than in the workload, by their first task.
pub fn moved(journal: &Journal, workload: &Workload) -> Moved {
    let fates = fates(journal, workload.task_count);
    let mut spans = vec![(i64::MAX, None::<i64>); workload.job_count()];
    for task in (0..).take(workload.task_count) {
        let (recorded_us, submitted_us) = &mut spans[workload.job.get(task) as usize];
        *recorded_us = (*recorded_us).min(workload.arrival_us.get(task));
        let known = fates.submit_us[task as usize];
        *submitted_us = submitted_us.map_or(known, |one| Some(one.min(known.unwrap_or(one))));
    }
    let moved = spans.iter().filter_map(|(recorded_us, at_us)| Some((*at_us)? - recorded_us));
    let spread = Spread::of(moved.map(micros_to_seconds).collect());
    Moved {
        jobs_submitted: spread.map_or(0, |spread| spread.count as u64),
        moved_s_mean: spread.map(|spread| spread.mean),
    }
}
