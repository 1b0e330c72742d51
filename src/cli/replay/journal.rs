//! Journals of replays: stored as Parquet and as text, and printed again.
//!
//! ```text
//!  600.5 start 3418309/0 #1 on 17     seconds, event, job/task, attempt, machine
//! ```

use std::fs::File;
use std::io;
use std::path::PathBuf;

use clap::Args;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use super::super::console;
use jobfate::answers::replay::journal::text_of;
use jobfate::faults::{BadFile, Context, Failure, Hindered, Result};

/// Print the journal of a replay
///
/// `jobfate replay --journal` stores a journal per policy. Each line is an event: the time in
/// seconds of the trace clock, the event, the job, the number of the task within it, the attempt,
/// and the machine.
///
/// Memory: 100 MB, for a journal of any length.
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
    // An I/O error does not say anything about the contents of the file.
    let failed = |error: ParquetError| match error {
        ParquetError::External(cause) if cause.is::<io::Error>() => {
            Hindered(format!("could not read `{shown}`: {cause}")).into()
        }
        error => Failure::from(bad(format!("is damaged, or not a Parquet file: {error}"))),
    };
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(failed)?;
    for batch in reader {
        let batch = batch.map_err(|error| failed(error.into()))?;
        let text =
            text_of(&batch).map_err(|problem| bad(format!("is not a journal: {problem}")))?;
        console::data(&text)?;
    }
    Ok(())
}
