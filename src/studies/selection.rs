//! How reliable the numbers of a sweep are: selection on past data, and bootstrap.
//!
//! In: the sums of a [`Study`]. Out: a rule and a parameter that are chosen on the first part of
//! the trace and tested on the rest, and intervals from resampled jobs. A choice uses only jobs
//! that had ended by the time of the choice.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::asked::UNMATCHED;
use super::fold::Study;
use super::named::Named;
use super::rules::RuleGrid;
use super::sums::{PartSums, StepSums};
use crate::units::{CpuTime, micros_to_seconds};

/// The result of a rule with a parameter on some jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Score {
    /// The rule; `never` for no kills.
    pub rule: String,
    /// The parameter; `None` for no kills.
    pub threshold: Option<i64>,
    /// Net CPU saved.
    pub net_cpu: f64,
    /// Finished jobs harmed.
    pub harmed_jobs: u64,
    /// Net CPU minus the price of the harmed jobs.
    pub gain: f64,
}

/// 95 % intervals of a [`Score`] over resampled jobs. Their JSON form is that of [`Interval`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Interval of the net CPU saved.
    pub net_cpu: (f64, f64),
    /// Interval of the finished jobs harmed.
    pub harmed_jobs: (f64, f64),
    /// Interval of the gain.
    pub gain: (f64, f64),
}

/// A rule and its parameter, chosen on the past and scored on the future.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Choice {
    /// The candidates: one rule, or all of them.
    pub among: String,
    /// The choice, and its result on the past.
    pub train: Score,
    /// Its result on the future.
    pub test: Score,
    /// Intervals of the result on the future, over resampled future jobs, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_interval: Option<Spread>,
    /// The best choice in hindsight, and its result on the future.
    pub hindsight: Score,
}

/// The choices at a price per harmed job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// End of the past, s of the trace clock.
    pub split_s: f64,
    /// The price of a harmed job, CPU-seconds.
    pub price: f64,
    /// Jobs with tasks loaded that had ended before the split.
    pub train_jobs: u64,
    /// Jobs with tasks loaded that were submitted at or after the split.
    pub test_jobs: u64,
    /// Those of them that finished.
    pub test_finished_jobs: Option<u64>,
    /// All CPU of the jobs submitted at or after the split. `None` in older results, or if amounts
    /// are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_cpu: Option<f64>,
    /// The best parameter of each rule.
    pub rules: Vec<Choice>,
    /// The best of all rules and parameters.
    pub chosen: Choice,
    /// A gentler choice: it saved nearly as much on the past as the best one, and harmed at most
    /// half as many jobs. Of all such choices it harmed the fewest jobs. `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gentler: Option<Choice>,
}

/// A rule saves nearly as much if its net saving is at least this share of that of the best rule.
pub const NEARLY: f64 = 0.9;

/// A rule is gentler if it harms at most this share of the jobs that the best rule harms.
pub const GENTLER: f64 = 0.5;

/// The number of jobs that had ended before the split, and of jobs that were submitted at or after
/// it; only jobs with tasks loaded count. `None` if the study has no split.
pub fn sides(study: &Study) -> Option<(u64, u64)> {
    study.split.as_ref().map(|split| (split.past.jobs, split.future.jobs))
}

/// Chooses the parameter of each rule, and the best of all rules, on jobs that ended before the
/// split. `price` is in CPU-seconds per harmed job. Scores the choices on jobs submitted at or
/// after the split. `None` if the study has no split.
pub fn select(study: &Study, price: f64) -> Option<Selection> {
    let split = study.split.as_ref()?;
    let mut choices = Vec::new();
    let (mut all_past, mut all_future) = (Vec::new(), Vec::new());
    let rounds = split.resampled.as_ref().map_or(&[][..], |resampled| &resampled.rounds);
    let spread = |place: Option<(usize, usize)>| spread(rounds, place, price);
    let mut places = Vec::new();
    for (rule_idx, rule) in study.asked.rules.iter().enumerate() {
        let past = scores(&split.past.rules[rule_idx], rule, price);
        let future = scores(&split.future.rules[rule_idx], rule, price);
        choices.push(choice(&rule.to_string(), &past, &future, |step| {
            spread((step < rule.grid.len()).then_some((rule_idx, step)))
        }));
        // "Kill nothing" is the last choice of every rule; here it is added once, after all rules.
        all_past.extend_from_slice(&past[..rule.grid.len()]);
        all_future.extend_from_slice(&future[..rule.grid.len()]);
        places.extend((0..rule.grid.len()).map(|step| (rule_idx, step)));
    }
    all_past.push(never());
    all_future.push(never());
    let chosen =
        choice("all rules", &all_past, &all_future, |idx| spread(places.get(idx).copied()));
    let gentler = gentler(&all_past, &chosen.train).map(|idx| Choice {
        among: "all rules, gentler".to_owned(),
        train: all_past[idx].clone(),
        test: all_future[idx].clone(),
        test_interval: spread(places.get(idx).copied()),
        hindsight: chosen.hindsight.clone(),
    });
    Some(Selection {
        split_s: micros_to_seconds(split.split_us),
        price,
        train_jobs: split.past.jobs,
        test_jobs: split.future.jobs,
        test_finished_jobs: Some(split.future.finished_jobs),
        test_cpu: study.knows_amounts().then(|| {
            let all: CpuTime = split.future.totals.iter().copied().sum();
            all.seconds()
        }),
        rules: choices,
        chosen,
        gentler,
    })
}

fn choice(
    among: &str,
    past: &[Score],
    future: &[Score],
    spread: impl Fn(usize) -> Option<Spread>,
) -> Choice {
    let chosen = best(past);
    Choice {
        among: among.to_owned(),
        train: past[chosen].clone(),
        test: future[chosen].clone(),
        test_interval: spread(chosen),
        hindsight: future[best(future)].clone(),
    }
}

/// Intervals of the score at a position (rule, parameter). Without a position, nothing is killed
/// and all values are 0. `None` if there are no rounds.
fn spread(rounds: &[PartSums], place: Option<(usize, usize)>, price: f64) -> Option<Spread> {
    let score = |round: &PartSums| match place {
        Some((rule, step)) => figures_of(&round.rules[rule][step], price),
        None => (0.0, 0.0, 0.0),
    };
    let drawn: Vec<_> = rounds.iter().map(score).collect();
    let of =
        |pick: fn(&(f64, f64, f64)) -> f64| bounds(&mut drawn.iter().map(pick).collect::<Vec<_>>());
    let (net_cpu, harmed_jobs, gain) = (of(|one| one.0)?, of(|one| one.1)?, of(|one| one.2)?);
    Some(Spread { net_cpu, harmed_jobs, gain })
}

/// Net CPU, harmed jobs and gain.
fn figures_of(sum: &StepSums, price: f64) -> (f64, f64, f64) {
    let net_cpu = sum.net().seconds();
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
    let harmed_jobs = sum.harmed_jobs as f64;
    (net_cpu, harmed_jobs, net_cpu - price * harmed_jobs)
}

fn never() -> Score {
    Score { rule: "never".to_owned(), threshold: None, net_cpu: 0.0, harmed_jobs: 0, gain: 0.0 }
}

/// One score per parameter, with no kills last.
fn scores(sums: &[StepSums], rule: &RuleGrid, price: f64) -> Vec<Score> {
    let mut scores: Vec<Score> = sums
        .iter()
        .zip(&rule.grid)
        .map(|(sum, &threshold)| {
            let (net_cpu, _, gain) = figures_of(sum, price);
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

/// The position of the largest gain. If gains are equal, the last position: the most lenient
/// parameter, or the later rule.
fn best(scores: &[Score]) -> usize {
    let mut best = scores.len() - 1;
    for (idx, score) in scores.iter().enumerate().rev() {
        if scores[best].gain < score.gain {
            best = idx;
        }
    }
    best
}

/// The position of the gentler score: it saves nearly as much as the best, and harms at most half
/// as many jobs. Of all such scores it harms the fewest jobs; of equal ones it has the largest net
/// saving. `None` if there is no such score.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn gentler(scores: &[Score], best: &Score) -> Option<usize> {
    best.threshold?;
    let most = GENTLER * best.harmed_jobs as f64;
    let is_gentler = |score: &Score| {
        let is_nearly = NEARLY * best.net_cpu <= score.net_cpu;
        let harms_less = score.harmed_jobs < best.harmed_jobs;
        is_nearly && harms_less && score.harmed_jobs as f64 <= most && score.threshold.is_some()
    };
    let all = scores.iter().enumerate().filter(|(_, score)| is_gentler(score));
    let order = |one: &Score, other: &Score| {
        one.harmed_jobs.cmp(&other.harmed_jobs).then(other.net_cpu.total_cmp(&one.net_cpu))
    };
    all.min_by(|one, other| order(one.1, other.1)).map(|(idx, _)| idx)
}

/// Intervals of one parameter over resampled jobs: the 2.5 % and 97.5 % quantiles. In JSON
/// each interval is two numbers, `<name>_low` and `<name>_high`, like the columns of tables.
#[derive(Clone, Debug, Default)]
pub struct Interval {
    /// CPU saved by outcome, as a share of all CPU of the outcome. `None` if any resampling had no
    /// CPU of that outcome.
    pub saved_share: Named<Option<(f64, f64)>>,
    /// Net CPU saved, as a share of the CPU of jobs that did not finish.
    pub net_share: Option<(f64, f64)>,
    /// Finished jobs harmed.
    pub harmed_jobs: Option<(f64, f64)>,
    /// CPU destroyed, as a share of the CPU of finished jobs.
    pub destroyed_cpu_share: Option<(f64, f64)>,
}

impl Interval {
    /// The interval of the saved share of an outcome.
    pub fn saved_share_of(&self, outcome: &str) -> Option<(f64, f64)> {
        *self.saved_share.get(outcome)?
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let saved = self.saved_share.iter();
        let saved = saved.map(|(outcome, bounds)| (format!("saved_share_{outcome}"), *bounds));
        let others = [
            ("net_share", self.net_share),
            ("harmed_jobs", self.harmed_jobs),
            ("destroyed_cpu_share", self.destroyed_cpu_share),
        ];
        let all = saved.chain(others.map(|(name, bounds)| (name.to_owned(), bounds)));
        to.collect_map(all.flat_map(|(name, bounds)| low_and_high(&name, bounds)))
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let all = Named::<Option<f64>>::deserialize(source)?;
        let saved = all.iter().filter_map(|(name, _)| {
            let outcome = name.strip_prefix("saved_share_")?.strip_suffix("_low")?;
            Some((outcome.to_owned(), of_both(&all, &format!("saved_share_{outcome}"))))
        });
        Ok(Self {
            saved_share: saved.collect(),
            net_share: of_both(&all, "net_share"),
            harmed_jobs: of_both(&all, "harmed_jobs"),
            destroyed_cpu_share: of_both(&all, "destroyed_cpu_share"),
        })
    }
}

impl<'de> Deserialize<'de> for Spread {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let all = Named::<Option<f64>>::deserialize(source)?;
        let of = |name: &str| of_both(&all, name).unwrap_or((f64::NAN, f64::NAN));
        Ok(Self { net_cpu: of("net_cpu"), harmed_jobs: of("harmed_jobs"), gain: of("gain") })
    }
}

/// The bounds that are stored as `<name>_low` and `<name>_high`.
fn of_both(all: &Named<Option<f64>>, name: &str) -> Option<(f64, f64)> {
    let bound = |side: &str| *all.get(&format!("{name}_{side}"))?;
    bound("low").zip(bound("high"))
}

impl Serialize for Spread {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let all =
            [("net_cpu", self.net_cpu), ("harmed_jobs", self.harmed_jobs), ("gain", self.gain)];
        to.collect_map(all.into_iter().flat_map(|(name, of)| low_and_high(name, Some(of))))
    }
}

fn low_and_high(name: &str, bounds: Option<(f64, f64)>) -> [(String, Option<f64>); 2] {
    let (low, high) = bounds.unzip();
    [(format!("{name}_low"), low), (format!("{name}_high"), high)]
}

/// The values of a resampling, in the order in which [`intervals`] reads them.
fn figures(draw: &PartSums) -> Vec<f64> {
    let share = |part: CpuTime, whole| part.share_of(whole).unwrap_or(f64::NAN);
    let lost: CpuTime = draw.totals[1..].iter().copied().sum();
    let mut figures = Vec::new();
    for sum in draw.rules.iter().flatten() {
        let saved = sum.saved.iter().zip(&draw.totals);
        figures.extend(saved.map(|(&saved, &all)| share(saved, all)));
        #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
        let harmed = sum.harmed_jobs as f64;
        figures.extend([share(sum.net(), lost), harmed, share(sum.destroyed, draw.totals[0])]);
    }
    figures
}

/// Intervals of each parameter of each rule over resampled jobs; empty if none were requested.
pub fn intervals(study: &Study) -> Vec<Vec<Interval>> {
    let Some(resampled) = &study.resampled else { return Vec::new() };
    let rounds: Vec<Vec<f64>> = resampled.rounds.iter().map(figures).collect();
    let mut figure = 0;
    let mut next = || {
        let mut values: Vec<f64> = rounds.iter().map(|figures| figures[figure]).collect();
        figure += 1;
        bounds(&mut values)
    };
    let names: Vec<&'static str> = study.outcomes().iter().copied().chain([UNMATCHED]).collect();
    let mut interval = || Interval {
        saved_share: names.iter().map(|&name| (name, next())).collect(),
        net_share: next(),
        harmed_jobs: next(),
        destroyed_cpu_share: next(),
    };
    let rules = study.asked.rules.iter();
    rules.map(|rule| rule.grid.iter().map(|_| interval()).collect()).collect()
}

/// The 2.5 % and 97.5 % quantiles; `None` if a value is unknown.
fn bounds(values: &mut [f64]) -> Option<(f64, f64)> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    values.sort_by(f64::total_cmp);
    super::quantile(values, 0.025).zip(super::quantile(values, 0.975))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::asked::{Asked, JobRow, KillStep};
    use super::super::rules::Rule;
    use super::*;

    #[test]
    fn the_most_lenient_of_equal_choices_is_taken() {
        let score = |threshold, gain| Score { threshold: Some(threshold), gain, ..never() };
        assert_eq!(best(&[score(10, 5.0), score(20, 5.0), never()]), 1);
        assert_eq!(best(&[score(10, -1.0), never()]), 1);
        let past = [score(10, 5.0), score(20, 7.0), never()];
        let future = [score(10, 9.0), score(20, -3.0), never()];
        let found = choice("events", &past, &future, |_| None);
        assert_eq!((found.train.threshold, found.test.gain), (Some(20), -3.0));
        assert_eq!(found.hindsight.threshold, Some(10));
    }

    proptest! {
        /// Promise: the candidates are the scores that save at least 90 % of the saving of the best
        /// score, and harm fewer jobs and at most half as many. No candidate harms fewer jobs than
        /// the gentler choice. Without candidates there is no gentler choice.
        #[test]
        fn the_gentler_choice_harms_fewest_of_those_that_save_nearly_as_much(
            drawn in prop::collection::vec((0_u64..12, -5_i32..30), 1..12),
        ) {
            let of = |(harmed_jobs, net): (u64, i32)| {
                let net_cpu = f64::from(net);
                Score { threshold: Some(1), net_cpu, harmed_jobs, gain: net_cpu, ..never() }
            };
            let mut scores: Vec<Score> = drawn.into_iter().map(of).collect();
            scores.push(never());
            let best = scores[best(&scores)].clone();
            let fits = |score: &Score| {
                let harms_less = score.harmed_jobs < best.harmed_jobs;
                let is_nearly = 9.0 * best.net_cpu <= 10.0 * score.net_cpu + 1e-9;
                is_nearly && harms_less && 2 * score.harmed_jobs <= best.harmed_jobs
            };
            let fitting = scores.iter().filter(|own| own.threshold.is_some() && fits(own));
            let fewest = fitting.map(|own| own.harmed_jobs).min().filter(|_| best.threshold.is_some());
            let found = gentler(&scores, &best);
            prop_assert_eq!(found.map(|idx| scores[idx].harmed_jobs), fewest);
            prop_assert!(found.is_none_or(|idx| fits(&scores[idx])));
        }
    }

    #[test]
    fn a_resampling_that_takes_each_job_once_gives_the_sweep() {
        let asked =
            Asked { rules: vec![RuleGrid::new(Rule::Events, vec![1, 2])], ..Asked::default() };
        let cpu = |seconds| CpuTime::from_seconds(seconds);
        let step =
            |saved, spent| KillStep { tasks: 1, at_end: 0, saved: cpu(saved), spent: cpu(spent) };
        let job = |outcome, seconds, steps: Vec<KillStep>| JobRow {
            outcome,
            cpu: cpu(seconds),
            kills: vec![steps],
            ..JobRow::default()
        };
        // Finished: 10 of 40 saved, 30 destroyed. Failed: 8 of 20, then 2 of 20 saved.
        let finished = job(0, 40.0, vec![step(10.0, 30.0)]);
        let failed = job(1, 20.0, vec![step(8.0, 12.0), step(2.0, 18.0)]);
        let mut once = PartSums::new(&asked);
        once.add(&finished, 1);
        once.add(&failed, 1);
        let unknown = [f64::NAN; 4];
        let strict = [&[0.25, 0.4], &unknown[..], &[(8.0 - 30.0) / 20.0, 1.0, 0.75]].concat();
        let lenient = [&[0.0, 0.1], &unknown[..], &[0.1, 0.0, 0.0]].concat();
        let figures = figures(&once);
        assert_eq!(figures.len(), strict.len() + lenient.len());
        for (found, expected) in figures.iter().zip(strict.iter().chain(&lenient)) {
            assert!(found == expected || (found.is_nan() && expected.is_nan()), "{figures:?}");
        }
        // At a price of 5 per harmed job, in two rounds; the second round draws the job twice.
        let mut twice = PartSums::new(&asked);
        twice.add(&finished, 2);
        twice.add(&failed, 1);
        let rounds = [once.clone(), twice];
        let found = spread(&rounds, Some((0, 0)), 5.0).unwrap();
        let between =
            |one: f64, other: f64| (one + (other - one) * 0.025, one + (other - one) * 0.975);
        assert_eq!(found.net_cpu, between(8.0 - 60.0, 8.0 - 30.0));
        assert_eq!(found.harmed_jobs, between(1.0, 2.0));
        assert_eq!(found.gain, between(8.0 - 60.0 - 10.0, 8.0 - 30.0 - 5.0));
        assert_eq!(spread(&rounds, None, 5.0).unwrap().gain, (0.0, 0.0));
        assert_eq!(spread(&[], Some((0, 0)), 5.0), None);
        // A job drawn twice counts twice, and two halves of the jobs give the sums of all jobs.
        let (mut whole, mut half) = (PartSums::new(&asked), PartSums::new(&asked));
        whole.add(&finished, 2);
        half.add(&failed, 1);
        whole.merge(&half);
        assert_eq!(whole.totals[0], cpu(80.0));
        assert_eq!((whole.rules[0][0].destroyed, whole.rules[0][0].harmed_jobs), (cpu(60.0), 2));
        assert_eq!(whole.rules[0][1].saved[1], cpu(2.0));
        assert_eq!(bounds(&mut [0.0, f64::NAN]), None);
    }
}
