//! The time used by attempts, and the use of the cluster over time.

use serde::{Deserialize, Serialize};

/// Attempts that ended in one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Endings {
    /// The number of attempts.
    pub count: u64,
    /// Machine time, s.
    pub time_s: f64,
    /// CPU time: machine time x requested CPU, CPU-s.
    pub cpu_s: f64,
}

/// Utilisation and queue length over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The end of the stretch, s.
    pub time_s: f64,
    /// CPU in use as a share of the CPU present, on average; `None` if there was none.
    pub cpu_share: Option<f64>,
    /// Mean number of waiting tasks.
    pub waiting: f64,
}
