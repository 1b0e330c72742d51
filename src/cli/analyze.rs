//! `jobfate analyze`: everything that the tables at hand allow, in one go.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::classify::{self, By, Engine};
use super::ingest::{self, IngestArgs, IngestChoice};
use super::{console, stop_on_signal, store, synth, verify};
use crate::lake::Lake;
use crate::studies::outcomes::Classes;
use crate::synth::SynthConfig;

/// Run the whole analysis: ingest, verify, classify, chart
///
/// Without `TRACE_DIR` a small synthetic trace is made on the spot, so that everything can be
/// looked at before anything is downloaded. What is done is kept: an analysis that was stopped
/// goes on when the same command is run again.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate analyze\n  jobfate analyze clusterdata-2011-2 --lake lake --out reports/google-2011"
)]
pub(crate) struct AnalyzeArgs {
    /// Folder of the downloaded trace; synthetic if none is given
    #[arg(value_name = "TRACE_DIR")]
    pub trace: Option<PathBuf>,

    /// Folder of the lake, inside --out by default
    #[arg(long, value_name = "DIR")]
    pub lake: Option<PathBuf>,

    /// Folder for results and charts
    #[arg(long, value_name = "DIR", default_value = "reports/analysis")]
    pub out: PathBuf,

    #[command(flatten)]
    pub choice: IngestChoice,
}

pub(crate) fn run(args: AnalyzeArgs) -> Result<()> {
    let stop = stop_on_signal()?;
    let trace = match args.trace {
        Some(trace) => trace,
        None => synthetic(&args.out.join("synthetic-trace"))?,
    };
    let lake = args.lake.unwrap_or_else(|| args.out.join("lake"));
    console::note(format!("ingest {} into {}", trace.display(), lake.display()));
    ingest::run_plan(
        &ingest::plan(&IngestArgs { trace, lake: lake.clone(), choice: args.choice })?,
        &stop,
    )?;
    let lake = Lake::open(&lake)?;

    console::note("verify");
    let report = verify::lake_report(&lake)?;
    let table = report.table();
    store::store(&report.answer(&table), &lake, &args.out)?;

    for by in [By::Job, By::Task] {
        if !lake.has(by.table()) {
            console::note(format!(
                "skipped: classify {}, for want of table `{}`",
                by.plural(),
                by.table()
            ));
            continue;
        }
        console::note(format!("classify {}", by.plural()));
        let outcome = classify::classification(&lake, by, Classes::Sequence, Engine::Native)?;
        let table = classify::table_of(&outcome.rows);
        store::store(
            &classify::answer(&lake, &outcome, by, Classes::Sequence, &table)?,
            &lake,
            &args.out,
        )?;
        console::data(&format!("{}\n", by.plural()))?;
        console::data_bytes(&super::render::render(&table, super::Format::Table, None)?)?;
    }
    console::note(format!("results and charts: {}", args.out.display()));
    report.into_result()
}

/// Makes the synthetic trace, or takes the one that an earlier run made.
fn synthetic(folder: &Path) -> Result<PathBuf> {
    console::note("no TRACE_DIR was given: analysing a synthetic trace, not a real one");
    if !folder.join("truth.json").exists() {
        if folder.exists() {
            // Cut off in the making: only what synth wrote lies in there.
            std::fs::remove_dir_all(folder)?;
        }
        synth::write(&SynthConfig::default(), folder)?;
    }
    Ok(folder.to_owned())
}
