//! Handles unexpected failures, and finds out whether a damaged lake caused them.
//!
//! In: a command that panicked, or an engine that gave up. Out: the error that says so; or the
//! file of the lake whose bytes are no longer those that `ingest` wrote. The lake's checksums are
//! read then and by `verify`, and not before every question: that would read all columns for a few.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::PathBuf;
use std::sync::Mutex;

use jobfate::faults::{Bug, Context, Failure, NoThreads, Result, Usage};
use jobfate::lake::Lake;

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
        (_, Some(said)) if wants_threads(&said) => Err(NoThreads(in_one_line(&said)).into()),
        (_, said) => Err(Bug(said.unwrap_or_default()).into()),
    }
}

/// Whether a panic is that of a thread that could not be started. The libraries that start them
/// have no other way to say so.
fn wants_threads(said: &str) -> bool {
    let is_spawn = said.contains("spawn") && said.contains("thread");
    is_spawn || said.contains("ThreadPoolBuildError") || said.contains("thread pool has not been")
}

/// The reason without the place in the source.
fn in_one_line(said: &str) -> String {
    said.lines().last().unwrap_or_default().to_owned()
}

/// Starts the threads of this program's own pool, so that a system that has none left says so
/// before anything is done, and lets a write beyond the limit of a file's length fail like others.
///
/// # Errors
/// The number of threads that Polars is to use is none, or a thread does not start.
pub(super) fn prepare() -> Result<()> {
    if let Some(text) = std::env::var_os(POLARS_THREADS) {
        let count = text.to_str().and_then(|text| text.parse::<usize>().ok());
        if count.is_none_or(|count| !(1..=THREADS_MAX).contains(&count)) {
            return Err(Usage(format!(
                "{POLARS_THREADS}: `{}` is not a number of threads from 1 to {THREADS_MAX}",
                text.display()
            ))
            .into());
        }
    }
    #[cfg(unix)]
    {
        let mut signals = nix::sys::signal::SigSet::empty();
        signals.add(nix::sys::signal::Signal::SIGXFSZ);
        // Every thread that is started from here on inherits it.
        signals.thread_block().map_err(std::io::Error::from).context("could not block a signal")?;
    }
    let pool = rayon::ThreadPoolBuilder::new().build_global();
    pool.map_err(|error| NoThreads(error.to_string()).into())
}

/// How many threads Polars uses.
const POLARS_THREADS: &str = "POLARS_MAX_THREADS";

/// The most of them that make sense on any machine.
const THREADS_MAX: usize = 65_536;

/// The error itself, or that of a damaged file if that may be why.
pub(super) fn explained(error: Failure, lakes: &[PathBuf]) -> Failure {
    if !error.fault().is_unforeseen() {
        return error;
    }
    // What made the command fail may make this fail as well.
    let look =
        || lakes.iter().find_map(|lake| Lake::open(lake).and_then(|lake| lake.check_sums()).err());
    let damage = catch_unwind(AssertUnwindSafe(look)).unwrap_or_default();
    damage.filter(|damage| damage.kind.is_bad_data()).map_or(error, Into::into)
}
