//! Outcomes split by the reason that the log gives for the end of a job or task.
//!
//! In: a lake whose source records reasons. Out: counts by outcome and reason as table, JSON and
//! bars.

use std::collections::BTreeMap;

use arrow::array::AsArray;
use arrow::record_batch::RecordBatch;
use rayon::prelude::*;
use serde_json::json;

use super::By;
use super::counts::bar;
use super::other::words_of;
use crate::answers::grouped::check_reasons;
use crate::charts::{BarChart, Chart};
use crate::digits::grouped;
use crate::facts::events::{self, Histories};
use crate::facts::jobs::{self, END_REASON};
use crate::faults::Result;
use crate::lake::Lake;
use crate::results::frame::Frame;
use crate::results::store::Answer;
use crate::studies::outcomes::{Classes, ReasonRow, reason_rows};

/// Counts the jobs or tasks of a lake by outcome and by the reason why they ended.
///
/// # Errors
/// The lake does not record reasons, or a file cannot be read.
pub fn reasons(lake: &Lake, by: By, classes: Classes) -> Result<Vec<ReasonRow>> {
    lake.require(by.table())?;
    check_reasons(lake, by.table())?;
    let rows = lake.expect_rows(&[by.table()]);
    let mut columns: Vec<&'static str> = events::columns(by.table()).to_vec();
    columns.push(END_REASON);
    let counts: Result<Vec<ReasonCounts>> = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(|bucket| {
            let batches = lake.read(by.table(), Some(bucket), &columns)?;
            lake.step(rows)?;
            Ok(reasons_of(&batches, by, classes))
        })
        .collect();
    let mut all = ReasonCounts::new();
    for (key, count) in counts?.into_iter().flatten() {
        *all.entry(key).or_default() += count;
    }
    Ok(reason_rows(all, classes))
}

/// Counts by three keys: the position of the outcome, the group of `other`, and the reason.
type ReasonCounts = BTreeMap<(usize, Option<&'static str>, Option<String>), u64>;

/// The counts of one bucket.
fn reasons_of(batches: &[RecordBatch], by: By, classes: Classes) -> ReasonCounts {
    let histories = Histories::of(by.table(), batches);
    let cells: Vec<Option<&str>> = batches
        .iter()
        .flat_map(|batch| {
            let reasons = batch.column_by_name(END_REASON).expect("the column was asked for");
            reasons.as_string::<i32>().iter()
        })
        .collect();
    let mut counts = ReasonCounts::new();
    for entity in 0..histories.len() {
        let events = histories.events(entity);
        let place = usize::from(match classes {
            Classes::Sequence => jobs::by_sequence(events),
            Classes::Terminal => jobs::by_terminal(events),
        });
        let is_other = classes == Classes::Sequence && classes.outcomes()[place] == "other";
        let of_other = is_other.then(|| words_of(&jobs::sequence_of(events)));
        let reason = jobs::reason_of(events, &cells).map(str::to_owned);
        *counts.entry((place, of_other, reason)).or_default() += 1;
    }
    counts
}

/// The table of the rows by reason.
pub fn table_of_reasons(rows: &[ReasonRow]) -> RecordBatch {
    let mut frame = Frame::default().text("outcome", rows.iter().map(|row| row.outcome.as_ref()));
    if rows.iter().any(|row| row.course.is_some()) {
        frame = frame
            .maybe_text("course", rows.iter().map(|row| row.course.as_deref()))
            .about("The outcome, or what `other` is");
    }
    frame
        .maybe_text("end_reason", rows.iter().map(|row| row.end_reason.as_deref()))
        .count("count", rows.iter().map(|row| row.count))
        .float("share", rows.iter().map(|row| Some(row.share)))
        .batch()
}

/// The most bars in a chart of reasons.
const REASONS_MAX: usize = 24;

/// The smallest count that is drawn: that of the last of the most common reasons.
fn least_drawn(rows: &[ReasonRow]) -> u64 {
    let mut counts: Vec<u64> = rows.iter().map(|row| row.count).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    counts.get(REASONS_MAX - 1).copied().unwrap_or(0)
}

/// Adds the counts by reason to an answer, and a chart of the most common reasons.
pub fn add_reasons(answer: &mut Answer<'_>, rows: &[ReasonRow], by: By) {
    if let Some(whole) = answer.json.as_object_mut() {
        whole.insert("reasons".to_owned(), json!(rows));
    }
    let total: u64 = rows.iter().map(|row| row.count).sum();
    let least = least_drawn(rows);
    let drawn = || rows.iter().filter(|row| least <= row.count).take(REASONS_MAX);
    let bars = drawn()
        .map(|row| {
            let outcome = row.course.as_ref().unwrap_or(&row.outcome);
            let label = match &row.end_reason {
                Some(reason) => format!("{outcome}: {reason}"),
                None => outcome.to_string(),
            };
            bar(label, &row.outcome, row.count, row.share)
        })
        .collect();
    let cut = match drawn().count() {
        count if count < rows.len() => {
            format!(" The {count} most common of {} are drawn.", grouped(rows.len() as u64))
        }
        _ => String::new(),
    };
    let chart = Chart::Bars(BarChart {
        title: format!("Why {} {} ended", grouped(total), by.plural()),
        caption: format!(
            "Outcomes of {}, by the reason that the log gives for their end.{cut}",
            by.plural()
        ),
        value_axis: by.plural().to_owned(),
        bars,
    });
    answer.charts.push((format!("{}-reasons", by.kind().name), chart));
}
