//! The names in a column of `task_events`, by row of a bucket.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray};

use super::ledger::UNKNOWN;
use crate::facts::FactError;
use crate::facts::jobs::Names;
use crate::lake::Lake;
use crate::schema::Table;

/// Names by row of a bucket; empty if the log has no such column.
#[derive(Default)]
pub(super) struct Texts {
    names: Names,
    rows: Vec<Option<u32>>,
}

impl Texts {
    /// Reads the names of a column of `task_events`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub(super) fn read(lake: &Lake, bucket: u32, column: &'static str) -> Result<Self, FactError> {
        let mut texts = Self::default();
        if lake.has_column(Table::TaskEvents, column) {
            lake.scan(Table::TaskEvents, Some(bucket), &[column], |batch| {
                texts.add(batch.column(0));
            })?;
        }
        Ok(texts)
    }

    /// Adds the names of more rows.
    pub(super) fn add(&mut self, column: &dyn Array) {
        let Self { names, rows } = self;
        let cells = column.as_string::<i32>().iter();
        rows.extend(cells.map(|cell| cell.map(|name| names.intern(name))));
    }

    /// The name in a row; [`UNKNOWN`] if it is missing.
    pub(super) fn of(&self, row: u32) -> &str {
        let position = self.rows.get(row as usize).copied().flatten();
        position.map_or(UNKNOWN, |position| self.names.get(position))
    }

    /// The names of all rows.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.map_or(UNKNOWN, |position| self.names.get(position)))
    }
}

/// The value of a name, which is added if it is new.
pub(super) fn entry<'a, V: Default>(map: &'a mut BTreeMap<String, V>, name: &str) -> &'a mut V {
    if !map.contains_key(name) {
        map.insert(name.to_owned(), V::default());
    }
    map.get_mut(name).expect("inserted above")
}
