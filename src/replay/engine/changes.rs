//! Changes of machines, and timers.

use super::plan::QUIET_PERIODS;
use super::{Engine, QUIET_BEATS_MAX, QUIET_REORDERS, Room};
use crate::replay::cluster::{Change, Notice};
use crate::replay::event::Event;
use crate::replay::journal::Kind;
use crate::replay::state::{Phase, Role};
use crate::replay::workload::NONE;

impl Engine<'_> {
    /// A machine joins, leaves or changes.
    pub(super) fn machine_changed(&mut self, change: u32) {
        let entry = self.state.cluster.changes[change as usize];
        let (machine, idx) = (entry.machine, entry.machine as usize);
        let kind = match entry.change {
            Change::Joins => Kind::MachineJoin,
            Change::Leaves => Kind::MachineLeave,
            _ => Kind::MachineChange,
        };
        self.note(kind, NONE, machine, 0);
        self.state.machine_changes += 1;
        match entry.change {
            Change::Joins => {
                self.state.set_free(machine, self.state.machines.capacity[idx], true);
                self.freed(machine);
            }
            Change::Leaves => self.machine_left(machine),
            Change::Capacity(capacity) => self.resize(machine, capacity),
            Change::Speed(speed) => {
                let slower = self.state.machines.speed[idx] / speed;
                self.state.machines.speed[idx] = speed;
                if let Some(plans) = &mut self.plans {
                    plans.stretch(self.state.now_us, machine, slower);
                }
                self.rescale(machine);
            }
            Change::Cores(cores) => {
                self.state.machines.cores[idx] = cores;
                self.rescale(machine);
            }
        }
        if let Some(plans) = &mut self.plans {
            plans.touch(machine);
        }
        if let Some(bookings) = &mut self.bookings {
            bookings.has_changed();
        }
        if let Some(preemption) = &mut self.preemption {
            preemption.touch(machine);
        }
    }

    /// A machine leaves; its attempts are lost, whether or not the scheduler notices.
    fn machine_left(&mut self, machine: u32) {
        loop {
            let slot = self.state.machines.first[machine as usize];
            if slot == NONE {
                break;
            }
            let idx = slot as usize;
            self.account(slot, Kind::Lost);
            let left = self.state.left_now(slot);
            self.probes -= usize::from(self.is_probe_with_end(slot));
            self.leave_machine(slot);
            let attempts = &mut self.state.attempts;
            attempts.left[idx] = left;
            attempts.since_us[idx] = self.state.now_us;
            attempts.is_lost[idx] = true;
            self.lost.insert(slot);
            attempts.generation[idx] = attempts.generation[idx].wrapping_add(1);
            let task = attempts.task[idx];
            self.forget_usage(task, slot);
            if let Some(speculation) = &mut self.speculation {
                speculation.lost(&self.state, slot);
            }
        }
        self.state.set_free(machine, Room::NOTHING, false);
        self.finder.taken(&self.state, machine);
        match self.state.cluster.notice {
            Notice::After(0) => self.loss_noticed(machine),
            Notice::After(delay_us) => {
                self.queue.push(self.state.now_us + delay_us, Event::LossNoticed { machine });
            }
            Notice::Never => {}
        }
    }

    /// The scheduler notices lost attempts. A task without another attempt waits again.
    pub(super) fn loss_noticed(&mut self, machine: u32) {
        let is_here = |slot: &u32| self.state.attempts.machine[*slot as usize] == machine;
        let lost: Vec<u32> = self.lost.iter().copied().filter(is_here).collect();
        if !lost.is_empty() {
            self.note(Kind::Notice, NONE, machine, 0);
        }
        for slot in lost {
            let task = self.state.attempts.task[slot as usize];
            // The task of this attempt was condemned earlier in this loop, so the attempt has
            // already ended.
            if task == NONE {
                continue;
            }
            self.end(slot, Kind::Lost);
            self.wait_again(task);
        }
    }

    /// A task that has lost its last attempt waits again, before its equals. A probe of it keeps
    /// running, because a probe does not finish its task.
    pub(super) fn wait_again(&mut self, task: u32) {
        let attempts = &self.state.attempts;
        let goes_on =
            self.state.of_task(task).any(|slot| attempts.role[slot as usize] != Role::Probe);
        if goes_on || self.state.tasks.phase[task as usize] != Phase::Running {
            return;
        }
        if !self.count_event(task) {
            self.try_again(task, false);
        }
    }

    /// A machine's capacity changes; attempts that no longer fit are evicted, starting with the one
    /// that began last.
    fn resize(&mut self, machine: u32, capacity: Room) {
        let idx = machine as usize;
        self.state.machines.capacity[idx] = capacity;
        if !self.state.machines.is_present[idx] {
            return;
        }
        let mut slots: Vec<u32> = self.state.on_machine(machine).collect();
        slots.sort_by_key(|&slot| (self.state.attempts.start_us[slot as usize], slot));
        loop {
            if let Some(free) = self.left_of(machine, capacity) {
                self.state.set_free(machine, free, true);
                break;
            }
            let slot = slots.pop().expect("nothing runs, so nothing is held");
            let task = self.state.attempts.task[slot as usize];
            self.end(slot, Kind::Evict);
            self.wait_again(task);
        }
        self.finder.taken(&self.state, machine);
        self.freed(machine);
    }

    /// The capacity that the attempts on a machine leave free; `None` if they do not fit.
    fn left_of(&self, machine: u32, capacity: Room) -> Option<Room> {
        self.state.on_machine(machine).try_fold(capacity, |free, slot| {
            let demand = self.state.workload.demand(self.state.attempts.task[slot as usize]);
            free.holds(demand).then(|| free.without(demand))
        })
    }

    /// Recomputes when the attempts on a machine end, at its current speed and share of cores.
    pub(super) fn rescale(&mut self, machine: u32) {
        let idx = machine as usize;
        if !self.state.machines.is_present[idx] {
            return;
        }
        let running = f64::from(self.state.machines.running[idx].max(1));
        let share = (self.state.machines.cores[idx] / running).min(1.0);
        let rate = self.state.machines.speed[idx] * share;
        let mut slot = self.state.machines.first[idx];
        while slot != NONE {
            let at = slot as usize;
            if self.state.attempts.rate[at] != rate {
                let left = self.state.left_now(slot);
                let attempts = &mut self.state.attempts;
                attempts.left[at] = left;
                attempts.since_us[at] = self.state.now_us;
                attempts.rate[at] = rate;
                attempts.generation[at] = attempts.generation[at].wrapping_add(1);
                if left.is_finite() {
                    let generation = attempts.generation[at];
                    let now_us = self.state.now_us;
                    let end_us = self.state.cluster.end_us(machine, now_us, left, rate);
                    self.queue.push(end_us, Event::AttemptEnded { slot, generation });
                }
            }
            slot = self.state.attempts.next[at];
        }
    }

    /// Divides shared cores again on machines where attempts have begun or ended.
    pub(super) fn even_out(&mut self) {
        let mut uneven = std::mem::take(&mut self.uneven);
        uneven.sort_unstable();
        uneven.dedup();
        for machine in uneven.drain(..) {
            self.rescale(machine);
        }
        self.uneven = uneven;
    }

    /// Sets the timers that the policy needs. Before the first arrival, there is nothing to judge.
    pub(super) fn set_timers(&mut self) {
        for (period_us, event) in
            [(self.reorder_us, Event::Reorder), (self.heartbeat_us, Event::Heartbeat)]
        {
            if let Some(period_us) = period_us {
                let from_us = self.next_arrival_us();
                let first_us =
                    if from_us == i64::MAX { period_us } else { on_beat(from_us, period_us) };
                self.queue.push(first_us.max(period_us), event);
                self.timers += 1;
            }
        }
    }

    /// Sets a timer again, unless only timers and probes are left.
    fn set_again(&mut self, period_us: i64, event: Event) {
        let something_comes =
            self.timers + self.probes < self.queue.len() + 1 || self.next_arrival_us() < i64::MAX;
        // Tasks may wait although nothing runs: all attempts may have just ended at this instant.
        self.quiet_beats += 1;
        let is_idle = self.state.live + self.state.waiting == 0;
        if something_comes || (!is_idle && self.quiet_beats < QUIET_BEATS_MAX) {
            let mut next_us = self.state.now_us.saturating_add(period_us);
            let quiet_us = self.state.now_us - self.quiet_since_us;
            let is_quiet = QUIET_PERIODS.saturating_mul(period_us) <= quiet_us
                || self.is_of_no_use(event, period_us, quiet_us);
            if is_quiet && self.stirred_us < self.state.now_us {
                let event_us = self.queue.next_of(|event| !event.is_timer()).unwrap_or(i64::MAX);
                let before_us = event_us.min(self.next_arrival_us()) - 1;
                next_us = next_us.max(before_us / period_us * period_us);
            }
            // If there is nothing to judge, heartbeats continue from the next arrival.
            if is_idle && event == Event::Heartbeat && self.next_arrival_us() < i64::MAX {
                next_us = next_us.max(on_beat(self.next_arrival_us(), period_us));
            }
            self.queue.push(next_us, event);
        } else {
            self.timers -= 1;
        }
    }

    /// Whether a timer has no effect before the next event: no running attempt can be judged
    /// (heartbeat), or no task waits and nothing has happened for a long time (reordering).
    fn is_of_no_use(&self, event: Event, period_us: i64, quiet_us: i64) -> bool {
        if event == Event::Heartbeat {
            // If tasks wait and no attempt runs, no end of an attempt can start them.
            let may_start = 0 < self.state.waiting && self.state.live == 0;
            return !may_start && self.speculation.as_ref().is_some_and(|rule| !rule.is_watching());
        }
        self.state.waiting == 0 && QUIET_REORDERS.saturating_mul(period_us) <= quiet_us
    }

    /// Sorts the waiting tasks again.
    pub(super) fn reorder(&mut self) {
        self.order.reorder(&self.state);
        if let Some(period_us) = self.reorder_us {
            self.set_again(period_us, Event::Reorder);
        }
    }

    /// The speculation rule judges the running attempts; the attempts that it selects are
    /// restarted.
    pub(super) fn heartbeat(&mut self) {
        let Some(mut speculation) = self.speculation.take() else { return };
        let mut restarts = std::mem::take(&mut self.restarts);
        speculation.heartbeat(&self.state, &mut restarts);
        self.speculation = Some(speculation);
        for slot in restarts.drain(..) {
            let task = self.state.attempts.task[slot as usize];
            if task == NONE {
                continue;
            }
            debug_assert!(
                !self.state.workload.fate.get(task).is_endless()
                    || self.state.attempts.role[slot as usize] != Role::Probe,
                "probes are not restarted"
            );
            self.end(slot, Kind::Restart);
            self.wait_again(task);
        }
        self.restarts = restarts;
        if let Some(period_us) = self.heartbeat_us {
            self.set_again(period_us, Event::Heartbeat);
        }
    }
}

/// The first multiple of a period at or after `time_us`.
fn on_beat(time_us: i64, period_us: i64) -> i64 {
    match time_us % period_us {
        0 => time_us,
        past => time_us.saturating_add(period_us - past),
    }
}
