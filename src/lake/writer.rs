//! Rows of a few consecutive parts to one Parquet file per bucket.
//!
//! In: row blocks in file order. Out: synced files in a folder beside the lake's tables, and the
//! entries that describe them; the caller renames them into place. Memory holds at most
//! [`RUN_ROWS_MAX`] rows at a time: after that a run of files is written and the next begun.
//!
//! Inside a file rows stand in the order of (time, `row_id`). Parts of the real trace are in time
//! order already, so this is a check and no sort.
//!
//! Encodings are chosen for the reader as much as for the writer: whole numbers as
//! `DELTA_BINARY_PACKED`, quantities as `BYTE_STREAM_SPLIT`, names with a dictionary, all under
//! LZ4. Decisions in the crate documentation has the measurements.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float32Array, Int32Array, Int64Array, StringArray};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;

use super::{LakeError, LakeErrorKind};
use crate::schema::{self, ColumnType, ROW_ID, Table};
use crate::sources::{Cells, ColumnData, RowBlock};

/// Most rows held in memory by one writer.
const RUN_ROWS_MAX: usize = 4 << 20;

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
}

/// Collects the rows of a segment and writes them bucket by bucket.
pub(crate) struct SegmentWriter {
    table: Table,
    bucket_count: u32,
    folder: PathBuf,
    blocks: Vec<SpreadBlock>,
    row_count: usize,
    last_time: i64,
    is_in_time_order: bool,
    run: u32,
    files: Vec<WrittenFile>,
}

/// A block with its rows listed bucket by bucket.
struct SpreadBlock {
    block: RowBlock,
    rows: Vec<u32>,
    starts: Vec<u32>,
}

impl SpreadBlock {
    /// Lists the rows by bucket, in file order within each (a counting sort).
    #[expect(clippy::cast_possible_truncation, reason = "a block has far fewer than 2^32 rows")]
    fn new(block: RowBlock, bucket_count: u32) -> Self {
        let row_count = block.row_ids.len() as u32;
        let Some(job_column) = block.table.job_column().filter(|_| 1 < bucket_count) else {
            return Self { block, rows: (0..row_count).collect(), starts: vec![0, row_count] };
        };
        let buckets: Vec<u32> =
            block.i64_cells(job_column).iter().map(|&job| schema::bucket_of(job, bucket_count)).collect();
        let mut starts = vec![0_u32; bucket_count as usize + 1];
        for &bucket in &buckets {
            starts[bucket as usize + 1] += 1;
        }
        for bucket in 0..bucket_count as usize {
            starts[bucket + 1] += starts[bucket];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; buckets.len()];
        for (row, &bucket) in buckets.iter().enumerate() {
            let slot = &mut next[bucket as usize];
            rows[*slot as usize] = row as u32;
            *slot += 1;
        }
        Self { block, rows, starts }
    }

    fn rows_of(&self, bucket: u32) -> &[u32] {
        let bucket = bucket as usize;
        &self.rows[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }
}

/// The rows of one bucket: where each lies, block by block, in the order of the file.
enum Selection<'a> {
    /// Blocks one after the other.
    InOrder(Vec<(&'a RowBlock, &'a [u32])>),
    /// Rows put in order by time.
    Sorted(Vec<(&'a RowBlock, u32)>),
}

impl Selection<'_> {
    fn len(&self) -> usize {
        match self {
            Self::InOrder(chunks) => chunks.iter().map(|(_, rows)| rows.len()).sum(),
            Self::Sorted(rows) => rows.len(),
        }
    }

    fn gather<T: Copy>(&self, cells: impl Fn(&RowBlock) -> &[T]) -> Vec<T> {
        let mut gathered = Vec::with_capacity(self.len());
        match self {
            Self::InOrder(chunks) => {
                for (block, rows) in chunks {
                    let cells = cells(block);
                    gathered.extend(rows.iter().map(|&row| cells[row as usize]));
                }
            }
            Self::Sorted(rows) => {
                gathered.extend(rows.iter().map(|&(block, row)| cells(block)[row as usize]));
            }
        }
        gathered
    }

    /// Which cells are there; `None` when all are.
    fn validity(&self, column_idx: usize) -> Option<NullBuffer> {
        let column = |block: &RowBlock| -> Vec<bool> {
            let mut valid = vec![true; block.row_ids.len()];
            for &row in &block.columns[column_idx].nulls {
                valid[row as usize] = false;
            }
            valid
        };
        let has_nulls = |block: &RowBlock| !block.columns[column_idx].nulls.is_empty();
        let valid: Vec<bool> = match self {
            Self::InOrder(chunks) => {
                if !chunks.iter().any(|(block, _)| has_nulls(block)) {
                    return None;
                }
                chunks
                    .iter()
                    .flat_map(|(block, rows)| {
                        let valid = column(block);
                        rows.iter().map(move |&row| valid[row as usize]).collect::<Vec<bool>>()
                    })
                    .collect()
            }
            Self::Sorted(rows) => {
                if !rows.iter().any(|(block, _)| has_nulls(block)) {
                    return None;
                }
                rows.iter()
                    .map(|(block, row)| block.columns[column_idx].nulls.binary_search(row).is_err())
                    .collect()
            }
        };
        Some(NullBuffer::from(valid)).filter(|nulls| 0 < nulls.null_count())
    }

    fn gather_text(&self, column_idx: usize) -> StringArray {
        let mut offsets: Vec<i32> = Vec::with_capacity(self.len() + 1);
        offsets.push(0);
        let mut bytes = String::new();
        let mut push = |data: &ColumnData, row: u32| {
            let Cells::Text { ends, bytes: names } = &data.cells else {
                unreachable!("a text column holds text");
            };
            let start = if row == 0 { 0 } else { ends[row as usize - 1] as usize };
            bytes.push_str(&names[start..ends[row as usize] as usize]);
            offsets.push(i32::try_from(bytes.len()).expect("a run of rows has less than 2 GiB of names"));
        };
        match self {
            Self::InOrder(chunks) => {
                for (block, rows) in chunks {
                    rows.iter().for_each(|&row| push(&block.columns[column_idx], row));
                }
            }
            Self::Sorted(rows) => rows.iter().for_each(|&(block, row)| push(&block.columns[column_idx], row)),
        }
        StringArray::new(
            OffsetBuffer::new(ScalarBuffer::from(offsets)),
            Buffer::from(bytes.into_bytes()),
            self.validity(column_idx),
        )
    }

    fn array(&self, kind: ColumnType, column_idx: usize) -> ArrayRef {
        let nulls = || self.validity(column_idx);
        macro_rules! cells {
            ($variant:ident) => {
                self.gather(|block| match &block.columns[column_idx].cells {
                    Cells::$variant(cells) => cells.as_slice(),
                    _ => unreachable!("cells are made from the column's kind"),
                })
            };
        }
        match kind {
            ColumnType::Time | ColumnType::Id => Arc::new(Int64Array::new(cells!(I64).into(), nulls())),
            ColumnType::Int | ColumnType::Event(_) => Arc::new(Int32Array::new(cells!(I32).into(), nulls())),
            ColumnType::Float => Arc::new(Float32Array::new(cells!(F32).into(), nulls())),
            ColumnType::Bool => Arc::new(BooleanArray::new(BooleanBuffer::from(cells!(Bool)), nulls())),
            ColumnType::Text => Arc::new(self.gather_text(column_idx)),
        }
    }
}

impl SegmentWriter {
    /// A writer of one segment of `table`, whose files lie in `folder` until they are published.
    pub(crate) fn new(table: Table, bucket_count: u32, folder: &Path) -> Self {
        Self {
            table,
            bucket_count: if table.job_column().is_some() { bucket_count } else { 1 },
            folder: folder.to_owned(),
            blocks: Vec::new(),
            row_count: 0,
            last_time: i64::MIN,
            is_in_time_order: true,
            run: 0,
            files: Vec::new(),
        }
    }

    /// Takes the next block.
    pub(crate) fn push(&mut self, block: RowBlock) -> Result<(), LakeError> {
        for &time in block.i64_cells(0) {
            self.is_in_time_order &= self.last_time <= time;
            self.last_time = time;
        }
        self.row_count += block.row_ids.len();
        self.blocks.push(SpreadBlock::new(block, self.bucket_count));
        if RUN_ROWS_MAX <= self.row_count { self.flush() } else { Ok(()) }
    }

    /// Writes what is left and returns the files.
    pub(crate) fn finish(mut self) -> Result<Vec<WrittenFile>, LakeError> {
        self.flush()?;
        Ok(self.files)
    }

    fn flush(&mut self) -> Result<(), LakeError> {
        let written: Result<Vec<Option<WrittenFile>>, LakeError> =
            (0..self.bucket_count).into_par_iter().with_max_len(1).map(|bucket| self.write_bucket(bucket)).collect();
        self.files.extend(written?.into_iter().flatten());
        self.blocks.clear();
        self.row_count = 0;
        self.last_time = i64::MIN;
        self.is_in_time_order = true;
        self.run += 1;
        Ok(())
    }

    fn select(&self, bucket: u32) -> Selection<'_> {
        let chunks = self.blocks.iter().map(|spread| (&spread.block, spread.rows_of(bucket)));
        if self.is_in_time_order {
            return Selection::InOrder(chunks.collect());
        }
        let mut rows: Vec<(&RowBlock, u32)> =
            chunks.flat_map(|(block, rows)| rows.iter().map(move |&row| (block, row))).collect();
        rows.sort_by_key(|&(block, row)| (block.i64_cells(0)[row as usize], block.row_ids[row as usize]));
        Selection::Sorted(rows)
    }

    fn write_bucket(&self, bucket: u32) -> Result<Option<WrittenFile>, LakeError> {
        let selection = self.select(bucket);
        let rows = selection.len();
        if rows == 0 {
            return Ok(None);
        }
        let beside = self.folder.join(format!("bucket-{bucket:04}-run-{}.parquet", self.run));
        let fail = |kind| LakeError::new(&beside, kind);
        let mut arrays: Vec<ArrayRef> =
            vec![Arc::new(Int64Array::new(selection.gather(|block| block.row_ids.as_slice()).into(), None))];
        for (column_idx, column) in self.table.columns().iter().enumerate() {
            arrays.push(selection.array(column.kind, column_idx));
        }
        let schema = arrow_schema(self.table);
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).expect("columns are of one length");
        let file = File::create(&beside).map_err(|error| fail(LakeErrorKind::Io(error)))?;
        let options =
            ArrowWriterOptions::new().with_properties(properties(self.table)).with_skip_arrow_metadata(true);
        let mut writer = ArrowWriter::try_new_with_options(file, schema, options).map_err(|error| fail(of_parquet(error)))?;
        writer.write(&batch).map_err(|error| fail(of_parquet(error)))?;
        let file = writer.into_inner().map_err(|error| fail(of_parquet(error)))?;
        file.sync_all().map_err(|error| fail(LakeErrorKind::Io(error)))?;
        let bytes = fs::metadata(&beside).map_err(|error| fail(LakeErrorKind::Io(error)))?.len();
        Ok(Some(WrittenFile { beside, bucket, run: self.run, rows: rows as u64, bytes }))
    }
}

/// A full disk shows up inside the Parquet writer; it stays an error of the machine.
fn of_parquet(error: parquet::errors::ParquetError) -> LakeErrorKind {
    match error {
        parquet::errors::ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => LakeErrorKind::Io(*error),
            Err(inner) => LakeErrorKind::Parquet(parquet::errors::ParquetError::External(inner)),
        },
        other => LakeErrorKind::Parquet(other),
    }
}

/// The table's columns as Arrow and Parquet know them.
pub(crate) fn arrow_schema(table: Table) -> SchemaRef {
    let mut fields = vec![Field::new(ROW_ID, DataType::Int64, false)];
    fields.extend(table.columns().iter().map(|column| {
        let data_type = match column.kind {
            ColumnType::Time | ColumnType::Id => DataType::Int64,
            ColumnType::Int | ColumnType::Event(_) => DataType::Int32,
            ColumnType::Float => DataType::Float32,
            ColumnType::Bool => DataType::Boolean,
            ColumnType::Text => DataType::Utf8,
        };
        Field::new(column.name, data_type, !column.is_mandatory)
    }));
    Arc::new(Schema::new(fields))
}

fn properties(table: Table) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_created_by(crate::PROGRAM.to_owned())
        .set_column_encoding(ColumnPath::from(ROW_ID), Encoding::DELTA_BINARY_PACKED);
    for column in table.columns() {
        let path = ColumnPath::from(column.name);
        properties = match column.kind {
            ColumnType::Time | ColumnType::Id | ColumnType::Int | ColumnType::Event(_) => {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            ColumnType::Float => properties.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
            ColumnType::Text => properties.set_column_dictionary_enabled(path, true),
            ColumnType::Bool => properties,
        };
    }
    properties.build()
}
