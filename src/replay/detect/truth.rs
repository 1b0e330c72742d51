//! Ground truths: several definitions of a straggler.
//!
//! In: the lengths of a group's judged tasks. Out: the limit that stragglers exceed; a straggler is
//! strictly longer. Sources: Mantri (median:1.5), Garraghan and others (mean:1.5), NURD (p90),
//! Wrangler (median:1.3); see each paper's section on stragglers.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

/// A definition of stragglers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Truth {
    /// Longer than this many times the median of the group.
    Median(f64),
    /// Longer than this many times the mean of the group.
    Mean(f64),
    /// Longer than this percentile of the group.
    Percentile(f64),
}

impl Truth {
    /// The default definitions; the first is the main one.
    pub const DEFAULTS: [Self; 4] =
        [Self::Median(1.5), Self::Mean(1.5), Self::Percentile(90.0), Self::Median(1.3)];

    /// The limit that stragglers exceed, in words.
    pub fn words(self) -> String {
        match self {
            Self::Median(factor) => format!("{factor} times the median"),
            Self::Mean(factor) => format!("{factor} times the mean"),
            Self::Percentile(percent) => format!("the {percent} % quantile"),
        }
    }

    /// The limit, µs, for lengths in ascending order; `None` if there are none.
    #[expect(clippy::cast_precision_loss, reason = "lengths and counts are below 2^53")]
    pub fn line_us(self, ascending_us: &[i64]) -> Option<f64> {
        let lengths: Vec<f64> = ascending_us.iter().map(|&length| length as f64).collect();
        let quantile = |share| crate::studies::quantile(&lengths, share);
        match self {
            Self::Median(factor) => quantile(0.5).map(|median| factor * median),
            Self::Mean(factor) => {
                let sum: i128 = ascending_us.iter().map(|&length| i128::from(length)).sum();
                (!lengths.is_empty()).then(|| factor * (sum as f64 / lengths.len() as f64))
            }
            Self::Percentile(percent) => quantile(percent / 100.0),
        }
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Median(factor) => write!(f, "median:{factor}"),
            Self::Mean(factor) => write!(f, "mean:{factor}"),
            Self::Percentile(percent) => write!(f, "p{percent}"),
        }
    }
}

/// A text that is not a ground truth.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a ground truth such as `median:1.5`, `mean:1.5` or `p90`")]
pub struct TruthError(String);

impl FromStr for Truth {
    type Err = TruthError;

    fn from_str(text: &str) -> Result<Self, TruthError> {
        let number =
            |text: &str| text.parse::<f64>().ok().filter(|value| 0.0 < *value && value.is_finite());
        let truth = match text.split_once(':') {
            Some(("median", factor)) => number(factor).map(Self::Median),
            Some(("mean", factor)) => number(factor).map(Self::Mean),
            Some(_) => None,
            None => text
                .strip_prefix('p')
                .and_then(number)
                .filter(|percent| *percent <= 100.0)
                .map(Self::Percentile),
        };
        truth.ok_or_else(|| TruthError(text.to_owned()))
    }
}

impl Serialize for Truth {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_four_definitions() {
        let lengths = [10, 10, 11, 12, 12, 13, 14, 15, 20, 40];
        let line = |text: &str| text.parse::<Truth>().unwrap().line_us(&lengths).unwrap();
        assert_eq!(line("median:1.5"), 18.75);
        assert_eq!(line("median:1.3"), 16.25);
        assert!((line("mean:1.5") - 23.55).abs() < 1e-9);
        assert!((line("p90") - 22.0).abs() < 1e-9);
        assert_eq!(Truth::Median(1.5).line_us(&[]), None);
    }

    #[test]
    fn definitions_print_as_they_are_read() {
        for truth in Truth::DEFAULTS {
            assert_eq!(truth.to_string().parse(), Ok(truth));
        }
        for odd in ["", "median", "median:0", "median:x", "p", "p101", "max:2", "mean:-1", "p-5"] {
            assert!(odd.parse::<Truth>().is_err(), "{odd}");
        }
    }
}
