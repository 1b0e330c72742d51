//! The fates of the tasks of a workload.

use rustc_hash::FxHashMap;

use crate::fairness::indices::bounded_slowdown;
use crate::replay::journal::{Journal, Kind};
use crate::replay::workload::NONE;
use crate::units::micros_to_seconds;

/// Runs shorter than this count as this long in the bounded slowdown, s (Feitelson and others).
pub const BOUND_S: f64 = 10.0;

/// The fates of the tasks of a workload, by task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fates {
    /// First submit, µs; `None` if there was none.
    pub submit_us: Vec<Option<i64>>,
    /// First start, µs; `None` if there was none.
    pub start_us: Vec<Option<i64>>,
    /// Last end, µs; `None` if the task was never over.
    pub end_us: Vec<Option<i64>>,
    /// Whether a kill rule condemned it.
    pub is_condemned: Vec<bool>,
    /// Whether no machine could ever run it.
    pub is_refused: Vec<bool>,
    /// Time of the attempt that finished it, µs; `None` if it did not finish.
    pub run_us: Vec<Option<i64>>,
}

/// Data about the running attempts.
pub(super) struct Begun<T> {
    /// By task, the number of one attempt (or 0) and its data; most tasks have only one.
    one: Vec<(u16, T)>,
    /// The data of other attempts.
    others: FxHashMap<(u32, u16), T>,
}

impl<T: Copy + Default> Begun<T> {
    pub(super) fn new(task_count: usize) -> Self {
        Self { one: vec![(0, T::default()); task_count], others: FxHashMap::default() }
    }

    pub(super) fn put(&mut self, task: u32, attempt: u16, value: T) {
        let one = &mut self.one[task as usize];
        if attempt != 0 && (one.0 == 0 || one.0 == attempt) {
            *one = (attempt, value);
        } else {
            self.others.insert((task, attempt), value);
        }
    }

    /// Takes the data of an attempt; `None` if it has not begun or was taken before.
    pub(super) fn take(&mut self, task: u32, attempt: u16) -> Option<T> {
        let one = &mut self.one[task as usize];
        if attempt != 0 && one.0 == attempt {
            one.0 = 0;
            return Some(one.1);
        }
        self.others.remove(&(task, attempt))
    }
}

/// Reads the fates of the tasks from a journal.
pub fn fates(journal: &Journal, task_count: usize) -> Fates {
    let none = vec![None; task_count];
    let mut fates = Fates {
        submit_us: none.clone(),
        start_us: none.clone(),
        end_us: none.clone(),
        is_condemned: vec![false; task_count],
        is_refused: vec![false; task_count],
        run_us: none,
    };
    let mut begun = Begun::new(task_count);
    for entry in journal.entries().filter(|entry| entry.task != NONE) {
        let (task, at_us) = (entry.task as usize, entry.at_us);
        match entry.kind {
            Kind::Submit => {
                fates.submit_us[task].get_or_insert(at_us);
                fates.end_us[task] = None;
            }
            Kind::Start | Kind::Copy | Kind::Probe => {
                fates.start_us[task].get_or_insert(at_us);
                begun.put(entry.task, entry.attempt, at_us);
            }
            Kind::Refuse => {
                (fates.submit_us[task], fates.end_us[task]) = (Some(at_us), Some(at_us));
                fates.is_refused[task] = true;
            }
            Kind::Finish => {
                fates.end_us[task] = Some(at_us);
                let start_us = begun.take(entry.task, entry.attempt);
                fates.run_us[task] = Some(at_us - start_us.unwrap_or(at_us));
            }
            // If a failed task is tried again, it is submitted in the lines that follow.
            Kind::Fail | Kind::Kill => fates.end_us[task] = Some(at_us),
            Kind::Condemn => {
                fates.end_us[task] = Some(at_us);
                fates.is_condemned[task] = true;
            }
            // These end attempts; the task waits, or another attempt of it continues.
            _ => {}
        }
    }
    fates
}

impl Fates {
    /// First submit to first start, s.
    pub fn waiting_s(&self, task: usize) -> Option<f64> {
        Some(micros_to_seconds(self.start_us[task]? - self.submit_us[task]?))
    }

    /// First submit to end, s.
    pub(super) fn response_s(&self, task: usize) -> Option<f64> {
        Some(micros_to_seconds(self.end_us[task]? - self.submit_us[task]?))
    }

    /// Run time of the attempt that finished a task, s.
    fn run_s(&self, task: usize) -> Option<f64> {
        self.run_us[task].map(micros_to_seconds)
    }

    /// Response over run time of a finished task with a run time above 0.
    pub(super) fn slowdown(&self, task: usize) -> Option<f64> {
        self.run_s(task)
            .filter(|run_s| 0.0 < *run_s)
            .zip(self.response_s(task))
            .map(|(run_s, response_s)| response_s / run_s)
    }

    /// Response over a run time of at least [`BOUND_S`] of a finished task; at least 1.
    pub fn bounded_slowdown(&self, task: usize) -> Option<f64> {
        let run_s = self.run_s(task)?;
        Some(bounded_slowdown(self.response_s(task)? - run_s, run_s, BOUND_S))
    }
}
