//! The columns of `task_events` that only some questions need.

use arrow::array::AsArray;
use arrow::datatypes::Float32Type;
use arrow::record_batch::RecordBatch;

use super::{By, Plan};
use crate::facts::FactError;
use crate::facts::tasks::GPU_REQUEST;
use crate::lake::Lake;
use crate::schema::{ROW_ID, Table};
use crate::studies::meter::Resource;

/// The columns of a bucket's `task_events` that only some questions need, row by row.
pub(super) struct Extra {
    pub(super) cpu: Vec<Option<f32>>,
    pub(super) memory: Vec<Option<f32>>,
    /// Empty if GPUs are not charged.
    pub(super) gpus: Vec<Option<f32>>,
    pub(super) user: Option<Vec<Option<String>>>,
    pub(super) group: Option<Vec<Option<String>>>,
    pub(super) site: Option<Vec<Option<String>>>,
    /// The queue, or the quality of service if usage is grouped by it.
    pub(super) queue: Option<Vec<Option<String>>>,
}

impl Extra {
    pub(super) fn read(lake: &Lake, bucket: u32, plan: &Plan) -> Result<Self, FactError> {
        let (by, charges_gpus) = (plan.by, plan.meter.resource() == Resource::Gpu);
        let has = |column: &&'static str| lake.has_column(Table::TaskEvents, column);
        let user = Some("user").filter(|_| by == By::User && !lake.has(Table::JobEvents));
        let group = Some("user_group").filter(has);
        let site = ["last_run_site", "partition"].into_iter().find(|column| has(column));
        let is_queue = matches!(by, By::Queue | By::Qos);
        let queue = Some(by.name()).filter(|column| is_queue && has(column));
        let mut columns = vec![ROW_ID, "cpu_request", "memory_request"];
        let gpus = Some(GPU_REQUEST).filter(|_| charges_gpus);
        columns.extend([user, group, site, queue, gpus].into_iter().flatten());
        let batches = lake.read(Table::TaskEvents, Some(bucket), &columns)?;
        let texts = |column: Option<&str>| column.map(|column| texts(&batches, column));
        Ok(Self {
            cpu: floats(&batches, "cpu_request"),
            memory: floats(&batches, "memory_request"),
            gpus: gpus.map_or_else(Vec::new, |column| floats(&batches, column)),
            user: texts(user),
            group: texts(group),
            site: texts(site),
            queue: texts(queue),
        })
    }
}

fn floats(batches: &[RecordBatch], column: &str) -> Vec<Option<f32>> {
    let of = |batch: &RecordBatch| -> Vec<Option<f32>> {
        let cells = batch.column_by_name(column).expect("the column was requested");
        cells.as_primitive::<Float32Type>().iter().collect()
    };
    batches.iter().flat_map(of).collect()
}

fn texts(batches: &[RecordBatch], column: &str) -> Vec<Option<String>> {
    let of = |batch: &RecordBatch| -> Vec<Option<String>> {
        let cells = batch.column_by_name(column).expect("the column was requested");
        cells.as_string::<i32>().iter().map(|cell| cell.map(str::to_owned)).collect()
    };
    batches.iter().flat_map(of).collect()
}
