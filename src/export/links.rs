//! Dependencies between the tasks of a file, by their numbers in the file.
//!
//! In: the stages that depend on others, and the items that are written. Out: for each item, the
//! numbers of the items before and after it. As in a replay, a task waits for all tasks of the
//! stages before its stage; impossible dependencies are left out and counted. Only dependencies of
//! stages are in memory. There may be millions of pairs of tasks, so they are computed item by
//! item.

use rustc_hash::FxHashMap;

use super::gather::Gathered;
use super::items::{Item, Stage};
use crate::faults::{Context, Result};
use crate::replay::column::Column;
use crate::replay::dependencies::{Dependencies, Kept};

/// Stages and their tasks.
pub(super) struct Links {
    stages: FxHashMap<Stage, u32>,
    /// By stage, the numbers of its tasks in the file.
    tasks: Vec<Vec<i64>>,
    dependencies: Dependencies,
}

impl Links {
    /// The links between items for which `is_written` holds; others are left out and counted.
    pub(super) fn of(
        all: &mut Gathered,
        may_be_own: bool,
        is_written: impl Fn(&Item) -> bool,
    ) -> Result<Self> {
        let mut stages = FxHashMap::default();
        for stage in all.waits_for.iter().flat_map(|&(one, other)| [one, other]) {
            let next = u32::try_from(stages.len()).expect("fewer than 2^32 stages");
            stages.entry(stage).or_insert(next);
        }
        let mut tasks = vec![Vec::new(); stages.len()];
        if !stages.is_empty() {
            all.items
                .for_each(|item| {
                    let stage = item.stage().and_then(|stage| stages.get(&stage));
                    if let Some(&stage) = stage.filter(|_| is_written(item)) {
                        tasks[stage as usize].push(all.id((item.number, item.job_id), may_be_own));
                    }
                    Ok::<(), std::io::Error>(())
                })
                .context("could not read a temporary file")?;
        }
        let is_there = |stage: u32| !tasks[stage as usize].is_empty();
        let named = all.waits_for.iter().map(|(one, other)| (stages[one], stages[other]));
        let named: Vec<(u32, Option<u32>)> = named
            .map(|(one, other)| {
                (one, Some(other).filter(|&other| is_there(one) && is_there(other)))
            })
            .collect();
        let missing = named.iter().filter(|(_, other)| other.is_none()).count() as u64;
        let kept = Kept::of(stages.len(), named);
        all.counts.add("dependencies on tasks that are not there: left out", missing);
        all.counts.add("dependencies in or behind circles: left out", kept.circular);
        let dependencies = Dependencies::new(Column::Each(Vec::new()), stages.len(), &kept.pairs);
        Ok(Self { stages, tasks, dependencies })
    }

    /// The tasks that must end before an item, ordered by number.
    pub(super) fn parents(&self, item: &Item) -> Vec<i64> {
        self.tasks_of(item, Dependencies::before)
    }

    /// The tasks that wait for an item, ordered by number.
    pub(super) fn children(&self, item: &Item) -> Vec<i64> {
        self.tasks_of(item, Dependencies::after)
    }

    fn tasks_of(&self, item: &Item, of: fn(&Dependencies, u32) -> &[u32]) -> Vec<i64> {
        let Some(&stage) = item.stage().and_then(|stage| self.stages.get(&stage)) else {
            return Vec::new();
        };
        let others = of(&self.dependencies, stage).iter();
        let mut numbers: Vec<i64> =
            others.flat_map(|&other| &self.tasks[other as usize]).copied().collect();
        numbers.sort_unstable();
        numbers
    }
}
