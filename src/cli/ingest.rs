//! `jobfate ingest`: reads a raw trace into a lake.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;

use super::console::{self, Bar, Counts};
use super::exit;
use super::{Stop, stop_on_signal};
use jobfate::answers::ingest::{IngestChoice, about, plan};
use jobfate::digits::{counted, grouped};
use jobfate::faults::{self, Fault, Interrupted, PartsFailed, Result};
use jobfate::lake::ingest::{FailedPart, IngestOutcome, ingest};
use jobfate::lake::needs::Needs;
use jobfate::lake::plan::IngestPlan;
use jobfate::lake::{Lake, PartEntry, told};
use jobfate::schema::{Column, ROW_ID, Source, Table};
use jobfate::studies::checks;

/// Read a downloaded trace into a lake of Parquet tables
#[derive(Args, Debug)]
#[command(long_about = about(), after_long_help = tables_help())]
pub(crate) struct IngestArgs {
    /// Folder of the downloaded trace, or its file
    ///
    /// For the Google trace of 2011, the folder of the download, with any subset of tables and
    /// parts: `job_events/part-00000-of-00500.csv.gz`, ... Plain `.csv` is read too. With --table,
    /// a folder that directly contains the parts of one table. For the trace of 2019, the folder of
    /// the exported files: `instance_events-000000000000.json.gz`, `.json`, `.parquet`.
    #[arg(value_name = "TRACE_DIR")]
    pub trace: PathBuf,

    /// Folder of the lake, created if it does not exist
    ///
    /// If the lake already has some of the parts, only the missing parts are added. To continue a
    /// stopped ingest, run the same command again.
    #[arg(long, value_name = "DIR", default_value = "lake")]
    pub lake: PathBuf,

    #[command(flatten)]
    pub choice: IngestChoice,
}

/// Smallest lake for which the size is announced, bytes.
const FORECAST_FROM: u64 = 1 << 30;

/// Number of faults that are shown with their first rejects and a hint.
const FAILED_SHOWN: usize = 3;

/// Number of other files with the same fault that are named.
const OTHERS_SHOWN: usize = 10;

/// Announces the needs of the plan, and refuses the plan if the machine has less.
fn forecast(plan: &IngestPlan, is_forced: bool) -> Result<()> {
    let needs = Needs::of(plan)?;
    if needs.disk == 0 {
        return Ok(());
    }
    let free = Needs::free(&plan.lake);
    if FORECAST_FROM <= needs.disk {
        console::note(format!(
            "will take about {} of disk ({} free) and {} of memory ({} free)",
            told(needs.disk),
            told(free.disk),
            told(needs.memory),
            told(free.memory)
        ));
    }
    if is_forced { Ok(()) } else { Ok(needs.check(&plan.lake, free)?) }
}

/// Runs the plan under a progress bar.
pub(crate) fn run_plan(plan: &IngestPlan, is_forced: bool, stop: &Stop) -> Result<IngestOutcome> {
    forecast(plan, is_forced)?;
    let total = plan.parts.values().flatten().map(|part| part.bytes).sum();
    let bar = Bar::follow("ingest", Counts::Bytes, total, stop.progress());
    let outcome = ingest(plan, stop.progress())?;
    drop(bar);
    show(&outcome);
    if !outcome.stored.is_empty() {
        let lake = Lake::open(&plan.lake)?;
        checks::odd_parts(&lake.manifest).iter().for_each(console::warn);
    }
    if outcome.is_cancelled {
        return Err(Interrupted.into());
    }
    if !outcome.failed.is_empty() {
        let wanted = plan.parts.values().map(Vec::len).sum();
        let is_bad_data = outcome.failed.iter().any(|part| part.error.kind.is_bad_data());
        let (failed, kept) = (outcome.failed.len(), outcome.stored.len() + outcome.skipped);
        return Err(PartsFailed { failed, wanted, kept, is_bad_data }.into());
    }
    Ok(outcome)
}

pub(crate) fn run(args: &IngestArgs) -> Result<()> {
    let plan = plan(&args.trace, &args.lake, &args.choice, console::say)?;
    let stop = stop_on_signal()?;
    let started = jobfate::progress::now();
    let outcome = run_plan(&plan, args.choice.force, &stop)?;
    if !outcome.stored.is_empty() {
        console::note(format!("in {:.1} s", started.elapsed().as_secs_f64()));
    }
    if let Some(note) = Lake::open(&args.lake)?.gap_note() {
        console::warn(note);
    }
    console::note(format!("next: jobfate classify --lake {}", args.lake.display()));
    Ok(())
}

/// Shows what was stored, table by table, and the faults.
fn show(outcome: &IngestOutcome) {
    let mut tables: BTreeMap<Table, Vec<&PartEntry>> = BTreeMap::new();
    for (table, part) in &outcome.stored {
        tables.entry(*table).or_default().push(part);
    }
    let mut said = BTreeSet::new();
    for (table, parts) in tables {
        let rows: u64 = parts.iter().map(|part| part.rows).sum();
        let numbers: Vec<u32> = parts.iter().map(|part| part.part).collect();
        let reasons = summed(parts.iter().flat_map(|part| &part.rejects));
        let (rows, count) = (counted(rows, "row"), counted(parts.len() as u64, "part"));
        let numbers = jobfate::lake::manifest::ranges(&numbers);
        console::note(format!("{table}: {rows} of {count} ({numbers})"));
        // A log usually has the same remarks for jobs and for their tasks.
        for (wording, count) in summed(parts.iter().flat_map(|part| &part.remarks)) {
            if said.insert((wording, count)) {
                console::note(format!("{table}: {wording}: {}", grouped(count)));
            }
        }
        if !reasons.is_empty() {
            let told = |(reason, count)| format!("{reason} {}", grouped(count));
            let list: Vec<String> = reasons.into_iter().map(told).collect();
            console::warn(format!(
                "{table}: lines without a row: {}; see `rejects/{table}/` in the lake",
                list.join(", ")
            ));
        }
    }
    if 0 < outcome.skipped {
        console::note(format!("already in the lake: {}", counted(outcome.skipped as u64, "part")));
    }
    show_failed(&outcome.failed);
}

/// The sums of counts by their names.
fn summed<'a>(counts: impl Iterator<Item = (&'a String, &'a u64)>) -> BTreeMap<&'a str, u64> {
    let mut sums = BTreeMap::new();
    for (name, count) in counts {
        *sums.entry(name.as_str()).or_default() += count;
    }
    sums
}

/// Shows each fault once, with the files that have it. A faulty log fails for every table that it
/// fills, and often all files of a log have the same fault.
fn show_failed(failed: &[FailedPart]) {
    let mut faults: Vec<(String, Vec<&FailedPart>)> = Vec::new();
    for part in failed {
        let path = part.error.path.display().to_string();
        let texts = [faults::chain(&part.error), part.error.details()].concat();
        let fault = texts.join("\n").replace(&path, "");
        match faults.iter_mut().find(|(known, _)| *known == fault) {
            Some((_, parts)) => parts.push(part),
            None => faults.push((fault, vec![part])),
        }
    }
    for (idx, (_, parts)) in faults.iter().enumerate() {
        let first = &parts[0].error;
        // The first few in full.
        if idx < FAILED_SHOWN {
            exit::show(None, first);
        } else {
            console::problem(format!("error: {first}: {}", first.kind));
        }
        let mut seen = BTreeSet::from([&first.path]);
        let others = parts.iter().map(|part| &part.error.path).filter(|path| seen.insert(path));
        let others: Vec<String> = others.map(|path| format!("`{}`", path.display())).collect();
        if !others.is_empty() {
            let mut said = others[..others.len().min(OTHERS_SHOWN)].join(", ");
            if OTHERS_SHOWN < others.len() {
                said.push_str(", ...");
            }
            let count = counted(others.len() as u64, "more file");
            console::problem(format!("  the same in {count}: {said}"));
        }
    }
}

/// The tables and columns, for `ingest --help`.
fn tables_help() -> String {
    let mut lines = vec![
        "Tables and columns of the lake (name, type, unit, meaning; *: the column or value may be missing):".to_owned(),
    ];
    let explain = |column: &Column| {
        let name = format!("{}{}", column.name, if column.is_mandatory { "" } else { "*" });
        let unit =
            if column.unit.is_empty() { String::new() } else { format!("[{}] ", column.unit) };
        format!("    {name:32} {:8} {unit}{}", column.type_name(), column.meaning)
    };
    for table in Table::ALL {
        let first = table.columns(Source::Google2011);
        lines.push(format!("\n  {table}: {}", table.meaning()));
        lines.push(format!("    {ROW_ID:32} int64    file order: part number x 2^40 + line"));
        lines.extend(first.iter().map(explain));
        let own = own_columns(table);
        if !own.is_empty() {
            lines.push("   additional or different columns in lakes of other traces:".to_owned());
        }
        lines.extend(
            own.iter()
                .map(|(column, sources)| format!("{} ({})", explain(column), sources.join(", "))),
        );
    }
    // Each line ends at a place where a shell continues reading on the next line.
    lines.push("\nExport from Slurm:\nTZ=UTC sacct --allusers --parsable2 --allocations --duplicates \\\n--starttime 2024-01-01 --endtime now --format JobID,JobIDRaw,Cluster,\\\nPartition,QOS,Account,Group,User,Submit,Eligible,Start,End,ElapsedRaw,ExitCode,\\\nState,NNodes,AllocCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,TimelimitRaw,NodeList,\\\nJobName | gzip > sacct.txt.gz".to_owned());
    lines.push("\nExample:\n  jobfate ingest clusterdata-2011-2 --lake lake --tables job_events,task_events\n  jobfate ingest LCG.swf.gz --lake lcg\n  jobfate ingest sacct.txt.gz --lake cluster --timezone Europe/Berlin".to_owned());
    lines.join("\n")
}

/// The columns that other sources have in addition to those of the first, or with another meaning.
/// Each column has a list of its sources.
fn own_columns(table: Table) -> Vec<(Column, Vec<&'static str>)> {
    let first = table.columns(Source::Google2011);
    let is_same = |one: &Column, other: &Column| {
        (one.name, one.unit, one.meaning) == (other.name, other.unit, other.meaning)
    };
    let mut own: Vec<(Column, Vec<&'static str>)> = Vec::new();
    // A lake of alloc sets has the same columns as one of jobs.
    let sources = Source::ALL.into_iter().filter(|source| *source != Source::Google2019AllocSets);
    for source in sources.filter(|source| source.tables().contains(&table)) {
        for column in table.columns(source) {
            if first.iter().any(|first| is_same(first, column)) {
                continue;
            }
            match own.iter_mut().find(|(known, _)| is_same(known, column)) {
                Some((_, sources)) => sources.push(source.name()),
                None => own.push((*column, vec![source.name()])),
            }
        }
    }
    own
}
