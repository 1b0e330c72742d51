//! The measures of equality, such as `jain` and `gini`: one number for all users, over a sliding
//! window.
//!
//! In: usage in each interval. Out: the measure of each user's usage divided by their entitlement,
//! and the number of users. The measures are pure functions in separate files.

use std::fmt;

use super::window::{Sliding, float};
use super::{Index, Readings};
use crate::fairness::FairnessError;
use crate::fairness::history::{History, Step};
use crate::notation::Notation;

/// A measure of equality over a sliding window.
#[derive(Debug)]
pub struct Equality {
    name: String,
    measure: fn(&[f64]) -> Option<f64>,
    sliding: Sliding,
}

impl Equality {
    pub(super) fn read(
        notation: &mut Notation,
        measure: fn(&[f64]) -> Option<f64>,
    ) -> Result<Self, FairnessError> {
        Ok(Self { name: notation.name().to_owned(), measure, sliding: Sliding::read(notation)? })
    }
}

impl fmt::Display for Equality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sliding.write(f, &self.name)
    }
}

impl Index for Equality {
    fn columns(&self) -> Vec<String> {
        Vec::new()
    }

    fn overall(&self) -> Vec<String> {
        vec![self.name.clone(), "users".to_owned()]
    }

    fn held_per_user(&self, length_s: f64) -> f64 {
        self.sliding.held_per_user(length_s)
    }

    fn begin(&mut self, _history: &History) -> Result<(), FairnessError> {
        self.sliding.begin();
        Ok(())
    }

    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError> {
        let shares = self.sliding.add(step);
        let measured = (self.measure)(&shares).unwrap_or(f64::NAN);
        out.overall.copy_from_slice(&[measured, float(shares.len())]);
        Ok(())
    }
}
