//! How often predictions were right.
//!
//! In: the chances and the outcomes of jobs. Out: a [`Score`]. It has the four counts and their
//! shares at a chance of one half, the area under the ROC curve, the Brier score, both curves, the
//! calibration, and counts by outcome and by day. A job is predicted not to finish if its chance is
//! larger than one half. The curves have a point for each distinct chance. They are thinned, but
//! the area under the stored points stays within 0.001 of the exact area (`curve`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::curve::{Cut, best_f1, thinned};
use super::step::End;
use crate::units::MICROS_PER_DAY;

/// Bins of the calibration.
const BINS: u32 = 10;

/// Predictions compared with the truth.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    true_positives: u64,
    false_positives: u64,
    true_negatives: u64,
    false_negatives: u64,
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (0 < whole).then(|| part as f64 / whole as f64)
}

impl Counts {
    fn add(&mut self, is_said_lost: bool, is_lost: bool) {
        let count = match (is_said_lost, is_lost) {
            (true, true) => &mut self.true_positives,
            (true, false) => &mut self.false_positives,
            (false, false) => &mut self.true_negatives,
            (false, true) => &mut self.false_negatives,
        };
        *count += 1;
    }

    const fn jobs(self) -> u64 {
        self.true_positives + self.false_positives + self.true_negatives + self.false_negatives
    }

    fn accuracy(self) -> Option<f64> {
        share(self.true_positives + self.true_negatives, self.jobs())
    }

    fn precision(self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_positives)
    }

    fn recall(self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_negatives)
    }

    fn false_positive_rate(self) -> Option<f64> {
        share(self.false_positives, self.false_positives + self.true_negatives)
    }
}

/// Predictions of a rule, from which a score is made.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    rule: String,
    /// For each job the bits of its chance, shifted left by one; the lowest bit is set if the job
    /// did not finish. Chances are not negative, so the numbers sort by chance.
    jobs: Vec<u64>,
    counts: Counts,
    by_day: BTreeMap<i64, Counts>,
    /// By outcome: jobs, and jobs predicted not to finish.
    by_outcome: [[u64; 2]; 3],
}

impl Tally {
    pub(super) fn new(rule: String) -> Self {
        Self {
            rule,
            jobs: Vec::new(),
            counts: Counts::default(),
            by_day: BTreeMap::new(),
            by_outcome: [[0; 2]; 3],
        }
    }

    /// Adds a job submitted at `at_us`.
    pub(super) fn add(&mut self, at_us: i64, chance: f64, end: End) {
        let (is_said_lost, is_lost) = (0.5 < chance, end != End::Finished);
        self.jobs.push((chance + 0.0).to_bits() << 1 | u64::from(is_lost));
        self.counts.add(is_said_lost, is_lost);
        self.by_day.entry(at_us.div_euclid(MICROS_PER_DAY)).or_default().add(is_said_lost, is_lost);
        let outcome = &mut self.by_outcome[end as usize];
        outcome[0] += 1;
        outcome[1] += u64::from(is_said_lost);
    }

    /// The chances in ascending order, each with its finished and unfinished jobs.
    fn chances(&mut self) -> Vec<(f64, [u64; 2])> {
        self.jobs.sort_unstable();
        let same = self.jobs.chunk_by(|one, other| one >> 1 == other >> 1);
        let of = |jobs: &[u64]| {
            let finished = jobs.partition_point(|job| job & 1 == 0);
            (f64::from_bits(jobs[0] >> 1), [finished as u64, (jobs.len() - finished) as u64])
        };
        same.map(of).collect()
    }

    pub(super) fn score(mut self) -> Score {
        let (counts, chances) = (self.counts, self.chances());
        let cuts = Self::cuts(&chances);
        Score {
            jobs: counts.jobs(),
            accuracy: counts.accuracy(),
            precision: counts.precision(),
            recall: counts.recall(),
            false_positive_rate: counts.false_positive_rate(),
            auc: self.auc(&chances),
            brier_score: self.brier_score(&chances),
            true_positives: counts.true_positives,
            false_positives: counts.false_positives,
            true_negatives: counts.true_negatives,
            false_negatives: counts.false_negatives,
            outcomes: self.outcomes(),
            days: self.days(),
            calibration: Self::calibration(&chances),
            curve: self.curve(&cuts),
            best_f1: best_f1(&cuts).map(|cut| self.point(cut)),
            rule: self.rule,
        }
    }

    /// The probability that an unfinished job has a larger chance than a finished one; a tie counts
    /// half (the area under the ROC curve).
    #[expect(clippy::cast_precision_loss, reason = "doubled pairs of jobs, about 2^40")]
    fn auc(&self, chances: &[(f64, [u64; 2])]) -> Option<f64> {
        let (mut below, mut doubled) = (0_u128, 0_u128);
        for &(_, [finished, lost]) in chances {
            let (finished, lost) = (u128::from(finished), u128::from(lost));
            doubled += lost * (2 * below + finished);
            below += finished;
        }
        let lost = u128::from(self.counts.true_positives + self.counts.false_negatives);
        let pairs = below * lost;
        (0 < pairs).then(|| doubled as f64 / (2 * pairs) as f64)
    }

    /// The mean squared difference of chance and truth.
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
    fn brier_score(&self, chances: &[(f64, [u64; 2])]) -> Option<f64> {
        let squares: f64 = (chances.iter())
            .map(|&(chance, [finished, lost])| {
                chance * chance * finished as f64 + (1.0 - chance) * (1.0 - chance) * lost as f64
            })
            .sum();
        let jobs = self.counts.jobs();
        (0 < jobs).then(|| squares / jobs as f64)
    }

    fn outcomes(&self) -> Vec<OfOutcome> {
        let of = |(end, [jobs, said]): (End, [u64; 2])| OfOutcome {
            outcome: end.name().into(),
            jobs,
            predicted_not_to_finish: said,
            predicted_share: share(said, jobs),
        };
        End::ALL.into_iter().zip(self.by_outcome).map(of).collect()
    }

    fn days(&self) -> Vec<OfDay> {
        let of = |(&day, counts): (&i64, &Counts)| OfDay {
            day,
            jobs: counts.jobs(),
            not_finished_share: share(
                counts.true_positives + counts.false_negatives,
                counts.jobs(),
            ),
            accuracy: counts.accuracy(),
            precision: counts.precision(),
            recall: counts.recall(),
            false_positive_rate: counts.false_positive_rate(),
        };
        self.by_day.iter().map(of).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bin")]
    fn calibration(chances: &[(f64, [u64; 2])]) -> Vec<Bin> {
        let mut bins = vec![(0.0, 0_u64, 0_u64); BINS as usize];
        for &(chance, [finished, lost]) in chances {
            let bin = ((chance * f64::from(BINS)) as usize).min(BINS as usize - 1);
            bins[bin].0 += chance * (finished + lost) as f64;
            bins[bin].1 += finished + lost;
            bins[bin].2 += lost;
        }
        let filled = bins.into_iter().zip(0_u32..).filter(|((_, jobs, _), _)| 0 < *jobs);
        let of = |((sum, jobs, lost), bin): ((f64, u64, u64), u32)| Bin {
            chance_from: f64::from(bin) / f64::from(BINS),
            chance_to: f64::from(bin + 1) / f64::from(BINS),
            jobs,
            chance_mean: Some(sum / jobs as f64),
            not_finished_share: share(lost, jobs),
        };
        filled.map(of).collect()
    }

    /// The cut at each distinct chance, in descending order: the number of jobs with at least that
    /// chance.
    fn cuts(chances: &[(f64, [u64; 2])]) -> Vec<Cut> {
        let cut = |so_far: &mut [u64; 2], &(chance, jobs): &(f64, [u64; 2])| {
            *so_far = [so_far[0] + jobs[0], so_far[1] + jobs[1]];
            Some(Cut { chance, finished: so_far[0], lost: so_far[1] })
        };
        chances.iter().rev().scan([0; 2], cut).collect()
    }

    /// A cut as a point of both curves.
    fn point(&self, cut: &Cut) -> Point {
        let all = self.counts;
        Point {
            chance_at_least: cut.chance,
            precision: share(cut.lost, cut.finished + cut.lost),
            recall: share(cut.lost, all.true_positives + all.false_negatives),
            false_positive_rate: share(cut.finished, all.false_positives + all.true_negatives),
        }
    }

    /// The points of both curves, by ascending chance.
    fn curve(&self, cuts: &[Cut]) -> Vec<Point> {
        thinned(cuts).iter().rev().map(|cut| self.point(cut)).collect()
    }
}

/// How good a rule was.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Score {
    /// The rule in its notation.
    pub rule: String,
    /// Jobs that are counted.
    pub jobs: u64,
    /// Share of jobs with a correct prediction.
    pub accuracy: Option<f64>,
    /// Share that did not finish, among jobs predicted not to finish.
    pub precision: Option<f64>,
    /// Share predicted not to finish, among jobs that did not finish.
    pub recall: Option<f64>,
    /// Share predicted not to finish, among jobs that finished.
    pub false_positive_rate: Option<f64>,
    /// The area under the ROC curve.
    pub auc: Option<f64>,
    /// The mean squared difference of chance and truth.
    pub brier_score: Option<f64>,
    /// Predicted not to finish, and did not.
    pub true_positives: u64,
    /// Predicted not to finish, but finished.
    pub false_positives: u64,
    /// Predicted to finish, and finished.
    pub true_negatives: u64,
    /// Predicted to finish, but did not.
    pub false_negatives: u64,
    /// By outcome.
    pub outcomes: Vec<OfOutcome>,
    /// By day of submission.
    pub days: Vec<OfDay>,
    /// By predicted chance.
    pub calibration: Vec<Bin>,
    /// Both curves, by the chance from which a job is predicted not to finish.
    pub curve: Vec<Point>,
    /// The point with the largest F1, the harmonic mean of precision and recall, among all distinct
    /// chances. Of equal ones it is the one with the largest chance. `None` if every job finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_f1: Option<Point>,
}

/// Jobs of an outcome.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OfOutcome {
    /// The outcome.
    pub outcome: Cow<'static, str>,
    /// Jobs.
    pub jobs: u64,
    /// Jobs predicted not to finish.
    pub predicted_not_to_finish: u64,
    /// Share of jobs predicted not to finish.
    pub predicted_share: Option<f64>,
}

/// Jobs submitted on a day of the trace clock.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OfDay {
    /// The day, from 0.
    pub day: i64,
    /// Jobs.
    pub jobs: u64,
    /// The share that did not finish.
    pub not_finished_share: Option<f64>,
    /// As in [`Score`].
    pub accuracy: Option<f64>,
    /// As in [`Score`].
    pub precision: Option<f64>,
    /// As in [`Score`].
    pub recall: Option<f64>,
    /// As in [`Score`].
    pub false_positive_rate: Option<f64>,
}

/// Jobs with similar chances.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bin {
    /// The lowest chance.
    pub chance_from: f64,
    /// The upper bound. Only the last bin includes its upper bound.
    pub chance_to: f64,
    /// Jobs.
    pub jobs: u64,
    /// The mean chance.
    pub chance_mean: Option<f64>,
    /// The share that did not finish.
    pub not_finished_share: Option<f64>,
}

/// A point of both curves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Jobs with at least this chance are predicted not to finish.
    pub chance_at_least: f64,
    /// Share of these jobs that did not finish.
    pub precision: Option<f64>,
    /// Share of unfinished jobs that are predicted not to finish.
    pub recall: Option<f64>,
    /// Share of finished jobs that are predicted not to finish.
    pub false_positive_rate: Option<f64>,
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The tally of jobs, from the chance of each in thousandths and whether it did not finish.
    fn tally(jobs: &[(u32, bool)]) -> Tally {
        let mut tally = Tally::new("drawn".to_owned());
        for &(chance, is_lost) in jobs {
            let end = if is_lost { End::Failed } else { End::Finished };
            tally.add(0, f64::from(chance) / 1000.0, end);
        }
        tally
    }

    #[expect(clippy::cast_precision_loss, reason = "pairs of a few jobs")]
    fn number(count: usize) -> f64 {
        count as f64
    }

    /// Many jobs have nearly the same chance, as with a rule that rarely knows more than the rate
    /// of all jobs. Other jobs have any chance.
    fn job() -> impl Strategy<Value = (u32, bool)> {
        (prop_oneof![3 => 0_u32..4, 1 => 0_u32..=1000], any::<bool>())
    }

    /// The area under the stored ROC curve, by trapezoids, from (0, 0).
    fn area_of(curve: &[Point]) -> f64 {
        let at = |point: &Point| (point.false_positive_rate.unwrap(), point.recall.unwrap());
        let points: Vec<(f64, f64)> =
            std::iter::once((0.0, 0.0)).chain(curve.iter().rev().map(at)).collect();
        points.windows(2).map(|two| (two[1].0 - two[0].0) * (two[1].1 + two[0].1) / 2.0).sum()
    }

    proptest! {
        /// Each point equals a count of the jobs with at least its chance, the last point counts
        /// all jobs, and every point has the chance of some job.
        #[test]
        fn a_point_of_the_curve_is_a_count(jobs in vec(job(), 1..60)) {
            let chance = |job: &(u32, bool)| f64::from(job.0) / 1000.0;
            let counted = |from: f64, lost: bool| {
                let counts = jobs.iter().filter(|job| from <= chance(job) && job.1 == lost);
                counts.count() as u64
            };
            let score = tally(&jobs).score();
            for point in &score.curve {
                let from = point.chance_at_least;
                let said = [counted(from, false), counted(from, true)];
                prop_assert!(jobs.iter().any(|job| chance(job) == from));
                prop_assert_eq!(point.precision, share(said[1], said[0] + said[1]), "{}", from);
                prop_assert_eq!(point.recall, share(said[1], counted(0.0, true)), "{}", from);
                let rate = share(said[0], counted(0.0, false));
                prop_assert_eq!(point.false_positive_rate, rate, "{}", from);
            }
            let least = jobs.iter().map(chance).fold(1.0, f64::min);
            prop_assert_eq!(score.curve[0].chance_at_least, least);
        }

        /// The area under the stored points is the stated area. The stated area is the share of
        /// pairs of an unfinished and a finished job in which the unfinished job has the larger
        /// chance; ties count half.
        #[test]
        fn the_curve_has_the_area_that_is_stated(jobs in vec(job(), 1..3000)) {
            let of = |lost: bool| jobs.iter().filter(move |job| job.1 == lost);
            let pairs = of(true).count() * of(false).count();
            let score = tally(&jobs).score();
            prop_assert!(score.curve.len() <= 2000);
            prop_assert_eq!(score.auc.is_some(), 0 < pairs);
            let Some(area) = score.auc else { return Ok(()) };
            let drawn = area_of(&score.curve);
            prop_assert!((drawn - area).abs() < 1e-3, "{} {}", drawn, area);
            if jobs.len() < 200 {
                let doubled: usize = of(true)
                    .flat_map(|one| of(false).map(move |other| match one.0.cmp(&other.0) {
                        std::cmp::Ordering::Greater => 2,
                        std::cmp::Ordering::Equal => 1,
                        std::cmp::Ordering::Less => 0,
                    }))
                    .sum();
                let plain = number(doubled) / number(2 * pairs);
                prop_assert!((plain - area).abs() < 1e-12, "{} {}", plain, area);
            }
        }

        /// No threshold has a larger F1; the test counts F1 again for each threshold.
        #[test]
        fn the_best_threshold_is_the_best_of_all(jobs in vec(job(), 1..60)) {
            let lost = number(jobs.iter().filter(|job| job.1).count());
            let of = |least: u32| {
                let said = number(jobs.iter().filter(|job| least <= job.0).count());
                let hits = number(jobs.iter().filter(|job| least <= job.0 && job.1).count());
                2.0 * hits / (said + lost)
            };
            let best = tally(&jobs).score().best_f1;
            prop_assert_eq!(best.is_some(), 0.0 < lost);
            let Some(best) = best else { return Ok(()) };
            let (precision, recall) = (best.precision.unwrap(), best.recall.unwrap());
            let own = 2.0 * precision * recall / (precision + recall);
            let most = jobs.iter().map(|job| of(job.0)).fold(0.0, f64::max);
            prop_assert!((own - most).abs() < 1e-12, "{} {}", own, most);
        }
    }
}
