//! `jobfate fairness`: usage of each user over time, and the values of fairness indices.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::engine::WorkersArgs;
use super::{AttemptArgs, ChartArgs, Form, Format, ViewArgs, end_on_signal};
use crate::cli::shown::{self, Terminal};
use jobfate::answers::fairness as answer;
use jobfate::answers::fairness::gathered::{Buckets, gathering};
use jobfate::answers::fairness::plan::{FairnessPlan, Until, about};
use jobfate::answers::fairness::step;
use jobfate::answers::spread::{self, Errand};
use jobfate::answers::study::Definitions;
use jobfate::fairness::gather::Cluster;
use jobfate::fairness::program::{self};
use jobfate::faults::Result;
use jobfate::lake::Lake;
use jobfate::results::shares;
use jobfate::units::parse_micros;

mod new;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate fairness --lake lcg --cpu requested --days 7 --out results\n  jobfate fairness --lake lcg --index condor:half_life_s=21600 --show series --format csv\n  jobfate fairness --lake one --lake two --cpu slots --show clusters\n  jobfate fairness --lake lcg --cpu requested --what-if\n  jobfate fairness --lake lcg --formula short=short.formula --index-program own=./index.py\n  jobfate fairness new index.toml --template decay";

/// Show usage per user over time, and its fairness
#[derive(Args, Debug, Default)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    long_about = about(),
    after_long_help = shares::help(&answer::SHARES, EXAMPLES)
)]
pub(crate) struct FairnessArgs {
    #[command(subcommand)]
    pub action: Option<Action>,

    #[command(flatten)]
    pub plan: FairnessPlan,

    /// Format of the answer on stdout
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,

    #[command(flatten)]
    pub view: ViewArgs,

    /// Folder for result.json, series and charts
    ///
    /// `result.json` has users, machines, clusters and suggestions (with `--what-if` also the place
    /// of each user under each index); `series.csv` and `series.parquet` have every value of every
    /// index, `usage.csv` and `usage.parquet` the usage of each user in each interval, when it was
    /// charged and when it ran. For a log of a computing centre, by user, `half-lives.csv` has the
    /// place of each user under other half-lives. Each index has a chart as SVG and PNG.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub charts: ChartArgs,

    /// End of the window in seconds of the trace clock
    ///
    /// Attempts that are still open are closed there. By default 2506200 for a whole table of the
    /// 2011 trace, and otherwise the last event of the table. Must not be before the last event.
    #[arg(long, value_name = "SECONDS", value_parser = parse_micros)]
    pub window_end: Option<i64>,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub workers: WorkersArgs,
}

/// What can be done besides.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Ask for the parameters of an index and write its file
    New(new::NewArgs),
}

pub(crate) fn run(args: &FairnessArgs) -> Result<()> {
    if let Some(Action::New(new)) = &args.action {
        return new::run(new);
    }
    let files = shown::files(args.out.as_deref(), answer::kind_of(args.plan.resource).name)?;
    if !args.plan.index_program.is_empty() {
        end_on_signal(program::stop_all)?;
    }
    let until = args.until();
    let parts = match args.workers.spark()? {
        None => None,
        Some(spark) => {
            let (Cluster { name, lake, windows, shift_us }, plan) = gathering(&args.plan, until)?;
            let errand = Errand::Usage { plan, name, shift_us };
            let common = (windows, Definitions::default());
            spread::ask(&spark, &lake, common, vec![errand])?.into_iter().next()
        }
    };
    for folder in args.lakes() {
        super::show_remarks_for_all(&Lake::open(&folder)?);
    }
    let screen = Terminal { form: args.form() };
    let buckets = parts.as_ref().map_or(Buckets::Unread, Buckets::OfWorkers);
    step::give(&args.plan, until, files, (buckets, &screen))
}

impl FairnessArgs {
    /// The folders of the lakes.
    pub(super) fn lakes(&self) -> Vec<PathBuf> {
        self.plan.folders()
    }

    fn until(&self) -> Until {
        Until { window_end_us: self.window_end, open_attempts: self.attempts.open_attempts }
    }

    /// The form of the answer on stdout; `--top` selects users before there is a table.
    pub(super) fn form(&self) -> Form {
        Form::new(self.format, &self.view, None).with_charts(&self.charts)
    }
}
