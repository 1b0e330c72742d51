//! Time limits of attempts, as in Slurm.
//!
//! In: attempts and the requested time. Out: the instant at which the first attempt that runs too
//! long reaches its limit. An attempt that ends exactly at its limit is not killed. The time for
//! which an attempt was suspended does not count. Logs do not record when that was. It is therefore
//! spread evenly from start to end, as in the CPU time of [`Attempt::requested_rate`]. So the CPU
//! time after the limit is the CPU time of the run beyond the limit.
//!
//! ```text
//!  slurm:limit=60                |--- attempt of 50 s ---|  |---- 60 s ----x--- cut off ---|
//!  120 s of running in 360 s     |-- 20 s --|-- 20 s --|-- 20 s --x-- cut off: 60 s of running --|
//! ```

use crate::facts::tasks::{Attempt, TaskView};
use crate::notation::{Notation, NotationError};
use crate::units::MICROS_PER_SECOND;

/// The unit of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitOf {
    /// Seconds.
    Seconds,
    /// Per cent of the time that the user requested. Attempts without a request have no limit.
    Requested,
}

const LIMITS: [(&str, LimitOf); 2] =
    [("seconds", LimitOf::Seconds), ("requested", LimitOf::Requested)];

impl LimitOf {
    /// Reads the settings other than the limit.
    pub(super) fn read(self, notation: &mut Notation) -> Result<Self, NotationError> {
        notation.choice("of", "`seconds` or `requested`", self, &LIMITS)
    }

    /// Writes the settings other than the limit, if they differ from the default.
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

    /// For each limit that an attempt of the task exceeds, the instant at which the first such
    /// attempt is cut off.
    pub(super) fn kill_times(self, task: &TaskView<'_>, grid: &[i64], times: &mut Vec<i64>) {
        times.extend(grid.iter().map_while(|&limit| {
            task.attempts.iter().find_map(|attempt| {
                let limit_us = self.limit_us(limit, attempt.requested_us)?;
                let is_cut = attempt.start_us < i64::MAX && limit_us < attempt.run_us();
                is_cut.then(|| attempt.start_us.saturating_add(at_us(attempt, limit_us)))
            })
        }));
    }
}

/// The time from the start of an attempt until it has run for `limit_us`, µs. The limit must be
/// less than the total time that it ran.
fn at_us(attempt: &Attempt, limit_us: i64) -> i64 {
    let Some(ran_us) = attempt.ran_us else { return limit_us };
    let at_us = i128::from(limit_us) * i128::from(attempt.length_us()) / i128::from(ran_us.max(1));
    i64::try_from(at_us).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tasks::EndedBy;
    use crate::schema::EventType;

    #[test]
    fn suspensions_do_not_count_towards_a_limit() {
        //  attempts of task   |10-- ran 50 of 100 s --110|   |200----- ran 120 of 360 s -----560|
        let attempt = |[start_us, end_us]: [i64; 2], ran_us: i64| Attempt {
            start_us: start_us * MICROS_PER_SECOND,
            end_us: end_us * MICROS_PER_SECOND,
            ended_by: EndedBy::Event(EventType::Fail),
            cpu_request: None,
            memory: None,
            gpus: None,
            machine_id: None,
            cpu_used: None,
            requested_us: Some(100 * MICROS_PER_SECOND),
            ran_us: Some(ran_us * MICROS_PER_SECOND),
            row: 0,
        };
        let task = TaskView {
            job_id: 1,
            task_index: 0,
            events: &[],
            attempts: &[attempt([10, 110], 50), attempt([200, 560], 120)],
            windows: &[],
            priority: 0,
            phase: None,
            requested_us: Some(100 * MICROS_PER_SECOND),
            job_end_us: None,
        };
        let kills_s = |of: LimitOf, grid: &[i64]| {
            let mut times = Vec::new();
            of.kill_times(&task, grid, &mut times);
            times.iter().map(|at_us| at_us / MICROS_PER_SECOND).collect::<Vec<i64>>()
        };
        assert_eq!(
            kills_s(LimitOf::Seconds, &[25, 49, 50, 60, 119, 120]),
            [60, 108, 350, 380, 557]
        );
        assert_eq!(kills_s(LimitOf::Requested, &[25, 60, 119, 120, 300]), [60, 380, 557]);
    }
}
