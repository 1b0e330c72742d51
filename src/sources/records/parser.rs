//! The parser of tables whose rows are jobs or tasks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fields::Fault;
use super::fleet::Fleet;
use super::history::{Attempts, RowEvent, Seen};
use super::jobs::{Ending, JobSum, WORST, rank};
use super::lines::Line;
use super::quotes::Quotes;
use super::record::Record;
use super::{EVENTS_PER_LINE, EVICT, RecordFormat, Remarks, SCHEDULE, SUBMIT, TURN_BITS, repeats};
use crate::schema::{Table, row_id};
use crate::sources::blocks::TextBlock;
use crate::sources::folder::RawPart;
use crate::sources::names::Names;
use crate::sources::part::{HandOut, Notes, PartParser, hand_out_many};
use crate::sources::repeats::Repeats;
use crate::sources::rows::{Cell, RowBlock};

/// Parses the blocks of a log for one of its tables.
pub(in crate::sources) struct RecordParser<F> {
    format: F,
    quotes: Quotes,
    rows: RecordRows,
}

impl<F: RecordFormat> RecordParser<F> {
    /// A parser of a part; `header` is what is known of the log as a whole.
    pub(in crate::sources) fn new(
        format: F,
        part: &RawPart,
        header: Vec<(String, String)>,
    ) -> Self {
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
                for idx in 0..format.whole_count(line)? {
                    all.remarks.begin_line();
                    all.more += u64::from(0 < idx);
                    let read = match format.record(line, &mut all.remarks) {
                        Ok(Some(record)) => all.add(&record, line.number + all.more, rows),
                        Ok(None) => Ok(()),
                        Err(fault) => Err(fault),
                    };
                    all.remarks.end_line(read.is_ok());
                    read?;
                }
                Ok(())
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

    /// The same parser, with the events that several files of the log contain.
    pub(in crate::sources) fn beside(mut self, repeats: Option<Arc<Repeats>>) -> Self {
        self.rows.repeats = repeats;
        self
    }
}

/// Turns the records of a part into rows of one of its tables.
pub(in crate::sources) struct RecordRows {
    pub(super) part: u32,
    table: Table,
    has_tasks: bool,
    has_fleet: bool,
    attempts: Attempts,
    /// How many more attempts than lines there were so far.
    more: u64,
    pub(super) repeats: Option<Arc<Repeats>>,
    jobs: BTreeMap<i64, JobSum>,
    /// The last end of each task, for jobs of several tasks.
    ends: BTreeMap<(i64, i32), Ending>,
    /// The reasons of ends.
    reasons: Names,
    fleet: Fleet,
    pub(in crate::sources) remarks: Remarks,
    /// Remarks about the machines.
    of_machines: Remarks,
    pub(super) header: Vec<(String, String)>,
}

impl RecordRows {
    /// Rows of a part; `header` is what is known of the log as a whole.
    pub(in crate::sources) fn new(
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
            more: 0,
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
    pub(in crate::sources) fn are_of_machines(&self) -> bool {
        self.table == Table::MachineEvents
    }

    /// Checks a record.
    ///
    /// # Errors
    /// Its times do not give events.
    pub(in crate::sources) fn check(record: &Record<'_>) -> Result<(), Fault> {
        Seen::of(&record.life, &mut Remarks::default()).map(drop)
    }

    /// Adds a record of line `number`.
    ///
    /// # Errors
    /// Its times do not give events.
    pub(in crate::sources) fn add(
        &mut self,
        record: &Record<'_>,
        number: u64,
        rows: &mut RowBlock,
    ) -> Result<(), Fault> {
        let key = (record.job_id, record.task_index);
        let seen = Seen::of(&record.life, &mut self.remarks)?;
        let step = self.attempts.step(key, seen, record.is_next, &mut self.remarks);
        let Some((mut events, seen, before)) = step else { return Ok(()) };
        // An earlier row of this file has its start.
        let is_closing = events[1].is_none() && seen.start_us.is_some();
        if record.follows {
            events[0] = None;
        }
        match record.turn {
            None => {
                if before.is_some_and(|before| before.overlaps(seen)) {
                    self.remarks.add("attempts of a task that overlap: an end ends both");
                }
                self.attempts.add(key, seen);
            }
            Some(turn) if turn.is_first => {}
            Some(_) => events[0] = None,
        }
        self.drop_repeated(key, seen, &mut events);
        if record.life.is_submit_assumed && events[0].is_some() {
            self.remarks.add(match (seen.start_us, before) {
                (None, _) => "no submit time: submitted at the end, as it never started",
                (Some(_), None) => "no submit time: submitted at the start",
                (Some(_), Some(_)) => "no submit time of a later attempt: submitted at its start",
            });
        }
        match self.table {
            Table::MachineEvents => self.fleet.add(record, is_closing),
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
                let turns = seen.turns(&events);
                let events = turns.into_iter().zip(events).filter_map(|(turn, event)| {
                    let (time_us, kind, place) = event?;
                    let line = turn << TURN_BITS | (number * EVENTS_PER_LINE + place);
                    Some((row_id(self.part, line), time_us, kind))
                });
                rows.push_events(kind_idx, &events, &cells);
            }
        }
        Ok(())
    }

    /// Drops the events that an earlier file also has.
    fn drop_repeated(&mut self, key: (i64, i32), seen: Seen, events: &mut [Option<RowEvent>; 3]) {
        let Some(repeats) = &self.repeats else { return };
        let mut is_repeated = false;
        for event in events {
            let is_known = event.is_some_and(|(_, kind, _)| {
                repeats::is_told(repeats, self.part, key, (kind, seen))
            });
            event.take_if(|_| is_known);
            is_repeated |= is_known;
        }
        if is_repeated {
            self.remarks.add("records of a job that an earlier file also has: counted once");
        }
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
    pub(in crate::sources) fn finish(&mut self, rows: &mut RowBlock, hand_out: &mut HandOut<'_>) {
        match self.table {
            Table::MachineEvents if self.has_fleet => {
                let of_log = self.repeats.as_ref().map(|repeats| repeats.peak);
                self.of_machines = self.fleet.push(self.part, of_log, rows, hand_out);
            }
            Table::MachineEvents => {}
            _ => self.put_together(rows, hand_out),
        }
    }

    /// The header of the log, and the assumptions that were made.
    pub(in crate::sources) fn notes(&mut self) -> Notes {
        // Machines come from the same rows as the events, which report the remarks.
        let remarks = match self.table {
            Table::MachineEvents => self.of_machines.take(),
            _ => self.remarks.take(),
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
            let is_evicted = |seen: &Seen| seen.end.is_some_and(|(_, kind)| kind == EVICT);
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
