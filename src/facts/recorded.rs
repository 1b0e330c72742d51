//! The CPU time and memory that a log records as used by its jobs.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Float32Type, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;

use crate::lake::{Lake, LakeError};
use crate::schema::Table;
use crate::units::CpuTime;

/// The column of logs with the mean CPU time that a job used per processor.
pub(super) const CPU_TIME: &str = "cpu_time_us";

/// The column of requested GPUs.
pub const GPU_REQUEST: &str = "gpu_request";

/// Whether the lake has the column of the CPU time of attempts, which is then read instead of the
/// CPU rate of usage windows.
pub fn has_cpu_times(lake: &Lake) -> bool {
    lake.has_column(Table::TaskEvents, CPU_TIME)
}

/// Whether the lake is of a log that records the CPU time of at least one job.
///
/// # Errors
/// A file cannot be read.
pub fn records_cpu_time(lake: &Lake) -> Result<bool, LakeError> {
    records(lake, CPU_TIME)
}

/// Whether a log records that at least one task requested GPUs.
///
/// # Errors
/// A file of the lake cannot be read.
pub fn records_gpus(lake: &Lake) -> Result<bool, LakeError> {
    records(lake, GPU_REQUEST)
}

/// Whether a log records the requested time of at least one task.
///
/// # Errors
/// A file of the lake cannot be read.
pub fn records_requested_time(lake: &Lake) -> Result<bool, LakeError> {
    records(lake, REQUESTED_TIME)
}

/// The column of logs with the running time that the user requested.
pub(super) const REQUESTED_TIME: &str = "requested_time_us";

/// Whether at least one task event has a value in this column.
pub(super) fn records(lake: &Lake, column: &'static str) -> Result<bool, LakeError> {
    let mut is_recorded = false;
    if lake.has_column(Table::TaskEvents, column) {
        for bucket in 0..lake.bucket_count() {
            if is_recorded {
                break;
            }
            lake.scan(Table::TaskEvents, Some(bucket), &[column], |batch| {
                is_recorded |= batch.column(0).null_count() < batch.num_rows();
            })?;
        }
    }
    Ok(is_recorded)
}

/// The CPU time used by row: the mean per processor times its processors.
pub(super) fn add_used(used: &mut Vec<Option<CpuTime>>, batch: &RecordBatch) {
    let each = batch.column_by_name(CPU_TIME).expect("the column was requested");
    let rows = each.as_primitive::<Int64Type>().iter().zip(processors_of(batch));
    used.extend(rows.map(|(each_us, processors)| Some(CpuTime::of_rate(processors?, each_us?))));
}

/// The processors that the job of each row had, or else requested. The columns of counts lack a
/// number that is not whole; it is then in the CPU request.
fn processors_of(batch: &RecordBatch) -> impl Iterator<Item = Option<f32>> {
    let cells = |name: &str| batch.column_by_name(name).expect("the column was requested");
    let counts = |name: &str| cells(name).as_primitive::<Int32Type>();
    let (had, asked) = (counts("processors"), counts("requested_processors"));
    let requests = cells(CPU_REQUEST).as_primitive::<Float32Type>();
    had.iter().zip(asked).zip(requests).map(|((had, asked), request)| {
        #[expect(clippy::cast_precision_loss, reason = "no job has 2^24 processors")]
        let count = had.filter(|&count| 0 < count).or(asked).map(|count| count as f32);
        count.or(request)
    })
}

/// Whether the lake is of a log that records the memory of at least one job.
///
/// # Errors
/// A file cannot be read.
pub fn records_used_memory(lake: &Lake) -> Result<bool, LakeError> {
    records(lake, USED_MEMORY)
}

/// The used memory by row: the mean per processor times its processors.
pub(super) fn add_used_memory(memory: &mut Vec<Option<f32>>, batch: &RecordBatch) {
    let each = batch.column_by_name(USED_MEMORY).expect("the column was requested");
    let rows = each.as_primitive::<Float32Type>().iter().zip(processors_of(batch));
    memory.extend(rows.map(|(each, processors)| Some(each? * processors?)));
}

/// The column of requested CPU, which all traces have.
pub(super) const CPU_REQUEST: &str = "cpu_request";

/// The column of logs with the mean memory that a job used per processor, KiB.
pub(super) const USED_MEMORY: &str = "used_memory_kib";
