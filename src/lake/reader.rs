//! Columns of a bucket out of the lake.
//!
//! In: a lake folder. Out: record batches of the asked-for columns, file by file in the order of
//! the manifest. Only files that the manifest records are read, and only if they are the ones it
//! recorded; what else lies in the folder is never looked at. Every cell that is handed out has
//! been checked ([`super::check`]): callers may rely on types, ranges and mandatory columns.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rayon::prelude::*;

use super::check::{RowCheck, all_columns, check_types, unproven};
use super::manifest::{FileEntry, MANIFEST, Manifest, TableEntry};
use super::{LakeError, LakeErrorKind};
use crate::files;
use crate::progress;
use crate::schema::{ROW_ID, ROW_ID_LINE_BITS, Source, Table};

/// Rows per batch: columns of this length fit a core's cache.
const BATCH_ROWS: usize = 1 << 16;

/// A file whose rows can be read.
type FileReader = ParquetRecordBatchReaderBuilder<File>;

/// A lake that is read.
#[derive(Clone, Debug)]
pub struct Lake {
    /// The folder.
    pub path: PathBuf,
    /// What it holds.
    pub manifest: Manifest,
}

impl Lake {
    /// Opens a lake and reads its manifest.
    pub fn open(path: &Path) -> Result<Self, LakeError> {
        match Manifest::load(path)? {
            Some(manifest) => Ok(Self { path: path.to_owned(), manifest }),
            None => Err(LakeError::new(path, LakeErrorKind::NoLake)),
        }
    }

    /// The kind of trace that it was made of.
    pub fn source(&self) -> Source {
        self.manifest.source
    }

    /// Whether the table, if it is there, has a column: some have it in lakes of some sources.
    pub fn has_column(&self, table: Table, column: &str) -> bool {
        table.column_idx(self.source(), column).is_some()
    }

    /// What the header of the log says under `key`, line by line; nothing where there is none.
    pub fn header<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.manifest
            .tables
            .values()
            .flat_map(|entry| &entry.parts)
            .flat_map(|part| &part.header)
            .filter(move |(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// What had to be assumed of the rows of a table, with how often, by its wording.
    pub fn remarks(&self, table: Table) -> BTreeMap<&str, u64> {
        let mut remarks = BTreeMap::new();
        let parts = self.manifest.table(table).map_or(&[][..], |entry| entry.parts.as_slice());
        for (wording, count) in parts.iter().flat_map(|part| &part.remarks) {
            *remarks.entry(wording.as_str()).or_default() += count;
        }
        remarks
    }

    /// Over how many buckets jobs are spread.
    pub fn bucket_count(&self) -> u32 {
        self.manifest.bucket_count
    }

    /// Tells the progress that all rows of some tables will be read, and returns how many rows each
    /// bucket stands for.
    pub(crate) fn expect_rows(&self, tables: &[Table]) -> u64 {
        let rows = tables.iter().filter_map(|&table| self.manifest.table(table));
        let rows = rows.map(TableEntry::rows).sum::<u64>();
        let buckets = u64::from(self.bucket_count()).max(1);
        progress::expect(rows / buckets * buckets);
        rows / buckets
    }

    /// Whether any row of the table could be there.
    pub fn has(&self, table: Table) -> bool {
        self.manifest.table(table).is_some()
    }

    /// The entry of a table, or an error that names it.
    pub fn require(&self, table: Table) -> Result<&TableEntry, LakeError> {
        self.manifest.table(table).ok_or_else(|| LakeError::new(&self.path, self.without(table)))
    }

    /// Why a table is not there.
    fn without(&self, table: Table) -> LakeErrorKind {
        let kind = self.source();
        if kind.tables().contains(&table) {
            LakeErrorKind::NoTable { table, kind }
        } else {
            LakeErrorKind::NeverThere { table, kind }
        }
    }

    /// The files of a table in a bucket; of all buckets with `None`.
    pub fn files(&self, table: Table, bucket: Option<u32>) -> Vec<&FileEntry> {
        let entries = self.manifest.table(table).map_or(&[][..], |entry| entry.files.as_slice());
        entries.iter().filter(|file| bucket.is_none_or(|bucket| file.bucket == bucket)).collect()
    }

    /// Reads every recorded file and compares its checksum: no other byte stays unnoticed.
    pub fn check_sums(&self) -> Result<(), LakeError> {
        let files: Vec<&FileEntry> =
            self.manifest.tables.values().flat_map(|entry| &entry.files).collect();
        files.into_par_iter().try_for_each(|file| {
            let path = self.check_file(file)?;
            let fail = |kind| LakeError::new(&path, kind);
            match files::crc32_of(&path) {
                Ok(sum) if sum == file.crc32 => Ok(()),
                Ok(_) => Err(fail(LakeErrorKind::OtherFile("its checksum differs".to_owned()))),
                Err(error) => Err(fail(LakeErrorKind::Io(error))),
            }
        })
    }

    /// Checks that a recorded file is there with its recorded size.
    fn check_file(&self, file: &FileEntry) -> Result<PathBuf, LakeError> {
        let path = self.path.join(&file.path);
        let other = |problem: String| LakeError::new(&path, LakeErrorKind::OtherFile(problem));
        let found = std::fs::metadata(&path).map_err(|error| other(error.to_string()))?.len();
        if found != file.bytes {
            return Err(other(format!("it has {found} bytes, not {}", file.bytes)));
        }
        Ok(path)
    }

    /// Paths of the files of a table in a bucket (or all buckets), for an engine that reads them by
    /// itself: each file is checked, and the cells of the columns for which `is_read` holds.
    pub fn paths(
        &self,
        table: Table,
        bucket: Option<u32>,
        is_read: impl Fn(&str) -> bool,
    ) -> Result<Vec<PathBuf>, LakeError> {
        let all = all_columns(table, self.source());
        let read: Vec<&'static str> = all.iter().copied().filter(|name| is_read(name)).collect();
        let check = |file: &FileEntry| {
            let (path, builder) = self.open_file(file)?;
            let fail = |kind| LakeError::new(&path, kind);
            check_types(table, self.source(), &all, builder.schema()).map_err(fail)?;
            let unproven = unproven(table, self.source(), &read, builder.metadata());
            if !unproven.is_empty() {
                self.scan_file(table, file, &unproven, &mut |_| ())?;
            }
            Ok(path)
        };
        self.files(table, bucket).into_iter().map(check).collect()
    }

    /// Checks that each part has its rows, each once, wherever they lie.
    pub fn check_rows(&self) -> Result<(), LakeError> {
        for (name, entry) in &self.manifest.tables {
            let table: Table = name.parse().expect("a manifest names tables");
            let found: Result<Vec<BTreeMap<i64, u64>>, LakeError> = (0..self.bucket_count())
                .into_par_iter()
                .with_max_len(1)
                .map(|bucket| self.rows_of_parts(table, bucket))
                .collect();
            let mut rows: BTreeMap<i64, u64> = BTreeMap::new();
            for (part, count) in found?.into_iter().flatten() {
                *rows.entry(part).or_default() += count;
            }
            for part in &entry.parts {
                let found = rows.remove(&i64::from(part.part)).unwrap_or(0);
                if found != part.rows {
                    let problem = format!(
                        "part {} of `{table}` has {} rows, its files hold {found}",
                        part.part, part.rows
                    );
                    return Err(self.inconsistent(problem));
                }
            }
            if let Some(part) = rows.keys().next() {
                let problem = format!("`{table}` has rows of part {part}, which is not in it");
                return Err(self.inconsistent(problem));
            }
        }
        Ok(())
    }

    /// The error of a manifest that its files contradict.
    fn inconsistent(&self, problem: String) -> LakeError {
        LakeError::new(&self.path.join(MANIFEST), LakeErrorKind::Inconsistent(problem))
    }

    /// The rows of a bucket by part; a row that is there twice is an error that names its file.
    fn rows_of_parts(&self, table: Table, bucket: u32) -> Result<BTreeMap<i64, u64>, LakeError> {
        let files = self.files(table, Some(bucket));
        let mut rows: Vec<(i64, usize)> = Vec::new();
        for (idx, file) in files.iter().enumerate() {
            self.scan_file(table, file, &[ROW_ID], &mut |batch| {
                let ids = i64_cells(&batch);
                rows.extend(ids.iter().map(|&id| (id, idx)));
            })?;
        }
        rows.sort_unstable();
        if let Some(pair) = rows.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let path = self.path.join(&files[pair[1].1].path);
            let other = &files[pair[0].1].path;
            let problem = format!("holds row {} of `{other}` again", pair[0].0);
            return Err(LakeError::new(&path, LakeErrorKind::Column { column: ROW_ID, problem }));
        }
        let mut parts = BTreeMap::new();
        for (id, _) in rows {
            *parts.entry(id >> ROW_ID_LINE_BITS).or_default() += 1;
        }
        Ok(parts)
    }

    /// Reads columns of a table, in the order asked for: a bucket's one file after the other,
    /// since buckets are read side by side (and a thread that waited for files in here would begin
    /// another bucket meanwhile, and hold two), all buckets' files side by side.
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
        let batches: Result<Vec<Vec<RecordBatch>>, LakeError> = self
            .files(table, None)
            .into_par_iter()
            .map(|file| {
                let mut batches = Vec::new();
                self.scan_file(table, file, columns, &mut |batch| batches.push(batch))?;
                Ok(batches)
            })
            .collect();
        Ok(batches?.into_iter().flatten().collect())
    }

    /// Hands out the batches of a table in a bucket one by one, in the same order.
    pub fn scan(
        &self,
        table: Table,
        bucket: Option<u32>,
        columns: &[&'static str],
        mut take: impl FnMut(RecordBatch),
    ) -> Result<(), LakeError> {
        self.files(table, bucket)
            .into_iter()
            .try_for_each(|file| self.scan_file(table, file, columns, &mut take))
    }

    fn scan_file(
        &self,
        table: Table,
        file: &FileEntry,
        columns: &[&'static str],
        take: &mut dyn FnMut(RecordBatch),
    ) -> Result<(), LakeError> {
        let (path, builder) = self.open_file(file)?;
        let fail = |kind| LakeError::new(&path, kind);
        check_types(table, self.source(), columns, builder.schema()).map_err(fail)?;
        let mut rows = RowCheck::new((table, self.source(), self.bucket_count()), file, columns);
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
        let reader = builder
            .with_projection(mask)
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|error| fail(LakeErrorKind::Parquet(error)))?;
        for batch in reader {
            let batch = batch.map_err(|error| fail(LakeErrorKind::Parquet(error.into())))?;
            // The reader gives columns in the file's order; callers get the order they asked for.
            let order: Vec<usize> = columns
                .iter()
                .map(|column| batch.schema().index_of(column).expect("checked above"))
                .collect();
            let batch = batch.project(&order).expect("indices are in range");
            rows.check(&batch).map_err(fail)?;
            take(batch);
        }
        Ok(())
    }

    /// Opens a recorded file, which must have its recorded rows.
    fn open_file(&self, file: &FileEntry) -> Result<(PathBuf, FileReader), LakeError> {
        let path = self.check_file(file)?;
        let fail = |kind| LakeError::new(&path, kind);
        let input = File::open(&path).map_err(|error| fail(LakeErrorKind::Io(error)))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(input)
            .map_err(|error| fail(LakeErrorKind::Parquet(error)))?;
        let rows = builder.metadata().file_metadata().num_rows();
        if u64::try_from(rows).ok() != Some(file.rows) {
            let problem = format!("it has {rows} rows, not {}", file.rows);
            return Err(fail(LakeErrorKind::OtherFile(problem)));
        }
        Ok((path, builder))
    }
}

/// The cells of the only column, whole numbers.
fn i64_cells(batch: &RecordBatch) -> &[i64] {
    batch.column(0).as_primitive::<Int64Type>().values()
}
