//! Replays a group's history heartbeat by heartbeat, and shows it to detectors.
//!
//! In: a group, detectors, and a model of progress. Out: for each detector, the attempts that it
//! would have flagged, and when. History is not changed: a flagged attempt counts as having a copy
//! until it ends, and continues as recorded. Events at the instant of a heartbeat are known at that
//! heartbeat, so an attempt that has just ended is never flagged. A detector may report a time
//! until which it stays quiet. It is then called again at the first heartbeat from that time on, or
//! when an attempt begins or ends. Heartbeats at which all detectors are quiet are skipped. This
//! changes no flag.
//!
//! ```text
//!  heartbeats   |     |     |     |     |     |     |     |
//!  late         j     j ........ quiet ......j     j           j judged
//!  poisson      j     j     j     j     j ....     j
//!                                       a task ends ┘
//! ```

mod beats;
mod plan;
mod watch;

pub use beats::{Walked, walk};
pub use plan::{Beats, WalkPlan, heartbeats};
pub use watch::Flagged;

#[cfg(test)]
mod promises;
