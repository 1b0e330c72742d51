//! The plan of a run of detectors, and the reasons to reject it.

use thiserror::Error;

use super::copies::Replacement;
use super::progress::{ProgressModel, Work};
use super::score;
use super::shifts::ShiftPlan;
use super::truth::Truth;
use super::walk::{Beats, WalkPlan};
use crate::digits::grouped;
use crate::facts::FactError;
use crate::facts::tasks::Usage;
use crate::faults::{Code, Fault};
use crate::lake::Lake;
use crate::replay::detectors::DetectorPlan;
use crate::schema::Table;
use crate::units::micros_to_seconds;

/// The plan of a comparison of detectors.
#[derive(Clone, Debug)]
pub struct DetectPlan {
    /// The detectors.
    pub detectors: Vec<DetectorPlan>,
    /// How history is replayed.
    pub walk: WalkPlan,
    /// The ground truths; the first is the main one.
    pub truths: Vec<Truth>,
    /// The phase whose groups are used; `None` for all.
    pub phase: Option<String>,
    /// The fewest judged tasks of a group, at least 1; smaller groups are left out.
    pub tasks_min: usize,
    /// How long a replacement takes.
    pub replacement: Replacement,
    /// Budgets of the simulated copies, as shares of a group's slot time; `None` for no limit.
    pub budgets: Vec<Option<f64>>,
    /// How a shift of the cluster's state is recognised.
    pub shift: ShiftPlan,
}

/// The default budgets of simulated copies, as shares of a group's slot time.
const BUDGETS: [Option<f64>; 8] =
    [Some(0.005), Some(0.01), Some(0.02), Some(0.05), Some(0.1), Some(0.2), Some(0.5), None];

impl DetectPlan {
    /// A plan for detectors with default settings: a heartbeat every 10 s, progress as an operator
    /// could have known it ([`ProgressModel::Siblings`]) without noise, the default truths, and
    /// groups of at least 10 judged tasks.
    pub fn of(detectors: Vec<DetectorPlan>) -> Self {
        Self {
            detectors,
            walk: WalkPlan {
                heartbeat_us: 10_000_000,
                progress: ProgressModel::default(),
                work: Work::default(),
                noise: 0.0,
                seed: 1,
                beats: Beats::Needed,
            },
            truths: Truth::DEFAULTS.to_vec(),
            phase: None,
            tasks_min: 10,
            replacement: Replacement::default(),
            budgets: BUDGETS.to_vec(),
            shift: ShiftPlan::default(),
        }
    }
}

/// Why a plan cannot be run.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DetectPlanError {
    /// The run would take too long.
    #[error(
        "--heartbeat {}: the jobs run for about {} heartbeats, more than {}; give a longer time",
        micros_to_seconds(*heartbeat_us), grouped(*heartbeats), grouped(*most)
    )]
    TooManyHeartbeats {
        /// The expected number of heartbeats.
        heartbeats: u64,
        /// The largest number allowed.
        most: u64,
        /// The time between two heartbeats, µs.
        heartbeat_us: i64,
    },
    /// No ground truth, or too many.
    #[error("{found} ground truths are given, but there must be 1 to {}", score::TRUTHS_MAX)]
    Truths {
        /// The number given.
        found: usize,
    },
    /// The time between heartbeats is not positive.
    #[error("the time between heartbeats is {heartbeat_us} µs, but must be at least 1 µs")]
    Heartbeat {
        /// The time between two heartbeats, µs.
        heartbeat_us: i64,
    },
    /// Groups without a finished task have nothing to judge.
    #[error("the smallest group is 0 tasks, but must be at least 1")]
    TasksMin,
    /// The noise on progress is not a number of at least 0.
    #[error("the noise is {noise}, but must be a deviation of 0 or more")]
    Noise {
        /// The deviation.
        noise: f64,
    },
    /// A budget is not a share.
    #[error("the budget is {budget}, but must be a share of the slot time of 0 or more")]
    Budget {
        /// The budget.
        budget: f64,
    },
    /// Two detectors have the same name.
    #[error("two detectors are called `{name}`")]
    SameName {
        /// The name.
        name: String,
    },
}

impl DetectPlan {
    /// Rejects a plan that cannot be run, or whose results would be meaningless.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self) -> Result<(), DetectPlanError> {
        let found = self.truths.len();
        if !(1..=score::TRUTHS_MAX).contains(&found) {
            return Err(DetectPlanError::Truths { found });
        }
        let WalkPlan { heartbeat_us, noise, .. } = self.walk;
        if heartbeat_us < 1 {
            return Err(DetectPlanError::Heartbeat { heartbeat_us });
        }
        if self.tasks_min < 1 {
            return Err(DetectPlanError::TasksMin);
        }
        if !(0.0..f64::INFINITY).contains(&noise) {
            return Err(DetectPlanError::Noise { noise });
        }
        let is_odd = |budget: &&f64| !(0.0..).contains(*budget);
        if let Some(&budget) = self.budgets.iter().flatten().find(is_odd) {
            return Err(DetectPlanError::Budget { budget });
        }
        let names: Vec<&str> = self.detectors.iter().map(DetectorPlan::written).collect();
        let is_again = |idx: &usize| names[..*idx].contains(&names[*idx]);
        if let Some(idx) = (0..names.len()).find(is_again) {
            return Err(DetectPlanError::SameName { name: names[idx].to_owned() });
        }
        Ok(())
    }
}

impl Fault for DetectPlanError {
    fn code(&self) -> Code {
        Code::Usage
    }
}

/// Rejects a plan that cannot be run; returns whether it reads usage.
pub(super) fn check<E: From<FactError> + From<DetectPlanError>>(
    lake: &Lake,
    plan: &DetectPlan,
) -> Result<Usage, E> {
    plan.check()?;
    lake.require(Table::TaskEvents).map_err(FactError::from)?;
    let needs_usage = plan.walk.progress == ProgressModel::Usage
        || (plan.walk.progress == ProgressModel::Siblings && plan.walk.work == Work::Measured);
    if needs_usage {
        lake.require(Table::TaskUsage).map_err(FactError::from)?;
    }
    Ok(if needs_usage { Usage::Read } else { Usage::Skip })
}
