//! Recorded history, as a workload and a cluster to replay.
//!
//! In: `task_events` and `machine_events` of a lake, and a [`HistoryPlan`] (window, sample, load).
//! Out: a checked [`Workload`](crate::replay::workload::Workload) in order of (arrival, job, task),
//! a checked [`Cluster`](super::cluster::Cluster), and the assumptions as sentences. Usage is not
//! read. Recorded starts are not used for the replay; they give the recorded [`Schedule`], for
//! comparison.
//!
//! ```text
//!  recorded   SUBMIT  |--fail--|  |--evict--|  |----- finish -----|
//!  replayed   arrival, fails after the same work, then finishes after the work of the last try
//! ```

mod assembled;
mod assumptions;
mod counts;
mod gpus;
mod items;
mod machines;
mod numbers;
mod over_time;
mod overcommit;
mod pasts;
mod plan;
mod recorded;
mod schedule;
mod stages;

pub use self::assembled::workload;
pub use self::assumptions::{of_estimates, of_feedback, of_gpus, of_late_changes, of_machines};
pub use self::counts::Counts;
pub use self::machines::{Fleet, fleet};
pub use self::over_time::{AtTime, OverTime};
pub use self::overcommit::{Overcommit, OvercommitError};
pub use self::plan::{HistoryPlan, KilledTasks, RerunWork};
pub use self::recorded::History;
pub use self::schedule::Schedule;
