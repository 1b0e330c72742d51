//! Predictions for each job, if a kill rule needs them.
//!
//! In: a lake and rules. Out: for each job the chance that it does not finish, at its submission
//! and while it runs. If no rule needs these chances, nothing is read.

use rustc_hash::FxHashMap;

use super::predict::chances;
use super::predict::hazards::{Hazards, Moment};
use super::predict::past::Past;
use super::predict::rules::Predictor;
use super::rules::RuleGrid;
use crate::facts::FactError;
use crate::facts::window::Windows;
use crate::lake::Lake;

/// The predictions.
#[derive(Debug, Default)]
pub(super) struct Foreseen {
    /// By job, the chance at its submission.
    chances: FxHashMap<i64, f64>,
    hazards: Option<Hazards>,
}

impl Foreseen {
    /// Reads the predictions that the rules need.
    pub(super) fn read(
        lake: &Lake,
        windows: Windows,
        rules: &[RuleGrid],
    ) -> Result<Self, FactError> {
        if !rules.iter().any(RuleGrid::asks_history) {
            return Ok(Self::default());
        }
        let past = Past::read(lake, windows, 0)?;
        let hazards = if rules.iter().any(RuleGrid::asks_hazards) {
            Some(Hazards::read(lake, windows, &past)?)
        } else {
            None
        };
        Ok(Self { chances: chances(&past, Predictor::USUAL), hazards })
    }

    /// The chance that a job does not finish, at its submission.
    pub(super) fn chance(&self, job_id: i64) -> Option<f64> {
        self.chances.get(&job_id).copied()
    }

    /// The chance while the job runs.
    pub(super) fn moment(&self, job_id: i64) -> Option<Moment<'_>> {
        self.hazards.as_ref()?.of_job(job_id)
    }
}
