//! The tables of the answer.

use arrow::record_batch::RecordBatch;

use super::lineup::Lineup;
use crate::replay::detect::shifts::ShiftRow;
use crate::replay::detect::{DetectOutcome, DetectPlan, FlagRow};
use crate::replay::detectors::{Action, End};
use crate::results::frame::Frame;

/// One row per requested detector: its scores under the truth that decides, and its copies without
/// a budget.
pub fn table_of(outcome: &DetectOutcome, asked: usize) -> RecordBatch {
    let rows = || outcome.rows.iter().take(asked);
    let scores = || rows().map(|row| &row.scores[0]);
    let copies = || {
        rows().map(|row| {
            outcome
                .copies
                .iter()
                .find(|copies| copies.detector == row.detector && copies.budget.is_none())
        })
    };
    Frame::default()
        .text("detector", rows().map(|row| row.detector.as_str()))
        .count("flags", rows().map(|row| row.flags))
        .count("flags_unjudged", rows().map(|row| row.flags_unjudged))
        .count("hits", scores().map(|score| score.hits))
        .count("false_alarms", scores().map(|score| score.false_alarms))
        .count("missed", scores().map(|score| score.missed))
        .float("precision", scores().map(|score| score.precision))
        .float("recall", scores().map(|score| score.recall))
        .float("f1", scores().map(|score| score.f1))
        .float("false_alarms_per_task_hour", scores().map(|score| score.false_alarms_per_task_hour))
        .float("lead_median_s", scores().map(|score| score.lead_median_s))
        .float("lead_median_share", scores().map(|score| score.lead_median_share))
        .float("delay_median_s", scores().map(|score| score.delay_median_s))
        .count("copies_won", copies().map(|row| row.map_or(0, |row| row.won)))
        .float("lost_share", copies().map(|row| row.and_then(|row| row.lost_share)))
        .float("earlier_share", copies().map(|row| row.and_then(|row| row.earlier_share)))
        .float(
            "largest_earlier_share",
            copies().map(|row| row.and_then(|row| row.largest_earlier_share)),
        )
        .view(&[
            "detector",
            "flags",
            "hits",
            "false_alarms",
            "missed",
            "precision",
            "recall",
            "f1",
            "lead_median_s",
            "earlier_share",
        ])
        .batch()
}

/// Each detector with all its parameters.
pub(crate) fn settings_table(outcome: &DetectOutcome) -> RecordBatch {
    let rows = || outcome.rows.iter();
    Frame::default()
        .text("detector", rows().map(|row| row.detector.as_str()))
        .text("settings", rows().map(|row| row.settings.as_str()))
        .batch()
}

pub(crate) fn flags_table(flags: &[FlagRow], names: &[&str]) -> RecordBatch {
    let rows = || flags.iter();
    Frame::default()
        .text("detector", rows().map(|row| names[row.detector]))
        .int("job_id", rows().map(|row| row.job_id))
        .maybe_text("phase", rows().map(|row| row.phase.as_deref()))
        .int("task_index", rows().map(|row| i64::from(row.task_index)))
        .int("start_us", rows().map(|row| row.start_us))
        .int("flagged_us", rows().map(|row| row.flagged_us))
        .int("end_us", rows().map(|row| row.end_us))
        .text(
            "ended",
            rows().map(|row| match row.how {
                None => "running",
                Some(End::Finished) => "finished",
                Some(End::Failed) => "failed",
                Some(End::Killed) => "killed",
            }),
        )
        .float("progress", rows().map(|row| Some(row.progress)))
        .text(
            "action",
            rows().map(|row| match row.action {
                Action::Copy => "copy",
                Action::Restart => "restart",
            }),
        )
        .flag("is_straggler", rows().map(|row| row.is_straggler))
        .batch()
}

/// Every detector under every ground truth.
pub(crate) fn truths_table(outcome: &DetectOutcome, plan: &DetectPlan) -> RecordBatch {
    let all = || {
        outcome.rows.iter().flat_map(|row| {
            let judged = plan.truths.iter().zip(&outcome.stragglers).zip(&row.scores);
            judged.map(move |((truth, &stragglers), score)| (row, *truth, stragglers, score))
        })
    };
    let scores = || all().map(|(.., score)| score);
    Frame::default()
        .text("detector", all().map(|(row, ..)| row.detector.as_str()))
        .text("truth", all().map(|(_, truth, ..)| truth.to_string()))
        .count("stragglers", all().map(|(_, _, stragglers, _)| stragglers))
        .count("hits", scores().map(|score| score.hits))
        .count("false_alarms", scores().map(|score| score.false_alarms))
        .count("missed", scores().map(|score| score.missed))
        .float("precision", scores().map(|score| score.precision))
        .float("recall", scores().map(|score| score.recall))
        .float("f1", scores().map(|score| score.f1))
        .float("false_alarms_per_task_hour", scores().map(|score| score.false_alarms_per_task_hour))
        .float("lead_median_s", scores().map(|score| score.lead_median_s))
        .float("lead_median_share", scores().map(|score| score.lead_median_share))
        .float("delay_median_s", scores().map(|score| score.delay_median_s))
        .batch()
}

pub(crate) fn copies_table(outcome: &DetectOutcome) -> RecordBatch {
    let rows = || outcome.copies.iter();
    Frame::default()
        .text("detector", rows().map(|row| row.detector.as_str()))
        .float("budget", rows().map(|row| row.budget))
        .count("started", rows().map(|row| row.started))
        .count("won", rows().map(|row| row.won))
        .count("declined", rows().map(|row| row.declined))
        .float("copy_s", rows().map(|row| Some(row.copy_s)))
        .float("lost_s", rows().map(|row| Some(row.lost_s)))
        .float("lost_share", rows().map(|row| row.lost_share))
        .float("spared_s", rows().map(|row| Some(row.spared_s)))
        .float("earlier_s", rows().map(|row| Some(row.earlier_s)))
        .float("earlier_share", rows().map(|row| row.earlier_share))
        .float("largest_earlier_share", rows().map(|row| row.largest_earlier_share))
        .batch()
}

/// False alarms of every detector, in hours of a shift and in the other hours.
pub(crate) fn shifts_table(outcome: &DetectOutcome) -> RecordBatch {
    let rows = || outcome.shifts.rows.iter();
    let frame = Frame::default().text("detector", rows().map(|row| row.detector.as_str()));
    false_alarms(frame, rows())
}

/// Completes a table with the columns of false alarms, in hours of a shift and in the other hours.
pub(crate) fn false_alarms<'a>(
    frame: Frame,
    rows: impl Iterator<Item = &'a ShiftRow> + Clone,
) -> RecordBatch {
    frame
        .count("false_alarms_in_shift", rows.clone().map(|row| row.in_shift))
        .about("False alarms in hours of a shift")
        .count("false_alarms_in_calm", rows.clone().map(|row| row.in_calm))
        .about("False alarms in the other hours that could be compared")
        .count("false_alarms_in_neither", rows.clone().map(|row| row.in_neither))
        .about("False alarms in hours that cannot be compared with those before")
        .float("rate_in_shift", rows.clone().map(|row| row.rate_in_shift))
        .unit("1/h")
        .about("False alarms per hour that a task ran, in hours of a shift")
        .float("rate_in_calm", rows.map(|row| row.rate_in_calm))
        .unit("1/h")
        .about("False alarms per hour that a task ran, in the other hours")
        .batch()
}

/// The scores of every curve, under the truth that decides.
pub(crate) fn curves_table(outcome: &DetectOutcome, lineup: &Lineup) -> RecordBatch {
    let all = || {
        lineup.curves.iter().flat_map(|curve| {
            let points = curve.points.iter();
            points.map(move |(value, place)| (curve, value, &outcome.rows[*place].scores[0]))
        })
    };
    Frame::default()
        .text("detector", all().map(|(curve, ..)| curve.name.as_str()))
        .text("parameter", all().map(|(curve, ..)| curve.key))
        .about("The parameter that trades precision for recall")
        .text("parameter_value", all().map(|(_, value, _)| value.as_str()))
        .about("Its value, as it is written on the command line")
        .float("precision", all().map(|(.., score)| score.precision))
        .float("recall", all().map(|(.., score)| score.recall))
        .float("f1", all().map(|(.., score)| score.f1))
        .batch()
}

/// False alarms of the Poisson detector by window.
pub(crate) fn windows_table(outcome: &DetectOutcome, lineup: &Lineup) -> RecordBatch {
    let windows = || lineup.windows.iter();
    let frame = Frame::default()
        .int("window_s", windows().map(|window| i64::from(window.0)))
        .about("The window of the Poisson detector")
        .flag("is_scaled", windows().map(|window| Some(window.1)))
        .about("Whether window and bin are in proportion to the group's median task");
    false_alarms(frame, windows().map(|window| &outcome.shifts.rows[window.2]))
}

pub(crate) fn hours_table(outcome: &DetectOutcome) -> RecordBatch {
    let rows = || outcome.shifts.hours.iter();
    Frame::default()
        .count("hour", rows().map(|row| row.hour))
        .count("finished_tasks", rows().map(|row| row.finished_tasks))
        .float("length_median_s", rows().map(|row| row.length_median_s))
        .float("ratio_to_before", rows().map(|row| row.ratio_to_before))
        .flag("is_shift", rows().map(|row| row.is_shift))
        .float("task_hours", rows().map(|row| Some(row.task_hours)))
        .batch()
}
