//! The contents of a lake, part by part: `manifest.json`.
//!
//! In: a lake folder. Out: the settings that every writer must follow, and for each raw part its
//! stored rows and files. A part listed here is completely in the lake; any other part is not. The
//! file holds no time of day, so two runs over the same input write the same bytes. Raise
//! [`FORMAT_VERSION`] when a field changes.
//!
//! Each writer owns one file: `manifest.json`, or `manifest-I-of-N.json` with `--shard I/N`, and
//! during a run a journal next to it (`lake::journal`). Readers see the union; the next unsharded
//! `ingest` merges the shards' files into the first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use super::entries::{FileEntry, PartEntry, TableEntry};
use super::journal::{self, JournalEntry};
use super::segment::Stretch;
use super::{LakeError, LakeErrorKind};
use crate::files;
use crate::schema::{FORMAT_VERSION, Source, Table};
use crate::sources::part_count_of_name;

/// The name of the manifest in a lake.
pub const MANIFEST: &str = "manifest.json";

/// Most buckets of a lake; 32 TiB of compressed raw files would give this many.
pub(super) const BUCKETS_MAX: u32 = 1 << 16;

/// The name of the function that spreads jobs over buckets; see [`crate::schema::bucket_of`].
const BUCKET_HASH: &str = "splitmix64(job_id) mod bucket_count";

/// The contents of a lake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the file layout and of the columns.
    pub format_version: u32,
    /// The program that created the lake.
    pub program: String,
    /// The kind of trace.
    pub source: Source,
    /// Whether the raw files are the original trace.
    pub origin: Origin,
    /// Number of buckets over which jobs are spread.
    pub bucket_count: u32,
    /// The function that gives a job's bucket.
    pub bucket_hash: String,
    /// A fingerprint of the key that replaced the names; `None` if they are the original ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anonymized: Option<String>,
    /// The raw parts and the files made of them, by table name.
    pub tables: BTreeMap<String, TableEntry>,
    /// SHA-256 of all fields above as [`Manifest::body`] writes them; only in files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
}

/// Where raw files come from, judging by their folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Downloaded.
    #[default]
    Original,
    /// Made by `jobfate synth` (a `truth.json` is next to the tables).
    Synthetic,
    /// A sample of jobs (a `sample.txt` is next to the tables).
    Sample,
}

impl Origin {
    /// Whether published numbers apply.
    pub fn is_original(self) -> bool {
        self == Self::Original
    }

    /// Finds the origin of a trace folder.
    pub fn of_folder(folder: &Path) -> Self {
        if folder.join("truth.json").exists() {
            Self::Synthetic
        } else if folder.join("sample.txt").exists() {
            Self::Sample
        } else {
            Self::Original
        }
    }
}

impl Manifest {
    /// The manifest of an empty lake.
    pub fn new(source: Source, origin: Origin, bucket_count: u32) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            program: crate::PROGRAM.to_owned(),
            source,
            origin,
            bucket_count,
            bucket_hash: BUCKET_HASH.to_owned(),
            anonymized: None,
            tables: BTreeMap::new(),
            checksum: None,
        }
    }

    /// Adds the fingerprint of the key that replaced the names.
    pub(super) fn anonymized_by(self, anonymized: Option<String>) -> Self {
        Self { anonymized, ..self }
    }

    /// Reads the manifests of a lake, all shards together; `None` if there are none yet.
    pub fn load(lake: &Path) -> Result<Option<Self>, LakeError> {
        let mut all: Option<Self> = None;
        for path in manifest_files(lake)? {
            let part = match Self::load_one(&path) {
                // An `ingest` has merged it into the first one since the folder was listed.
                Err(_) if is_gone(&path) => return Self::load(lake),
                part => part?,
            };
            match &mut all {
                None => all = Some(part),
                Some(all) => all.absorb(part, &path)?,
            }
        }
        Ok(all)
    }

    /// Reads one writer's manifest and its journal. The journal is read first: a writer that merges
    /// it meanwhile stores the manifest before it removes the journal.
    pub(crate) fn load_one(path: &Path) -> Result<Self, LakeError> {
        let fail = |kind| LakeError::new(path, kind);
        let entries = journal::read(path)?;
        let text = fs::read_to_string(path).map_err(|error| fail(LakeErrorKind::Io(error)))?;
        let mut manifest = Self::read(&text).map_err(fail)?;
        if !entries.is_empty() {
            for JournalEntry { table, parts, files } in entries {
                manifest.add(table, TableEntry { parts, files });
            }
            manifest.check().map_err(|problem| fail(LakeErrorKind::Inconsistent(problem)))?;
        }
        Ok(manifest)
    }

    /// Reads the text of an unchanged manifest.
    pub(crate) fn read(text: &str) -> Result<Self, LakeErrorKind> {
        let (manifest, checksum) = Self::parse(text)?;
        if checksum != Some(files::sum_of(&manifest.body())) {
            let problem = "it was changed after `ingest` wrote it: its checksum differs";
            return Err(LakeErrorKind::Inconsistent(problem.to_owned()));
        }
        Ok(manifest)
    }

    /// Reads a text that may have been changed, and the checksum in it.
    pub(crate) fn parse(text: &str) -> Result<(Self, Option<String>), LakeErrorKind> {
        /// Read first, to distinguish another version from a damaged file.
        #[derive(Deserialize)]
        struct Version {
            format_version: u32,
        }
        let version: Version = serde_json::from_str(text).map_err(LakeErrorKind::BadManifest)?;
        if version.format_version != FORMAT_VERSION {
            return Err(LakeErrorKind::OtherVersion { found: version.format_version });
        }
        let mut manifest: Self = serde_json::from_str(text).map_err(LakeErrorKind::BadManifest)?;
        manifest.check().map_err(LakeErrorKind::Inconsistent)?;
        let checksum = manifest.checksum.take();
        Ok((manifest, checksum))
    }

    /// Refuses a manifest that was edited by hand or merged badly.
    fn check(&self) -> Result<(), String> {
        if !(1..=BUCKETS_MAX).contains(&self.bucket_count) {
            let count = self.bucket_count;
            return Err(format!("bucket_count is {count}, not from 1 to {BUCKETS_MAX}"));
        }
        if self.bucket_hash != BUCKET_HASH {
            return Err(format!("bucket_hash is `{}`, not `{BUCKET_HASH}`", self.bucket_hash));
        }
        for (name, entry) in &self.tables {
            let table = name.parse::<Table>().map_err(|error| error.to_string())?;
            let numbers: BTreeSet<u32> = entry.parts.iter().map(|part| part.part).collect();
            if numbers.len() != entry.parts.len() {
                return Err(format!("a part of `{name}` is listed twice"));
            }
            entry.parts.iter().try_for_each(|part| {
                part.check().map_err(|problem| format!("part {} of `{name}` {problem}", part.part))
            })?;
            let mut paths = BTreeSet::new();
            for file in &entry.files {
                if !is_path_of(table, file) {
                    return Err(format!("`{}` is not a file of table `{name}`", file.path));
                }
                file.check_stretches(if table.job_column().is_some() {
                    self.bucket_count
                } else {
                    1
                })?;
                if !paths.insert(&file.path) {
                    return Err(format!("`{}` is listed twice", file.path));
                }
            }
            entry.check_rows(name)?;
        }
        Ok(())
    }

    /// Adds the manifest of another shard.
    fn absorb(&mut self, other: Self, path: &Path) -> Result<(), LakeError> {
        if (other.bucket_count, other.source, other.origin, &other.anonymized)
            != (self.bucket_count, self.source, self.origin, &self.anonymized)
        {
            let problem =
                "its source, origin or bucket count differs from the other shards'".to_owned();
            return Err(LakeError::new(path, LakeErrorKind::Inconsistent(problem)));
        }
        for (name, entry) in other.tables {
            self.add(name, entry);
        }
        self.check().map_err(|problem| LakeError::new(path, LakeErrorKind::Inconsistent(problem)))
    }

    /// Adds the entries of a table that are still missing. A merge that was killed half-way leaves
    /// some entries in two files.
    fn add(&mut self, name: String, entry: TableEntry) {
        let table = self.tables.entry(name).or_default();
        let parts: BTreeMap<u32, &PartEntry> =
            table.parts.iter().map(|part| (part.part, part)).collect();
        let files: BTreeMap<&str, &FileEntry> =
            table.files.iter().map(|file| (file.path.as_str(), file)).collect();
        // A part that was stored as the only file of a log has no known number of parts once the
        // log has more files.
        let is_new_part = |part: &PartEntry| {
            let same = |known: &PartEntry| PartEntry { of: known.of.and(part.of), ..part.clone() };
            parts.get(&part.part).is_none_or(|known| **known != same(known))
        };
        let is_new_file = |file: &FileEntry| files.get(file.path.as_str()) != Some(&file);
        let new_parts: Vec<PartEntry> = entry.parts.into_iter().filter(is_new_part).collect();
        let new_files: Vec<FileEntry> = entry.files.into_iter().filter(is_new_file).collect();
        table.parts.extend(new_parts);
        table.files.extend(new_files);
        table.sort();
    }

    /// Writes the manifest atomically: a reader sees either the old or the new one.
    pub(crate) fn store(&self, path: &Path) -> Result<(), LakeError> {
        files::write_whole(path, self.text().as_bytes())
            .map_err(|error| LakeError::new(path, LakeErrorKind::Io(error)))
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        files::sealed(&self.body())
    }

    /// The text without its checksum.
    fn body(&self) -> String {
        serde_json::to_string_pretty(self).expect("a manifest is plain data")
    }

    /// The entry of a table, if any part of it is in the lake.
    pub fn table(&self, table: Table) -> Option<&TableEntry> {
        self.tables.get(table.name())
    }

    /// Whether the lake has nothing to study: no part, or for a log (which is one file) only the
    /// machines of its header, without jobs and tasks.
    pub(crate) fn holds_nothing(&self) -> bool {
        let is_known = |table: Table| self.table(table).is_some();
        self.tables.is_empty()
            || !self.source.is_google()
                && !is_known(Table::JobEvents)
                && !is_known(Table::TaskEvents)
    }

    pub(crate) fn has_part(&self, table: Table, part: u32) -> bool {
        self.table(table).is_some_and(|entry| {
            entry.parts.binary_search_by_key(&part, |entry| entry.part).is_ok()
        })
    }

    pub(crate) fn record(&mut self, table: Table, parts: Vec<PartEntry>, files: Vec<FileEntry>) {
        let entry = self.tables.entry(table.name().to_owned()).or_default();
        entry.parts.extend(parts);
        entry.files.extend(files);
        entry.sort();
    }
}

impl PartEntry {
    /// Checks that the entry of a part does not contradict itself.
    fn check(&self) -> Result<(), String> {
        let named = part_count_of_name(&self.raw_file);
        if let (Some(of), Some(named)) = (self.of, named)
            && of != named
        {
            return Err(format!("is one of {of}, but `{}` is one of {named}", self.raw_file));
        }
        match (self.min_time_us, self.max_time_us) {
            (Some(first), Some(last)) if last < first => {
                Err(format!("ends at {last} us, before it begins at {first} us"))
            }
            (None, Some(last)) => Err(format!("ends at {last} us and has no begin")),
            (first, _) if first.is_none() != (self.rows == 0) => {
                Err(format!("has {} rows, but a time is known: {}", self.rows, first.is_some()))
            }
            _ => Ok(()),
        }
    }
}

impl FileEntry {
    /// Checks that the stretches add up to the file and that their buckets exist.
    fn check_stretches(&self, bucket_count: u32) -> Result<(), String> {
        let all = &self.stretches.0;
        let rows = all.iter().fold(0, |sum: u64, stretch| sum.saturating_add(stretch.rows));
        if rows != self.rows {
            return Err(format!(
                "`{}` has {} rows, but its blocks have {rows}",
                self.path, self.rows
            ));
        }
        if self.bytes <= self.stretches.end() {
            return Err(format!("`{}` is shorter than its blocks", self.path));
        }
        match all.iter().find(|stretch| bucket_count <= stretch.bucket) {
            Some(Stretch { bucket, .. }) => {
                Err(format!("`{}` has rows of bucket {bucket}, which does not exist", self.path))
            }
            None => Ok(()),
        }
    }
}

/// Whether the path of a file of a table is spelled exactly as this program writes it. Any other
/// spelling would be a second name for the same file.
fn is_path_of(table: Table, file: &FileEntry) -> bool {
    file.path
        .split_once('/')
        .is_some_and(|(folder, name)| folder == table.name() && segment_of(name).is_some())
}

/// The segment of a file: `part-A-B` of `part-A-B.parquet` or, for a later file, of
/// `part-A-B-NUMBER.parquet`; `None` for other names.
pub(super) fn segment_of(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".parquet")?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut numbers = stem.strip_prefix("part-")?.split('-');
    let (first, last, run) = (numbers.next()?, numbers.next()?, numbers.next());
    let is_ours = is_number(first)
        && is_number(last)
        && run.is_none_or(is_number)
        && numbers.next().is_none();
    let run = run.map_or(0, |run| run.len() + 1);
    is_ours.then(|| &stem[..stem.len() - run])
}

/// Whether no file, not even a link, has that name any more.
fn is_gone(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

impl TableEntry {
    /// Checks that the files of each segment have the rows of its parts.
    fn check_rows(&self, name: &str) -> Result<(), String> {
        let mut rows: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
        let mut add = |segment, side: usize, count: u64| {
            let sum = &mut rows.entry(segment).or_default()[side];
            *sum = sum.saturating_add(count);
        };
        for part in &self.parts {
            add(part.segment.as_str(), 0, part.rows);
        }
        for file in &self.files {
            let file_name = file.path.rsplit('/').next().unwrap_or_default();
            let segment = segment_of(file_name)
                .ok_or_else(|| format!("`{}` is not a file of table `{name}`", file.path))?;
            add(segment, 1, file.rows);
        }
        let differs = rows.into_iter().find(|(_, [parts, files])| parts != files);
        differs.map_or(Ok(()), |(segment, [parts, files])| {
            Err(format!(
                "the parts of `{segment}` of `{name}` have {parts} rows, but its files have {files}"
            ))
        })
    }

    fn sort(&mut self) {
        self.parts.sort_by_key(|part| part.part);
        // Once a log has more files, the number of parts is unknown for the file that was its only
        // one.
        if 1 < self.parts.len() {
            for part in self.parts.iter_mut().filter(|part| part.of == Some(1)) {
                part.of = None;
            }
        }
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
    }

    /// Rows of all parts.
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.rows).sum()
    }

    /// Rejects of all parts.
    pub fn rejects(&self) -> u64 {
        self.parts.iter().flat_map(|part| part.rejects.values()).sum()
    }

    /// The last time in the loaded parts, except 2^63-1.
    pub fn max_time_us(&self) -> Option<i64> {
        self.parts.iter().filter_map(|part| part.max_time_us).max()
    }

    /// The first and last time in the loaded parts, without 2^63-1; if there is none, the first is
    /// after the last.
    pub(super) fn span_us(&self) -> (i64, i64) {
        let first = self.parts.iter().filter_map(|part| part.min_time_us).min();
        (first.unwrap_or(i64::MAX), self.max_time_us().unwrap_or(i64::MIN))
    }

    /// Whether every part is in the lake, by the number of parts in the file names.
    pub fn is_whole(&self) -> bool {
        self.parts.iter().find_map(|part| part.of).is_some_and(|of| self.parts.len() == of as usize)
    }

    /// The numbers of the parts in the lake as ranges, such as `0-13,15`.
    pub fn part_ranges(&self) -> String {
        let numbers: Vec<u32> = self.parts.iter().map(|part| part.part).collect();
        ranges(&numbers)
    }
}

/// Writes ascending numbers as ranges: `0-13,15`.
pub fn ranges(numbers: &[u32]) -> String {
    let mut text = Vec::new();
    for run in numbers.chunk_by(|one, next| one + 1 == *next) {
        text.push(match run {
            [only] => only.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => unreachable!("chunks are not empty"),
        });
    }
    text.join(",")
}

/// The manifests in a lake: the main one first, then those of shards in name order.
pub(crate) fn manifest_files(lake: &Path) -> Result<Vec<PathBuf>, LakeError> {
    let fail = |error| LakeError::new(lake, LakeErrorKind::Io(error));
    let mut found = Vec::new();
    if !lake.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(lake).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_shard = name.strip_prefix("manifest-").is_some_and(|rest| rest.ends_with(".json"));
        if name == MANIFEST || is_shard {
            found.push(path);
        }
    }
    found.sort_by_key(|path| (!path.ends_with(MANIFEST), path.clone()));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::segment::Stretches;
    use super::*;

    #[test]
    fn part_numbers_are_shown_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 13, 15, 16]), "0-2,13,15-16");
        assert_eq!(ranges(&[]), "");
    }

    fn stored(edit: impl Fn(&mut Manifest)) -> Result<Option<Manifest>, LakeErrorKind> {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::new(Source::Google2011, Origin::Original, 4);
        let file = FileEntry {
            path: "job_events/part-00000-00000.parquet".into(),
            rows: 0,
            bytes: 100,
            crc32: 0,
            stretches: Stretches(vec![Stretch { bucket: 3, rows: 0, bytes: 50, crc32: 0 }]),
        };
        manifest.record(Table::JobEvents, Vec::new(), vec![file]);
        edit(&mut manifest);
        manifest.store(&folder.path().join(MANIFEST)).unwrap();
        Manifest::load(folder.path()).map_err(|error| error.kind)
    }

    #[test]
    fn a_manifest_comes_back_as_it_was_stored() {
        assert_eq!(stored(|_| ()).unwrap().unwrap().bucket_count, 4);
    }

    #[test]
    fn a_manifest_edited_by_hand_is_refused() {
        assert!(matches!(
            stored(|all| all.format_version = 99),
            Err(LakeErrorKind::OtherVersion { found: 99 })
        ));
        let edits: [fn(&mut Manifest); 9] = [
            |all| all.bucket_count = 0,
            |all| all.bucket_count = u32::MAX,
            |all| {
                let files = &mut all.tables.get_mut("job_events").unwrap().files;
                files.push(files[0].clone());
            },
            |all| {
                let files = &mut all.tables.get_mut("job_events").unwrap().files;
                files[0].path = "job_events/./part-00000-00000.parquet".into();
            },
            |all| {
                all.tables.get_mut("job_events").unwrap().files[0].path = "../../etc/passwd".into();
            },
            |all| all.tables.get_mut("job_events").unwrap().files[0].stretches.0[0].bucket = 4,
            |all| all.tables.get_mut("job_events").unwrap().files[0].stretches.0[0].bytes = 96,
            |all| all.tables.get_mut("job_events").unwrap().files[0].stretches.0[0].rows = 1,
            |all| all.tables.get_mut("job_events").unwrap().files[0].rows = 1,
        ];
        for edit in edits {
            assert!(matches!(stored(edit), Err(LakeErrorKind::Inconsistent(_))));
        }
    }
}
