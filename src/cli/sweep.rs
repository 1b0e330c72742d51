//! `jobfate sweep`: the savings of killing hopeless tasks earlier, and the jobs that it would have
//! harmed.

use clap::Args;

use super::account::study_of;
use super::engine::EngineArgs;
use super::{AnswerArgs, AttemptArgs, Format, console};
use crate::cli::shown;
use jobfate::answers::spread::Errand;
use jobfate::answers::sweep::plan::asked;
use jobfate::answers::sweep::{
    KIND, SHARES, SweepPlan, answer, check_sides, harmed_table, put_details, selection_line,
    selection_table, sweep_all, table_of,
};
use jobfate::answers::{edges, words};
use jobfate::faults::Result;
use jobfate::lake::Lake;
use jobfate::results::shares;
use jobfate::results::store::Origin;
use jobfate::results::view::View;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate sweep --lake lake\n  jobfate sweep --lake lake --cpu slots --thresholds 5,10,20..=100:20\n  jobfate sweep --lake lake --cpu slots --rules events,failures,events+failures=3 --out results\n  jobfate sweep --lake lake --rules events,failures,restarts --train-until 0.5\n  jobfate sweep --lake lake --cpu slots --bootstrap 1000 --out results\n  jobfate sweep --lake lake --cpu slots --thresholds 10,50 --group-by priority";

/// Sweep the threshold at which hopeless tasks are killed
///
/// A task is condemned (would be killed) at its event number T + 1. The CPU of its attempts after
/// that instant is saved; finished jobs with a condemned task are harmed. `published` CPU is known
/// only per job: the saved share is that of measured CPU.
///
/// All shares are of the loaded tables. `largest_saved_share` and `largest_destroyed_share` are the
/// largest shares of a single job in all CPU saved and in all CPU destroyed: if one is near 1, one
/// job makes up nearly all of the sum. `condemned_at_end` counts condemned tasks that had finished
/// by the instant of their kill and did not run again: their last terminal event is a FINISH, not
/// later than that instant, and no SUBMIT or SCHEDULE follows it. They save nothing, but harm their
/// jobs. A task that finishes at its event T + 1 and runs again later is condemned, but does not
/// count as `condemned_at_end`. Without `job_events` no outcome is known, and columns that depend
/// on outcomes stay empty.
///
/// Memory: 100 MB, and 130 bytes for each row of the tables of events and usage in the lake's
/// largest bucket, per thread.
#[derive(Args, Debug)]
#[command(after_long_help = shares::help(&SHARES, EXAMPLES))]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub plan: SweepPlan,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub engine: EngineArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &SweepArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?.closing(args.attempts.open_attempts);
    let asked = asked(&args.plan, &lake)?;
    super::show_remarks_for_all(&lake);
    let mut files = shown::files(args.answer.out.as_deref(), KIND.name)?;
    let errand = || Errand::Sweep(words::write(&args.plan), args.plan.harmed);
    let study = study_of(&lake, windows, (&asked, args.plan.choice, &errand), &args.engine)?;
    check_sides(&study)?;
    console::note(edges::of_study(&study));
    let swept = sweep_all(&study, args.plan.price);
    let table = match study.asked.all_harmed_at {
        Some(step) => harmed_table(&study, step),
        None => table_of(swept.shown(), study.unit()),
    };
    let selected = swept
        .selection
        .as_ref()
        .map(|found| (found, selection_table(found, &swept.sweeps, study.unit())));
    let answer = answer(&args.plan, windows, &study, &swept, &table);
    if let Some(files) = &mut files {
        put_details(&study, &swept, selected.as_ref().map(|found| &found.1), files)?;
    }
    shown::give(&answer, files, &Origin::of(&lake), &args.answer.form())?;
    if let Some((selection, table)) = &selected {
        console::note(selection_line(selection));
        if args.answer.format == Format::Table {
            console::data("\n")?;
            shown::show_table(table, &View::default())?;
        }
    }
    Ok(())
}
