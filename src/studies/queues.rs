//! The queue (or partition) of a log with most tasks, and the most processors it used at a time.
//!
//! In: a lake. Out: [`LargestQueue`]. It shows how much a system differs from a single pool of
//! processors.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::ledger::UNKNOWN;
use super::texts::{Texts, entry};
use crate::facts::FactError;
use crate::facts::jobs::QUEUE;
use crate::facts::tasks::{Tasks, Usage};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;
use crate::units::most_at_once;

/// The queue with most tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LargestQueue {
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: u64,
    /// The tasks of all queues.
    pub all_tasks: u64,
    /// The most processors that its tasks used at the same time.
    pub processors_max: f64,
}

impl LargestQueue {
    /// Its share of all tasks.
    #[expect(clippy::cast_precision_loss, reason = "tasks are far below 2^53")]
    pub fn part(&self) -> f64 {
        self.tasks as f64 / self.all_tasks.max(1) as f64
    }
}

/// The tasks of a queue, and when they acquired and released processors, µs.
#[derive(Debug, Default)]
struct OfQueue {
    tasks: u64,
    changes: Vec<(i64, f32)>,
}

/// The queue with most tasks; `None` if the log has no queues, or only one.
///
/// # Errors
/// A table cannot be read.
pub fn largest_queue(lake: &Lake, windows: Windows) -> Result<Option<LargestQueue>, FactError> {
    if !lake.has_column(Table::TaskEvents, QUEUE) {
        return Ok(None);
    }
    let parts = (0..lake.bucket_count()).into_par_iter().map(|bucket| {
        let mut all: BTreeMap<String, OfQueue> = BTreeMap::new();
        let queues = Texts::read(lake, bucket, QUEUE)?;
        Tasks::read(lake, bucket, windows, Usage::Skip)?.for_each(|task| {
            let row = task.events.first().map(|event| event.row);
            let own: &mut OfQueue = entry(&mut all, row.map_or(UNKNOWN, |row| queues.of(row)));
            own.tasks += 1;
            for attempt in task.attempts {
                let Some(cpu) = attempt.cpu_request else { continue };
                own.changes.extend([(attempt.start_us, cpu), (attempt.end_us, -cpu)]);
            }
        });
        Ok(all)
    });
    let mut all: BTreeMap<String, OfQueue> = BTreeMap::new();
    for (name, own) in parts.collect::<Result<Vec<_>, FactError>>()?.into_iter().flatten() {
        let queue = all.entry(name).or_default();
        queue.tasks += own.tasks;
        queue.changes.extend(own.changes);
    }
    Ok(largest(all))
}

/// The queue with most tasks; of equal ones, the first by name. `None` if there is only one queue,
/// or if the tasks without a queue are the largest group.
fn largest(all: BTreeMap<String, OfQueue>) -> Option<LargestQueue> {
    let all_tasks: u64 = all.values().map(|queue| queue.tasks).sum();
    let is_single = all.len() < 2;
    // `max_by_key` returns the last of equal ones. In reversed order that is the first by name.
    let (name, mut most) = all.into_iter().rev().max_by_key(|(_, queue)| queue.tasks)?;
    (!is_single && name != UNKNOWN).then(|| LargestQueue {
        name,
        tasks: most.tasks,
        all_tasks,
        processors_max: f64::from(most_at_once(&mut most.changes)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_with_most_tasks_has_its_most_processors_at_once() {
        //  a  |--2--|        b  |------8------|
        //       |--3--|
        //             |--4--|
        let changes = [(0, 2.0), (6, -2.0), (2, 3.0), (9, -3.0), (9, 4.0), (15, -4.0)].to_vec();
        let a = || OfQueue { tasks: 3, changes: changes.clone() };
        let b = OfQueue { tasks: 1, changes: vec![(0, 8.0), (14, -8.0)] };
        let all = BTreeMap::from([("a".to_owned(), a()), ("b".to_owned(), b)]);
        assert_eq!(
            largest(all),
            Some(LargestQueue {
                name: "a".to_owned(),
                tasks: 3,
                all_tasks: 4,
                processors_max: 5.0
            })
        );
        assert_eq!(largest(BTreeMap::from([("a".to_owned(), a())])), None);
        let unknown =
            BTreeMap::from([(UNKNOWN.to_owned(), a()), ("b".to_owned(), OfQueue::default())]);
        assert_eq!(largest(unknown), None);
    }
}
