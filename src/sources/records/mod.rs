//! The common part of accounting logs: the events of one attempt of a task per row.
//!
//! In: lines that a [`RecordFormat`] has split into fields. Out: SUBMIT, SCHEDULE and the end of
//! each attempt in `task_events`; the same in `job_events` if a job is one task, otherwise the
//! first SUBMIT, the first SCHEDULE and the last end of its tasks. Rows of the same task are its
//! attempts, in any order; a row that repeats an attempt of its task is left out. An
//! assumption is made only if there would be no event at all, and each is counted ([`Notes`]).
//!
//! | Row | Events |
//! |---|---|
//! | starts before the submit | submitted at the start |
//! | ends before the start | no length, at the start |
//! | the same submit as the last attempt of the task so far | no second SUBMIT |
//! | the same start as the last attempt so far, which ended then | another attempt |
//! | the same start as the last attempt so far, which did not | its end, if it had none |
//! | not ended | no end event: open |
//!
//! A job of several tasks has failed if one of them has; else it was killed, lost or evicted if one
//! was, in this order. It has finished if all have, and is open while one is.
//!
//! `row_id` holds line × 4, plus 0 for SUBMIT, 1 for SCHEDULE and 2 for the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::blocks::TextBlock;
use super::folder::RawPart;
use super::names::Names;
use super::part::{HandOut, Notes, PartParser, hand_out_many};
use super::repeats::Repeats;
use super::rows::{Cell, RowBlock};
use crate::schema::{EventType, Table, row_id};

pub(super) mod accounted;
pub(super) mod amounts;
pub(super) mod clock;
pub(super) mod fields;
mod fleet;
mod history;
mod jobs;
pub(super) mod lines;
pub(super) mod machines;
pub(super) mod numbers;
pub(super) mod quotes;
mod repeats;
pub(super) mod row;
pub(super) mod snapshots;
pub(super) mod states;
pub(super) mod told;

pub(super) use self::fields::Fault;
use self::fleet::Fleet;
pub(super) use self::fleet::{machine_id, only_machine};
use self::history::{Attempts, Seen};
use self::jobs::{Ending, JobSum, WORST, rank};
pub(super) use self::lines::Line;
pub(super) use self::numbers::{hash, number_of_name};
use self::quotes::Quotes;
pub(super) use self::repeats::find_repeats;

pub(super) const SUBMIT: i32 = EventType::Submit.number();
pub(super) const SCHEDULE: i32 = EventType::Schedule.number();
pub(super) const EVICT: i32 = EventType::Evict.number();
pub(super) const FAIL: i32 = EventType::Fail.number();
pub(super) const FINISH: i32 = EventType::Finish.number();
pub(super) const KILL: i32 = EventType::Kill.number();
pub(super) const LOST: i32 = EventType::Lost.number();

/// The status of an end in the standard workload format: 1 completed, 0 failed, 5 cancelled.
pub(super) const fn status_of(event: i32) -> Option<i32> {
    match event {
        FINISH => Some(1),
        FAIL => Some(0),
        KILL => Some(5),
        _ => None,
    }
}

/// Row numbers per line.
const EVENTS_PER_LINE: u64 = 4;

/// Counts of what was assumed, by wording.
#[derive(Default)]
pub(super) struct Remarks {
    counts: BTreeMap<&'static str, u64>,
    /// What was counted for the current line by [`Remarks::add_once`].
    of_line: Vec<&'static str>,
}

impl Remarks {
    /// All of them, by their wording.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.counts.iter().map(|(&wording, &count)| (wording, count))
    }

    /// Counts one more.
    pub(super) fn add(&mut self, wording: &'static str) {
        self.add_many(wording, 1);
    }

    /// Begins another line.
    fn begin_line(&mut self) {
        self.of_line.clear();
    }

    /// Counts the current line, once for all of its fields.
    pub(super) fn add_once(&mut self, wording: &'static str) {
        if !self.of_line.contains(&wording) {
            self.of_line.push(wording);
            self.add(wording);
        }
    }

    /// Counts `count` more.
    pub(super) fn add_many(&mut self, wording: &'static str, count: u64) {
        if 0 < count {
            *self.counts.entry(wording).or_default() += count;
        }
    }
}

/// The result of reading a line: an attempt, nothing, or a fault.
pub(super) type Parsed<'a> = Result<Option<Record<'a>>, Fault>;

/// A format with one attempt per row.
pub(super) trait RecordFormat: Send {
    /// Whether a job may have several tasks, whose events are combined.
    const HAS_TASKS: bool;

    /// Splits a line into fields and makes a record of them; `None` for a line that is not an
    /// attempt, such as a header.
    fn record<'a>(&'a mut self, line: Line<'a>, remarks: &mut Remarks) -> Parsed<'a>;

    /// The separator of its fields, if those in quotes may have line ends.
    fn separator_of_quotes(&self) -> Option<u8> {
        None
    }

    /// The remark about tasks that end with an eviction.
    const EVICTED_AT_LAST: Option<&'static str> = None;

    /// Whether `machine_events` are made from its rows.
    fn has_fleet(&self) -> bool {
        false
    }
}

/// The submit, start and end of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Life {
    pub submit_us: Option<i64>,
    pub start_us: Option<i64>,
    /// The time and the number of the event.
    pub end: Option<(i64, i32)>,
}

/// The position of a row among the attempts of its task, if the row contains it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// Whether it is the first, which alone has a SUBMIT.
    pub is_first: bool,
    /// Whether it decides the outcome of the task, and so of the job.
    pub is_deciding: bool,
}

/// A row: an attempt of a task, which is task 0 of its job if the log has no tasks.
#[derive(Debug, Default)]
pub(super) struct Record<'a> {
    pub job_id: i64,
    pub task_index: i32,
    pub life: Life,
    /// Its position among the attempts of the task, for rows that are not compared with each other.
    pub turn: Option<Turn>,
    /// Whether the SUBMIT of the previous attempt is also its own.
    pub follows: bool,
    /// Whether it is known to be another attempt than those of all rows so far.
    pub is_next: bool,
    pub user: Option<&'a str>,
    pub job_name: Option<&'a str>,
    pub logical_name: Option<&'a str>,
    pub scheduling_class: Option<i32>,
    pub priority: Option<i32>,
    pub machine_id: Option<i64>,
    pub cpu: Option<f32>,
    pub memory: Option<f32>,
    /// The outcome in the words of the log.
    pub end_reason: Option<&'a str>,
    /// The machines that it ran on, as the log names them.
    pub nodes: Option<&'a str>,
    pub cluster: Option<&'a str>,
    /// The columns that only this format has.
    pub own: Vec<Cell<'a>>,
}

/// Parses the blocks of a log for one of its tables.
pub(super) struct RecordParser<F> {
    format: F,
    quotes: Quotes,
    rows: RecordRows,
}

impl<F: RecordFormat> RecordParser<F> {
    /// A parser of a part; `header` is what is known of the log as a whole.
    pub(super) fn new(format: F, part: &RawPart, header: Vec<(String, String)>) -> Self {
        let rows = RecordRows::new(part, header, F::HAS_TASKS, format.has_fleet());
        Self { quotes: Quotes::of(format.separator_of_quotes()), format, rows }
    }

    /// Reads the lines of a block or, at the end of the part, those of a record that is still open.
    fn each(&mut self, text: Option<(&TextBlock, u64)>, rows: &mut RowBlock) {
        let Self { format, quotes, rows: all } = self;
        let mut read = |line: Line<'_>, rows: &mut RowBlock| {
            line.read(rows, |line, rows| {
                if memchr::memchr(b'\n', line.raw).is_some() {
                    all.remarks.add("rows with a line end within quotes: read as one row");
                }
                all.remarks.begin_line();
                match format.record(line, &mut all.remarks)? {
                    Some(record) => all.add(&record, line.number, rows),
                    None => Ok(()),
                }
            });
        };
        match text {
            None => quotes.finish(&mut |line| read(line, rows)),
            Some((text, first_line)) => {
                rows.clear();
                for (number, raw) in text.lines(first_line) {
                    quotes.add(Line::of(number, raw), &mut |line| read(line, rows));
                    rows.line_count = number + 1 - first_line;
                }
            }
        }
        if all.are_of_machines() {
            // The events report the rejects.
            rows.rejects.clear();
        }
    }

    /// The same, with the events that several files of the log contain.
    pub(super) fn beside(mut self, repeats: Option<Arc<Repeats>>) -> Self {
        self.rows.repeats = repeats;
        self
    }
}

/// Turns the records of a part into rows of one of its tables.
pub(super) struct RecordRows {
    part: u32,
    table: Table,
    has_tasks: bool,
    has_fleet: bool,
    attempts: Attempts,
    repeats: Option<Arc<Repeats>>,
    jobs: BTreeMap<i64, JobSum>,
    /// The last end of each task, for jobs of several tasks.
    ends: BTreeMap<(i64, i32), Ending>,
    /// The reasons of ends.
    reasons: Names,
    fleet: Fleet,
    pub(super) remarks: Remarks,
    /// Remarks about the machines.
    of_machines: Remarks,
    header: Vec<(String, String)>,
}

impl RecordRows {
    /// Rows of a part; `header` is what is known of the log as a whole.
    pub(super) fn new(
        part: &RawPart,
        header: Vec<(String, String)>,
        has_tasks: bool,
        has_fleet: bool,
    ) -> Self {
        Self {
            part: part.part,
            table: part.table,
            has_tasks,
            has_fleet,
            attempts: Attempts::default(),
            repeats: None,
            jobs: BTreeMap::new(),
            ends: BTreeMap::new(),
            reasons: Names::default(),
            fleet: Fleet::default(),
            remarks: Remarks::default(),
            of_machines: Remarks::default(),
            header,
        }
    }

    /// Whether these are rows of machines.
    pub(super) fn are_of_machines(&self) -> bool {
        self.table == Table::MachineEvents
    }

    /// Checks a record.
    ///
    /// # Errors
    /// Its times do not give events.
    pub(super) fn check(record: &Record<'_>) -> Result<(), Fault> {
        Seen::of(&record.life, &mut Remarks::default()).map(drop)
    }

    /// Adds a record of line `number`.
    ///
    /// # Errors
    /// Its times do not give events.
    pub(super) fn add(
        &mut self,
        record: &Record<'_>,
        number: u64,
        rows: &mut RowBlock,
    ) -> Result<(), Fault> {
        let key = (record.job_id, record.task_index);
        let seen = Seen::of(&record.life, &mut self.remarks)?;
        let step = self.attempts.step(key, seen, record.is_next, &mut self.remarks);
        let Some((mut events, seen, before)) = step else { return Ok(()) };
        if record.follows {
            events[0] = None;
        }
        match record.turn {
            None => self.attempts.add(key, seen),
            Some(turn) if turn.is_first => {}
            Some(_) => events[0] = None,
        }
        if let Some(repeats) = &self.repeats {
            let is_told = |kind| repeats::is_told(repeats, self.part, key, (kind, seen));
            let mut is_repeated = false;
            for event in &mut events {
                let is_known = event.is_some_and(|(_, kind, _)| is_told(kind));
                event.take_if(|_| is_known);
                is_repeated |= is_known;
            }
            if is_repeated {
                self.remarks.add("records of a job that an earlier file also has: counted once");
            }
        }
        match self.table {
            Table::MachineEvents => self.fleet.add(record),
            Table::JobEvents if self.has_tasks => {
                let job = self
                    .jobs
                    .entry(record.job_id)
                    .or_insert_with(|| JobSum::of(number, record, seen));
                let reason = record.end_reason.map(|reason| self.reasons.number(reason));
                let end =
                    seen.end.map(|(end_us, kind)| Ending { end_us, rank: rank(kind), reason });
                job.add(record, (seen, end), before);
                if let (None, Some(end)) = (record.turn, end) {
                    let last = self.ends.entry(key).or_insert(end);
                    if last.end_us <= end.end_us {
                        *last = end;
                    }
                }
            }
            _ => {
                let mut cells = Vec::with_capacity(48);
                let kind_idx = fill(record, self.table, &mut cells);
                cells.extend_from_slice(&record.own);
                let number_of = |place| row_id(self.part, number * EVENTS_PER_LINE + place);
                let events = events.into_iter().flatten();
                let events = events.map(|(time_us, kind, place)| (number_of(place), time_us, kind));
                rows.push_events(kind_idx, &events, &cells);
            }
        }
        Ok(())
    }

    /// Adds the events of jobs of several tasks.
    fn put_together(&mut self, rows: &mut RowBlock, hand_out: &mut HandOut<'_>) {
        for ((id, _), end) in std::mem::take(&mut self.ends) {
            self.jobs.entry(id).and_modify(|job| job.close(end));
        }
        for (id, job) in std::mem::take(&mut self.jobs) {
            let mut cells = vec![
                Cell::Missing,
                Cell::Missing,
                Cell::I64(id),
                Cell::Missing,
                job.user.as_deref().into(),
                Cell::Missing,
                job.name.as_deref().into(),
                Cell::Missing,
            ];
            let is_open = 0 < job.open;
            cells.push(i32::try_from(job.tasks).ok().into());
            let reason = job.end_reason.filter(|_| !is_open);
            cells.push(reason.map(|reason| self.reasons.name(reason)).into());
            let end = (job.end_us, WORST[job.worst], 2);
            let events = [
                Some((job.submit_us, SUBMIT, 0)),
                job.start_us.map(|start_us| (start_us, SCHEDULE, 1)),
                Some(end).filter(|_| !is_open),
            ];
            for (time_us, kind, place) in events.into_iter().flatten() {
                cells[0] = Cell::I64(time_us);
                cells[3] = Cell::I32(kind);
                rows.push_row(row_id(self.part, job.line * EVENTS_PER_LINE + place), &cells);
            }
            hand_out_many(rows, hand_out);
        }
    }
}

impl RecordRows {
    /// Adds the rows that are complete only at the end of the part.
    pub(super) fn finish(&mut self, rows: &mut RowBlock, hand_out: &mut HandOut<'_>) {
        match self.table {
            Table::MachineEvents if self.has_fleet => {
                self.of_machines = self.fleet.push(self.part, rows, hand_out);
            }
            Table::MachineEvents => {}
            _ => self.put_together(rows, hand_out),
        }
    }

    /// The header of the log, and the assumptions that were made.
    pub(super) fn notes(&mut self) -> Notes {
        // Machines come from the same rows as the events, which report the remarks.
        let remarks = match self.table {
            Table::MachineEvents => std::mem::take(&mut self.of_machines.counts),
            _ => std::mem::take(&mut self.remarks.counts),
        };
        let is_first = self.table == Table::JobEvents;
        let header = if is_first { std::mem::take(&mut self.header) } else { Vec::new() };
        Notes { header, remarks }
    }
}

impl<F: RecordFormat> PartParser for RecordParser<F> {
    fn parse(
        &mut self,
        text: &TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        _hand_out: &mut HandOut<'_>,
    ) {
        self.each(Some((text, first_line)), rows);
    }

    fn finish(&mut self, rows: &mut RowBlock, hand_out: &mut HandOut<'_>) {
        self.each(None, rows);
        self.rows.finish(rows, hand_out);
    }

    fn notes(&mut self) -> Notes {
        if let Some(wording) = F::EVICTED_AT_LAST {
            let is_evicted = |seen: &&Seen| seen.end.is_some_and(|(_, kind)| kind == EVICT);
            let count = self.rows.attempts.last().filter(is_evicted).count();
            self.rows.remarks.add_many(wording, count as u64);
        }
        self.rows.notes()
    }
}

/// Adds the columns that every source has, and returns the position of the event's number.
fn fill<'a>(record: &Record<'a>, table: Table, cells: &mut Vec<Cell<'a>>) -> usize {
    if table == Table::JobEvents {
        cells.extend([
            Cell::Missing,
            Cell::Missing,
            Cell::I64(record.job_id),
            Cell::Missing,
            record.user.into(),
            record.scheduling_class.into(),
            record.job_name.into(),
            record.logical_name.into(),
        ]);
        return 3;
    }
    cells.extend([
        Cell::Missing,
        Cell::Missing,
        Cell::I64(record.job_id),
        Cell::I32(record.task_index),
        record.machine_id.into(),
        Cell::Missing,
        record.user.into(),
        record.scheduling_class.into(),
        record.priority.into(),
        record.cpu.into(),
        record.memory.into(),
        Cell::Missing,
        Cell::Missing,
    ]);
    5
}
