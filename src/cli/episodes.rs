//! `jobfate episodes`: what happened when.

use clap::Args;

use super::{AnswerArgs, AttemptArgs};
use crate::cli::shown;
use jobfate::answers::episodes::{EpisodesPlan, KIND, SHARES, episodes};
use jobfate::faults::Result;
use jobfate::results::shares;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate episodes --lake cluster\n  jobfate episodes --lake cluster --interval 10m --times 10 --out results\n  jobfate episodes --lake cluster --least 100 --most 3 --format csv";

/// Show hours in which far more than usual happened
///
/// Counts per interval: jobs submitted, tasks that failed, were killed, evicted or lost (each such
/// event), and machines that left. An interval stands out if it has more events than --times times
/// the mean of its kind, and at least --least; neighbouring intervals are one episode.
///
/// A row is an episode: its events, how many times the mean that is, their share of all such events;
/// the user, job, machine and reason with most of them; the running and waiting tasks before and
/// after; machines that left; and what else stands out then. JSON and --out also hold a row for each
/// kind of event and for each interval.
///
/// Days are compared as well: one stands out if it has at least 1.5 times the events of the median
/// day, and is above it by more than five times the median distance of days from it. At least seven
/// days must be known in full. JSON also holds the longest queue, if it is at least twice the mean.
///
/// Memory: 100 MB, 100 bytes for each row of the tables of events in the lake's largest bucket, and
/// 80 bytes for each interval, per thread.
#[derive(Args, Debug)]
#[command(after_long_help = shares::help(&SHARES, EXAMPLES))]
pub(crate) struct EpisodesArgs {
    #[command(flatten)]
    pub plan: EpisodesPlan,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &EpisodesArgs) -> Result<()> {
    let of = |lake: &_, windows| episodes(lake, windows, &args.plan);
    shown::study(&KIND, &args.answer, args.attempts, of)
}
