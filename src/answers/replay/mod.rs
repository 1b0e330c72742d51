//! The answer of `replay`: policies side by side on one history.
//!
//! In: runs of policies. Out: a table with a row per policy, charts and journals.

use crate::answers::replay::absent::Absent;
use crate::answers::sentences::Capacity;
use crate::charts::Tone;
use crate::digits;
use crate::replay::cluster::{Cluster, Remark};
use crate::replay::feedback::{Arrivals, Feedback};
use crate::replay::history::{AtTime, History};
use crate::replay::journal::Journal;
use crate::replay::metrics::{GpuFragmentation, GroupRow, JobEnd, Metrics, Moved, Paired};
use crate::results::kind::Kind;
use crate::schema::{STARTS, Table};
use crate::studies::queues::LargestQueue;

mod absent;
mod answer;
mod beats;
pub mod charts;
mod gantt;
#[cfg(feature = "cli")]
mod help;
pub mod journal;
mod longer;
pub mod plan;
pub mod policies;
pub mod run;
pub mod step;
pub mod table;
mod words;

pub(crate) use answer::pool;
pub use answer::{ReplayAnswer, Replayed};
use words::MENTIONED;
pub(crate) use words::{
    COPY_HAS_SAME_WORK, common_name, explained, in_words, killed, left_out, name_in, not_replayed,
    other_way, recorded,
};

/// The result.
pub const KIND: Kind<'static> = Kind {
    captions: &[("replay-seeds", "Seed by seed")],
    tables: &[Table::TaskEvents, Table::MachineEvents],
    remarks: &["status ", "wait ", STARTS, "run time shorter", "pods deleted"],
    sentence: Some(|it| it.found::<ReplayAnswer>()?.sentence()),
    ..Kind::called("replay", "The policies side by side").holding::<ReplayAnswer>()
};

/// The name of the recorded schedule next to those of policies.
pub(crate) const RECORD: &str = "as recorded";

/// The replay of one policy under one seed.
pub struct Run {
    pub policy: String,
    /// When users submit, if the plan includes it.
    pub arrivals: Option<Arrivals>,
    /// The policy, followed by the arrivals if there are several.
    pub label: String,
    /// How much later than recorded jobs were submitted, if users react.
    pub moved: Moved,
    pub metrics: Metrics,
    pub jobs: Vec<JobEnd>,
    /// The tasks by size or user, if the plan includes groups.
    pub groups: Vec<GroupRow>,
    /// The free GPUs that tasks could not use, if the plan includes them.
    pub gpus: Option<GpuFragmentation>,
    /// The comparison with the first policy under the same seed.
    pub paired: Paired,
    /// Tasks larger than any machine.
    pub refused: Vec<u32>,
    pub depth_cuts: Option<u64>,
    pub journal: Journal,
    /// How long the replay took, s.
    pub seconds: f64,
    pub events: u64,
}

impl Run {
    /// The CPU time that the kill rule of this policy saved, as a share of the CPU time under the
    /// first policy; `None` if the rule killed no task.
    pub(crate) fn cpu_saved_share(&self, first: &Self) -> Option<f64> {
        let (own, first) = (&self.metrics, first.metrics.cpu_s);
        (0 < own.condemned_tasks && 0.0 < first).then(|| 1.0 - own.cpu_s / first)
    }
}

/// What is replayed, and on which machines.
pub struct Setting {
    pub history: History,
    pub cluster: Cluster,
    /// The record over time; empty if it cannot be compared with the policies.
    pub recorded: Vec<AtTime>,
    pub remarks: Vec<Remark>,
    /// When users submit, if the plan includes it, and which jobs then follow others.
    pub arrivals: Vec<(Arrivals, Option<Feedback>)>,
    /// Whether the free GPUs that tasks cannot use are added up.
    pub has_fragmentation: bool,
    /// Where the CPU capacity of the machines comes from.
    pub capacity: Capacity,
    /// The processors of a log, if the replay uses its machines as one pool.
    pub pooled: Option<Pool>,
    /// The time that is not in the log.
    pub absent: Absent,
}

/// The processors of a log whose machines are one pool in a replay.
#[derive(Clone, Debug)]
pub struct Pool {
    pub processors: f64,
    /// The queue with most tasks.
    pub largest_queue: Option<LargestQueue>,
}

impl Setting {
    /// The machines in words: `12,583 machines`, or `one pool of 1,159 processors`.
    pub(crate) fn machines(&self) -> String {
        let count = self.cluster.machine_count() as u64;
        let pooled = self.pooled.as_ref().map(|pooled| pool(pooled.processors));
        pooled.unwrap_or_else(|| digits::counted(count, "machine"))
    }
}

/// The tone of the policy at a position, the same in every chart.
fn tone(place: usize) -> Tone {
    Tone::SERIES[place % Tone::SERIES.len()]
}
