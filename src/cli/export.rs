//! `jobfate export`: the tasks of a lake in the formats that simulators read.

use std::path::PathBuf;

use clap::Args;

use super::{console, shown};
use jobfate::digits::{counted, grouped};
use jobfate::export::{ExportPlan, Form, KIND, export};
use jobfate::faults::Result;
use jobfate::lake::Lake;

/// Write the tasks of a lake in the format of a simulator
///
/// Every task is written with its submission, last attempt (without suspensions; partial runs of a
/// job as one), outcome and request. What a format cannot hold is counted, also in `result.json`.
///
/// Memory: 100 MB, 600 bytes for each row of `task_events` in the lake's largest bucket, and for
/// names, dependencies and --journal 200 bytes for each task. While it runs, it also takes 272
/// bytes of disk for each task.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate export --lake lake --as swf --out exported\n  jobfate export --lake lake --as batsim --cores 64 --out exported\n  jobfate export --lake lake --journal results/journal-1.parquet --as swf --out replayed"
)]
pub(crate) struct ExportArgs {
    /// Folder of the lake
    #[arg(long, value_name = "DIR", default_value = "lake")]
    pub lake: PathBuf,

    /// Format to write
    ///
    /// A log that was read as SWF or GWF keeps its header, its job numbers and its fields.
    #[arg(long = "as", value_name = "FORMAT", value_enum)]
    pub form: Form,

    /// Folder for the files and result.json
    ///
    /// Created if it does not exist. Files of an earlier export are replaced; a file that belongs
    /// to no result is never overwritten: the command refuses the folder.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Journal of a replay of this lake, as Parquet
    ///
    /// `jobfate replay --journal` stores it. Submissions, starts, ends and outcomes are then those
    /// of the replay; requests come from the lake.
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,

    /// Processors of the largest machine, in Google traces
    ///
    /// These traces give CPU as a share of the largest machine. With 100, a processor is one
    /// hundredth of it. Other sources count processors or cores.
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = jobfate::units::whole(1..=100_000u32))]
    pub cores: u32,

    /// Round times to whole seconds
    ///
    /// Some readers of SWF take no decimals. By default times are exact.
    #[arg(long)]
    pub whole_seconds: bool,
}

pub(crate) fn run(args: &ExportArgs) -> Result<()> {
    let lake = Lake::open(&args.lake)?;
    let plan = ExportPlan {
        form: args.form,
        journal: args.journal.clone(),
        cores: args.cores,
        whole_seconds: args.whole_seconds,
    };
    let lock = shown::lock(&args.out)?;
    let bar = console::Bar::of_work(KIND.name, "rows");
    let exported = export(&lake, &plan, &lock)?;
    drop(bar);
    if let Some(note) = lake.gap_note() {
        console::note(note);
    }
    for (wording, count) in &exported.not_held {
        console::note(format!("{wording}: {}", grouped(*count)));
    }
    let tasks = counted(exported.tasks, "task");
    console::note(format!("wrote {tasks} to {}", args.out.display()));
    console::note(format!("wrote {}", exported.json.display()));
    Ok(())
}
