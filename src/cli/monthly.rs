//! `jobfate monthly`: the report of a computing centre, by account and calendar month.

use clap::Args;

use super::{AnswerArgs, AttemptArgs};
use crate::cli::shown;
use jobfate::answers::monthly::{KIND, MonthlyPlan, SHARES, monthly};
use jobfate::faults::Result;
use jobfate::results::shares;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate monthly --lake cluster\n  jobfate monthly --lake cluster --timezone Europe/Berlin --out results\n  jobfate monthly --lake cluster --late 1d --users 20 --format json";

/// Show use, waste, waits and limits by account and month
///
/// For logs with dates (Slurm, SWF, mapped tables, Kubernetes). In a log without accounts, users
/// (in Kubernetes, namespaces) take their place. A row is an account in a calendar month: users,
/// jobs, CPU time in hours, the wasted part of it (in attempts that did not end with FINISH; `late`
/// counts only attempts that ran at least --late), GPU time if the log has GPUs, and waits. An
/// attempt that runs into the next month is split at midnight in the zone, so all rows add up to
/// the total of `account`. A job counts in the month of its last event.
///
/// JSON and --out also hold, over the whole log: months, accounts, the users with the most CPU
/// time, waits by queue and size, how jobs ended and why, and for each queue the requested time
/// limits and the part of them that was used.
///
/// Memory: 100 MB, 130 bytes for each row of the tables of events in the lake's largest bucket, per
/// thread, and 60 bytes for each job.
#[derive(Args, Debug)]
#[command(after_long_help = shares::help(&SHARES, EXAMPLES))]
pub(crate) struct MonthlyArgs {
    #[command(flatten)]
    pub plan: MonthlyPlan,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &MonthlyArgs) -> Result<()> {
    let of = |lake: &_, windows| monthly(lake, windows, &args.plan);
    shown::study(&KIND, &args.answer, args.attempts, of)
}
