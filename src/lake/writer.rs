//! Rows of a few consecutive parts to one Parquet file per bucket.
//!
//! In: row blocks in file order. Out: synced files in a folder beside the lake's tables, and the
//! entries that describe them; the caller renames them into place. Memory holds at most
//! [`RUN_ROWS_MAX`] rows and [`RUN_TEXT_MAX`] bytes of names at a time: after that a run of files
//! is written and the next begun.
//!
//! Inside a file rows stand in the order of (time, `row_id`). Parts of the real trace are in time
//! order already, so this is a check and no sort.
//!
//! Encodings are chosen for the reader as much as for the writer: whole numbers as
//! `DELTA_BINARY_PACKED`, quantities as `BYTE_STREAM_SPLIT`, names with a dictionary, all under
//! LZ4. Decisions in the crate documentation has the measurements.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use rayon::prelude::*;

use super::{LakeError, LakeErrorKind};
use crate::files::Summed;
use crate::schema::{self, Column, ColumnType, ROW_ID, Source, Table};
use crate::sources::{Cells, ColumnData, RowBlock, range_of};

/// Most rows held in memory by one writer.
const RUN_ROWS_MAX: usize = 1 << 20;

/// The same of a lake of so many buckets that their files would be small and many: a part of
/// `task_usage` of the whole trace of 2011 (2.4 million rows) is then two files per bucket and not
/// three. One would take twice the memory that every other ingest takes.
const LARGE_RUN_ROWS_MAX: usize = 5 << 18;

/// Most bytes of names held in memory by one writer: more than ordinary rows have. They are held
/// up to three times while they are put in the order of time and written.
const RUN_TEXT_MAX: usize = 160 << 20;

/// The same of a log.
const LOG_RUN_TEXT_MAX: usize = 64 << 20;

/// A lake of so many buckets is large.
pub(super) const LARGE_BUCKETS: u32 = 128;

/// The same of a log, whose rows have two to three times as many columns and are held twice while
/// they are put in the order of time.
const LOG_RUN_ROWS_MAX: usize = 1 << 18;

/// Rows per row group: enough for a scan to be quick, few enough for several threads to share
/// a file.
const ROW_GROUP_ROWS: usize = 1 << 18;

/// A Parquet file that waits for its final name.
#[derive(Debug)]
pub(crate) struct WrittenFile {
    /// Where it lies now.
    pub beside: PathBuf,
    /// Bucket, 0 in a table that is not spread.
    pub bucket: u32,
    /// Which run of the segment, from 0.
    pub run: u32,
    pub rows: u64,
    pub bytes: u64,
    pub crc32: u32,
}

/// Collects the rows of a segment and writes them bucket by bucket.
///
/// One writer serves many segments of a table, one after the other, and keeps its memory: fresh
/// pages for every segment cost a seventh of the time of an ingest.
pub(crate) struct SegmentWriter {
    table: Table,
    folder: PathBuf,
    buckets: Vec<Bucket>,
    row_count: usize,
    text_bytes: usize,
    run_rows_max: usize,
    run_text_max: usize,
    run: u32,
    files: Vec<WrittenFile>,
}

/// The rows of one bucket, in file order.
struct Bucket {
    rows: RowBlock,
    last_time: i64,
    is_in_time_order: bool,
}

impl Bucket {
    fn new(table: Table, source: Source) -> Self {
        Self { rows: RowBlock::new(table, source, 0), last_time: i64::MIN, is_in_time_order: true }
    }

    fn append(&mut self, block: &RowBlock, rows: &[u32]) {
        let known = self.rows.row_ids.len();
        self.rows.append(block, rows);
        for &time in &self.rows.i64_cells(0)[known..] {
            self.is_in_time_order &= self.last_time <= time;
            self.last_time = time;
        }
    }

    /// Puts the rows in the order of (time, `row_id`).
    fn order(&mut self) {
        if self.is_in_time_order {
            return;
        }
        let times = self.rows.i64_cells(0);
        let mut order: Vec<u32> =
            (0..u32::try_from(times.len()).expect("a run has few rows")).collect();
        order.sort_by_key(|&row| (times[row as usize], self.rows.row_ids[row as usize]));
        self.rows = self.rows.reordered(&order);
        self.is_in_time_order = true;
    }

    /// Forgets the rows and keeps their memory, unless that is far more than a bucket's share: a
    /// job of very many tasks would otherwise leave its mark in one bucket after the other.
    fn clear(&mut self, rows_kept: usize) {
        if rows_kept < self.rows.row_ids.capacity() {
            self.rows = RowBlock::new(self.rows.table, self.rows.source, 0);
        }
        self.rows.clear();
        self.last_time = i64::MIN;
        self.is_in_time_order = true;
    }
}

/// The rows of a block listed bucket by bucket, in file order within each (a counting sort).
struct Spread {
    rows: Vec<u32>,
    starts: Vec<u32>,
}

impl Spread {
    #[expect(clippy::cast_possible_truncation, reason = "a block has far fewer than 2^32 rows")]
    fn new(block: &RowBlock, bucket_count: usize) -> Self {
        let row_count = block.row_ids.len() as u32;
        let Some(job_column) = block.table.job_column().filter(|_| 1 < bucket_count) else {
            return Self { rows: (0..row_count).collect(), starts: vec![0, row_count] };
        };
        let buckets: Vec<u32> = block
            .i64_cells(job_column)
            .iter()
            .map(|&job| schema::bucket_of(job, bucket_count as u32))
            .collect();
        let mut starts = vec![0_u32; bucket_count + 1];
        for &bucket in &buckets {
            starts[bucket as usize + 1] += 1;
        }
        for bucket in 0..bucket_count {
            starts[bucket + 1] += starts[bucket];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; buckets.len()];
        for (row, &bucket) in buckets.iter().enumerate() {
            let slot = &mut next[bucket as usize];
            rows[*slot as usize] = row as u32;
            *slot += 1;
        }
        Self { rows, starts }
    }

    fn rows_of(&self, bucket: usize) -> &[u32] {
        &self.rows[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }
}

impl SegmentWriter {
    /// A writer of one segment of `table`, whose files lie in `folder` until they are published.
    pub(crate) fn new(table: Table, source: Source, bucket_count: u32, folder: &Path) -> Self {
        let bucket_count = if table.job_column().is_some() { bucket_count } else { 1 };
        Self {
            table,
            folder: folder.to_owned(),
            buckets: (0..bucket_count).map(|_| Bucket::new(table, source)).collect(),
            row_count: 0,
            text_bytes: 0,
            run_rows_max: if !source.is_google() {
                LOG_RUN_ROWS_MAX
            } else if LARGE_BUCKETS <= bucket_count {
                LARGE_RUN_ROWS_MAX
            } else {
                RUN_ROWS_MAX
            },
            run_text_max: if source.is_google() { RUN_TEXT_MAX } else { LOG_RUN_TEXT_MAX },
            run: 0,
            files: Vec::new(),
        }
    }

    /// Takes the next block, while it is still in the cache of the core that parsed it.
    pub(crate) fn push(&mut self, block: &RowBlock) -> Result<(), LakeError> {
        let spread = Spread::new(block, self.buckets.len());
        for (idx, bucket) in self.buckets.iter_mut().enumerate() {
            bucket.append(block, spread.rows_of(idx));
        }
        self.row_count += block.row_ids.len();
        self.text_bytes += block.text_bytes();
        let is_full = self.run_rows_max <= self.row_count || self.run_text_max <= self.text_bytes;
        if is_full { self.flush() } else { Ok(()) }
    }

    /// Writes what is left and returns the files; the writer is then ready for the next segment.
    pub(crate) fn finish(&mut self) -> Result<Vec<WrittenFile>, LakeError> {
        self.flush()?;
        self.run = 0;
        Ok(std::mem::take(&mut self.files))
    }

    /// Forgets the rows of a segment that cannot be finished.
    pub(crate) fn abandon(&mut self) {
        let rows_kept = self.rows_kept();
        self.buckets.iter_mut().for_each(|bucket| bucket.clear(rows_kept));
        self.files.clear();
        self.row_count = 0;
        self.text_bytes = 0;
        self.run = 0;
    }

    /// Where its files lie until they are published.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The table whose segments this writes.
    pub(crate) fn table(&self) -> Table {
        self.table
    }

    /// Rows whose memory a bucket keeps: its share of a run and a quarter.
    fn rows_kept(&self) -> usize {
        self.run_rows_max / self.buckets.len() * 5 / 4
    }

    fn flush(&mut self) -> Result<(), LakeError> {
        let (run, folder, rows_kept) = (self.run, &self.folder, self.rows_kept());
        let written: Result<Vec<Option<WrittenFile>>, LakeError> = self
            .buckets
            .par_iter_mut()
            .with_max_len(1)
            .enumerate()
            .map(|(idx, bucket)| write_bucket(bucket, idx, run, folder, rows_kept))
            .collect();
        self.files.extend(written?.into_iter().flatten());
        self.row_count = 0;
        self.text_bytes = 0;
        self.run += 1;
        Ok(())
    }
}

fn write_bucket(
    bucket: &mut Bucket,
    idx: usize,
    run: u32,
    folder: &Path,
    rows_kept: usize,
) -> Result<Option<WrittenFile>, LakeError> {
    let row_count = bucket.rows.row_ids.len();
    if row_count == 0 {
        return Ok(None);
    }
    bucket.order();
    let beside = folder.join(format!("bucket-{idx:04}-run-{run}.parquet"));
    let fail = |kind| LakeError::new(&beside, kind);
    let file = File::create(&beside).map_err(|error| fail(LakeErrorKind::Io(error)))?;
    let mut sums = Summed::of(file);
    write_parquet(&bucket.rows, &mut sums).map_err(|error| fail(of_parquet(error)))?;
    let (bytes, crc32) = sums.finish().map_err(|error| fail(LakeErrorKind::Io(error)))?;
    bucket.clear(rows_kept);
    let bucket = u32::try_from(idx).expect("there are few buckets");
    Ok(Some(WrittenFile { beside, bucket, run, rows: row_count as u64, bytes, crc32 }))
}

/// Writes the rows straight from our columns, without a detour through Arrow.
fn write_parquet(rows: &RowBlock, file: &mut Summed) -> Result<(), ParquetError> {
    let properties = Arc::new(properties(rows.column_list()));
    let schema = parquet_schema(rows.table, rows.column_list())?;
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), properties)?;
    let row_count = rows.row_ids.len();
    for start in (0..row_count).step_by(ROW_GROUP_ROWS) {
        let range = start..row_count.min(start + ROW_GROUP_ROWS);
        let mut group = writer.next_row_group()?;
        if let Some(mut column) = group.next_column()? {
            column.typed::<Int64Type>().write_batch(&rows.row_ids[range.clone()], None, None)?;
            column.close()?;
        }
        for (data, kind) in rows.columns.iter().zip(rows.column_list()) {
            let mut column =
                group.next_column()?.expect("the schema has as many columns as the table");
            write_column(&mut column, data, range.clone(), kind.is_mandatory)?;
            column.close()?;
        }
        group.close()?;
    }
    writer.close().map(|_| ())
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    data: &ColumnData,
    rows: std::ops::Range<usize>,
    is_mandatory: bool,
) -> Result<(), ParquetError> {
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
            let names: Vec<ByteArray> = rows
                .filter(|row| is_there(row - first))
                .map(|row| ByteArray::from(bytes.slice(range_of(ends, row))))
                .collect();
            writer.typed::<ByteArrayType>().write_batch(&names, levels, None)?;
        }
        Cells::Lists { ends, values } => {
            // Levels are per value; an empty list and a missing one take a place each.
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

/// 1 for a cell that is there, 0 for a missing one.
fn definition_levels(nulls: &[u32], rows: &std::ops::Range<usize>) -> Vec<i16> {
    let mut levels = vec![1; rows.len()];
    let first = nulls.partition_point(|&null| (null as usize) < rows.start);
    for &null in nulls[first..].iter().take_while(|&&null| (null as usize) < rows.end) {
        levels[null as usize - rows.start] = 0;
    }
    levels
}

/// A full disk shows up inside the Parquet writer; it stays an error of the machine.
fn of_parquet(error: ParquetError) -> LakeErrorKind {
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
    Type::group_type_builder(table.name()).with_fields(fields).build()
}

/// An optional list of numbers, in the three levels that the format asks for.
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

/// The table's columns as Arrow knows them.
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
        .set_column_encoding(ColumnPath::from(ROW_ID), Encoding::DELTA_BINARY_PACKED);
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
