//! The loop of a replay: events in order, and what each of them changes.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::Engine;
use super::arrivals::Closed;
use super::backfill::Plans;
use super::conservative::{Bookings, passing};
use super::held::Held;
use super::plan::{Keep, Outcome, Plan, ReplayError, Sum};
use super::preemption::Preemption;
use crate::progress;
use crate::replay::event::{ARRIVAL_RANK, Event};
use crate::replay::gpus::{FreeGpus, Gpus};
use crate::replay::journal::{Entry, Journal, KINDS, Kind};
use crate::replay::kill::KillWatch;
use crate::replay::placement::Finder;
use crate::replay::policies::{Backfill, Depth, Order, Passing, Predict, Speculation};
use crate::replay::queue::EventQueue;
use crate::replay::room::Room;
use crate::replay::state::{LastTwo, Phase, Role, State, Tasks};
use crate::replay::workload::NONE;

/// The largest number of ended tasks, and of instants, between two progress messages.
const TOLD_AT_ONCE: usize = 1024;

impl<'a> Engine<'a> {
    pub(super) fn new(plan: &Plan<'a>) -> Result<Self, ReplayError> {
        let mut state = State::new(plan.workload, plan.cluster, plan.seed);
        let closed = plan.feedback.map(|feedback| Closed::new(feedback, &mut state));
        let mut order = plan.policy.order.1.build(&state, plan.seed);
        let mut queue = EventQueue::default();
        for (change, entry) in (0..).zip(&plan.cluster.changes) {
            queue.push(entry.at_us, Event::MachineChanged { change });
        }
        let finder = Finder::new(plan.policy.placement, plan.seed, &state);
        let speculation = plan.policy.build_speculation(&state);
        let passing = passing(plan, order.as_ref(), speculation.is_some());
        let Passing { preempts, backfill, predict, .. } = passing;
        state.last_two =
            matches!(predict, Predict::LastTwo(_)).then(|| LastTwo::new(plan.workload));
        let machines = plan.cluster.machine_count();
        let checks_gpus = plan.workload.has_gpus() && !plan.cluster.gpus.is_empty();
        if backfill == Backfill::Conservative && checks_gpus {
            return Err(ReplayError::Gpus { name: plan.policy.order.0.to_string() });
        }
        let (reorder_us, heartbeat_us) = periods(plan, order.as_ref(), speculation.as_deref())?;
        // A search without success must not be skipped if it draws random numbers, or if tasks with
        // the same CPU and memory may request different GPUs.
        let is_searched = finder.most(&state).is_some() && !plan.workload.has_gpus();
        if preempts == 0 && plan.policy.kill.is_none() && is_searched {
            order.room_only_shrinks();
        }
        Ok(Self {
            queue,
            preemption: Preemption::new(&state, preempts),
            plans: (backfill != Backfill::None).then(|| Plans::new(machines)),
            bookings: (backfill == Backfill::Conservative).then(|| Bookings::new(machines)),
            depth_cuts: 0,
            passing,
            follows_usage: order.follows_usage(),
            order,
            finder,
            speculation,
            kill: plan.policy.kill.as_ref().map(|kill| KillWatch::new(kill, plan.workload)),
            journal: (plan.journal == Keep::Journal).then(Journal::default),
            sums: [Sum::default(); KINDS.len()],
            copies: 0,
            copies_won: 0,
            lost_copies: Sum::default(),
            refused: Vec::new(),
            arrived: 0,
            closed,
            over: 0,
            until_us: plan.until_us,
            events: 0,
            reorder_us,
            heartbeat_us,
            watch: plan.watch.clone(),
            told: 0,
            is_cancelled: false,
            capacities: plan.cluster.capacities(),
            with_gpus: plan.cluster.capacities_with_gpus(),
            held: Held::new(plan.workload),
            lost: BTreeSet::new(),
            uneven: Vec::new(),
            timers: 0,
            probes: 0,
            quiet_beats: 0,
            quiet_since_us: 0,
            stirred_us: 0,
            aside: Vec::new(),
            restarts: Vec::new(),
            state,
        })
    }

    pub(super) fn run(mut self) -> Outcome {
        self.set_timers();
        let task_count = self.state.workload.task_count;
        if let Some(watch) = &self.watch {
            watch.expect(task_count as u64);
        }
        let (mut instants, mut is_stopped) = (0, false);
        while self.over < task_count && !self.only_probes_come() {
            instants += 1;
            if TOLD_AT_ONCE <= instants || TOLD_AT_ONCE <= self.over - self.told {
                instants = 0;
                if self.tell(self.over).is_break() {
                    // Some events of this instant may be left: a replay that is cut off here
                    // includes them.
                    (is_stopped, self.until_us) = (true, self.state.now_us);
                }
            }
            let arrival_us = self.next_arrival_us();
            let event_us = self.queue.next().map_or(i64::MAX, |(at_us, _)| at_us);
            let now_us = event_us.min(arrival_us);
            if now_us == i64::MAX || self.until_us < now_us {
                break;
            }
            debug_assert!(self.state.now_us <= now_us, "time never goes back");
            self.state.now_us = now_us;
            let has_changed = self.live_through(now_us);
            // EASY makes a new plan at each of its instants. If it did so when a lost attempt would
            // have ended, it would use the future.
            if has_changed || self.passing.backfill != Backfill::Easy {
                self.hand_out();
            }
        }
        self.is_cancelled = is_stopped && self.over < task_count;
        if !self.is_cancelled {
            // The last message comes too late to stop anything.
            let _ = self.tell(task_count);
        }
        self.finish()
    }

    /// Reports how many tasks are over; breaks if the caller stops the replay.
    #[cold]
    fn tell(&mut self, over: usize) -> ControlFlow<()> {
        let more = (over - std::mem::replace(&mut self.told, over)) as u64;
        if let Some(watch) = &self.watch {
            return watch.step(more);
        }
        progress::step(more);
        ControlFlow::Continue(())
    }

    fn only_probes_come(&self) -> bool {
        0 < self.probes
            && self.probes == self.queue.len()
            && self.arrived as usize == self.state.workload.task_count
    }

    /// Handles all events of this instant, by rank. Returns whether any of them counts: ends of
    /// attempts that were already over do not.
    fn live_through(&mut self, now_us: i64) -> bool {
        let mut has_changed = false;
        loop {
            let rank = self.queue.next().filter(|(at_us, _)| *at_us == now_us).map(|next| next.1);
            if rank.is_none_or(|rank| ARRIVAL_RANK < rank) && self.next_arrival_us() == now_us {
                // An arrival causes no event that ranks before another arrival.
                has_changed = true;
                self.stir(now_us);
                while self.next_arrival_us() == now_us {
                    let task = self.take_arrival();
                    self.arrive(task);
                }
                continue;
            }
            if rank.is_none() {
                return has_changed;
            }
            let Some((_, event)) = self.queue.pop() else { return has_changed };
            self.events += 1;
            has_changed |= !matches!(event, Event::AttemptEnded { slot, generation }
                if self.state.attempts.generation[slot as usize] != generation);
            match event {
                // An end resets the quiet heartbeats in `Self::has_changed`; the end of a probe
                // does not, since probes follow each other endlessly.
                Event::AttemptEnded { .. } => self.stirred_us = now_us,
                _ if event.is_timer() => {}
                _ => self.stir(now_us),
            }
            match event {
                Event::AttemptEnded { slot, generation } => self.attempt_ended(slot, generation),
                Event::MachineChanged { change } => self.machine_changed(change),
                Event::LossNoticed { machine } => self.loss_noticed(machine),
                Event::TaskKilled { task } => self.task_killed(task),
                Event::WaitOver { task, is_behind } => self.wait_over(task, is_behind),
                Event::LimitReached { task, attempt, condition } => {
                    self.limit_reached(task, attempt, condition);
                }
                Event::Looked { task } => self.look(task),
                Event::Reorder => self.reorder(),
                Event::Heartbeat => self.heartbeat(),
            }
        }
    }

    /// A task is submitted.
    fn arrive(&mut self, task: u32) {
        let demand = self.state.workload.demand(task);
        let ask = self.state.workload.gpus.get(task);
        let is_too_large = if ask.is_none() || self.with_gpus.is_empty() {
            !self.capacities.iter().any(|capacity| capacity.holds(demand))
        } else {
            let holds =
                |(room, gpus): &(Room, Gpus)| room.holds(demand) && FreeGpus::all(*gpus).holds(ask);
            !self.with_gpus.iter().any(holds)
        };
        if is_too_large {
            self.refused.push(task);
            self.note(Kind::Refuse, task, NONE, 0);
            self.conclude(task, Phase::Refused);
            return;
        }
        if let Some(age_us) = self.state.workload.fate.get(task).ends_at_age_us() {
            let at_us = self.state.now_us.saturating_add(age_us);
            self.queue.push(at_us, Event::TaskKilled { task });
        }
        if !self.hold(task) {
            self.submit(task, true);
        }
    }

    /// A task begins to wait, at the tail or (`behind` false) at the head of its equals.
    #[inline]
    pub(super) fn submit(&mut self, task: u32, behind: bool) {
        self.note(Kind::Submit, task, NONE, 0);
        if let Some(kill) = &mut self.kill {
            kill.submitted(&self.state, task);
        }
        if self.count_event(task) {
            return;
        }
        self.state.tasks.phase[task as usize] = Phase::Waiting;
        self.state.waiting += 1;
        self.state.predict(task);
        if behind {
            self.order.push(&self.state, task);
        } else {
            self.order.push_front(&self.state, task);
        }
        if let Some(bookings) = &mut self.bookings {
            bookings.submitted(task);
        }
        if let Some(speculation) = &mut self.speculation {
            speculation.submitted(&self.state, task);
        }
    }

    /// Counts an event of a task; returns whether it condemned the task.
    #[inline]
    pub(super) fn count_event(&mut self, task: u32) -> bool {
        let events = &mut self.state.tasks.events[task as usize];
        *events = events.saturating_add(1);
        let events = *events;
        let Some(kill) = &mut self.kill else { return false };
        if !kill.condemns(&self.state, task, events) {
            return false;
        }
        self.condemn(task);
        true
    }

    /// An external event: attempts may begin at the end of this instant because of it.
    #[inline]
    fn stir(&mut self, now_us: i64) {
        self.stirred_us = now_us;
        self.quiet_beats = 0;
    }

    /// The number of running attempts has changed.
    #[inline]
    pub(super) fn has_changed(&mut self) {
        self.quiet_beats = 0;
        self.quiet_since_us = self.state.now_us;
    }

    /// Begins an attempt.
    #[inline]
    pub(super) fn start(&mut self, task: u32, machine: u32, role: Role) {
        let away = self.state.workload.inputs.factor(task, machine);
        let work = self.state.work_of_next(task) * away;
        let slot = self.state.occupy(task, machine, role, work);
        let idx = slot as usize;
        self.probes += usize::from(self.is_probe_with_end(slot));
        if role != Role::Probe {
            self.has_changed();
        }
        if self.state.cluster.shared_cores.is_some() {
            self.state.attempts.rate[idx] = 0.0;
            self.uneven.push(machine);
        } else if work.is_finite() {
            let speed = self.state.attempts.rate[idx];
            let end_us = self.state.cluster.end_us(machine, self.state.now_us, work, speed);
            let generation = self.state.attempts.generation[idx];
            self.queue.push(end_us, Event::AttemptEnded { slot, generation });
        }
        if let Some(plans) = &mut self.plans {
            let end_us = plans.begun(&self.state, slot);
            if let Some(bookings) = &mut self.bookings {
                bookings.begun(&self.state, slot, end_us);
            }
        }
        self.finder.taken(&self.state, machine);
        let kind = match role {
            Role::Original => Kind::Start,
            Role::Copy => Kind::Copy,
            Role::Probe => Kind::Probe,
        };
        self.copies += u64::from(role == Role::Copy);
        self.note(kind, task, machine, self.state.attempts.number[idx]);
        if let Some(preemption) = &mut self.preemption {
            preemption.count(&self.state, task, slot, true);
        }
        if self.follows_usage {
            self.order.usage(&self.state, task, true);
        }
        if let Some(speculation) = &mut self.speculation {
            speculation.started(&self.state, slot);
        }
        if self.kill.is_some() && role != Role::Probe {
            self.set_limits(slot);
        }
        if role == Role::Original {
            let first_start_us = &mut self.state.tasks.first_start_us[task as usize];
            let is_first = first_start_us.is_none();
            if is_first {
                *first_start_us = Some(self.state.now_us);
            }
            if let Some(kill) = &mut self.kill {
                kill.started(task, self.state.now_us, is_first);
                if is_first {
                    for at_us in kill.looks_us(self.state.now_us) {
                        self.queue.push(at_us, Event::Looked { task });
                    }
                }
            }
            self.state.tasks.phase[task as usize] = Phase::Running;
            self.state.waiting -= 1;
            self.count_event(task);
        }
    }

    /// Whether an attempt is a probe whose end is or will be in the queue.
    pub(super) fn is_probe_with_end(&self, slot: u32) -> bool {
        let (attempts, idx) = (&self.state.attempts, slot as usize);
        attempts.role[idx] == Role::Probe && attempts.work[idx].is_finite()
    }

    #[inline]
    pub(super) fn note(&mut self, kind: Kind, task: u32, machine: u32, attempt: u16) {
        if let Some(journal) = &mut self.journal {
            journal.add(Entry { at_us: self.state.now_us, kind, task, machine, attempt });
        }
    }

    /// Cuts the running attempts and returns the outcome.
    fn finish(mut self) -> Outcome {
        let running: Vec<u32> = self.state.live_slots().collect();
        for slot in running {
            self.end(slot, Kind::Cut);
        }
        let task_count = self.state.workload.task_count;
        let Tasks { phase, first_start_us, end_us, .. } = self.state.tasks;
        let unfinished = task_count - self.over;
        Outcome {
            journal: self.journal,
            makespan_us: (unfinished == 0)
                .then(|| end_us.iter().flatten().copied().max().unwrap_or(0)),
            last_us: self.state.now_us,
            phase,
            first_start_us,
            end_us,
            sums: self.sums.to_vec(),
            copies: self.copies,
            copies_won: self.copies_won,
            lost_copies: self.lost_copies,
            refused: self.refused,
            unfinished,
            depth_cuts: matches!(self.passing.depth, Depth::Tasks(_)).then_some(self.depth_cuts),
            events: self.events,
            is_cancelled: self.is_cancelled,
        }
    }
}

/// The periods of an order and of a rule about running tasks, µs.
///
/// # Errors
/// A period is not positive.
fn periods(
    plan: &Plan<'_>,
    order: &dyn Order,
    rule: Option<&dyn Speculation>,
) -> Result<(Option<i64>, Option<i64>), ReplayError> {
    let check = |part: &'static str, name: &str, period_us: Option<i64>| match period_us {
        Some(period_us) if period_us < 1 => {
            Err(ReplayError::Period { part, name: name.to_owned(), period_us })
        }
        _ => Ok(period_us),
    };
    let reorder_us = check("order", &plan.policy.order.0, order.period_us())?;
    let heartbeat_us = rule.and_then(Speculation::heartbeat_us);
    Ok((reorder_us, check("rule", &plan.policy.rule_name(), heartbeat_us)?))
}
