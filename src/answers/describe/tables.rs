//! The tables of `describe`: summaries, curves, survival, chances.

use arrow::record_batch::RecordBatch;

use crate::answers::account::keyed;
use crate::answers::describe::Part;
use crate::answers::describe::plan::Question;
use crate::results::frame::Frame;
use crate::studies::counted::Counted;
use crate::studies::distributions::{Chance, Summary, Survival, cumulative, readable};
use crate::studies::ledger::{GroupBy, UNMATCHED};

/// The chance to finish: a row for each number of events.
pub(crate) fn chances_table(keyed: Frame, rows: &[Chance]) -> RecordBatch {
    keyed
        .count("events", rows.iter().map(|row| row.events))
        .count("tasks", rows.iter().map(|row| row.tasks))
        .count("finished", rows.iter().map(|row| row.finished))
        .count("largest_job_finished", rows.iter().map(|row| row.largest_job_finished))
        .about("Number of these finished ones in the job that has most of them")
        .float("chance", rows.iter().map(|row| Some(row.chance)))
        .float("chance_low", rows.iter().map(|row| Some(row.chance_low)))
        .float("chance_high", rows.iter().map(|row| Some(row.chance_high)))
        .count("left_censored", rows.iter().map(|row| row.left_censored))
        .batch()
}

/// Adds the columns of the group, if values are split: its value, and `is_total`, which is true for
/// rows of all groups together. Such rows are `None` in `groups`.
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
    if rows.iter().any(|row| row.overruns.is_some()) {
        frame = frame.maybe_count("overruns", rows.iter().map(|row| row.overruns));
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
            "overruns",
        ])
        .batch()
}

/// The share of values at or below each amount, for every row of the answer. As in the chart, each
/// row is reduced to a few hundred points.
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
        .flat_map(|(part, values)| readable(values).into_iter().map(move |at| (part, at)))
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
