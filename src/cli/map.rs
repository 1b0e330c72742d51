//! `jobfate map`: proposes a map for a table of jobs, or shows a given one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::console;
use jobfate::answers::ingest::map_of;
use jobfate::digits::{counted, grouped};
use jobfate::faults::{BadFile, Result, Usage};
use jobfate::sources::begin_of;
use jobfate::sources::map::Map;
use jobfate::sources::propose::ready::{READY, find};
use jobfate::sources::propose::{Preview, preview, propose};
use jobfate::sources::zone::Zone;

/// Number of rows that are shown.
const ROWS: usize = 10;

/// Propose a map for a table of jobs, or show an included one
///
/// For tables in no other supported format: any table with one row per job or per attempt (csv,
/// tsv, .csv.gz, Parquet, or JSON objects, one per line or in an array). A map is a TOML file that
/// names the columns, their units and the meaning of each state; `ingest --map` reads the table with
/// it.
///
/// `jobfate map FILE` reads the names of the columns and the first rows, and prints a map to
/// stdout, with the comment CHECK on each line that holds an assumption. On stderr it shows the
/// first ten rows as that map reads them. After you have edited the map, `jobfate map FILE --map
/// FILE.toml` shows them again.
///
/// `jobfate map NAME` prints a map that comes with the program; `--list` lists them.
///
/// Memory: 100 MB, and one row group of a Parquet file.
#[derive(Args, Debug)]
#[command(after_long_help = help())]
pub(crate) struct MapArgs {
    /// The table, or the name of a map that comes with the program
    #[arg(value_name = "FILE|NAME", required_unless_present = "list")]
    pub what: Option<PathBuf>,

    /// Show the first rows as this map reads them
    ///
    /// A file, or the name of a map that comes with the program.
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    pub map: Option<PathBuf>,

    /// List the maps that come with the program
    #[arg(long, conflicts_with = "what")]
    pub list: bool,

    /// Time zone of times without a zone; by default the map's
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, conflicts_with = "list")]
    pub timezone: Option<Zone>,
}

/// The keys of a map, and examples of the command.
fn help() -> String {
    let mut text = String::from("What a map names ([columns]):\n");
    for (name, units, meaning) in Map::keys() {
        let units = if units.is_empty() { String::new() } else { format!(" [{units}]") };
        _ = writeln!(text, "  {name:12} {meaning}{units}");
    }
    text.push_str(
        "\nA column is \"NAME\", or { column = \"NAME\", unit = \"min\" }, { column = \"NAME\", format = \
        \"%d.%m.%Y %H:%M\" }; a duration may have the format `clock`, [D-]HH:MM:SS. With `optional = true` the table may lack the column. In JSON (objects, one per line or in an array) a column may be nested: `attempts[-1].end`; `[*]` are all items of a list, joined by commas, or with `count = true` their number; an empty list is a missing value. A field in quotes may have line ends, which are read as spaces.\n\
        [table] has separator, decimal (`,` or `.`), timezone, missing (texts that mean a missing value) and \
        columns (names, if the table has no header). If an object is a job with a list of attempts, `attempts = \"NAME\"` names the list, `NAME[].start` is a column of an attempt, and `before_last = \"failed\"` is the outcome of all but the last, if the state is that of the job. Items without a time are no attempts, later attempts count as submitted when they start, and a job with an attempt that cannot be read is left out. [states] says what each state means: finished, \
        failed, killed, evicted, lost, running, pending or skip; `CANCELLED*` matches every state with that beginning, and `*` all others.\n\n\
        Examples:\n  jobfate map jobs.csv > jobs.toml\n  jobfate map jobs.csv --map jobs.toml\n  \
        jobfate ingest jobs.csv --map jobs.toml --lake lake\n  jobfate map helios > helios.toml",
    );
    text
}

pub(crate) fn run(args: &MapArgs) -> Result<()> {
    console::check_stdout()?;
    if args.list {
        for map in READY {
            console::data(&format!("{:10} {}\n", map.name, map.about))?;
        }
        console::note("written from published columns; not tested on the real files");
        return Ok(());
    }
    let Some(what) = &args.what else { return Ok(()) };
    if !what.exists()
        && let Some(ready) = what.to_str().and_then(find)
    {
        if args.map.is_some() {
            let text = format!("`{}` is a map, and --map shows a table: name one", what.display());
            return Err(Usage(text).into());
        }
        return Ok(console::data(ready.text)?);
    }
    if !what.exists() {
        let names: Vec<&str> = READY.iter().map(|map| map.name).collect();
        let said = format!(
            "there is neither a file `{}` nor a map of this name (known: {})",
            what.display(),
            names.join(", ")
        );
        return Err(Usage(said).into());
    }
    let begin = begin_of(what)?;
    if let Some(path) = &args.map {
        let map = map_of(path)?;
        let wrong = |mistake| Usage(format!("the map does not fit: {mistake}"));
        let shown = preview(&begin, map, args.timezone.as_ref(), ROWS).map_err(wrong)?;
        show_notes(&shown);
        return Ok(console::data(&shown.table())?);
    }
    propose_for(what, &begin, args.timezone.as_ref())
}

/// Prints a proposed map, and shows the first rows as it reads them.
fn propose_for(path: &Path, begin: &[u8], zone: Option<&Zone>) -> Result<()> {
    let bad = |problem: String| BadFile {
        path: path.to_owned(),
        problem: format!("cannot be mapped: {problem}"),
    };
    let proposal = propose(begin).map_err(bad)?;
    console::data(&proposal.text)?;
    match Map::read(&proposal.text) {
        Err(mistake) => {
            console::warn(format!("the map is not complete: {}", mistake.problem));
        }
        Ok(map) => {
            if let Ok(shown) = preview(begin, map, zone, ROWS) {
                console::note(format!("the first rows as this map reads them:\n{}", shown.table()));
                show_notes(&shown);
            }
        }
    }
    if 0 < proposal.checks {
        let lines = counted(proposal.checks as u64, "assumption");
        console::note(format!("{lines} in the map, marked CHECK"));
    }
    Ok(())
}

/// Shows the assumptions made while reading them.
fn show_notes(shown: &Preview) {
    for (wording, count) in &shown.remarks {
        console::note(format!("{wording}: {}", grouped(*count)));
    }
}
