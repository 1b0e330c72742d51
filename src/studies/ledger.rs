//! CPU time (or memory time) per outcome, under one of several definitions that are never mixed.
//!
//! In: the sums of a [`Study`]. Out: a [`Ledger`] that adds up: outcomes + unmatched + outside of
//! attempts is exactly the total. Groups split the same sums by class, priority or user.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::asked::order_of;
pub use super::asked::{GroupBy, UNKNOWN, UNMATCHED};
use super::censoring::Censoring;
pub use super::ends::EndRow;
use super::fold::Study;
pub use super::meter::CpuDefinition;
use super::meter::Meter;
use super::outcomes::Classes;
use super::sums::ReasonSum;
use crate::units::CpuTime;

/// One line of a ledger.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LedgerRow {
    /// Values of the groups, in the requested order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// The outcome of the jobs.
    pub outcome: String,
    /// Jobs; `None` if no outcome is known, as are the fields below.
    pub jobs: Option<u64>,
    /// Jobs with tasks loaded; the fields below cover only these.
    pub jobs_with_tasks: Option<u64>,
    /// Tasks with events.
    pub tasks: Option<u64>,
    /// The amount, in the ledger's unit.
    pub amount: Option<f64>,
    /// Share of the total.
    pub share: Option<f64>,
    /// The share of `amount` that the largest job has.
    pub largest_job_share: Option<f64>,
}

/// The amount of the jobs of one outcome that ended for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReasonAmount {
    /// The outcome of the jobs.
    pub outcome: String,
    /// For `other`, the outcome by the last event, if all these jobs have the same one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub course: Option<String>,
    /// The reason, as the log records it.
    pub end_reason: String,
    /// Jobs.
    pub jobs: u64,
    /// The amount, in the ledger's unit.
    pub amount: f64,
    /// Share of the total.
    pub share: Option<f64>,
}

/// CPU time (or memory time) per outcome.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Ledger {
    /// The quantity that is added up and its definition; `"cpu": "measured"` in JSON.
    #[serde(flatten)]
    pub meter: Meter,
    /// How outcomes are defined.
    pub classes: Classes,
    /// Unit of every sum.
    pub unit: &'static str,
    /// Per outcome (and group).
    pub rows: Vec<LedgerRow>,
    /// The amounts of all attempts by how they ended. `None` if the amounts are not known, for
    /// memory, and under the `published` definition, which has only jobs. Together with
    /// `outside_attempts` these amounts add up to the total.
    pub ends: Option<Vec<EndRow>>,
    /// The amounts of jobs by outcome and reason, largest first within an outcome. Empty if the log
    /// records no reasons.
    pub reasons: Vec<ReasonAmount>,
    /// The amount of jobs without a row in `job_events`.
    pub unmatched: f64,
    /// The amount of usage windows, or parts of them, outside of attempts.
    pub outside_attempts: f64,
    /// The total.
    pub total: f64,
    /// Whether any attempt has the amount. If not, every amount is unknown and the sums above are
    /// 0.
    #[serde(skip)]
    pub is_known: bool,
    /// Usage windows.
    pub windows: u64,
    /// Windows without a rate, counted as 0.
    pub windows_without_rate: u64,
    /// Windows that overlap an earlier one, counted like all others.
    pub windows_overlapping: u64,
    /// Attempts.
    pub attempts: u64,
    /// Attempts without a request, which `requested` counts as 0.
    pub attempts_without_request: u64,
    /// Attempts without an end event, closed at the end of their job.
    pub attempts_closed_with_job: u64,
    /// The amount of these attempts; `None` under the published definition, which has only jobs.
    #[serde(skip)]
    pub closed_with_job_sum: Option<f64>,
    /// Attempts that count with the CPU time that the log records (`measured`).
    pub attempts_with_cpu_time: u64,
    /// The attempts or jobs that cross the edges of the window.
    pub censoring: Censoring,
}

/// The ledger of a study, split by the requested groups.
pub fn ledger(study: &Study) -> Ledger {
    let (names, asked) = (study.outcomes(), &study.asked);
    let mut sums = study.ledger.0.clone();
    let unmatched = sums.remove(&(Vec::new(), names.len())).unwrap_or_default().cpu;
    if asked.groups.is_empty() {
        // Every outcome is listed, with 0 if it has no jobs.
        for outcome in 0..names.len() {
            sums.entry((Vec::new(), outcome)).or_default();
        }
    }
    // Without `job_events` every job is unmatched.
    let known = study.knows_outcomes;
    let is_known = study.knows_amounts();
    let total = sums.values().map(|sum| sum.cpu).sum::<CpuTime>() + unmatched + study.outside;
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|((one, _), _), ((other, _), _)| {
        one.iter().map(|value| order_of(value)).cmp(other.iter().map(|value| order_of(value)))
    });
    let rows = sums
        .into_iter()
        .map(|((groups, outcome), sum)| LedgerRow {
            groups,
            outcome: names[outcome].to_owned(),
            jobs: known.then_some(sum.jobs),
            jobs_with_tasks: known.then_some(sum.jobs_with_tasks),
            tasks: known.then_some(sum.tasks),
            amount: (known && is_known).then(|| sum.cpu.seconds()),
            share: sum.cpu.share_of(total).filter(|_| known),
            largest_job_share: sum.largest.share_of(sum.cpu),
        })
        .collect();
    Ledger {
        meter: asked.meter,
        classes: asked.classes,
        unit: study.unit(),
        rows,
        ends: study.ends.filter(|_| is_known).map(|ends| ends.rows(total)),
        reasons: if known && is_known { reasons(study, total) } else { Vec::new() },
        unmatched: unmatched.seconds(),
        outside_attempts: study.outside.seconds(),
        total: total.seconds(),
        is_known,
        windows: study.usage.windows,
        windows_without_rate: study.usage.without_rate,
        windows_overlapping: study.usage.overlapping,
        attempts: study.attempts,
        attempts_without_request: study.attempts_without_request,
        attempts_closed_with_job: study.closed_with_job.attempts,
        closed_with_job_sum: study.closed_with_job_sum(),
        attempts_with_cpu_time: study.attempts_with_cpu_time,
        censoring: study.censoring(),
    }
}

/// The name of an outcome by the last event, from its position.
fn last_event(place: u8) -> String {
    Classes::Terminal.outcomes()[usize::from(place)].to_owned()
}

/// The amounts by outcome and reason.
fn reasons(study: &Study, total: CpuTime) -> Vec<ReasonAmount> {
    let names = study.outcomes();
    let rows = study.reasons.0.iter().flat_map(|(&outcome, reasons)| {
        let mut reasons: Vec<_> = reasons.iter().collect();
        reasons.sort_by_key(|(_, sum)| Reverse(sum.cpu));
        let name = names.get(outcome).copied().unwrap_or(UNMATCHED);
        let row = move |(reason, sum): (&String, &ReasonSum)| ReasonAmount {
            outcome: name.to_owned(),
            course: sum.by_terminal.filter(|_| name == "other").map(last_event),
            end_reason: reason.clone(),
            jobs: sum.jobs,
            amount: sum.cpu.seconds(),
            share: sum.cpu.share_of(total),
        };
        reasons.into_iter().map(row)
    });
    rows.collect()
}
