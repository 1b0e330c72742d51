//! `jobfate reproduce`: a published study beside ours, number by number.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Map, json};

use super::account;
use super::classify::{self, By};
use super::describe::{Question, describe, summaries};
use super::exit::Usage;
use super::fairness::ota;
use super::ingest::{self, IngestArgs, IngestChoice};
use super::reproduce_study::{self, Study, parameters_in_words};
use super::store::{Files, Origin};
use super::{
    AnswerArgs, console, reproduce_all, reproduce_experiments, stop_on_signal, sweep_charts,
};
use crate::claims::{Claim, Parameter, Settled, Side, headline};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{Source, Table};
use crate::studies::checks::is_whole;
use crate::studies::counted::Counted;
use crate::studies::distributions::Summary;
use crate::studies::fold::{Asked, fold};
use crate::studies::kill_sweep;
use crate::studies::ledger::{CpuDefinition, ledger};
use crate::studies::mandai::{Basis, Place};
use crate::studies::meter::Meter;
use crate::studies::outcomes::{Classes, Classification, OutcomeRow};
use crate::studies::rules::{Rule, RuleGrid};
use crate::studies::samples::{OutcomeOf, Samples, Split, What, collect};

/// Repeat a published study and compare number by number
///
/// mandai: Mandai, Kawahara, Kasahara (2017), job outcomes in the Google trace of 2011. A number
/// from tables that are not whole is shown and not judged; what needs a table that is not there
/// is named. No parameter is tuned.
///
/// ota: Ota, Aida (2009), fairness among the users of a grid, on a week of any log. The paper does
/// not name its own week of Grid'5000: its worked examples check a formula, its figures are drawn,
/// and what a reader must see in them is said in sentences that say whether they hold.
///
/// tan, asahara, cui: experiments that are simulated anew. Each claim of the paper has a row: the
/// published number, ours with the 95 % interval that decides, and the verdict (reproduced,
/// `same_direction`, `not_reproduced`, fitted, `cannot_be_compared`). Every parameter is listed as
/// given by the paper, open, or fitted to a number of it.
///
/// all: the five one after the other, and a table of how many claims came to which verdict. A study
/// whose trace is not there is left out, and a sentence says what it needs.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate reproduce mandai clusterdata-2011-2 --lake lake --out reports/mandai\n  jobfate reproduce ota LCG.swf.gz --lake lcg --out reports/ota\n  jobfate reproduce ota --lake lcg --from 3 --days 5 --users 22,37,41\n  jobfate reproduce all --lake lake --ota-lake lcg --out papers\n  jobfate reproduce tan --out reports/tan\n  jobfate reproduce cui --runs 3 --format csv\n  jobfate reproduce tan --vary period_s=10,30,70,100 --out reports/tan\n  jobfate reproduce cui --vary slow_speed=0.1,0.2,0.4 --vary slow_nodes=1,2,3 --out maps"
)]
pub(crate) struct ReproduceArgs {
    /// The study, or all of them
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
    pub week: WeekArgs,

    /// Lake of the log that ota reads, for all
    ///
    /// By default --lake, if it holds a log; then mandai, which needs the Google trace, is left out.
    #[arg(long, value_name = "DIR")]
    pub ota_lake: Option<PathBuf>,

    /// Count the verdicts of stored results, for all
    ///
    /// Nothing is run: `DIR/NAME/NAME.csv` is read for each study, as `reproduce all --out DIR` and
    /// `reproduce NAME --out DIR/NAME` write it.
    #[arg(long, value_name = "DIR")]
    pub stored: Option<PathBuf>,

    #[command(flatten)]
    pub parameters: reproduce_experiments::ParameterArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// Which days and users the figures of ota show.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WeekArgs {
    /// First day of the figures of ota, from the first event
    ///
    /// By default 0. The paper chose its week at random and does not name it.
    #[arg(long, value_name = "DAYS")]
    pub from: Option<String>,

    /// Days in the figures of ota; 7 as in the paper
    #[arg(long, value_name = "DAYS")]
    pub days: Option<String>,

    /// Users in the figures of ota: how many, or which
    ///
    /// So many of the heaviest, by default 7, or up to 7 names divided by commas, for example
    /// `--users 22,37,41`; one name alone ends in a comma. The sentences speak of these users.
    #[arg(long, value_name = "COUNT|NAME,...")]
    pub users: Option<String>,
}

impl WeekArgs {
    /// Whether anything is chosen.
    pub(crate) const fn is_chosen(&self) -> bool {
        self.from.is_some() || self.days.is_some() || self.users.is_some()
    }
}

/// A published study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
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
    /// The five of them, and how many claims came to which verdict
    All,
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
            Self::All => "verdicts",
        }
    }

    /// Every single study, in the order of README.
    pub(crate) const EACH: [Self; 5] =
        [Self::Mandai, Self::Ota, Self::Tan, Self::Asahara, Self::Cui];

    /// Authors and year.
    pub(crate) fn paper(self) -> &'static str {
        match self {
            Self::Mandai => MANDAI,
            Self::Ota => ota::PAPER,
            Self::Tan | Self::Asahara | Self::Cui => {
                reproduce_experiments::experiment_of(self).paper()
            }
            Self::All => "five papers",
        }
    }
}

pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    check(args)?;
    match args.study {
        StudyName::Mandai => {
            let lake = lake_of(args)?;
            let files = Files::in_out(args.answer.out.as_deref(), "mandai")?;
            let study = mandai(&lake, &args.answer)?;
            console::note(format!("{}: {}", study.paper, headline(&study.claims)));
            parameters_in_words(&study.parameters).iter().for_each(console::note);
            reproduce_study::give(study, None, files, Some(&args.answer.form()))
        }
        StudyName::Ota => {
            lake_of(args)?;
            ota::run(args)
        }
        StudyName::All => reproduce_all::run(args),
        StudyName::Tan | StudyName::Asahara | StudyName::Cui => reproduce_experiments::run(args),
    }
}

/// Checks that a study has what was asked of it.
fn check(args: &ReproduceArgs) -> Result<()> {
    let wrong = |text: &str| Err(Usage(text.to_owned()).into());
    let is_drawn = args.seed.is_some() || args.runs.is_some();
    let is_set = !args.parameters.set.is_empty() || !args.parameters.vary.is_empty();
    match args.study {
        StudyName::Mandai if is_drawn || is_set => wrong(
            "--seed, --runs, --set and --vary are not for this study: it has no draws, and the paper gives every parameter",
        ),
        StudyName::Ota if is_drawn => {
            wrong("--seed and --runs are for experiments; this study has no draws")
        }
        StudyName::All if is_set => wrong("--set and --vary are for a single study"),
        _ if args.week.is_chosen() && !matches!(args.study, StudyName::Ota) => {
            wrong("--from, --days and --users are for ota")
        }
        _ if args.ota_lake.is_some() && !matches!(args.study, StudyName::All) => {
            wrong("--ota-lake is for all; a single study takes --lake")
        }
        _ if args.stored.is_some() && !matches!(args.study, StudyName::All) => {
            wrong("--stored is for all: it counts the verdicts of every stored study")
        }
        _ => Ok(()),
    }
}

/// The lake of a study of a trace; what it lacks of the trace is ingested.
pub(crate) fn lake_of(args: &ReproduceArgs) -> Result<Lake> {
    if let Some(trace) = args.trace.clone() {
        let lake = args.answer.lake.clone();
        let ingest = IngestArgs { trace, lake, choice: IngestChoice::default() };
        ingest::run_plan(&ingest::plan(&ingest)?, ingest.choice.force, &stop_on_signal()?)?;
    }
    Ok(Lake::open(&args.answer.lake)?)
}

const MANDAI: &str = "Mandai, Kawahara and Kasahara (2017)";

/// The study of 2017 on what a lake has.
pub(crate) fn mandai(lake: &Lake, answer: &AnswerArgs) -> Result<Study> {
    if lake.source() != Source::Google2011 {
        let source = lake.source();
        return Err(
            Usage(format!("the study is of google-2011, and this lake holds {source}")).into()
        );
    }
    let windows = super::windows(lake, answer)?;
    let mut claims = Vec::new();
    let mut charts = Vec::new();
    jobs(lake, windows, &mut claims)?;
    tasks(lake, windows, &mut claims)?;
    cpu(lake, windows, &mut claims, &mut charts)?;
    for (what, stem) in [
        (What::JobDurations, "figure-3.1.1-and-3.2.1"),
        (What::TasksPerJob, "figure-3.1.2-and-3.2.2"),
        (What::EventsPerTask, "figure-4.1.1"),
    ] {
        if lake.has(Table::JobEvents) && (what == What::JobDurations || lake.has(Table::TaskEvents))
        {
            let described = describe(lake, windows, Question::plain(what))?;
            charts.push((stem.to_owned(), described.chart));
        }
    }
    Ok(Study {
        name: "mandai",
        paper: MANDAI,
        claims,
        parameters: parameters_of_mandai(),
        figures: json!([]),
        settings: Map::from_iter([("windows".to_owned(), json!(windows))]),
        charts,
        tables: Vec::new(),
        origin: Origin::of(lake),
    })
}

/// What the paper gives; it leaves nothing open.
fn parameters_of_mandai() -> Vec<Parameter> {
    let given = |key, value: &str, about| Parameter {
        key,
        value: value.to_owned(),
        settled: Settled::Given,
        about,
    };
    vec![
        given("thresholds", "10..=400:10", "T of the kill rule, events"),
        given("classes", "sequence", "how outcomes are told apart: by the whole event sequence"),
        given("cpu", "published", "job duration times mean rate times mean machine capacity"),
    ]
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

/// Table 3.1.1 and figure 3.1.1, and section 4.1 about jobs.
fn jobs(lake: &Lake, windows: Windows, claims: &mut Vec<Claim>) -> Result<()> {
    let basis = basis(lake, &[Table::JobEvents]);
    let has_jobs = lake.has(Table::JobEvents);
    let classes = Classes::Sequence;
    let counted = if has_jobs {
        Some(classify::classification(lake, windows, By::Job, classes, None)?)
    } else {
        None
    };
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
    let count_of = |outcome: &str| {
        let rows = counted.as_ref()?.rows.iter();
        rows.filter(|row| row.outcome == outcome).map(|row| row.count as f64).next()
    };
    let paper = [
        ("finished", 385_581.0, 57.375),
        ("failed", 10_124.0, 1.506),
        ("killed", 272_341.0, 40.525),
        ("running", 3_986.0, 0.593),
        ("other", 42.0, 0.006),
    ];
    let named: Option<f64> = paper[..4].iter().map(|(outcome, ..)| count_of(outcome)).sum();
    let place = Place { name: "table 3.1.1", basis: &basis };
    for (outcome, count, share) in paper {
        let ours = count_of(outcome);
        claims.push(place.number(&format!("{outcome} jobs"), (count, 1.0), ours));
        // The paper's base is the 672,032 jobs that are not `other`; no other base gives its digits.
        let of_named = ours.zip(named).map(|(ours, named)| ours / named * 100.0);
        let claim = format!("{outcome} jobs, % of the 672,032 that are not `other`");
        claims.push(place.number(&claim, (share, 0.001), of_named));
    }
    let rows = if has_jobs { summaries(lake, windows, What::JobDurations)? } else { Vec::new() };
    let of = |outcome: &str, value: fn(&Summary) -> Option<f64>| {
        rows.iter().find(|row| row.outcome == outcome).and_then(value)
    };
    let all = |value| of("all", value);
    let minutes = |value: Option<f64>| value.map(|seconds| seconds / 60.0);
    let place = Place { name: "section 3.1, figure 3.1.1", basis: &basis };
    let (mean, median) = (minutes(all(|row| row.mean)), minutes(all(|row| row.median)));
    claims.extend([
        place.number("mean duration of a job, min", (255.0, 1.0), mean),
        place.number("median duration of a job, min", (3.0, 1.0), median),
        place.number("variance of the duration, s²", (2.83e10, 1e8), all(|row| row.variance)),
        place.number("shortest duration, s", (0.001, 0.001), all(|row| row.min)),
    ]);
    let longer = |outcome: &str| {
        let than = |value: fn(&Summary) -> Option<f64>| {
            of(outcome, value).zip(of("finished", value)).map(|(one, other)| one - other)
        };
        than(|row| row.p90)
    };
    let place = Place { name: "section 3.2, figure 3.2.1", basis: &basis };
    claims.push(place.direction(
        "failed, killed jobs last longer than finished (p90, s)",
        &[("failed", longer("failed")), ("killed", longer("killed"))],
    ));
    let short = counted.as_ref().map(share_of_short_sequences);
    let place = Place { name: "section 4.1", basis: &basis };
    claims.push(place.bound(
        "jobs with at most 3 events, %, are over 99",
        Side::AtLeast,
        99.0,
        short,
    ));
    Ok(())
}

/// Jobs whose sequence has at most three events, %.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn share_of_short_sequences(counted: &Classification) -> f64 {
    let is_short = |row: &&OutcomeRow| row.sequence.as_ref().is_some_and(|one| one.len() <= 3);
    let short: u64 = counted.sequences.iter().filter(is_short).map(|row| row.count).sum();
    short as f64 / counted.total.max(1) as f64 * 100.0
}

/// Figures 3.1.2, 3.2.2 and 4.1.1.
fn tasks(lake: &Lake, windows: Windows, claims: &mut Vec<Claim>) -> Result<()> {
    let basis = basis(lake, &[Table::TaskEvents]);
    let has_tasks = lake.has(Table::TaskEvents);
    let rows = if has_tasks { summaries(lake, windows, What::TasksPerJob)? } else { Vec::new() };
    let of = |outcome: &str, value: fn(&Summary) -> Option<f64>| {
        rows.iter().find(|row| row.outcome == outcome).and_then(value)
    };
    let all = |value| of("all", value);
    let place = Place { name: "section 3.1, figure 3.1.2", basis: &basis };
    claims.extend([
        place.number("mean tasks of a job", (37.9, 0.1), all(|row| row.mean)),
        place.number("variance of the tasks of a job", (1.07e6, 1e4), all(|row| row.variance)),
        place.number("most tasks of a job", (90_050.0, 1.0), all(|row| row.max)),
        place.number("75 % of jobs have at most, tasks", (1.0, 1.0), all(|row| row.p75)),
    ]);
    let more = |outcome: &str| {
        let mean: fn(&Summary) -> Option<f64> = |row| row.mean;
        of(outcome, mean).zip(of("finished", mean)).map(|(one, other)| one - other)
    };
    let place = Place { name: "section 3.2, figure 3.2.2", basis: &basis };
    claims.push(place.direction(
        "failed, killed jobs have more tasks than finished (mean)",
        &[("failed", more("failed")), ("killed", more("killed"))],
    ));
    let split = Split { classes: Classes::Sequence, of: OutcomeOf::Job, group_by: None };
    let tasks = if has_tasks {
        collect(lake, windows, What::EventsPerTask, split)?
    } else {
        Samples::default()
    };
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let above_3 = |values: &Counted| {
        let count = values.count(|_| true);
        let long = values.count(|events| 3 < events.amount());
        (0 < count).then(|| long as f64 / count as f64 * 100.0)
    };
    let finished = tasks.of_outcome(0);
    let place = Place { name: "section 4.1, figure 4.1.1", basis: &basis };
    claims.extend([
        place.bound(
            "tasks of failed, killed jobs over 3 events, % (20 or more)",
            Side::AtLeast,
            20.0,
            above_3(&tasks.of(|key| matches!(key.1, 1 | 2))),
        ),
        place.bound(
            "tasks of finished jobs with over 3 events, % (under half)",
            Side::AtMost,
            50.0,
            above_3(&finished),
        ),
    ]);
    #[expect(clippy::cast_precision_loss, reason = "a count of events")]
    let longest = finished.largest().map(|events| events.amount() as f64);
    let place = Place { name: "section 4.2", basis: &basis };
    claims.push(place.number(
        "longest sequence of a task in a finished job",
        (280.0, 1.0),
        longest,
    ));
    Ok(())
}

/// Table 3.1.2 and figures 4.2.1 and 4.2.2.
fn cpu(
    lake: &Lake,
    windows: Windows,
    claims: &mut Vec<Claim>,
    charts: &mut Vec<(String, crate::charts::Chart)>,
) -> Result<()> {
    let tables = [Table::JobEvents, Table::TaskEvents, Table::TaskUsage, Table::MachineEvents];
    let basis = basis(lake, &tables);
    let rules = vec![RuleGrid::new(Rule::Events, Rule::Events.default_grid())];
    let has_usage = !matches!(basis, Basis::Missing(_));
    // Without usage the curves are drawn for slots, and nothing is compared with them.
    let cpu = if has_usage { CpuDefinition::Published } else { CpuDefinition::Slots };
    let asked =
        Asked { meter: Meter::Cpu(cpu), classes: Classes::Sequence, rules, ..Asked::default() };
    let study = if lake.has(Table::TaskEvents) && lake.has(Table::JobEvents) {
        Some(fold(lake, windows, &asked)?)
    } else {
        console::note("skipped: figures 4.2.1 and 4.2.2, for want of job_events or task_events");
        None
    };
    let book = study.as_ref().map(ledger);
    let share = |outcome: &str| {
        let row = book.as_ref()?.rows.iter().find(|row| row.outcome == outcome);
        row.and_then(|row| row.share).filter(|_| has_usage).map(|share| share * 100.0)
    };
    let place = Place { name: "table 3.1.2", basis: &basis };
    for (outcome, paper) in
        [("finished", 0.710), ("failed", 0.931), ("killed", 43.175), ("running", 54.377)]
    {
        let claim = format!("CPU time of {outcome} jobs, %");
        claims.push(place.number(&claim, (paper, 0.001), share(outcome)));
    }
    let not_finished = share("failed").zip(share("killed")).map(|(one, other)| one + other);
    claims.push(place.number("CPU time of failed and killed jobs, %", (44.0, 1.0), not_finished));
    let memory = "memory per outcome, announced and not printed";
    let why = "the paper prints no number";
    claims.push(Claim::without("section 3.1", memory, None, why));
    let swept = study.as_ref().map(|study| kill_sweep::sweep(study, 0));
    let harm_basis = self::basis(lake, &[Table::JobEvents, Table::TaskEvents]);
    let (saved, harmed) = (
        Place { name: "section 4.2, figure 4.2.1", basis: &basis },
        Place { name: "section 4.2, figure 4.2.2", basis: &harm_basis },
    );
    for (threshold, failed, killed, harmed_jobs, digit) in
        [(10, 89.0, 15.0, 246.0, 1.0), (300, 36.0, 0.1, 0.0, 0.1)]
    {
        let rows = swept.as_ref().map(|swept| &swept.rows);
        let row = rows.and_then(|rows| rows.iter().find(|row| row.threshold == threshold));
        let share = |outcome: &str| {
            row.and_then(|row| row.saved_share[outcome].as_f64())
                .filter(|_| has_usage)
                .map(|share| share * 100.0)
        };
        let at = |claim: &str| format!("T = {threshold}: {claim}");
        #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
        let ours = row.and_then(|row| Some(row.harmed_jobs? as f64));
        claims.extend([
            saved.number(&at("CPU time saved of failed jobs, %"), (failed, 1.0), share("failed")),
            saved.number(&at("CPU time saved of killed jobs, %"), (killed, digit), share("killed")),
            harmed.number(&at("harmed finished jobs"), (harmed_jobs, 1.0), ours),
        ]);
    }
    if let (Some(study), Some(book), Some(swept)) = (&study, &book, &swept) {
        charts.push((format!("table-3.1.2-{cpu}"), account::chart(book)));
        charts.extend(sweep_charts::charts(study, std::slice::from_ref(swept)));
    }
    Ok(())
}
