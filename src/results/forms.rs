//! Record batches as CSV, JSON rows and Parquet.
//!
//! In: a batch of whole numbers, quantities, names and yes/no. Out: bytes. A missing cell is empty
//! in CSV and null in JSON. Quantities are written with all their digits. Parquet also records what
//! made the table, and what its columns mean.

use std::io::Write;

use arrow::array::{Array, ArrayRef, AsArray};
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

/// What made a table: names and values, such as `command` and its words.
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
        // The shortest digits of the 32-bit number, not those of the same number in 64 bits.
        DataType::Float32 => {
            let text = column.as_primitive::<Float32Type>().value(row).to_string();
            json!(text.parse::<f64>().ok())
        }
        DataType::Boolean => json!(column.as_boolean().value(row)),
        other => unreachable!("answers hold no {other}"),
    }
}

/// A table as CSV; text that a spreadsheet would run as a formula is escaped.
pub fn csv(batch: &RecordBatch) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(batch.schema().fields().iter().map(|field| field.name().as_str()))?;
    for row in 0..batch.num_rows() {
        writer.write_record(batch.columns().iter().map(|column| match cell(column, row) {
            Value::Null => String::new(),
            Value::String(text) => guarded(&text).into_owned(),
            other => other.to_string(),
        }))?;
    }
    writer.into_inner().map_err(csv::IntoInnerError::into_error).context("could not write CSV")
}

/// A table as a Parquet file.
pub fn parquet(batch: &RecordBatch, made: &Made) -> Result<Vec<u8>> {
    let mut writer = parquet_writer(Vec::new(), batch.schema(), made)?;
    writer.write(batch)?;
    writer.into_inner().context("could not write Parquet")
}

/// A writer of tables of one shape. What made them is in the metadata of the file, under keys
/// that begin with `jobfate.`; `jobfate.columns` holds the units and meanings of all columns, which
/// are in the metadata of each Arrow field as well.
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

    #[test]
    fn json_has_every_digit() {
        let text = Value::Array(rows(&sample())).to_string();
        assert!(text.contains("\"share\":0.3333333333333333"), "{text}");
        assert!(text.contains("\"share\":null"), "{text}");
    }
}
