//! A failure that nobody foresaw, and whether a damaged lake is behind it.
//!
//! In: a command that panicked, or an engine that gave up. Out: the error that says so; or the
//! file of the lake whose bytes are no longer those that `ingest` wrote. The lake's checksums are
//! read then and by `verify`, and not before every question: that would read all columns for a few.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::Result;

use super::{Command, exit};
use crate::facts::FactError;
use crate::lake::Lake;

/// What the first panic said, on whatever thread.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Runs a command; a panic of any of its threads is an error like others.
pub(super) fn caught(run: impl FnOnce() -> Result<()>) -> Result<()> {
    let said = || PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    set_hook(Box::new(move |panic| {
        said().get_or_insert_with(|| panic.to_string());
    }));
    let done = catch_unwind(AssertUnwindSafe(run));
    let said = said().take();
    match (done, said) {
        (Ok(done), None) => done,
        (_, said) => Err(exit::Bug(said.unwrap_or_default()).into()),
    }
}

/// The lakes that a command reads.
pub(super) fn lakes_of(command: &Command) -> Vec<PathBuf> {
    let answer = match command {
        Command::Fairness(args) => return args.folders(),
        Command::Verify(args) => &args.answer,
        Command::Classify(args) => &args.answer,
        Command::Describe(args) => &args.answer,
        Command::Account(args) => &args.answer,
        Command::Sweep(args) => &args.answer,
        Command::Detect(args) => &args.answer,
        Command::Replay(args) => &args.answer,
        Command::Query(args) => &args.answer,
        Command::Reproduce(args) => &args.answer,
        _ => return Vec::new(),
    };
    vec![answer.lake.clone()]
}

/// The error itself, or that of a damaged file if that may be why.
pub(super) fn explained(error: anyhow::Error, lakes: &[PathBuf]) -> anyhow::Error {
    let is_unforeseen = error.is::<exit::Bug>()
        || matches!(
            error.downcast_ref::<FactError>(),
            Some(FactError::Engine { .. } | FactError::Spark { .. })
        );
    if !is_unforeseen {
        return error;
    }
    let damage =
        lakes.iter().find_map(|lake| Lake::open(lake).and_then(|lake| lake.check_sums()).err());
    damage.filter(|damage| damage.kind.is_bad_data()).map_or(error, Into::into)
}
