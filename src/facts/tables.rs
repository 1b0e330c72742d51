//! Query results as tables, whichever engine ran the query.
//!
//! In: the names of queries. Out: their answers, and columns of them. The embedded Polars computes
//! them bucket by bucket, a Spark cluster all at once; code that uses them does not depend on the
//! engine.

use std::collections::BTreeMap;

use arrow::array::AsArray;
use arrow::datatypes::{Float32Type, Float64Type, Int64Type};
use arrow::record_batch::RecordBatch;

use super::FactError;
use super::query::{Query, Settings};
use super::spark::Spark;
use crate::lake::Lake;

/// The engine that runs the queries.
#[derive(Clone, Debug)]
pub enum SqlEngine {
    /// The embedded Polars.
    Polars,
    /// An existing Spark.
    Spark(Spark),
}

impl SqlEngine {
    /// The answers of queries, ordered by name.
    ///
    /// # Errors
    /// A table that a query reads is not in the lake, or the engine fails.
    pub fn facts(
        &self,
        lake: &Lake,
        names: &[&str],
        settings: &Settings,
    ) -> Result<Facts, FactError> {
        let queries: Vec<&'static Query> =
            names.iter().map(|name| Query::find(name)).collect::<Result<_, FactError>>()?;
        queries.iter().try_for_each(|query| query.require(lake))?;
        let batches = match self {
            Self::Polars => Query::run_all(&queries, lake, settings)?,
            Self::Spark(spark) => spark.run(lake, &queries, settings)?,
        };
        let numbers = queries.iter().map(|query| query.number());
        Ok(Facts(numbers.zip::<Vec<RecordBatch>>(batches).collect()))
    }
}

/// Answers of queries by number (`q01`): whole numbers as i64, quantities as f64 (those of the lake
/// as f32).
#[derive(Debug, Default)]
pub struct Facts(BTreeMap<&'static str, RecordBatch>);

impl Facts {
    /// The answer of a query.
    ///
    /// # Panics
    /// The query was not requested.
    pub fn of(&self, query: &str) -> Fact<'_> {
        Fact(self.0.get(query).expect("the query was requested"))
    }

    /// Whether a query was requested.
    pub fn has(&self, query: &str) -> bool {
        self.0.contains_key(query)
    }

    /// The answer of the only requested query.
    ///
    /// # Panics
    /// No query, or several, were requested.
    pub fn single(self) -> RecordBatch {
        let mut batches = self.0.into_values();
        let first = batches.next().expect("one query was requested");
        assert!(batches.next().is_none(), "one query was requested");
        first
    }
}

/// The answer of a query.
#[derive(Clone, Copy, Debug)]
pub struct Fact<'f>(&'f RecordBatch);

impl<'f> Fact<'f> {
    /// The table.
    pub const fn batch(self) -> &'f RecordBatch {
        self.0
    }

    /// A column of whole numbers without missing cells.
    ///
    /// # Panics
    /// There is no such column.
    pub fn ints(self, name: &str) -> &'f [i64] {
        let column = self.0.column_by_name(name).expect("the query has this column");
        column.as_primitive::<Int64Type>().values()
    }

    /// A column of whole numbers, some of which may be missing.
    pub fn maybe_ints(self, name: &str) -> impl Iterator<Item = Option<i64>> + 'f {
        let column = self.0.column_by_name(name).expect("the query has this column");
        column.as_primitive::<Int64Type>().iter()
    }

    /// A column of booleans.
    pub fn flags(self, name: &str) -> impl Iterator<Item = Option<bool>> + 'f {
        self.0.column_by_name(name).expect("the query has this column").as_boolean().iter()
    }

    /// A column of quantities without missing cells.
    ///
    /// # Panics
    /// There is no such column.
    pub fn floats(self, name: &str) -> &'f [f64] {
        let column = self.0.column_by_name(name).expect("the query has this column");
        column.as_primitive::<Float64Type>().values()
    }

    /// A column of quantities, some of which may be missing.
    pub(crate) fn maybe_floats(self, name: &str) -> impl Iterator<Item = Option<f64>> + 'f {
        let column = self.0.column_by_name(name).expect("the query has this column");
        column.as_primitive::<Float64Type>().iter()
    }

    /// A column of quantities of the lake, some of which may be missing.
    pub(crate) fn maybe_singles(self, name: &str) -> impl Iterator<Item = Option<f32>> + 'f {
        let column = self.0.column_by_name(name).expect("the query has this column");
        column.as_primitive::<Float32Type>().iter()
    }

    /// A column of names.
    pub fn texts(self, name: &str) -> impl Iterator<Item = Option<&'f str>> + 'f {
        self.0.column_by_name(name).expect("the query has this column").as_string::<i32>().iter()
    }
}
