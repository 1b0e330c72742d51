//! Turns a row of a table into a record of a task.

use super::amounts::{amount, share, time};
use super::machines;
use super::names::{self, TaskName};
use crate::schema::{Source, Table};
use crate::sources::alibaba::files::Kind;
use crate::sources::alibaba::requests::{Request, Requests};
use crate::sources::alibaba::{self, STATES, check_cpu, count_several, of_all};
use crate::sources::folder::RawPart;
use crate::sources::part::PartParser;
use crate::sources::records::fields::Fields;
use crate::sources::records::machines::Machines;
use crate::sources::records::numbers::index_of_name;
use crate::sources::records::row::Row;
use crate::sources::records::{
    Fault, Line, Parsed, Record, RecordFormat, RecordParser, Remarks, Turn, machine_id,
    number_of_name,
};
use crate::sources::rows::Cell;
use crate::sources::{SourceError, fields};

/// The trace.
const SOURCE: Source = Source::Alibaba2018;

/// A parser for one table of the lake.
pub(in crate::sources) fn parser(
    part: &RawPart,
    begin: &[u8],
) -> Result<Box<dyn PartParser>, SourceError> {
    if part.table == Table::MachineEvents {
        let columns = Kind::Machines.field_count(SOURCE);
        return Ok(Box::new(Machines::new(part, columns, machines::listed)));
    }
    let kind = Kind::of_jobs(SOURCE, begin);
    let requests = match (&part.beside, part.table) {
        (Some(path), Table::TaskEvents) => Requests::read(SOURCE, path, request)?,
        _ => Requests::default(),
    };
    let (fields, depends_on) = (Fields::default(), String::new());
    let rows = Rows { fields, depends_on, kind, requests, are_alone: part.beside.is_none() };
    Ok(Box::new(RecordParser::new(rows, part, Vec::new())))
}

/// The request of each instance of a task.
fn request<'a>(row: &Row<'a>) -> Result<Request<'a>, Fault> {
    let remarks = &mut Remarks::default();
    let (cpu, memory) = (amount(row, 7, "plan_cpu", remarks)?, share(row, 8, "plan_mem", remarks)?);
    Ok(Request { job: row.raw(2), task: row.raw(0), cpu, memory })
}

/// Reads the rows of tasks or instances.
struct Rows {
    fields: Fields,
    /// The tasks that the task of the current line waits for.
    depends_on: String,
    kind: Kind,
    requests: Requests,
    /// Whether the other of the two tables is missing.
    are_alone: bool,
}

impl RecordFormat for Rows {
    const HAS_TASKS: bool = true;

    fn record<'a>(&'a mut self, line: Line<'a>, remarks: &mut Remarks) -> Parsed<'a> {
        let fields = self.fields.split_into(self.kind.field_count(SOURCE), line.raw)?;
        let row = Row { fields, line: line.raw };
        // Some copies of the trace have a header.
        if line.number == 1 && row.raw(4) == b"status" {
            return Ok(None);
        }
        let task_column = usize::from(self.kind == Kind::Instances);
        let task_name = row.text(task_column, "task_name")?;
        let name = TaskName::read(task_name, &mut self.depends_on);
        let row = Named { row, task_name, name, depends_on: &self.depends_on };
        match self.kind {
            Kind::Instances => instance(&row, &self.requests, remarks),
            _ => task(&row, self.are_alone, remarks).map(Some),
        }
    }
}

/// A row and the name of its task.
struct Named<'a> {
    row: Row<'a>,
    task_name: &'a str,
    name: TaskName,
    depends_on: &'a str,
}

/// The cells that both tables have; the caller adds the others.
fn record<'a>(named: &Named<'a>, remarks: &mut Remarks) -> Result<Record<'a>, Fault> {
    let row = named.row;
    let job = row.text(2, "job_name")?;
    let number = names::number_behind(job, "j_");
    if named.name == TaskName::Plain {
        remarks.add("task names without dependencies");
    }
    let (fate, state) = row.state(STATES, 4, "status")?;
    let times = (time(&row, 5, "start_time")?, time(&row, 6, "end_time")?);
    let life = alibaba::life(fate, times, remarks);
    Ok(Record {
        job_id: number.unwrap_or_else(|| number_of_name(job.as_bytes())),
        end_reason: life.end.map(|_| state),
        life,
        turn: Some(Turn { is_first: true, is_deciding: true }),
        job_name: Some(job).filter(|_| number.is_none()),
        own: vec![
            Cell::Text(state),
            life.end.map(|_| state).into(),
            Cell::Text(named.task_name),
            Cell::Missing,
            fields::careful_text(row.raw(3)).filter(|kind| !kind.is_empty()).into(),
            Some(named.depends_on).filter(|text| !text.is_empty()).into(),
        ],
        ..Record::default()
    })
}

/// A task, with all its instances as one.
fn task<'a>(
    named: &Named<'a>,
    are_alone: bool,
    remarks: &mut Remarks,
) -> Result<Record<'a>, Fault> {
    let row = named.row;
    let instances = row.count(1, "instances")?;
    let (cpu, memory) =
        (amount(&row, 7, "plan_cpu", remarks)?, share(&row, 8, "plan_mem", remarks)?);
    let mut record = record(named, remarks)?;
    if are_alone {
        remarks.add("only the latest state of a task is recorded: earlier tries are missing");
        count_several(record.life.start_us.map_or(0, |_| instances), remarks);
    }
    check_cpu(cpu, &record.life, remarks);
    record.task_index = match named.name {
        TaskName::Numbered(number) => number,
        TaskName::Plain => index_of_name(named.task_name.as_bytes()),
    };
    (record.cpu, record.memory) = (of_all(cpu, instances), of_all(memory, instances));
    record.own.push(Cell::I32(instances));
    record.own.extend([Cell::Missing; 5]);
    Ok(record)
}

/// A try of an instance; `None` if it is left out.
fn instance<'a>(
    named: &Named<'a>,
    requests: &Requests,
    remarks: &mut Remarks,
) -> Result<Option<Record<'a>>, Fault> {
    let row = named.row;
    let name = row.text(0, "instance_name")?;
    let (number, count) = (row.count(8, "seq_no")?, row.count(9, "total_seq_no")?);
    let used = [
        amount(&row, 10, "cpu_avg", remarks)?,
        amount(&row, 11, "cpu_max", remarks)?,
        share(&row, 12, "mem_avg", remarks)?,
        share(&row, 13, "mem_max", remarks)?,
    ];
    let machine = row.optional(7, "machine_id")?;
    let mut record = record(named, remarks)?;
    let number_in_name = names::number_behind(name, "ins_");
    let index = number_in_name.and_then(|number| i32::try_from(number).ok());
    record.task_index = index.unwrap_or_else(|| {
        remarks.add("instances without a number in their name: a hash of the name");
        index_of_name(name.as_bytes())
    });
    record.machine_id = machine.map(machine_id);
    (record.cpu, record.memory) = requests.of(row.raw(2), row.raw(1));
    check_cpu(record.cpu, &record.life, remarks);
    record.own[3] = Cell::Text(name);
    record.own.extend([Cell::Missing, Cell::I32(number)]);
    record.own.extend(used.map(Cell::from));
    Ok(alibaba::turn((number, count), record, remarks))
}
