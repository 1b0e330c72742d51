//! Runs `queries/qNN_*.sql` on a lake with the embedded Polars.
//!
//! In: the name of a query and a lake. Out: its table, rows in the order of its key. A query
//! keyed by job is run bucket by bucket, so that memory follows the largest bucket and not the
//! trace; one that is not sees the whole lake. The text of the query is passed on unchanged.
//!
//! A query names in its header what it reads: tables of the lake, other queries (which are run
//! first), `settings` (one row: the ends of the windows, and where open attempts are closed) and
//! `thresholds` (one column). A table that is named as optional is empty where the lake lacks it.
//! A query that names sources is for their lakes alone: it reads columns that no other has.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, StringArray};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use polars::df;
use polars::prelude::{
    Column as PolarsColumn, DataFrame, DataType as PolarsType, IntoLazy, LazyFrame, NamedFrom,
    PlRefPath, PolarsError, ScanArgsParquet, Series,
};
use polars::sql::SQLContext;

use super::FactError;
use super::window::Windows;
use crate::lake::Lake;
use crate::progress;
use crate::schema::{ColumnType, ROW_ID, Source, Table};

/// A query of `queries/`.
#[derive(Debug, PartialEq, Eq)]
pub struct Query {
    /// The name of the file without `.sql`, and of the table in other queries.
    pub name: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

macro_rules! queries {
    ($($name:literal),+ $(,)?) => {
        [$(Query { name: $name, text: include_str!(concat!("../../queries/", $name, ".sql")) }),+]
    };
}

/// Every query, in the order of their numbers. A test compares this with the folder.
pub static QUERIES: [Query; 14] = queries![
    "q01_job_outcomes",
    "q02_task_outcomes",
    "q03_attempts",
    "q04_job_sizes",
    "q05_cpu_held",
    "q06_windows_in_attempts",
    "q07_cpu_measured",
    "q08_crossings",
    "q09_held_after_crossings",
    "q10_machine_periods",
    "q11_cpu_published",
    "q12_measured_after_crossings",
    "q13_usage_by_user_hour",
    "q14_job_requests",
];

/// The names of all queries.
pub fn names() -> Vec<&'static str> {
    QUERIES.iter().map(|query| query.name).collect()
}

/// What a query may ask for besides the lake.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where open jobs and attempts are closed, and how.
    pub windows: Windows,
    /// Thresholds of events.
    pub thresholds: Vec<i64>,
}

impl Query {
    /// Finds a query by its number (`q01`) or name.
    pub fn find(name: &str) -> Result<&'static Self, FactError> {
        QUERIES
            .iter()
            .find(|query| query.name == name || query.number() == name)
            .ok_or_else(|| FactError::UnknownQuery { name: name.to_owned() })
    }

    /// Its number, such as `q01`.
    pub fn number(&self) -> &'static str {
        self.name.split('_').next().unwrap_or(self.name)
    }

    /// A line of the header, without its label: `-- Key:      job_id` gives `job_id`.
    fn header(&self, label: &str) -> &'static str {
        self.text
            .lines()
            .find_map(|line| line.strip_prefix("-- ")?.strip_prefix(label)?.strip_prefix(':'))
            .map(str::trim)
            .unwrap_or_default()
    }

    /// The question it answers.
    pub fn question(&self) -> &'static str {
        self.header("Question")
    }

    fn listed(&self, label: &str) -> impl Iterator<Item = &'static str> {
        self.header(label).split(", ").filter(|name| !name.is_empty())
    }

    /// The sources whose lakes it can be asked of: all, or those that its header names.
    pub fn sources(&self) -> Vec<Source> {
        let named: Vec<Source> =
            self.listed("Sources").filter_map(|name| name.parse().ok()).collect();
        if named.is_empty() { Source::ALL.to_vec() } else { named }
    }

    /// Refuses a lake of another source, or one without the tables that it needs.
    pub(super) fn require(&self, lake: &Lake) -> Result<(), FactError> {
        let sources = self.sources();
        if !sources.contains(&lake.source()) {
            let (query, found) = (self.name, lake.source());
            return Err(FactError::OtherSource { query, found, sources });
        }
        for table in self.tables() {
            lake.require(table)?;
        }
        Ok(())
    }

    /// The columns that its rows are sorted by, together unique.
    pub fn key(&self) -> Vec<&'static str> {
        self.listed("Key").collect()
    }

    /// The tables of the lake that it needs, its own and those of the queries it reads.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        for name in self.listed("Tables") {
            match (name.parse(), Self::find(name)) {
                (Ok(table), _) => tables.push(table),
                (_, Ok(query)) => tables.extend(query.tables()),
                _ => {}
            }
        }
        tables.sort();
        tables.dedup();
        tables
    }

    /// The names of what it reads: tables, those that may be missing among them, other queries,
    /// `settings`, `thresholds`.
    pub(super) fn reads(&self) -> impl Iterator<Item = &'static str> {
        self.listed("Tables").chain(self.listed("Optional"))
    }

    /// The tables that it reads where they are there, its own and those of the queries it reads.
    pub(super) fn optional_tables(&self) -> Vec<Table> {
        let own = self.listed("Optional").filter_map(|name| name.parse().ok());
        let queries = self.listed("Tables").filter_map(|name| Self::find(name).ok());
        own.chain(queries.flat_map(Self::optional_tables)).collect()
    }

    /// Whether a column of that name may stand in it.
    pub(super) fn names(&self, column: &str) -> bool {
        self.text
            .split(|char: char| !char.is_alphanumeric() && char != '_')
            .any(|word| word == column)
    }

    /// Whether it can be answered bucket by bucket.
    fn is_keyed_by_job(&self) -> bool {
        self.key().first() == Some(&"job_id")
    }

    /// Runs the query over the whole lake.
    pub fn run(&'static self, lake: &Lake, settings: &Settings) -> Result<RecordBatch, FactError> {
        self.require(lake)?;
        if !self.is_keyed_by_job() {
            return self.run_bucket(lake, None, settings);
        }
        let mut all = Vec::new();
        let rows = lake.expect_rows(&self.tables());
        for bucket in 0..lake.bucket_count() {
            all.push(self.run_bucket(lake, Some(bucket), settings)?);
            progress::step(rows);
        }
        Ok(self.merge(&all))
    }

    /// Runs the query over one bucket, or the whole lake with `None`.
    pub fn run_bucket(
        &'static self,
        lake: &Lake,
        bucket: Option<u32>,
        settings: &Settings,
    ) -> Result<RecordBatch, FactError> {
        let fail = |cause| FactError::Engine { query: self.name, cause };
        let mut context = SQLContext::new();
        self.register(&mut context, lake, bucket, settings)?;
        let frame = context.execute(self.text).and_then(LazyFrame::collect).map_err(fail)?;
        to_batch(&frame).map_err(fail)
    }

    /// Puts everything that the query reads before the engine.
    fn register(
        &self,
        context: &mut SQLContext,
        lake: &Lake,
        bucket: Option<u32>,
        settings: &Settings,
    ) -> Result<(), FactError> {
        let fail = |cause| FactError::Engine { query: self.name, cause };
        for name in self.reads() {
            if let Ok(table) = name.parse::<Table>() {
                let bucket = bucket.filter(|_| table.job_column().is_some());
                context.register(name, scan(lake, table, bucket, self)?);
            } else if name == "settings" {
                context.register(name, settings.windows_frame().map_err(fail)?.lazy());
            } else if name == "thresholds" {
                let frame = df!("threshold" => settings.thresholds.clone()).map_err(fail)?;
                context.register(name, frame.lazy());
            } else {
                let query = Self::find(name)?;
                query.register(context, lake, bucket, settings)?;
                let frame =
                    context.execute(query.text).and_then(LazyFrame::collect).map_err(fail)?;
                context.register(name, frame.lazy());
            }
        }
        Ok(())
    }

    /// Joins the tables of all buckets and puts the rows in the order of the key.
    fn merge(&self, batches: &[RecordBatch]) -> RecordBatch {
        let schema = batches[0].schema();
        let all = concat_batches(&schema, batches).expect("one query has one shape");
        sort_by(&all, &self.key())
    }
}

/// Sorts by columns of whole numbers, ascending.
pub(crate) fn sort_by(batch: &RecordBatch, key: &[&str]) -> RecordBatch {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    let keys: Vec<&[i64]> = key
        .iter()
        .map(|name| {
            let column = batch.column_by_name(name).expect("a query has the columns of its key");
            column.as_primitive::<Int64Type>().values().as_ref()
        })
        .collect();
    let mut order: Vec<u32> =
        (0..u32::try_from(batch.num_rows()).expect("a fact has fewer than 2^32 rows")).collect();
    order.sort_by(|&one, &other| {
        keys.iter()
            .map(|key| key[one as usize].cmp(&key[other as usize]))
            .find(|order| order.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let order = arrow::array::UInt32Array::from(order);
    let columns = batch
        .columns()
        .iter()
        .map(|column| arrow::compute::take(column, &order, None).expect("indices are in range"))
        .collect();
    RecordBatch::try_new(batch.schema(), columns).expect("columns are of one length")
}

impl Settings {
    fn windows_frame(&self) -> Result<DataFrame, PolarsError> {
        df!(
            "job_window_end_us" => [self.windows.job_end_us],
            "task_window_end_us" => [self.windows.task_end_us],
            "first_us" => [self.windows.first_us],
            "open_attempts" => [self.windows.open_attempts.name()],
        )
    }
}

/// A lazy scan of a table's files in a bucket; an empty table where there are none.
fn scan(
    lake: &Lake,
    table: Table,
    bucket: Option<u32>,
    query: &Query,
) -> Result<LazyFrame, FactError> {
    let paths = lake.paths(table, bucket, |column| query.names(column))?;
    let fail = |cause| FactError::Engine { query: query.name, cause };
    if paths.is_empty() {
        return Ok(empty(table, lake.source()).map_err(fail)?.lazy());
    }
    let paths: Result<Vec<PlRefPath>, PolarsError> = paths
        .into_iter()
        .map(|path| whole_path(path).and_then(PlRefPath::try_from_pathbuf))
        .collect();
    let paths = paths.map_err(fail)?;
    // The path is a file's and not a pattern, and `bucket=` in it is not a column.
    let args = ScanArgsParquet {
        glob: false,
        hive_options: polars::prelude::HiveOptions { enabled: Some(false), ..Default::default() },
        ..ScanArgsParquet::default()
    };
    LazyFrame::scan_parquet_files(paths.into(), args).map_err(fail)
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

/// Copies a frame into a record batch: whole numbers as i64, quantities as they are.
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
            // As wide as the lake has it: 0.2493 is not 0.2493000030517578.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_found_by_number_and_name() {
        assert_eq!(Query::find("q03").unwrap().name, "q03_attempts");
        assert_eq!(Query::find("q03_attempts").unwrap().name, "q03_attempts");
        assert!(Query::find("q99").is_err());
    }

    #[test]
    fn every_query_says_what_it_needs() {
        for query in &QUERIES {
            assert!(!query.question().is_empty(), "{}", query.name);
            assert!(!query.key()[0].is_empty(), "{}", query.name);
            assert!(!query.tables().is_empty(), "{}", query.name);
            let sources = query.listed("Sources");
            assert!(
                sources.map(str::parse::<Source>).all(|source| source.is_ok()),
                "{}",
                query.name
            );
        }
        assert_eq!(Query::find("q12").unwrap().tables(), [Table::TaskEvents, Table::TaskUsage]);
    }
}
