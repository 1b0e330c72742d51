//! `gini`: the Gini coefficient over a sliding window, 0 (all equal) to 1 - 1/n.

use super::window::float;

/// G = ΣᵢΣⱼ|xᵢ − xⱼ| / (2n²μ), without the correction n/(n − 1). `None` if there is no user or the
/// mean is 0.
pub fn gini_index(shares: &[f64]) -> Option<f64> {
    let mut sorted = shares.to_vec();
    sorted.sort_by(f64::total_cmp);
    let sum: f64 = sorted.iter().sum();
    if sum == 0.0 {
        return None;
    }
    // For ascending values the double sum is 2·Σ(2i − n − 1)·xᵢ.
    let count = float(sorted.len());
    let weighted: f64 =
        (1..).zip(&sorted).map(|(rank, share)| (2.0 * float(rank) - count - 1.0) * share).sum();
    Some(weighted / (count * sum))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_worked_example() {
        assert_eq!(format!("{:.4}", gini_index(&[30.0, 10.0, 20.0]).unwrap()), "0.2222");
        assert_eq!(gini_index(&[5.0, 5.0]), Some(0.0));
        assert_eq!(gini_index(&[0.0]), None);
        assert_eq!(gini_index(&[]), None);
    }

    proptest! {
        #[test]
        fn it_is_the_mean_difference(shares in prop::collection::vec(0.001_f64..1e6, 1..40)) {
            let mut all = 0.0;
            for one in &shares {
                for other in &shares {
                    all += (one - other).abs();
                }
            }
            let expected = all / (2.0 * float(shares.len()) * shares.iter().sum::<f64>());
            prop_assert!((gini_index(&shares).unwrap() - expected).abs() < 1e-12);
        }
    }
}
