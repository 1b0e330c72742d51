//! Stored results: JSON with their origin, tables as CSV, charts by name.
//!
//! In: folders. Out: answers, every byte as it was written. The JSON has its own checksum and those
//! of the other files, and no file is read before its checksum is compared.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ResultError;
use super::envelope::{Drawn, Envelope};
use super::files::ResultFile;
use super::kind::Kind;
use crate::cells::unguarded;
use crate::charts::ChartFormat;
use crate::files;

/// The version of the shape of `result.json`; raise it when the shape changes.
pub const RESULT_VERSION: u32 = 3;

/// Limits for reading the tables of results.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest number of rows of a table that are read.
    pub rows: usize,
    /// Further tables that are larger than this are not read, bytes.
    pub bytes: u64,
}

/// The largest JSON that a report copies, bytes. A report has the tables of each result as CSV
/// anyway, and with this limit a whole report stays below 10 MB.
const COPIED_BYTES: u64 = 220_000;

/// The limits for a page, because tables with millions of rows do not fit on a page. The files have
/// all rows.
pub const PAGE_LIMITS: Limits = Limits { rows: 300, bytes: 512 << 10 };

/// The results whose rows have separate pages: a report has no copy of their JSON.
const WITH_PAGES: [&str; 2] = ["jobs", "machine-details"];

/// The limits for a comparison: all rows of tables that fit into memory.
pub const COMPARE_LIMITS: Limits = Limits { rows: usize::MAX, bytes: 256 << 20 };

/// A stored answer.
#[derive(Clone, Debug)]
pub struct Stored {
    /// What it answers: `account`, `sweep`, ...
    pub name: String,
    /// The whole JSON.
    pub whole: Envelope,
    /// The tables, the main one first.
    pub tables: Vec<Table>,
    /// Files of further tables that are too large, or missing.
    pub left_out: Vec<String>,
    /// Files that the JSON names, after their checksums were compared.
    files: Vec<ResultFile>,
    /// Files that the JSON names but that are missing.
    missing: Vec<String>,
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
    /// The title.
    pub title: &'a str,
    /// Definition, source and censoring.
    pub caption: &'a str,
}

/// The keys by which a result of any version is recognised among other JSON.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "program")]
    _program: String,
    name: String,
    #[serde(default)]
    format_version: Value,
}

impl Stored {
    /// A result without its files.
    pub(crate) fn of(whole: Envelope) -> Self {
        let (tables, left_out, files, missing, path) = Default::default();
        Self { name: whole.name.clone(), whole, tables, left_out, files, missing, path }
    }

    /// Reads the JSON of a result; `None` if the file is something else.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, ResultError> {
        let bytes = fs::read(path).map_err(|cause| ResultError::io(path, cause))?;
        let bad = |problem: String| ResultError::BadResult { path: path.to_owned(), problem };
        let text = String::from_utf8(bytes).map_err(|error| bad(error.to_string()))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        let Ok(head) = Head::deserialize(&value) else { return Ok(None) };
        if head.format_version != RESULT_VERSION {
            let version = &head.format_version;
            return Err(bad(format!(
                "its format is {version}, not {RESULT_VERSION}; run its command again"
            )));
        }
        if !files::is_sealed(&text) {
            return Err(
                bad("it was changed after it was written: its checksum differs".to_owned()),
            );
        }
        // Files are copied by their names, so no name may lead out of the folder.
        if !is_name(&head.name) {
            return Err(bad(format!("`{}` is not the name of a result", head.name)));
        }
        let whole = serde_json::from_value(value).map_err(|error| bad(error.to_string()))?;
        let stored = Self { path: path.to_owned(), ..Self::of(whole) };
        if let Some(chart) = stored.charts().into_iter().find(|chart| !is_name(chart.file)) {
            return Err(bad(format!("`{}` is not the name of a chart", chart.file)));
        }
        Ok(Some(stored))
    }

    /// Checks its files and reads its tables.
    pub(crate) fn complete(&mut self, limits: Limits) -> Result<(), ResultError> {
        self.check_files()?;
        self.read_tables(limits)
    }

    /// The checksum of the analysis to which it belongs.
    pub fn analysis(&self) -> Option<&str> {
        self.whole.analysis_sha256.as_deref()
    }

    /// Whether a report has a copy of its JSON.
    pub(crate) fn is_small(&self) -> bool {
        !WITH_PAGES.contains(&&*self.name)
            && fs::metadata(&self.path).is_ok_and(|about| about.len() <= COPIED_BYTES)
    }

    /// The path of its JSON.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The answer as the type of its study; `None` if the study was left out, or if the answer has
    /// another shape.
    pub fn found<T: DeserializeOwned + Send + Sync + 'static>(&self) -> Option<&T> {
        self.whole.found()
    }

    /// The command line that made it, quoted for a shell.
    pub fn command(&self) -> String {
        self.whole.command.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ")
    }

    /// The tables from which it is made and their hours, in words.
    pub fn scope(&self, kind: &Kind<'_>) -> String {
        super::scope::scope(kind, &self.whole.settings, &self.whole.inputs)
    }

    /// Its scope on a page that already says what was loaded.
    pub(crate) fn scope_in_short(&self, kind: &Kind<'_>) -> String {
        super::scope::in_short(kind, &self.whole.settings, &self.whole.inputs)
    }

    /// Its charts.
    pub fn charts(&self) -> Vec<Picture<'_>> {
        let all = self.whole.charts.iter();
        all.map(|Drawn { file, title, caption }| Picture { file, title, caption }).collect()
    }

    /// The file formats of one of its charts.
    pub(crate) fn formats(&self, chart: Picture<'_>) -> Vec<ChartFormat> {
        let listed = || self.files.iter().map(|known| &known.file).chain(&self.missing);
        let is_listed = |format: &ChartFormat| {
            let file = format!("{}.{}", chart.file, format.ending());
            listed().any(|name| *name == file)
        };
        ChartFormat::ALL.into_iter().filter(is_listed).collect()
    }

    /// The SVG of one of its charts.
    pub(crate) fn svg(&self, chart: Picture<'_>) -> Result<String, ResultError> {
        let path = self.path_of(&format!("{}.svg", chart.file))?;
        fs::read_to_string(&path).map_err(|cause| ResultError::io(&path, cause))
    }

    /// The files that its JSON names and that are present.
    #[cfg(feature = "serve")]
    pub(crate) fn file_names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|known| known.file.as_str())
    }

    /// The path of one of the files that its JSON names.
    pub(crate) fn path_of(&self, file: &str) -> Result<PathBuf, ResultError> {
        if self.files.iter().any(|known| known.file == file) {
            return Ok(self.folder().join(file));
        }
        let problem = format!("it does not list `{file}`, or the file is missing");
        Err(ResultError::BadResult { path: self.path.clone(), problem })
    }

    /// Compares the files that its JSON names with the recorded checksums.
    fn check_files(&mut self) -> Result<(), ResultError> {
        for file in within(self.whole.files.clone()) {
            let path = self.folder().join(&file.file);
            match file.is_in(self.folder()) {
                Ok(true) => self.files.push(file),
                Ok(false) => {
                    return Err(ResultError::Changed { path, result: self.path.clone() });
                }
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                    // A report has no copy of tables that are too large for it.
                    if file.file.ends_with(".csv") && file.bytes <= PAGE_LIMITS.bytes {
                        return Err(ResultError::Changed { path, result: self.path.clone() });
                    }
                    self.missing.push(file.file);
                }
                Err(cause) => return Err(ResultError::io(&path, cause)),
            }
        }
        Ok(())
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Reads `<name>.csv`, and then `<name>-<what>.csv` for further tables.
    fn read_tables(&mut self, limits: Limits) -> Result<(), ResultError> {
        let of_table = |entry: &ResultFile| {
            let rest = entry.file.strip_suffix(".csv")?.strip_prefix(&self.name)?;
            let is_further = rest.starts_with('-');
            (is_further || rest.is_empty()).then(|| (is_further, entry.clone()))
        };
        let mut entries: Vec<(bool, ResultFile)> = self.files.iter().filter_map(of_table).collect();
        entries.sort_by(|(one, entry), (other, next)| (one, &entry.file).cmp(&(other, &next.file)));
        let missing = self.missing.iter().filter(|file| file.ends_with(".csv"));
        self.left_out.extend(missing.cloned());
        for (is_further, entry) in entries {
            if is_further && limits.bytes < entry.bytes {
                self.left_out.push(entry.file);
            } else {
                self.tables.push(read_table(&self.folder().join(&entry.file), limits.rows)?);
            }
        }
        Ok(())
    }

    /// The first missing file that its JSON names, if there is one.
    pub(crate) fn missing(&self) -> Option<PathBuf> {
        self.missing.first().map(|file| self.folder().join(file))
    }
}

/// The files that the JSON of a result names, limited to those in the same folder or in folders
/// inside it.
fn within(files: Vec<ResultFile>) -> impl Iterator<Item = ResultFile> {
    files.into_iter().filter(|entry| entry.file.split('/').all(is_name))
}

/// The name of a result and the files that its JSON names; `None` if the text is not a result of
/// this program, of any version.
pub fn files_of_result(text: &str) -> Option<(String, Vec<ResultFile>)> {
    #[derive(Deserialize)]
    struct Names {
        program: String,
        name: String,
        #[serde(default)]
        files: Vec<ResultFile>,
    }
    let Names { program, name, files } = serde_json::from_str(text).ok()?;
    let ours = crate::PROGRAM.split(' ').next().unwrap_or_default();
    let is_ours = program.starts_with(ours) && is_name(&name);
    is_ours.then(|| (name, within(files).collect()))
}

/// A word, quoted for a shell if needed.
pub(crate) fn quoted(word: &str) -> String {
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

fn read_table(path: &Path, rows_max: usize) -> Result<Table, ResultError> {
    let bad = |error: csv::Error| {
        let problem = error.to_string();
        match error.into_kind() {
            csv::ErrorKind::Io(cause) => ResultError::io(path, cause),
            _ => ResultError::BadResult { path: path.to_owned(), problem },
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
