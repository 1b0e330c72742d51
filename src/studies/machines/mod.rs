//! Machines over time: which left, for how long, the lost capacity, and what ran on them.
//!
//! In: `machine_events`, and `task_events` if it exists. Out: a [`Fleet`]: outages, their cost in
//! capacity, spells between them with their survival, machines that left together, configurations,
//! and the outcomes of attempts on a machine that left.
//!
//! ```text
//!  machine   ADD ======== REMOVE ······· ADD ========= REMOVE ········· (end of the window)
//!  up        |-- spell 1 --|             |-- spell 2 --|
//!  outages                 |---- 1 ------|             |--- 2, not ended -
//! ```
//!
//! The first spell of a machine starts when the machine is first seen. A machine that is in service
//! at the start of the window is older than its first spell, by an unknown time.

pub mod closeup;
mod fleet;
pub mod outages;
pub mod ran;
pub mod survival;

pub use fleet::{Configuration, Fleet, Outage, Together, end_of, fleet};
