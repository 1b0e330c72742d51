//! The progress of a long call, and a way for its caller to stop it.
//!
//! In: counts of work, from any thread. Out: a [`Progress`] for the caller's callback, which
//! decides whether to continue. No result depends on the counts.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The environment variable with which another program requests this program's progress.
pub const TELL: &str = "JOBFATE_PROGRESS";

/// The start of a progress line on stderr. After it come units done, total units, and the current
/// work.
pub const TOLD: &str = "\u{1}progress ";

/// The progress of a call: rows of the lake for a question, bytes of raw files for an ingest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Work done so far; never more than [`total`](Self::total), and it never falls.
    pub done: u64,
    /// Total work, as far as known; it grows when a call starts another step.
    pub total: u64,
}

impl Progress {
    /// The share that is done, from 0 to 1; 0 before anything is known.
    #[expect(clippy::cast_precision_loss, reason = "a share is shown, not added up")]
    pub fn share(self) -> f64 {
        if self.total == 0 { 0.0 } else { self.done as f64 / self.total as f64 }
    }
}

/// The callback of a caller: it gets the progress and returns whether to continue.
type Callback = Box<dyn FnMut(Progress) -> ControlFlow<()> + Send>;

/// The counts of one or more calls, and the callback that gets them.
#[derive(Default)]
pub struct Watch {
    expected: AtomicU64,
    done: AtomicU64,
    is_stopped: AtomicBool,
    callback: Option<Mutex<Callback>>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("progress", &self.progress())
            .field("is_stopped", &self.is_stopped())
            .finish_non_exhaustive()
    }
}

impl Watch {
    /// Reports the progress of the watched calls to `callback`, from any of their threads, one at a
    /// time. Once it breaks it is not called again, and the calls stop.
    pub fn new(callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'static) -> Self {
        Self { callback: Some(Mutex::new(Box::new(callback))), ..Self::default() }
    }

    /// Counts without reporting.
    const fn silent() -> Self {
        Self {
            expected: AtomicU64::new(0),
            done: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
            callback: None,
        }
    }

    /// Announces more units of work.
    pub fn expect(&self, units: u64) {
        self.expected.fetch_add(units, Ordering::Relaxed);
    }

    /// Counts units as done; breaks if the calls must stop.
    pub fn step(&self, units: u64) -> ControlFlow<()> {
        self.done.fetch_add(units, Ordering::Relaxed);
        let Some(callback) = &self.callback else { return ControlFlow::Continue(()) };
        if self.is_stopped() {
            return ControlFlow::Break(());
        }
        let mut callback = callback.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread's callback may have stopped the calls meanwhile.
        if self.is_stopped() {
            return ControlFlow::Break(());
        }
        let answer = callback(self.progress());
        self.is_stopped.store(answer.is_break(), Ordering::Relaxed);
        answer
    }

    /// Whether the callback has stopped the calls.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// The progress so far.
    pub fn progress(&self) -> Progress {
        let done = self.done.load(Ordering::Relaxed);
        let total = self.expected.load(Ordering::Relaxed);
        Progress { done: done.min(total), total }
    }
}

/// The progress on the command line: that of calls without their own callback.
static SHOWN: Watch = Watch::silent();

/// Resets the counts.
pub fn restart() {
    SHOWN.expected.store(0, Ordering::Relaxed);
    SHOWN.done.store(0, Ordering::Relaxed);
}

/// Announces more units of work.
pub fn expect(units: u64) {
    SHOWN.expect(units);
}

/// Counts units as done.
pub fn step(units: u64) {
    // Nothing is reported, so no callback can stop it.
    let _ = SHOWN.step(units);
}

/// Units done, and units expected.
pub fn so_far() -> (u64, u64) {
    let Progress { done, total } = SHOWN.progress();
    (done, total)
}

/// The current time, only for durations that are shown to the user.
#[expect(clippy::disallowed_methods, reason = "elapsed time for the user")]
pub fn now() -> std::time::Instant {
    std::time::Instant::now()
}

/// The number of threads that can run at the same time on this machine.
pub fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_caller_that_breaks_is_not_called_again() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&seen);
        let watch = Watch::new(move |progress| {
            told.lock().unwrap().push((progress.done, progress.total));
            if progress.done < 4 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        watch.expect(6);
        let answers = [2, 2, 2].map(|units| watch.step(units).is_break());
        assert_eq!(answers, [false, true, true]);
        assert_eq!(*seen.lock().unwrap(), [(2, 6), (4, 6)]);
        assert!(watch.is_stopped());
    }

    #[test]
    fn what_is_done_never_exceeds_what_is_expected() {
        let watch = Watch::default();
        watch.expect(3);
        assert!(watch.step(5).is_continue());
        assert_eq!(watch.progress(), Progress { done: 3, total: 3 });
        assert_eq!(Progress::default().share(), 0.0);
    }
}
