//! What becomes known about jobs: submissions and ends.

use crate::schema::EventType;

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// FINISH.
    Finished,
    /// FAIL.
    Failed,
    /// KILL.
    Killed,
}

impl End {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Finished, Self::Failed, Self::Killed];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }

    pub(super) const fn of(event: EventType) -> Option<Self> {
        match event {
            EventType::Finish => Some(Self::Finished),
            EventType::Fail => Some(Self::Failed),
            EventType::Kill => Some(Self::Killed),
            _ => None,
        }
    }
}

/// The user, logical name and scheduling class of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Who {
    /// The user.
    pub user: u32,
    /// The logical name.
    pub name: u32,
    /// The scheduling class.
    pub class: Option<i32>,
}

/// A submission or an end, when it becomes known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happens {
    /// A job is predicted: it is submitted for the first time, or reaches the age of the
    /// prediction.
    Submits {
        /// The job.
        job_id: i64,
        /// How it finally ends, if it is counted.
        truth: Option<End>,
    },
    /// A job ends, as far as is known at that time.
    Ends {
        /// The job.
        job_id: i64,
        /// How it ends.
        end: End,
    },
}

/// A submission or an end of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// When, µs.
    pub at_us: i64,
    /// The row that records it.
    pub row_id: i64,
    /// The user, logical name and scheduling class.
    pub who: Who,
    /// Time since the first submission of the job, µs.
    pub age_us: i64,
    /// The event.
    pub what: Happens,
}
