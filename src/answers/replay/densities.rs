//! Distributions of the waits and slowdowns of tasks under two policies, in two plots.
//!
//! In: the runs of a seed. Out: two plots, each with the share of tasks per bin of a logarithmic
//! axis under the first policy and under the one with the shortest mean response among the others.
//! Bins are counted, not smoothed. The first bin of slowdowns has all tasks that hardly waited, and
//! next to it the others would be too small to see: it is not drawn, and the caption says so. If
//! hardly any task waits under either policy, there is no chart.

use std::collections::BTreeMap;

use super::{Run, tone};
use crate::charts::{Chart, Line, LineChart, PanelChart, Scale, Tone};
use crate::digits::three_digits;
use crate::replay::metrics::{BOUND_S, fates};

/// Bins per power of ten.
const PER_TEN: i32 = 5;

/// Shorter waits are not drawn, since a logarithmic axis has no 0; the caption gives their share.
pub(super) const SHORTEST_S: f64 = 1.0;

/// The least share of tasks that wait under one of the policies: with fewer, a plot shows nothing.
const WAITING_MIN: f64 = 0.01;

/// The places of the two runs that are compared: the first, and the one with the shortest mean
/// response among the others.
fn compared(runs: &[Run]) -> Option<[usize; 2]> {
    let (first, others) = runs.split_first()?;
    let mean_s = |run: &Run| Some(run.metrics.responses_of_whole_jobs()?.mean);
    mean_s(first)?;
    let best = (1..)
        .zip(others)
        .filter_map(|(place, run)| Some((mean_s(run)?, place)))
        .min_by(|one, two| one.0.total_cmp(&two.0));
    Some([0, best?.1])
}

/// The chart; `None` for a single policy, or if hardly any task waits.
pub(super) fn chart(runs: &[Run], task_count: usize, caption: &str) -> Option<Chart> {
    let places = compared(runs)?;
    let (both, tones) = (places.map(|place| &runs[place]), places.map(tone));
    let fates = both.map(|run| fates(&run.journal, task_count));
    let waits = fates.each_ref().map(|fates| values(task_count, |task| fates.waiting_s(task)));
    if !do_wait(&waits) {
        return None;
    }
    let slow =
        fates.each_ref().map(|fates| values(task_count, |task| fates.bounded_slowdown(task)));
    let at_once = waits.each_ref().map(|waits| share_below(waits, SHORTEST_S));
    let told = both.iter().zip(&at_once).zip(&slow).map(|((run, at_once), slow)| {
        #[expect(clippy::cast_precision_loss, reason = "tasks are far below 2^53")]
        let mean = slow.iter().sum::<f64>() / slow.len().max(1) as f64;
        format!(
            "under {} {:.1} % of the tasks start within {SHORTEST_S} s, and the mean slowdown is {}",
            run.label,
            at_once * 100.0,
            three_digits(mean)
        )
    });
    let told = told.collect::<Vec<String>>().join("; ");
    let names = both.map(|run| run.label.as_str());
    let curves = [(names[0], tones[0]), (names[1], tones[1])];
    Some(Chart::Panels(PanelChart {
        title: "Waiting and slowdown of tasks under two policies".to_owned(),
        caption: format!(
            "{}{}. {PER_TEN} bins per power of ten, counted, not smoothed; waits below \
             {SHORTEST_S} s and slowdowns below {:.2} (the first bin) are not drawn. Slowdown: response over \
             running time, which counts as {BOUND_S} s at least. {caption}",
            told[..1].to_uppercase(),
            &told[1..],
            edge(1)
        ),
        panels: vec![
            plot(curves, &waits, ["waiting (s)", "tasks (%)"], SHORTEST_S),
            plot(curves, &slow, ["bounded slowdown", "finished tasks (%)"], edge(1)),
        ],
        columns: 2,
    }))
}

/// The known values of all tasks.
pub(super) fn values(task_count: usize, of: impl Fn(usize) -> Option<f64>) -> Vec<f64> {
    (0..task_count).filter_map(of).collect()
}

/// Whether enough tasks wait under one of some policies.
pub(super) fn do_wait(waits: &[Vec<f64>]) -> bool {
    waits
        .iter()
        .any(|waits| !waits.is_empty() && WAITING_MIN <= 1.0 - share_below(waits, SHORTEST_S))
}

/// The share of values below a bound.
#[expect(clippy::cast_precision_loss, reason = "tasks are far below 2^53")]
fn share_below(values: &[f64], bound: f64) -> f64 {
    let below = values.iter().filter(|value| **value < bound).count();
    below as f64 / values.len().max(1) as f64
}

/// The lower edge of a bin.
fn edge(bin: i32) -> f64 {
    10_f64.powf(f64::from(bin) / f64::from(PER_TEN))
}

/// The bin of a value above 0.
#[expect(clippy::cast_possible_truncation, reason = "a power of ten of a number")]
fn bin_of(value: f64) -> i32 {
    (value.log10() * f64::from(PER_TEN)).floor() as i32
}

/// A step for every bin from the first to the last with a value, in per cent of all values; the
/// last step is 0.
#[expect(clippy::cast_precision_loss, reason = "tasks are far below 2^53")]
fn steps(values: &[f64], shortest: f64) -> Vec<(f64, f64)> {
    let mut bins: BTreeMap<i32, u64> = BTreeMap::new();
    for &value in values.iter().filter(|value| shortest <= **value && value.is_finite()) {
        *bins.entry(bin_of(value)).or_default() += 1;
    }
    let ends = bins.keys().next().copied().zip(bins.keys().next_back().copied());
    let Some((first, last)) = ends else { return Vec::new() };
    let share = |bin: i32| bins.get(&bin).map_or(0.0, |&count| count as f64);
    let all = values.len() as f64 / 100.0;
    (first..=last + 1).map(|bin| (edge(bin), share(bin) / all)).collect()
}

fn plot(
    curves: [(&str, Tone); 2],
    values: &[Vec<f64>; 2],
    [x_axis, y_axis]: [&str; 2],
    shortest: f64,
) -> LineChart {
    let lines = curves.iter().zip(values).map(|((name, tone), values)| {
        Line::steps((*name).to_owned(), steps(values, shortest), *tone)
    });
    LineChart {
        title: String::new(),
        caption: String::new(),
        x_axis: x_axis.to_owned(),
        y_axis: y_axis.to_owned(),
        x_scale: Scale::Log,
        lines: lines.collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bin_begins_with_its_edge() {
        for bin in -10..40 {
            assert_eq!(bin_of(edge(bin)), bin);
            assert_eq!(bin_of(edge(bin) * 0.999_999), bin - 1);
        }
        assert_eq!(steps(&[1.0, 1.2, 10.0, 0.0], 1.0).first(), Some(&(1.0, 50.0)));
        assert!(steps(&[0.0], 1.0).is_empty());
    }

    #[test]
    fn a_handful_of_waits_is_no_picture() {
        let waits = |some: usize| {
            (0..1000).map(|at| if at < some { 1.0 } else { 0.9 }).collect::<Vec<f64>>()
        };
        assert!(do_wait(&[waits(0), waits(11)]) && do_wait(&[waits(11), waits(0)]));
        assert!(!do_wait(&[waits(9), waits(9)]));
        assert!(!do_wait(&[Vec::new(), Vec::new()]));
    }

    proptest! {
        /// The tasks that are drawn and those below the shortest wait add up to all tasks.
        #[test]
        fn steps_and_the_rest_are_all_values(
            values in prop::collection::vec(prop_oneof![Just(0.0), 1e-3..1e6_f64], 1..50),
        ) {
            let drawn: f64 = steps(&values, SHORTEST_S).iter().map(|step| step.1).sum();
            let told = share_below(&values, SHORTEST_S) * 100.0;
            prop_assert!((drawn + told - 100.0).abs() < 1e-9);
        }
    }
}
