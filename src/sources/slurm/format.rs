//! The format of a log: each line is an attempt of a job, a step, or a repeated header.
//!
//! In: lines, and the columns that the first line names. Out: records of attempts.

use std::path::Path;

use super::super::SourceError;
use super::super::folder::RawPart;
use super::super::records::accounted::Accounted;
use super::super::records::amounts::{float, nodes_in_lists};
use super::super::records::clock::Clock;
use super::super::records::clusters::Clusters;
use super::super::records::fields::{Fields, whole};
use super::super::records::states::{loosely_named, state_of};
use super::super::records::{
    Fault, Line, Parsed, Record, RecordFormat, RecordParser, Remarks, find_repeats, number_of_name,
    only_machine,
};
use super::super::reject::RejectReason;
use super::columns::{Col, Layout, Row};
use super::{life, values};
use crate::schema::row_id;

/// A parser for one table of a log.
pub(in crate::sources) fn parser(
    part: &RawPart,
    begin: &[u8],
) -> Result<RecordParser<Slurm>, SourceError> {
    let zone = part.reading.zone.as_ref();
    let of = |path: &Path, begin: &[u8], part| {
        let layout = Layout::of(begin).map_err(|kind| SourceError::new(path, kind))?;
        let (fields, clock) = (Fields::default(), Clock::of(zone, ASSUMED));
        Ok(Slurm { layout, fields, clock, clusters: Clusters::default(), is_begun: false, part })
    };
    let clusters = Clusters::of(part, begin, of)?;
    let format = |path: &Path, begin: &[u8], part| {
        Ok(Slurm { clusters: clusters.clone(), ..of(path, begin, part)? })
    };
    let slurm = format(&part.path, begin, part.part)?;
    let header = vec![("columns".to_owned(), slurm.layout.names.clone()), Clock::header(zone)];
    let repeats = part.reading.files.repeats(|paths| find_repeats(paths, format))?;
    Ok(RecordParser::new(slurm, part, header).beside(repeats))
}

/// Reads the rows of a log.
pub(in crate::sources) struct Slurm {
    layout: Layout,
    fields: Fields,
    clock: Clock,
    clusters: Clusters,
    is_begun: bool,
    part: u32,
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
        let elsewhere = self.clusters.number_elsewhere(row.text(Col::Cluster)?, name, remarks);
        // Lines are numbered in each file.
        let line = row_id(self.part, line.number);
        let job_id = elsewhere.map_or_else(|| job_number(&row, name, line, remarks), Ok)?;
        match record(&row, job_id, name, remarks) {
            Err(("Submit", _)) if !layout.has(Col::Submit) => {
                remarks.add("never started, and no submit time: left out");
                Ok(None)
            }
            record => record.map(Some),
        }
    }

    fn has_fleet(&self) -> bool {
        true
    }
}

/// The remark about jobs without a number.
const UNNUMBERED: &str =
    "elements of arrays and the like without a number of their own: minus a hash of the id";

/// The number of a job: Slurm's own, or a hash of its name, or the number of its line.
fn job_number(
    row: &Row<'_>,
    name: Option<&str>,
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
    let number = whole(row.raw(Col::JobIdRaw)).or_else(|| whole(name.as_bytes()));
    Ok(number.unwrap_or_else(|| {
        remarks.add(UNNUMBERED);
        number_of_name(name.as_bytes())
    }))
}

/// An attempt of a job.
fn record<'a>(
    row: &Row<'a>,
    job_id: i64,
    name: Option<&'a str>,
    remarks: &mut Remarks,
) -> Result<Record<'a>, Fault> {
    let cpus = values::cpus(row)?;
    // It is written `COMPLETED`, `CANCELLED by 1001` or as a short name.
    let word = row.raw(Col::State).split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let (mut fate, state) = state_of(loosely_named(life::STATES, word), word, "State")?;
    let times = life::life(row, &mut fate, &cpus, remarks)?;
    let end_reason = fate.end().map(|_| state);
    let has_run = times.life.start_us.is_some();
    let nodes = row.text(Col::NodeList)?.filter(|_| has_run);
    let processors = cpus.had.filter(|_| has_run);
    let cpu = processors.or(cpus.asked).or(cpus.had);
    if cpu.is_none() {
        remarks.add("processors unknown: no CPU time is charged");
    }
    let in_lists = || nodes_in_lists([row.raw(Col::AllocTres), row.raw(Col::ReqTres)], remarks);
    let node_count = row.count(Col::NNodes)?.or_else(in_lists);
    let (memory, requested_memory) = values::memory_kib(row, cpu, node_count, remarks)?;
    let (gpus, gpu_model) = values::gpus(row, node_count, remarks)?;
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
    .cells(&times);
    own.extend(values::array(name.unwrap_or_default(), remarks));
    Ok(Record {
        job_id,
        life: times.life,
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
