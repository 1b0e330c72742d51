//! Why a raw file or folder could not be used, with a hint about what to do.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use thiserror::Error;

use crate::faults::{Code, Fault};
use crate::notation::Mistake;
use crate::schema::Source;

/// A raw file or folder could not be used.
#[derive(Debug, Error)]
#[error("could not read `{}`", path.display())]
pub struct SourceError {
    /// The file or folder.
    pub path: PathBuf,
    /// The reason.
    #[source]
    pub kind: SourceErrorKind,
}

impl SourceError {
    /// An error about a file or folder.
    pub fn new(path: &Path, kind: SourceErrorKind) -> Self {
        Self { path: path.to_owned(), kind }
    }
}

impl Fault for SourceError {
    fn code(&self) -> Code {
        match self.kind {
            SourceErrorKind::NoMap | SourceErrorKind::Map(_) => Code::Usage,
            _ => Code::of_data(self.kind.is_bad_data()),
        }
    }

    fn hint(&self) -> Option<Cow<'static, str>> {
        self.kind.hint().map(Cow::Borrowed)
    }
}

/// Why a raw file or folder could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceErrorKind {
    /// It could not be opened.
    #[error("it could not be opened")]
    Open(#[source] io::Error),
    /// Reading failed half-way.
    #[error("reading failed")]
    Read(#[source] io::Error),
    /// There is no such file or folder.
    #[error("there is no such file or folder")]
    NoFolder,
    /// The format is not recognised; the text describes the file.
    #[error("the kind of trace cannot be recognised: {0}")]
    UnknownFormat(String),
    /// No file of a folder is recognised; the texts describe each of them.
    #[error("it contains neither a table of the trace nor a log: {}", .0.join("; "))]
    NothingKnown(Vec<String>),
    /// There are several logs, but a lake holds one; their names.
    #[error("it contains several logs: {}", .0.join(", "))]
    SeveralLogs(Vec<String>),
    /// A folder is needed.
    #[error("it is a file, but a trace of this kind is a folder")]
    NotAFolder,
    /// The machines of a trace without its jobs.
    #[error("it is the topology of a Rumen trace or a list of nodes, without the jobs")]
    OnlyTopology,
    /// The hosts could not be read.
    #[error("the topology is not a tree of hosts")]
    BadTopology,
    /// There is no log of the chosen kind.
    #[error("it contains no {0} log")]
    NoLog(Source),
    /// A needed column is missing; its name.
    #[error("its header has no column `{0}`")]
    MissingColumn(String),
    /// A table of pods lacks a column.
    #[error("it has no column `{name}`, number {place} of `{all}`")]
    MissingOfPods {
        /// The column.
        name: &'static str,
        /// Its place, from 1.
        place: usize,
        /// All columns.
        all: String,
    },
    /// The columns of a table are aligned with blanks, as `sacct` prints them by default.
    #[error("its columns are aligned with blanks, and values may contain blanks")]
    Aligned,
    /// The table needs a map, and none was given.
    #[error("a mapped table needs a map")]
    NoMap,
    /// The map does not fit the table.
    #[error("the map does not fit: {0}")]
    Map(Box<Mistake>),
    /// The folder holds no part of any table.
    #[error("it contains no table of the trace")]
    NoTable,
    /// `--table` is given, but the folder has a subfolder with the parts of that table.
    #[error("it has a folder `{0}` with the parts of that table")]
    TableInside(crate::schema::Table),
    /// A file of 0 bytes that should be gzip.
    #[error("the file is empty, without even a gzip header")]
    EmptyGzip,
    /// The name ends in `.gz`, but the first bytes are not gzip.
    #[error("the file is not gzip, although its name ends in `.gz`")]
    NotGzip,
    /// The gzip stream ends too early.
    #[error("the gzip stream is cut short")]
    TruncatedGzip,
    /// The gzip stream is damaged.
    #[error("the gzip stream is damaged")]
    CorruptGzip(#[source] io::Error),
    /// A Parquet file that cannot be read.
    #[error("the Parquet file is damaged, or in a form that is not read")]
    BadParquet(#[source] parquet::errors::ParquetError),
    /// No line feed for many megabytes.
    #[error("a line is longer than 64 MiB")]
    EndlessLine,
    /// A file among the parts of a table is not named like a part.
    #[error("the name is not `part-NNNNN-of-NNNNN.csv` or `.csv.gz`")]
    PartName,
    /// A directory, a pipe or a device.
    #[error("it is not a regular file")]
    NotAFile,
    /// The number is beyond the last part.
    #[error("its number is beyond the last part")]
    PartNumber,
    /// The names give different numbers of parts.
    #[error("its name says {count} parts of table `{table}`, another name says {other}")]
    PartCount {
        /// The table.
        table: crate::schema::Table,
        /// The number in its name.
        count: u32,
        /// The number in the name of another part.
        other: u32,
    },
    /// A part exists twice.
    #[error("part {part} of table `{table}` exists twice, also as `{}`", other.display())]
    TwiceThere {
        /// The table.
        table: crate::schema::Table,
        /// The part.
        part: u32,
        /// The other file.
        other: PathBuf,
    },
}

impl SourceErrorKind {
    pub(super) fn of_read(error: io::Error) -> Self {
        let error = match error.downcast() {
            Ok(error) => return Self::BadParquet(error),
            Err(error) => error,
        };
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::TruncatedGzip,
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Self::CorruptGzip(error),
            _ => Self::Read(error),
        }
    }

    /// Whether a gzip file, or a file named like one, cannot be unpacked.
    pub(crate) const fn is_damaged_gzip(&self) -> bool {
        matches!(self, Self::EmptyGzip | Self::NotGzip | Self::TruncatedGzip | Self::CorruptGzip(_))
    }

    /// Whether the data are at fault, rather than the machine.
    pub fn is_bad_data(&self) -> bool {
        !matches!(self, Self::Open(_) | Self::Read(_) | Self::NoFolder)
    }

    /// Advice for the user.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoFolder => Some("give the folder that holds `job_events/`, `task_events/`, ..."),
            Self::NothingKnown(_) => Some(
                "expected folders such as `job_events/part-00000-of-00500.csv.gz`, or a log; for \
                a flat folder of parts of one table, name it with `--table`",
            ),
            Self::UnknownFormat(_) => Some(NAME_IT.as_str()),
            Self::SeveralLogs(_) => Some("each log needs its own lake: give the path of one file"),
            Self::MissingOfPods { .. } => {
                Some("give the table of pods as published, with its header")
            }
            Self::MissingColumn(_) | Self::Aligned => Some(EXPORT_AGAIN),
            Self::OnlyTopology => {
                Some("give the trace; its topology is found by name in the same folder")
            }
            Self::BadTopology => Some("download it again, or move it away to continue without it"),
            Self::NotAFolder => {
                Some("give the folder that holds `job_events/`, `task_events/`, ...")
            }
            Self::NoLog(_) => Some(
                "give the path of the file, or leave `--source` out to \
            recognise it",
            ),
            Self::NoTable => Some(
                "expected folders such as `job_events/part-00000-of-00500.csv.gz`; for a flat \
                folder of parts of one table, name it with `--table`",
            ),
            Self::TableInside(_) => Some("leave `--table` out, or give that folder"),
            Self::BadParquet(_) => Some(
                "write it without compression, or with gzip, lz4, snappy or zstd; or download it \
                again",
            ),
            Self::EmptyGzip | Self::TruncatedGzip | Self::CorruptGzip(_) => Some(
                "download or copy the file again (parts of a trace with its `fetch` in \
                `data-scripts/`), then run the same command: completed parts are kept",
            ),
            Self::NotGzip => Some(
                "it may be a web server's error page: look at the file, then download it \
                again",
            ),
            Self::EndlessLine => Some("this is probably not a table of the trace"),
            Self::PartName => Some(
                "rename or move it; for a flat folder of parts of one table, name it with \
                `--table`",
            ),
            Self::TwiceThere { .. } => Some("keep one of the two"),
            Self::NotAFile => Some("move it away: parts are files"),
            Self::PartNumber | Self::PartCount { .. } => {
                Some("keep only the parts of one trace in a folder, each under its original name")
            }
            Self::NoMap => Some("`jobfate map FILE` proposes one; give it with `--map`"),
            Self::Map(_) => Some("`jobfate map FILE` shows the columns that the table has"),
            Self::Open(_) | Self::Read(_) => None,
        }
    }
}

/// Advice if the format is not recognised.
static NAME_IT: LazyLock<String> = LazyLock::new(|| {
    let known = Source::ALL.into_iter().filter(|source| source.is_recognised());
    let names: Vec<&str> = known.map(Source::name).collect();
    format!(
        "name it with `--source {}`; unpack archives other than .gz first; for any other table with \
        one row per job, `jobfate map FILE` proposes a map",
        names.join("|")
    )
});

/// Advice for an export that lacks a column. The command exports columns that are read, and that
/// any version of Slurm has. The name of the job is the last column, because it may hold `|`;
/// `--format ALL` would have it in the middle, next to other free texts.
pub(super) const EXPORT_AGAIN: &str = "export again, with this command: TZ=UTC sacct --allusers \
    --parsable2 --allocations --duplicates --starttime 2024-01-01 --endtime now --format \
    JobID,JobIDRaw,Cluster,Partition,QOS,Account,Group,User,Submit,\
    Eligible,Start,End,ElapsedRaw,ExitCode,State,NNodes,AllocCPUS,\
    ReqCPUS,ReqMem,ReqTRES,AllocTRES,TimelimitRaw,NodeList,JobName | \
    gzip > sacct.txt.gz";
