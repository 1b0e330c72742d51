//! Why a rule cannot be applied.

use thiserror::Error;

use crate::facts::FactError;
use crate::faults::{Code, Fault};

/// A kill rule with a meaningless result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A grid without a parameter.
    #[error("kill rule `{rule}` has no thresholds")]
    NoGrid {
        /// The rule.
        rule: String,
    },
    /// A grid that does not ascend.
    #[error(
        "kill rule `{rule}`: threshold {after} comes after {before}, but thresholds must ascend"
    )]
    Unsorted {
        /// The rule.
        rule: String,
        /// A parameter.
        before: i64,
        /// The next one.
        after: i64,
    },
    /// A custom rule that kills earlier with a more lenient parameter, or kills only with that one.
    #[error(
        "kill rule `{rule}` kills task {task} earlier with {after} than with {before}, but a larger \
         threshold is more lenient"
    )]
    NotLenient {
        /// The rule.
        rule: String,
        /// The task, as job and index.
        task: String,
        /// A parameter.
        before: i64,
        /// The next one.
        after: i64,
    },
    /// A custom rule that uses events after its kill.
    #[error(
        "kill rule `{rule}` kills task {task} at {at_us} µs, but what had happened by then does \
        not imply it"
    )]
    LooksAhead {
        /// The rule.
        rule: String,
        /// The task, as job and index.
        task: String,
        /// The kill, µs.
        at_us: i64,
    },
}

impl From<RuleError> for FactError {
    fn from(error: RuleError) -> Self {
        Self::Rule(error.into())
    }
}

impl Fault for RuleError {
    fn code(&self) -> Code {
        Code::Usage
    }
}
