//! Handles unexpected failures, and finds out whether a damaged lake caused them.
//!
//! In: a command that panicked, or an engine that gave up. Out: the error that says so; or the file
//! of the lake whose bytes are no longer those that `ingest` wrote. The lake's checksums are
//! compared only then and by `verify`: comparing them before every question would read all columns.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::PathBuf;
use std::sync::Mutex;

use super::exit;
use jobfate::faults::{Bug, Context, Failure, NoThreads, Result, Usage};
use jobfate::lake::Lake;

/// What the first panic said, on whatever thread.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Runs a command; a panic of any of its threads is an error like others.
pub(super) fn caught(run: impl FnOnce() -> Result<()>) -> Result<()> {
    let said = || PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    set_hook(Box::new(move |panic| {
        let text = panic.to_string();
        if wants_threads(&text) {
            end_without_threads(&text);
        }
        said().get_or_insert(text);
    }));
    let done = catch_unwind(AssertUnwindSafe(run));
    let said = said().take();
    match (done, said) {
        (Ok(done), None) => done,
        (_, said) => Err(Bug(said.unwrap_or_default()).into()),
    }
}

/// Whether a panic is that of a thread that could not be started. The libraries that start them
/// have no other way to say so.
fn wants_threads(said: &str) -> bool {
    let is_spawn = said.contains("spawn") && said.contains("thread");
    let is_refused = said.contains("Os {") && said.contains("kind: WouldBlock");
    is_spawn
        || is_refused
        || said.contains("ThreadPoolBuildError")
        || said.contains("thread pool has not been")
}

/// Ends the program at once: other threads may wait forever for the one that could not be started.
/// What has been written counts as after a kill.
fn end_without_threads(said: &str) -> ! {
    // The reason without the place in the source.
    let why = said.lines().last().unwrap_or_default().to_owned();
    let code = exit::report(&NoThreads(why).into());
    #[expect(clippy::exit, reason = "no other thread can be relied on to end")]
    std::process::exit(code as i32);
}

/// Starts the threads of this program's own pool, so that a system that has none left says so
/// before anything is done, and lets a write beyond the limit of a file's length fail like others.
///
/// # Errors
/// A number of threads is not one, or a thread does not start.
pub(super) fn prepare() -> Result<()> {
    THREAD_COUNTS.iter().try_for_each(|&(name, least)| check_count(name, least))?;
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

/// Refuses a number of threads that the libraries would ignore, or panic at.
fn check_count(name: &str, least: usize) -> Result<()> {
    let Some(text) = std::env::var_os(name) else { return Ok(()) };
    let count = text.to_str().and_then(|text| text.parse::<usize>().ok());
    if count.is_some_and(|count| (least..=THREADS_MAX).contains(&count)) {
        return Ok(());
    }
    let text = text.display();
    let problem =
        format!("{name}: `{text}` is not a number of threads from {least} to {THREADS_MAX}");
    Err(Usage(problem).into())
}

/// The variables that the pools of threads read, and the least that each may be. With 0 the pool
/// of this program has one thread for each processor.
const THREAD_COUNTS: [(&str, usize); 4] = [
    ("RAYON_NUM_THREADS", 0),
    ("POLARS_MAX_THREADS", 1),
    ("POLARS_ASYNC_THREAD_COUNT", 1),
    ("POLARS_MAX_BLOCKING_THREAD_COUNT", 1),
];

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
