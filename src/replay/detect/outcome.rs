//! What detectors did: counts, flags and scores.

use serde::{Deserialize, Serialize};

use super::copies::{Copies, CopyRow};
use super::score::{Answers, Score};
use super::shifts::Shifts;
use super::walk::Walked;
use crate::replay::detectors::{Action, End};

/// Counts of groups, tasks and attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupCounts {
    /// Groups that were replayed.
    pub groups: u64,
    /// Groups left out because they have too few judged tasks.
    pub small_groups: u64,
    /// Tasks of the replayed groups.
    pub tasks: u64,
    /// Tasks that are judged: the start and end of their last finished attempt are known.
    pub judged_tasks: u64,
    /// Attempts that were replayed.
    pub attempts: u64,
    /// Attempts left out because they were running at time 0.
    pub left_censored: u64,
    /// Attempts that were still running at the end of the window.
    pub unfinished: u64,
    /// Attempts without a recorded end in the loaded parts; they end with their job.
    pub attempts_closed_with_job: u64,
    /// Running attempts, summed over heartbeats: the judgements of each detector.
    pub task_heartbeats: u64,
}

/// The flags and scores of a detector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DetectorRow {
    /// The detector as given: its name in every table.
    pub detector: String,
    /// The detector with all its parameters.
    pub settings: String,
    /// Flags.
    pub flags: u64,
    /// Flags on attempts that are not judged: they did not finish, or were not their task's last.
    pub flags_unjudged: u64,
    /// Scores by ground truth, in the order of the plan.
    pub scores: Vec<Score>,
}

/// A flag, to trace every number.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FlagRow {
    /// The detector, by position in the plan.
    pub detector: usize,
    /// The job.
    pub job_id: i64,
    /// The phase.
    pub phase: Option<String>,
    /// The task.
    pub task_index: i32,
    /// When its attempt was started, µs.
    pub start_us: i64,
    /// When it was flagged, µs.
    pub flagged_us: i64,
    /// When it ended, µs; the end of the window if it was still running.
    pub end_us: i64,
    /// How it ended.
    pub how: Option<End>,
    /// Its progress when it was flagged.
    pub progress: f64,
    /// The action that the detector requested.
    pub action: Action,
    /// Whether the task is a straggler by the main truth; `None` if it is not judged.
    pub is_straggler: Option<bool>,
}

/// The results for all detectors.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DetectOutcome {
    /// Counts of groups, tasks and attempts.
    pub counts: GroupCounts,
    /// Time that attempts ran, in hours.
    pub task_hours: f64,
    /// The time from the first event of a group to the last end of its attempts, summed over
    /// groups, in hours.
    pub response_hours: f64,
    /// The number of stragglers by ground truth, in the order of the plan.
    pub stragglers: Vec<u64>,
    /// Results by detector.
    pub rows: Vec<DetectorRow>,
    /// Simulated copies by detector and budget.
    pub copies: Vec<CopyRow>,
    /// The state of the cluster and false alarms.
    pub shifts: Shifts,
}

/// The flags and copies in a group.
pub(super) struct Judged {
    pub(super) answers: Vec<Answers>,
    pub(super) walked: Walked,
    /// The judged task of each attempt, if any.
    pub(super) units: Vec<Option<u32>>,
    /// By detector and budget; empty for a detector without a flag.
    pub(super) copies: Vec<Vec<Copies>>,
}
