//! The ends of attempts and tasks: frees capacity, counts, and informs the other parts.

use super::{Engine, Sum};
use crate::replay::journal::Kind;
use crate::replay::state::{Phase, Role};
use crate::replay::workload::{Fate, NONE};

impl Engine<'_> {
    /// An attempt has done its work, unless its end was predicted too early.
    #[inline]
    pub(super) fn attempt_ended(&mut self, slot: u32, generation: u32) {
        let idx = slot as usize;
        if self.state.attempts.generation[idx] != generation {
            return;
        }
        let task = self.state.attempts.task[idx];
        if self.state.attempts.role[idx] == Role::Probe {
            self.end(slot, Kind::ProbeEnd);
            return;
        }
        let failed = self.state.tasks.failed[task as usize];
        if usize::from(failed) < self.state.workload.failures.of(task).len() {
            self.end(slot, Kind::Fail);
            self.end_all(task, Kind::Cancel);
            let tasks = &mut self.state.tasks;
            tasks.failed[task as usize] += 1;
            tasks.started_before[task as usize] = tasks.started[task as usize];
            if !self.count_event(task) {
                self.try_again(task, true);
            }
            return;
        }
        let (kind, phase) = match self.state.workload.fate.get(task) {
            Fate::Fails => (Kind::Fail, Phase::Failed),
            Fate::Stopped | Fate::Withdrawn { .. } => return self.task_killed(task),
            Fate::Finishes | Fate::Killed { .. } => (Kind::Finish, Phase::Finished),
        };
        self.copies_won +=
            u64::from(kind == Kind::Finish && self.state.attempts.role[idx] == Role::Copy);
        self.end(slot, kind);
        self.end_all(task, Kind::Cancel);
        self.conclude(task, phase);
    }

    /// Ends the attempts of a task that run or are believed to run.
    #[inline]
    pub(super) fn end_all(&mut self, task: u32, kind: Kind) {
        loop {
            let slot = self.state.tasks.first[task as usize];
            if slot == NONE {
                return;
            }
            self.end(slot, kind);
        }
    }

    /// Ends an attempt and frees its capacity.
    #[inline]
    pub(super) fn end(&mut self, slot: u32, kind: Kind) {
        let idx = slot as usize;
        let (task, machine) = (self.state.attempts.task[idx], self.state.attempts.machine[idx]);
        let is_probe = self.state.attempts.role[idx] == Role::Probe;
        if !is_probe {
            self.has_changed();
        }
        if let Some(speculation) = &mut self.speculation {
            speculation.ending(&self.state, slot, kind);
        }
        if let Some(kill) = &mut self.kill
            && !is_probe
        {
            let attempts = &self.state.attempts;
            // A lost attempt ran until its machine left.
            let lost = attempts.is_lost[idx];
            let end_us = if lost { attempts.since_us[idx] } else { self.state.now_us };
            kill.ended(&self.state, task, kind, end_us - attempts.start_us[idx]);
        }
        if self.state.attempts.is_lost[idx] {
            // Its time was counted when its machine left.
            self.lost.remove(&slot);
            self.state.vacate(slot);
            return;
        }
        self.probes -= usize::from(self.is_probe_with_end(slot));
        if !is_probe && matches!(kind, Kind::Finish | Kind::Fail | Kind::Kill) {
            self.state.learn(slot);
        }
        self.account(slot, kind);
        self.leave_machine(slot);
        self.state.vacate(slot);
        self.forget_usage(task, slot);
        self.freed(machine);
        if self.state.cluster.shared_cores.is_some() {
            self.uneven.push(machine);
        }
    }

    /// An attempt frees the capacity that it holds.
    #[inline]
    pub(super) fn leave_machine(&mut self, slot: u32) {
        if let Some(plans) = &mut self.plans {
            plans.ended(&self.state, slot);
        }
        if let Some(bookings) = &mut self.bookings {
            bookings.ended(&self.state, slot);
        }
        self.state.leave_machine(slot);
    }

    /// A machine has more room than before.
    #[inline]
    pub(super) fn freed(&mut self, machine: u32) {
        self.finder.freed(&self.state, machine);
        if let Some(preemption) = &mut self.preemption {
            preemption.freed(&self.state, machine);
        }
        if self.speculation.is_some() {
            self.state.mark_fresh(machine);
        }
    }

    /// An attempt no longer counts as running: updates the parts that count running attempts.
    pub(super) fn forget_usage(&mut self, task: u32, slot: u32) {
        if let Some(preemption) = &mut self.preemption {
            preemption.count(&self.state, task, slot, false);
        }
        if self.follows_usage {
            self.order.usage(&self.state, task, false);
        }
    }

    /// Adds an ending attempt to the sums and the journal.
    #[inline]
    pub(super) fn account(&mut self, slot: u32, kind: Kind) {
        let idx = slot as usize;
        let task = self.state.attempts.task[idx];
        let time_us = i128::from(self.state.now_us - self.state.attempts.start_us[idx]);
        let total = self.state.attempts.work[idx];
        let work = match kind {
            Kind::Finish | Kind::Fail | Kind::ProbeEnd => total,
            _ if total.is_finite() => total - self.state.left_now(slot),
            _ => 0.0,
        };
        let cpu_time = time_us * i128::from(self.state.workload.cpu.get(task));
        let add = |sum: &mut Sum| {
            sum.count += 1;
            sum.time_us += time_us;
            sum.cpu_time += cpu_time;
            sum.work += work;
        };
        add(&mut self.sums[kind as usize]);
        if self.state.attempts.role[idx] == Role::Copy && kind != Kind::Finish {
            add(&mut self.lost_copies);
        }
        let machine = self.state.attempts.machine[idx];
        self.note(kind, task, machine, self.state.attempts.number[idx]);
    }

    /// A task is over.
    #[inline]
    pub(super) fn conclude(&mut self, task: u32, phase: Phase) {
        let idx = task as usize;
        if self.state.tasks.phase[idx] == Phase::Waiting {
            self.state.waiting -= 1;
            self.order.forget(task);
            if let Some(bookings) = &mut self.bookings {
                bookings.cancel(&self.state, task);
            }
        }
        debug_assert!(!self.state.tasks.phase[idx].is_over(), "a task ends once");
        self.state.tasks.phase[idx] = phase;
        self.state.tasks.end_us[idx] = Some(self.state.now_us);
        self.over += 1;
        if let Some(speculation) = &mut self.speculation {
            speculation.concluded(&self.state, task);
        }
        if let Some(kill) = &mut self.kill {
            kill.concluded(&self.state, task);
        }
        if let Some(closed) = &mut self.closed {
            closed.over(&mut self.state, task);
        }
        self.release(task);
    }

    /// A task is killed by its user or its limit.
    pub(super) fn task_killed(&mut self, task: u32) {
        if self.state.tasks.phase[task as usize].is_over() {
            return;
        }
        self.end_all(task, Kind::Kill);
        self.note(Kind::Kill, task, NONE, 0);
        self.conclude(task, Phase::Killed);
    }
}
