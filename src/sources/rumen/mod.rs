//! Rumen: the history of Hadoop jobs as JSON, one object per job, with every task and attempt.
//!
//! In: the text of a trace, objects one after the other on any number of lines, and the topology in
//! the same folder. Out: `job_events`, `task_events`, and `machine_events` of the hosts.
//!
//! ```text
//!  job      SUBMIT submitTime .. SCHEDULE launchTime ------------------------ end finishTime
//!  task                          SUBMIT ..... SCHEDULE -- FAIL  SCHEDULE -- FINISH
//!                                launchTime   attempt 0         attempt 1
//! ```
//!
//! - The number of a job is the start of its cluster times 10^6 plus the number in its name:
//!   `job_200904211745_0002` is 200904211745000002. A job with another name has minus its position
//!   in the file. `job_name` holds this name, `logical_job_name` the name that the user gave.
//! - `task_index` numbers the tasks of a job from 0: maps, then reduces, then setup and cleanup, in
//!   file order. `phase` gives the kind of a task, and `task_name` its name in Hadoop.
//! - Each attempt is a SCHEDULE and an end: SUCCESS is FINISH, FAILED is FAIL, KILLED is KILL.
//!   There is no SUBMIT between two attempts, and `attempt` numbers them. The lake has one attempt of
//!   a task at a time: of attempts that overlap (speculation), the first to finish is whole, one
//!   that began earlier ends where it begins, and one that began later is left out and counted. An
//!   attempt that ends before it starts, or that has no start, has no length and is at its end.
//! - Times are milliseconds since 1970. Null, -1 and 0 are missing.
//! - Hosts are numbered from 1 in the order of the topology; hosts that it lacks follow in the
//!   order of the trace. `row_id` counts the events of a file.
//!
//! Source: `LoggedJob`, `LoggedTask`, `LoggedTaskAttempt` and `LoggedNetworkTopology` of Apache
//! Hadoop's `hadoop-rumen`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::SourceError;
use super::folder::RawPart;
use super::json::{ObjectFormat, ObjectParser, ObjectReader};
use super::part::{HandOut, Notes, PartParser, hand_out_many};
use super::records::Fault;
use super::reject::RejectReason;
use super::rows::{Cell, RowBlock};
use crate::schema::{Table, row_id};

mod events;
mod tasks;
mod topology;

use events::{JobEvents, LoggedJob, Task};

/// A parser for one table of a trace, or for its topology.
pub(super) fn parser(part: &RawPart) -> Result<Box<dyn PartParser>, SourceError> {
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
    /// The number of a host; a new one gets the next.
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

/// Removes the backslashes that Hadoop's history puts before dots.
fn unescaped(name: &str) -> String {
    name.replace('\\', "")
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
        let priority = job.priority();
        for (wording, count) in task.remarks.all() {
            self.notes.remark(wording, count);
        }
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
                priority.into(),
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

#[cfg(test)]
mod tests;
