//! `theil`: the Theil index over a sliding window, 0 (all equal) to ln n.
//!
//! H. Theil, "Economics and Information Theory", North-Holland, Amsterdam, 1967, chapter 4: the
//! difference between the entropy of equal shares and that of the actual ones. It can be decomposed
//! exactly: for users in groups, it is the index between the groups plus the mean of the indices
//! within them, weighted by usage.

use super::window::float;

/// T = (1/n)·Σᵢ(xᵢ/μ)·ln(xᵢ/μ), where a user without usage adds 0. `None` if there is no user or
/// the mean is 0.
pub(super) fn theil_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    if sum == 0.0 {
        return None;
    }
    let count = float(shares.len());
    let mean = sum / count;
    let of_one = |share: &f64| match share / mean {
        0.0 => 0.0,
        ratio => ratio * ratio.ln(),
    };
    // Rounding must not make the index of equal shares negative.
    Some((shares.iter().map(of_one).sum::<f64>() / count).max(0.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_worked_example() {
        // Of the mean of 20, the values are 1.5, 0.5 and 1 times: (1.5 ln 1.5 + 0.5 ln 0.5 + 0) /
        // 3.
        assert_eq!(format!("{:.4}", theil_index(&[30.0, 10.0, 20.0]).unwrap()), "0.0872");
        assert_eq!(theil_index(&[5.0, 5.0]), Some(0.0));
        assert_eq!(theil_index(&[8.0, 0.0, 0.0, 0.0]), Some(4.0_f64.ln()));
        assert_eq!(theil_index(&[0.0]), None);
        assert_eq!(theil_index(&[]), None);
    }

    proptest! {
        /// It is the difference between the entropy of equal shares and that of the actual ones.
        #[test]
        fn it_is_entropy_that_is_missing(shares in prop::collection::vec(0.0_f64..1e6, 1..40)) {
            let whole: f64 = shares.iter().sum();
            prop_assume!(0.0 < whole);
            let parts = shares.iter().map(|share| share / whole).filter(|part| 0.0 < *part);
            let entropy: f64 = parts.map(|part| -part * part.ln()).sum();
            let missing = float(shares.len()).ln() - entropy;
            prop_assert!((theil_index(&shares).unwrap() - missing).abs() < 1e-9);
        }

        /// The index between groups and the indices within them add up to the whole.
        #[test]
        fn it_divides_into_groups_without_a_rest(
            groups in prop::collection::vec(prop::collection::vec(0.001_f64..1e6, 1..9), 1..9)
        ) {
            let all = groups.concat();
            let (whole, count) = (all.iter().sum::<f64>(), float(all.len()));
            let parts = groups.iter().map(|group| {
                let usage = group.iter().sum::<f64>() / whole;
                let people = float(group.len()) / count;
                usage * theil_index(group).unwrap() + usage * (usage / people).ln()
            });
            prop_assert!((theil_index(&all).unwrap() - parts.sum::<f64>()).abs() < 1e-9);
        }
    }
}
