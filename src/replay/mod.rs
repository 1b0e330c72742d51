//! Replays recorded history: with straggler detectors, or under other policies.
//!
//! In: groups of tasks with their recorded attempts. Out: the tasks that would have been flagged,
//! and how correct the flags were; or, from a [`cluster`] and a [`workload`], the [`journal`] of
//! another policy. The clock counts whole microseconds, random numbers come from the seed in the
//! plan, and no result depends on threads, wall clocks or the order of hash maps.

pub mod cluster;
pub mod column;
pub mod dependencies;
pub mod detect;
pub mod detectors;
mod ended_jobs;
pub mod engine;
pub mod estimates;
pub mod event;
pub mod experiments;
pub mod failures;
pub mod feedback;
mod foreseen;
pub mod gpus;
pub mod history;
pub mod inputs;
pub mod journal;
pub mod kill;
pub mod line;
pub mod metrics;
pub mod pasts;
pub mod placement;
pub mod policies;
pub mod queue;
pub mod random;
mod retries;
pub mod room;
pub mod spec;
pub mod state;
mod waiting;
pub mod workload;

#[cfg(test)]
mod backfilling;
#[cfg(test)]
mod drawn;
#[cfg(test)]
mod gpu_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod shortcuts;
#[cfg(test)]
mod tests;
