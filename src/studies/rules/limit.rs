//! Time limits of attempts, as in Slurm.
//!
//! In: attempts and the requested time. Out: the instant at which the first attempt that is too
//! long reaches its limit. An attempt that ends exactly at its limit is left alone.
//!
//! ```text
//!  slurm:limit=60                |--- attempt of 50 s ---|  |---- 60 s ----x--- cut off ---|
//! ```

use crate::facts::tasks::TaskView;
use crate::notation::{Notation, NotationError};
use crate::units::MICROS_PER_SECOND;

/// The unit of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitOf {
    /// Seconds.
    Seconds,
    /// Per cent of the time that the user requested; without a request nothing is cut off.
    Requested,
}

const LIMITS: [(&str, LimitOf); 2] =
    [("seconds", LimitOf::Seconds), ("requested", LimitOf::Requested)];

impl LimitOf {
    /// Reads the settings besides the limit.
    pub(super) fn read(self, notation: &mut Notation) -> Result<Self, NotationError> {
        notation.choice("of", "`seconds` or `requested`", self, &LIMITS)
    }

    /// Writes the settings besides the limit that differ from the default.
    pub(super) fn settings(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Seconds => Vec::new(),
            Self::Requested => vec![("of", "requested".to_owned())],
        }
    }

    /// The limit of an attempt, µs, if it has one.
    pub fn limit_us(self, limit: i64, requested_us: Option<i64>) -> Option<i64> {
        match self {
            Self::Seconds => Some(limit.saturating_mul(MICROS_PER_SECOND)),
            Self::Requested => {
                let cut = i128::from(requested_us?) * i128::from(limit) / 100;
                Some(i64::try_from(cut).unwrap_or(i64::MAX))
            }
        }
    }

    /// The instant at which each limit cuts a task off, for the limits that do.
    pub(super) fn kill_times(self, task: &TaskView<'_>, grid: &[i64], times: &mut Vec<i64>) {
        times.extend(grid.iter().map_while(|&limit| {
            let limit_us = self.limit_us(limit, task.requested_us)?;
            let is_cut =
                |start_us: i64, length_us: i64| start_us < i64::MAX && limit_us < length_us;
            let mut attempts = task.attempts.iter();
            let cut = attempts.find(|attempt| is_cut(attempt.start_us, attempt.length_us()))?;
            Some(cut.start_us.saturating_add(limit_us))
        }));
    }
}
