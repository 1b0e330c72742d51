//! Estimates of running times.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

/// What an order that plans ahead takes for the running time of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Estimates {
    /// The time its user asked for; the recorded running time where no request is known.
    #[default]
    Requested,
    /// The recorded running time.
    Exact,
    /// The recorded running time times a factor above 0.
    Factor(f64),
}

/// What is written of [`Estimates`].
pub const ESTIMATES: &str = "`requested`, `exact`, or `factor:F` with F from 0.001 to 1000000";

/// A text that is not a kind of estimate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not {ESTIMATES}")]
pub struct EstimatesError(String);

impl FromStr for Estimates {
    type Err = EstimatesError;

    fn from_str(text: &str) -> Result<Self, EstimatesError> {
        let factor = |text: &str| text.parse().ok().filter(|f: &f64| (1e-3..=1e6).contains(f));
        match text {
            "requested" => Ok(Self::Requested),
            "exact" => Ok(Self::Exact),
            _ => (text.strip_prefix("factor:").and_then(factor).map(Self::Factor))
                .ok_or_else(|| EstimatesError(text.to_owned())),
        }
    }
}

impl fmt::Display for Estimates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requested => f.write_str("requested"),
            Self::Exact => f.write_str("exact"),
            Self::Factor(factor) => write!(f, "factor:{factor}"),
        }
    }
}

impl Serialize for Estimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
