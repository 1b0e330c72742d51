//! `jobfate about`: describes a lake for programs such as the Python module.
//!
//! In: a lake. Out: one JSON value with its tables and their columns, the gaps between loaded
//! parts, the ends of the windows, and the queries that it can answer. Hidden from the help: users
//! have `verify` and `query --list`.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use super::console;
use jobfate::facts::query::QUERIES;
use jobfate::facts::window::Windows;
use jobfate::faults::Result;
use jobfate::lake::{Lake, TableEntry};
use jobfate::schema::{ROW_ID, Table};

/// Print what a lake holds as JSON
#[derive(Args, Debug)]
#[command(hide = true, after_long_help = "Example:\n  jobfate about --lake lake")]
pub(crate) struct AboutArgs {
    /// Folder of the lake
    #[arg(long, value_name = "DIR", default_value = "lake")]
    pub lake: PathBuf,
}

pub(crate) fn run(args: &AboutArgs) -> Result<()> {
    let lake = Lake::open(&args.lake)?;
    let all = Table::ALL.into_iter();
    let tables: Map<String, Value> =
        all.map(|table| (table.name().to_owned(), about_table(&lake, table))).collect();
    let queries: Vec<Value> = QUERIES
        .iter()
        .filter(|query| query.sources().contains(&lake.source()))
        .map(|query| {
            let needed = query.tables();
            let tables: Vec<&str> = needed.iter().map(|table| table.name()).collect();
            json!({
                "name": query.name, "number": query.number(), "question": query.question(),
                "key": query.key(), "tables": tables, "sql": query.text,
            })
        })
        .collect();
    let about = json!({
        "program": jobfate::PROGRAM, "source": lake.source().name(), "tables": tables,
        "gaps": lake.gaps(), "windows": Windows::of(&lake), "queries": queries,
    });
    Ok(console::data(&format!("{about}\n"))?)
}

/// The rows, parts and columns of a table; no rows if the lake lacks it.
fn about_table(lake: &Lake, table: Table) -> Value {
    let column = |name: &str, kind: &str, unit: &str, meaning: &str| json!({"name": name, "type": kind, "unit": unit, "meaning": meaning});
    let own = table.columns(lake.source()).iter();
    let mut columns: Vec<Value> =
        own.map(|known| column(known.name, known.type_name(), known.unit, known.meaning)).collect();
    columns.push(column(ROW_ID, "int64", "", "the place of the row in the raw files"));
    if table.job_column().is_some() {
        columns.push(column("bucket", "int32", "", "the bucket of the job"));
    }
    let entry = lake.manifest.table(table);
    json!({
        "meaning": table.meaning(), "rows": entry.map(TableEntry::rows),
        "parts": entry.map(TableEntry::part_ranges), "columns": columns,
    })
}
