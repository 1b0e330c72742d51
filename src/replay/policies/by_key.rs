//! Waiting tasks by a number: the lowest first, and among equals the first to arrive.
//!
//! Adding, removing and searching for the next task that fits cost the logarithm of the number of
//! waiting tasks.

use super::{Order, Passing, Searched};
use crate::replay::placement::Most;
use crate::replay::state::State;
use crate::replay::waiting::{Twin, Waiting, Wants};

/// An order by a key that stays constant while a task waits.
#[derive(Debug)]
pub(super) struct ByKey {
    key: fn(&State<'_>, u32) -> i64,
    passing: Passing,
    waiting: Waiting,
}

impl ByKey {
    pub(super) fn new(key: fn(&State<'_>, u32) -> i64, passing: Passing) -> Self {
        Self { key, passing, waiting: Waiting::default() }
    }

    fn wants(&self, state: &State<'_>, task: u32) -> Wants {
        let (workload, key) = (state.workload, (self.key)(state, task));
        let demand = workload.demand(task);
        let family = [workload.job.get(task), workload.group.get(task)];
        let twin = workload.is_apart.get(task).then_some(Twin { key, family, demand });
        Wants { key, need: state.need(task), twin }
    }
}

impl Order for ByKey {
    fn push(&mut self, state: &State<'_>, task: u32) {
        self.waiting.push_back(task, self.wants(state, task));
    }

    fn push_front(&mut self, state: &State<'_>, task: u32) {
        self.waiting.push_front(task, self.wants(state, task));
    }

    fn peek(&mut self, _state: &State<'_>) -> Option<u32> {
        self.waiting.first()
    }

    fn pop(&mut self) {
        if let Some(task) = self.waiting.first() {
            self.waiting.remove(task);
        }
    }

    fn forget(&mut self, task: u32) {
        self.waiting.remove(task);
    }

    fn searched(&self) -> Option<&dyn Searched> {
        Some(&self.waiting)
    }

    fn room_only_shrinks(&mut self) {
        self.waiting.hide_twins();
    }

    fn passing(&self) -> Passing {
        self.passing
    }
}

impl Searched for Waiting {
    fn seek(&self, after: Option<u32>, offers: &mut dyn FnMut(u32) -> Most) -> Option<u32> {
        self.seek(after, offers)
    }

    fn is_among_first(&self, task: u32, depth: usize) -> bool {
        self.is_among_first(task, depth)
    }
}
