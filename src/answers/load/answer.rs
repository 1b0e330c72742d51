//! Load as it is stored and read back, and its sentence.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answers::load::UsedMemory;
use crate::answers::sentences::percent;
use crate::digits::six_digits;
use crate::results::envelope::there;
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
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
    /// Those counted as 0.
    pub attempts_without_cpu_request: u64,
    /// Those counted as 0 in memory.
    pub attempts_without_memory_request: u64,
    /// Those closed at the end of their job.
    pub attempts_closed_with_job: u64,
    /// Those whose CPU time a log records.
    pub attempts_with_cpu_time: u64,
    /// What reaches over the edges of the window.
    pub censoring: Censoring,
    /// A row per interval.
    pub rows: TableRows<LoadRow>,
    /// When jobs come.
    pub arrivals: Option<ArrivalStudy>,
    /// Waits and slowdowns by size of the job.
    pub sizes: TableRows<Value>,
    /// By the CPU that it requests.
    pub cpu_requests: TableRows<Value>,
    /// By the memory that it requests.
    pub memory_requests: TableRows<Value>,
    /// By user.
    pub users: TableRows<Value>,
    /// The unit of GPUs, where these are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_unit: Option<Cow<'static, str>>,
    /// Attempts without a record of GPUs, counted as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_without_gpu_request: Option<u64>,
    /// Waiting tasks without a request, where free capacity was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_without_request: Option<u64>,
    /// A row per interval and group, where load is split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stacked: Option<TableRows<Value>>,
    /// What each share is of.
    #[serde(flatten)]
    pub terms: Terms,
    /// Why there is nothing to see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// Sums over all intervals, amount times s; none where nothing is known of an amount.
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
    /// GPUs of the machines, where these are known.
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
    /// Free CPU, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub cpu_free_on_machines_s: Option<Option<f64>>,
    /// The part of it that no waiting task fits.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub cpu_fragmented_s: Option<Option<f64>>,
    /// Free memory.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub memory_free_on_machines_s: Option<Option<f64>>,
    /// The part of it that no waiting task fits.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub memory_fragmented_s: Option<Option<f64>>,
}

/// An interval.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct LoadRow {
    /// CPU requested, the mean.
    pub cpu_allocated: Option<f64>,
    /// CPU requested over that of the machines.
    pub cpu_allocated_share: Option<f64>,
}

/// A sum as a share of another that is above zero.
pub(crate) fn share_of(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    Some(part? / whole.filter(|&whole| 0.0 < whole)?)
}

impl LoadAnswer {
    /// What was handed out of what there was, and what waited.
    pub(crate) fn sentence(&self) -> Option<String> {
        let totals = &self.totals;
        let of_capacity = |sum| share_of(sum, totals.cpu_capacity_s).map(percent);
        let allocated = of_capacity(totals.cpu_allocated_s)?;
        let used = of_capacity(totals.cpu_used_s);
        let used = used.map_or_else(String::new, |used| format!(" and {used} used"));
        let pending = share_of(Some(totals.pending_s?), totals.running_s)?;
        Some(format!(
            "{allocated} of the CPU was requested by running tasks{used}; for every 100 running tasks {} waited.",
            six_digits(pending * 100.0)
        ))
    }
}
