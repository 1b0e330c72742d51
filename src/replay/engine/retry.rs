//! Retries and limits: waits after failures, time limits of attempts, and jobs that a rule ends.

use super::{Engine, KillWatch};
use crate::replay::event::Event;
use crate::replay::journal::Kind;
use crate::replay::state::Phase;
use crate::replay::workload::NONE;

impl Engine<'_> {
    /// A task whose try did not succeed waits again, once its back-off is over.
    #[inline]
    pub(super) fn try_again(&mut self, task: u32, is_behind: bool) {
        let wait_us = self.kill.as_mut().map_or(0, |kill| kill.take_wait_us(task));
        if wait_us == 0 {
            return self.submit(task, is_behind);
        }
        self.state.tasks.phase[task as usize] = Phase::Delayed;
        let at_us = self.state.now_us.saturating_add(wait_us);
        self.queue.push(at_us, Event::WaitOver { task, is_behind });
    }

    /// A back-off is over: the task waits again unless it is over.
    pub(super) fn wait_over(&mut self, task: u32, is_behind: bool) {
        if self.state.tasks.phase[task as usize] == Phase::Delayed {
            self.submit(task, is_behind);
        }
    }

    /// Sets the limits of an attempt that begins.
    pub(super) fn set_limits(&mut self, slot: u32) {
        let idx = slot as usize;
        let (task, attempt) = (self.state.attempts.task[idx], self.state.attempts.number[idx]);
        let Some(kill) = &self.kill else { return };
        for (condition, limit_us) in kill.limits_us(&self.state, task) {
            let condition = u8::try_from(condition).expect("at most 32 conditions");
            let at_us = self.state.now_us.saturating_add(limit_us);
            self.queue.push(at_us, Event::LimitReached { task, attempt, condition });
        }
    }

    /// A limit is reached; an attempt that ended at this instant or before is ignored.
    pub(super) fn limit_reached(&mut self, task: u32, attempt: u16, condition: u8) {
        let attempts = &self.state.attempts;
        let is_running = |slot: u32| {
            attempts.number[slot as usize] == attempt && !attempts.is_lost[slot as usize]
        };
        if !self.state.of_task(task).any(is_running) {
            return;
        }
        let events = self.state.tasks.events[task as usize];
        let Some(kill) = &mut self.kill else { return };
        kill.reached(task, usize::from(condition));
        if kill.condemns(&self.state, task, events) {
            self.condemn(task);
        }
    }

    /// A task has reached an age at which a kill rule checks it. It is not checked if it is over,
    /// or has failed and does not wait again yet.
    pub(super) fn look(&mut self, task: u32) {
        let idx = task as usize;
        if !matches!(self.state.tasks.phase[idx], Phase::Waiting | Phase::Running) {
            return;
        }
        let events = self.state.tasks.events[idx];
        let Some(kill) = &mut self.kill else { return };
        kill.look(&self.state, task);
        if kill.condemns(&self.state, task, events) {
            self.condemn(task);
        }
    }

    /// A kill rule ends a task.
    pub(super) fn condemn(&mut self, task: u32) {
        self.end_all(task, Kind::Condemn);
        self.note(Kind::Condemn, task, NONE, 0);
        self.conclude(task, Phase::Condemned);
    }

    /// Whether a kill rule has ended jobs whose tasks must still be ended.
    pub(super) fn has_ended_jobs(&self) -> bool {
        self.kill.as_ref().is_some_and(KillWatch::is_ending)
    }

    /// Ends all tasks of the jobs that a kill rule has ended. Tasks that have not arrived are ended
    /// when they arrive.
    pub(super) fn end_jobs(&mut self) {
        while let Some(tasks) = self.kill.as_mut().and_then(KillWatch::take_ended) {
            for task in tasks {
                let phase = self.state.tasks.phase[task as usize];
                let is_spared =
                    self.kill.as_ref().is_some_and(|kill| kill.spares(&self.state, task));
                if phase != Phase::Future && !phase.is_over() && !is_spared {
                    self.condemn(task);
                }
            }
        }
    }
}
