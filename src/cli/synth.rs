//! `jobfate synth`: a synthetic trace with its ground truth.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::Args;

use super::console::{self, Bar, Counts};
use jobfate::digits::grouped;
use jobfate::faults::Result;
use jobfate::sources::part::Progress;
use jobfate::synth::{Dirty, Form, SynthConfig, SynthStage, Truth, write_trace};

/// Write a synthetic trace with its ground truth
///
/// Writes tables in the layout of the Google trace v2.1 or v3, with similar properties: outcome
/// shares, heavy-tailed jobs, crash-looping tasks, usage windows, machines that leave and return.
/// `truth.json` in the same folder has the ground truth: counts per outcome and sequence, CPU per
/// outcome, threshold crossings, stragglers. The same seed gives the same bytes.
///
/// Memory: 150 MB, and 5,000 bytes for each job.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate synth trace\n  jobfate synth trace --jobs 20000 --days 5 --parts 20 --seed 7\n  jobfate synth trace --scale 0.01 --dirty\n  jobfate synth cell --source google-2019"
)]
pub(crate) struct SynthArgs {
    /// Folder of the trace, new or empty
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Format: google-2011 (CSV) or google-2019 (JSON)
    ///
    /// Both formats have the same history. The format of 2019 is that of the exported files. It
    /// also has data that only v3 records: QUEUE and ENABLE, histograms, alloc sets.
    #[arg(long, value_name = "SOURCE", value_parser = parse_form, default_value = "google-2011")]
    pub source: Form,

    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = jobfate::units::natural::<u64>)]
    pub seed: u64,

    /// Size as a share of the real trace
    ///
    /// A size of 1 is 672,074 jobs in 29 days and 500 parts. Jobs and parts are proportional to the
    /// size; days and machines are proportional to its square root.
    #[arg(long, value_name = "FACTOR", conflicts_with_all = ["jobs", "days", "parts"], value_parser = parse_scale)]
    pub scale: Option<f64>,

    /// Number of jobs
    #[arg(long, value_name = "COUNT", value_parser = jobfate::units::whole(1..=10_000_000u64))]
    pub jobs: Option<u64>,

    /// Length of the window in days
    #[arg(long, value_name = "DAYS", value_parser = parse_days)]
    pub days: Option<f64>,

    /// Number of time slices, and therefore of parts per table
    #[arg(long, value_name = "COUNT", value_parser = jobfate::units::whole(1..=99_999u32))]
    pub parts: Option<u32>,

    /// Number of machines; by default it depends on the trace size
    #[arg(long, value_name = "COUNT", value_parser = jobfate::units::whole(1..=1_000_000u32))]
    pub machines: Option<u32>,

    /// Leave out `task_usage`, by far the largest table
    #[arg(long)]
    pub no_usage: bool,

    /// Add bad lines of every kind
    ///
    /// They are added to the good lines and counted in truth.json; `ingest` needs a larger
    /// `--max-rejects` for them.
    #[arg(long, conflicts_with = "source")]
    pub dirty: bool,
}

fn parse_form(name: &str) -> Result<Form, String> {
    match name {
        "google-2011" => Ok(Form::Google2011),
        "google-2019" => Ok(Form::Google2019),
        _ => Err("synthetic traces are google-2011 or google-2019".to_owned()),
    }
}

fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if (1e-6..=14.0).contains(&scale) => Ok(scale),
        _ => Err("a factor from 1e-6 to 14 (ten million jobs)".to_owned()),
    }
}

fn parse_days(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(days) if (1.0 / 24.0..=3_650.0).contains(&days) => Ok(days),
        _ => Err("a number of days from 1/24 (an hour) to 3650".to_owned()),
    }
}

pub(crate) fn config(args: &SynthArgs) -> SynthConfig {
    let base = args.scale.map_or_else(SynthConfig::default, SynthConfig::scale);
    SynthConfig {
        seed: args.seed,
        job_count: args.jobs.unwrap_or(base.job_count),
        days: args.days.unwrap_or(base.days),
        part_count: args.parts.unwrap_or(base.part_count),
        machine_count: args.machines.unwrap_or(base.machine_count),
        with_usage: !args.no_usage,
        dirty: if args.dirty { Dirty::Dirty } else { Dirty::Clean },
        form: args.source,
    }
}

/// Writes a trace under a progress bar.
pub(crate) fn write(config: &SynthConfig, folder: &Path) -> Result<Truth> {
    let progress = Arc::new(Progress::default());
    // Drawing the jobs and writing the parts take about the same time.
    let bar = Bar::follow("synth", Counts::Percent, 100, &progress);
    let truth = write_trace(config, folder, &|state| {
        let done = state.done * 50 / state.total.max(1);
        let before = if state.stage == SynthStage::Jobs { 0 } else { 50 };
        progress.rows.fetch_max(before + done, Ordering::Relaxed);
    })?;
    drop(bar);
    Ok(truth)
}

pub(crate) fn run(args: &SynthArgs) -> Result<()> {
    let started = jobfate::progress::now();
    let truth = write(&config(args), &args.folder)?;
    for (table, rows) in &truth.rows {
        console::note(format!("{table}: {} rows", grouped(*rows)));
    }
    console::note(format!("in {:.1} s", started.elapsed().as_secs_f64()));
    console::note(format!("next: jobfate ingest {} --lake lake", args.folder.display()));
    Ok(())
}
