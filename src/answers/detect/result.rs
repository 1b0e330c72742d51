//! The answer in all its forms, from a run.

use arrow::record_batch::RecordBatch;
use serde_json::{Value, json};

use super::answer::{DetectAnswer, DetectCurve, DetectPoint};
use super::lineup::{Curve, Lineup};
use super::plan::DetectAsked;
use super::tables::{
    copies_table, curves_table, flags_table, hours_table, settings_table, shifts_table,
    truths_table, windows_table,
};
use super::{KIND, SHARES, charts};
use crate::answers::spread::Parts;
use crate::answers::study;
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::{Failure, Result};
use crate::lake::Lake;
use crate::replay::detect::walk::Walked;
use crate::replay::detect::{DetectOutcome, DetectPlan, detect_walked};
use crate::replay::detectors::DetectorPlan;
use crate::results::shares::Terms;
use crate::results::store::{Answer, Files};

/// The definitions and choices that affect the numbers.
pub fn settings(asked: &DetectAsked, plan: &DetectPlan, windows: Windows) -> Value {
    let detectors: Vec<String> = plan.detectors.iter().map(ToString::to_string).collect();
    // In all results, `windows` means the ends of the windows of the trace. The lengths that
    // `--windows` compares therefore have another name.
    let resolved = json!({"detectors": detectors, "windows_s": asked.windows, "windows": windows});
    study::settings(asked, resolved)
}

/// The answer in all its forms.
pub fn answer<'a>(
    outcome: &DetectOutcome,
    plan: &DetectPlan,
    lineup: &Lineup,
    settings: Value,
    table: &'a RecordBatch,
) -> Answer<'a> {
    Answer {
        kind: KIND,
        table,
        json: json!(found(outcome, plan, lineup)),
        settings,
        charts: charts::charts(outcome, plan, lineup),
    }
}

/// Number of flags that are converted to a table at a time.
pub(crate) const FLAGS_AT_ONCE: usize = 1 << 17;

/// Runs the detectors and stores every flag in `files`, if given. `parts` contains results that
/// workers of a cluster have already computed.
///
/// # Errors
/// The lake or a part cannot be read, or the flags cannot be stored.
pub fn detect_into(
    lake: &Lake,
    windows: Windows,
    plan: &DetectPlan,
    files: Option<&mut Files>,
    parts: Option<&Parts>,
) -> Result<DetectOutcome> {
    let names: Vec<&str> = plan.detectors.iter().map(DetectorPlan::written).collect();
    let mut rows = match &files {
        Some(files) => Some(files.rows("detect-flags", &flags_table(&[], &names))?),
        None => None,
    };
    let walks: Option<Vec<Vec<Vec<Walked>>>> = parts.map(Parts::read).transpose()?;
    let mut walks = walks.map(|ranges| ranges.into_iter().flatten());
    let walks = std::iter::from_fn(|| Some(walks.as_mut().and_then(Iterator::next)));
    let outcome = detect_walked(lake, windows, plan, walks, |flags| {
        // There may be millions of flags, and each row repeats the whole text of its detector.
        for some in flags.chunks(FLAGS_AT_ONCE) {
            if let Some(rows) = &mut rows {
                rows.push(&flags_table(some, &names))?;
            }
        }
        Ok::<(), Failure>(())
    })?;
    if let (Some(files), Some(rows)) = (files, rows) {
        files.take_rows(rows)?;
    }
    Ok(outcome)
}

/// Stores the further tables: settings, false alarms in shifts, curves, windows, scores under every
/// truth, the dry run of copies, and the hours.
pub fn put_details(
    outcome: &DetectOutcome,
    plan: &DetectPlan,
    lineup: &Lineup,
    files: &mut Files,
) -> Result<()> {
    files.table("detect-settings", &settings_table(outcome))?;
    files.table("detect-shifts", &shifts_table(outcome))?;
    if !lineup.curves.is_empty() {
        files.table("detect-curves", &curves_table(outcome, lineup))?;
    }
    if !lineup.windows.is_empty() {
        files.table("detect-windows", &windows_table(outcome, lineup))?;
    }
    files.table("detect-truths", &truths_table(outcome, plan))?;
    files.table("detect-copies", &copies_table(outcome))?;
    files.table("detect-hours", &hours_table(outcome))
}

pub(crate) fn found(outcome: &DetectOutcome, plan: &DetectPlan, lineup: &Lineup) -> DetectAnswer {
    let point = |(value, place): &(String, usize)| DetectPoint {
        value: value.clone(),
        score: outcome.rows[*place].scores[0].clone(),
    };
    let curve = |curve: &Curve| DetectCurve {
        detector: curve.name.clone(),
        parameter: curve.key.to_owned(),
        points: curve.points.iter().map(point).collect(),
    };
    let (rows, added) = outcome.rows.split_at(lineup.asked);
    let nothing = || {
        format!(
            "Stragglers are slow tasks among many of one job, and no job or phase of this trace has {} \
            that finished: there is none to find.",
            digits::counted(plan.tasks_min as u64, "task")
        )
    };
    DetectAnswer {
        truths: plan.truths.iter().map(ToString::to_string).collect(),
        stragglers: outcome.stragglers.clone(),
        counts: Some(outcome.counts),
        task_hours: outcome.task_hours,
        response_hours: outcome.response_hours,
        rows: rows.to_vec(),
        added: added.to_vec(),
        curves: lineup.curves.iter().map(curve).collect(),
        copies: outcome.copies.clone(),
        shifts: Some(outcome.shifts.clone()),
        terms: Terms::of(&SHARES),
        nothing: (outcome.counts.groups == 0).then(nothing),
    }
}
