//! A row of the table becomes a record of a job.

use std::path::Path;

use super::columns::{Col, Layout};
use super::row::Row;
use super::{life, values};
use crate::schema::row_id;
use crate::sources::SourceError;
use crate::sources::folder::RawPart;
use crate::sources::records::accounted::Accounted;
use crate::sources::records::amounts::float;
use crate::sources::records::clock::Clock;
use crate::sources::records::fields::{Fields, whole};
use crate::sources::records::states::{Fate, loosely_named, state_of};
use crate::sources::records::{
    Fault, Line, Parsed, Record, RecordFormat, RecordParser, Remarks, find_repeats, number_of_name,
    only_machine,
};
use crate::sources::reject::RejectReason;
use crate::sources::zone::Zone;

/// A parser for one table of a log.
pub(in crate::sources) fn parser(
    part: &RawPart,
    begin: &[u8],
) -> Result<RecordParser<Slurm>, SourceError> {
    let zone = part.reading.zone.as_ref();
    let format = |path: &Path, begin: &[u8], part| Slurm::of(path, begin, part, zone);
    let slurm = format(&part.path, begin, part.part)?;
    let header = vec![("columns".to_owned(), slurm.layout.names.clone()), Clock::told(zone)];
    let repeats = part.reading.files.repeats(|paths| find_repeats(paths, format))?;
    Ok(RecordParser::new(slurm, part, header).beside(repeats))
}

/// Reads the rows of a log.
pub(in crate::sources) struct Slurm {
    layout: Layout,
    fields: Fields,
    clock: Clock,
    /// The cluster of the first row.
    cluster: Option<Box<str>>,
    is_begun: bool,
    part: u32,
}

impl Slurm {
    /// The format of a file, from its first line.
    fn of(path: &Path, begin: &[u8], part: u32, zone: Option<&Zone>) -> Result<Self, SourceError> {
        let layout = Layout::of(begin).map_err(|kind| SourceError::new(path, kind))?;
        let (fields, clock) = (Fields::default(), Clock::of(zone, ASSUMED));
        Ok(Self { layout, fields, clock, cluster: None, is_begun: false, part })
    }
}

/// The remark about times without a zone.
const ASSUMED: &str = "times without a zone: taken as UTC (`--timezone` says otherwise)";

impl RecordFormat for Slurm {
    const HAS_TASKS: bool = false;
    const EVICTED_AT_LAST: Option<&'static str> = Some(
        "preempted or requeued, and no later record of the job in its file (see `--duplicates`)",
    );

    fn record<'a>(&'a mut self, line: Line<'a>, remarks: &mut Remarks) -> Parsed<'a> {
        if self.layout.lines.is_header(line.raw) {
            if std::mem::replace(&mut self.is_begun, true) {
                remarks.add("lines that repeat the header: left out");
            }
            return Ok(None);
        }
        self.is_begun = true;
        self.layout.lines.split(line.raw, &mut self.fields)?;
        let (layout, fields, clock) = (&self.layout, &self.fields, &self.clock);
        let row = Row { layout, fields, line: line.raw, clock };
        let name = row.text(Col::JobId)?.or(row.text(Col::JobIdRaw)?);
        if name.is_some_and(|name| name.contains('.')) {
            remarks.add("steps of jobs: left out");
            return Ok(None);
        }
        let cluster = row.text(Col::Cluster)?;
        if let Some(cluster) = cluster.filter(|_| self.cluster.is_none()) {
            self.cluster = Some(cluster.into());
        }
        let is_foreign = cluster.is_some_and(|cluster| self.cluster.as_deref() != Some(cluster));
        if is_foreign {
            remarks.add("jobs of another cluster: identified by cluster and job id");
        }
        // Lines are numbered in each file.
        let line = row_id(self.part, line.number);
        let job_id = job_number(&row, name, cluster.filter(|_| is_foreign), line, remarks)?;
        record(&row, job_id, name, remarks).map(Some)
    }

    fn has_fleet(&self) -> bool {
        true
    }
}

/// The number of a job: Slurm's own, or a hash of its name, or the number of its line.
fn job_number(
    row: &Row<'_>,
    name: Option<&str>,
    cluster: Option<&str>,
    line: i64,
    remarks: &mut Remarks,
) -> Result<i64, Fault> {
    let Some(name) = name else {
        if row.layout.has(Col::JobId) || row.layout.has(Col::JobIdRaw) {
            return Err(("job_id", RejectReason::EmptyMandatory));
        }
        remarks.add("no job id: the number of the line");
        return Ok(line);
    };
    if let Some(cluster) = cluster {
        return Ok(number_of_name(format!("{cluster}/{name}").as_bytes()));
    }
    let number = whole(row.raw(Col::JobIdRaw)).or_else(|| whole(name.as_bytes()));
    Ok(number.unwrap_or_else(|| {
        remarks.add(
            "elements of arrays and the like without a number of their own: minus a hash of the id",
        );
        number_of_name(name.as_bytes())
    }))
}

/// The meaning of a state, and its name; it is written `COMPLETED`, `CANCELLED by 1001` or as a
/// short name.
pub(super) fn state(row: &Row<'_>) -> Result<(Fate, &'static str), Fault> {
    let word = row.raw(Col::State).split(u8::is_ascii_whitespace).next().unwrap_or_default();
    state_of(loosely_named(life::STATES, word), word, "State")
}

/// An attempt of a job.
fn record<'a>(
    row: &Row<'a>,
    job_id: i64,
    name: Option<&'a str>,
    remarks: &mut Remarks,
) -> Result<Record<'a>, Fault> {
    let cpus = values::cpus(row)?;
    let (mut fate, state) = state(row)?;
    let told = life::life(row, &mut fate, &cpus, remarks)?;
    let end_reason = fate.end().map(|_| state);
    let has_run = told.life.start_us.is_some();
    let nodes = row.text(Col::NodeList)?.filter(|_| has_run);
    let processors = cpus.had.filter(|_| has_run);
    let cpu = processors.or(cpus.asked).or(cpus.had);
    if cpu.is_none() {
        remarks.add("processors unknown: no CPU time is charged");
    }
    let node_count = row.count(Col::NNodes)?;
    let (memory, requested_memory) = values::memory_kib(row, cpu, node_count, remarks)?;
    let (gpus, gpu_model) = values::gpus(row, remarks)?;
    let array = values::array(name.unwrap_or_default(), remarks);
    let mut own = Accounted {
        account: row.text(Col::Account)?,
        group: row.text(Col::Group)?,
        title: row.text(Col::JobName)?,
        queue: row.text(Col::Partition)?,
        qos: row.text(Col::Qos)?,
        cluster: row.text(Col::Cluster)?,
        state: row.text(Col::State)?,
        end_reason,
        exit_code: row.text(Col::ExitCode)?,
        node_count,
        nodes: row.text(Col::NodeList)?,
        processors,
        requested_processors: cpus.asked,
        limit_us: values::limit_us(row)?,
        cpu_time_us: values::cpu_time_us(row, cpu.filter(|_| has_run), remarks)?,
        used_memory: None,
        requested_memory,
        gpus,
        gpu_model,
    }
    .cells(&told);
    own.extend(array);
    Ok(Record {
        job_id,
        life: told.life,
        user: row.text(Col::User)?,
        job_name: name.filter(|name| whole(name.as_bytes()) != Some(job_id)),
        logical_name: row.text(Col::JobName)?,
        machine_id: nodes.and_then(|nodes| only_machine(nodes, remarks)),
        cpu: cpu.map(float),
        memory,
        end_reason,
        nodes,
        cluster: row.text(Col::Cluster)?,
        own,
        ..Record::default()
    })
}
