//! Running times predicted from a user's last two runs.
//!
//! In: attempts as they end, and tasks as they are submitted. Out: for each waiting task, the mean
//! of its user's last two running times known at its submission, at most the requested time. Later
//! ends never change it.
//!
//! ```text
//!  ended by then   |== 40 s ==|  |=== 60 s ===|   submitted: 50 s
//!                     |======= still runs =======|             counts once it has ended
//! ```
//! With only one such run, the prediction is that run. With none, it is the requested time; if that
//! is also unknown, the mean of the last two runs of all users; and without any run, one hour. (In
//! Tsafrir, Etsion and Feitelson 2007, every job has a request.)

use crate::replay::workload::Workload;

/// The last two running times, the later one first, µs at speed 1.
pub(super) type Runs = [Option<i64>; 2];

/// The known running times.
#[derive(Debug)]
pub(in crate::replay) struct LastTwo {
    /// By user.
    pub(super) runs: Vec<Runs>,
    /// Of all users.
    pub(super) all: Runs,
    /// By task, as of its last submission.
    pub(super) predicted_us: Vec<i64>,
}

impl LastTwo {
    /// No running times yet.
    pub(in crate::replay) fn new(workload: &Workload) -> Self {
        Self {
            runs: vec![[None; 2]; workload.user_count()],
            all: [None; 2],
            predicted_us: vec![0; workload.task_count],
        }
    }

    /// The prediction for a submitted task, µs.
    pub(super) fn of(&self, task: u32) -> i64 {
        self.predicted_us[task as usize]
    }
}
