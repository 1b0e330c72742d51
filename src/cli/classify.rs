//! `jobfate classify`: counts jobs or tasks by their sequence of events.

use clap::Args;

use super::engine::EngineArgs;
use super::{AnswerArgs, console};
use crate::cli::shown;
use jobfate::answers::classify::{
    Choice, ClassifyPlan, SHARES, add_reasons, answer, classification, nearly_all, reasons,
    table_of, table_of_reasons,
};
use jobfate::faults::Result;
use jobfate::lake::Lake;
use jobfate::results::shares;
use jobfate::results::store::Origin;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate classify --lake lake\n  jobfate classify --lake lake --by task --classes terminal\n  jobfate classify --lake lake --sequences --format csv\n  jobfate classify --lake cluster --classes terminal --by-reason\n  jobfate classify --lake lake --out results";

/// Count jobs or tasks by outcome
///
/// A job or task began before the window if its first event is before the window (time 0 in the
/// trace of 2011). It is classified by its recorded events.
///
/// Memory: 100 MB, and 50 bytes for each row of the tables of events in the lake's largest bucket,
/// per thread.
#[derive(Args, Debug)]
#[command(after_long_help = shares::help(&SHARES, EXAMPLES))]
pub(crate) struct ClassifyArgs {
    #[command(flatten)]
    pub plan: ClassifyPlan,

    #[command(flatten)]
    pub engine: EngineArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &ClassifyArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    super::show_remarks(&lake, args.plan.by.table(), "status unknown");
    super::show_remarks_for_all(&lake);
    let windows = super::windows(&lake, &args.answer)?;
    let engine = args.engine.sql()?;
    let files = shown::files(args.answer.out.as_deref(), args.plan.by.kind().name)?;
    let bar = console::Bar::of_work(args.plan.by.kind().name, "rows");
    let outcome = classification(&lake, windows, args.plan.by, args.plan.classes, engine.as_ref())?;
    drop(bar);
    let plan = args.plan;
    let by_reason = || reasons(&lake, plan.by, plan.classes);
    let reasons = plan.by_reason.then(by_reason).transpose()?;
    let table = match &reasons {
        Some(rows) => table_of_reasons(rows),
        None if plan.sequences => table_of(&outcome.sequences),
        None => table_of(&outcome.rows),
    };
    let choice = Choice { plan, windows };
    console::note(choice.edges(&outcome));
    nearly_all(&outcome.rows, plan.classes, plan.by.plural()).into_iter().for_each(console::warn);
    let mut answer = answer(&lake, &outcome, choice, &table)?;
    if let Some(rows) = &reasons {
        add_reasons(&mut answer, rows, plan.by);
    }
    shown::give(&answer, files, &Origin::of(&lake), &args.answer.form())
}
