//! Rank correlations: how similar two orders are.

/// Spearman's rho: Pearson's correlation of the ranks, with mean ranks for equal values. `None` for
/// fewer than two users, or if all values on one side are equal.
pub fn spearman(one: &[f64], other: &[f64]) -> Option<f64> {
    let (one, other) = (ranks(one), ranks(other));
    let count = float(one.len());
    let mean = f64::midpoint(count, 1.0);
    let moment = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let spread = (moment(&one, &one) * moment(&other, &other)).sqrt();
    (0.0 < spread).then(|| moment(&one, &other) / spread)
}

/// Kendall's tau-b, with its correction for ties; `None` if all values on one side are equal.
pub fn kendall(one: &[f64], other: &[f64]) -> Option<f64> {
    let (mut concordant, mut pairs_one, mut pairs_other) = (0_i64, 0_i64, 0_i64);
    for first in 0..one.len() {
        for second in 0..first {
            let sign = |values: &[f64]| match values[first].total_cmp(&values[second]) {
                std::cmp::Ordering::Less => -1,
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => 1,
            };
            let (a, b): (i64, i64) = (sign(one), sign(other));
            concordant += a * b;
            pairs_one += a.abs();
            pairs_other += b.abs();
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "pairs of users are far fewer than 2^53")]
    let (concordant, untied) = (concordant as f64, (pairs_one as f64 * pairs_other as f64).sqrt());
    (0.0 < untied).then(|| concordant / untied)
}

/// Ranks from 1, ascending; equal values have the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[one].total_cmp(&values[other]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tied in order.chunk_by(|&one, &other| values[one] == values[other]) {
        let rank = float(before) + f64::midpoint(float(tied.len()), 1.0);
        for &idx in tied {
            ranks[idx] = rank;
        }
        before += tied.len();
    }
    ranks
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 users")]
fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_compared_with_ties() {
        let one = [1.0, 2.0, 3.0, 4.0, 5.0];
        let near = |found: Option<f64>, expected: f64| {
            assert!((found.unwrap() - expected).abs() < 1e-12, "{found:?} {expected}");
        };
        near(spearman(&one, &[2.0, 1.0, 4.0, 3.0, 5.0]), 0.8);
        near(kendall(&one, &[2.0, 1.0, 4.0, 3.0, 5.0]), 0.6);
        near(spearman(&one, &[5.0, 4.0, 3.0, 2.0, 1.0]), -1.0);
        near(kendall(&one, &[5.0, 4.0, 3.0, 2.0, 1.0]), -1.0);
        // Results of scipy.stats.spearmanr and kendalltau for the same lists.
        near(spearman(&[1.0, 2.0, 2.0, 3.0], &[1.0, 3.0, 2.0, 3.0]), 0.833_333_333_333_333_4);
        near(kendall(&[1.0, 2.0, 2.0, 3.0], &[1.0, 3.0, 2.0, 3.0]), 0.8);
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(kendall(&[1.0], &[1.0]), None);
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [2.5, 1.0, 2.5]);
    }
}
