//! Months and accounts, as they are stored and read back, and their sentence.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answers::load::share_of;
use crate::answers::sentences::percent;
use crate::digits::{counted, six_digits};
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::studies::meter::CpuDefinition;

/// The answer of `monthly`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MonthlyAnswer {
    /// What CPU time means.
    pub cpu: CpuDefinition,
    /// Its unit.
    pub unit: String,
    /// The time zone of the months.
    pub zone: String,
    /// Running time from which a failure counts as late, s.
    pub late_s: f64,
    /// CPU time of all attempts.
    pub total: f64,
    /// CPU time of attempts that did not finish.
    pub total_wasted: f64,
    /// CPU time of attempts that did not finish and ran for at least `late_s`.
    pub total_late: f64,
    /// GPU time, if it is known.
    pub total_gpu_s: Option<f64>,
    /// Limit x CPUs of attempts with a limit.
    pub total_asked: f64,
    /// CPU time of the attempts with a limit.
    pub total_used_of_asked: f64,
    /// The number of jobs.
    pub jobs: u64,
    /// The median wait of jobs, s.
    pub wait_s_median: Option<f64>,
    /// The 95 % quantile of the waits of jobs, s.
    pub wait_s_p95: Option<f64>,
    /// The number of attempts.
    pub attempts: u64,
    /// Attempts without a CPU request, counted as 0.
    pub attempts_without_request: u64,
    /// By account and month.
    pub rows: TableRows<Value>,
    /// All accounts, month by month.
    pub months: TableRows<Value>,
    /// Accounts over the whole log.
    pub accounts: TableRows<OfAccount>,
    /// The users who used most.
    pub users: TableRows<Value>,
    /// Waits by queue and size of the job.
    pub waits: TableRows<Value>,
    /// How jobs ended, and why.
    pub ends: TableRows<Value>,
    /// Time limits.
    pub limits: TableRows<Value>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason, if there is nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// An account over the whole log.
#[derive(Clone, Debug, Deserialize)]
pub struct OfAccount {
    /// Its name.
    pub account: String,
    /// Its share of all CPU time.
    pub share: Option<f64>,
}

impl MonthlyAnswer {
    /// The sentence: what accounts used, what was wasted, how long jobs waited, and how much of the
    /// time limits was used.
    pub(crate) fn sentence(&self) -> Option<String> {
        let total = Some(self.total).filter(|&total| 0.0 < total)?;
        let first = self.accounts.iter().next()?;
        let wait = self.wait_s_median.map_or_else(String::new, |median| {
            format!("; half of the jobs waited for at most {} s", six_digits(median))
        });
        let limits = share_of(Some(self.total_used_of_asked), Some(self.total_asked));
        let limits = limits.map_or_else(String::new, |share| {
            format!("; {} of the time requested by limits was used", percent(share))
        });
        let wasted = Some(self.total_wasted).filter(|&wasted| 0.0 < wasted);
        let wasted = wasted.map_or_else(String::new, |wasted| {
            format!(
                "; attempts that did not finish used {}, {} of it in runs of {} s or more",
                percent(wasted / total),
                percent(self.total_late / wasted),
                six_digits(self.late_s),
            )
        });
        Some(format!(
            "In {}, {} used {} {}, of which account {} used {}{wasted}{wait}{limits}",
            counted(self.months.len() as u64, "month"),
            counted(self.accounts.len() as u64, "account"),
            six_digits(total),
            self.unit,
            first.account,
            percent(first.share?),
        ))
    }
}
