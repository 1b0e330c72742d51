//! `jobfate describe`: distributions per outcome, survival, and the chance to finish.

use crate::answers::describe::{Censored, Question, described};

use clap::Args;

use super::engine::EngineArgs;
use super::{AnswerArgs, AttemptArgs, console};
use crate::answers::edges;
use crate::cli::shown;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::store::Origin;
use crate::schema::Table;
use crate::studies::ledger::GroupBy;
use crate::studies::outcomes::Classes;
use crate::studies::samples::{Waits, What};

/// Describe how long, how many and how often
///
/// A table of count, mean, variance (of the population), quantiles and maximum, for all
/// jobs or tasks and per outcome of the job (or of the task: `--by-own-end`), with a cumulative chart. What began before the
/// window has time 0 in the trace; it is taken as written and counted as `left_censored`.
///
/// `censored` counts values that the end of the window cuts off: jobs and waits with their time up
/// to there, tasks that still pend or run with the events and attempts that they have so far. Such
/// a value can only grow. `at_least` names the statistics of the row that are lower bounds because
/// of it; the others do not move, except that the variance is then unknown. `--censored exclude`
/// leaves these values out, which favours short ones; `job-survival` needs neither.
///
/// A wait is the time from the first SUBMIT of a task to the first SCHEDULE behind it. A task that
/// never starts waits until its last event, if that ends it, or until its job ends: such waits count
/// as `ended_waiting`. One that still pends at the window's end is censored. `wait_us` of `query q02`
/// is the same.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate describe --lake lake\n  jobfate describe --lake lake --what events-per-task --format csv\n  jobfate describe --lake lake --what events-per-task --by-own-end\n  jobfate describe --lake lake --what job-survival --out results\n  jobfate describe --lake lake --what waiting --group-by priority\n  jobfate describe --lake lake --what finish-given-events --group-by priority"
)]
pub(crate) struct DescribeArgs {
    /// What is described
    #[arg(long, value_enum, default_value_t)]
    pub what: What,

    /// How outcomes are told: sequence or terminal
    #[arg(long, value_name = "CLASSES", default_value_t, conflicts_with = "by_own_end")]
    pub classes: Classes,

    /// Split by the end of each task, not of its job
    ///
    /// For --what events-per-task, waiting and attempts. The outcome of a task is told by its last
    /// terminal event, unless a SUBMIT or SCHEDULE follows it, as `classify --by task --classes
    /// terminal` does. A task of a killed job that finished itself counts as finished.
    #[arg(long)]
    pub by_own_end: bool,

    /// Whether values cut off by the window's end are in
    ///
    /// A job that has not ended counts with its time up to the window's end, and is counted as
    /// censored. `exclude` leaves it out.
    #[arg(long, value_enum, default_value_t)]
    pub censored: Censored,

    /// Which waits are described, by how they ended
    ///
    /// For --what waiting.
    #[arg(long, value_enum, default_value_t)]
    pub waits: Waits,

    /// Split by priority, class or user
    ///
    /// Rows of all groups together come first, then each group with the outcomes that occur in
    /// it; the chart shows the largest groups. The priority of a job is the largest of its tasks,
    /// that of a task the last seen.
    #[arg(long, value_name = "KEY", value_enum)]
    pub group_by: Option<GroupBy>,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub engine: EngineArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// What the flags ask.
///
/// # Errors
/// Values that are not of tasks alone cannot be split by the tasks' own ends.
pub(crate) fn question(args: &DescribeArgs) -> Result<Question, Usage> {
    let &DescribeArgs { what, classes, censored, waits, group_by, .. } = args;
    let asked = Question { classes, censored, waits, group_by, ..Question::plain(what) };
    match (args.by_own_end, what.is_of_tasks_alone()) {
        (false, _) => Ok(asked),
        (true, true) => Ok(asked.by_own_end()),
        (true, false) => Err(Usage(format!(
            "--by-own-end splits what each task has by itself, and `{}` depends on the job: \
             take --what events-per-task, waiting or attempts",
            what.name()
        ))),
    }
}

pub(crate) fn run(args: &DescribeArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?.closing(args.attempts.open_attempts);
    if args.what == What::Waiting {
        super::show_remarks(&lake, Table::TaskEvents, "wait ");
    }
    let mut files = shown::files(args.answer.out.as_deref(), args.what.name())?;
    let engine = args.engine.sql()?;
    let bar = console::Bar::of_work("describe", "rows");
    let described = described(&lake, windows, question(args)?, engine.as_ref())?;
    drop(bar);
    console::note(edges::sentence(&described.censoring));
    if let Some(files) = &mut files {
        described.put_details(files)?;
    }
    shown::give(&described.answer(windows), files, &Origin::of(&lake), &args.answer.form())
}
