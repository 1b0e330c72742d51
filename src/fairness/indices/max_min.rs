//! `max-min`: the distance of a window's usage from a max-min fair division of the same total.
//!
//! A user's demand is the usage plus the requests of waiting tasks in the window. The total usage
//! is divided again by progressive filling; the distance is the share of it that would have to move
//! to other users, 0 (fair) to 1.

use std::fmt;

use super::window::{Held, float};
use super::{Index, Readings};
use crate::fairness::FairnessError;
use crate::fairness::history::{History, Step};
use crate::notation::{Notation, write_notation};

/// Distance from max-min fairness.
#[derive(Debug)]
pub struct MaxMin {
    window_s: f64,
    used: Held,
    wanted: Held,
}

impl MaxMin {
    pub(super) fn read(notation: &mut Notation) -> Result<Self, FairnessError> {
        let window_s = Held::read(notation)?;
        Ok(Self { window_s, used: Held::default(), wanted: Held::default() })
    }
}

impl fmt::Display for MaxMin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_notation(f, "max-min", &[("window_s", &self.window_s)])
    }
}

impl Index for MaxMin {
    fn columns(&self) -> Vec<String> {
        Vec::new()
    }

    fn overall(&self) -> Vec<String> {
        ["distance", "users"].map(str::to_owned).into()
    }

    fn held_per_user(&self, length_s: f64) -> f64 {
        2.0 * Held::rows(self.window_s, length_s)
    }

    fn begin(&mut self, _history: &History) -> Result<(), FairnessError> {
        (self.used, self.wanted) = (Held::default(), Held::default());
        Ok(())
    }

    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError> {
        let row = |part: fn(&crate::fairness::history::Used) -> f64| {
            step.used.iter().map(part).collect::<Vec<f64>>()
        };
        let used = self.used.add(row(|used| used.cpu_s), step.length_s, self.window_s);
        let wanted =
            self.wanted.add(row(|used| used.cpu_s + used.waiting_s), step.length_s, self.window_s);
        let total: f64 = used.iter().sum();
        let fair = max_min_fill(total, &wanted);
        let moved: f64 = used.iter().zip(&fair).map(|(used, fair)| (used - fair).abs()).sum();
        let asking = wanted.iter().filter(|&&wanted| 0.0 < wanted).count();
        let distance = if total == 0.0 { f64::NAN } else { moved / 2.0 / total };
        out.overall.copy_from_slice(&[distance, float(asking)]);
        Ok(())
    }
}

/// Divides a capacity max-min fairly: no user gets more than the demand, and the rest is divided
/// equally among the users with a higher demand.
pub fn max_min_fill(capacity: f64, demands: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..demands.len()).collect();
    order.sort_by(|&one, &other| demands[one].total_cmp(&demands[other]));
    let mut given = vec![0.0; demands.len()];
    let mut left = capacity;
    for (position, &user) in order.iter().enumerate() {
        let level = left / float(order.len() - position);
        given[user] = demands[user].min(level);
        left -= given[user];
    }
    given
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_worked_example() {
        let given = max_min_fill(10.0, &[2.0, 2.6, 4.0, 5.0]);
        for (found, expected) in given.iter().zip([2.0, 2.6, 2.7, 2.7]) {
            assert!((found - expected).abs() < 1e-12, "{given:?}");
        }
        assert_eq!(max_min_fill(10.0, &[1.0, 2.0]), [1.0, 2.0]);
        assert!(max_min_fill(10.0, &[]).is_empty());
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_asked_and_nothing_is_left(
            capacity in 0.0_f64..1e6, demands in prop::collection::vec(0.0_f64..1e5, 1..40)
        ) {
            let given = max_min_fill(capacity, &demands);
            let wanted: f64 = demands.iter().sum();
            prop_assert!(given.iter().zip(&demands).all(|(given, wanted)| given <= wanted));
            prop_assert!((given.iter().sum::<f64>() - capacity.min(wanted)).abs() < 1e-6);
        }
    }
}
