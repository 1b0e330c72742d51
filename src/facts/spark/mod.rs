//! Runs the queries on an existing Spark: a standalone cluster, YARN, Kubernetes, or `local`.
//!
//! In: queries, and a lake that Spark sees at the same path or at a given one. Out: the same
//! answers as from the embedded Polars. Spark is started as `spark-sql` with one file of SQL: a
//! view per table of the lake, then each query, unchanged, written as Parquet, and a view of that
//! for the queries that read it. The facts are in a separate folder of the lake until they are
//! read.
//!
//! ```text
//!  lake/task_events/*.parquet ─► view task_events ─► q03 ─► .facts-1234/q03_attempts/
//!                                                              └─► view q03_attempts ─► q05 ...
//! ```

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{SortColumn, cast, concat_batches, lexsort_to_indices, take};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

mod spread;
pub use self::spread::{COMMAND, line_of};
use super::FactError;
use super::query::{Query, Settings};
use crate::lake::Lake;
use crate::schema::{ColumnType, ROW_ID, Source, Table};

/// Settings that the queries need; the user's own settings come after them.
const CONF: [(&str, &str); 6] = [
    // "user" is the name of a column, and numbers that overflow are errors.
    ("spark.sql.ansi.enabled", "true"),
    ("spark.sql.ansi.doubleQuotedIdentifiers", "true"),
    // Spark 3.5 and 4.0 cannot read BYTE_STREAM_SPLIT in batches, only row by row.
    ("spark.sql.parquet.enableVectorizedReader", "false"),
    // No metastore is created, and `${...}` in a path stays unchanged.
    ("spark.sql.catalogImplementation", "in-memory"),
    ("spark.sql.variable.substitute", "false"),
    ("spark.ui.enabled", "false"),
];

/// Fails if a quoted name is read as text, since `"user"` would then not be a column.
const CHECK: &str = "SELECT assert_true(\"is_name\", 'names in quotes are not read as names') FROM (SELECT true AS is_name);\n";

/// The message that Spark repeats while no worker accepts the work.
const NO_WORKER: &str = "Initial job has not accepted any resources";

/// How long a master may take to respond.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Lines of Spark's log that are shown when it fails.
const LINES_SHOWN: usize = 12;

/// How a master of Spark begins.
const MASTERS: [&str; 5] = ["spark://", "k8s://", "mesos://", "yarn", "local"];

/// Reads the master of a cluster.
///
/// # Errors
/// The text does not begin like one.
pub fn parse_master(text: &str) -> Result<String, String> {
    if MASTERS.iter().any(|begin| text.starts_with(begin)) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{text}` is not a master of Spark, such as `spark://host:7077`, `yarn`, \
        `k8s://https://host:443` or `local[4]`"
    ))
}

/// Reads a setting of Spark.
///
/// # Errors
/// The text is not of the form `KEY=VALUE`.
pub fn parse_conf(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((key, _)) if !key.trim().is_empty() => Ok(text.to_owned()),
        _ => Err(format!("`{text}` is not of the form KEY=VALUE")),
    }
}

/// A Spark installation that runs queries.
#[derive(Clone, Debug)]
pub struct Spark {
    /// Its master, such as `spark://host:7077`, `yarn`, `k8s://https://host`, `local[4]`.
    pub master: String,
    /// The folder whose `bin/spark-sql` is started; with `None`, `$SPARK_HOME` or the search path.
    pub home: Option<PathBuf>,
    /// Further settings, `key=value`.
    pub conf: Vec<String>,
    /// The lake as Spark sees it; with `None`, its local path.
    pub lake: Option<String>,
    /// This program as the workers see it; with `None`, the running program.
    pub program: Option<PathBuf>,
    /// Shows the user a message during the run.
    pub tell: fn(&str),
}

impl Spark {
    /// The answers of `queries`, each ordered by its key.
    pub(super) fn run(
        &self,
        lake: &Lake,
        queries: &[&'static Query],
        settings: &Settings,
    ) -> Result<Vec<RecordBatch>, FactError> {
        let path = std::path::absolute(&lake.path).map_err(|error| failed(error.to_string()))?;
        refuse_leftovers(lake, queries)?;
        self.find_master()?;
        let facts = Folder::create(&path)?;
        let seen = match &self.lake {
            Some(seen) => seen.trim_end_matches('/').to_owned(),
            // Independent of the default file system of the cluster.
            None => format!("file://{}", path.display()),
        };
        let script = script(lake, queries, settings, &seen, &facts.name())?;
        let file = facts.0.join("facts.sql");
        fs::write(&file, script).map_err(|error| failed(format!("{}: {error}", file.display())))?;
        self.start(&file)?;
        queries.iter().map(|query| read(query, &facts.0.join(query.name))).collect()
    }

    /// Fails at once if a standalone master cannot be reached; Spark itself tries for a minute.
    fn find_master(&self) -> Result<(), FactError> {
        let Some(hosts) = self.master.strip_prefix("spark://") else { return Ok(()) };
        let answers = |host: &str| {
            let mut addresses = host.to_socket_addrs().into_iter().flatten();
            // On one machine a connection to a port on which nobody listens may reach itself.
            let is_other = |stream: TcpStream| stream.local_addr().ok() != stream.peer_addr().ok();
            addresses.any(|address| {
                TcpStream::connect_timeout(&address, CONNECT_MAX).is_ok_and(is_other)
            })
        };
        if hosts.split(',').any(answers) {
            return Ok(());
        }
        Err(FactError::Spark {
            problem: format!("no Spark master answers at `{}`", self.master),
            hint: "a master prints its URL at the start of its log",
        })
    }

    /// Runs a file of SQL to its end.
    fn start(&self, file: &Path) -> Result<(), FactError> {
        let program = self.program();
        let mut command = Command::new(&program);
        command.arg("--master").arg(&self.master);
        for (key, value) in CONF {
            command.arg("--conf").arg(format!("{key}={value}"));
        }
        for pair in &self.conf {
            command.arg("--conf").arg(pair);
        }
        command.arg("-f").arg(file).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).env("LC_ALL", "C.UTF-8");
        // Files that Spark leaves in its working folder are removed with the facts.
        command.current_dir(file.parent().expect("a file lies in a folder"));
        let mut child = command.spawn().map_err(|error| FactError::Spark {
            problem: format!("`{}` could not be started: {error}", program.display()),
            hint: "give Spark's folder with --spark-home, or set SPARK_HOME; Java 17 must be \
            installed",
        })?;
        let stdout = child.stdout.take().expect("it was piped");
        // Answers of statements without one are short, but must be read while the log is read.
        let out = std::thread::spawn(move || std::io::read_to_string(stdout).unwrap_or_default());
        let mut said = String::new();
        let mut is_told = false;
        for line in BufReader::new(child.stderr.take().expect("it was piped")).split(b'\n') {
            let line = line.map_err(|error| failed(error.to_string()))?;
            let line = String::from_utf8_lossy(&line);
            if line.contains(NO_WORKER) && !std::mem::replace(&mut is_told, true) {
                (self.tell)(
                    "Spark is waiting: no worker has the cores and memory that it \
                requests",
                );
            }
            said.push_str(&line);
            said.push('\n');
        }
        let status = child.wait().map_err(|error| failed(error.to_string()))?;
        let out = out.join().unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        Err(failed(format!("{status}\n{}", telling(&said, &out))))
    }

    fn program(&self) -> PathBuf {
        let home = self.home.clone().or_else(|| std::env::var_os("SPARK_HOME").map(PathBuf::from));
        home.map_or_else(|| PathBuf::from("spark-sql"), |home| home.join("bin").join("spark-sql"))
    }
}

fn failed(problem: String) -> FactError {
    let hint = "see Spark's own log; running the same command again starts from the beginning";
    FactError::Spark { problem, hint }
}

/// The lines of a log that explain a failure, without duplicates: errors and causes (the last ones,
/// since the final error is decisive), or else the last lines.
fn telling(stderr: &str, stdout: &str) -> String {
    let all = || stdout.lines().chain(stderr.lines()).filter(|line| !line.trim().is_empty());
    let is_told = |line: &&str| {
        ["ERROR", "Error", "Exception", "Caused by", "FATAL"].iter().any(|word| line.contains(word))
            && !line.trim_start().starts_with("at ")
    };
    let mut lines: Vec<&str> = Vec::new();
    for line in all().filter(is_told) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        lines = all().collect();
    }
    lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n")
}

/// The folder of the facts, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn create(lake: &Path) -> Result<Self, FactError> {
        let path = lake.join(format!(".facts-{}", std::process::id()));
        fs::create_dir_all(&path)
            .map_err(|error| failed(format!("{}: {error}", path.display())))?;
        Ok(Self(path))
    }

    fn name(&self) -> String {
        self.0.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover folder is visible and harmless.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Refuses files that no manifest records, left by a killed ingest: Spark reads whole folders and
/// would read them as well.
fn refuse_leftovers(lake: &Lake, queries: &[&'static Query]) -> Result<(), FactError> {
    let tables = queries.iter().flat_map(|query| [query.tables(), query.optional_tables()]);
    let is_read = |column: &str| queries.iter().any(|query| query.names(column));
    for table in tables.flatten().collect::<BTreeSet<Table>>() {
        let known: BTreeSet<PathBuf> = lake.paths(table, is_read)?.into_iter().collect();
        let mut folders = vec![lake.path.join(table.name())];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
            for path in entries.map(|entry| entry.path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "parquet")
                    && !known.contains(&path)
                {
                    return Err(FactError::Spark {
                        problem: format!("`{}` is not in the manifest of the lake", path.display()),
                        hint: "an ingest was stopped or is still running: wait for it, or run it \
                        again",
                    });
                }
            }
        }
    }
    Ok(())
}

/// The whole input of Spark.
fn script(
    lake: &Lake,
    queries: &[&'static Query],
    settings: &Settings,
    seen: &str,
    folder: &str,
) -> Result<String, FactError> {
    let mut text = CHECK.to_owned();
    let mut known = BTreeSet::new();
    for query in queries {
        tell(query, lake, settings, (seen, folder), &mut known, &mut text)?;
    }
    Ok(text)
}

/// Adds a query to the script for Spark, after its inputs.
fn tell(
    query: &'static Query,
    lake: &Lake,
    settings: &Settings,
    (seen, folder): (&str, &str),
    known: &mut BTreeSet<&'static str>,
    text: &mut String,
) -> Result<(), FactError> {
    if !known.insert(query.name) {
        return Ok(());
    }
    for name in query.reads() {
        if let Ok(table) = name.parse::<Table>() {
            if known.insert(name) {
                let path = (!lake.files(table).is_empty()).then_some(seen);
                text.push_str(&view_of(table, lake.source(), path));
            }
        } else if name == "settings" || name == "thresholds" {
            if known.insert(name) {
                text.push_str(&view_of_settings(name, settings));
            }
        } else {
            tell(Query::find(name)?, lake, settings, (seen, folder), known, text)?;
        }
    }
    let name = query.name;
    let path = format!("{seen}/{folder}/{name}");
    let (target, path) = (quoted(&path), quoted(&no_pattern(&path)));
    let body = query.text.trim_end().trim_end_matches(';');
    let told = write!(
        text,
        "CREATE TEMPORARY VIEW {name}_asked AS\n{body};\n\
         INSERT OVERWRITE DIRECTORY {target} USING parquet SELECT * FROM {name}_asked;\n\
         CREATE TEMPORARY VIEW {name} USING parquet OPTIONS (path {path});\n"
    );
    told.expect("writing to a string cannot fail");
    Ok(())
}

/// A table's files as a view; an empty view without files.
fn view_of(table: Table, source: Source, seen: Option<&str>) -> String {
    let columns = std::iter::once((ROW_ID, "BIGINT"))
        .chain(table.columns(source).iter().map(|column| (column.name, type_of(column.kind))));
    if let Some(seen) = seen {
        let list: Vec<String> = columns.map(|(name, kind)| format!("`{name}` {kind}")).collect();
        let path = quoted(&no_pattern(&format!("{seen}/{table}")));
        format!(
            "CREATE TEMPORARY VIEW {table} ({}) USING parquet OPTIONS (path {path}, recursiveFileLookup 'true');\n",
            list.join(", ")
        )
    } else {
        let list: Vec<String> =
            columns.map(|(name, kind)| format!("CAST(NULL AS {kind}) AS `{name}`")).collect();
        format!("CREATE TEMPORARY VIEW {table} AS SELECT {} WHERE false;\n", list.join(", "))
    }
}

const fn type_of(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Time | ColumnType::Id | ColumnType::Long => "BIGINT",
        ColumnType::Int | ColumnType::Event(_) => "INT",
        ColumnType::Float | ColumnType::Amount => "FLOAT",
        ColumnType::Bool => "BOOLEAN",
        ColumnType::Text => "STRING",
        ColumnType::Floats => "ARRAY<FLOAT>",
    }
}

fn view_of_settings(name: &str, settings: &Settings) -> String {
    let rows: Vec<String> = if name == "settings" {
        vec![format!(
            "SELECT CAST({} AS BIGINT) AS job_window_end_us, CAST({} AS BIGINT) AS task_window_end_us, \
             CAST({} AS BIGINT) AS first_us, '{}' AS open_attempts",
            settings.windows.job_end_us,
            settings.windows.task_end_us,
            settings.windows.first_us,
            settings.windows.open_attempts
        )]
    } else {
        let one = |threshold| format!("SELECT CAST({threshold} AS BIGINT) AS threshold");
        settings.thresholds.iter().map(one).collect()
    };
    format!("CREATE TEMPORARY VIEW {name} AS\n{};\n", rows.join("\nUNION ALL "))
}

/// A text as an SQL literal.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// A path with all pattern characters escaped.
fn no_pattern(path: &str) -> String {
    let mut text = String::new();
    for letter in path.chars() {
        if "\\{}[]*?,".contains(letter) {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

/// Reads an answer in the same shape as from Polars.
fn read(query: &Query, folder: &Path) -> Result<RecordBatch, FactError> {
    let fail = |problem: String| failed(format!("{}: {problem}", folder.display()));
    let batches = batches(folder)?;
    let batches: Vec<RecordBatch> = batches
        .iter()
        .map(widened)
        .collect::<Result<_, _>>()
        .map_err(|error| fail(error.to_string()))?;
    let Some(first) = batches.first() else { return Err(fail("Spark left no answer".to_owned())) };
    let all = concat_batches(&first.schema(), &batches).map_err(|error| fail(error.to_string()))?;
    sorted(&all, &query.key()).map_err(|error| fail(error.to_string()))
}

/// Reads everything that Spark has written into a folder.
fn batches(folder: &Path) -> Result<Vec<RecordBatch>, FactError> {
    let fail = |problem: String| failed(format!("{}: {problem}", folder.display()));
    if !folder.join("_SUCCESS").is_file() {
        return Err(fail("Spark left an incomplete answer".to_owned()));
    }
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|error| fail(error.to_string()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "parquet"))
        .collect();
    files.sort();
    let mut batches = Vec::new();
    for file in files {
        let file = File::open(&file).map_err(|error| fail(error.to_string()))?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(ParquetRecordBatchReaderBuilder::build)
            .map_err(|error| fail(error.to_string()))?;
        for batch in reader {
            batches.push(batch.map_err(|error| fail(error.to_string()))?);
        }
    }
    Ok(batches)
}

/// Whole numbers as i64, quantities as f64, except for 32-bit floats.
fn widened(batch: &RecordBatch) -> Result<RecordBatch, arrow::error::ArrowError> {
    let (mut fields, mut columns): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let wide = match field.data_type() {
            kind if kind.is_integer() => DataType::Int64,
            // Keeps 32 bits, as in the lake.
            DataType::Float32 => DataType::Float32,
            kind if kind.is_numeric() => DataType::Float64,
            DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
            other => other.clone(),
        };
        columns.push(cast(column, &wide)?);
        fields.push(Field::new(field.name(), wide, true));
    }
    RecordBatch::try_new(Schema::new(fields).into(), columns)
}

fn sorted(batch: &RecordBatch, key: &[&str]) -> Result<RecordBatch, arrow::error::ArrowError> {
    let columns: Vec<SortColumn> = key
        .iter()
        .filter_map(|name| batch.column_by_name(name))
        .map(|values| SortColumn { values: values.clone(), options: None })
        .collect();
    let order: UInt32Array = lexsort_to_indices(&columns, None)?;
    let columns: Result<Vec<ArrayRef>, _> =
        batch.columns().iter().map(|column| take(column, &order, None)).collect();
    RecordBatch::try_new(batch.schema(), columns?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::window::{OpenAttempts, Windows};

    #[test]
    fn a_log_tells_what_went_wrong() {
        let log = "INFO x\n26/11/21 ERROR SparkContext: no master\n  at a.b.Exception(c)\nmore";
        assert_eq!(telling(log, ""), "26/11/21 ERROR SparkContext: no master");
        assert_eq!(telling("one\n\ntwo\n", ""), "one\ntwo");
        assert_eq!(
            telling("Error: b\nError: b\nCaused by: c\nError: b", ""),
            "Error: b\nCaused by: c"
        );
        let many: Vec<String> = (0..20).map(|line| format!("line {line}")).collect();
        assert_eq!(telling(&many.join("\n"), "").lines().count(), LINES_SHOWN);
    }

    #[test]
    fn paths_are_literals() {
        assert_eq!(quoted("/a b/it's\\x"), r"'/a b/it\'s\\x'");
        assert_eq!(no_pattern(r"/a{b}*\"), r"/a\{b\}\*\\");
    }

    #[test]
    fn thresholds_and_tables_are_views() {
        let settings = Settings {
            windows: Windows {
                job_end_us: 1,
                task_end_us: 2,
                first_us: 0,
                open_attempts: OpenAttempts::WindowEnd,
            },
            thresholds: vec![10, 20],
        };
        assert_eq!(
            view_of_settings("thresholds", &settings),
            "CREATE TEMPORARY VIEW thresholds AS\nSELECT CAST(10 AS BIGINT) AS threshold\n\
             UNION ALL SELECT CAST(20 AS BIGINT) AS threshold;\n"
        );
        assert_eq!(
            view_of_settings("settings", &settings),
            "CREATE TEMPORARY VIEW settings AS\nSELECT CAST(1 AS BIGINT) AS job_window_end_us, \
             CAST(2 AS BIGINT) AS task_window_end_us, CAST(0 AS BIGINT) AS first_us, 'window-end' AS open_attempts;\n"
        );
        let empty = view_of(Table::MachineAttributes, Source::Google2011, None);
        assert!(empty.starts_with(
            "CREATE TEMPORARY VIEW machine_attributes AS SELECT CAST(NULL AS BIGINT) AS `row_id`"
        ));
        assert!(empty.ends_with("WHERE false;\n"), "{empty}");
        let full = view_of(Table::TaskUsage, Source::Google2019, Some("s3a://b/lake"));
        assert!(full.contains("`cpu_usage_distribution` ARRAY<FLOAT>"), "{full}");
        assert!(full.contains("(path 's3a://b/lake/task_usage',"), "{full}");
    }
}
