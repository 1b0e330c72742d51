//! What went wrong, as text and as an exit code.
//!
//! In: any error of a command. Out: the message on stderr (what could not be done, why, what to
//! do about it) and one of the codes of [`Code`], which scripts rely on.

use thiserror::Error;

use super::console;
use crate::faults::{self, Code, Failure, Fault};

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

impl Fault for PartsFailed {
    fn code(&self) -> Code {
        Code::of_data(self.is_bad_data)
    }
}

/// Shows a failure with its causes and a hint, and returns its code.
pub(crate) fn report(failure: &Failure) -> Code {
    show(failure.what(), failure.fault());
    failure.code()
}

/// Shows what could not be done, the fault with its causes, and a hint.
pub(crate) fn show(what: Option<&str>, fault: &dyn Fault) {
    let mut said = what.map(str::to_owned).into_iter().chain(faults::chain(fault));
    console::problem(format!("error: {}", said.next().unwrap_or_default()));
    said.for_each(|cause| console::problem(format!("cause: {cause}")));
    fault.details().iter().for_each(|line| console::problem(format!("  {line}")));
    if let Some(hint) = faults::hint(fault) {
        console::problem(format!("hint: {hint}"));
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::lake::{LakeError, LakeErrorKind};
    use crate::replay::cluster::ClusterError;
    use crate::replay::detect::TooManyHeartbeats;
    use crate::replay::detectors::DetectorPlan;
    use crate::results::ResultError;
    use crate::sources::{SourceError, SourceErrorKind};

    #[test]
    fn every_kind_of_error_has_its_code() {
        let io = |kind| io::Error::from(kind);
        let lake = |kind| LakeError::new(Path::new("lake"), kind);
        let file = || PathBuf::from("a");
        let parts = |is_bad_data| PartsFailed { failed: 1, wanted: 2, kept: 1, is_bad_data };
        let cases: [(Failure, Code); 11] = [
            (parts(true).into(), Code::BadData),
            (parts(false).into(), Code::Environment),
            (ResultError::Changed { path: file(), result: file() }.into(), Code::BadData),
            (ClusterError::Empty.into(), Code::BadData),
            ("p".parse::<DetectorPlan>().unwrap_err().into(), Code::Usage),
            (TooManyHeartbeats { heartbeats: 1, most: 0, heartbeat_us: 1 }.into(), Code::Usage),
            (lake(LakeErrorKind::OtherVersion { found: 9 }).into(), Code::BadData),
            (lake(LakeErrorKind::Io(io(io::ErrorKind::StorageFull))).into(), Code::Environment),
            (lake(LakeErrorKind::Busy).into(), Code::Environment),
            (SourceError::new(Path::new("a"), SourceErrorKind::NotGzip).into(), Code::BadData),
            (SourceError::new(Path::new("a"), SourceErrorKind::NoFolder).into(), Code::Environment),
        ];
        for (failure, code) in cases {
            assert_eq!(failure.code(), code, "{failure}");
        }
    }
}
