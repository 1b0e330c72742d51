//! Results as they were stored: JSON with what made them, tables as CSV, charts by name.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{ReportError, without_link};
use crate::cells::unguarded;

/// The version of the shape of `result.json`.
pub const RESULT_VERSION: u32 = 1;

/// How much is read of the tables of results.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Rows of a table.
    pub rows: usize,
    /// A further table of more bytes stays where it is.
    pub bytes: u64,
}

/// What a page holds; all rows are in the files. Millions of flags are no page.
pub const PAGE_LIMITS: Limits = Limits { rows: 1000, bytes: 16 << 20 };

/// What is compared: every row, of tables that fit into memory.
pub const COMPARE_LIMITS: Limits = Limits { rows: usize::MAX, bytes: 256 << 20 };

/// A stored answer.
#[derive(Clone, Debug)]
pub struct Stored {
    /// What it answers: `account`, `sweep`, ...
    pub name: String,
    /// The whole of its JSON.
    pub value: Value,
    /// Tables of it, the main one first.
    pub tables: Vec<Table>,
    /// Files of further tables that are too large.
    pub left_out: Vec<String>,
    /// The JSON file.
    path: PathBuf,
}

/// A table of an answer.
#[derive(Clone, Debug)]
pub struct Table {
    /// The file, without its folder.
    pub file: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The first rows.
    pub rows: Vec<Vec<String>>,
    /// All rows.
    pub row_count: usize,
}

/// A chart of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// The file, without folder and ending.
    pub file: &'a str,
    /// What is seen.
    pub title: &'a str,
    /// Definition, source and censoring.
    pub caption: &'a str,
}

impl Stored {
    /// Where it is stored.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its table lies beside it as Parquet; results of earlier versions have none.
    pub(super) fn has_parquet(&self) -> bool {
        self.folder().join(format!("{}.parquet", self.name)).is_file()
    }

    /// The answer itself.
    pub fn answer(&self) -> &Value {
        &self.value["answer"]
    }

    /// The command line that made it.
    pub fn command(&self) -> String {
        let words = self.value["command"].as_array().into_iter().flatten();
        words.filter_map(Value::as_str).map(quoted).collect::<Vec<String>>().join(" ")
    }

    /// Its charts.
    pub fn charts(&self) -> Vec<Picture<'_>> {
        let all = self.value["charts"].as_array().into_iter().flatten();
        all.filter_map(|chart| {
            Some(Picture {
                file: chart["file"].as_str()?,
                title: chart["title"].as_str()?,
                caption: chart["caption"].as_str()?,
            })
        })
        .collect()
    }

    /// The drawing of one of its charts; an empty text where there is none.
    pub(super) fn svg(&self, chart: Picture<'_>) -> String {
        let path = self.folder().join(format!("{}.svg", chart.file));
        fs::read_to_string(path).unwrap_or_default()
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Copies its JSON, tables and charts into the report.
    pub(super) fn copy_files(&self, out: &Path) -> Result<(), ReportError> {
        let folder = self.folder();
        let copy = |from: PathBuf, to: PathBuf| {
            // The report of results that lie in the report has them already.
            if from.canonicalize().is_ok_and(|from| to.canonicalize().is_ok_and(|to| from == to)) {
                return Ok(());
            }
            let copied = without_link(&to).and_then(|()| fs::copy(&from, &to));
            copied.map(|_| ()).map_err(|cause| ReportError::io(&from, cause))
        };
        copy(self.path.clone(), out.join("data").join(format!("{}.json", self.name)))?;
        if self.has_parquet() {
            let columns = format!("{}.parquet", self.name);
            copy(folder.join(&columns), out.join("data").join(&columns))?;
        }
        for table in &self.tables {
            copy(folder.join(&table.file), out.join("data").join(&table.file))?;
        }
        for chart in self.charts() {
            for end in ["svg", "png"] {
                let file = format!("{}.{end}", chart.file);
                copy(folder.join(&file), out.join("charts").join(&file))?;
            }
        }
        Ok(())
    }
}

/// Reads every result of some folders and of the folders in them, by name.
///
/// # Errors
/// A folder cannot be read or holds no result, or a result is not one of this program.
pub fn read_all(folders: &[PathBuf], limits: Limits) -> Result<Vec<Stored>, ReportError> {
    let mut all: Vec<Stored> = Vec::new();
    for folder in folders {
        let mut here = read_folder(folder, limits)?;
        for inner in entries(folder)?.into_iter().filter(|path| path.join("result.json").is_file())
        {
            here.extend(read_folder(&inner, limits)?);
        }
        if here.is_empty() {
            return Err(ReportError::NoResults { path: folder.clone() });
        }
        all.extend(here);
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    if let Some([one, other]) = all.array_windows().find(|[one, other]| one.name == other.name) {
        let problem = format!("`{}` has a result of `{}` as well", one.path.display(), one.name);
        return Err(ReportError::BadResult { path: other.path.clone(), problem });
    }
    Ok(all)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let fail = |cause| ReportError::io(folder, cause);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        paths.push(entry.map_err(fail)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn read_folder(folder: &Path, limits: Limits) -> Result<Vec<Stored>, ReportError> {
    let files = entries(folder)?;
    let mut all = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
        let bytes = fs::read(path).map_err(|cause| ReportError::io(path, cause))?;
        let bad = |problem: String| ReportError::BadResult { path: path.clone(), problem };
        let value: Value =
            serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        let Some(name) = value["name"].as_str().filter(|_| value["program"].is_string()) else {
            continue;
        };
        if value["format_version"] != RESULT_VERSION {
            return Err(bad(format!(
                "its format is {}, not {RESULT_VERSION}",
                value["format_version"]
            )));
        }
        if !is_name(name) {
            return Err(bad(format!("`{name}` is no name of a result")));
        }
        let (tables, left_out) = tables_of(name, &files, limits)?;
        let stored = Stored { name: name.to_owned(), value, tables, left_out, path: path.clone() };
        // Their files are copied: no name may lead out of the folder.
        if let Some(chart) = stored.charts().into_iter().find(|chart| !is_name(chart.file)) {
            return Err(bad(format!("`{}` is no name of a chart", chart.file)));
        }
        all.push(stored);
    }
    Ok(all)
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=,+%@~".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn is_name(text: &str) -> bool {
    let is_known =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    !text.is_empty() && !text.starts_with('.') && text.chars().all(is_known)
}

/// `<name>.csv` and after it `<name>-<what>.csv`.
fn tables_of(
    name: &str,
    files: &[PathBuf],
    limits: Limits,
) -> Result<(Vec<Table>, Vec<String>), ReportError> {
    let (mut tables, mut left_out) = (Vec::new(), Vec::new());
    for path in files.iter().filter(|path| path.extension().is_some_and(|end| end == "csv")) {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_further = stem.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
        let bytes = fs::metadata(path).map_err(|cause| ReportError::io(path, cause))?.len();
        if stem == name || (is_further && bytes <= limits.bytes) {
            tables.push((is_further, read_table(path, limits.rows)?));
        } else if is_further {
            left_out.push(format!("{stem}.csv"));
        }
    }
    tables.sort_by_key(|table| table.0);
    Ok((tables.into_iter().map(|table| table.1).collect(), left_out))
}

fn read_table(path: &Path, rows_max: usize) -> Result<Table, ReportError> {
    let bad = |error: csv::Error| {
        let problem = error.to_string();
        match error.into_kind() {
            csv::ErrorKind::Io(cause) => ReportError::io(path, cause),
            _ => ReportError::BadResult { path: path.to_owned(), problem },
        }
    };
    let mut reader = csv::Reader::from_path(path).map_err(bad)?;
    let header = reader.headers().map_err(bad)?.iter().map(str::to_owned).collect();
    let (mut rows, mut row_count) = (Vec::new(), 0);
    for record in reader.records() {
        let record = record.map_err(bad)?;
        if row_count < rows_max {
            rows.push(record.iter().map(|cell| unguarded(cell).to_owned()).collect());
        }
        row_count += 1;
    }
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Table { file: file.unwrap_or_default(), header, rows, row_count })
}
