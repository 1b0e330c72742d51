//! How many tasks wait longer than a time, and how many have a larger slowdown, under each policy.
//!
//! In: the runs of a seed. Out: two plots with a curve per policy, which begin with the share of tasks
//! that wait 1 s or longer, so that all tasks are in them; none if hardly any task waits.

use super::densities::{SHORTEST_S, do_wait, values};
use super::{Run, tone};
use crate::charts::{Chart, Line, LineChart, PanelChart, Scale, Stroke};
use crate::digits::three_digits;
use crate::replay::metrics::{BOUND_S, fates};

/// Points of a curve per power of ten.
const PER_TEN: i32 = 20;

/// The chart; `None` for a single policy, or if hardly any task waits.
pub(super) fn chart(runs: &[Run], task_count: usize, caption: &str) -> Option<Chart> {
    if runs.len() < 2 {
        return None;
    }
    let fates: Vec<_> = runs.iter().map(|run| fates(&run.journal, task_count)).collect();
    let waits: Vec<Vec<f64>> = fates
        .iter()
        .map(|fates| sorted(values(task_count, |task| fates.waiting_s(task))))
        .collect();
    if !do_wait(&waits) {
        return None;
    }
    let slow: Vec<Vec<f64>> = fates
        .iter()
        .map(|fates| sorted(values(task_count, |task| fates.bounded_slowdown(task))))
        .collect();
    let told = runs.iter().zip(&waits).zip(&slow).map(|((run, waits), slow)| {
        format!(
            "Under {} {} % of the tasks wait a minute or longer, and {} % of the finished tasks have a \
            slowdown of 10 or more.",
            run.label,
            three_digits(share_from(waits, 60.0) * 100.0),
            three_digits(share_from(slow, 10.0) * 100.0)
        )
    });
    let told = told.collect::<Vec<String>>().join(" ");
    let plot = |values: &[Vec<f64>], from: f64, [x_axis, y_axis]: [&str; 2]| LineChart {
        title: String::new(),
        caption: String::new(),
        x_axis: x_axis.to_owned(),
        y_axis: y_axis.to_owned(),
        x_scale: Scale::Log,
        lines: runs
            .iter()
            .zip(values)
            .enumerate()
            .map(|(place, (run, values))| Line {
                name: run.label.clone(),
                points: curve(values, from),
                band: Vec::new(),
                tone: tone(place),
                stroke: Stroke::Straight,
            })
            .collect(),
    };
    Some(Chart::Panels(PanelChart {
        title: "How many tasks wait longer than a time".to_owned(),
        caption: format!(
            "{told} Slowdown: response over running time, which counts as {BOUND_S} s at least. {caption}"
        ),
        panels: vec![
            plot(&waits, SHORTEST_S, ["time (s)", "tasks that wait so long or longer (%)"]),
            plot(&slow, 1.0, ["bounded slowdown", "finished tasks with so much or more (%)"]),
        ],
        columns: 2,
    }))
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The share of sorted values from a bound on.
#[expect(clippy::cast_precision_loss, reason = "tasks are far below 2^53")]
fn share_from(sorted: &[f64], bound: f64) -> f64 {
    let below = sorted.partition_point(|value| *value < bound);
    (sorted.len() - below) as f64 / sorted.len().max(1) as f64
}

/// The share of sorted values from each of many bounds on, in per cent, from the first bound to the one
/// that no value reaches.
fn curve(sorted: &[f64], first: f64) -> Vec<(f64, f64)> {
    let bound = |idx: i32| first * 10_f64.powf(f64::from(idx) / f64::from(PER_TEN));
    let mut points: Vec<(f64, f64)> = Vec::new();
    for bound in (0..).map(bound) {
        let share = share_from(sorted, bound) * 100.0;
        points.push((bound, share));
        if share <= 0.0 {
            return points;
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Promise: each point of a curve is the share of all values that reach it, and the curve ends
        /// where none does.
        #[test]
        fn a_curve_holds_all_values(
            // Some are at a bound of the curve.
            drawn in prop::collection::vec(
                prop_oneof![Just(0.0), Just(1.0), Just(10.0), 1e-3..1e6_f64], 0..50),
        ) {
            let count = f64::from(u32::try_from(drawn.len()).unwrap());
            let points = curve(&sorted(drawn.clone()), SHORTEST_S);
            for &(bound, share) in &points {
                let reach = drawn.iter().filter(|value| bound <= **value).count();
                let reach = f64::from(u32::try_from(reach).unwrap());
                prop_assert!((share - 100.0 * reach / count.max(1.0)).abs() < 1e-9);
            }
            prop_assert_eq!(points[0].0, SHORTEST_S);
            let (last, rest) = points.split_last().unwrap();
            prop_assert!(last.1 == 0.0 && rest.iter().all(|point| 0.0 < point.1));
        }
    }
}
