//! Mean, standard deviation and quartiles of amounts.
//!
//! In: non-negative amounts. Out: the values of a workload's summary; -1 if there are no amounts.
//! Amounts are counted by value, because a log has few different values.

use std::collections::BTreeMap;

/// Counts of amounts by value. The bits of non-negative numbers sort like the numbers.
#[derive(Debug, Default)]
pub(super) struct Amounts(BTreeMap<u64, u64>);

impl Extend<f64> for Amounts {
    fn extend<T: IntoIterator<Item = f64>>(&mut self, amounts: T) {
        for amount in amounts {
            // Negative zero would sort as the largest.
            *self.0.entry((amount.max(0.0) + 0.0).to_bits()).or_default() += 1;
        }
    }
}

impl Amounts {
    fn values(&self) -> impl Iterator<Item = (f64, u64)> {
        self.0.iter().map(|(&bits, &count)| (f64::from_bits(bits), count))
    }

    fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The sum of all amounts.
    pub(super) fn sum(&self) -> f64 {
        self.values().map(|(value, count)| value * real(count)).sum()
    }

    /// The R-7 quantile at a share: linear between two sorted amounts.
    fn quantile(&self, share: f64) -> f64 {
        let at = share * real(self.count().saturating_sub(1));
        let nth = |place: f64| {
            let mut passed = 0.0;
            let found = self.values().find(|&(_, count)| {
                passed += real(count);
                place < passed
            });
            found.map_or(-1.0, |(value, _)| value)
        };
        let (low, high) = (nth(at.floor()), nth(at.ceil()));
        low + (high - low) * at.fract()
    }

    /// The values by name, in the order of the format. The standard deviation is that of a sample.
    pub(super) fn described(&self) -> [(&'static str, f64); 8] {
        let count = real(self.count());
        if count == 0.0 {
            let names =
                ["min", "max", "std", "mean", "median", "first_quartile", "third_quartile", "cov"];
            return names.map(|name| (name, -1.0));
        }
        let mean = self.sum() / count;
        let squares: f64 =
            self.values().map(|(value, times)| (value - mean).powi(2) * real(times)).sum();
        let spread = if count < 2.0 { 0.0 } else { (squares / (count - 1.0)).sqrt() };
        [
            ("min", self.quantile(0.0)),
            ("max", self.quantile(1.0)),
            ("std", spread),
            ("mean", mean),
            ("median", self.quantile(0.5)),
            ("first_quartile", self.quantile(0.25)),
            ("third_quartile", self.quantile(0.75)),
            ("cov", if mean == 0.0 { -1.0 } else { spread / mean }),
        ]
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
const fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_pandas() {
        // pandas.Series([1, 2, 2, 4, 10]): std 3.63318..., quartiles 2, 2, 4.
        let mut amounts = Amounts::default();
        amounts.extend([2.0, 10.0, 1.0, 4.0, 2.0]);
        let found: Vec<f64> = amounts.described().iter().map(|(_, value)| *value).collect();
        let spread = 13.2_f64.sqrt();
        for (found, expected) in
            found.iter().zip([1.0, 10.0, spread, 3.8, 2.0, 2.0, 4.0, spread / 3.8])
        {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        let mut two = Amounts::default();
        two.extend([1.0, 4.0]);
        assert_eq!(two.quantile(0.25), 1.75);
        assert!(Amounts::default().described().iter().all(|(_, value)| *value == -1.0));
    }
}
