//! Turns a row of the table into a record of a job.

use std::path::Path;
use std::sync::Arc;

use super::table::TableRows;
use crate::notation::Mistake;
use crate::schema::row_id;
use crate::sources::folder::RawPart;
use crate::sources::map::{Field, Form, Map, MappedColumn};
use crate::sources::records::accounted::Accounted;
use crate::sources::records::amounts::{mean_us, narrow};
use crate::sources::records::clock::{Clock, times};
use crate::sources::records::clusters::Clusters;
use crate::sources::records::fields::span_us;
use crate::sources::records::patterns::{amount, scaled};
use crate::sources::records::states::{Fate, reason_in};
use crate::sources::records::times::{AttemptTimes, Times};
use crate::sources::records::{
    FINISH, Fault, Line, Parsed, Record, RecordFormat, RecordParser, Remarks, find_repeats,
    number_of_name, only_machine,
};
use crate::sources::reject::RejectReason;
use crate::sources::zone::{Instant, Stamp, Zone};
use crate::sources::{SourceError, SourceErrorKind, fields};

/// The remark about times without a zone.
const ASSUMED: &str = "times without a zone: taken as UTC (`timezone` in the map says otherwise)";

/// A parser for one table of a mapped log.
pub(in crate::sources) fn parser(
    part: &RawPart,
    begin: &[u8],
) -> Result<RecordParser<Mapped>, SourceError> {
    let Some(map) = &part.reading.map else {
        return Err(SourceError::new(&part.path, SourceErrorKind::NoMap));
    };
    let zone = part.reading.zone.as_ref().or(map.zone.as_ref());
    let of = |path: &Path, begin: &[u8], part| {
        Mapped::of(begin, part, map, zone)
            .map_err(|mistake| SourceError::new(path, SourceErrorKind::Map(Box::new(mistake))))
    };
    let clusters = Clusters::of(part, begin, of)?;
    let format = |path: &Path, begin: &[u8], part| {
        Ok(Mapped { clusters: clusters.clone(), ..of(path, begin, part)? })
    };
    let header = vec![("map".to_owned(), map.text().to_owned()), Clock::header(zone)];
    let mapped = format(&part.path, begin, part.part)?;
    let repeats = part.reading.files.repeats(|paths| find_repeats(paths, format))?;
    Ok(RecordParser::new(mapped, part, header).beside(repeats))
}

/// Reads the rows of a mapped table.
pub(in crate::sources) struct Mapped {
    map: Arc<Map>,
    /// The position of each field among the columns of the map.
    places: [Option<usize>; Field::ALL.len()],
    pub(super) rows: TableRows,
    clock: Clock,
    clusters: Clusters,
    part: u32,
}

impl Mapped {
    /// The format of a file that starts with `begin`.
    ///
    /// # Errors
    /// The map does not fit the table.
    pub(in crate::sources) fn of(
        begin: &[u8],
        part: u32,
        map: &Arc<Map>,
        zone: Option<&Zone>,
    ) -> Result<Self, Mistake> {
        let (rows, clock) = (TableRows::of(map, begin)?, Clock::of(zone, ASSUMED));
        let mut places = [None; Field::ALL.len()];
        for (idx, column) in map.columns.iter().enumerate() {
            places[column.field as usize].get_or_insert(idx);
        }
        let clusters = Clusters::default();
        Ok(Self { map: Arc::clone(map), places, rows, clock, clusters, part })
    }
}

impl RecordFormat for Mapped {
    const HAS_TASKS: bool = false;

    fn attempt_count(&mut self, line: &[u8]) -> usize {
        self.rows.begin(&self.map, line)
    }

    fn record<'a>(&'a mut self, line: Line<'a>, remarks: &mut Remarks) -> Parsed<'a> {
        if !self.rows.read(&self.map, line.raw)? {
            return Ok(None);
        }
        if self.rows.has_line_end {
            remarks.add("rows with line ends in their texts: read as spaces");
        }
        let (map, places) = (&self.map, &self.places);
        let row = Row { map, places, rows: &self.rows, clock: &self.clock };
        record(&row, &self.clusters, row_id(self.part, line.number), remarks)
    }

    fn separator_of_quotes(&self) -> Option<u8> {
        self.rows.separator()
    }

    fn has_fleet(&self) -> bool {
        true
    }
}

/// A row whose cells have been read.
struct Row<'a> {
    map: &'a Map,
    places: &'a [Option<usize>],
    rows: &'a TableRows,
    clock: &'a Clock,
}

impl<'a> Row<'a> {
    /// The text of a column and its form; `None` if it is missing.
    fn cell(&self, field: Field) -> Option<(&'a [u8], &'a Form)> {
        let idx = self.places[field as usize]?;
        Some((self.rows.cell(idx)?, &self.map.columns[idx].form))
    }

    /// Whether a column is of the attempt and not of its job.
    fn is_of_attempt(&self, field: Field) -> bool {
        let column = self.places[field as usize].map(|idx| &self.map.columns[idx]);
        column.is_some_and(MappedColumn::is_of_attempt)
    }

    fn text(&self, field: Field) -> Result<Option<&'a str>, Fault> {
        let Some((raw, _)) = self.cell(field) else { return Ok(None) };
        fields::careful_text(raw).map(Some).ok_or((field.name(), RejectReason::BadValue))
    }

    /// An amount in cores, KiB or GPUs.
    fn amount(&self, field: Field) -> Result<Option<f64>, Fault> {
        let Some((raw, Form::Number(unit))) = self.cell(field) else { return Ok(None) };
        let amount = amount(raw, self.map.is_comma);
        amount.map(|amount| Some(amount * unit)).ok_or((field.name(), RejectReason::BadValue))
    }

    fn count(&self, field: Field) -> Result<Option<i32>, Fault> {
        let Some((raw, _)) = self.cell(field) else { return Ok(None) };
        let whole = scaled(raw, 1, self.map.is_comma);
        let count = whole.and_then(|count| i32::try_from(count).ok());
        count.map(Some).ok_or((field.name(), RejectReason::BadValue))
    }

    /// A length of time, µs.
    fn span(&self, field: Field) -> Result<Option<i64>, Fault> {
        let Some((raw, form)) = self.cell(field) else { return Ok(None) };
        let span = match form {
            Form::Clock => span_us(raw),
            Form::Number(unit) => scaled(raw, whole(*unit), self.map.is_comma),
            _ => None,
        };
        match span {
            Some(span) if span < 0 => Err((field.name(), RejectReason::NegativeTime)),
            Some(span) => Ok(Some(span)),
            None => Err((field.name(), RejectReason::BadValue)),
        }
    }

    /// The instant of a time, which may be ambiguous, µs since 1970.
    fn instant(&self, field: Field, remarks: &mut Remarks) -> Result<Option<Instant>, Fault> {
        let Some((raw, form)) = self.cell(field) else { return Ok(None) };
        let stamp = stamp_of(raw, form, self.map.is_comma);
        let stamp = stamp.ok_or((field.name(), RejectReason::BadValue))?;
        Ok(Some(self.clock.instant(stamp, remarks)))
    }

    /// The meaning of its state. The state of a job is that of its last attempt; if the map skips
    /// it, all attempts are skipped.
    fn fate(&self, remarks: &mut Remarks) -> Result<Option<Fate>, Fault> {
        let known = match self.text(Field::State)? {
            Some(state) => {
                Some(self.map.fate(state).ok_or(("state", RejectReason::UnknownEventType))?)
            }
            None => None,
        };
        let is_unknown = known.is_none() || !self.is_of_attempt(Field::State);
        let earlier = self.map.before_last.filter(|_| is_unknown && !self.rows.place().1);
        let earlier = earlier.filter(|_| known != Some(Fate::Skip));
        if earlier.is_some() {
            let said =
                "attempts before the last of their job: ended as `before_last` in the map says";
            remarks.add(said);
        }
        Ok(earlier.or(known))
    }

    /// Whether a value of the job also applies to this attempt.
    fn is_of_this(&self, field: Field) -> bool {
        self.is_of_attempt(field) || self.rows.place() == (0, true)
    }
}

/// Reads a time in the form of its column.
pub(in crate::sources) fn stamp_of(raw: &[u8], form: &Form, is_comma: bool) -> Option<Stamp> {
    match form {
        Form::Number(unit) => scaled(raw, whole(*unit), is_comma).map(Stamp::Utc),
        Form::Pattern(pattern) => pattern.stamp(raw),
        _ => Stamp::iso(raw),
    }
}

/// A unit of time as whole microseconds.
pub(in crate::sources) fn whole(unit: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "units are whole and below 2^53")]
    let unit = unit as i64;
    unit
}

/// The times of a row; missing ones are derived.
fn times_of(
    row: &Row<'_>,
    fate: Option<Fate>,
    remarks: &mut Remarks,
) -> Result<AttemptTimes, Fault> {
    // The wait and the submission of a job are those of its first attempt: later attempts are
    // submitted when they start. The running time of a job is that of all its attempts.
    let is_first = row.rows.place().0 == 0;
    let of_first = |field: Field| is_first || row.is_of_attempt(field);
    let run_us = row.span(Field::Run)?.filter(|_| row.is_of_this(Field::Run));
    let wait_us = row.span(Field::Wait)?.filter(|_| of_first(Field::Wait));
    let submit = row.instant(Field::Submit, remarks)?.filter(|_| of_first(Field::Submit));
    let (start, end) = (row.instant(Field::Start, remarks)?, row.instant(Field::End, remarks)?);
    let (start_us, end_us) = times(start, end, run_us, submit, remarks);
    let submit_us = submit.map(Instant::first);
    let mut all = Times { submit_us, start_us, end_us, run_us, wait_us, ..Times::default() };
    let never_ran = row.places[Field::Start as usize].is_some() && all.never_ran(fate, remarks);
    let may_begin = fate.is_none_or(Fate::has_begun) && !never_ran;
    let may_end = fate.is_none_or(|fate| fate.end().is_some());
    let derives = end_us.is_some() && run_us.is_some();
    let waited_until = submit_us.zip(wait_us).and_then(|(submit, wait)| submit.checked_add(wait));
    if let (None, Some(start)) = (start_us, waited_until)
        && !derives
        // An attempt that waited until its end may never have started.
        && may_begin
        && (run_us.is_some() || fate == Some(Fate::Running) || end_us.is_some_and(|end| start < end))
    {
        remarks.add("no start time: submit and wait");
        all.start_us = Some(start);
    }
    all.fill((may_begin, may_end), remarks);
    all.start_us = all.start_us.filter(|_| may_begin);
    if may_end {
        all.lengthen(remarks);
    }
    let column = |field: Field| row.places[field as usize].map(|idx| &row.map.columns[idx].name);
    all.forget_submit(column(Field::Submit) == column(Field::Start));
    // If an attempt never started, its wait is not known to have lasted until its end.
    all.wait_us = wait_us.filter(|_| all.start_us.is_some());
    all.submit(remarks);
    all.wait_us = wait_us;
    if all.submit_us.is_none() {
        return Err((Field::Submit.name(), RejectReason::EmptyMandatory));
    }
    all.end_us = all.end_us.filter(|_| may_end);
    let (is_ended, has_end) = (matches!(fate, Some(Fate::Ended(_))), all.end_us.is_some());
    let finished = u64::from(fate.is_none() && has_end);
    remarks.add_many("no state: taken as finished, as it ended", finished);
    remarks.add_many("ended, but no end time: left open", u64::from(is_ended && !has_end));
    Ok(all.of_attempt(fate.map_or(Some(FINISH), Fate::end), remarks))
}

/// An attempt of a job; `None` for a state that the map skips.
fn record<'a>(
    row: &Row<'a>,
    clusters: &Clusters,
    line: i64,
    remarks: &mut Remarks,
) -> Result<Option<Record<'a>>, Fault> {
    let fate = row.fate(remarks)?;
    if fate == Some(Fate::Skip) {
        remarks.add("rows with a state that the map skips: left out");
        return Ok(None);
    }
    let name = row.text(Field::Job)?;
    let elsewhere = clusters.number_elsewhere(row.text(Field::Cluster)?, name, remarks);
    let job_id = match name {
        Some(name) => elsewhere.unwrap_or_else(|| job_number(name)),
        None if row.places[Field::Job as usize].is_some() => {
            return Err(("job", RejectReason::EmptyMandatory));
        }
        None => {
            remarks.add("no job: the number of the line");
            line
        }
    };
    let times = times_of(row, fate, remarks)?;
    let cpus = row.amount(Field::Cpus)?.map(narrow).filter(|&cpus| 0.0 < cpus);
    remarks.add_many("CPUs unknown: no CPU time is charged", u64::from(cpus.is_none()));
    let nodes = row.text(Field::Machines)?.filter(|_| times.life.start_us.is_some());
    Ok(Some(Record {
        job_id,
        life: times.life,
        user: row.text(Field::User)?,
        job_name: name.filter(|name| job_id < 0 || *name != job_id.to_string()),
        logical_name: row.text(Field::Name)?,
        priority: row.count(Field::Priority)?,
        machine_id: nodes.and_then(|nodes| only_machine(nodes, remarks)),
        cpu: cpus,
        memory: row.amount(Field::Memory)?.map(narrow),
        nodes,
        cluster: row.text(Field::Cluster)?,
        own: accounted(row, &times, cpus, remarks)?.cells(&times),
        ..Record::default()
    }))
}

/// The columns of a row besides its times. Means are per CPU. The CPUs may be a fraction; only a
/// whole number is stored as the number of processors.
fn accounted<'a>(
    row: &Row<'a>,
    times: &AttemptTimes,
    cpus: Option<f32>,
    remarks: &mut Remarks,
) -> Result<Accounted<'a>, Fault> {
    let has_run = times.life.start_us.is_some();
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and below 2^31")]
    let processors = cpus
        .filter(|cpus| cpus.fract() == 0.0 && f64::from(*cpus) < f64::from(i32::MAX))
        .map(|cpus| cpus as i32);
    let each =
        |total: Option<f64>| total.zip(cpus).map(|(total, cpus)| narrow(total / f64::from(cpus)));
    let cpu_time = row.span(Field::CpuTime)?.filter(|_| row.is_of_this(Field::CpuTime)).zip(cpus);
    let cpu_time_us = cpu_time.and_then(|(total_us, cpus)| mean_us(total_us, cpus));
    if cpu_time.is_some() && cpu_time_us.is_none() {
        remarks.add("CPU time too large for so small a part of a CPU: taken as unknown");
    }
    // The end of a job does not describe its earlier attempts.
    let is_own = |field: Field| row.rows.place().1 || row.is_of_attempt(field);
    let state = row.text(Field::State)?.filter(|_| is_own(Field::State));
    Ok(Accounted {
        account: row.text(Field::Account)?,
        group: row.text(Field::Group)?,
        title: row.text(Field::Name)?,
        queue: row.text(Field::Queue)?,
        qos: row.text(Field::Qos)?,
        cluster: row.text(Field::Cluster)?,
        state,
        end_reason: state
            .filter(|_| times.life.end.is_some())
            .map(|state| row.map.entry(state).map_or(state, |(known, _)| reason_in(known, state))),
        exit_code: row.text(Field::ExitCode)?.filter(|_| is_own(Field::ExitCode)),
        node_count: row.count(Field::Nodes)?,
        nodes: row.text(Field::Machines)?.filter(|_| has_run),
        processors: processors.filter(|_| has_run),
        requested_processors: processors,
        limit_us: row.span(Field::TimeLimit)?,
        cpu_time_us,
        used_memory: each(row.amount(Field::UsedMemory)?),
        requested_memory: each(row.amount(Field::Memory)?),
        gpus: row.amount(Field::Gpus)?.map(narrow),
        gpu_model: row.text(Field::GpuModel)?,
    })
}

/// The number of a job: its name if that is a plain number, else a hash of it.
fn job_number(name: &str) -> i64 {
    let is_plain = name.len() <= 18
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_digit())
        && (name == "0" || !name.starts_with('0'));
    if is_plain && let Ok(number) = name.parse() {
        return number;
    }
    number_of_name(name.as_bytes())
}
