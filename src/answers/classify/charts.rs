//! The counts as bars.

use super::counts::bar;
use super::other;
use super::plan::{Choice, ClassifyPlan};
use crate::answers::{edges, sentences};
use crate::charts::{Bar, BarChart, Chart};
use crate::digits::grouped;
use crate::lake::TableEntry;
use crate::studies::outcomes::{Classes, Classification, OutcomeRow};

/// The bars of an outcome: one, or one for each large part of `other`.
fn bars_of(outcome: &Classification, row: &OutcomeRow) -> Vec<Bar> {
    if row.outcome == "other" && 0 < row.count {
        let parts = other::main_parts(&outcome.sequences).into_iter();
        let bar =
            |part: other::Part| bar(part.words.to_owned(), &row.outcome, part.count, part.share);
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
