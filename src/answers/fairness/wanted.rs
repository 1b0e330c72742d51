//! The choices of what to show of an answer.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;

/// What is shown on stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Show {
    /// The heaviest users
    #[default]
    Heaviest,
    /// Every user with usage
    Users,
    /// Every value of every index
    Series,
    /// Lakes side by side
    Clusters,
    /// Machines, or classes of them
    Machines,
    /// Users to limit, and users whose usage began when capacity was free
    Suggestions,
    /// The place of every user under each pair of indices
    Places,
}

/// The usage above which a user should be limited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ceiling {
    /// CPU-seconds.
    Seconds(f64),
    /// Percent of all usage of the span.
    Percent(f64),
}

/// An error: the text is not a ceiling.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is neither a number of CPU-seconds such as 360000 nor a share such as `10%`")]
pub struct CeilingError(String);

impl FromStr for Ceiling {
    type Err = CeilingError;

    fn from_str(text: &str) -> Result<Self, CeilingError> {
        let number = |text: &str| {
            text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && 0.0 <= *number)
        };
        let read = match text.strip_suffix('%') {
            Some(percent) => number(percent).map(Ceiling::Percent),
            None => number(text).map(Ceiling::Seconds),
        };
        read.ok_or_else(|| CeilingError(text.to_owned()))
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(seconds) => write!(f, "{seconds}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// The choices for the answer.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The table to show.
    pub show: Show,
    /// Number of users that are named, the heaviest first.
    pub top: usize,
    /// Whether each pair of indices is compared.
    pub what_if: bool,
    /// The usage above which a user should be limited.
    pub ceiling: Ceiling,
    /// Days from the start of the span that count as early; half of the span if `None`.
    pub early: Option<f64>,
    /// The share of the capacity in use below which capacity counts as free.
    pub free: f64,
    /// The number of days that the user chose.
    pub days: Option<f64>,
}
