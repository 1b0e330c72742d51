//! The answer in all its forms, from a ledger.

use std::iter;

use arrow::record_batch::RecordBatch;
use serde_json::json;

use super::answer::AccountAnswer;
use super::charts::chart;
use super::details;
use super::plan::AccountPlan;
use super::{SHARES, kind_of};
use crate::answers::study::settings;
use crate::charts::Chart;
use crate::digits;
use crate::facts::window::Windows;
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::results::store::Answer;
use crate::studies::ledger::Ledger;
use crate::studies::meter::{Meter, Resource};

/// The answer in all its forms.
pub fn answer<'a>(
    plan: &AccountPlan,
    ledger: &Ledger,
    windows: Windows,
    table: &'a RecordBatch,
) -> Answer<'a> {
    Answer {
        kind: *kind_of(ledger.meter),
        table,
        json: json!(found(ledger, table)),
        settings: settings(
            plan,
            json!({
                ledger.meter.column(): ledger.meter.to_string(),
                "classes": ledger.classes, "windows": windows,
            }),
        ),
        charts: charts(plan, ledger),
    }
}

/// The bars of outcomes, and the further bars that differ from them.
fn charts(plan: &AccountPlan, ledger: &Ledger) -> Vec<(String, Chart)> {
    // Names such as `account-gpu-slots` and `account-memory-requested`.
    let kind = kind_of(ledger.meter).name;
    let name = format!("{}-{}", kind.trim_end_matches("-gpu"), ledger.meter);
    let further = details::charts(ledger);
    let further = further.into_iter().map(|(part, chart)| (format!("{name}-{part}"), chart));
    let further: Vec<_> = further.collect();
    iter::once((name, chart(ledger, &plan.groups()))).chain(further).collect()
}

/// The answer as it is stored; its rows are those of `table`.
pub(crate) fn found(ledger: &Ledger, table: &RecordBatch) -> AccountAnswer {
    let known = |sum: f64| ledger.is_known.then_some(sum);
    let closed = Some(ledger.closed_with_job_sum);
    let is_memory = ledger.meter.resource() == Resource::Memory;
    AccountAnswer {
        meter: ledger.meter,
        classes: ledger.classes,
        unit: ledger.unit.into(),
        rows: TableRows::of(table),
        ends: ledger.ends.clone(),
        reasons: ledger.reasons.clone(),
        unmatched: known(ledger.unmatched),
        outside_attempts: known(ledger.outside_attempts),
        total: known(ledger.total),
        windows: ledger.windows,
        windows_without_rate: ledger.windows_without_rate,
        windows_overlapping: ledger.windows_overlapping,
        attempts: ledger.attempts,
        attempts_without_request: ledger.attempts_without_request,
        attempts_closed_with_job: ledger.attempts_closed_with_job,
        attempts_with_cpu_time: ledger.attempts_with_cpu_time,
        censoring: ledger.censoring,
        resource: ledger.meter.resource(),
        closed_with_job_cpu: closed.filter(|_| !is_memory),
        closed_with_job_memory: closed.filter(|_| is_memory),
        terms: Terms::of(&SHARES),
        nothing: nothing(ledger).or_else(|| outcomes_unknown(ledger)),
    }
}

/// The reason if no outcome is known: no job that used something is in `job_events`.
fn outcomes_unknown(ledger: &Ledger) -> Option<String> {
    let is_unknown = ledger.rows.iter().all(|row| row.jobs.unwrap_or(0) == 0);
    (0.0 < ledger.total && is_unknown).then(|| {
        format!(
            "The outcome of the jobs that used {} {} ({}) is unknown: `job_events` does not \
            contain them.",
            digits::six_digits(ledger.total),
            ledger.unit,
            ledger.meter
        )
    })
}

pub(super) fn unknown(ledger: &Ledger) -> String {
    unknown_of(ledger.meter, ledger.attempts)
}

/// The reason why nothing can be added up: the trace does not record the resource.
pub(crate) fn unknown_of(meter: Meter, attempts: u64) -> String {
    let (noun, what) = match meter.resource() {
        Resource::Cpu => ("CPU time", "CPUs or processors"),
        Resource::Memory => ("memory time", "memory"),
        Resource::Gpu => ("GPU time", "GPUs"),
    };
    format!(
        "The {noun} ({}) of all jobs is unknown: the log does not record the {what} of any of {}.",
        meter,
        digits::counted(attempts, "attempt")
    )
}

/// The reason if there is nothing to show: the amounts are unknown, or nothing was used.
fn nothing(ledger: &Ledger) -> Option<String> {
    if !ledger.is_known {
        return Some(unknown(ledger));
    }
    if ledger.total != 0.0 {
        return None;
    }
    let mut jobs: Vec<(&str, u64)> = Vec::new();
    for row in &ledger.rows {
        let own = row.jobs.unwrap_or(0);
        match jobs.iter_mut().find(|(outcome, _)| *outcome == row.outcome) {
            Some((_, sum)) => *sum += own,
            None => jobs.push((&row.outcome, own)),
        }
    }
    let parts = jobs.iter().filter(|(_, count)| 0 < *count);
    let parts: Vec<String> =
        parts.map(|(outcome, count)| format!("{outcome} {}", digits::grouped(*count))).collect();
    let whose = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    let all = digits::counted(jobs.iter().map(|one| one.1).sum(), "job");
    let noun = ledger.meter.resource().noun();
    Some(format!("No {noun} ({}) was used by {all}{whose}.", ledger.meter))
}
