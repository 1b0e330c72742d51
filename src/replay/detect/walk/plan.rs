//! How history is replayed, and the heartbeats that this takes.

use crate::replay::detect::groups::Group;
use crate::replay::detect::progress::{ProgressModel, Work};

/// How history is replayed.
#[derive(Clone, Debug)]
pub struct WalkPlan {
    /// Time between heartbeats, µs.
    pub heartbeat_us: i64,
    /// Where progress comes from.
    pub progress: ProgressModel,
    /// How work so far is measured.
    pub work: Work,
    /// Standard deviation of the logarithm of a reported rate; 0 for none.
    pub noise: f64,
    /// Seed of the noise.
    pub seed: u64,
    /// The heartbeats at which detectors are called.
    pub beats: Beats,
}

/// The heartbeats at which detectors are called. The choice does not change the flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beats {
    /// Those at which a detector may flag another attempt.
    #[default]
    Needed,
    /// All heartbeats.
    All,
}

impl WalkPlan {
    /// Whether detectors may be quiet. They may not if each report has new random noise.
    pub(super) fn lets_be_quiet(&self) -> bool {
        self.beats == Beats::Needed && self.noise == 0.0
    }

    /// The most heartbeats of a run. More are allowed if most are skipped, which is the case with
    /// progress models that use no other task.
    pub(in crate::replay::detect) fn heartbeats_max(&self) -> u64 {
        let is_mostly_quiet = self.lets_be_quiet() && self.progress != ProgressModel::Siblings;
        if is_mostly_quiet { 4_000_000_000 } else { 1_000_000_000 }
    }
}

/// The number of heartbeats at which an attempt of the group runs: the cost of a walk that skips
/// none.
pub fn heartbeats(group: &Group, heartbeat_us: i64) -> u64 {
    let (mut beats, mut seen_us) = (0_u64, i64::MIN);
    for attempt in &group.attempts {
        let from_us = attempt.start_us.max(seen_us);
        if from_us < attempt.end_us {
            // The first heartbeat is one period after time 0.
            let beat = |time_us: i64| {
                let rest = i64::from(time_us % heartbeat_us != 0);
                (time_us / heartbeat_us + rest).max(1)
            };
            beats += u64::try_from(beat(attempt.end_us) - beat(from_us)).unwrap_or(0);
            seen_us = attempt.end_us;
        }
    }
    beats
}
