//! Reads columns of a bucket from the lake.
//!
//! In: a lake folder. Out: record batches of the requested columns, file by file in the order of
//! the manifest. Only files that the manifest records are read, and only if they are unchanged;
//! other files in the folder are ignored. In a file, only the requested columns in the stretches of
//! the bucket are read. Every returned cell has been checked ([`super::check`]): callers may rely
//! on types, ranges and mandatory columns.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use rayon::prelude::*;

use super::check::{RowCheck, all_columns, check_types, unproven};
use super::encode::of_parquet;
use super::manifest::{FileEntry, Manifest, TableEntry};
use super::segment::{Piece, Stretch, range_of_chunk};
use super::{LakeError, LakeErrorKind};
use crate::progress::{self, Watch};
use crate::schema::{JOINED_SAMPLE, Source, Table};

/// Rows per batch: columns of this length fit into a core's cache.
const BATCH_ROWS: usize = 1 << 16;

/// A stretch that is open for reading.
pub(super) struct OpenStretch {
    path: PathBuf,
    piece: Piece,
    /// The contents of its footer.
    pub(super) about: ArrowReaderMetadata,
}

/// Whether bytes are compared with their checksum when they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sums {
    /// Yes: a stretch is read as a whole, once.
    Compared,
    /// No: only `verify`, or a failed read, compares them.
    Trusted,
}

/// An open lake.
#[derive(Clone, Debug)]
pub struct Lake {
    /// The folder.
    pub path: PathBuf,
    /// Its contents.
    pub manifest: Manifest,
    sums: Sums,
    /// Receives the progress of a call; if `None`, the command line receives it.
    watch: Option<Arc<Watch>>,
}

impl Lake {
    /// Opens a lake and reads its manifest.
    ///
    /// # Errors
    /// There is no lake, it is damaged, or of another version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LakeError> {
        let path = path.as_ref();
        let watch = None;
        match Manifest::load(path)? {
            Some(manifest) => {
                Ok(Self { path: path.to_owned(), manifest, sums: Sums::Trusted, watch })
            }
            None => Err(LakeError::new(path, LakeErrorKind::NoLake)),
        }
    }

    /// The same lake, with every byte compared with its checksum before use.
    #[must_use]
    pub fn compared(&self) -> Self {
        Self { sums: Sums::Compared, ..self.clone() }
    }

    /// The same lake. Its reads report their progress to `watch`. If `watch` requests a stop, they
    /// end with [`LakeErrorKind::Cancelled`], and partial results are dropped.
    #[doc(hidden)]
    #[must_use]
    pub fn watched(&self, watch: &Arc<Watch>) -> Self {
        Self { watch: Some(Arc::clone(watch)), ..self.clone() }
    }

    /// Reports that this many more rows are done.
    pub(crate) fn step(&self, rows: u64) -> Result<(), LakeError> {
        let Some(watch) = &self.watch else {
            progress::step(rows);
            return Ok(());
        };
        if watch.step(rows).is_break() {
            return Err(LakeError::new(&self.path, LakeErrorKind::Cancelled));
        }
        Ok(())
    }

    /// The kind of trace.
    pub fn source(&self) -> Source {
        self.manifest.source
    }

    /// Whether the table has a column in lakes of this source (even if it is not in this lake).
    pub fn has_column(&self, table: Table, column: &str) -> bool {
        table.column_idx(self.source(), column).is_some()
    }

    /// The values of `key` in the header of the log; none if the header lacks the key.
    pub fn header<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.header_lines().filter(move |(name, _)| *name == key).map(|(_, value)| value)
    }

    /// The header of the log: keys and values in order.
    pub fn header_lines(&self) -> impl Iterator<Item = (&str, &str)> {
        let parts = self.manifest.tables.values().flat_map(|entry| &entry.parts);
        let lines = parts.flat_map(|part| &part.header);
        lines.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Assumptions about the rows of a table, by their text, with how often each was made.
    pub fn remarks(&self, table: Table) -> BTreeMap<&str, u64> {
        let mut remarks = BTreeMap::new();
        let parts = self.manifest.table(table).map_or(&[][..], |entry| entry.parts.as_slice());
        for (wording, count) in parts.iter().flat_map(|part| &part.remarks) {
            *remarks.entry(wording.as_str()).or_default() += count;
        }
        remarks
    }

    /// Whether it has only some rows of its trace, so that most events of a task are missing.
    pub fn is_sample(&self) -> bool {
        self.remarks(Table::TaskEvents).contains_key(JOINED_SAMPLE)
    }

    /// The number of buckets over which jobs are spread.
    pub fn bucket_count(&self) -> u32 {
        self.manifest.bucket_count
    }

    /// Announces to the progress that all rows of some tables will be read, and returns the number
    /// of rows per bucket.
    pub(crate) fn expect_rows(&self, tables: &[Table]) -> u64 {
        let rows = tables.iter().filter_map(|&table| self.manifest.table(table));
        let rows = rows.map(TableEntry::rows).sum::<u64>();
        let buckets = u64::from(self.bucket_count()).max(1);
        match &self.watch {
            Some(watch) => watch.expect(rows / buckets * buckets),
            None => progress::expect(rows / buckets * buckets),
        }
        rows / buckets
    }

    /// The number of rows of a table in a bucket, as recorded in the manifest.
    pub(crate) fn rows_of(&self, table: Table, bucket: u32) -> usize {
        let stretches = self.files(table).iter().flat_map(|file| places_of(file, Some(bucket)));
        let rows = stretches.fold(0, |sum: u64, (_, stretch)| sum.saturating_add(stretch.rows));
        // Memory is never reserved for more rows than 32 bits can number, even if a record is
        // damaged.
        u32::try_from(rows).unwrap_or(0) as usize
    }

    /// Whether the lake has any part of the table.
    pub fn has(&self, table: Table) -> bool {
        self.manifest.table(table).is_some()
    }

    /// The entry of a table, or an error that names it.
    pub fn require(&self, table: Table) -> Result<&TableEntry, LakeError> {
        self.manifest.table(table).ok_or_else(|| LakeError::new(&self.path, self.without(table)))
    }

    /// Refuses a lake of a kind of trace that records no GPUs.
    ///
    /// # Errors
    /// The kind of trace has none.
    pub fn require_gpus(&self) -> Result<(), LakeError> {
        self.require(Table::TaskEvents)?;
        if self.has_column(Table::TaskEvents, "gpu_request") {
            return Ok(());
        }
        Err(LakeError::new(&self.path, LakeErrorKind::NoGpus(self.source())))
    }

    /// The reason why a table is missing.
    fn without(&self, table: Table) -> LakeErrorKind {
        let kind = self.source();
        if kind.tables().contains(&table) {
            LakeErrorKind::NoTable { table, kind }
        } else {
            LakeErrorKind::NeverThere { table, kind }
        }
    }

    /// The files of a table.
    pub fn files(&self, table: Table) -> &[FileEntry] {
        self.manifest.table(table).map_or(&[][..], |entry| entry.files.as_slice())
    }

    /// Checks that a recorded file exists and has its recorded size.
    pub(super) fn check_file(&self, file: &FileEntry) -> Result<PathBuf, LakeError> {
        let path = self.path.join(&file.path);
        let other = |problem: String| LakeError::new(&path, LakeErrorKind::OtherFile(problem));
        let found = std::fs::metadata(&path).map_err(|error| other(error.to_string()))?.len();
        if found != file.bytes {
            return Err(other(format!("it has {found} bytes, not {}", file.bytes)));
        }
        Ok(path)
    }

    /// Paths of the files of a table, for an engine that reads them itself. Each file is checked,
    /// and so are the cells of the columns for which `is_read` returns true.
    pub fn paths(
        &self,
        table: Table,
        is_read: impl Fn(&str) -> bool,
    ) -> Result<Vec<PathBuf>, LakeError> {
        let all = all_columns(table, self.source());
        let read: Vec<&'static str> = all.iter().copied().filter(|name| is_read(name)).collect();
        let check = |file: &FileEntry| {
            let path = self.check_file(file)?;
            let fail = |kind| LakeError::new(&path, kind);
            let about = whole_file(&path).map_err(fail)?;
            check_count(about.metadata().file_metadata().num_rows(), file.rows).map_err(fail)?;
            check_types(table, self.source(), &all, about.schema()).map_err(fail)?;
            let unproven = unproven(table, self.source(), &read, about.metadata());
            if !unproven.is_empty() {
                self.scan_file(table, file, None, &unproven, &mut |_| ())?;
            }
            Ok(path)
        };
        self.files(table).iter().map(check).collect()
    }

    /// The stretches of a bucket as Parquet files in memory, for an engine that reads them itself.
    /// Cells of columns for which `is_read` returns true are checked; those of other columns are
    /// zeros.
    pub fn streams(
        &self,
        table: Table,
        bucket: u32,
        is_read: impl Fn(&str) -> bool,
    ) -> Result<Vec<Vec<u8>>, LakeError> {
        self.check_asked(table, Some(bucket), &[])?;
        let all = all_columns(table, self.source());
        let read: Vec<&'static str> = all.iter().copied().filter(|name| is_read(name)).collect();
        let mut streams = Vec::new();
        for file in self.files(table) {
            let mut rows = None;
            for (start, stretch) in places_of(file, Some(bucket)) {
                let open = self.open_stretch(table, file, (start, stretch))?;
                let fail = |kind| LakeError::new(&open.path, kind);
                check_types(table, self.source(), &all, open.about.schema()).map_err(fail)?;
                let unproven = unproven(table, self.source(), &read, open.about.metadata());
                if !unproven.is_empty() {
                    let rows = rows.get_or_insert_with(|| self.row_check(table, bucket, &unproven));
                    scan_stretch(&open, &unproven, rows, &mut |_| ())?;
                }
                let stream = open.sparse(&read).map_err(fail)?;
                streams.push(stream);
            }
        }
        Ok(streams)
    }

    /// Refuses a bucket or a column that the lake does not have.
    fn check_asked(
        &self,
        table: Table,
        bucket: Option<u32>,
        columns: &[&'static str],
    ) -> Result<(), LakeError> {
        let fail = |kind| Err(LakeError::new(&self.path, kind));
        if let Some(bucket) = bucket.filter(|&bucket| self.bucket_count() <= bucket) {
            return fail(LakeErrorKind::NoBucket { bucket, count: self.bucket_count() });
        }
        columns.iter().try_for_each(|column| self.find_column(table, column).map(drop))
    }

    /// The name of a column of a table, as in the lake.
    ///
    /// # Errors
    /// Lakes of this kind have no such column.
    pub(crate) fn find_column(
        &self,
        table: Table,
        column: &str,
    ) -> Result<&'static str, LakeError> {
        let known = all_columns(table, self.source());
        known.iter().copied().find(|name| *name == column).ok_or_else(|| {
            let column = column.to_owned();
            LakeError::new(&self.path, LakeErrorKind::NoColumn { table, column, known })
        })
    }

    /// A check for the rows of a bucket in a file.
    fn row_check(&self, table: Table, bucket: u32, columns: &[&'static str]) -> RowCheck {
        let span = self.manifest.table(table).map_or((i64::MAX, i64::MIN), TableEntry::span_us);
        RowCheck::new((table, self.source(), self.bucket_count()), span, bucket, columns)
    }

    /// Reads columns of a table in the requested order. The files of one bucket are read one after
    /// another, since callers read buckets in parallel. A thread that waited for files here would
    /// start another bucket, and hold two in memory. With `None` (all buckets), files are read in
    /// parallel.
    pub fn read(
        &self,
        table: Table,
        bucket: Option<u32>,
        columns: &[&'static str],
    ) -> Result<Vec<RecordBatch>, LakeError> {
        if bucket.is_some() {
            let mut batches = Vec::new();
            self.scan(table, bucket, columns, |batch| batches.push(batch))?;
            return Ok(batches);
        }
        self.check_asked(table, None, columns)?;
        let batches: Result<Vec<Vec<RecordBatch>>, LakeError> = self
            .files(table)
            .par_iter()
            .map(|file| {
                let mut batches = Vec::new();
                self.scan_file(table, file, None, columns, &mut |batch| batches.push(batch))?;
                Ok(batches)
            })
            .collect();
        Ok(batches?.into_iter().flatten().collect())
    }

    /// Passes on the batches of a table in a bucket one by one, in the same order.
    pub fn scan(
        &self,
        table: Table,
        bucket: Option<u32>,
        columns: &[&'static str],
        mut take: impl FnMut(RecordBatch),
    ) -> Result<(), LakeError> {
        self.check_asked(table, bucket, columns)?;
        self.files(table)
            .iter()
            .try_for_each(|file| self.scan_file(table, file, bucket, columns, &mut take))
    }

    /// Passes on the batches of a file in the same way.
    pub(super) fn scan_file(
        &self,
        table: Table,
        file: &FileEntry,
        bucket: Option<u32>,
        columns: &[&'static str],
        take: &mut dyn FnMut(RecordBatch),
    ) -> Result<(), LakeError> {
        // The rows of a bucket are ordered by time across its stretches in the file.
        let mut checks: BTreeMap<u32, RowCheck> = BTreeMap::new();
        for (start, stretch) in places_of(file, bucket) {
            self.step(0)?;
            let open = self.open_stretch(table, file, (start, stretch))?;
            check_types(table, self.source(), columns, open.about.schema())
                .map_err(|kind| LakeError::new(&open.path, kind))?;
            let rows = checks
                .entry(stretch.bucket)
                .or_insert_with(|| self.row_check(table, stretch.bucket, columns));
            scan_stretch(&open, columns, rows, take)?;
        }
        Ok(())
    }

    /// Opens a stretch of a recorded file, which must have its recorded rows.
    pub(super) fn open_stretch(
        &self,
        table: Table,
        file: &FileEntry,
        (start, stretch): (u64, Stretch),
    ) -> Result<OpenStretch, LakeError> {
        let path = self.check_file(file)?;
        let fail = |kind| LakeError::new(&path, kind);
        let io = |error| fail(LakeErrorKind::Io(error));
        let mut piece = Piece::open(table, &path, start, stretch.bytes).map_err(io)?;
        if self.sums == Sums::Compared
            && crc32fast::hash(piece.hold_all().map_err(io)?) != stretch.crc32
        {
            return Err(fail(LakeErrorKind::OtherFile("its checksum differs".to_owned())));
        }
        let about = ArrowReaderMetadata::load(&piece, ArrowReaderOptions::new())
            .map_err(|error| fail(of_parquet(error)))?;
        check_count(about.metadata().file_metadata().num_rows(), stretch.rows).map_err(fail)?;
        Ok(OpenStretch { path, piece, about })
    }
}

/// The stretches of a bucket in a file; of all buckets with `None`.
fn places_of(file: &FileEntry, bucket: Option<u32>) -> impl Iterator<Item = (u64, Stretch)> {
    let is_wanted = move |stretch: &Stretch| bucket.is_none_or(|bucket| stretch.bucket == bucket);
    file.stretches.places().filter(move |(_, stretch)| is_wanted(stretch))
}

/// Reads the footer of a whole file.
pub(super) fn whole_file(path: &Path) -> Result<ArrowReaderMetadata, LakeErrorKind> {
    let file = File::open(path).map_err(LakeErrorKind::Io)?;
    ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(of_parquet)
}

fn check_count(found: i64, recorded: u64) -> Result<(), LakeErrorKind> {
    if u64::try_from(found).ok() == Some(recorded) {
        return Ok(());
    }
    Err(LakeErrorKind::OtherFile(format!("it has {found} rows, not {recorded}")))
}

impl OpenStretch {
    /// Byte ranges of the columns of a row group, in file order.
    fn ranges(
        &self,
        group: &RowGroupMetaData,
        mask: &ProjectionMask,
    ) -> Result<Vec<(u64, u64)>, LakeErrorKind> {
        let read = group.columns().iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf));
        let mut ranges = Vec::new();
        for (_, chunk) in read {
            let range = range_of_chunk(chunk);
            let range = range.filter(|(_, end)| *end <= self.piece.size());
            ranges.push(range.ok_or_else(|| {
                let problem = "a column lies outside its block".to_owned();
                LakeErrorKind::Parquet(ParquetError::General(problem))
            })?);
        }
        ranges.sort_unstable();
        Ok(ranges)
    }

    fn mask(&self, columns: &[&'static str]) -> ProjectionMask {
        ProjectionMask::columns(self.about.parquet_schema(), columns.iter().copied())
    }

    /// Its bytes, with zeros in place of other columns.
    fn sparse(&self, columns: &[&'static str]) -> Result<Vec<u8>, LakeErrorKind> {
        let mask = self.mask(columns);
        let (mut all, mut end) = (Vec::new(), 0);
        for group in self.about.metadata().row_groups() {
            all.extend(self.ranges(group, &mask)?);
            let whole = self.ranges(group, &ProjectionMask::all())?;
            end = whole.iter().map(|range| range.1).fold(end, u64::max);
        }
        self.piece.sparse(&all, end).map_err(LakeErrorKind::Io)
    }
}

/// Passes on the batches of a stretch, row group by row group.
fn scan_stretch(
    open: &OpenStretch,
    columns: &[&'static str],
    rows: &mut RowCheck,
    take: &mut dyn FnMut(RecordBatch),
) -> Result<(), LakeError> {
    let fail = |kind| LakeError::new(&open.path, kind);
    let mask = open.mask(columns);
    for (idx, group) in open.about.metadata().row_groups().iter().enumerate() {
        let ranges = open.ranges(group, &mask).map_err(fail)?;
        let piece = open.piece.holding(&ranges).map_err(|error| fail(LakeErrorKind::Io(error)))?;
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(piece, open.about.clone())
            .with_row_groups(vec![idx])
            .with_projection(mask.clone())
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|error| fail(of_parquet(error)))?;
        for batch in reader {
            let batch = batch.map_err(|error| fail(LakeErrorKind::Parquet(error.into())))?;
            // The reader returns columns in file order; callers get the requested order.
            let order: Vec<usize> = columns
                .iter()
                .map(|column| batch.schema().index_of(column).expect("checked above"))
                .collect();
            let batch = batch.project(&order).expect("indices are in range");
            rows.check(&batch).map_err(fail)?;
            take(batch);
        }
    }
    Ok(())
}
