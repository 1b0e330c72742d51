//! Machines and their outages, as they are stored and read back, and their sentence.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digits::{grouped, six_digits};
use crate::results::rows::TableRows;
use crate::results::shares::Terms;

/// The answer of `machines`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MachinesAnswer {
    /// Machines.
    pub machines: u64,
    /// Those that were away at least once.
    pub machines_down: u64,
    /// How often machines were away.
    pub outages: u64,
    /// How often they came back.
    pub outages_ended: u64,
    /// The shortest outage that ended, s.
    pub outage_s_min: Option<f64>,
    /// Their median, s.
    pub outage_s_median: Option<f64>,
    /// Their mean, s.
    pub outage_s_mean: Option<f64>,
    /// Their 90 % quantile, s.
    pub outage_s_p90: Option<f64>,
    /// The longest, s.
    pub outage_s_max: Option<f64>,
    /// CPU x time of outages that ended.
    pub lost_cpu_s: f64,
    /// CPU x time of machines in service, and `lost_cpu_s`.
    pub up_and_lost_cpu_s: f64,
    /// The one over the other.
    pub capacity_lost_share: Option<f64>,
    /// CPU x time after the last REMOVE of machines that did not come back.
    pub gone_cpu_s: f64,
    /// What was lost and gone over all.
    pub capacity_away_share: Option<f64>,
    /// Memory x time in service.
    pub up_memory_s: f64,
    /// Memory x time of outages that ended.
    pub lost_memory_s: f64,
    /// Memory x time of machines that did not come back.
    pub gone_memory_s: f64,
    /// Events without a capacity.
    pub events_without_capacity: u64,
    /// The end of the window, s.
    pub end_s: f64,
    /// By configuration.
    pub rows: TableRows<Value>,
    /// Time between failures and to repair.
    pub spells: TableRows<Value>,
    /// Machines that left together, the first of them.
    pub together: TableRows<Value>,
    /// How many times machines left together.
    pub together_count: u64,
    /// What ran on machines when they left, where tasks are loaded.
    pub ran: Option<RanAnswer>,
    /// What each share is of.
    #[serde(flatten)]
    pub terms: Terms,
    /// Why there is nothing to see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// What ran on machines when they left.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RanAnswer {
    /// Outages while tasks are loaded.
    pub outages: u64,
    /// By how the attempts ended.
    pub rows: TableRows<Value>,
}

impl MachinesAnswer {
    /// How many machines left, and what that cost.
    pub(crate) fn sentence(&self) -> String {
        let median = self.outage_s_median.map_or_else(String::new, |median| {
            format!("; half of the outages that ended lasted {} s or less", six_digits(median))
        });
        let lost = self.capacity_lost_share.map_or_else(String::new, |share| {
            format!(", and {:.2} % of the CPU time was lost in them", share * 100.0)
        });
        format!(
            "{} of {} machines were away at least once, {} times in all{median}{lost}.",
            grouped(self.machines_down),
            grouped(self.machines),
            grouped(self.outages),
        )
    }
}
