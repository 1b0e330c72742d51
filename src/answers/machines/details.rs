//! Machines in detail, as they are stored and read back.

use serde::{Deserialize, Serialize};

use crate::digits::{counted, grouped, lasting};
use crate::studies::named::Named;

/// The machines that left most often.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineDetails {
    /// The hours for which tasks and machines are loaded.
    pub load: LoadedHours,
    /// The machines; the one that left most often comes first.
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

/// Task events may begin up to this much later than machine events, s. In the trace of 2011, it is
/// 600 s.
const LATER_S: f64 = 600.0;

impl LoadedHours {
    /// How long tasks are loaded, s. If tasks begin shortly after machine events, the time of
    /// machine events before them is included.
    pub fn tasks_s(&self) -> f64 {
        let is_later = LATER_S < self.start_s - self.machines_start_s;
        let begin_s = if is_later { self.start_s } else { self.start_s.min(self.machines_start_s) };
        self.end_s - begin_s
    }

    /// How long machines are known, s.
    pub fn machines_s(&self) -> f64 {
        self.machines_end_s - self.machines_start_s
    }

    /// Whether machines are known for longer than tasks.
    pub fn has_more_of_machines(&self) -> bool {
        self.tasks_s() < 0.99 * self.machines_s()
    }
}

impl MachineDetails {
    /// A sentence that says how often these machines left, and which time the numbers cover.
    pub(crate) fn sentence(&self) -> Option<String> {
        let left = match self.machines.as_slice() {
            [] => return None,
            [only] => {
                let times = counted(only.outage_count, "time");
                format!("The machine that left most often left {times}")
            }
            [first, .., last] if first.outage_count == last.outage_count => format!(
                "The {} machines that left most often left {} each",
                grouped(self.machines.len() as u64),
                counted(first.outage_count, "time")
            ),
            [first, .., last] => format!(
                "The {} machines that left most often left {} to {} times",
                grouped(self.machines.len() as u64),
                grouped(last.outage_count),
                grouped(first.outage_count)
            ),
        };
        let of_time = if self.load.has_more_of_machines() {
            format!(
                ". Outages are of the {} of machine events; attempts, jobs and requests are of the {} \
                for which tasks are loaded",
                lasting(self.load.machines_s()),
                lasting(self.load.tasks_s())
            )
        } else {
            String::new()
        };
        Some(format!("{left}{of_time}"))
    }
}

/// A machine in detail. Lists are bounded, but total counts are included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineDetail {
    /// The number of the machine.
    pub machine_id: i64,
    /// The time at which it is first seen, s.
    pub first_s: Option<f64>,
    /// Its capacities, in the order in which it had them.
    pub capacities: Vec<Capacity>,
    /// Requested CPU x time over the CPU x time of the machine, while its CPU is known.
    pub cpu_requested_share: Option<f64>,
    /// The number of times that it left.
    pub outage_count: u64,
    /// The total time for which it was away, s.
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
    /// The mean CPU that running attempts requested in each interval.
    pub cpu_requested: Vec<f64>,
    /// The mean CPU that the machine had in each interval.
    pub cpu_capacity: Vec<f64>,
}

/// The capacity of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// CPU.
    pub cpu: Option<f64>,
    /// Memory.
    pub memory: Option<f64>,
}

/// A time for which a machine was away.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutageSpan {
    /// When it left, s.
    pub start_s: f64,
    /// When it came back, s; `None` if it did not.
    pub end_s: Option<f64>,
}

/// A job on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobThere {
    /// The job.
    pub job_id: i64,
    /// The number of its attempts on this machine.
    pub attempts: u64,
    /// The total running time of these attempts, s.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_in_detail_are_reported_with_the_times_of_their_numbers() {
        let machine = |outage_count| MachineDetail { outage_count, ..MachineDetail::default() };
        let load = LoadedHours {
            start_s: 600.0,
            interval_s: 1.0,
            end_s: 90_800.8,
            machines_start_s: 0.0,
            machines_end_s: 2_506_200.0,
        };
        let said = |load, counts: &[u64]| {
            let machines = counts.iter().copied().map(machine).collect();
            MachineDetails { load, machines }.sentence()
        };
        assert_eq!(
            said(load, &[165, 117, 20]).unwrap(),
            "The 3 machines that left most often left 20 to 165 times. Outages are of the 29 d of machine \
            events; attempts, jobs and requests are of the 25.2 h for which tasks are loaded"
        );
        let whole = LoadedHours { end_s: 2_506_200.0, ..load };
        assert_eq!(said(whole, &[1]).unwrap(), "The machine that left most often left 1 time");
        assert_eq!(said(load, &[]), None);
    }
}
