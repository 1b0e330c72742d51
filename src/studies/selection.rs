//! How far the numbers of a sweep can be trusted: honest selection and bootstrap.
//!
//! In: a [`View`] of a study and its rules. Out: a rule and a parameter chosen on the first part
//! of the trace and scored on the rest, and intervals from resampling jobs. A choice uses nothing that
//! was not known when it was made: only jobs that had ended by then.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::fold::{JobRow, KillStep};
use super::kill_sweep::{StepSums, sums};
use super::ledger::{UNMATCHED, View};
use super::rules::RuleGrid;
use crate::units::micros_to_seconds;

/// How a rule with a parameter did on some jobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The rule; `never` for never killing.
    pub rule: String,
    /// The parameter; `None` for never killing.
    pub threshold: Option<i64>,
    /// Net CPU saved.
    pub net_cpu: f64,
    /// Finished jobs harmed.
    pub harmed_jobs: u64,
    /// Net CPU less the price of the harmed jobs.
    pub gain: f64,
}

/// A rule and its parameter, chosen on the past and scored on the future.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// What was chosen among: one rule, or all of them.
    pub among: String,
    /// The choice on the past, and how it did there.
    pub train: Score,
    /// What it did in the future.
    pub test: Score,
    /// The best choice in hindsight, and what it would have done in the future.
    pub hindsight: Score,
}

/// The choices for a price of a harmed job.
#[derive(Clone, Debug, Serialize)]
pub struct Selection {
    /// Where the past ends, s of the trace clock.
    pub split_s: f64,
    /// The price of a harmed job, CPU-seconds.
    pub price: f64,
    /// Jobs that had ended by the split.
    pub train_jobs: u64,
    /// Jobs submitted after it.
    pub test_jobs: u64,
    /// The best parameter of each rule.
    pub rules: Vec<Choice>,
    /// The best of all rules and parameters together.
    pub chosen: Choice,
}

/// Chooses each rule's parameter, and the best of all rules, on jobs ended before `split_us` for
/// a `price` in CPU-seconds per harmed job, and scores the choices on jobs submitted from then on.
pub fn select(view: &View<'_>, rules: &[RuleGrid], split_us: i64, price: f64) -> Selection {
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
    let mut choices = Vec::new();
    let (mut all_past, mut all_future) = (Vec::new(), Vec::new());
    for (rule_idx, rule) in rules.iter().enumerate() {
        let past = scores(&sums(view, rule_idx, rule.grid.len(), is_past), rule, price);
        let future = scores(&sums(view, rule_idx, rule.grid.len(), is_future), rule, price);
        choices.push(choice(&rule.to_string(), &past, &future));
        // Never killing is every rule's last choice, and stands once at the end of all of them.
        all_past.extend_from_slice(&past[..rule.grid.len()]);
        all_future.extend_from_slice(&future[..rule.grid.len()]);
    }
    all_past.push(never());
    all_future.push(never());
    Selection {
        split_s: micros_to_seconds(split_us),
        price,
        train_jobs: count(&is_past),
        test_jobs: count(&is_future),
        rules: choices,
        chosen: choice("all rules", &all_past, &all_future),
    }
}

fn choice(among: &str, past: &[Score], future: &[Score]) -> Choice {
    let chosen = best(past);
    Choice {
        among: among.to_owned(),
        train: past[chosen].clone(),
        test: future[chosen].clone(),
        hindsight: future[best(future)].clone(),
    }
}

fn never() -> Score {
    Score { rule: "never".to_owned(), threshold: None, net_cpu: 0.0, harmed_jobs: 0, gain: 0.0 }
}

/// One score per parameter, and never killing last.
fn scores(sums: &[StepSums], rule: &RuleGrid, price: f64) -> Vec<Score> {
    let mut scores: Vec<Score> = sums
        .iter()
        .zip(&rule.grid)
        .map(|(sum, &threshold)| {
            let net_cpu = sum.net().seconds();
            #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
            let gain = net_cpu - price * sum.harmed_jobs as f64;
            Score {
                rule: rule.to_string(),
                threshold: Some(threshold),
                net_cpu,
                harmed_jobs: sum.harmed_jobs,
                gain,
            }
        })
        .collect();
    scores.push(never());
    scores
}

/// The largest gain; the most lenient parameter, or the later rule, where several are equal.
fn best(scores: &[Score]) -> usize {
    let mut best = scores.len() - 1;
    for (idx, score) in scores.iter().enumerate().rev() {
        if scores[best].gain < score.gain {
            best = idx;
        }
    }
    best
}

/// Intervals of one parameter under resampling of jobs: 2.5 % and 97.5 % quantiles.
#[derive(Clone, Debug, Serialize)]
pub struct Interval {
    /// CPU saved by outcome, as a share of all CPU of the outcome; null where a resampling had
    /// no CPU of it.
    pub saved_share: Map<String, Value>,
    /// Net CPU saved, as a share of the CPU of jobs that did not finish.
    pub net_share: Option<(f64, f64)>,
    /// Finished jobs harmed.
    pub harmed_jobs: Option<(f64, f64)>,
    /// CPU destroyed, as a share of the CPU of finished jobs.
    pub destroyed_cpu_share: Option<(f64, f64)>,
}

/// Resamples jobs `rounds` times (Poisson bootstrap: each job counts a Poisson(1) number of
/// times, the same one for every rule) and returns the spread of each parameter of each rule.
pub fn bootstrap(
    view: &View<'_>,
    rules: &[RuleGrid],
    rounds: usize,
    seed: u64,
) -> Vec<Vec<Interval>> {
    let jobs: Vec<Job> = view.study.jobs.iter().map(|row| Job::of(view, row)).collect();
    let steps: Vec<usize> = rules.iter().map(|rule| rule.grid.len()).collect();
    let outcome_count = view.outcomes().len() + 1;
    let resampled: Vec<Vec<f64>> = (0..rounds)
        .into_par_iter()
        .map(|round| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(round as u64);
            resample(&jobs, &steps, outcome_count, || poisson_1(rng.random::<f64>()))
        })
        .collect();
    let mut figure = 0;
    let mut next = || {
        let mut values: Vec<f64> = resampled.iter().map(|figures| figures[figure]).collect();
        figure += 1;
        bounds(&mut values)
    };
    let names: Vec<&str> = view.outcomes().iter().copied().chain([UNMATCHED]).collect();
    let mut interval = || Interval {
        saved_share: names.iter().map(|&name| (name.to_owned(), json!(next()))).collect(),
        net_share: next(),
        harmed_jobs: next(),
        destroyed_cpu_share: next(),
    };
    steps.iter().map(|&steps| (0..steps).map(|_| interval()).collect()).collect()
}

/// What a job adds to a resampling.
struct Job {
    outcome: usize,
    is_finished: bool,
    /// All its CPU, s.
    cpu: f64,
    /// By rule and parameter: CPU saved and destroyed, s, if a task of it is condemned.
    rules: Vec<Vec<(f64, f64)>>,
}

impl Job {
    fn of(view: &View<'_>, row: &JobRow) -> Self {
        let step = |step: &KillStep| {
            (view.part_of(row, &step.saved).seconds(), view.part_of(row, &step.spent).seconds())
        };
        Self {
            outcome: view.outcome(row).unwrap_or(view.outcomes().len()),
            is_finished: view.is_finished(row),
            cpu: view.cpu_of(row).seconds(),
            rules: row.kills.iter().map(|rule| rule.steps.iter().map(step).collect()).collect(),
        }
    }
}

/// Sums of one parameter in one resampling.
#[derive(Clone)]
struct Resampled {
    saved: Vec<f64>,
    destroyed: f64,
    harmed: f64,
}

/// The figures of one resampling, in the order in which [`bootstrap`] takes them out again.
fn resample(
    jobs: &[Job],
    steps: &[usize],
    outcome_count: usize,
    mut weight: impl FnMut() -> f64,
) -> Vec<f64> {
    let mut totals = vec![0.0; outcome_count];
    let blank = Resampled { saved: vec![0.0; outcome_count], destroyed: 0.0, harmed: 0.0 };
    let mut sums: Vec<Vec<Resampled>> =
        steps.iter().map(|&steps| vec![blank.clone(); steps]).collect();
    for job in jobs {
        let weight = weight();
        if weight == 0.0 {
            continue;
        }
        totals[job.outcome] += weight * job.cpu;
        for (sums, own) in sums.iter_mut().zip(&job.rules) {
            for (sum, &(saved, destroyed)) in sums.iter_mut().zip(own) {
                sum.saved[job.outcome] += weight * saved;
                if job.is_finished {
                    sum.destroyed += weight * destroyed;
                    sum.harmed += weight;
                }
            }
        }
    }
    let share = |part: f64, whole: f64| if whole == 0.0 { f64::NAN } else { part / whole };
    let lost: f64 = totals[1..].iter().sum();
    let mut figures = Vec::new();
    for sum in sums.iter().flatten() {
        figures.extend(sum.saved.iter().zip(&totals).map(|(&saved, &all)| share(saved, all)));
        let net = sum.saved[1..].iter().sum::<f64>() - sum.destroyed;
        figures.extend([share(net, lost), sum.harmed, share(sum.destroyed, totals[0])]);
    }
    figures
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

/// The 2.5 % and 97.5 % quantiles; none where a value is not known.
fn bounds(values: &mut [f64]) -> Option<(f64, f64)> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    values.sort_by(f64::total_cmp);
    super::quantile(values, 0.025).zip(super::quantile(values, 0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_lenient_of_equal_choices_is_taken() {
        let score = |threshold, gain| Score { threshold: Some(threshold), gain, ..never() };
        assert_eq!(best(&[score(10, 5.0), score(20, 5.0), never()]), 1);
        assert_eq!(best(&[score(10, -1.0), never()]), 1);
        let past = [score(10, 5.0), score(20, 7.0), never()];
        let future = [score(10, 9.0), score(20, -3.0), never()];
        let found = choice("events", &past, &future);
        assert_eq!((found.train.threshold, found.test.gain), (Some(20), -3.0));
        assert_eq!(found.hindsight.threshold, Some(10));
    }

    #[test]
    fn a_resampling_that_takes_each_job_once_gives_the_sweep() {
        let job = |outcome, cpu, steps: &[(f64, f64)]| Job {
            outcome,
            is_finished: outcome == 0,
            cpu,
            rules: vec![steps.to_vec()],
        };
        // Finished: 10 of 40 saved, 30 destroyed. Failed: 8 of 20, then 2 of 20 saved.
        let jobs = [job(0, 40.0, &[(10.0, 30.0)]), job(1, 20.0, &[(8.0, 12.0), (2.0, 18.0)])];
        let figures = resample(&jobs, &[2], 3, || 1.0);
        let strict = [0.25, 0.4, f64::NAN, (8.0 - 30.0) / 20.0, 1.0, 0.75];
        let lenient = [0.0, 0.1, f64::NAN, 0.1, 0.0, 0.0];
        for (found, expected) in figures.iter().zip(strict.iter().chain(&lenient)) {
            assert!(found == expected || (found.is_nan() && expected.is_nan()), "{figures:?}");
        }
        assert_eq!(figures.len(), 12);
        assert_eq!(bounds(&mut [0.0, f64::NAN]), None);
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
