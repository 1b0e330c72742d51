//! Starts `spark-sql` on a file of SQL, and runs queries with it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use arrow::array::RecordBatch;

use super::answers::read;
use super::failure::{explained, failed};
use super::folder::{Folder, refuse_leftovers};
use super::script::script;
use crate::facts::FactError;
use crate::facts::query::{Query, Settings};
use crate::lake::Lake;

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

/// The message that Spark repeats while no worker accepts the work.
const NO_WORKER: &str = "Initial job has not accepted any resources";

/// How long a master may take to respond.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// The beginnings of the names of Spark masters.
const MASTERS: [&str; 5] = ["spark://", "k8s://", "mesos://", "yarn", "local"];

/// Reads the master of a cluster.
///
/// # Errors
/// The text does not begin like a master.
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
    pub(in crate::facts) fn run(
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

    /// Fails immediately if a standalone master cannot be reached; Spark itself tries for a minute.
    pub(super) fn find_master(&self) -> Result<(), FactError> {
        let Some(hosts) = self.master.strip_prefix("spark://") else { return Ok(()) };
        let answers = |host: &str| {
            let mut addresses = host.to_socket_addrs().into_iter().flatten();
            // On one machine, a connection to a port without a listener may connect to itself.
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
    pub(super) fn start(&self, file: &Path) -> Result<(), FactError> {
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
        // Statements without an answer print little, but their output must be read while the log is
        // read.
        let out = std::thread::spawn(move || std::io::read_to_string(stdout).unwrap_or_default());
        let mut said = String::new();
        let mut has_warned = false;
        for line in BufReader::new(child.stderr.take().expect("it was piped")).split(b'\n') {
            let line = line.map_err(|error| failed(error.to_string()))?;
            let line = String::from_utf8_lossy(&line);
            if line.contains(NO_WORKER) && !std::mem::replace(&mut has_warned, true) {
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
        Err(failed(format!("{status}\n{}", explained(&said, &out))))
    }

    fn program(&self) -> PathBuf {
        let home = self.home.clone().or_else(|| std::env::var_os("SPARK_HOME").map(PathBuf::from));
        home.map_or_else(|| PathBuf::from("spark-sql"), |home| home.join("bin").join("spark-sql"))
    }
}
