//! Conservative backfilling: first come, first served, and every task gets a booked start at its
//! submission; a later task may jump ahead if it delays no booking.
//!
//! ```text
//!  running  |=====a=====|
//!  first                |==== b, needs all ====|
//!  second               :                      |==c==|   c is promised the end of b
//!  jumps    |=d=|                                        d ends before b begins
//! ```
//! Each task gets the earliest start that the plans of running tasks and the bookings before it
//! allow. When an attempt ends earlier than planned, the bookings are checked repeatedly in order,
//! and moved to earlier times if that delays no other booking (compression), as in Mu'alem and
//! Feitelson (2001). While no task runs longer than estimated and no machine changes, no task
//! starts later than booked.

use std::sync::Arc;

use super::easy::InLine;
use super::{Backfill, Kind, Order, OrderPlan, Passing, Read};
use crate::notation::{Notation, NotationError};
use crate::replay::line::Line;
use crate::replay::state::State;

pub(super) const KIND: Kind = Kind {
    name: "conservative",
    about: "Backfilling that delays no waiting task: each has a reservation from its submission",
    word: "",
    read: Read::Order(read),
};

#[derive(Debug)]
struct Plan;

#[expect(clippy::unnecessary_wraps, reason = "all readers have one signature")]
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
