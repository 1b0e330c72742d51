//! Counts the bytes of each table that this process has read from lakes.
//!
//! In: reads, from any thread. Out: sums. No result depends on them. Bytes that another engine
//! reads itself (Polars for queries over the whole lake, Spark) are not counted.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::schema::Table;

static BYTES: [AtomicU64; Table::ALL.len()] = [const { AtomicU64::new(0) }; Table::ALL.len()];

/// Adds read bytes of a table.
pub(super) fn count(table: Table, bytes: u64) {
    if let Some((_, sum)) = Table::ALL.iter().zip(&BYTES).find(|(other, _)| **other == table) {
        sum.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The bytes read so far, for each table with any.
pub fn bytes_read() -> impl Iterator<Item = (Table, u64)> {
    let sums = Table::ALL.into_iter().zip(BYTES.iter().map(|sum| sum.load(Ordering::Relaxed)));
    sums.filter(|(_, bytes)| 0 < *bytes)
}
