//! Instances: `batch_instance.csv`, one row per try.
//!
//! The trace does not name instances: a row gives its task, the number of the try (`seq_no`) and
//! the number of tries. So rows of a task are matched in their order: the first row with try 2 of 2
//! is taken as the retry of the first row with try 1 of 2, and so on. Every task thus has the right
//! numbers of instances and tries, in any order of the rows. If several instances were retried, it
//! is unknown to which of them a try belongs; such tries are counted.

use rustc_hash::FxHashMap;

use super::super::alibaba::requests::Requests;
use super::super::alibaba::{self, STATES, check_cpu};
use super::super::records::row::Row;
use super::super::records::{Fault, Record, Remarks, machine_id};
use super::super::rows::Cell;
use super::amounts::{amount, signed_time_us};

/// The numbers of the instances of each job.
#[derive(Default)]
pub(super) struct Instances {
    /// The number of instances of each job so far.
    counts: FxHashMap<i64, i32>,
    /// The number of rows so far, by task and number of tries, and by number of the try.
    rows: FxHashMap<(TaskTries, i32), usize>,
    /// The numbers of the instances, by task and number of tries.
    tried: FxHashMap<TaskTries, Vec<i32>>,
}

/// Job, task, and the number of tries of an instance.
type TaskTries = (i64, i32, i32);

impl Instances {
    /// The number of the instance that a try belongs to.
    fn number(&mut self, (job, task): (i64, i32), (number, count): (i32, i32)) -> i32 {
        let mut next = || {
            let count = self.counts.entry(job).or_default();
            *count += 1;
            *count
        };
        if count <= 1 {
            return next();
        }
        let key = (job, task, count);
        let rows = self.rows.entry((key, number)).or_default();
        let known = self.tried.entry(key).or_default();
        // There are as many instances as rows with the most frequent try number.
        if known.len() == *rows {
            known.push(next());
        }
        *rows += 1;
        known[*rows - 1]
    }
}

/// A try of an instance; `None` if its job or task is missing.
pub(super) fn instance<'a>(
    row: Row<'a>,
    instances: &mut Instances,
    requests: &Requests,
    remarks: &mut Remarks,
) -> Result<Option<Record<'a>>, Fault> {
    if row.raw(2).is_empty() || row.raw(3).is_empty() {
        remarks.add("instances without a job or a task, a known gap of the trace: left out");
        return Ok(None);
    }
    let (job, task) = (row.whole(2, "job_id")?, row.count(3, "task_id")?);
    let tries = (row.count(6, "seq_no")?, row.count(7, "total_seq_no")?);
    let machine = row.optional(4, "machine_id")?;
    let (fate, state) = row.state(STATES, 5, "status")?;
    let time = |idx, column, remarks: &mut Remarks| match row.raw(idx) {
        b"" | b"0" => Ok(None),
        text => signed_time_us(text, column, remarks).map(Some),
    };
    let times = (time(0, "start_timestamp", remarks)?, time(1, "end_timestamp", remarks)?);
    let used = [
        amount(&row, 9, "real_cpu_avg")?,
        amount(&row, 8, "real_cpu_max")?,
        amount(&row, 11, "real_mem_avg")?,
        amount(&row, 10, "real_mem_max")?,
    ];
    let life = alibaba::life(fate, times, remarks);
    if 1 < tries.0 {
        remarks.add("tries of unnamed instances: matched in the order of the rows");
    }
    let end_reason = life.end.map(|_| state);
    let (cpu, memory) = requests.of(row.raw(2), row.raw(3));
    check_cpu(cpu, &life, remarks);
    let mut own = vec![
        Cell::Text(state),
        end_reason.into(),
        Cell::Missing,
        cpu.into(),
        memory.into(),
        Cell::I32(task),
        Cell::I32(tries.0),
    ];
    own.extend(used.map(Cell::from));
    let record = Record {
        job_id: job,
        task_index: instances.number((job, task), tries),
        life,
        machine_id: machine.map(machine_id),
        cpu,
        memory,
        end_reason,
        own,
        ..Record::default()
    };
    Ok(alibaba::turn(tries, record, remarks))
}
