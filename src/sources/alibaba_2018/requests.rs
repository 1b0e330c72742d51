//! What the tasks ask for, which the rows of their instances do not say.
//!
//! In: the table of tasks. Out: CPU and memory of each instance by the names of job and task. 24
//! bytes are held for each task.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::super::blocks::{BlockReader, TextBlock};
use super::super::records::Line;
use super::super::rows::RowBlock;
use super::{Fields, Kind, Remarks, Row, SourceError, hash};
use crate::schema::{Source, Table};

/// Requests by the hash of a task.
#[derive(Default)]
pub(super) struct Requests(FxHashMap<u64, (f32, f32)>);

/// Stands for a request that the table does not tell.
const UNKNOWN: f32 = f32::NAN;

impl Requests {
    /// Reads a table of tasks; what is wrong with a line is said when it is read as a job.
    ///
    /// # Errors
    /// The file does not read.
    pub(super) fn read(path: &Path) -> Result<Self, SourceError> {
        let (mut found, mut fields) = (Self::default(), Fields::default());
        let mut reader = BlockReader::open(path)?;
        let mut rows = RowBlock::new(Table::TaskEvents, Source::Alibaba2018, 0);
        let mut block = TextBlock::default();
        while let Some(text) = reader.next_block(block)? {
            Line::each(&text, 1, &mut rows, |line, _| {
                let fields = fields.split_into(Kind::Tasks.field_count(), line.raw)?;
                let row = Row { fields, line: line.raw };
                let remarks = &mut Remarks::default();
                let cpu = row.amount(7, "plan_cpu", remarks)?;
                let memory = row.share(8, "plan_mem", remarks)?;
                let request = (cpu.unwrap_or(UNKNOWN), memory.unwrap_or(UNKNOWN));
                found.0.insert(key(row.raw(2), row.raw(0)), request);
                Ok(())
            });
            block = text;
        }
        Ok(found)
    }

    /// CPU and memory of an instance of a task.
    pub(super) fn of(&self, job: &[u8], task: &[u8]) -> (Option<f32>, Option<f32>) {
        let known = |request: f32| Some(request).filter(|request| !request.is_nan());
        self.0
            .get(&key(job, task))
            .map_or((None, None), |&(cpu, memory)| (known(cpu), known(memory)))
    }
}

fn key(job: &[u8], task: &[u8]) -> u64 {
    hash(job).rotate_left(1) ^ hash(task)
}
