//! Usage of each user over time, and the values of fairness indices.
//!
//! In: lakes (or a [`history::History`] made by hand). Out: usage per user and interval, a
//! [`series::Series`] per index, heaviest users, suggestions, and how the rankings of two indices
//! differ. An index is evaluated interval by interval and sees only the past, so a replay can use
//! it as well. This module prints nothing, and starts only programs that the user names.
//!
//! ```text
//!  lakes ──► gather ──► History ──► Index::step per interval ──► Series ──► ranks, charts
//!                          └──────► heaviest users, suggestions
//! ```

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::faults::{Code, Fault};
use crate::notation::NotationError;

pub mod accounts;
#[cfg(test)]
mod causality;
pub mod factors;
pub mod formula;
pub mod gather;
pub mod history;
pub mod indices;
pub mod program;
pub mod rank;
#[cfg(test)]
pub(crate) mod samples;
pub mod series;
pub mod site;
#[cfg(test)]
mod slurm_vectors;
pub mod suggestions;
pub mod template;
pub mod usage;
pub mod week;

/// An index could not be read or evaluated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FairnessError {
    /// Wrong notation.
    #[error(transparent)]
    Notation(#[from] NotationError),
    /// A formula with a mistake.
    #[error("the formula of `{}` is wrong in {place}", path.display())]
    Formula {
        /// The file.
        path: PathBuf,
        /// The position and the mistake.
        place: crate::notation::Mistake,
    },
    /// A TOML file with a mistake.
    #[error("`{}` is wrong in {place}", path.display())]
    Template {
        /// The file.
        path: PathBuf,
        /// The position and the mistake.
        place: crate::notation::Mistake,
    },
    /// A file of factors, accounts or of a custom index cannot be read.
    #[error("could not read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        cause: io::Error,
    },
    /// A file with an invalid line.
    #[error("`{}`, line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// An index reads data that was not gathered.
    #[error("the index `{index}` reads {what}, which this usage does not contain")]
    NotGathered {
        /// The index.
        index: String,
        /// What it reads.
        what: &'static str,
    },
    /// A custom index returned its own error.
    #[error("the index `{index}` failed")]
    Own {
        /// The index.
        index: String,
        /// The cause.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A custom program could not be started.
    #[error("could not start the index `{name}` (`{program}`)")]
    Start {
        /// The index.
        name: String,
        /// The program.
        program: String,
        /// The cause.
        #[source]
        cause: io::Error,
    },
    /// A custom program broke the protocol.
    #[error("the index `{name}` failed: {problem}{}", said(.stderr))]
    Program {
        /// The index.
        name: String,
        /// What it did wrong.
        problem: String,
        /// The end of what it wrote to stderr.
        stderr: String,
    },
}

impl FairnessError {
    /// The error of a custom index, with its own error as the cause.
    pub fn own(
        index: impl fmt::Display,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Own { index: index.to_string(), cause: cause.into() }
    }

    /// Whether the command line is wrong, such as a name, a key or a formula.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Notation(_)
            | Self::Formula { .. }
            | Self::Template { .. }
            | Self::NotGathered { .. }
            | Self::Line { .. } => true,
            // The file is not text.
            Self::Read { cause, .. } => cause.kind() == io::ErrorKind::InvalidData,
            _ => false,
        }
    }
}

impl Fault for FairnessError {
    fn code(&self) -> Code {
        match self {
            Self::Own { .. } | Self::Program { .. } => Code::BadData,
            error if error.is_usage() => Code::Usage,
            _ => Code::Environment,
        }
    }
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; its stderr: {stderr}") }
}

/// The largest size of a text file that users write.
const TEXT_MAX: u64 = 1 << 24;

/// Reads a text file of the user.
///
/// # Errors
/// It cannot be read, is not text, or is larger than 16 MiB.
pub fn read_text(path: &Path) -> Result<String, FairnessError> {
    let read = || {
        let mut text = String::new();
        std::fs::File::open(path)?.take(TEXT_MAX + 1).read_to_string(&mut text)?;
        if TEXT_MAX < text.len() as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too long"));
        }
        Ok(text)
    };
    read().map_err(|cause| FairnessError::Read { path: path.to_owned(), cause })
}
