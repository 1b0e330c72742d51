//! The answer in all its forms.

use arrow::record_batch::RecordBatch;
use serde_json::json;

use super::answer::SweepAnswer;
use super::plan::SweepPlan;
use super::swept::Swept;
use super::tables::{plane_table, sum_of};
use super::{KIND, SHARES, charts};
use crate::answers::account::unknown_of;
use crate::answers::study::settings;
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::results::shares::Terms;
use crate::results::store::{Answer, Files};
use crate::studies::fold::Study;
use crate::studies::kill_sweep::{Sweep, finished_jobs, plane, total_cpu};
use crate::studies::ledger::UNMATCHED;

/// Writes the further tables: all rules in one plane, and the rule chosen on earlier jobs.
pub fn put_details(
    study: &Study,
    swept: &Swept,
    selected: Option<&RecordBatch>,
    files: &mut Files,
) -> Result<()> {
    files.table("sweep-plane", &plane_table(study, &swept.sweeps, swept.selection.as_ref()))?;
    selected.map_or(Ok(()), |table| files.table("sweep-selection", table))
}

/// The answer in all its forms.
pub fn answer<'a>(
    plan: &SweepPlan,
    windows: Windows,
    study: &Study,
    swept: &Swept,
    table: &'a RecordBatch,
) -> Answer<'a> {
    Answer {
        kind: KIND,
        table,
        settings: settings(
            plan,
            json!({
                "cpu": study.asked.meter.to_string(), "classes": study.asked.classes,
                "windows": windows, "thresholds": plan.thresholds.0, "harmed": plan.harmed,
            }),
        ),
        charts: charts::charts(study, &swept.sweeps, swept.selection.as_ref()),
        json: json!(found(study, swept)),
    }
}

/// The answer, with all rules and the plane.
pub(crate) fn found(study: &Study, swept: &Swept) -> SweepAnswer {
    let (first, others) = swept.sweeps.split_first().expect("there is a rule");
    SweepAnswer {
        cpu: study.asked.meter.to_string(),
        classes: study.asked.classes,
        unit: study.unit().into(),
        censoring: study.censoring(),
        finished_jobs_with_tasks: finished_jobs(study),
        restarts: study.restarts,
        restarts_after_eviction: study.restarts_after_eviction,
        attempts_closed_with_job: study.closed_with_job.attempts,
        closed_with_job_cpu: study.closed_with_job_sum(),
        total_cpu: total_cpu(study),
        rule: first.rule.clone(),
        rows: first.rows.clone(),
        rules: others.to_vec(),
        plane: plane(study, &swept.sweeps),
        terms: Terms::of(&SHARES),
        groups: study.asked.sweep_by.map(|_| swept.groups.clone()),
        selection: swept.selection.clone(),
        nothing: nothing(study, &swept.sweeps),
    }
}

/// The reason if there is nothing to show: the amounts are unknown, no job has a known outcome, or
/// no rule would have killed a task.
pub(crate) fn nothing(study: &Study, sweeps: &[Sweep]) -> Option<String> {
    if !study.knows_amounts() {
        return Some(unknown_of(study.asked.meter, study.attempts));
    }
    let totals = total_cpu(study);
    let mut used = totals.iter().filter(|of| of.1.is_some_and(|cpu| cpu != 0.0)).peekable();
    if used.peek().is_some() && used.all(|(outcome, _)| outcome == UNMATCHED) {
        let nothing = "The savings and the harm of killing tasks are unknown: no job has a known \
        outcome.";
        return Some(nothing.to_owned());
    }
    let mut rows = sweeps.iter().flat_map(|sweep| &sweep.rows);
    if rows.any(|row| 0 < sum_of(&row.condemned_tasks)) {
        return None;
    }
    let lowest = sweeps.iter().filter_map(|sweep| {
        let row = sweep.rows.first()?;
        Some(format!("{} {}", sweep.rule, digits::grouped_signed(row.threshold)))
    });
    Some(format!(
        "No task exceeds the lowest threshold of a rule ({}): no task would have been killed, and \
        nothing saved or harmed.",
        lowest.collect::<Vec<String>>().join(", ")
    ))
}
