//! Checks that the files of a lake are what an ingest wrote, byte by byte and row by row.
//!
//! In: a lake. Out: nothing, or the first file at fault. A checksum shows that a file is the
//! recorded one. In addition, each part must have each of its rows once, and other programs must
//! find the same rows.

use std::collections::BTreeMap;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use parquet::file::metadata::RowGroupMetaData;
use rayon::prelude::*;

use super::encode::BUCKET;
use super::manifest::{FileEntry, MANIFEST, PartEntry};
use super::reader::{Lake, whole_file};
use super::segment::moved;
use super::{LakeError, LakeErrorKind};
use crate::files;
use crate::schema::{ROW_ID, ROW_ID_LINE_BITS, Table};

impl Lake {
    /// Reads every recorded file and compares its checksum, so that any changed byte is found.
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

    /// Compares the footer of every file, by which other programs find the rows, with the
    /// stretches, and the whole file with its checksum. Checksums of stretches are compared as they
    /// are read ([`Lake::compared`]).
    pub fn check_footers(&self) -> Result<(), LakeError> {
        let of_table = |&table: &Table| self.files(table).iter().map(move |file| (table, file));
        let files: Vec<(Table, &FileEntry)> = Table::ALL.iter().flat_map(of_table).collect();
        files.into_par_iter().try_for_each(|(table, file)| {
            let path = self.check_file(file)?;
            let fail = |kind| LakeError::new(&path, kind);
            let known = file.stretches.places();
            let known = known.map(|(start, stretch)| (start, stretch.bytes, stretch.crc32));
            let sum = files::crc32_around(&path, known)
                .map_err(|error| fail(LakeErrorKind::Io(error)))?;
            if sum != file.crc32 {
                return Err(fail(LakeErrorKind::OtherFile("its checksum differs".to_owned())));
            }
            let mut listed: Vec<RowGroupMetaData> = Vec::new();
            for (start, stretch) in file.stretches.places() {
                let about = self.open_stretch(table, file, (start, stretch))?.about;
                for group in about.metadata().row_groups() {
                    let moved = moved(group, listed.len(), start);
                    listed.push(moved.map_err(|error| fail(LakeErrorKind::Parquet(error)))?);
                }
            }
            let whole = whole_file(&path).map_err(fail)?;
            if whole.metadata().row_groups() != listed {
                let problem = "its footer differs from the footers of its buckets".to_owned();
                return Err(fail(LakeErrorKind::OtherFile(problem)));
            }
            Ok(())
        })
    }

    /// Checks that each part has each of its rows once, in any bucket.
    pub fn check_rows(&self) -> Result<(), LakeError> {
        for (name, entry) in &self.manifest.tables {
            let table: Table = name.parse().expect("names in a manifest are tables");
            let buckets = if table.job_column().is_some() { self.bucket_count() } else { 1 };
            let found: Result<Vec<BTreeMap<i64, Held>>, LakeError> = (0..buckets)
                .into_par_iter()
                .with_max_len(1)
                .map(|bucket| self.held_of_parts(table, bucket))
                .collect();
            let mut held: BTreeMap<i64, Held> = BTreeMap::new();
            for (part, more) in found?.into_iter().flatten() {
                held.entry(part).or_default().absorb(more);
            }
            for part in &entry.parts {
                let found = held.remove(&i64::from(part.part)).unwrap_or_default();
                if let Some(problem) = found.contradiction(part) {
                    let problem = format!("part {} of `{table}` {problem}", part.part);
                    return Err(self.inconsistent(problem));
                }
            }
            if let Some(part) = held.keys().next() {
                let problem =
                    format!("`{table}` has rows of part {part}, which is not in the lake");
                return Err(self.inconsistent(problem));
            }
        }
        Ok(())
    }

    /// The error for a manifest that its files contradict.
    fn inconsistent(&self, problem: String) -> LakeError {
        LakeError::new(&self.path.join(MANIFEST), LakeErrorKind::Inconsistent(problem))
    }

    /// The rows of a bucket by part; a duplicate row is an error that names its file.
    fn held_of_parts(&self, table: Table, bucket: u32) -> Result<BTreeMap<i64, Held>, LakeError> {
        let files = self.files(table);
        // The column by which other programs find the rows of a bucket is checked too.
        let spread = table.job_column().map(|_| BUCKET);
        let time = table.columns(self.source())[0].name;
        let columns: Vec<&'static str> = [ROW_ID, time].into_iter().chain(spread).collect();
        let mut rows: Vec<(i64, usize)> = Vec::new();
        let mut held: BTreeMap<i64, Held> = BTreeMap::new();
        for (idx, file) in files.iter().enumerate() {
            self.scan_file(table, file, Some(bucket), &columns, &mut |batch| {
                let (ids, times) = (i64_cells(&batch, 0), i64_cells(&batch, 1));
                rows.extend(ids.iter().map(|&id| (id, idx)));
                let part_of = |id: i64| id >> ROW_ID_LINE_BITS;
                let mut from = 0;
                for run in ids.chunk_by(|one, other| part_of(*one) == part_of(*other)) {
                    let held = held.entry(part_of(run[0])).or_default();
                    times[from..from + run.len()].iter().for_each(|&time| held.add(time));
                    from += run.len();
                }
            })?;
        }
        #[expect(clippy::stable_sort_primitive, reason = "it is quick where rows are in order")]
        rows.sort();
        if let Some(pair) = rows.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let path = self.path.join(&files[pair[1].1].path);
            let other = &files[pair[0].1].path;
            let problem = format!("repeats row {} of `{other}`", pair[0].0);
            return Err(LakeError::new(&path, LakeErrorKind::Column { column: ROW_ID, problem }));
        }
        Ok(held)
    }
}

/// The rows of a part in the files.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    rows: u64,
    /// The first time, 2^63-1 included.
    min_time_us: Option<i64>,
    /// The last time except 2^63-1.
    max_time_us: Option<i64>,
}

impl Held {
    fn add(&mut self, time_us: i64) {
        let known = (time_us != i64::MAX).then_some(time_us);
        self.absorb(Self { rows: 1, min_time_us: Some(time_us), max_time_us: known });
    }

    fn absorb(&mut self, other: Self) {
        self.rows += other.rows;
        self.min_time_us = self.min_time_us.into_iter().chain(other.min_time_us).min();
        self.max_time_us = self.max_time_us.max(other.max_time_us);
    }

    /// What the manifest says about the part, if the files contradict it.
    fn contradiction(&self, part: &PartEntry) -> Option<String> {
        let shown = |time: Option<i64>| time.map_or("none".to_owned(), |time| format!("{time} us"));
        let times = [
            ("first", part.min_time_us, self.min_time_us),
            ("last", part.max_time_us, self.max_time_us),
        ];
        if part.rows != self.rows {
            return Some(format!("has {} rows, but its files have {}", part.rows, self.rows));
        }
        times.into_iter().find(|(_, said, found)| said != found).map(|(end, said, found)| {
            let (said, found) = (shown(said), shown(found));
            format!("has {said} as its {end} time, but its files have {found}")
        })
    }
}

/// The cells of a column of whole numbers.
fn i64_cells(batch: &RecordBatch, column: usize) -> &[i64] {
    batch.column(column).as_primitive::<Int64Type>().values()
}
