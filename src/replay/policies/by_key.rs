//! Waiting tasks by a number: the lowest first, those that came first among equals.

use std::collections::BTreeSet;

use super::{Order, Passing};
use crate::replay::state::{Phase, State};

/// An order by a key that a task keeps while it waits.
#[derive(Debug)]
pub(super) struct ByKey {
    key: fn(&State<'_>, u32) -> i64,
    passing: Passing,
    waiting: BTreeSet<(i64, i64, u32)>,
    /// Place of the next task behind its equals.
    back: i64,
    /// Place of the next task before its equals.
    front: i64,
}

impl ByKey {
    pub(super) fn new(key: fn(&State<'_>, u32) -> i64, passing: Passing) -> Self {
        Self { key, passing, waiting: BTreeSet::new(), back: 0, front: -1 }
    }
}

impl Order for ByKey {
    fn push(&mut self, state: &State<'_>, task: u32) {
        self.waiting.insert(((self.key)(state, task), self.back, task));
        self.back += 1;
    }

    fn push_front(&mut self, state: &State<'_>, task: u32) {
        self.waiting.insert(((self.key)(state, task), self.front, task));
        self.front -= 1;
    }

    fn peek(&mut self, state: &State<'_>) -> Option<u32> {
        while let Some(&(_, _, task)) = self.waiting.first() {
            if state.tasks.phase[task as usize] == Phase::Waiting {
                return Some(task);
            }
            self.waiting.pop_first();
        }
        None
    }

    fn pop(&mut self) {
        self.waiting.pop_first();
    }

    fn passing(&self) -> Passing {
        self.passing
    }
}
