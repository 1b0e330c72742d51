//! Answers of studies, stored and read back: their origin, tables and charts.
//!
//! In: an answer and its inputs. Out: `result.json`, the table as CSV and Parquet, and the charts,
//! in a folder that may hold results of several commands. The same files are also read back, every
//! byte as it was written. Results of two analyses are kept separate, and two sets of results can
//! be compared.
//!
//! ```text
//!  Frame ─► Answer ─► Files ─► out/result.json, .csv, .parquet, .svg, .png ─► Stored ─► compare
//! ```

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::faults::{Code, Fault};

mod change;
mod chosen;
mod commit;
mod compare;
pub mod envelope;
mod files;
pub mod forms;
pub mod frame;
mod glossary;
mod inputs;
pub mod kind;
mod layout;
pub mod marks;
pub mod missing;
mod points;
pub mod rows;
pub(crate) mod scope;
pub mod shares;
pub mod store;
mod stored;
pub mod view;

pub use change::{ALL_TABLES, CellChange, Difference, ResultChange, Side, TableChange, growth};
pub use chosen::{ANALYSIS_STEPS, Chosen, LeftOut, read_all, read_analysis};
pub use compare::compare;
pub use files::ResultFile;
pub use scope::scope;
pub(crate) use scope::tables_of;
#[cfg(feature = "serve")]
pub(crate) use stored::quoted;
pub use stored::{
    COMPARE_LIMITS, Limits, PAGE_LIMITS, Picture, RESULT_VERSION, Stored, Table, files_of_result,
};

/// Results could not be read.
#[derive(Debug, Error)]
pub enum ResultError {
    /// A folder holds no results.
    #[error("there are no results in `{}`", path.display())]
    NoResults {
        /// The folder.
        path: PathBuf,
    },
    /// A file is not a result of this program.
    #[error("`{}` is not a result of this program: {problem}", path.display())]
    BadResult {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file of a result is not the one that was written with that result.
    #[error(
        "`{}` differs from what `{}` records: it is missing, cut off or changed, or belongs to \
        another run",
        path.display(), result.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The JSON file that names it.
        result: PathBuf,
    },
    /// Results are of different analyses.
    #[error(
        "`{}` and `{}` belong to different analyses, whose numbers cannot be compared on one page",
        first.display(), second.display()
    )]
    OtherAnalysis {
        /// A folder or result.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
    },
    /// Two results have the same name.
    #[error("`{}` and `{}` both have a result of `{name}`", first.display(), second.display())]
    Twice {
        /// The name.
        name: String,
        /// The first result.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
    },
    /// A file could not be read.
    #[error("could not read or write `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        cause: io::Error,
    },
}

impl ResultError {
    fn io(path: &Path, cause: io::Error) -> Self {
        Self::Io { path: path.to_owned(), cause }
    }
}

impl Fault for ResultError {
    fn code(&self) -> Code {
        match self {
            Self::BadResult { .. } | Self::Changed { .. } => Code::BadData,
            Self::OtherAnalysis { .. } | Self::Twice { .. } => Code::Usage,
            Self::NoResults { .. } | Self::Io { .. } => Code::Environment,
        }
    }

    fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Changed { .. } => Some("run the command recorded in the JSON again".into()),
            Self::OtherAnalysis { .. } => {
                Some("write a report for each, or run `analyze` again".into())
            }
            Self::Io { cause, .. } if cause.kind() == io::ErrorKind::NotADirectory => {
                Some("it is a file: give the folder of the results".into())
            }
            Self::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound => Some(
                "give the folder of an analysis (`--out` of `analyze`), or of another command's \
                `--out`"
                    .into(),
            ),
            Self::NoResults { .. } => {
                Some("`analyze` writes them, and any command of a study with `--out DIR`".into())
            }
            Self::Twice { .. } => {
                Some("give one of them, or compare their folders with `report --compare`".into())
            }
            _ => None,
        }
    }
}
