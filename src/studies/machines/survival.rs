//! Durations: a survival curve with a band, and a fitted Weibull distribution.
//!
//! In: spells with their lengths, some cut off. Out: three results. The first is the curve of
//! Kaplan and Meier with the 95 % band of Greenwood. The second is the maximum-likelihood Weibull
//! distribution, with intervals from the observed information. The third is the likelihood ratio
//! test of a shape of 1, which is an exponential distribution: the rate of ends does not depend on
//! age.

use serde::Serialize;

use crate::studies::kaplan_meier::{KaplanMeier, Left, Z_95};
use crate::units::micros_to_seconds;

/// Most steps of the search for the shape.
const STEPS_MAX: usize = 200;

/// A spell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spell {
    /// Its length, µs; if it was cut off, a lower bound.
    pub length_us: i64,
    /// Whether it was cut off before its end.
    pub is_censored: bool,
}

/// A point of a survival curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The length, s.
    pub time_s: f64,
    /// Share of the spells that last longer.
    pub share: f64,
    /// Lower end of the 95 % band.
    pub share_low: f64,
    /// Upper end of the 95 % band.
    pub share_high: f64,
    /// Spells that lasted at least that long.
    pub at_risk: u64,
}

/// The curve of Kaplan and Meier (1958), with Greenwood's variance.
pub fn curve(spells: &[Spell]) -> Vec<Point> {
    let mut ordered = spells.to_vec();
    ordered.sort_unstable();
    let mut left = KaplanMeier::new(ordered.len() as u64);
    let same = ordered.chunk_by(|one, other| one.length_us == other.length_us);
    same.filter_map(|same| {
        let cut = same.iter().filter(|spell| spell.is_censored).count();
        let Left { share, band, at_risk } = left.step((same.len() - cut) as u64, cut as u64)?;
        let time_s = micros_to_seconds(same[0].length_us);
        Some(Point { time_s, share, share_low: band[0], share_high: band[1], at_risk })
    })
    .collect()
}

/// The first length at which at most this share of the spells lasts longer; `None` if the curve
/// stays above the share.
pub fn quantile(points: &[Point], share: f64) -> Option<f64> {
    points.iter().find(|point| point.share <= share).map(|point| point.time_s)
}

/// A Weibull distribution: the share exp(−(t / scale)^shape) lasts longer than t.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Weibull {
    /// The shape. Below 1 the rate of ends falls with age, above 1 it rises.
    pub shape: f64,
    /// Lower end of the 95 % interval.
    pub shape_low: f64,
    /// Upper end of the 95 % interval.
    pub shape_high: f64,
    /// The scale, s. A share of 1/e lasts longer than this.
    pub scale_s: f64,
    /// Lower end of the 95 % interval.
    pub scale_s_low: f64,
    /// Upper end of the 95 % interval.
    pub scale_s_high: f64,
    /// Mean of the exponential distribution: total time over the number of ends, s.
    pub exponential_mean_s: f64,
    /// Twice the difference of the two log-likelihoods.
    pub likelihood_ratio: f64,
    /// The probability of a ratio at least this large if the shape were 1 (chi squared, 1 degree).
    pub p_exponential: f64,
}

impl Weibull {
    /// The share that lasts longer than a length, s.
    pub fn share_after(&self, time_s: f64) -> f64 {
        (-(time_s / self.scale_s).powf(self.shape)).exp()
    }

    /// The largest difference from a curve: its amount, and the length at which it occurs, s.
    pub fn farthest(&self, points: &[Point]) -> Option<(f64, f64)> {
        // Just before a step, the curve has the value of the previous step.
        let before = std::iter::once(1.0).chain(points.iter().map(|point| point.share));
        let both = points.iter().zip(before).flat_map(|(point, before)| {
            [before, point.share]
                .map(|share| (share - self.share_after(point.time_s), point.time_s))
        });
        let apart = both.map(|(apart, time_s)| (apart.abs(), time_s));
        apart.max_by(|one, other| one.0.total_cmp(&other.0))
    }
}

/// Sums over spells at a shape: of t^k, of t^k ln t and of t^k (ln t)².
fn sums(lengths: &[(f64, bool)], shape: f64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for &(log, _) in lengths {
        let power = (shape * log).exp();
        sums[0] += power;
        sums[1] += power * log;
        sums[2] += power * log * log;
    }
    sums
}

/// The maximum-likelihood Weibull distribution; `None` for fewer than three ends, or if all ends
/// have the same length.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
pub fn weibull(spells: &[Spell]) -> Option<Weibull> {
    let ends: Vec<f64> = spells
        .iter()
        .filter(|spell| !spell.is_censored)
        .map(|spell| micros_to_seconds(spell.length_us.max(1)))
        .collect();
    if ends.len() < 3 || ends.iter().all(|&end| end == ends[0]) {
        return None;
    }
    let dead = ends.len() as f64;
    let total: f64 = spells.iter().map(|spell| micros_to_seconds(spell.length_us.max(1))).sum();
    // Lengths are divided by the mean, so that no power overflows.
    let mean = total / dead;
    let mut lengths: Vec<(f64, bool)> = spells
        .iter()
        .map(|spell| ((micros_to_seconds(spell.length_us.max(1)) / mean).ln(), spell.is_censored))
        .collect();
    lengths.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let logs: f64 = lengths.iter().filter(|length| !length.1).map(|length| length.0).sum();
    let slope = |shape: f64| {
        let [power, log, _] = sums(&lengths, shape);
        dead / shape + logs - dead * log / power
    };
    let shape = root(slope)?;
    let [power, log, square] = sums(&lengths, shape);
    let scale = (power / dead).powf(1.0 / shape);
    // The observed information of ln(shape) and ln(scale), with u = (t / scale)^shape, z = ln u.
    let over = power / dead;
    let (uz, uzz) = (
        (shape * log - over.ln() * power) / over,
        (shape * shape * square - 2.0 * shape * over.ln() * log + over.ln().powi(2) * power) / over,
    );
    let ends_z = shape * logs - dead * over.ln();
    let information = [uz + uzz - ends_z, -shape * uz, shape * shape * dead];
    let determinant = information[0] * information[2] - information[1] * information[1];
    let error = |idx: usize| (information[2 - idx] / determinant).sqrt();
    let around =
        |value: f64, error: f64| [value * (-Z_95 * error).exp(), value * (Z_95 * error).exp()];
    let [shape_low, shape_high] = around(shape, error(0));
    let [scale_low, scale_high] = around(scale * mean, error(2));
    let of_weibull = dead * shape.ln() - dead * shape * scale.ln() + (shape - 1.0) * logs - dead;
    // Lengths are divided by the mean of the exponential distribution, so its rate is 1.
    let ratio = (2.0 * (of_weibull + dead)).max(0.0);
    Some(Weibull {
        shape,
        shape_low,
        shape_high,
        scale_s: scale * mean,
        scale_s_low: scale_low,
        scale_s_high: scale_high,
        exponential_mean_s: mean,
        likelihood_ratio: ratio,
        p_exponential: erfc((ratio / 2.0).sqrt()),
    })
}

/// The zero of a falling function between 10^-3 and 10^3; `None` if it has no zero there.
fn root(slope: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut low, mut high) = (1e-3_f64, 1e3_f64);
    if slope(low) < 0.0 || 0.0 < slope(high) {
        return None;
    }
    for _ in 0..STEPS_MAX {
        let middle = (low * high).sqrt();
        if 0.0 < slope(middle) { low = middle } else { high = middle }
    }
    Some((low * high).sqrt())
}

/// The complementary error function for values of at least 0, right to 12 digits: a continued
/// fraction for large values, the power series of the error function otherwise.
fn erfc(value: f64) -> f64 {
    let square = value * value;
    if value < 2.5 {
        let (mut term, mut sum, mut idx) = (value, value, 0.0);
        while 1e-17 * sum < term.abs() {
            idx += 1.0;
            term *= -square / idx;
            sum += term / (2.0 * idx + 1.0);
            if 200.0 < idx {
                break;
            }
        }
        return 1.0 - sum * 2.0 / std::f64::consts::PI.sqrt();
    }
    let mut fraction = value;
    for idx in (1..=60).rev() {
        fraction = value + f64::from(idx) / 2.0 / fraction;
    }
    (-square).exp() / (fraction * std::f64::consts::PI.sqrt())
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn ended(length_us: i64) -> Spell {
        Spell { length_us, is_censored: false }
    }

    #[test]
    fn the_curve_is_that_of_the_textbook() {
        //  ends at 1, 3 and 3, cut off at 2 and 4: 4/5, then 4/5 × 1/3
        let cut = |length_us| Spell { length_us, is_censored: true };
        let points = curve(&[ended(3), cut(2), ended(1), ended(3), cut(4)]);
        let shares: Vec<f64> = points.iter().map(|point| point.share).collect();
        assert!((shares[0] - 0.8).abs() < 1e-12 && (shares[1] - 0.8 / 3.0).abs() < 1e-12);
        assert_eq!(points.iter().map(|point| point.at_risk).collect::<Vec<_>>(), [5, 3]);
        assert_eq!(quantile(&points, 0.5), Some(3e-6));
        assert_eq!(quantile(&points, 0.1), None);
    }

    /// Spells drawn from a Weibull distribution, cut off at a length.
    fn drawn(seed: u64, shape: f64, scale_s: f64, cut_s: f64) -> Vec<Spell> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut one = || {
            let drawn_s = scale_s * (-(1.0 - rng.random::<f64>()).ln()).powf(1.0 / shape);
            #[expect(clippy::cast_possible_truncation, reason = "seconds of a test")]
            let length_us = (drawn_s.min(cut_s) * 1e6) as i64;
            Spell { length_us, is_censored: cut_s < drawn_s }
        };
        (0..400).map(|_| one()).collect()
    }

    /// Promise: the distribution is nowhere farther from the curve, on either side of a step. A
    /// curve of spells drawn from the distribution is near it; a curve of equal lengths is far.
    #[test]
    fn the_farthest_point_is_that_of_a_dense_grid() {
        let check = |spells: &[Spell]| {
            let (fit, points) = (weibull(spells).unwrap(), curve(spells));
            let (apart, at_s) = fit.farthest(&points).unwrap();
            let at = |time_s: f64| {
                let before = points.iter().take_while(|point| point.time_s <= time_s).last();
                before.map_or(1.0, |point| point.share)
            };
            let last = points.last().unwrap().time_s;
            let grid = (0..100_000).map(|step| last * f64::from(step) / 100_000.0);
            let most =
                grid.map(|time| (at(time) - fit.share_after(time)).abs()).fold(0.0, f64::max);
            assert!(most <= apart + 1e-12 && apart < most + 0.003, "{apart}, not {most}");
            assert!(points.iter().any(|point| point.time_s == at_s));
            apart
        };
        assert!(check(&drawn(7, 0.6, 1000.0, 2000.0)) < 0.05);
        // Just before the last step the curve is farther from it than just after.
        let late: Vec<Spell> =
            (0..50).map(|_| ended(10_000_000)).chain([ended(1_000_000)]).collect();
        assert!(0.5 < check(&late));
        let alike: Vec<Spell> =
            (0..50).map(|idx| ended(1_000_000 + idx)).chain([ended(9_000_000)]).collect();
        let (apart, _) = weibull(&alike).unwrap().farthest(&curve(&alike)).unwrap();
        assert!(0.3 < apart, "{apart}");
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let rounds = 200;
        let (mut shapes, mut scales, mut refused) = (0, 0, 0);
        for seed in 0..rounds {
            let fit = weibull(&drawn(seed, 0.6, 1000.0, 2000.0)).unwrap();
            shapes += u32::from((fit.shape_low..fit.shape_high).contains(&0.6));
            scales += u32::from((fit.scale_s_low..fit.scale_s_high).contains(&1000.0));
            let even = weibull(&drawn(seed + 1000, 1.0, 1000.0, 2000.0)).unwrap();
            refused += u32::from(even.p_exponential < 0.05);
        }
        // Expected: 190 of 200 intervals have the true value, and 10 of 200 tests refuse it. The
        // bounds are three standard deviations away.
        assert!(180 < shapes && 180 < scales, "{shapes} {scales}");
        assert!(refused < 20, "{refused}");
    }

    #[test]
    fn the_error_function_is_right() {
        // Abramowitz and Stegun, table 7.1 and 7.3.
        for (value, expected) in [(0.5, 0.479_500_122), (1.0, 0.157_299_207), (2.0, 0.004_677_735)]
        {
            assert!((erfc(value) - expected).abs() < 1e-9, "{value}");
        }
        assert!((erfc(3.0) / 2.209_049_7e-5 - 1.0).abs() < 1e-7);
        assert!((erfc(2.499_999_9) - erfc(2.500_000_1)).abs() < 1e-9);
    }

    #[test]
    fn too_little_gives_no_fit() {
        assert_eq!(weibull(&[]), None);
        assert_eq!(weibull(&[ended(5), ended(5), ended(5)]), None);
        assert!(weibull(&[ended(5), ended(6), ended(7)]).is_some());
    }
}
