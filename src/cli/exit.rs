//! Reports errors as text and as an exit code.
//!
//! In: any error of a command. Out: a message on stderr (what failed, why, and advice) and one of
//! the codes in [`Code`]. Scripts rely on these codes.

use jobfate::faults::{self, Code, Failure, Fault};

use super::console;

/// Shows a failure with its causes and a hint, and returns its code.
pub(crate) fn report(failure: &Failure) -> Code {
    show(failure.what(), failure.fault());
    failure.code()
}

/// Shows what failed, the error with its causes, and a hint.
pub(crate) fn show(what: Option<&str>, fault: &dyn Fault) {
    let mut said = what.map(str::to_owned).into_iter().chain(faults::chain(fault));
    console::problem(format!("error: {}", said.next().unwrap_or_default()));
    said.for_each(|cause| console::problem(format!("cause: {cause}")));
    fault.details().iter().for_each(|line| console::problem(format!("  {line}")));
    if let Some(hint) = faults::hint(fault) {
        console::problem(format!("hint: {hint}"));
    }
}
