//! The attempts on a machine when it left, and their outcomes.
//!
//! In: outages, and the attempts of a lake. Out: per kind of end, the attempts that ran on a
//! machine when it left, the CPU time requested until then, and the next attempts of their tasks.
//!
//! ```text
//!  machine   =================== REMOVE
//!  attempt   SCHEDULE ========== | == EVICT         ended within a minute: with the machine
//!  attempt   SCHEDULE ========== | ============= FINISH   ended later: it continued in the trace
//! ```

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Outage;
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::tasks::{Attempt, EndedBy, TaskView};
use crate::facts::window::{Windows, first_event_us, gaps_us};
use crate::lake::Lake;
use crate::schema::{EventType, Table};
use crate::units::{CpuTime, MICROS_PER_SECOND};

/// An attempt counts as ended with its machine if it ends at most this long before or after the
/// machine leaves, µs.
pub const WITH_US: i64 = 60 * MICROS_PER_SECOND;

/// Kinds of ends, in the order of the table.
pub const ENDS: [&str; 7] = ["evicted", "failed", "finished", "killed", "lost", "later", "unknown"];

/// The attempts with one kind of end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Attempts.
    pub attempts: u64,
    /// Request × time until the machine left.
    pub cpu: CpuTime,
    /// Attempts of tasks that were started again.
    pub restarted: u64,
    /// Restarted tasks with a next attempt on another machine.
    pub elsewhere: u64,
    /// Those of them with a next attempt that failed as well.
    pub failed_elsewhere: u64,
}

impl Ran {
    fn merge(&mut self, other: Self) {
        self.attempts += other.attempts;
        self.cpu += other.cpu;
        self.restarted += other.restarted;
        self.elsewhere += other.elsewhere;
        self.failed_elsewhere += other.failed_elsewhere;
    }
}

/// What ran when machines left, by kind of end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// By position in [`ENDS`].
    pub ends: Sums,
    /// Outages that begin in the time for which task events are loaded. `ends` may also have
    /// attempts of other outages, if these attempts continued into a time that is not loaded.
    pub outages: u64,
}

/// The sums of some buckets, by position in [`ENDS`].
pub type Sums = [Ran; ENDS.len()];

/// The times at which each machine left. Nothing else is needed to add up buckets.
pub struct Leaving {
    /// By machine: the times at which it left, ascending, µs.
    by_machine: FxHashMap<i64, Vec<i64>>,
}

impl Leaving {
    /// The outages that begin before a time, µs.
    pub fn of(outages: &[Outage], end_us: i64) -> Self {
        let mut by_machine: FxHashMap<i64, Vec<i64>> = FxHashMap::default();
        // Times ascend, because outages are ordered by start.
        for outage in outages.iter().filter(|outage| outage.from_us < end_us) {
            by_machine.entry(outage.machine_id).or_default().push(outage.from_us);
        }
        Self { by_machine }
    }

    /// The attempts that ran on machines that left, from the tasks of a bucket.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn bucket(&self, bucket: &Bucket<'_>) -> Result<Sums, FactError> {
        let mut sums = Sums::default();
        bucket.tasks_alone()?.for_each(|task| add(&mut sums, task, &self.by_machine));
        Ok(sums)
    }
}

/// Adds the sums of more buckets.
pub fn merge(mut own: Sums, others: Sums) -> Sums {
    own.iter_mut().zip(others).for_each(|(own, others)| own.merge(others));
    own
}

/// Reads every attempt of a lake; `None` without `task_events`. `known` has the sums of all buckets
/// if they were added up before.
///
/// # Errors
/// A table cannot be read, or the callback stops the call.
pub fn running(
    lake: &Lake,
    windows: Windows,
    outages: &[Outage],
    known: Option<Sums>,
) -> Result<Option<Running>, FactError> {
    if !lake.has(Table::TaskEvents) {
        return Ok(None);
    }
    let end_us = windows.task_end_us;
    let sums = known.map_or_else(|| all(lake, windows, &Leaving::of(outages, end_us)), Ok)?;
    let (begin_us, gaps) = (first_event_us(lake), gaps_us(lake, Table::TaskEvents));
    let is_loaded = |at_us: i64| {
        let is_in_gap = gaps.iter().any(|[from, to]| *from < at_us && at_us < *to);
        begin_us <= at_us && at_us < end_us && !is_in_gap
    };
    let within = outages.iter().filter(|outage| is_loaded(outage.from_us)).count() as u64;
    Ok(Some(Running { ends: sums, outages: within }))
}

/// The sums of all buckets of a lake.
fn all(lake: &Lake, windows: Windows, leaving: &Leaving) -> Result<Sums, FactError> {
    let rows = lake.expect_rows(&[Table::TaskEvents]);
    (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(|bucket| {
            let sums = leaving.bucket(&Bucket::of(lake, bucket, windows))?;
            lake.step(rows)?;
            Ok(sums)
        })
        .try_reduce_with(|own, others| Ok(merge(own, others)))
        .unwrap_or_else(|| Ok(Sums::default()))
}

fn add(sums: &mut [Ran], task: &TaskView<'_>, by_machine: &FxHashMap<i64, Vec<i64>>) {
    for (idx, attempt) in task.attempts.iter().enumerate() {
        let Some(leaves) = attempt.machine_id.and_then(|id| by_machine.get(&id)) else { continue };
        // The first time at which the machine left after the attempt began.
        let after = leaves.partition_point(|&at_us| at_us <= attempt.start_us);
        let Some(&left_us) = leaves.get(after) else { continue };
        if attempt.end_us < left_us - WITH_US {
            continue;
        }
        let sum = &mut sums[end_of(attempt, left_us)];
        sum.attempts += 1;
        let until_us = left_us.min(attempt.end_us);
        sum.cpu += attempt.requested_rate().over(until_us - attempt.start_us);
        if let Some(next) = task.attempts.get(idx + 1) {
            sum.restarted += 1;
            let is_elsewhere = next.machine_id != attempt.machine_id;
            let has_failed = next.ended_by.event() == Some(EventType::Fail);
            sum.elsewhere += u64::from(is_elsewhere);
            sum.failed_elsewhere += u64::from(is_elsewhere && has_failed);
        }
    }
}

/// The kind of end, as a position in [`ENDS`].
fn end_of(attempt: &Attempt, left_us: i64) -> usize {
    if left_us.saturating_add(WITH_US) < attempt.end_us {
        return 5;
    }
    match attempt.ended_by {
        EndedBy::Event(EventType::Evict) => 0,
        EndedBy::Event(EventType::Fail) => 1,
        EndedBy::Event(EventType::Finish) => 2,
        EndedBy::Event(EventType::Kill) => 3,
        EndedBy::Event(EventType::Lost) => 4,
        _ => 6,
    }
}
