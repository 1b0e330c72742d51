//! The next arrival: from the workload, or in reaction to earlier jobs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Engine;
use crate::replay::feedback::Feedback;
use crate::replay::state::State;

/// Arrivals that react to earlier jobs. A task is missing in `due` as long as the event that it
/// follows has not happened.
pub(super) struct Closed<'a> {
    feedback: &'a Feedback,
    /// Tasks by arrival.
    due: BinaryHeap<Reverse<(i64, u32)>>,
    /// Tasks that are not over, by job.
    left: Vec<usize>,
}

impl<'a> Closed<'a> {
    pub(super) fn new(feedback: &'a Feedback, state: &mut State<'_>) -> Self {
        state.arrival_us = vec![i64::MAX; state.workload.task_count];
        let jobs = (0..).take(state.workload.job_count());
        let left = jobs.map(|job| feedback.tasks_of(job).len()).collect();
        let mut closed = Self { feedback, due: BinaryHeap::new(), left };
        closed.submit(state, feedback.first().collect());
        closed
    }

    /// Submits jobs at the given times, and the jobs that follow their submission.
    fn submit(&mut self, state: &mut State<'_>, mut jobs: Vec<(u32, i64)>) {
        while let Some((job, submit_us)) = jobs.pop() {
            for &task in self.feedback.tasks_of(job) {
                let at_us = self.feedback.arrival_us(state.workload, task, submit_us);
                state.arrival_us[task as usize] = at_us;
                self.due.push(Reverse((at_us, task)));
            }
            jobs.extend(self.feedback.on_submission(job, submit_us));
        }
    }

    fn next_us(&self) -> i64 {
        self.due.peek().map_or(i64::MAX, |Reverse((at_us, _))| *at_us)
    }

    /// A task is over.
    pub(super) fn over(&mut self, state: &mut State<'_>, task: u32) {
        let job = state.workload.job.get(task);
        self.left[job as usize] -= 1;
        if self.left[job as usize] == 0 {
            self.submit(state, self.feedback.on_end(job, state.now_us).collect());
        }
    }
}

impl Engine<'_> {
    /// When the next task arrives, as far as it is known, µs.
    pub(super) fn next_arrival_us(&self) -> i64 {
        if let Some(closed) = &self.closed {
            closed.next_us()
        } else if (self.arrived as usize) < self.state.workload.task_count {
            self.state.workload.arrival_us.get(self.arrived)
        } else {
            i64::MAX
        }
    }

    /// Takes the task that arrives next.
    pub(super) fn take_arrival(&mut self) -> u32 {
        let task = match self.closed.as_mut().and_then(|closed| closed.due.pop()) {
            Some(Reverse((_, task))) => task,
            None => self.arrived,
        };
        self.arrived += 1;
        task
    }
}
