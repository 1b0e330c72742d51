//! The recorded schedule of the replayed tasks, in the numbers that a replay gives.
//!
//! In: the replayed tasks with their recorded waits and ends. Out: [`Schedule`], to be put beside
//! the policies. A task that still runs at the end of the window counts as finished there, since a
//! replay finishes it after the same running time. Tasks submitted before the window have no
//! recorded wait. Times are as recorded, whatever the load of the plan.

use serde::{Deserialize, Serialize};

use super::items::Item;
use crate::fairness::indices::bounded_slowdown;
use crate::replay::metrics::{BOUND_S, Spread};
use crate::replay::workload::{Fate, Workload};
use crate::units::micros_to_seconds;

/// The recorded schedule of the replayed tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Schedule {
    /// Tasks that finished, or still ran at the end of the window.
    pub finished: u64,
    /// First submit to first start of tasks that were submitted in the window and started, s.
    pub waiting_s: Option<Spread>,
    /// First submit to last end of jobs, s.
    pub job_response_s: Option<Spread>,
    /// Submit to end over run time, of tasks that finished; bounded as for a replay.
    pub bounded_slowdown: Option<Spread>,
    /// Requested CPU x running time, from the start of the window on, of all recorded attempts of these
    /// tasks, and of tasks with too little data for a replay; in the unit of the log.
    pub cpu_s: f64,
    /// The part of it in attempts that are not replayed.
    pub dropped_cpu_s: f64,
    /// `dropped_cpu_s` over `cpu_s`; `None` if that is 0.
    pub dropped_cpu_share: Option<f64>,
}

/// Equal stretches of time in which the waiting tasks of the record are counted.
const STRETCHES: usize = 400;

/// The mean number of tasks that waited in the record, with the end of each stretch, s; of the tasks
/// with a known wait. In order of time, from the first arrival to the last start, at most to the end of
/// the window.
pub(super) fn waiting(items: &[Item], end_us: i64) -> Vec<(f64, f64)> {
    let start_us = items.first().map_or(0, |item| item.arrival_us);
    let starts = items.iter().filter_map(|item| Some(item.arrival_us + item.wait_us?));
    let end_us = starts.max().unwrap_or(start_us).min(end_us);
    let stretches = i64::try_from(STRETCHES).unwrap_or(i64::MAX);
    let length_us = (end_us - start_us) / stretches;
    if length_us <= 0 {
        return Vec::new();
    }
    let edge = |idx: usize| start_us + length_us * i64::try_from(idx).unwrap_or(i64::MAX);
    let of = |at_us: i64| usize::try_from((at_us - start_us) / length_us).unwrap_or(0);
    let mut sums_us = vec![0_i128; STRETCHES];
    // Tasks that wait during the whole of a stretch: how many more than during the one before.
    let mut more = vec![0_i64; STRETCHES + 1];
    for item in items {
        let Some(wait_us) = item.wait_us else { continue };
        let last = edge(STRETCHES);
        let [from_us, to_us] = [item.arrival_us, item.arrival_us + wait_us].map(|at| at.min(last));
        let [first, end] = [of(from_us), of(to_us)];
        if first == end {
            if first < STRETCHES {
                sums_us[first] += i128::from(to_us - from_us);
            }
            continue;
        }
        sums_us[first] += i128::from(edge(first + 1) - from_us);
        if end < STRETCHES {
            sums_us[end] += i128::from(to_us - edge(end));
        }
        more[first + 1] += 1;
        more[end] -= 1;
    }
    let mut whole = 0_i64;
    let means = sums_us.iter().zip(more).enumerate().map(|(idx, (sum_us, more))| {
        whole += more;
        #[expect(clippy::cast_precision_loss, reason = "a mean for a chart")]
        let mean = whole as f64 + *sum_us as f64 / length_us as f64;
        (micros_to_seconds(edge(idx + 1)), mean)
    });
    means.collect()
}

/// The recorded schedule of tasks in the order of the workload; `end_us` is the end of the window.
pub(super) fn schedule(items: &[Item], workload: &Workload, end_us: i64) -> Schedule {
    let ended_us = |item: &Item| item.ended_us.unwrap_or(end_us).max(item.arrival_us);
    let finished = || items.iter().filter(|item| item.fate == Fate::Finishes);
    let slowdown = |item: &Item| {
        let run_s = micros_to_seconds(item.work_us);
        let response_s = micros_to_seconds(ended_us(item) - item.arrival_us);
        bounded_slowdown(response_s - run_s, run_s, BOUND_S)
    };
    let waits = items.iter().filter_map(|item| item.wait_us.map(micros_to_seconds));
    // First submit and last end. A job counts from its tasks that wait for no other.
    let mut spans = vec![(i64::MAX, i64::MIN); workload.job_count()];
    for (task, item) in (0..).zip(items) {
        let (first_us, last_us) = &mut spans[workload.job.get(task) as usize];
        if !workload.dependencies.waits(task) {
            *first_us = item.arrival_us.min(*first_us);
        }
        *last_us = ended_us(item).max(*last_us);
    }
    let responses = spans.iter().map(|(first_us, last_us)| micros_to_seconds(last_us - first_us));
    Schedule {
        finished: finished().count() as u64,
        waiting_s: Spread::of(waits.collect()),
        job_response_s: Spread::of(responses.collect()),
        bounded_slowdown: Spread::of(finished().map(slowdown).collect()),
        ..Schedule::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn item(arrival_us: i64, wait_us: Option<i64>) -> Item {
        Item {
            arrival_us,
            id: (1, 1),
            work_us: 1,
            fate: Fate::Finishes,
            failures: 0..0,
            cpu: None,
            memory: None,
            priority: None,
            class: None,
            user: None,
            is_apart: false,
            wait_us,
            ended_us: None,
            more: None,
        }
    }

    proptest! {
        /// Promise: the waits of all tasks up to the end of the window, spread over time; against a sum
        /// task by task and stretch by stretch.
        #[test]
        fn waiting_tasks_are_counted_over_time(
            tasks in prop::collection::vec((0..5_000_000_i64, prop::option::of(0..4_000_000_i64)), 1..20),
            end_us in 4_000_000..6_000_000_i64,
        ) {
            let mut items: Vec<Item> = tasks
                .iter()
                .map(|&(arrival_us, wait_us)| item(arrival_us, wait_us))
                .collect();
            items.sort_by_key(|item| item.arrival_us);
            let found = waiting(&items, end_us);
            let start_us = items[0].arrival_us;
            let starts = items.iter().filter_map(|item| Some(item.arrival_us + item.wait_us?));
            let last_us = starts.max().unwrap_or(start_us).min(end_us);
            let length_us = (last_us - start_us) / 400;
            if length_us <= 0 {
                prop_assert_eq!(found, []);
                return Ok(());
            }
            prop_assert_eq!(found.len(), 400);
            for (idx, (time_s, mean)) in (0..).zip(&found) {
                let [from_us, to_us] = [idx, idx + 1].map(|idx| start_us + length_us * idx);
                let overlap = |item: &Item| {
                    let end_us = item.arrival_us + item.wait_us.unwrap_or(0);
                    (end_us.min(to_us) - item.arrival_us.max(from_us)).max(0)
                };
                let sum_us: i64 = items.iter().map(overlap).sum();
                prop_assert!((time_s - micros_to_seconds(to_us)).abs() < 1e-9);
                let expected = micros_to_seconds(sum_us) / micros_to_seconds(length_us);
                prop_assert!((mean - expected).abs() < 1e-9, "{idx}: {mean}");
            }
        }
    }
}
