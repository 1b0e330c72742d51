//! How many tasks wait longer than a time, under each policy.
//!
//! In: the runs of a seed. Out: a plot with a curve per policy; no plot if hardly any task waits. A
//! curve begins with the share of tasks that wait 1 s or longer, so it accounts for all tasks. The
//! record has a curve over the tasks with a known wait.

use super::{RECORD, Run, tone};
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::digits::{counted, three_digits};
use crate::replay::metrics::fates;

/// The number of points of a curve per power of ten.
const PER_TEN: i32 = 20;

/// Shorter waits are not drawn, because a logarithmic axis has no 0. The first point is the share
/// of tasks that wait at least this long.
const SHORTEST_S: f64 = 1.0;

/// The smallest share of waiting tasks, under at least one policy, for which there is a plot.
const WAITING_MIN: f64 = 0.01;

/// The chart; `None` for a single policy, or if hardly any task waits. `recorded` has the known
/// waits of the record, s.
pub(super) fn chart(
    runs: &[Run],
    (task_count, recorded): (usize, &[f64]),
    caption: &str,
) -> Option<Chart> {
    if runs.len() < 2 {
        return None;
    }
    let of = |run: &Run| {
        let fates = fates(&run.journal, task_count);
        sorted((0..task_count).filter_map(|task| fates.waiting_s(task)).collect())
    };
    let waits: Vec<Vec<f64>> = runs.iter().map(of).collect();
    if !do_wait(&waits) {
        return None;
    }
    let recorded = sorted(recorded.to_vec());
    let minute = |waits: &[f64]| three_digits(share_from(waits, 60.0) * 100.0);
    let told = runs
        .iter()
        .zip(&waits)
        .map(|(run, waits)| format!("{} % under {}", minute(waits), run.label));
    let told = told.collect::<Vec<String>>().join(", ");
    let record = if recorded.is_empty() {
        String::new()
    } else {
        format!(
            "; {RECORD}, {} % of the {} whose wait is known",
            minute(&recorded),
            counted(recorded.len() as u64, "task")
        )
    };
    let line = |name: &str, waits: &[f64], tone: Tone| Line {
        name: name.to_owned(),
        points: curve(waits, SHORTEST_S),
        band: Vec::new(),
        tone,
        stroke: Stroke::Straight,
    };
    let policies = runs.iter().zip(&waits).enumerate();
    let policies = policies.map(|(place, (run, waits))| line(&run.label, waits, tone(place)));
    let record_line = (!recorded.is_empty()).then(|| line(RECORD, &recorded, Tone::Grey));
    Some(Chart::Lines(LineChart {
        title: "How many tasks wait longer than a time".to_owned(),
        caption: format!("Tasks that wait a minute or longer: {told}{record}. {caption}"),
        x_axis: "time (s)".to_owned(),
        y_axis: "tasks that wait so long or longer (%)".to_owned(),
        x_scale: Scale::Log,
        y_from: 0.0,
        lines: policies.chain(record_line).collect(),
    }))
}

/// Whether enough tasks wait under at least one of the policies.
fn do_wait(waits: &[Vec<f64>]) -> bool {
    waits.iter().any(|waits| WAITING_MIN <= share_from(waits, SHORTEST_S))
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The share of sorted values that are at least `bound`.
#[expect(clippy::cast_precision_loss, reason = "tasks are far below 2^53")]
fn share_from(sorted: &[f64], bound: f64) -> f64 {
    let below = sorted.partition_point(|value| *value < bound);
    (sorted.len() - below) as f64 / sorted.len().max(1) as f64
}

/// For many bounds, the share of sorted values that are at least the bound, per cent. The last
/// bound is one that no value reaches.
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

    #[test]
    fn a_handful_of_waits_is_no_picture() {
        let waits =
            |some: usize| sorted((0..1000).map(|at| if at < some { 1.0 } else { 0.9 }).collect());
        assert!(do_wait(&[waits(0), waits(11)]) && do_wait(&[waits(11), waits(0)]));
        assert!(!do_wait(&[waits(9), waits(9)]));
        assert!(!do_wait(&[Vec::new(), Vec::new()]));
    }

    proptest! {
        /// Promise: each point of a curve is the share of all values that reach it, and the curve
        /// ends where no value does.
        #[test]
        fn a_curve_holds_all_values(
            // Some values are equal to a bound of the curve.
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
