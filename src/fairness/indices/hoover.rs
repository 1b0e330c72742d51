//! `hoover`: the Hoover index over a sliding window, 0 (all equal) to 1 - 1/n.
//!
//! E. M. Hoover, "The Measurement of Industrial Localization", The Review of Economics and
//! Statistics 18(4), 1936, pages 162-171; also called Robin Hood or Pietra index. It is the share
//! of the usage that would have to move to other users to make all equal.

use super::window::float;

/// H = Σᵢ|xᵢ − μ| / (2nμ). `None` if there is no user or the mean is 0.
pub fn hoover_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    if sum == 0.0 {
        return None;
    }
    let mean = sum / float(shares.len());
    let apart: f64 = shares.iter().map(|share| (share - mean).abs()).sum();
    Some(apart / (2.0 * sum))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_worked_example() {
        // Of 60 hours, 10 move from the first user to the second: a sixth.
        assert_eq!(format!("{:.4}", hoover_index(&[30.0, 10.0, 20.0]).unwrap()), "0.1667");
        assert_eq!(hoover_index(&[5.0, 5.0]), Some(0.0));
        assert_eq!(hoover_index(&[8.0, 0.0, 0.0, 0.0]), Some(0.75));
        assert_eq!(hoover_index(&[0.0]), None);
        assert_eq!(hoover_index(&[]), None);
    }

    proptest! {
        /// It equals the largest gap between the Lorenz curve and the diagonal.
        #[test]
        fn it_is_the_largest_gap_under_the_diagonal(
            shares in prop::collection::vec(0.001_f64..1e6, 1..40)
        ) {
            let mut ascending = shares.clone();
            ascending.sort_by(f64::total_cmp);
            let whole: f64 = ascending.iter().sum();
            let (mut below, mut gap) = (0.0, 0.0_f64);
            for (rank, share) in (1..).zip(&ascending) {
                below += share / whole;
                gap = gap.max(float(rank) / float(shares.len()) - below);
            }
            prop_assert!((hoover_index(&shares).unwrap() - gap).abs() < 1e-9);
        }
    }
}
