//! The batch jobs of Alibaba's cluster trace of 2017: `batch_task`, `batch_instance` and
//! `server_event`, CSV with or without a header.
//!
//! In: lines of 8, 12 or 7 comma-separated fields. Out: the events that [`super::records`] makes of
//! them; [`super::alibaba`] holds what is common with the trace of 2018. The table of tasks gives
//! the requests of the instances and the outcomes of the jobs. If one of the two tables is missing,
//! the other is used for both: without instances, each task of the trace is one task, with the CPU
//! of all its instances. A task has one state, the latest, and the time of that state.
//!
//! ```text
//!  create                                    modify
//!    SUBMIT, SCHEDULE --------------------------- by status
//! ```
//!
//! A time before the trace counts as 0. The table of tasks has no start times, since each instance
//! starts at its own time: a task counts as started when it was created, with a remark.

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

/// The request of each instance of a task.
fn request<'a>(row: &Row<'a>) -> Result<Request<'a>, Fault> {
    let (cpu, memory) = (cores(row)?, amount(row, 7, "plan_mem")?);
    Ok(Request { job: row.raw(2), task: row.raw(3), cpu, memory })
}

/// Reads the rows of tasks or instances.
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

/// Some copies of the trace have a header.
fn is_header(row: &Row<'_>, number: u64) -> bool {
    number == 1 && row.raw(0).first().is_some_and(u8::is_ascii_alphabetic)
}

/// A task, with all its instances as one.
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

/// The CPU request of each instance, cores; the column has hundredths of a core.
fn cores(row: &Row<'_>) -> Result<Option<f32>, Fault> {
    Ok(amount(row, 6, "plan_cpu")?.map(|hundredths| hundredths / 100.0))
}

/// An amount; `None` if the field is empty.
fn amount(row: &Row<'_>, idx: usize, column: &'static str) -> Result<Option<f32>, Fault> {
    match row.raw(idx) {
        b"" => Ok(None),
        text => fields::careful_f32(text)
            .filter(|value| 0.0 <= *value)
            .map(Some)
            .ok_or((column, RejectReason::BadValue)),
    }
}

/// Reads seconds as µs; a time before the trace counts as its start.
fn signed_time_us(text: &[u8], column: &'static str, remarks: &mut Remarks) -> Result<i64, Fault> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let seconds = whole(digits).ok_or((column, RejectReason::BadValue))?;
    if digits.len() < text.len() {
        remarks.add("times before the trace: set to its start");
        return Ok(0);
    }
    Ok(seconds * MICROS_PER_SECOND)
}

#[cfg(test)]
mod tests;
