//! `jobfate reproduce`: a published study beside ours, number by number.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::account;
use super::classify::{self, By};
use super::describe::{Question, describe, summaries};
use super::exit::Usage;
use super::ingest::{self, IngestArgs, IngestChoice};
use super::render::Frame;
use super::store::{self, Answer, Files, Origin};
use super::{AnswerArgs, console, reproduce_experiments, stop_on_signal, sweep_charts};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{Source, Table};
use crate::studies::checks::is_whole;
use crate::studies::counted::Value;
use crate::studies::distributions::Summary;
use crate::studies::fold::{Asked, fold};
use crate::studies::kill_sweep;
use crate::studies::ledger::{CpuDefinition, ledger};
use crate::studies::mandai::{Basis, Comparisons, Verdict, printed};
use crate::studies::outcomes::Classes;
use crate::studies::rules::{Rule, RuleGrid};
use crate::studies::samples::{Samples, Split, What, collect};

/// Repeat a published study and compare number by number
///
/// mandai: Mandai, Kawahara, Kasahara (2017), job outcomes in the Google trace of 2011. A number
/// from tables that are not whole is shown and not judged; what needs a table that is not there
/// is named. No parameter is tuned.
///
/// ota: Ota, Aida (2009), fairness among the users of a grid, on the first week of any log. The
/// paper does not name its own week of Grid'5000; its worked examples are judged, its figures
/// drawn.
///
/// tan, asahara, cui: experiments that are simulated anew, figure by figure, with the range in
/// which ours counts as reproduced, and other readings of what the paper leaves open.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate reproduce mandai clusterdata-2011-2 --lake lake --out reports/mandai\n  jobfate reproduce ota LCG.swf.gz --lake lcg --out reports/ota\n  jobfate reproduce tan --out reports/tan\n  jobfate reproduce cui --runs 3 --format csv"
)]
pub(crate) struct ReproduceArgs {
    /// The study
    #[arg(value_enum)]
    pub study: StudyName,

    /// Folder of the trace; what --lake lacks is ingested
    #[arg(value_name = "TRACE_DIR")]
    pub trace: Option<PathBuf>,

    /// First seed of an experiment; run k has seed + k
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// Runs of each setting of an experiment
    ///
    /// By default 100 for tan (figures 3 and 4 have a tenth of it, as in the paper), 5 for asahara,
    /// 10 for cui.
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: Option<u32>,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// A published study.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum StudyName {
    /// Job outcomes, CPU per outcome, and the kill threshold (2017)
    Mandai,
    /// Usage and user priorities of a grid over a week (2009)
    Ota,
    /// A work queue with replication under node failures (2003)
    Tan,
    /// Stragglers when the state of the system changes (2013)
    Asahara,
    /// Slow tasks by way of slow nodes (2014)
    Cui,
}

impl StudyName {
    /// The name of the answer.
    pub(crate) const fn answer(self) -> &'static str {
        match self {
            Self::Mandai => "mandai",
            Self::Ota => "ota",
            Self::Tan => "tan",
            Self::Asahara => "asahara",
            Self::Cui => "cui",
        }
    }
}

pub(crate) fn run(args: ReproduceArgs) -> Result<()> {
    match args.study {
        StudyName::Mandai | StudyName::Ota => recorded(args),
        StudyName::Tan | StudyName::Asahara | StudyName::Cui => reproduce_experiments::run(&args),
    }
}

fn recorded(args: ReproduceArgs) -> Result<()> {
    if args.seed.is_some() || args.runs.is_some() {
        return Err(
            Usage("--seed and --runs are for experiments; this study has no draws".into()).into()
        );
    }
    if let Some(trace) = args.trace {
        let lake = args.answer.lake.clone();
        let ingest = IngestArgs { trace, lake, choice: IngestChoice::default() };
        ingest::run_plan(&ingest::plan(&ingest)?, ingest.choice.force, &stop_on_signal()?)?;
    }
    if let StudyName::Ota = args.study {
        return super::fairness::ota::run(&args.answer);
    }
    let lake = Lake::open(&args.answer.lake)?;
    if lake.source() != Source::Google2011 {
        let source = lake.source();
        return Err(
            Usage(format!("the study is of google-2011, and this lake holds {source}")).into()
        );
    }
    let windows = super::windows(&lake, &args.answer)?;
    let files = Files::in_out(args.answer.out.as_deref(), "mandai")?;
    let mut all = Comparisons::default();
    let mut charts = Vec::new();
    jobs(&lake, windows, &mut all)?;
    tasks(&lake, windows, &mut all)?;
    cpu(&lake, windows, &mut all, &mut charts)?;
    for (what, stem) in [
        (What::JobDurations, "figure-3.1.1-and-3.2.1"),
        (What::TasksPerJob, "figure-3.1.2-and-3.2.2"),
        (What::EventsPerTask, "figure-4.1.1"),
    ] {
        if lake.has(Table::JobEvents) && (what == What::JobDurations || lake.has(Table::TaskEvents))
        {
            let described = describe(&lake, windows, Question::plain(what))?;
            charts.push((stem.to_owned(), described.chart));
        }
    }
    let table = Frame::default()
        .text("item", all.0.iter().map(|one| one.item))
        .text("what", all.0.iter().map(|one| one.what.as_str()))
        .float("paper", all.0.iter().map(|one| Some(one.paper)))
        .float("ours", all.0.iter().map(|one| one.ours))
        .text("verdict", all.0.iter().map(|one| one.verdict.name()))
        .text("note", all.0.iter().map(|one| one.note.as_str()))
        .batch();
    let count = |verdict| all.0.iter().filter(|one| one.verdict == verdict).count();
    console::note(format!(
        "{} reproduced, {} differ, {} not comparable (parts of a table), {} need a table that is not there",
        count(Verdict::Reproduced),
        count(Verdict::Differs),
        count(Verdict::NotComparable),
        count(Verdict::Missing)
    ));
    let answer = Answer {
        name: "mandai",
        table: &table,
        json: json!({"rows": all.0}),
        settings: json!({"windows": windows, "classes": "sequence"}),
        charts,
    };
    store::give(&answer, files, &Origin::of(&lake), &args.answer.form())
}

/// How far numbers from these tables can be compared with those of the whole trace.
fn basis(lake: &Lake, tables: &[Table]) -> Basis {
    if let Some(missing) = tables.iter().find(|table| !lake.has(**table)) {
        return Basis::Missing(format!("table {missing}"));
    }
    if !lake.manifest.origin.is_original() {
        return Basis::Partial("a synthetic or sampled trace".to_owned());
    }
    match tables.iter().find(|table| !is_whole(lake, **table)) {
        None => Basis::Whole,
        Some(table) => {
            let parts = lake
                .manifest
                .table(*table)
                .map(crate::lake::TableEntry::part_ranges)
                .unwrap_or_default();
            Basis::Partial(format!("{table} parts {parts}"))
        }
    }
}

/// Table 3.1.1 and figure 3.1.1.
fn jobs(lake: &Lake, windows: Windows, all: &mut Comparisons) -> Result<()> {
    let basis = basis(lake, &[Table::JobEvents]);
    let has_jobs = lake.has(Table::JobEvents);
    let counted = if has_jobs {
        Some(classify::classification(lake, windows, By::Job, Classes::Sequence, None)?)
    } else {
        None
    };
    let count_of = |outcome: &str| {
        let rows = counted.as_ref()?.rows.iter();
        #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
        rows.filter(|row| row.outcome == outcome).map(|row| row.count as f64).next()
    };
    let paper = [
        ("finished", 385_581.0, 57.375),
        ("failed", 10_124.0, 1.506),
        ("killed", 272_341.0, 40.525),
        ("running", 3_986.0, 0.593),
    ];
    let named: Option<f64> = paper.iter().map(|(outcome, ..)| count_of(outcome)).sum();
    for (outcome, count, share) in paper {
        let ours = count_of(outcome);
        all.add("Table 3.1.1", &format!("{outcome} jobs"), printed(count, 1.0), ours, &basis);
        let ours = ours.zip(named).map(|(ours, named)| ours / named * 100.0);
        all.add(
            "Table 3.1.1",
            &format!("{outcome} share (%)"),
            printed(share, 0.001),
            ours,
            &basis,
        );
    }
    all.add("Table 3.1.1", "other jobs", printed(42.0, 1.0), count_of("other"), &basis);
    let row =
        if has_jobs { Some(summaries(lake, windows, What::JobDurations)?.remove(0)) } else { None };
    let of = |value: fn(&Summary) -> Option<f64>| row.as_ref().and_then(value);
    let minutes = |value: Option<f64>| value.map(|seconds| seconds / 60.0);
    all.add(
        "Figure 3.1.1",
        "mean duration (min)",
        printed(255.0, 1.0),
        minutes(of(|row| row.mean)),
        &basis,
    );
    all.add(
        "Figure 3.1.1",
        "median duration (min)",
        printed(3.0, 1.0),
        minutes(of(|row| row.median)),
        &basis,
    );
    all.add(
        "Figure 3.1.1",
        "variance of duration (s²)",
        printed(2.83e10, 1e8),
        of(|row| row.variance),
        &basis,
    );
    all.remark("running jobs closed at 2,506,200 s");
    all.add(
        "Figure 3.1.1",
        "shortest duration (s)",
        printed(0.001, 0.001),
        of(|row| row.min),
        &basis,
    );
    all.remark("the trace's shortest job lasts 1 µs");
    Ok(())
}

/// Figures 3.1.2 and 4.1.1.
fn tasks(lake: &Lake, windows: Windows, all: &mut Comparisons) -> Result<()> {
    let basis = basis(lake, &[Table::TaskEvents]);
    let has_tasks = lake.has(Table::TaskEvents);
    let row =
        if has_tasks { Some(summaries(lake, windows, What::TasksPerJob)?.remove(0)) } else { None };
    let of = |value: fn(&Summary) -> Option<f64>| row.as_ref().and_then(value);
    all.add("Figure 3.1.2", "mean tasks per job", printed(37.9, 0.1), of(|row| row.mean), &basis);
    all.add(
        "Figure 3.1.2",
        "variance of tasks per job",
        printed(1.07e6, 1e4),
        of(|row| row.variance),
        &basis,
    );
    all.add(
        "Figure 3.1.2",
        "most tasks of a job",
        printed(90_050.0, 1.0),
        of(|row| row.max),
        &basis,
    );
    all.add(
        "Figure 3.1.2",
        "75 % of jobs have at most (tasks)",
        printed(1.0, 1.0),
        of(|row| row.p75),
        &basis,
    );
    let split = Split { classes: Classes::Sequence, group_by: None };
    let tasks = if has_tasks {
        collect(lake, windows, What::EventsPerTask, split)?
    } else {
        Samples::default()
    };
    let longest = tasks.of_outcome(0).largest().map(Value::amount);
    let failed_and_killed = tasks.of(|key| matches!(key.1, 1 | 2));
    let all_of_them = failed_and_killed.count(|_| true);
    let long = failed_and_killed.count(|events| 3 < events.amount());
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let share_above_3 = (0 < all_of_them).then(|| long as f64 / all_of_them as f64 * 100.0);
    all.add(
        "Figure 4.1.1",
        "failed and killed tasks with more than 3 events (%)",
        printed(20.0, 1.0),
        share_above_3,
        &basis,
    );
    all.remark("the paper says `20 % or more`, by outcome of the job");
    #[expect(clippy::cast_precision_loss, reason = "a count of events")]
    let longest = longest.map(|events| events as f64);
    all.add(
        "Section 4.2",
        "longest sequence of a task in a finished job",
        printed(280.0, 1.0),
        longest,
        &basis,
    );
    Ok(())
}

/// Table 3.1.2 and figures 4.2.1 and 4.2.2.
fn cpu(
    lake: &Lake,
    windows: Windows,
    all: &mut Comparisons,
    charts: &mut Vec<(String, crate::charts::Chart)>,
) -> Result<()> {
    let tables = [Table::JobEvents, Table::TaskEvents, Table::TaskUsage, Table::MachineEvents];
    let basis = basis(lake, &tables);
    let rules = vec![RuleGrid::new(Rule::Events, Rule::Events.default_grid())];
    let has_usage = !matches!(basis, Basis::Missing(_));
    // Without usage the curves are drawn for slots, and nothing is compared with them.
    let cpu = if has_usage { CpuDefinition::Published } else { CpuDefinition::Slots };
    if !lake.has(Table::TaskEvents) || !lake.has(Table::JobEvents) {
        console::note("skipped: figures 4.2.1 and 4.2.2, for want of job_events or task_events");
        return Ok(());
    }
    let asked = Asked { cpu, classes: Classes::Sequence, rules, ..Asked::default() };
    let study = fold(lake, windows, &asked)?;
    let book = ledger(&study);
    for (outcome, share) in
        [("finished", 0.710), ("failed", 0.931), ("killed", 43.175), ("running", 54.377)]
    {
        let row = book.rows.iter().find(|row| row.outcome == outcome);
        let ours = row.and_then(|row| row.share).filter(|_| has_usage).map(|share| share * 100.0);
        all.add(
            "Table 3.1.2",
            &format!("CPU share of {outcome} jobs (%)"),
            printed(share, 0.001),
            ours,
            &basis,
        );
    }
    let swept = kill_sweep::sweep(&study, 0);
    let paper = [(10, 89.0, 15.0, 246.0, 1.0), (300, 36.0, 0.1, 0.0, 0.1)];
    for (threshold, failed, killed, harmed, digit) in paper {
        let row = swept.rows.iter().find(|row| row.threshold == threshold);
        let share = |outcome: &str| {
            row.and_then(|row| row.saved_share[outcome].as_f64())
                .filter(|_| has_usage)
                .map(|share| share * 100.0)
        };
        all.add(
            "Figure 4.2.1",
            &format!("T = {threshold}: CPU saved of failed jobs (%)"),
            printed(failed, 1.0),
            share("failed"),
            &basis,
        );
        all.add(
            "Figure 4.2.1",
            &format!("T = {threshold}: CPU saved of killed jobs (%)"),
            printed(killed, digit),
            share("killed"),
            &basis,
        );
        #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
        let ours = row.and_then(|row| Some(row.harmed_jobs? as f64));
        let harm_basis = self::basis(lake, &[Table::JobEvents, Table::TaskEvents]);
        all.add(
            "Figure 4.2.2",
            &format!("T = {threshold}: harmed finished jobs"),
            printed(harmed, 1.0),
            ours,
            &harm_basis,
        );
    }
    charts.push((format!("table-3.1.2-{cpu}"), account::chart(&book)));
    charts.extend(sweep_charts::charts(&study, std::slice::from_ref(&swept)));
    Ok(())
}
