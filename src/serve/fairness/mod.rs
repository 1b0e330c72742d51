//! The fairness page: its form, the question that it asks, and custom indices.

pub(super) mod form;
pub(super) mod own;
pub(super) mod page;
mod question;

#[cfg(any(test, fuzzing))]
pub(super) use question::built_in;
pub(super) use question::{CHARGED, FROM_START, GROUPS, KEPT, LIMITS, SHARES, canonical, question};
