//! The answer of `detect`: detectors scored on history.
//!
//! In: what the detectors flagged. Out: scores per detector, under every truth, by window and by hour.

use arrow::record_batch::RecordBatch;
use serde_json::{Value, json};

use crate::answers::detect::plan::DetectAsked;
use crate::answers::spread::Parts;
use crate::answers::{edges, study};
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::{Failure, Result};
use crate::lake::Lake;
use crate::replay::detect::shifts::ShiftRow;
use crate::replay::detect::walk::Walked;
use crate::replay::detect::{DetectOutcome, DetectPlan, FlagRow, GroupCounts, detect_walked};
use crate::replay::detectors::{Action, DetectorPlan, End, Family};
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::shares::{Share, Terms, share};
use crate::results::store::{Answer, Files};
use crate::schema::Table;

mod answer;
pub(crate) mod charts;
pub mod plan;
pub(crate) mod step;

pub use answer::{DetectAnswer, DetectCurve, DetectPoint};

/// The shares and rates of scores and copies.
pub const SHARES: [Share; 10] = [
    share("precision", "hits", "(hits + false_alarms)"),
    share("recall", "hits", "(hits + missed)"),
    share("f1", "2 x hits", "(2 x hits + false_alarms + missed)"),
    share(
        "lead_median_share",
        "time from the flag to the end of the attempt",
        "length of the attempt; the median over hits",
    ),
    share("lost_share", "lost_s", "slot time of all attempts of the groups: task_hours"),
    share(
        "earlier_share",
        "earlier_s",
        "time from first event to last end, summed over the groups: response_hours",
    ),
    share("false_alarms_per_task_hour", "false_alarms", "task_hours"),
    share("rate_in_shift", "false_alarms_in_shift", "task_hours in hours of a shift"),
    share("rate_in_calm", "false_alarms_in_calm", "task_hours in the other compared hours"),
    share("ratio_to_before", "length_median_s of the hour", "the median of the hours before"),
];

/// The result.
pub const KIND: Kind<'static> = Kind {
    captions: &[
        ("detect-settings", "The parameters of each detector"),
        ("detect-truths", "Scores under other definitions of a straggler"),
        ("detect-shifts", "False alarms in hours of change and in others"),
        ("detect-copies", "A dry run of the copies"),
        ("detect-hours", "Hour by hour"),
        ("detect-flags", "Every flag"),
    ],
    tables: &[Table::TaskEvents],
    sentence: Some(|it| it.found::<DetectAnswer>()?.sentence()),
    names: Some(|it| it.found().map(DetectAnswer::names).unwrap_or_default()),
    figure: Some("detect-scores"),
    ..Kind::called("detect", "Scores of the detectors").holding::<DetectAnswer>()
};

/// Which detectors were asked for, and which were added for a curve or a comparison of windows.
pub struct Lineup {
    /// All detectors that run.
    pub detectors: Vec<DetectorPlan>,
    /// How many of them were asked for; they come first.
    pub asked: usize,
    /// The curves over main parameters.
    pub curves: Vec<Curve>,
    /// Windows of the Poisson detector: length in s, whether it is scaled, position in `detectors`.
    pub windows: Vec<(u32, bool, usize)>,
}

/// The variants of a detector along its main parameter.
pub struct Curve {
    /// The detector as it was asked for.
    pub name: String,
    /// The family in whose chart it is drawn.
    pub family: Family,
    /// The parameter.
    pub key: &'static str,
    /// Its values, and the position of each in the line-up.
    pub points: Vec<(String, usize)>,
}

/// Definitions and choices that move the numbers.
pub fn settings(asked: &DetectAsked, plan: &DetectPlan, windows: Windows) -> Value {
    let detectors: Vec<String> = plan.detectors.iter().map(ToString::to_string).collect();
    // In all results `windows` means the ends of the trace's windows, so the compared lengths of
    // `--windows` have another name.
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

/// Runs the detectors and stores every flag in `files`, if given. `parts` has what workers of a
/// cluster have already computed.
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
        // There may be millions of flags, and each row has the whole text of its detector.
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

/// `; 7 attempts without an end in the loaded parts closed at the end of the job`; empty if there
/// are none.
pub(crate) fn closed(counts: GroupCounts) -> String {
    match edges::closed_with_job(counts.attempts_closed_with_job, None, "") {
        none if none.is_empty() => none,
        closed => format!("; {closed}"),
    }
}

/// One line about the groups, tasks and attempts that were replayed.
pub fn counts_line(outcome: &DetectOutcome) -> String {
    let GroupCounts { groups, small_groups, judged_tasks, left_censored, unfinished, .. } =
        outcome.counts;
    let (count, counted) = (digits::grouped, digits::counted);
    let small = format!("{} with too few finished tasks", counted(small_groups, "group"));
    let begun = format!("{} that began before the window", counted(left_censored, "attempt"));
    let out = [(small_groups, small), (left_censored, begun)];
    let out: Vec<String> = out.into_iter().filter(|own| 0 < own.0).map(|(_, said)| said).collect();
    let out =
        if out.is_empty() { String::new() } else { format!("; left out: {}", out.join(", ")) };
    let running = format!(
        "; not judged: {} still running at the end of the window",
        counted(unfinished, "attempt")
    );
    let running = if unfinished == 0 { String::new() } else { running };
    format!(
        "{} with {}, {} of them stragglers{out}{running}{}; {} task-heartbeats",
        counted(groups, "group"),
        counted(judged_tasks, "judged task"),
        count(outcome.stragglers.first().copied().unwrap_or(0)),
        closed(outcome.counts),
        count(outcome.counts.task_heartbeats),
    )
}

/// One row per detector that was asked for: its scores under the truth that decides, and its copies
/// without a budget.
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
