//! Tasks that have arrived and wait for others of their job to end.

use super::{Engine, NONE, Phase};
use crate::replay::workload::Workload;

/// What is held back, by stage.
pub(super) struct Held {
    /// Tasks that are not over.
    left: Vec<u32>,
    /// Stages before it that are not over.
    before: Vec<u32>,
    /// Tasks that wait, in the order of their arrival.
    tasks: Vec<Vec<u32>>,
}

impl Held {
    /// Nothing, where no task waits for another.
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
        Some(Self { before: before.collect(), tasks: vec![Vec::new(); stage_count], left })
    }
}

impl Engine<'_> {
    /// Holds a task that has arrived until those before it are over; returns whether it waits.
    pub(super) fn hold(&mut self, task: u32) -> bool {
        let Some(held) = &mut self.held else { return false };
        let stage = self.state.workload.dependencies.stage.get(task);
        if stage == NONE || held.before[stage as usize] == 0 {
            return false;
        }
        self.state.tasks.phase[task as usize] = Phase::Held;
        held.tasks[stage as usize].push(task);
        true
    }

    /// A task is over: with the last one of a stage, those that wait for that stage alone may start.
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
        let mut free = Vec::new();
        for &next in dependencies.after(stage) {
            held.before[next as usize] -= 1;
            if held.before[next as usize] == 0 {
                free.append(&mut held.tasks[next as usize]);
            }
        }
        for task in free {
            if self.state.tasks.phase[task as usize] == Phase::Held {
                self.submit(task, true);
            }
        }
    }
}
