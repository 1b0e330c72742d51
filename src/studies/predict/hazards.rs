//! The chance that a running job does not finish, from the age and events of its tasks so far and
//! from the past of its user.
//!
//! In: the tasks of jobs that have ended, and a [`Past`]. Out: the chance for a user and name, an
//! instant, an age and a number of events. Only jobs that ended before the instant count.
//!
//! ```text
//!  ended jobs     of tasks that lasted 10 min and had 5 events: P = not finished / all
//!                 of all tasks with a start:                    Q = not finished / all
//!  this job       rate R of its user and name by now
//!  chance         odds(R) * odds(P) / odds(Q)
//! ```
//! Each job has weight 1, divided among its tasks that began. P is computed step by step, first by
//! age, then by events. Each step is drawn towards the P of the step before with the weight of one
//! job, so a small number of jobs has little effect. A task counts with its events up to the end of
//! its job.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::known::{CELLS, Reached, chance_of, rate_of, stage_of};
use super::past::Past;
use super::progress::come_to;
use super::rate::{HALF_LIFE, Rate, keep};
use super::step::{End, Happens, Who};
use crate::facts::FactError;
use crate::facts::tasks::{TaskView, Tasks, Usage};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;

/// Rates by the instant from which they are known.
#[derive(Clone, Debug, Default)]
struct Timeline {
    at_us: Vec<i64>,
    rates: Vec<Rate>,
}

impl Timeline {
    /// Adds a job that ended; instants must ascend.
    fn add(&mut self, at_us: i64, (lost, weight): (bool, f64), keep: f64) {
        let mut rate = self.rates.last().copied().unwrap_or_default();
        rate.add_share(lost, weight, keep);
        self.at_us.push(at_us);
        self.rates.push(rate);
    }

    /// The rate that was known before an instant.
    fn before(&self, at_us: i64) -> Rate {
        let count = self.at_us.partition_point(|&known_us| known_us < at_us);
        count.checked_sub(1).map_or_else(Rate::default, |last| self.rates[last])
    }
}

/// All rates at all instants.
#[derive(Clone, Debug, Default)]
pub struct Hazards {
    /// End of the tables, µs: no chance is computed after it.
    end_us: i64,
    who: FxHashMap<i64, Who>,
    pairs: FxHashMap<(u32, u32), Timeline>,
    users: Vec<Timeline>,
    overall: Timeline,
    cells: Vec<Timeline>,
}

/// The end of a job, and the progress of its tasks by then.
#[derive(Clone, Debug)]
pub(in crate::studies) struct Ended {
    at_us: i64,
    row_id: i64,
    end: End,
    reached: Reached,
}

impl Ended {
    pub(in crate::studies) fn new(at_us: i64, row_id: i64, end: End) -> Self {
        Self { at_us, row_id, end, reached: Reached::default() }
    }

    /// Adds a task of the job, in its state at the end of the job.
    pub(in crate::studies) fn add(&mut self, task: &TaskView<'_>) {
        if let Some((age_us, events)) = come_to(task, self.at_us) {
            self.reached.add(age_us, events);
        }
    }
}

impl Hazards {
    /// Reads the tasks of a lake.
    ///
    /// # Errors
    /// The tasks cannot be read.
    pub fn read(lake: &Lake, windows: Windows, past: &Past) -> Result<Self, FactError> {
        let mut ends: FxHashMap<i64, Vec<Ended>> = FxHashMap::default();
        for step in &past.steps {
            if let Happens::Ends { job_id, end } = step.what {
                let ended = Ended::new(step.at_us, step.row_id, end);
                ends.entry(job_id).or_default().push(ended);
            }
        }
        let rows = lake.expect_rows(&[Table::TaskEvents]);
        let parts: Vec<Vec<Ended>> = (0..lake.bucket_count())
            .into_par_iter()
            .with_max_len(1)
            .map(|bucket| {
                let tasks = Tasks::read(lake, bucket, windows, Usage::Skip)?;
                lake.step(rows)?;
                Ok(ended_of(&tasks, &ends))
            })
            .collect::<Result<_, FactError>>()?;
        Ok(Self::new(past, parts.concat(), windows.task_end_us))
    }

    /// Replays the past once.
    pub(in crate::studies) fn new(past: &Past, mut ended: Vec<Ended>, end_us: i64) -> Self {
        let mut hazards = Self {
            end_us,
            users: vec![Timeline::default(); past.user_count as usize],
            cells: vec![Timeline::default(); CELLS],
            ..Self::default()
        };
        for step in &past.steps {
            match step.what {
                Happens::Submits { job_id, .. } => drop(hazards.who.insert(job_id, step.who)),
                Happens::Ends { end, .. } => {
                    let (who, one) = (step.who, (end != End::Finished, 1.0));
                    let pair = hazards.pairs.entry((who.user, who.name)).or_default();
                    pair.add(step.at_us, one, keep(HALF_LIFE));
                    hazards.users[who.user as usize].add(step.at_us, one, keep(HALF_LIFE));
                    hazards.overall.add(step.at_us, one, 1.0);
                }
            }
        }
        ended.sort_unstable_by_key(|ended| (ended.at_us, ended.row_id));
        for ended in ended {
            let is_lost = ended.end != End::Finished;
            for (cell, share) in ended.reached.shares() {
                hazards.cells[cell].add(ended.at_us, (is_lost, share), 1.0);
            }
        }
        hazards
    }

    /// The chances of a job.
    pub fn of_job(&self, job_id: i64) -> Option<Moment<'_>> {
        self.who.get(&job_id).map(|&who| Moment { hazards: self, who })
    }

    /// The rate of the user and name, drawn to that of the user, and that to the overall rate.
    fn rate(&self, who: Who, at_us: i64) -> f64 {
        let of_pair = self.pairs.get(&(who.user, who.name));
        let of_pair = of_pair.map_or_else(Rate::default, |pair| pair.before(at_us));
        rate_of(of_pair, self.users[who.user as usize].before(at_us), self.overall.before(at_us))
    }
}

/// The ends of those jobs of a bucket that have tasks that began.
fn ended_of(tasks: &Tasks, ends: &FxHashMap<i64, Vec<Ended>>) -> Vec<Ended> {
    let mut found: FxHashMap<i64, Vec<Ended>> = FxHashMap::default();
    tasks.for_each(|task| {
        let Some(of_job) = ends.get(&task.job_id) else { return };
        let of_job = found.entry(task.job_id).or_insert_with(|| of_job.clone());
        for ended in of_job {
            ended.add(task);
        }
    });
    let mut found: Vec<Ended> = found.into_values().flatten().collect();
    found.retain(|ended| !ended.reached.is_empty());
    found
}

/// A job with a chance that is computed while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    hazards: &'a Hazards,
    who: Who,
}

impl Moment<'_> {
    /// The last instant for which a chance can be computed, µs.
    pub fn end_us(&self) -> i64 {
        self.hazards.end_us
    }

    /// The chance that the job does not finish, at an instant when one of its tasks has this age
    /// and number of events. Only jobs that ended before the instant are used.
    pub fn chance(&self, at_us: i64, age_us: i64, events: usize) -> f64 {
        let known = |cell: usize| self.hazards.cells[cell].before(at_us);
        chance_of(self.hazards.rate(self.who, at_us), known, stage_of(age_us, events))
    }
}

#[cfg(test)]
pub(in crate::studies) mod tests {
    use proptest::prelude::*;

    use super::super::step::Step;
    use super::*;
    use crate::facts::events::Event;
    use crate::schema::EventType;
    use crate::units::MICROS_PER_SECOND;

    const S: i64 = MICROS_PER_SECOND;

    /// Random times are multiples of this, s, so that ends, events and ages often coincide.
    pub(in crate::studies) const STEP_S: i64 = 30;

    /// A job that ended, with its tasks as lists of events (s, type).
    #[derive(Clone, Debug)]
    pub(in crate::studies) struct Job {
        end_s: i64,
        user: u32,
        name: u32,
        end: End,
        tasks: Vec<Vec<(i64, u8)>>,
    }

    pub(in crate::studies) fn job() -> impl Strategy<Value = Job> {
        let events = prop::collection::vec((0_i64..70, 0_u8..7), 0..9);
        let ends = prop::sample::select(End::ALL.to_vec());
        let job = (0_i64..130, 0_u32..2, 0_u32..2, ends, prop::collection::vec(events, 1..4));
        job.prop_map(|(end_s, user, name, end, mut tasks)| {
            for events in &mut tasks {
                events.sort_unstable_by_key(|event| event.0);
                for event in events {
                    event.0 *= STEP_S;
                }
            }
            Job { end_s: end_s * STEP_S, user, name, end, tasks }
        })
    }

    /// The chances from these jobs. Job 1000, of user 0 and name 0, is the one to be predicted.
    pub(in crate::studies) fn hazards(jobs: &[Job]) -> Hazards {
        let who = |user, name| Who { user, name, class: None };
        let asked = Step {
            at_us: 0,
            row_id: -1,
            who: who(0, 0),
            age_us: 0,
            what: Happens::Submits { job_id: 1000, truth: None },
        };
        let (mut steps, mut ended) = (vec![asked], Vec::new());
        for (job_id, job) in (0..).zip(jobs) {
            let at_us = job.end_s * S;
            let what = Happens::Ends { job_id, end: job.end };
            let who = who(job.user, job.name);
            steps.push(Step { at_us, row_id: job_id, who, age_us: 0, what });
            let mut one = Ended::new(at_us, job_id, job.end);
            for events in &job.tasks {
                with_task(events, |task| one.add(task));
            }
            if !one.reached.is_empty() {
                ended.push(one);
            }
        }
        steps.sort_by_key(|step| (step.at_us, step.row_id));
        let past = Past { steps, user_count: 2, name_count: 2, ..Past::default() };
        Hazards::new(&past, ended, i64::MAX)
    }

    pub(in crate::studies) fn with_task(events: &[(i64, u8)], visit: impl FnOnce(&TaskView<'_>)) {
        let event = |(row_id, &(second, kind)): (i64, &(i64, u8))| Event {
            time_us: second * S,
            row_id,
            event_type: EventType::of(kind).expect("types are below 7"),
            row: 0,
        };
        let events: Vec<Event> = (0..).zip(events).map(event).collect();
        visit(&TaskView {
            job_id: 1000,
            task_index: 0,
            events: &events,
            attempts: &[],
            windows: &[],
            priority: 0,
            phase: None,
            requested_us: None,
            job_end_us: None,
        });
    }

    /// The jobs that ended before `only_before_us`.
    pub(in crate::studies) fn before(jobs: &[Job], only_before_us: i64) -> Vec<Job> {
        jobs.iter().filter(|job| job.end_s * S < only_before_us).cloned().collect()
    }

    #[test]
    fn the_chance_of_a_moment_by_hand() {
        // Two jobs ended: one finished at 100 s (its task had 3 events in 20 s), one failed at 200
        // s; of its two tasks one had 4 events and ran 90 s, the other 2 events and 110 s.
        let finished = vec![(0, 0), (10, 1), (30, 4)];
        let failed = vec![vec![(80, 0), (90, 1), (170, 2), (180, 3)], vec![(80, 0), (90, 1)]];
        let jobs = [
            Job { end_s: 100, user: 0, name: 0, end: End::Finished, tasks: vec![finished] },
            Job { end_s: 200, user: 1, name: 0, end: End::Failed, tasks: failed },
        ];
        let hazards = hazards(&jobs);
        let chance = |at_s: i64, age_s: i64, events: usize| {
            hazards.of_job(1000).expect("it was submitted").chance(at_s * S, age_s * S, events)
        };
        let check = |found: f64, rate: f64, here: f64, all: f64| {
            let odds = rate / (1.0 - rate) * here / (1.0 - here) * (1.0 - all) / all;
            assert!((found - odds / (1.0 + odds)).abs() < 1e-12, "{found}, {odds}");
        };
        // At 150 s one job has ended, with FINISH: no rate is above 0.
        assert_eq!(chance(150, 60, 4), 0.0);
        // At 200 s the second end is not yet known. After 200 s, 1 of 2 jobs is lost overall, and 0
        // of 1 of the user and of the pair. Each rate is drawn with the weight of one job.
        assert_eq!(chance(200, 60, 4), 0.0);
        let (of_user, all) = (0.5 / 2.0, 1.5 / 3.0);
        let rate = of_user / 2.0;
        check(chance(201, 59, 2), rate, all, all);
        // From 60 s on: both tasks of the lost job, and no task of the other job.
        let of_age = f64::midpoint(1.0, all);
        check(chance(201, 60, 2), rate, of_age, all);
        // With three events, then four: half of the tasks of the lost job.
        let of_three = (0.5 + of_age) / 1.5;
        check(chance(201, 60, 3), rate, of_three, all);
        check(chance(201, 60, 4), rate, (0.5 + of_three) / 1.5, all);
        // In the first minute, the finished job also counts for three events.
        check(chance(201, 59, 3), rate, (0.5 + all) / 2.5, all);
        // No task reached ten minutes: the chance is that of the largest age reached.
        assert_eq!(chance(201, 600, 100), chance(201, 60, 2));
    }

    proptest! {
        /// Jobs that end at or after the instant do not change the chance.
        #[test]
        fn later_ends_change_no_chance(
            jobs in prop::collection::vec(job(), 0..12),
            other in prop::collection::vec(job(), 0..12),
            (at, age, events) in (0_i64..130, 0_i64..70, 0_usize..12),
        ) {
            let (at_us, age_s) = (at * STEP_S * S, age * STEP_S);
            let said = |jobs: &[Job]| {
                hazards(jobs).of_job(1000).expect("it was submitted").chance(at_us, age_s * S, events)
            };
            let mut others = before(&jobs, at_us);
            others.extend(other.into_iter().filter(|job| at_us <= job.end_s * S));
            let (one, another) = (said(&jobs), said(&others));
            prop_assert!((0.0..=1.0).contains(&one));
            prop_assert_eq!(one, another);
        }
    }
}
