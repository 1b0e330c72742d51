//! The task with the least work first. It knows the true work, which no scheduler does: a bound.

use std::sync::Arc;

use super::by_key::ByKey;
use super::{Depth, Kind, Order, OrderPlan, Passing, Read, depth_parameter, take_depth};
use crate::notation::{Notation, NotationError};
use crate::replay::state::State;

pub(super) const KIND: Kind = Kind {
    name: "shortest",
    about: "The task with the least work first, by the truth that no scheduler knows",
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
    fn build(&self, _state: &State<'_>, _seed: u64) -> Box<dyn Order> {
        let passing = Passing { depth: self.depth, ..Passing::default() };
        let work = |state: &State<'_>, task: u32| {
            state.workload.try_work_us(task, state.tasks.failed[task as usize])
        };
        Box::new(ByKey::new(work, passing))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        depth_parameter(self.depth).into_iter().collect()
    }
}
