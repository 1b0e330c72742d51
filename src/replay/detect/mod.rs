//! Straggler detectors on recorded history: which attempts each would have flagged, and how
//! correctly.
//!
//! In: a lake, detectors, and a model of progress. Out: for each detector and ground truth a score,
//! a simulation of the copies, and false alarms in hours of change; every flag is also passed to
//! the caller. Groups (the tasks of one phase of a job) with too few finished tasks are left out
//! and counted. History is replayed bucket by bucket, with groups in parallel; the number and order
//! of threads change no digit. Memory holds the tasks and flags of one bucket and, until the end,
//! 24 bytes per group that is left out, 32 per flag on a straggler, and 8 per judged task.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::digits::grouped;
use crate::facts::FactError;
use crate::facts::tasks::{TaskView, Tasks, Usage};
use crate::facts::window::Windows;
use crate::faults::{Code, Fault};
use crate::lake::{Lake, LakeError};
use crate::replay::detectors::{Action, DetectorPlan, End};
use crate::schema::Table;
use crate::units::micros_to_seconds;

pub mod copies;
pub mod groups;
pub mod progress;
pub mod score;
pub mod shifts;
mod sums;
#[cfg(test)]
mod testing;
pub mod truth;
pub mod walk;

use copies::{Copies, CopyRow, Replacement, dry_run, replacements_us};
use groups::{Group, GroupBuilder, GroupSizes};
use progress::{ProgressModel, Work};
use score::{Answers, Score};
use shifts::{ShiftPlan, Shifts};
use sums::Sums;
use truth::Truth;
use walk::{Beats, Flagged, WalkPlan, Walked, heartbeats, walk};

/// The plan of a comparison of detectors.
#[derive(Clone, Debug)]
pub struct DetectPlan {
    /// The detectors.
    pub detectors: Vec<DetectorPlan>,
    /// How history is replayed.
    pub walk: WalkPlan,
    /// The ground truths; the first is the main one.
    pub truths: Vec<Truth>,
    /// The phase whose groups are used; `None` for all.
    pub phase: Option<String>,
    /// The fewest judged tasks of a group; smaller groups are left out.
    pub tasks_min: usize,
    /// How long a replacement takes.
    pub replacement: Replacement,
    /// Budgets of the simulated copies, as shares of a group's slot time; `None` for no limit.
    pub budgets: Vec<Option<f64>>,
    /// How a shift of the cluster's state is recognised.
    pub shift: ShiftPlan,
}

/// The default budgets of simulated copies, as shares of a group's slot time.
const BUDGETS: [Option<f64>; 8] =
    [Some(0.005), Some(0.01), Some(0.02), Some(0.05), Some(0.1), Some(0.2), Some(0.5), None];

impl DetectPlan {
    /// A plan for detectors with default settings: a heartbeat every 10 s, progress as an operator
    /// could have known it ([`ProgressModel::Siblings`]) without noise, the default truths, and
    /// groups of at least 10 judged tasks.
    pub fn of(detectors: Vec<DetectorPlan>) -> Self {
        Self {
            detectors,
            walk: WalkPlan {
                heartbeat_us: 10_000_000,
                progress: ProgressModel::default(),
                work: Work::default(),
                noise: 0.0,
                seed: 1,
                beats: Beats::Needed,
            },
            truths: Truth::DEFAULTS.to_vec(),
            phase: None,
            tasks_min: 10,
            replacement: Replacement::default(),
            budgets: BUDGETS.to_vec(),
            shift: ShiftPlan::default(),
        }
    }
}

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
    /// Attempts without an end in the loaded parts, which end with their job.
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
    /// The action that the detector asked for.
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
    /// The times from the first submit to the last end of each group, in hours.
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

/// Why a plan cannot be run.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DetectPlanError {
    /// The run would take too long.
    #[error(
        "--heartbeat {}: the jobs run for about {} heartbeats, more than {}; give a longer time",
        micros_to_seconds(*heartbeat_us), grouped(*heartbeats), grouped(*most)
    )]
    TooManyHeartbeats {
        /// The expected number of heartbeats.
        heartbeats: u64,
        /// The largest number allowed.
        most: u64,
        /// The time between two heartbeats, µs.
        heartbeat_us: i64,
    },
    /// No ground truth, or too many.
    #[error("{found} ground truths are given, but there must be 1 to {}", score::TRUTHS_MAX)]
    Truths {
        /// The number given.
        found: usize,
    },
    /// The time between heartbeats is not positive.
    #[error("the time between heartbeats is {heartbeat_us} µs, but must be at least 1 µs")]
    Heartbeat {
        /// The time between two heartbeats, µs.
        heartbeat_us: i64,
    },
    /// The noise on progress is not a number of at least 0.
    #[error("the noise is {noise}, but must be a deviation of 0 or more")]
    Noise {
        /// The deviation.
        noise: f64,
    },
    /// A budget is not a share.
    #[error("the budget is {budget}, but must be a share of the slot time of 0 or more")]
    Budget {
        /// The budget.
        budget: f64,
    },
    /// Two detectors have the same name.
    #[error("two detectors are called `{name}`")]
    SameName {
        /// The name.
        name: String,
    },
}

impl DetectPlan {
    /// Rejects a plan that cannot be run, or whose results would be meaningless.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self) -> Result<(), DetectPlanError> {
        let found = self.truths.len();
        if !(1..=score::TRUTHS_MAX).contains(&found) {
            return Err(DetectPlanError::Truths { found });
        }
        let WalkPlan { heartbeat_us, noise, .. } = self.walk;
        if heartbeat_us < 1 {
            return Err(DetectPlanError::Heartbeat { heartbeat_us });
        }
        if !(0.0..f64::INFINITY).contains(&noise) {
            return Err(DetectPlanError::Noise { noise });
        }
        let is_odd = |budget: &&f64| !(0.0..).contains(*budget);
        if let Some(&budget) = self.budgets.iter().flatten().find(is_odd) {
            return Err(DetectPlanError::Budget { budget });
        }
        let names: Vec<&str> = self.detectors.iter().map(DetectorPlan::written).collect();
        let is_again = |idx: &usize| names[..*idx].contains(&names[*idx]);
        if let Some(idx) = (0..names.len()).find(is_again) {
            return Err(DetectPlanError::SameName { name: names[idx].to_owned() });
        }
        Ok(())
    }
}

impl Fault for DetectPlanError {
    fn code(&self) -> Code {
        Code::Usage
    }
}

/// Runs detectors over the history of a lake; `take` gets the flags of each bucket, by job,
/// detector and time.
///
/// # Errors
/// The plan cannot be run ([`DetectPlanError`]), a table is missing or cannot be read, the progress
/// callback stops the run, or `take` fails. By then, `take` has all flags of complete buckets.
pub fn detect<E: From<FactError> + From<DetectPlanError>>(
    lake: &Lake,
    windows: Windows,
    plan: &DetectPlan,
    take: impl FnMut(&[FlagRow]) -> Result<(), E>,
) -> Result<DetectOutcome, E> {
    detect_walked(lake, windows, plan, std::iter::repeat_with(|| None), take)
}

/// The same, with the option to pass in the flags of each bucket from [`walk_range`].
///
/// # Errors
/// The errors of [`detect`].
///
/// # Panics
/// The walks belong to other groups, or cover fewer buckets.
pub fn detect_walked<E: From<FactError> + From<DetectPlanError>>(
    lake: &Lake,
    windows: Windows,
    plan: &DetectPlan,
    mut walks: impl Iterator<Item = Option<Vec<Walked>>>,
    mut take: impl FnMut(&[FlagRow]) -> Result<(), E>,
) -> Result<DetectOutcome, E> {
    let usage = check::<E>(lake, plan)?;
    let mut sums = Sums::new(plan);
    let mut expected = Expected::default();
    // Buckets run in sequence, so memory depends on the largest; the groups of a bucket run in
    // parallel.
    let rows = lake.expect_rows(&[Table::TaskEvents]);
    for bucket in 0..lake.bucket_count() {
        let tasks = Tasks::read(lake, bucket, windows, usage)?;
        let (groups, small_groups) = groups_of(&tasks, windows, plan);
        drop(tasks);
        sums.counts.small_groups += small_groups;
        expected.add(&groups, plan, lake.bucket_count())?;
        let walks = walks.next().expect("there are walks of every bucket");
        detect_groups(lake, &groups, (plan, walks), rows, &mut sums).map_err(FactError::from)?;
        take(&sums.flags)?;
        sums.flags.clear();
    }
    Ok(sums.outcome(plan))
}

/// Replays the groups of some buckets and keeps only the flags: by bucket, in the order of the
/// groups.
///
/// # Errors
/// The errors of [`detect`]; the expected length of a whole run is not checked.
pub fn walk_range<E: From<FactError> + From<DetectPlanError>>(
    lake: &Lake,
    windows: Windows,
    plan: &DetectPlan,
    buckets: Range<u32>,
) -> Result<Vec<Vec<Walked>>, E> {
    let usage = check::<E>(lake, plan)?;
    buckets
        .map(|bucket| {
            let tasks = Tasks::read(lake, bucket, windows, usage)?;
            let (groups, _) = groups_of(&tasks, windows, plan);
            drop(tasks);
            let walk = |group| walk_group(group, plan, &answers_of(group, plan));
            Ok(groups.par_iter().with_max_len(1).map(walk).collect())
        })
        .collect()
}

/// Rejects a plan that cannot be run; returns whether it reads usage.
fn check<E: From<FactError> + From<DetectPlanError>>(
    lake: &Lake,
    plan: &DetectPlan,
) -> Result<Usage, E> {
    plan.check()?;
    lake.require(Table::TaskEvents).map_err(FactError::from)?;
    let needs_usage = plan.walk.progress == ProgressModel::Usage
        || (plan.walk.progress == ProgressModel::Siblings && plan.walk.work == Work::Measured);
    if needs_usage {
        lake.require(Table::TaskUsage).map_err(FactError::from)?;
    }
    Ok(if needs_usage { Usage::Read } else { Usage::Skip })
}

/// The groups of a bucket that are judged, and the number of groups that are too small.
fn groups_of(tasks: &Tasks, windows: Windows, plan: &DetectPlan) -> (Vec<Group>, u64) {
    let is_asked =
        |task: &TaskView<'_>| plan.phase.is_none() || task.phase == plan.phase.as_deref();
    let least = u32::try_from(plan.tasks_min.max(1)).unwrap_or(u32::MAX);
    let mut sizes = GroupSizes::default();
    tasks.for_each(|task| {
        if is_asked(task) {
            sizes.add(task, windows);
        }
    });
    let mut builder = GroupBuilder::new(windows);
    tasks.for_each(|task| {
        if is_asked(task) && sizes.is_large(task, least) {
            builder.add(task);
        }
    });
    (builder.build().collect(), sizes.small_groups(least))
}

/// The expected number of heartbeats, estimated from the buckets so far.
#[derive(Debug, Default)]
struct Expected {
    heartbeats: u64,
    buckets: u64,
}

impl Expected {
    /// Adds a bucket. Jobs are assigned to buckets at random, so the first bucket is
    /// representative.
    fn add(
        &mut self,
        groups: &[Group],
        plan: &DetectPlan,
        bucket_count: u32,
    ) -> Result<(), DetectPlanError> {
        let heartbeat_us = plan.walk.heartbeat_us;
        for group in groups {
            self.heartbeats = self.heartbeats.saturating_add(heartbeats(group, heartbeat_us));
        }
        self.buckets += 1;
        let all = u128::from(self.heartbeats) * u128::from(bucket_count) / u128::from(self.buckets);
        let heartbeats = u64::try_from(all).unwrap_or(u64::MAX);
        let most = plan.walk.heartbeats_max();
        if most < heartbeats {
            return Err(DetectPlanError::TooManyHeartbeats { heartbeats, most, heartbeat_us });
        }
        Ok(())
    }
}

/// The flags and copies in a group.
struct Judged {
    answers: Vec<Answers>,
    walked: Walked,
    /// The judged task of each attempt, if any.
    units: Vec<Option<u32>>,
    /// By detector and budget; empty for a detector without a flag.
    copies: Vec<Vec<Copies>>,
}

/// Runs detectors over groups, the largest first so that no core has to finish it alone at the end,
/// and adds up the results in the original order.
fn detect_groups(
    lake: &Lake,
    groups: &[Group],
    (plan, walks): (&DetectPlan, Option<Vec<Walked>>),
    rows: u64,
    sums: &mut Sums,
) -> Result<(), LakeError> {
    let all = groups.iter().map(|group| group.attempts.len() as u64).sum::<u64>().max(1);
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&idx| std::cmp::Reverse(groups[idx].attempts.len()));
    let mut parts: Vec<(usize, Judged)> = order
        .into_par_iter()
        .with_max_len(1)
        .map(|idx| {
            lake.step(0)?;
            let walked = walks.as_ref().map(|walks| walks[idx].clone());
            let judged = detect_group(&groups[idx], plan, walked);
            lake.step(rows * groups[idx].attempts.len() as u64 / all)?;
            Ok((idx, judged))
        })
        .collect::<Result<_, LakeError>>()?;
    // The rest from rounding, and the rows of buckets without a group.
    let stepped = groups.iter().map(|group| rows * group.attempts.len() as u64 / all);
    lake.step(rows - stepped.sum::<u64>())?;
    parts.sort_by_key(|part| part.0);
    for (idx, judged) in &parts {
        sums.add(&groups[*idx], judged);
    }
    Ok(())
}

fn answers_of(group: &Group, plan: &DetectPlan) -> Vec<Answers> {
    plan.truths.iter().map(|&truth| Answers::of(group, truth)).collect()
}

fn walk_group(group: &Group, plan: &DetectPlan, answers: &[Answers]) -> Walked {
    walk(group, &plan.walk, &plan.detectors, &answers[0].by_attempt(group))
}

fn detect_group(group: &Group, plan: &DetectPlan, walked: Option<Walked>) -> Judged {
    let answers = answers_of(group, plan);
    let walked = walked.unwrap_or_else(|| walk_group(group, plan, &answers));
    let mut units: Vec<Option<u32>> = vec![None; group.attempts.len()];
    for (unit, idx) in group.units.iter().zip(0..) {
        units[unit.attempt as usize] = Some(idx);
    }
    let replacements = replacements_us(group, plan.replacement, plan.walk.seed);
    let dry_runs = |flags: &Vec<Flagged>| match flags.as_slice() {
        [] => Vec::new(),
        flags => {
            let under = |&budget| dry_run(group, &units, flags, &replacements, budget);
            plan.budgets.iter().map(under).collect()
        }
    };
    let copies = walked.flags.iter().map(dry_runs).collect();
    Judged { answers, walked, units, copies }
}
