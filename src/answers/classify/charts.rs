//! The counts as bars.

use super::counts::bar;
use super::other;
use super::plan::{Choice, ClassifyPlan};
use super::{ClassifyAnswer, Ending};
use crate::answers::{edges, flow};
use crate::charts::{Bar, BarChart, Chart};
use crate::digits::grouped;
use crate::lake::TableEntry;
use crate::studies::outcomes::{Classes, Classification, OutcomeRow};

/// The smallest share of all for which a bar says how many ended before the start, or after several
/// attempts.
const SAID: f64 = 0.001;

/// How many jobs or tasks with this outcome (by the last event) did not start, or had several
/// attempts, in words. Empty if there are only a few.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 jobs or tasks")]
fn courses(answer: &ClassifyAnswer, outcome: &str) -> String {
    if matches!(outcome, "pending" | "running") {
        return String::new();
    }
    let count = |is_one: fn(flow::Way) -> bool| -> u64 {
        let ways = answer
            .sequences
            .iter()
            .map(|row| (flow::Way::of(row.sequence.as_deref().unwrap_or_default()), row.count));
        ways.filter(|(way, _)| way.end() == outcome && is_one(*way)).map(|own| own.1).sum()
    };
    let early = count(|way| way.has_submit() && way.attempts() == 0);
    let several = count(|way| way.attempts() == 2);
    let of_all = |count: u64| count as f64 / answer.total.max(1) as f64;
    match (early, several) {
        (early, _) if SAID <= of_all(early) => format!(", {} before the start", grouped(early)),
        (_, some) if SAID <= of_all(some) => format!(", {} after several attempts", grouped(some)),
        _ => String::new(),
    }
}

/// A sentence about jobs or tasks that were killed before they started. Empty if there are only a
/// few, or if they have a separate bar.
fn killed_early(rows: &[OutcomeRow], sequences: &[OutcomeRow]) -> String {
    let killed = rows.iter().filter(|row| row.outcome == "killed" && row.sequence.is_none());
    let killed: u64 = killed.map(|row| row.count).sum();
    let early = other::parts(sequences);
    let is_large = |part: &other::Part| part.words == other::NEVER_STARTED && SAID <= part.share;
    let early = early.iter().find(|part| is_large(part) && part.count <= killed);
    early.map_or_else(String::new, |part| {
        format!(" Of the {} killed, {} never started.", grouped(killed), grouped(part.count))
    })
}

/// The bars by the last event; `None` if the bars by exact sequence have the same counts.
fn bars_by_last_event(answer: &ClassifyAnswer) -> Option<Vec<Bar>> {
    if !answer.is_counted_in_two_ways() {
        return None;
    }
    // The order is that of other charts of outcomes.
    let mut endings = answer.endings();
    let place = |ending: &Ending| {
        Classes::Terminal.outcomes().iter().position(|known| *known == ending.outcome)
    };
    endings.sort_by_key(place);
    let all = endings.into_iter().map(|Ending { outcome, count, share, .. }| {
        let mut bar = bar(flow::shown(outcome).to_owned(), outcome, count, share);
        bar.note.push_str(&courses(answer, outcome));
        bar
    });
    Some(all.collect())
}

/// The bars of an outcome: one bar, or one bar for each large part of `other`.
fn bars_of(outcome: &Classification, row: &OutcomeRow) -> Vec<Bar> {
    if row.outcome == "other" && 0 < row.count {
        let parts = other::main_parts(&outcome.sequences).into_iter();
        let bar =
            |part: other::Part| bar(part.words.to_owned(), &row.outcome, part.count, part.share);
        return parts.map(bar).collect();
    }
    vec![bar(row.outcome.clone(), &row.outcome, row.count, row.share)]
}

pub(crate) fn chart(entry: &TableEntry, outcome: &Classification, choice: Choice) -> Chart {
    let ClassifyPlan { by, classes, .. } = choice.plan;
    let by_last_event = bars_by_last_event(&ClassifyAnswer::of(outcome, by.plural()));
    let is_by_last_event = by_last_event.is_some();
    let bars = by_last_event
        .unwrap_or_else(|| outcome.rows.iter().flat_map(|row| bars_of(outcome, row)).collect());
    let how = match classes {
        Classes::Sequence if is_by_last_event => {
            "by their last event; the file of the table counts by the exact sequence of events"
        }
        Classes::Sequence => {
            "by their exact sequence of events: 014 is SUBMIT, SCHEDULE and FINISH, 013 ends with a \
            FAIL, 015 with a KILL, and 01 still runs; any other sequence counts as \"other\""
        }
        Classes::Terminal => "by their last terminal event",
    };
    Chart::Bars(BarChart {
        title: format!("What became of {} {}", grouped(outcome.total), by.plural()),
        caption: format!(
            "Outcomes of {} {how}.{}{} Counted from {} events.",
            by.plural(),
            if is_by_last_event {
                String::new()
            } else {
                killed_early(&outcome.rows, &outcome.sequences)
            },
            edges::ending(&choice.edges(outcome)),
            grouped(entry.rows())
        ),
        value_axis: by.plural().to_owned(),
        bars,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::events::Event;
    use crate::facts::window::{OpenAttempts, Windows};
    use crate::schema::EventType;
    use crate::studies::outcomes::{Counter, Window};

    #[test]
    fn those_that_were_killed_before_they_started_are_reported() {
        let row = |sequence: Option<&str>, outcome: &str, count: u64| OutcomeRow {
            sequence: sequence.map(str::to_owned),
            outcome: outcome.to_owned(),
            count,
            share: 0.01,
        };
        let sequences = [row(Some("05"), "other", 419), row(Some("015"), "killed", 49)];
        let said = killed_early(&[row(None, "killed", 468)], &sequences);
        assert_eq!(said, " Of the 468 killed, 419 never started.");
        assert_eq!(killed_early(&[row(Some("015"), "killed", 49)], &sequences), "");
    }

    /// Whether a bar shows this outcome.
    fn label_is(label: &str, outcome: &str) -> bool {
        let words = label.strip_prefix("still ").unwrap_or(label);
        words.starts_with(if outcome == "pending" { "waiting" } else { outcome })
    }

    proptest! {
        /// Every job is in one bar. The bar of an outcome counts the jobs that have this outcome
        /// under `--classes terminal`.
        #[test]
        #[expect(clippy::cast_precision_loss, reason = "a few jobs")]
        fn bars_count_by_the_last_event(
            all in prop::collection::vec(prop::collection::vec(0..9_i32, 1..6), 1..30),
        ) {
            let windows = Windows {
                job_end_us: 9,
                task_end_us: 9,
                first_us: 0,
                open_attempts: OpenAttempts::default(),
            };
            let counted = |classes| {
                let mut counter = Counter::default();
                for kinds in &all {
                    let events: Vec<Event> = kinds
                        .iter()
                        .filter_map(|&kind| EventType::of(kind))
                        .map(|event_type| Event { time_us: 9, row_id: 0, event_type, row: 0 })
                        .collect();
                    counter.add_events(&events, classes, Window { windows, end_us: 9 });
                }
                counter.finish(classes)
            };
            let by_last = counted(Classes::Terminal);
            let answer = ClassifyAnswer::of(&counted(Classes::Sequence), "jobs");
            let Some(bars) = bars_by_last_event(&answer) else {
                // The exact sequences have the same counts.
                for row in answer.rows.iter().filter(|row| row.outcome != "other") {
                    let last = by_last.rows.iter().find(|last| last.outcome == row.outcome);
                    prop_assert_eq!(last.map(|last| last.count), Some(row.count), "{}", row.outcome);
                }
                return Ok(());
            };
            for row in by_last.rows.iter().filter(|row| 0 < row.count) {
                let bar = bars.iter().find(|bar| label_is(&bar.label, &row.outcome));
                prop_assert_eq!(bar.map(|bar| bar.value), Some(row.count as f64), "{}", row.outcome);
            }
            let sum: f64 = bars.iter().map(|bar| bar.value).sum();
            prop_assert_eq!(sum, all.len() as f64);
        }
    }
}
