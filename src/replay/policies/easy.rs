//! EASY backfilling: first come, first served, but a task may jump ahead if it does not delay the
//! first one.
//!
//! ```text
//!  running  |=====a=====|
//!  first                |==== b, needs all ====|
//!  jumps    |=c=|                                 c ends by its estimate before b begins
//! ```
//! Lifka's rule (1995): the first task that does not fit gets a reservation for the earliest time
//! at which, by the estimates, one machine has enough room. A later task may start if it goes to
//! another machine, ends before that time, or uses only what the first task leaves free. The whole
//! line is searched, or with `depth=N` its first N + 1 tasks.
//!
//! With `predict=last2`, plans use predictions instead of estimates, as in Tsafrir, Etsion and
//! Feitelson (2007). A prediction is the mean of the user's last two runs that had ended when the
//! task was submitted, at most its request. Each time an attempt runs longer than planned, the plan
//! is prolonged by the next of `steps_min`, up to the request; the last step is repeated. The
//! default steps are 1 minute, then 5, 15 and 30 more, then 1, 2, 5, 10, 20, 50 and 100 hours. The
//! paper was not available: the steps come from later descriptions.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{Backfill, Depth, Kind, Order, OrderPlan, Passing, Predict, Read};
use crate::notation::{Notation, NotationError};
use crate::replay::estimates::{STEPS, Steps};
use crate::replay::line::Line;
use crate::replay::state::State;

pub(super) const KIND: Kind = Kind {
    name: "easy",
    about: "EASY backfilling by estimated running times, or predict=last2; depth=N skips at most N tasks",
    word: "",
    read: Read::Order(read),
};

/// The key that selects predictions.
const PREDICT: &str = "predict";

/// The key of the steps that prolong predictions.
const STEPS_MIN: &str = "steps_min";

#[derive(Clone, Copy, Debug, PartialEq)]
struct Plan {
    depth: Depth,
    predict: Predict,
}

/// `all`, or a number of tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Written(Depth);

impl FromStr for Written {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(if text == "all" { Depth::All } else { Depth::Tasks(text.parse()?) }))
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Depth::Tasks(count) => write!(f, "{count}"),
            Depth::First | Depth::All => f.write_str("all"),
        }
    }
}

pub(super) fn read(notation: &mut Notation) -> Result<Arc<dyn OrderPlan>, NotationError> {
    let depth = notation.take("depth", "a number of tasks or `all`", Written(Depth::All))?;
    let choices = [("estimate", false), ("last2", true)];
    let predict = if notation.choice(PREDICT, "`estimate` or `last2`", false, &choices)? {
        Predict::LastTwo(notation.take(STEPS_MIN, STEPS, Steps::default())?)
    } else {
        Predict::Estimate
    };
    Ok(Arc::new(Plan { depth: depth.0, predict }))
}

impl OrderPlan for Plan {
    fn build(&self, _state: &State<'_>, _seed: u64) -> Box<dyn Order> {
        let (depth, predict) = (self.depth, self.predict);
        let passing = Passing { depth, backfill: Backfill::Easy, preempts: 0, predict };
        Box::new(InLine { line: Line::default(), passing })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = match self.depth {
            Depth::All => Vec::new(),
            depth => vec![("depth", Written(depth).to_string())],
        };
        if let Predict::LastTwo(steps) = self.predict {
            parameters.push((PREDICT, "last2".to_owned()));
            if steps != Steps::default() {
                parameters.push((STEPS_MIN, steps.to_string()));
            }
        }
        parameters
    }

    fn uses_estimates(&self) -> bool {
        true
    }

    fn assumes(&self) -> Option<&'static str> {
        matches!(self.predict, Predict::LastTwo(_)).then_some(
            "`predict=last2` plans with the mean of the user's last two runs that had ended, at \
            most the requested time; without such runs with the requested time.",
        )
    }
}

/// First come, first served, in a searchable line.
#[derive(Debug)]
pub(super) struct InLine {
    pub(super) line: Line,
    pub(super) passing: Passing,
}

impl Order for InLine {
    fn push(&mut self, state: &State<'_>, task: u32) {
        self.line.push_back(task, state.ask_of(task));
    }

    fn push_front(&mut self, state: &State<'_>, task: u32) {
        self.line.push_front(task, state.ask_of(task));
    }

    fn peek(&mut self, _state: &State<'_>) -> Option<u32> {
        self.line.first()
    }

    fn pop(&mut self) {
        if let Some(task) = self.line.first() {
            self.line.remove(task);
        }
    }

    fn forget(&mut self, task: u32) {
        self.line.remove(task);
    }

    fn line(&self) -> Option<&Line> {
        Some(&self.line)
    }

    fn is_by_arrival(&self) -> bool {
        true
    }

    fn passing(&self) -> Passing {
        self.passing
    }
}
