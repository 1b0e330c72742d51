//! Journals of replays as tables and as text.
//!
//! In: the journals of a seed's replays. Out: Parquet and text, an event per line. They are written
//! in pieces, so that a journal of any length needs the memory of one piece.

use std::fmt::Write as _;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;

use crate::answers::replay::{Run, Setting};
use crate::faults::{Bug, Result};
use crate::replay::journal::{Entry, Line};
use crate::replay::workload::NONE;
use crate::results::frame::Frame;
use crate::results::store::Files;

/// The rows of a journal as lines of text.
///
/// # Errors
/// A column is missing or has another type.
pub fn text_of(batch: &RecordBatch) -> Result<String, String> {
    let column =
        |name: &str| batch.column_by_name(name).ok_or_else(|| format!("it has no column `{name}`"));
    let ints = |name: &str| {
        let numbers = column(name)?.as_primitive_opt::<Int64Type>();
        numbers.ok_or_else(|| format!("column `{name}` does not hold whole numbers"))
    };
    let (times, jobs, tasks) = (ints("time_us")?, ints("job_id")?, ints("task_index")?);
    let (machines, attempts) = (ints("machine_id")?, ints("attempt")?);
    let events = column("event")?.as_string_opt::<i32>();
    let events = events.ok_or("column `event` does not hold words")?;
    let mut text = String::new();
    for row in 0..batch.num_rows() {
        let known = |column: &arrow::array::Int64Array| {
            use arrow::array::Array;
            column.is_valid(row).then(|| column.value(row))
        };
        let line = Line {
            at_us: times.value(row),
            event: events.value(row),
            task: known(jobs).zip(known(tasks)),
            machine: known(machines),
            attempt: attempts.value(row),
        };
        writeln!(text, "{line}").expect("a string takes everything");
    }
    Ok(text)
}

/// The number of lines in memory at a time, as a table and as text.
const PIECE: usize = 64 * 1024;

/// Writes the journals of one seed's replays.
///
/// # Errors
/// A file cannot be written.
pub fn put(runs: &[Run], setting: &Setting, files: &mut Files) -> Result<()> {
    for (number, run) in (1..).zip(runs) {
        let stem = format!("journal-{number}");
        let mut rows = files.lines(&stem, &table_of(&[], setting))?;
        let mut entries = run.journal.entries();
        loop {
            let piece: Vec<Entry> = entries.by_ref().take(PIECE).collect();
            if piece.is_empty() {
                break;
            }
            let table = table_of(&piece, setting);
            rows.push_with(&table, text_of(&table).map_err(Bug)?.as_bytes())?;
        }
        files.take_rows(rows)?;
    }
    Ok(())
}

/// Lines as a table. Jobs, tasks and machines have their ids in the trace.
fn table_of(entries: &[Entry], setting: &Setting) -> RecordBatch {
    let rows = || entries.iter();
    let id = |task: u32| (task != NONE).then(|| setting.history.ids[task as usize]);
    let machine = |machine: u32| (machine != NONE).then(|| setting.cluster.id(machine));
    Frame::default()
        .int("time_us", rows().map(|entry| entry.at_us))
        .text("event", rows().map(|entry| entry.kind.word()))
        .maybe_int("job_id", rows().map(|entry| id(entry.task).map(|id| id.0)))
        .maybe_int("task_index", rows().map(|entry| id(entry.task).map(|id| i64::from(id.1))))
        .maybe_int("machine_id", rows().map(|entry| machine(entry.machine)))
        .int("attempt", rows().map(|entry| i64::from(entry.attempt)))
        .batch()
}
