//! Journals of replays: stored as Parquet and as text, and printed again.
//!
//! ```text
//!  600.5 start 3418309/0 #1 on 17     seconds, event, job/task, attempt, machine
//! ```

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use clap::Args;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use super::super::console;
use super::{Run, Setting};
use crate::faults::{BadFile, Context, Failure, Hindered, Result};
use crate::replay::journal::Line;
use crate::replay::workload::NONE;
use crate::results::frame::Frame;
use crate::results::store::Files;

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

pub(crate) fn run(args: &JournalArgs) -> Result<()> {
    let shown = args.file.display();
    let file = File::open(&args.file).with_context(|| format!("could not open `{shown}`"))?;
    let bad = |problem: String| BadFile { path: args.file.clone(), problem };
    // What the machine could not read says nothing about the file.
    let failed = |error: ParquetError| match error {
        ParquetError::External(cause) if cause.is::<io::Error>() => {
            Hindered(format!("could not read `{shown}`: {cause}")).into()
        }
        error => Failure::from(bad(format!("is damaged, or no Parquet file: {error}"))),
    };
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(failed)?;
    for batch in reader {
        let batch = batch.map_err(|error| failed(error.into()))?;
        let text = text_of(&batch).map_err(|problem| bad(format!("is no journal: {problem}")))?;
        console::data(&text)?;
    }
    Ok(())
}

/// The lines of a journal's rows; or what they lack to be some.
fn text_of(batch: &RecordBatch) -> Result<String, String> {
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

/// The journals of a seed's replays.
pub(super) fn put(runs: &[Run], setting: &Setting, files: &mut Files) -> Result<()> {
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
        files.parquet(&format!("journal-{number}"), &table)?;
        files.put(
            format!("journal-{number}.txt"),
            text_of(&table).expect("made above").as_bytes(),
        )?;
    }
    Ok(())
}
