//! Predictions of running times, updated when attempts end.

use super::instant::State;
use super::last_two::Runs;

/// The prediction if no time was requested and no attempt has ended yet, µs.
const UNKNOWN_US: i64 = 3_600_000_000;

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

fn mean(runs: Runs) -> Option<i64> {
    match runs {
        [Some(one), Some(other)] => Some(one.midpoint(other)),
        [one, _] => one,
    }
}
