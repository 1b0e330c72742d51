//! Machines in detail, as they are stored and read back.

use serde::{Deserialize, Serialize};

use crate::studies::named::Named;

/// The machines that left most often.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineDetails {
    /// The hours for which tasks and machines are loaded.
    pub load: LoadedHours,
    /// The first of them left most often.
    pub machines: Vec<MachineDetail>,
}

/// The hours for which tasks and machines are loaded, s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadedHours {
    /// When the loaded tasks begin.
    pub start_s: f64,
    /// The length of an interval.
    pub interval_s: f64,
    /// When the loaded tasks end.
    pub end_s: f64,
    /// When the machine events begin.
    pub machines_start_s: f64,
    /// When the machine events end.
    pub machines_end_s: f64,
}

/// A machine. Lists are bounded, with the total count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineDetail {
    /// Its number.
    pub machine_id: i64,
    /// When it is first seen, s.
    pub first_s: Option<f64>,
    /// Its capacities, in the order in which it had them.
    pub capacities: Vec<Capacity>,
    /// Requested CPU x time over its own CPU x time, while its CPU is known.
    pub cpu_requested_share: Option<f64>,
    /// How many times it left.
    pub outage_count: u64,
    /// How long it was away in all, s.
    pub away_s: f64,
    /// The first outages.
    pub outages: Vec<OutageSpan>,
    /// Attempts that ran on it.
    pub attempt_count: u64,
    /// Attempts by how they ended.
    pub ended: Named<u64>,
    /// Jobs that ran on it.
    pub job_count: u64,
    /// The jobs that ran longest on it.
    pub jobs: Vec<JobThere>,
    /// The longest attempts, in the order in which they began.
    pub attempts: Vec<AttemptThere>,
    /// CPU that running attempts requested, the mean of each interval.
    pub cpu_requested: Vec<f64>,
    /// CPU that it had, the mean of each interval.
    pub cpu_capacity: Vec<f64>,
}

/// What a machine has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// CPU.
    pub cpu: Option<f64>,
    /// Memory.
    pub memory: Option<f64>,
}

/// When a machine was away.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutageSpan {
    /// When it left, s.
    pub start_s: f64,
    /// When it came back, s; none if it did not.
    pub end_s: Option<f64>,
}

/// A job on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobThere {
    /// The job.
    pub job_id: i64,
    /// Its attempts there.
    pub attempts: u64,
    /// How long they ran, s.
    pub running_s: f64,
}

/// An attempt on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptThere {
    /// The job.
    pub job_id: i64,
    /// The task.
    pub task_index: i32,
    /// When it began, s.
    pub start_s: f64,
    /// When it ended, s.
    pub end_s: f64,
    /// How it ended.
    pub ended_by: String,
}
