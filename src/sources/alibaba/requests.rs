//! The requests of tasks, for the rows of their instances, which do not have them.
//!
//! In: the table of tasks. Out: CPU and memory of each instance, by the names of job and task. Each
//! task takes about 24 bytes of memory.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::super::SourceError;
use super::super::blocks::each_block;
use super::super::records::fields::Fields;
use super::super::records::row::Row;
use super::super::records::{Fault, Line, hash};
use super::super::rows::RowBlock;
use super::files::Kind;
use crate::schema::{Source, Table};

/// Requests by the hash of a task.
#[derive(Default)]
pub(in crate::sources) struct Requests(FxHashMap<u64, (f32, f32)>);

/// Marks a request that the table does not give.
const UNKNOWN: f32 = f32::NAN;

/// A task, by job and name, and the request of each of its instances.
pub(in crate::sources) struct Request<'a> {
    pub job: &'a [u8],
    pub task: &'a [u8],
    pub cpu: Option<f32>,
    pub memory: Option<f32>,
}

impl Requests {
    /// Reads a table of tasks. Bad lines are skipped: they are rejected when the table is read as
    /// jobs.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(in crate::sources) fn read(
        source: Source,
        path: &Path,
        request: impl for<'a> Fn(&Row<'a>) -> Result<Request<'a>, Fault>,
    ) -> Result<Self, SourceError> {
        let (mut found, mut fields) = (Self::default(), Fields::default());
        let mut rows = RowBlock::new(Table::TaskEvents, source, 0);
        each_block(path, |text| {
            Line::each(text, 1, &mut rows, |line, _| {
                let fields = fields.split_into(Kind::Tasks.field_count(source), line.raw)?;
                let Request { job, task, cpu, memory } = request(&Row { fields, line: line.raw })?;
                let request = (cpu.unwrap_or(UNKNOWN), memory.unwrap_or(UNKNOWN));
                found.0.insert(key(job, task), request);
                Ok(())
            });
        })?;
        Ok(found)
    }

    /// The CPU and memory requests of each instance of a task.
    pub(in crate::sources) fn of(&self, job: &[u8], task: &[u8]) -> (Option<f32>, Option<f32>) {
        let known = |request: f32| Some(request).filter(|request| !request.is_nan());
        self.0
            .get(&key(job, task))
            .map_or((None, None), |&(cpu, memory)| (known(cpu), known(memory)))
    }
}

fn key(job: &[u8], task: &[u8]) -> u64 {
    hash(job).rotate_left(1) ^ hash(task)
}
