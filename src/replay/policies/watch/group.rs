//! A group with at least one attempt so far, as shown to its detector.
//!
//! The cost of a heartbeat at which the group is judged is proportional to its running attempts,
//! and to the starts and ends since the last one. A group that sleeps costs nothing.

use rustc_hash::FxHashSet;

use crate::replay::detectors::{Detector, Finished, Running, Scene};
use crate::replay::state::{Role, State};

/// A group with at least one attempt so far.
pub(super) struct Group {
    pub(super) detector: Box<dyn Detector>,
    pub(super) finished: Finished,
    pub(super) begun_us: i64,
    /// Attempts so far, running copies, and running attempts whose machine has left.
    pub(super) attempts: u32,
    pub(super) copies_now: u32,
    pub(super) lost: u32,
    /// The time until which the group is not judged, µs.
    pub(super) sleeps_until_us: Option<i64>,
    pub(super) submitted: u32,
    pub(super) over: u32,
    /// Slots of its running attempts, by their numbers in order of start.
    pub(super) slots: Vec<u32>,
    /// Attempts as of the last heartbeat, by (start, task), and their constant data.
    pub(super) running: Vec<Running>,
    seats: Vec<Seat>,
    /// Changes since the last heartbeat: attempts that have begun, the numbers of attempts that
    /// have ended, and tasks that were copied.
    fresh: Vec<(Running, Seat)>,
    gone: Vec<u32>,
    copied: Vec<u32>,
    /// The number of copies, and of different tasks, among the attempts.
    pub(super) copies: u32,
    pub(super) running_tasks: u32,
}

/// The constant data of a running attempt.
#[derive(Clone, Copy, Debug)]
struct Seat {
    slot: u32,
    work: f64,
    is_copy: bool,
}

/// The order in which attempts are shown; a task has only one attempt with a given number.
fn rank(running: &Running) -> (i64, u32, u32) {
    (running.start_us, running.task, running.attempt)
}

impl Group {
    /// A group without running attempts.
    pub(super) fn new(detector: Box<dyn Detector>, begun_us: i64) -> Self {
        Self {
            detector,
            finished: Finished::default(),
            begun_us,
            attempts: 0,
            copies_now: 0,
            lost: 0,
            sleeps_until_us: None,
            submitted: 0,
            over: 0,
            slots: Vec::new(),
            running: Vec::new(),
            seats: Vec::new(),
            fresh: Vec::new(),
            gone: Vec::new(),
            copied: Vec::new(),
            copies: 0,
            running_tasks: 0,
        }
    }

    /// An attempt has begun: it is shown from the next heartbeat on.
    pub(super) fn begin(&mut self, state: &State<'_>, slot: u32, running: Running) {
        let (attempts, idx) = (&state.attempts, slot as usize);
        let is_copy = attempts.role[idx] == Role::Copy;
        if is_copy {
            self.copied.push(running.task);
        }
        self.fresh.push((running, Seat { slot, work: attempts.work[idx], is_copy }));
    }

    /// An attempt has ended: it is shown until the next heartbeat.
    pub(super) fn end(&mut self, attempt: u32) {
        self.gone.push(attempt);
    }

    /// Resets the group when no attempt runs any more.
    pub(super) fn clear(&mut self) {
        self.running.clear();
        self.seats.clear();
        self.fresh.clear();
        self.gone.clear();
        self.copied.clear();
        (self.copies, self.running_tasks) = (0, 0);
    }

    /// Applies the starts and ends since the last heartbeat.
    fn catch_up(&mut self) {
        if !self.gone.is_empty() {
            self.gone.sort_unstable();
            let runs = |row: &Running| self.gone.binary_search(&row.attempt).is_err();
            let mut kept = 0;
            for at in 0..self.running.len() {
                if runs(&self.running[at]) {
                    (self.running[kept], self.seats[kept]) = (self.running[at], self.seats[at]);
                    kept += 1;
                }
            }
            self.running.truncate(kept);
            self.seats.truncate(kept);
            self.fresh.retain(|(row, _)| runs(row));
            self.gone.clear();
        }
        if !self.fresh.is_empty() {
            self.fresh.sort_unstable_by_key(|(row, _)| rank(row));
            let ends =
                self.running.last().map(rank).zip(self.fresh.first().map(|(row, _)| rank(row)));
            self.running.extend(self.fresh.iter().map(|(row, _)| *row));
            self.seats.extend(self.fresh.drain(..).map(|(_, seat)| seat));
            // Nearly always, all new attempts come after the others.
            if ends.is_some_and(|(last, first)| first < last) {
                let mut all: Vec<(Running, Seat)> =
                    self.running.drain(..).zip(self.seats.drain(..)).collect();
                all.sort_unstable_by_key(|(row, _)| rank(row));
                (self.running, self.seats) = all.into_iter().unzip();
            }
        }
        if !self.copied.is_empty() {
            self.copied.sort_unstable();
            for row in &mut self.running {
                row.was_copied |= self.copied.binary_search(&row.task).is_ok();
            }
            self.copied.clear();
        }
    }

    /// Updates the reports of the attempts. `is_even` if all of them run at speed 1 from their
    /// start and none of their machines has left: then the state is not read.
    pub(super) fn look(&mut self, state: &State<'_>, is_even: bool) {
        self.catch_up();
        let now_us = state.now_us;
        let rows = self.running.iter().zip(&self.seats);
        let mut copied: Vec<u32> =
            rows.filter(|(_, seat)| seat.is_copy).map(|(row, _)| row.task).collect();
        copied.sort_unstable();
        let is_copied = |task: u32| copied.binary_search(&task).is_ok();
        let originals = self.running.iter().zip(&self.seats).filter(|(_, seat)| !seat.is_copy);
        let of_copied = originals.map(|(row, _)| row.task).filter(|&task| is_copied(task));
        let beside: FxHashSet<u32> = of_copied.collect();
        // A bit for each copied task: for nearly all other tasks, no search is necessary.
        let bits = copied.iter().fold(0_u64, |bits, task| bits | 1 << (task % 64));
        // If no machine has left, the attempts of a task are at most one original, and copies.
        let has_copy = |task: u32, is_copy: bool| {
            if bits & (1 << (task % 64)) == 0 {
                return false;
            }
            let first = copied.partition_point(|&other| other < task);
            let is_twice = copied.get(first + 1) == Some(&task);
            copied.get(first) == Some(&task) && (!is_copy || is_twice || beside.contains(&task))
        };
        self.copies = u32::try_from(copied.len()).expect("slots are numbered in u32");
        let all = u32::try_from(self.running.len()).expect("slots are numbered in u32");
        self.running_tasks = all - self.copies;
        for (row, seat) in self.running.iter_mut().zip(&self.seats) {
            if is_even {
                row.reported_us = now_us;
                row.progress = State::even_progress(seat.work, now_us - row.start_us);
                row.has_copy = has_copy(row.task, seat.is_copy);
            } else {
                let idx = seat.slot as usize;
                // A lost attempt made its last report before its machine left.
                let attempts = &state.attempts;
                row.reported_us =
                    if attempts.is_lost[idx] { attempts.since_us[idx] } else { now_us };
                row.progress = state.progress(seat.slot);
                row.has_copy = has_other(state, seat.slot);
            }
            row.has_progress = row.start_us < row.reported_us && seat.work.is_finite();
        }
    }
    /// The data shown: attempts, and the copies and tasks among them.
    #[cfg(test)]
    pub(super) fn shown(&self) -> (Vec<Running>, u32, u32) {
        (self.running.clone(), self.copies, self.running_tasks)
    }

    pub(super) fn scene(&self, now_us: i64, slots: [u32; 2]) -> Scene<'_> {
        Scene {
            now_us,
            begun_us: self.begun_us,
            running: &self.running,
            finished: &self.finished,
            task_count: self.submitted,
            waiting: self.submitted.saturating_sub(self.over + self.running_tasks),
            over: self.over,
            slots: slots[1],
            free_slots: slots[0],
            copies: self.copies,
        }
    }
}

/// Whether another attempt of the same task runs.
fn has_other(state: &State<'_>, slot: u32) -> bool {
    let attempts = &state.attempts;
    let is_other = |&other: &u32| other != slot && attempts.role[other as usize] != Role::Probe;
    state.of_task(attempts.task[slot as usize]).filter(is_other).count() != 0
}
