//! The answer in all its forms.

use arrow::record_batch::RecordBatch;
use serde_json::json;

use super::answer::{ClassifyAnswer, differing};
use super::charts::chart;
use super::plan::Choice;
use crate::answers::study::settings;
use crate::answers::{edges, flow};
use crate::charts::Chart;
use crate::digits::grouped;
use crate::faults::Result;
use crate::lake::Lake;
use crate::results::store::Answer;
use crate::studies::outcomes::{Classes, Classification};

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
        json: json!(ClassifyAnswer::of(outcome, plural)),
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
        Classes::Sequence => two_counts(outcome, plural),
        Classes::Terminal => String::new(),
    };
    Chart::Flow(flow::chart(&outcome.sequences, plural, &format!("{other}{edges}")))
}

/// The reason why the chart of paths and the table have different counts, with both counts; empty
/// if all counts are the same.
fn two_counts(outcome: &Classification, plural: &str) -> String {
    let both = differing(&outcome.rows, &outcome.sequences).map(|(outcome, here, there)| {
        format!("{outcome} {} here and {} there", grouped(here), grouped(there))
    });
    let both: Vec<String> = both.collect();
    if both.is_empty() {
        return String::new();
    }
    format!(
        " The table counts by the exact sequence of events, and {plural} with any other sequence are \
        \"other\" there: {}.",
        both.join("; ")
    )
}
