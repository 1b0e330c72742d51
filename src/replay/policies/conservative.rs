//! Conservative backfilling: first come, first served, and every task is promised a start when it
//! is submitted; a later task may jump ahead if no promise is broken.
//!
//! ```text
//!  running  |=====a=====|
//!  first                |==== b, needs all ====|
//!  second               :                      |==c==|   c is promised the end of b
//!  jumps    |=d=|                                        d ends before b begins
//! ```
//! Each task gets the earliest start that the plans of running tasks and the promises before it
//! allow. When an attempt ends earlier than planned, the promises are looked at in order, again and
//! again, and moved to earlier times where that breaks no other (compression), as in Mu'alem and
//! Feitelson (2001). As long as no task runs longer than estimated and no machine changes, nothing
//! starts later than was promised.

use std::sync::Arc;

use super::easy::InLine;
use super::{Backfill, Kind, Order, OrderPlan, Passing, Read};
use crate::notation::{Notation, NotationError};
use crate::replay::line::Line;
use crate::replay::state::State;

pub(super) const KIND: Kind = Kind {
    name: "conservative",
    about: "Backfilling that delays no waiting task: each has a reservation from its submission",
    read: Read::Order(read),
};

#[derive(Debug)]
struct Plan;

#[expect(clippy::unnecessary_wraps, reason = "as the others read")]
pub(super) fn read(_: &mut Notation) -> Result<Arc<dyn OrderPlan>, NotationError> {
    Ok(Arc::new(Plan))
}

impl OrderPlan for Plan {
    fn build(&self, _state: &State<'_>, _seed: u64) -> Box<dyn Order> {
        let passing = Passing { backfill: Backfill::Conservative, ..Passing::default() };
        Box::new(InLine { line: Line::default(), passing })
    }

    fn uses_estimates(&self) -> bool {
        true
    }

    fn books_ahead(&self) -> bool {
        true
    }
}
