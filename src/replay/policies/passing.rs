//! How tasks that wait may pass each other.

use crate::notation::{Notation, NotationError};
use crate::replay::estimates::Steps;

/// How many waiting tasks that fit nowhere may be passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Depth {
    /// None: if the first task waits, all tasks behind it wait.
    #[default]
    First,
    /// This many.
    Tasks(u32),
    /// All of them.
    All,
}

impl Depth {
    /// The number of tasks, if there is a bound.
    pub fn bound(self) -> Option<usize> {
        match self {
            Self::First => Some(0),
            Self::Tasks(count) => Some(count as usize),
            Self::All => None,
        }
    }
}

/// The reservations that later tasks must respect when they start before one that has to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backfill {
    /// None: later tasks may delay it.
    #[default]
    None,
    /// The reservation of the first waiting task (EASY).
    Easy,
    /// The reservations of all waiting tasks, each made when the task is submitted.
    Conservative,
}

/// The running time of a task that an order uses to plan ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Predict {
    /// The estimate of the workload.
    #[default]
    Estimate,
    /// The mean of the user's last two runs that had ended when the task was submitted, prolonged
    /// by steps when it is too short.
    LastTwo(Steps),
}

/// How an order continues when its first task fits nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// How many waiting tasks may be passed over.
    pub depth: Depth,
    /// The tasks that get reservations; an order with reservations has a
    /// [`line`](super::Order::line).
    pub backfill: Backfill,
    /// The number of machines compared when tasks of lower priority are evicted to make room; 0 for
    /// no evictions.
    pub preempts: u32,
    /// How running times are predicted.
    pub predict: Predict,
}

/// Reads `depth`, the number of waiting tasks that may be passed over.
pub(super) fn take_depth(notation: &mut Notation) -> Result<Depth, NotationError> {
    let depth = notation.take("depth", "a number of tasks", 0)?;
    Ok(if depth == 0 { Depth::First } else { Depth::Tasks(depth) })
}

/// `depth` as written: left out if no task is passed over.
pub(super) fn depth_parameter(depth: Depth) -> Option<(&'static str, String)> {
    depth.bound().filter(|&depth| 0 < depth).map(|depth| ("depth", depth.to_string()))
}
