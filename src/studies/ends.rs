//! The same amounts as in a ledger, by how each attempt ended instead of by the outcome of its job.
//!
//! In: attempts and the amount of each. Out: sums per kind of end; together they are the amount of
//! all attempts. If a task finished and its job was killed later, the work was done. If a task was
//! evicted and its job finished, work was lost. The outcomes of jobs show neither case.

use serde::{Deserialize, Serialize};

use super::meter::{Meter, Resource};
use crate::facts::tasks::EndedBy;
use crate::schema::EventType;
use crate::units::CpuTime;

/// The ways in which an attempt ends, in the words of `query q17`.
const ENDS: [&str; 8] =
    ["finished", "failed", "killed", "evicted", "lost", "rescheduled", "with job", "open"];

/// Amounts of attempts, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EndSums([EndSum; ENDS.len()]);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct EndSum {
    attempts: u64,
    cpu: CpuTime,
}

/// The amount of the attempts that ended in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EndRow {
    /// How the attempts ended: `finished`, `failed`, `killed`, `evicted` or `lost`; `rescheduled`
    /// if another SCHEDULE of the task ended them; `with job` if they were closed at the end of
    /// their job; `open` if they still ran at the end of the window.
    pub end: String,
    /// Attempts.
    pub attempts: u64,
    /// The amount, in the ledger's unit.
    pub amount: f64,
    /// Share of the ledger's total.
    pub share: Option<f64>,
}

impl EndSums {
    /// Whether the amounts of a meter are added up by how attempts ended.
    pub(super) fn has(meter: Meter) -> bool {
        meter.resource() != Resource::Memory && meter != Meter::PUBLISHED
    }

    /// Adds an attempt by the name of its end; names that are not in [`ENDS`] are ignored.
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

    /// A row for each kind of end that occurred.
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

/// The position of an end in [`ENDS`].
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
