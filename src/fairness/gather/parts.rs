//! The usage of a bucket.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::interned::Interned;
use super::people::People;
use crate::fairness::history::AttemptEnd;
use crate::units::{CpuRate, CpuTime};

/// Counts of attempts and usage windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counts {
    /// Attempts.
    pub attempts: u64,
    /// Attempts still open at the end of the window.
    pub open_attempts: u64,
    /// Attempts without their own end that are closed with their job and reach into the shown
    /// intervals, regardless of their usage there.
    pub closed_with_job: u64,
    /// Their usage in those intervals, regardless of when it is charged.
    #[serde(with = "in_seconds")]
    pub closed_with_job_cpu: CpuTime,
    /// Attempts counted as 0 by `requested`.
    pub without_request: u64,
    /// Attempts charged by the CPU time that a log records (`measured`).
    pub with_cpu_time: u64,
    /// Attempts without a user (or other group), put under `-`.
    pub without_name: u64,
    /// Users with a submission by the end of the span, but no attempt: none of their tasks ran, or
    /// the parts with their attempts are not loaded.
    pub users_without_attempts: u64,
}

/// Stores CPU time as exact seconds in results.
mod in_seconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::units::CpuTime;

    pub(super) fn serialize<S: Serializer>(cpu: &CpuTime, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { to.serialize_f64(cpu.seconds()) } else { cpu.serialize(to) }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<CpuTime, D::Error> {
        CpuTime::deserialize(source)
    }
}

/// Part of an attempt: from, to (µs), CPU rate, memory rate.
pub(super) type Piece = (i64, i64, CpuRate, CpuRate);

pub(super) type Key = (u32, u32, u32);

/// The sums for a user on a machine in an interval, as in [`Cell`](super::super::history::Cell).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sums {
    pub(super) cpu: CpuTime,
    pub(super) memory: CpuTime,
    pub(super) waiting: CpuTime,
    pub(super) held: CpuTime,
    pub(super) held_memory: CpuTime,
}

/// The result of one bucket, with its own numbers for names and machines.
#[derive(Default, Serialize, Deserialize)]
pub struct Part {
    pub(super) cluster: u32,
    pub(super) people: People,
    pub(super) machines: Interned<(Option<i64>, Option<String>)>,
    pub(super) cells: FxHashMap<Key, Sums>,
    /// By machine and user, CPU time in the shown intervals.
    pub(super) on_machines: FxHashMap<(u32, u32), CpuTime>,
    pub(super) ends: Vec<AttemptEnd>,
    pub(super) counts: Counts,
}
