//! `jobfate predict`: whether a job will finish, predicted at its submission or later.

use clap::Args;

use super::{AnswerArgs, console};
use crate::cli::shown;
use jobfate::answers::predict::{KIND, PredictPlan, SHARES, predicted};
use jobfate::faults::Result;
use jobfate::lake::Lake;
use jobfate::results::shares;
use jobfate::results::store::Origin;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate predict --lake lake\n  jobfate predict --lake lake --rules last,rate:half_life=20 --format json\n  jobfate predict --lake lake --out results";

/// Predict whether jobs will finish
///
/// Each rule predicts, when a job is submitted or reaches --age, whether it will finish. It uses
/// only jobs that had ended by then, so no later event can change a prediction. The positive class
/// is "does not finish" (FAIL or KILL). A rule predicts it if its chance is larger than one half.
/// The scores count jobs with a SUBMIT within the window and FINISH, FAIL or KILL as the last event.
/// Rules learn from every such end. All unknown users count as one user, and so do unknown names.
///
/// --out adds scores by outcome, by day of submission and by predicted chance (calibration), and
/// the ROC and precision-recall curves, as CSV, Parquet and charts.
///
/// Memory: 100 MB, and 200 bytes for each row of `job_events`; with `hazard-events` also 130 bytes for
/// each row of `task_events` in the lake's largest bucket, per thread, and 400 bytes for each job that
/// ended.
#[derive(Args, Debug)]
#[command(after_long_help = shares::help(&SHARES, EXAMPLES))]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    pub plan: PredictPlan,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &PredictArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    super::show_remarks_for_all(&lake);
    let windows = super::windows(&lake, &args.answer)?;
    let mut files = shown::files(args.answer.out.as_deref(), KIND.name)?;
    let bar = console::Bar::of_work(KIND.name, "rows");
    let predicted = predicted(&lake, windows, &args.plan)?;
    drop(bar);
    console::note(predicted.edges());
    if let Some(files) = &mut files {
        predicted.put_details(files)?;
    }
    let table = predicted.table();
    let answer = predicted.answer(windows, &table);
    shown::give(&answer, files, &Origin::of(&lake), &args.answer.form())
}
