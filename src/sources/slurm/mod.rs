//! Slurm: what `sacct` prints, one line per attempt of a job.
//!
//! In: lines of fields between `|` (or tab, comma, semicolon), with a header that names the
//! columns, or the 26 fields of Open `XDMoD` without one. Out: the events that [`super::records`]
//! makes of attempts. Lines of the same job id (`--duplicates`) are attempts of one task. An
//! element of an array is a separate job, and so is a component of a heterogeneous job, as in
//! Slurm. Steps are left out and counted.
//!
//! ```text
//!  Submit             Start                              End
//!    SUBMIT ............ SCHEDULE ------------------------ by State
//! ```
//!
//! | State | End |
//! |---|---|
//! | COMPLETED | FINISH |
//! | FAILED, `OUT_OF_MEMORY`, TIMEOUT, DEADLINE, `LAUNCH_FAILED`, `SPECIAL_EXIT` | FAIL |
//! | CANCELLED, REVOKED | KILL |
//! | PREEMPTED, REQUEUED | EVICT |
//! | `NODE_FAIL`, `BOOT_FAIL` | LOST |
//! | RUNNING, PENDING, SUSPENDED, ... | none: open |
//!
//! | Missing | Derived value |
//! |---|---|
//! | `Submit` | `Eligible`; else `Start` minus the wait; else `Start` |
//! | the wait | `Planned`, `Reserved`; or of `ResvCPURAW`, `PlannedCPURAW`, `ResvCPU`, `PlannedCPU` / the CPUs |
//! | `Start` | `End` minus the run time; without `End`, `Eligible` or else `Submit` plus the wait |
//! | `End` of a job that never started | when it became eligible plus the wait; else `Submit` |
//! | `End`, or one before `Start` plus the run time | `Start` plus the run time |
//! | the run time | `ElapsedRaw`, `Elapsed`; or `CPUTimeRAW` or `CPUTime` / the CPUs |
//! | the number of nodes | that of `AllocTRES`, else of `ReqTRES` |
//! | a plain job id | minus a hash of `JobID` |
//! | any job id | the number of the line plus part × 2^40 |
//!
//! Derived values are counted as remarks. Times are ISO 8601 or seconds since 1970; without a zone
//! they are in the zone of `--timezone`, by default UTC.

use std::path::Path;

use super::folder::RawPart;
use super::records::accounted::Accounted;
use super::records::amounts::{float, nodes_in_lists, tally};
use super::records::clock::{Clock, first};
use super::records::clusters::Clusters;
use super::records::fields::{Fields, span_us, whole};
use super::records::states::{loosely_named, state_of};
use super::records::{
    Fault, Line, Parsed, Record, RecordFormat, RecordParser, Remarks, find_repeats, number_of_name,
    only_machine,
};
use super::reject::RejectReason;
use super::zone::{Instant, Stamp, Zone};
use super::{SourceError, fields};
use crate::schema::row_id;
use crate::units::MICROS_PER_SECOND;

mod columns;
mod life;
mod values;

pub(super) use self::columns::seen_as;
use self::columns::{Col, Layout};

/// A parser for one table of a log.
pub(super) fn parser(part: &RawPart, begin: &[u8]) -> Result<RecordParser<Slurm>, SourceError> {
    let zone = part.reading.zone.as_ref();
    let of = |path: &Path, begin: &[u8], part| Slurm::of(path, begin, part, zone);
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
pub(super) struct Slurm {
    layout: Layout,
    fields: Fields,
    clock: Clock,
    clusters: Clusters,
    is_begun: bool,
    part: u32,
}

impl Slurm {
    /// The format of a file, from its first line.
    fn of(path: &Path, begin: &[u8], part: u32, zone: Option<&Zone>) -> Result<Self, SourceError> {
        let layout = Layout::of(begin).map_err(|kind| SourceError::new(path, kind))?;
        let (fields, clock) = (Fields::default(), Clock::of(zone, ASSUMED));
        Ok(Self { layout, fields, clock, clusters: Clusters::default(), is_begun: false, part })
    }
}

/// The remark about times without a zone.
const ASSUMED: &str = "times without a zone: taken as UTC (`--timezone` says otherwise)";

/// A line that was split into fields.
struct Row<'a> {
    layout: &'a Layout,
    fields: &'a Fields,
    line: &'a [u8],
    clock: &'a Clock,
}

impl<'a> Row<'a> {
    /// The field of a column; empty if it is missing.
    fn raw(&self, column: Col) -> &'a [u8] {
        self.layout.places[column as usize].map_or(&[][..], |idx| self.fields.get(self.line, idx))
    }

    /// A text; words such as `Unknown` are missing.
    fn text(&self, column: Col) -> Result<Option<&'a str>, Fault> {
        match fields::careful_text(self.raw(column)) {
            None => Err((column.name(), RejectReason::BadValue)),
            Some("" | "Unknown" | "None" | "None assigned" | "(null)" | "N/A") => Ok(None),
            Some(text) => Ok(Some(text)),
        }
    }

    /// A time, µs since 1970; the first if the clock showed it twice.
    fn time(&self, column: Col, remarks: &mut Remarks) -> Result<Option<i64>, Fault> {
        Ok(self.instant(column, remarks)?.map(|instant| first(instant, remarks)))
    }

    /// The instant of a time, which may be ambiguous, µs since 1970. The zero of a clock stands for
    /// an unknown time.
    fn instant(&self, column: Col, remarks: &mut Remarks) -> Result<Option<Instant>, Fault> {
        let raw = self.raw(column);
        if matches!(raw, b"" | b"Unknown" | b"None" | b"N/A" | b"0" | b"NONE") {
            return Ok(None);
        }
        if let Some(seconds) = whole(raw) {
            return Ok(Some(Instant::Once(seconds * MICROS_PER_SECOND)));
        }
        let stamp = Stamp::iso(raw).ok_or((column.name(), RejectReason::BadValue))?;
        let instant = self.clock.instant(stamp, remarks);
        if instant.first() == 0 || stamp == Stamp::Local(0) {
            remarks.add_once("1970-01-01T00:00:00: taken as an unknown time");
            return Ok(None);
        }
        Ok(Some(instant))
    }

    /// A length of time, µs.
    fn span(&self, column: Col) -> Result<Option<i64>, Fault> {
        match self.raw(column) {
            b"" | b"Unknown" | b"INVALID" => Ok(None),
            raw => span_us(raw).map(Some).ok_or((column.name(), RejectReason::BadValue)),
        }
    }

    /// A count; 0 is missing.
    fn count(&self, column: Col) -> Result<Option<i32>, Fault> {
        let raw = self.raw(column);
        if matches!(raw, b"" | b"Unknown" | b"N/A") {
            return Ok(None);
        }
        let count = tally(raw).and_then(|count| i32::try_from(count).ok());
        let count = count.ok_or((column.name(), RejectReason::BadValue))?;
        Ok(Some(count).filter(|&count| 0 < count))
    }
}

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
        let job_id = match elsewhere {
            Some(number) => number,
            None => job_number(&row, name, line, remarks)?,
        };
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
        remarks.add(
            "elements of arrays and the like without a number of their own: minus a hash of the id",
        );
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
    .cells(&times);
    own.extend(array);
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

#[cfg(test)]
mod tests;
