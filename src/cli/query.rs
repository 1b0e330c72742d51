//! `jobfate query`: runs one of the queries of facts and returns its table, or runs all of them.

use arrow::record_batch::RecordBatch;
use clap::Args;
use serde_json::{Value, json};

use super::engine::EngineArgs;
use super::{AnswerArgs, AttemptArgs, console};
use crate::cli::shown;
use jobfate::answers::sweep::plan::{Grid, parse_grid};
use jobfate::digits;
use jobfate::facts::query::{FACTS, QUERIES, Query, Settings, list};
use jobfate::facts::tables::SqlEngine;
use jobfate::faults::{Result, Usage};
use jobfate::lake::Lake;
use jobfate::results::frame::{Frame, explain};
use jobfate::results::kind::Kind;
use jobfate::results::store::{self, Answer, Files, Origin, RESULT};

/// The name that stands for every query that the tables allow.
const ALL: &str = "all";

/// The default thresholds of queries that need thresholds.
const THRESHOLDS: [i64; 7] = [10, 20, 50, 100, 200, 300, 400];

/// Run one of the queries that define the facts
///
/// The queries define every fact that the studies use; their text is in `queries/` and runs
/// unchanged on `DuckDB` and Spark. Without a name, the command lists the queries.
///
/// Memory: 200 MB, and 700 bytes for each row of all tables that the query reads.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate query --list\n  jobfate query q03 --lake lake --format csv > attempts.csv\n  jobfate query q01 --lake lake --format parquet --out facts\n  jobfate query all --lake lake --out facts --engine spark --master spark://host:7077"
)]
pub(crate) struct QueryArgs {
    /// Number or name of the query, such as q01, or all
    ///
    /// `all` runs every query that the source and tables of the lake allow, and stores the answers
    /// in --out as one set: `result.json` has the lake and the checksum of each file. A new set
    /// replaces an earlier one as a whole.
    #[arg(value_name = "QUERY")]
    pub query: Option<String>,

    /// List the queries and the tables that each needs
    ///
    /// The same as `query` without a name.
    #[arg(long, conflicts_with_all = ["query", "format"])]
    pub list: bool,

    /// Print the text of the query instead of running it
    #[arg(long, requires = "query")]
    pub show: bool,

    /// Thresholds for the queries that need them
    ///
    /// `FIRST..=LAST:STEP` or numbers, for example `10..=400:10` or `5,10,20..=100:20`.
    ///
    /// [default: 10,20,50,100,200,300,400]
    #[arg(long, value_name = "LIST", value_parser = parse_grid)]
    pub thresholds: Option<Grid>,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub engine: EngineArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(args: &QueryArgs) -> Result<()> {
    let Some(name) = args.query.as_ref().filter(|_| !args.list) else {
        return Ok(console::data(&list(console::width()))?);
    };
    if name == ALL && args.show {
        return Err(Usage("--show prints one query: give its name".to_owned()).into());
    }
    if name == ALL {
        return run_all(args);
    }
    let query = Query::find(name).map_err(|error| Usage(error.to_string()))?;
    if args.show {
        return Ok(console::data(query.text)?);
    }
    if args.thresholds.is_some() && !query.takes_thresholds() {
        console::warn(format!("`{}` has no thresholds: --thresholds does nothing", query.name));
    }
    let lake = Lake::open(&args.answer.lake)?;
    let settings = settings(args, &lake)?;
    let files = shown::files(args.answer.out.as_deref(), query.name)?;
    let bar = console::Bar::of_work(query.name, "rows");
    let batch = explain(&engine(args)?.facts(&lake, &[query.name], &settings)?.single());
    drop(bar);
    let (origin, settings) = (Origin::of(&lake), settings_json(&settings));
    let form = args.answer.form();
    form.view.check(&batch)?;
    if let Some(files) = files {
        let (name, json) = (query.name, described(query, &batch));
        let settings = settings.clone();
        let answer =
            Answer { kind: Kind::of(name), table: &batch, json, settings, charts: Vec::new() };
        files.publish(RESULT, &answer, &origin)?;
    }
    let json = json!({"query": query.name, "question": query.question(), "key": query.key()});
    shown::show(&batch, &form, &json, &store::made_from(&origin, &settings))
}

/// Runs every query that the lake's source and tables allow, and stores the answers as one set.
fn run_all(args: &QueryArgs) -> Result<()> {
    let Some(out) = &args.answer.out else {
        return Err(Usage("`all` stores its answers in a folder: give --out".to_owned()).into());
    };
    let lake = Lake::open(&args.answer.lake)?;
    let settings = settings(args, &lake)?;
    let mut queries = Vec::new();
    for query in QUERIES.iter().filter(|query| query.sources().contains(&lake.source())) {
        match query.tables().into_iter().find(|&table| !lake.has(table)) {
            Some(table) => console::warn(format!("skipped {}: no table {table}", query.name)),
            None => queries.push(query),
        }
    }
    let names: Vec<&str> = queries.iter().map(|query| query.name).collect();
    let mut files = Files::within(&shown::lock(out)?, FACTS)?;
    files.are_made_from(&Origin::of(&lake), &settings_json(&settings));
    let bar = console::Bar::of_work("query", "rows");
    let facts = engine(args)?.facts(&lake, &names, &settings)?;
    drop(bar);
    let mut all = Vec::new();
    for query in queries {
        let batch = explain(facts.of(query.number()).batch());
        files.table(query.name, &batch)?;
        files.parquet(query.name, &batch)?;
        let count = digits::counted(batch.num_rows() as u64, "row");
        console::note(format!("{}: {count}", query.name));
        all.push((query, batch));
    }
    let table = Frame::default()
        .text("query", all.iter().map(|(query, _)| query.name))
        .text("question", all.iter().map(|(query, _)| query.question()))
        .count("rows", all.iter().map(|(_, batch)| batch.num_rows() as u64))
        .batch();
    let json = all.iter().map(|(query, batch)| described(query, batch)).collect();
    let settings = settings_json(&settings);
    let answer =
        Answer { kind: Kind::of(FACTS), table: &table, json, settings, charts: Vec::new() };
    let path = files.publish(RESULT, &answer, &Origin::of(&lake))?;
    console::note(format!("wrote {}", path.display()));
    Ok(())
}

fn settings(args: &QueryArgs, lake: &Lake) -> Result<Settings> {
    let windows = super::windows(lake, &args.answer)?.closing(args.attempts.open_attempts);
    let given = args.thresholds.as_ref();
    let thresholds = given.map_or_else(|| THRESHOLDS.to_vec(), |grid| grid.0.clone());
    Ok(Settings::new(windows, thresholds))
}

fn engine(args: &QueryArgs) -> Result<SqlEngine> {
    Ok(args.engine.sql()?.unwrap_or(SqlEngine::Polars))
}

fn settings_json(settings: &Settings) -> Value {
    json!({"windows": settings.windows, "thresholds": settings.thresholds})
}

/// The description of an answer. The rows are only in the files, because a fact may have many
/// millions.
fn described(query: &Query, batch: &RecordBatch) -> Value {
    let schema = batch.schema();
    let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    json!({
        "query": query.name, "question": query.question(), "key": query.key(),
        "columns": columns, "rows": batch.num_rows(),
    })
}
