//! Who and what was in an episode.

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
use crate::schema::Table;

/// The events of an episode by job, user, machine and reason. Events without one are in none.
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
    /// Events by the reason for which the job ended, in logs that record it.
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
    }

    /// Extends the span of the events by another one.
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

/// The episode of each kind that holds an interval.
struct Places<'a> {
    asked: &'a Asked,
    /// By kind: interval to the position of its episode.
    of: [FxHashMap<usize, usize>; 6],
}

impl Places<'_> {
    fn of(&self, what: What, time_us: i64) -> Option<usize> {
        self.of[what as usize].get(&self.asked.place(time_us)?).copied()
    }
}

/// Who and what was in each of these episodes of different times or kinds, in their order.
///
/// # Errors
/// A table cannot be read, or the callback stops the call.
pub fn who(
    lake: &Lake,
    windows: Windows,
    asked: &Asked,
    episodes: &[Episode],
) -> Result<Vec<Who>, FactError> {
    let mut places = Places { asked, of: Default::default() };
    for (place, one) in episodes.iter().enumerate() {
        places.of[one.what as usize].extend((one.first..=one.last).map(|idx| (idx, place)));
    }
    let nothing = || vec![Who::default(); episodes.len()];
    let rows = lake.expect_rows(&[Table::JobEvents, Table::TaskEvents]);
    let mut all = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .try_fold(nothing, |mut all, bucket| {
            bucket_of(&Bucket::of(lake, bucket, windows), &places, &mut all)?;
            lake.step(rows)?;
            Ok::<Vec<Who>, FactError>(all)
        })
        .try_reduce(nothing, |mut one, other| {
            one.iter_mut().zip(other).for_each(|(own, other)| own.merge(other));
            Ok(one)
        })?;
    let left = MachineEvents::read(lake)?.events;
    let left = left.iter().filter(|event| event.change == MachineChange::Remove);
    for time_us in left.map(|event| event.time_us) {
        if let Some(place) = places.of(What::Left, time_us) {
            all[place].reach(Some([time_us, time_us]));
        }
    }
    Ok(all)
}

fn bucket_of(bucket: &Bucket<'_>, places: &Places<'_>, all: &mut [Who]) -> Result<(), FactError> {
    let jobs = bucket.jobs_without_names()?;
    for job in &jobs.jobs {
        let Some(submit_us) = job.first_submit_us else { continue };
        if let Some(place) = places.of(What::Submitted, submit_us) {
            all[place].add(&jobs, job.id, submit_us);
        }
    }
    if !bucket.lake.has(Table::TaskEvents) {
        return Ok(());
    }
    bucket.tasks(Usage::Skip)?.for_each(|task| {
        let place_of = |event, time_us| places.of(What::of_task(event)?, time_us);
        for event in task.events {
            if let Some(place) = place_of(event.event_type, event.time_us) {
                all[place].add(&jobs, task.job_id, event.time_us);
            }
        }
        for attempt in task.attempts {
            let ended = attempt.ended_by.event().zip(attempt.machine_id);
            let Some((event, machine_id)) = ended else { continue };
            if let Some(place) = place_of(event, attempt.end_us) {
                *all[place].machines.entry(machine_id).or_default() += 1;
            }
        }
    });
    Ok(())
}
