//! The ledger as a table.

use arrow::record_batch::RecordBatch;

use crate::results::frame::Frame;
use crate::studies::ledger::{GroupBy, Ledger, UNKNOWN};

/// Adds the column by which rows are split: numbers for a priority or a class, texts for all
/// others; null where unknown.
pub(crate) fn keyed<'a>(
    frame: Frame,
    group: GroupBy,
    cells: impl Iterator<Item = Option<&'a str>>,
) -> Frame {
    let known = cells.map(|cell| cell.filter(|text| *text != UNKNOWN));
    match group {
        GroupBy::Class | GroupBy::Priority => {
            frame.maybe_int(group.name(), known.map(|cell| cell?.parse().ok()))
        }
        _ => frame.maybe_text(group.name(), known),
    }
}

pub fn table_of(ledger: &Ledger, groups: &[GroupBy]) -> RecordBatch {
    let mut frame = Frame::default();
    for (idx, &group) in groups.iter().enumerate() {
        let cells = ledger.rows.iter().map(|row| Some(row.groups[idx].as_str()));
        frame = keyed(frame, group, cells);
    }
    let rows = || ledger.rows.iter();
    let resource = ledger.meter.resource();
    // If no outcome is known, rows have no counts of jobs and tasks.
    frame
        .text("outcome", rows().map(|row| row.outcome.as_str()))
        .maybe_count("jobs", rows().map(|row| row.jobs))
        .maybe_count("jobs_with_tasks", rows().map(|row| row.jobs_with_tasks))
        .maybe_count("tasks", rows().map(|row| row.tasks))
        .float(ledger.meter.column(), rows().map(|row| row.amount))
        .about(&format!("{}, in the unit that `unit` names", resource.title()))
        .unit(ledger.unit)
        .text("unit", rows().map(|_| ledger.unit))
        .float("share", rows().map(|row| row.share))
        .about(&format!("Share of the {} of all rows", resource.noun()))
        .float("largest_job_share", rows().map(|row| row.largest_job_share))
        .batch()
}
