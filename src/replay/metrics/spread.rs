//! The spread of some values: mean, median, percentiles and maximum.

use serde::{Deserialize, Serialize};

use crate::studies::quantile;

/// Mean and quantiles of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spread {
    /// Number of values.
    pub count: usize,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

impl Spread {
    /// The spread of the values; `None` if there are none.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 tasks")]
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let max = *values.last()?;
        let at = |share| quantile(&values, share).unwrap_or(max);
        Some(Self {
            count: values.len(),
            mean: values.iter().sum::<f64>() / values.len() as f64,
            median: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max,
        })
    }
}
