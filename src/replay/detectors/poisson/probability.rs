//! The probability of counts in a Poisson distribution.

use std::f64::consts::TAU;

/// ln P(lambda, X = k) = k ln lambda - lambda - ln k!, with Stirling's series above 20.
pub(super) fn ln_probability(lambda: f64, k: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "rounding of k above 2^53 does not matter")]
    let n = k as f64;
    let ln_factorial = if k <= 20 {
        #[expect(clippy::cast_precision_loss, reason = "at most 20")]
        (2..=k).map(|i| (i as f64).ln()).sum::<f64>()
    } else {
        n * n.ln() - n + (TAU * n).ln() / 2.0 + 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3))
    };
    let power = if k == 0 { 0.0 } else { n * lambda.ln() };
    power - lambda - ln_factorial
}

/// The smallest k, at least 1 and at least lambda, whose probability is below `p`. The
/// probabilities of all larger k are also below `p`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(super) fn first_rare(lambda: f64, p: f64) -> u64 {
    let is_rare = |k: u64| ln_probability(lambda, k).exp() < p;
    let from = (lambda.ceil() as u64).max(1);
    let mut step = 1;
    while !is_rare(from.saturating_add(step - 1)) {
        if 1 << 60 < step {
            return u64::MAX;
        }
        step *= 2;
    }
    let (mut low, mut high) = (from.saturating_add(step / 2).max(from) - 1, from + step - 1);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if is_rare(middle) { high = middle } else { low = middle }
    }
    if from <= low && is_rare(low) { low } else { high }
}
