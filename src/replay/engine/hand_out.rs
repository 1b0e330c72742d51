//! Handing out work: waiting tasks to machines, then copies.

use super::{Engine, Passing, Role};
use crate::replay::policies::Wish;
use crate::replay::state::State;

/// What the first task that had to wait may count on (EASY backfilling).
#[derive(Clone, Copy, Debug)]
struct Reservation {
    machine: u32,
    /// When it will have room, by the requested times.
    at_us: i64,
    /// What it will not need by then.
    spare: [u64; 2],
}

impl Reservation {
    /// Whether a task may start on a machine without delaying the one that waits.
    fn allows(&self, state: &State<'_>, machine: u32, task: u32) -> bool {
        machine != self.machine || self.ends_before(state, task) || {
            let demand = state.workload.demand(task);
            demand[0] <= self.spare[0] && demand[1] <= self.spare[1]
        }
    }

    fn ends_before(&self, state: &State<'_>, task: u32) -> bool {
        state.now_us.saturating_add(state.workload.requested_us.get(task)) <= self.at_us
    }
}

impl Engine<'_> {
    /// Hands out whatever can be handed out now.
    #[inline]
    pub(super) fn hand_out(&mut self) {
        if self.speculation.as_ref().is_some_and(|rule| rule.goes_first()) {
            self.hand_out_copies();
        }
        if 0 < self.state.roomy || self.preemption.is_some() {
            self.hand_out_tasks();
        }
        if self.speculation.is_some() {
            self.hand_out_copies();
        }
        if !self.uneven.is_empty() {
            self.even_out();
        }
    }

    #[inline]
    fn hand_out_tasks(&mut self) {
        let Passing { depth, reserves, .. } = self.passing;
        let preempts = self.preemption.is_some();
        let mut reservation: Option<Reservation> = None;
        while let Some(task) = self.order.peek(&self.state) {
            let mut machine = self.find(task, reservation.as_ref());
            if machine.is_none() && preempts {
                machine = self.make_room(task);
                // What was evicted waits behind this task, which has a higher priority.
                debug_assert_eq!(self.order.peek(&self.state), Some(task), "still the first");
            }
            if let Some(machine) = machine {
                self.order.pop();
                if let Some(held) = reservation.as_mut().filter(|held| held.machine == machine)
                    && !held.ends_before(&self.state, task)
                {
                    let demand = self.state.workload.demand(task);
                    held.spare = [held.spare[0] - demand[0], held.spare[1] - demand[1]];
                }
                self.start(task, machine, Role::Original);
            } else if self.aside.len() < depth as usize {
                self.order.pop();
                self.aside.push(task);
                if reserves && reservation.is_none() {
                    reservation = self.reserve(task);
                }
            } else {
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

    /// A machine for a waiting task.
    #[inline]
    fn find(&mut self, task: u32, reservation: Option<&Reservation>) -> Option<u32> {
        let state = &self.state;
        let rule = self.speculation.as_deref();
        if rule.is_none() && reservation.is_none() {
            return self.finder.find(state, task, None);
        }
        let suits = |machine: u32| {
            rule.is_none_or(|rule| rule.allows(state, machine, task))
                && reservation.is_none_or(|held| held.allows(state, machine, task))
        };
        self.finder.find(state, task, Some(&suits))
    }

    fn hand_out_copies(&mut self) {
        let Some(mut rule) = self.speculation.take() else { return };
        while 0 < self.state.roomy {
            let (state, finder) = (&self.state, &mut self.finder);
            let mut place = |task: u32, suits: &dyn Fn(u32) -> bool| {
                let is_new = |machine: u32| !state.has_attempt(machine, task) && suits(machine);
                finder.find(state, task, Some(&is_new))
            };
            let Some(Wish { task, machine, role }) = rule.next(state, &mut place) else {
                self.state.forget_fresh();
                break;
            };
            self.speculation = Some(rule);
            self.start(task, machine, role);
            rule = self.speculation.take().expect("it was put back");
        }
        self.speculation = Some(rule);
    }

    /// Reserves a machine for a task: the one that will have room first by the requested times.
    fn reserve(&self, task: u32) -> Option<Reservation> {
        let machines = (0..).take(self.state.machines.free.len());
        machines
            .filter_map(|machine| self.room_at(machine, task))
            .min_by_key(|held| (held.at_us, held.machine))
    }

    fn room_at(&self, machine: u32, task: u32) -> Option<Reservation> {
        let state = &self.state;
        if !state.machines.is_present[machine as usize] {
            return None;
        }
        let demand = state.workload.demand(task);
        let mut ends: Vec<(i64, u32)> = state
            .on_machine(machine)
            .map(|slot| {
                let requested_us =
                    state.workload.requested_us.get(state.attempts.task[slot as usize]);
                let start_us = state.attempts.start_us[slot as usize];
                (start_us.saturating_add(requested_us).max(state.now_us), slot)
            })
            .collect();
        ends.sort_unstable();
        let mut free = state.machines.free[machine as usize];
        let mut at_us = state.now_us;
        let mut ends = ends.into_iter().peekable();
        loop {
            // Everything that ends at this instant is free by then.
            while let Some(&(end_us, slot)) = ends.peek().filter(|(end_us, _)| *end_us <= at_us) {
                let held = state.workload.demand(state.attempts.task[slot as usize]);
                free = [free[0] + held[0], free[1] + held[1]];
                at_us = end_us.max(at_us);
                ends.next();
            }
            if demand[0] <= free[0] && demand[1] <= free[1] {
                let spare = [free[0] - demand[0], free[1] - demand[1]];
                return Some(Reservation { machine, at_us, spare });
            }
            at_us = ends.peek()?.0;
        }
    }
}
