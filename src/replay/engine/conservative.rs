//! Conservative backfilling: every waiting task has a booking, and none is ever put off.
//!
//! In: submissions, starts, ends, and what is planned of running attempts
//! ([`Plans`](super::backfill::Plans)). Out: starts. A booking is a machine and a time; it is made
//! when the task is submitted, for the earliest time at which the machine has room for as long as
//! the task is estimated to run, beside running attempts and all other bookings. When an attempt
//! ends early or a booking falls away, the bookings are looked at in the order of the line, again
//! and again until none moves, and moved to earlier times where there is room. That costs steps of
//! use times waiting tasks, for each early end: a log in which thousands wait takes long.
//!
//! ```text
//!  used   3 |aaaaaaaaaaa|bbbbbb|          a runs until its planned end, b and c are booked;
//!         1 |           |cc|   |          steps of use: 3 from now, 4, 3, 0
//! ```
//! A promise is broken only where the plans were wrong: an attempt that runs longer than estimated
//! counts as ending next, and what it stands in the way of is booked anew, as is everything when a
//! machine comes, goes or changes.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::backfill::{Plans, planned_end_us};
use super::{Engine, Role};
use crate::replay::line::Line;
use crate::replay::policies::Speculation;
use crate::replay::room::Room;
use crate::replay::state::State;

/// What a waiting task may count on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Booking {
    machine: u32,
    start_us: i64,
    end_us: i64,
}

/// What is used of a machine from each time on until the next, CPU and memory, millionths. Memory
/// that is not checked may add up to more than 64 bits hold.
#[derive(Clone, Debug)]
struct Profile {
    steps: Vec<(i64, [u128; 2])>,
}

impl Default for Profile {
    fn default() -> Self {
        Self { steps: vec![(i64::MIN, [0; 2])] }
    }
}

impl Profile {
    /// The step that a time lies in.
    fn at(&self, at_us: i64) -> usize {
        self.steps.partition_point(|step| step.0 <= at_us) - 1
    }

    /// The step that begins at a time, which may be a new one.
    fn split(&mut self, at_us: i64) -> usize {
        let idx = self.at(at_us);
        if self.steps[idx].0 == at_us {
            return idx;
        }
        self.steps.insert(idx + 1, (at_us, self.steps[idx].1));
        idx + 1
    }

    fn change(&mut self, (from_us, to_us): (i64, i64), change: impl Fn(&mut [u128; 2])) {
        if to_us <= from_us {
            return;
        }
        let (from, to) = (self.split(from_us), self.split(to_us));
        for step in &mut self.steps[from..to] {
            change(&mut step.1);
        }
        for idx in [to, from] {
            if self.steps[idx].1 == self.steps[idx - 1].1 {
                self.steps.remove(idx);
            }
        }
    }

    fn take(&mut self, span_us: (i64, i64), demand: [u64; 2]) {
        let demand = demand.map(u128::from);
        self.change(span_us, |used| *used = [used[0] + demand[0], used[1] + demand[1]]);
    }

    fn give_back(&mut self, span_us: (i64, i64), demand: [u64; 2]) {
        let demand = demand.map(u128::from);
        self.change(span_us, |used| *used = [used[0] - demand[0], used[1] - demand[1]]);
    }

    /// Drops what lies before a time.
    fn forget_before(&mut self, at_us: i64) {
        let idx = self.at(at_us);
        if 0 < idx {
            self.steps.drain(..idx);
            self.steps[0].0 = i64::MIN;
        }
    }

    /// The first time from `from_us` on, and before `before_us`, at which there is room for so long.
    fn earliest(
        &self,
        (from_us, before_us): (i64, i64),
        length_us: i64,
        fits: impl Fn([u128; 2]) -> bool,
    ) -> Option<i64> {
        let mut start_us = from_us;
        for idx in self.at(from_us)..self.steps.len() {
            if before_us <= start_us {
                return None;
            }
            let until_us = self.steps.get(idx + 1).map_or(i64::MAX, |next| next.0);
            if !fits(self.steps[idx].1) {
                start_us = until_us;
            } else if start_us.saturating_add(length_us) <= until_us {
                return Some(start_us);
            }
        }
        None
    }

    /// Whether there is ever more used than there is, from a time on.
    fn is_overfull(&self, from_us: i64, capacity: Room) -> bool {
        self.steps[self.at(from_us)..].iter().any(|step| !capacity.holds(bounded(step.1)))
    }
}

/// Sums as capacities are compared with; none holds the largest.
fn bounded(sums: [u128; 2]) -> [u64; 2] {
    sums.map(|sum| u64::try_from(sum).unwrap_or(u64::MAX))
}

/// What a booking is made by: how things are, and a rule that may forbid machines.
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
    /// Tasks that wait without a booking.
    new: Vec<u32>,
    /// Planned ends of running attempts, µs, by slot, and in order.
    end_of: FxHashMap<u32, i64>,
    by_end: BTreeSet<(i64, u32)>,
    /// Machines on which room was given back, and until when, µs.
    freed: BTreeMap<u32, i64>,
    /// Machines on which something began or stayed that was not booked.
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

    /// A machine has come, gone or changed.
    pub(super) fn has_changed(&mut self) {
        self.is_stale = true;
    }

    /// A task no longer waits.
    pub(super) fn cancel(&mut self, state: &State<'_>, task: u32) {
        match self.take_out(state, task) {
            Some(booking) => self.free(booking.machine, booking.end_us),
            None => self.new.retain(|&other| other != task),
        }
    }

    /// An attempt has begun that is planned to end at a time.
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
                    self.free(machine, booking.end_us);
                }
            }
            Some(booking) => {
                self.free(booking.machine, booking.end_us);
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
            self.free(machine, end_us);
        }
    }

    fn free(&mut self, machine: u32, until_us: i64) {
        let until = self.freed.entry(machine).or_insert(until_us);
        *until = until_us.max(*until);
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

    /// The earliest booking from a time on and before another, on the first machine that has one.
    fn earliest(
        &self,
        scene: Scene<'_>,
        task: u32,
        (from_us, before_us): (i64, i64),
    ) -> Option<Booking> {
        let state = scene.state;
        let (demand, estimate_us) = (state.workload.demand(task), state.ask_of(task).estimate_us);
        let mut best: Option<Booking> = None;
        for (machine, profile) in (0..).zip(&self.profiles) {
            let capacity = state.machines.capacity[machine as usize];
            let is_there = state.machines.is_present[machine as usize];
            if !is_there || !capacity.holds(demand) || !scene.allows(machine, task) {
                continue;
            }
            let length_us = (planned_end_us(state, machine, estimate_us) - state.now_us).max(1);
            let sum = demand.map(u128::from);
            let fits =
                |used: [u128; 2]| capacity.holds(bounded([used[0] + sum[0], used[1] + sum[1]]));
            let before_us = best.map_or(before_us, |best| best.start_us);
            let span_us = (from_us, before_us);
            let Some(start_us) = profile.earliest(span_us, length_us, fits) else { continue };
            let end_us = start_us.saturating_add(length_us);
            best = Some(Booking { machine, start_us, end_us });
            if start_us == from_us {
                break;
            }
        }
        best
    }

    /// Books tasks in this order; those for which no machine has room are tried again later.
    fn book(&mut self, scene: Scene<'_>, tasks: Vec<u32>, from_us: i64) {
        for task in tasks {
            match self.earliest(scene, task, (from_us, i64::MAX)) {
                Some(booking) => self.put(scene.state, task, booking),
                None => self.new.push(task),
            }
        }
    }

    /// Attempts that should have ended count as ending next.
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

    /// Books the tasks of overfull machines anew, in the order of their starts.
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
                let was = self.take_out(state, task);
                self.free(machine, was.map_or(state.now_us, |booking| booking.end_us));
            }
            self.book(scene, tasks, state.now_us);
        }
    }

    /// Forgets everything and plans anew, in the order of the starts that were booked.
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
        self.freed = (0..).take(self.profiles.len()).map(|machine| (machine, i64::MAX)).collect();
    }

    /// Moves bookings to earlier times, as long as any can be.
    fn compress(&mut self, scene: Scene<'_>, line: &Line) {
        let state = scene.state;
        let mut hopes = Hopes::of(self, state);
        let tasks: Vec<u32> = line.tasks().collect();
        let mut has_moved = true;
        while std::mem::take(&mut has_moved) {
            for &task in &tasks {
                let Some(&old) = self.of.get(&task) else { continue };
                if old.start_us <= state.now_us || !hopes.may_move(state, task, old) {
                    continue;
                }
                self.take_out(state, task);
                let better = self.earliest(scene, task, (state.now_us, old.start_us));
                self.put(state, task, better.unwrap_or(old));
                if better.is_some() {
                    self.free(old.machine, old.end_us);
                    hopes = Hopes::of(self, state);
                    has_moved = true;
                }
            }
        }
        self.freed.clear();
    }
}

/// By machine with room given back: until when, µs, and the least that is used there until then.
struct Hopes(Vec<(u32, i64, [u128; 2])>);

impl Hopes {
    fn of(bookings: &Bookings, state: &State<'_>) -> Self {
        let least = |(&machine, &until_us): (&u32, &i64)| {
            let profile = &bookings.profiles[machine as usize];
            let steps = &profile.steps[profile.at(state.now_us)..];
            let steps = steps.iter().take_while(|step| step.0 < until_us);
            let least = steps.fold([u128::MAX; 2], |least, step| {
                [least[0].min(step.1[0]), least[1].min(step.1[1])]
            });
            (machine, until_us, least)
        };
        Self(bookings.freed.iter().map(least).collect())
    }

    /// Whether a booking may find room where some was given back. Where it stands there itself it
    /// is looked at in any case.
    fn may_move(&self, state: &State<'_>, task: u32, old: Booking) -> bool {
        let demand = state.workload.demand(task);
        self.0.iter().any(|&(machine, until_us, least)| {
            let sum =
                |resource: usize| least[resource].saturating_add(u128::from(demand[resource]));
            let capacity = state.machines.capacity[machine as usize];
            (machine == old.machine && old.start_us < until_us)
                || capacity.holds(bounded([sum(0), sum(1)]))
        })
    }
}

impl Engine<'_> {
    /// Books what has come, moves what can be earlier, and starts what is due.
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

    /// Starts the tasks whose time has come. Who finds no room after all is booked anew: at once
    /// where the machine was forbidden since, and otherwise for later.
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
                bookings.free(booking.machine, booking.end_us);
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
