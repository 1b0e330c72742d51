//! `jobfate detect`: which tasks each straggler detector would have flagged in recorded history,
//! and how many flags were right.

use clap::Args;

use super::engine::WorkersArgs;
use super::{AnswerArgs, AttemptArgs, console};
use crate::cli::shown;
use jobfate::answers::detect::plan::{DetectAsked, prepare};
use jobfate::answers::detect::{
    KIND, SHARES, answer, counts_line, detect_into, put_details, settings, table_of,
};
use jobfate::answers::spread::Errand;
use jobfate::answers::words;
use jobfate::digits::counted;
use jobfate::faults::Result;
use jobfate::lake::Lake;
use jobfate::results::shares;
use jobfate::results::store::Origin;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate detect --lake lake\n  jobfate detect --lake lake --detectors poisson:window_s=60 late yarn:estimator=simple\n  jobfate detect --lake lake --detectors late:budget=0.1 spark:version=3 --heartbeat 30\n  jobfate detect --lake lake --progress linear --curve --out results\n  jobfate detect --lake lake --detectors none --windows 30,60,120,240,480";

/// Replay straggler detectors over recorded history
///
/// Replays the recorded attempts heartbeat by heartbeat. At each heartbeat every detector flags
/// tasks, using only earlier events. At the end its flags are scored. A group is a job, or a phase
/// of a job if the trace records phases. History is not changed: a flagged attempt counts as having
/// a copy until it ends. Attempts that were running at time 0 are left out. Detectors see attempts
/// that never finish, but flags on them are not scored.
///
/// Memory: 100 MB, and 80 bytes for each row of the tables of events and usage in the lake's
/// largest bucket, per thread.
#[derive(Args, Debug)]
#[command(after_long_help = shares::help(&SHARES, EXAMPLES))]
pub(crate) struct DetectArgs {
    #[command(flatten)]
    pub asked: DetectAsked,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub workers: WorkersArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &DetectArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?.closing(args.attempts.open_attempts);
    let (lineup, plan) = prepare(&args.asked, &lake)?;
    super::show_remarks_for_all(&lake);
    let settings = settings(&args.asked, &plan, windows);
    let started = jobfate::progress::now();
    let mut files = shown::files(args.answer.out.as_deref(), KIND.name)?;
    let origin = Origin::of(&lake);
    if let Some(files) = &mut files {
        files.are_made_from(&origin, &settings);
    }
    let bar = console::Bar::of_work(KIND.name, "rows");
    let errand = || Ok(Errand::Detect(words::write(&args.asked)));
    let parts = args.workers.parts(&lake, windows, errand)?;
    let outcome = detect_into(&lake, windows, &plan, files.as_mut(), parts.as_ref())?;
    drop(bar);
    console::note(counts_line(&outcome));
    #[expect(clippy::cast_precision_loss, reason = "a count shown with few digits")]
    let judged = outcome.counts.task_heartbeats as f64 * plan.detectors.len() as f64;
    console::note(format!(
        "{}, {:.1} million judgements per second",
        counted(plan.detectors.len() as u64, "detector"),
        judged / started.elapsed().as_secs_f64() / 1e6
    ));
    let table = table_of(&outcome, lineup.asked);
    let answer = answer(&outcome, &plan, &lineup, settings, &table);
    if let Some(files) = &mut files {
        put_details(&outcome, &plan, &lineup, files)?;
    }
    shown::give(&answer, files, &origin, &args.answer.form())
}
