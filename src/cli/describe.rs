//! `jobfate describe`: distributions per outcome, survival, and the chance to finish.

use clap::Args;

use super::engine::EngineArgs;
use super::{AnswerArgs, AttemptArgs, console};
use crate::cli::shown;
use jobfate::answers::describe::{DescribePlan, SHARES, described, edges_of, question};
use jobfate::faults::Result;
use jobfate::lake::Lake;
use jobfate::results::shares;
use jobfate::results::store::Origin;
use jobfate::schema::STARTS;
use jobfate::schema::Table;
use jobfate::studies::samples::What;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate describe --lake lake\n  jobfate describe --lake lake --what events-per-task --format csv\n  jobfate describe --lake lake --what events-per-task --by-own-end\n  jobfate describe --lake lake --what job-survival --out results\n  jobfate describe --lake lake --what waiting --group-by priority\n  jobfate describe --lake lake --what finish-given-events --group-by priority\n  jobfate describe --lake swf --what estimates --group-by user";

/// Describe durations, sizes, waits and attempts
///
/// Prints count, mean, variance (of the population), quantiles and maximum, for all jobs or
/// tasks and per outcome of the job (or of the task: `--by-own-end`), and draws a cumulative chart.
/// A job or task began before the window if its first event is before the window (time 0 in the
/// trace of 2011); its recorded times are used, and it is counted as `left_censored`. Jobs that
/// were never scheduled have no duration and are left out of `job-durations`.
///
/// `censored` counts values that are still open at the end of the window: jobs and waits with their
/// time up to that end, pending and running tasks with their events and attempts so far. Such a
/// value can only grow. `at_least` names the statistics of the row that are lower bounds because of
/// this, or because a part of a value lies before the window (a job that ran at time 0); the others
/// do not change, except that the variance may then grow or shrink. `--censored exclude` leaves the
/// values out that are still open, so short values count for more; `--what job-survival` avoids
/// this bias.
///
/// A wait is the time from the first SUBMIT of a task to the first SCHEDULE after it. A task that
/// never starts waits until its last event, if that ends it, or until its job ends: such waits
/// count as `ended_waiting`. If a task ends before it starts and is submitted again, its wait
/// continues and still counts from the first SUBMIT. A wait that is still open at the window's end
/// is censored. `wait_us` of `query q02` has the same definition.
///
/// For logs with requested times, `estimates` describes the running times of attempts (without
/// suspensions) in per cent of the time that their user requested. `overruns` counts attempts above
/// 100 %; attempts without a known request are left out. `--group-by user` gives a row per user.
///
/// Memory: 100 MB, and 130 bytes for each row of the tables of events in the lake's largest
/// bucket, per thread.
#[derive(Args, Debug)]
#[command(after_long_help = shares::help(&SHARES, EXAMPLES))]
pub(crate) struct DescribeArgs {
    #[command(flatten)]
    pub plan: DescribePlan,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub engine: EngineArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &DescribeArgs) -> Result<()> {
    args.plan.check_alone()?;
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?.closing(args.attempts.open_attempts);
    if args.plan.what == What::Waiting {
        super::show_remarks(&lake, Table::TaskEvents, "wait ");
        super::show_remarks(&lake, Table::TaskEvents, "no submit time");
        super::show_remarks(&lake, Table::TaskEvents, STARTS);
    }
    super::show_remarks_for_all(&lake);
    let mut files = shown::files(args.answer.out.as_deref(), args.plan.what.name())?;
    let engine = args.engine.sql()?;
    let bar = console::Bar::of_work(args.plan.what.name(), "rows");
    let described = described(&lake, windows, question(&args.plan)?, engine.as_ref())?;
    drop(bar);
    console::note(edges_of(described.question.what, &described.censoring));
    if let Some(files) = &mut files {
        described.put_details(files)?;
    }
    shown::give(&described.answer(windows), files, &Origin::of(&lake), &args.answer.form())
}
