//! How far a long run has come: units of work that are expected and done, for whoever shows it.
//!
//! In: counts, from any thread. Out: two sums. Nothing that is computed depends on them.

use std::sync::atomic::{AtomicU64, Ordering};

static EXPECTED: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);

/// Begins anew: what was expected and done is forgotten.
pub fn restart() {
    EXPECTED.store(0, Ordering::Relaxed);
    DONE.store(0, Ordering::Relaxed);
}

/// So many more units will be done.
pub fn expect(units: u64) {
    EXPECTED.fetch_add(units, Ordering::Relaxed);
}

/// So many more units are done.
pub fn step(units: u64) {
    DONE.fetch_add(units, Ordering::Relaxed);
}

/// Units done, and units expected.
pub fn so_far() -> (u64, u64) {
    let (done, expected) = (DONE.load(Ordering::Relaxed), EXPECTED.load(Ordering::Relaxed));
    (done.min(expected), expected)
}

/// The time now, for what the user is told about durations and for nothing else.
#[expect(clippy::disallowed_methods, reason = "elapsed time for the user")]
pub fn now() -> std::time::Instant {
    std::time::Instant::now()
}

/// Threads that run at once on this machine.
pub fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
