//! The jobs, users, machines and reasons of an episode.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{Asked, Episode, What};
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::jobs::Jobs;
use crate::facts::machines::{MachineChange, MachineEvents};
use crate::facts::tasks::Usage;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{EventType, Table};
use crate::studies::load::waits;
use crate::units::MICROS_PER_SECOND;

/// Attempts that ran for less than this hardly ran, µs.
pub const QUICK_US: i64 = 10 * MICROS_PER_SECOND;

/// The events of an episode by job, user, machine and reason. An event without a user, machine or
/// reason is left out of that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// The first and the last of the events, µs.
    pub span_us: Option<[i64; 2]>,
    /// Events by job.
    pub jobs: BTreeMap<i64, u64>,
    /// Events by user.
    pub users: BTreeMap<String, u64>,
    /// Attempts that ended, by machine.
    pub machines: BTreeMap<i64, u64>,
    /// Attempts that ended, on a known machine or not.
    pub attempts: u64,
    /// Those of these attempts that had run for less than [`QUICK_US`].
    pub quick: u64,
    /// Events of tasks that waited.
    pub waiting: u64,
    /// Events by the reason for the end of the job, in logs that record it.
    pub reasons: BTreeMap<String, u64>,
}

fn join<K: Ord>(own: &mut BTreeMap<K, u64>, other: BTreeMap<K, u64>) {
    for (key, count) in other {
        *own.entry(key).or_default() += count;
    }
}

fn add(counts: &mut BTreeMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => drop(counts.insert(name.to_owned(), 1)),
    }
}

impl Who {
    fn merge(&mut self, other: Self) {
        self.reach(other.span_us);
        join(&mut self.jobs, other.jobs);
        join(&mut self.users, other.users);
        join(&mut self.machines, other.machines);
        join(&mut self.reasons, other.reasons);
        self.attempts += other.attempts;
        self.quick += other.quick;
        self.waiting += other.waiting;
    }

    /// Extends the span of the events so that it includes another span.
    fn reach(&mut self, span_us: Option<[i64; 2]>) {
        let both = self.span_us.into_iter().chain(span_us);
        self.span_us = both.reduce(|[first, last], [from, to]| [first.min(from), last.max(to)]);
    }

    fn add(&mut self, jobs: &Jobs, job_id: i64, time_us: i64) {
        self.reach(Some([time_us, time_us]));
        *self.jobs.entry(job_id).or_default() += 1;
        let Some(job) = jobs.find(job_id).map(|position| &jobs.jobs[position]) else { return };
        if let Some(user) = job.user {
            add(&mut self.users, jobs.names.get(user));
        }
        if let Some(reason) = job.end_reason {
            add(&mut self.reasons, jobs.names.get(reason));
        }
    }
}

/// The events of some episodes, and the users of the tasks that waited in an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The events of each episode.
    pub episodes: Vec<Who>,
    /// Waiting time of the tasks of each user in the interval of the queue, µs.
    pub queue_us: BTreeMap<String, i64>,
    /// Waiting time of all tasks in that interval, including jobs without a known user, µs.
    pub queue_all_us: i64,
}

impl Found {
    fn merge(mut self, other: Self) -> Self {
        self.episodes.iter_mut().zip(other.episodes).for_each(|(own, other)| own.merge(other));
        for (user, us) in other.queue_us {
            *self.queue_us.entry(user).or_default() += us;
        }
        self.queue_all_us += other.queue_all_us;
        self
    }
}

/// The episodes of each kind of event by interval, and the interval of the queue.
struct Places<'a> {
    asked: &'a Asked,
    /// By kind: interval to the positions of its episodes.
    of: [FxHashMap<usize, Vec<usize>>; 6],
    /// The interval of the queue, µs.
    queue: Option<[i64; 2]>,
}

impl Places<'_> {
    fn of(&self, what: What, time_us: i64) -> &[usize] {
        let idx = self.asked.place(time_us);
        idx.and_then(|idx| self.of[what as usize].get(&idx)).map_or(&[], Vec::as_slice)
    }
}

/// The events of each of these episodes, in the same order, and the users of the tasks that waited
/// in the interval of a queue. Episodes may share intervals.
///
/// # Errors
/// A table cannot be read, or the callback stops the call.
pub fn who(
    lake: &Lake,
    windows: Windows,
    asked: &Asked,
    (episodes, queue): (&[Episode], Option<usize>),
) -> Result<Found, FactError> {
    let at = &asked.at;
    let queue = queue.map(|idx| [at.start_of(idx), at.end_of(idx)]);
    let mut places = Places { asked, of: Default::default(), queue };
    for (place, one) in episodes.iter().enumerate() {
        for idx in one.first..=one.last {
            places.of[one.what as usize].entry(idx).or_default().push(place);
        }
    }
    let nothing = || Found { episodes: vec![Who::default(); episodes.len()], ..Found::default() };
    let rows = lake.expect_rows(&[Table::JobEvents, Table::TaskEvents]);
    let mut all = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .try_fold(nothing, |mut all, bucket| {
            bucket_of(&Bucket::of(lake, bucket, windows), &places, &mut all)?;
            lake.step(rows)?;
            Ok::<Found, FactError>(all)
        })
        .try_reduce(nothing, |one, other| Ok(one.merge(other)))?;
    let left = MachineEvents::read(lake)?.events;
    let left = left.iter().filter(|event| event.change == MachineChange::Remove);
    for time_us in left.map(|event| event.time_us) {
        for place in places.of(What::Left, time_us) {
            all.episodes[*place].reach(Some([time_us, time_us]));
        }
    }
    Ok(all)
}

fn bucket_of(bucket: &Bucket<'_>, places: &Places<'_>, all: &mut Found) -> Result<(), FactError> {
    let jobs = bucket.jobs_without_names()?;
    for job in &jobs.jobs {
        let Some(submit_us) = job.first_submit_us else { continue };
        for place in places.of(What::Submitted, submit_us) {
            all.episodes[*place].add(&jobs, job.id, submit_us);
        }
    }
    if !bucket.lake.has(Table::TaskEvents) {
        return Ok(());
    }
    let tasks = bucket.tasks(Usage::Skip)?;
    tasks.for_each(|task| {
        let places_of = |event: EventType, time_us| {
            What::of_task(event).map_or(&[][..], |what| places.of(what, time_us))
        };
        let mut is_waiting = false;
        for event in task.events {
            for place in places_of(event.event_type, event.time_us) {
                let who = &mut all.episodes[*place];
                who.add(&jobs, task.job_id, event.time_us);
                who.waiting += u64::from(is_waiting);
            }
            is_waiting = match event.event_type {
                EventType::Submit => true,
                kind => is_waiting && !kind.is_deciding(),
            };
        }
        for attempt in task.attempts {
            let Some(event) = attempt.ended_by.event() else { continue };
            for place in places_of(event, attempt.end_us) {
                let who = &mut all.episodes[*place];
                who.attempts += 1;
                who.quick += u64::from(attempt.length_us() < QUICK_US);
                if let Some(machine_id) = attempt.machine_id {
                    *who.machines.entry(machine_id).or_default() += 1;
                }
            }
        }
        if let Some([from_us, to_us]) = places.queue {
            let mut waited_us = 0;
            waits(bucket.windows, &tasks, task, |[since_us, until_us], _| {
                waited_us += (until_us.min(to_us) - since_us.max(from_us)).max(0);
            });
            all.queue_all_us += waited_us;
            let job = jobs.find(task.job_id).map(|position| &jobs.jobs[position]);
            if let Some(user) = job.and_then(|job| job.user).filter(|_| 0 < waited_us) {
                *all.queue_us.entry(jobs.names.get(user).to_owned()).or_default() += waited_us;
            }
        }
    });
    Ok(())
}
