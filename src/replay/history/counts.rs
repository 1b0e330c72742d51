//! The numbers of tasks that were replayed, changed and left out.

use serde::{Deserialize, Serialize};

/// The numbers of tasks that were replayed, changed and left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Replayed tasks.
    pub tasks: u64,
    /// Jobs of these tasks.
    pub jobs: u64,
    /// Tasks that began before the window, with an unknown past.
    pub began_before: u64,
    /// Tasks still running at the end of the window.
    pub still_running: u64,
    /// Tasks whose last attempt has no recorded end in the loaded parts; it ends with its job.
    pub ended_with_job: u64,
    /// Tasks that were evicted or lost and not submitted again.
    pub never_back: u64,
    /// Tasks that are killed after their recorded running time.
    pub stopped: u64,
    /// Tasks that are killed at their recorded age.
    pub killed_at_age: u64,
    /// Failed attempts that are replayed.
    pub failures: u64,
    /// Recorded attempts that are not replayed: evicted, lost, or ended before a resubmission.
    pub dropped_attempts: u64,
    /// Tasks with too little data: they neither ran nor were killed, or they ended without a start.
    pub left_out: u64,
    /// Tasks without a CPU request.
    pub without_cpu: u64,
    /// Tasks without a memory request.
    pub without_memory: u64,
    /// Tasks without a priority.
    pub without_priority: u64,
    /// Tasks without a user.
    pub without_user: u64,
    /// Jobs with a requested time for some task.
    pub jobs_with_request: u64,
    /// Jobs with a task that still runs at the end of the window; `None` in older results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs_still_running: Option<u64>,
    /// All tasks of the lake, inside and outside of the replayed part.
    #[serde(skip)]
    pub in_lake: u64,
    /// Tasks of the lake that have started.
    #[serde(skip)]
    pub started_in_lake: u64,
}

impl Counts {
    /// Adds the counts of other tasks.
    pub(super) fn add(&mut self, part: &Self) {
        self.began_before += part.began_before;
        self.still_running += part.still_running;
        self.ended_with_job += part.ended_with_job;
        self.never_back += part.never_back;
        self.dropped_attempts += part.dropped_attempts;
        self.stopped += part.stopped;
        self.killed_at_age += part.killed_at_age;
        self.left_out += part.left_out;
        self.in_lake += part.in_lake;
        self.started_in_lake += part.started_in_lake;
    }
}
