//! Load as it is stored and read back, and its sentence.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answers::load::UsedMemory;
use crate::answers::sentences::{Capacity, percent};
use crate::digits::six_digits;
use crate::results::envelope::{Input, there};
use crate::results::missing::Missing;
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::schema::Table;
use crate::studies::censoring::Censoring;
use crate::studies::load::arrivals::ArrivalStudy;

/// The answer of `load`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadAnswer {
    /// The length of an interval, s.
    pub interval_s: f64,
    /// What load is split by.
    pub by: Cow<'static, str>,
    /// The unit of CPU.
    pub unit: Cow<'static, str>,
    /// The unit of memory.
    pub memory_unit: Cow<'static, str>,
    /// What used memory means.
    pub memory: UsedMemory,
    /// Sums over all intervals.
    pub totals: Totals,
    /// Attempts.
    pub attempts: u64,
    /// Attempts without a CPU request, counted as 0.
    pub attempts_without_cpu_request: u64,
    /// Attempts without a memory request, counted as 0.
    pub attempts_without_memory_request: u64,
    /// Attempts closed at the end of their job.
    pub attempts_closed_with_job: u64,
    /// Attempts whose CPU time a log records.
    pub attempts_with_cpu_time: u64,
    /// What crosses the edges of the window.
    pub censoring: Censoring,
    /// A row per interval.
    pub rows: TableRows<LoadRow>,
    /// When jobs are submitted.
    pub arrivals: Option<ArrivalStudy>,
    /// Waits and slowdowns by size of the job.
    pub sizes: TableRows<Value>,
    /// Waits and slowdowns by the CPU that the job requests.
    pub cpu_requests: TableRows<Value>,
    /// Waits and slowdowns by the memory that the job requests.
    pub memory_requests: TableRows<Value>,
    /// Waits and slowdowns by user.
    pub users: TableRows<Value>,
    /// The unit of GPUs; `None` if no attempt records them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_unit: Option<Cow<'static, str>>,
    /// Attempts without a record of GPUs, counted as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_without_gpu_request: Option<u64>,
    /// Waits of tasks without a recorded request; `None` if free capacity was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_without_request: Option<u64>,
    /// A row per interval and group; `None` without `--by`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stacked: Option<TableRows<Value>>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// Why there is nothing to see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// Sums over all intervals: amounts times seconds. `None` if an amount is known in no interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// CPU of the machines.
    pub cpu_capacity_s: Option<f64>,
    /// Memory of the machines.
    pub memory_capacity_s: Option<f64>,
    /// CPU that running attempts requested.
    pub cpu_allocated_s: Option<f64>,
    /// CPU that they used.
    pub cpu_used_s: Option<f64>,
    /// CPU that waiting tasks requested.
    pub cpu_pending_s: Option<f64>,
    /// Memory that running attempts requested.
    pub memory_allocated_s: Option<f64>,
    /// Memory that they used.
    pub memory_used_s: Option<f64>,
    /// Memory that waiting tasks requested.
    pub memory_pending_s: Option<f64>,
    /// Running tasks.
    pub running_s: Option<f64>,
    /// Waiting tasks.
    pub pending_s: Option<f64>,
    /// GPUs of the machines; no field if no attempt records GPUs.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub gpu_capacity_s: Option<Option<f64>>,
    /// GPUs that running attempts requested.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub gpu_allocated_s: Option<Option<f64>>,
    /// GPUs that waiting tasks requested.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub gpu_pending_s: Option<Option<f64>>,
    /// CPU requested over that of the machines.
    pub cpu_allocated_of_capacity_share: Option<f64>,
    /// CPU used over that of the machines.
    pub cpu_used_of_capacity_share: Option<f64>,
    /// Memory requested over that of the machines.
    pub memory_allocated_of_capacity_share: Option<f64>,
    /// Free CPU on machines; no field if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub cpu_free_on_machines_s: Option<Option<f64>>,
    /// The part of it on machines that no waiting task fits.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub cpu_fragmented_s: Option<Option<f64>>,
    /// Free memory on machines.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub memory_free_on_machines_s: Option<Option<f64>>,
    /// The part of it on machines that no waiting task fits.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub memory_fragmented_s: Option<Option<f64>>,
}

/// The row of an interval.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct LoadRow {
    /// CPU requested, the mean.
    pub cpu_allocated: Option<f64>,
    /// CPU requested over that of the machines.
    pub cpu_allocated_share: Option<f64>,
}

/// That averages include time that is not in the log, as a further sentence; empty if there is none.
pub(crate) fn averaged(inputs: &[Input]) -> String {
    let missing = Missing::of_inputs(inputs, &[Table::TaskEvents, Table::MachineEvents]);
    missing.in_averages().map_or_else(String::new, |said| format!(". {said}"))
}

/// A sum as a share of another; `None` if that is not above 0.
pub(crate) fn share_of(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    Some(part? / whole.filter(|&whole| 0.0 < whole)?)
}

impl LoadAnswer {
    /// The sentence with the shares of the CPU that were requested and used, and the number of
    /// waiting tasks.
    pub(crate) fn sentence(&self, inputs: &[Input]) -> Option<String> {
        let totals = &self.totals;
        let of_capacity = |sum| share_of(sum, totals.cpu_capacity_s).map(percent);
        let allocated = of_capacity(totals.cpu_allocated_s)?;
        let used = of_capacity(totals.cpu_used_s);
        let used = used.map_or_else(String::new, |used| format!(" and {used} used"));
        let pending = share_of(Some(totals.pending_s?), totals.running_s)?;
        Some(format!(
            "{allocated} of {} was requested by running tasks{used}; for every 100 running tasks {} waited{}",
            Capacity::of(inputs).or_used("the CPU"),
            six_digits(pending * 100.0),
            averaged(inputs)
        ))
    }
}
