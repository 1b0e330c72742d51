//! The first file of a log that contains an event, if several contain it; and the peak of the log.
//!
//! In: the events of files, in the order of the files. Out: whether an earlier file contains an
//! event.

use rustc_hash::FxHashMap;

/// An event of a task: job, task, kind and time. An end has the time when its attempt began.
pub(super) type Key = (i64, i32, i32, i64);

/// The first file of each event.
#[derive(Debug, Default)]
pub struct Repeats {
    first: FxHashMap<Key, u32>,
    /// The most processors in use at once, over all files; 0 if none are known.
    pub(super) peak: f32,
}

impl Repeats {
    /// Adds an event of a file; files come in order.
    pub(super) fn add(&mut self, event: Key, part: u32) {
        self.first.entry(event).or_insert(part);
    }

    /// Whether a file before `part` contains an event.
    pub(super) fn is_told_before(&self, part: u32, event: Key) -> bool {
        self.first.get(&event).is_some_and(|&first| first < part)
    }
}
