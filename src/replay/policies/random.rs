//! A random waiting task, all equally likely.

use std::sync::Arc;

use super::passing::{depth_parameter, take_depth};
use super::{Depth, Kind, Order, OrderPlan, Passing, Read};
use crate::notation::{Notation, NotationError};
use crate::replay::random::{Draws, Purpose};
use crate::replay::state::{Phase, State};

pub(super) const KIND: Kind = Kind {
    name: "random",
    about: "Any waiting task, all equally likely",
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
    fn build(&self, _state: &State<'_>, seed: u64) -> Box<dyn Order> {
        let passing = Passing { depth: self.depth, ..Passing::default() };
        let draws = Draws::new(seed, Purpose::Choice);
        Box::new(Lots { waiting: Vec::new(), chosen: None, draws, draw_count: 0, passing })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        depth_parameter(self.depth).into_iter().collect()
    }
}

#[derive(Debug)]
struct Lots {
    waiting: Vec<u32>,
    /// The position that was drawn but not yet used.
    chosen: Option<usize>,
    draws: Draws,
    draw_count: u64,
    passing: Passing,
}

impl Order for Lots {
    fn push(&mut self, _state: &State<'_>, task: u32) {
        self.waiting.push(task);
    }

    fn push_front(&mut self, _state: &State<'_>, task: u32) {
        self.waiting.push(task);
    }

    fn peek(&mut self, state: &State<'_>) -> Option<u32> {
        while !self.waiting.is_empty() {
            let lot = self.chosen.unwrap_or_else(|| {
                self.draw_count += 1;
                let drawn = self.draws.bits(1, self.draw_count) % self.waiting.len() as u64;
                usize::try_from(drawn).expect("below the length")
            });
            let task = self.waiting[lot];
            if state.tasks.phase[task as usize] == Phase::Waiting {
                self.chosen = Some(lot);
                return Some(task);
            }
            self.waiting.swap_remove(lot);
            self.chosen = None;
        }
        None
    }

    fn pop(&mut self) {
        if let Some(lot) = self.chosen.take() {
            self.waiting.swap_remove(lot);
        }
    }

    fn passing(&self) -> Passing {
        self.passing
    }
}
