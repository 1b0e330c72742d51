//! The recorded users and outcomes of the jobs of a replay, for rules that use the past of users.
//!
//! In: users, names and outcomes. Out: the same data by job, without times, because rules use the
//! replayed times.

/// A user and a logical name.
pub type Pair = (u32, u32);

/// The recorded data of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobPast {
    /// Its user and logical name; `None` if the job is not recorded.
    pub pair: Option<Pair>,
    /// Whether it ended without finishing; `None` if it had not ended.
    pub is_lost: Option<bool>,
}

/// The recorded data of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobPasts {
    /// The replayed jobs, by number; empty if no rule uses them.
    pub jobs: Vec<JobPast>,
    /// The jobs that ended before the first arrival, in order: user and name, and whether each was
    /// lost.
    pub before: Vec<(Pair, bool)>,
}
