//! First come, first served: the plain work queue.
//!
//! If tasks may be passed over, the line is searched by requests; otherwise only its first task is
//! ever used.

use std::collections::VecDeque;
use std::sync::Arc;

use super::by_key::ByKey;
use super::passing::{depth_parameter, take_depth};
use super::{Depth, Kind, Order, OrderPlan, Passing, Read};
use crate::notation::{Notation, NotationError};
use crate::replay::state::{Phase, State};

pub(super) const KIND: Kind = Kind {
    name: "fifo",
    about: "First come, first served; depth=N skips up to N tasks that fit nowhere",
    word: "",
    read: Read::Order(read),
};

#[derive(Debug)]
struct Plan {
    depth: Depth,
}

pub(super) fn read(notation: &mut Notation) -> Result<Arc<dyn OrderPlan>, NotationError> {
    Ok(Arc::new(Plan { depth: take_depth(notation)? }))
}

impl OrderPlan for Plan {
    fn build(&self, _state: &State<'_>, _seed: u64) -> Box<dyn Order> {
        let passing = Passing { depth: self.depth, ..Passing::default() };
        match self.depth {
            Depth::First => Box::new(Line { waiting: VecDeque::new(), passing }),
            _ => Box::new(ByKey::new(|_, _| 0, passing)),
        }
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        depth_parameter(self.depth).into_iter().collect()
    }
}

/// A line in which only the first task is used.
#[derive(Debug)]
struct Line {
    waiting: VecDeque<u32>,
    passing: Passing,
}

impl Order for Line {
    fn push(&mut self, _state: &State<'_>, task: u32) {
        self.waiting.push_back(task);
    }

    fn push_front(&mut self, _state: &State<'_>, task: u32) {
        self.waiting.push_front(task);
    }

    fn peek(&mut self, state: &State<'_>) -> Option<u32> {
        while let Some(&task) = self.waiting.front() {
            if state.tasks.phase[task as usize] == Phase::Waiting {
                return Some(task);
            }
            self.waiting.pop_front();
        }
        None
    }

    fn pop(&mut self) {
        self.waiting.pop_front();
    }

    fn passing(&self) -> Passing {
        self.passing
    }
}
