//! The lines of a figure: the ratio to the work queue, by number of copies.

use rayon::prelude::*;

use super::runs::{Setting, makespan, plain, policy, run};
use super::settings::Settings;
use crate::claims::{Cell, Claim};
use crate::replay::experiments::{Curve, Estimate, Point};

/// Copies in addition to the original; `None` means unlimited (x on the paper's axis).
const COPIES: [Option<u32>; 5] = [Some(1), Some(2), Some(3), Some(4), None];

/// A reading of the paper's ratio of speed-up to the work queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ratio {
    /// `T_WQ / T - 1`.
    SpeedUp,
    /// `1 - T / T_WQ`.
    Saving,
}

impl Ratio {
    pub(super) const ALL: [Self; 2] = [Self::SpeedUp, Self::Saving];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::SpeedUp => "T_WQ / T - 1",
            Self::Saving => "1 - T / T_WQ",
        }
    }

    /// The ratio in percent; `relative` is `T / T_WQ`.
    fn percent(self, relative: f64) -> f64 {
        100.0
            * match self {
                Self::SpeedUp => 1.0 / relative - 1.0,
                Self::Saving => 1.0 - relative,
            }
    }
}

/// Makespans with each number of copies divided by that of the work queue, run by run.
pub(super) struct Line {
    name: String,
    relative: Vec<[f64; COPIES.len()]>,
}

impl Line {
    pub(super) fn of(name: String, setting: &Setting, settings: &Settings, runs: usize) -> Self {
        let policies = COPIES.map(|copies| policy(copies, "forward"));
        let relative = (0..runs)
            .into_par_iter()
            .map(|number| {
                let seed = settings.seed + number as u64;
                let (cluster, workload) = (setting.cluster(settings, seed), setting.workload(seed));
                let base = makespan(&run(&cluster, &workload, &plain(), seed));
                policies
                    .each_ref()
                    .map(|policy| makespan(&run(&cluster, &workload, policy, seed)) / base)
            })
            .collect();
        Self { name, relative }
    }

    /// The ratio with a number of copies, run by run, %.
    fn ratios(&self, ratio: Ratio, copies_idx: usize) -> Vec<f64> {
        self.relative.iter().map(|run| ratio.percent(run[copies_idx])).collect()
    }

    pub(super) fn curve(&self, ratio: Ratio) -> Curve {
        let points = COPIES.iter().enumerate().map(|(idx, copies)| {
            let x = copies.map_or("unlimited".to_owned(), |copies| copies.to_string());
            Point { x, value: Estimate::of(&self.ratios(ratio, idx)) }
        });
        Curve { name: format!("{}, {}", self.name, ratio.name()), points: points.collect() }
    }
}

fn copies_name(idx: usize) -> String {
    COPIES[idx].map_or("unlimited".to_owned(), |copies| format!("R = {copies}"))
}

/// How much the ratio rises with each further copy, line by line and run by run.
pub(super) fn steps_along(lines: &[Line], ratio: Ratio) -> Vec<Cell> {
    let mut cells = Vec::new();
    for line in lines {
        for idx in 1..COPIES.len() {
            let (before, after) = (line.ratios(ratio, idx - 1), line.ratios(ratio, idx));
            let rise = after.iter().zip(before).map(|(after, before)| after - before);
            let name = format!("{}, {} to {}", line.name, copies_name(idx - 1), copies_name(idx));
            cells.push(Cell::new(name, rise.collect()));
        }
    }
    cells
}

/// How much the ratio rises from each line to the next, for each number of copies.
pub(super) fn steps_across(lines: &[Line], ratio: Ratio) -> Vec<Cell> {
    let mut cells = Vec::new();
    for pair in lines.windows(2) {
        for idx in 0..COPIES.len() {
            let (before, after) = (pair[0].ratios(ratio, idx), pair[1].ratios(ratio, idx));
            let rise = after.iter().zip(before).map(|(after, before)| after - before);
            let name = format!("{} to {}, {}", pair[0].name, pair[1].name, copies_name(idx));
            cells.push(Cell::new(name, rise.collect()));
        }
    }
    cells
}

/// The runs of the point with the largest or smallest mean ratio.
pub(super) fn extreme(lines: &[Line], ratio: Ratio, is_largest: bool) -> Vec<f64> {
    let points = lines.iter().flat_map(|line| (0..COPIES.len()).map(|idx| line.ratios(ratio, idx)));
    let mean = |values: &Vec<f64>| Estimate::of(values).mean;
    let by_mean = |one: &Vec<f64>, other: &Vec<f64>| mean(one).total_cmp(&mean(other));
    let found = if is_largest { points.max_by(by_mean) } else { points.min_by(by_mean) };
    found.unwrap_or_default()
}

/// A claim about the ratio, under both readings.
pub(super) fn under_both(claim: &str, judge: impl Fn(Ratio, &str) -> Claim) -> Vec<Claim> {
    Ratio::ALL.map(|ratio| judge(ratio, &format!("{claim} ({})", ratio.name()))).to_vec()
}
