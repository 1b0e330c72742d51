//! Dominant resource fairness: the user whose largest share of any resource is least goes next
//! (Ghodsi and others, NSDI 2011).

use std::sync::Arc;

use super::by_user::{ByUser, Score};
use super::{Depth, Kind, Order, OrderPlan, Read, depth_parameter, take_depth};
use crate::notation::{Notation, NotationError};
use crate::replay::state::State;

pub(super) const KIND: Kind = Kind {
    name: "drf",
    about: "Dominant resource fairness over CPU and memory; depth=N as for fifo",
    read: Read::Order(read),
};

#[derive(Debug)]
struct Plan {
    depth: Depth,
}

fn read(notation: &mut Notation) -> Result<Arc<dyn OrderPlan>, NotationError> {
    Ok(Arc::new(Plan { depth: take_depth(notation)? }))
}

impl OrderPlan for Plan {
    fn build(&self, state: &State<'_>, _seed: u64) -> Box<dyn Order> {
        let mut total = [0; 2];
        for capacity in &state.machines.capacity {
            total = [total[0] + capacity[0], total[1] + capacity[1]];
        }
        Box::new(ByUser::new(Dominant { total }, state.workload.user_count(), self.depth))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        depth_parameter(self.depth).into_iter().collect()
    }
}

/// Shares are of the capacity of all machines that the cluster ever has.
#[derive(Debug)]
struct Dominant {
    total: [u64; 2],
}

impl Score for Dominant {
    #[expect(clippy::cast_precision_loss, reason = "capacities are far below 2^53 millionths")]
    fn score(&self, _user: usize, in_use: [u64; 2]) -> f64 {
        let share = |resource: usize| in_use[resource] as f64 / self.total[resource].max(1) as f64;
        share(0).max(share(1))
    }
}
