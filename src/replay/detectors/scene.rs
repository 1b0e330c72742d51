//! What a detector sees at a heartbeat, and what it answers.

use serde::{Deserialize, Serialize};

use super::finished::Finished;
use super::progress::Progress;

/// A running attempt, as known at a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    /// The attempt's number in its group, in order of (start, task), from 0.
    pub attempt: u32,
    /// The task's position in its group.
    pub task: u32,
    /// The machine's number; [`NO_MACHINE`](super::ended::NO_MACHINE) if it is unknown.
    pub machine: u32,
    /// When it was started, µs.
    pub start_us: i64,
    /// Progress at the last report; none before the first.
    pub progress: Progress,
    /// The time of that report, µs.
    pub reported_us: i64,
    /// Whether there is a progress report. There is none before the first report, or while the
    /// progress of its work is unknown.
    pub has_progress: bool,
    /// Whether a copy of it is running; true for the copy, too, while both run. In recorded
    /// history, true from its first flag until it ends.
    pub has_copy: bool,
    /// Whether its task ever had a copy, of this attempt or an earlier one.
    pub was_copied: bool,
}

impl Running {
    /// The age at `now_us`, s.
    pub fn age_s(&self, now_us: i64) -> f64 {
        crate::units::micros_to_seconds(now_us - self.start_us)
    }

    /// The age at the last report, µs.
    pub(super) fn reported_age_us(&self) -> u64 {
        u64::try_from(self.reported_us - self.start_us).unwrap_or(0)
    }

    /// Its length if it made its progress in `age_us`: age / progress to the nearest µs, so that
    /// equal rates give equal lengths; `None` while it has not progressed.
    pub(super) fn length_us(&self, age_us: u64) -> Option<i64> {
        let (done, total) = (self.progress.done(), self.progress.total());
        // A walk counts linear progress in half microseconds of age: half the total, rounded.
        if 0 < done && age_us.checked_mul(2) == Some(done) {
            return Some(i64::try_from(total.div_ceil(2)).unwrap_or(i64::MAX));
        }
        if 0 < done && age_us == done {
            return Some(i64::try_from(total).unwrap_or(i64::MAX));
        }
        // Nearly done attempts stay at 99 %: division by a constant is quicker.
        if (done, total) == (99, 100)
            && let Some(whole) = age_us.checked_mul(100)
        {
            return Some(i64::try_from((whole + 49) / 99).unwrap_or(i64::MAX));
        }
        // 64 bits are nearly always enough, and division is quicker.
        if let Some(whole) = age_us.checked_mul(total).and_then(|whole| whole.checked_add(done / 2))
        {
            return Some(i64::try_from(whole.checked_div(done)?).unwrap_or(i64::MAX));
        }
        let done = u128::from(done);
        let whole = u128::from(age_us) * u128::from(total);
        let length_us = (whole + done / 2).checked_div(done)?;
        Some(i64::try_from(length_us).unwrap_or(i64::MAX))
    }

    /// The estimated length by the last report, µs.
    pub(super) fn estimated_length_us(&self) -> Option<i64> {
        self.length_us(self.reported_age_us())
    }
}

/// The known state of a group at a heartbeat.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The time, µs.
    pub now_us: i64,
    /// When the group's first task was submitted, µs.
    pub begun_us: i64,
    /// The running attempts, by (start, task). In a replay they include copies, which begin and end
    /// like all others; in recorded history there are no copies.
    pub running: &'a [Running],
    /// The attempts that have finished so far.
    pub finished: &'a Finished,
    /// Number of tasks submitted so far.
    pub task_count: u32,
    /// Number of tasks that wait for a machine.
    pub waiting: u32,
    /// Number of tasks that are over: finished, or failed or killed and not submitted again.
    pub over: u32,
    /// Number of slots that the group may use; if unknown, the most it has used at once so far.
    pub slots: u32,
    /// Number of copies that may start now; `u32::MAX` if unlimited.
    pub free_slots: u32,
    /// Number of running copies.
    pub copies: u32,
}

/// The action on a flagged attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Action {
    /// Start a copy of it, and keep it running.
    Copy,
    /// Kill it and start its task again.
    Restart,
}

/// A flag on a running attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Position in [`Scene::running`].
    pub position: usize,
    /// The requested action.
    pub action: Action,
}

impl Flag {
    /// Flags the attempt at `position` for a copy.
    pub fn copy(position: usize) -> Self {
        Self { position, action: Action::Copy }
    }

    /// Flags the attempt at `position` for a restart.
    pub fn restart(position: usize) -> Self {
        Self { position, action: Action::Restart }
    }
}

/// How reports continue while no attempt begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// The time until which every attempt with progress continues at the rate of its last report,
    /// and every other attempt stays without progress, if no attempt begins or ends, µs. The
    /// current time if that is unknown.
    pub steady_until_us: i64,
    /// Time between two heartbeats, µs.
    pub heartbeat_us: i64,
    /// Whether every running attempt has progress and keeps reporting the same share of its work,
    /// below 100 %, until an attempt begins or ends: only ages grow. A quiet detector is then
    /// called at the last [`HEARD_AGAIN`](Self::HEARD_AGAIN) heartbeats before that begin or end,
    /// so that it gets the last reports.
    pub is_stalled: bool,
}

impl Outlook {
    /// The number of heartbeats before the next begin or end at which a quiet detector is called.
    pub const HEARD_AGAIN: i64 = 8;

    /// Whether a detector that flags no attempt twice can stay quiet: all running attempts are
    /// flagged and keep reporting the same.
    pub fn is_done_with(&self, scene: &Scene<'_>) -> bool {
        self.is_stalled && scene.running.iter().all(|running| running.has_copy)
    }
}

/// A detector's assessment of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// It may run anything.
    Normal,
    /// It should not run copies.
    Slow,
    /// It should only run probes: copies whose results are discarded.
    VerySlow,
}
