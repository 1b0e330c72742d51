//! `jobfate analyze`: everything that the tables at hand allow, in one go.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::account::{self, CpuChoice};
use super::classify::{self, By, Choice};
use super::describe::{Question, describe};
use super::detect;
use super::exit::Usage;
use super::ingest::{self, IngestArgs, IngestChoice};
use super::store::{self, Answer};
use super::sweep;
use super::{Format, console, render, stop_on_signal, sweep_charts, synth, verify};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::fold::{Asked, fold};
use crate::studies::ledger::{CpuDefinition, ledger};
use crate::studies::outcomes::Classes;
use crate::studies::rules::{Rule, RuleGrid};
use crate::studies::samples::What;
use crate::synth::SynthConfig;
use crate::units::MICROS_PER_DAY;

/// Run the whole analysis of a trace
///
/// Ingest, verify, classify, describe, account, sweep, detect, replay and fairness, with charts,
/// and a report of it all. What the tables at hand do not allow is skipped, and said. Without
/// `TRACE_DIR` a small synthetic trace is made on the spot, so that everything can be looked at
/// before anything is downloaded. What is done is kept: an analysis that was stopped goes on when
/// the same command is run again.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate analyze\n  jobfate analyze clusterdata-2011-2 --lake lake --out reports/google-2011"
)]
pub(crate) struct AnalyzeArgs {
    /// Folder of the downloaded trace; synthetic if none is given
    #[arg(value_name = "TRACE_DIR")]
    pub trace: Option<PathBuf>,

    /// Folder of the lake, inside --out by default
    #[arg(long, value_name = "DIR")]
    pub lake: Option<PathBuf>,

    /// Folder for results and charts
    #[arg(long, value_name = "DIR", default_value = "reports/analysis")]
    pub out: PathBuf,

    #[command(flatten)]
    pub choice: IngestChoice,
}

pub(crate) fn run(args: AnalyzeArgs) -> Result<()> {
    let stop = stop_on_signal()?;
    let trace = match args.trace {
        Some(trace) => trace,
        None => synthetic(&args.out.join("synthetic-trace"))?,
    };
    let lake = args.lake.unwrap_or_else(|| args.out.join("lake"));
    console::note(format!("ingest {} into {}", trace.display(), lake.display()));
    let is_forced = args.choice.force;
    let plan = ingest::plan(&IngestArgs { trace, lake: lake.clone(), choice: args.choice })?;
    ingest::run_plan(&plan, is_forced, &stop)?;
    let lake = Lake::open(&lake)?;
    let windows = Windows::of(&lake, None);

    console::note("verify");
    let report = verify::lake_report(&lake)?;
    let table = report.table();
    store::store(&report.answer(&table), &lake, &args.out)?;

    classify_both(&lake, windows, &args.out)?;
    describe_all(&lake, windows, &args.out)?;
    account_and_sweep(&lake, windows, &args.out)?;
    detect_all(&lake, windows, &args.out)?;
    replay_some(&lake, &args.out)?;
    fairness_all(&lake, &args.out)?;
    let first = crate::report::write(
        &crate::report::read_all(std::slice::from_ref(&args.out))?,
        &args.out.join("report"),
    )?;
    console::note(format!("results and charts: {}", args.out.display()));
    console::note(format!("report: {}", first.display()));
    report.into_result()
}

/// Makes the synthetic trace, or takes the one that an earlier run made.
fn synthetic(folder: &Path) -> Result<PathBuf> {
    console::note("no TRACE_DIR was given: analysing a synthetic trace, not a real one");
    if !folder.join("truth.json").exists() {
        if folder.exists() {
            // Cut off in the making: only what synth wrote lies in there.
            std::fs::remove_dir_all(folder)?;
        }
        synth::write(&SynthConfig::default(), folder)?;
    }
    Ok(folder.to_owned())
}

fn classify_both(lake: &Lake, windows: Windows, out: &Path) -> Result<()> {
    for by in [By::Job, By::Task] {
        if is_missing(lake, by.table(), &format!("classify {}", by.plural())) {
            continue;
        }
        let choice = Choice { by, classes: Classes::Sequence, windows };
        let outcome = classify::classification(lake, windows, by, choice.classes, None)?;
        let table = classify::table_of(&outcome.rows);
        store::store(&classify::answer(lake, &outcome, choice, &table)?, lake, out)?;
        show(by.plural(), &table)?;
    }
    Ok(())
}

fn describe_all(lake: &Lake, windows: Windows, out: &Path) -> Result<()> {
    let whats = [
        What::JobDurations,
        What::JobSurvival,
        What::TasksPerJob,
        What::EventsPerTask,
        What::Waiting,
        What::Attempts,
        What::FinishGivenEvents,
    ];
    for what in whats {
        let step = format!("describe {}", what.name());
        if what.tables(None).into_iter().any(|table| is_missing(lake, table, &step)) {
            continue;
        }
        let described = describe(lake, windows, Question::plain(what))?;
        store::store(&described.answer(windows), lake, out)?;
        if what == What::JobDurations {
            show("job durations (s)", &described.table)?;
        }
    }
    Ok(())
}

/// Measured CPU where there is a usage table, slots where there is none.
fn cpu_of(lake: &Lake) -> CpuDefinition {
    if lake.has(Table::TaskUsage) { CpuDefinition::Measured } else { CpuDefinition::Slots }
}

fn account_and_sweep(lake: &Lake, windows: Windows, out: &Path) -> Result<()> {
    if is_missing(lake, Table::TaskEvents, "account and sweep") {
        return Ok(());
    }
    is_missing(lake, Table::TaskUsage, "measured CPU (slots instead)");
    let cpu = cpu_of(lake);
    let asked = Asked {
        rules: Rule::ALL.map(|rule| RuleGrid::new(rule, rule.default_grid())).to_vec(),
        // Chosen on the first half of the trace, scored on the second.
        split_us: Some(windows.job_end_us / 2),
        rounds: BOOTSTRAP_ROUNDS,
        seed: 1,
        ..CpuChoice { cpu, classes: Classes::Sequence }.asked()
    };
    let study = fold(lake, windows, &asked)?;
    let book = ledger(&study);
    let table = account::table_of(&book, &[]);
    store::store(&account::answer(&book, windows, &table), lake, out)?;
    show(&format!("CPU time per outcome ({cpu})"), &table)?;
    console::note(account::closing_line(&book));

    let swept = sweep::sweep_all(&study, HARM_PRICE);
    let table = sweep::table_of(&swept.sweeps);
    let answer = Answer {
        name: "sweep",
        table: &table,
        json: sweep::json_of(&study, &swept),
        settings: json!({
            "cpu": cpu, "classes": Classes::Sequence, "windows": windows,
            "rules": asked.rules.iter().map(ToString::to_string).collect::<Vec<String>>(),
            "thresholds": asked.rules[0].grid, "price": HARM_PRICE,
            "bootstrap_rounds": BOOTSTRAP_ROUNDS, "seed": asked.seed,
        }),
        charts: sweep_charts::charts(&study, &swept.sweeps),
    };
    store::store(&answer, lake, out)?;
    let table = sweep::table_of(&swept.sweeps[..1]);
    show("killing tasks at T events", &table.slice(0, table.num_rows().min(SWEEP_ROWS_SHOWN)))?;
    if let Some(selection) = &swept.selection {
        let table = sweep::selection_table(selection);
        store::store_table("sweep-selection", &table, out)?;
        show("the rule that the first half of the trace would have chosen", &table)?;
        console::note(sweep::selection_line(selection));
    }
    Ok(())
}

/// Every straggler detector with its defaults.
fn detect_all(lake: &Lake, windows: Windows, out: &Path) -> Result<()> {
    if is_missing(lake, Table::TaskEvents, "straggler detectors") {
        return Ok(());
    }
    console::note("detect");
    let lineup = detect::usual_lineup();
    let plan = detect::usual_plan(&lineup);
    let outcome = detect::detect_into(lake, windows, &plan, Some(out))?;
    let table = detect::table_of(&outcome, lineup.asked);
    store::store(&detect::answer(&outcome, &plan, &lineup, windows, &table), lake, out)?;
    detect::store_details(&outcome, &plan, out)?;
    show("straggler detectors", &table)?;
    console::note(detect::counts_line(&outcome));
    Ok(())
}

/// A few policies over the recorded tasks; of a large trace a part of jobs and machines.
fn replay_some(lake: &Lake, out: &Path) -> Result<()> {
    for table in [Table::TaskEvents, Table::MachineEvents] {
        if is_missing(lake, table, "replay") {
            return Ok(());
        }
    }
    console::note("replay");
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 rows")]
    let share = REPLAYED_ROWS / lake.require(Table::TaskEvents)?.rows() as f64;
    let is_part = share < 1.0;
    let share = share.to_string();
    let (folder, lake) = (path_text(&out.join("replay"))?, path_text(&lake.path)?);
    let mut words = vec!["--lake", &lake, "--out", &folder, "--overcommit", "1.25"];
    if is_part {
        words.extend(["--sample", &share, "--machines", &share]);
    }
    words.push("--policies");
    words.extend(["fifo:depth=100", "fair:depth=100", "fifo:depth=100+late:heartbeat_s=60"]);
    console::data("\nother policies\n")?;
    super::run_words("replay", &words)
}

/// Who used how much, by hour; by day where the trace is long.
fn fairness_all(lake: &Lake, out: &Path) -> Result<()> {
    if is_missing(lake, Table::TaskEvents, "fairness") {
        return Ok(());
    }
    console::note("fairness");
    let parts = &lake.require(Table::TaskEvents)?.parts;
    let first = parts.iter().filter_map(|part| part.min_time_us).min().unwrap_or(0);
    let last = parts.iter().filter_map(|part| part.max_time_us).max().unwrap_or(0);
    let interval = if last - first < HOURLY_DAYS * MICROS_PER_DAY { "3600" } else { "86400" };
    let (folder, path) = (path_text(&out.join("fairness"))?, path_text(&lake.path)?);
    let cpu = cpu_of(lake).to_string();
    console::data("\nheaviest users\n")?;
    // The ledger's CPU, as it runs, so that the sum is the ledger's as well.
    let what = ["--cpu", &cpu, "--accrual", "running", "--interval", interval];
    super::run_words("fairness", &[&["--lake", &path, "--out", &folder], &what[..]].concat())
}

fn path_text(path: &Path) -> Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| Usage(format!("`{}` is no text", path.display())).into())
}

/// Rows of `task_events` that are replayed: a minute or two on two cores.
const REPLAYED_ROWS: f64 = 2e6;

/// A trace of fewer days is cut into hours, a longer one into days.
const HOURLY_DAYS: i64 = 100;

/// Price of a harmed job, in CPU-seconds: an hour of the largest machine.
const HARM_PRICE: f64 = 3600.0;

/// Resamplings of jobs for the intervals of the sweep.
const BOOTSTRAP_ROUNDS: usize = 200;

/// Rows of the sweep that are shown; all of them are in the results.
const SWEEP_ROWS_SHOWN: usize = 5;

/// Says that a step is skipped, if its table is not there.
fn is_missing(lake: &Lake, table: Table, step: &str) -> bool {
    let is_missing = !lake.has(table);
    if is_missing {
        console::note(format!("skipped: {step}, for want of table `{table}`"));
    }
    is_missing
}

fn show(title: &str, table: &arrow::record_batch::RecordBatch) -> Result<()> {
    console::data(&format!("\n{title}\n"))?;
    Ok(console::data_bytes(&render::render(table, Format::Table, None)?)?)
}
