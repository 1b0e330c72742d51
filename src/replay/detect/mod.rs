//! Straggler detectors on recorded history: which attempts each would have flagged, and how
//! correctly.
//!
//! In: a lake, detectors, and a model of progress. Out: for each detector and ground truth, a
//! score; for each detector, simulated copies, and false alarms in hours of change. Every flag is
//! also passed to the caller. Groups (the tasks of one phase of a job) with too few finished tasks
//! are left out and counted. History is replayed bucket by bucket, with groups in parallel. The
//! results do not depend on the number and order of threads. Memory holds the tasks and flags of
//! one bucket. Until the end, it also holds 24 bytes per group that is left out, 32 per flag on a
//! straggler, and 8 per judged task.

pub mod copies;
pub mod groups;
mod outcome;
mod plan;
pub mod progress;
mod run;
pub mod score;
pub mod shifts;
mod sums;
#[cfg(test)]
mod testing;
pub mod truth;
pub mod walk;

pub use outcome::{DetectOutcome, DetectorRow, FlagRow, GroupCounts};
pub use plan::{DetectPlan, DetectPlanError};
pub use run::{detect, detect_walked, walk_range};
