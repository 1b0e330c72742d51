//! `cv`: the coefficient of variation over a sliding window, 0 if all are equal.

use super::window::float;

/// The standard deviation (population) divided by the mean; `None` if there is no user or the mean
/// is 0.
pub fn variation(shares: &[f64]) -> Option<f64> {
    let count = float(shares.len());
    let mean = shares.iter().sum::<f64>() / count;
    if shares.is_empty() || mean == 0.0 {
        return None;
    }
    let squares: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
    Some((squares / count).sqrt() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::indices::jain_index;

    #[test]
    fn it_says_the_same_as_jain() {
        let shares = [10.0, 20.0, 30.0];
        let found = variation(&shares).unwrap();
        assert!((found - (2.0_f64 / 3.0).sqrt() / 2.0).abs() < 1e-15);
        // J = 1/(1 + cv²).
        assert!((jain_index(&shares).unwrap() - 1.0 / (1.0 + found * found)).abs() < 1e-15);
        assert_eq!(variation(&[]), None);
        assert_eq!(variation(&[0.0, 0.0]), None);
    }
}
