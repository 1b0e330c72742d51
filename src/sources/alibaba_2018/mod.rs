//! The batch jobs of Alibaba's cluster trace of 2018: `batch_task`, `batch_instance` and
//! `machine_meta`, CSV without a header.
//!
//! In: lines of 9, 14 or 7 fields between commas. Out: what [`super::records`] makes of them.
//! Instances are the tasks of the lake, and their tries (`seq_no`) its attempts; the table of tasks
//! says what each of them asked for and what became of the jobs. A table alone stands for the other:
//! without instances each task is one, with the CPU of all its instances.
//!
//! ```text
//!  start_time                               end_time
//!    SUBMIT, SCHEDULE -------------------------- by status
//! ```
//!
//! | Status | Events |
//! |---|---|
//! | Terminated | SUBMIT, SCHEDULE, FINISH |
//! | Failed | SUBMIT, SCHEDULE, FAIL |
//! | Cancelled, Interrupted | SUBMIT, SCHEDULE, KILL |
//! | Running | SUBMIT, SCHEDULE |
//! | Ready, Waiting | SUBMIT |
//!
//! Times are seconds since the start of the trace. The trace has no submit time, and 0 stands for a
//! time outside of it. A later try has no SUBMIT of its own; tries that overlap (a backup) are
//! both there. Rows are not compared with each other, so that memory does not grow with them. The
//! number of an instance is that of its name (`ins_74901673`): the trace numbers them all.
//!
//! The name of a task says its number and those of the tasks that must end first: `M5_3_4` is number
//! 5 and waits for 3 and 4 (`depends_on`); a name such as `task_Nzg3` says neither.

use super::folder::RawPart;
use super::part::PartParser;
use super::records::fields::{Fields, whole};
use super::records::{
    FAIL, FINISH, Fault, KILL, Life, Line, Parsed, Record, RecordFormat, RecordParser, Remarks,
    Turn, hash, machine_id, number_of_name,
};
use super::rows::{Cell, RejectReason};
use super::{SourceError, fields};
use crate::schema::Table;
use crate::units::MICROS_PER_SECOND;

pub(super) mod files;
mod machines;
mod names;
mod requests;

use self::files::Kind;
use self::names::TaskName;
pub(crate) use self::names::number_of_task;
use self::requests::Requests;

/// What a task or an instance may be.
const STATES: [&str; 7] =
    ["Ready", "Waiting", "Running", "Terminated", "Failed", "Cancelled", "Interrupted"];

/// A parser for one table of the lake.
pub(super) fn parser(part: &RawPart, begin: &[u8]) -> Result<Box<dyn PartParser>, SourceError> {
    if part.table == Table::MachineEvents {
        return Ok(Box::new(machines::Machines::new(part.part)));
    }
    let kind = Kind::of(begin).filter(|kind| *kind != Kind::Machines).unwrap_or(Kind::Tasks);
    let requests = match (&part.beside, part.table) {
        (Some(path), Table::TaskEvents) => Requests::read(path)?,
        _ => Requests::default(),
    };
    let rows = Rows { fields: Fields::default(), depends_on: String::new(), kind, requests };
    Ok(Box::new(RecordParser::new(rows, part, Vec::new())))
}

/// How the trace writes a task or an instance.
struct Rows {
    fields: Fields,
    /// The tasks that the one of the line waits for.
    depends_on: String,
    kind: Kind,
    requests: Requests,
}

impl RecordFormat for Rows {
    const HAS_TASKS: bool = true;

    fn record<'a>(&'a mut self, line: Line<'a>, remarks: &mut Remarks) -> Parsed<'a> {
        let fields = self.fields.split_into(self.kind.field_count(), line.raw)?;
        let row = Row { fields, line: line.raw };
        // Copies with a header are about.
        if line.number == 1 && row.raw(4) == b"status" {
            return Ok(None);
        }
        let task_name = row.text(self.kind.task_column(), "task_name")?;
        let name = TaskName::read(task_name, &mut self.depends_on);
        let row = Named { row, task_name, name, depends_on: &self.depends_on };
        match self.kind {
            Kind::Instances => instance(&row, &self.requests, remarks).map(Some),
            _ => task(&row, remarks).map(Some),
        }
    }

    fn own_of_job(tasks: u32, end_reason: Option<&'static str>, cells: &mut Vec<Cell<'_>>) {
        cells.push(i32::try_from(tasks).ok().into());
        cells.push(end_reason.into());
    }
}

/// A line whose fields are told apart.
#[derive(Clone, Copy)]
struct Row<'a> {
    fields: &'a Fields,
    line: &'a [u8],
}

impl<'a> Row<'a> {
    fn raw(&self, idx: usize) -> &'a [u8] {
        self.fields.get(self.line, idx)
    }

    fn text(&self, idx: usize, column: &'static str) -> Result<&'a str, Fault> {
        match fields::careful_text(self.raw(idx)) {
            None => Err((column, RejectReason::BadValue)),
            Some("") => Err((column, RejectReason::EmptyMandatory)),
            Some(text) => Ok(text),
        }
    }

    fn count(&self, idx: usize, column: &'static str) -> Result<i32, Fault> {
        match self.raw(idx) {
            b"" => Err((column, RejectReason::EmptyMandatory)),
            text => whole(text)
                .and_then(|count| i32::try_from(count).ok())
                .ok_or((column, RejectReason::BadValue)),
        }
    }

    /// A time, µs; 0 and nothing stand for one outside of the trace.
    fn time(&self, idx: usize, column: &'static str) -> Result<Option<i64>, Fault> {
        match self.raw(idx) {
            b"" => Ok(None),
            text => whole(text)
                .map(|second| Some(second * MICROS_PER_SECOND).filter(|&time| 0 < time))
                .ok_or((column, RejectReason::BadValue)),
        }
    }

    /// An amount in hundredths; -1 stands for one that is not known.
    fn amount(
        &self,
        idx: usize,
        column: &'static str,
        remarks: &mut Remarks,
    ) -> Result<Option<f32>, Fault> {
        let text = self.raw(idx);
        if text.is_empty() {
            return Ok(None);
        }
        match fields::careful_f32(text) {
            Some(-1.0) => {
                remarks.add("amounts of -1 or 101: unknown");
                Ok(None)
            }
            Some(amount) if 0.0 <= amount => Ok(Some(amount / 100.0)),
            _ => Err((column, RejectReason::BadValue)),
        }
    }

    /// A share of the largest machine's memory in hundredths; 101 too stands for one that is not known.
    fn share(
        &self,
        idx: usize,
        column: &'static str,
        remarks: &mut Remarks,
    ) -> Result<Option<f32>, Fault> {
        if self.raw(idx) == b"101" {
            remarks.add("amounts of -1 or 101: unknown");
            return Ok(None);
        }
        self.amount(idx, column, remarks)
    }

    /// The state, and when it began and ended.
    fn life(&self, remarks: &mut Remarks) -> Result<(&'static str, Life), Fault> {
        let state = match self.raw(4) {
            b"" => return Err(("status", RejectReason::EmptyMandatory)),
            word => STATES.into_iter().find(|state| state.as_bytes() == word),
        };
        let state = state.ok_or(("status", RejectReason::UnknownEventType))?;
        let (start_us, end_us) = (self.time(5, "start_time")?, self.time(6, "end_time")?);
        let end = match state {
            "Terminated" => Some(FINISH),
            "Failed" => Some(FAIL),
            "Cancelled" | "Interrupted" => Some(KILL),
            _ => None,
        };
        let has_begun = end.is_some() || state == "Running";
        remarks.add("no submit time: submitted at the start");
        if start_us.is_none() {
            remarks.add(if has_begun {
                "start time of 0, outside of the trace: at its start"
            } else {
                "not started, and no time: submitted at the start of the trace"
            });
        }
        if end.is_some() && end_us.is_none() {
            remarks.add("ended, but no end time: left open");
        }
        let start_us = start_us.unwrap_or(0);
        let life = Life {
            submit_us: Some(start_us),
            start_us: has_begun.then_some(start_us),
            end: end_us.zip(end),
        };
        Ok((state, life))
    }
}

/// A row with what its task is called.
struct Named<'a> {
    row: Row<'a>,
    task_name: &'a str,
    name: TaskName,
    depends_on: &'a str,
}

/// A row of either table; what only one of them knows is added to it.
fn record<'a>(named: &Named<'a>, remarks: &mut Remarks) -> Result<Record<'a>, Fault> {
    let row = named.row;
    let job = row.text(2, "job_name")?;
    let number = names::number_behind(job, "j_");
    if named.name == TaskName::Plain {
        remarks.add("tasks whose names say no dependencies");
    }
    let (state, life) = row.life(remarks)?;
    Ok(Record {
        job_id: number.unwrap_or_else(|| number_of_name(job.as_bytes())),
        task_index: 0,
        end_reason: life.end.map(|_| state),
        life,
        turn: Some(Turn { is_first: true, is_deciding: true }),
        user: None,
        job_name: Some(job).filter(|_| number.is_none()),
        logical_name: None,
        scheduling_class: None,
        priority: None,
        machine_id: None,
        cpu: None,
        memory: None,
        nodes: None,
        cluster: None,
        own: vec![
            Cell::Text(state),
            life.end.map(|_| state).into(),
            Cell::Text(named.task_name),
            Cell::Missing,
            fields::careful_text(row.raw(3)).filter(|kind| !kind.is_empty()).into(),
            Some(named.depends_on).filter(|text| !text.is_empty()).into(),
        ],
    })
}

/// A task: all its instances together.
fn task<'a>(named: &Named<'a>, remarks: &mut Remarks) -> Result<Record<'a>, Fault> {
    let row = named.row;
    let instances = row.count(1, "instances")?;
    let (cpu, memory) = (row.amount(7, "plan_cpu", remarks)?, row.share(8, "plan_mem", remarks)?);
    let mut record = record(named, remarks)?;
    if cpu.is_none() && record.life.start_us.is_some() {
        remarks.add("CPU request unknown: no CPU time is charged");
    }
    #[expect(clippy::cast_precision_loss, reason = "no task has 2^24 instances")]
    let times = |each: f32| each * instances as f32;
    record.task_index = match named.name {
        TaskName::Numbered(number) => number,
        TaskName::Plain => names::index_of(named.task_name),
    };
    (record.cpu, record.memory) = (cpu.map(times), memory.map(times));
    record.own.push(Cell::I32(instances));
    record.own.extend([Cell::Missing; 5]);
    Ok(record)
}

/// A try of an instance.
fn instance<'a>(
    named: &Named<'a>,
    requests: &Requests,
    remarks: &mut Remarks,
) -> Result<Record<'a>, Fault> {
    let row = named.row;
    let name = row.text(0, "instance_name")?;
    let (number, count) = (row.count(8, "seq_no")?, row.count(9, "total_seq_no")?);
    let used = [
        row.amount(10, "cpu_avg", remarks)?,
        row.amount(11, "cpu_max", remarks)?,
        row.share(12, "mem_avg", remarks)?,
        row.share(13, "mem_max", remarks)?,
    ];
    let machine = fields::careful_text(row.raw(7)).ok_or(("machine_id", RejectReason::BadValue))?;
    let mut record = record(named, remarks)?;
    let number_in_name = names::number_behind(name, "ins_");
    let index = number_in_name.and_then(|number| i32::try_from(number).ok());
    record.task_index = index.unwrap_or_else(|| {
        remarks.add("instances without a number in their name: a hash of it");
        names::index_of(name)
    });
    if 1 < number {
        remarks.add("later tries of an instance: attempts without a SUBMIT of their own");
    }
    // A backup that lost says nothing of what became of the job, nor does a try before the last.
    let is_backup = 1 < count && record.end_reason == Some("Interrupted");
    record.turn = Some(Turn { is_first: number <= 1, is_deciding: count <= number && !is_backup });
    record.machine_id = Some(machine).filter(|name| !name.is_empty()).map(machine_id);
    (record.cpu, record.memory) = requests.of(row.raw(2), row.raw(1));
    if record.cpu.is_none() && record.life.start_us.is_some() {
        remarks.add("CPU request unknown: no CPU time is charged");
    }
    record.own[3] = Cell::Text(name);
    record.own.extend([Cell::Missing, Cell::I32(number)]);
    record.own.extend(used.map(Cell::from));
    Ok(record)
}

#[cfg(test)]
mod tests;
