//! What was seen in a lake, from which the tables and the charts are made.

use super::EpisodesPlan;
use crate::results::missing::Missing;
use crate::studies::episodes::{Counts, Episode, Who};

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
    /// When tables are not loaded, and from when on the log is whole.
    pub(super) missing: Missing,
    /// The same for jobs and machines alone.
    pub(super) missing_of_whole: Missing,
}
