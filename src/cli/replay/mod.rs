//! `jobfate replay`: what other policies would have made of a recorded history.
//!
//! In: a lake, policies, and what of the history is taken. Out: one row per policy, over the jobs
//! paired with those of the first; with several seeds means over them, with confidence intervals;
//! what was assumed, on stderr and in `result.json`; pictures, and on request every event.

use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{AnswerArgs, AttemptArgs, console};
use crate::cli::shown;
use jobfate::answers::replay as answers;
use jobfate::answers::replay::plan::{
    ReplayPlan, check_heartbeats, history_plan, policies, setting,
};
use jobfate::answers::replay::run::{replay_all, report, tell, warning_of_apart};
use jobfate::answers::replay::{Run, Setting};
use jobfate::defaults;
use jobfate::facts::window::Windows;
use jobfate::faults::Result;
use jobfate::lake::Lake;
use jobfate::progress;
use jobfate::replay::history::{self, History};
use jobfate::replay::journal::Journal;
use jobfate::replay::policies::PolicyPlan;
use jobfate::results::shares;
use jobfate::results::store::{Answer, Origin};
use jobfate::schema::Table;
use jobfate::studies::ledger::CpuDefinition;

pub(crate) mod journal;

/// How it is called.
const EXAMPLES: &str = "Examples:\n  jobfate replay --lake lake\n  jobfate replay --lake lake --policies fifo fair fifo+late fifo+wqr:copies=2 --sample 0.1\n  jobfate replay --lake swf --policies fifo easy --out results --journal\n  jobfate replay --lake lake --cluster cluster:nodes=100,cpu=0.5,memory=0.5 --from 1 --until 3";

/// Replay recorded history under other policies
///
/// Runs the tasks of the lake on the machines of the lake, or on a simulated cluster, once per
/// policy. Tasks arrive at their recorded times and run for their recorded times; failed attempts
/// are replayed; `--killed` sets when killed tasks are killed. Assumptions are printed on stderr
/// and stored with the result. Jobs are paired with the same jobs under the first policy: a job
/// that ends under both is hurt or helped if its response differs by more than --tolerance-s and
/// --tolerance-share; a job is harmed if it finishes under the first policy only. Heartbeats skip
/// long idle periods: after a million of them at which no attempt started or ended, or while no
/// running task can be judged, the next one is just before the next event. A policy that would need
/// more than a billion heartbeats is refused.
///
/// Memory: 100 MB, and 80 bytes for each row of the tables of events in the lake's largest bucket,
/// per thread; in addition 500 bytes for each task that is replayed.
#[derive(Args, Debug)]
#[command(
    after_long_help = format!(
        "{}\n\n{}\n\n{EXAMPLES}", defaults::policies_help(), shares::help(&answers::table::SHARES)
    )
)]
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
    let policies = policies(&args.plan, &lake)?;
    let policies: Vec<&(String, PolicyPlan)> = policies.iter().collect();
    let first = first_setting(&args.plan, &lake, windows, &policies)?;
    let mut files = shown::files(args.answer.out.as_deref(), "replay")?;
    let bar = console::Bar::of_work("replay", "tasks");
    progress::expect(
        first.history.workload.task_count as u64 * policies.len() as u64 * args.plan.seeds,
    );
    let tolerance = args.plan.tolerance();
    let mut runs = vec![replay_all(&policies, &first, args.plan.seed, tolerance)];
    // Samples and made-up machines follow the seed; otherwise all seeds have the same setting.
    let is_drawn =
        args.plan.sample < 1.0 || args.plan.machines < 1.0 || args.plan.cluster.is_some();
    let others: Result<Vec<Vec<Run>>> = (1..args.plan.seeds)
        .into_par_iter()
        .map(|further| {
            // Behind the last seed comes the first.
            let seed = args.plan.seed.wrapping_add(further);
            let drawn = is_drawn.then(|| setting(&args.plan, &lake, windows, seed)).transpose()?;
            let mut runs = replay_all(&policies, drawn.as_ref().unwrap_or(&first), seed, tolerance);
            for run in &mut runs {
                (run.journal, run.jobs) = (Journal::default(), Vec::new());
            }
            Ok(runs)
        })
        .collect();
    runs.extend(others?);
    drop(bar);
    for run in &runs[0] {
        report(run, &first.history).iter().for_each(console::say);
    }
    let unit = CpuDefinition::Requested.unit(lake.source());
    let table = answers::table::of(&runs, unit);
    let mut assumptions = first.history.assumptions.clone();
    if !first.remarks.is_empty() {
        let count = first.remarks.len();
        assumptions.push(format!("{count} impossible changes of machines are left out."));
    }
    let mut json = json!({
        "unit": unit,
        "policies": (0..policies.len()).map(|idx| answers::table::json_of(&runs, idx)).collect::<Vec<Value>>(),
        "machines": first.cluster.machine_count(),
        "history": first.history.counts,
        "assumptions": assumptions,
    });
    shares::put(&mut json, &answers::table::SHARES);
    let answer = Answer {
        name: "replay",
        table: &table,
        json,
        settings: json!({
            "policies": policies.iter().map(|named| named.1.to_string()).collect::<Vec<String>>(),
            "history": history_plan(&args.plan, &lake, args.plan.seed), "seeds": args.plan.seeds,
            "windows": windows, "tolerance": args.plan.tolerance(),
            "machines": if args.plan.cluster.is_some() { "specification" } else { "machine_events" },
        }),
        charts: answers::charts::of(&runs[0], &first),
    };
    if let Some(files) = &mut files {
        files.table("replay-time", &answers::table::over_time(&runs[0]))?;
    }
    if let Some(files) = files.as_mut().filter(|_| args.journal) {
        answers::journal::put(&runs[0], &first, files)?;
    }
    shown::give(&answer, files, &Origin::of(&lake), &args.answer.form())
}

/// Reads what is to be replayed, and says what that is, what is assumed and what will take long.
fn first_setting(
    asked: &ReplayPlan,
    lake: &Lake,
    windows: Windows,
    policies: &[&(String, PolicyPlan)],
) -> Result<Setting> {
    let started = progress::now();
    let bar = console::Bar::of_work("history", "rows");
    let mut first = setting(asked, lake, windows, asked.seed)?;
    drop(bar);
    if policies.iter().any(|(_, policy)| policy.order.1.uses_estimates()) {
        let History { counts, assumptions, .. } = &mut first.history;
        assumptions.push(history::of_estimates(counts, asked.estimates));
    }
    tell(&first, started.elapsed().as_secs_f64()).iter().for_each(console::say);
    warning_of_apart(&first.history, &first.cluster).iter().for_each(console::say);
    for (name, policy) in policies {
        check_heartbeats(name, &first.history.workload, policy)?.iter().for_each(console::note);
    }
    Ok(first)
}
