//! Tasks that must not share a machine with others of their job.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::replay::workload::Workload;

/// The number of tasks of a job on a machine, for jobs with tasks that must not share a machine.
#[derive(Debug, Default)]
pub(super) struct Siblings {
    /// By job; empty if all tasks may share a machine.
    pub(super) keeps_apart: Vec<bool>,
    /// By job and machine.
    pub(super) counts: FxHashMap<(u32, u32), u32>,
}

impl Siblings {
    pub(super) fn new(workload: &Workload) -> Self {
        let mut keeps_apart = Vec::new();
        for task in (0..).take(workload.task_count).filter(|&task| workload.is_apart.get(task)) {
            if keeps_apart.is_empty() {
                keeps_apart = vec![false; workload.job_count()];
            }
            keeps_apart[workload.job.get(task) as usize] = true;
        }
        Self { keeps_apart, counts: FxHashMap::default() }
    }

    #[inline]
    pub(super) fn counts(&self, job: u32) -> bool {
        self.keeps_apart.get(job as usize).is_some_and(|&keeps| keeps)
    }

    pub(super) fn come(&mut self, job: u32, machine: u32) {
        *self.counts.entry((job, machine)).or_default() += 1;
    }

    pub(super) fn go(&mut self, job: u32, machine: u32) {
        if let Entry::Occupied(mut count) = self.counts.entry((job, machine)) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}
