//! Shared by the tests: runs of the program, small traces, and comparisons of lakes.
//!
//! In: text. Out: files below a temporary folder, and runs whose output does not depend on the
//! machine: the folder is the working directory, so that no path in it is absolute, and times
//! and versions are replaced.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int32Type, Int64Type};
use flate2::Compression;
use flate2::write::GzEncoder;
use jobfate::lake::Lake;
use jobfate::schema::{ROW_ID, Table};
use tempfile::TempDir;

/// The result of a run of the program.
pub(crate) struct Run {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    /// Exit code, stdout and stderr as one text, without the parts that differ between runs.
    pub(crate) fn text(&self) -> String {
        let code = self.code.map_or("killed".to_owned(), |code| code.to_string());
        let stdout = String::from_utf8_lossy(&self.stdout);
        format!("exit code: {code}\n--- stdout\n{stdout}--- stderr\n{}", steady(&self.stderr))
    }

    pub(crate) fn stdout_text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap()
    }

    /// Returns the run if it succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }
}

/// Replaces durations and the program's version.
pub(crate) fn steady(text: &str) -> String {
    let version = concat!("jobfate ", env!("CARGO_PKG_VERSION"));
    text.lines()
        .map(|line| match line.strip_prefix("in ").and_then(|rest| rest.strip_suffix(" s")) {
            Some(time) if time.parse::<f64>().is_ok() => "in [TIME]\n".to_owned(),
            _ => format!("{}\n", line.replace(version, "jobfate [VERSION]")),
        })
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "how long a program takes")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The commands, as `--help` lists them.
pub(crate) fn commands() -> Vec<String> {
    let help = Place::new().run(&["--help"]).ok();
    let listed = help.stdout_text().lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.map_while(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<String> = names.filter(|name| *name != "help").map(str::to_owned).collect();
    assert!(10 < names.len(), "{names:?}");
    names
}

/// An option of a command, as its long help shows it.
#[derive(Debug)]
pub(crate) struct Opt {
    /// The name, without dashes.
    pub name: String,
    /// The value name; `None` for a switch.
    pub value: Option<String>,
    /// Whether the values are listed one by one.
    pub is_word: bool,
}

/// The options of a command.
pub(crate) fn options(command: &str) -> Vec<Opt> {
    let help = Place::new().run(&[command, "--help"]).ok();
    let mut options: Vec<Opt> = Vec::new();
    for line in help.stdout_text().lines() {
        let is_head = line.starts_with("      --") || line.starts_with("  -");
        if let Some((_, spelled)) = line.split_once("--").filter(|_| is_head) {
            let (name, value) = spelled.split_once([' ', '[']).unwrap_or((spelled, ""));
            let value = value.split(['<', '>']).nth(1).map(str::to_owned);
            options.push(Opt { name: name.trim_end().to_owned(), value, is_word: false });
        } else if line.trim() == "Possible values:"
            && let Some(option) = options.last_mut()
        {
            option.is_word = true;
        }
    }
    assert!(options.iter().any(|option| option.name == "help"), "{command}: {options:?}");
    options
}

/// A folder that is removed at the end of the test.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A process of the program that starts in this folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jobfate"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command.env_remove("POLARS_MAX_THREADS").env("COLUMNS", "100");
        command
    }

    /// Runs the program in this folder.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        let output = self.command(args).output().unwrap();
        Run {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs a line of a shell in this folder, in which `$JOBFATE` is the program.
    pub(crate) fn shell(&self, line: &str) -> Run {
        let mut command = Command::new("bash");
        command.args(["-c", line]).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("JOBFATE", env!("CARGO_BIN_EXE_jobfate")).env("COLUMNS", "100");
        let output = command.env_remove("POLARS_MAX_THREADS").output().unwrap();
        Run {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs `ingest trace --lake lake` with more arguments.
    pub(crate) fn ingest(&self, more: &[&str]) -> Run {
        self.run(&[&["ingest", "trace", "--lake", "lake"], more].concat())
    }

    /// Writes a file with any content below `trace/`.
    pub(crate) fn raw(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path("trace").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes part `part` of two of a table, plain.
    pub(crate) fn part(&self, table: &str, part: u32, text: impl AsRef<[u8]>) -> PathBuf {
        self.raw(&format!("{table}/part-{part:05}-of-00002.csv"), text)
    }

    /// Writes a part as gzip.
    pub(crate) fn gzip_part(&self, table: &str, part: u32, text: impl AsRef<[u8]>) -> PathBuf {
        self.raw(&format!("{table}/part-{part:05}-of-00002.csv.gz"), gzip(text.as_ref()))
    }

    /// Copies the golden trace to `trace/`.
    pub(crate) fn with_golden_trace(self) -> Self {
        copy_folder(&golden("trace"), &self.path("trace"));
        self
    }

    pub(crate) fn lake(&self) -> Lake {
        Lake::open(self.path("lake")).unwrap()
    }

    /// The rejects of a part as stored in the lake; an empty text if there are none.
    pub(crate) fn rejects(&self, table: &str, part: u32) -> String {
        let path = self.path("lake").join(format!("rejects/{table}/part-{part:05}.csv"));
        fs::read_to_string(path).unwrap_or_default()
    }
}

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// The root of this repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file or folder of `tests/golden/`.
pub(crate) fn golden(name: &str) -> PathBuf {
    repository().join("tests/golden").join(name)
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Compares a text with a file of `tests/golden/`; writes the file with `UPDATE_GOLDEN=1`.
#[track_caller]
pub(crate) fn check_golden(name: &str, found: &str) {
    let path = golden(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, found).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if let Some((line, (expected, found))) = (1..)
        .zip(padded(&expected).zip(padded(found)).take(100_000))
        .find(|(_, pair)| pair.0 != pair.1)
    {
        panic!(
            "{} differs in line {line}\n  golden: {expected:?}\n  found:  {found:?}\n\
             (read the difference, then run with UPDATE_GOLDEN=1 to accept it)",
            path.display()
        );
    }
    assert_eq!(expected, found, "{}", path.display());
}

/// The lines of a text, then `None` without end, so that two texts can be read in parallel.
fn padded(text: &str) -> impl Iterator<Item = Option<&str>> {
    text.lines().map(Some).chain(std::iter::repeat(None))
}

/// Names in a golden folder that are not among `known`.
pub(crate) fn orphans(folder: &str, known: &[String]) -> Vec<String> {
    fs::read_dir(golden(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !known.contains(name))
        .collect()
}

/// Reports that a test cannot run here, and adds it to the list of skipped tests that `.ci/tests`
/// counts. The report bypasses the output capture, which would hide the output of a passing test.
pub(crate) fn skipped(why: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a thread of a test");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(folder).unwrap();
    let mut list = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("skipped-tests.txt"))
        .unwrap();
    // In one write, because tests run in parallel.
    let why = why.replace('\n', " ");
    list.write_all(format!("{name}\t{why}\n").as_bytes()).unwrap();
    writeln!(std::io::stderr(), "SKIPPED: {name}: {why}").unwrap();
}

/// Every file below a folder except locks, with its bytes, by path.
pub(crate) fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    add_files(folder, folder, &mut files);
    files
}

fn add_files(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            add_files(root, &path, files);
        } else if !name.starts_with(".lock") {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// Compares two lakes byte for byte, and names the differences.
#[track_caller]
pub(crate) fn assert_same_files(one: &Path, other: &Path) {
    let (one, other) = (tree(one), tree(other));
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<String>>();
    assert_eq!(names(&one), names(&other), "the folders hold the same files");
    let differing: Vec<&String> =
        one.iter().filter(|(name, bytes)| other[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(differing.is_empty(), "these differ: {differing:?}");
}

/// A fingerprint of every row, by table and bucket, sorted by row id: the content of a lake,
/// regardless of its files.
pub(crate) fn contents(lake: &Lake) -> BTreeMap<(Table, u32), Vec<(i64, u64)>> {
    let mut all = BTreeMap::new();
    for table in Table::ALL.into_iter().filter(|&table| lake.has(table)) {
        let buckets = if table.job_column().is_some() { lake.bucket_count() } else { 1 };
        for bucket in 0..buckets {
            let mut rows = rows(lake, table, bucket);
            rows.sort_unstable();
            all.insert((table, bucket), rows);
        }
    }
    all
}

fn rows(lake: &Lake, table: Table, bucket: u32) -> Vec<(i64, u64)> {
    let names: Vec<&'static str> = std::iter::once(ROW_ID)
        .chain(table.columns(lake.source()).iter().map(|column| column.name))
        .collect();
    let mut rows = Vec::new();
    lake.scan(table, Some(bucket), &names, |batch| {
        let mut hashers = vec![DefaultHasher::new(); batch.num_rows()];
        batch.columns().iter().for_each(|column| feed(column, &mut hashers));
        let ids = batch.column(0).as_primitive::<Int64Type>().values();
        rows.extend(ids.iter().copied().zip(hashers.iter().map(Hasher::finish)));
    })
    .unwrap();
    rows
}

fn feed(column: &ArrayRef, hashers: &mut [DefaultHasher]) {
    fn each<T: Hash>(cells: impl Iterator<Item = T>, hashers: &mut [DefaultHasher]) {
        cells.zip(hashers).for_each(|(cell, hasher)| cell.hash(hasher));
    }
    match column.data_type() {
        DataType::Int64 => each(column.as_primitive::<Int64Type>().iter(), hashers),
        DataType::Int32 => each(column.as_primitive::<Int32Type>().iter(), hashers),
        DataType::Float32 => {
            let bits =
                column.as_primitive::<Float32Type>().iter().map(|cell| cell.map(f32::to_bits));
            each(bits, hashers);
        }
        DataType::Boolean => each(column.as_boolean().iter(), hashers),
        DataType::Utf8 => each(column.as_string::<i32>().iter(), hashers),
        DataType::List(_) => {
            let bits = |list: ArrayRef| {
                let values = list.as_primitive::<Float32Type>().values().iter();
                values.map(|value| value.to_bits()).collect::<Vec<u32>>()
            };
            each(column.as_list::<i32>().iter().map(|list| list.map(bits)), hashers);
        }
        other => panic!("a lake holds no {other}"),
    }
}

/// A line of `job_events` that gives a row.
pub(crate) const LINE: &str = "600,,7,0,u,1,n,l\n";

/// Ingests again after a repair, and compares with a lake without the fault.
#[track_caller]
pub(crate) fn assert_repaired(place: &Place, more: &[&str]) {
    place.ingest(more).ok();
    place.run(&[&["ingest", "trace", "--lake", "undisturbed"], more].concat()).ok();
    let undisturbed = Lake::open(place.path("undisturbed")).unwrap();
    assert_eq!(contents(&place.lake()), contents(&undisturbed));
    place.lake().check_sums().unwrap();
}

/// A column of whole numbers of an answer.
pub(crate) fn ints<'a>(batch: &'a arrow::record_batch::RecordBatch, name: &str) -> &'a [i64] {
    batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().values()
}

/// A column of quantities of an answer.
pub(crate) fn floats<'a>(batch: &'a arrow::record_batch::RecordBatch, name: &str) -> &'a [f64] {
    batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().values()
}

/// A column of names of an answer.
pub(crate) fn texts<'a>(batch: &'a arrow::record_batch::RecordBatch, name: &str) -> Vec<&'a str> {
    let column = batch.column_by_name(name).unwrap().as_string::<i32>();
    (0..column.len()).map(|row| column.value(row)).collect()
}

/// The data of the real trace, if it exists next to the repository.
pub(crate) fn real_trace() -> Option<PathBuf> {
    let path = repository().join("../shared/data/clusterdata-2011-2");
    path.is_dir().then_some(path)
}
