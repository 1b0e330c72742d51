//! The state of a replay at an instant: arrays that the policies may read.
//!
//! In: the engine's starts and ends. Out: machines with their free capacity, running attempts, and
//! tasks with their phases. Everything is an array indexed by machine, task or slot; all links are
//! numbers. Policies only read it; only the engine writes it.

mod columns;
mod instant;
mod last_two;
mod predictions;
mod siblings;

pub use self::columns::{Attempts, Machines, Phase, Role, Tasks};
pub use self::instant::State;
pub(super) use self::last_two::LastTwo;
