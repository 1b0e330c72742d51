//! Stored results as pages: a folder that a browser opens from disk, without downloads.
//!
//! In: folders of results (`*.json`, CSV and charts). Out: an overview, a page per study, and
//! single pages: for fairness per user and per machine (or class of machines), for a sweep per job,
//! for outages per machine. Nothing is computed again, so a page can be rebuilt from the results at
//! any time. Names from traces are always escaped.
//!
//! ```text
//!  report/
//!    index.html  outcomes.html  distributions.html  ...   one per study that has results
//!    users/0001.html ...        machines/0001.html ...     by CPU time
//!    machines/294820136.html ...                           those that left most often
//!    jobs/6255532702.html ...                              those that a sweep names
//!    charts/*.svg               data/*.csv *.json ...      what the pages show
//!    style.css  script.js
//!    files.json                                            every file with its checksum
//! ```
//!
//! Two sets of results can be compared: a page shows what changed.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::charts::ChartError;
use crate::faults::{Code, Fault};
use crate::results::ResultError;

mod about;
mod assets;
pub(crate) mod assumed;
mod build;
mod classes;
mod compared;
mod crossed;
mod drawing;
mod early;
mod fading;
pub(crate) mod fairness;
mod findings;
mod fitted;
mod gantt;
mod happened;
pub(crate) mod headings;
pub(crate) mod html;
pub(crate) mod indices;
mod job_cpu;
mod job_sentences;
pub(crate) mod jobs;
pub(crate) mod links;
pub(crate) mod machines;
mod months;
mod names;
mod open_tasks;
mod other;
mod overview;
pub(crate) mod pages;
mod partitions;
mod pivoted;
mod place;
mod quality;
mod repeated;
mod replay;
mod sentences;
mod series;
mod settings;
mod suggested;
pub(crate) mod tables;
mod terms;
mod text;
mod ticks;
mod together;
mod used;
pub(crate) mod users;
mod waiting;
mod waits;

#[cfg(feature = "serve")]
pub(crate) use assets::{SCRIPT, style};
#[cfg(feature = "serve")]
pub(crate) use place::listed;
#[cfg(feature = "serve")]
pub(crate) use text::{clock, instant, sentence};

pub use build::write;
pub use compared::{comparison_table, nothing_changed, write_comparison};
pub use place::check_place;
pub use sentences::sentences;

/// A report could not be built.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A result could not be read.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// The folder of a report holds other files.
    #[error(
        "`{}` does not belong to an earlier report, or was changed: a report replaces its whole \
        folder",
        folder.join(entry).display()
    )]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// The entry that does not belong to a report, relative to the folder.
        entry: PathBuf,
    },
    /// A file has the name that the folder of a report should have.
    #[error("`{}` is a file, and a report is a folder", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder of a report is the one in which the program runs.
    #[error("`{}` is the current folder, and a report replaces its whole folder", path.display())]
    CurrentFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A file was added to the folder of a report while a new one was written.
    #[error(
        "a file was added to `{}` while the report was written: the earlier folder is now `{}`",
        place.display(), kept.display()
    )]
    Kept {
        /// The folder of the report.
        place: PathBuf,
        /// The folder that now holds the earlier report and that file.
        kept: PathBuf,
    },
    /// A file could not be read or written.
    #[error("could not read or write `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A picture could not be drawn.
    #[error(transparent)]
    Chart(#[from] ChartError),
}

impl ReportError {
    fn io(path: &Path, cause: io::Error) -> Self {
        Self::Io { path: path.to_owned(), cause }
    }
}

impl Fault for ReportError {
    fn code(&self) -> Code {
        match self {
            Self::Result(error) => error.code(),
            Self::Foreign { .. } | Self::CurrentFolder { .. } | Self::NotAFolder { .. } => {
                Code::Usage
            }
            _ => Code::Environment,
        }
    }

    fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Result(error) => error.hint(),
            Self::Foreign { .. } | Self::NotAFolder { .. } => {
                Some("move it away, or choose another --out".into())
            }
            Self::CurrentFolder { .. } => Some("choose another --out".into()),
            _ => None,
        }
    }
}
