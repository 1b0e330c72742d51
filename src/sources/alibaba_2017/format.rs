//! Turns a row of a table into a record of a task.

use super::amounts::{amount, cores, is_header, signed_time_us};
use super::instances::{self, Instances};
use super::machines;
use crate::schema::{STARTS, Source, Table};
use crate::sources::SourceError;
use crate::sources::alibaba::files::Kind;
use crate::sources::alibaba::requests::{Request, Requests};
use crate::sources::alibaba::{STATES, check_cpu, count_several, of_all};
use crate::sources::folder::RawPart;
use crate::sources::part::PartParser;
use crate::sources::records::fields::Fields;
use crate::sources::records::machines::Machines;
use crate::sources::records::row::Row;
use crate::sources::records::{
    Fault, Life, Line, Parsed, Record, RecordFormat, RecordParser, Remarks,
};
use crate::sources::reject::RejectReason;
use crate::sources::rows::Cell;

/// The trace.
const SOURCE: Source = Source::Alibaba2017;

/// A parser for one table of the lake.
pub(in crate::sources) fn parser(
    part: &RawPart,
    begin: &[u8],
) -> Result<Box<dyn PartParser>, SourceError> {
    if part.table == Table::MachineEvents {
        let columns = Kind::Machines.field_count(SOURCE);
        return Ok(Box::new(Machines::new(part, columns, machines::listed)));
    }
    let requests = match (&part.beside, part.table) {
        (Some(path), Table::TaskEvents) => Requests::read(SOURCE, path, request)?,
        _ => Requests::default(),
    };
    let (kind, instances) = (Kind::of_jobs(SOURCE, begin), Instances::default());
    let are_alone = part.beside.is_none();
    let rows = Rows { fields: Fields::default(), kind, requests, instances, are_alone };
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
    /// Whether the other of the two tables is missing.
    are_alone: bool,
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
            _ => task(row, self.are_alone, remarks).map(Some),
        }
    }
}

/// A task, with all its instances as one.
fn task<'a>(row: Row<'a>, are_alone: bool, remarks: &mut Remarks) -> Result<Record<'a>, Fault> {
    let time = |idx, column, remarks: &mut Remarks| match row.raw(idx) {
        b"" => Err((column, RejectReason::EmptyMandatory)),
        text => signed_time_us(text, column, remarks),
    };
    let create_us = time(0, "create_timestamp", remarks)?;
    let modify_us = time(1, "modify_timestamp", remarks)?;
    let (fate, state) = row.state(STATES, 5, "status")?;
    let (end, has_begun) = (fate.end(), fate.has_begun());
    if has_begun {
        remarks.add(STARTS);
    }
    let instances = row.count(4, "instances")?;
    if are_alone && has_begun {
        count_several(instances, remarks);
    }
    let (cpu, memory) = (cores(&row)?, amount(&row, 7, "plan_mem")?);
    let life =
        Life::of(Some(create_us), has_begun.then_some(create_us), end.map(|end| (modify_us, end)));
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
