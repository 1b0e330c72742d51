//! `jobfate detect`: whom each straggler detector would have flagged in real history, and how
//! right that was.

use arrow::record_batch::RecordBatch;
use clap::Args;
use serde_json::{Value, json};

use super::{AnswerArgs, AttemptArgs, console, detect_charts};
use crate::cli::shown;
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::{Failure, Result, Usage};
use crate::lake::Lake;
use crate::replay::detect::copies::Replacement;
use crate::replay::detect::progress::{ProgressModel, Work};
use crate::replay::detect::score::TRUTHS_MAX;
use crate::replay::detect::shifts::ShiftRow;
use crate::replay::detect::truth::Truth;
use crate::replay::detect::walk::WalkPlan;
use crate::replay::detect::{DetectOutcome, DetectPlan, FlagRow, GroupCounts, detect};
use crate::replay::detectors::{Action, DetectorPlan, End, KINDS};
use crate::results::frame::Frame;
use crate::results::store::{self, Answer, Files, Origin};
use crate::schema::Table;

/// Replay straggler detectors over recorded history
///
/// Walks through the attempts of the lake heartbeat by heartbeat and asks each detector whom it
/// would flag, knowing only what was known then; then says how right it was. A group is a job, or
/// a phase of it where the trace knows phases. History is not touched: a flagged attempt counts
/// as having a copy until it ends. Attempts that were running at time 0 are left out, those that
/// never finish are seen by the detectors and not judged.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate detect --lake lake\n  jobfate detect --lake lake --detectors poisson:window_s=60 late yarn:estimator=simple\n  jobfate detect --lake lake --detectors late:budget=0.1 spark:version=3 --heartbeat 30\n  jobfate detect --lake lake --progress siblings --curve --out results\n  jobfate detect --lake lake --detectors none --windows 30,60,120,240,480"
)]
pub(crate) struct DetectArgs {
    /// Detectors to compare, one word each; `all` for every one
    ///
    /// Each is `name` or `name:key=value,...`. Names: none, oracle, poisson, hadoop, google, late,
    /// late021, yarn, mantri, tqst, spark, flink. Every detector also takes `budget` (copies at
    /// once, as a share of the running attempts) and `min_age_s`. An unknown key lists the known.
    #[arg(long, value_name = "DETECTOR", num_args = 1.., value_parser = parse_detectors, default_value = "all")]
    pub detectors: Vec<DetectorList>,

    /// Time between heartbeats
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = parse_heartbeat)]
    pub heartbeat: f64,

    /// Where progress comes from
    #[arg(long, value_enum, default_value_t)]
    pub progress: ProgressModel,

    /// What work so far is counted in, for `siblings`
    #[arg(long, value_enum, default_value_t)]
    pub work: Work,

    /// Noise on progress, the deviation of the rate's log
    ///
    /// 0.2 makes a reported rate look some 20 % too high or too low, drawn anew at each heartbeat
    /// from the seed; progress never goes back.
    #[arg(long, value_name = "DEVIATION", default_value_t = 0.0, value_parser = parse_noise)]
    pub noise: f64,

    /// Seed of noise and of drawn replacements
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// What a straggler is, the first decides
    ///
    /// `median:1.5` (longer than 1.5 times the median of the group's finished tasks), `mean:1.5`,
    /// `p90` (R-7 percentile), all strictly greater.
    #[arg(long, value_name = "TRUTH,...", value_delimiter = ',', default_values_t = Truth::DEFAULTS)]
    pub truth: Vec<Truth>,

    /// Phase to look at, where the trace knows phases
    ///
    /// `map` or `reduce` in Rumen traces. All of them by default, each a group of its own.
    #[arg(long, value_name = "PHASE")]
    pub phase: Option<String>,

    /// Fewest finished tasks of a group that is judged
    #[arg(long, value_name = "TASKS", default_value_t = 10, value_parser = parse_min_tasks)]
    pub min_tasks: usize,

    /// How long the replacement of a flagged task takes
    #[arg(long, value_enum, default_value_t)]
    pub replacement: Replacement,

    /// Precision and recall over each main parameter
    ///
    /// Adds every detector once per value of the parameter that trades precision for recall.
    #[arg(long)]
    pub curve: bool,

    /// Windows of the Poisson detector to compare
    ///
    /// Adds `poisson:window_s=W` for each, and the same with window and bin in proportion to the
    /// group's median task (`scale_s=30`: as the paper's, if tasks take 30 s).
    #[arg(long, value_name = "SECONDS,...", value_delimiter = ',', value_parser = parse_window)]
    pub windows: Vec<u32>,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// Detectors in the order in which they are shown.
#[derive(Clone, Debug)]
pub(crate) struct DetectorList(pub Vec<DetectorPlan>);

fn parse_detectors(text: &str) -> Result<DetectorList, String> {
    let mut detectors: Vec<DetectorPlan> = Vec::new();
    for word in text.split_whitespace() {
        let names: Vec<&str> =
            if word == "all" { KINDS.iter().map(|kind| kind.name).collect() } else { vec![word] };
        for name in names {
            add_once(&mut detectors, name.parse().map_err(|error| format!("{error}"))?);
        }
    }
    if detectors.is_empty() {
        Err("no detector is named".to_owned())
    } else {
        Ok(DetectorList(detectors))
    }
}

fn add_once(detectors: &mut Vec<DetectorPlan>, detector: DetectorPlan) {
    if !detectors.contains(&detector) {
        detectors.push(detector);
    }
}

fn parse_heartbeat(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| format!("`{text}` is not a time from 0.1 to 86400 s"))
}

fn parse_min_tasks(text: &str) -> Result<usize, String> {
    let count = text.parse::<usize>().ok().filter(|count| (1..=u32::MAX as usize).contains(count));
    count.ok_or_else(|| format!("`{text}` is not a count from 1 to {}", u32::MAX))
}

fn parse_window(text: &str) -> Result<u32, String> {
    let seconds = text.parse::<u32>().ok().filter(|&seconds| 0 < seconds);
    seconds
        .ok_or_else(|| format!("`{text}` is not a whole number of seconds from 1 to {}", u32::MAX))
}

fn parse_noise(text: &str) -> Result<f64, String> {
    let noise = text.parse::<f64>().ok().filter(|noise| (0.0..=10.0).contains(noise));
    noise.ok_or_else(|| format!("`{text}` is not a deviation from 0 to 10"))
}

/// Typical length of the tasks that the Poisson detector's 30 s window was made for, s.
const PAPER_TASK_S: u32 = 30;

/// Which detectors were asked for, and which were added for a curve or a comparison of windows.
pub(crate) struct Lineup {
    /// All detectors that are walked.
    pub detectors: Vec<DetectorPlan>,
    /// How many of them were asked for; they come first.
    pub asked: usize,
    /// Detectors along their main parameters.
    pub curves: Vec<Curve>,
    /// Windows of the Poisson detector: window, whether it is scaled, where.
    pub windows: Vec<(u32, bool, usize)>,
}

/// A detector along its main parameter.
pub(crate) struct Curve {
    /// The detector as it was asked for.
    pub name: String,
    /// The kind of detector.
    pub kind: &'static str,
    /// The parameter.
    pub key: &'static str,
    /// Its values, and where in the line-up each stands.
    pub points: Vec<(String, usize)>,
}

impl Lineup {
    fn of(args: &DetectArgs) -> Result<Self> {
        let mut detectors = Vec::new();
        for detector in args.detectors.iter().flat_map(|list| &list.0) {
            add_once(&mut detectors, detector.clone());
        }
        let mut lineup =
            Self { asked: detectors.len(), detectors, curves: Vec::new(), windows: Vec::new() };
        if args.curve {
            for idx in 0..lineup.asked {
                let detector = lineup.detectors[idx].clone();
                let Some(kind) = detector.kind() else { continue };
                let (key, values) = kind.curve;
                let mut points = Vec::new();
                for value in values {
                    points.push(((*value).to_owned(), lineup.place(&detector.with(key, value)?)));
                }
                if !points.is_empty() {
                    let (name, kind) = (detector.written().to_owned(), detector.name());
                    lineup.curves.push(Curve { name, kind, key, points });
                }
            }
        }
        for &window_s in &args.windows {
            let plain: DetectorPlan = format!("poisson:window_s={window_s}").parse()?;
            let scaled = plain.with("scale_s", &PAPER_TASK_S.to_string())?;
            for (detector, is_scaled) in [(plain, false), (scaled, true)] {
                let place = lineup.place(&detector);
                lineup.windows.push((window_s, is_scaled, place));
            }
        }
        Ok(lineup)
    }

    /// Where a detector is, added if it is not there yet.
    fn place(&mut self, detector: &DetectorPlan) -> usize {
        add_once(&mut self.detectors, detector.clone());
        self.detectors.iter().position(|other| other == detector).expect("it was just added")
    }
}

/// The detectors and the plan that the flags ask for.
pub(crate) fn prepare(args: &DetectArgs, lake: &Lake) -> Result<(Lineup, DetectPlan)> {
    let lineup = Lineup::of(args)?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be at most a day")]
    let heartbeat_us = (args.heartbeat * 1e6).round() as i64;
    let plan = DetectPlan {
        walk: WalkPlan {
            heartbeat_us,
            progress: args.progress,
            work: args.work,
            noise: args.noise,
            seed: args.seed,
        },
        truths: args.truth.clone(),
        phase: args.phase.clone(),
        tasks_min: args.min_tasks,
        replacement: args.replacement,
        ..DetectPlan::of(lineup.detectors.clone())
    };
    if TRUTHS_MAX < args.truth.len() {
        return Err(Usage(format!("--truth: at most {TRUTHS_MAX} at once")).into());
    }
    if args.phase.is_some() && !lake.has_column(Table::TaskEvents, "phase") {
        let source = lake.source();
        return Err(Usage(format!("--phase: {source} knows no phases of a job")).into());
    }
    Ok((lineup, plan))
}

pub(crate) fn run(args: &DetectArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?.closing(args.attempts.open_attempts);
    let (lineup, plan) = prepare(args, &lake)?;
    let started = super::now();
    let mut files = shown::files(args.answer.out.as_deref(), "detect")?;
    let origin = Origin::of(&lake);
    if let Some(files) = &mut files {
        files.are_made_from(&origin, &settings(&plan, windows));
    }
    let outcome = detect_into(&lake, windows, &plan, files.as_mut())?;
    console::note(counts_line(&outcome));
    #[expect(clippy::cast_precision_loss, reason = "a count shown with few digits")]
    let judged = outcome.counts.task_heartbeats as f64 * plan.detectors.len() as f64;
    console::note(format!(
        "{} detectors, {:.1} million judgements per second",
        plan.detectors.len(),
        judged / started.elapsed().as_secs_f64() / 1e6
    ));
    let table = table_of(&outcome, lineup.asked);
    let answer = answer(&outcome, &plan, &lineup, windows, &table);
    if let Some(files) = &mut files {
        put_details(&outcome, &plan, &lineup, files)?;
    }
    shown::give(&answer, files, &origin, &args.answer.form())
}

/// Definitions and choices that move the numbers.
pub(crate) fn settings(plan: &DetectPlan, windows: Windows) -> Value {
    json!({
        "detectors": plan.detectors.iter().map(ToString::to_string).collect::<Vec<String>>(),
        "heartbeat_us": plan.walk.heartbeat_us, "progress": plan.walk.progress,
        "work": plan.walk.work, "noise": plan.walk.noise, "seed": plan.walk.seed,
        "truths": plan.truths, "phase": plan.phase, "min_tasks": plan.tasks_min,
        "replacement": plan.replacement, "windows": windows,
    })
}

/// The answer in all its forms.
pub(crate) fn answer<'a>(
    outcome: &DetectOutcome,
    plan: &DetectPlan,
    lineup: &Lineup,
    windows: Windows,
    table: &'a RecordBatch,
) -> Answer<'a> {
    Answer {
        name: "detect",
        table,
        json: json_of(outcome, plan, lineup),
        settings: settings(plan, windows),
        charts: detect_charts::charts(outcome, plan, lineup),
    }
}

/// Flags that are put into a table at once.
const FLAGS_AT_ONCE: usize = 1 << 17;

/// Runs the detectors and puts every flag into `files`, if there are any.
pub(crate) fn detect_into(
    lake: &Lake,
    windows: Windows,
    plan: &DetectPlan,
    files: Option<&mut Files>,
) -> Result<DetectOutcome> {
    let names: Vec<&str> = plan.detectors.iter().map(DetectorPlan::written).collect();
    let mut rows = match &files {
        Some(files) => Some(files.rows("detect-flags", &flags_table(&[], &names))?),
        None => None,
    };
    let bar = console::Bar::of_work("detect", "rows");
    let outcome = detect(lake, windows, plan, |flags| {
        // There may be millions, each with the whole text of its detector.
        for some in flags.chunks(FLAGS_AT_ONCE) {
            if let Some(rows) = &mut rows {
                rows.push(&flags_table(some, &names))?;
            }
        }
        Ok::<(), Failure>(())
    })?;
    drop(bar);
    if let (Some(files), Some(rows)) = (files, rows) {
        files.take_rows(rows)?;
    }
    Ok(outcome)
}

/// The settings of detectors, the scores under every truth, the dry run of copies, and the hours.
pub(crate) fn put_details(
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

/// `; 7 attempts without an end in the loaded parts end with their job`, where there are any.
pub(crate) fn closed(counts: GroupCounts) -> String {
    match counts.attempts_closed_with_job {
        0 => String::new(),
        closed => format!(
            "; {} without an end in the loaded parts closed at the end of the job",
            digits::counted(closed, "attempt")
        ),
    }
}

/// What was walked, in one line.
pub(crate) fn counts_line(outcome: &DetectOutcome) -> String {
    let GroupCounts { groups, small_groups, judged_tasks, left_censored, unfinished, .. } =
        outcome.counts;
    let count = digits::grouped;
    format!(
        "{} groups with {} judged tasks, {} of them stragglers; {} groups with too few finished tasks left out; {} attempts begun before the window left out, {} still running at its end not judged{}; {} task-heartbeats",
        count(groups),
        count(judged_tasks),
        count(outcome.stragglers.first().copied().unwrap_or(0)),
        count(small_groups),
        count(left_censored),
        count(unfinished),
        closed(outcome.counts),
        count(outcome.counts.task_heartbeats),
    )
}

/// One row per detector that was asked for, under the truth that decides, with copies unlimited.
pub(crate) fn table_of(outcome: &DetectOutcome, asked: usize) -> RecordBatch {
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

fn json_of(outcome: &DetectOutcome, plan: &DetectPlan, lineup: &Lineup) -> Value {
    let curves: Vec<Value> = lineup
        .curves
        .iter()
        .map(|curve| {
            let points: Vec<Value> = curve
                .points
                .iter()
                .map(|(value, place)| json!({"value": value, "score": outcome.rows[*place].scores[0]}))
                .collect();
            json!({"detector": curve.name, "parameter": curve.key, "points": points})
        })
        .collect();
    let mut json = json!({
        "truths": plan.truths,
        "stragglers": outcome.stragglers,
        "counts": outcome.counts,
        "task_hours": outcome.task_hours,
        "rows": &outcome.rows[..lineup.asked],
        "added": &outcome.rows[lineup.asked..],
        "curves": curves,
        "copies": outcome.copies,
        "shifts": outcome.shifts,
    });
    if outcome.counts.groups == 0 {
        let nothing = format!(
            "No job or phase has {} that finished (--min-tasks): there is nothing to judge a detector by.",
            digits::counted(plan.tasks_min as u64, "task")
        );
        json[store::NOTHING] = nothing.into();
    }
    json
}

/// What each detector's name stands for.
fn settings_table(outcome: &DetectOutcome) -> RecordBatch {
    let rows = || outcome.rows.iter();
    Frame::default()
        .text("detector", rows().map(|row| row.detector.as_str()))
        .text("settings", rows().map(|row| row.settings.as_str()))
        .batch()
}

fn flags_table(flags: &[FlagRow], names: &[&str]) -> RecordBatch {
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
fn truths_table(outcome: &DetectOutcome, plan: &DetectPlan) -> RecordBatch {
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

fn copies_table(outcome: &DetectOutcome) -> RecordBatch {
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

/// False alarms in hours of a shift and in the others, of every detector.
fn shifts_table(outcome: &DetectOutcome) -> RecordBatch {
    let rows = || outcome.shifts.rows.iter();
    let frame = Frame::default().text("detector", rows().map(|row| row.detector.as_str()));
    false_alarms(frame, rows())
}

/// Ends a table with the false alarms of some detectors by the state of the cluster.
fn false_alarms<'a>(frame: Frame, rows: impl Iterator<Item = &'a ShiftRow> + Clone) -> RecordBatch {
    frame
        .count("false_alarms_in_shift", rows.clone().map(|row| row.in_shift))
        .about("False alarms in hours of a shift")
        .count("false_alarms_in_calm", rows.clone().map(|row| row.in_calm))
        .about("False alarms in the other hours that could be compared")
        .float("rate_in_shift", rows.clone().map(|row| row.rate_in_shift))
        .unit("1/h")
        .about("False alarms per hour that a task ran, in hours of a shift")
        .float("rate_in_calm", rows.map(|row| row.rate_in_calm))
        .unit("1/h")
        .about("False alarms per hour that a task ran, in the other hours")
        .batch()
}

/// Every detector along its main parameter, under the truth that decides.
fn curves_table(outcome: &DetectOutcome, lineup: &Lineup) -> RecordBatch {
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

/// The Poisson detector by its window.
fn windows_table(outcome: &DetectOutcome, lineup: &Lineup) -> RecordBatch {
    let windows = || lineup.windows.iter();
    let frame = Frame::default()
        .int("window_s", windows().map(|window| i64::from(window.0)))
        .about("The window of the Poisson detector")
        .flag("is_scaled", windows().map(|window| Some(window.1)))
        .about("Whether window and bin are in proportion to the group's median task");
    false_alarms(frame, windows().map(|window| &outcome.shifts.rows[window.2]))
}

fn hours_table(outcome: &DetectOutcome) -> RecordBatch {
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
