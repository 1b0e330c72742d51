//! The error type of the prelude.

use thiserror::Error;

use crate::facts::FactError;
use crate::facts::window::EarlyEnd;
use crate::fairness::FairnessError;
use crate::fairness::gather::GatherError;
use crate::faults::Fault;
use crate::lake::{LakeError, LakeErrorKind};
use crate::replay::detect::DetectPlanError;
use crate::replay::engine::ReplayError;
use crate::sources::SourceError;
use crate::synth::SynthError;

/// A question could not be answered. The text says what failed; the cause follows through
/// [`source`](std::error::Error::source).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The lake could not be read or written.
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// A fact could not be computed from the lake.
    #[error(transparent)]
    Fact(#[from] FactError),
    /// A raw trace could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Usage could not be gathered.
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// An index could not be read, or failed.
    #[error(transparent)]
    Index(#[from] FairnessError),
    /// Detectors cannot be run in this way.
    #[error(transparent)]
    Detect(#[from] DetectPlanError),
    /// A generated trace could not be written.
    #[error(transparent)]
    Synth(#[from] SynthError),
    /// A policy cannot be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A question cannot use one of its settings.
    #[error("the setting `{setting}` is refused")]
    Setting {
        /// The setting, named after the method that sets it.
        setting: &'static str,
        /// Why.
        #[source]
        why: SettingError,
    },
}

/// Why a question cannot use a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingError {
    /// The window ends too early.
    #[error(transparent)]
    EarlyEnd(#[from] EarlyEnd),
    /// A sweep without a rule.
    #[error("there is no kill rule to sweep; name one with `rule`")]
    NoRule,
    /// The intervals are so short that there are too many of them.
    #[error("{count} intervals are too many")]
    Intervals {
        /// The number of intervals.
        count: i64,
    },
}

impl Error {
    /// Whether the caller's own callback stopped the call.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Lake(error)
            | Self::Fact(FactError::Lake(error))
            | Self::Gather(GatherError::Fact(FactError::Lake(error))) => {
                matches!(error.kind, LakeErrorKind::Cancelled)
            }
            _ => false,
        }
    }

    /// Advice for the user, if there is any.
    pub fn hint(&self) -> Option<String> {
        let fault: &dyn Fault = match self {
            Self::Lake(error) => error,
            Self::Fact(error) => error,
            Self::Source(error) => error,
            Self::Index(error) => error,
            Self::Detect(error) => error,
            Self::Synth(error) => error,
            Self::Replay(error) => error,
            Self::Gather(_) | Self::Setting { .. } => return None,
        };
        Fault::hint(fault).map(std::borrow::Cow::into_owned)
    }
}
