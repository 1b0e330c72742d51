//! `jobfate analyze`: every study that the tables allow, in one command.
//!
//! In: a folder, or a file with the settings of a whole analysis. Out: results step by step and a
//! report about them. A completed step is repeated only if one of its inputs changes.
//!
//! ```text
//!  ingest ─► verify ─► classify ─► ... ─► fairness ─► report, three numbers
//!             each leaves its results and a mark in OUT/steps.json
//! ```

use std::path::{Path, PathBuf};

use clap::Args;

use self::steps::Analysis;
use super::engine::WorkersArgs;
use super::{Stop, console, ingest, stop_on_signal, synth};
use crate::cli::shown;
use jobfate::answers::analysis::{self, Config, usual};
use jobfate::answers::fairness;
use jobfate::answers::ingest::{IngestChoice, plan};
use jobfate::answers::words::Setting;
use jobfate::faults::{Context, Hindered, Result, Usage};
use jobfate::files;
use jobfate::lake::{Lake, LakeErrorKind};
use jobfate::report;
use jobfate::results::marks::Marks;
use jobfate::synth::{SynthConfig, remove_unfinished};

mod steps;

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate analyze\n  jobfate analyze clusterdata-2011-2 --lake lake --out reports/google-2011\n  jobfate analyze LCG.swf.gz --out reports/lcg\n  jobfate analyze --lake lake --out reports/again\n  jobfate analyze --config analysis.toml";

/// Run the whole analysis of a trace
#[derive(Args, Debug)]
#[command(
    long_about = analysis::help::about(),
    after_long_help = format!("{}\n\n{EXAMPLES}", jobfate::defaults::help())
)]
pub(crate) struct AnalyzeArgs {
    /// Folder of the downloaded trace, or its file
    ///
    /// Without it, the lake of --lake is analysed. Without both, it is the lake of an earlier
    /// analysis in --out, or else a synthetic trace.
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
    /// Options on the command line take precedence over the file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Repeat completed steps
    #[arg(long)]
    pub again: bool,

    /// Also write the numbers that each chart draws
    ///
    /// As in the commands of the steps. Steps that were completed without it are repeated.
    #[arg(long)]
    pub chart_data: bool,

    /// Rule of fair share of a site, from its `slurm.conf`
    ///
    /// As in `fairness`, in addition to metered and condor; also `slurm-conf` in the section
    /// `fairness` of the config.
    #[arg(long, value_name = "FILE")]
    pub slurm_conf: Option<PathBuf>,

    /// File of accounts with shares, such as from `sshare`
    ///
    /// The output of `sshare -a -l -P` or `sacctmgr dump CLUSTER`, or lines `ACCOUNT/USER SHARES`, as in
    /// `fairness`; also `accounts` in the section `fairness` of the config.
    #[arg(long, value_name = "FILE")]
    pub accounts: Option<PathBuf>,

    #[command(flatten)]
    pub choice: IngestChoice,

    #[command(flatten)]
    pub workers: WorkersArgs,
}

/// The default folder of results.
const OUT: &str = "reports/analysis";

/// The folder of the pages, inside that of the results.
const REPORT: &str = "report";

pub(crate) fn run(args: &AnalyzeArgs) -> Result<()> {
    console::check_stdout()?;
    let spark = args.workers.spark()?;
    let mut config = match &args.config {
        Some(path) => Config::load(path)?,
        None => Config::default(),
    };
    let choice = config.ingest(&args.choice)?;
    // Checked now; otherwise a missing file would be noticed only after hours.
    for path in args.slurm_conf.iter().chain(&args.accounts) {
        std::fs::File::open(path)
            .with_context(|| format!("could not read `{}`", path.display()))?;
    }
    let out = args.out.clone().or_else(|| config.path("out")).unwrap_or_else(|| OUT.into());
    // From here on no other analysis can write into the folder.
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
    let site = fairness::KIND.name;
    for (section, option, path) in [
        ("trace", "folder", trace.as_deref()),
        ("trace", "lake", Some(&*lake)),
        ("trace", "out", Some(&*out)),
        (site, "slurm-conf", args.slurm_conf.as_deref()),
        (site, "accounts", args.accounts.as_deref()),
    ] {
        if let Some(path) = path {
            config.set(section, option, Setting::One(path_text(path)?));
        }
    }
    let stored = read_in(trace, &lake, (&args.choice, &choice), &stop)?;
    let lake = Lake::open(&lake)?;
    let parts: usize = lake.manifest.tables.values().map(|entry| entry.parts.len()).sum();
    usual::settle(&mut config, &lake);
    console::note(usual::table(&config, lake.source()));
    // Refuses bad settings now rather than after hours.
    config.check()?;
    // A file written by the user is not changed.
    if !is_users {
        files::write_whole(&file, config.toml().as_bytes())
            .with_context(|| format!("could not write `{}`", file.display()))?;
    }
    Analysis::new((lake, stored == parts), lock, config, args)?.run(spark.as_ref())
}

/// The folder of the generated trace, inside that of the results; used if no trace is given.
const SYNTHETIC: &str = "synthetic-trace";

fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Refuses a folder in which other files have names that an analysis uses.
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
        let (file, advice) = (file.display(), "give it as --config, or give another --out");
        let text = format!("`{file}` does not belong to an earlier analysis: {advice}");
        return Err(Usage(text).into());
    }
    Ok(())
}

/// Whether there is a lake to analyse if no trace is given: the lake of `--lake`, which must exist,
/// or the lake of an earlier analysis of a real trace.
fn is_there(lake: Option<&Path>, out: &Path) -> Result<bool> {
    let is_lake = |path: &Path| match Lake::open(path) {
        Err(error) if matches!(error.kind, LakeErrorKind::NoLake) => Ok(false),
        lake => lake.map(|_| true),
    };
    Ok(match lake {
        Some(lake) if is_lake(lake)? => true,
        Some(lake) => {
            let text = "give TRACE_DIR, or leave --lake out for a synthetic trace";
            return Err(Hindered(format!("there is no lake `{}`: {text}", lake.display())).into());
        }
        None => !out.join(SYNTHETIC).exists() && is_lake(&out.join("lake"))?,
    })
}

/// Ingests the trace, if there is one, and returns the number of stored parts.
fn read_in(
    trace: Option<PathBuf>,
    lake: &Path,
    (given, choice): (&IngestChoice, &IngestChoice),
    stop: &Stop,
) -> Result<usize> {
    let Some(trace) = trace else {
        if let Some(option) = given.first_given() {
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

/// Creates the synthetic trace, or reuses the one of an earlier run.
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
    text.ok_or_else(|| Usage(format!("`{}` is not text", path.display())).into())
}
