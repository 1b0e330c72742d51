//! The machine on which a task starts.
//!
//! In: a task, and conditions on the machine besides free capacity. Out: a machine, or none. Each
//! placement keeps the machines in its own order. Room means CPU and memory; free GPUs are checked
//! on each machine that has room.
//!
//! Costs with M machines, of a search and of each change of a machine:
//!
//! - `first-free` and `first-fit`: log M; `first-free` 1 if all tasks request the same.
//! - `best-fit` and `worst-fit`: log M, plus the skipped machines that have enough CPU and memory
//!   in sum but not of each.
//! - `random-fit`: as many draws as it takes to find a machine with room, at most M.
//!
//! If no machine has room, this is known immediately. Machines that have room but are unsuitable
//! for another reason (a sibling is there, a rule forbids it) are skipped one by one. Requests
//! rejected because of siblings are remembered until a suitable machine gains room. The place up to
//! which they were rejected is remembered, too: if tasks of a job must not share a machine, they
//! skip the machines of their siblings once in total, not once each.

pub(super) use self::finder::Finder;
pub(super) use self::steps::{CPU_STEPS, Most, NO_BOUND, Need};
pub(super) use self::tree::Tree;

mod finder;
mod line;
mod ranks;
pub(super) mod steps;
#[cfg(test)]
mod tests;
mod tree;

/// How a machine is chosen among those with room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// The machine that has waited for work longest, as in a work queue.
    FirstFree,
    /// The machine with the lowest number.
    FirstFit,
    /// The machine with the least left afterwards: CPU and memory as shares of its capacity, added
    /// up.
    BestFit,
    /// The machine with the most left afterwards.
    WorstFit,
    /// A random machine, all equally likely.
    RandomFit,
}

/// Every placement with its name.
pub const PLACEMENTS: [(&str, Placement); 5] = [
    ("first-free", Placement::FirstFree),
    ("first-fit", Placement::FirstFit),
    ("best-fit", Placement::BestFit),
    ("worst-fit", Placement::WorstFit),
    ("random-fit", Placement::RandomFit),
];
