//! `jobfate query`: runs one of the facts' queries and gives its table.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use clap::Args;

use super::exit::Usage;
use super::render::{render, rows};
use super::{AnswerArgs, console};
use crate::facts::query::{QUERIES, Query, Settings};
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
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [10_i64, 20, 50, 100, 200, 300, 400])]
    pub thresholds: Vec<i64>,

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
    let batch = query.run(&lake, &Settings { windows, thresholds: args.thresholds.clone() })?;
    if let Some(out) = &args.answer.out {
        fs::create_dir_all(out).with_context(|| format!("could not make `{}`", out.display()))?;
        for (extension, format) in
            [("csv", super::Format::Csv), ("parquet", super::Format::Parquet)]
        {
            let path = out.join(format!("{}.{extension}", query.name));
            fs::write(&path, render(&batch, format, None)?)
                .with_context(|| format!("could not write `{}`", path.display()))?;
        }
    }
    let whole =
        (args.answer.format == super::Format::Json).then(|| serde_json::Value::Array(rows(&batch)));
    console::data_bytes(&render(&batch, args.answer.format, whole.as_ref())?)?;
    Ok(())
}
