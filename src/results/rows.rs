//! The rows of a table in the JSON of an answer.
//!
//! In: a table; all of its columns are written. Out: its rows, read as a type that may know only
//! some of the columns, because the columns can depend on the question.

use std::marker::PhantomData;

use arrow::record_batch::RecordBatch;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::forms;

/// Rows that are read as `T`.
#[derive(Clone, Debug)]
pub struct TableRows<T> {
    rows: Vec<Value>,
    of: PhantomData<fn() -> T>,
}

impl<T> TableRows<T> {
    /// The rows of a table.
    pub fn of(table: &RecordBatch) -> Self {
        Self { rows: forms::rows(table), of: PhantomData }
    }

    /// The first `count` rows.
    #[must_use]
    pub fn first(mut self, count: usize) -> Self {
        self.rows.truncate(count);
        self
    }

    /// The number of rows.
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl<T: DeserializeOwned> TableRows<T> {
    /// The rows as `T`; rows with another form are left out.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        self.rows.iter().filter_map(|row| T::deserialize(row).ok())
    }
}

impl<T> Default for TableRows<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), of: PhantomData }
    }
}

impl<T> Serialize for TableRows<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.rows.serialize(to)
    }
}

impl<'de, T> Deserialize<'de> for TableRows<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Ok(Self { rows: Deserialize::deserialize(source)?, of: PhantomData })
    }
}
