//! `jobfate account`: CPU time or memory time per outcome, as a ledger that closes.

use clap::Args;

use super::engine::EngineArgs;
use super::{AnswerArgs, AttemptArgs, console};
use crate::cli::shown;
use jobfate::answers::account::{
    AccountPlan, CpuChoice, SHARES, answer, kind_of, lines, put_details, table_of,
};
use jobfate::answers::spread::{self, Errand};
use jobfate::answers::study::Definitions;
use jobfate::answers::words;
use jobfate::facts::query::Settings;
use jobfate::facts::tables::SqlEngine;
use jobfate::facts::window::Windows;
use jobfate::faults::Result;
use jobfate::lake::Lake;
use jobfate::results::shares;
use jobfate::results::store::Origin;
use jobfate::schema::Table;
use jobfate::studies::fold::{Asked, Study, fold};
use jobfate::studies::ledger::{GroupBy, ledger};
use jobfate::studies::of_facts;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate account --lake lake\n  jobfate account --lake lake --cpu slots --classes terminal\n  jobfate account --lake lake --resource memory --memory assigned\n  jobfate account --lake lake --cpu requested --group-by priority,user --format csv\n  jobfate account --lake cluster --by-reason --out results";

/// Add up CPU time or memory time per outcome
///
/// The rows add up: outcomes + unmatched + `outside_attempts` = total. `slots` and `requested` need
/// no usage table.
///
/// With `--resource memory` the column `memory` is memory multiplied by the time for which it was
/// requested or used. Google traces give memory as a share of the largest machine's, so the unit is
/// NMU-s (normalised memory units times seconds); logs give KiB or MiB.
///
/// `jobs` counts all jobs of `job_events`; tasks and CPU cover only jobs with tasks in the loaded
/// parts; `jobs_with_tasks` counts them. `share` is the row's share of the total. `largest_job_share` is
/// the largest share of one job in the amount of the row. `ends` in JSON has CPU and GPU time by how
/// attempts ended, whatever became of their jobs, and `reasons` by the reasons of a log; `--out` stores
/// them as tables if they show something else than the outcomes. Without `job_events` no outcome is known:
/// the rows of outcomes stay empty, and all CPU is unmatched.
///
/// Memory: 100 MB, and 130 bytes for each row of the tables of events and usage in the lake's
/// largest bucket, per thread.
#[derive(Args, Debug)]
#[command(after_long_help = shares::help(&SHARES, EXAMPLES))]
pub(crate) struct AccountArgs {
    #[command(flatten)]
    pub plan: AccountPlan,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub engine: EngineArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &AccountArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?.closing(args.attempts.open_attempts);
    if args.plan.group_by.contains(&GroupBy::Priority) {
        lake.require(Table::TaskEvents)?;
    }
    let asked = args.plan.asked(&lake)?;
    super::show_remarks_for_all(&lake);
    let mut files = shown::files(args.answer.out.as_deref(), kind_of(asked.meter).name)?;
    let errand = || Errand::Account(words::write(&args.plan));
    let study = study_of(&lake, windows, (&asked, args.plan.choice, &errand), &args.engine)?;
    let ledger = ledger(&study);
    let groups = args.plan.groups();
    let table = table_of(&ledger, &groups);
    lines(&ledger).into_iter().for_each(console::note);
    if let Some(files) = &mut files {
        put_details(&ledger, files)?;
    }
    let answer = answer(&args.plan, &ledger, windows, &table);
    shown::give(&answer, files, &Origin::of(&lake), &args.answer.form())
}

/// Runs the study with the selected engine.
pub(crate) fn study_of(
    lake: &Lake,
    windows: Windows,
    (asked, choice, errand): (&Asked, CpuChoice, &dyn Fn() -> Errand),
    engine: &EngineArgs,
) -> Result<Study> {
    let _bar = console::Bar::of_work("fold", "rows");
    let Some(engine) = engine.sql()? else { return Ok(fold(lake, windows, asked)?) };
    if let (SqlEngine::Spark(spark), Err(why)) = (&engine, of_facts::check(lake, asked)) {
        console::note(format!("{why}: this program folds the buckets on the workers"));
        let definitions =
            Definitions { cpu: choice.cpu, classes: choice.classes, ..Definitions::default() };
        let parts = spread::ask(spark, lake, (windows, definitions), vec![errand()])?;
        return spread::study(lake, windows, asked, parts.first());
    }
    of_facts::check(lake, asked)?;
    if lake.source().suspends() {
        let text = "the queries charge each attempt from its start to its end, also the time for \
            which it was suspended: leave --engine out for the time that it ran";
        console::note(text);
    }
    let thresholds = asked.rules.iter().flat_map(|rule| rule.grid.iter().copied()).collect();
    let settings = Settings::new(windows, thresholds);
    let facts = engine.facts(lake, &of_facts::queries_of_study(lake, asked), &settings)?;
    Ok(of_facts::study(&facts, lake, windows, asked))
}
