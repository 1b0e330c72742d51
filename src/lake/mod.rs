//! Typed rows to Parquet and back: the folder that every study reads.
//!
//! In: row blocks from [`crate::sources`]. Out: a folder that Polars, `DuckDB`, Spark and pandas
//! read without us. A raw part is completely in the lake or not at all, whatever kills the program:
//! files are written under temporary names, synced, renamed, and only then recorded in the
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

/// Formats a number of bytes for people: whole kilobytes or megabytes, or gigabytes with a digit.
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
    /// Why.
    #[source]
    pub kind: LakeErrorKind,
}

impl LakeError {
    /// Something that is wrong with the lake in a folder.
    pub fn new(path: &Path, kind: LakeErrorKind) -> Self {
        Self { path: path.to_owned(), kind }
    }

    /// What to do about it.
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

/// Why a lake could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LakeErrorKind {
    /// Reading or writing failed.
    #[error("reading or writing failed")]
    Io(#[source] io::Error),
    /// The system does not start the threads that work at once.
    #[error(transparent)]
    Threads(NoThreads),
    /// No manifest: not a lake.
    #[error("there is no lake (no `manifest.json`)")]
    NoLake,
    /// The manifest is no JSON, or not of our shape.
    #[error("the manifest is damaged")]
    BadManifest(#[source] serde_json::Error),
    /// The manifest contradicts itself.
    #[error("the manifest contradicts itself: {0}")]
    Inconsistent(String),
    /// A lake of another program version.
    #[error(
        "the lake has format version {found}, but this program reads {}",
        crate::schema::FORMAT_VERSION
    )]
    OtherVersion {
        /// What the manifest says.
        found: u32,
    },
    /// The caller's callback said to stop.
    #[error("the call was cancelled by its caller")]
    Cancelled,
    /// A bucket that the lake does not have.
    #[error("there is no bucket {bucket}: the lake has {count}, from 0")]
    NoBucket {
        /// What was asked for.
        bucket: u32,
        /// How many there are.
        count: u32,
    },
    /// A column that the table does not have in lakes of this kind.
    #[error("table `{table}` has no column `{column}` (it has: {})", known.join(", "))]
    NoColumn {
        /// The table.
        table: Table,
        /// What was asked for.
        column: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// A setting of an ingest that makes no sense.
    #[error("{setting} is {found}, not {expected}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// Its value.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
    /// Another process writes.
    #[error("another process is writing into the lake")]
    Busy,
    /// The lake was made from another kind of trace.
    #[error("the lake holds another kind of trace: {found}, not {wanted}")]
    OtherSource {
        /// What the manifest says.
        found: String,
        /// What is to be ingested.
        wanted: String,
    },
    /// Names would be those of two keys, or of none.
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
        /// What is wrong with it.
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
    /// GPUs are asked for, and this kind of trace records none.
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
        /// Name and size of the raw file that was stored.
        stored: String,
        /// Name and size of the raw file that is there now.
        found: String,
    },
    /// The machine is too small for what is asked.
    #[error("it needs about {} of {what}, but only {} are free", told(*needed), told(*free))]
    TooLittle {
        /// Disk or memory.
        what: &'static str,
        /// How much is needed, bytes.
        needed: u64,
        /// How much there is, bytes.
        free: u64,
    },
    /// A raw file is at fault; its path stands in the error already.
    #[error("{}", why_of(.0))]
    Source(SourceError),
    /// More lines than allowed gave no row.
    #[error("{count} of {lines} lines were rejected; at most {allowed} are allowed")]
    TooManyRejects {
        /// Rejected lines.
        count: u64,
        /// Lines read.
        lines: u64,
        /// What was allowed.
        allowed: String,
        /// The first of them.
        first: Vec<Reject>,
    },
    /// No line has the right number of columns.
    #[error("no line has {expected}: this is probably another trace")]
    OtherTrace {
        /// What a line should have.
        expected: String,
        /// The kind of trace.
        kind: Source,
        /// The first of the lines.
        first: Vec<Reject>,
    },
}

/// Why a raw file is at fault, with what the system says of it.
fn why_of(error: &SourceError) -> String {
    match std::error::Error::source(&error.kind) {
        Some(cause) => format!("{}: {cause}", error.kind),
        None => error.kind.to_string(),
    }
}

/// Whether a line has a state that the map of its table does not name.
fn lacks_state(reject: &Reject) -> bool {
    reject.column == "state" && reject.reason == RejectReason::UnknownEventType
}

impl LakeErrorKind {
    /// Whether the data are at fault, and not the machine.
    pub fn is_bad_data(&self) -> bool {
        match self {
            Self::Io(_)
            | Self::NoLake
            | Self::Busy
            | Self::Cancelled
            | Self::NoBucket { .. }
            | Self::NoColumn { .. }
            | Self::Setting { .. }
            | Self::Threads(_)
            | Self::TooLittle { .. } => false,
            Self::Source(error) => error.kind.is_bad_data(),
            _ => true,
        }
    }

    /// What to do about it, wherever the lake is.
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
            Self::NeverThere { table: Table::TaskUsage, .. } => {
                Some("the lake has no measured usage: give `--cpu requested` or `--cpu slots`")
            }
            Self::NeverThere { .. } => Some("only the Google trace has this table"),
            Self::NoGpus(_) => Some("lakes of slurm, openb, kubernetes and mapped record them"),
            Self::OtherTrace { kind, .. } => Some(hint_for(*kind)),
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
            // Of the lake that is asked: [`LakeError::hint`].
            Self::NoTable { .. }
            | Self::Cancelled
            | Self::NoBucket { .. }
            | Self::NoColumn { .. }
            | Self::Setting { .. } => None,
            Self::Source(error) => error.kind.hint(),
        }
    }
}

/// What to do where a trace is not of this kind.
const fn hint_for(kind: Source) -> &'static str {
    match kind {
        Source::Swf
        | Source::Gwf
        | Source::Rumen
        | Source::Slurm
        | Source::Openb
        | Source::Alibaba2017
        | Source::Alibaba2018
        | Source::Kubernetes
        | Source::Mapped => {
            "check that the file is complete, and of the right kind if you gave `--source`"
        }
        Source::Google2011 | Source::Google2019 | Source::Google2019AllocSets => {
            "check that the folder holds the v2.1 trace of 2011, and the right table if you gave \
            `--table`"
        }
    }
}
