//! The counts as a table.

use arrow::record_batch::RecordBatch;

use crate::results::frame::Frame;
use crate::studies::outcomes::OutcomeRow;

/// The table of outcomes. `sequence` is empty for an outcome with several sequences.
pub fn table_of(rows: &[OutcomeRow]) -> RecordBatch {
    Frame::default()
        .maybe_text("sequence", rows.iter().map(|row| row.sequence.as_deref()))
        .text("outcome", rows.iter().map(|row| row.outcome.as_str()))
        .count("count", rows.iter().map(|row| row.count))
        .float("share", rows.iter().map(|row| Some(row.share)))
        .batch()
}
