//! Never acts on running tasks: the lower bound of every comparison.

use std::sync::Arc;

use super::{Kind, Read, Speculation, SpeculationPlan};
use crate::notation::{Notation, NotationError};
use crate::replay::state::State;

pub(super) const KIND: Kind = Kind {
    name: "none",
    about: "Leaves running tasks alone",
    word: "",
    read: Read::Speculation(read),
};

#[derive(Debug)]
struct Plan;

#[expect(clippy::unnecessary_wraps, reason = "all readers have one signature")]
pub(super) fn read(_: &mut Notation) -> Result<Arc<dyn SpeculationPlan>, NotationError> {
    Ok(Arc::new(Plan))
}

impl SpeculationPlan for Plan {
    fn build(&self, _state: &State<'_>) -> Option<Box<dyn Speculation>> {
        None
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}
