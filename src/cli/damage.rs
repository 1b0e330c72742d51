//! Handles unexpected failures, and checks whether a damaged lake caused them.
//!
//! In: a command that panicked, or an engine that failed. Out: the error, or the damaged file of
//! the lake (its bytes have changed since `ingest` wrote them). Checksums of the lake are compared
//! only here and in `verify`: comparing them before every question would read all columns.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::PathBuf;
use std::sync::Mutex;

use super::exit;
use jobfate::faults::{Bug, Context, Failure, NoThreads, Result, Usage};
use jobfate::lake::Lake;

/// The message of the first panic on any thread.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Runs a command; a panic on any of its threads becomes an ordinary error.
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

/// Whether a panic means that a thread could not be started. Libraries that start threads report
/// this only by a panic.
fn wants_threads(said: &str) -> bool {
    let is_spawn = said.contains("spawn") && said.contains("thread");
    let is_refused = said.contains("Os {") && said.contains("kind: WouldBlock");
    is_spawn
        || is_refused
        || said.contains("ThreadPoolBuildError")
        || said.contains("thread pool has not been")
}

/// Ends the program immediately: other threads may wait forever for the missing one. Written data
/// is in the same state as after a kill.
fn end_without_threads(said: &str) -> ! {
    // The reason without the position in the source.
    let why = said.lines().last().unwrap_or_default().to_owned();
    let code = exit::report(&NoThreads(why).into());
    #[expect(clippy::exit, reason = "no other thread can be relied on to end")]
    std::process::exit(code as i32);
}

/// Starts the threads of this program's pool, so that a lack of threads is reported before any work
/// starts. Also makes a write beyond the file size limit fail like any other write.
///
/// # Errors
/// A number of threads is invalid, or a thread cannot be started.
pub(super) fn prepare() -> Result<()> {
    THREAD_COUNTS.iter().try_for_each(|&(name, least)| check_count(name, least))?;
    #[cfg(unix)]
    {
        let mut signals = nix::sys::signal::SigSet::empty();
        signals.add(nix::sys::signal::Signal::SIGXFSZ);
        // All threads that are started later inherit this.
        signals.thread_block().map_err(std::io::Error::from).context("could not block a signal")?;
    }
    let pool = rayon::ThreadPoolBuilder::new().build_global();
    pool.map_err(|error| NoThreads(error.to_string()).into())
}

/// Refuses a number of threads that the libraries would ignore, or that would make them panic.
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

/// The variables that the thread pools read, each with its smallest allowed value. With 0, this
/// program's pool has one thread per processor.
const THREAD_COUNTS: [(&str, usize); 4] = [
    ("RAYON_NUM_THREADS", 0),
    ("POLARS_MAX_THREADS", 1),
    ("POLARS_ASYNC_THREAD_COUNT", 1),
    ("POLARS_MAX_BLOCKING_THREAD_COUNT", 1),
];

/// The largest number of threads that makes sense on any machine.
const THREADS_MAX: usize = 65_536;

/// The error itself, or the error of a damaged file if that file may be the cause.
pub(super) fn explained(error: Failure, lakes: &[PathBuf]) -> Failure {
    if !error.fault().is_unforeseen() {
        return error;
    }
    // This check may panic for the same reason as the command.
    let look =
        || lakes.iter().find_map(|lake| Lake::open(lake).and_then(|lake| lake.check_sums()).err());
    let damage = catch_unwind(AssertUnwindSafe(look)).unwrap_or_default();
    damage.filter(|damage| damage.kind.is_bad_data()).map_or(error, Into::into)
}
