//! Journals of replays: stored as Parquet and as text, and printed again.
//!
//! ```text
//!  600.5 start 3418309/0 #1 on 17     seconds, event, job/task, attempt, machine
//! ```

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use clap::Args;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::super::console;
use super::super::exit::Usage;
use super::super::render::Frame;
use super::super::store;
use super::{Run, Setting};
use crate::replay::journal::Line;
use crate::replay::workload::NONE;

/// Print the journal of a replay
///
/// `jobfate replay --journal` stores one per policy. Every event is a line: seconds of the trace
/// clock, the event, job and number of the task within it, attempt, and machine.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  jobfate journal results/journal-1.parquet")]
pub(crate) struct JournalArgs {
    /// The journal, as Parquet
    pub file: PathBuf,
}

/// Columns of a stored journal.
const COLUMNS: [&str; 6] = ["time_us", "event", "job_id", "task_index", "machine_id", "attempt"];

pub(crate) fn run(args: &JournalArgs) -> Result<()> {
    let shown = args.file.display();
    let file = File::open(&args.file).with_context(|| format!("could not open `{shown}`"))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .with_context(|| format!("`{shown}` is no Parquet file"))?
        .build()?;
    for batch in reader {
        let batch = batch.with_context(|| format!("could not read `{shown}`"))?;
        let missing = COLUMNS.iter().find(|column| batch.column_by_name(column).is_none());
        if let Some(column) = missing {
            return Err(
                Usage(format!("`{shown}` is no journal: it has no column `{column}`")).into()
            );
        }
        console::data(&text_of(&batch)?)?;
    }
    Ok(())
}

/// The lines of a journal's rows.
fn text_of(batch: &RecordBatch) -> Result<String> {
    let ints = |name: &str| {
        let column =
            batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<Int64Type>());
        column
            .with_context(|| format!("column `{name}` of the journal does not hold whole numbers"))
    };
    let (times, jobs, tasks) = (ints("time_us")?, ints("job_id")?, ints("task_index")?);
    let (machines, attempts) = (ints("machine_id")?, ints("attempt")?);
    let events = batch.column_by_name("event").and_then(|column| column.as_string_opt::<i32>());
    let events = events.context("column `event` of the journal does not hold words")?;
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

/// Stores the journals of a seed's replays.
pub(super) fn store(runs: &[Run], setting: &Setting, folder: &Path) -> Result<()> {
    for (number, run) in (1..).zip(runs) {
        let rows = || run.journal.entries();
        let id = |task: u32| (task != NONE).then(|| setting.history.ids[task as usize]);
        let machine = |machine: u32| (machine != NONE).then(|| setting.cluster.id(machine));
        let table = Frame::default()
            .int("time_us", rows().map(|entry| entry.at_us))
            .text("event", rows().map(|entry| entry.kind.word()))
            .maybe_int("job_id", rows().map(|entry| id(entry.task).map(|id| id.0)))
            .maybe_int("task_index", rows().map(|entry| id(entry.task).map(|id| i64::from(id.1))))
            .maybe_int("machine_id", rows().map(|entry| machine(entry.machine)))
            .int("attempt", rows().map(|entry| i64::from(entry.attempt)))
            .batch();
        store::store_parquet(&format!("journal-{number}"), &table, folder)?;
        let path = folder.join(format!("journal-{number}.txt"));
        fs::write(&path, text_of(&table)?)
            .with_context(|| format!("could not write `{}`", path.display()))?;
    }
    Ok(())
}
