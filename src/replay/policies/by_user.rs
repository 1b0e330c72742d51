//! Waiting tasks by user: the user with the lowest score is served next, and the tasks of a user
//! first come, first served.

use std::collections::VecDeque;
use std::fmt;

use super::{Depth, Order, Passing};
use crate::replay::state::{Phase, State};

/// The resources a user holds: CPU and memory, millionths, and GPUs, thousandths.
pub(super) type Held = [u128; 3];

/// The rule that chooses the next user.
pub(super) trait Score: fmt::Debug + Send {
    /// The score of a user who holds `in_use`; the lowest comes first.
    fn score(&self, user: usize, in_use: Held) -> f64;

    /// The period after which the score changes without a start or an end, µs.
    fn period_us(&self) -> Option<i64> {
        None
    }

    /// Updates the score after periods in which no user's usage has changed.
    fn reorder(&mut self, _in_use: &[Held], _periods: i64) {}
}

/// An order by user.
#[derive(Debug)]
pub(super) struct ByUser<S> {
    score: S,
    waiting: Vec<VecDeque<u32>>,
    /// Users with waiting tasks, unordered.
    active: Vec<u32>,
    /// Sums of demands; memory that is not checked may exceed 2^64.
    in_use: Vec<Held>,
    /// When the score last changed after a period, µs.
    reordered_us: Option<i64>,
    /// The position in `active` of the next user, until something changes.
    turn: Option<usize>,
    passing: Passing,
}

impl<S: Score> ByUser<S> {
    pub(super) fn new(score: S, user_count: usize, depth: Depth) -> Self {
        Self {
            score,
            waiting: vec![VecDeque::new(); user_count],
            active: Vec::new(),
            in_use: vec![[0; 3]; user_count],
            reordered_us: None,
            turn: None,
            passing: Passing { depth, ..Passing::default() },
        }
    }

    fn line(&mut self, state: &State<'_>, task: u32) -> &mut VecDeque<u32> {
        let user = state.workload.user.get(task);
        let line = &mut self.waiting[user as usize];
        if line.is_empty() {
            self.active.push(user);
        }
        self.turn = None;
        line
    }

    fn choose(&self) -> Option<usize> {
        let rank = |user: u32| self.score.score(user as usize, self.in_use[user as usize]);
        (0..self.active.len()).min_by(|&a, &b| {
            let (a, b) = (self.active[a], self.active[b]);
            rank(a).total_cmp(&rank(b)).then(a.cmp(&b))
        })
    }

    fn drop_if_empty(&mut self, position: usize) {
        self.turn = None;
        if self.waiting[self.active[position] as usize].is_empty() {
            self.active.swap_remove(position);
        }
    }
}

impl<S: Score> Order for ByUser<S> {
    fn push(&mut self, state: &State<'_>, task: u32) {
        self.line(state, task).push_back(task);
    }

    fn push_front(&mut self, state: &State<'_>, task: u32) {
        self.line(state, task).push_front(task);
    }

    fn peek(&mut self, state: &State<'_>) -> Option<u32> {
        loop {
            let position = self.turn.or_else(|| self.choose())?;
            self.turn = Some(position);
            let line = &mut self.waiting[self.active[position] as usize];
            let task = *line.front().expect("active users have tasks");
            if state.tasks.phase[task as usize] == Phase::Waiting {
                return Some(task);
            }
            line.pop_front();
            self.drop_if_empty(position);
        }
    }

    fn pop(&mut self) {
        if let Some(position) = self.turn {
            self.waiting[self.active[position] as usize].pop_front();
            self.drop_if_empty(position);
        }
    }

    fn passing(&self) -> Passing {
        self.passing
    }

    fn period_us(&self) -> Option<i64> {
        self.score.period_us()
    }

    fn reorder(&mut self, state: &State<'_>) {
        let since_us = self.reordered_us.replace(state.now_us);
        let periods = since_us.zip(self.score.period_us());
        let periods =
            periods.map_or(1, |(since_us, period_us)| (state.now_us - since_us) / period_us);
        self.score.reorder(&self.in_use, periods);
        self.turn = None;
    }

    fn follows_usage(&self) -> bool {
        true
    }

    fn usage(&mut self, state: &State<'_>, task: u32, begins: bool) {
        let [cpu, memory] = state.workload.demand(task);
        let demand = [cpu, memory, state.workload.gpus.get(task).total_milli()].map(u128::from);
        let in_use = &mut self.in_use[state.workload.user.get(task) as usize];
        for (held, demand) in in_use.iter_mut().zip(demand) {
            *held = if begins { *held + demand } else { *held - demand };
        }
        self.turn = None;
    }
}
