//! The parameters of the detector.

use crate::notation::{Notation, NotationError};
use crate::replay::detectors::criterion::Criterion;

pub(super) const ESTIMATORS: &[(&str, Estimator)] = &[
    ("legacy", Estimator::Legacy),
    ("exponential", Estimator::Exponential),
    ("simple", Estimator::Simple),
];
pub(super) const MODES: &[(&str, Mode)] =
    &[("as-coded", Mode::AsCoded), ("intended", Mode::Intended)];

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// `legacy` (default), `exponential` or `simple`.
    pub(super) estimator: Estimator,
    /// `as-coded` (default) or `intended`.
    pub(super) mode: Mode,
    /// Copies that may always run; 10 (`minimum-allowed-tasks`).
    pub(super) min_tasks: f64,
    /// Copies that may run, as a share of all tasks; 0.01 (`speculative-cap-total-tasks`).
    pub(super) cap_total: f64,
    /// Copies that may run, as a share of running tasks; 0.1 (`speculative-cap-running-tasks`).
    pub(super) cap_running: f64,
    /// Time until the next scan after one without a copy, s; 1 (`retry-after-no-speculate`).
    pub(super) retry_s: f64,
    /// Time until the next scan after one with a copy, s; 15 (`retry-after-speculate`).
    pub(super) retry_after_s: f64,
    /// Smoothing time, s; 60 (`exponential.smooth.lambda-ms`) or 120 (`simple...`); unused in
    /// `legacy`.
    pub(super) lambda_s: f64,
    /// Number of deviations above the mean, 1 (`slowtaskthreshold`); no effect as coded.
    pub(super) sigma: f64,
    /// `simple`: time without change that counts as stagnation, s; 360, at least twice `lambda_s`.
    pub(super) stagnated_s: f64,
    /// `simple`: number of readings without a forecast; 24.
    pub(super) skip: u32,
    /// Minimum reporting time of an attempt, s; 0 as coded, 60 in manuals.
    pub(super) age_s: f64,
    /// An additional criterion for slow tasks; not given by default.
    pub(super) criterion: Criterion,
}

impl Rules {
    pub(super) fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let (seconds, share) = ("a time in seconds", "a share from 0 to 1");
        let estimator = notation.choice(
            "estimator",
            "`legacy`, `exponential` or `simple`",
            Estimator::Legacy,
            ESTIMATORS,
        )?;
        let lambda_s = if estimator == Estimator::Simple { 120.0 } else { 60.0 };
        let least = "a number of at least 0";
        Ok(Self {
            estimator,
            mode: notation.choice("mode", "`as-coded` or `intended`", Mode::AsCoded, MODES)?,
            min_tasks: notation.number("min_tasks", least, 10.0, 0.0..)?,
            cap_total: notation.number("cap_total", share, 0.01, 0.0..=1.0)?,
            cap_running: notation.number("cap_running", share, 0.1, 0.0..=1.0)?,
            retry_s: notation.number("retry_s", seconds, 1.0, 0.0..)?,
            retry_after_s: notation.number("retry_after_s", seconds, 15.0, 0.0..)?,
            lambda_s: notation.number("lambda_s", seconds, lambda_s, 1e-3..)?,
            sigma: notation.number("sigma", least, 1.0, 0.0..)?,
            stagnated_s: notation.number("stagnated_s", seconds, 360.0, 0.0..)?,
            skip: notation.take("skip", "a count of readings", 24)?,
            age_s: notation.number("age_s", seconds, 0.0, 0.0..)?,
            criterion: Criterion::read(notation)?,
        })
    }

    pub(super) fn lambda_ms(&self) -> f64 {
        self.lambda_s * 1e3
    }

    pub(super) fn stagnation_ms(&self) -> i64 {
        cut((2.0 * self.lambda_s).max(self.stagnated_s) * 1e3)
    }
}

/// Whether to follow the code, or its comments and manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    AsCoded,
    Intended,
}

/// The estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Estimator {
    Legacy,
    Exponential,
    Simple,
}

/// Truncates the fraction, as a cast to a long does; saturates.
#[expect(clippy::cast_possible_truncation, reason = "what the program does")]
pub(super) fn cut(value: f64) -> i64 {
    value as i64
}

/// The parameters from their notation.
#[cfg(test)]
pub(super) fn rules_of(text: &str) -> Rules {
    let mut notation = Notation::parse("detector", text).expect("a notation");
    Rules::read(&mut notation).expect("valid parameters")
}
