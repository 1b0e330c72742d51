//! Encodes the rows of a bucket as a Parquet stream.
//!
//! In: rows in their final order. Out: the bytes of a complete Parquet file, its footer, and their
//! checksum. Nothing is written to disk here.
//!
//! Encodings are chosen for readers as much as for the writer: whole numbers as
//! `DELTA_BINARY_PACKED`, quantities as `BYTE_STREAM_SPLIT`, names with a dictionary, all under
//! LZ4. Decisions in the crate documentation has the measurements.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::LakeErrorKind;
use crate::schema::{Column, ColumnType, ROW_ID, Source, Table};
use crate::sources::{Cells, ColumnData, RowBlock, range_of};

/// Rows per row group: enough for fast scans, few enough for several threads to share a file.
const ROW_GROUP_ROWS: usize = 1 << 18;

/// The last column of a table that is spread over buckets. It is constant within a row group, so
/// other programs can skip the row groups of other buckets.
pub(super) const BUCKET: &str = "bucket";

/// Names passed to the writer at a time: a multiple of its own batch, and few enough for the cache.
const NAMES_AT_ONCE: usize = 4096;

/// Encodes the rows of a table as Parquet.
pub(super) struct Encoder {
    is_spread: bool,
    schema: Arc<Type>,
    properties: Arc<WriterProperties>,
}

impl Encoder {
    /// An encoder for the columns of a table in lakes of a source.
    pub(super) fn new(table: Table, source: Source) -> Result<Self, ParquetError> {
        let columns = table.columns(source);
        let schema = Arc::new(parquet_schema(table, columns)?);
        let is_spread = table.job_column().is_some();
        Ok(Self { is_spread, schema, properties: Arc::new(properties(columns)) })
    }

    /// Writes the rows of a bucket directly from our columns, without Arrow, and replaces the
    /// contents of `stream`.
    pub(super) fn encode(
        &self,
        bucket: u32,
        rows: &RowBlock,
        stream: &mut Vec<u8>,
    ) -> Result<ParquetMetaData, ParquetError> {
        stream.clear();
        let (schema, properties) = (Arc::clone(&self.schema), Arc::clone(&self.properties));
        let mut writer = SerializedFileWriter::new(stream, schema, properties)?;
        let row_count = rows.row_ids.len();
        for start in (0..row_count).step_by(ROW_GROUP_ROWS) {
            let range = start..row_count.min(start + ROW_GROUP_ROWS);
            let mut group = writer.next_row_group()?;
            if let Some(mut column) = group.next_column()? {
                column.typed::<Int64Type>().write_batch(
                    &rows.row_ids[range.clone()],
                    None,
                    None,
                )?;
                column.close()?;
            }
            for (data, kind) in rows.columns.iter().zip(rows.column_list()) {
                let mut column =
                    group.next_column()?.expect("the schema has as many columns as the table");
                write_column(&mut column, data, range.clone(), kind.is_mandatory)?;
                column.close()?;
            }
            if self.is_spread {
                let mut column = group.next_column()?.expect("the last column is the bucket");
                let cells = vec![i32::try_from(bucket)?; range.len()];
                column.typed::<Int32Type>().write_batch(&cells, None, None)?;
                column.close()?;
            }
            group.close()?;
        }
        writer.close()
    }
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    data: &ColumnData,
    rows: std::ops::Range<usize>,
    is_mandatory: bool,
) -> Result<(), ParquetError> {
    if 0 < data.absent {
        return write_absent(writer, &data.cells, rows.len());
    }
    let levels = (!is_mandatory).then(|| definition_levels(&data.nulls, &rows));
    let levels = levels.as_deref();
    let is_there = |idx: usize| levels.is_none_or(|levels| levels[idx] == 1);
    macro_rules! write {
        ($cells:expr, $kind:ty) => {{
            let cells = &$cells[rows];
            if cells.len()
                == levels.map_or(cells.len(), |levels| {
                    levels.iter().filter(|&&level| level == 1).count()
                })
            {
                writer.typed::<$kind>().write_batch(cells, levels, None)?;
            } else {
                let there: Vec<_> = cells
                    .iter()
                    .enumerate()
                    .filter(|(idx, _)| is_there(*idx))
                    .map(|(_, cell)| *cell)
                    .collect();
                writer.typed::<$kind>().write_batch(&there, levels, None)?;
            }
        }};
    }
    match &data.cells {
        Cells::I64(cells) => write!(cells, Int64Type),
        Cells::I32(cells) => write!(cells, Int32Type),
        Cells::F32(cells) => write!(cells, FloatType),
        Cells::Bool(cells) => write!(cells, BoolType),
        Cells::Text { ends, bytes } => {
            let bytes = bytes::Bytes::copy_from_slice(bytes.as_bytes());
            let first = rows.start;
            let mut names: Vec<ByteArray> = Vec::with_capacity(rows.len().min(NAMES_AT_ONCE));
            for start in rows.clone().step_by(NAMES_AT_ONCE) {
                let some = start..rows.end.min(start + NAMES_AT_ONCE);
                let levels = levels.map(|levels| &levels[start - first..some.end - first]);
                let some = some.filter(|row| is_there(row - first));
                names.clear();
                names.extend(some.map(|row| ByteArray::from(bytes.slice(range_of(ends, row)))));
                writer.typed::<ByteArrayType>().write_batch(&names, levels, None)?;
            }
        }
        Cells::Lists { ends, values } => {
            // Levels are per value; an empty or missing list takes one position.
            let (mut nested, mut repeated) = (Vec::new(), Vec::new());
            let range = |row| range_of(ends, row);
            for row in rows.clone() {
                let count = range(row).len();
                let level = if is_there(row - rows.start) { 1 + i16::from(0 < count) } else { 0 };
                nested.extend(std::iter::repeat_n(level, count.max(1)));
                repeated.extend((0..count.max(1)).map(|idx| i16::from(0 < idx)));
            }
            let end = rows.end.checked_sub(1).map_or(0, |last| range(last).end);
            let values = &values[if rows.is_empty() { 0 } else { range(rows.start).start }..end];
            writer.typed::<FloatType>().write_batch(values, Some(&nested), Some(&repeated))?;
        }
    }
    Ok(())
}

/// Writes a column without any cells.
fn write_absent(
    writer: &mut SerializedColumnWriter<'_>,
    cells: &Cells,
    count: usize,
) -> Result<(), ParquetError> {
    let levels = &vec![0; count][..];
    match cells {
        Cells::I64(_) => writer.typed::<Int64Type>().write_batch(&[], Some(levels), None),
        Cells::I32(_) => writer.typed::<Int32Type>().write_batch(&[], Some(levels), None),
        Cells::F32(_) => writer.typed::<FloatType>().write_batch(&[], Some(levels), None),
        Cells::Bool(_) => writer.typed::<BoolType>().write_batch(&[], Some(levels), None),
        Cells::Text { .. } => writer.typed::<ByteArrayType>().write_batch(&[], Some(levels), None),
        Cells::Lists { .. } => {
            writer.typed::<FloatType>().write_batch(&[], Some(levels), Some(levels))
        }
    }?;
    Ok(())
}

/// 1 for a present cell, 0 for a missing one.
fn definition_levels(nulls: &[u32], rows: &std::ops::Range<usize>) -> Vec<i16> {
    let mut levels = vec![1; rows.len()];
    let first = nulls.partition_point(|&null| (null as usize) < rows.start);
    for &null in nulls[first..].iter().take_while(|&&null| (null as usize) < rows.end) {
        levels[null as usize - rows.start] = 0;
    }
    levels
}

/// Converts an error of the Parquet writer. A full disk appears as such an error; it becomes an I/O
/// error again.
pub(super) fn of_parquet(error: ParquetError) -> LakeErrorKind {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => LakeErrorKind::Io(*error),
            Err(inner) => LakeErrorKind::Parquet(ParquetError::External(inner)),
        },
        other => LakeErrorKind::Parquet(other),
    }
}

fn parquet_schema(table: Table, columns: &[Column]) -> Result<Type, ParquetError> {
    let field = |name: &str, physical, is_mandatory, logical| {
        let repetition = if is_mandatory { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let mut fields = vec![field(ROW_ID, PhysicalType::INT64, true, None)?];
    for column in columns {
        let (physical, logical) = match column.kind {
            ColumnType::Time | ColumnType::Id | ColumnType::Long => (PhysicalType::INT64, None),
            ColumnType::Int | ColumnType::Event(_) => (PhysicalType::INT32, None),
            ColumnType::Float | ColumnType::Amount => (PhysicalType::FLOAT, None),
            ColumnType::Bool => (PhysicalType::BOOLEAN, None),
            ColumnType::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnType::Floats => {
                fields.push(list_type(column.name)?);
                continue;
            }
        };
        fields.push(field(column.name, physical, column.is_mandatory, logical)?);
    }
    if table.job_column().is_some() {
        fields.push(field(BUCKET, PhysicalType::INT32, true, None)?);
    }
    Type::group_type_builder(table.name()).with_fields(fields).build()
}

/// An optional list of numbers, in the three levels that the format requires.
fn list_type(name: &str) -> Result<Arc<Type>, ParquetError> {
    let element = Type::primitive_type_builder("element", PhysicalType::FLOAT)
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    Type::group_type_builder(name)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(list)])
        .build()
        .map(Arc::new)
}

/// The table's columns as an Arrow schema.
pub(crate) fn arrow_schema(table: Table, source: Source) -> SchemaRef {
    let mut fields = vec![Field::new(ROW_ID, DataType::Int64, false)];
    fields.extend(table.columns(source).iter().map(|column| {
        let data_type = match column.kind {
            ColumnType::Time | ColumnType::Id | ColumnType::Long => DataType::Int64,
            ColumnType::Int | ColumnType::Event(_) => DataType::Int32,
            ColumnType::Float | ColumnType::Amount => DataType::Float32,
            ColumnType::Bool => DataType::Boolean,
            ColumnType::Text => DataType::Utf8,
            ColumnType::Floats => {
                DataType::List(Arc::new(Field::new("element", DataType::Float32, false)))
            }
        };
        Field::new(column.name, data_type, !column.is_mandatory)
    }));
    fields.extend(table.job_column().map(|_| Field::new(BUCKET, DataType::Int32, false)));
    Arc::new(Schema::new(fields))
}

fn properties(columns: &[Column]) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_created_by(crate::PROGRAM.to_owned())
        .set_column_encoding(ColumnPath::from(ROW_ID), Encoding::DELTA_BINARY_PACKED)
        .set_column_encoding(ColumnPath::from(BUCKET), Encoding::DELTA_BINARY_PACKED);
    for column in columns {
        let path = ColumnPath::from(column.name);
        properties = match column.kind {
            ColumnType::Time
            | ColumnType::Id
            | ColumnType::Long
            | ColumnType::Int
            | ColumnType::Event(_) => {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            ColumnType::Float | ColumnType::Amount => properties
                .set_column_encoding(path.clone(), Encoding::BYTE_STREAM_SPLIT)
                .set_column_statistics_enabled(path, EnabledStatistics::None),
            ColumnType::Text => properties.set_column_dictionary_enabled(path, true),
            ColumnType::Floats => {
                let path = ColumnPath::from(vec![
                    column.name.to_owned(),
                    "list".to_owned(),
                    "element".to_owned(),
                ]);
                properties
                    .set_column_encoding(path.clone(), Encoding::BYTE_STREAM_SPLIT)
                    .set_column_statistics_enabled(path, EnabledStatistics::None)
            }
            ColumnType::Bool => properties,
        };
    }
    properties.build()
}
