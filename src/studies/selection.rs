//! How far the numbers of a sweep can be trusted: honest selection and bootstrap.
//!
//! In: a [`View`] of a study and its rules. Out: a parameter chosen on the first part of the
//! trace and scored on the rest, and intervals from resampling jobs. A choice uses nothing that
//! was not known when it was made: only jobs that had ended by then.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::fold::JobRow;
use super::kill_sweep::{StepSums, sums};
use super::ledger::View;
use super::rules::RuleGrid;
use crate::units::CpuTime;

/// How a parameter did on some jobs.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    /// The parameter; `None` for never killing.
    pub threshold: Option<i64>,
    /// Net CPU saved.
    pub net_cpu: f64,
    /// Finished jobs harmed.
    pub harmed_jobs: u64,
    /// Net CPU less the price of the harmed jobs.
    pub gain: f64,
}

/// A parameter chosen on the past and scored on the future.
#[derive(Clone, Debug, Serialize)]
pub struct Selection {
    /// The rule.
    pub rule: String,
    /// Jobs that had ended by the split.
    pub train_jobs: u64,
    /// Jobs submitted after it.
    pub test_jobs: u64,
    /// The choice on the past.
    pub train: Score,
    /// What it did in the future.
    pub test: Score,
    /// What the best choice in hindsight would have done there.
    pub hindsight: Score,
}

/// Chooses each rule's parameter on jobs ended before `split_us` for a `price` in CPU-seconds per
/// harmed job, and scores it on jobs submitted from then on.
pub fn select(view: &View<'_>, rules: &[RuleGrid], split_us: i64, price: f64) -> Vec<Selection> {
    let is_past = |row: &JobRow| {
        row.job.as_ref().is_some_and(|job| job.is_ended() && job.last_event_us < split_us)
    };
    let is_future = |row: &JobRow| {
        row.job
            .as_ref()
            .is_some_and(|job| job.first_submit_us.is_some_and(|submit| split_us <= submit))
    };
    let count = |is_in: &dyn Fn(&JobRow) -> bool| {
        view.study.jobs.iter().filter(|row| is_in(row)).count() as u64
    };
    rules
        .iter()
        .enumerate()
        .map(|(rule_idx, rule)| {
            let past = scores(&sums(view, rule_idx, rule.grid.len(), is_past), &rule.grid, price);
            let future =
                scores(&sums(view, rule_idx, rule.grid.len(), is_future), &rule.grid, price);
            let chosen = best(&past);
            Selection {
                rule: rule.to_string(),
                train_jobs: count(&is_past),
                test_jobs: count(&is_future),
                train: past[chosen].clone(),
                test: future[chosen].clone(),
                hindsight: future[best(&future)].clone(),
            }
        })
        .collect()
}

/// One score per parameter, and never killing last.
fn scores(sums: &[StepSums], grid: &[i64], price: f64) -> Vec<Score> {
    let mut scores: Vec<Score> = sums
        .iter()
        .zip(grid)
        .map(|(sum, &threshold)| {
            let net_cpu = sum.net().seconds();
            #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
            let gain = net_cpu - price * sum.harmed_jobs as f64;
            Score { threshold: Some(threshold), net_cpu, harmed_jobs: sum.harmed_jobs, gain }
        })
        .collect();
    scores.push(Score { threshold: None, net_cpu: 0.0, harmed_jobs: 0, gain: 0.0 });
    scores
}

/// The largest gain; the most lenient parameter where several are equal.
fn best(scores: &[Score]) -> usize {
    let mut best = scores.len() - 1;
    for (idx, score) in scores.iter().enumerate().rev() {
        if scores[best].gain < score.gain {
            best = idx;
        }
    }
    best
}

/// Intervals of one parameter under resampling of jobs.
#[derive(Clone, Debug, Serialize)]
pub struct Interval {
    /// The parameter.
    pub threshold: i64,
    /// 2.5 % and 97.5 % quantiles of the net CPU saved, as a share of the CPU of jobs that
    /// did not finish.
    pub net_share: Option<(f64, f64)>,
    /// The same of the number of harmed jobs.
    pub harmed_jobs: (f64, f64),
}

/// Resamples jobs `rounds` times (Poisson bootstrap: each job counts a Poisson(1) number of
/// times) and returns the spread of each parameter of a rule.
pub fn bootstrap(
    view: &View<'_>,
    rule_idx: usize,
    rule: &RuleGrid,
    rounds: usize,
    seed: u64,
) -> Vec<Interval> {
    let mut nets = vec![Vec::with_capacity(rounds); rule.grid.len()];
    let mut harms = vec![Vec::with_capacity(rounds); rule.grid.len()];
    let prepared: Vec<(f64, Vec<(f64, f64)>)> =
        view.study.jobs.iter().map(|row| contributions(view, row, rule_idx)).collect();
    for round in 0..rounds {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(round as u64);
        let mut lost = 0.0;
        let mut net = vec![0.0; rule.grid.len()];
        let mut harm = vec![0.0; rule.grid.len()];
        for (cpu, steps) in &prepared {
            let weight = poisson_1(rng.random::<f64>());
            lost += weight * cpu;
            for (idx, (gain, harmed)) in steps.iter().enumerate() {
                net[idx] += weight * gain;
                harm[idx] += weight * harmed;
            }
        }
        for idx in 0..rule.grid.len() {
            nets[idx].push(if lost == 0.0 { f64::NAN } else { net[idx] / lost });
            harms[idx].push(harm[idx]);
        }
    }
    rule.grid
        .iter()
        .zip(nets.iter_mut().zip(&mut harms))
        .map(|(&threshold, (nets, harms))| Interval {
            threshold,
            net_share: Some(bounds(nets)).filter(|(low, high)| low.is_finite() && high.is_finite()),
            harmed_jobs: bounds(harms),
        })
        .collect()
}

/// What a job adds: CPU lost if it did not finish, and per parameter net CPU and harm.
fn contributions(view: &View<'_>, row: &JobRow, rule_idx: usize) -> (f64, Vec<(f64, f64)>) {
    let is_finished = view.is_finished(row);
    let lost = if is_finished { CpuTime::ZERO } else { view.cpu_of(row) };
    let steps = row.kills.get(rule_idx).map_or(&[][..], |kills| &kills.steps);
    let steps = steps
        .iter()
        .map(|step| {
            if is_finished {
                let harmed = if 0 < step.tasks { 1.0 } else { 0.0 };
                (-view.part_of(row, &step.spent).seconds(), harmed)
            } else {
                (view.part_of(row, &step.saved).seconds(), 0.0)
            }
        })
        .collect();
    (lost.seconds(), steps)
}

/// Turns a uniform number into a Poisson(1) one by inversion.
fn poisson_1(uniform: f64) -> f64 {
    let (mut count, mut term) = (0.0, (-1.0_f64).exp());
    let mut below = term;
    while below < uniform && count < 20.0 {
        count += 1.0;
        term /= count;
        below += term;
    }
    count
}

fn bounds(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (
        super::quantile(values, 0.025).unwrap_or(f64::NAN),
        super::quantile(values, 0.975).unwrap_or(f64::NAN),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_lenient_of_equal_choices_is_taken() {
        let score = |threshold, gain| Score { threshold, net_cpu: 0.0, harmed_jobs: 0, gain };
        assert_eq!(best(&[score(Some(10), 5.0), score(Some(20), 5.0), score(None, 0.0)]), 1);
        assert_eq!(best(&[score(Some(10), -1.0), score(None, 0.0)]), 1);
    }

    #[test]
    fn poisson_numbers_have_mean_one() {
        let rounds = 100_000;
        let mean = (0..rounds)
            .map(|idx| poisson_1((f64::from(idx) + 0.5) / f64::from(rounds)))
            .sum::<f64>()
            / f64::from(rounds);
        assert!((mean - 1.0).abs() < 1e-3, "{mean}");
    }
}
