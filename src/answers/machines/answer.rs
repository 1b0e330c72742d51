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
    /// The number of machines.
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
    /// CPU x time of machines in service, plus `lost_cpu_s`.
    pub up_and_lost_cpu_s: f64,
    /// `lost_cpu_s` over `up_and_lost_cpu_s`.
    pub capacity_lost_share: Option<f64>,
    /// CPU x time after the last REMOVE of machines that did not come back.
    pub gone_cpu_s: f64,
    /// `lost_cpu_s` and `gone_cpu_s` over these and CPU x time in service.
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
    /// A row for all machines, then one per configuration.
    pub rows: TableRows<Value>,
    /// Time between failures and to repair.
    pub spells: TableRows<Value>,
    /// The first groups of machines that left together.
    pub together: TableRows<Value>,
    /// How many times machines left together.
    pub together_count: u64,
    /// What ran on machines when they left, if tasks are loaded.
    pub ran: Option<RanAnswer>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason, if there is nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// What ran on machines when they left.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RanAnswer {
    /// Outages in the hours for which tasks are loaded.
    pub outages: u64,
    /// A row for each way in which attempts ended.
    pub rows: TableRows<Value>,
}

impl MachinesAnswer {
    /// The sentence: how many machines left, and the CPU time lost.
    pub(crate) fn sentence(&self) -> String {
        let median = self.outage_s_median.map_or_else(String::new, |median| {
            format!("; half of the outages that ended lasted {} s or less", six_digits(median))
        });
        let lost = self.capacity_lost_share.map_or_else(String::new, |share| {
            format!("; {:.2} % of the CPU capacity was lost in outages that ended", share * 100.0)
        });
        format!(
            "{} of {} machines were away at least once, {} times in total{median}{lost}.",
            grouped(self.machines_down),
            grouped(self.machines),
            grouped(self.outages),
        )
    }
}
