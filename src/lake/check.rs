//! Checks that an ingest could have stored the rows of a lake.
//!
//! In: batches as they are read. Out: nothing, or the column at fault and its problem. A checksum
//! shows that a file is the recorded one, but it cannot reveal a change to both a file and its
//! checksum. So every value is checked when it is read: types, missing cells, ranges, the order of
//! time, and the bucket of each job. Only the requested columns are checked.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, Float32Type, Int32Type, Int64Type, Schema};
use arrow::record_batch::RecordBatch;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::statistics::Statistics;

use super::LakeErrorKind;
use super::encode::{BUCKET, arrow_schema};
use crate::schema::{AMOUNT_MAX, Column, ColumnType, ROW_ID, Source, Table, bucket_of};

/// The rule for the cells of a column.
#[derive(Clone, Copy)]
struct Rule {
    name: &'static str,
    kind: ColumnType,
    is_mandatory: bool,
}

impl Rule {
    /// The rule for a column of a table; `row_id` and the bucket are whole numbers, never missing.
    fn of(table: Table, source: Source, name: &'static str) -> Self {
        if name == BUCKET {
            return Self { name, kind: ColumnType::Int, is_mandatory: true };
        }
        let column = table.column_idx(source, name).map(|idx| &table.columns(source)[idx]);
        column.map_or(Self { name, kind: ColumnType::Time, is_mandatory: true }, Self::from)
    }

    fn fail(self, problem: impl Into<String>) -> LakeErrorKind {
        LakeErrorKind::Column { column: self.name, problem: problem.into() }
    }

    /// The range of allowed whole numbers.
    fn range(self) -> (i64, i64) {
        match self.kind {
            ColumnType::Time => (0, i64::MAX),
            ColumnType::Event(max) => (0, i64::from(max)),
            _ => (i64::MIN, i64::MAX),
        }
    }

    fn check_whole(self, value: i64) -> Result<(), LakeErrorKind> {
        let (least, most) = self.range();
        if (least..=most).contains(&value) {
            return Ok(());
        }
        Err(self.fail(match self.kind {
            ColumnType::Event(_) => format!("holds {value}, which is not from 0 to {most}"),
            _ => format!("holds {value}, which is below 0"),
        }))
    }

    fn check_quantity(self, value: f32) -> Result<(), LakeErrorKind> {
        let is_allowed = match self.kind {
            ColumnType::Amount => (0.0..=AMOUNT_MAX).contains(&value),
            _ => value.is_finite(),
        };
        if is_allowed {
            return Ok(());
        }
        Err(self.fail(match self.kind {
            ColumnType::Amount => format!("holds {value}, which is not from 0 to {AMOUNT_MAX}"),
            _ => format!("holds {value}, which is not a quantity"),
        }))
    }
}

impl From<&Column> for Rule {
    fn from(column: &Column) -> Self {
        Self { name: column.name, kind: column.kind, is_mandatory: column.is_mandatory }
    }
}

/// Checks that a file has the columns with their types.
pub(super) fn check_types(
    table: Table,
    source: Source,
    columns: &[&'static str],
    found: &Schema,
) -> Result<(), LakeErrorKind> {
    let wanted = arrow_schema(table, source);
    let named = |data_type: &DataType| match data_type {
        DataType::List(element) => format!("lists of {}", element.data_type()),
        other => other.to_string(),
    };
    for &column in columns {
        let wanted: &Field =
            wanted.field_with_name(column).expect("callers pass columns of the table");
        let fail = |problem| Err(LakeErrorKind::Column { column, problem });
        match found.field_with_name(column) {
            Err(_) => return fail("is missing".to_owned()),
            Ok(found) if found.data_type() != wanted.data_type() => {
                let (found, wanted) = (named(found.data_type()), named(wanted.data_type()));
                return fail(format!("holds {found}, not {wanted}"));
            }
            Ok(_) => {}
        }
    }
    Ok(())
}

/// Checks the batches of a stretch, in order.
pub(super) struct RowCheck {
    rules: Vec<Rule>,
    /// Position of the time column, and the last time seen.
    time: Option<(usize, i64)>,
    /// The first and last time of the table in its manifest, without 2^63-1.
    span: (i64, i64),
    /// Position of the job column, the bucket that is read, and the number of buckets.
    job: Option<(usize, u32, u32)>,
    /// Position of the bucket column, and the bucket that is read.
    bucket: Option<(usize, u32)>,
}

impl RowCheck {
    /// A check of the columns of a bucket's stretch, in the order in which they are read.
    pub(super) fn new(
        (table, source, bucket_count): (Table, Source, u32),
        span: (i64, i64),
        bucket: u32,
        columns: &[&'static str],
    ) -> Self {
        let all = table.columns(source);
        let place = |name: &str| columns.iter().position(|column| *column == name);
        let job = table.job_column().and_then(|idx| place(all[idx].name));
        Self {
            rules: columns.iter().map(|&name| Rule::of(table, source, name)).collect(),
            time: place(all[0].name).map(|at| (at, i64::MIN)),
            span,
            job: job.map(|at| (at, bucket, bucket_count)),
            bucket: place(BUCKET).map(|at| (at, bucket)),
        }
    }

    /// Checks the next batch.
    pub(super) fn check(&mut self, batch: &RecordBatch) -> Result<(), LakeErrorKind> {
        for (rule, cells) in self.rules.iter().zip(batch.columns()) {
            check_cells(*rule, cells)?;
        }
        if let Some((at, last)) = &mut self.time {
            let times = batch.column(*at).as_primitive::<Int64Type>().values();
            if !times.is_sorted() || times.first().is_some_and(|first| first < last) {
                return Err(self.rules[*at].fail("is not in the order of time"));
            }
            // Times are in order, so checking both ends is enough.
            let known = times.partition_point(|&time| time != i64::MAX);
            let ends = times[..known].first().into_iter().chain(times[..known].last());
            let (from, to) = self.span;
            if let Some(time) = ends.copied().find(|time| !(from..=to).contains(time)) {
                let problem =
                    format!("holds {time}, but the times of its parts are from {from} to {to}");
                return Err(self.rules[*at].fail(problem));
            }
            *last = times.last().copied().unwrap_or(*last);
        }
        if let Some((at, bucket, count)) = self.job {
            let jobs = batch.column(at).as_primitive::<Int64Type>().values();
            if let Some(job) = jobs.iter().find(|&&job| bucket_of(job, count) != bucket) {
                let other = bucket_of(*job, count);
                let problem = format!("holds job {job}, which is of bucket {other}, not {bucket}");
                return Err(self.rules[at].fail(problem));
            }
        }
        if let Some((at, bucket)) = self.bucket {
            let cells = batch.column(at).as_primitive::<Int32Type>().values();
            if let Some(other) = cells.iter().find(|&&cell| u32::try_from(cell) != Ok(bucket)) {
                return Err(self.rules[at].fail(format!("holds {other}, not bucket {bucket}")));
            }
        }
        Ok(())
    }
}

/// Checks the cells of a column.
fn check_cells(rule: Rule, cells: &ArrayRef) -> Result<(), LakeErrorKind> {
    if rule.is_mandatory && 0 < cells.null_count() {
        return Err(rule.fail(format!("lacks {} of its values", cells.null_count())));
    }
    match rule.kind {
        ColumnType::Time => cells
            .as_primitive::<Int64Type>()
            .iter()
            .flatten()
            .try_for_each(|value| rule.check_whole(value)),
        ColumnType::Event(_) => cells
            .as_primitive::<Int32Type>()
            .iter()
            .flatten()
            .try_for_each(|value| rule.check_whole(value.into())),
        ColumnType::Float | ColumnType::Amount => cells
            .as_primitive::<Float32Type>()
            .iter()
            .flatten()
            .try_for_each(|value| rule.check_quantity(value)),
        ColumnType::Floats => {
            let values = cells.as_list::<i32>().values();
            let values = values.as_primitive::<Float32Type>();
            values.iter().flatten().try_for_each(|value| rule.check_quantity(value))
        }
        ColumnType::Id
        | ColumnType::Int
        | ColumnType::Long
        | ColumnType::Bool
        | ColumnType::Text => Ok(()),
    }
}

/// The columns that the statistics of a file do not prove correct. Before an engine reads the file
/// itself, these columns must be read and checked.
pub(super) fn unproven(
    table: Table,
    source: Source,
    columns: &[&'static str],
    about: &ParquetMetaData,
) -> Vec<&'static str> {
    columns
        .iter()
        .copied()
        .filter(|&name| !is_proven(Rule::of(table, source, name), about))
        .collect()
}

fn is_proven(rule: Rule, about: &ParquetMetaData) -> bool {
    let needs_no_range = matches!(
        rule.kind,
        ColumnType::Id | ColumnType::Int | ColumnType::Long | ColumnType::Bool | ColumnType::Text
    );
    if needs_no_range && !rule.is_mandatory {
        return true;
    }
    about.row_groups().iter().all(|group| {
        let chunk = group.columns().iter().find(|chunk| chunk.column_path().parts() == [rule.name]);
        let Some(found) = chunk.and_then(|chunk| chunk.statistics()) else { return false };
        if rule.is_mandatory && found.null_count_opt() != Some(0) {
            return false;
        }
        let ends = match found {
            Statistics::Int64(found) => found.min_opt().copied().zip(found.max_opt().copied()),
            Statistics::Int32(found) => {
                found.min_opt().map(|&min| min.into()).zip(found.max_opt().map(|&max| max.into()))
            }
            _ => None,
        };
        needs_no_range
            || ends.is_some_and(|ends: (i64, i64)| {
                rule.check_whole(ends.0).and(rule.check_whole(ends.1)).is_ok()
            })
    })
}

/// Every column of a table, including that of the file order.
pub(super) fn all_columns(table: Table, source: Source) -> Vec<&'static str> {
    let own = table.columns(source).iter().map(|column| column.name);
    std::iter::once(ROW_ID).chain(own).collect()
}
