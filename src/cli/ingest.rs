//! `jobfate ingest`: a raw trace into a lake.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;

use super::console::{self, Bar, Counts};
use super::exit;
use super::{Stop, stop_on_signal};
use jobfate::digits::{counted, grouped};
use jobfate::faults::{Interrupted, PartsFailed, Result, Usage};
use jobfate::lake::ingest::{IngestOutcome, ingest};
use jobfate::lake::needs::Needs;
use jobfate::lake::plan::{Cut, IngestPlan, MaxRejects, Shard, choose_parts};
use jobfate::lake::{Lake, Origin, PartEntry, told};
use jobfate::schema::{Column, ROW_ID, Source, Table};
use jobfate::sources::open_trace;
use jobfate::studies::checks;

/// Read a downloaded trace into a lake of Parquet tables
///
/// The Google trace of 2011 or of 2019, a log in the standard or grid workload format (SWF, GWF),
/// or a Rumen trace of Hadoop jobs with the topology beside it; plain or .gz. A log fills
/// `job_events` and `task_events`, where each SWF or GWF job is one task, and `machine_events`.
///
/// Memory: 200 MB, and 200 MB per thread (250 MB in a lake of 128 buckets or more), however large
/// the trace is. A log takes besides 20 bytes for each job and at most 64 MB for runs that are
/// logged in parts, a Rumen trace the text of its largest job (at most 256 MB), the trace of 2019 40
/// bytes for each collection.
#[derive(Args, Debug)]
#[command(after_long_help = tables_help())]
pub(crate) struct IngestArgs {
    /// Folder of the downloaded trace, or its file
    ///
    /// Of the Google trace of 2011, the folder that holds the tables as the trace lays them out,
    /// any subset of tables and parts: `job_events/part-00000-of-00500.csv.gz`, ... Plain `.csv`
    /// is read too. With --table, a flat folder of parts of one table. Of that of 2019, the
    /// folder of the exported files: `instance_events-000000000000.json.gz`, `.json`, `.parquet`.
    #[arg(value_name = "TRACE_DIR")]
    pub trace: PathBuf,

    /// Folder of the lake, made if it is not there
    ///
    /// A lake that holds some of the parts already gets the missing ones only, so an ingest that
    /// was stopped goes on when the same command is run again.
    #[arg(long, value_name = "DIR", default_value = "lake")]
    pub lake: PathBuf,

    #[command(flatten)]
    pub choice: IngestChoice,
}

/// What to ingest and how; shared with `analyze`.
#[derive(Args, Debug, Default)]
pub(crate) struct IngestChoice {
    /// Kind of trace, told from its content by default
    ///
    /// google-2011, google-2019, swf, gwf or rumen; google-2019-alloc-sets takes the alloc sets
    /// of that trace for jobs, and leaves the jobs out.
    #[arg(long, value_name = "KIND")]
    pub source: Option<Source>,

    /// Table whose parts lie flat in `TRACE_DIR`
    ///
    /// Only of the Google trace.
    #[arg(long, value_name = "TABLE", conflicts_with = "tables")]
    pub table: Option<Table>,

    /// Tables to ingest, all by default
    ///
    /// For example `--tables job_events,task_events`.
    #[arg(long, value_name = "TABLE,...", value_delimiter = ',')]
    pub tables: Option<Vec<Table>>,

    /// Numbers of the parts to ingest, all by default
    ///
    /// For example `--parts 0-13,15`. Tables of a single part (`machine_events`,
    /// `machine_attributes`) are always taken whole.
    #[arg(long, value_name = "RANGES", value_parser = parse_ranges)]
    pub parts: Option<PartNumbers>,

    /// Most lines of a part that may give no row
    ///
    /// A count (`100`) or a share of the part's lines (`0.1%`). Lines that give no row are kept
    /// under `rejects/` in the lake with line, column and reason, the first 256 MB of each part;
    /// all are counted. A part with more than allowed is not ingested, and the exit code is 3.
    #[arg(long, value_name = "COUNT|PERCENT", default_value = "0.1%")]
    pub max_rejects: MaxRejects,

    /// Number of buckets of a new lake, by size by default
    ///
    /// Rows are spread over buckets by job. More buckets need less memory per question; fewer
    /// make larger files.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub buckets: Option<u32>,

    /// This program's share of the work, `I/N`
    ///
    /// N programs, on N machines with a shared file system, fill one lake side by side: give
    /// each the same arguments and its own I from 1 to N.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,

    /// Begin although disk or memory seem too small
    ///
    /// Before it begins, ingest tells from the sizes of the files how much of both it will take,
    /// and refuses where there is less.
    #[arg(long)]
    pub force: bool,

    /// Number of threads, one per core by default
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Numbers given as ranges.
#[derive(Clone, Debug)]
pub(crate) struct PartNumbers(BTreeSet<u32>);

fn parse_ranges(text: &str) -> Result<PartNumbers, String> {
    let bad = || format!("`{text}` is no list of part numbers such as `0-13,15`");
    let mut numbers = BTreeSet::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) =
            (first.parse().map_err(|_| bad())?, last.parse().map_err(|_| bad())?);
        if last < first || 1_000_000 < last {
            return Err(bad());
        }
        numbers.extend(first..=last);
    }
    Ok(PartNumbers(numbers))
}

/// A lake smaller than this needs no word on its size, bytes.
const FORECAST_FROM: u64 = 1 << 30;

/// Failed parts that are shown with their first rejects and a hint.
const FAILED_SHOWN: usize = 3;

/// What is to be done, checked against the folder.
pub(crate) fn plan(args: &IngestArgs) -> Result<IngestPlan> {
    let choice = &args.choice;
    check_table(choice.source, choice.table)?;
    let folder = open_trace(&args.trace, choice.source, choice.table)?;
    for name in &folder.ignored {
        console::warn(format!("`{name}` is no table of the trace and no part of one: passed over"));
    }
    let numbers = choice.parts.as_ref().map(|parts| &parts.0);
    let parts = choose_parts(&folder, choice.tables.as_deref(), numbers);
    if parts.is_empty() {
        return Err(Usage("none of the chosen tables and parts is in the folder".to_owned()).into());
    }
    for table in choice.tables.iter().flatten().filter(|table| !parts.contains_key(table)) {
        console::warn(format!(
            "table `{table}` is not in the folder, or none of the chosen parts is"
        ));
    }
    Ok(IngestPlan {
        lake: args.lake.clone(),
        source: folder.source,
        origin: Origin::of_folder(&args.trace),
        parts,
        max_rejects: choice.max_rejects,
        bucket_count: choice.buckets,
        shard: choice.shard,
        threads: choice.threads.map_or_else(jobfate::progress::core_count, usize::from),
        cut: Cut::default(),
    })
}

/// Only the Google trace comes in parts that can lie flat in a folder.
pub(crate) fn check_table(source: Option<Source>, table: Option<Table>) -> Result<()> {
    match (source, table) {
        (Some(source), Some(_)) if source != Source::Google2011 => {
            Err(Usage(format!("--table is for google-2011; a {source} log is one file")).into())
        }
        _ => Ok(()),
    }
}

/// Says what the plan will take, and refuses it where the machine has less.
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
    let plan = plan(args)?;
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

/// Says what was stored, table by table, and what was wrong.
fn show(outcome: &IngestOutcome) {
    let mut tables: BTreeMap<Table, Vec<&PartEntry>> = BTreeMap::new();
    for (table, part) in &outcome.stored {
        tables.entry(*table).or_default().push(part);
    }
    let mut said = BTreeSet::new();
    for (table, parts) in tables {
        let rows: u64 = parts.iter().map(|part| part.rows).sum();
        let numbers: Vec<u32> = parts.iter().map(|part| part.part).collect();
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for (reason, count) in parts.iter().flat_map(|part| &part.rejects) {
            *reasons.entry(reason).or_default() += count;
        }
        console::note(format!(
            "{table}: {} of {} ({})",
            counted(rows, "row"),
            counted(parts.len() as u64, "part"),
            jobfate::lake::manifest::ranges(&numbers),
        ));
        // A log says the same of jobs and of their tasks.
        for (wording, count) in parts.iter().flat_map(|part| &part.remarks) {
            if said.insert(wording) {
                console::note(format!("{table}: {wording}: {}", grouped(*count)));
            }
        }
        if !reasons.is_empty() {
            let list: Vec<String> = reasons
                .iter()
                .map(|(reason, count)| format!("{reason} {}", grouped(*count)))
                .collect();
            console::warn(format!(
                "{table}: lines without a row: {}; see `rejects/{table}/` in the lake",
                list.join(", ")
            ));
        }
    }
    if 0 < outcome.skipped {
        console::note(format!("in the lake already: {}", counted(outcome.skipped as u64, "part")));
    }
    for (idx, failed) in outcome.failed.iter().enumerate() {
        // The first few in full; one fault is often that of all.
        if idx < FAILED_SHOWN {
            exit::show(None, &failed.error);
        } else {
            console::problem(format!("error: {}: {}", failed.error, failed.error.kind));
        }
    }
}

/// The tables and columns, for `ingest --help`.
fn tables_help() -> String {
    let mut lines = vec![
        "Tables and columns of the lake (name, type, unit, meaning; * may be missing):".to_owned(),
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
            lines.push("   in lakes of other traces besides, or instead:".to_owned());
        }
        lines.extend(
            own.iter()
                .map(|(column, sources)| format!("{} ({})", explain(column), sources.join(", "))),
        );
    }
    lines.push("\nExample:\n  jobfate ingest clusterdata-2011-2 --lake lake --tables job_events,task_events\n  jobfate ingest LCG.swf.gz --lake lcg".to_owned());
    lines.join("\n")
}

/// The columns that other sources than the first have besides, or explain otherwise, each with
/// the sources.
fn own_columns(table: Table) -> Vec<(Column, Vec<&'static str>)> {
    let first = table.columns(Source::Google2011);
    let is_same = |one: &Column, other: &Column| {
        (one.name, one.unit, one.meaning) == (other.name, other.unit, other.meaning)
    };
    let mut own: Vec<(Column, Vec<&'static str>)> = Vec::new();
    // A lake of alloc sets has the columns of one of jobs.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_ranges_are_read() {
        let numbers = parse_ranges("0-2,5").unwrap().0;
        assert_eq!(numbers.into_iter().collect::<Vec<u32>>(), [0, 1, 2, 5]);
        for odd in ["", "a", "3-1", "1-", "-1", "0-99999999"] {
            assert!(parse_ranges(odd).is_err(), "{odd}");
        }
    }
}
