//! Published experiments, run again.
//!
//! In: an experiment's parameters, those that the paper leaves open included. Out: the paper's
//! numbers beside ours and a verdict per figure. Nothing is tuned: what does not come out is said.

use serde::Serialize;

pub mod asahara;
pub mod cui;
pub mod tan;

/// What can be said of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The paper's numbers, within the stated bounds.
    Reproduced,
    /// The course of the curves, not the numbers.
    SameShape,
    /// Neither.
    NotReproduced,
}

/// A number of the paper, ours, and the bounds within which it counts as reproduced.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What is compared.
    pub what: String,
    /// As the paper gives it, in words where it gives no number.
    pub paper: String,
    /// Ours.
    pub ours: f64,
    /// Accepted from.
    pub from: f64,
    /// Accepted up to.
    pub to: f64,
    /// Whether it is.
    pub is_met: bool,
}

impl Check {
    /// Compares a number with its bounds.
    pub fn new(
        what: impl Into<String>,
        paper: impl Into<String>,
        ours: f64,
        bounds: (f64, f64),
    ) -> Self {
        let (from, to) = bounds;
        let is_met = from <= ours && ours <= to;
        Self { what: what.into(), paper: paper.into(), ours, from, to, is_met }
    }
}

/// A mean over runs with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// Runs.
    pub runs: usize,
    /// Their mean.
    pub mean: f64,
    /// Half the width of the interval; 0 for fewer than two runs.
    pub half_width: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Estimate {
    /// The estimate from the values of the runs. The interval is 1.96 standard errors to each
    /// side, with the deviation of a sample (divisor n - 1).
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 runs")]
    pub fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let runs = values.len();
        let mean = values.iter().sum::<f64>() / runs as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if runs < 2 { 0.0 } else { (squares / (runs - 1) as f64).sqrt() };
        Self {
            runs,
            mean,
            half_width: 1.96 * deviation / (runs as f64).sqrt(),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Where on the axis.
    pub x: String,
    /// The value.
    pub value: Estimate,
}

/// A curve of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// What it stands for.
    pub name: String,
    /// Its points.
    pub points: Vec<Point>,
}

/// A figure run again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its number in the paper.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The axes: what and in which unit.
    pub axes: (String, String),
    /// The curves.
    pub curves: Vec<Curve>,
    /// The comparisons.
    pub checks: Vec<Check>,
    /// The verdict.
    pub verdict: Verdict,
    /// What a reader must know besides.
    pub remarks: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_knows_its_spread() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0]);
        assert_eq!((estimate.mean, estimate.min, estimate.max), (2.0, 1.0, 3.0));
        assert!((estimate.half_width - 1.96 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Estimate::of(&[4.0]).half_width, 0.0);
        assert_eq!(Estimate::of(&[]).runs, 0);
    }
}
