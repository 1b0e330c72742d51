//! Data that a log records about a job in addition to its events: size, queue, account, limit,
//! wait, and the reason why it ended.
//!
//! In: the rows of `job_events` of a bucket. Out: the last value of each column for each named job.
//! Columns that the trace does not have stay unknown; nothing is inferred.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use serde::{Deserialize, Serialize};

use crate::facts::FactError;
use crate::facts::jobs::END_REASON;
use crate::lake::Lake;
use crate::schema::Table;
use crate::units::micros_to_seconds;

/// Data that a log records about a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobRecord {
    /// Processors of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processors: Option<i64>,
    /// The queue to which it was submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// The partition on which it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The account to which it was charged, or the group of its user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Its time limit, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_s: Option<f64>,
    /// The time that it waited, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_s: Option<f64>,
    /// The names of the machines on which it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// The reason why it ended, in the words of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
}

impl JobRecord {
    /// Whether the log records none of these data.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The columns to read, if the trace has them.
const COLUMNS: [&str; 9] = [
    "processors",
    "queue",
    "partition",
    "user_group",
    "account",
    "requested_time_us",
    "wait_us",
    "node_list",
    END_REASON,
];

/// Adds what the rows of a bucket record to the `records` of some of its jobs.
///
/// # Errors
/// A file cannot be read.
pub(super) fn add(
    lake: &Lake,
    bucket: u32,
    records: &mut BTreeMap<i64, &mut JobRecord>,
) -> Result<(), FactError> {
    let known = COLUMNS.into_iter().filter(|name| lake.has_column(Table::JobEvents, name));
    let columns: Vec<&'static str> = std::iter::once("job_id").chain(known).collect();
    if columns.len() == 1 {
        return Ok(());
    }
    lake.scan(Table::JobEvents, Some(bucket), &columns, |batch| {
        let ids = batch.column(0).as_primitive::<Int64Type>();
        for (row, id) in ids.values().iter().enumerate() {
            if let Some(record) = records.get_mut(id) {
                for (place, name) in columns.iter().enumerate().skip(1) {
                    put(record, name, (&batch, place, row));
                }
            }
        }
    })?;
    Ok(())
}

/// Stores a cell, if it has a value.
fn put(record: &mut JobRecord, name: &str, cell: (&RecordBatch, usize, usize)) {
    let seconds = || number(cell).map(micros_to_seconds);
    match name {
        "processors" => record.processors = number(cell).or(record.processors),
        "requested_time_us" => record.limit_s = seconds().or(record.limit_s),
        "wait_us" => record.wait_s = seconds().or(record.wait_s),
        _ => {
            let field = match name {
                "queue" => &mut record.queue,
                "partition" => &mut record.partition,
                "node_list" => &mut record.nodes,
                END_REASON => &mut record.end_reason,
                // `account` comes after `user_group`, and is more exact.
                _ => &mut record.account,
            };
            if let Some(found) = text(cell) {
                *field = Some(found);
            }
        }
    }
}

fn number((batch, place, row): (&RecordBatch, usize, usize)) -> Option<i64> {
    let column = batch.column(place);
    if column.is_null(row) {
        return None;
    }
    match column.data_type() {
        DataType::Int32 => Some(i64::from(column.as_primitive::<Int32Type>().value(row))),
        DataType::Int64 => Some(column.as_primitive::<Int64Type>().value(row)),
        _ => None,
    }
}

fn text((batch, place, row): (&RecordBatch, usize, usize)) -> Option<String> {
    let column = batch.column(place);
    if column.is_null(row) || column.data_type() != &DataType::Utf8 {
        return None;
    }
    Some(column.as_string::<i32>().value(row)).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array, Int64Array, StringArray};

    use super::*;

    #[test]
    fn the_last_value_of_each_column_counts() {
        let columns: [(&str, ArrayRef); 4] = [
            ("processors", Arc::new(Int32Array::from(vec![None, Some(16), None]))),
            ("wait_us", Arc::new(Int64Array::from(vec![None, Some(5_000_000), None]))),
            ("user_group", Arc::new(StringArray::from(vec![Some("g"), None, None]))),
            (
                "end_reason",
                Arc::new(StringArray::from(vec![Some("PENDING"), None, Some("TIMEOUT")])),
            ),
        ];
        let batch = RecordBatch::try_from_iter(columns.clone()).unwrap();
        let mut record = JobRecord::default();
        for row in 0..3 {
            for (place, (name, _)) in columns.iter().enumerate() {
                put(&mut record, name, (&batch, place, row));
            }
        }
        let expected = JobRecord {
            processors: Some(16),
            wait_s: Some(5.0),
            account: Some("g".to_owned()),
            end_reason: Some("TIMEOUT".to_owned()),
            ..JobRecord::default()
        };
        assert_eq!(record, expected);
        assert!(JobRecord::default().is_empty() && !record.is_empty());
    }
}
