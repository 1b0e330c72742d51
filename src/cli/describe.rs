//! `jobfate describe`: distributions per outcome, survival, and the chance to finish.

use std::collections::BTreeMap;

use anyhow::Result;
use arrow::record_batch::RecordBatch;
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;

use super::AnswerArgs;
use super::render::Frame;
use super::store::{self, Answer};
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone, outcome_tone};
use crate::facts::FactError;
use crate::facts::jobs::Jobs;
use crate::facts::task_values::{TaskValue, task_values};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::distributions::{
    Chance, Summary, Survival, Value, chances, cumulative, kaplan_meier, summarize,
};
use crate::studies::ledger::GroupBy;
use crate::studies::outcomes::Classes;

/// Describe how long, how many and how often
///
/// A table of count, mean, variance (of the population), quantiles and maximum, for all
/// jobs or tasks and per outcome of the job, with a cumulative chart.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate describe --lake lake\n  jobfate describe --lake lake --what events-per-task --format csv\n  jobfate describe --lake lake --what job-survival --out results\n  jobfate describe --lake lake --what finish-given-events --group-by priority"
)]
pub(crate) struct DescribeArgs {
    /// What is described
    #[arg(long, value_enum, default_value_t)]
    pub what: What,

    /// How outcomes are told: sequence or terminal
    #[arg(long, value_name = "CLASSES", default_value_t)]
    pub classes: Classes,

    /// Whether values cut off by the window's end are in
    ///
    /// A job that has not ended counts with its time up to the window's end, and is counted as
    /// censored. `exclude` leaves it out.
    #[arg(long, value_enum, default_value_t)]
    pub censored: Censored,

    /// Split finish-given-events by priority, class or user
    #[arg(long, value_name = "KEY", value_enum)]
    pub group_by: Option<GroupBy>,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// What is described.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum What {
    /// First SCHEDULE to last event of each job
    #[default]
    JobDurations,
    /// Tasks of each job
    TasksPerJob,
    /// Events of each task
    EventsPerTask,
    /// First SUBMIT to first SCHEDULE of each task
    Waiting,
    /// Attempts of each task
    Attempts,
    /// Kaplan-Meier curve of job durations, unended jobs censored
    JobSurvival,
    /// Chance that a task's job finishes, given its events so far
    FinishGivenEvents,
}

impl What {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::JobDurations => "job-durations",
            Self::TasksPerJob => "tasks-per-job",
            Self::EventsPerTask => "events-per-task",
            Self::Waiting => "waiting",
            Self::Attempts => "attempts",
            Self::JobSurvival => "job-survival",
            Self::FinishGivenEvents => "finish-given-events",
        }
    }

    /// The unit of the values and what one of them is.
    const fn unit(self) -> &'static str {
        match self {
            Self::JobDurations | Self::Waiting | Self::JobSurvival => "s",
            Self::TasksPerJob => "tasks",
            Self::EventsPerTask | Self::FinishGivenEvents => "events",
            Self::Attempts => "attempts",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::JobDurations => "How long jobs last",
            Self::TasksPerJob => "How many tasks jobs have",
            Self::EventsPerTask => "How many events tasks have",
            Self::Waiting => "How long tasks wait for their first attempt",
            Self::Attempts => "How many attempts tasks take",
            Self::JobSurvival => "How many jobs last longer",
            Self::FinishGivenEvents => "The chance that a task's job still finishes",
        }
    }

    /// How many of the stored amounts are one of the unit shown.
    fn per_unit(self) -> f64 {
        if self.unit() == "s" { 1e6 } else { 1.0 }
    }
}

/// Whether values that the window's end cut off are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Censored {
    /// In, up to the window's end, and counted
    #[default]
    Include,
    /// Left out
    Exclude,
}

/// Values by outcome; those of jobs that `job_events` does not know under `unmatched`.
type ByOutcome = BTreeMap<String, Vec<Value>>;

pub(crate) fn run(args: &DescribeArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?;
    if args.what == What::Waiting {
        super::show_remarks(&lake, Table::TaskEvents, "wait ");
    }
    let described =
        describe(&lake, windows, args.what, args.classes, args.censored, args.group_by)?;
    store::give(&described.answer(windows), &lake, &args.answer)
}

/// A description in all its forms.
pub(crate) struct Described {
    what: What,
    classes: Classes,
    censored: Censored,
    pub table: RecordBatch,
    rows: serde_json::Value,
    pub chart: Chart,
}

impl Described {
    pub(crate) fn answer(&self, windows: Windows) -> Answer<'_> {
        let name = self.what.name();
        Answer {
            name,
            table: &self.table,
            json: json!({"what": self.what, "unit": self.what.unit(), "quantiles": "R-7", "rows": self.rows}),
            settings: json!({"classes": self.classes, "censored": self.censored, "windows": windows}),
            charts: vec![(name.to_owned(), self.chart.clone())],
        }
    }
}

/// Describes a lake.
pub(crate) fn describe(
    lake: &Lake,
    windows: Windows,
    what: What,
    classes: Classes,
    censored: Censored,
    group_by: Option<GroupBy>,
) -> Result<Described> {
    if what == What::FinishGivenEvents {
        return finish_given_events(lake, windows, classes, group_by);
    }
    let mut values = values(lake, windows, what, classes)?;
    let left_out = if censored == Censored::Exclude && what != What::JobSurvival {
        leave_out(&mut values)
    } else {
        0
    };
    let names = ["all"].into_iter().chain(classes.outcomes().iter().copied()).chain(["unmatched"]);
    let mut summaries = Vec::new();
    let mut lines = Vec::new();
    let mut survival: Vec<(String, Survival)> = Vec::new();
    let all: Vec<Value> = values.values().flatten().copied().collect();
    values.insert("all".to_owned(), all);
    for name in names {
        let mut own = values.remove(name).unwrap_or_default();
        if name == "unmatched" && own.is_empty() {
            continue;
        }
        summaries.push(summarize(name, &mut own, what.per_unit()));
        if own.is_empty()
            || name == "unmatched"
            || (name == "running" && what == What::JobDurations)
        {
            continue;
        }
        let (points, band) = if what == What::JobSurvival {
            let curve = kaplan_meier(&own);
            let band = curve.iter().map(|point| (point.time_s, point.low, point.high)).collect();
            let points = curve.iter().map(|point| (point.time_s, point.share)).collect();
            survival.extend(curve.into_iter().map(|point| (name.to_owned(), point)));
            (points, band)
        } else {
            (cumulative(&own, what.per_unit()), Vec::new())
        };
        lines.push(Line {
            name: name.to_owned(),
            points,
            band,
            tone: outcome_tone(name),
            stroke: Stroke::Steps,
        });
    }
    let chart = chart(lake, what, classes, left_out, &summaries, lines);
    let (table, rows) = if what == What::JobSurvival {
        let rows: Vec<serde_json::Value> = survival
            .iter()
            .map(|(outcome, point)| json!({"outcome": outcome, "point": point}))
            .collect();
        (survival_table(&survival), json!(rows))
    } else {
        (summary_table(&summaries), json!(summaries))
    };
    Ok(Described { what, classes, censored, table, rows, chart })
}

/// Only the summaries, all jobs or tasks first.
pub(crate) fn summaries(
    lake: &Lake,
    windows: Windows,
    what: What,
    classes: Classes,
) -> Result<Vec<Summary>> {
    let mut values = values(lake, windows, what, classes)?;
    let mut all: Vec<Value> = values.values().flatten().copied().collect();
    let mut rows = vec![summarize("all", &mut all, what.per_unit())];
    for outcome in classes.outcomes() {
        rows.push(summarize(
            outcome,
            &mut values.remove(*outcome).unwrap_or_default(),
            what.per_unit(),
        ));
    }
    Ok(rows)
}

fn leave_out(values: &mut ByOutcome) -> usize {
    let count = |values: &ByOutcome| values.values().map(Vec::len).sum::<usize>();
    let before = count(values);
    for values in values.values_mut() {
        values.retain(|value| !value.is_censored);
    }
    before - count(values)
}

fn values(
    lake: &Lake,
    windows: Windows,
    what: What,
    classes: Classes,
) -> Result<ByOutcome, FactError> {
    let mut values = ByOutcome::new();
    let mut push = |outcome: Option<u8>, amount: i64, is_censored: bool| {
        let name = outcome.map_or("unmatched", |outcome| classes.outcomes()[usize::from(outcome)]);
        let value = Value { amount, is_censored };
        match values.get_mut(name) {
            Some(values) => values.push(value),
            None => {
                values.insert(name.to_owned(), vec![value]);
            }
        }
    };
    let of = |outcomes: (u8, u8)| match classes {
        Classes::Sequence => outcomes.0,
        Classes::Terminal => outcomes.1,
    };
    match what {
        What::JobDurations | What::JobSurvival => {
            lake.require(Table::JobEvents)?;
            for bucket in 0..lake.bucket_count() {
                for job in Jobs::read(lake, bucket)?.jobs {
                    if let Some(duration) = job.duration_us(windows.job_end_us) {
                        let is_open = !job.is_ended() || windows.job_end_us < job.last_event_us;
                        push(Some(of((job.by_sequence, job.by_terminal))), duration, is_open);
                    }
                }
            }
        }
        What::TasksPerJob => {
            for row in
                crate::studies::fold::fold(lake, windows, &[], crate::facts::tasks::Usage::Skip)?
                    .jobs
            {
                let outcome = row.job.as_ref().map(|job| of((job.by_sequence, job.by_terminal)));
                if 0 < row.task_count {
                    push(outcome, i64::try_from(row.task_count).unwrap_or(i64::MAX), false);
                }
            }
        }
        What::EventsPerTask | What::Attempts | What::Waiting | What::FinishGivenEvents => {
            for task in task_values(lake, windows, false)? {
                let outcome = task.outcomes.map(of);
                let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
                match (what, task.wait) {
                    (What::Waiting, Some(wait)) => push(outcome, wait.span_us, wait.is_censored),
                    (What::Waiting, None) => {}
                    (What::Attempts, _) => push(outcome, count(task.attempts), false),
                    _ => push(outcome, count(task.events), false),
                }
            }
        }
    }
    Ok(values)
}

fn finish_given_events(
    lake: &Lake,
    windows: Windows,
    classes: Classes,
    group_by: Option<GroupBy>,
) -> Result<Described> {
    lake.require(Table::JobEvents)?;
    let is_settled = |outcome: &str| !matches!(outcome, "running" | "pending" | "unknown");
    let mut groups: BTreeMap<String, Vec<(u64, bool)>> = BTreeMap::new();
    for task in task_values(lake, windows, group_by == Some(GroupBy::User))? {
        let outcome = task.outcomes.map(|(sequence, terminal)| match classes {
            Classes::Sequence => classes.outcomes()[usize::from(sequence)],
            Classes::Terminal => classes.outcomes()[usize::from(terminal)],
        });
        // A job that still runs is neither; an unmatched one is unknown.
        let Some(outcome) = outcome.filter(|outcome| is_settled(outcome)) else { continue };
        groups
            .entry(group_of(&task, group_by))
            .or_default()
            .push((task.events, outcome == "finished"));
    }
    let rows: Vec<Chance> =
        groups.iter().flat_map(|(group, tasks)| chances(group, tasks)).collect();
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let lines = groups
        .keys()
        .zip(Tone::SERIES.iter().cycle())
        .take(Tone::SERIES.len())
        .map(|(group, &tone)| {
            let own = || rows.iter().filter(|row| row.group == *group);
            Line {
                name: group.clone(),
                points: own().map(|row| (row.events as f64, row.chance)).collect(),
                band: own().map(|row| (row.events as f64, row.low, row.high)).collect(),
                tone,
                stroke: Stroke::Straight,
            }
        })
        .collect();
    let what = What::FinishGivenEvents;
    let chart = Chart::Lines(LineChart {
        title: what.title().to_owned(),
        caption: format!(
            "Share of tasks with at least so many events whose job finished (by {classes}), with Wilson's 95 % band; tasks of jobs that still run at the window's end are left out."
        ),
        x_axis: "events of the task so far".to_owned(),
        y_axis: "chance to finish".to_owned(),
        x_scale: Scale::Log,
        lines,
    });
    let table = Frame::default()
        .text(group_by.map_or("group", GroupBy::name), rows.iter().map(|row| row.group.as_str()))
        .count("events", rows.iter().map(|row| row.events))
        .count("tasks", rows.iter().map(|row| row.tasks))
        .count("finished", rows.iter().map(|row| row.finished))
        .float("chance", rows.iter().map(|row| Some(row.chance)))
        .float("low_95", rows.iter().map(|row| Some(row.low)))
        .float("high_95", rows.iter().map(|row| Some(row.high)))
        .batch();
    Ok(Described { what, classes, censored: Censored::Exclude, table, rows: json!(rows), chart })
}

fn group_of(task: &TaskValue, group_by: Option<GroupBy>) -> String {
    match group_by {
        None => "all".to_owned(),
        Some(GroupBy::Priority) => format!("{:02}", task.priority),
        Some(GroupBy::Class) => {
            task.scheduling_class.map_or_else(|| "-".to_owned(), |class| class.to_string())
        }
        Some(GroupBy::User) => task.user.clone().unwrap_or_else(|| "-".to_owned()),
    }
}

fn chart(
    lake: &Lake,
    what: What,
    classes: Classes,
    left_out: usize,
    rows: &[Summary],
    lines: Vec<Line>,
) -> Chart {
    let all = &rows[0];
    let censoring = match (what, left_out, all.censored) {
        (What::JobSurvival, ..) => format!(
            "Kaplan-Meier with Greenwood's 95 % band; {} unended jobs are censored at the window's end.",
            super::console::grouped(all.censored)
        ),
        (_, 0, 0) => "Nothing is censored.".to_owned(),
        (_, 0, censored) => {
            format!("{censored} values are cut off at the window's end and are in.")
        }
        (_, left_out, _) => format!("{left_out} values cut off at the window's end are left out."),
    };
    let parts: Vec<String> = lake
        .manifest
        .tables
        .iter()
        .filter(|(table, _)| matches!(table.as_str(), "job_events" | "task_events"))
        .map(|(table, entry)| format!("{table} parts {}", entry.part_ranges()))
        .collect();
    Chart::Lines(LineChart {
        title: what.title().to_owned(),
        caption: format!(
            "{} values by outcome of the job (told by {classes}). {censoring} Tables: {}.",
            super::console::grouped(all.count),
            parts.join("; ")
        ),
        x_axis: format!("{} ({})", what.name().replace('-', " "), what.unit()),
        y_axis: if what == What::JobSurvival {
            "share that lasts longer"
        } else {
            "share at or below"
        }
        .to_owned(),
        x_scale: Scale::Log,
        lines,
    })
}

fn summary_table(rows: &[Summary]) -> RecordBatch {
    let column =
        |value: fn(&Summary) -> Option<f64>| rows.iter().map(value).collect::<Vec<Option<f64>>>();
    Frame::default()
        .text("outcome", rows.iter().map(|row| row.outcome.as_str()))
        .count("count", rows.iter().map(|row| row.count))
        .float("mean", column(|row| row.mean))
        .float("variance", column(|row| row.variance))
        .float("min", column(|row| row.min))
        .float("p25", column(|row| row.p25))
        .float("median", column(|row| row.median))
        .float("p75", column(|row| row.p75))
        .float("p90", column(|row| row.p90))
        .float("p99", column(|row| row.p99))
        .float("max", column(|row| row.max))
        .count("censored", rows.iter().map(|row| row.censored))
        .batch()
}

fn survival_table(rows: &[(String, Survival)]) -> RecordBatch {
    let column = |value: fn(&Survival) -> f64| {
        rows.iter().map(|(_, point)| Some(value(point))).collect::<Vec<_>>()
    };
    Frame::default()
        .text("outcome", rows.iter().map(|(outcome, _)| outcome.as_str()))
        .float("time_s", column(|point| point.time_s))
        .float("share_lasting_longer", column(|point| point.share))
        .float("low_95", column(|point| point.low))
        .float("high_95", column(|point| point.high))
        .count("at_risk", rows.iter().map(|(_, point)| point.at_risk))
        .batch()
}
