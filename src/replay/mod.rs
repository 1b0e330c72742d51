//! Real history run again: under the eyes of straggler detectors, or under other policies.
//!
//! In: groups of tasks with their recorded attempts. Out: who would have been flagged and how
//! right that was. The clock counts whole microseconds, random numbers come from the
//! seed in the plan, and nothing depends on threads, wall clocks or the order of hash maps.

pub mod detect;
pub mod detectors;
