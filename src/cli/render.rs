//! Record batches as text: aligned columns, CSV, JSON rows, Parquet.
//!
//! In: a batch of whole numbers, quantities, names and yes/no. Out: bytes. A missing cell is
//! empty in CSV, null in JSON and `-` in a table. Quantities are printed with all their digits
//! in CSV and JSON, and to six significant digits in a table. Parquet also says what made the
//! table, and what its columns mean.

use std::io::Write;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int64Type, SchemaRef};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::{Map, Value, json};

pub(crate) use super::frame::Frame;
use super::frame::{MEANING, UNIT, noted};
use super::view::{says_only_units, unit_in_header};
use crate::cells::{guarded, is_hidden};
use crate::digits;
use crate::faults::{Context, Result};

/// What made a table: names and values, such as `command` and the words of it.
pub(crate) type Made = [(&'static str, Value)];

/// The rows as JSON objects.
pub(crate) fn rows(batch: &RecordBatch) -> Vec<Value> {
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

fn cell(column: &ArrayRef, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => json!(column.as_primitive::<Float64Type>().value(row)),
        // The shortest digits that mean the same 32 bits, and not those of the same number in 64.
        DataType::Float32 => {
            let text = column.as_primitive::<Float32Type>().value(row).to_string();
            json!(text.parse::<f64>().ok())
        }
        DataType::Boolean => json!(column.as_boolean().value(row)),
        other => unreachable!("answers hold no {other}"),
    }
}

/// A table as CSV, cells of text guarded against spreadsheets.
pub(crate) fn csv(batch: &RecordBatch) -> Result<Vec<u8>> {
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
pub(crate) fn parquet(batch: &RecordBatch, made: &Made) -> Result<Vec<u8>> {
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

/// A table in aligned columns, however wide. A unit that is the same in all rows is in the header.
pub(crate) fn table(batch: &RecordBatch) -> String {
    let schema = batch.schema();
    let columns: Vec<(Vec<String>, bool)> = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .filter(|(field, _)| !says_only_units(batch, field))
        .map(|(field, column)| {
            let unit = unit_in_header(field).unwrap_or_default();
            let mut cells = vec![format!("{}{unit}", field.name())];
            let grouping = Grouping::of(field.name());
            cells.extend((0..batch.num_rows()).map(|row| table_cell(column, row, grouping)));
            (cells, column.data_type() == &DataType::Utf8)
        })
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .map(|(cells, _)| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in 0..=batch.num_rows() {
        let cells: Vec<String> = columns
            .iter()
            .zip(&widths)
            .map(|((cells, is_text), &width)| {
                if *is_text {
                    format!("{:<width$}", cells[row])
                } else {
                    format!("{:>width$}", cells[row])
                }
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// A cell as a reader wants it.
pub(crate) fn table_cell(column: &ArrayRef, row: usize, grouping: Grouping) -> String {
    match cell(column, row) {
        Value::Null => "-".to_owned(),
        Value::String(text) => shortened(&text.chars().flat_map(visible).collect::<String>()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) if grouping == Grouping::Plain => whole.to_string(),
            Some(whole) => digits::grouped_signed(whole),
            None => digits::six_digits(number.as_f64().unwrap_or(f64::NAN)),
        },
        other => other.to_string(),
    }
}

/// How whole numbers are written in a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// `2,012,242`, for counts and times.
    Thousands,
    /// `6255532702`, for ids, which are copied into other commands.
    Plain,
}

impl Grouping {
    /// That of a column.
    pub(crate) fn of(column: &str) -> Self {
        if column.ends_with("_id") { Self::Plain } else { Self::Thousands }
    }
}

/// Longest name in a table; event sequences of crash loops have thousands of digits.
const CELL_MAX: usize = 60;

/// Cuts a long name and says how much is left; CSV and JSON have it whole.
fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= CELL_MAX {
        return text.to_owned();
    }
    let kept: String = text.chars().take(CELL_MAX - 12).collect();
    format!("{kept}… ({length})")
}

/// Control characters of a name must not steer the terminal.
fn visible(letter: char) -> impl Iterator<Item = char> {
    let escaped: Vec<char> =
        if is_hidden(letter) { letter.escape_default().collect() } else { vec![letter] };
    escaped.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> RecordBatch {
        Frame::default()
            .text("name", ["a", "=1+1,\"x\"", "tab\u{1b}[31m"])
            .int("count", [1, 2_012_242, -5])
            .float("share", [Some(0.5), None, Some(1.0 / 3.0)])
            .batch()
    }

    #[test]
    fn a_table_is_aligned_and_harmless() {
        let text = table(&sample());
        assert_eq!(
            text,
            "name               count     share\n\
             a                      1  0.500000\n\
             =1+1,\"x\"       2,012,242         -\n\
             tab\\u{1b}[31m         -5  0.333333\n"
        );
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
