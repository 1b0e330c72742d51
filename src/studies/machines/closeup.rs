//! Single machines in detail: those that left most often.
//!
//! In: the events of machines, the attempts of a lake, and the chosen machines. Out: for each
//! machine its capacities, and the attempts on it: their requests by interval, how they ended, the
//! longest ones, and the jobs that ran there longest. Sums are exact.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{Fleet, Outage};
use crate::facts::FactError;
use crate::facts::machines::{MachineEvents, UpTime};
use crate::facts::tasks::{Attempt, EndedBy, TaskView, Tasks, Usage};
use crate::facts::window::{Windows, first_event_us};
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::load::intervals::{Amounts, Intervals};
use crate::units::{CpuRate, CpuTime};

/// The most attempts, and the most jobs, that are listed per machine: the longest ones.
const ATTEMPTS_MAX: usize = 30;
const JOBS_MAX: usize = 10;

/// The number of intervals for the load of a machine.
const INTERVALS: i64 = 50;

/// A machine, its total time away, µs, and its outages.
pub type Left<'a> = (i64, i64, Vec<&'a Outage>);

/// The machines that left most often, at most `count`. If two left equally often, the one that was
/// away longer comes first.
pub fn left_most_often(fleet: &Fleet, count: usize) -> Vec<Left<'_>> {
    let mut by_machine: BTreeMap<i64, (i64, Vec<&Outage>)> = BTreeMap::new();
    for outage in &fleet.outages {
        let own = by_machine.entry(outage.machine_id).or_default();
        own.0 += outage.until(fleet.end_us) - outage.from_us;
        own.1.push(outage);
    }
    let mut all: Vec<Left<'_>> =
        by_machine.into_iter().map(|(id, (away_us, outages))| (id, away_us, outages)).collect();
    all.sort_by_key(|(id, away_us, outages)| (Reverse(outages.len()), Reverse(*away_us), *id));
    all.truncate(count);
    all
}

/// An attempt that ran on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The job.
    pub job_id: i64,
    /// The task of the job.
    pub task_index: i32,
    /// Start, µs.
    pub start_us: i64,
    /// End, µs.
    pub end_us: i64,
    /// What ended it.
    pub ended_by: EndedBy,
}

/// The attempts of a job on a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worked {
    /// Number of attempts.
    pub attempts: u64,
    /// Their total running time, µs.
    pub length_us: i64,
}

/// A machine in detail.
#[derive(Clone, Debug)]
pub struct Closeup {
    /// Its id.
    pub machine_id: i64,
    /// The times in service, each with one capacity.
    pub up: Vec<UpTime>,
    /// CPU × time per interval.
    pub capacity: Vec<CpuTime>,
    /// CPU × time that running attempts requested, per interval.
    pub requested: Vec<CpuTime>,
    /// The total of these requests while the CPU of the machine was known.
    pub requested_of_known: CpuTime,
    /// Attempts by how they ended.
    pub ends: BTreeMap<&'static str, u64>,
    /// The longest attempts, ordered by start.
    pub attempts: Vec<Ran>,
    /// Number of jobs that ran on it.
    pub job_count: usize,
    /// The jobs that ran longest on it.
    pub jobs: Vec<(i64, Worked)>,
}

impl Closeup {
    /// Number of attempts that ran on it.
    pub fn attempt_count(&self) -> u64 {
        self.ends.values().sum()
    }
}

/// Sums of a machine.
struct Sums {
    requested: Amounts,
    requested_of_known: CpuTime,
    ends: BTreeMap<&'static str, u64>,
    attempts: Vec<Ran>,
    jobs: BTreeMap<i64, Worked>,
}

type SumsOf = FxHashMap<i64, Sums>;

impl Sums {
    fn new(count: usize) -> Self {
        let (requested_of_known, ends, attempts, jobs) = Default::default();
        Self { requested: Amounts::new(count), requested_of_known, ends, attempts, jobs }
    }

    fn request(&mut self, at: &Intervals, known_us: i64, [from, to]: [i64; 2], rate: CpuRate) {
        self.requested.add(at, [from, to], rate);
        let from = from.max(at.start_us).max(known_us);
        self.requested_of_known += rate.over(to.min(at.end_us).saturating_sub(from));
    }

    fn add(&mut self, at: &Intervals, known_us: i64, task: &TaskView<'_>, attempt: &Attempt) {
        let (start_us, end_us) = (attempt.start_us, attempt.end_us);
        self.request(at, known_us, [start_us, end_us], attempt.requested_rate());
        *self.ends.entry(attempt.ended_by.name()).or_default() += 1;
        let job = self.jobs.entry(task.job_id).or_default();
        job.attempts += 1;
        job.length_us += attempt.length_us();
        let (job_id, task_index, ended_by) = (task.job_id, task.task_index, attempt.ended_by);
        self.attempts.push(Ran { job_id, task_index, start_us, end_us, ended_by });
        if 2 * ATTEMPTS_MAX <= self.attempts.len() {
            self.shorten();
        }
    }

    /// Keeps only the longest attempts.
    fn shorten(&mut self) {
        let key = |own: &Ran| (own.start_us - own.end_us, own.start_us, own.job_id, own.task_index);
        self.attempts.sort_unstable_by_key(key);
        self.attempts.truncate(ATTEMPTS_MAX);
    }

    fn merge(&mut self, other: Self) {
        self.requested.merge(&other.requested);
        self.requested_of_known += other.requested_of_known;
        for (end, count) in other.ends {
            *self.ends.entry(end).or_default() += count;
        }
        self.attempts.extend(other.attempts);
        self.shorten();
        // The tasks of a job are in one bucket.
        self.jobs.extend(other.jobs);
    }
}

/// Intervals that cover the history of tasks.
pub fn intervals(lake: &Lake, windows: Windows) -> Intervals {
    let start_us = first_event_us(lake).min(windows.task_end_us);
    let whole = windows.task_end_us - start_us;
    Intervals::new([start_us, windows.task_end_us], (whole / INTERVALS).max(1))
}

/// Describes machines in the given order; none without `task_events`.
///
/// # Errors
/// A table cannot be read, or the callback stops the call.
pub fn closeups(
    lake: &Lake,
    windows: Windows,
    events: &MachineEvents,
    named: &[i64],
) -> Result<Vec<Closeup>, FactError> {
    if !lake.has(Table::TaskEvents) || named.is_empty() {
        return Ok(Vec::new());
    }
    let at = intervals(lake, windows);
    let up_times = events.up_times(at.end_us.max(super::end_of(events, windows)));
    let mut up_of: FxHashMap<i64, Vec<UpTime>> = named.iter().map(|&id| (id, vec![])).collect();
    for up in up_times {
        up_of.entry(up.machine_id).and_modify(|own| own.push(up));
    }
    let known: FxHashMap<i64, i64> = named.iter().map(|id| (*id, known_from(&up_of[id]))).collect();
    let of_bucket = |bucket: u32| -> Result<SumsOf, FactError> {
        let mut all = SumsOf::default();
        Tasks::read(lake, bucket, windows, Usage::Skip)?.for_each(|task| {
            for attempt in task.attempts {
                let Some(id) = attempt.machine_id else { continue };
                let Some(&known_us) = known.get(&id) else { continue };
                let own = all.entry(id).or_insert_with(|| Sums::new(at.count()));
                own.add(&at, known_us, task, attempt);
            }
        });
        Ok(all)
    };
    let merge = |mut one: SumsOf, other: SumsOf| {
        // Each machine has separate sums, so the order of iteration does not change results.
        #[expect(clippy::iter_over_hash_type, reason = "each machine has its own sums")]
        for (id, sums) in other {
            match one.get_mut(&id) {
                Some(own) => own.merge(sums),
                None => _ = one.insert(id, sums),
            }
        }
        Ok(one)
    };
    let mut sums = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(of_bucket)
        .try_reduce(SumsOf::default, merge)?;
    let of = |&id: &i64| {
        let sums = sums.remove(&id).unwrap_or_else(|| Sums::new(at.count()));
        closed(id, up_of.remove(&id).unwrap_or_default(), sums, &at)
    };
    Ok(named.iter().map(of).collect())
}

/// When the CPU of a machine becomes known, µs. From then on its last recorded value counts.
fn known_from(up: &[UpTime]) -> i64 {
    up.iter().find(|own| own.cpu.is_some()).map_or(i64::MAX, |own| own.from_us)
}

fn closed(machine_id: i64, up: Vec<UpTime>, mut sums: Sums, at: &Intervals) -> Closeup {
    let mut capacity = Amounts::new(at.count());
    for own in &up {
        capacity.add(at, [own.from_us, own.to_us], own.cpu.map_or(CpuRate::ZERO, CpuRate::new));
    }
    sums.shorten();
    sums.attempts.sort_unstable_by_key(|own| (own.start_us, own.job_id, own.task_index));
    let mut jobs: Vec<(i64, Worked)> = sums.jobs.into_iter().collect();
    let job_count = jobs.len();
    jobs.sort_by_key(|(id, own)| (Reverse(own.length_us), *id));
    jobs.truncate(JOBS_MAX);
    Closeup {
        machine_id,
        up,
        capacity: capacity.integrals(at),
        requested: sums.requested.integrals(at),
        requested_of_known: sums.requested_of_known,
        ends: sums.ends,
        attempts: sums.attempts,
        job_count,
        jobs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_count_once_the_cpu_of_the_machine_is_known() {
        //  CPU       unknown   |---- 1 ----|
        //  requests      |--- 0.5 ---|            of an attempt from 50 to 150 µs
        let at = Intervals::new([0, 200], 40);
        let up = |from_us, to_us, cpu| UpTime {
            machine_id: 7,
            from_us,
            to_us,
            cpu,
            memory: None,
            gpus: None,
        };
        let up = vec![up(0, 100, None), up(100, 200, Some(1.0))];
        let mut sums = Sums::new(at.count());
        sums.request(&at, known_from(&up), [50, 150], CpuRate::new(0.5));
        let own = closed(7, up.clone(), sums, &at);
        assert_eq!(own.requested.iter().copied().sum::<CpuTime>(), CpuTime::of_slot(50));
        assert_eq!(own.requested_of_known, CpuTime::of_slot(25));
        assert_eq!(own.capacity.into_iter().sum::<CpuTime>(), CpuTime::of_slot(100));
        // If the CPU is never known, no request counts.
        let mut sums = Sums::new(at.count());
        sums.request(&at, known_from(&up[..1]), [50, 150], CpuRate::new(0.5));
        assert_eq!(sums.requested_of_known, CpuTime::ZERO);
    }
}
