//! Reads Parquet files as lines of JSON, the form that the parsers read.
//!
//! In: a Parquet file. Out: its rows, one object per line, without the missing values. With this
//! conversion one parser reads both forms; JSON files are faster to read than Parquet files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use arrow::array::types::{
    ArrowTimestampType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, TimeUnit};
use arrow::error::ArrowError;
use arrow::json::LineDelimitedWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use super::digest::{RawDigest, digest_file};
use super::{SourceError, SourceErrorKind};

/// The number of rows that are converted at a time.
const ROWS: usize = 1024;

/// Reads a Parquet file as text.
pub(super) struct TextOfTable {
    rows: ParquetRecordBatchReader,
    digest: RawDigest,
    total_rows: u64,
    seen_rows: u64,
    text: Vec<u8>,
    at: usize,
}

impl TextOfTable {
    /// Opens a file and reads it once for its checksum.
    pub(super) fn open(path: &Path) -> Result<Self, SourceError> {
        let digest = digest_file(path)?;
        let file = File::open(path)
            .map_err(|error| SourceError::new(path, SourceErrorKind::Open(error)))?;
        let fail = |error: ParquetError| SourceError::new(path, SourceErrorKind::BadParquet(error));
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(fail)?;
        let total_rows = builder.metadata().file_metadata().num_rows().cast_unsigned();
        let rows = builder.with_batch_size(ROWS).build().map_err(fail)?;
        Ok(Self { rows, digest, total_rows, seen_rows: 0, text: Vec::new(), at: 0 })
    }

    /// The share of the bytes of the file for the rows read so far.
    pub(super) fn raw_bytes(&self) -> u64 {
        let part = u128::from(self.digest.bytes) * u128::from(self.seen_rows);
        u64::try_from(part / u128::from(self.total_rows.max(1))).unwrap_or(self.digest.bytes)
    }

    /// Size and checksum of the file.
    pub(super) fn finish(self) -> RawDigest {
        self.digest
    }
}

impl Read for TextOfTable {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            let Some(batch) = self.rows.next() else { return Ok(0) };
            // `SourceErrorKind::of_read` looks for this type.
            let damaged = |error: ArrowError| {
                io::Error::new(io::ErrorKind::InvalidData, ParquetError::from(error))
            };
            let batch = batch.and_then(|batch| spelled(&batch)).map_err(damaged)?;
            self.seen_rows += batch.num_rows() as u64;
            self.text.clear();
            self.at = 0;
            LineDelimitedWriter::new(&mut self.text).write(&batch).map_err(damaged)?;
        }
        let count = target.len().min(self.text.len() - self.at);
        target[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// The columns in forms that maps can read: an instant in a named zone as that instant in UTC, a
/// length of time as `D-HH:MM:SS.ffffff`, and everything else as it is.
fn spelled(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Timestamp(unit, Some(zone)) if !zone.starts_with(['+', '-']) => {
            Ok(in_utc(column, *unit))
        }
        DataType::Duration(_) => lengths(column),
        _ => Ok(Arc::clone(column)),
    });
    let schema = batch.schema();
    let names = schema.fields().iter().map(|field| field.name().as_str());
    RecordBatch::try_from_iter(names.zip(columns.collect::<Result<Vec<_>, _>>()?))
}

fn in_utc(column: &ArrayRef, unit: TimeUnit) -> ArrayRef {
    fn of<T: ArrowTimestampType>(column: &ArrayRef) -> ArrayRef {
        Arc::new(column.as_primitive::<T>().clone().with_timezone("+00:00"))
    }
    match unit {
        TimeUnit::Second => of::<TimestampSecondType>(column),
        TimeUnit::Millisecond => of::<TimestampMillisecondType>(column),
        TimeUnit::Microsecond => of::<TimestampMicrosecondType>(column),
        TimeUnit::Nanosecond => of::<TimestampNanosecondType>(column),
    }
}

fn lengths(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let micros = cast(column, &DataType::Duration(TimeUnit::Microsecond))?;
    let micros = micros.as_primitive::<arrow::datatypes::DurationMicrosecondType>().iter();
    let spelled = |micros: i64| {
        let (sign, all) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
        let (seconds, rest) = (all / 1_000_000, all % 1_000_000);
        let [days, hours, minutes] = [seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60];
        format!("{sign}{days}-{hours:02}:{minutes:02}:{:02}.{rest:06}", seconds % 60)
    };
    Ok(Arc::new(micros.map(|micros| micros.map(spelled)).collect::<StringArray>()))
}

#[cfg(test)]
mod tests {
    use arrow::array::{DurationNanosecondArray, DurationSecondArray};

    use super::*;

    #[test]
    fn lengths_of_time_have_days_hours_minutes_and_seconds() {
        let texts = |column: ArrayRef| -> Vec<Option<String>> {
            let texts = lengths(&column).unwrap();
            texts.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
        };
        let seconds = DurationSecondArray::from(vec![Some(0), Some(2 * 86_400 + 86_399), None]);
        let known = [Some("0-00:00:00.000000".to_owned()), Some("2-23:59:59.000000".to_owned())];
        assert_eq!(texts(Arc::new(seconds)), [&known[..], &[None]].concat());
        let nanos = DurationNanosecondArray::from(vec![3_661_500_000_000, -1_000_000_000]);
        let known = ["0-01:01:01.500000", "-0-00:00:01.000000"];
        assert_eq!(texts(Arc::new(nanos)), known.map(|text| Some(text.to_owned())));
    }
}
