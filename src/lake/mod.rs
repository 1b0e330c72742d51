//! Stores typed rows as Parquet and reads them back: the folder that every study uses.
//!
//! In: row blocks from [`crate::sources`]. Out: a folder that Polars, `DuckDB`, Spark and pandas
//! can read directly. A raw part is completely in the lake or not at all, even if the program is
//! killed: files are written under temporary names, synced, renamed, and only then recorded in the
//! manifest.
//!
//! ```text
//! lake/manifest.json                               what is in here, part by part
//! lake/task_usage/part-00012-00013.parquet         rows of two parts, bucket by bucket
//! lake/machine_events/part-00000-00000.parquet     tables without a job are one bucket
//! lake/rejects/task_events/part-00003.csv          lines that gave no row, and why
//! ```

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use thiserror::Error;

use crate::faults::{Code, Fault, MORE_THREADS, NoThreads};
use crate::schema::{Source, Table};
use crate::sources::{Reject, RejectReason, SourceError};

mod check;
mod encode;
mod entries;
pub mod gaps;
pub mod ingest;
mod integrity;
mod journal;
mod leftovers;
mod locks;
pub mod manifest;
pub mod needs;
mod part;
pub mod plan;
mod reader;
pub mod reads;
mod rejects;
pub mod segment;
#[cfg(test)]
mod tests;
mod writer;

pub use gaps::Gap;
pub use manifest::{FileEntry, Manifest, Origin, PartEntry, TableEntry};
pub use reader::Lake;

/// Formats a number of bytes for people: whole kilobytes or megabytes, or gigabytes with one
/// decimal.
#[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
pub fn told(bytes: u64) -> String {
    match bytes as f64 {
        tiny if tiny < 999.5e3 => format!("{:.0} kB", tiny / 1e3),
        small if small < 999.5e6 => format!("{:.0} MB", small / 1e6),
        large => format!("{:.1} GB", large / 1e9),
    }
}

/// A lake could not be read or written.
#[derive(Debug, Error)]
#[error("could not use `{}`", path.display())]
#[non_exhaustive]
pub struct LakeError {
    /// The lake, or the file in it.
    pub path: PathBuf,
    /// The reason.
    #[source]
    pub kind: LakeErrorKind,
}

impl LakeError {
    /// An error of the lake or file at `path`.
    pub fn new(path: &Path, kind: LakeErrorKind) -> Self {
        Self { path: path.to_owned(), kind }
    }

    /// Advice for the user.
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        match &self.kind {
            LakeErrorKind::NoTable { table, kind: Source::Rumen }
                if *table == Table::MachineEvents =>
            {
                Some(
                    "put the topology into the folder of the trace, then ingest it into a new \
                lake"
                        .into(),
                )
            }
            LakeErrorKind::NoTable { table, .. } => Some(
                format!(
                    "`jobfate ingest TRACE_DIR --tables {table} --lake {}` adds it when its files \
                    are in TRACE_DIR",
                    self.path.display()
                )
                .into(),
            ),
            kind => kind.hint().map(Cow::Borrowed),
        }
    }
}

impl Fault for LakeError {
    fn code(&self) -> Code {
        match &self.kind {
            LakeErrorKind::Io(error) => error.code(),
            LakeErrorKind::Threads(error) => error.code(),
            LakeErrorKind::Cancelled => Code::Interrupted,
            LakeErrorKind::NoBucket { .. }
            | LakeErrorKind::NoColumn { .. }
            | LakeErrorKind::NeverThere { .. }
            | LakeErrorKind::NoGpus(_)
            | LakeErrorKind::Setting { .. } => Code::Usage,
            kind => Code::of_data(kind.is_bad_data()),
        }
    }

    fn hint(&self) -> Option<Cow<'static, str>> {
        LakeError::hint(self)
    }

    fn details(&self) -> Vec<String> {
        match &self.kind {
            LakeErrorKind::TooManyRejects { first, .. }
            | LakeErrorKind::OtherTrace { first, .. } => {
                first.iter().map(Reject::to_string).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The reason why a lake could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LakeErrorKind {
    /// Reading or writing failed.
    #[error("reading or writing failed")]
    Io(#[source] io::Error),
    /// The system does not start the requested threads.
    #[error(transparent)]
    Threads(NoThreads),
    /// No manifest: not a lake.
    #[error("there is no lake (no `manifest.json`)")]
    NoLake,
    /// The manifest is not JSON, or has other fields.
    #[error("the manifest is damaged")]
    BadManifest(#[source] serde_json::Error),
    /// The manifest contradicts itself.
    #[error("the manifest contradicts itself: {0}")]
    Inconsistent(String),
    /// A lake of another format version.
    #[error(
        "the lake has format version {found}, but this program reads {}",
        crate::schema::FORMAT_VERSION
    )]
    OtherVersion {
        /// The version in the manifest.
        found: u32,
    },
    /// The callback stopped the call.
    #[error("the call was cancelled by its caller")]
    Cancelled,
    /// A bucket that the lake does not have.
    #[error("there is no bucket {bucket}: the lake has {count}, from 0")]
    NoBucket {
        /// The requested bucket.
        bucket: u32,
        /// The number of buckets.
        count: u32,
    },
    /// A column that the table does not have in lakes of this kind.
    #[error("table `{table}` has no column `{column}` (it has: {})", known.join(", "))]
    NoColumn {
        /// The table.
        table: Table,
        /// The requested column.
        column: String,
        /// The columns of the table.
        known: Vec<&'static str>,
    },
    /// An invalid setting of an ingest.
    #[error("{setting} is {found}, not {expected}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// Its value.
        found: String,
        /// The allowed values.
        expected: &'static str,
    },
    /// Another process writes.
    #[error("another process is writing into the lake")]
    Busy,
    /// The lake was made from another kind of trace.
    #[error("the lake holds another kind of trace: {found}, not {wanted}")]
    OtherSource {
        /// The kind in the manifest.
        found: String,
        /// The kind of the trace to ingest.
        wanted: String,
    },
    /// Names would be replaced under two different keys, or only in some parts.
    #[error("the names in the lake were replaced with another key, or not at all")]
    OtherKey,
    /// A file is gone or is not the one that was recorded.
    #[error("the file is not the one recorded in the manifest: {0}")]
    OtherFile(String),
    /// A Parquet file could not be read.
    #[error("the Parquet file could not be read")]
    Parquet(#[source] parquet::errors::ParquetError),
    /// A column is not what an ingest stores.
    #[error("column `{column}` {problem}")]
    Column {
        /// The column.
        column: &'static str,
        /// The problem.
        problem: String,
    },
    /// A table that the question needs is not in the lake.
    #[error("table `{table}` is not in the lake")]
    NoTable {
        /// The table.
        table: Table,
        /// The kind of trace.
        kind: Source,
    },
    /// A table that the question needs, and that this kind of trace does not have.
    #[error("a trace of kind {kind} has no table `{table}`")]
    NeverThere {
        /// The table.
        table: Table,
        /// The kind of trace.
        kind: Source,
    },
    /// GPUs are requested, but this kind of trace records none.
    #[error("a trace of kind {0} records no GPUs")]
    NoGpus(Source),
    /// A raw part differs from the one that was stored under the same number.
    #[error(
        "part {part} of `{table}` is in the lake, but from another file ({stored}; now {found})"
    )]
    PartChanged {
        /// The table.
        table: Table,
        /// The part.
        part: u32,
        /// Name and size of the stored raw file.
        stored: String,
        /// Name and size of the raw file now.
        found: String,
    },
    /// The machine has too little disk or memory.
    #[error("it needs about {} of {what}, but only {} are free", told(*needed), told(*free))]
    TooLittle {
        /// Disk or memory.
        what: &'static str,
        /// Needed bytes.
        needed: u64,
        /// Free bytes.
        free: u64,
    },
    /// A raw file is at fault; the error already has its path.
    #[error("{}", why_of(.0))]
    Source(SourceError),
    /// More lines than allowed gave no row.
    #[error("{count} of {lines} lines{} were rejected; at most {allowed} are allowed", in_files(*joined))]
    TooManyRejects {
        /// Rejected lines.
        count: u64,
        /// Lines read.
        lines: u64,
        /// The limit.
        allowed: String,
        /// Number of files after the first that were read together with it as one.
        joined: usize,
        /// The first rejects.
        first: Vec<Reject>,
    },
    /// No line has the right number of columns.
    #[error("no line has {expected}: this is probably another trace")]
    OtherTrace {
        /// The expected number of columns.
        expected: String,
        /// The kind of trace.
        kind: Source,
        /// The first rejected lines.
        first: Vec<Reject>,
    },
}

/// The problem of a raw file, with the message of the system.
fn why_of(error: &SourceError) -> String {
    match std::error::Error::source(&error.kind) {
        Some(cause) => format!("{}: {cause}", error.kind),
        None => error.kind.to_string(),
    }
}

/// Names the files that the lines belong to, if there are several. Line numbers continue from file
/// to file.
fn in_files(joined: usize) -> String {
    if joined == 0 { String::new() } else { format!(", counted over this file and {joined} more,") }
}

/// Whether a line has a state that is missing in the map of its table.
fn lacks_state(reject: &Reject) -> bool {
    reject.column == "state" && reject.reason == RejectReason::UnknownEventType
}

impl LakeErrorKind {
    /// Whether the data are at fault, rather than the machine.
    pub fn is_bad_data(&self) -> bool {
        match self {
            Self::Io(_)
            | Self::NoLake
            | Self::Busy
            | Self::Cancelled
            | Self::NoBucket { .. }
            | Self::NoColumn { .. }
            | Self::NeverThere { .. }
            | Self::NoGpus(_)
            | Self::Setting { .. }
            | Self::Threads(_)
            | Self::TooLittle { .. } => false,
            Self::Source(error) => error.kind.is_bad_data(),
            _ => true,
        }
    }

    /// Advice that does not depend on the lake.
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Threads(_) => Some(MORE_THREADS),
            Self::NoLake => Some("make one with `jobfate ingest TRACE_DIR --lake DIR`"),
            Self::BadManifest(_) | Self::Inconsistent(_) | Self::OtherFile(_) => {
                Some("remove the lake and run `ingest` again; the raw trace is not changed")
            }
            Self::Parquet(_) | Self::Column { .. } => Some(
                "the file is damaged or was not written by jobfate; remove the lake and run \
                `ingest` again",
            ),
            Self::OtherVersion { .. } => Some("run `ingest` into a new folder with this program"),
            Self::Busy => Some("wait for it, or fill the lake in parallel with `--shard I/N`"),
            Self::OtherSource { .. } => Some("give another folder with `--lake`"),
            Self::OtherKey => {
                Some("give the key of the lake with `--anonymize`, or another folder with `--lake`")
            }
            Self::PartChanged { .. } => Some("ingest the changed trace into a new lake"),
            Self::TooLittle { what: "disk", .. } => Some(
                "put the lake elsewhere with `--lake`, or give fewer `--tables` or `--parts`; \
                `--force` starts anyway",
            ),
            Self::TooLittle { .. } => Some("give fewer `--threads`; `--force` starts anyway"),
            Self::TooManyRejects { first, .. } if first.iter().any(lacks_state) => Some(
                "say in `[states]` of the map what the states in these lines mean (`\"*\"` stands \
                for all others), or allow more with `--max-rejects`",
            ),
            Self::TooManyRejects { .. } => {
                Some("look at the lines, then allow more with `--max-rejects`")
            }
            Self::NeverThere { table: Table::TaskUsage, .. } => Some(
                "this kind of trace has no measured usage; use `--cpu requested`, `--cpu slots` or \
                `--memory requested` where a command has them",
            ),
            Self::NeverThere { .. } => Some("only the Google trace has this table"),
            Self::NoGpus(_) => Some(GPUS_HINT.as_str()),
            Self::OtherTrace { kind, .. } => Some(kind.advice()),
            Self::Io(error) => match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    Some("free some space, then run the same command: completed parts are kept")
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Some("give a folder that you may write to with `--lake`")
                }
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                    Some("a file has that name; give a folder with `--lake`")
                }
                _ => None,
            },
            // [`LakeError::hint`] depends on the lake.
            Self::NoTable { .. }
            | Self::Cancelled
            | Self::NoBucket { .. }
            | Self::NoColumn { .. }
            | Self::Setting { .. } => None,
            Self::Source(error) => error.kind.hint(),
        }
    }
}

/// Advice for GPUs in a lake without them.
static GPUS_HINT: LazyLock<String> =
    LazyLock::new(|| format!("lakes of {} record them", Source::names_of(Source::has_gpus)));
