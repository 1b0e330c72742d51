//! Turns facts into plain result structs: the answers of the outcome study.
//!
//! In: facts from [`crate::facts`], or a lake. Out: structs that serialise to `result.json`. No
//! module here prints.

pub mod asked;
pub mod calendar;
pub mod censoring;
pub mod checks;
pub mod counted;
pub mod course;
pub mod distributions;
mod ends;
pub mod episodes;
pub mod first_end;
pub mod fold;
mod foreseen;
mod kaplan_meier;
pub mod kill_sweep;
pub mod ledger;
pub mod load;
pub mod machines;
pub mod mandai;
pub mod meter;
pub mod monthly;
pub mod named;
pub mod of_facts;
pub mod outcomes;
pub mod predict;
pub mod queues;
pub mod resubmitted;
pub mod rules;
pub mod samples;
mod scratch;
pub mod selection;
mod split;
mod sums;
mod texts;
pub mod whole_use;

/// The `share` quantile of ascending values by the estimator R-7 (linear between the two nearest
/// order statistics); `None` if there are no values.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position in a slice"
)]
pub fn quantile(ascending: &[f64], share: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let place = share * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    Some(ascending[below] + (place - place.floor()) * (ascending[above] - ascending[below]))
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_are_r_7() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 0.5), Some(3.0));
        assert!((quantile(&values, 0.9).unwrap() - 6.8).abs() < 1e-12);
        assert_eq!(quantile(&values, 1.0), Some(8.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
