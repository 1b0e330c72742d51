//! Answers of studies in all their forms: table, JSON, charts, and what is said beside them.
//!
//! In: what a study found. Out: an [`Answer`](crate::results::store::Answer), whose table, charts
//! and captions are the same on a terminal, in a file and on a page. A file per study.

pub(crate) mod account;
pub(crate) mod classify;
pub(crate) mod describe;
pub(crate) mod detect;
pub(crate) mod edges;
pub(crate) mod fairness;
pub(crate) mod replay;
pub(crate) mod reproduce;
pub(crate) mod sweep;
