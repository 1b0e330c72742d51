//! GPUs of a lake: the GPUs of machines, and the requests of tasks.
//!
//! In: `gpu_capacity` and `gpu_model` of machines; `gpu_request`, and, if the log has them,
//! `gpu_count`, `gpu_milli` and `gpu_model` of tasks. Out: [`Gpus`] and [`GpuAsk`]s with a common
//! numbering of models. A task may accept several models, `V100M16|V100M32`.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Float32Type, Int32Type};
use arrow::record_batch::RecordBatch;

use crate::facts::FactError;
use crate::facts::machines::GPU_CAPACITY;
use crate::facts::tasks::GPU_REQUEST;
use crate::lake::Lake;
use crate::replay::gpus::{ANY_MODEL, GPUS_MAX, GpuAsk, Gpus};
use crate::schema::Table;

const MODEL: &str = "gpu_model";
const COUNT: &str = "gpu_count";
const MILLI: &str = "gpu_milli";

/// The most models distinguished: each uses one bit.
const MODELS_MAX: usize = 63;

/// The models of the machines, by name.
#[derive(Debug)]
pub(super) struct Models {
    names: Vec<String>,
    /// Whether machines record their GPUs.
    pub(super) of_machines: bool,
}

impl Models {
    /// Reads the models; `None` if the log records no GPUs of tasks.
    pub(super) fn read(lake: &Lake) -> Result<Option<Self>, FactError> {
        let has = |table, column| lake.has(table) && lake.has_column(table, column);
        if !has(Table::TaskEvents, GPU_REQUEST) {
            return Ok(None);
        }
        let mut names: Vec<String> = Vec::new();
        let of_machines = has(Table::MachineEvents, GPU_CAPACITY);
        if of_machines {
            for batch in lake.read(Table::MachineEvents, None, &[MODEL])? {
                let cells = batch.column(0).as_string::<i32>().iter();
                names.extend(cells.flatten().map(str::to_owned));
            }
        }
        names.sort_unstable();
        names.dedup();
        names.truncate(MODELS_MAX);
        Ok(Some(Self { names, of_machines }))
    }

    /// The bit of a model; 0 for an unknown one.
    fn bit(&self, name: &str) -> u64 {
        self.names.binary_search_by(|known| known.as_str().cmp(name)).map_or(0, |idx| 1 << idx)
    }

    /// The bits of the models that a task accepts.
    fn taken(&self, names: Option<&str>) -> u64 {
        // A name may occur twice.
        let taken = |names: &str| names.split('|').fold(0, |taken, name| taken | self.bit(name));
        names.map_or(ANY_MODEL, taken)
    }
}

/// The GPU columns of machines, if GPUs are known.
pub(super) fn machine_columns(models: Option<&Models>) -> &'static [&'static str] {
    if models.is_some_and(|models| models.of_machines) { &[GPU_CAPACITY, MODEL] } else { &[] }
}

/// The GPUs of each machine in a batch; none if GPUs are not known.
pub(super) fn of_machines(models: Option<&Models>, batch: &RecordBatch) -> Vec<Gpus> {
    let Some(models) = models.filter(|models| models.of_machines) else {
        return vec![Gpus::default(); batch.num_rows()];
    };
    let cell = |name: &str| batch.column_by_name(name).expect("it was requested");
    let counts = cell(GPU_CAPACITY).as_primitive::<Int32Type>().iter();
    let names = cell(MODEL).as_string::<i32>().iter();
    counts
        .zip(names)
        .map(|(count, name)| {
            let count = usize::try_from(count.unwrap_or(0)).unwrap_or(0).min(GPUS_MAX);
            let count = u8::try_from(count).expect("at most 64");
            Gpus { count, model: name.map_or(0, |name| models.bit(name)) }
        })
        .collect()
}

/// The GPU columns of tasks, if GPUs are known.
pub(super) fn task_columns(lake: &Lake, models: Option<&Models>) -> Vec<&'static str> {
    let all = [GPU_REQUEST, COUNT, MILLI, MODEL].into_iter();
    all.filter(|column| models.is_some() && lake.has_column(Table::TaskEvents, column)).collect()
}

/// Appends the GPU requests in a batch; nothing if GPUs are not known.
pub(super) fn add_asks(
    asks: &mut Vec<Option<GpuAsk>>,
    models: Option<&Models>,
    batch: &RecordBatch,
) {
    let Some(models) = models else { return };
    let requests = batch.column_by_name(GPU_REQUEST).expect("it was requested");
    let ints = |name: &str| batch.column_by_name(name).map(AsArray::as_primitive::<Int32Type>);
    let (counts, milli) = (ints(COUNT), ints(MILLI));
    let names = batch.column_by_name(MODEL).map(AsArray::as_string::<i32>);
    for (row, request) in requests.as_primitive::<Float32Type>().iter().enumerate() {
        let int = |cells: Option<&arrow::array::Int32Array>| {
            cells.filter(|cells| cells.is_valid(row)).map(|cells| cells.value(row))
        };
        let name = names.filter(|names| names.is_valid(row)).map(|names| names.value(row));
        let taken = models.taken(name);
        let parts = int(counts).zip(int(milli)).and_then(|(count, milli)| {
            Some((u8::try_from(count).ok()?, u16::try_from(milli).ok()?))
        });
        asks.push(match (parts, request) {
            (Some((count, milli)), _) => Some(GpuAsk::new(count, milli, taken)),
            (None, Some(request)) => Some(GpuAsk::of_request(request, taken)),
            (None, None) => None,
        });
    }
}
