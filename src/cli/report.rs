//! `jobfate report`: stored results as pages for a browser.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::console;
use crate::report::{read_all, write};

/// Write stored results as pages for a browser
///
/// RESULTS are folders that `--out` of other commands or `analyze` has filled; the folders in them
/// are read as well. Nothing is computed anew and nothing is fetched: the pages open from disk.
/// Every chart stands with its data, its caption and the command that made it; of fairness each user
/// and each machine has a page.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate report reports/analysis\n  jobfate account --lake lake --out results/account\n  jobfate fairness --lake lake --out results/fairness\n  jobfate report results --out pages"
)]
pub(crate) struct ReportArgs {
    /// Folders of results
    #[arg(value_name = "RESULTS", default_value = "reports/analysis")]
    pub results: Vec<PathBuf>,

    /// Folder for the pages, by default `report` in RESULTS
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub(crate) fn run(args: &ReportArgs) -> Result<()> {
    let out = args.out.clone().unwrap_or_else(|| args.results[0].join("report"));
    let first = write(&read_all(&args.results)?, &out)?;
    Ok(console::data(&format!("{}\n", first.display()))?)
}
