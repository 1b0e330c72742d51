//! The estimate of Kaplan and Meier (1958), with Greenwood's variance.
//!
//! In: the numbers of values that ended and that were cut off at each length, in order. Out: the
//! share that lasts longer, with its 95 % band.
//!
//! S(t) = Π (1 − d/n) over the ends up to t; its variance is S² Σ d/(n(n−d)). Between two lengths
//! with cut-off values, the product equals the share at the first of them times a fraction of two
//! counts. It is computed in this way to avoid rounding: half of an even number is exactly 0.5.

/// The 97.5 % quantile of the normal distribution.
pub(super) const Z_95: f64 = 1.959_963_984_540_054;

/// The estimate so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct KaplanMeier {
    /// The share at the last length with cut-off values. `of` is the number left after it.
    from: f64,
    of: u64,
    at_risk: u64,
    greenwood: f64,
}

/// The estimate after an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Left {
    /// The share that lasts longer.
    pub share: f64,
    /// Lower and upper end of its band.
    pub band: [f64; 2],
    /// The number of values that lasted at least that long.
    pub at_risk: u64,
}

#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
impl KaplanMeier {
    /// Nothing has ended yet.
    pub(super) const fn new(count: u64) -> Self {
        Self { from: 1.0, of: count, at_risk: count, greenwood: 0.0 }
    }

    /// Advances to the next length; `None` if nothing ended there. Values that are cut off at the
    /// length of an end count as at risk for that end.
    pub(super) fn step(&mut self, ends: u64, cut: u64) -> Option<Left> {
        let before = self.at_risk;
        let left = before - ends;
        let share = if self.of == 0 { 0.0 } else { self.from * left as f64 / self.of as f64 };
        self.at_risk = left - cut;
        if 0 < cut {
            (self.from, self.of) = (share, self.at_risk);
        }
        if ends == 0 {
            return None;
        }
        if 0 < left {
            self.greenwood += ends as f64 / (before as f64 * left as f64);
        }
        let half = Z_95 * share * self.greenwood.sqrt();
        let band = [(share - half).max(0.0), (share + half).min(1.0)];
        Some(Left { share, band, at_risk: before })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_of_an_even_number_is_exactly_half() {
        for pairs in 1..2000_u64 {
            let mut all = KaplanMeier::new(2 * pairs);
            let shares: Vec<f64> = (0..pairs).map(|_| all.step(1, 0).unwrap().share).collect();
            assert_eq!(shares.last(), Some(&0.5), "{pairs}");
        }
    }

    proptest! {
        /// Compared with the product in the definition, computed directly.
        #[test]
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        fn shares_are_those_of_the_definition(
            lengths in prop::collection::vec((0..4_u64, 0..4_u64), 1..40),
        ) {
            let count = lengths.iter().map(|(ends, cut)| ends + cut).sum();
            let (mut all, mut share, mut sum) = (KaplanMeier::new(count), 1.0, 0.0);
            let mut risk = count;
            for (ends, cut) in lengths {
                let found = all.step(ends, cut);
                prop_assert_eq!(found.is_some(), 0 < ends);
                if let Some(found) = found {
                    let (dead, many) = (ends as f64, risk as f64);
                    share *= 1.0 - dead / many;
                    if ends < risk {
                        sum += dead / (many * (many - dead));
                    }
                    let half = Z_95 * share * f64::sqrt(sum);
                    prop_assert!((found.share - share).abs() < 1e-12);
                    prop_assert!((found.band[0] - (share - half).max(0.0)).abs() < 1e-9);
                    prop_assert!((found.band[1] - (share + half).min(1.0)).abs() < 1e-9);
                    prop_assert_eq!(found.at_risk, risk);
                }
                risk -= ends + cut;
            }
        }
    }
}
