//! The cluster over time: capacity, requests, use and queue.
//!
//! In: a lake, a length of intervals, and a key of groups. Out: [`Load`], per interval and group
//! the exact integrals of capacity, requests of running attempts, use and waiting, and counts of
//! events. One pass over the buckets. Sums are exact, so the total of all intervals equals that of
//! [`ledger`](super::ledger), for any interval and any number of threads.
//!
//! ```text
//!  task       SUBMIT ····· SCHEDULE =================== FINISH
//!  pending    |-- request --|
//!  allocated                |-------- request ----------|
//!  used                      |~~~ windows inside ~~~~|
//!  capacity   machines that are up
//! ```

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::facts::machines::UpTime;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{SYSTEM_MACHINE, Table};
use crate::units::{CpuRate, CpuTime};

pub mod arrivals;
mod fold;
pub mod fragmentation;
pub mod groups;
pub mod intervals;
pub mod jobs;
pub mod strips;

pub use fold::{Adding, Asked, Counts, Load, Part, Span, fold};
pub(crate) use groups::ACCOUNT;
pub use groups::{By, Groups};
pub use intervals::Intervals;
pub(in crate::studies) use jobs::whole;

use fold::waits;
use intervals::Amounts;

/// A quantity that is added up over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// CPU requests of running attempts.
    CpuAllocated,
    /// Used CPU.
    CpuUsed,
    /// CPU requests of waiting tasks.
    CpuPending,
    /// Memory requests of running attempts.
    MemoryAllocated,
    /// Used memory.
    MemoryUsed,
    /// Memory requests of waiting tasks.
    MemoryPending,
    /// GPU requests of running attempts.
    GpusAllocated,
    /// GPU requests of waiting tasks.
    GpusPending,
    /// Running tasks.
    Running,
    /// Waiting tasks.
    Pending,
}

/// Number of variants of [`Amount`].
pub(super) const AMOUNTS: usize = 10;

/// An event that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// SUBMIT of a task.
    Submitted,
    /// SCHEDULE of a task.
    Started,
    /// EVICT.
    Evicted,
    /// FAIL.
    Failed,
    /// FINISH.
    Finished,
    /// KILL.
    Killed,
    /// LOST.
    Lost,
}

/// Number of variants of [`Event`].
pub(super) const EVENTS: usize = 7;

/// The sums of one group over all intervals.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    amounts: [Amounts; AMOUNTS],
    events: [Vec<u64>; EVENTS],
}

impl Sums {
    fn new(count: usize) -> Self {
        Self {
            amounts: std::array::from_fn(|_| Amounts::new(count)),
            events: std::array::from_fn(|_| vec![0; count]),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.amounts.iter_mut().zip(&other.amounts).for_each(|(own, others)| own.merge(others));
        for (own, others) in self.events.iter_mut().zip(&other.events) {
            own.iter_mut().zip(others).for_each(|(own, others)| *own += others);
        }
    }
}

/// The sums of one group per interval.
#[derive(Clone, Debug)]
pub struct Cells {
    amounts: [Vec<CpuTime>; AMOUNTS],
    events: [Vec<u64>; EVENTS],
}

impl Cells {
    fn of(sums: &Sums, at: &Intervals) -> Self {
        Self {
            amounts: std::array::from_fn(|idx| sums.amounts[idx].integrals(at)),
            events: sums.events.clone(),
        }
    }

    /// The integral over each interval.
    pub fn amounts(&self, amount: Amount) -> &[CpuTime] {
        &self.amounts[amount as usize]
    }

    /// The integral over all intervals.
    pub fn total(&self, amount: Amount) -> CpuTime {
        self.amounts(amount).iter().copied().sum()
    }

    /// Events by interval.
    pub fn events(&self, event: Event) -> &[u64] {
        &self.events[event as usize]
    }

    /// Whether all sums and counts are zero.
    pub fn is_empty(&self) -> bool {
        let nothing = |sums: &Vec<CpuTime>| sums.iter().all(|&sum| sum == CpuTime::ZERO);
        self.amounts.iter().all(nothing)
            && self.events.iter().all(|counts| counts.iter().all(|&count| count == 0))
    }

    /// The sum of several.
    pub fn sum(all: &[Self]) -> Self {
        let mut sum = all[0].clone();
        for other in &all[1..] {
            for (own, others) in sum.amounts.iter_mut().zip(&other.amounts) {
                own.iter_mut().zip(others).for_each(|(own, &others)| *own += others);
            }
            for (own, others) in sum.events.iter_mut().zip(&other.events) {
                own.iter_mut().zip(others).for_each(|(own, others)| *own += others);
            }
        }
        sum
    }
}

/// Capacity of the machines per interval; `None` if no row has it.
#[derive(Clone, Debug, Default)]
pub struct Capacity {
    /// CPU.
    pub cpu: Option<Vec<CpuTime>>,
    /// Memory.
    pub memory: Option<Vec<CpuTime>>,
    /// GPUs.
    pub gpus: Option<Vec<CpuTime>>,
    /// Number of machines.
    pub machines: Option<Vec<CpuTime>>,
}

impl Capacity {
    fn of(up: &[UpTime], at: &Intervals) -> Self {
        if up.is_empty() {
            return Self::default();
        }
        // In a log that names its machines the whole system has an entry of its own, which alone
        // has a capacity: it is no machine beside them.
        let is_named = |time: &&UpTime| time.machine_id != SYSTEM_MACHINE;
        let names = || up.iter().filter(is_named);
        let is_log = names().next().is_some() && names().all(|time| time.cpu.is_none());
        let over = |rate: &dyn Fn(usize) -> Option<CpuRate>| {
            let mut amounts = Amounts::new(at.count());
            let mut is_known = false;
            for (idx, time) in up.iter().enumerate() {
                let Some(rate) = rate(idx) else { continue };
                is_known = true;
                amounts.add(at, [time.from_us, time.to_us], rate);
            }
            is_known.then(|| amounts.integrals(at))
        };
        Self {
            cpu: over(&|idx| up[idx].cpu.map(CpuRate::new)),
            memory: over(&|idx| up[idx].memory.map(CpuRate::new)),
            #[expect(clippy::cast_precision_loss, reason = "no machine has 2^24 GPUs")]
            gpus: over(&|idx| up[idx].gpus.map(|gpus| CpuRate::new(gpus as f32))),
            machines: over(&|idx| (!is_log || is_named(&&up[idx])).then_some(CpuRate::ONE)),
        }
    }
}

/// The span of a lake: from the first event of a task to the end of the window.
pub fn span_of(lake: &Lake, windows: Windows) -> [i64; 2] {
    let parts = lake.manifest.table(Table::TaskEvents).map(|entry| entry.parts.iter());
    let first = parts.into_iter().flatten().filter_map(|part| part.min_time_us).min();
    let start_us = first.unwrap_or(0);
    [start_us, windows.task_end_us.max(start_us)]
}

/// Entries sorted by key, so that the order of a hash map never reaches a result.
fn sorted<V>(map: FxHashMap<String, V>) -> Vec<(String, V)> {
    map.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect()
}
