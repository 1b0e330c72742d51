//! Usage by user, as it is stored and read back, and its sentence. If memory was charged, the keys
//! have other names, and the answer is not read back.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answers::fairness::resource;
use crate::answers::fairness::what_if::{Pair, Shift};
use crate::answers::sentences::{percent, short, verb_of};
use crate::digits::{grouped, six_digits};
use crate::fairness::gather::{Accrual, By, Counts};
use crate::fairness::history::known_name;
use crate::fairness::series::Undefined;
use crate::fairness::suggestions::Suggestions;
use crate::fairness::usage::{ClusterUsage, Inequality, MachineUsage, UserUsage};
use crate::results::envelope::{Envelope, again, if_it_reads};
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::studies::meter::{CpuDefinition, Resource};
use crate::studies::named::Named;
use crate::units::micros_to_seconds;

/// The answer of `fairness`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FairnessAnswer {
    /// Unit of CPU time.
    pub unit: Cow<'static, str>,
    /// The group by which usage is added up.
    pub by: By,
    /// The start of the span on the trace clock, s.
    pub start_s: f64,
    /// The length of an interval, s.
    pub interval_s: f64,
    /// Number of intervals.
    pub intervals: u64,
    /// All CPU time that is charged; `None` if it is unknown.
    pub total_cpu_s: Option<f64>,
    /// Attempts and usage windows.
    pub counts: AttemptCounts,
    /// The heaviest users, with the value of each index at the end of the span.
    pub heaviest: TableRows<Value>,
    /// Every user with usage, the heaviest first.
    pub users: Vec<UserUsage>,
    /// How unequal the usage of users is.
    pub inequality: Option<Inequality>,
    /// Usage by cluster.
    pub clusters: Vec<ClusterUsage>,
    /// Usage by machine, or by class of machines.
    pub machines: Vec<MachineUsage>,
    /// The share of the capacity in use, by interval.
    pub load: Vec<Option<f64>>,
    /// Users to limit, and users who arrived when capacity was free.
    pub suggestions: Suggestions,
    /// Values by index.
    pub indices: Vec<OfIndex>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason if there is nothing to compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
    /// How similar the orders of users are, for each pair of indices; `None` without `--what-if`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<Vec<Pair>>,
    /// The places of users, for each pair of indices; `None` without `--what-if`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if_places: Option<Vec<Shift>>,
}

/// The stored form of [`Counts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AttemptCounts {
    /// Attempts.
    pub attempts: u64,
    /// Attempts still open at the end of the window.
    pub open_attempts: u64,
    /// Attempts that reach into the span and are closed at the end of their job.
    pub closed_with_job: u64,
    /// CPU-seconds that these attempts use in the span.
    pub closed_with_job_cpu: f64,
    /// Attempts that `requested` counts as 0.
    pub without_request: u64,
    /// Attempts charged with the CPU time that a log records.
    pub with_cpu_time: u64,
    /// Attempts without a user (or other group).
    pub without_name: u64,
    /// Users without an attempt.
    pub users_without_attempts: u64,
}

impl From<Counts> for AttemptCounts {
    fn from(counts: Counts) -> Self {
        Self {
            attempts: counts.attempts,
            open_attempts: counts.open_attempts,
            closed_with_job: counts.closed_with_job,
            closed_with_job_cpu: counts.closed_with_job_cpu.seconds(),
            without_request: counts.without_request,
            with_cpu_time: counts.with_cpu_time,
            without_name: counts.without_name,
            users_without_attempts: counts.users_without_attempts,
        }
    }
}

/// An index, and its values for all users together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OfIndex {
    /// The index as the user wrote it.
    pub index: String,
    /// The index with every parameter.
    pub settings: String,
    /// The names of the values that it has for each user.
    pub columns: Vec<String>,
    /// Which values mean more usage: `larger` or `smaller`.
    pub heavier: Cow<'static, str>,
    /// Its values for all users together, by name and interval.
    pub overall: Named<Vec<Option<f64>>>,
    /// How many of its values are undefined; `None` in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined: Option<Undefined>,
    /// The column in the table of the heaviest users that has the first value of the index. `None`
    /// in older results, and for an index without values of users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column_in_table: Option<String>,
}

/// The settings that pages of fairness need.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct FairnessSettings {
    /// The definition of CPU time.
    pub cpu: Option<String>,
    /// When CPU time is charged.
    pub accrual: Option<Accrual>,
    /// Days before the span that indices also use.
    pub warm_up: Option<f64>,
    /// The first interval that is shown.
    pub shown_from: Option<f64>,
    clusters: Vec<OfCluster>,
}

/// The stored settings of a cluster.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct OfCluster {
    /// The shift of its times, µs.
    #[serde(deserialize_with = "if_it_reads")]
    shift_us: Option<i64>,
}

impl FairnessSettings {
    /// Whether there is only one cluster, so that pages need not name it.
    pub(crate) const fn is_only_cluster(&self) -> bool {
        self.clusters.len() < 2
    }

    /// The shift of the times of the first cluster, s.
    pub(crate) fn shift_s(&self) -> f64 {
        let shift_us = self.clusters.first().and_then(|one| one.shift_us);
        micros_to_seconds(shift_us.unwrap_or(0))
    }

    /// Whether usage is charged while it runs.
    pub(crate) fn is_charged_as_it_runs(&self) -> bool {
        self.accrual == Some(Accrual::Running)
    }
}

impl FairnessAnswer {
    /// The charged resource, CPU or GPUs.
    pub(crate) fn resource(&self) -> Resource {
        let is_of_gpus = self.unit == CpuDefinition::GPU_UNIT;
        if is_of_gpus { Resource::Gpu } else { Resource::Cpu }
    }

    /// The sentence with the usage of all users, and the share of the heaviest user.
    pub(crate) fn sentence(&self, settings: &FairnessSettings) -> Option<String> {
        let heaviest = self.users.first()?;
        let count = self.users.len() as u64;
        let count = format!("{} {}", grouped(count), self.by.noun(count));
        let charged = match settings.accrual {
            Some(Accrual::End) => ", charged when an attempt ends",
            _ => "",
        };
        let cpu = settings.cpu.as_ref();
        let used = cpu.map_or("used", |cpu| verb_of(cpu));
        let cpu = cpu.map_or_else(String::new, |cpu| format!(" ({cpu}{charged})"));
        Some(format!(
            "{count} {used} {} {}{cpu}; the heaviest ({}) {used} {} of it",
            six_digits(self.total_cpu_s?),
            self.unit,
            short(known_name(&heaviest.user).unwrap_or("(unknown)")),
            percent(heaviest.share?),
        ))
    }
}

pub(super) fn sentence(of: &Envelope) -> Option<String> {
    of.found::<FairnessAnswer>()?.sentence(&of.chosen())
}

/// Reads an answer and writes it again, with the names that belong to its resource.
pub(super) fn form(answer: &Value) -> serde_json::Result<Value> {
    let resource = FairnessAnswer::deserialize(answer)?.resource();
    Ok(resource::json(again::<FairnessAnswer>(answer)?, resource))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_user_is_reported() {
        let user = |name: &str, share: f64| UserUsage {
            user: name.to_owned(),
            share: Some(share),
            ..UserUsage::default()
        };
        let answer = FairnessAnswer {
            unit: "NCU-s".into(),
            total_cpu_s: Some(10.0),
            users: vec![user("a", 0.6), user("b", 0.4)],
            ..FairnessAnswer::default()
        };
        let settings = |accrual| FairnessSettings {
            cpu: Some("slots".to_owned()),
            accrual,
            ..FairnessSettings::default()
        };
        assert_eq!(
            answer.sentence(&settings(Some(Accrual::Running))).unwrap(),
            "2 users used 10 NCU-s (slots); the heaviest (a) used 60.0 % of it"
        );
        assert_eq!(
            answer.sentence(&settings(Some(Accrual::End))).unwrap(),
            "2 users used 10 NCU-s (slots, charged when an attempt ends); the heaviest (a) used 60.0 % of it"
        );
    }
}
