//! Sums for the answers: shares by group, waits by group, and correlations.
//!
//! In: one value after another. Out: rows. Sums can be merged.

use std::collections::BTreeMap;

use super::{ALL, Row};
use crate::studies::counted::{Counted, Edges, Value};

/// A measure of a group.
type Key = (&'static str, i32);

/// Numerators and denominators.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares(BTreeMap<Key, [u64; 2]>);

impl Shares {
    /// Adds to one group.
    pub(super) fn add(&mut self, measure: &'static str, group: i32, part: u64, whole: u64) {
        let sums = self.0.entry((measure, group)).or_default();
        sums[0] += part;
        sums[1] += whole;
    }

    /// Adds to one group and to all.
    pub(super) fn add_both(&mut self, measure: &'static str, group: i32, part: u64, whole: u64) {
        self.add(measure, group, part, whole);
        self.add(measure, ALL, part, whole);
    }

    pub(super) fn merge(&mut self, other: Self) {
        for ((measure, group), [part, whole]) in other.0 {
            self.add(measure, group, part, whole);
        }
    }

    /// Sets the denominator of each group to the sum of all numerators.
    pub(super) fn share_out(&mut self, measures: &[&str]) {
        for measure in measures {
            let is_own = |key: &Key| key.1 != ALL && key.0 == *measure;
            let own = self.0.iter().filter(|(key, _)| is_own(key));
            let all: u64 = own.map(|(_, sums)| sums[0]).sum();
            let own = self.0.iter_mut().filter(|(key, _)| key.0 == *measure);
            own.for_each(|(_, sums)| sums[1] = all);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(super) fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        self.0.iter().map(|(&(measure, group), &[part, whole])| {
            Row::share(measure, f64::from(group), part as f64, whole as f64)
        })
    }
}

/// Waits by measure and group.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    new: BTreeMap<Key, Vec<Value>>,
    packed: BTreeMap<Key, Counted>,
}

impl Waits {
    /// Adds a wait, µs.
    pub(super) fn add(&mut self, measure: &'static str, group: i32, wait_us: i64) {
        let value = Value::new(wait_us, Edges::default());
        self.new.entry((measure, group)).or_default().push(value);
    }

    /// Packs the new waits.
    pub(super) fn packed(mut self) -> Self {
        for (key, values) in std::mem::take(&mut self.new) {
            let own = self.packed.entry(key).or_default();
            *own = std::mem::take(own).merge(values.into());
        }
        self
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (key, values) in other.packed().packed {
            let own = self.packed.entry(key).or_default();
            *own = std::mem::take(own).merge(values);
        }
    }

    /// Means and medians, s, by group and overall.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53, sums below 2^63")]
    pub(super) fn rows(&self) -> Vec<Row> {
        let mut all: BTreeMap<Key, Counted> = self.packed.clone();
        for (&(measure, _), values) in &self.packed {
            let own = all.entry((measure, ALL)).or_default();
            *own = std::mem::take(own).merge(values.clone());
        }
        let mut rows = Vec::new();
        for ((measure, group), values) in &all {
            let count = values.count(|_| true) as f64;
            let sum: i128 = values
                .runs()
                .map(|(value, count)| i128::from(value.amount()) * i128::from(count))
                .sum();
            let [median] = values.quantiles([0.5], 1e6);
            let mean = Row::share("", f64::from(*group), sum as f64 / 1e6, count);
            rows.push(Row { measure: format!("{measure}: mean"), ..mean.clone() });
            let measure = format!("{measure}: median");
            rows.push(Row { measure, part: None, value: median, ..mean });
        }
        rows
    }
}

/// Pearson's correlation in one pass (Welford's update; merged as by Chan et al.).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Correlation {
    count: f64,
    mean: [f64; 2],
    /// Sums of the products of differences from the means: xx, yy, xy.
    moments: [f64; 3],
}

/// A sum of squared differences counts as rounding error if it is below this share of the sum of
/// squares.
const NOTHING: f64 = 1e-6;

/// Rounds to six decimals, because later digits depend on the order in which an engine adds.
pub(super) fn six_decimals(value: f64) -> f64 {
    (value * 1e6 + 0.5).floor() / 1e6
}

impl Correlation {
    pub(super) fn add(&mut self, x: f64, y: f64) {
        self.merge(&Self { count: 1.0, mean: [x, y], moments: [0.0; 3] });
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let count = self.count + other.count;
        if other.count == 0.0 {
            return;
        }
        let away = [0, 1].map(|idx| other.mean[idx] - self.mean[idx]);
        let weight = self.count * other.count / count;
        let products = [away[0] * away[0], away[1] * away[1], away[0] * away[1]];
        for (idx, product) in products.into_iter().enumerate() {
            self.moments[idx] += other.moments[idx] + product * weight;
        }
        for (mean, away) in self.mean.iter_mut().zip(away) {
            *mean += away * other.count / count;
        }
        self.count = count;
    }

    /// The row, if there are any pairs.
    pub(super) fn row(&self, measure: &str) -> Option<Row> {
        let [xx, yy, xy] = self.moments;
        let varies = |idx: usize, moment: f64| {
            (moment + self.count * self.mean[idx] * self.mean[idx]) * NOTHING < moment
        };
        let value = (varies(0, xx) && varies(1, yy)).then(|| six_decimals(xy / (xx * yy).sqrt()));
        let measure = measure.to_owned();
        (0.0 < self.count).then_some(Row {
            measure,
            group_key: -1.0,
            part: None,
            whole: self.count,
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with the two-pass method of textbooks.
        #[test]
        fn a_correlation_is_that_of_two_passes(
            pairs in prop::collection::vec((-50_i32..50, -50_i32..50), 1..60),
            cut in 0_usize..60,
        ) {
            let pairs: Vec<(f64, f64)> =
                pairs.into_iter().map(|(x, y)| (f64::from(x), f64::from(y))).collect();
            let of = |pairs: &[(f64, f64)]| {
                let mut own = Correlation::default();
                for &(x, y) in pairs {
                    own.add(x, y);
                }
                own
            };
            let (one, other) = pairs.split_at(cut.min(pairs.len()));
            let mut merged = of(one);
            merged.merge(&of(other));
            let n = pairs.iter().map(|_| 1.0).sum::<f64>();
            let (mx, my) = (pairs.iter().map(|p| p.0).sum::<f64>() / n, pairs.iter().map(|p| p.1).sum::<f64>() / n);
            let sum = |of: fn(f64, f64) -> f64| pairs.iter().map(|p| of(p.0 - mx, p.1 - my)).sum::<f64>();
            let (xx, yy, xy) = (sum(|x, _| x * x), sum(|_, y| y * y), sum(|x, y| x * y));
            let found = merged.row("x").unwrap();
            prop_assert_eq!(found.whole, n);
            // Differences from the means are multiples of 1 / n, with n below 60, or they are all
            // 0.
            if 1e-3 < xx && 1e-3 < yy {
                prop_assert!((found.value.unwrap() - xy / (xx * yy).sqrt()).abs() < 5.001e-7);
            } else {
                prop_assert_eq!(found.value, None);
            }
        }
    }
}
