//! Runs queries with the engine of this build.

use arrow::record_batch::RecordBatch;

use super::query::{Query, Settings};
use super::{FactError, embedded};
use crate::lake::Lake;

impl Query {
    /// Runs the query over the whole lake with the embedded engine.
    ///
    /// # Errors
    /// A table is missing, the engine fails, or this build has none ([`FactError::NoEngine`]).
    pub fn run(&'static self, lake: &Lake, settings: &Settings) -> Result<RecordBatch, FactError> {
        let mut batches = embedded::run(lake, &[self], settings)?;
        Ok(batches.pop().expect("an answer for each query"))
    }

    /// Runs queries over the whole lake; queries that several of them need are computed once.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn run_all(
        queries: &[&'static Self],
        lake: &Lake,
        settings: &Settings,
    ) -> Result<Vec<RecordBatch>, FactError> {
        embedded::run(lake, queries, settings)
    }

    /// Runs the query over one bucket with the embedded engine.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn run_bucket(
        &'static self,
        lake: &Lake,
        bucket: u32,
        settings: &Settings,
    ) -> Result<RecordBatch, FactError> {
        embedded::run_bucket(lake, self, bucket, settings)
    }
}
