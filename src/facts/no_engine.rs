//! Replaces the embedded engine in a build without the feature `sql`.

use arrow::record_batch::RecordBatch;

use super::FactError;
use super::query::{Query, Settings};
use crate::lake::Lake;

/// Always fails: there is no engine for queries.
pub(super) const fn run(
    _: &Lake,
    _: &[&'static Query],
    _: &Settings,
) -> Result<Vec<RecordBatch>, FactError> {
    Err(FactError::NoEngine)
}

/// Always fails: there is no engine for queries.
pub(super) const fn run_bucket(
    _: &Lake,
    _: &'static Query,
    _: u32,
    _: &Settings,
) -> Result<RecordBatch, FactError> {
    Err(FactError::NoEngine)
}
