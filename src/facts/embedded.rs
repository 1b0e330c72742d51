//! Runs the queries on the embedded Polars; no other file uses it.
//!
//! In: a lake and queries. Out: their tables, with rows ordered by key. A query keyed by job runs
//! bucket by bucket, so memory depends on the largest bucket and not on the trace; any other query
//! reads the whole lake and the answers from all buckets. The text of the query is passed on
//! unchanged. Queries that several others need are computed once.

use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arrow::array::{ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use polars::df;
use polars::prelude::{
    Column as PolarsColumn, DataFrame, DataType as PolarsType, IntoLazy, LazyFrame, NamedFrom,
    PlRefPath, PolarsError, ScanArgsParquet, ScanSources, Series, SortMultipleOptions,
};
use polars::sql::SQLContext;
use rustc_hash::FxHashMap;

use super::FactError;
use super::query::{Query, Settings};
use super::threads;
use crate::faults::NoThreads;
use crate::lake::Lake;
use crate::progress::core_count;
use crate::schema::{ColumnType, ROW_ID, Source, Table};

/// The answers of queries over the whole lake, in their order.
pub(super) fn run(
    lake: &Lake,
    queries: &[&'static Query],
    settings: &Settings,
) -> Result<Vec<RecordBatch>, FactError> {
    queries.iter().try_for_each(|query| query.require(lake))?;
    require_threads()?;
    let mut tables: Vec<Table> = queries.iter().flat_map(|query| query.tables()).collect();
    tables.sort();
    tables.dedup();
    let rows = lake.expect_rows(&tables);
    let is_keyed = |query: &&&'static Query| query.is_keyed_by_job();
    let mut whole = Session::new(lake, None, settings);
    if queries.iter().any(|query| query.is_keyed_by_job()) {
        let mut frames: FxHashMap<&'static str, DataFrame> = FxHashMap::default();
        for bucket in 0..lake.bucket_count() {
            let mut session = Session::new(lake, Some(bucket), settings);
            for query in queries.iter().filter(is_keyed) {
                let own = session.frame(query)?;
                match frames.entry(query.name) {
                    Entry::Vacant(none) => {
                        none.insert(own);
                    }
                    Entry::Occupied(mut before) => {
                        before.get_mut().vstack_mut_owned(own).map_err(failed(query))?;
                    }
                }
            }
            lake.step(rows)?;
        }
        for query in queries.iter().filter(is_keyed) {
            let frame = frames.remove(query.name).expect("it was answered in every bucket");
            // A job is in one bucket, and each bucket is in the order of the key.
            let as_they_are = SortMultipleOptions::default().with_maintain_order(true);
            let sorted = frame.sort(["job_id"], as_they_are);
            whole.answers.insert(query.name, sorted.map_err(failed(query))?);
        }
    }
    // Queries that read other answers run before those answers are handed over.
    for query in queries {
        whole.frame(query)?;
    }
    queries.iter().map(|query| whole.give(query)).collect()
}

/// The answer of a query in one bucket.
pub(super) fn run_bucket(
    lake: &Lake,
    query: &'static Query,
    bucket: u32,
    settings: &Settings,
) -> Result<RecordBatch, FactError> {
    require_threads()?;
    Session::new(lake, Some(bucket), settings).give(query)
}

/// Refuses to run if the threads of Polars cannot be started: Polars would panic and wait for them
/// forever. Checked once, before Polars has any threads.
fn require_threads() -> Result<(), FactError> {
    static TRIED: OnceLock<Result<(), NoThreads>> = OnceLock::new();
    TRIED.get_or_init(|| threads::require("the SQL engine", threads_of_polars())).clone()?;
    Ok(())
}

/// How many threads Polars may start: a pool for queries, as many for its executor, those of tokio,
/// one that frees files, and two that wait.
fn threads_of_polars() -> usize {
    let set = |name| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let pool = set("POLARS_MAX_THREADS").unwrap_or_else(core_count);
    let readers = set("POLARS_ASYNC_THREAD_COUNT").unwrap_or(pool.min(32));
    pool.saturating_mul(2).saturating_add(readers).saturating_add(3)
}

/// Queries over the same rows.
struct Session<'a> {
    lake: &'a Lake,
    /// The bucket to read; the whole lake if `None`.
    bucket: Option<u32>,
    settings: &'a Settings,
    /// The answers computed so far.
    answers: FxHashMap<&'static str, DataFrame>,
}

impl<'a> Session<'a> {
    fn new(lake: &'a Lake, bucket: Option<u32>, settings: &'a Settings) -> Self {
        Self { lake, bucket, settings, answers: FxHashMap::default() }
    }

    /// Removes the answer of a query, as a record batch.
    fn give(&mut self, query: &'static Query) -> Result<RecordBatch, FactError> {
        let frame = self.frame(query)?;
        self.answers.remove(query.name);
        to_batch(&frame).map_err(failed(query))
    }

    /// The answer of a query, computed unless it is known.
    fn frame(&mut self, query: &'static Query) -> Result<DataFrame, FactError> {
        if let Some(frame) = self.answers.get(query.name) {
            return Ok(frame.clone());
        }
        let mut context = SQLContext::new();
        for name in query.reads() {
            context.register(name, self.input(name, query)?);
        }
        let frame =
            context.execute(query.text).and_then(LazyFrame::collect).map_err(failed(query))?;
        self.answers.insert(query.name, frame.clone());
        Ok(frame)
    }

    /// One input of a query: a table of the lake, another query, or settings.
    fn input(&mut self, name: &str, query: &'static Query) -> Result<LazyFrame, FactError> {
        if let Ok(table) = name.parse::<Table>() {
            let bucket = self.bucket.filter(|_| table.job_column().is_some());
            return scan(self.lake, table, bucket, query);
        }
        let frame = match name {
            "settings" => windows_frame(self.settings).map_err(failed(query))?,
            "thresholds" => {
                df!("threshold" => self.settings.thresholds.clone()).map_err(failed(query))?
            }
            _ => self.frame(Query::find(name)?)?,
        };
        Ok(frame.lazy())
    }
}

fn failed(query: &Query) -> impl Fn(PolarsError) -> FactError {
    let name = query.name;
    move |cause| FactError::Engine { query: name, cause: Box::new(cause) }
}

fn windows_frame(settings: &Settings) -> Result<DataFrame, PolarsError> {
    let windows = &settings.windows;
    df!(
        "job_window_end_us" => [windows.job_end_us],
        "task_window_end_us" => [windows.task_end_us],
        "first_us" => [windows.first_us],
        "open_attempts" => [windows.open_attempts.name()],
    )
}

/// A lazy scan of a table in a bucket (of its files, if `None`); an empty table if there is no
/// data.
fn scan(
    lake: &Lake,
    table: Table,
    bucket: Option<u32>,
    query: &'static Query,
) -> Result<LazyFrame, FactError> {
    let is_read = |column: &str| query.names(column);
    let sources = if let Some(bucket) = bucket {
        let streams = lake.streams(table, bucket, is_read)?;
        ScanSources::Buffers(streams.into_iter().map(Into::into).collect())
    } else {
        let paths: Result<Vec<PlRefPath>, PolarsError> = lake
            .paths(table, is_read)?
            .into_iter()
            .map(|path| whole_path(path).and_then(PlRefPath::try_from_pathbuf))
            .collect();
        ScanSources::Paths(paths.map_err(failed(query))?.into())
    };
    if sources.is_empty() {
        return Ok(empty(table, lake.source()).map_err(failed(query))?.lazy());
    }
    // A path is literal, not a pattern, and `name=` in it is not a column.
    let args = ScanArgsParquet {
        glob: false,
        hive_options: polars::prelude::HiveOptions { enabled: Some(false), ..Default::default() },
        ..ScanArgsParquet::default()
    };
    LazyFrame::scan_parquet_sources(sources, args).map_err(failed(query))
}

fn whole_path(path: PathBuf) -> Result<PathBuf, PolarsError> {
    Ok(std::path::absolute(path)?)
}

fn empty(table: Table, source: Source) -> Result<DataFrame, PolarsError> {
    let mut columns = vec![PolarsColumn::from(Series::new(ROW_ID.into(), Vec::<i64>::new()))];
    for column in table.columns(source) {
        let name = column.name.into();
        columns.push(PolarsColumn::from(match column.kind {
            ColumnType::Time | ColumnType::Id | ColumnType::Long => {
                Series::new(name, Vec::<i64>::new())
            }
            ColumnType::Int | ColumnType::Event(_) => Series::new(name, Vec::<i32>::new()),
            ColumnType::Float | ColumnType::Amount => Series::new(name, Vec::<f32>::new()),
            ColumnType::Bool => Series::new(name, Vec::<bool>::new()),
            ColumnType::Text => Series::new(name, Vec::<String>::new()),
            ColumnType::Floats => {
                let list = polars::prelude::DataType::List(Box::new(PolarsType::Float32));
                Series::new_empty(name, &list)
            }
        }));
    }
    DataFrame::new_infer_height(columns)
}

/// Copies a frame into a record batch: whole numbers as i64, quantities unchanged.
fn to_batch(frame: &DataFrame) -> Result<RecordBatch, PolarsError> {
    let mut fields = Vec::new();
    let mut columns: Vec<ArrayRef> = Vec::new();
    for column in frame.columns() {
        let (data_type, array): (DataType, ArrayRef) = match column.dtype() {
            PolarsType::String => {
                (DataType::Utf8, Arc::new(column.str()?.iter().collect::<StringArray>()))
            }
            PolarsType::Boolean => {
                (DataType::Boolean, Arc::new(column.bool()?.iter().collect::<BooleanArray>()))
            }
            // Keeps 32 bits as in the lake: 0.2493 is not 0.2493000030517578.
            PolarsType::Float32 => {
                (DataType::Float32, Arc::new(column.f32()?.iter().collect::<Float32Array>()))
            }
            PolarsType::Float64 => {
                (DataType::Float64, Arc::new(column.f64()?.iter().collect::<Float64Array>()))
            }
            _ => {
                let cast = column.strict_cast(&PolarsType::Int64)?;
                (DataType::Int64, Arc::new(cast.i64()?.iter().collect::<Int64Array>()))
            }
        };
        fields.push(Field::new(column.name().as_str(), data_type, true));
        columns.push(array);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
        .expect("columns are of one length"))
}
