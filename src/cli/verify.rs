//! `jobfate verify`: checks that the download is complete and the lake is intact.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::Args;
use rayon::prelude::*;
use serde_json::json;

use super::console::{self, Bar, Counts};
use super::{AnswerArgs, stop_on_signal};
use crate::cli::shown;
use jobfate::answers::ingest::{IngestChoice, source_help};
use jobfate::answers::verify::{
    FILES, KIND, Trust, absent, check_part, describe, lake_report, raw_table, same,
};
use jobfate::faults::{CheckFailed, Failure, Result};
use jobfate::lake::Lake;
use jobfate::lake::manifest::MANIFEST;
use jobfate::results::forms::rows;
use jobfate::results::store::{Answer, Origin};
use jobfate::schema::{Source, Table};
use jobfate::sources::RawPart;
use jobfate::sources::checksums::Checksums;

/// Check a downloaded trace or a lake
///
/// On a raw folder: the checksum of every part against the folder's SHA256SUM, SHA1SUM or MD5SUM;
/// whether every part can be read; lines that would be rejected; missing parts. On a lake: every
/// file against the manifest; types and ranges of all cells, and order of all rows; whether each
/// part has each of its rows exactly once; the published counts of the whole trace of 2011, for
/// complete tables; and a report on data quality. The exit code is 3 if a file was changed, and 1
/// if a check fails. Missing parts are listed but are not a failure. Unlikely but possible data
/// (the same file as two parts, every time 0, a log of one user) gives a warning.
///
/// Memory: for a raw folder as much as `ingest`; for a lake about 60 bytes for each row of its
/// largest bucket, per thread.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate verify clusterdata-2011-2\n  jobfate verify jobs.csv --map jobs.toml\n  jobfate verify --lake lake\n  jobfate verify --lake lake --format json > quality.json"
)]
pub(crate) struct VerifyArgs {
    /// Folder or file of the trace; the lake by default
    #[arg(value_name = "TRACE_DIR", conflicts_with = "lake")]
    pub trace: Option<PathBuf>,

    /// Kind of trace, by default recognised from its content
    #[arg(long, value_name = "KIND", requires = "trace", long_help = source_help(""))]
    pub source: Option<Source>,

    /// Map of the columns of any table of jobs or attempts
    ///
    /// The same as that of `ingest`: lines that would be rejected are counted by reason.
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub map: Option<PathBuf>,

    /// Table name, if `TRACE_DIR` directly contains its parts
    #[arg(long, value_name = "TABLE", requires = "trace")]
    pub table: Option<Table>,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<()> {
    match &args.trace {
        Some(trace) if !trace.join(MANIFEST).exists() => verify_raw(trace, args),
        Some(lake) => verify_lake(&Lake::open(lake)?, &args.answer),
        None => verify_lake(&Lake::open(&args.answer.lake)?, &args.answer),
    }
}

fn verify_raw(trace: &Path, args: &VerifyArgs) -> Result<()> {
    let (source, table, map) = (args.source, args.table, args.map.clone());
    let choice = IngestChoice { source, table, map, ..IngestChoice::default() };
    let folder = choice.folder(trace)?;
    let sums = Checksums::of_folder(&folder.path)?;
    let files = shown::files(args.answer.out.as_deref(), KIND.name)?;
    let stop = stop_on_signal()?;
    let parts: Vec<&RawPart> = folder.parts.values().flatten().collect();
    let bar = Bar::follow(
        KIND.name,
        Counts::Bytes,
        parts.iter().map(|part| part.bytes).sum(),
        stop.progress(),
    );
    let reports = Mutex::new(Vec::new());
    parts.par_iter().with_max_len(1).try_for_each(|part| {
        let report = check_part(part, sums.as_ref(), stop.progress())?;
        reports.lock().expect("no thread panicked with the lock").push(report);
        Ok::<(), Failure>(())
    })?;
    drop(bar);
    let mut reports = reports.into_inner().expect("no thread panicked with the lock");
    reports.sort_by_key(|report| (report.part.table, report.part.part));
    for report in reports.iter().filter(|report| !report.is_ok()) {
        console::warn(describe(report));
    }
    same(&reports).iter().for_each(console::say);
    absent(&folder, sums.as_ref()).iter().for_each(console::say);
    let table = raw_table(&folder, &reports);
    let answer = Answer {
        kind: FILES,
        table: &table,
        json: json!({"rows": rows(&table)}),
        settings: json!({"trace": trace}),
        charts: Vec::new(),
    };
    // The check itself covers the checksums of the parts, so they are not listed as inputs.
    let origin = Origin { source: None, inputs: Vec::new(), gaps: Vec::new() };
    shown::give(&answer, files, &origin, &args.answer.form())?;
    match reports.iter().filter(|report| !report.is_ok()).count() {
        0 => Ok(()),
        count => Err(CheckFailed(format!(
            "{count} of {} parts are damaged or differ from their checksum",
            reports.len()
        ))
        .into()),
    }
}

fn verify_lake(lake: &Lake, args: &AnswerArgs) -> Result<()> {
    let files = shown::files(args.out.as_deref(), KIND.name)?;
    let report = lake_report(lake, Trust::Nothing)?;
    report.said.iter().for_each(console::say);
    let table = report.table();
    // The report already lists the missing parts.
    let origin = Origin { gaps: Vec::new(), ..Origin::of(lake) };
    shown::give(&report.answer(&table), files, &origin, &args.form())?;
    report.verdict().iter().for_each(console::note);
    report.into_result()
}
