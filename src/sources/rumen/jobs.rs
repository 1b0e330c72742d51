//! Rows of the jobs and tasks of a trace, and the numbers of its hosts.
//!
//! In: the objects of a trace, and its hosts by name. Out: rows of one table.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::SourceError;
use super::super::folder::RawPart;
use super::super::json::{ObjectFormat, ObjectParser, ObjectReader};
use super::super::part::{HandOut, Notes, PartParser, hand_out_many};
use super::super::records::Fault;
use super::super::reject::RejectReason;
use super::super::rows::{Cell, RowBlock};
use super::events::{JobEvents, LoggedJob, Task};
use super::{events, tasks, topology};
use crate::schema::{Table, row_id};

/// A parser for one table of a trace, or for its topology.
pub(in crate::sources) fn parser(part: &RawPart) -> Result<Box<dyn PartParser>, SourceError> {
    if part.table == Table::MachineEvents {
        return Ok(Box::new(topology::Parser { part: part.part, text: Vec::new() }));
    }
    let hosts = part.beside.as_deref().map(topology::read).transpose()?.unwrap_or_default();
    let numbers = (1..).zip(hosts).map(|(number, host)| (host.name, number)).collect();
    let format = Jobs {
        part: part.part,
        table: part.table,
        seen: FxHashSet::default(),
        machines: Machines { numbers, unknown: 0 },
        job_count: 0,
        row_count: 0,
        notes: Notes::default(),
    };
    Ok(Box::new(ObjectParser { objects: ObjectReader::default(), format }))
}

/// Hosts by name.
struct Machines {
    numbers: FxHashMap<String, i64>,
    /// The number of hosts that the topology does not have.
    unknown: u64,
}

impl Machines {
    /// The number of a host; a new host gets the next number.
    fn number(&mut self, name: &str) -> i64 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = i64::try_from(self.numbers.len()).expect("there are few hosts") + 1;
        self.numbers.insert(name.to_owned(), number);
        self.unknown += 1;
        number
    }
}

/// Parses the blocks of a trace for one of its tables.
struct Jobs {
    part: u32,
    table: Table,
    /// The numbers of the jobs so far.
    seen: FxHashSet<i64>,
    machines: Machines,
    job_count: i64,
    row_count: u64,
    notes: Notes,
}

impl Jobs {
    fn next_row_id(&mut self) -> i64 {
        self.row_count += 1;
        row_id(self.part, self.row_count)
    }

    fn push_job(&mut self, id: i64, job: &LoggedJob, life: &JobEvents, rows: &mut RowBlock) {
        self.notes.remark("job times put in order", u64::from(life.is_reordered));
        for (time_us, kind) in life.events() {
            let row_id = self.next_row_id();
            let cells = [
                Cell::I64(time_us),
                Cell::Missing,
                Cell::I64(id),
                Cell::I32(kind),
                job.user.as_deref().into(),
                Cell::Missing,
                Cell::Text(&job.job_id),
                job.job_name.as_deref().into(),
                job.queue.as_deref().into(),
                job.priority().into(),
                events::count(job.total_maps).into(),
                events::count(job.total_reduces).into(),
            ];
            rows.push_row(row_id, &cells);
        }
    }

    fn push_task(
        &mut self,
        (id, task_index): (i64, i32),
        job: &LoggedJob,
        task: &Task,
        rows: &mut RowBlock,
        hand_out: &mut HandOut<'_>,
    ) {
        task.remarks.all().for_each(|(wording, count)| self.notes.remark(wording, count));
        for event in &task.events {
            let machine = event.host.as_deref().map(|host| self.machines.number(host));
            let row_id = self.next_row_id();
            let cells = [
                Cell::I64(event.time_us),
                Cell::Missing,
                Cell::I64(id),
                Cell::I32(task_index),
                machine.into(),
                Cell::I32(event.kind),
                job.user.as_deref().into(),
                Cell::Missing,
                job.priority().into(),
                Cell::F32(1.0),
                job.memory_mib(task.phase).into(),
                Cell::Missing,
                Cell::Missing,
                Cell::Text(task.phase),
                Cell::Text(&task.name),
                event.attempt.into(),
                event.host.as_deref().into(),
                job.queue.as_deref().into(),
                event.shuffle_end_us.into(),
                event.sort_end_us.into(),
            ];
            rows.push_row(row_id, &cells);
            hand_out_many(rows, hand_out);
        }
    }
}

impl ObjectFormat for Jobs {
    /// Adds the rows of a job, or none if any part of it is wrong.
    fn object(
        &mut self,
        object: &[u8],
        rows: &mut RowBlock,
        hand_out: &mut HandOut<'_>,
    ) -> Result<(), Fault> {
        self.job_count += 1;
        let job = LoggedJob::read(object)?;
        let id = job.number().unwrap_or(-self.job_count);
        if self.seen.contains(&id) {
            return Err(("job_id", RejectReason::DuplicateJob));
        }
        let life = JobEvents::of(&job)?;
        // All tasks are checked before the first row: a job with a bad task is a reject in both
        // tables.
        tasks::in_order(object, &mut |list, task| Task::of(task, list, &life).map(drop))?;
        if self.table == Table::JobEvents {
            self.push_job(id, &job, &life, rows);
        } else {
            let mut task_index = 0;
            tasks::in_order(object, &mut |list, task| {
                let task = Task::of(task, list, &life)?;
                self.push_task((id, task_index), &job, &task, rows, hand_out);
                task_index += 1;
                Ok(())
            })?;
        }
        self.seen.insert(id);
        Ok(())
    }

    fn notes(&mut self) -> Notes {
        self.notes.remark("hosts missing in the topology", self.machines.unknown);
        std::mem::take(&mut self.notes)
    }
}
