//! EASY backfilling: first come, first served, but a task may jump ahead if it does not delay the
//! first one.
//!
//! ```text
//!  running  |=====a=====|
//!  first                |==== b, needs all ====|
//!  jumps    |=c=|                                 c ends by its requested time before b begins
//! ```
//! Lifka's rule (1995): the first task that does not fit gets a reservation for the earliest time
//! at which, by the requested times, enough will be free on one machine; a later task may start if
//! it goes elsewhere, ends before then, or takes only what the first one leaves.

use std::collections::VecDeque;
use std::sync::Arc;

use super::fifo::Line;
use super::{Kind, Order, OrderPlan, Passing, Read};
use crate::notation::{Notation, NotationError};
use crate::replay::state::State;

pub(super) const KIND: Kind = Kind {
    name: "easy",
    about: "EASY backfilling by requested times; depth=N tasks are looked at",
    read: Read::Order(read),
};

#[derive(Debug)]
struct Plan {
    depth: u32,
}

fn read(notation: &mut Notation) -> Result<Arc<dyn OrderPlan>, NotationError> {
    Ok(Arc::new(Plan { depth: notation.take("depth", "a number of tasks", 1_000)? }))
}

impl OrderPlan for Plan {
    fn build(&self, _state: &State<'_>, _seed: u64) -> Box<dyn Order> {
        let passing = Passing { depth: self.depth, reserves: true, preempts: 0 };
        Box::new(Line { waiting: VecDeque::new(), passing })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("depth", self.depth.to_string())]
    }
}
