//! The task with the highest priority first; with `preempt=yes`, tasks of lower priority are
//! evicted for it.
//!
//! Among the `looks` next machines that can make room, the one that wastes the least time is
//! chosen. There the lowest priority is evicted first, and among equals the attempt that began
//! last. Evicted tasks wait before their equals. A task without a known priority ranks below all
//! others.

use std::sync::Arc;

use super::by_key::ByKey;
use super::passing::{depth_parameter, take_depth};
use super::{Depth, Kind, Order, OrderPlan, Passing, Read};
use crate::notation::{Notation, NotationError};
use crate::replay::state::State;

pub(super) const KIND: Kind = Kind {
    name: "priority",
    about: "The highest priority first; preempt=yes evicts lower ones (looks=N machines compared), depth=N as for fifo",
    word: "",
    read: Read::Order(read),
};

#[derive(Debug)]
struct Plan {
    depth: Depth,
    preempts: bool,
    looks: u32,
}

fn read(notation: &mut Notation) -> Result<Arc<dyn OrderPlan>, NotationError> {
    let choices = [("yes", true), ("no", false)];
    Ok(Arc::new(Plan {
        preempts: notation.choice("preempt", "`yes` or `no`", true, &choices)?,
        looks: notation.take_if("looks", "a number of machines from 1", 100, |&looks| 0 < looks)?,
        depth: take_depth(notation)?,
    }))
}

impl OrderPlan for Plan {
    fn build(&self, _state: &State<'_>, _seed: u64) -> Box<dyn Order> {
        let preempts = if self.preempts { self.looks } else { 0 };
        let passing = Passing { depth: self.depth, preempts, ..Passing::default() };
        let rank = |state: &State<'_>, task: u32| {
            // A task without a known priority ranks below all others.
            -state.workload.priority.get(task).map_or(i64::from(i32::MIN) - 1, i64::from)
        };
        Box::new(ByKey::new(rank, passing))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let preempt = if self.preempts { "yes" } else { "no" };
        let mut parameters = vec![("preempt", preempt.to_owned())];
        if self.preempts {
            parameters.push(("looks", self.looks.to_string()));
        }
        parameters.extend(depth_parameter(self.depth));
        parameters
    }
}
