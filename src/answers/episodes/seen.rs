//! The events that were found in a lake. Tables and charts are made from them.

use std::collections::BTreeMap;

use super::EpisodesPlan;
use crate::results::missing::Missing;
use crate::studies::episodes::{Counts, Days, Episode, Queue, Who};

/// All episodes, days and queues of a lake.
pub(super) struct Seen {
    pub(super) plan: EpisodesPlan,
    pub(super) counts: Counts,
    /// Whether the log records waits.
    pub(super) knows_waits: bool,
    /// All episodes by kind, in order of time.
    pub(super) all: [Vec<Episode>; 6],
    /// The largest episodes of each kind, in order of time, with the users, jobs and reasons in
    /// them.
    pub(super) shown: Vec<(Episode, Who)>,
    /// The days that stand out, by kind.
    pub(super) days: [Days; 6],
    /// The largest days of each kind, in order of time, with the users in them.
    pub(super) shown_days: Vec<(Episode, Who)>,
    /// The longest queue, if it is far longer than usual.
    pub(super) queue: Option<Queue>,
    /// Waiting time by user, in the interval in which the queue was longest, µs.
    pub(super) queue_us: BTreeMap<String, i64>,
    /// Waiting time of all tasks in that interval, µs.
    pub(super) queue_all_us: i64,
    /// The times at which tables are not loaded, and the instant from which on the log is whole.
    pub(super) missing: Missing,
    /// The same times, for the tables of jobs and machines alone.
    pub(super) missing_of_whole: Missing,
}
