//! What went wrong, as text and as an exit code.
//!
//! In: any error of a command. Out: the message on stderr (what could not be done, why, what to
//! do about it) and one of the codes of [`Code`], which scripts rely on.

use std::borrow::Cow;
use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use thiserror::Error;

use super::analyze::config::ConfigError;
use super::console;
use crate::facts::FactError;
use crate::fairness::FairnessError;
use crate::lake::LakeError;
use crate::lake::LakeErrorKind;
use crate::notation::NotationError;
use crate::replay::cluster::ClusterError;
use crate::replay::detect::TooManyHeartbeats;
use crate::replay::workload::WorkloadError;
use crate::report::ReportError;
use crate::sources::{Reject, SourceError};
use crate::synth::{SynthError, SynthErrorKind};

/// The exit codes, a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Done.
    Done = 0,
    /// Done, but the answer is no: a check failed.
    CheckFailed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The input data are wrong.
    BadData = 3,
    /// The machine: a disk that is full, a file that is not there.
    Environment = 4,
    /// A fault of this program.
    Bug = 70,
    /// Stopped by the user, as shells report an interrupt.
    Interrupted = 130,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// A check that was asked for has failed; what failed has been shown.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct CheckFailed(pub String);

/// A command line that clap cannot know to be wrong.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Usage(pub String);

/// A file that is not what it was given as.
#[derive(Debug, Error)]
#[error("`{}` {problem}", path.display())]
pub(crate) struct BadFile {
    /// The file.
    pub path: PathBuf,
    /// What it is not, or has not.
    pub problem: String,
}

/// Parts that could not be ingested; each has been shown.
#[derive(Debug, Error)]
#[error("{failed} of {wanted} parts could not be ingested; {}", match kept {
    0 => "nothing was stored",
    _ => "the lake holds the others",
})]
pub(crate) struct PartsFailed {
    /// With a fault.
    pub failed: usize,
    /// Asked for.
    pub wanted: usize,
    /// In the lake, from this run or an earlier one.
    pub kept: usize,
    /// Whether the data of any of them are at fault, and not the machine.
    pub is_bad_data: bool,
}

/// The system has no more threads for this program.
#[derive(Debug, Error)]
#[error("the system starts no more threads: {0}")]
pub(crate) struct NoThreads(pub String);

/// A fault of this program.
#[derive(Debug, Error)]
#[error("this is a bug in jobfate: {0}")]
pub(crate) struct Bug(pub String);

/// The user stopped the program.
#[derive(Debug, Error)]
#[error("stopped; what is done is kept, run the same command to go on")]
pub(crate) struct Interrupted;

/// Shows an error and returns its code.
pub(crate) fn report(error: &anyhow::Error) -> Code {
    show(error.as_ref(), error.downcast_ref::<LakeError>());
    code_of(error)
}

/// Shows an error with its causes and a hint.
pub(crate) fn show(error: &(dyn Error + 'static), lake_error: Option<&LakeError>) {
    console::problem(format!("error: {error}"));
    let mut cause = error.source();
    let mut said = error.to_string();
    let mut hint = None;
    while let Some(next) = cause {
        let text = next.to_string();
        if text != said {
            console::problem(format!("cause: {text}"));
        }
        if let Some(io) = next.downcast_ref::<io::Error>() {
            hint = hint.or_else(|| hint_of_io(io));
        }
        said = text;
        cause = next.source();
    }
    if let Some(
        LakeErrorKind::TooManyRejects { first, .. } | LakeErrorKind::OtherTrace { first, .. },
    ) = lake_error.map(|error| &error.kind)
    {
        first.iter().for_each(show_reject);
    }
    if let Some(hint) = hint_of(error).or(hint.map(Cow::Borrowed)) {
        console::problem(format!("hint: {hint}"));
    }
}

fn show_reject(reject: &Reject) {
    let column = if reject.column.is_empty() {
        String::new()
    } else {
        format!(", column `{}`", reject.column)
    };
    let text: String = reject.text.chars().take(120).flat_map(char::escape_default).collect();
    console::problem(format!("  line {}{column}: {}: {text}", reject.line, reject.reason.name()));
}

fn hint_of(error: &(dyn Error + 'static)) -> Option<Cow<'static, str>> {
    if let Some(error) = error.downcast_ref::<LakeError>() {
        return error.hint();
    }
    if let Some(error) = error.downcast_ref::<SourceError>() {
        return error.kind.hint().map(Cow::Borrowed);
    }
    let of_report = match error.downcast_ref() {
        Some(ReportError::Changed { .. }) => Some("run the command in the JSON again"),
        Some(ReportError::Foreign { .. }) => Some("move it away, or give another --out"),
        Some(ReportError::CurrentFolder { .. }) => Some("give another --out"),
        Some(ReportError::OtherAnalysis { .. }) => {
            Some("make a report of each, or run `analyze` again")
        }
        _ => None,
    };
    if let Some(hint) = of_report {
        return Some(hint.into());
    }
    if error.is::<NoThreads>() {
        return Some(
            "raise the limit of processes (`ulimit -u`), or take fewer threads with RAYON_NUM_THREADS and POLARS_MAX_THREADS".into(),
        );
    }
    if error.is::<Bug>() {
        return Some("please report it with the command line and this message".into());
    }
    match error.downcast_ref::<FactError>() {
        Some(FactError::Lake(error)) => return error.hint(),
        Some(FactError::Spark { hint, .. }) => return Some((*hint).into()),
        Some(FactError::NoEngine) => {
            return Some(
                "build it with its default features (`cargo build --release`), or use --engine spark"
                    .into(),
            );
        }
        _ => {}
    }
    None
}

fn hint_of_io(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("free some space and run the same command")
        }
        io::ErrorKind::FileTooLarge => {
            Some("raise the limit of the length of files (`ulimit -f`) and run the same command")
        }
        _ => None,
    }
}

fn code_of(error: &anyhow::Error) -> Code {
    let of_data = |is_bad_data| if is_bad_data { Code::BadData } else { Code::Environment };
    if let Some(error) = error.downcast_ref::<LakeError>() {
        return of_data(error.kind.is_bad_data());
    }
    if let Some(error) = error.downcast_ref::<SourceError>() {
        return of_data(error.kind.is_bad_data());
    }
    if let Some(FactError::NoEngine | FactError::OtherSource { .. }) = error.downcast_ref() {
        return Code::Usage;
    }
    if let Some(error) = error.downcast_ref::<FactError>() {
        return of_data(error.is_bad_data());
    }
    if let Some(error) = error.downcast_ref::<SynthError>() {
        return match error.kind() {
            SynthErrorKind::Setting { .. } => Code::Usage,
            _ => Code::Environment,
        };
    }
    if let Some(error) = error.downcast_ref::<FairnessError>() {
        return match error {
            FairnessError::Program { .. } => Code::BadData,
            error if error.is_usage() => Code::Usage,
            _ => Code::Environment,
        };
    }
    if let Some(error) = error.downcast_ref::<ReportError>() {
        return match error {
            ReportError::BadResult { .. } | ReportError::Changed { .. } => Code::BadData,
            ReportError::Foreign { .. }
            | ReportError::CurrentFolder { .. }
            | ReportError::OtherAnalysis { .. } => Code::Usage,
            _ => Code::Environment,
        };
    }
    if error.is::<CheckFailed>() {
        return Code::CheckFailed;
    }
    if let Some(WorkloadError::Late { .. }) = error.downcast_ref() {
        return Code::Usage;
    }
    if error.is::<Usage>() || error.is::<ConfigError>() {
        return Code::Usage;
    }
    if error.is::<NotationError>() || error.is::<TooManyHeartbeats>() {
        return Code::Usage;
    }
    if error.is::<BadFile>() || error.is::<ClusterError>() {
        return Code::BadData;
    }
    if let Some(error) = error.downcast_ref::<PartsFailed>() {
        return of_data(error.is_bad_data);
    }
    if error.is::<Bug>() {
        return Code::Bug;
    }
    if error.is::<Interrupted>() {
        return Code::Interrupted;
    }
    Code::Environment
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::sources::SourceErrorKind;

    #[test]
    fn every_kind_of_error_has_its_code() {
        let io = |kind| io::Error::from(kind);
        let lake = |kind| LakeError::new(Path::new("lake"), kind);
        let file = || PathBuf::from("a");
        let cases: [(anyhow::Error, Code); 17] = [
            (CheckFailed(String::new()).into(), Code::CheckFailed),
            (Usage(String::new()).into(), Code::Usage),
            (
                PartsFailed { failed: 1, wanted: 2, kept: 1, is_bad_data: true }.into(),
                Code::BadData,
            ),
            (
                PartsFailed { failed: 1, wanted: 2, kept: 1, is_bad_data: false }.into(),
                Code::Environment,
            ),
            (Interrupted.into(), Code::Interrupted),
            (BadFile { path: file(), problem: String::new() }.into(), Code::BadData),
            (ReportError::Changed { path: file(), result: file() }.into(), Code::BadData),
            (ClusterError::Empty.into(), Code::BadData),
            (Bug(String::new()).into(), Code::Bug),
            (NoThreads(String::new()).into(), Code::Environment),
            (
                "p".parse::<crate::replay::detectors::DetectorPlan>().unwrap_err().into(),
                Code::Usage,
            ),
            (TooManyHeartbeats { heartbeats: 1, most: 0, heartbeat_us: 1 }.into(), Code::Usage),
            (lake(LakeErrorKind::OtherVersion { found: 9 }).into(), Code::BadData),
            (lake(LakeErrorKind::Io(io(io::ErrorKind::StorageFull))).into(), Code::Environment),
            (lake(LakeErrorKind::Busy).into(), Code::Environment),
            (SourceError::new(Path::new("a"), SourceErrorKind::NotGzip).into(), Code::BadData),
            (SourceError::new(Path::new("a"), SourceErrorKind::NoFolder).into(), Code::Environment),
        ];
        for (error, code) in cases {
            assert_eq!(code_of(&error), code, "{error}");
        }
    }
}
