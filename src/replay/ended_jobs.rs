//! Jobs that a kill rule has ended as a whole.
//!
//! In: jobs, as rules end them. Out: whether a job is over, and once for each its tasks.

use rustc_hash::FxHashSet;

use super::workload::Workload;

/// Jobs that are over.
#[derive(Debug, Default)]
pub(super) struct EndedJobs {
    ended: FxHashSet<u32>,
    /// Those of them whose tasks have still to be ended.
    now: Vec<u32>,
    /// The tasks of every job; only where a rule ends jobs.
    tasks: Vec<Vec<u32>>,
}

impl EndedJobs {
    /// None are over; `is_possible` where a rule ends jobs.
    pub(super) fn new(workload: &Workload, is_possible: bool) -> Self {
        let mut tasks = Vec::new();
        if is_possible {
            tasks = vec![Vec::new(); workload.job_count()];
            for task in (0..).take(workload.task_count) {
                tasks[workload.job.get(task) as usize].push(task);
            }
        }
        Self { tasks, ..Self::default() }
    }

    /// A job is over.
    pub(super) fn end(&mut self, job: u32) {
        if self.ended.insert(job) {
            self.now.push(job);
        }
    }

    /// Whether a job is over.
    pub(super) fn has(&self, job: u32) -> bool {
        self.ended.contains(&job)
    }

    /// The tasks of a job that has just been ended, once.
    pub(super) fn take(&mut self) -> Option<Vec<u32>> {
        let job = self.now.pop()?;
        Some(std::mem::take(&mut self.tasks[job as usize]))
    }
}
