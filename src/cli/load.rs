//! `jobfate load`: the cluster over time.

use clap::Args;

use super::{AnswerArgs, AttemptArgs};
use crate::cli::shown;
use jobfate::answers::load::{KIND, LoadPlan, SHARES, load};
use jobfate::faults::Result;
use jobfate::results::shares;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate load --lake lake\n  jobfate load --lake lake --interval 1h --by priority-band --format csv\n  jobfate load --lake lake --by user --groups 10 --out results\n  jobfate load --lake lake --resource memory --memory assigned";

/// Show capacity, requests, use and queue over time
///
/// Each row is an interval: the capacity of the machines in service, the requests of running
/// attempts (allocated), what these attempts used (if a table or log records it), the requests of
/// waiting tasks, the numbers of running and waiting tasks, and events. Amounts are exact means
/// over the interval, not samples. So the sum over all rows of `cpu_allocated` times the length of
/// the interval is the total of `account --cpu requested`. In the same way `cpu_used` gives its
/// measured CPU inside attempts, and `running_tasks` its `slots`. This holds for every --interval;
/// `totals` in JSON holds the sums. An unknown amount is null.
///
/// A task waits from each SUBMIT until it is scheduled or ends, or until its job ends; its request
/// is the last recorded one at that time. A machine is in service from ADD to REMOVE, with the
/// capacity of its last event.
///
/// JSON and --out also hold: submissions by hour of the week, their index of dispersion and
/// autocorrelation (from `job_events`, which may cover more time than the loaded `task_events`);
/// and wait, run time and bounded slowdown of jobs by size, by the CPU and the memory that their
/// tasks request together (in powers of ten), and by user. The size of a job is its number of
/// tasks, or in a log its number of processors. `waited_longer_than` of a user is the part of the
/// others' jobs in the same queue (Google: priority band) and class of sizes that waited less, on
/// average over the jobs for which there are 10 such jobs; equal waits count half. --out also holds
/// the requests on machines over time: on all, or on 40 evenly spaced by CPU, memory and id.
///
/// Memory: 100 MB, 150 bytes for each row of the tables of events and usage in the lake's largest
/// bucket, and 400 bytes for each interval and group, per thread.
#[derive(Args, Debug)]
#[command(after_long_help = shares::help(&SHARES, EXAMPLES))]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub plan: LoadPlan,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &LoadArgs) -> Result<()> {
    let of = |lake: &_, windows| load(lake, windows, &args.plan);
    shown::study(&KIND, &args.answer, args.attempts, of)
}
