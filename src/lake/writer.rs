//! Writes the rows of a few consecutive parts to Parquet files.
//!
//! In: row blocks in file order. Out: synced files in a folder next to the lake's tables, and the
//! entries that describe them; the caller renames them. At most [`RUN_ROWS_MAX`] rows and
//! [`RUN_TEXT_MAX`] bytes of names are in memory: then the run is written, bucket by bucket, and
//! the next one starts.
//!
//! Inside a bucket of a file, rows are ordered by (time, `row_id`). Parts of the real trace are
//! already ordered by time, so this is usually a check and not a sort; a run that starts before the
//! last row of the same bucket starts another file.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::file::metadata::ParquetMetaData;
use rayon::prelude::*;

use super::encode::{Encoder, of_parquet};
use super::plan::Cut;
use super::segment::{Joiner, Stretches};
use super::{LakeError, LakeErrorKind};
use crate::files::Summed;
use crate::schema::{self, Source, Table};
use crate::sources::RowBlock;

/// Most rows in memory per writer.
const RUN_ROWS_MAX: usize = 3 << 18;

/// Most rows if a lake has so many buckets that their row groups would be small.
const LARGE_RUN_ROWS_MAX: usize = 1 << 20;

/// Most bytes of names in memory per writer: more than usual rows have. During sorting and writing
/// there are up to three copies.
const RUN_TEXT_MAX: usize = 160 << 20;

/// Most bytes of names for a log.
const LOG_RUN_TEXT_MAX: usize = 64 << 20;

/// A lake with at least this many buckets is large.
pub(super) const LARGE_BUCKETS: u32 = 128;

/// Most rows for a log: they have two to three times as many columns, and sorting needs a second
/// copy.
const LOG_RUN_ROWS_MAX: usize = 1 << 18;

/// Most runs in a file: its footer lists every row group, and is in memory until the file ends.
const FILE_RUNS_MAX: u32 = 16;

/// Buckets that are encoded in parallel before they are written in order.
const AT_ONCE: usize = 8;

/// A Parquet file that waits for its final name.
#[derive(Debug)]
pub(crate) struct WrittenFile {
    /// Its temporary path.
    pub beside: PathBuf,
    /// Its number in the segment, from 0.
    pub number: u32,
    pub rows: u64,
    pub bytes: u64,
    pub crc32: u32,
    pub stretches: Stretches,
}

/// Collects the rows of a segment and writes them bucket by bucket.
///
/// One writer is used for many segments of a table in turn and keeps its memory: new memory pages
/// for every segment took a seventh of the time of an ingest.
pub(crate) struct SegmentWriter {
    table: Table,
    source: Source,
    folder: PathBuf,
    buckets: Vec<Bucket>,
    /// Buffers for the streams of buckets that are encoded in parallel.
    streams: Vec<Vec<u8>>,
    row_count: usize,
    text_bytes: usize,
    run_rows_max: usize,
    run_text_max: usize,
    encoder: Option<Encoder>,
    open: Option<OpenFile>,
    files: Vec<WrittenFile>,
}

/// A file that can take further runs.
struct OpenFile {
    beside: PathBuf,
    joiner: Joiner<Summed>,
    runs: u32,
    /// The last time of each bucket.
    last_times: Vec<i64>,
}

impl OpenFile {
    fn create(folder: &Path, number: usize, bucket_count: usize) -> Result<Self, LakeError> {
        let beside = folder.join(format!("segment-{number}.parquet"));
        let fail = |error| LakeError::new(&beside, LakeErrorKind::Io(error));
        let file = File::create(&beside).map_err(fail)?;
        let joiner = Joiner::new(Summed::of(file)).map_err(fail)?;
        Ok(Self { beside, joiner, runs: 0, last_times: vec![i64::MIN; bucket_count] })
    }

    /// Whether the file can take these rows, which are ordered by time: in each bucket, they start
    /// no earlier than the rows in the file end.
    fn takes(&self, buckets: &[Bucket]) -> bool {
        let goes_on = |(last, bucket): (&i64, &Bucket)| {
            bucket.rows.i64_cells(0).first().is_none_or(|first| last <= first)
        };
        self.runs < FILE_RUNS_MAX && self.last_times.iter().zip(buckets).all(goes_on)
    }

    /// Syncs the file to disk.
    fn finish(self, number: usize) -> Result<WrittenFile, LakeError> {
        let fail = |kind| LakeError::new(&self.beside, kind);
        let (sums, stretches) = self.joiner.finish().map_err(|error| fail(of_parquet(error)))?;
        let (bytes, crc32) = sums.finish().map_err(|error| fail(LakeErrorKind::Io(error)))?;
        let rows = stretches.0.iter().map(|stretch| stretch.rows).sum();
        let number = u32::try_from(number).expect("a segment has few files");
        Ok(WrittenFile { beside: self.beside, number, rows, bytes, crc32, stretches })
    }
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

    /// Sorts the rows by (time, `row_id`).
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

    /// Clears the rows and keeps their memory, unless it is far more than a bucket's share:
    /// otherwise a job of very many tasks would enlarge one bucket after another.
    fn clear(&mut self, rows_kept: usize) {
        if rows_kept < self.rows.row_ids.capacity() {
            self.rows = RowBlock::new(self.rows.table, self.rows.source, 0);
        }
        self.rows.clear();
        self.last_time = i64::MIN;
        self.is_in_time_order = true;
    }

    /// Encodes the rows and clears them; `None` if there are none.
    fn encode(
        &mut self,
        number: u32,
        encoder: &Encoder,
        stream: &mut Vec<u8>,
        rows_kept: usize,
    ) -> Result<Option<(ParquetMetaData, u32)>, LakeErrorKind> {
        if self.rows.row_ids.is_empty() {
            return Ok(None);
        }
        let about = encoder.encode(number, &self.rows, stream).map_err(of_parquet)?;
        self.clear(rows_kept);
        Ok(Some((about, crc32fast::hash(stream))))
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
    /// A writer of one segment of `table`, whose files are in `folder` until they are published.
    pub(crate) fn new(
        table: Table,
        source: Source,
        bucket_count: u32,
        folder: &Path,
        cut: Cut,
    ) -> Self {
        let bucket_count = if table.job_column().is_some() { bucket_count } else { 1 };
        let usual = if !source.is_google() {
            LOG_RUN_ROWS_MAX
        } else if LARGE_BUCKETS <= bucket_count {
            LARGE_RUN_ROWS_MAX
        } else {
            RUN_ROWS_MAX
        };
        Self {
            table,
            source,
            folder: folder.to_owned(),
            buckets: (0..bucket_count).map(|_| Bucket::new(table, source)).collect(),
            streams: vec![Vec::new(); AT_ONCE],
            row_count: 0,
            text_bytes: 0,
            run_rows_max: cut.run_rows_max.unwrap_or(usual),
            run_text_max: if source.is_google() { RUN_TEXT_MAX } else { LOG_RUN_TEXT_MAX },
            encoder: None,
            open: None,
            files: Vec::new(),
        }
    }

    /// Adds a block, while it is still in the cache of the core that parsed it.
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

    /// Writes the rest and returns the files; the writer is then ready for the next segment.
    pub(crate) fn finish(&mut self) -> Result<Vec<WrittenFile>, LakeError> {
        self.flush()?;
        self.close_file()?;
        Ok(std::mem::take(&mut self.files))
    }

    /// Drops the rows of a segment that cannot be finished.
    pub(crate) fn abandon(&mut self) {
        let rows_kept = self.rows_kept();
        self.buckets.iter_mut().for_each(|bucket| bucket.clear(rows_kept));
        self.open = None;
        self.files.clear();
        self.row_count = 0;
        self.text_bytes = 0;
    }

    /// The folder of its files until they are published.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The table whose segments this writes.
    pub(crate) fn table(&self) -> Table {
        self.table
    }

    /// The number of rows for which a bucket keeps memory. Vectors grow by doubling, so a bucket
    /// just above its share of a run has room for twice as many.
    fn rows_kept(&self) -> usize {
        self.run_rows_max / self.buckets.len() * 5 / 2
    }

    /// Syncs the file that takes runs to disk.
    fn close_file(&mut self) -> Result<(), LakeError> {
        if let Some(open) = self.open.take() {
            self.files.push(open.finish(self.files.len())?);
        }
        Ok(())
    }

    /// Writes a run.
    fn flush(&mut self) -> Result<(), LakeError> {
        if self.row_count == 0 {
            return Ok(());
        }
        self.buckets.par_iter_mut().with_max_len(1).for_each(Bucket::order);
        if self.open.as_ref().is_some_and(|open| !open.takes(&self.buckets)) {
            self.close_file()?;
        }
        let rows_kept = self.rows_kept();
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                none.insert(OpenFile::create(&self.folder, self.files.len(), self.buckets.len())?)
            }
        };
        let fail = |kind| LakeError::new(&open.beside, kind);
        let encoder = match &mut self.encoder {
            Some(encoder) => encoder,
            none => none.insert(
                Encoder::new(self.table, self.source).map_err(|error| fail(of_parquet(error)))?,
            ),
        };
        for (last, bucket) in open.last_times.iter_mut().zip(&self.buckets) {
            *last = bucket.rows.i64_cells(0).last().copied().unwrap_or(*last);
        }
        for (chunk_idx, chunk) in self.buckets.chunks_mut(AT_ONCE).enumerate() {
            let streams: Result<Vec<_>, LakeErrorKind> = chunk
                .par_iter_mut()
                .zip(&mut self.streams)
                .enumerate()
                .with_max_len(1)
                .map(|(idx, (bucket, stream))| {
                    bucket.encode(number_of(chunk_idx, idx), encoder, stream, rows_kept)
                })
                .collect();
            for (idx, (about, stream)) in
                streams.map_err(fail)?.iter().zip(&self.streams).enumerate()
            {
                let Some((about, crc32)) = about else { continue };
                open.joiner
                    .add(number_of(chunk_idx, idx), stream, about, *crc32)
                    .map_err(|error| fail(of_parquet(error)))?;
            }
        }
        open.runs += 1;
        self.row_count = 0;
        self.text_bytes = 0;
        Ok(())
    }
}

/// The number of a bucket, from its position among those encoded in parallel.
fn number_of(chunk_idx: usize, idx: usize) -> u32 {
    u32::try_from(chunk_idx * AT_ONCE + idx).expect("there are few buckets")
}
