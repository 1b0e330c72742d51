//! Which file of a log is the first to tell an event, where several tell it.
//!
//! In: events, by the files that tell them in their order. Out: whether an earlier file has told one.

use rustc_hash::FxHashMap;

/// An event of a task: job, task, kind and time. An end is named by when its attempt began.
pub(super) type Key = (i64, i32, i32, i64);

/// Which file tells what first.
#[derive(Debug, Default)]
pub struct Repeats(FxHashMap<Key, u32>);

impl Repeats {
    /// A file tells an event; files come in their order.
    pub(super) fn add(&mut self, event: Key, part: u32) {
        self.0.entry(event).or_insert(part);
    }

    /// Whether a file before `part` tells an event.
    pub(super) fn is_told_before(&self, part: u32, event: Key) -> bool {
        self.0.get(&event).is_some_and(|&first| first < part)
    }
}
