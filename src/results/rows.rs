//! The rows of a table in the JSON of an answer.
//!
//! In: a table, all of whose columns are written. Out: its rows, as far as a type knows the columns:
//! which there are may depend on what was asked.

use std::marker::PhantomData;

use arrow::record_batch::RecordBatch;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::forms;

/// Rows that a reader takes as `T`.
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

    /// The first of them.
    #[must_use]
    pub fn first(mut self, count: usize) -> Self {
        self.rows.truncate(count);
        self
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl<T: DeserializeOwned> TableRows<T> {
    /// Row by row.
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
