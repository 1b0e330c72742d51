//! `jobfate machines`: which machines left, for how long, and the capacity lost.

use clap::Args;

use super::{AnswerArgs, AttemptArgs};
use crate::cli::shown;
use jobfate::answers::machines::{KIND, MachinesPlan, SHARES, study};
use jobfate::faults::Result;
use jobfate::results::shares;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate machines --lake lake\n  jobfate machines --lake lake --together 60 --out results\n  jobfate machines --lake lake --format json";

/// Show outages of machines, their lengths and their cost
///
/// The table has a row for all machines and one per configuration (platform, CPU, memory). An
/// outage lasts from REMOVE to the next ADD of the machine. A machine has the CPU and memory of its
/// last event; `capacity_lost_share` is the CPU x time lost in outages that ended, as a share of
/// the sum of this and the CPU x time of machines in service. Machines that did not come back,
/// whether they failed or were removed, count in `gone_cpu_s` and, with the others, in
/// `capacity_away_share`.
///
/// JSON and --out also hold: every outage; time between failures and to repair, with Kaplan-Meier
/// curves, a Weibull distribution with 95 % intervals, and a test against an exponential one
/// (spells that last beyond the window are censored; spells are treated as independent); machines
/// that left together; and, with `task_events`, the attempts that ran on a machine when it left:
/// how they ended, the CPU time that they had held, and whether their tasks also failed on other
/// machines.
///
/// Memory: 100 MB, and 130 bytes for each row of `task_events` in the lake's largest bucket, per
/// thread.
#[derive(Args, Debug)]
#[command(after_long_help = shares::help(&SHARES, EXAMPLES))]
pub(crate) struct MachinesArgs {
    #[command(flatten)]
    pub plan: MachinesPlan,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &MachinesArgs) -> Result<()> {
    let of = |lake: &_, windows| study(lake, windows, &args.plan, None);
    shown::study(&KIND, &args.answer, args.attempts, of)
}
