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
        let all = || state.machines.capacity.iter();
        let cpu = all().map(|capacity| u128::from(capacity.cpu)).sum();
        let memory = all().map(|capacity| capacity.memory.map(u128::from)).sum();
        Box::new(ByUser::new(Dominant { cpu, memory }, state.workload.user_count(), self.depth))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        depth_parameter(self.depth).into_iter().collect()
    }
}

/// Shares are of the capacity of all machines that the cluster ever has. Where the memory of one of
/// them is not known, CPU alone counts.
#[derive(Debug)]
struct Dominant {
    cpu: u128,
    memory: Option<u128>,
}

impl Score for Dominant {
    #[expect(clippy::cast_precision_loss, reason = "capacities are far below 2^53 millionths")]
    fn score(&self, _user: usize, in_use: [u128; 2]) -> f64 {
        let share = |in_use: u128, total: u128| in_use as f64 / total.max(1) as f64;
        let of_cpu = share(in_use[0], self.cpu);
        self.memory.map_or(of_cpu, |memory| of_cpu.max(share(in_use[1], memory)))
    }
}
