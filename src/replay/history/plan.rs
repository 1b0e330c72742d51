//! The part of a history that is replayed, and how.

use serde::{Deserialize, Serialize};

use super::overcommit::Overcommit;
use crate::facts::window::Windows;
use crate::replay::workload::Estimates;

/// The part of a history that is replayed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HistoryPlan {
    /// Tasks that arrive from this time on, µs.
    pub from_us: i64,
    /// Tasks that arrive before this time, µs.
    pub until_us: Option<i64>,
    /// Share of the jobs, sampled with the seed.
    pub sample: f64,
    /// Share of the machines, sampled with the seed.
    pub machines: f64,
    /// Factor of the arrival rate.
    pub load: f64,
    /// Factor of the machines' capacities.
    pub overcommit: Overcommit,
    /// How much work a copy or a restart has.
    pub reruns: RerunWork,
    /// When to kill a task that was killed in the record.
    pub killed: KilledTasks,
    /// The running times that an order uses to plan ahead.
    pub estimates: Estimates,
    /// Whether users react to their jobs in one of the replays.
    pub has_feedback: bool,
    /// The seed of the samples.
    pub seed: u64,
}

impl Default for HistoryPlan {
    fn default() -> Self {
        Self {
            from_us: 0,
            until_us: None,
            sample: 1.0,
            machines: 1.0,
            load: 1.0,
            overcommit: Overcommit::Factor(1.0),
            reruns: RerunWork::Same,
            killed: KilledTasks::Age,
            estimates: Estimates::Requested,
            has_feedback: false,
            seed: 0,
        }
    }
}

impl HistoryPlan {
    /// The replayed part of a history, µs. It starts at the first event or later.
    pub(super) fn span_us(&self, first_us: i64, windows: Windows) -> [i64; 2] {
        let until_us = self.until_us.unwrap_or(i64::MAX);
        [self.from_us.max(first_us), until_us.min(windows.task_end_us)]
    }
}

/// How much work a copy or a restart has. No trace records it; these are the two extremes. An attempt that
/// failed in the record keeps its length and fails, with its copies; the next has its recorded work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum RerunWork {
    /// The work of the attempt before it: the cause of slowness recurs
    #[default]
    Same,
    /// The work of a random finished task of its job (and phase): the cause of slowness never recurs
    Sibling,
}

/// When a killed task is killed. With the first rule, a task that was killed while it waited leaves
/// at its recorded age, or ends at once if it is started earlier: it never ran, so no work is
/// invented. With the second rule, it runs until its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum KilledTasks {
    /// After its recorded running time, as if a limit stopped it
    RunTime,
    /// At its recorded age, as if its user or another job ended it
    Age,
}
