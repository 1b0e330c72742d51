//! Checks that the system can start enough threads.
//!
//! In: a number of threads. Out: nothing, or how many could be started. Libraries panic if they
//! cannot start a thread, and some then wait for it forever; so this starts them first, as a trial.
//! All of them have ended when this returns.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::faults::NoThreads;

/// Starts that many threads at the same time, and ends them.
///
/// # Errors
/// The system starts fewer threads.
pub(crate) fn require(what: &str, count: usize) -> Result<(), NoThreads> {
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
    let start = |_| {
        let gate = Arc::clone(&gate);
        // Each waits until the last has started. A waiting thread needs very little stack.
        thread::Builder::new().stack_size(1 << 16).spawn(move || drop(gate.lock()))
    };
    let mut failed = None;
    let started: Vec<_> =
        (0..count).map(start).map_while(|one| one.map_err(|e| failed = Some(e)).ok()).collect();
    drop(closed);
    let started_count = started.len();
    for thread in started {
        // It cannot panic: it only waits for the gate.
        let _ = thread.join();
    }
    failed.map_or(Ok(()), |cause| {
        Err(NoThreads(format!("{what} needs {count}, {started_count} could be started: {cause}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_the_system_has_are_granted_as_often_as_asked() {
        for count in [0, 1, 8, 64, 8] {
            require("a test", count).unwrap();
        }
    }
}
