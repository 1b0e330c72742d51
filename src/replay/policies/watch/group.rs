//! A group of tasks that has begun, as its detector sees it.

use crate::replay::detectors::{Detector, Finished, Running, Scene};

/// A group that has begun.
pub(super) struct Group {
    pub(super) detector: Box<dyn Detector>,
    pub(super) finished: Finished,
    pub(super) begun_us: i64,
    /// Attempts so far, copies among those that run, and running attempts whose machine has gone.
    pub(super) attempts: u32,
    pub(super) copies_now: u32,
    pub(super) lost: u32,
    /// Until when it is not judged, µs.
    pub(super) sleeps_until_us: Option<i64>,
    pub(super) submitted: u32,
    pub(super) over: u32,
    /// Slots of its running attempts, in order of start: of their numbers.
    pub(super) slots: Vec<u32>,
    /// Attempts as they were at the last heartbeat, by (start, task).
    pub(super) running: Vec<Running>,
    /// Copies and different tasks among them.
    pub(super) copies: u32,
    pub(super) running_tasks: u32,
}

impl Group {
    pub(super) fn scene(&self, now_us: i64, slots: [u32; 2]) -> Scene<'_> {
        Scene {
            now_us,
            begun_us: self.begun_us,
            running: &self.running,
            finished: &self.finished,
            task_count: self.submitted,
            waiting: self.submitted.saturating_sub(self.over + self.running_tasks),
            over: self.over,
            slots: slots[1],
            free_slots: slots[0],
            copies: self.copies,
        }
    }
}
