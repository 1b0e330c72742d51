//! `jobfate analyze`: every study that the tables allow, in one command.
//!
//! In: a folder, or a file that holds a whole analysis. Out: results step by step and a report of
//! them. A step that is done is not done again as long as nothing that it was made from changes.
//!
//! ```text
//!  ingest ─► verify ─► classify ─► ... ─► fairness ─► report, three numbers
//!             each leaves its results and a mark in OUT/steps.json
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use clap::Args;
use serde_json::json;

use super::fairness::{self, FairnessArgs};
use super::replay::{self, ReplayArgs};
use super::{AnswerArgs, AttemptArgs, Stop, console, ingest, stop_on_signal, synth};
use crate::cli::shown;
use jobfate::answers::account::AccountPlan;
use jobfate::answers::analysis::{self, Config, Definitions, usual};
use jobfate::answers::classify::{self, By, Choice};
use jobfate::answers::describe::{DescribePlan, describe, question};
use jobfate::answers::fairness::plan::FairnessPlan;
use jobfate::answers::ingest::{IngestChoice, plan};
use jobfate::answers::sweep::SweepPlan;
use jobfate::answers::verify::Trust;
use jobfate::answers::words::{self, Setting};
use jobfate::answers::{account, detect, sweep, verify};
use jobfate::facts::window::Windows;
use jobfate::faults::{Bug, Context, Result, Usage};
use jobfate::files::{self, FolderLock};
use jobfate::lake::{Lake, LakeErrorKind, TableEntry};
use jobfate::report;
use jobfate::results;
use jobfate::results::frame::Frame;
use jobfate::results::marks::{Marks, made_from};
use jobfate::results::store::{self, Answer, Files, Origin, Whole};
use jobfate::results::view::View;
use jobfate::schema::Table;
use jobfate::studies::fold::fold;
use jobfate::studies::ledger::ledger;
use jobfate::studies::samples::What;
use jobfate::synth::{SynthConfig, remove_unfinished};

/// How it is called.
const EXAMPLES: &str = "Examples:\n  jobfate analyze\n  jobfate analyze clusterdata-2011-2 --lake lake --out reports/google-2011\n  jobfate analyze LCG.swf.gz --out reports/lcg\n  jobfate analyze --lake lake --out reports/again\n  jobfate analyze --config analysis.toml";

/// Run the whole analysis of a trace
///
/// Runs ingest, verify, classify, describe, account, sweep, detect, replay and fairness, with
/// charts and a report. Steps for which a table is missing are skipped, with a message. Without
/// `TRACE_DIR`, --lake names the lake to analyse; if there is none, a small synthetic trace is
/// made, so that you can look at all results before you download a trace. Completed steps are kept:
/// run the same command again to continue an analysis that was stopped. The folder of --out holds
/// one analysis, and only one process at a time writes into it.
///
/// --config names a TOML file with the whole analysis: `steps`, and a section per command (`trace`
/// for `ingest`, `describe`, `account`, `sweep`, `detect`, `replay`, `fairness`) whose keys are
/// that command's options; cpu, classes, window-end and open-attempts are set in `definitions`, for
/// all of them. Every analysis writes such a file, `analysis.toml` in --out, with every setting.
///
/// Memory: 150 MB, and 170 bytes for each row of the tables of events and usage in the lake's largest
/// bucket, per thread; in addition 500 bytes for each task that is replayed. Where a trace is
/// ingested first, that step takes what the help of `ingest` says.
#[derive(Args, Debug)]
#[command(
    after_long_help = format!("{}\n\n{EXAMPLES}", jobfate::defaults::help())
)]
pub(crate) struct AnalyzeArgs {
    /// Folder of the downloaded trace, or its file
    ///
    /// Without it, the lake of --lake is analysed if it exists, and a synthetic trace otherwise.
    #[arg(value_name = "TRACE_DIR")]
    pub trace: Option<PathBuf>,

    /// Folder of the lake, inside --out by default
    #[arg(long, value_name = "DIR")]
    pub lake: Option<PathBuf>,

    /// Folder for results and charts [default: reports/analysis]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// A whole analysis as a TOML file
    ///
    /// `TRACE_DIR`, --lake, --out and the options of `ingest` on the command line take precedence
    /// over the file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Repeat completed steps
    #[arg(long)]
    pub again: bool,

    #[command(flatten)]
    pub choice: IngestChoice,
}

/// Where results go if nothing is said.
const OUT: &str = "reports/analysis";

/// The folder of the pages, in that of the results.
const REPORT: &str = "report";

pub(crate) fn run(args: &AnalyzeArgs) -> Result<()> {
    console::check_stdout()?;
    let mut config = match &args.config {
        Some(path) => Config::load(path)?,
        None => Config::default(),
    };
    let choice = config.ingest(&args.choice)?;
    let out = args.out.clone().or_else(|| config.path("out")).unwrap_or_else(|| OUT.into());
    // From here to the end no other analysis writes into the folder.
    let lock = shown::lock(&out)?;
    let file = out.join("analysis.toml");
    let is_users = args.config.as_ref().is_some_and(|path| is_same_file(path, &file));
    check_out(&out, &file, is_users)?;
    let lake = args.lake.clone().or_else(|| config.path("lake"));
    let trace = args.trace.clone().or_else(|| config.path("folder"));
    let trace = match trace {
        None if is_there(lake.as_deref(), &out)? => None,
        None => Some(synthetic(&out.join(SYNTHETIC))?),
        given => given,
    };
    let stop = stop_on_signal()?;
    let lake = lake.unwrap_or_else(|| out.join("lake"));
    let paths = [("folder", trace.as_deref()), ("lake", Some(&lake)), ("out", Some(&out))];
    for (option, path) in paths {
        if let Some(path) = path {
            config.set("trace", option, Setting::One(path_text(path)?));
        }
    }
    let stored = read_in(trace, &lake, (&args.choice, &choice), &stop)?;
    let lake = Lake::open(&lake)?;
    let parts: usize = lake.manifest.tables.values().map(|entry| entry.parts.len()).sum();
    let trust = if stored == parts { Trust::JustWritten } else { Trust::Nothing };
    usual::settle(&mut config, &lake)?;
    console::note(usual::table(&config, lake.source()));
    // Nothing that a command would refuse is found out after hours.
    config.check()?;
    // The file that a user wrote stays as it is.
    if !is_users {
        files::write_whole(&file, config.toml().as_bytes())
            .with_context(|| format!("could not write `{}`", file.display()))?;
    }
    Analysis::new((lake, trust), lock, config, args.again)?.run()
}

/// The folder of the trace that is made where none is given, in that of the results.
const SYNTHETIC: &str = "synthetic-trace";

fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Refuses a folder in which files of someone else have the names of those of an analysis.
fn check_out(out: &Path, file: &Path, is_users: bool) -> Result<()> {
    report::check_place(&out.join(REPORT))?;
    Marks::check(out)?;
    let is_taken = match std::fs::read(file) {
        Ok(bytes) => !is_users && !bytes.starts_with(analysis::FIRST_WORDS.as_bytes()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(error) => {
            return Err(error).with_context(|| format!("could not read `{}`", file.display()));
        }
    };
    if is_taken {
        let text = format!(
            "`{}` does not belong to an earlier analysis: give it as --config, or give another \
            --out",
            file.display()
        );
        return Err(Usage(text).into());
    }
    Ok(())
}

/// Whether there is a lake to analyse where no trace is given: the one that is named, or that of an
/// earlier analysis of a real trace.
fn is_there(lake: Option<&Path>, out: &Path) -> Result<bool> {
    let is_lake = |path: &Path| match Lake::open(path) {
        Err(error) if matches!(error.kind, LakeErrorKind::NoLake) => Ok(false),
        lake => lake.map(|_| true),
    };
    Ok(match lake {
        Some(lake) => is_lake(lake)?,
        None => !out.join(SYNTHETIC).exists() && is_lake(&out.join("lake"))?,
    })
}

/// Ingests the trace, if there is one, and returns how many parts were stored.
fn read_in(
    trace: Option<PathBuf>,
    lake: &Path,
    (given, choice): (&IngestChoice, &IngestChoice),
    stop: &Stop,
) -> Result<usize> {
    let Some(trace) = trace else {
        if let Some(option) = words::write(given).keys().next() {
            let text = format!("--{option} sets how a trace is read, but no TRACE_DIR is given");
            return Err(Usage(text).into());
        }
        console::note(format!("no TRACE_DIR is given: analysing the lake {}", lake.display()));
        stop.at_once()?;
        return Ok(0);
    };
    console::note(format!("ingest {} into {}", trace.display(), lake.display()));
    let plan = plan(&trace, lake, choice, console::say)?;
    let outcome = ingest::run_plan(&plan, choice.force, stop)?;
    stop.at_once()?;
    Ok(outcome.stored.len())
}

/// Makes the synthetic trace, or takes the one that an earlier run made.
fn synthetic(folder: &Path) -> Result<PathBuf> {
    console::note("no TRACE_DIR was given: analysing a synthetic trace, not a real one");
    if !folder.join("truth.json").exists() {
        if let Some(name) = remove_unfinished(folder)? {
            let text = format!(
                "`{}` is not a synthetic trace (`{name}`): give another --out",
                folder.display()
            );
            return Err(Usage(text).into());
        }
        files::create_folder(folder.parent().unwrap_or(folder))?;
        synth::write(&SynthConfig::default(), folder)?;
    }
    Ok(folder.to_owned())
}

fn path_text(path: &Path) -> Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| Usage(format!("`{}` is no text", path.display())).into())
}

/// Rows of the sweep that are shown; all of them are in the results.
const SWEEP_ROWS_SHOWN: usize = 5;

/// Sentences at the end.
const SENTENCES: usize = 3;

/// An analysis of a lake.
struct Analysis {
    lake: Lake,
    /// What `verify` takes for granted of it.
    trust: Trust,
    windows: Windows,
    /// On the folder of the results.
    lock: Arc<FolderLock>,
    config: Config,
    /// What the analysis is known by.
    sha256: String,
    /// The kind of trace, the tables and their checksums, the window.
    inputs: String,
    marks: Marks,
    /// Whether what is done is done again.
    is_again: bool,
}

impl Analysis {
    fn new(
        (lake, trust): (Lake, Trust),
        lock: Arc<FolderLock>,
        config: Config,
        is_again: bool,
    ) -> Result<Self> {
        let Definitions { window_end, open_attempts, .. } = config.definitions()?;
        let windows = super::windows_to(&lake, window_end)?.closing(open_attempts);
        let source = lake.source();
        let inputs = serde_json::to_string(&(source, store::inputs(&lake), windows))?;
        // What is asked, and of what: results of another lake are from another analysis.
        let sha256 = made_from(&[&config.toml(), &inputs], &[]);
        store::set_analysis(Whole { sha256: sha256.clone(), asks: config.json() });
        let marks = Marks::begin(lock.folder(), &sha256)?;
        Ok(Self { lake, trust, windows, lock, config, sha256, inputs, marks, is_again })
    }

    /// The folder of the results.
    fn out(&self) -> &Path {
        self.lock.folder()
    }

    /// Runs every step and writes the report; fails where a check of the lake has.
    fn run(mut self) -> Result<()> {
        console::keep_assumptions();
        let steps = self.config.steps.clone();
        let count = steps.len();
        let mut verified = None;
        for (number, &step) in (1..).zip(&steps) {
            let say = |what: &str| console::note(format!("[{number}/{count}] {step}{what}"));
            if step == "verify" {
                // Quick, and its verdict is the exit code.
                say("");
                verified = Some(self.verify()?);
                continue;
            }
            let made_from = made_from(&[step, &self.inputs], &self.config.asked(step));
            if !self.is_again && self.marks.has(step, &made_from) {
                say(": done before");
                self.marks.adopt(step)?;
                continue;
            }
            say("");
            self.marks.remove(step)?;
            let before = self.marks.listing()?;
            self.step(step)?;
            self.marks.put(step, made_from, &before)?;
        }
        let results = results::read_analysis(self.out(), results::PAGE_LIMITS, &self.sha256)?;
        let first = report::write(&results, &self.out().join(REPORT))?;
        let published = verified.as_ref().and_then(verify::LakeReport::verdict);
        published.iter().for_each(console::note);
        let verdict = verified.map_or(Ok(()), verify::LakeReport::into_result);
        console::assumptions();
        console::data("\n")?;
        for sentence in report::sentences(&results, SENTENCES) {
            console::data(&format!("{sentence}\n"))?;
        }
        console::note(format!("results and charts: {}", self.out().display()));
        console::note(format!("report: {}", first.display()));
        verdict
    }

    fn step(&self, step: &str) -> Result<()> {
        match step {
            "classify" => self.classify(),
            "describe" => self.describe(),
            "account" => self.account(),
            "sweep" => self.sweep(),
            "detect" => self.detect(),
            "replay" => self.replay(),
            "fairness" => self.fairness(),
            other => Err(Bug(format!("there is no step `{other}`")).into()),
        }
    }

    /// Stores an answer under its name.
    fn store(&self, answer: &Answer) -> Result<()> {
        self.publish(answer, self.files(answer.name)?)
    }

    /// Begins the files of an answer.
    fn files(&self, name: &str) -> Result<Files> {
        Files::within(&self.lock, name)
    }

    /// Stores an answer that has further files.
    fn publish(&self, answer: &Answer, files: Files) -> Result<()> {
        files.publish(answer.name, answer, &Origin::of(&self.lake)).map(|_| ())
    }

    /// Says that a step is skipped if its table is not there or is empty; its result says so too.
    fn is_missing(&self, table: Table, name: &'static str) -> Result<bool> {
        let rows = self.lake.manifest.table(table).map(TableEntry::rows);
        let why = match rows {
            None => format!("the lake has no table `{table}`"),
            Some(0) => format!("the table `{table}` is empty"),
            Some(_) => return Ok(false),
        };
        console::note(format!("skipped: {name}: {why}"));
        let nothing = format!("Not run: {why}.");
        let table = Frame::default().text(store::NOTHING, [nothing.as_str()]).batch();
        let answer = Answer {
            name,
            table: &table,
            json: json!({ store::NOTHING: nothing }),
            settings: json!({}),
            charts: Vec::new(),
        };
        // Results of these two lie in folders of their own.
        if matches!(name, "replay" | "fairness") {
            let files = Files::within(&shown::lock(&self.out().join(name))?, name)?;
            files.publish(store::RESULT, &answer, &Origin::of(&self.lake))?;
        } else {
            self.store(&answer)?;
        }
        Ok(true)
    }

    fn verify(&self) -> Result<verify::LakeReport> {
        let report = verify::lake_report(&self.lake, self.trust)?;
        report.said.iter().for_each(console::say);
        let table = report.table();
        self.store(&report.answer(&table))?;
        Ok(report)
    }

    fn classify(&self) -> Result<()> {
        let classes = self.config.definitions()?.classes;
        for by in [By::Job, By::Task] {
            if self.is_missing(by.table(), by.answer())? {
                continue;
            }
            let choice = Choice { by, classes, windows: self.windows };
            let bar = console::Bar::of_work("classify", "rows");
            let outcome = classify::classification(&self.lake, self.windows, by, classes, None)?;
            drop(bar);
            let table = classify::table_of(&outcome.rows);
            let answer = classify::answer(&self.lake, &outcome, choice, &table)?;
            self.store(&answer)?;
            show(by.plural(), &table)?;
        }
        Ok(())
    }

    fn describe(&self) -> Result<()> {
        for plan in self.config.plans::<DescribePlan>()? {
            let mut missing = false;
            for table in plan.what.tables(plan.group_by) {
                missing = missing || self.is_missing(table, plan.what.name())?;
            }
            if !missing {
                self.describe_one(&plan)?;
            }
        }
        Ok(())
    }

    fn describe_one(&self, plan: &DescribePlan) -> Result<()> {
        let bar = console::Bar::of_work("describe", "rows");
        let described = describe(&self.lake, self.windows, question(plan)?)?;
        drop(bar);
        let answer = described.answer(self.windows);
        let mut files = self.files(answer.name)?;
        described.put_details(&mut files)?;
        self.publish(&answer, files)?;
        if plan.what == What::JobDurations {
            show_answer("job durations (s)", &answer)?;
        }
        Ok(())
    }

    fn account(&self) -> Result<()> {
        if self.is_missing(Table::TaskEvents, "account")? {
            return Ok(());
        }
        let plan: AccountPlan = self.config.plan()?;
        let asked = plan.asked(&self.lake)?;
        if !self.lake.has(Table::TaskUsage) && !asked.meter.needs_usage() {
            let noun = asked.meter.resource().title();
            console::note(format!("{noun} is {}: there is no table `task_usage`", asked.meter));
        }
        let book = ledger(&fold(&self.lake, self.windows, &asked)?);
        let table = account::table_of(&book, &plan.group_by);
        let answer = account::answer(&book, self.windows, &table);
        self.store(&answer)?;
        let title = format!("{} per outcome ({})", asked.meter.resource().title(), book.meter);
        show_answer(&title, &answer)?;
        console::note(account::closing_line(&book));
        Ok(())
    }

    fn sweep(&self) -> Result<()> {
        if self.is_missing(Table::TaskEvents, "sweep")? {
            return Ok(());
        }
        let plan: SweepPlan = self.config.plan()?;
        let study = fold(&self.lake, self.windows, &sweep::plan::asked(&plan, &self.lake))?;
        let mut swept = sweep::sweep_all(&study, plan.price);
        if let Err(error) = sweep::check_sides(&study) {
            console::note(format!("skipped: the rule chosen on earlier jobs ({error})"));
            swept.selection = None;
        }
        let table = sweep::table_of(swept.shown(), study.unit());
        let answer = sweep::answer(&plan, self.windows, &study, &swept, &table);
        let selected = swept
            .selection
            .as_ref()
            .map(|found| (found, sweep::selection_table(found, &swept.sweeps, study.unit())));
        let mut files = self.files(answer.name)?;
        sweep::put_details(&study, &swept, selected.as_ref().map(|found| &found.1), &mut files)?;
        self.publish(&answer, files)?;
        if answer.json[store::NOTHING].is_string() {
            return show_answer("killing tasks", &answer);
        }
        let table = sweep::table_of(&swept.sweeps[..1], study.unit());
        let first = table.slice(0, table.num_rows().min(SWEEP_ROWS_SHOWN));
        show(&format!("killing tasks by {}", swept.sweeps[0].rule), &first)?;
        if let Some((selection, table)) = &selected {
            show("the rule chosen on earlier jobs", table)?;
            console::note(sweep::selection_line(selection));
        }
        Ok(())
    }

    fn detect(&self) -> Result<()> {
        if self.is_missing(Table::TaskEvents, "detect")? {
            return Ok(());
        }
        let (lineup, plan) = detect::plan::prepare(&self.config.plan()?, &self.lake)?;
        let mut files = self.files("detect")?;
        files.are_made_from(&Origin::of(&self.lake), &detect::settings(&plan, self.windows));
        let bar = console::Bar::of_work("detect", "rows");
        let outcome = detect::detect_into(&self.lake, self.windows, &plan, Some(&mut files))?;
        drop(bar);
        detect::put_details(&outcome, &plan, &lineup, &mut files)?;
        let table = detect::table_of(&outcome, lineup.asked);
        let answer = detect::answer(&outcome, &plan, &lineup, self.windows, &table);
        self.publish(&answer, files)?;
        show_answer("straggler detectors", &answer)?;
        console::note(detect::counts_line(&outcome));
        Ok(())
    }

    /// A few policies over the recorded tasks; of a large trace a part of jobs and machines.
    fn replay(&self) -> Result<()> {
        let has_cluster = self.config.get("replay", "cluster").is_some();
        for table in [Table::TaskEvents, Table::MachineEvents] {
            if (table == Table::TaskEvents || !has_cluster) && self.is_missing(table, "replay")? {
                return Ok(());
            }
        }
        console::data("\nother policies\n")?;
        let Definitions { window_end, open_attempts, .. } = self.config.definitions()?;
        let out = Some(self.out().join("replay"));
        let lake = self.lake.path.clone();
        let answer = AnswerArgs { lake, out, window_end, ..AnswerArgs::default() };
        let attempts = AttemptArgs { open_attempts };
        replay::run(&ReplayArgs { plan: self.config.plan()?, journal: false, attempts, answer })
    }

    /// Who used how much, by hour; by day where the trace is long.
    fn fairness(&self) -> Result<()> {
        if self.is_missing(Table::TaskEvents, "fairness")? {
            return Ok(());
        }
        console::data("\nheaviest users\n")?;
        let Definitions { window_end, open_attempts, .. } = self.config.definitions()?;
        let plan: FairnessPlan = self.config.plan()?;
        let plan = FairnessPlan { lake: vec![path_text(&self.lake.path)?], ..plan };
        let (out, attempts) = (Some(self.out().join("fairness")), AttemptArgs { open_attempts });
        fairness::run(&FairnessArgs { plan, out, window_end, attempts, ..FairnessArgs::default() })
    }
}

/// Shows a whole answer, or why there is none.
fn show_answer(title: &str, answer: &Answer) -> Result<()> {
    console::data(&format!("\n{title}\n"))?;
    shown::show_answer(answer)
}

fn show(title: &str, table: &RecordBatch) -> Result<()> {
    console::data(&format!("\n{title}\n"))?;
    shown::show_table(table, &View::default())
}
