//! Rows that a search found: puts them in order, and derives the attempts of a job.
//!
//! In: events as rows of a table. Out: rows. This module reads no lake.

use std::collections::BTreeMap;

use crate::schema::EventType;
use crate::units::micros_to_seconds;

/// Largest number of rows that a table shows.
pub(super) const ROWS_MAX: usize = 1000;

/// A row: a time in µs, an id to order rows of the same time, and the texts of the cells.
pub(super) type Row = (i64, i64, Vec<String>);

/// The rows in time order, at most as many as are shown.
pub(super) fn ordered(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| (row.0, row.1));
    rows.truncate(ROWS_MAX);
    rows
}

/// Clears the end reason in rows that are not about an end. A log has one reason for the whole job.
pub(super) fn without_reasons(header: &[String], rows: &mut [Row]) {
    let at = |name: &str| header.iter().position(|column| column == name);
    let (Some(event), Some(reason)) = (at("event"), at("end_reason")) else { return };
    for (_, _, texts) in rows {
        let mut ends = EventType::ALL.into_iter().filter(|kind| kind.is_terminal());
        if !ends.any(|kind| kind.name() == texts[event]) {
            texts[reason].clear();
        }
    }
}

/// The attempts of all tasks: each from SCHEDULE to the next terminal event or SCHEDULE of its
/// task.
pub(super) fn attempts(header: &[String], rows: &[Row]) -> Vec<Row> {
    let at = |name: &str| header.iter().position(|column| column == name);
    let (Some(task), Some(event)) = (at("task_index"), at("event")) else { return Vec::new() };
    let machine = at("machine_id");
    let mut open: BTreeMap<&str, (i64, String)> = BTreeMap::new();
    let mut closed: Vec<Row> = Vec::new();
    let line = |task: &str, begun: (i64, String), end: Option<i64>, by: &str| {
        let seconds = |at: i64| micros_to_seconds(at).to_string();
        let end = end.map(seconds).unwrap_or_default();
        (begun.0, 0, vec![task.to_owned(), begun.1, seconds(begun.0), end, by.to_owned()])
    };
    for (time, _, texts) in rows {
        let is = |kind: EventType| texts[event] == kind.name();
        let is_terminal = EventType::ALL.into_iter().any(|kind| kind.is_terminal() && is(kind));
        if (is_terminal || is(EventType::Schedule))
            && let Some(begun) = open.remove(texts[task].as_str())
        {
            closed.push(line(&texts[task], begun, Some(*time), &texts[event]));
        }
        if is(EventType::Schedule) {
            let machine = machine.map(|machine| texts[machine].clone()).unwrap_or_default();
            open.insert(&texts[task], (*time, machine));
        }
    }
    closed.extend(open.into_iter().map(|(task, begun)| line(task, begun, None, "")));
    ordered(closed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_job_has_a_reason() {
        let header = ["event", "end_reason"].map(str::to_owned);
        let row = |event: &str| (0, 0, vec![event.to_owned(), "COMPLETED".to_owned()]);
        let mut rows: Vec<Row> = ["SUBMIT", "SCHEDULE", "FINISH", "UPDATE_RUNNING"].map(row).into();
        without_reasons(&header, &mut rows);
        let reasons: Vec<&str> = rows.iter().map(|row| row.2[1].as_str()).collect();
        assert_eq!(reasons, ["", "", "COMPLETED", ""]);
    }
}
