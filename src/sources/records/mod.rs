//! What tables of an accounting log share: one row per attempt of a task, made into its events.
//!
//! In: lines whose fields a [`RecordFormat`] has separated. Out: SUBMIT, SCHEDULE and the end of
//! each attempt in `task_events`; the same in `job_events` where a job is one task, and otherwise
//! the first SUBMIT, the first SCHEDULE and the last end of its tasks. Rows of the same task are
//! its attempts, in any order; a row that repeats the last attempt of its task is left out. What a row leaves open
//! is assumed only where there would be no event at all, and each assumption is counted
//! ([`Notes`]).
//!
//! | What the row says | What is made of it |
//! |---|---|
//! | starts before the submit | submitted at the start |
//! | ends before the start | without length, at its start |
//! | the same submit as an earlier row of the task | no second SUBMIT |
//! | the same start as an earlier row of the task | the same attempt: its end, if it had none |
//! | not ended | no end event: open |
//!
//! A job of several tasks has failed if one of them has; else it was killed, lost or evicted if one
//! was; it has finished if all have, and is open while one is.
//!
//! `row_id` holds line × 4, plus 0 for SUBMIT, 1 for SCHEDULE and 2 for the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::blocks::TextBlock;
use super::folder::RawPart;
use super::part::{HandOut, Notes, PartParser};
use super::reject::{Reject, RejectReason, reject_text};
use super::repeats::Repeats;
use super::rows::{Cell, RowBlock};
use crate::schema::{EventType, Table, row_id};

pub(super) mod clock;
pub(super) mod fields;
mod fleet;
mod jobs;
pub(super) mod lines;
pub(super) mod machines;
mod repeats;

pub(super) use self::fields::Fault;
use self::fleet::Fleet;
pub(super) use self::fleet::machine_id;
use self::jobs::{Ending, JobSum, WORST, rank};
pub(super) use self::repeats::find_repeats;

pub(super) const SUBMIT: i32 = EventType::Submit.number();
pub(super) const SCHEDULE: i32 = EventType::Schedule.number();
pub(super) const EVICT: i32 = EventType::Evict.number();
pub(super) const FAIL: i32 = EventType::Fail.number();
pub(super) const FINISH: i32 = EventType::Finish.number();
pub(super) const KILL: i32 = EventType::Kill.number();
pub(super) const LOST: i32 = EventType::Lost.number();

/// How a job ended, as the standard workload format has it: 1 completed, 0 failed, 5 cancelled.
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

/// Rows that are made before they are handed out.
const ROWS_HELD: usize = 1 << 16;

/// Counts of what was assumed, by wording.
#[derive(Default)]
pub(super) struct Remarks(BTreeMap<&'static str, u64>);

impl Remarks {
    /// All of them, by their wording.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(&wording, &count)| (wording, count))
    }

    /// Counts one more.
    pub(super) fn add(&mut self, wording: &'static str) {
        *self.0.entry(wording).or_default() += 1;
    }
}

/// A line of a log.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    /// Its number in the file, from 1.
    pub number: u64,
    pub raw: &'a [u8],
}

impl<'a> Line<'a> {
    /// Hands out the lines of a block that are not blank, without a mark of their encoding, and
    /// keeps those at fault as rejects; `first_line` is the number of the first.
    pub(super) fn each(
        text: &'a TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        mut take: impl FnMut(Line<'a>, &mut RowBlock) -> Result<(), Fault>,
    ) {
        rows.clear();
        for (number, raw) in text.lines(first_line) {
            let raw = raw.strip_prefix(b"\xEF\xBB\xBF").filter(|_| number == 1).unwrap_or(raw);
            if !raw.trim_ascii().is_empty()
                && let Err((column, reason)) = take(Line { number, raw }, rows)
            {
                rows.rejects.push(Reject { line: number, column, reason, text: reject_text(raw) });
            }
            rows.line_count = number + 1 - first_line;
        }
    }
}

/// What a line says: an attempt, nothing, or what is wrong with it.
pub(super) type Parsed<'a> = Result<Option<Record<'a>>, Fault>;

/// How a format writes a row.
pub(super) trait RecordFormat: Send {
    /// Whether a job may have several tasks, whose events are put together.
    const HAS_TASKS: bool;

    /// Tells the fields of a line apart and makes a record of them; `None` for a line that is not
    /// an attempt, such as a header.
    fn record<'a>(&'a mut self, line: Line<'a>, remarks: &mut Remarks) -> Parsed<'a>;

    /// What is counted of tasks whose last row says that they were evicted.
    const EVICTED_AT_LAST: Option<&'static str> = None;

    /// Whether its rows tell of machines.
    fn has_fleet(&self) -> bool {
        false
    }
}

/// When an attempt was asked for, began and ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Life {
    pub submit_us: Option<i64>,
    pub start_us: Option<i64>,
    /// The time and the number of the event.
    pub end: Option<(i64, i32)>,
}

/// What a row says itself of its place among the attempts of its task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// Whether it is the first: the only one with a SUBMIT.
    pub is_first: bool,
    /// Whether it decides what became of the task, and so of the job.
    pub is_deciding: bool,
}

/// A row: an attempt of a task, which is the task 0 of its job where the log does not tell tasks apart.
#[derive(Debug, Default)]
pub(super) struct Record<'a> {
    pub job_id: i64,
    pub task_index: i32,
    pub life: Life,
    /// Its place among the attempts of the task, where rows are not compared with each other.
    pub turn: Option<Turn>,
    pub user: Option<&'a str>,
    pub job_name: Option<&'a str>,
    pub logical_name: Option<&'a str>,
    pub scheduling_class: Option<i32>,
    pub priority: Option<i32>,
    pub machine_id: Option<i64>,
    pub cpu: Option<f32>,
    pub memory: Option<f32>,
    /// What became of it in the log's own words.
    pub end_reason: Option<&'static str>,
    /// The machines that it ran on, as the log names them.
    pub nodes: Option<&'a str>,
    pub cluster: Option<&'a str>,
    /// The columns that only this format has.
    pub own: Vec<Cell<'a>>,
}

/// When and what, with the place among the rows of its line.
type RowEvent = (i64, i32, u64);

/// What is remembered of a task: its last attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    submit_us: i64,
    start_us: Option<i64>,
    end: Option<(i64, i32)>,
}

impl Seen {
    /// Whether it is an earlier attempt of the task, though its row comes later.
    fn is_before(self, other: Self) -> bool {
        (self.submit_us, self.start_us) < (other.submit_us, other.start_us)
    }
}

/// Parses the blocks of a log for one of its tables.
pub(super) struct RecordParser<F> {
    format: F,
    part: u32,
    table: Table,
    seen: FxHashMap<(i64, i32), Seen>,
    repeats: Option<Arc<Repeats>>,
    jobs: BTreeMap<i64, JobSum>,
    /// The last end of each task of a job of several.
    ends: BTreeMap<(i64, i32), Ending>,
    fleet: Fleet,
    remarks: Remarks,
    header: Vec<(String, String)>,
}

impl<F: RecordFormat> RecordParser<F> {
    /// A parser of a part; `header` is what is known of the log as a whole.
    pub(super) fn new(format: F, part: &RawPart, header: Vec<(String, String)>) -> Self {
        Self {
            format,
            part: part.part,
            table: part.table,
            seen: FxHashMap::default(),
            repeats: None,
            jobs: BTreeMap::new(),
            ends: BTreeMap::new(),
            fleet: Fleet::default(),
            remarks: Remarks::default(),
            header,
        }
    }

    /// The same, where other files of the log may have told what this part tells.
    pub(super) fn beside(self, repeats: Option<Arc<Repeats>>) -> Self {
        Self { repeats, ..self }
    }

    /// How the rows are written.
    pub(super) fn format(&mut self) -> &mut F {
        &mut self.format
    }

    /// Counts what was assumed or left out.
    pub(super) fn remark(&mut self, wording: &'static str) {
        self.remarks.add(wording);
    }

    /// Adds what a line says.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn line(&mut self, line: Line<'_>, rows: &mut RowBlock) -> Result<(), Fault> {
        let Some(record) = self.format.record(line, &mut self.remarks)? else {
            return Ok(());
        };
        let key = (record.job_id, record.task_index);
        let before = self.seen.get(&key).copied();
        let (mut events, seen) = events(&record.life, before, &mut self.remarks)?;
        if before == Some(seen) {
            self.remarks.add("rows that repeat an earlier row of the task: left out");
            return Ok(());
        }
        match record.turn {
            None if before.is_some_and(|before| seen.is_before(before)) => {}
            None => {
                self.seen.insert(key, seen);
            }
            Some(turn) if turn.is_first => {}
            Some(_) => events[0] = None,
        }
        if let Some(repeats) = &self.repeats {
            let is_told = |kind| repeats.is_told_before(self.part, repeats::key(key, kind, seen));
            let mut is_repeated = false;
            for event in &mut events {
                let is_known = event.is_some_and(|(_, kind, _)| is_told(kind));
                event.take_if(|_| is_known);
                is_repeated |= is_known;
            }
            if is_repeated {
                self.remarks
                    .add("records of a job that an earlier file also has: one attempt, not two");
            }
        }
        match self.table {
            Table::MachineEvents => self.fleet.add(&record),
            Table::JobEvents if F::HAS_TASKS => {
                let job = self
                    .jobs
                    .entry(record.job_id)
                    .or_insert_with(|| JobSum::of(line.number, &record, seen));
                job.add(&record, seen, before);
                if let (None, Some((end_us, kind))) = (record.turn, seen.end) {
                    let end = Ending { end_us, rank: rank(kind), reason: record.end_reason };
                    let last = self.ends.entry(key).or_insert(end);
                    if last.end_us <= end_us {
                        *last = end;
                    }
                }
            }
            _ => {
                let mut cells = Vec::with_capacity(48);
                let kind_idx = fill(&record, self.table, &mut cells);
                cells.extend_from_slice(&record.own);
                for (time_us, kind, place) in events.into_iter().flatten() {
                    cells[0] = Cell::I64(time_us);
                    cells[kind_idx] = Cell::I32(kind);
                    rows.push_row(row_id(self.part, line.number * EVENTS_PER_LINE + place), &cells);
                }
            }
        }
        Ok(())
    }

    /// Adds the events of the jobs that are made of several tasks.
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
            cells.push(job.end_reason.filter(|_| !is_open).into());
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
            if ROWS_HELD <= rows.row_ids.len() {
                hand_out(rows);
            }
        }
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
        Line::each(text, first_line, rows, |line, rows| self.line(line, rows));
        if self.table == Table::MachineEvents {
            // They are rejects of the events.
            rows.rejects.clear();
        }
    }

    fn finish(&mut self, rows: &mut RowBlock, hand_out: &mut HandOut<'_>) {
        match self.table {
            Table::MachineEvents if self.format.has_fleet() => {
                self.fleet.push(self.part, rows, hand_out);
            }
            Table::MachineEvents => {}
            _ => self.put_together(rows, hand_out),
        }
    }

    fn notes(&mut self) -> Notes {
        if let Some(wording) = F::EVICTED_AT_LAST {
            let is_evicted = |seen: &&Seen| seen.end.is_some_and(|(_, kind)| kind == EVICT);
            for _ in self.seen.values().filter(is_evicted) {
                self.remarks.add(wording);
            }
        }
        // Machines are told from the same rows, of which all is said with the events.
        let is_first = self.table == Table::JobEvents;
        let remarks = match self.table {
            Table::MachineEvents => BTreeMap::new(),
            _ => std::mem::take(&mut self.remarks.0),
        };
        Notes {
            header: if is_first { std::mem::take(&mut self.header) } else { Vec::new() },
            remarks,
        }
    }
}

/// The events of a row, and what is remembered of it.
fn events(
    life: &Life,
    before: Option<Seen>,
    remarks: &mut Remarks,
) -> Result<([Option<RowEvent>; 3], Seen), Fault> {
    let is_time = |time_us: i64| (0..i64::MAX).contains(&time_us);
    for (time_us, column) in
        [(life.submit_us, "submit"), (life.start_us, "start"), (life.end.map(|end| end.0), "end")]
    {
        if time_us.is_some_and(|time_us| !is_time(time_us)) {
            return Err((column, RejectReason::NegativeTime));
        }
    }
    let submit_us = life.submit_us.ok_or(("time_us", RejectReason::EmptyMandatory))?;
    let begun_us = life.start_us.unwrap_or(submit_us);
    if begun_us < submit_us {
        remarks.add("started before the submit: submitted at the start");
    }
    let submit_us = submit_us.min(begun_us);
    let end = life.end.map(|(end_us, kind)| {
        if end_us < begun_us {
            remarks.add("ended before it started: without length, at its start");
        }
        (end_us.max(begun_us), kind)
    });
    let seen = Seen { submit_us, start_us: life.start_us, end };
    let is_resubmitted = before.is_none_or(|before| before.submit_us != submit_us);
    let is_same = |before: Seen| before.start_us.is_some() && before.start_us == seen.start_us;
    if let Some(before) = before.filter(|&before| before != seen && is_same(before)) {
        let end = end.filter(|_| before.end.is_none());
        if end.is_some() {
            remarks
                .add("rows with the end of an attempt that an earlier row has told: one attempt");
        }
        let seen = Seen { end: before.end.or(end), ..before };
        return Ok(([None, None, end.map(|(end_us, kind)| (end_us, kind, 2))], seen));
    }
    let events = [
        is_resubmitted.then_some((submit_us, SUBMIT, 0)),
        life.start_us.map(|start_us| (start_us, SCHEDULE, 1)),
        end.map(|(end_us, kind)| (end_us, kind, 2)),
    ];
    Ok((events, seen))
}

/// Adds the columns that every source has, and returns the place of the event's number.
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

/// The number of something that a log calls by a name: below 0, and the same wherever the name
/// stands (FNV-1a, 62 bits).
pub(super) fn number_of_name(name: &[u8]) -> i64 {
    -1 - i64::try_from(hash(name) >> 2).expect("62 bits")
}

/// FNV-1a, with its bits mixed once more.
pub(super) fn hash(name: &[u8]) -> u64 {
    let mut bits = 0xCBF2_9CE4_8422_2325_u64;
    for &byte in name {
        bits = (bits ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
    bits ^= bits >> 32;
    bits = bits.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    bits ^ (bits >> 32)
}
