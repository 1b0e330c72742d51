//! Jobs that a kill rule has ended as a whole.
//!
//! In: jobs, when rules end them. Out: whether a job has ended, and its tasks once.

use rustc_hash::FxHashSet;

use super::workload::Workload;

/// The jobs that rules have ended.
#[derive(Debug, Default)]
pub(super) struct EndedJobs {
    ended: FxHashSet<u32>,
    /// Ended jobs whose tasks must still be ended.
    now: Vec<u32>,
    /// The tasks of every job; only if a rule ends jobs.
    tasks: Vec<Vec<u32>>,
}

impl EndedJobs {
    /// No ended jobs; `is_possible` if a rule ends jobs.
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

    /// Ends a job.
    pub(super) fn end(&mut self, job: u32) {
        if self.ended.insert(job) {
            self.now.push(job);
        }
    }

    /// Whether a job has ended.
    pub(super) fn has(&self, job: u32) -> bool {
        self.ended.contains(&job)
    }

    /// Whether there is a job whose tasks must still be ended.
    pub(super) fn has_any(&self) -> bool {
        !self.now.is_empty()
    }

    /// Takes the tasks of a job that has just been ended.
    pub(super) fn take(&mut self) -> Option<Vec<u32>> {
        let job = self.now.pop()?;
        Some(std::mem::take(&mut self.tasks[job as usize]))
    }
}
