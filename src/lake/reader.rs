//! Columns of a bucket out of the lake.
//!
//! In: a lake folder. Out: record batches of the asked-for columns, file by file in the order of
//! the manifest. Only files that the manifest records are read, and only if they are the ones it
//! recorded; what else lies in the folder is never looked at.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use arrow::record_batch::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rayon::prelude::*;

use super::manifest::{FileEntry, Manifest, TableEntry};
use super::writer::arrow_schema;
use super::{LakeError, LakeErrorKind};
use crate::files;
use crate::progress;
use crate::schema::{Source, Table};

/// Rows per batch: columns of this length fit a core's cache.
const BATCH_ROWS: usize = 1 << 16;

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
            LakeErrorKind::NoTable(table)
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

    /// Paths of the files of a table in a bucket (or all buckets), each checked.
    pub fn paths(&self, table: Table, bucket: Option<u32>) -> Result<Vec<PathBuf>, LakeError> {
        self.files(table, bucket).into_iter().map(|file| self.check_file(file)).collect()
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
        let wanted = arrow_schema(table, self.source());
        for &column in columns {
            let expected =
                wanted.field_with_name(column).expect("callers name columns of the table");
            let found = builder.schema().field_with_name(column);
            if !found.is_ok_and(|found| found.data_type() == expected.data_type()) {
                return Err(fail(LakeErrorKind::Column { column }));
            }
        }
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
            take(batch.project(&order).expect("indices are in range"));
        }
        Ok(())
    }
}
