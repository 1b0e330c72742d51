//! The answer of `describe`: distributions as tables and curves.
//!
//! In: a lake and a question. Out: a summary per outcome, the curves, and what is censored.

use std::collections::BTreeSet;

use arrow::record_batch::RecordBatch;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::answers::account::keyed;
use crate::answers::study::{Definitions, Open, Plan, Step, Verdict, Work, settings};
use crate::answers::words::{self, Section, Setting, Wrong};
use crate::answers::{edges, sentences};
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone, outcome_tone};
use crate::digits;
use crate::facts::query::Settings;
use crate::facts::tables::SqlEngine;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::forms::rows;
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::shares::{self, Share, share};
use crate::results::store::{self, Answer, Files};
use crate::schema::Table;
use crate::studies::censoring::Censoring;
use crate::studies::counted::{Counted, Value};
use crate::studies::distributions::{
    Chance, Summary, Survival, chances, cumulative, kaplan_meier, summarize,
};
use crate::studies::ledger::{GroupBy, UNMATCHED};
use crate::studies::of_facts;
use crate::studies::outcomes::Classes;
use crate::studies::samples::{Group, OutcomeOf, Samples, Split, Waits, What, collect};

/// The shares that are given: of a survival curve, of chances, of distributions.
pub const SHARES: [Share; 3] = [
    share("share", "jobs that last longer than time_s (Kaplan-Meier)", "jobs that were scheduled"),
    share(
        "chance",
        "those of them whose job finished",
        "tasks with at least so many events, of jobs that have ended",
    ),
    share("share_at_or_below", "values at or below value", "values of the row: count"),
];

/// What is described, and how it is split.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DescribePlan {
    /// What is described
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub what: What,

    /// How outcomes are defined: sequence or terminal
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "CLASSES", default_value_t, conflicts_with = "by_own_end")
    )]
    #[serde(skip)]
    pub classes: Classes,

    /// Split by the end of each task, not of its job
    ///
    /// For --what events-per-task, waiting and attempts. The outcome of a task is its last terminal
    /// event, unless a SUBMIT or SCHEDULE follows it, as `classify --by task --classes terminal`
    /// does. A finished task of a killed job counts as finished.
    #[cfg_attr(feature = "cli", arg(long))]
    pub by_own_end: bool,

    /// Whether to include values cut off by the window's end
    ///
    /// A job that has not ended counts with its time up to the window's end, and is counted as
    /// censored. `exclude` leaves it out.
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub censored: Censored,

    /// Which waits are described, by how they ended
    ///
    /// For --what waiting.
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub waits: Waits,

    /// Split by priority, class or user
    ///
    /// Rows of all groups together come first, then each group with the outcomes that occur in
    /// it; the chart shows the largest groups. The priority of a job is the largest of its tasks;
    /// the priority of a task is the last one seen.
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEY", value_enum))]
    pub group_by: Option<GroupBy>,
}

impl Plan for DescribePlan {
    fn define(&mut self, definitions: &Definitions) {
        self.classes = definitions.classes;
    }

    /// One for each `what`.
    fn all(section: &Section) -> Result<Vec<Self>, Wrong> {
        let mut section = section.clone();
        let whats = match section.remove("what") {
            Some(Setting::Many(whats)) => whats,
            Some(single) => {
                section.insert("what".to_owned(), single);
                return Ok(vec![words::read(&section)?]);
            }
            None => return Ok(vec![words::read(&section)?]),
        };
        let each = whats.into_iter().map(|what| {
            section.insert("what".to_owned(), Setting::One(what));
            words::read(&section)
        });
        each.collect()
    }
}

/// Tables of what is described of tasks.
const TABLES: &[Table] = &[Table::JobEvents, Table::TaskEvents];

/// The results: one for each [`What`], in the order of a page.
pub static KINDS: [Kind<'static>; 7] = [
    Kind {
        tables: &[Table::JobEvents],
        remarks: &["status ", "wait "],
        sentence: Some(sentences::DURATIONS),
        figure: Some("job-durations"),
        ..Kind::called("job-durations", "How long jobs last (s)")
    },
    Kind {
        tables: &[Table::JobEvents],
        remarks: &["status ", "wait "],
        ..Kind::called("job-survival", "How many jobs last longer")
    },
    Kind { tables: TABLES, ..Kind::called("tasks-per-job", "Tasks of each job") },
    Kind { tables: TABLES, ..Kind::called("events-per-task", "Events of each task") },
    Kind {
        tables: TABLES,
        remarks: &["wait "],
        ..Kind::called("waiting", "How long tasks wait for their first attempt (s)")
    },
    Kind { tables: TABLES, ..Kind::called("attempts", "Attempts of each task") },
    Kind {
        tables: TABLES,
        ..Kind::called(
            "finish-given-events",
            "The chance to finish, given the number of events so far",
        )
    },
];

/// The result of what is described.
pub fn kind_of(what: What) -> &'static Kind<'static> {
    KINDS.iter().find(|kind| kind.name == what.name()).expect("there is a kind for each")
}

/// The step of an analysis.
pub(crate) const STEP: Step =
    Step::of::<DescribePlan>(step, &["classes", "window-end", "open-attempts"])
        .settled(settle, &[]);

fn settle(open: &mut Open<'_>) {
    let whats = KINDS.iter().map(|kind| kind.name.to_owned()).collect();
    open.default_to("what", Setting::Many(whats));
}

fn step(work: &Work<'_>) -> Result<Option<Verdict>> {
    for plan in work.plans::<DescribePlan>()? {
        let mut missing = false;
        for table in plan.what.tables(plan.group_by) {
            missing = missing || work.is_missing(table, *kind_of(plan.what))?;
        }
        if !missing {
            step_one(work, &plan)?;
        }
    }
    Ok(None)
}

fn step_one(work: &Work<'_>, plan: &DescribePlan) -> Result<()> {
    let bar = work.screen.follow(work.study.name, "rows");
    let described = describe(work.lake, work.windows, question(plan)?)?;
    drop(bar);
    let answer = described.answer(work.windows);
    let mut files = work.files(answer.kind.name)?;
    described.put_details(&mut files)?;
    work.publish(&answer, files)?;
    if plan.what == What::JobDurations {
        work.show("job durations (s)", &answer)?;
    }
    Ok(())
}

/// The title of a picture of it.
pub(crate) const fn title(what: What) -> &'static str {
    match what {
        What::JobDurations => "How long jobs last",
        What::TasksPerJob => "How many tasks jobs have",
        What::EventsPerTask => "How many events tasks have",
        What::Waiting => "How long tasks wait for their first attempt",
        What::Attempts => "How many attempts tasks take",
        What::JobSurvival => "How many jobs last longer",
        What::FinishGivenEvents => "The chance that a task's job still finishes",
    }
}

/// Whether values that the window's end cut off are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Censored {
    /// In, up to the window's end, and counted
    #[default]
    Include,
    /// Left out
    Exclude,
}

/// What is asked of a lake.
#[derive(Clone, Copy)]
pub struct Question {
    pub what: What,
    pub classes: Classes,
    pub outcome_of: OutcomeOf,
    pub censored: Censored,
    pub waits: Waits,
    pub group_by: Option<GroupBy>,
}

impl Question {
    /// All jobs or tasks, those cut off by the window's end in, outcomes told by sequence.
    pub(crate) fn plain(what: What) -> Self {
        let (classes, censored) = (Classes::Sequence, Censored::Include);
        let outcome_of = OutcomeOf::Job;
        Self { what, classes, outcome_of, censored, waits: Waits::All, group_by: None }
    }

    /// The same, split by the end of each task.
    pub(crate) fn by_own_end(self) -> Self {
        Self { classes: Classes::Terminal, outcome_of: OutcomeOf::Task, ..self }
    }

    fn split(self) -> Split {
        Split { classes: self.classes, of: self.outcome_of, group_by: self.group_by }
    }

    /// The name of an outcome by its position; unmatched after the last.
    fn outcome_name(self, outcome: usize) -> &'static str {
        self.classes.outcomes().get(outcome).copied().unwrap_or(UNMATCHED)
    }
}

/// A description in all its forms.
pub struct Described {
    pub question: Question,
    pub censoring: Censoring,
    /// The values of every row of the answer; none where a row is not a distribution.
    pub parts: Vec<(Part, Counted)>,
    pub table: RecordBatch,
    /// The curves that the chart shows, where the table has none of them.
    pub curves: Option<RecordBatch>,
    pub chart: Chart,
    /// What the log does not say, where nothing of it is known.
    pub assumed: Option<String>,
}

impl Described {
    /// The further table: the share of values at or below each amount.
    pub fn put_details(&self, files: &mut Files) -> Result<()> {
        let stem = format!("{}-curves", self.question.what.name());
        self.curves.as_ref().map_or(Ok(()), |curves| files.table(&stem, curves))
    }

    /// The values of an outcome, or of `all`, in all groups together.
    pub(crate) fn values(&self, outcome: &str) -> Option<&Counted> {
        let own = |part: &Part| part.outcome == outcome && part.group.is_none();
        self.parts.iter().find(|(part, _)| own(part)).map(|(_, values)| values)
    }

    /// Their summary.
    pub(crate) fn summary(&self, outcome: &str) -> Option<Summary> {
        let values = self.values(outcome)?;
        Some(summarize(outcome, values, self.question.what.per_unit()))
    }

    pub fn answer(&self, windows: Windows) -> Answer<'_> {
        let Question { what, classes, outcome_of, censored, waits, group_by } = self.question;
        let by_own_end = outcome_of == OutcomeOf::Task;
        let plan = DescribePlan { what, classes, by_own_end, censored, waits, group_by };
        let kind = *kind_of(what);
        Answer {
            kind,
            table: &self.table,
            json: self.json(),
            settings: settings(&plan, json!({"classes": classes, "windows": windows})),
            charts: if self.is_constant() {
                Vec::new()
            } else {
                vec![(kind.name.to_owned(), self.chart.clone())]
            },
        }
    }

    /// Whether all values are one and the same, such as one task in every job: the table says it.
    fn is_constant(&self) -> bool {
        let rows = rows(&self.table);
        let mut known = rows.iter().filter(|row| 1 < row["count"].as_u64().unwrap_or(0)).peekable();
        known.peek().is_some() && known.all(|row| !row["min"].is_null() && row["min"] == row["max"])
    }

    fn json(&self) -> serde_json::Value {
        let what = self.question.what;
        let mut json = json!({"what": what, "unit": what.unit(), "quantiles": "R-7", "censoring": self.censoring, "rows": rows(&self.table)});
        let given = match what {
            What::JobSurvival => &SHARES[..1],
            What::FinishGivenEvents => &SHARES[1..2],
            _ => &SHARES[2..],
        };
        shares::put(&mut json, given);
        let is_empty = rows(&self.table).iter().all(|row| row["count"] == 0);
        if let Some(assumed) = &self.assumed {
            json[store::NOTHING] = assumed.as_str().into();
        } else if is_empty {
            json[store::NOTHING] = match what {
                What::FinishGivenEvents => {
                    "No task is of a job that is known to have ended.".into()
                }
                _ => format!("There are no {} to describe.", what.of()).into(),
            };
        }
        json
    }
}

/// Describes a lake.
pub fn describe(lake: &Lake, windows: Windows, question: Question) -> Result<Described> {
    described(lake, windows, question, None)
}

/// Describes a lake, with the chosen engine.
pub fn described(
    lake: &Lake,
    windows: Windows,
    question: Question,
    engine: Option<&SqlEngine>,
) -> Result<Described> {
    let (what, split) = (question.what, question.split());
    let mut samples = if let Some(engine) = engine {
        let queries = of_facts::queries_of_samples(lake, what, split);
        let settings = Settings { windows, thresholds: Vec::new() };
        let facts = engine.facts(lake, &queries, &settings)?;
        of_facts::samples(&facts, windows, what, split)
    } else {
        collect(lake, windows, what, split)?
    };
    if what == What::FinishGivenEvents {
        let assumed = assumed_ends(lake, samples.of(|key| key.1 == 0).count(|_| true));
        return Ok(Described { assumed, ..finish_given_events(question, &samples) });
    }
    if what == What::Waiting {
        samples.keep_waits(question.waits);
    }
    let censored_out = if question.censored == Censored::Exclude && what != What::JobSurvival {
        samples.without_censored()
    } else {
        0
    };
    let mut censoring = samples.censoring(what);
    censoring.censored_out = censored_out;
    let parts = parts_of(&samples, question);
    let lines = lines(&parts, question);
    let chart = chart(question, &censoring, &parts[0].1, lines);
    let (table, curves) = if what == What::JobSurvival {
        (survival(&parts, question.group_by), None)
    } else {
        let summaries: Vec<Summary> = parts
            .iter()
            .map(|(part, values)| Summary {
                group: question.group_by.and(part.group.clone()),
                ended_waiting: (what == What::Waiting).then(|| values.count(Value::is_unstarted)),
                ..summarize(part.outcome, values, what.per_unit())
            })
            .collect();
        (summary_table(&summaries, question), Some(curves_table(&parts, question)))
    };
    let assumed = match what {
        What::Waiting => assumed_waits(lake, parts[0].1.count(|_| true)),
        _ => None,
    };
    Ok(Described { question, censoring, parts, table, curves, chart, assumed })
}

/// What is said where the log tells no wait and all are taken to be 0.
pub(crate) fn assumed_waits(lake: &Lake, count: u64) -> Option<String> {
    is_assumed(lake, "wait unknown", count).then(|| {
        format!(
            "No wait is known: the log has none for any of its {}, which are assumed to start \
            when they are submitted.",
            digits::counted(count, "job")
        )
    })
}

/// What is said where the log tells of no job how it ended, and those that ran count as finished.
pub(crate) fn assumed_ends(lake: &Lake, finished: u64) -> Option<String> {
    is_assumed(lake, "status unknown", finished).then(|| {
        format!(
            "Whether a job finished is unknown: the log has no status for any of the {} that ran, which count as finished.",
            digits::counted(finished, "job")
        )
    })
}

/// Whether an assumption, known by its first words, was made as often as there are values.
pub(crate) fn is_assumed(lake: &Lake, wording: &str, count: u64) -> bool {
    let remarks = lake.remarks(Table::TaskEvents).into_iter();
    let assumed: u64 =
        remarks.filter(|(said, _)| said.starts_with(wording)).map(|(_, count)| count).sum();
    0 < count && count <= assumed
}

/// Whose values a row is made of.
pub struct Part {
    /// The group; none for all groups together.
    group: Option<String>,
    /// The outcome of the jobs, or `all`.
    outcome: &'static str,
}

/// Every row of the answer: all values and every outcome; then, where values are split, each
/// group with the outcomes that occur in it.
pub(crate) fn parts_of(samples: &Samples, question: Question) -> Vec<(Part, Counted)> {
    let outcome_count = question.classes.outcomes().len();
    let mut parts = vec![(Part { group: None, outcome: "all" }, samples.of(|_| true))];
    // Without `job_events` no outcome is known: a row of 0 jobs that finished would be made up.
    let mut outcomes = samples.values.keys().map(|key| key.1).peekable();
    let is_unknown = outcomes.peek().is_some() && outcomes.all(|outcome| outcome == outcome_count);
    let first = if is_unknown { outcome_count } else { 0 };
    for outcome in first..=outcome_count {
        let values = samples.of_outcome(outcome);
        if outcome < outcome_count || !values.is_empty() {
            parts.push((Part { group: None, outcome: question.outcome_name(outcome) }, values));
        }
    }
    if question.group_by.is_none() {
        return parts;
    }
    let groups: BTreeSet<&Group> = samples.values.keys().map(|key| &key.0).collect();
    for group in groups {
        let name = || Some(group.to_string());
        parts.push((Part { group: name(), outcome: "all" }, samples.of(|key| key.0 == *group)));
        let own = samples.values.iter().filter(|(key, _)| key.0 == *group);
        parts.extend(own.map(|((_, outcome), values)| {
            let outcome = question.outcome_name(*outcome);
            (Part { group: name(), outcome }, values.clone())
        }));
    }
    parts
}

/// A curve per outcome, or per group where values are split: those with most values.
pub(crate) fn lines(parts: &[(Part, Counted)], question: Question) -> Vec<Line> {
    let what = question.what;
    if question.group_by.is_none() {
        let is_shown = |outcome: &str| {
            // Running jobs all last to the window's end: their durations are not a distribution.
            outcome != UNMATCHED && !(outcome == "running" && what == What::JobDurations)
        };
        let shown =
            parts.iter().filter(|(part, values)| !values.is_empty() && is_shown(part.outcome));
        return shown
            .map(|(part, values)| line(part.outcome, values, what, outcome_tone(part.outcome)))
            .collect();
    }
    let mut groups: Vec<&(Part, Counted)> = parts[1..]
        .iter()
        .filter(|(part, _)| part.outcome == "all" && part.group.is_some())
        .collect();
    groups.sort_by_key(|(_, values)| std::cmp::Reverse(values.count(|_| true)));
    groups.truncate(Tone::SERIES.len());
    let named = groups.iter().zip(Tone::SERIES).map(|((part, values), tone)| {
        line(part.group.as_deref().unwrap_or_default(), values, what, tone)
    });
    named.collect()
}

pub(crate) fn line(name: &str, values: &Counted, what: What, tone: Tone) -> Line {
    let (points, band) = if what == What::JobSurvival {
        let curve = kaplan_meier(values);
        (
            curve.iter().map(|point| (point.time_s, point.share)).collect(),
            curve.iter().map(|point| (point.time_s, point.share_low, point.share_high)).collect(),
        )
    } else {
        (cumulative(values, what.per_unit()), Vec::new())
    };
    Line { name: shortened(name), points, band, tone, stroke: Stroke::Steps }
}

/// A name that leaves room in a legend; users are hashes of 44 letters.
pub(crate) fn shortened(name: &str) -> String {
    const LONGEST: usize = 16;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

pub(crate) fn finish_given_events(question: Question, samples: &Samples) -> Described {
    let Question { what, classes, group_by, .. } = question;
    // A job that still runs is neither; an unmatched one is unknown.
    let is_settled = |outcome: usize| {
        !matches!(question.outcome_name(outcome), "running" | "pending" | "unknown" | UNMATCHED)
    };
    let groups: BTreeSet<&Group> =
        samples.values.keys().filter(|key| is_settled(key.1)).map(|key| &key.0).collect();
    let mut rows: Vec<Chance> = Vec::new();
    let mut sizes: Vec<(u64, String)> = Vec::new();
    for group in groups {
        let finished = samples.of(|key| key.0 == *group && key.1 == 0);
        let others = samples.of(|key| key.0 == *group && 0 < key.1 && is_settled(key.1));
        let own = chances(&group.to_string(), &finished, &others);
        sizes.push((own.first().map_or(0, |row| row.tasks), group.to_string()));
        rows.extend(own);
    }
    let settled = Samples {
        values: samples
            .values
            .iter()
            .filter(|(key, _)| is_settled(key.1))
            .map(|(key, values)| (key.clone(), values.clone()))
            .collect(),
        left_out: 0,
    };
    let censoring = settled.censoring(what);
    sizes.sort_by_key(|size| std::cmp::Reverse(size.0));
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let lines = sizes
        .iter()
        .zip(Tone::SERIES)
        .map(|((_, group), tone)| {
            let own = || rows.iter().filter(|row| row.group == *group);
            Line {
                name: shortened(group),
                points: own().map(|row| (row.events as f64, row.chance)).collect(),
                band: own()
                    .map(|row| (row.events as f64, row.chance_low, row.chance_high))
                    .collect(),
                tone,
                stroke: Stroke::Straight,
            }
        })
        .collect();
    let chart = Chart::Lines(LineChart {
        title: title(what).to_owned(),
        caption: format!(
            "Share of the tasks with at least so many events, of jobs that have ended, whose job finished (by {classes}), with Wilson's 95 % band{}; tasks of jobs that still run at the window's end are left out.{}",
            by_group(group_by),
            edges::ending(&edges::sentence(&censoring)),
        ),
        x_axis: "events of the task so far".to_owned(),
        y_axis: "chance to finish".to_owned(),
        x_scale: Scale::Log,
        lines,
    });
    let mut frame = Frame::default();
    if let Some(group_by) = group_by {
        frame = keyed(frame, group_by, rows.iter().map(|row| Some(row.group.as_str())));
    }
    let table = chances_table(frame, &rows);
    let question = Question { censored: Censored::Exclude, ..question };
    let (parts, curves) = (Vec::new(), None);
    Described { question, censoring, parts, table, curves, chart, assumed: None }
}

/// The chance to finish: a row for each number of events.
pub(crate) fn chances_table(keyed: Frame, rows: &[Chance]) -> RecordBatch {
    keyed
        .count("events", rows.iter().map(|row| row.events))
        .count("tasks", rows.iter().map(|row| row.tasks))
        .count("finished", rows.iter().map(|row| row.finished))
        .float("chance", rows.iter().map(|row| Some(row.chance)))
        .float("chance_low", rows.iter().map(|row| Some(row.chance_low)))
        .float("chance_high", rows.iter().map(|row| Some(row.chance_high)))
        .count("left_censored", rows.iter().map(|row| row.left_censored))
        .batch()
}

pub(crate) fn by_group(group_by: Option<GroupBy>) -> String {
    group_by.map_or_else(String::new, |group| {
        let most = Tone::SERIES.len();
        format!(", by {} (the largest {most} at most)", group.name().replace('_', " "))
    })
}

/// What reaches over the edges of the window. A survival curve closes nothing there.
pub fn edges_of(what: What, censoring: &Censoring) -> String {
    let said = edges::sentence(censoring);
    if what == What::JobSurvival { said.replace("closed there", "censored there") } else { said }
}

pub(crate) fn chart(
    question: Question,
    censoring: &Censoring,
    all: &Counted,
    lines: Vec<Line>,
) -> Chart {
    let Question { what, classes, outcome_of, group_by, .. } = question;
    let how = if what == What::JobSurvival {
        " Kaplan-Meier with Greenwood's 95 % band, unended jobs censored."
    } else {
        ""
    };
    let spread = match (group_by, outcome_of) {
        (None, OutcomeOf::Job) => format!(" by outcome of the job (told by {classes})"),
        (None, OutcomeOf::Task) => " by the last event of the task itself".to_owned(),
        (Some(_), _) => by_group(group_by),
    };
    Chart::Lines(LineChart {
        title: title(what).to_owned(),
        caption: format!(
            "{} {}{spread}.{how}{}",
            digits::grouped(all.count(|_| true)),
            what.of(),
            edges::ending(&edges_of(what, censoring))
        ),
        x_axis: match what.name().replace('-', " ") {
            name if name.split(' ').next() == Some(what.unit()) => name,
            name => format!("{name} ({})", what.unit()),
        },
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

/// Adds what values are split by, if by anything; rows of all groups together come first and say so.
pub(crate) fn split_by<'a>(
    frame: Frame,
    group_by: Option<GroupBy>,
    groups: impl Iterator<Item = Option<&'a str>> + Clone,
) -> Frame {
    let Some(group_by) = group_by else { return frame };
    keyed(frame, group_by, groups.clone())
        .flag("is_total", groups.map(|group| Some(group.is_none())))
        .about("Whether the row is of all groups together")
}

pub(crate) fn summary_table(rows: &[Summary], question: Question) -> RecordBatch {
    let column =
        |value: fn(&Summary) -> Option<f64>| rows.iter().map(value).collect::<Vec<Option<f64>>>();
    let unit = question.what.unit();
    let groups = rows.iter().map(|row| row.group.as_deref());
    let mut frame = split_by(Frame::default(), question.group_by, groups)
        .text("outcome", rows.iter().map(|row| row.outcome.as_str()))
        .count("count", rows.iter().map(|row| row.count))
        .about("Values that are described")
        .float("mean", column(|row| row.mean))
        .unit(unit)
        .float("variance", column(|row| row.variance))
        .unit(&format!("{unit}^2"))
        .float("min", column(|row| row.min))
        .unit(unit)
        .float("p25", column(|row| row.p25))
        .unit(unit)
        .float("median", column(|row| row.median))
        .unit(unit)
        .float("p75", column(|row| row.p75))
        .unit(unit)
        .float("p90", column(|row| row.p90))
        .unit(unit)
        .float("p99", column(|row| row.p99))
        .unit(unit)
        .float("max", column(|row| row.max))
        .unit(unit)
        .text("unit", rows.iter().map(|_| unit))
        .about("The unit of the values; that of the variance is its square")
        .text("variance_unit", rows.iter().map(|_| format!("{unit}^2")))
        .about("The unit of the variance")
        .count("censored", rows.iter().map(|row| row.censored))
        .maybe_text(
            "at_least",
            rows.iter().map(|row| Some(row.at_least.as_str()).filter(|names| !names.is_empty())),
        );
    if rows.iter().any(|row| row.ended_waiting.is_some()) {
        frame = frame.maybe_count("ended_waiting", rows.iter().map(|row| row.ended_waiting));
    }
    frame
        .count("left_censored", rows.iter().map(|row| row.left_censored))
        .view(&[
            "priority",
            "scheduling_class",
            "user",
            "outcome",
            "count",
            "mean",
            "median",
            "p90",
            "p99",
            "max",
            "censored*",
            "at_least",
            "ended_waiting*",
        ])
        .batch()
}

/// The share of values at or below each amount, of every row of the answer; thinned to a few
/// hundred points each, as in the chart.
pub(crate) fn curves_table(parts: &[(Part, Counted)], question: Question) -> RecordBatch {
    let what = question.what;
    let points: Vec<(&Part, (f64, f64))> = parts
        .iter()
        .flat_map(|(part, values)| {
            cumulative(values, what.per_unit()).into_iter().map(move |point| (part, point))
        })
        .collect();
    let rows = || points.iter();
    split_by(Frame::default(), question.group_by, rows().map(|row| row.0.group.as_deref()))
        .text("outcome", rows().map(|row| row.0.outcome))
        .float("value", rows().map(|row| Some(row.1.0)))
        .unit(what.unit())
        .text("unit", rows().map(|_| what.unit()))
        .about("The unit of the values")
        .float("share_at_or_below", rows().map(|row| Some(row.1.1)))
        .batch()
}

/// Survival curves as a table.
pub(crate) fn survival(parts: &[(Part, Counted)], group_by: Option<GroupBy>) -> RecordBatch {
    let rows: Vec<(&Part, Survival)> = parts
        .iter()
        .filter(|(part, _)| part.outcome != UNMATCHED)
        .flat_map(|(part, values)| kaplan_meier(values).into_iter().map(move |at| (part, at)))
        .collect();
    let column = |value: fn(&Survival) -> f64| {
        rows.iter().map(|(_, point)| Some(value(point))).collect::<Vec<_>>()
    };
    split_by(Frame::default(), group_by, rows.iter().map(|row| row.0.group.as_deref()))
        .text("outcome", rows.iter().map(|(part, _)| part.outcome))
        .float("time_s", column(|point| point.time_s))
        .about("Time since the first attempt of the job began")
        .float("share", column(|point| point.share))
        .about("Share of the jobs that lasts longer, by Kaplan and Meier")
        .float("share_low", column(|point| point.share_low))
        .float("share_high", column(|point| point.share_high))
        .count("at_risk", rows.iter().map(|(_, point)| point.at_risk))
        .batch()
}

/// What the flags ask.
///
/// # Errors
/// Values that are not of tasks alone cannot be split by the tasks' own ends.
pub fn question(plan: &DescribePlan) -> Result<Question, Usage> {
    let &DescribePlan { what, classes, censored, waits, group_by, .. } = plan;
    let asked = Question { classes, censored, waits, group_by, ..Question::plain(what) };
    match (plan.by_own_end, what.is_of_tasks_alone()) {
        (false, _) => Ok(asked),
        (true, true) => Ok(asked.by_own_end()),
        (true, false) => Err(Usage(format!(
            "--by-own-end splits what each task has by itself, and `{}` depends on the job: give \
            --what events-per-task, waiting or attempts",
            what.name()
        ))),
    }
}
