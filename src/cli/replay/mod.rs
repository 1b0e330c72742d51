//! `jobfate replay`: a recorded history under other policies.
//!
//! In: a lake, policies, and the part of the history to replay. Out: one row per policy, in which
//! each job is compared with the same job under the first policy. With several seeds, the values
//! are means with confidence intervals. Assumptions are on stderr and in `result.json`. Charts are
//! stored as well, and every event on request.

use clap::Args;

use super::{AnswerArgs, AttemptArgs};
use crate::cli::shown::{self, Terminal};
use jobfate::answers::replay::plan::ReplayPlan;
use jobfate::answers::replay::{KIND, step, table};
use jobfate::defaults;
use jobfate::faults::Result;
use jobfate::lake::Lake;
use jobfate::results::shares;
use jobfate::schema::Table;

pub(crate) mod journal;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate replay --lake lake\n  jobfate replay --lake lake --policies fifo fair fifo+late fifo+wqr:copies=2 --sample 0.1\n  jobfate replay --lake swf --policies fifo easy --out results --journal\n  jobfate replay --lake lake --cluster cluster:nodes=100,cpu=0.5,memory=0.5 --from 1 --until 3";

/// Replay recorded history under other policies
///
/// Runs the tasks of the lake on the machines of the lake, or on a simulated cluster, once per
/// policy. Tasks arrive and run as recorded, without suspensions; failed attempts are replayed;
/// `--killed` sets when killed tasks are killed. A task that depends on other tasks of its job
/// (`depends_on`) starts once these have ended, whether they finished or not. Assumptions are
/// printed on stderr and stored with the result. Each job is compared with the same job under the
/// first policy. A job that ends under both policies is hurt or helped if its response times differ
/// by more than --tolerance-s and --tolerance-share, unless a kill rule ended one of its tasks; a
/// job that finishes only under the first policy is harmed. A heartbeat that can judge no running
/// task is skipped. After a million heartbeats without the start or end of an attempt, the replay
/// jumps to the last heartbeat before the next event. A policy that would need more than a billion
/// heartbeats is refused. The replay of a policy runs on one core, because each event depends on
/// all events before it; policies run in parallel.
///
/// Memory: 100 MB, and 80 bytes for each row of the tables of events in the lake's largest bucket,
/// per thread; in addition 500 bytes for each task that is replayed.
#[derive(Args, Debug)]
#[command(after_long_help = defaults::policies_help() + "\n\n" + &shares::help(&table::SHARES, EXAMPLES))]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub plan: ReplayPlan,

    /// Store every event of every replay
    ///
    /// As `journal-N.parquet` and `journal-N.txt` for policy number N in the folder of --out;
    /// `jobfate journal` prints the Parquet file as text.
    #[arg(long, requires = "out")]
    pub journal: bool,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    lake.require(Table::TaskEvents)?;
    let windows = super::windows(&lake, &args.answer)?.closing(args.attempts.open_attempts);
    let files = || shown::files(args.answer.out.as_deref(), KIND.name);
    super::show_remarks_for_all(&lake);
    let screen = Terminal { form: args.answer.form() };
    step::give(&args.plan, (&lake, windows), &files, args.journal, &screen)
}
