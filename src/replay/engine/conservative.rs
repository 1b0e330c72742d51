//! Conservative backfilling: every waiting task has a booking that is never delayed.
//!
//! In: submissions, starts, ends, and the planned ends of running attempts
//! ([`Plans`](super::backfill::Plans)). Out: starts. A booking is a machine and a time; it is made
//! when the task is submitted, for the earliest time at which a machine has room for the estimated
//! running time, in addition to running attempts and all other bookings. When an attempt ends early
//! or a booking is cancelled, bookings are moved to earlier times if there is room, in the order of
//! the line. This is repeated until no booking moves. A booking is checked only if it could begin
//! earlier in room that was freed since its last check. An early end costs a search of the
//! [`Profile`] for each such booking. So a log in which tens of thousands of tasks always wait
//! takes long, unless the result must be [first come, first served](is_first_come).
//!
//! ```text
//!  used   3 |aaaaaaaaaaa|bbbbbb|          a runs until its planned end, b and c are booked;
//!         1 |           |cc|   |          steps of use: 3 from now, 4, 3, 0
//! ```
//! A booking is delayed only if plans were wrong. An attempt that runs longer than estimated counts
//! as ending next, and the bookings that no longer fit are made again. When a machine joins, leaves
//! or changes, all bookings are made again.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::backfill::{Plans, planned_end_us};
use super::profile::{Profile, Used, is_within};
use super::{Engine, Plan};
use crate::replay::cluster::Cluster;
use crate::replay::line::Line;
use crate::replay::policies::{Backfill, Order, Passing, Speculation};
use crate::replay::room::Room;
use crate::replay::state::Role;
use crate::replay::state::State;
use crate::replay::workload::{Fate, Workload};

/// The machine and time booked for a waiting task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Booking {
    machine: u32,
    start_us: i64,
    end_us: i64,
}

impl Booking {
    fn span_us(self) -> (i64, i64) {
        (self.start_us, self.end_us)
    }
}

/// What a search for a booking uses: the state, and a rule that may forbid machines.
#[derive(Clone, Copy)]
struct Scene<'s> {
    state: &'s State<'s>,
    rule: Option<&'s dyn Speculation>,
}

impl Scene<'_> {
    fn allows(&self, machine: u32, task: u32) -> bool {
        self.rule.is_none_or(|rule| rule.allows(self.state, machine, task))
    }
}

/// The bookings of all waiting tasks.
#[derive(Debug)]
pub(super) struct Bookings {
    profiles: Vec<Profile>,
    of: FxHashMap<u32, Booking>,
    by_start: BTreeSet<(i64, u32)>,
    /// Waiting tasks without a booking.
    new: Vec<u32>,
    /// The planned ends of running attempts, µs, by slot, and in order.
    end_of: FxHashMap<u32, i64>,
    by_end: BTreeSet<(i64, u32)>,
    /// Machines on which room was freed, with the time span, µs.
    freed: BTreeMap<u32, (i64, i64)>,
    /// Machines on which an attempt began or stayed without a booking.
    crowded: BTreeSet<u32>,
    /// Whether machines have changed since the bookings were made.
    is_stale: bool,
}

impl Bookings {
    pub(super) fn new(machine_count: usize) -> Self {
        Self {
            profiles: vec![Profile::default(); machine_count],
            of: FxHashMap::default(),
            by_start: BTreeSet::new(),
            new: Vec::new(),
            end_of: FxHashMap::default(),
            by_end: BTreeSet::new(),
            freed: BTreeMap::new(),
            crowded: BTreeSet::new(),
            is_stale: false,
        }
    }

    /// A task begins to wait.
    pub(super) fn submitted(&mut self, task: u32) {
        self.new.push(task);
    }

    /// A machine has joined, left or changed.
    pub(super) fn has_changed(&mut self) {
        self.is_stale = true;
    }

    /// A task no longer waits.
    pub(super) fn cancel(&mut self, state: &State<'_>, task: u32) {
        match self.take_out(state, task) {
            Some(booking) => self.free(booking.machine, booking.span_us()),
            None => self.new.retain(|&other| other != task),
        }
    }

    /// An attempt with a planned end has begun.
    pub(super) fn begun(&mut self, state: &State<'_>, slot: u32, end_us: i64) {
        let idx = slot as usize;
        let (task, machine) = (state.attempts.task[idx], state.attempts.machine[idx]);
        let span_us = (state.now_us, end_us);
        let is_original = state.attempts.role[idx] == Role::Original;
        let booked = is_original.then(|| self.take_out(state, task)).flatten();
        self.end_of.insert(slot, end_us);
        self.by_end.insert((end_us, slot));
        let profile = &mut self.profiles[machine as usize];
        profile.forget_before(state.now_us);
        profile.take(span_us, state.workload.demand(task));
        match booked {
            Some(booking) if booking.machine == machine && end_us <= booking.end_us => {
                if end_us < booking.end_us {
                    self.free(machine, (end_us, booking.end_us));
                }
            }
            Some(booking) => {
                self.free(booking.machine, booking.span_us());
                self.crowded.insert(machine);
            }
            None => {
                self.new.retain(|&other| !is_original || other != task);
                self.crowded.insert(machine);
            }
        }
    }

    /// An attempt is leaving its machine.
    pub(super) fn ended(&mut self, state: &State<'_>, slot: u32) {
        let Some(end_us) = self.end_of.remove(&slot) else { return };
        self.by_end.remove(&(end_us, slot));
        let machine = state.attempts.machine[slot as usize];
        if state.now_us < end_us {
            let demand = state.workload.demand(state.attempts.task[slot as usize]);
            self.profiles[machine as usize].give_back((state.now_us, end_us), demand);
            self.free(machine, (state.now_us, end_us));
        }
    }

    fn free(&mut self, machine: u32, span_us: (i64, i64)) {
        widen(&mut self.freed, machine, span_us);
    }

    fn put(&mut self, state: &State<'_>, task: u32, booking: Booking) {
        let span_us = (booking.start_us, booking.end_us);
        self.profiles[booking.machine as usize].take(span_us, state.workload.demand(task));
        self.of.insert(task, booking);
        self.by_start.insert((booking.start_us, task));
    }

    fn take_out(&mut self, state: &State<'_>, task: u32) -> Option<Booking> {
        let booking = self.of.remove(&task)?;
        self.by_start.remove(&(booking.start_us, task));
        let span_us = (booking.start_us, booking.end_us);
        self.profiles[booking.machine as usize].give_back(span_us, state.workload.demand(task));
        Some(booking)
    }

    /// The earliest booking from a given time, on the first machine that has one.
    fn earliest(&self, scene: Scene<'_>, task: u32, from_us: i64) -> Option<Booking> {
        let mut best: Option<Booking> = None;
        for machine in (0..).take(self.profiles.len()) {
            let before_us = best.map_or(i64::MAX, |best| best.start_us);
            best = self.earliest_on(machine, scene, task, (from_us, before_us)).or(best);
            if best.is_some_and(|best| best.start_us == from_us) {
                break;
            }
        }
        best
    }

    /// An earlier booking for a task, where room was freed. Without freed room, an earlier booking
    /// is still impossible, unless a rule has stopped forbidding a machine.
    fn earlier(
        &self,
        scene: Scene<'_>,
        task: u32,
        old: Booking,
        freed: &BTreeMap<u32, (i64, i64)>,
    ) -> Option<Booking> {
        let now_us = scene.state.now_us;
        if scene.rule.is_some() {
            return self.earliest(scene, task, now_us).filter(|new| new.start_us < old.start_us);
        }
        let mut best: Option<Booking> = None;
        for (&machine, &(from_us, until_us)) in freed {
            let length_us = length_us(scene.state, machine, task);
            let from_us = from_us.saturating_sub(length_us).saturating_add(1).max(now_us);
            let before_us = best.map_or(old.start_us, |best| best.start_us).min(until_us);
            if from_us < before_us {
                best = self.earliest_on(machine, scene, task, (from_us, before_us)).or(best);
            }
        }
        best
    }

    /// The earliest booking on a machine in a time span. The task's own booking does not block it.
    fn earliest_on(
        &self,
        machine: u32,
        scene: Scene<'_>,
        task: u32,
        span_us: (i64, i64),
    ) -> Option<Booking> {
        let state = scene.state;
        let (idx, demand) = (machine as usize, state.workload.demand(task));
        let capacity = state.machines.capacity[idx];
        if !state.machines.is_present[idx]
            || !capacity.holds(demand)
            || !scene.allows(machine, task)
        {
            return None;
        }
        let length_us = length_us(state, machine, task);
        // A booking that begins earlier also ends earlier: from the start of its own booking on,
        // the task has the room of that booking.
        let own = self.of.get(&task).filter(|own| own.machine == machine);
        let own_us = own.map_or(i64::MAX, |own| own.start_us);
        let profile = &self.profiles[idx];
        let start_us = profile.earliest(span_us, (length_us, own_us), (demand, capacity))?;
        Some(Booking { machine, start_us, end_us: start_us.saturating_add(length_us) })
    }

    /// Books tasks in this order; a task for which no machine has room is tried again later.
    fn book(&mut self, scene: Scene<'_>, tasks: Vec<u32>, from_us: i64) {
        for task in tasks {
            match self.earliest(scene, task, from_us) {
                Some(booking) => self.put(scene.state, task, booking),
                None => self.new.push(task),
            }
        }
    }

    /// Overdue attempts count as ending next.
    fn expect_overdue(&mut self, state: &State<'_>) {
        let next_us = state.now_us.saturating_add(1);
        while let Some(&(end_us, slot)) = self.by_end.first()
            && end_us <= state.now_us
        {
            let idx = slot as usize;
            let machine = state.attempts.machine[idx];
            let demand = state.workload.demand(state.attempts.task[idx]);
            self.by_end.remove(&(end_us, slot));
            self.by_end.insert((next_us, slot));
            self.end_of.insert(slot, next_us);
            self.profiles[machine as usize].take((state.now_us, next_us), demand);
            self.crowded.insert(machine);
        }
    }

    /// Books the tasks of overfull machines again, in the order of their starts.
    fn make_way(&mut self, scene: Scene<'_>) {
        let state = scene.state;
        for machine in std::mem::take(&mut self.crowded) {
            let capacity = state.machines.capacity[machine as usize];
            if !self.profiles[machine as usize].is_overfull(state.now_us, capacity) {
                continue;
            }
            let booked = self.by_start.iter().map(|&(_, task)| task);
            let tasks: Vec<u32> = booked.filter(|task| self.of[task].machine == machine).collect();
            for &task in &tasks {
                if let Some(booking) = self.take_out(state, task) {
                    self.free(machine, booking.span_us());
                }
            }
            self.book(scene, tasks, state.now_us);
        }
    }

    /// Discards all bookings and makes them again, in the order of the booked starts.
    fn plan_anew(&mut self, scene: Scene<'_>, ends: impl Iterator<Item = (i64, u32)>) {
        let state = scene.state;
        let mut tasks: Vec<u32> = self.by_start.iter().map(|&(_, task)| task).collect();
        tasks.append(&mut self.new);
        *self = Self::new(self.profiles.len());
        for (end_us, slot) in ends {
            let idx = slot as usize;
            let demand = state.workload.demand(state.attempts.task[idx]);
            let end_us = end_us.max(state.now_us.saturating_add(1));
            self.profiles[state.attempts.machine[idx] as usize]
                .take((state.now_us, end_us), demand);
            self.end_of.insert(slot, end_us);
            self.by_end.insert((end_us, slot));
        }
        self.book(scene, tasks, state.now_us);
        self.freed = (0..)
            .take(self.profiles.len())
            .map(|machine| (machine, (i64::MIN, i64::MAX)))
            .collect();
    }

    /// Moves bookings to earlier times, in the order of the line, until none can move.
    fn compress(&mut self, scene: Scene<'_>, line: &Line) {
        let state = scene.state;
        // Room that was freed before a task's last check cannot help it.
        let mut before = std::mem::take(&mut self.freed);
        while !before.is_empty() {
            let mut hopes = Hopes::of(self, state, &before);
            let mut passed: Option<u32> = None;
            let is_steered = scene.rule.is_some();
            while let Some(task) = line.seek(passed, |ask| is_steered || hopes.may_hold(ask.demand))
            {
                passed = Some(task);
                let Some(&old) = self.of.get(&task) else { continue };
                let Some(better) = self.earlier(scene, task, old, &before) else { continue };
                self.take_out(state, task);
                self.put(state, task, better);
                self.free(old.machine, old.span_us());
                widen(&mut before, old.machine, old.span_us());
                hopes = Hopes::of(self, state, &before);
            }
            before = std::mem::take(&mut self.freed);
        }
    }
}

/// Extends the time span of a machine, µs.
fn widen(spans: &mut BTreeMap<u32, (i64, i64)>, machine: u32, (from_us, until_us): (i64, i64)) {
    let span_us = spans.entry(machine).or_insert((from_us, until_us));
    *span_us = (span_us.0.min(from_us), span_us.1.max(until_us));
}

/// How long a task would hold a machine, µs.
fn length_us(state: &State<'_>, machine: u32, task: u32) -> i64 {
    let estimate_us = state.ask_of(task).estimate_us;
    (planned_end_us(state, machine, estimate_us) - state.now_us).max(1)
}

/// For each machine on which room was freed, the least amount in use, and the capacity.
struct Hopes(Vec<(Used, Room)>);

impl Hopes {
    fn of(bookings: &Bookings, state: &State<'_>, freed: &BTreeMap<u32, (i64, i64)>) -> Self {
        let hope = |(&machine, &(_, until_us)): (&u32, &(i64, i64))| {
            let capacity = state.machines.capacity[machine as usize];
            let span_us = (state.now_us, until_us);
            let least = || bookings.profiles[machine as usize].least_in(span_us);
            (span_us.0 < span_us.1).then(|| (least(), capacity))
        };
        Self(freed.iter().filter_map(hope).collect())
    }

    /// Whether a demand may begin on any of them.
    fn may_hold(&self, demand: [u64; 2]) -> bool {
        self.0.iter().any(|&(least, capacity)| is_within(least, demand, capacity))
    }
}

/// How the order passes over tasks; without bookings if they would not change the result.
pub(super) fn passing(plan: &Plan<'_>, order: &dyn Order, has_rule: bool) -> Passing {
    let passing = order.passing();
    let is_alone = !has_rule && plan.policy.kill.is_none() && order.is_by_arrival();
    let books = passing.backfill == Backfill::Conservative;
    if books && is_alone && is_first_come(plan.cluster, plan.workload) {
        return Passing::default();
    }
    passing
}

/// Whether bookings can only result in first come, first served: there is one machine that never
/// changes, all tasks request the same amounts, and no task runs longer than estimated or is tried
/// again.
///
/// By induction, every booking begins when the first of the processors that earlier tasks leave is
/// free. So bookings begin in the order of the line, and no processor is free before the last
/// booking has begun. If an attempt ends early or a task leaves, no processor becomes free later
/// than before. So when its turn comes in the first pass, each task finds room at the time that it
/// would get if all were booked again: tasks behind it do not begin earlier, and running attempts
/// do not run longer. So the first task in line is due whenever there is room for a task.
pub(super) fn is_first_come(cluster: &Cluster, workload: &Workload) -> bool {
    let is_plain_machine = cluster.machine_count() == 1
        && cluster.changes.is_empty()
        && cluster.utilisation.is_none()
        && cluster.shared_cores.is_none()
        && cluster.is_present == [true]
        && cluster.speed == [1.0];
    let mut tasks = (0..).take(workload.task_count);
    let knows_memory = cluster.memory.iter().any(Option::is_some);
    is_plain_machine
        && !workload.has_gpus()
        && workload.noise == 0.0
        && workload.extra_us.values().all(|extra_us| extra_us == 0)
        && workload.failures.work_us.is_empty()
        && workload.dependencies.is_empty()
        && workload.inputs.is_empty()
        && !workload.is_apart.values().any(|is_apart| is_apart)
        && is_same(workload.cpu.values())
        && (!knows_memory || is_same(workload.memory.values()))
        && tasks.all(|task| {
            let runs_us = match workload.fate.get(task) {
                Fate::Killed { age_us } => age_us,
                _ => workload.work_us.get(task),
            };
            runs_us <= workload.estimate_us(task, 0)
        })
}

fn is_same(mut values: impl Iterator<Item = u64>) -> bool {
    let first = values.next();
    values.all(|value| Some(value) == first)
}

impl Engine<'_> {
    /// Books new tasks, moves bookings to earlier times, and starts the tasks that are due.
    pub(super) fn keep_promises(&mut self) {
        let (Some(mut bookings), Some(line)) = (self.bookings.take(), self.order.line()) else {
            return;
        };
        let rule = self.speculation.as_deref().filter(|rule| rule.steers());
        let scene = Scene { state: &self.state, rule };
        let state = scene.state;
        if std::mem::take(&mut bookings.is_stale) {
            let ends = self.plans.iter().flat_map(Plans::all);
            bookings.plan_anew(scene, ends);
        }
        bookings.expect_overdue(state);
        bookings.make_way(scene);
        if !bookings.freed.is_empty() {
            bookings.compress(scene, line);
        }
        if !bookings.new.is_empty() {
            let mut new = std::mem::take(&mut bookings.new);
            new.sort_by_key(|&task| line.before(task));
            bookings.book(scene, new, state.now_us);
        }
        self.bookings = Some(bookings);
        self.start_due();
    }

    /// Starts the tasks that are due. A task that finds no room is booked again: from now on if a
    /// rule has forbidden its machine, or else for a later time.
    fn start_due(&mut self) {
        let (mut late, mut moved) = (Vec::new(), BTreeSet::new());
        while let Some(bookings) = &mut self.bookings
            && let Some(&(start_us, task)) = bookings.by_start.first()
            && start_us <= self.state.now_us
        {
            let machine = bookings.of[&task].machine;
            let rule = self.speculation.as_deref().filter(|rule| rule.steers());
            let scene = Scene { state: &self.state, rule };
            let (state, is_allowed) = (scene.state, scene.allows(machine, task));
            let is_apart = state.workload.is_apart.get(task)
                && state.has_sibling(machine, state.workload.job.get(task));
            if is_allowed && !is_apart && state.fits(machine, state.workload.demand(task)) {
                self.order.forget(task);
                self.start(task, machine, Role::Original);
                continue;
            }
            if let Some(booking) = bookings.take_out(state, task) {
                bookings.free(booking.machine, booking.span_us());
            }
            if !is_allowed && moved.insert(task) {
                bookings.book(scene, vec![task], state.now_us);
            } else {
                late.push(task);
            }
        }
        if let Some(bookings) = &mut self.bookings {
            let rule = self.speculation.as_deref().filter(|rule| rule.steers());
            let scene = Scene { state: &self.state, rule };
            bookings.book(scene, late, scene.state.now_us.saturating_add(1));
        }
    }
}
