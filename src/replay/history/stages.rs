//! Dependencies between the tasks of a job of a history, if the log has them (`depends_on`).
//!
//! In: items with the names of their tasks and the numbers of the tasks that must end first. Out:
//! [`Dependencies`], and counts of those left out. Several items may belong to one stage, as the
//! instances of a task. A stage may start once all items of the stages before it have ended,
//! finished or not, as in the record.

use rustc_hash::{FxHashMap, FxHashSet};

use super::items::{Item, Names};
use super::numbers::Numbers;
use crate::replay::column::{Column, NONE};
use crate::replay::dependencies::{Dependencies, Kept};
use crate::sources::alibaba_2018::number_of_task;

/// Counts of dependencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Tasks that wait for others.
    pub(super) tasks: u64,
    /// Waiting tasks that began in the record before one of the others had ended.
    pub(super) overlapping: u64,
    /// Dependencies between stages that are left out because the other stage is not replayed.
    pub(super) without_other: u64,
    /// Dependencies that are left out because they are in or behind a cycle.
    pub(super) circular: u64,
}

/// Finds the dependencies among items.
pub(super) fn dependencies(items: &[Item], texts: &Names) -> (Dependencies, Counts) {
    let mut counts = Counts::default();
    let waits = |item: &&Item| item.more().depends_on.is_some();
    let jobs: FxHashSet<i64> = items.iter().filter(waits).map(|item| item.id.0).collect();
    if jobs.is_empty() {
        return (Dependencies::default(), counts);
    }
    let number_of = |item: &Item| {
        let name = item.more().task_name.filter(|_| jobs.contains(&item.id.0))?;
        Some((item.id.0, number_of_task(texts.name(name))?))
    };
    let mut numbers = Numbers(FxHashMap::default());
    let stage = items.iter().map(|item| number_of(item).map_or(NONE, |key| numbers.of(key)));
    let stages: Vec<u32> = stage.collect();
    let mut pairs: Vec<(u32, Option<u32>)> = Vec::new();
    for (item, &stage) in items.iter().zip(&stages) {
        let Some(others) = item.more().depends_on.filter(|_| stage != NONE) else { continue };
        let others = texts.name(others).split(' ').filter_map(|other| other.parse::<i32>().ok());
        pairs.extend(others.map(|other| (stage, numbers.0.get(&(item.id.0, other)).copied())));
    }
    let stage_count = numbers.0.len();
    let kept = Kept::of(stage_count, pairs);
    (counts.without_other, counts.circular) = (kept.without_other, kept.circular);
    let dependencies = Dependencies::new(Column::Each(stages), stage_count, &kept.pairs);
    count_overlaps(items, &dependencies, &mut counts);
    (dependencies, counts)
}

/// Counts the tasks that wait, and those that did not wait in the record.
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
