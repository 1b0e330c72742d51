//! Cells of `task_events` by row, for the columns that an export needs and the lake has.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Float32Type, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;

use super::items::Logged;
use crate::lake::Lake;
use crate::schema::Table;

/// The columns that are read in addition to those of every study.
pub(super) const COLUMNS: [&str; 30] = [
    "user",
    "user_group",
    "executable",
    "queue",
    "qos",
    "partition",
    "gpu_model",
    "end_reason",
    "wait_us",
    "run_us",
    "status",
    "processors",
    "requested_processors",
    "requested_time_us",
    "cpu_time_us",
    "used_memory_kib",
    "requested_memory_kib",
    "preceding_job",
    "think_time_us",
    "cpu_request",
    "memory_request",
    "gpu_request",
    "task_name",
    "depends_on",
    "cluster",
    "exit_code",
    "node_list",
    "unix_group",
    "array_job_id",
    "het_job_id",
];

/// Columns that no format can hold, and the words about them.
pub(super) const LEFT_OUT: [(&str, &str); 6] = [
    ("cluster", "clusters that tasks belong to: left out"),
    ("exit_code", "exit codes: left out"),
    ("node_list", "lists of the machines of tasks: left out"),
    ("unix_group", "Unix groups of users: left out"),
    ("array_job_id", "arrays that tasks are elements of: left out"),
    ("het_job_id", "heterogeneous jobs that tasks are components of: left out"),
];

/// The cells of a bucket.
#[derive(Default)]
pub(super) struct Cells {
    batches: Vec<RecordBatch>,
    /// The first row of each batch, then the total number of rows.
    starts: Vec<u32>,
    /// The position of each of [`COLUMNS`] in the batches.
    at: Vec<Option<usize>>,
}

impl Cells {
    /// The [`COLUMNS`] that a lake has.
    pub(super) fn columns(lake: &Lake) -> Vec<&'static str> {
        let is_there = |column: &&str| lake.has_column(Table::TaskEvents, column);
        COLUMNS.into_iter().filter(is_there).collect()
    }

    /// Adds the next rows.
    pub(super) fn push(&mut self, batch: &RecordBatch) {
        if self.batches.is_empty() {
            let schema = batch.schema();
            self.at = COLUMNS.iter().map(|name| schema.index_of(name).ok()).collect();
            self.starts.push(0);
        }
        let rows = u32::try_from(batch.num_rows()).expect("a batch is short");
        self.starts.push(self.starts.last().copied().unwrap_or(0) + rows);
        self.batches.push(batch.clone());
    }

    /// The column of a cell, and its row in that column; `None` if the cell is missing.
    fn cell(&self, name: &str, row: u32) -> Option<(&dyn Array, usize)> {
        let column = COLUMNS.iter().position(|known| *known == name)?;
        let at = (*self.at.get(column)?)?;
        let batch = self.starts.partition_point(|&start| start <= row).checked_sub(1)?;
        let array = self.batches.get(batch)?.column(at).as_ref();
        let row = (row - self.starts[batch]) as usize;
        (!array.is_null(row)).then_some((array, row))
    }

    /// A text.
    pub(super) fn text(&self, name: &str, row: u32) -> Option<&str> {
        let (array, row) = self.cell(name, row)?;
        array.as_string_opt::<i32>().map(|texts| texts.value(row))
    }

    /// A whole number.
    pub(super) fn int(&self, name: &str, row: u32) -> Option<i64> {
        let (array, row) = self.cell(name, row)?;
        match array.data_type() {
            DataType::Int64 => Some(array.as_primitive::<Int64Type>().value(row)),
            DataType::Int32 => Some(i64::from(array.as_primitive::<Int32Type>().value(row))),
            _ => None,
        }
    }

    /// An amount.
    pub(super) fn real(&self, name: &str, row: u32) -> Option<f32> {
        let (array, row) = self.cell(name, row)?;
        array.as_primitive_opt::<Float32Type>().map(|reals| reals.value(row))
    }

    /// Whether a cell has a value.
    pub(super) fn has(&self, name: &str, row: u32) -> bool {
        self.cell(name, row).is_some()
    }

    /// The cells of a row that only logs of parallel jobs have.
    pub(super) fn logged(&self, row: u32) -> Logged {
        let int = |name| self.int(name, row);
        Logged {
            wait_us: int("wait_us"),
            run_us: int("run_us"),
            status: int("status"),
            processors: int("processors"),
            requested_processors: int("requested_processors"),
            requested_time_us: int("requested_time_us"),
            cpu_time_us: int("cpu_time_us"),
            used_memory_kib: self.real("used_memory_kib", row),
            requested_memory_kib: self.real("requested_memory_kib", row),
            preceding_job: int("preceding_job"),
            think_time_us: int("think_time_us"),
        }
    }
}
