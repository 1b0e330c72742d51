//! Facts to plain result structs: the answers of the outcome study.
//!
//! In: record batches from [`crate::facts`]. Out: structs that serialise to `result.json`.
//! Nothing in here reads a file or prints.

pub mod checks;
pub mod outcomes;
