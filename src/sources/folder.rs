//! Lists the tables of a trace folder and their parts.
//!
//! In: a folder in the trace's own layout (`<table>/part-?????-of-?????.csv[.gz]`), or a flat
//! folder of parts of one table. Out: the parts by table and number. Files are only listed,
//! never opened.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::google_2019::owners::Owners;
use super::parser::OwnParser;
use super::reading::Reading;
use super::{SourceError, SourceErrorKind};
use crate::schema::{PARTS_MAX, Source, Table};

/// A part file of a raw trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPart {
    /// The kind of trace.
    pub source: Source,
    /// The table. A file that fills several tables is a part of each.
    pub table: Table,
    /// The part's number, from 0.
    pub part: u32,
    /// The number of parts of the complete table, if the name gives it.
    pub of: Option<u32>,
    /// The file.
    pub path: PathBuf,
    /// Files that are read after it as if all were one, such as the outputs of `kubectl`.
    pub joined: Vec<PathBuf>,
    /// The size on disk of all these files, bytes.
    pub bytes: u64,
    /// Another file that is needed to read this one.
    pub beside: Option<PathBuf>,
    /// The users of the jobs, for tasks whose rows do not name them.
    pub owners: Option<Arc<Owners>>,
    /// The parser, if the format is a custom one.
    pub own: Option<OwnParser>,
    /// The user's settings for reading it.
    pub reading: Arc<Reading>,
}

impl RawPart {
    /// A file as part `number.0` of `number.1`; the file is not opened.
    ///
    /// # Errors
    /// The file does not exist or is not regular (a pipe would block), or the number is not that of
    /// a part.
    pub(super) fn of_file(
        source: Source,
        table: Table,
        number: (u32, Option<u32>),
        path: &Path,
    ) -> Result<Self, SourceError> {
        let fail = |kind| Err(SourceError::new(path, kind));
        let about = match fs::metadata(path) {
            Ok(about) => about,
            Err(error) => return fail(SourceErrorKind::Open(error)),
        };
        let (part, of) = number;
        if !about.is_file() {
            return fail(SourceErrorKind::NotAFile);
        }
        if of.unwrap_or(PARTS_MAX).min(PARTS_MAX) <= part {
            return fail(SourceErrorKind::PartNumber);
        }
        let (path, bytes) = (path.to_owned(), about.len());
        let reading = Arc::default();
        Ok(Self {
            source,
            table,
            part,
            of,
            path,
            bytes,
            joined: Vec::new(),
            beside: None,
            owners: None,
            own: None,
            reading,
        })
    }

    /// The same with more files after it, read as if all were one.
    ///
    /// # Errors
    /// One of them does not exist or is not a regular file.
    pub(super) fn joined_by(self, paths: &[PathBuf]) -> Result<Self, SourceError> {
        let mut part = Self { joined: paths.to_vec(), ..self };
        for path in paths {
            part.bytes += Self::of_file(part.source, part.table, (0, None), path)?.bytes;
        }
        Ok(part)
    }

    /// A file of a custom format as a part of a table.
    ///
    /// # Errors
    /// As [`of_file`](Self::of_file).
    pub(crate) fn of_own(
        like: Source,
        table: Table,
        number: u32,
        path: &Path,
        parser: &OwnParser,
    ) -> Result<Self, SourceError> {
        let part = Self::of_file(like, table, (number, None), path)?;
        Ok(Self { own: Some(parser.clone()), ..part })
    }

    /// The path below the trace folder, as in checksum lists: `<table>/<file>` for the Google trace
    /// of 2011, otherwise only the name of the file.
    pub fn listed_name(&self) -> String {
        match self.source {
            Source::Google2011 => format!("{}/{}", self.table, self.file_name()),
            _ => self.file_name(),
        }
    }

    /// The name of the file in the lake: its own, or a hash if names are replaced. Files of the
    /// Google traces keep their names, which are the same everywhere.
    pub(crate) fn stored_name(&self) -> String {
        let name = match &self.reading.mask {
            Some(mask) if !self.source.is_google() => mask.name("file", &self.file_name()),
            _ => self.file_name(),
        };
        match self.joined.len() {
            0 => name,
            count => format!("{name} and {count} more"),
        }
    }

    /// The name of the file.
    pub fn file_name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// What is in a trace folder.
#[derive(Clone, Debug)]
pub struct TraceFolder {
    /// The folder, or the folder of the file.
    pub path: PathBuf,
    /// The kind of trace.
    pub source: Source,
    /// The parts, by table and number.
    pub parts: BTreeMap<Table, Vec<RawPart>>,
    /// Names of ignored files and folders, including those among the parts.
    pub ignored: Vec<String>,
}

impl TraceFolder {
    /// Lists a folder in the layout of the Google trace of 2011, or, with `table`, a flat folder of
    /// parts of that table.
    pub fn open(path: &Path, table: Option<Table>) -> Result<Self, SourceError> {
        if !path.is_dir() {
            return Err(SourceError::new(path, SourceErrorKind::NoFolder));
        }
        let mut folder = Self {
            path: path.to_owned(),
            source: Source::Google2011,
            parts: BTreeMap::new(),
            ignored: Vec::new(),
        };
        if let Some(table) = table {
            if path.join(table.name()).is_dir() {
                return Err(SourceError::new(path, SourceErrorKind::TableInside(table)));
            }
            folder.list_table(table, path, PartNames::Loose)?;
        } else {
            for name in sorted_names(path)? {
                let below = path.join(&name);
                match name.parse::<Table>() {
                    Ok(table) if below.is_dir() => {
                        folder.list_table(table, &below, PartNames::Strict)?;
                    }
                    _ if matches!(
                        name.as_str(),
                        "SHA256SUM"
                            | "SHA1SUM"
                            | "MD5SUM"
                            | "schema.csv"
                            | "README"
                            | "truth.json"
                            | "sample.txt"
                    ) => {}
                    _ => folder.ignored.push(name),
                }
            }
        }
        if folder.parts.is_empty() {
            return Err(SourceError::new(path, SourceErrorKind::NoTable));
        }
        Ok(folder)
    }

    fn list_table(
        &mut self,
        table: Table,
        path: &Path,
        names: PartNames,
    ) -> Result<(), SourceError> {
        let mut parts: BTreeMap<u32, RawPart> = BTreeMap::new();
        for name in sorted_names(path)? {
            let file = path.join(&name);
            if !(name.ends_with(".csv") || name.ends_with(".csv.gz")) {
                self.ignored.push(format!("{table}/{name}"));
                continue;
            }
            let Some((part, of)) = part_number(&name, names) else {
                return Err(SourceError::new(&file, SourceErrorKind::PartName));
            };
            let raw = RawPart::of_file(self.source, table, (part, of), &file)?;
            // In a flat folder, the names of excerpts may not give the number of parts.
            let first = parts.values().find_map(|first: &RawPart| first.of);
            if let (Some(count), Some(other)) = (of, first)
                && count != other
            {
                let kind = SourceErrorKind::PartCount { table, count, other };
                return Err(SourceError::new(&file, kind));
            }
            if let Some(other) = parts.insert(part, raw) {
                let kind = SourceErrorKind::TwiceThere { table, part, other: other.path };
                return Err(SourceError::new(&file, kind));
            }
        }
        if !parts.is_empty() {
            self.parts.insert(table, parts.into_values().collect());
        }
        Ok(())
    }
}

/// How closely a part's name must follow the pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartNames {
    /// Exactly `part-NNNNN-of-NNNNN.csv[.gz]`.
    Strict,
    /// Any name that contains `part-N`, such as the name of an excerpt.
    Loose,
}

/// The number of parts of a table, from the name of one part in either form.
pub(crate) fn part_count_of_name(name: &str) -> Option<u32> {
    part_number(name, PartNames::Loose)?.1
}

fn part_number(name: &str, names: PartNames) -> Option<(u32, Option<u32>)> {
    let (before, after) = name.split_once("part-")?;
    let digits = after.len() - after.trim_start_matches(|byte: char| byte.is_ascii_digit()).len();
    let part = after[..digits].parse().ok()?;
    let of =
        after[digits..].strip_prefix("-of-").and_then(|rest| rest.split('.').next()?.parse().ok());
    let is_exact = before.is_empty() && digits == 5 && {
        let rest = after[digits..].strip_prefix("-of-").unwrap_or_default();
        let rest = rest.strip_suffix(".gz").unwrap_or(rest);
        rest.strip_suffix(".csv").is_some_and(|count| {
            count.len() == 5 && count.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    (is_exact || names == PartNames::Loose).then_some((part, of))
}

pub(super) fn sorted_names(path: &Path) -> Result<Vec<String>, SourceError> {
    let fail = |error| SourceError::new(path, SourceErrorKind::Open(error));
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(fail)? {
        let name = entry.map_err(fail)?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_names_are_read_as_the_trace_writes_them() {
        assert_eq!(
            part_number("part-00012-of-00500.csv.gz", PartNames::Strict),
            Some((12, Some(500)))
        );
        assert_eq!(
            part_number("part-00012-of-00500.csv", PartNames::Strict),
            Some((12, Some(500)))
        );
        for odd in [
            "part-12.csv",
            "part-00012-of-00500 (1).csv.gz",
            "x-part-00012-of-00500.csv",
            "part-x.csv",
        ] {
            assert_eq!(part_number(odd, PartNames::Strict), None, "{odd}");
        }
        let cut = "task_usage-part-00000-first120rows.csv";
        assert_eq!(part_number(cut, PartNames::Loose), Some((0, None)));
    }

    #[test]
    fn a_part_that_is_there_twice_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("job_events");
        fs::create_dir(&table).unwrap();
        fs::write(table.join("part-00001-of-00500.csv"), "").unwrap();
        fs::write(table.join("part-00001-of-00500.csv.gz"), "").unwrap();
        let error = TraceFolder::open(folder.path(), None).unwrap_err();
        assert!(matches!(error.kind, SourceErrorKind::TwiceThere { part: 1, .. }));
    }
}
