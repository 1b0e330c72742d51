//! Which tasks of a history wait for others of their job, where the log says so (`depends_on`).
//!
//! In: items with the names of their tasks and the numbers of those that end first. Out:
//! [`Dependencies`] and what was left out of them. Several items may be of one stage: the instances
//! of a task. A stage is free once all items of those before it are over, finished or not: in the
//! record, too, the next began whatever became of the last.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Numbers;
use super::items::{Item, Names};
use crate::replay::column::{Column, NONE};
use crate::replay::dependencies::{Dependencies, Lists};
use crate::sources::alibaba_2018::number_of_task;

/// What was found of dependencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Tasks that wait for others.
    pub(super) tasks: u64,
    /// Those of them that began in the record before one of the others had ended.
    pub(super) overlapping: u64,
    /// Dependencies between stages that are left out: the other is not replayed.
    pub(super) without_other: u64,
    /// Dependencies that are left out since they form circles or come behind one.
    pub(super) circular: u64,
}

/// A stage, and one before it.
type Pair = (u32, u32);

/// The dependencies among items.
pub(super) fn dependencies(items: &[Item], texts: &Names) -> (Dependencies, Counts) {
    let mut counts = Counts::default();
    let waits = |item: &&Item| item.depends_on.is_some();
    let jobs: FxHashSet<i64> = items.iter().filter(waits).map(|item| item.id.0).collect();
    if jobs.is_empty() {
        return (Dependencies::default(), counts);
    }
    let number_of = |item: &Item| {
        let name = item.task_name.filter(|_| jobs.contains(&item.id.0))?;
        Some((item.id.0, number_of_task(texts.name(name))?))
    };
    let mut numbers = Numbers(FxHashMap::default());
    let stage = items.iter().map(|item| number_of(item).map_or(NONE, |key| numbers.of(key)));
    let stages: Vec<u32> = stage.collect();
    let mut pairs: Vec<(u32, Option<u32>)> = Vec::new();
    for (item, &stage) in items.iter().zip(&stages) {
        let Some(others) = item.depends_on.filter(|_| stage != NONE) else { continue };
        let others = texts.name(others).split(' ').filter_map(|other| other.parse::<i32>().ok());
        pairs.extend(others.map(|other| (stage, numbers.0.get(&(item.id.0, other)).copied())));
    }
    pairs.sort_unstable();
    pairs.dedup();
    counts.without_other = pairs.iter().filter(|(_, other)| other.is_none()).count() as u64;
    let pairs: Vec<Pair> =
        pairs.into_iter().filter_map(|(stage, other)| Some((stage, other?))).collect();
    let stage_count = numbers.0.len();
    let kept = without_circles(stage_count, &pairs);
    counts.circular = (pairs.len() - kept.len()) as u64;
    let dependencies = Dependencies::new(Column::Each(stages), stage_count, &kept);
    count_overlaps(items, &dependencies, &mut counts);
    (dependencies, counts)
}

/// The pairs without those between stages that wait for themselves in the end, or for such.
fn without_circles(stage_count: usize, pairs: &[Pair]) -> Vec<Pair> {
    let after = Lists::new(stage_count, pairs.iter().map(|&(stage, before)| (before, stage)));
    let mut open = vec![0_u32; stage_count];
    for &(stage, _) in pairs {
        open[stage as usize] += 1;
    }
    let mut free: Vec<u32> =
        (0..).take(stage_count).filter(|&stage| open[stage as usize] == 0).collect();
    while let Some(stage) = free.pop() {
        for &next in after.of(stage) {
            open[next as usize] -= 1;
            if open[next as usize] == 0 {
                free.push(next);
            }
        }
    }
    let is_stuck = |stage: u32| 0 < open[stage as usize];
    let kept = pairs.iter().filter(|(stage, before)| !is_stuck(*stage) || !is_stuck(*before));
    kept.copied().collect()
}

/// Counts the tasks that wait, and those that in the record did not.
fn count_overlaps(items: &[Item], dependencies: &Dependencies, counts: &mut Counts) {
    let mut end_us = vec![0; dependencies.stage_count()];
    for (task, item) in (0..).zip(items) {
        let stage = dependencies.stage.get(task);
        if stage != NONE {
            let end_us = &mut end_us[stage as usize];
            *end_us = (*end_us).max(item.ended_us.unwrap_or(i64::MAX));
        }
    }
    for (task, item) in (0..).zip(items).filter(|&(task, _)| dependencies.waits(task)) {
        counts.tasks += 1;
        let before = dependencies.before(dependencies.stage.get(task));
        let is_early = before.iter().any(|&other| item.arrival_us < end_us[other as usize]);
        counts.overlapping += u64::from(is_early);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What is kept has an order, and what has one is kept.
        #[test]
        fn only_circles_are_left_out(
            pairs in prop::collection::btree_set((0_u32..8, 0_u32..8), 0..16),
        ) {
            let pairs: Vec<Pair> = pairs.into_iter().collect();
            let kept = without_circles(8, &pairs);
            // Who can be reached from whom, by Warshall.
            let reach = |pairs: &[Pair]| {
                let mut reached = [[false; 8]; 8];
                for &(stage, before) in pairs {
                    reached[stage as usize][before as usize] = true;
                }
                for via in 0..8 {
                    for from in 0..8 {
                        for to in 0..8 {
                            reached[from][to] |= reached[from][via] && reached[via][to];
                        }
                    }
                }
                reached
            };
            let (before, after) = (reach(&pairs), reach(&kept));
            prop_assert!((0..8).all(|stage| !after[stage][stage]));
            // A stage that no circle is before keeps all of its dependencies.
            for &(stage, other) in &pairs {
                let is_sound = |stage: usize| {
                    !before[stage][stage] && (0..8).all(|o| !before[stage][o] || !before[o][o])
                };
                if is_sound(stage as usize) || is_sound(other as usize) {
                    prop_assert!(kept.contains(&(stage, other)));
                }
            }
        }
    }
}
