//! Failures, with hints and with the exit codes that scripts rely on.
//!
//! In: an error of any part of the program. Out: a [`Failure`] with its [`Code`], its hint and its
//! context. Each kind of error defines its code next to its type; this file has the codes for
//! errors of the standard library and of other crates, and for a few errors that can occur in any
//! part.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// The exit codes; they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Done.
    Done = 0,
    /// Done, but the answer is no: a check failed.
    CheckFailed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The input data are wrong.
    BadData = 3,
    /// A problem of the machine: a full disk, a missing file.
    Environment = 4,
    /// A bug in this program.
    Bug = 70,
    /// Stopped by the user, as shells report an interrupt.
    Interrupted = 130,
}

impl Code {
    /// The code for wrong data, or otherwise for a problem of the machine.
    pub fn of_data(is_bad_data: bool) -> Self {
        if is_bad_data { Self::BadData } else { Self::Environment }
    }
}

/// An error with an exit code and a hint.
pub trait Fault: Error + Send + Sync + 'static {
    /// The exit code.
    fn code(&self) -> Code {
        Code::Environment
    }

    /// Advice for the user.
    fn hint(&self) -> Option<Cow<'static, str>> {
        None
    }

    /// Further lines, such as the first lines of a file that were refused.
    fn details(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether the error is unexpected, so that damaged input may be the cause.
    fn is_unforeseen(&self) -> bool {
        false
    }
}

/// An action that failed, and why.
#[derive(Debug)]
pub struct Failure {
    /// The action, if the fault does not name it.
    what: Option<String>,
    fault: Box<dyn Fault>,
}

/// The result of an action that may fail in any way.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// The cause.
    pub fn fault(&self) -> &dyn Fault {
        self.fault.as_ref()
    }

    /// The exit code.
    pub fn code(&self) -> Code {
        self.fault.code()
    }

    /// The action that failed.
    pub fn what(&self) -> Option<&str> {
        self.what.as_deref()
    }
}

/// A fault and its causes as texts, without repetitions.
pub fn chain(fault: &dyn Fault) -> Vec<String> {
    let mut texts: Vec<String> = causes(fault).map(ToString::to_string).collect();
    texts.dedup();
    texts
}

/// The advice of a fault or, if it has none, of its cause.
pub fn hint(fault: &dyn Fault) -> Option<Cow<'static, str>> {
    let of_causes =
        || causes(fault).filter_map(|error| error.downcast_ref::<io::Error>()).find_map(hint_of_io);
    fault.hint().or_else(|| of_causes().map(Cow::Borrowed))
}

fn causes(fault: &dyn Fault) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = fault;
    std::iter::successors(Some(first), |&error| error.source())
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            Some(what) => f.write_str(what),
            None => self.fault.fmt(f),
        }
    }
}

impl<F: Fault> From<F> for Failure {
    fn from(fault: F) -> Self {
        Self { what: None, fault: Box::new(fault) }
    }
}

/// Adds the action that failed to an error.
pub trait Context<T> {
    /// Adds a text.
    ///
    /// # Errors
    /// The fault itself, with the text.
    fn context(self, what: impl Into<String>) -> Result<T>;

    /// Adds a text that is made only for an error.
    ///
    /// # Errors
    /// The fault itself, with the text.
    fn with_context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<Failure>> Context<T> for Result<T, E> {
    fn context(self, what: impl Into<String>) -> Result<T> {
        self.with_context(|| what.into())
    }

    fn with_context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure { what: Some(what()), ..error.into() })
    }
}

impl From<Code> for std::process::ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// A requested check has failed; the failure has been shown.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct CheckFailed(pub String);

/// A request that is not possible.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// The machine prevents an action.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Hindered(pub String);

/// A file that cannot be used, and why.
#[derive(Debug, Error)]
#[error("`{}` {problem}", path.display())]
pub struct BadFile {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: String,
}

/// The system has no more threads for this program.
#[derive(Clone, Debug, Error)]
#[error("the system cannot start more threads: {0}")]
pub struct NoThreads(pub String);

/// A bug in this program.
#[derive(Debug, Error)]
#[error("this is a bug in jobfate: {0}")]
pub struct Bug(pub String);

/// The user stopped the program.
#[derive(Debug, Error)]
#[error("stopped; completed work is kept, run the same command to continue")]
pub struct Interrupted;

impl Fault for CheckFailed {
    fn code(&self) -> Code {
        Code::CheckFailed
    }
}

impl Fault for Usage {
    fn code(&self) -> Code {
        Code::Usage
    }
}

impl Fault for Hindered {}

impl Fault for BadFile {
    fn code(&self) -> Code {
        Code::BadData
    }
}

impl Fault for NoThreads {
    fn hint(&self) -> Option<Cow<'static, str>> {
        Some(MORE_THREADS.into())
    }
}

/// Advice if the system cannot start more threads.
pub(crate) const MORE_THREADS: &str = "raise the limit of processes (`ulimit -u`), or use fewer threads with \
    RAYON_NUM_THREADS and POLARS_MAX_THREADS";

impl Fault for Bug {
    fn code(&self) -> Code {
        Code::Bug
    }

    fn hint(&self) -> Option<Cow<'static, str>> {
        Some("please report it with the command line and this message".into())
    }

    fn is_unforeseen(&self) -> bool {
        true
    }
}

impl Fault for Interrupted {
    fn code(&self) -> Code {
        Code::Interrupted
    }
}

impl Fault for io::Error {
    fn code(&self) -> Code {
        if is_name_taken(self) { Code::Usage } else { Code::Environment }
    }
}
impl Fault for arrow::error::ArrowError {}
impl Fault for parquet::errors::ParquetError {}
impl Fault for csv::Error {}
impl Fault for serde_json::Error {}

/// Whether the name for something new is already taken.
pub fn is_name_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory)
}

fn hint_of_io(error: &io::Error) -> Option<&'static str> {
    if is_name_taken(error) {
        return Some("a file with that name exists: move it away, or give another name");
    }
    match error.kind() {
        // The error of the system if no thread can be started.
        io::ErrorKind::WouldBlock => Some(MORE_THREADS),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("free some space and run the same command")
        }
        io::ErrorKind::FileTooLarge => {
            Some("raise the limit on file sizes (`ulimit -f`) and run the same command")
        }
        _ => None,
    }
}

/// Parts that could not be ingested; each has been shown.
#[derive(Debug, Error)]
#[error("{failed} of {wanted} parts could not be ingested; {}", match kept {
    0 => "nothing was stored",
    _ => "the lake contains the others",
})]
pub struct PartsFailed {
    /// Parts that failed.
    pub failed: usize,
    /// Requested parts.
    pub wanted: usize,
    /// Parts in the lake, from this run or an earlier one.
    pub kept: usize,
    /// Whether the data of any of them are at fault, rather than the machine.
    pub is_bad_data: bool,
}

impl Fault for PartsFailed {
    fn code(&self) -> Code {
        Code::of_data(self.is_bad_data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_why_and_what_to_do() {
        let full: Result<()> =
            Err(io::Error::from(io::ErrorKind::StorageFull)).context("could not write `a`");
        let failure = full.unwrap_err();
        assert_eq!(failure.to_string(), "could not write `a`");
        assert_eq!(chain(failure.fault()).len(), 1, "{:?}", chain(failure.fault()));
        assert_eq!(failure.code(), Code::Environment);
        let hint = hint(failure.fault());
        assert_eq!(hint.as_deref(), Some("free some space and run the same command"));
    }

    #[test]
    fn each_fault_of_its_own_has_its_code() {
        let cases: [(Failure, Code); 7] = [
            (CheckFailed(String::new()).into(), Code::CheckFailed),
            (Usage(String::new()).into(), Code::Usage),
            (Hindered(String::new()).into(), Code::Environment),
            (BadFile { path: "a".into(), problem: String::new() }.into(), Code::BadData),
            (NoThreads(String::new()).into(), Code::Environment),
            (Bug(String::new()).into(), Code::Bug),
            (Interrupted.into(), Code::Interrupted),
        ];
        for (failure, code) in cases {
            assert_eq!(failure.code(), code, "{failure}");
        }
    }
}
