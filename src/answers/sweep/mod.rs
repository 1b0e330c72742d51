//! The answer of `sweep`: CPU saved and jobs harmed, by threshold.
//!
//! In: a study of kill rules. Out: a row per rule and threshold, all rules in one plane, and the
//! rule chosen on earlier jobs.

use arrow::record_batch::RecordBatch;
use serde_json::json;

use crate::answers::account::{keyed, unknown_of};
use crate::answers::study::settings;
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::shares::{Share, Terms, share};
use crate::results::store::{Answer, Files};
use crate::schema::Table;
use crate::studies::fold::Study;
use crate::studies::kill_sweep::{
    ByOutcome, Sweep, SweepRow, finished_jobs, harmed_jobs, plane, sweep, sweep_groups, total_cpu,
};
use crate::studies::ledger::UNMATCHED;
use crate::studies::selection::{Choice, Score, Selection, Spread, intervals, select, sides};

mod answer;
pub(crate) mod charts;
pub mod closeup;
pub(crate) mod job_cpu;
mod job_record;
mod jobs;
pub mod plan;
pub(crate) mod step;

pub use answer::{SweepAnswer, SweepSettings};
pub use job_cpu::{JobCpu, JobUse, ToldUse};
pub use job_record::JobRecord;
pub use jobs::{JobDetail, JobDetails, JobEvent, JobKill, JobTask, TaskAttempt, UserOutcomes};
pub use plan::SweepPlan;

/// The shares that a sweep gives; those of a group refer to the jobs of the group.
pub const SHARES: [Share; 9] = [
    share("saved_share", "saved_cpu of the outcome", "CPU of all jobs of the outcome"),
    share(
        "largest_saved_share",
        "largest saved_cpu of one job",
        "saved_cpu (in JSON per outcome; in the table for all jobs that did not finish)",
    ),
    share(
        "largest_saved_in_all",
        "largest saved_cpu of one job",
        "saved_cpu of all jobs that did not finish or are unmatched",
    ),
    share("harmed_jobs_share", "harmed_jobs", "finished jobs with tasks loaded"),
    share("destroyed_cpu_share", "destroyed_cpu", "CPU of finished jobs, in the loaded parts"),
    share("largest_destroyed_share", "largest destroyed_cpu of one job", "destroyed_cpu"),
    share("harmed_jobs_cpu_share", "harmed_jobs_cpu", "CPU of finished jobs, in the loaded parts"),
    share("largest_harmed_cpu_share", "largest harmed_jobs_cpu of one job", "harmed_jobs_cpu"),
    share(
        "net_share",
        "net_cpu",
        "CPU of jobs that did not finish or are unmatched, in the loaded parts",
    ),
];

/// The result.
pub const KIND: Kind<'static> = Kind {
    captions: &[("sweep-selection", "The rule chosen on earlier jobs")],
    tables: &[Table::JobEvents, Table::TaskEvents],
    remarks: &["status ", "run time shorter"],
    meters: true,
    sentence: Some(|it| it.found::<SweepAnswer>()?.sentence()),
    names: Some(|it| it.found().map(SweepAnswer::names).unwrap_or_default()),
    figure: Some("sweep-plane"),
    ..Kind::called("sweep", "Killing tasks by a rule").holding::<SweepAnswer>()
};

/// A sweep of several rules, with intervals, and the rule chosen on earlier jobs.
#[derive(Debug)]
pub struct Swept {
    pub sweeps: Vec<Sweep>,
    /// By rule and group, if the sweep is split.
    pub groups: Vec<Sweep>,
    pub selection: Option<Selection>,
}

impl Swept {
    /// The sweeps in the table: those of the groups if the sweep is split.
    pub fn shown(&self) -> &[Sweep] {
        if self.groups.is_empty() { &self.sweeps } else { &self.groups }
    }
}

/// Sweeps every rule of a study. For the choice of a rule, a harmed job costs `price` CPU-seconds.
pub fn sweep_all(study: &Study, price: f64) -> Swept {
    let mut sweeps: Vec<Sweep> =
        (0..study.asked.rules.len()).map(|rule_idx| sweep(study, rule_idx)).collect();
    for (sweep, intervals) in sweeps.iter_mut().zip(intervals(study)) {
        for (row, interval) in sweep.rows.iter_mut().zip(intervals) {
            row.interval = Some(interval);
        }
    }
    let is_split = study.asked.sweep_by.is_some();
    let rules = 0..if is_split { study.asked.rules.len() } else { 0 };
    let groups = rules.flat_map(|rule_idx| sweep_groups(study, rule_idx)).collect();
    let selection = select(study, price).filter(|_| study.knows_amounts());
    Swept { sweeps, groups, selection }
}

/// Refuses a choice without jobs to choose on, or without later jobs to test it on.
///
/// # Errors
/// One side has no job with tasks loaded, or no outcome is known.
pub fn check_sides(study: &Study) -> Result<()> {
    match sides(study) {
        Some(_) if !study.knows_outcomes() => {
            let text = "--train-until needs outcomes of jobs, and there is no `job_events`";
            Err(Usage(text.to_owned()).into())
        }
        Some((past, future)) if past == 0 || future == 0 => Err(Usage(format!(
            "--train-until leaves no jobs to choose on or to test on: {} with tasks loaded ended \
            before it, {} submitted after it",
            digits::counted(past, "job"),
            if future == 1 {
                "1 was".to_owned()
            } else {
                format!("{} were", digits::grouped(future))
            }
        ))
        .into()),
        _ => Ok(()),
    }
}

/// Writes the further tables: all rules in one plane, and the rule chosen on earlier jobs.
pub fn put_details(
    study: &Study,
    swept: &Swept,
    selected: Option<&RecordBatch>,
    files: &mut Files,
) -> Result<()> {
    files.table("sweep-plane", &plane_table(study, &swept.sweeps))?;
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
        charts: charts::charts(study, &swept.sweeps),
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

/// The reason, if there is nothing to show: the amounts are unknown, no job has a known outcome, or
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

/// A row for every threshold of every rule and group; the rule is a column if there are several.
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

/// Adds the shares that are saved, a column per outcome; outcomes in which nothing is saved have no
/// column.
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

/// The unit of all thresholds; empty if rules have different units.
pub(crate) fn counted_in(sweeps: &[Sweep]) -> &str {
    let first = sweeps.first().map_or("", |sweep| sweep.threshold_unit.as_ref());
    if sweeps.iter().all(|sweep| sweep.threshold_unit == first) { first } else { "" }
}

/// The unit of the threshold of a rule; `None` for `never` and the oracle, which have no threshold.
fn unit_of_threshold<'a>(sweeps: &'a [Sweep], rule: &str) -> Option<&'a str> {
    sweeps.iter().find(|sweep| sweep.rule == rule).map(|sweep| sweep.threshold_unit.as_ref())
}

/// All rules in one plane, as in the chart.
pub(crate) fn plane_table(study: &Study, sweeps: &[Sweep]) -> RecordBatch {
    let points = plane(study, sweeps);
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
        .flag("is_on_front", rows().map(|point| Some(point.is_on_front)))
        .batch()
}

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

/// The choice within each rule, and over all rules if there are several, with its scores on earlier
/// and on later jobs.
pub fn selection_table(selection: &Selection, sweeps: &[Sweep], unit: &str) -> RecordBatch {
    let several = if selection.rules.len() == 1 { None } else { Some(&selection.chosen) };
    let rows = || selection.rules.iter().chain(several);
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
        "chosen on {} jobs that ended before {} s, tested on {} jobs submitted afterwards; a harmed job costs {} CPU-seconds",
        digits::grouped(selection.train_jobs),
        digits::six_digits(selection.split_s),
        digits::grouped(selection.test_jobs),
        digits::six_digits(selection.price)
    )
}

/// The sum over the outcomes that are known; without `job_events` all tasks are unmatched.
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
