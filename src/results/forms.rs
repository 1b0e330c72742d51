//! Record batches as CSV, JSON rows and Parquet.
//!
//! In: a batch of whole numbers, quantities, names and yes/no. Out: bytes. A missing cell is empty
//! in CSV and null in JSON. Quantities are written with all their digits. Parquet also records how
//! the table was made, and what its columns mean.

use std::io::Write;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float32Array, Float64Array, Int64Array, StringArray,
};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int64Type, SchemaRef};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::{Map, Value, json};

use super::frame::{MEANING, UNIT, noted};
use crate::cells::guarded;
use crate::faults::{Context, Result};

/// How a table was made: names and values, such as `command` and its words.
pub type Made = [(&'static str, Value)];

/// The rows as JSON objects.
pub fn rows(batch: &RecordBatch) -> Vec<Value> {
    let schema = batch.schema();
    (0..batch.num_rows())
        .map(|row| {
            let cells = schema.fields().iter().zip(batch.columns());
            Value::Object(
                cells
                    .map(|(field, column)| (field.name().clone(), cell(column, row)))
                    .collect::<Map<_, _>>(),
            )
        })
        .collect()
}

pub(crate) fn cell(column: &ArrayRef, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => json!(column.as_primitive::<Float64Type>().value(row)),
        DataType::Float32 => json!(as_written(column.as_primitive::<Float32Type>().value(row))),
        DataType::Boolean => json!(column.as_boolean().value(row)),
        other => unreachable!("answers hold no {other}"),
    }
}

/// A table as CSV; text that a spreadsheet would run as a formula is escaped.
pub fn csv(batch: &RecordBatch) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(batch.schema().fields().iter().map(|field| field.name().as_str()))?;
    let columns: Vec<Cells> = batch.columns().iter().map(Cells::of).collect();
    let mut text = Vec::new();
    for row in 0..batch.num_rows() {
        for (cells, column) in columns.iter().zip(batch.columns()) {
            text.clear();
            if column.is_valid(row) {
                cells.write(row, &mut text)?;
            }
            writer.write_field(&text)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.into_inner().map_err(csv::IntoInnerError::into_error).context("could not write CSV")
}

/// The values of a column.
enum Cells<'a> {
    Names(&'a StringArray),
    Whole(&'a Int64Array),
    Quantities(&'a Float64Array),
    Small(&'a Float32Array),
    Flags(&'a BooleanArray),
}

impl<'a> Cells<'a> {
    fn of(column: &'a ArrayRef) -> Self {
        match column.data_type() {
            DataType::Utf8 => Self::Names(column.as_string()),
            DataType::Int64 => Self::Whole(column.as_primitive()),
            DataType::Float64 => Self::Quantities(column.as_primitive()),
            DataType::Float32 => Self::Small(column.as_primitive()),
            DataType::Boolean => Self::Flags(column.as_boolean()),
            other => unreachable!("answers hold no {other}"),
        }
    }

    /// Writes a value with the same digits as in JSON.
    fn write(&self, row: usize, to: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Names(names) => to.extend(guarded(names.value(row)).as_bytes()),
            Self::Whole(numbers) => write!(to, "{}", numbers.value(row))?,
            Self::Quantities(numbers) => quantity(numbers.value(row), to)?,
            Self::Small(numbers) => quantity(as_written(numbers.value(row)), to)?,
            Self::Flags(flags) => write!(to, "{}", flags.value(row))?,
        }
        Ok(())
    }
}

/// Writes a quantity with all its digits; a quantity that is not finite is left empty.
fn quantity(number: f64, to: &mut Vec<u8>) -> Result<()> {
    if number.is_finite() {
        serde_json::to_writer(to, &number)?;
    }
    Ok(())
}

/// A 64-bit number with the same shortest digits as a 32-bit number: 0.2493, not
/// 0.2493000030517578.
fn as_written(number: f32) -> f64 {
    number.to_string().parse().expect("digits of a number")
}

/// A table as a Parquet file.
pub fn parquet(batch: &RecordBatch, made: &Made) -> Result<Vec<u8>> {
    let mut writer = parquet_writer(Vec::new(), batch.schema(), made)?;
    writer.write(batch)?;
    writer.into_inner().context("could not write Parquet")
}

/// A writer for tables of one shape. How they were made is in the metadata of the file, under keys
/// that begin with `jobfate.`. The units and meanings of all columns are in `jobfate.columns`, and
/// in the metadata of each Arrow field.
pub(crate) fn parquet_writer<W: Write + Send>(
    to: W,
    schema: SchemaRef,
    made: &Made,
) -> Result<ArrowWriter<W>> {
    let columns = ("columns", columns_of(&schema));
    let pairs = made.iter().chain(std::iter::once(&columns)).map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        KeyValue::new(format!("jobfate.{key}"), text)
    });
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(crate::PROGRAM.to_owned())
        .set_key_value_metadata(Some(pairs.collect()))
        .build();
    Ok(ArrowWriter::try_new(to, schema, Some(properties))?)
}

/// Name, unit and meaning of every column.
fn columns_of(schema: &SchemaRef) -> Value {
    let columns = schema.fields().iter().map(|field| {
        json!({
            "name": field.name(), "unit": noted(field, UNIT), "meaning": noted(field, MEANING),
        })
    });
    columns.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::results::frame::Frame;

    fn sample() -> RecordBatch {
        Frame::default()
            .text("name", ["a", "=1+1,\"x\"", "tab\u{1b}[31m"])
            .int("count", [1, 2_012_242, -5])
            .float("share", [Some(0.5), None, Some(1.0 / 3.0)])
            .batch()
    }

    #[test]
    fn csv_runs_no_formula() {
        let text = String::from_utf8(csv(&sample()).unwrap()).unwrap();
        assert!(text.contains("\"'=1+1,\"\"x\"\"\",2012242,\n"), "{text}");
    }

    proptest! {
        /// Promise: a cell of a CSV file has the digits of the same cell in JSON.
        #[test]
        fn csv_has_the_digits_of_json(
            rows in prop::collection::vec(
                (any::<Option<i64>>(), any::<Option<f64>>(), any::<Option<f32>>(), any::<bool>()), 0..20,
            )
        ) {
            let columns: Vec<(&str, ArrayRef)> = vec![
                ("whole", Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>())),
                ("quantity", Arc::new(rows.iter().map(|row| row.1).collect::<Float64Array>())),
                ("small", Arc::new(rows.iter().map(|row| row.2).collect::<Float32Array>())),
                ("flag", Arc::new(rows.iter().map(|row| Some(row.3)).collect::<BooleanArray>())),
            ];
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let bytes = csv(&batch).unwrap();
            let mut reader = csv::Reader::from_reader(bytes.as_slice());
            let found: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            prop_assert_eq!(found.len(), rows.len());
            for (row, record) in found.iter().enumerate() {
                for (column, cell_text) in batch.columns().iter().zip(record) {
                    let expected = match cell(column, row) {
                        Value::Null => String::new(),
                        other => other.to_string(),
                    };
                    prop_assert_eq!(cell_text, expected);
                }
            }
        }
    }

    #[test]
    fn json_has_every_digit() {
        let text = Value::Array(rows(&sample())).to_string();
        assert!(text.contains("\"share\":0.3333333333333333"), "{text}");
        assert!(text.contains("\"share\":null"), "{text}");
        let small: ArrayRef = Arc::new(Float32Array::from(vec![0.2493]));
        assert_eq!(cell(&small, 0).to_string(), "0.2493", "not 0.2493000030517578");
    }
}
