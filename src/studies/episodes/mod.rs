//! Episodes: when far more events than usual happened, who or what was involved, and the state of
//! the cluster at that time.
//!
//! In: a lake, the length of intervals, and a multiple of the mean above which an interval stands
//! out. Out: counts per interval ([`Counts`]), the runs of intervals that stand out ([`Episode`]),
//! and the jobs, users, machines and reasons of each run ([`Who`]). `Counts` and `Who` each need
//! one pass over the buckets.
//!
//! ```text
//!  tasks that failed   1  0  2  1 | 40 22 | 0  1  1  0  0  2  1  0   mean 5, five times that 25
//!                                 |  40   | only 40 is more than 25: an episode of one interval
//! ```
//!
//! - The mean of a kind of event is its count divided by the time for which it is known, times the
//!   length of an interval. A partly known interval is compared with the mean of a whole interval.
//! - Surges of a whole day are compared with the median day ([`Days`]). The interval with most
//!   waiting tasks is compared with the mean of all intervals ([`Queue`]).
//! - Fewer than one interval in `times` can have more than `times` times the mean.

mod counts;
mod days;
mod queue;
mod rule;
mod who;

pub use counts::{Asked, Counts, Part, count};
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

    /// The kind of an event of a task, if it is counted.
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
