//! `jobfate load`: the cluster over time.

use clap::Args;

use super::{AnswerArgs, AttemptArgs, console};
use crate::cli::shown;
use jobfate::answers::load::{KIND, LoadPlan, SHARES, load};
use jobfate::faults::Result;
use jobfate::lake::Lake;
use jobfate::results::shares;
use jobfate::results::store::Origin;

/// How it is called.
const EXAMPLES: &str = "Examples:\n  jobfate load --lake lake\n  jobfate load --lake lake --interval 1h --by priority-band --format csv\n  jobfate load --lake lake --by user --groups 10 --out results\n  jobfate load --lake lake --resource memory --memory assigned";

/// Show capacity, requests, use and queue over time
///
/// A row per interval: the capacity of the machines that were there, the requests of running
/// attempts (allocated), what they used as far as a table or log says it, the requests of waiting
/// tasks, running and waiting tasks, and events. Amounts are means over the interval: the integral
/// over its time divided by its length, not samples. So `cpu_allocated` times the length, added up
/// over all rows, is the total of `account --cpu requested`, `cpu_used` times the length its measured
/// CPU inside attempts, and `running_tasks` times the length its `slots`, whatever the interval;
/// `totals` in JSON holds these sums. An amount is null where nothing is known of it.
///
/// A task waits from each SUBMIT until it is scheduled or ended, or until its job ends, at the
/// request that is known by then. A machine has the capacity last seen; it is there from ADD to
/// REMOVE.
///
/// JSON and --out also hold: submissions by hour of the week, their index of dispersion and
/// autocorrelation (from `job_events`, which may cover more time than the loaded `task_events`);
/// and wait, run time and bounded slowdown of jobs by size and by user. The size of a job is its
/// number of tasks, and for a log its processors.
///
/// Memory: 100 MB, 150 bytes for each row of the tables of events and usage in the lake's largest
/// bucket, and 400 bytes for each interval and group, per thread.
#[derive(Args, Debug)]
#[command(
    after_long_help = format!("{}\n\n{EXAMPLES}", shares::help(&SHARES))
)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub plan: LoadPlan,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &LoadArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?.closing(args.attempts.open_attempts);
    let mut files = shown::files(args.answer.out.as_deref(), KIND.name)?;
    let bar = console::Bar::of_work("load", "rows");
    let loaded = load(&lake, windows, &args.plan)?;
    drop(bar);
    loaded.notes().into_iter().for_each(console::note);
    if let Some(files) = &mut files {
        loaded.put_details(files)?;
    }
    shown::give(&loaded.answer(windows), files, &Origin::of(&lake), &args.answer.form())
}
