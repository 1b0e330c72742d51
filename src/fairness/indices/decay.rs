//! How usage fades with time.

use crate::fairness::FairnessError;
use crate::notation::Notation;

/// How usage decays with a half-life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decay {
    /// As in the code of the schedulers: to first order, per second (Slurm) or minute (SGE).
    Coded,
    /// By 2^(-time/half-life).
    Exact,
}

impl Decay {
    const WORDS: [(&'static str, Self); 2] = [("coded", Self::Coded), ("exact", Self::Exact)];

    pub(super) fn read(notation: &mut Notation) -> Result<Self, FairnessError> {
        Ok(notation.choice("decay", "`coded` or `exact`", Self::Coded, &Self::WORDS)?)
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Coded => "coded",
            Self::Exact => "exact",
        }
    }
}
