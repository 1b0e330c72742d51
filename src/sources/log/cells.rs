//! A job as the cells of its rows.

use super::{JobKey, LogJob};
use crate::sources::rows::Cell;

pub(super) fn job_cells<'a>(id: i64, job: &LogJob<'a>) -> Vec<Cell<'a>> {
    let name = match job.key {
        JobKey::Number(_) => Cell::Missing,
        JobKey::Name(name) => Cell::Text(name),
    };
    let mut cells = Vec::with_capacity(40);
    cells.extend([
        Cell::Missing,
        Cell::Missing,
        Cell::I64(id),
        Cell::Missing,
        job.user.into(),
        Cell::Missing,
        name,
        job.executable.into(),
    ]);
    extend(&mut cells, job);
    cells
}

pub(super) fn task_cells<'a>(id: i64, job: &LogJob<'a>) -> Vec<Cell<'a>> {
    let some = |count: &i32| 0 < *count;
    let processors = job.processors.filter(some).or(job.requested_processors.filter(some));
    #[expect(clippy::cast_precision_loss, reason = "no job has 2^24 processors")]
    let processors = processors.map(|count| count as f32);
    let memory = processors.zip(job.requested_memory_kib).map(|(count, each)| count * each);
    let mut cells = Vec::with_capacity(40);
    cells.extend([
        Cell::Missing,
        Cell::Missing,
        Cell::I64(id),
        Cell::I32(0),
        Cell::Missing,
        Cell::Missing,
        job.user.into(),
        Cell::Missing,
        Cell::Missing,
        processors.into(),
        memory.into(),
        Cell::Missing,
        Cell::Missing,
    ]);
    extend(&mut cells, job);
    cells
}

/// Adds the other columns that both formats have, then those that only the format of this log has.
fn extend<'a>(cells: &mut Vec<Cell<'a>>, job: &LogJob<'a>) {
    cells.extend::<[Cell<'a>; 13]>([
        job.group.into(),
        job.executable.into(),
        job.queue.into(),
        job.partition.into(),
        job.status.into(),
        job.wait_us.into(),
        job.run_us.into(),
        job.processors.into(),
        job.requested_processors.into(),
        job.requested_time_us.into(),
        job.cpu_time_us.into(),
        job.used_memory_kib.into(),
        job.requested_memory_kib.into(),
    ]);
    cells.extend_from_slice(&job.own);
}
