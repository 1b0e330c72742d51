//! Writes Parquet files with a published schema, row by row.
//!
//! In: the columns of a format, and rows of values. Out: a file with row groups of limited size. A
//! value whose type differs from that of its column is a bug.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int32Builder, Int64Array, Int64Builder,
    ListBuilder, StringArray, TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;

use crate::faults::{Context, Result};
use crate::results::forms::parquet_writer;
use crate::results::store::{Files, New, could_not_write};

/// Rows that are buffered before they are written.
const ROWS: usize = 4096;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Long,
    Int,
    Double,
    Text,
    /// Milliseconds since 1970, UTC.
    Millis,
    Bool,
    Longs,
    Ints,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Long(i64),
    Double(f64),
    Text(String),
    Ids(Vec<i64>),
}

/// A column: its name, its type and whether it is mandatory.
pub(super) type Column = (&'static str, Type, bool);

/// A file that is being written.
pub(super) struct Sheet {
    columns: &'static [Column],
    schema: SchemaRef,
    rows: Vec<Vec<Value>>,
    writer: ArrowWriter<New>,
    file: &'static str,
}

impl Sheet {
    /// Creates a file.
    pub(super) fn new(
        files: &Files,
        file: &'static str,
        columns: &'static [Column],
    ) -> Result<Self> {
        let fields = columns.iter().map(|&(name, kind, is_mandatory)| {
            let element = |kind| DataType::List(Arc::new(Field::new("element", kind, true)));
            let kind = match kind {
                Type::Long => DataType::Int64,
                Type::Int => DataType::Int32,
                Type::Double => DataType::Float64,
                Type::Text => DataType::Utf8,
                Type::Millis => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
                Type::Bool => DataType::Boolean,
                Type::Longs => element(DataType::Int64),
                Type::Ints => element(DataType::Int32),
            };
            Field::new(name, kind, !is_mandatory)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let to = files.create(file.to_owned())?;
        let writer = parquet_writer(to, Arc::clone(&schema), &[])?;
        Ok(Self { columns, schema, rows: Vec::with_capacity(ROWS), writer, file })
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: Vec<Value>) -> Result<()> {
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.file);
        self.rows.push(row);
        if self.rows.len() < ROWS { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<()> {
        let arrays = self.columns.iter().enumerate().map(|(at, column)| {
            let cells: Vec<&Value> = self.rows.iter().map(|row| &row[at]).collect();
            array(column.1, &cells)
        });
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays.collect())
            .expect("the values are of their columns' types");
        self.rows.clear();
        let fail = || could_not_write(Path::new(self.file));
        self.writer.write(&batch).with_context(fail)?;
        // Limits the encoded data in memory, instead of waiting for a million rows.
        if 32 << 20 < self.writer.in_progress_size() {
            self.writer.flush().with_context(fail)?;
        }
        Ok(())
    }

    /// Completes the file.
    pub(super) fn finish(mut self, files: &mut Files) -> Result<()> {
        self.flush()?;
        let mut to =
            self.writer.into_inner().with_context(|| could_not_write(Path::new(self.file)))?;
        to.flush().with_context(|| could_not_write(Path::new(self.file)))?;
        files.take(to)
    }
}

fn array(kind: Type, cells: &[&Value]) -> ArrayRef {
    let longs = || {
        cells.iter().map(|cell| match cell {
            Value::Long(value) => Some(*value),
            _ => None,
        })
    };
    let small = |value: i64| i32::try_from(value).expect("ids and counts of 32 bits");
    match kind {
        Type::Long => Arc::new(longs().collect::<Int64Array>()),
        Type::Int => Arc::new(longs().map(|value| value.map(small)).collect::<Int32Array>()),
        Type::Millis => {
            let array: TimestampMillisecondArray = longs().collect();
            Arc::new(array.with_timezone("UTC"))
        }
        Type::Double => Arc::new(
            cells
                .iter()
                .map(|cell| match cell {
                    Value::Double(value) => Some(*value),
                    _ => None,
                })
                .collect::<Float64Array>(),
        ),
        Type::Text => Arc::new(
            cells
                .iter()
                .map(|cell| match cell {
                    Value::Text(value) => Some(value.as_str()),
                    _ => None,
                })
                .collect::<StringArray>(),
        ),
        // No lake has data for it.
        Type::Bool => Arc::new(BooleanArray::new_null(cells.len())),
        Type::Longs => {
            let mut lists = ListBuilder::new(Int64Builder::new()).with_field(Field::new(
                "element",
                DataType::Int64,
                true,
            ));
            for ids in ids(cells) {
                lists.values().append_slice(ids);
                lists.append(true);
            }
            Arc::new(lists.finish())
        }
        Type::Ints => {
            let mut lists = ListBuilder::new(Int32Builder::new()).with_field(Field::new(
                "element",
                DataType::Int32,
                true,
            ));
            for ids in ids(cells) {
                for &id in ids {
                    lists.values().append_value(small(id));
                }
                lists.append(true);
            }
            Arc::new(lists.finish())
        }
    }
}

fn ids<'a>(cells: &'a [&'a Value]) -> impl Iterator<Item = &'a [i64]> {
    cells.iter().map(|cell| match cell {
        Value::Ids(ids) => ids.as_slice(),
        _ => &[],
    })
}
