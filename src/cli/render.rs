//! Record batches as text: aligned columns, CSV, JSON rows, Parquet.
//!
//! In: a batch of whole numbers, quantities, names and yes/no. Out: bytes. A missing cell is
//! empty in CSV, null in JSON and `-` in a table. Quantities are printed with all their digits
//! in CSV and JSON, and to six significant digits in a table.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::{Map, Value, json};

use super::Format;
use crate::cells::{guarded, is_hidden};
use crate::digits;

/// Builds a batch column by column.
#[derive(Default)]
pub(crate) struct Frame {
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl Frame {
    fn with(mut self, name: &str, data_type: DataType, array: ArrayRef) -> Self {
        self.fields.push(Field::new(name, data_type, true));
        self.columns.push(array);
        self
    }

    /// Adds a column of names.
    pub(crate) fn text<T: AsRef<str>>(
        self,
        name: &str,
        cells: impl IntoIterator<Item = T>,
    ) -> Self {
        self.with(
            name,
            DataType::Utf8,
            Arc::new(cells.into_iter().map(Some).collect::<StringArray>()),
        )
    }

    /// Adds a column of names, some of which may be missing.
    pub(crate) fn maybe_text<'a>(
        self,
        name: &str,
        cells: impl IntoIterator<Item = Option<&'a str>>,
    ) -> Self {
        self.with(name, DataType::Utf8, Arc::new(cells.into_iter().collect::<StringArray>()))
    }

    /// Adds a column of whole numbers.
    pub(crate) fn int(self, name: &str, cells: impl IntoIterator<Item = i64>) -> Self {
        self.with(name, DataType::Int64, Arc::new(Int64Array::from_iter_values(cells)))
    }

    /// Adds a column of whole numbers, some of which may be missing.
    pub(crate) fn maybe_int(
        self,
        name: &str,
        cells: impl IntoIterator<Item = Option<i64>>,
    ) -> Self {
        self.with(name, DataType::Int64, Arc::new(cells.into_iter().collect::<Int64Array>()))
    }

    /// Adds a column of counts.
    pub(crate) fn count(self, name: &str, cells: impl IntoIterator<Item = u64>) -> Self {
        self.int(name, cells.into_iter().map(|count| i64::try_from(count).unwrap_or(i64::MAX)))
    }

    /// Adds a column of quantities, some of which may be unknown.
    pub(crate) fn float(self, name: &str, cells: impl IntoIterator<Item = Option<f64>>) -> Self {
        self.with(name, DataType::Float64, Arc::new(cells.into_iter().collect::<Float64Array>()))
    }

    /// The batch.
    pub(crate) fn batch(self) -> RecordBatch {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.columns)
            .expect("columns are of one length")
    }
}

/// Returns `batch` in `format`; `whole` is the JSON value, rows of the batch with `None`.
pub(crate) fn render(
    batch: &RecordBatch,
    format: Format,
    whole: Option<&Value>,
) -> Result<Vec<u8>> {
    Ok(match format {
        Format::Table => table(batch).into_bytes(),
        Format::Csv => csv(batch)?,
        Format::Json => {
            let mut text = match whole {
                Some(whole) => whole.to_string(),
                None => Value::Array(rows(batch)).to_string(),
            };
            text.push('\n');
            text.into_bytes()
        }
        Format::Parquet => parquet(batch)?,
    })
}

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
        DataType::Boolean => json!(column.as_boolean().value(row)),
        other => unreachable!("answers hold no {other}"),
    }
}

fn csv(batch: &RecordBatch) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(batch.schema().fields().iter().map(|field| field.name().as_str()))?;
    for row in 0..batch.num_rows() {
        writer.write_record(batch.columns().iter().map(|column| match cell(column, row) {
            Value::Null => String::new(),
            Value::String(text) => guarded(&text).into_owned(),
            other => other.to_string(),
        }))?;
    }
    writer.into_inner().context("could not write CSV")
}

fn parquet(batch: &RecordBatch) -> Result<Vec<u8>> {
    let mut writer = parquet_writer(Vec::new(), batch.schema())?;
    writer.write(batch)?;
    writer.into_inner().context("could not write Parquet")
}

/// A writer of tables of one shape.
pub(crate) fn parquet_writer<W: Write + Send>(to: W, schema: SchemaRef) -> Result<ArrowWriter<W>> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(crate::PROGRAM.to_owned())
        .build();
    Ok(ArrowWriter::try_new(to, schema, Some(properties))?)
}

fn table(batch: &RecordBatch) -> String {
    let schema = batch.schema();
    let columns: Vec<(Vec<String>, bool)> = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, column)| {
            let mut cells = vec![field.name().clone()];
            let grouping =
                if field.name().ends_with("_id") { Grouping::Plain } else { Grouping::Thousands };
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

fn table_cell(column: &ArrayRef, row: usize, grouping: Grouping) -> String {
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
enum Grouping {
    /// `2,012,242`, for counts and times.
    Thousands,
    /// `6255532702`, for ids, which are copied into other commands.
    Plain,
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
        let text = String::from_utf8(render(&sample(), Format::Table, None).unwrap()).unwrap();
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
        let text = String::from_utf8(render(&sample(), Format::Csv, None).unwrap()).unwrap();
        assert!(text.contains("\"'=1+1,\"\"x\"\"\",2012242,\n"), "{text}");
    }

    #[test]
    fn json_has_every_digit() {
        let text = String::from_utf8(render(&sample(), Format::Json, None).unwrap()).unwrap();
        assert!(text.contains("\"share\":0.3333333333333333"), "{text}");
        assert!(text.contains("\"share\":null"), "{text}");
    }
}
