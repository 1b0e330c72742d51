//! `jain`: Jain's index of equality over a sliding window, 1/n to 1.

use super::window::float;

/// Jain's index of `shares`: 1 if all are equal, 1/n if one user holds everything. `None` if there
/// is no user or nothing to share, since the ratio is then 0/0.
///
/// J = (Σx)² / (n·Σx²), Jain, Chiu and Hawe, DEC-TR-301 (1984).
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return None;
    }
    // Divided by the largest, so that squares neither overflow nor underflow.
    let sum: f64 = shares.iter().map(|share| share / largest).sum();
    let squares: f64 = shares.iter().map(|share| (share / largest).powi(2)).sum();
    Some(sum * sum / (float(shares.len()) * squares))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_worked_example() {
        assert_eq!(format!("{:.4}", jain_index(&[10.0, 20.0, 30.0]).unwrap()), "0.8571");
        assert_eq!(jain_index(&[3.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(jain_index(&[]), None);
        assert_eq!(jain_index(&[0.0, 0.0]), None);
    }

    proptest! {
        #[test]
        fn it_lies_between_one_over_n_and_1(shares in prop::collection::vec(0.0_f64..1e12, 1..60)) {
            let bound = 1.0 / float(shares.len());
            if let Some(index) = jain_index(&shares) {
                prop_assert!(bound - 1e-12 <= index && index <= 1.0 + 1e-12, "{index}");
            }
        }
    }
}
