//! What was seen in a lake, from which the tables and the charts are made.

use std::collections::BTreeMap;

use super::EpisodesPlan;
use crate::results::missing::Missing;
use crate::studies::episodes::{Counts, Days, Episode, Queue, Who};

/// What happened when in a lake.
pub(super) struct Seen {
    pub(super) plan: EpisodesPlan,
    pub(super) counts: Counts,
    /// Whether the log records waits.
    pub(super) knows_waits: bool,
    /// By kind: all episodes, in their order.
    pub(super) all: [Vec<Episode>; 6],
    /// The largest of each kind, in the order of their time, with who and what was in them.
    pub(super) shown: Vec<(Episode, Who)>,
    /// By kind: the days that stand out.
    pub(super) days: [Days; 6],
    /// The largest days of each kind, in the order of their time, with who was in them.
    pub(super) shown_days: Vec<(Episode, Who)>,
    /// The longest queue, if it is far longer than usual.
    pub(super) queue: Option<Queue>,
    /// Waiting time in it by user, µs.
    pub(super) queue_us: BTreeMap<String, i64>,
    /// The same of all tasks, µs.
    pub(super) queue_all_us: i64,
    /// When tables are not loaded, and from when on the log is whole.
    pub(super) missing: Missing,
    /// The same for jobs and machines alone.
    pub(super) missing_of_whole: Missing,
}
