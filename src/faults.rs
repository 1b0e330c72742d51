//! Failures, each with an exit code that scripts rely on and a hint.
//!
//! In: an error of any part of the program. Out: a [`Failure`] with its [`Code`], its hint and its
//! context. Each kind of error states its code next to its definition; here are those of the
//! standard library and of other crates, and a few that belong to no part.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// The exit codes, a contract.
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
    /// The machine: a disk that is full, a file that is not there.
    Environment = 4,
    /// A fault of this program.
    Bug = 70,
    /// Stopped by the user, as shells report an interrupt.
    Interrupted = 130,
}

impl Code {
    /// That of wrong data, or of the machine.
    pub fn of_data(is_bad_data: bool) -> Self {
        if is_bad_data { Self::BadData } else { Self::Environment }
    }
}

/// An error that knows how a program ends that meets it.
pub trait Fault: Error + Send + Sync + 'static {
    /// The exit code.
    fn code(&self) -> Code {
        Code::Environment
    }

    /// What to do about it.
    fn hint(&self) -> Option<Cow<'static, str>> {
        None
    }

    /// Further lines, such as the first lines of a file that were refused.
    fn details(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether nobody foresaw it, so that damaged input may be behind it.
    fn is_unforeseen(&self) -> bool {
        false
    }
}

/// Something that could not be done, and why.
#[derive(Debug)]
pub struct Failure {
    /// What could not be done, where the fault does not say it itself.
    what: Option<String>,
    fault: Box<dyn Fault>,
}

/// What comes of something that may fail in any way.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// Why it could not be done.
    pub fn fault(&self) -> &dyn Fault {
        self.fault.as_ref()
    }

    /// The exit code.
    pub fn code(&self) -> Code {
        self.fault.code()
    }

    /// What could not be done.
    pub fn what(&self) -> Option<&str> {
        self.what.as_deref()
    }
}

/// A fault and its causes in words, each said once.
pub fn chain(fault: &dyn Fault) -> Vec<String> {
    let mut texts: Vec<String> = causes(fault).map(ToString::to_string).collect();
    texts.dedup();
    texts
}

/// What to do about a fault or, where it does not say, about its cause.
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

/// Says what could not be done.
pub trait Context<T> {
    /// Says it.
    ///
    /// # Errors
    /// The fault itself, with the words.
    fn context(self, what: impl Into<String>) -> Result<T>;

    /// Says it where it is a fault.
    ///
    /// # Errors
    /// The fault itself, with the words.
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

/// A check that was asked for has failed; what failed has been shown.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct CheckFailed(pub String);

/// Something was asked for that cannot be.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// The machine does not let something be done.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Hindered(pub String);

/// A file that is not what it was given as.
#[derive(Debug, Error)]
#[error("`{}` {problem}", path.display())]
pub struct BadFile {
    /// The file.
    pub path: PathBuf,
    /// What it is not, or has not.
    pub problem: String,
}

/// The system has no more threads for this program.
#[derive(Clone, Debug, Error)]
#[error("the system cannot start more threads: {0}")]
pub struct NoThreads(pub String);

/// A fault of this program.
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

/// What to do where the system starts no more threads.
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

/// Whether a name was given for something new, and something else has it.
pub fn is_name_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory)
}

fn hint_of_io(error: &io::Error) -> Option<&'static str> {
    if is_name_taken(error) {
        return Some("a file with that name exists: move it away, or give another name");
    }
    match error.kind() {
        // What the system says where no thread can be started.
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
    /// With a fault.
    pub failed: usize,
    /// Asked for.
    pub wanted: usize,
    /// In the lake, from this run or an earlier one.
    pub kept: usize,
    /// Whether the data of any of them are at fault, and not the machine.
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
