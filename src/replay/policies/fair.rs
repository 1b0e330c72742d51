//! Fair share as in `HTCondor`: users hold machines in proportion to 1 / effective priority.
//!
//! ```text
//!  RUP' = max(0.5, b RUP + (1 - b) U),   b = 0.5^(interval / half-life),   EUP = RUP x factor
//! ```
//! U is the CPU that the user holds at the end of the interval. The user with the least held CPU x
//! EUP is next, so two users with EUPs of 20 and 5 will hold CPU in the ratio 1 : 4.

use std::sync::Arc;

use super::by_user::{ByUser, Held, Score};
use super::passing::{depth_parameter, take_depth};
use super::{Depth, Kind, Order, OrderPlan, Read};
use crate::fairness::indices::rup_after;
use crate::notation::{Notation, NotationError};
use crate::replay::state::State;
use crate::replay::workload::UNITS;

pub(super) const KIND: Kind = Kind {
    name: "fair",
    about: "HTCondor's fair share; half_life_s, interval_s, depth=N as for fifo",
    word: "",
    read: Read::Order(read),
};

/// The least real user priority, which a user without past usage has.
const PRIORITY_MIN: f64 = 0.5;

#[derive(Clone, Debug)]
struct Plan {
    half_life_s: f64,
    interval_s: f64,
    depth: Depth,
}

fn read(notation: &mut Notation) -> Result<Arc<dyn OrderPlan>, NotationError> {
    Ok(Arc::new(Plan {
        half_life_s: notation.number("half_life_s", "a time above 0 s", 86_400.0, 1e-3..)?,
        interval_s: notation.number(
            "interval_s",
            "a time of 1 ms to 1 year",
            60.0,
            1e-3..=3.2e7,
        )?,
        depth: take_depth(notation)?,
    }))
}

impl OrderPlan for Plan {
    fn build(&self, state: &State<'_>, _seed: u64) -> Box<dyn Order> {
        let user_count = state.workload.user_count();
        let priorities = Priorities { plan: self.clone(), real: vec![PRIORITY_MIN; user_count] };
        Box::new(ByUser::new(priorities, user_count, self.depth))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = vec![
            ("half_life_s", self.half_life_s.to_string()),
            ("interval_s", self.interval_s.to_string()),
        ];
        parameters.extend(depth_parameter(self.depth));
        parameters
    }
}

#[derive(Debug)]
struct Priorities {
    plan: Plan,
    real: Vec<f64>,
}

#[expect(clippy::cast_precision_loss, reason = "capacities are far below 2^53 millionths")]
impl Score for Priorities {
    fn score(&self, user: usize, in_use: Held) -> f64 {
        // Plus one millionth, so that users who hold no CPU yet differ by their priority.
        (in_use[0] as f64 + 1.0) * self.real[user]
    }

    #[expect(clippy::cast_possible_truncation, reason = "at most a year")]
    fn period_us(&self) -> Option<i64> {
        Some((self.plan.interval_s * 1e6) as i64)
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 periods")]
    fn reorder(&mut self, in_use: &[Held], periods: i64) {
        let interval_s = self.plan.interval_s * periods as f64;
        let half_life_s = self.plan.half_life_s;
        for (real, in_use) in self.real.iter_mut().zip(in_use) {
            let cpus = in_use[0] as f64 / UNITS as f64;
            *real = rup_after(*real, cpus, interval_s, half_life_s).max(PRIORITY_MIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_halves_in_a_day_of_rest() {
        let plan = Plan { half_life_s: 86_400.0, interval_s: 86_400.0, depth: Depth::First };
        let mut priorities = Priorities { plan, real: vec![10.0, 0.6] };
        priorities.reorder(&[[0; 3]; 2], 1);
        assert_eq!(priorities.real, [5.0, 0.5]);
        priorities.reorder(&[[0; 3]; 2], 1);
        assert_eq!(priorities.real, [2.5, 0.5]);
    }

    #[test]
    fn many_periods_at_once_are_as_many_one_by_one() {
        let plan = Plan { half_life_s: 86_400.0, interval_s: 60.0, depth: Depth::First };
        let real = vec![10.0, 0.6, 700.0];
        let in_use = [[UNITS.into(), 0, 0], [0; 3], [u128::from(30 * UNITS), 0, 0]];
        let mut one_by_one = Priorities { plan: plan.clone(), real: real.clone() };
        (0..5000).for_each(|_| one_by_one.reorder(&in_use, 1));
        let mut at_once = Priorities { plan, real };
        at_once.reorder(&in_use, 5000);
        for (one, other) in one_by_one.real.iter().zip(at_once.real) {
            assert!((one / other - 1.0).abs() < 1e-9, "{one} {other}");
        }
    }
}
