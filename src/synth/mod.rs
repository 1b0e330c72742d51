//! Writes a synthetic cluster trace in the layout of Google's v2.1 or v3, with its ground truth.
//!
//! In: a [`SynthConfig`]. Out: a folder with the six tables as `csv.gz` parts by time slice,
//! `schema.csv`, `SHA256SUM` and `truth.json`, the ground truth: outcomes, CPU time per outcome,
//! threshold crossings, stragglers, oddities.
//!
//! ```text
//!  fate      one job: outcome, arrival, length, tasks         (own random stream per job)
//!  shape     one task: dead runs, ending, quirk
//!  timeline  ──► task events          usage ──► usage windows
//!  account   ──► tally: what was planted, by the published definitions
//!  spill     rows by table and time slice, in generation order
//!  parts     each slice sorted by (time, generation order), gzipped, hashed; bad lines on request
//!  export    the same lines in the format of the trace of 2019
//! ```
//!
//! Invariants: the same configuration gives the same bytes for any number of threads. The truth is
//! collected while rows are made, from the values as written: it reads no file back and calls no
//! code of the analysis. Memory holds one batch of jobs and, per thread, one slice of one table,
//! never the whole trace.

mod account;
mod conclude;
mod config;
mod dirty;
mod draw;
mod event;
mod export;
mod fate;
mod job;
mod machines;
mod merge;
mod parts;
mod rows;
mod scene;
mod shape;
mod spill;
mod sweep;
mod table;
mod tally;
#[cfg(test)]
mod tests;
mod text;
mod timeline;
mod truth;
mod units;
mod usage;
mod write;

use crate::faults::{Code, Fault};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use config::{Dirty, Form, SynthConfig};
pub use sweep::thresholds;
pub use truth::{
    CpuCounts, CpuLedger, CpuSpent, Durations, LastTimes, MachineCounts, Outcomes, Quality, Spread,
    Stragglers, SweepRow, Truth, Unannounced,
};
pub use write::{remove_unfinished, write_trace};

/// The progress of [`write_trace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SynthProgress {
    /// The current step.
    pub stage: SynthStage,
    /// Jobs or parts done so far.
    pub done: u64,
    /// Total number of jobs or parts.
    pub total: u64,
}

/// The two steps of writing a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SynthStage {
    /// Jobs are drawn and their rows stored by time slice; counted in jobs.
    Jobs,
    /// Slices are sorted and compressed; counted in parts of all tables.
    Parts,
}

/// A synthetic trace could not be written.
#[derive(Debug, Error)]
#[error("could not write a synthetic trace to `{}`", path.display())]
pub struct SynthError {
    path: PathBuf,
    #[source]
    kind: SynthErrorKind,
}

impl SynthError {
    /// The file or folder that was being written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The reason.
    pub fn kind(&self) -> &SynthErrorKind {
        &self.kind
    }

    fn new(path: &Path, kind: SynthErrorKind) -> Self {
        Self { path: path.to_owned(), kind }
    }

    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |error| Self::new(path, SynthErrorKind::Io(error))
    }
}

impl Fault for SynthError {
    fn code(&self) -> Code {
        match &self.kind {
            SynthErrorKind::Setting { .. } | SynthErrorKind::NotEmpty => Code::Usage,
            SynthErrorKind::Io(error) => error.code(),
            SynthErrorKind::Json(_) => Code::Environment,
        }
    }

    fn hint(&self) -> Option<Cow<'static, str>> {
        let is_full = matches!(self.kind, SynthErrorKind::NotEmpty);
        is_full.then(|| "give a new folder, or empty this one".into())
    }
}

/// The reason why a synthetic trace could not be written.
#[derive(Debug, Error)]
pub enum SynthErrorKind {
    /// The target folder is not empty; nothing was changed.
    #[error("the folder is not empty")]
    NotEmpty,
    /// A setting is out of range.
    #[error("setting `{setting}` is {found}, not {expected}")]
    Setting {
        /// The field of [`SynthConfig`].
        setting: &'static str,
        /// Its value.
        found: String,
        /// The allowed values.
        expected: &'static str,
    },
    /// A file could not be written, or a spill file could not be read back.
    #[error("a file could not be written or read back")]
    Io(#[source] io::Error),
    /// `truth.json` could not be written.
    #[error("the truth could not be written as JSON")]
    Json(#[source] serde_json::Error),
}
