//! `jobfate verify`: is the download whole, and is the lake what it should be?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use arrow::record_batch::RecordBatch;
use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::console::{self, Bar, Counts};
use super::{AnswerArgs, Stop, stop_on_signal};
use crate::cli::shown;
use crate::digits::{counted, grouped};
use crate::facts::census::{Census, census};
use crate::faults::{CheckFailed, Failure, Interrupted, Result};
use crate::lake::manifest::{MANIFEST, ranges};
use crate::lake::{Gap, Lake};
use crate::results::forms::rows;
use crate::results::frame::Frame;
use crate::results::store::{Answer, Origin};
use crate::schema::{Source, Table};
use crate::sources::checksums::{Checksums, SumKind};
use crate::sources::part::{PartStop, read_part};
use crate::sources::{RawPart, SourceError, TraceFolder, open_trace};
use crate::studies::checks::{self, Check};

/// Check a downloaded trace or a lake
///
/// On a raw folder: the checksum of every part against the folder's SHA256SUM, SHA1SUM or
/// MD5SUM; whether every part can be read; lines that would give no row; parts that are absent.
/// On a lake: every file against the manifest; types, ranges and order of all cells, and that each
/// part has its rows, each once; the published counts of the whole trace of 2011, for the tables
/// that are whole; and a report on the quality of the data. A file that was changed ends with 3,
/// a check that fails with 1. What is absent is named and is no failure; what looks wrong though it
/// could be right (the same file as two parts, every time 0, a log of one user) is a warning.
///
/// Memory: of a raw part as much as `ingest` takes per thread; of a lake about 60 bytes for each
/// row of its largest bucket, per thread.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate verify clusterdata-2011-2\n  jobfate verify --lake lake\n  jobfate verify --lake lake --format json > quality.json"
)]
pub(crate) struct VerifyArgs {
    /// Folder or file of the trace; the lake by default
    #[arg(value_name = "TRACE_DIR")]
    pub trace: Option<PathBuf>,

    /// Kind of trace, told from its content by default
    ///
    /// google-2011, google-2019, swf, gwf or rumen.
    #[arg(long, value_name = "KIND", requires = "trace")]
    pub source: Option<Source>,

    /// Table whose parts lie flat in `TRACE_DIR`
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

/// What was found of a raw part.
struct PartReport {
    part: RawPart,
    /// Agrees with the list of checksums; `None` where the part is not listed.
    is_sum_right: Option<bool>,
    /// SHA-256 of the file, if it could be read.
    sha256: Option<String>,
    lines: u64,
    rejects: BTreeMap<&'static str, u64>,
    /// The first line that would give no row.
    first_reject: Option<String>,
    error: Option<SourceError>,
}

impl PartReport {
    fn is_ok(&self) -> bool {
        self.is_sum_right != Some(false) && self.error.is_none() && self.rejects.is_empty()
    }
}

fn verify_raw(trace: &Path, args: &VerifyArgs) -> Result<()> {
    super::ingest::check_table(args.source, args.table)?;
    let folder = open_trace(trace, args.source, args.table)?;
    let sums = Checksums::of_folder(&folder.path)?;
    let files = shown::files(args.answer.out.as_deref(), "verify")?;
    let stop = stop_on_signal()?;
    let parts: Vec<&RawPart> = folder.parts.values().flatten().collect();
    let bar = Bar::follow(
        "verify",
        Counts::Bytes,
        parts.iter().map(|part| part.bytes).sum(),
        stop.progress(),
    );
    let reports = Mutex::new(Vec::new());
    parts.par_iter().with_max_len(1).try_for_each(|part| {
        let report = check_part(part, sums.as_ref(), &stop)?;
        reports.lock().expect("no thread panicked with the lock").push(report);
        Ok::<(), Failure>(())
    })?;
    drop(bar);
    let mut reports = reports.into_inner().expect("no thread panicked with the lock");
    reports.sort_by_key(|report| (report.part.table, report.part.part));
    for report in reports.iter().filter(|report| !report.is_ok()) {
        console::warn(describe(report));
    }
    show_same(&reports);
    show_absent(&folder, sums.as_ref());
    let table = raw_table(&folder, &reports);
    let answer = Answer {
        name: "verify",
        table: &table,
        json: json!({"rows": rows(&table)}),
        settings: json!({"trace": trace}),
        charts: Vec::new(),
    };
    // The sums of the parts are what is being checked.
    let origin = Origin { source: Value::Null, inputs: json!([]), gap_note: None };
    shown::give(&answer, files, &origin, &args.answer.form())?;
    match reports.iter().filter(|report| !report.is_ok()).count() {
        0 => Ok(()),
        count => Err(CheckFailed(format!(
            "{count} of {} parts are not as they should be",
            reports.len()
        ))
        .into()),
    }
}

fn check_part(part: &RawPart, sums: Option<&Checksums>, stop: &Stop) -> Result<PartReport> {
    let mut rejects: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut first_reject = None;
    let read = read_part::<()>(part, stop.progress(), |block| {
        for reject in &block.rejects {
            *rejects.entry(reject.reason.name()).or_default() += 1;
            first_reject.get_or_insert_with(|| match reject.column {
                "" => format!("line {}, {}", reject.line, reject.reason.name()),
                column => format!("line {}, {column}, {}", reject.line, reject.reason.name()),
            });
        }
        Ok(())
    });
    let expected = sums.and_then(|sums| Some((sums.kind, sums.sums.get(&part.listed_name())?)));
    let found = |kind: SumKind, sha256: Option<&str>| match (kind, sha256) {
        (SumKind::Sha256, Some(sum)) => Ok(sum.to_owned()),
        _ => kind.of_file(&part.path),
    };
    let (lines, sha256, error) = match read {
        Ok(summary) => (summary.line_count, Some(summary.digest.sha256), None),
        Err(PartStop::Source(error)) => (0, None, Some(error)),
        Err(PartStop::Cancelled | PartStop::Sink(())) => return Err(Interrupted.into()),
    };
    let is_sum_right = match expected {
        Some((kind, sum)) => Some(found(kind, sha256.as_deref())? == *sum),
        None => None,
    };
    let part = part.clone();
    Ok(PartReport { part, is_sum_right, sha256, lines, rejects, first_reject, error })
}

fn describe(report: &PartReport) -> String {
    let mut faults = Vec::new();
    if report.is_sum_right == Some(false) {
        faults.push("its checksum differs from the list".to_owned());
    }
    if let Some(error) = &report.error {
        faults.push(error.kind.to_string());
    }
    if let Some(first) = &report.first_reject {
        let count: u64 = report.rejects.values().sum();
        faults.push(format!("{} would give no row (first: {first})", counted(count, "line")));
    }
    format!("{}: {}", report.part.listed_name(), faults.join("; "))
}

/// Names the parts that are the same file under two numbers.
fn show_same(reports: &[PartReport]) {
    let mut known: BTreeMap<(Table, &str), u32> = BTreeMap::new();
    for report in reports.iter().filter(|report| 0 < report.lines) {
        let (table, part) = (report.part.table, report.part.part);
        let Some(sum) = report.sha256.as_deref() else { continue };
        if let Some(first) = known.get(&(table, sum)) {
            console::warn(checks::same_file(table, *first, part));
        } else {
            known.insert((table, sum), part);
        }
    }
}

/// Names the parts that the names of the others, or the list of checksums, promise.
fn show_absent(folder: &TraceFolder, sums: Option<&Checksums>) {
    for &table in folder.source.tables() {
        let parts = folder.parts.get(&table).map_or(&[][..], Vec::as_slice);
        let there: BTreeSet<u32> = parts.iter().map(|part| part.part).collect();
        let listed = sums.into_iter().flat_map(|sums| sums.sums.keys()).filter_map(|name| {
            name.strip_prefix(table.name())?.strip_prefix("/part-")?.split('-').next()?.parse().ok()
        });
        let promised = parts.iter().find_map(|part| part.of).map_or(0..0, |of| 0..of);
        let absent: BTreeSet<u32> =
            listed.chain(promised).filter(|part: &u32| !there.contains(part)).collect();
        let absent: Vec<u32> = absent.into_iter().collect();
        if parts.is_empty() {
            console::note(format!("absent: {table}, all of it"));
        } else if !absent.is_empty() {
            console::note(format!("absent: {table} parts {}", ranges(&absent)));
        }
    }
}

fn raw_table(folder: &TraceFolder, reports: &[PartReport]) -> RecordBatch {
    let tables: Vec<Table> = folder.parts.keys().copied().collect();
    let sum = |value: fn(&PartReport) -> u64| {
        let of_table = move |table: &Table| {
            reports.iter().filter(|report| report.part.table == *table).map(value).sum::<u64>()
        };
        tables.iter().map(of_table).collect::<Vec<u64>>()
    };
    Frame::default()
        .text("table", tables.iter().map(|table| table.name()))
        .count("parts", sum(|_| 1))
        .count("sum_right", sum(|report| u64::from(report.is_sum_right == Some(true))))
        .count("sum_wrong", sum(|report| u64::from(report.is_sum_right == Some(false))))
        .count("not_listed", sum(|report| u64::from(report.is_sum_right.is_none())))
        .count("unreadable", sum(|report| u64::from(report.error.is_some())))
        .count("lines", sum(|report| report.lines))
        .count("lines_without_row", sum(|report| report.rejects.values().sum()))
        .batch()
}

fn verify_lake(lake: &Lake, args: &AnswerArgs) -> Result<()> {
    let files = shown::files(args.out.as_deref(), "verify")?;
    let report = lake_report(lake, Trust::Nothing)?;
    let table = report.table();
    shown::give(&report.answer(&table), files, &Origin::of(lake), &args.form())?;
    report.into_result()
}

/// What is in a lake, and what of it should be otherwise.
pub(crate) struct LakeReport {
    census: Census,
    gaps: Vec<Gap>,
    contradictions: Vec<String>,
    /// What looks wrong and fails no check.
    warnings: Vec<String>,
    checks: Vec<Check>,
}

/// Whether the files of a lake are what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// That is to be found out.
    Nothing,
    /// This very run has written and hashed all of them.
    JustWritten,
}

/// Checks the files and the numbers of a lake, and says what is absent.
pub(crate) fn lake_report(lake: &Lake, trust: Trust) -> Result<LakeReport> {
    // Each stretch is read once: hashed, then counted.
    let census = match trust {
        Trust::Nothing => census(&lake.compared())?,
        Trust::JustWritten => census(lake)?,
    };
    if trust == Trust::Nothing {
        lake.check_rows()?;
        lake.check_footers()?;
    }
    for &table in lake.source().tables() {
        match lake.manifest.table(table) {
            None => console::note(format!("absent: {table}, all of it")),
            Some(entry) if !entry.is_whole() => {
                let of = entry.parts.iter().find_map(|part| part.of);
                let of = of.map_or_else(String::new, |of| format!(" of {of}"));
                console::note(format!(
                    "{table}: parts {}{of} are in the lake",
                    entry.part_ranges()
                ));
            }
            Some(_) => {}
        }
    }
    if let Some(note) = lake.gap_note() {
        console::warn(note);
    }
    if !lake.manifest.origin.is_original() {
        console::note("the trace is synthetic or a sample: published counts do not apply");
    }
    let checks = checks::compare(lake, &census);
    for check in checks.iter().filter(|check| !check.is_ok()) {
        console::warn(format!(
            "{}: {} is {}, published is {}",
            check.table,
            check.what,
            grouped(check.found),
            grouped(check.published)
        ));
    }
    let contradictions = checks::contradictions(lake, &census);
    contradictions.iter().for_each(console::warn);
    let warnings = [checks::odd_parts(&lake.manifest), checks::odd_rows(&census)].concat();
    warnings.iter().for_each(console::warn);
    for (wording, count) in lake.remarks(Table::TaskEvents) {
        console::note(format!("task_events: {wording}: {}", grouped(count)));
    }
    show_size_of_log(lake, &census);
    Ok(LakeReport { census, gaps: lake.gaps(), contradictions, warnings, checks })
}

/// Says how many of the jobs that the header of a log speaks of are there; cleaned logs have fewer.
fn show_size_of_log(lake: &Lake, census: &Census) {
    let promised = lake.header("MaxJobs").find_map(|value| value.parse::<u64>().ok());
    let jobs = census.tables.get(&Table::JobEvents).and_then(|counts| counts.get("jobs"));
    if let (Some(promised), Some(&jobs)) = (promised, jobs) {
        let (jobs, promised) = (grouped(jobs), grouped(promised));
        console::note(format!("{jobs} jobs; the header of the log speaks of {promised}"));
    }
}

impl LakeReport {
    /// One row per count.
    pub(crate) fn table(&self) -> RecordBatch {
        let counts: Vec<(Table, &String, u64)> = self
            .census
            .tables
            .iter()
            .flat_map(|(&table, counts)| {
                counts.iter().map(move |(what, &count)| (table, what, count))
            })
            .collect();
        let published = |table: Table, what: &str| {
            self.checks.iter().find(|check| check.table == table.name() && check.what == what)
        };
        let verdict = |table, what: &str| match published(table, what) {
            None => None,
            Some(check) if check.is_ok() => Some("as published"),
            Some(_) => Some("DIFFERS"),
        };
        Frame::default()
            .text("table", counts.iter().map(|(table, ..)| table.name()))
            .text("what", counts.iter().map(|(_, what, _)| what.as_str()))
            .count("count", counts.iter().map(|(.., count)| *count))
            .maybe_text("check", counts.iter().map(|(table, what, _)| verdict(*table, what)))
            .batch()
    }

    pub(crate) fn answer<'a>(&self, table: &'a RecordBatch) -> Answer<'a> {
        Answer {
            name: "verify",
            table,
            json: json!({
                "checks": self.checks,
                "warnings": self.warnings,
                "counts": rows(table),
                "gaps": self.gaps,
            }),
            settings: json!({}),
            charts: Vec::new(),
        }
    }

    /// Ends with exit code 1 if a number differs from what is published, or two from each other.
    pub(crate) fn into_result(self) -> Result<()> {
        let wrong = self.checks.iter().filter(|check| !check.is_ok()).count();
        if !self.checks.is_empty() {
            let right = self.checks.len() - wrong;
            console::note(format!("{right} of {} published counts agree", self.checks.len()));
        }
        if !self.contradictions.is_empty() {
            Err(CheckFailed("the tables of the log contradict each other".to_owned()).into())
        } else if wrong == 0 {
            Ok(())
        } else {
            Err(CheckFailed(format!("{wrong} counts differ from what is published")).into())
        }
    }
}
