//! Tasks that have arrived and wait for other tasks of their job to end.

use std::collections::VecDeque;

use super::Engine;
use crate::replay::state::Phase;
use crate::replay::workload::NONE;
use crate::replay::workload::Workload;

/// The tasks that are held, by stage.
pub(super) struct Held {
    /// Tasks that are not over.
    left: Vec<u32>,
    /// Earlier stages that are not over.
    before: Vec<u32>,
    /// Waiting tasks, in the order of their arrival.
    tasks: Vec<Vec<u32>>,
    /// Tasks that no longer wait but are not yet submitted; empty between events.
    free: VecDeque<u32>,
}

impl Held {
    /// `None` if no task waits for another.
    pub(super) fn new(workload: &Workload) -> Option<Self> {
        let dependencies = &workload.dependencies;
        if dependencies.is_empty() {
            return None;
        }
        let stage_count = dependencies.stage_count();
        let mut left = vec![0; stage_count];
        for task in (0..).take(workload.task_count) {
            let stage = dependencies.stage.get(task);
            if stage != NONE {
                left[stage as usize] += 1;
            }
        }
        let is_open = |stage: &&u32| 0 < left[**stage as usize];
        let before = (0..).take(stage_count).map(|stage| {
            let count = dependencies.before(stage).iter().filter(is_open).count();
            u32::try_from(count).expect("fewer stages than tasks")
        });
        let before = before.collect();
        Some(Self { before, tasks: vec![Vec::new(); stage_count], free: VecDeque::new(), left })
    }
}

impl Engine<'_> {
    /// Holds a task that has arrived until the tasks before it are over; returns whether it waits.
    /// A task whose job a kill rule has ended is not held: no task of that job starts any more.
    pub(super) fn hold(&mut self, task: u32) -> bool {
        let Some(held) = &mut self.held else { return false };
        if self.kill.as_ref().is_some_and(|kill| kill.has_ended(&self.state, task)) {
            return false;
        }
        let stage = self.state.workload.dependencies.stage.get(task);
        if stage == NONE || held.before[stage as usize] == 0 {
            return false;
        }
        self.state.tasks.phase[task as usize] = Phase::Held;
        held.tasks[stage as usize].push(task);
        true
    }

    /// A task is over: the last one of a stage releases the stages that wait only for that stage.
    pub(super) fn release(&mut self, task: u32) {
        let Some(held) = &mut self.held else { return };
        let dependencies = &self.state.workload.dependencies;
        let stage = dependencies.stage.get(task);
        if stage == NONE {
            return;
        }
        held.left[stage as usize] -= 1;
        if 0 < held.left[stage as usize] {
            return;
        }
        // A kill rule can end a released task immediately, which releases more tasks. The outermost
        // call submits them all, so a long chain does not overflow the stack.
        let is_outermost = held.free.is_empty();
        for &next in dependencies.after(stage) {
            held.before[next as usize] -= 1;
            if held.before[next as usize] == 0 {
                held.free.extend(std::mem::take(&mut held.tasks[next as usize]));
            }
        }
        if is_outermost {
            self.submit_free();
        }
    }

    /// Submits the tasks that no longer wait, except those of a job that a kill rule has ended.
    fn submit_free(&mut self) {
        // A task stays in the queue while it is submitted, so inner calls see that the queue is not
        // empty.
        while let Some(&task) = self.held.as_ref().and_then(|held| held.free.front()) {
            if self.state.tasks.phase[task as usize] == Phase::Held {
                if self.kill.as_ref().is_some_and(|kill| kill.has_ended(&self.state, task)) {
                    self.condemn(task);
                } else {
                    self.submit(task, true);
                }
            }
            if let Some(held) = &mut self.held {
                held.free.pop_front();
            }
        }
    }
}
