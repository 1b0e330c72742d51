//! The tables of the answer.

use arrow::record_batch::RecordBatch;

use super::gentle::named;
use crate::answers::account::keyed;
use crate::digits;
use crate::results::frame::Frame;
use crate::studies::fold::Study;
use crate::studies::kill_sweep::{ByOutcome, PlanePoint, Sweep, SweepRow, harmed_jobs, plane};
use crate::studies::selection::{Choice, Score, Selection, Spread};

/// A row for every threshold of every rule and group. With several rules, the rule is a column.
pub fn table_of(sweeps: &[Sweep], unit: &str) -> RecordBatch {
    let all = || sweeps.iter().flat_map(|sweep| sweep.rows.iter().map(move |row| (sweep, row)));
    let rows = || all().map(|(_, row)| row);
    let is_resampled = rows().any(|row| row.interval.is_some());
    let mut frame = Frame::default();
    let split_by = sweeps.iter().find_map(|sweep| sweep.group.as_ref());
    if let Some(group) = split_by {
        let groups = all().map(|(sweep, _)| sweep.group.as_ref()?.value.as_deref());
        frame = keyed(frame, group.by, groups);
    }
    if sweeps.iter().any(|sweep| sweep.rule != sweeps[0].rule) {
        frame = frame.text("rule", all().map(|(sweep, _)| sweep.rule.as_str()));
    }
    frame = frame
        .int("threshold", rows().map(|row| row.threshold))
        .unit(counted_in(sweeps))
        .text("threshold_unit", all().map(|(sweep, _)| sweep.threshold_unit.as_ref()))
        .count("condemned_tasks", rows().map(|row| sum_of(&row.condemned_tasks)))
        .count("condemned_at_end", rows().map(|row| sum_of(&row.condemned_at_end)));
    frame = saved_shares(frame, &rows().collect::<Vec<&SweepRow>>(), is_resampled);
    frame = frame.maybe_count("harmed_jobs", rows().map(|row| row.harmed_jobs));
    if is_resampled {
        frame = bounds_of(
            frame,
            "harmed_jobs",
            "",
            rows().map(|row| row.interval.as_ref()?.harmed_jobs),
        );
    }
    frame = frame
        .maybe_count("harmed_at_end", rows().map(|row| row.harmed_at_end))
        .float("harmed_jobs_share", rows().map(|row| row.harmed_jobs_share))
        .float("destroyed_cpu_share", rows().map(|row| row.destroyed_cpu_share));
    if is_resampled {
        let bounds = rows().map(|row| row.interval.as_ref()?.destroyed_cpu_share);
        frame = bounds_of(frame, "destroyed_cpu_share", "", bounds);
    }
    frame = frame
        .float("net_cpu", rows().map(|row| row.net_cpu))
        .unit(unit)
        .text("unit", rows().map(|_| unit))
        .float("net_share", rows().map(|row| row.net_share));
    if is_resampled {
        frame =
            bounds_of(frame, "net_share", "", rows().map(|row| row.interval.as_ref()?.net_share));
    }
    frame
        .float("largest_saved_share", rows().map(|row| row.largest_saved_in_all))
        .float("largest_destroyed_share", rows().map(|row| row.largest_destroyed_share))
        .view(&[
            "priority",
            "scheduling_class",
            "user",
            "rule",
            "threshold",
            "threshold_unit",
            "condemned_tasks",
            "saved_share_failed",
            "saved_share_killed",
            "harmed_jobs",
            "harmed_jobs_share",
            "destroyed_cpu_share",
            "net_share",
            "largest_saved_share",
            "largest_destroyed_share",
        ])
        .batch()
}

/// Adds the saved shares, a column per outcome. An outcome without savings has no column.
pub(crate) fn saved_shares(mut frame: Frame, all: &[&SweepRow], is_resampled: bool) -> Frame {
    let rows = || all.iter();
    let outcomes: Vec<&str> = rows()
        .next()
        .map_or_else(Vec::new, |row| row.saved_share.iter().map(|(name, _)| name).collect());
    for outcome in outcomes.into_iter().filter(|outcome| *outcome != "finished") {
        let is_empty = rows().all(|row| row.saved_cpu.get(outcome).unwrap_or(0.0) == 0.0);
        if !is_empty {
            let name = format!("saved_share_{outcome}");
            frame = frame.float(&name, rows().map(|row| row.saved_share.get(outcome)));
            if is_resampled {
                let bounds = rows().map(|row| row.interval.as_ref()?.saved_share_of(outcome));
                frame = bounds_of(frame, &name, "", bounds);
            }
        }
    }
    frame
}

/// The common unit of all thresholds; empty if rules have different units.
pub(crate) fn counted_in(sweeps: &[Sweep]) -> &str {
    let first = sweeps.first().map_or("", |sweep| sweep.threshold_unit.as_ref());
    if sweeps.iter().all(|sweep| sweep.threshold_unit == first) { first } else { "" }
}

/// The unit of the threshold of a rule; `None` for `never` and the oracle, which have no threshold.
fn unit_of_threshold<'a>(sweeps: &'a [Sweep], rule: &str) -> Option<&'a str> {
    sweeps.iter().find(|sweep| sweep.rule == rule).map(|sweep| sweep.threshold_unit.as_ref())
}

/// All rules in one plane, as in the chart. The settings that sentences name are marked, because
/// another setting may save as much and harm as few jobs, but destroy more CPU.
pub(crate) fn plane_table(
    study: &Study,
    sweeps: &[Sweep],
    selection: Option<&Selection>,
) -> RecordBatch {
    let points = plane(study, sweeps);
    let named = named(sweeps, selection);
    let is_named = |point: &PlanePoint| {
        named.iter().any(|(rule, at)| *rule == point.rule && Some(*at) == point.threshold)
    };
    let rows = || points.iter();
    let unit = study.unit();
    Frame::default()
        .text("rule", rows().map(|point| point.rule.as_str()))
        .maybe_int("threshold", rows().map(|point| point.threshold))
        .maybe_text("threshold_unit", rows().map(|point| unit_of_threshold(sweeps, &point.rule)))
        .count("harmed_jobs", rows().map(|point| point.harmed_jobs))
        .float("net_cpu", rows().map(|point| Some(point.net_cpu)))
        .unit(unit)
        .text("unit", rows().map(|_| unit))
        .float("net_share", rows().map(|point| point.net_share))
        .float("destroyed_cpu_share", rows().map(|point| point.destroyed_cpu_share))
        .maybe_text("named", rows().map(|point| is_named(point).then_some(NAMED)))
        .flag("is_on_front", rows().map(|point| Some(point.is_on_front)))
        .batch()
}

/// The mark of a setting that sentences name.
const NAMED: &str = "in the text";

/// Adds the columns `<name>_low` and `<name>_high`.
pub(crate) fn bounds_of(
    frame: Frame,
    name: &str,
    unit: &str,
    bounds: impl Iterator<Item = Option<(f64, f64)>> + Clone,
) -> Frame {
    frame
        .float(&format!("{name}_low"), bounds.clone().map(|bounds| Some(bounds?.0)))
        .unit(unit)
        .float(&format!("{name}_high"), bounds.map(|bounds| Some(bounds?.1)))
        .unit(unit)
}

/// The choice within each rule, the choice over all rules if there are several, and the gentler
/// setting if there is one. Each has its scores on earlier and on later jobs.
pub fn selection_table(selection: &Selection, sweeps: &[Sweep], unit: &str) -> RecordBatch {
    let several = if selection.rules.len() == 1 { None } else { Some(&selection.chosen) };
    let rows = || selection.rules.iter().chain(several).chain(&selection.gentler);
    let score = |frame: Frame, name: &str, of: fn(&Choice) -> &Score| {
        frame
            .float(&format!("{name}_net_cpu"), rows().map(|row| Some(of(row).net_cpu)))
            .unit(unit)
            .count(&format!("{name}_harmed_jobs"), rows().map(|row| of(row).harmed_jobs))
            .float(&format!("{name}_gain"), rows().map(|row| Some(of(row).gain)))
            .unit(unit)
    };
    let mut frame = Frame::default()
        .text("among", rows().map(|row| row.among.as_str()))
        .text("chosen_rule", rows().map(|row| row.train.rule.as_str()))
        .maybe_int("chosen_threshold", rows().map(|row| row.train.threshold))
        .maybe_text(
            "chosen_threshold_unit",
            rows().map(|row| unit_of_threshold(sweeps, &row.train.rule)),
        );
    frame = score(frame, "train", |row| &row.train);
    frame = score(frame, "test", |row| &row.test);
    if selection.chosen.test_interval.is_some() {
        let bounds = |of: fn(&Spread) -> (f64, f64)| {
            rows().map(move |row| row.test_interval.as_ref().map(of))
        };
        frame = bounds_of(frame, "test_net_cpu", unit, bounds(|spread| spread.net_cpu));
        frame = bounds_of(frame, "test_harmed_jobs", "", bounds(|spread| spread.harmed_jobs));
        frame = bounds_of(frame, "test_gain", unit, bounds(|spread| spread.gain));
    }
    frame
        .text("hindsight_rule", rows().map(|row| row.hindsight.rule.as_str()))
        .maybe_int("hindsight_threshold", rows().map(|row| row.hindsight.threshold))
        .maybe_text(
            "hindsight_threshold_unit",
            rows().map(|row| unit_of_threshold(sweeps, &row.hindsight.rule)),
        )
        .float("hindsight_gain", rows().map(|row| Some(row.hindsight.gain)))
        .unit(unit)
        .text("unit", rows().map(|_| unit))
        .batch()
}

/// A line about the selection: the jobs it was chosen and tested on, and the price of a harmed job.
pub fn selection_line(selection: &Selection) -> String {
    format!(
        "chosen on {} jobs that ended before {}, tested on {} jobs submitted afterwards; a harmed job costs {} CPU-seconds",
        digits::grouped(selection.train_jobs),
        digits::instant(selection.split_s),
        digits::grouped(selection.test_jobs),
        digits::six_digits(selection.price)
    )
}

/// The sum over the known outcomes. Without `job_events`, all tasks are unmatched.
pub(crate) fn sum_of(counts: &ByOutcome<u64>) -> u64 {
    counts.iter().filter_map(|(_, count)| count).sum()
}

/// The jobs that the first rule harms at its threshold number `step`, counted from 0.
pub fn harmed_table(study: &Study, step: usize) -> RecordBatch {
    let harmed = harmed_jobs(study, 0, step);
    Frame::default()
        .int("job_id", harmed.iter().map(|job| job.job_id))
        .maybe_text("user", harmed.iter().map(|job| job.user.as_deref()))
        .maybe_text("job_name", harmed.iter().map(|job| job.job_name.as_deref()))
        .count("condemned_tasks", harmed.iter().map(|job| job.condemned_tasks))
        .float("destroyed_cpu", harmed.iter().map(|job| Some(job.destroyed_cpu)))
        .unit(study.unit())
        .text("unit", harmed.iter().map(|_| study.unit()))
        .batch()
}

/// If a rule is not tested on later jobs and kills fewer tasks than this, its saving is not proven.
pub(crate) const FEW_TASKS: u64 = 10;

/// Whether jobs with an outcome count as jobs that did not finish.
fn is_lost(outcome: &str) -> bool {
    outcome != "finished"
}

/// The number of tasks of jobs that did not finish, counted if their kill saves CPU.
pub(crate) fn lost_tasks(row: &SweepRow) -> u64 {
    let sum = |counts: &ByOutcome<u64>| -> u64 {
        counts.iter().filter(|(outcome, _)| is_lost(outcome)).filter_map(|(_, count)| count).sum()
    };
    sum(&row.condemned_tasks).saturating_sub(sum(&row.condemned_at_end))
}
