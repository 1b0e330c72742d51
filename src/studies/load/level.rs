//! When the load of a cluster changed for a long time.
//!
//! In: for each interval, an amount as a part of a whole. Out: the boundary between two intervals
//! that best separates their shares, if the levels before and after it differ enough.
//!
//! ```text
//!  share  ▆▇▆▇▆▇▆▇▆▂▁▂▁▂▁▂
//!                  ^ at        before 80 %, after 16 %
//! ```
//!
//! The split is the one with the largest sum of squares between the two parts, as in the first step
//! of a binary segmentation (Scott and Knott, Biometrics 30, 1974). Shares are weighted by their
//! wholes.

use std::ops::Range;

/// A split of intervals into two parts with different shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Level {
    /// The first interval of the second part.
    pub at: usize,
    /// The share over the first part.
    pub before: f64,
    /// The share over the second part.
    pub after: f64,
}

/// The smallest share of the intervals that each part must have.
const PART_MIN: f64 = 0.1;

/// The smallest share of the sum of squares that the split must explain.
const EXPLAINED_MIN: f64 = 0.5;

/// The smallest difference of the two shares, and their smallest ratio.
const DIFFERENCE_MIN: f64 = 0.1;
const RATIO_MIN: f64 = 1.5;

/// The change of level within `range`, from the amount and the whole of each interval (`None` if
/// unknown). `None` if the level hardly changes, or changes too often for a split to explain it.
pub(crate) fn change(amounts: &[Option<[f64; 2]>], range: Range<usize>) -> Option<Level> {
    let known: Vec<(usize, [f64; 2])> = range
        .filter_map(|idx| Some((idx, amounts.get(idx).copied().flatten()?)))
        .filter(|(_, [_, whole])| 0.0 < *whole)
        .collect();
    let [mut part, mut whole, mut squares] = [0.0; 3];
    for (_, [own, of]) in &known {
        part += own;
        whole += of;
        squares += own * own / of;
    }
    let all = squares - part * part / whole;
    #[expect(clippy::cast_precision_loss, reason = "a log has far fewer than 2^53 intervals")]
    let least = PART_MIN * known.len() as f64;
    let (mut best, mut most) = (None, 0.0);
    let [mut first, mut first_whole] = [0.0; 2];
    for (place, pair) in known.windows(2).enumerate() {
        let [own, of] = pair[0].1;
        first += own;
        first_whole += of;
        let shares = [first / first_whole, (part - first) / (whole - first_whole)];
        let between = first_whole * (whole - first_whole) / whole * (shares[0] - shares[1]).powi(2);
        #[expect(clippy::cast_precision_loss, reason = "a log has far fewer than 2^53 intervals")]
        let fewest = (place + 1).min(known.len() - place - 1) as f64;
        if least <= fewest && most < between {
            most = between;
            best = Some(Level { at: pair[1].0, before: shares[0], after: shares[1] });
        }
    }
    best.filter(|level| {
        let (low, high) = (level.before.min(level.after), level.before.max(level.after));
        EXPLAINED_MIN * all <= most && DIFFERENCE_MIN <= high - low && RATIO_MIN * low <= high
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fall_is_found_and_a_daily_wave_is_none() {
        let of = |share: &dyn Fn(usize) -> f64| -> Vec<Option<[f64; 2]>> {
            (0..48).map(|hour| Some([share(hour) * 50.0, 50.0])).collect()
        };
        let fall = of(&|hour| if hour < 30 { 0.8 } else { 0.2 });
        let level = change(&fall, 0..48).unwrap();
        assert!(level.at == 30 && (level.before - 0.8).abs() < 1e-12, "{level:?}");
        assert!((level.after - 0.2).abs() < 1e-12);
        // Only the hours in the range count: one hour before a fall is not enough for a level.
        assert_eq!(change(&fall, 28..48).map(|level| level.at), Some(30));
        assert_eq!(change(&fall, 29..48), None);
        assert_eq!(change(&fall, 0..30), None);
        let wave = of(&|hour| if hour % 24 < 12 { 0.8 } else { 0.2 });
        assert_eq!(change(&wave, 0..48), None);
        let slight = of(&|hour| if hour < 24 { 0.5 } else { 0.45 });
        assert_eq!(change(&slight, 0..48), None);
        assert_eq!(change(&[None; 9], 0..9), None);
        assert_eq!(change(&[], 0..0), None);
    }

    proptest! {
        /// Promise: no other split separates the shares better, and the share of each part is its
        /// sum of amounts over its sum of wholes.
        #[test]
        fn the_split_leaves_the_least_deviation(
            drawn in prop::collection::vec(prop::option::weighted(0.9, (0.0_f64..2.0, 0.5_f64..2.0)), 0..40),
            fall in 0_usize..40,
        ) {
            let amounts: Vec<Option<[f64; 2]>> = drawn.iter().enumerate().map(|(idx, own)| {
                own.map(|(share, whole)| [share * whole * if idx < fall { 4.0 } else { 1.0 }, whole])
            }).collect();
            let Some(level) = change(&amounts, 0..amounts.len()) else { return Ok(()) };
            let deviation = |at: usize| -> (f64, [f64; 2]) {
                let parts = [&amounts[..at], &amounts[at..]].map(|part| {
                    let known: Vec<[f64; 2]> = part.iter().copied().flatten().collect();
                    let mean = known.iter().map(|own| own[0]).sum::<f64>()
                        / known.iter().map(|own| own[1]).sum::<f64>();
                    let left = known.iter().map(|own| own[1] * (own[0] / own[1] - mean).powi(2));
                    (left.sum::<f64>(), mean, known.len())
                });
                let fewest = parts[0].2.min(parts[1].2);
                let all = parts[0].2 + parts[1].2;
                let is_long = all <= 10 * fewest;
                let sum = if is_long { parts[0].0 + parts[1].0 } else { f64::INFINITY };
                (sum, parts.map(|part| part.1))
            };
            let (least, means) = deviation(level.at);
            prop_assert!((means[0] - level.before).abs() < 1e-9);
            prop_assert!((means[1] - level.after).abs() < 1e-9);
            for at in 1..amounts.len() {
                prop_assert!(least <= deviation(at).0 + 1e-9, "{} {}", at, level.at);
            }
        }
    }
}
