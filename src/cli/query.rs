//! `jobfate query`: runs one of the facts' queries and gives its table.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;

use super::engine::EngineArgs;
use super::exit::Usage;
use super::render::{render, rows};
use super::store::{self, Answer};
use super::sweep::{Grid, parse_grid};
use super::{AnswerArgs, console};
use crate::facts::query::{QUERIES, Query, Settings};
use crate::facts::tables::SqlEngine;
use crate::lake::Lake;

/// Run one of the facts' queries
///
/// The queries define every fact that the studies are built on; their text is in `queries/` and
/// runs unchanged on `DuckDB` and Spark. Without a name, lists them.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate query\n  jobfate query q03 --lake lake --format csv > attempts.csv\n  jobfate query q01 --lake lake --format parquet --out facts"
)]
pub(crate) struct QueryArgs {
    /// Number or name of the query, such as q01
    #[arg(value_name = "QUERY")]
    pub query: Option<String>,

    /// Print the text of the query instead of running it
    #[arg(long, requires = "query")]
    pub show: bool,

    /// Thresholds for the queries that need them
    ///
    /// `FIRST..=LAST:STEP` or numbers, for example `10..=400:10` or `5,10,20..=100:20`.
    #[arg(long, value_name = "LIST", value_parser = parse_grid, default_value = "10,20,50,100,200,300,400")]
    pub thresholds: Grid,

    #[command(flatten)]
    pub engine: EngineArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &QueryArgs) -> Result<()> {
    let Some(name) = &args.query else {
        let mut list = String::new();
        for query in &QUERIES {
            writeln!(list, "{:28} {}", query.name, query.question())?;
        }
        return Ok(console::data(&list)?);
    };
    let query = Query::find(name).map_err(|error| Usage(error.to_string()))?;
    if args.show {
        return Ok(console::data(query.text)?);
    }
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?;
    let thresholds = args.thresholds.0.clone();
    let engine = args.engine.sql()?.unwrap_or(SqlEngine::Polars);
    let batch = engine.facts(&lake, &[query.name], &Settings { windows, thresholds })?.single();
    if let Some(out) = &args.answer.out {
        // The rows are in the CSV and the Parquet file; a fact may have many millions of them.
        let schema = batch.schema();
        let columns: Vec<&str> =
            schema.fields().iter().map(|field| field.name().as_str()).collect();
        let answer = Answer {
            name: query.name,
            table: &batch,
            json: json!({
                "query": query.name, "question": query.question(), "key": query.key(),
                "columns": columns, "rows": batch.num_rows(),
            }),
            settings: json!({"windows": windows, "thresholds": args.thresholds.0}),
            charts: Vec::new(),
        };
        store::store_result(&answer, &lake, out)?;
        let path = out.join(format!("{}.parquet", query.name));
        fs::write(&path, render(&batch, super::Format::Parquet, None)?)
            .with_context(|| format!("could not write `{}`", path.display()))?;
    }
    let whole =
        (args.answer.format == super::Format::Json).then(|| serde_json::Value::Array(rows(&batch)));
    console::data_bytes(&render(&batch, args.answer.format, whole.as_ref())?)?;
    Ok(())
}
