//! The answer of `classify`: what became of jobs or tasks, counted.
//!
//! In: a lake and a definition of outcomes. Out: counts per outcome as table, JSON and bars.

use arrow::record_batch::RecordBatch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::answers::sentences::{self, Ends};
use crate::answers::study::{Verdict, Work, settings};
use crate::answers::words::text;
use crate::answers::{edges, flow};
use crate::charts::{Bar, BarChart, Chart, outcome_tone};
use crate::digits;
use crate::digits::grouped;
use crate::facts::FactError;
use crate::facts::events::Histories;
use crate::facts::jobs::END_REASON;
use crate::facts::query::{Query, Settings};
use crate::facts::tables::SqlEngine;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::lake::{Lake, TableEntry};
use crate::results::envelope::Envelope;
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::shares::{Share, Terms, share};
use crate::results::store::Answer;
use crate::schema::Table;
use crate::studies::censoring::Censoring;
use crate::studies::outcomes::{Classes, Classification, Counter, OutcomeRow, Window};
use crate::units::micros_to_seconds;

mod answer;
mod other;
mod reasons;

pub use answer::ClassifyAnswer;
pub use reasons::{add_reasons, reasons, table_of_reasons};

/// What is counted, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClassifyPlan {
    /// What is counted
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub by: By,

    /// How outcomes are defined: sequence or terminal
    ///
    /// `sequence`: by the exact event sequence as published, 014 finished, 013 failed, 015 killed,
    /// 01 running, everything else other. `terminal`: by the last terminal event (evicted, failed,
    /// finished, killed, lost), unless a SUBMIT or SCHEDULE comes after it (pending, running);
    /// UPDATE events do not affect the outcome.
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLASSES", default_value_t))]
    #[serde(with = "text")]
    pub classes: Classes,

    /// List every exact sequence instead of the outcomes
    ///
    /// Shows what `other` consists of. The JSON always has the sequences.
    #[cfg_attr(feature = "cli", arg(long))]
    pub sequences: bool,

    /// Split each outcome by the reason why the jobs ended
    ///
    /// For logs that record it (slurm): `TIMEOUT`, `OUT_OF_MEMORY`, `NODE_FAIL`, ... of the attempt
    /// that decides the outcome of the job.
    #[cfg_attr(feature = "cli", arg(long, conflicts_with_all = ["sequences", "engine"]))]
    pub by_reason: bool,
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Jobs, from `job_events`
    #[default]
    Job,
    /// Tasks, from `task_events`
    Task,
}

impl By {
    pub const fn table(self) -> Table {
        match self {
            Self::Job => Table::JobEvents,
            Self::Task => Table::TaskEvents,
        }
    }

    const fn query(self) -> &'static str {
        match self {
            Self::Job => "q01_job_outcomes",
            Self::Task => "q02_task_outcomes",
        }
    }

    const fn window(self, windows: Windows) -> Window {
        let end_us = match self {
            Self::Job => windows.job_end_us,
            Self::Task => windows.task_end_us,
        };
        Window { windows, end_us }
    }

    /// The kind of its result.
    pub const fn kind(self) -> &'static Kind<'static> {
        match self {
            Self::Job => &KINDS[0],
            Self::Task => &KINDS[1],
        }
    }

    /// The noun for what is counted.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Job => "jobs",
            Self::Task => "tasks",
        }
    }
}

/// The results: of jobs and of tasks.
pub static KINDS: [Kind<'static>; 2] = [
    Kind {
        tables: &[Table::JobEvents],
        sentence: Some(sentence),
        figure: Some("classify-jobs"),
        ..Kind::called("classify-jobs", "What became of the jobs")
    },
    Kind {
        tables: &[Table::TaskEvents],
        sentence: Some(sentence),
        ..Kind::called("classify-tasks", "What became of the tasks")
    },
];

/// The step of an analysis: jobs, then tasks.
pub(crate) fn step(work: &Work<'_>) -> Result<Option<Verdict>> {
    let (classes, windows) = (work.definitions.classes, work.windows);
    let mut job_count = None;
    for by in [By::Job, By::Task] {
        if work.is_missing(by.table(), *by.kind())? {
            continue;
        }
        let bar = work.screen.follow(work.study.name, "rows");
        let outcome = classification(work.lake, windows, by, classes, None)?;
        let count: u64 = outcome.rows.iter().map(|row| row.count).sum();
        // If each job is one task, the reasons of tasks say nothing more.
        let by_reason =
            work.lake.has_column(by.table(), END_REASON) && job_count.replace(count) != Some(count);
        let reasons = by_reason.then(|| reasons(work.lake, by, classes)).transpose()?;
        drop(bar);
        let choice =
            Choice { plan: ClassifyPlan { by, classes, by_reason, sequences: false }, windows };
        let table = table_of(&outcome.rows);
        let mut answer = answer(work.lake, &outcome, choice, &table)?;
        if let Some(rows) = &reasons {
            add_reasons(&mut answer, rows, by);
        }
        work.store(&answer)?;
        work.screen.show(by.plural(), &table)?;
    }
    Ok(None)
}

/// Counts all jobs or tasks of a lake by outcome.
///
/// # Errors
/// The lake has no table of jobs or tasks, a file cannot be read, or the engine fails.
pub fn classification(
    lake: &Lake,
    windows: Windows,
    by: By,
    classes: Classes,
    engine: Option<&SqlEngine>,
) -> Result<Classification> {
    lake.require(by.table())?;
    // Polars runs bucket by bucket below, so that not all tasks are in memory at once.
    if let Some(spark @ SqlEngine::Spark(_)) = engine {
        let settings = Settings { windows, thresholds: Vec::new() };
        let facts = spark.facts(lake, &[by.query()], &settings)?;
        let mut counter = Counter::default();
        counter.add(&facts.single(), classes, by.window(windows));
        return Ok(counter.finish(classes));
    }
    let rows = lake.expect_rows(&[by.table()]);
    let counters: Result<Vec<Counter>, FactError> = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(|bucket| {
            let counter = match engine {
                None => by_fold(lake, windows, bucket, by, classes),
                Some(_) => by_query(lake, windows, bucket, by, classes),
            }?;
            lake.step(rows)?;
            Ok(counter)
        })
        .collect();
    Ok(counters?.into_iter().fold(Counter::default(), Counter::merge).finish(classes))
}

/// The bar of an outcome, with its count and share.
fn bar(label: String, outcome: &str, count: u64, share: f64) -> Bar {
    Bar {
        label,
        #[expect(clippy::cast_precision_loss, reason = "a length on paper")]
        value: count as f64,
        note: format!("{} ({})", grouped(count), sentences::label(share)),
        tone: outcome_tone(outcome),
    }
}

pub(crate) fn by_fold(
    lake: &Lake,
    windows: Windows,
    bucket: u32,
    by: By,
    classes: Classes,
) -> Result<Counter, FactError> {
    let histories = Histories::read(lake, by.table(), bucket)?;
    let mut counter = Counter::default();
    for entity in 0..histories.len() {
        counter.add_events(histories.events(entity), classes, by.window(windows));
    }
    Ok(counter)
}

pub(crate) fn by_query(
    lake: &Lake,
    windows: Windows,
    bucket: u32,
    by: By,
    classes: Classes,
) -> Result<Counter, FactError> {
    let settings = Settings { windows, thresholds: Vec::new() };
    let facts = Query::find(by.query())?.run_bucket(lake, bucket, &settings)?;
    let mut counter = Counter::default();
    counter.add(&facts, classes, by.window(windows));
    Ok(counter)
}

/// What was counted, how, and in which windows.
#[derive(Clone, Copy)]
pub struct Choice {
    pub plan: ClassifyPlan,
    pub windows: Windows,
}

impl Choice {
    /// Reports what crosses the start or the end of the window.
    ///
    /// The end of the window never changes an outcome, because it is never before the last event;
    /// it only closes what is still open.
    pub fn edges(self, outcome: &Classification) -> String {
        let end_us = self.plan.by.window(self.windows).end_us;
        let is = |count: u64| if count == 1 { "is" } else { "are" };
        // The job of a task may have ended in a part that is not loaded, and the task with it.
        let left = |count: u64| match (self.plan.by, count) {
            (By::Job, count) => format!("{} open", is(count)),
            (By::Task, 1) => "without an end in the loaded parts is open".to_owned(),
            (By::Task, _) => "without an end in the loaded parts are open".to_owned(),
        };
        let of = |count: u64| digits::counted(count, self.plan.by.plural().trim_end_matches('s'));
        let end = format!("({} s)", digits::six_digits(micros_to_seconds(end_us)));
        let (begun, open) = (outcome.left_censored, outcome.censored);
        let before =
            format!("{} that began before the window (time 0) {} included", of(begun), is(begun));
        match (begun, open) {
            (0, 0) => String::new(),
            (0, _) => format!("{} {} at the end of the window {end}", of(open), left(open)),
            (_, 0) => before,
            _ => format!("{before}, {} {} at its end {end}", grouped(open), left(open)),
        }
    }
}

/// The shares of the answer.
pub const SHARES: [Share; 1] =
    [share("share", "count of the row", "total: all jobs, or tasks, of the table")];

/// The answer in all its forms.
pub fn answer<'a>(
    lake: &Lake,
    outcome: &Classification,
    choice: Choice,
    table: &'a RecordBatch,
) -> Result<Answer<'a>> {
    let kind = *choice.plan.by.kind();
    let plural = choice.plan.by.plural();
    let entry = lake.require(choice.plan.by.table())?;
    Ok(Answer {
        kind,
        table,
        json: json!(found(outcome, plural)),
        settings: settings(&choice.plan, json!({"windows": choice.windows})),
        charts: vec![
            (kind.name.to_owned(), chart(entry, outcome, choice)),
            (format!("{}-flow", kind.name), flow(outcome, choice)),
        ],
    })
}

fn flow(outcome: &Classification, choice: Choice) -> Chart {
    let edges = edges::ending(&choice.edges(outcome));
    let plural = choice.plan.by.plural();
    let other = match choice.plan.classes {
        Classes::Sequence => differing(outcome, plural),
        Classes::Terminal => String::new(),
    };
    Chart::Flow(flow::chart(&outcome.sequences, plural, &format!("{other}{edges}")))
}

/// Why the chart of paths and the table have different counts, with both; empty if all are the same.
fn differing(outcome: &Classification, plural: &str) -> String {
    let both = outcome.rows.iter().filter(|row| row.outcome != "other").filter_map(|row| {
        let here = flow::ending_as(&outcome.sequences, &row.outcome);
        let there = row.count;
        (here != there)
            .then(|| format!("{} {} here and {} there", row.outcome, grouped(here), grouped(there)))
    });
    let both: Vec<String> = both.collect();
    if both.is_empty() {
        return String::new();
    }
    format!(
        " The bars and the table count by the exact sequence of events, and {plural} with any other \
        sequence are \"other\" there: {}.",
        both.join("; ")
    )
}

pub(crate) fn found(outcome: &Classification, of: &'static str) -> ClassifyAnswer {
    let censoring = Censoring {
        of,
        left_censored: outcome.left_censored,
        censored: Some(outcome.censored),
        ..Censoring::default()
    };
    ClassifyAnswer {
        rows: outcome.rows.clone(),
        total: outcome.total,
        sequences: outcome.sequences.clone(),
        censoring,
        terms: Terms::of(&SHARES),
        reasons: None,
    }
}

fn sentence(of: &Envelope) -> Option<String> {
    let answer: &ClassifyAnswer = of.found()?;
    Some(answer.sentence(Ends::of(answer.finished(), &of.inputs)))
}

/// The table of outcomes; an outcome with many sequences has no value in `sequence`.
pub fn table_of(rows: &[OutcomeRow]) -> RecordBatch {
    Frame::default()
        .maybe_text("sequence", rows.iter().map(|row| row.sequence.as_deref()))
        .text("outcome", rows.iter().map(|row| row.outcome.as_str()))
        .count("count", rows.iter().map(|row| row.count))
        .float("share", rows.iter().map(|row| Some(row.share)))
        .batch()
}

/// The bars of an outcome: one, or one for each large part of `other`.
fn bars_of(outcome: &Classification, row: &OutcomeRow) -> Vec<Bar> {
    if row.outcome == "other" && 0 < row.count {
        let parts = other::main_parts(&outcome.sequences).into_iter();
        let bar = |part: other::Part| {
            bar(format!("other: {}", part.words), &row.outcome, part.count, part.share)
        };
        return parts.map(bar).collect();
    }
    let label = match &row.sequence {
        Some(sequence) => format!("{} ({sequence})", row.outcome),
        None => row.outcome.clone(),
    };
    vec![bar(label, &row.outcome, row.count, row.share)]
}

pub(crate) fn chart(entry: &TableEntry, outcome: &Classification, choice: Choice) -> Chart {
    let ClassifyPlan { by, classes, .. } = choice.plan;
    let bars: Vec<Bar> = outcome.rows.iter().flat_map(|row| bars_of(outcome, row)).collect();
    let how = match classes {
        Classes::Sequence => {
            "by their exact sequence of events: 014 is SUBMIT, SCHEDULE and FINISH, 013 ends with a \
            FAIL, 015 with a KILL, and 01 still runs; any other sequence counts as \"other\""
        }
        Classes::Terminal => "by their last terminal event",
    };
    Chart::Bars(BarChart {
        title: format!("What became of {} {}", grouped(outcome.total), by.plural()),
        caption: format!(
            "{}Outcomes of {} {how}.{} Counted from {} events.",
            sentences::largest_part(&bars, bars.iter().map(|bar| bar.value).sum()),
            by.plural(),
            edges::ending(&choice.edges(outcome)),
            grouped(entry.rows())
        ),
        value_axis: by.plural().to_owned(),
        bars,
    })
}
