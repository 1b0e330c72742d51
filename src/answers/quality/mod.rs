//! Describes what is missing, wrong or unusual in a lake, and what it means for studies.
//!
//! In: the counts, checks and tables of a stored `verify`. Out: findings, in the order in which a
//! reader needs them: first what is wrong, then what is missing, then what is unusual. Nothing is
//! counted here.

mod findings;
mod rules;

pub(crate) use self::findings::{Finding, Verified, assumption};
pub(crate) use self::rules::SEE_CLOSED;

/// How serious a finding is, the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// Something is wrong.
    Wrong,
    /// Something is missing.
    Missing,
    /// Something is unusual, and is part of the figures.
    Unusual,
}
