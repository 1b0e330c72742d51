//! The description of a question's samples, and its forms.

use std::collections::BTreeSet;

use arrow::record_batch::RecordBatch;
use serde_json::json;

use super::answer::{DescribeAnswer, DescribedRow};
use super::beside::{StartedWaits, Tick, started, ticks};
use super::chances::CHANCE_OF;
use super::charts::{
    are_counts, by_group, chart, count_bars, from_first_to_last, lines, numbers_at_risk, shortened,
    title, trend,
};
use super::parts::{Part, ends_known, parts_of};
use super::plan::{Censored, DescribePlan, Question};
use super::tables::{chances_table, curves_table, summary_table, survival};
use super::{SHARES, edges_of, kind_of};
use crate::answers::account::keyed;
use crate::answers::assumed::{WaitsOf, assumed_ends, assumed_waits};
use crate::answers::edges;
use crate::answers::grouped::check_group;
use crate::answers::study::settings;
use crate::charts::{AtRisk, BarChart, Chart, Line, LineChart, Scale, Stroke, SurvivalChart, Tone};
use crate::facts::query::Settings;
use crate::facts::tables::SqlEngine;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::frame::Frame;
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::results::store::{Answer, Files};
use crate::studies::censoring::Censoring;
use crate::studies::counted::{Counted, Value};
use crate::studies::distributions::{Chance, Summary, chances, summarize};
use crate::studies::ledger::UNMATCHED;
use crate::studies::of_facts;
use crate::studies::samples::{Group, OutcomeOf, Samples, Split, What, collect, is_overrun};

/// A description in all its forms.
pub struct Described {
    pub question: Question,
    pub censoring: Censoring,
    /// The values of every row of the answer; empty for chances.
    pub parts: Vec<(Part, Counted)>,
    pub table: RecordBatch,
    /// The points of the curves in the chart; `None` if the table already contains them.
    pub curves: Option<RecordBatch>,
    /// Curves.
    pub chart: Chart,
    /// Bars that replace the curves if most values are small counts.
    pub bars: Option<BarChart>,
    /// Shares of values at round amounts.
    pub ticks: Vec<Tick>,
    /// The waits of tasks that started.
    pub started: Option<StartedWaits>,
    /// The note if the log records no wait, or no status, for any job.
    pub assumed: Option<String>,
}

impl Described {
    /// Stores the further table, if there is one: the share of values at or below each amount.
    pub fn put_details(&self, files: &mut Files) -> Result<()> {
        let stem = format!("{}-curves", self.question.what.name());
        self.curves.as_ref().map_or(Ok(()), |curves| files.table(&stem, curves))
    }

    /// The values of an outcome, or of `all`, in all groups together.
    pub(crate) fn values(&self, outcome: &str) -> Option<&Counted> {
        let own = |part: &Part| part.outcome == outcome && part.group.is_none();
        self.parts.iter().find(|(part, _)| own(part)).map(|(_, values)| values)
    }

    /// The values of an outcome, or of `all`, in one group.
    pub(crate) fn values_in(&self, group: &str, outcome: &str) -> Option<&Counted> {
        let own = |part: &Part| part.outcome == outcome && part.group.as_deref() == Some(group);
        self.parts.iter().find(|(part, _)| own(part)).map(|(_, values)| values)
    }

    /// The summary of an outcome, or of `all`, in all groups together.
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
            json: json!(self.found()),
            settings: settings(&plan, json!({"classes": classes, "windows": windows})),
            charts: if self.is_constant() || what == What::Waiting && self.assumed.is_some() {
                Vec::new()
            } else {
                let bars = self.bars.clone().map(Chart::Bars);
                vec![(kind.name.to_owned(), bars.unwrap_or_else(|| self.chart.clone()))]
            },
        }
    }

    /// Whether a chart would show no more than the sentence or the table. This is so if each row
    /// has a single value, such as one task in every job, or if all counts differ by at most 1,
    /// such as 2 or 3 events. Rows with fewer than two values do not matter.
    pub(super) fn is_constant(&self) -> bool {
        let found = self.found();
        if self.question.what == What::FinishGivenEvents {
            return found.has_few_counts();
        }
        let known = found.rows.iter().filter(|row| 1 < row.count.unwrap_or(0));
        let bound = |bound: Option<f64>| bound.unwrap_or(f64::NAN);
        let known: Vec<[f64; 2]> = known.map(|row| [bound(row.min), bound(row.max)]).collect();
        // A missing bound is NaN, which makes the comparison false.
        let are_same = known.iter().all(|row| (row[1] - row[0]).abs() < f64::MIN_POSITIVE);
        !known.is_empty() && (are_same || found.has_few_counts())
    }

    pub(super) fn found(&self) -> DescribeAnswer {
        let what = self.question.what;
        let rows = TableRows::<DescribedRow>::of(&self.table);
        let given = match what {
            What::JobSurvival => &SHARES[..1],
            What::FinishGivenEvents => &SHARES[1..2],
            _ => &SHARES[2..],
        };
        // Survival curves and chances have no column `count`: they are empty if they have no rows.
        let is_empty = rows.iter().all(|row| row.count == Some(0));
        let nothing = || match what {
            What::Estimates => "The time that an attempt requested is not known.".to_owned(),
            What::FinishGivenEvents => {
                "No task belongs to a job that is known to have ended.".to_owned()
            }
            _ => format!("There are no {} to describe.", what.of()),
        };
        DescribeAnswer {
            what,
            unit: what.unit().into(),
            quantiles: "R-7".into(),
            censoring: self.censoring,
            terms: Terms::of(given),
            ticks: self.ticks.clone(),
            started: self.started.clone(),
            nothing: self.assumed.clone().or_else(|| is_empty.then(nothing)),
            rows,
        }
    }
}

/// Describes a lake, without a query engine.
///
/// # Errors
/// The same errors as for `described`.
pub fn describe(lake: &Lake, windows: Windows, question: Question) -> Result<Described> {
    described(lake, windows, question, None)
}

/// Describes a lake, with a query engine if one was chosen.
///
/// # Errors
/// The lake does not record the group, no query exists for the question, the engine fails, or a
/// table cannot be read.
pub fn described(
    lake: &Lake,
    windows: Windows,
    question: Question,
    engine: Option<&SqlEngine>,
) -> Result<Described> {
    let Some(engine) = engine else {
        let samples = samples_of(lake, windows, &[question])?.pop().unwrap_or_default();
        return Ok(of_samples(lake, question, samples));
    };
    question.group_by.map_or(Ok(()), |group| check_group(lake, group))?;
    let (what, split) = (question.what, question.split());
    if what == What::Estimates {
        let no_query = "no query has requested times: leave out --engine";
        return Err(Usage(no_query.to_owned()).into());
    }
    let queries = of_facts::queries_of_samples(lake, what, split);
    let settings = Settings { windows, thresholds: Vec::new() };
    let facts = engine.facts(lake, &queries, &settings)?;
    Ok(of_samples(lake, question, of_facts::samples(&facts, windows, what, split)))
}

/// Collects the samples of several questions in one pass over a lake.
///
/// # Errors
/// The lake does not record a group, or a table cannot be read.
pub(super) fn samples_of(
    lake: &Lake,
    windows: Windows,
    questions: &[Question],
) -> Result<Vec<Samples>> {
    Ok(collect(lake, windows, &asked_of(lake, questions)?)?)
}

/// The requests of several questions to a lake.
///
/// # Errors
/// The lake does not record a group.
pub(crate) fn asked_of(lake: &Lake, questions: &[Question]) -> Result<Vec<(What, Split)>> {
    let groups = questions.iter().filter_map(|question| question.group_by);
    groups.into_iter().try_for_each(|group| check_group(lake, group))?;
    Ok(questions.iter().map(|asked| (asked.what, asked.split())).collect())
}

/// Describes the samples of a question.
pub(super) fn of_samples(lake: &Lake, question: Question, mut samples: Samples) -> Described {
    let what = question.what;
    if what == What::FinishGivenEvents {
        let assumed = assumed_ends(lake, samples.of(|key| key.1 == 0).count(|_| true));
        return Described { assumed, ..finish_given_events(question, &samples) };
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
    let assumed = unknown_waits(lake, what, &mut samples);
    let parts = parts_of(&samples, question);
    let ends_known = ends_known(lake, &parts, question);
    let drawn: Vec<&(Part, Counted)> =
        parts.iter().filter(|(part, _)| ends_known || part.outcome != "finished").collect();
    // A single curve needs a name that says what it describes.
    let all = |name: &str| match name {
        "all" if !ends_known => format!("all {}", what.of()),
        name => name.to_owned(),
    };
    let bars = are_counts(question).then(|| {
        let edges = edges::ending(&edges_of(what, &censoring));
        count_bars(&drawn, question, &edges)
    });
    let lines = lines(&drawn, question);
    let lines = lines.into_iter().map(|line| Line { name: all(&line.name), ..line }).collect();
    let plot = chart((question, ends_known), &censoring, &drawn, lines);
    let chart = match what {
        What::JobSurvival => {
            let at_risk = numbers_at_risk(&drawn, question).into_iter();
            let at_risk = at_risk.map(|row| AtRisk { name: all(&row.name), ..row }).collect();
            Chart::Survival(SurvivalChart { plot, at_risk })
        }
        _ => Chart::Lines(plot),
    };
    let (table, curves) = if what == What::JobSurvival {
        (survival(&parts, question.group_by), None)
    } else {
        let summaries: Vec<Summary> = parts
            .iter()
            .map(|(part, values)| Summary {
                group: question.group_by.and(part.group.clone()),
                ended_waiting: (what == What::Waiting).then(|| values.count(Value::is_unstarted)),
                overruns: (what == What::Estimates).then(|| values.count(is_overrun)),
                ..summarize(part.outcome, values, what.per_unit())
            })
            .collect();
        (summary_table(&summaries, question), Some(curves_table(&parts, question)))
    };
    let (ticks, started) = (ticks(&parts, question), started(&parts[0].1, question));
    Described { question, censoring, parts, table, curves, chart, bars, ticks, started, assumed }
}

/// Drops the waits that the log does not record, but only if it records no wait of any task that
/// started. Returns the note that says so.
fn unknown_waits(lake: &Lake, what: What, samples: &mut Samples) -> Option<String> {
    if what != What::Waiting {
        return None;
    }
    let has_started = |value: Value| !value.is_unstarted() && !value.is_censored();
    let all = samples.of(|_| true);
    let asked = WaitsOf::Tasks(all.count(|_| true), all.count(has_started));
    let waits = assumed_waits(lake, asked).filter(|waits| waits.of_all)?;
    let is_known = |value: Value| waits.knows_unstarted && !has_started(value);
    samples.values.values_mut().for_each(|values| values.retain(is_known));
    Some(waits.note)
}

/// A limit of the band of chances, for the caption.
const ALIKE: &str = "Tasks of one job end alike: where jobs have many tasks, single jobs move the \
    curve, and the band, which takes tasks as independent, is too narrow";

/// A line for each of the largest groups. A line ends at the largest number of events that at least
/// `least` tasks have.
#[expect(clippy::cast_precision_loss, reason = "a place on paper")]
fn lines_of_chances(rows: &[Chance], sizes: &[(u64, String)], least: u64) -> Vec<Line> {
    let line = |((_, group), tone): (&(u64, String), Tone)| {
        let own = || rows.iter().filter(|row| row.group == *group && least <= row.tasks);
        Line {
            name: if group == "all" { "all tasks".to_owned() } else { shortened(group) },
            points: own().map(|row| (row.events as f64, 100.0 * row.chance)).collect(),
            band: own()
                .map(|row| (row.events as f64, 100.0 * row.chance_low, 100.0 * row.chance_high))
                .collect(),
            tone,
            stroke: Stroke::Straight,
        }
    };
    sizes.iter().zip(Tone::SERIES).map(line).collect()
}

pub(crate) fn finish_given_events(question: Question, samples: &Samples) -> Described {
    let Question { what, classes, group_by, .. } = question;
    // A running job has not ended yet; the outcome of an unmatched job is unknown.
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
        let of_one_job = samples.of_one_job.get(group).map_or(&[][..], Vec::as_slice);
        let own = chances(&group.to_string(), &finished, &others, of_one_job);
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
        ..Samples::default()
    };
    let censoring = settled.censoring(what);
    sizes.sort_by_key(|size| std::cmp::Reverse(size.0));
    // With few tasks, the band is so wide that it would flatten the curve.
    let least = sizes.first().map_or(0, |size| if size.0 < CHANCE_OF { 0 } else { CHANCE_OF });
    let while_enough = if least == 0 {
        String::new()
    } else {
        format!(" Drawn up to the number of events that at least {least} tasks have.")
    };
    let chart = Chart::Lines(LineChart {
        title: title(what).to_owned(),
        caption: format!(
            "{}{}{ALIKE}. Of the tasks with at least this many events whose job has ended, the share whose job finished (by {classes}), with Wilson's 95 % band{}; tasks of jobs that still run at the window's end are left out.{while_enough}{}",
            from_first_to_last(&rows, &sizes, least),
            trend(&rows, &sizes, least),
            by_group(group_by),
            edges::ending(&edges::sentence(&censoring)),
        ),
        x_axis: "events of the task so far".to_owned(),
        y_axis: "chance that the job finishes (%)".to_owned(),
        x_scale: Scale::Log,
        y_from: 0.0,
        lines: lines_of_chances(&rows, &sizes, least),
    });
    let mut frame = Frame::default();
    if let Some(group_by) = group_by {
        frame = keyed(frame, group_by, rows.iter().map(|row| Some(row.group.as_str())));
    }
    let table = chances_table(frame, &rows);
    let question = Question { censored: Censored::Exclude, ..question };
    let (parts, curves) = (Vec::new(), None);
    Described {
        question,
        censoring,
        parts,
        table,
        curves,
        chart,
        bars: None,
        ticks: Vec::new(),
        started: None,
        assumed: None,
    }
}
