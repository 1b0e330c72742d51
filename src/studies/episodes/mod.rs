//! Episodes: when far more than usual happened, who or what it was, and what the cluster did then.
//!
//! In: a lake, the length of intervals, and how many times the mean counts as far more. Out: counts
//! per interval ([`Counts`]), the runs of intervals that stand out ([`Episode`]), and the jobs, users,
//! machines and reasons of each ([`Who`]). A pass over the buckets for each of both.
//!
//! ```text
//!  tasks that failed   1  0  2  1 | 40 22 | 0  1  1  0  0  2  1  0   mean 5, five times that 25
//!                                 |  40   | alone is more than 25: an episode of one interval
//! ```
//!
//! - The mean of a kind of event is its count over the time for which it is known, times the length of
//!   an interval. An interval that is known in part is compared with the mean of a whole one.
//! - Surges of a whole day are compared with the median day ([`Days`]), and the interval with most
//!   waiting tasks with the mean of all ([`Queue`]).
//! - Fewer than one interval in `times` can hold more than `times` times the mean.

mod counts;
mod days;
mod queue;
mod rule;
mod who;

pub use counts::{Asked, Counts, count};
pub use days::{DAY_SPREADS, DAY_TIMES, DAYS_MIN, Days};
pub use queue::Queue;
pub use rule::{Episode, Rule};
pub use who::{Found, QUICK_US, Who, who};

use crate::schema::{EventType, Table};

/// A kind of event that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The first SUBMIT of a job.
    Submitted,
    /// FAIL of a task.
    Failed,
    /// KILL of a task.
    Killed,
    /// EVICT of a task.
    Evicted,
    /// LOST of a task.
    Lost,
    /// REMOVE of a machine.
    Left,
}

impl What {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Submitted, Self::Failed, Self::Killed, Self::Evicted, Self::Lost, Self::Left];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submitted => "jobs submitted",
            Self::Failed => "tasks failed",
            Self::Killed => "tasks killed",
            Self::Evicted => "tasks evicted",
            Self::Lost => "tasks lost",
            Self::Left => "machines left",
        }
    }

    /// The table that records it.
    pub const fn table(self) -> Table {
        match self {
            Self::Submitted => Table::JobEvents,
            Self::Left => Table::MachineEvents,
            _ => Table::TaskEvents,
        }
    }

    /// The kind that an event of a task counts as, if any.
    const fn of_task(event: EventType) -> Option<Self> {
        match event {
            EventType::Fail => Some(Self::Failed),
            EventType::Kill => Some(Self::Killed),
            EventType::Evict => Some(Self::Evicted),
            EventType::Lost => Some(Self::Lost),
            _ => None,
        }
    }
}
