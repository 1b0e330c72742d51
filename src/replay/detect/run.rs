//! Runs detectors over the history of a lake, bucket by bucket.

use std::ops::Range;

use rayon::prelude::*;

use super::copies::{dry_run, replacements_us};
use super::groups::{Group, GroupBuilder, GroupSizes};
use super::outcome::{DetectOutcome, FlagRow, Judged};
use super::plan::{DetectPlan, DetectPlanError, check};
use super::score::Answers;
use super::sums::Sums;
use super::walk::{Flagged, Walked, heartbeats, walk};
use crate::facts::FactError;
use crate::facts::tasks::{TaskView, Tasks};
use crate::facts::window::Windows;
use crate::lake::{Lake, LakeError};
use crate::schema::Table;

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

/// The same as [`detect`], but `walks` may give the flags of each bucket from [`walk_range`].
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
    let rows = lake.expect_rows(&[Table::TaskEvents]);
    let buckets: Vec<u32> = (0..lake.bucket_count()).collect();
    // As many buckets at once as there are threads: memory stays bounded, and the threads read in
    // parallel and share the groups of all these buckets.
    for some in buckets.chunks(rayon::current_num_threads()) {
        let read = |&bucket| -> Result<_, FactError> {
            Ok(groups_of(&Tasks::read(lake, bucket, windows, usage)?, windows, plan))
        };
        let read = some.par_iter().with_max_len(1).map(read).collect::<Result<Vec<_>, _>>()?;
        for (groups, small_groups) in &read {
            sums.counts.small_groups += small_groups;
            expected.add(groups, plan, lake.bucket_count())?;
        }
        let mut groups: Vec<(&Group, Option<Walked>)> = Vec::new();
        for (own, _) in &read {
            match walks.next().expect("there are walks of every bucket") {
                Some(walked) => {
                    assert_eq!(walked.len(), own.len(), "the walks are those of these groups");
                    groups.extend(own.iter().zip(walked.into_iter().map(Some)));
                }
                None => groups.extend(own.iter().map(|group| (group, None))),
            }
        }
        let rows = rows * some.len() as u64;
        let mut judged = detect_groups(lake, groups, plan, rows).map_err(FactError::from)?;
        for (groups, _) in &read {
            for (group, judged) in groups.iter().zip(judged.by_ref()) {
                sums.add(group, &judged);
            }
            take(&sums.flags)?;
            sums.flags.clear();
        }
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

/// The groups of a bucket that are judged, and the number of groups that are too small.
fn groups_of(tasks: &Tasks, windows: Windows, plan: &DetectPlan) -> (Vec<Group>, u64) {
    let is_asked =
        |task: &TaskView<'_>| plan.phase.is_none() || task.phase == plan.phase.as_deref();
    let least = u32::try_from(plan.tasks_min).unwrap_or(u32::MAX);
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

/// Runs detectors over groups, and returns the results in the original order. The group that runs
/// longest comes first, so that it is not the last one to run, alone on one core.
fn detect_groups(
    lake: &Lake,
    groups: Vec<(&Group, Option<Walked>)>,
    plan: &DetectPlan,
    rows: u64,
) -> Result<impl Iterator<Item = Judged>, LakeError> {
    let all = groups.iter().map(|(group, _)| group.attempts.len() as u64).sum::<u64>().max(1);
    let share = |group: &Group| rows * group.attempts.len() as u64 / all;
    // The remainder from rounding, and the rows of buckets without a group.
    let rest = rows - groups.iter().map(|(group, _)| share(group)).sum::<u64>();
    let mut order: Vec<_> = groups.into_iter().enumerate().collect();
    order.sort_by_cached_key(|(_, (group, _))| {
        std::cmp::Reverse(
            group.attempts.iter().map(|row| i128::from(row.length_us())).sum::<i128>(),
        )
    });
    let mut judged: Vec<(usize, Judged)> = order
        .into_par_iter()
        .with_max_len(1)
        .map(|(idx, (group, walked))| {
            lake.step(0)?;
            let judged = detect_group(group, plan, walked);
            lake.step(share(group))?;
            Ok((idx, judged))
        })
        .collect::<Result<_, LakeError>>()?;
    lake.step(rest)?;
    judged.sort_by_key(|part| part.0);
    Ok(judged.into_iter().map(|part| part.1))
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
