//! Figures: curves of estimates, marks of the paper, and claims.

use serde::{Deserialize, Serialize};

use crate::claims::{Claim, student_975};

/// A mean over runs with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The number of runs.
    pub runs: usize,
    /// Their mean.
    pub mean: f64,
    /// Lower end of the interval; `None` for fewer than two runs.
    pub mean_low: Option<f64>,
    /// Upper end of the interval; `None` for fewer than two runs.
    pub mean_high: Option<f64>,
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
}

impl Estimate {
    /// The estimate from the values of the runs. The interval uses Student's t with n - 1 degrees
    /// of freedom, and the sample deviation (divisor n - 1).
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 runs")]
    pub fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let runs = values.len();
        let mean = values.iter().sum::<f64>() / runs as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = || (squares / (runs - 1) as f64).sqrt();
        let half = (1 < runs).then(|| student_975(runs - 1) * deviation() / (runs as f64).sqrt());
        Self {
            runs,
            mean,
            mean_low: half.map(|half| mean - half),
            mean_high: half.map(|half| mean + half),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The position on the axis.
    pub x: String,
    /// The value.
    pub value: Estimate,
}

/// A curve of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The name in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<Point>,
}

/// A value that the paper prints for a point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The curve.
    pub curve: String,
    /// The position on the axis.
    pub x: String,
    /// The published value.
    pub value: f64,
}

/// A reproduced figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its number in the paper.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The axes, with their units.
    pub axes: (String, String),
    /// The curves.
    pub curves: Vec<Curve>,
    /// The values that the paper prints.
    pub marks: Vec<Mark>,
    /// The claims of the paper, with our verdicts.
    pub claims: Vec<Claim>,
    /// Further remarks for readers.
    pub remarks: Vec<String>,
}

/// A mark at a point of a curve.
pub(super) fn mark(curve: &str, x: &str, value: f64) -> Mark {
    Mark { curve: curve.to_owned(), x: x.to_owned(), value }
}
