//! Reads the answers that Spark has written.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{SortColumn, cast, concat_batches, lexsort_to_indices, take};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::failure::failed;
use crate::facts::FactError;
use crate::facts::query::Query;

/// Reads an answer in the same shape as from Polars.
pub(super) fn read(query: &Query, folder: &Path) -> Result<RecordBatch, FactError> {
    let fail = |problem: String| failed(format!("{}: {problem}", folder.display()));
    let batches = batches(folder)?;
    let batches: Vec<RecordBatch> = batches
        .iter()
        .map(widened)
        .collect::<Result<_, _>>()
        .map_err(|error| fail(error.to_string()))?;
    let Some(first) = batches.first() else { return Err(fail("Spark left no answer".to_owned())) };
    let all = concat_batches(&first.schema(), &batches).map_err(|error| fail(error.to_string()))?;
    sorted(&all, &query.key()).map_err(|error| fail(error.to_string()))
}

/// Reads everything that Spark has written into a folder.
pub(super) fn batches(folder: &Path) -> Result<Vec<RecordBatch>, FactError> {
    let fail = |problem: String| failed(format!("{}: {problem}", folder.display()));
    if !folder.join("_SUCCESS").is_file() {
        return Err(fail("Spark left an incomplete answer".to_owned()));
    }
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|error| fail(error.to_string()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "parquet"))
        .collect();
    files.sort();
    let mut batches = Vec::new();
    for file in files {
        let file = File::open(&file).map_err(|error| fail(error.to_string()))?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(ParquetRecordBatchReaderBuilder::build)
            .map_err(|error| fail(error.to_string()))?;
        for batch in reader {
            batches.push(batch.map_err(|error| fail(error.to_string()))?);
        }
    }
    Ok(batches)
}

/// Whole numbers as i64, quantities as f64, except for 32-bit floats.
fn widened(batch: &RecordBatch) -> Result<RecordBatch, arrow::error::ArrowError> {
    let (mut fields, mut columns): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let wide = match field.data_type() {
            kind if kind.is_integer() => DataType::Int64,
            // Keeps 32 bits, as in the lake.
            DataType::Float32 => DataType::Float32,
            kind if kind.is_numeric() => DataType::Float64,
            DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
            other => other.clone(),
        };
        columns.push(cast(column, &wide)?);
        fields.push(Field::new(field.name(), wide, true));
    }
    RecordBatch::try_new(Schema::new(fields).into(), columns)
}

fn sorted(batch: &RecordBatch, key: &[&str]) -> Result<RecordBatch, arrow::error::ArrowError> {
    let columns: Vec<SortColumn> = key
        .iter()
        .filter_map(|name| batch.column_by_name(name))
        .map(|values| SortColumn { values: values.clone(), options: None })
        .collect();
    let order: UInt32Array = lexsort_to_indices(&columns, None)?;
    let columns: Result<Vec<ArrayRef>, _> =
        batch.columns().iter().map(|column| take(column, &order, None)).collect();
    RecordBatch::try_new(batch.schema(), columns?)
}
