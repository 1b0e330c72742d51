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
//! With one such run, the prediction is that run; with none, the requested time; if that is unknown
//! too, the mean of the last two runs of any user; without any run, one hour (Tsafrir, Etsion,
//! Feitelson 2007, who have a request for every job).

use super::State;
use crate::replay::workload::Workload;

/// The prediction before any end if nothing was requested, µs.
const UNKNOWN_US: i64 = 3_600_000_000;

/// The last two running times, the later one first, µs at speed 1.
type Runs = [Option<i64>; 2];

/// The known running times.
#[derive(Debug)]
pub(in crate::replay) struct LastTwo {
    /// By user.
    runs: Vec<Runs>,
    /// Of all users.
    all: Runs,
    /// By task, as of its last submission.
    predicted_us: Vec<i64>,
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

fn mean(runs: Runs) -> Option<i64> {
    match runs {
        [Some(one), Some(other)] => Some(one.midpoint(other)),
        [one, _] => one,
    }
}

impl State<'_> {
    /// Predicts the running time of a task that is submitted, if predictions are used.
    pub(in crate::replay) fn predict(&mut self, task: u32) {
        let Some(known) = &mut self.last_two else { return };
        let requested_us = self.workload.requested_us.get(task);
        let own_us = mean(known.runs[self.workload.user.get(task) as usize]);
        let predicted_us = match (own_us, requested_us) {
            (Some(own_us), Some(requested_us)) => own_us.min(requested_us),
            (Some(known_us), None) | (None, Some(known_us)) => known_us,
            (None, None) => mean(known.all).unwrap_or(UNKNOWN_US),
        };
        known.predicted_us[task as usize] = predicted_us;
    }

    /// An attempt has ended on its own or was killed.
    #[expect(clippy::cast_precision_loss, reason = "a run is far shorter than 2^53 µs")]
    #[expect(clippy::cast_possible_truncation, reason = "a run is far shorter than 2^63 µs")]
    pub(in crate::replay) fn learn(&mut self, slot: u32) {
        let Some(known) = &mut self.last_two else { return };
        let idx = slot as usize;
        let length_us = self.now_us - self.attempts.start_us[idx];
        let speed = self.machines.speed[self.attempts.machine[idx] as usize];
        let run_us =
            if speed == 1.0 { length_us } else { (length_us as f64 * speed).round() as i64 };
        let user = self.workload.user.get(self.attempts.task[idx]) as usize;
        for runs in [&mut known.runs[user], &mut known.all] {
            *runs = [Some(run_us), runs[0]];
        }
    }
}
