//! The batch jobs of Alibaba's cluster trace of 2017: `batch_task`, `batch_instance` and
//! `server_event`, CSV with or without a header.
//!
//! In: lines of 8, 12 or 7 fields between commas. Out: what [`super::records`] makes of them; what
//! they share with the trace of 2018 is in [`super::alibaba`]. The table of tasks says what instances
//! asked for and what became of the jobs. A table alone stands for the other: without instances each
//! task is one, with the CPU of all its instances. A task has one state, the latest, with the time at
//! which it came.
//!
//! ```text
//!  create                                    modify
//!    SUBMIT, SCHEDULE --------------------------- by status
//! ```
//!
//! A time before the trace counts as 0. The table of tasks does not say when a task started: its
//! instances did, each at its own time. It is taken to start when it was created, which is counted.

use super::alibaba::files::Kind;
use super::alibaba::requests::{Request, Requests};
use super::alibaba::{STATES, check_cpu, of_all};
use super::folder::RawPart;
use super::part::PartParser;
use super::records::fields::{Fields, whole};
use super::records::machines::Machines;
use super::records::row::Row;
use super::records::{Fault, Life, Line, Parsed, Record, RecordFormat, RecordParser, Remarks};
use super::reject::RejectReason;
use super::rows::Cell;
use super::{SourceError, fields};
use crate::schema::{Source, Table};
use crate::units::MICROS_PER_SECOND;

mod instances;
mod machines;

use self::instances::Instances;

/// The trace.
const SOURCE: Source = Source::Alibaba2017;

/// A parser for one table of the lake.
pub(super) fn parser(part: &RawPart, begin: &[u8]) -> Result<Box<dyn PartParser>, SourceError> {
    if part.table == Table::MachineEvents {
        let columns = Kind::Machines.field_count(SOURCE);
        return Ok(Box::new(Machines::new(part, columns, machines::listed)));
    }
    let requests = match (&part.beside, part.table) {
        (Some(path), Table::TaskEvents) => Requests::read(SOURCE, path, request)?,
        _ => Requests::default(),
    };
    let (kind, instances) = (Kind::of_jobs(SOURCE, begin), Instances::default());
    let rows = Rows { fields: Fields::default(), kind, requests, instances };
    Ok(Box::new(RecordParser::new(rows, part, Vec::new())))
}

/// What the instances of a task ask for.
fn request<'a>(row: &Row<'a>) -> Result<Request<'a>, Fault> {
    let (cpu, memory) = (cores(row)?, amount(row, 7, "plan_mem")?);
    Ok(Request { job: row.raw(2), task: row.raw(3), cpu, memory })
}

/// How the trace writes a task or an instance.
struct Rows {
    fields: Fields,
    kind: Kind,
    requests: Requests,
    instances: Instances,
}

impl RecordFormat for Rows {
    const HAS_TASKS: bool = true;

    fn record<'a>(&'a mut self, line: Line<'a>, remarks: &mut Remarks) -> Parsed<'a> {
        let fields = self.fields.split_into(self.kind.field_count(SOURCE), line.raw)?;
        let row = Row { fields, line: line.raw };
        if is_header(&row, line.number) {
            return Ok(None);
        }
        match self.kind {
            Kind::Instances => {
                instances::instance(row, &mut self.instances, &self.requests, remarks)
            }
            _ => task(row, remarks).map(Some),
        }
    }
}

/// Copies with a header are about.
fn is_header(row: &Row<'_>, number: u64) -> bool {
    number == 1 && row.raw(0).first().is_some_and(u8::is_ascii_alphabetic)
}

/// A task: all its instances together.
fn task<'a>(row: Row<'a>, remarks: &mut Remarks) -> Result<Record<'a>, Fault> {
    let time = |idx, column, remarks: &mut Remarks| match row.raw(idx) {
        b"" => Err((column, RejectReason::EmptyMandatory)),
        text => signed_time_us(text, column, remarks),
    };
    let create_us = time(0, "create_timestamp", remarks)?;
    let modify_us = time(1, "modify_timestamp", remarks)?;
    let (fate, state) = row.state(STATES, 5, "status")?;
    let (end, has_begun) = (fate.end(), fate.has_begun());
    if has_begun {
        remarks.add("no start time: started when it was created");
    }
    let instances = row.count(4, "instances")?;
    let (cpu, memory) = (cores(&row)?, amount(&row, 7, "plan_mem")?);
    let life = Life {
        submit_us: Some(create_us),
        start_us: has_begun.then_some(create_us),
        end: end.map(|end| (modify_us, end)),
    };
    check_cpu(cpu, &life, remarks);
    let end_reason = end.map(|_| state);
    let mut own =
        vec![Cell::Text(state), end_reason.into(), Cell::I32(instances), cpu.into(), memory.into()];
    own.extend([Cell::Missing; 6]);
    Ok(Record {
        job_id: row.whole(2, "job_id")?,
        task_index: row.count(3, "task_index")?,
        life,
        cpu: of_all(cpu, instances),
        memory: of_all(memory, instances),
        end_reason,
        own,
        ..Record::default()
    })
}

/// The CPU that a task asks for, of which 100 is a core.
fn cores(row: &Row<'_>) -> Result<Option<f32>, Fault> {
    Ok(amount(row, 6, "plan_cpu")?.map(|hundredths| hundredths / 100.0))
}

/// An amount, if there is one.
fn amount(row: &Row<'_>, idx: usize, column: &'static str) -> Result<Option<f32>, Fault> {
    match row.raw(idx) {
        b"" => Ok(None),
        text => fields::careful_f32(text)
            .filter(|value| 0.0 <= *value)
            .map(Some)
            .ok_or((column, RejectReason::BadValue)),
    }
}

/// A time in seconds; one before the trace is its start.
fn signed_time_us(text: &[u8], column: &'static str, remarks: &mut Remarks) -> Result<i64, Fault> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let seconds = whole(digits).ok_or((column, RejectReason::BadValue))?;
    if digits.len() < text.len() {
        remarks.add("times before the trace: at its start");
        return Ok(0);
    }
    Ok(seconds * MICROS_PER_SECOND)
}

#[cfg(test)]
mod tests;
