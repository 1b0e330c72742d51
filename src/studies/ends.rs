//! The same amounts as in a ledger, by how each attempt ended instead of by what became of its job.
//!
//! In: attempts and what each spent. Out: sums per end, which together are what all attempts spent. A
//! task that finished in a job that was killed later is work done, and a task that was evicted from a
//! job that finished is work lost: the outcomes of jobs show neither.

use serde::{Deserialize, Serialize};

use super::meter::{Meter, Resource};
use crate::facts::tasks::EndedBy;
use crate::schema::EventType;
use crate::units::CpuTime;

/// How an attempt ends, in the words of `query q17`.
const ENDS: [&str; 8] =
    ["finished", "failed", "killed", "evicted", "lost", "rescheduled", "with job", "open"];

/// What attempts spent, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EndSums([EndSum; ENDS.len()]);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct EndSum {
    attempts: u64,
    cpu: CpuTime,
}

/// What the attempts spent that ended in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EndRow {
    /// How they ended: `finished`, `failed`, `killed`, `evicted` or `lost`; `rescheduled` by the next
    /// SCHEDULE of their task; `with job`, closed at the end of their job; `open` at the end of the
    /// window.
    pub end: String,
    /// Attempts.
    pub attempts: u64,
    /// The amount, in the ledger's unit.
    pub amount: f64,
    /// Share of the ledger's total.
    pub share: Option<f64>,
}

impl EndSums {
    /// Whether a quantity is added up by how attempts ended.
    pub(super) fn has(meter: Meter) -> bool {
        meter.resource() != Resource::Memory && meter != Meter::PUBLISHED
    }

    /// Adds an attempt whose end has a name.
    pub(super) fn add_named(&mut self, end: &str, cpu: CpuTime) {
        if let Some(place) = ENDS.iter().position(|known| *known == end) {
            self.add_to(place, cpu);
        }
    }

    fn add_to(&mut self, place: usize, cpu: CpuTime) {
        self.0[place].attempts += 1;
        self.0[place].cpu += cpu;
    }

    /// Adds an attempt.
    pub(super) fn add(&mut self, ended_by: EndedBy, cpu: CpuTime) {
        self.add_to(place_of(ended_by), cpu);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            own.attempts += other.attempts;
            own.cpu += other.cpu;
        }
    }

    /// A row for each end of any attempt.
    pub(super) fn rows(&self, total: CpuTime) -> Vec<EndRow> {
        let all = ENDS.iter().zip(&self.0).filter(|(_, sum)| 0 < sum.attempts);
        let row = |(end, sum): (&&str, &EndSum)| EndRow {
            end: (*end).to_owned(),
            attempts: sum.attempts,
            amount: sum.cpu.seconds(),
            share: sum.cpu.share_of(total),
        };
        all.map(row).collect()
    }
}

/// The place of an end in [`ENDS`]. Only these events end an attempt.
fn place_of(ended_by: EndedBy) -> usize {
    match ended_by {
        EndedBy::Event(EventType::Finish) => 0,
        EndedBy::Event(EventType::Fail) => 1,
        EndedBy::Event(EventType::Kill) => 2,
        EndedBy::Event(EventType::Evict) => 3,
        EndedBy::Event(EventType::Lost) => 4,
        EndedBy::Event(_) => 5,
        EndedBy::Job => 6,
        EndedBy::Nothing => 7,
    }
}
