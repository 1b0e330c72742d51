//! Predictions for a running job from jobs that have ended, by cells of age and events.
//!
//! In: jobs that ended, with the ages and events of their tasks. Out: the chance that another job
//! does not finish. No times are used here: callers must add only jobs that had ended by then.

use rustc_hash::FxHashMap;

use super::rate::{HALF_LIFE, Rate, keep};
use crate::units::MICROS_PER_SECOND;

/// Ages that start a new step, s.
const AGES_S: [i64; 5] = [60, 600, 3600, 21_600, 86_400];

/// Numbers of events that start a new step; SUBMIT and SCHEDULE are two.
const EVENTS: [usize; 11] = [3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100];

/// Number of cells of (age, events). Both have an additional first step for "no step reached".
pub(super) const CELLS: usize = (AGES_S.len() + 1) * (EVENTS.len() + 1);

/// The number of age steps that a task has reached.
fn age_step(age_us: i64) -> usize {
    AGES_S.partition_point(|age_s| age_s * MICROS_PER_SECOND <= age_us)
}

/// The number of event steps that a task has reached.
fn event_step(events: usize) -> usize {
    EVENTS.partition_point(|&step| step <= events)
}

/// The numbers of steps of age and of events that a task has reached.
pub(super) type Stage = (usize, usize);

/// The stage of a task with an age and a number of events.
pub(super) fn stage_of(age_us: i64, events: usize) -> Stage {
    (age_step(age_us), event_step(events))
}

const fn cell(age: usize, events: usize) -> usize {
    age * (EVENTS.len() + 1) + events
}

/// How far the tasks of a job had come when it ended.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// Tasks that had begun.
    tasks: u32,
    /// By cell, the number of those tasks that reached it; empty if there are no tasks.
    cells: Vec<u32>,
}

impl Reached {
    /// Adds a task with an age and a number of events.
    pub fn add(&mut self, age_us: i64, events: usize) {
        self.cells.resize(CELLS, 0);
        self.tasks += 1;
        for age in 0..=age_step(age_us) {
            for events in 0..=event_step(events) {
                self.cells[cell(age, events)] += 1;
            }
        }
    }

    /// Whether no task had begun.
    pub const fn is_empty(&self) -> bool {
        self.tasks == 0
    }

    /// The cells that tasks reached, each with its share of the tasks.
    pub(super) fn shares(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let all = f64::from(self.tasks);
        let reached = self.cells.iter().enumerate().filter(|(_, count)| 0 < **count);
        reached.map(move |(cell, &count)| (cell, f64::from(count) / all))
    }
}

/// The rate of the user and name. It is drawn to the rate of the user, which is drawn to the
/// overall rate.
pub(super) fn rate_of(of_pair: Rate, of_user: Rate, overall: Rate) -> f64 {
    of_pair.drawn_to(of_user.drawn_to(overall.plain()))
}

/// The chance that a job does not finish, from the rate of its user and name and the stage of one
/// of its tasks.
pub(super) fn chance_of(rate: f64, known: impl Fn(usize) -> Rate, (ages, events): Stage) -> f64 {
    let known = |age: usize, events: usize| known(cell(age, events));
    let all = known(0, 0).drawn_to(0.5);
    let of_age = (1..=ages).fold(all, |before, age| known(age, 0).drawn_to(before));
    let here = (1..=events).fold(of_age, |before, step| known(ages, step).drawn_to(before));
    let (lost, finished) = (rate * here * (1.0 - all), (1.0 - rate) * (1.0 - here) * all);
    lost / (lost + finished)
}

/// The jobs that have ended so far.
#[derive(Clone, Debug)]
pub struct Known {
    pairs: FxHashMap<(u32, u32), Rate>,
    users: FxHashMap<u32, Rate>,
    overall: Rate,
    cells: Vec<Rate>,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            pairs: FxHashMap::default(),
            users: FxHashMap::default(),
            overall: Rate::default(),
            cells: vec![Rate::default(); CELLS],
        }
    }
}

impl Known {
    /// Adds a job of a user and name that has ended. `is_lost` is true if it did not finish.
    pub fn end(&mut self, pair: (u32, u32), is_lost: bool, reached: &Reached) {
        let kept = keep(HALF_LIFE);
        self.pairs.entry(pair).or_default().add_share(is_lost, 1.0, kept);
        self.users.entry(pair.0).or_default().add_share(is_lost, 1.0, kept);
        self.overall.add_share(is_lost, 1.0, 1.0);
        for (cell, share) in reached.shares() {
            self.cells[cell].add_share(is_lost, share, 1.0);
        }
    }

    /// The chance that a job submitted now does not finish.
    pub fn rate(&self, pair: (u32, u32)) -> f64 {
        let of_pair = self.pairs.get(&pair).copied().unwrap_or_default();
        let of_user = self.users.get(&pair.0).copied().unwrap_or_default();
        rate_of(of_pair, of_user, self.overall)
    }

    /// The chance for a job that has a task with this age and number of events.
    pub fn chance(&self, pair: (u32, u32), age_us: i64, events: usize) -> f64 {
        self.chance_at(pair, stage_of(age_us, events))
    }

    /// The chance for a job with a task at a stage.
    pub(super) fn chance_at(&self, pair: (u32, u32), stage: Stage) -> f64 {
        chance_of(self.rate(pair), |cell| self.cells[cell], stage)
    }
}

/// The ages at which a task is checked even without an event, µs.
pub fn ages_us() -> impl Iterator<Item = i64> {
    AGES_S.into_iter().map(|age_s| age_s * MICROS_PER_SECOND)
}
