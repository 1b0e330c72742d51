//! Hands out work: waiting tasks to machines, then copies.
//!
//! A task that starts costs a search of the waiting tasks and one of the machines, each the
//! logarithm of their number; tasks that fit nowhere are passed over without a search. An order
//! that cannot be searched tries its tasks one by one, up to the depth of the policy.

use super::Engine;
use crate::replay::placement::NO_BOUND;
use crate::replay::policies::{Backfill, Wish};
use crate::replay::state::{Phase, Role};

/// When copies are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    BeforeTasks,
    AfterTasks,
}

impl Engine<'_> {
    /// Hands out everything that can start now.
    #[inline]
    pub(super) fn hand_out(&mut self) {
        if self.kill.is_some() {
            self.end_jobs();
        }
        if self.speculation.as_ref().is_some_and(|rule| rule.goes_first()) {
            self.hand_out_copies(Turn::BeforeTasks);
        }
        if self.bookings.is_some() {
            self.order.refresh(&self.state);
            self.keep_promises();
            self.end_jobs();
        } else if 0 < self.state.roomy || self.preemption.is_some() {
            self.order.refresh(&self.state);
            self.hand_out_tasks();
            while self.has_ended_jobs() {
                self.end_jobs();
                self.hand_out_tasks();
            }
        }
        if self.speculation.is_some() {
            self.hand_out_copies(Turn::AfterTasks);
        }
        if !self.uneven.is_empty() {
            self.even_out();
        }
    }

    #[inline]
    fn hand_out_tasks(&mut self) {
        if self.passing.backfill == Backfill::Easy {
            return self.backfill();
        }
        let is_steered = self.speculation.as_ref().is_some_and(|rule| rule.steers());
        if !is_steered && self.order.searched().is_some() {
            return self.hand_out_found();
        }
        let depth = self.passing.depth.bound().unwrap_or(usize::MAX);
        let preempts = self.preemption.is_some();
        while let Some(task) = self.order.peek(&self.state) {
            let mut machine = self.find_any(task);
            if machine.is_none() && preempts {
                machine = self.make_room(task);
                // The evicted tasks wait behind this task, which has a higher priority.
                debug_assert_eq!(self.order.peek(&self.state), Some(task), "still the first");
                if self.has_ended_jobs() {
                    break;
                }
            }
            if let Some(machine) = machine {
                let chosen = self.nearest(task, machine);
                if chosen == task {
                    self.order.pop();
                } else {
                    self.order.forget(chosen);
                }
                self.start(chosen, machine, Role::Original);
                if self.has_ended_jobs() {
                    break;
                }
            } else if self.aside.len() < depth {
                self.order.pop();
                self.aside.push(task);
            } else {
                let is_cut = self.aside.len() + 1 < self.state.waiting as usize;
                self.depth_cuts += u64::from(is_cut);
                break;
            }
            if self.state.roomy == 0 && !preempts {
                break;
            }
        }
        for idx in (0..self.aside.len()).rev() {
            let task = self.aside[idx];
            self.order.push_front(&self.state, task);
        }
        self.aside.clear();
    }

    /// The same as [`hand_out`](Self::hand_out), if waiting tasks are searched by their requests:
    /// tasks that fit nowhere are not tried.
    fn hand_out_found(&mut self) {
        let depth = self.passing.depth.bound().unwrap_or(usize::MAX);
        let preempts = self.preemption.is_some();
        // The last task that was passed over.
        let mut passed: Option<u32> = None;
        while let Some(task) = self.next_that_may_start(passed, depth) {
            let mut machine = self.find_any(task);
            if machine.is_none() && preempts {
                machine = self.make_room(task);
                if self.has_ended_jobs() {
                    return;
                }
            }
            if let Some(machine) = machine {
                let chosen = self.nearest(task, machine);
                self.order.forget(chosen);
                self.start(chosen, machine, Role::Original);
                if self.has_ended_jobs() || self.state.roomy == 0 && !preempts {
                    return;
                }
            } else {
                passed = Some(task);
            }
        }
        self.depth_cuts += u64::from(depth.saturating_add(1) < self.state.waiting as usize);
    }

    /// The first waiting task behind `passed` for which there may be a machine; `None` if more
    /// tasks wait before it than may be passed over.
    fn next_that_may_start(&mut self, passed: Option<u32>, depth: usize) -> Option<u32> {
        let (state, searched) = (&self.state, self.order.searched()?);
        let (most, preemption) = (self.finder.most(state), &mut self.preemption);
        let mut offers = |task: u32| {
            // If a search without success draws random numbers, every task is tried.
            let Some(most) = most else { return NO_BOUND };
            let could_be = preemption.as_mut().and_then(|preemption| preemption.most(state, task));
            could_be.unwrap_or(most)
        };
        let found = searched.seek(passed, &mut offers)?;
        searched.is_among_first(found, depth).then_some(found)
    }

    /// The waiting task to start on `machine`: the first one that has its input there, or else
    /// `task`.
    #[inline]
    fn nearest(&self, task: u32, machine: u32) -> u32 {
        let (state, inputs) = (&self.state, &self.state.workload.inputs);
        if inputs.is_empty() {
            return task;
        }
        let rule = self.speculation.as_deref();
        let near = inputs.on(machine).iter().copied().find(|&near| {
            state.tasks.phase[near as usize] == Phase::Waiting
                && state.fits(machine, state.workload.demand(near))
                && state.holds_gpus(machine, near)
                && rule.is_none_or(|rule| rule.allows(state, machine, near))
        });
        near.unwrap_or(task)
    }

    /// Finds a machine for a waiting task.
    #[inline]
    pub(super) fn find_any(&mut self, task: u32) -> Option<u32> {
        let state = &self.state;
        let rule = self.speculation.as_deref().filter(|rule| rule.steers());
        let Some(rule) = rule else {
            return self.finder.find(state, task, None);
        };
        self.finder.find(state, task, Some(&|machine| rule.allows(state, machine, task)))
    }

    fn hand_out_copies(&mut self, turn: Turn) {
        let Some(mut rule) = self.speculation.take() else { return };
        while 0 < self.state.roomy {
            let (state, finder) = (&self.state, &mut self.finder);
            let mut place = |task: u32, suits: &dyn Fn(u32) -> bool| {
                let is_new = |machine: u32| !state.has_attempt(machine, task) && suits(machine);
                finder.find(state, task, Some(&is_new))
            };
            let is_early = turn == Turn::BeforeTasks;
            let wish = if is_early {
                rule.next_early(state, &mut place)
            } else {
                rule.next(state, &mut place)
            };
            let Some(Wish { task, machine, role }) = wish else {
                if !(is_early && rule.has_later_wishes()) {
                    self.state.forget_fresh();
                }
                break;
            };
            let phase = self.state.tasks.phase[task as usize];
            debug_assert_eq!(phase, Phase::Running, "only running tasks are copied or probed");
            self.speculation = Some(rule);
            self.start(task, machine, role);
            rule = self.speculation.take().expect("it was put back");
        }
        self.speculation = Some(rule);
    }
}
