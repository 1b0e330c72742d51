//! The speed at which running attempts progress, and when it changed.

use crate::replay::detectors::Scene;
use crate::replay::detectors::changepoint::ChangePoint;
use crate::replay::detectors::support::{count_as_f64, entry};
use crate::units::micros_to_seconds;

/// The speed of the running attempts, and the time since which it is constant.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// By attempt, the last progress above 0 and the time of its report, µs.
    seen: Vec<Option<(i64, f64)>>,
    pub(super) change: ChangePoint,
    /// The last heartbeat, µs.
    looked_us: i64,
}

impl Pace {
    /// Reads the progress since the last heartbeat; returns whether it reveals a change.
    pub(super) fn look(&mut self, scene: &Scene<'_>) -> bool {
        let (mut sum, mut count) = (0.0, 0);
        for running in scene.running.iter().filter(|running| running.has_progress) {
            let now = (running.reported_us, running.progress.value());
            if now.1 <= 0.0 {
                continue;
            }
            let before = entry(&mut self.seen, running.attempt).replace(now);
            if let Some(before) = before.filter(|before| before.0 < now.0 && before.1 < now.1) {
                sum += ((now.1 - before.1) / micros_to_seconds(now.0 - before.0)).ln();
                count += 1;
            }
        }
        let from_us = std::mem::replace(&mut self.looked_us, scene.now_us);
        0 < count && self.change.add(from_us, sum / count_as_f64(count))
    }
}
