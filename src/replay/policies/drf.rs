//! Dominant resource fairness (Ghodsi and others, NSDI 2011). A user's dominant share is the
//! largest share of any resource; the user with the lowest dominant share is next.

use std::sync::Arc;

use super::by_user::{ByUser, Held, Score};
use super::passing::{depth_parameter, take_depth};
use super::{Depth, Kind, Order, OrderPlan, Read};
use crate::notation::{Notation, NotationError};
use crate::replay::gpus::{FreeGpus, MILLI};
use crate::replay::state::State;

pub(super) const KIND: Kind = Kind {
    name: "drf",
    about: "Dominant resource fairness: CPU, memory, known GPUs; depth=N as for fifo",
    word: "",
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
        let gpus = state.machines.gpus.iter().flat_map(FreeGpus::milli).count() as u128;
        let gpus = gpus * u128::from(MILLI);
        Box::new(ByUser::new(
            Dominant { cpu, memory, gpus },
            state.workload.user_count(),
            self.depth,
        ))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        depth_parameter(self.depth).into_iter().collect()
    }
}

/// Shares refer to the capacity of all machines that the cluster has at any time. Memory does not
/// count if the memory of any machine is unknown. GPUs do not count if no machine records them.
#[derive(Debug)]
struct Dominant {
    cpu: u128,
    memory: Option<u128>,
    /// Thousandths of GPUs; 0 if no machine records GPUs.
    gpus: u128,
}

impl Score for Dominant {
    #[expect(clippy::cast_precision_loss, reason = "capacities are far below 2^53 millionths")]
    fn score(&self, _user: usize, in_use: Held) -> f64 {
        let share = |in_use: u128, total: u128| in_use as f64 / total.max(1) as f64;
        let of_cpu = share(in_use[0], self.cpu);
        let of_gpus = if self.gpus == 0 { 0.0 } else { share(in_use[2], self.gpus) };
        let of_memory = self.memory.map_or(0.0, |memory| share(in_use[1], memory));
        of_cpu.max(of_memory).max(of_gpus)
    }
}
