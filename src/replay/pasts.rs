//! The recorded users and outcomes of the jobs of a replay, for rules that use the past of users.
//!
//! In: users, names and outcomes. Out: the same by job; no times, which are those of the replay.

/// A user and a logical name.
pub type Pair = (u32, u32);

/// What the record says of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobPast {
    /// Whose it is, and what is run; `None` where the record does not have the job.
    pub pair: Option<Pair>,
    /// Whether it ended without finishing; `None` where it had not ended.
    pub is_lost: Option<bool>,
}

/// What the record says of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobPasts {
    /// Of those that are replayed, by number; empty where no rule asks.
    pub jobs: Vec<JobPast>,
    /// Of those that had ended before the first arrival, in order: whose, and whether it was lost.
    pub before: Vec<(Pair, bool)>,
}
