//! The parser of logs with a job on each line.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cells::{job_cells, task_cells};
use super::{Fault, JobKey, LineFormat, LogJob};
use crate::schema::{EventType, Table, row_id};
use crate::sources::blocks::TextBlock;
use crate::sources::folder::RawPart;
use crate::sources::part::{HandOut, Notes, PartParser, hand_out_many};
use crate::sources::reject::{Reject, RejectReason, reject_text};
use crate::sources::rows::{Cell, RowBlock};

const SUBMIT: i32 = EventType::Submit.number();
const SCHEDULE: i32 = EventType::Schedule.number();
const EVICT: i32 = EventType::Evict.number();
const FAIL: i32 = EventType::Fail.number();
const FINISH: i32 = EventType::Finish.number();
const KILL: i32 = EventType::Kill.number();

/// The most lines of a header that are kept, and the most bytes.
const HEADER_LINES_MAX: u64 = 10_000;
const HEADER_BYTES_MAX: usize = 1 << 20;

/// Keys of a header that are always kept, since the program uses them.
const HEADER_KEYS: [&str; 4] = ["Computer", "MaxJobs", "MaxProcs", "MaxNodes"];

/// The longest line with such a key that is always kept, bytes.
const KNOWN_KEY_LINE_MAX: usize = 4096;

/// The remark about lines of a header that are not kept.
const HEADER_CUT: &str = "header lines beyond the first 10,000 or 1 MiB: left out";

/// The most bytes of lines of partial runs that are held until the end of the file, and the bytes
/// that each takes in addition to its text.
const PIECES_MAX: usize = 64 << 20;
const PIECE_BESIDES: usize = 128;

/// Row numbers per line.
const EVENTS_PER_LINE: u64 = 4;

/// The time (µs), the event, and the position among the rows of its line.
type LogEvent = (i64, i32, u64);

/// The events of a job, and the assumptions that were made.
type History = ([Option<LogEvent>; 3], [Option<&'static str>; 2]);

/// Parses the blocks of a log for one of its tables.
pub(in crate::sources) struct LogParser<F> {
    format: F,
    part: u32,
    table: Table,
    /// Jobs with a line for the whole job.
    jobs: FxHashSet<i64>,
    /// The numbers of jobs that have names.
    named: FxHashMap<String, i64>,
    /// Lines of partial runs, by job, until the end of the file.
    pieces: BTreeMap<i64, Vec<(u64, Vec<u8>)>>,
    /// Bytes that they take.
    piece_bytes: usize,
    /// The number of header lines so far, and the bytes of those that are kept.
    header_lines: u64,
    header_bytes: usize,
    /// Which of [`HEADER_KEYS`] have been seen.
    known_keys: [bool; HEADER_KEYS.len()],
    notes: Notes,
}

impl<F: LineFormat> LogParser<F> {
    pub(in crate::sources) fn new(format: F, part: &RawPart) -> Self {
        Self {
            format,
            part: part.part,
            table: part.table,
            jobs: FxHashSet::default(),
            named: FxHashMap::default(),
            pieces: BTreeMap::new(),
            piece_bytes: 0,
            header_lines: 0,
            header_bytes: 0,
            known_keys: [false; HEADER_KEYS.len()],
            notes: Notes::default(),
        }
    }

    fn job_line(&mut self, line: u64, raw: &[u8], rows: &mut RowBlock) -> Result<(), Fault> {
        let job = self.format.job(raw)?;
        if let Some(wording) = job.remark {
            self.notes.remark(wording, 1);
        }
        let id = self.number_of(job.key, line);
        if matches!(job.status, Some(2..=4)) {
            self.piece_bytes += raw.len() + PIECE_BESIDES;
            if PIECES_MAX < self.piece_bytes {
                return Err(("status", RejectReason::TooManyPartialRuns));
            }
            self.pieces.entry(id).or_default().push((line, raw.to_vec()));
            return Ok(());
        }
        if self.jobs.contains(&id) {
            return Err(("job_id", RejectReason::DuplicateJob));
        }
        let (events, wording) = history(&job)?;
        self.jobs.insert(id);
        for wording in wording.into_iter().flatten() {
            self.notes.remark(wording, 1);
        }
        self.push(id, line, &job, events.into_iter().flatten(), rows);
        Ok(())
    }

    /// The number of a job; a name has minus the number of the line where it was first seen.
    fn number_of(&mut self, key: JobKey<'_>, line: u64) -> i64 {
        match key {
            JobKey::Number(number) => number,
            JobKey::Name(name) => {
                if let Some(&number) = self.named.get(name) {
                    return number;
                }
                let number = -i64::try_from(line).expect("a file has fewer than 2^63 lines");
                self.named.insert(name.to_owned(), number);
                number
            }
        }
    }

    /// Adds one row per event.
    fn push(
        &self,
        id: i64,
        line: u64,
        job: &LogJob<'_>,
        events: impl Iterator<Item = LogEvent> + Clone,
        rows: &mut RowBlock,
    ) {
        let cells = match self.table {
            Table::JobEvents => job_cells(id, job),
            _ => task_cells(id, job),
        };
        let kind_idx = if self.table == Table::JobEvents { 3 } else { 5 };
        let number_of = |place| row_id(self.part, line * EVENTS_PER_LINE + place);
        let events = events.map(|(time_us, kind, place)| (number_of(place), time_us, kind));
        rows.push_events(kind_idx, &events, &cells);
    }

    /// Adds a job that has only lines of partial runs.
    fn put_together(
        &mut self,
        id: i64,
        pieces: &[(u64, Vec<u8>)],
        rows: &mut RowBlock,
        hand_out: &mut HandOut<'_>,
    ) {
        let mut last_end_us = None;
        for (line, raw) in pieces {
            match self.piece(raw, last_end_us) {
                Ok((job, events, end_us)) => {
                    last_end_us = Some(end_us);
                    let job = LogJob { own: job.own.clone(), ..job };
                    self.push(id, *line, &job, events.into_iter().flatten(), rows);
                }
                Err((column, reason)) => {
                    let text = reject_text(raw);
                    rows.rejects.push(Reject { line: *line, column, reason, text });
                }
            }
            hand_out_many(rows, hand_out);
        }
        self.notes.remark("jobs put together from partial runs", 1);
    }

    /// The events of one partial run, and its end, µs.
    fn piece<'a>(
        &mut self,
        raw: &'a [u8],
        last_end_us: Option<i64>,
    ) -> Result<(LogJob<'a>, [Option<LogEvent>; 3], i64), Fault> {
        let job = self.format.job(raw)?;
        let ready_us =
            job.submit_us.or(last_end_us).ok_or(("time_us", RejectReason::EmptyMandatory))?;
        let start_us = add(ready_us, job.wait_us.unwrap_or(0).max(0), "wait_us")?;
        let end_us = add(start_us, job.run_us.unwrap_or(0), "run_us")?;
        let end = match job.status {
            Some(3) => FINISH,
            Some(4) => FAIL,
            _ => EVICT,
        };
        let submit = last_end_us.is_none().then_some((ready_us, SUBMIT, 0));
        Ok((job, [submit, Some((start_us, SCHEDULE, 1)), Some((end_us, end, 2))], end_us))
    }

    fn header_line(&mut self, line: &[u8]) {
        self.header_lines += 1;
        let key = line.split(|&byte| byte == b':').next().unwrap_or_default().trim_ascii();
        let known = HEADER_KEYS.iter().position(|known| known.as_bytes() == key);
        let is_first = known.is_some_and(|at| !std::mem::replace(&mut self.known_keys[at], true));
        let is_room = self.header_lines <= HEADER_LINES_MAX
            && line.len() < HEADER_BYTES_MAX.saturating_sub(self.header_bytes);
        let is_kept = is_room || is_first && line.len() <= KNOWN_KEY_LINE_MAX;
        if !is_kept {
            self.notes.remark(HEADER_CUT, 1);
            return;
        }
        self.header_bytes += line.len() + 1;
        if self.table == Table::TaskEvents {
            return;
        }
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        let is_key = |key: &str| {
            !key.is_empty()
                && key.len() <= 40
                && !key.starts_with(|byte: char| byte.is_ascii_digit())
        };
        match text.split_once(':') {
            Some((key, value))
                if is_key(key) && (value.is_empty() || value.starts_with([' ', '\t'])) =>
            {
                self.notes.header.push((key.trim().to_owned(), value.trim().to_owned()));
            }
            _ if text.is_empty() => {}
            // A line without a key continues the value before it.
            _ => match self.notes.header.last_mut() {
                Some((_, value)) => {
                    value.push(' ');
                    value.push_str(text);
                }
                None => self.notes.header.push((String::new(), text.to_owned())),
            },
        }
    }

    /// Adds the system as one machine, if the header gives its size.
    fn machine(&mut self, rows: &mut RowBlock) {
        let value_of = |name: &str| {
            let (_, value) = self.notes.header.iter().find(|(key, _)| key == name)?;
            Some(value.as_str())
        };
        let values = ["MaxProcs", "MaxNodes"].map(|name| value_of(name).unwrap_or_default());
        let are_missing = |value: &str| matches!(value, "" | "-1");
        let odd = values.iter().filter(|value| !are_missing(value) && grouped(value).is_none());
        let odd = odd.count() as u64;
        let known = values.into_iter().filter_map(grouped).find(|&count| 0.0 < count);
        if let Some(processors) = known {
            let cells = [
                Cell::I64(0),
                Cell::I64(1),
                Cell::I32(0),
                Cell::from(value_of("Computer")),
                Cell::F32(processors),
                Cell::Missing,
            ];
            rows.push_row(row_id(self.part, 1), &cells);
        }
        self.notes.remark(ODD_SIZE, odd);
    }
}

impl<F: LineFormat> PartParser for LogParser<F> {
    fn parse(
        &mut self,
        text: &TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        _hand_out: &mut HandOut<'_>,
    ) {
        rows.clear();
        for (line, raw) in text.lines(first_line) {
            let begin = raw.strip_prefix(b"\xEF\xBB\xBF").filter(|_| line == 1).unwrap_or(raw);
            let begin = begin.trim_ascii_start();
            match begin.first() {
                None => {}
                Some(&byte) if byte == F::COMMENT => self.header_line(&begin[1..]),
                Some(_) if self.table == Table::MachineEvents => {}
                Some(_) => {
                    if let Err((column, reason)) = self.job_line(line, begin, rows) {
                        let text = reject_text(raw);
                        rows.rejects.push(Reject { line, column, reason, text });
                    }
                }
            }
            rows.line_count = line + 1 - first_line;
        }
    }

    fn finish(&mut self, rows: &mut RowBlock, hand_out: &mut HandOut<'_>) {
        if self.table == Table::MachineEvents {
            return self.machine(rows);
        }
        for (id, pieces) in std::mem::take(&mut self.pieces) {
            if self.jobs.contains(&id) {
                let count = pieces.len() as u64;
                self.notes.remark(
                    "lines of partial runs of jobs that also have a line for the whole \
                job",
                    count,
                );
            } else {
                self.put_together(id, &pieces, rows, hand_out);
            }
        }
    }

    fn notes(&mut self) -> Notes {
        if self.table != Table::JobEvents {
            self.notes.header.clear();
        }
        std::mem::take(&mut self.notes)
    }
}

/// The remark about a size of the system that cannot be read.
const ODD_SIZE: &str = "`MaxProcs` or `MaxNodes` of the header is not a number: left out";

/// The number that a value of the header begins with, which may have commas between groups of three
/// digits: `128 (one cabinet)`, `1,024`. `None` for `1.5`, `1k` and numbers with other groups.
fn grouped(value: &str) -> Option<f32> {
    let begin = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (first, mut rest) = value.split_at(begin(value));
    let mut digits = first.to_owned();
    while let Some(group) = rest.strip_prefix(',').filter(|group| begin(group) == 3) {
        if 3 < first.len() {
            return None;
        }
        digits.push_str(&group[..3]);
        rest = &group[3..];
    }
    let goes_on = match rest.as_bytes() {
        [b',' | b'.' | b'\'' | b' ', next, ..] => next.is_ascii_digit(),
        [next, ..] => next.is_ascii_alphabetic() || *next == b'_',
        [] => false,
    };
    if goes_on { None } else { crate::sources::fields::careful_f32(digits.as_bytes()) }
}

/// The events of a job, and the assumptions that were made.
fn history(job: &LogJob<'_>) -> Result<History, Fault> {
    let submit_us = job.submit_us.ok_or(("time_us", RejectReason::EmptyMandatory))?;
    let had_processors = job.processors.is_some_and(|count| 0 < count);
    let end = match job.status {
        Some(0) => Some(FAIL),
        Some(1) => Some(FINISH),
        Some(5) => Some(KILL),
        _ => None,
    };
    let was_cancelled = end == Some(KILL) && job.run_us == Some(0) && !had_processors;
    let Some(run_us) = job.run_us.filter(|_| !was_cancelled) else {
        let at_us = add(submit_us, job.wait_us.unwrap_or(0).max(0), "wait_us")?;
        let wording = match end {
            None => "neither run time nor status: submitted only",
            Some(KILL) => "cancelled before a start: SUBMIT and KILL",
            Some(_) => "ended, run time unknown: no attempt",
        };
        let events = [Some((submit_us, SUBMIT, 0)), end.map(|end| (at_us, end, 2)), None];
        return Ok((events, [Some(wording), None]));
    };
    let start_us = add(submit_us, job.wait_us.unwrap_or(0), "wait_us")?;
    let end_us = add(start_us, run_us, "run_us")?;
    let of_wait = match job.wait_us {
        None => Some("wait unknown: started at the submit"),
        Some(wait) if wait < 0 => Some("wait negative: submitted at the start"),
        Some(_) => None,
    };
    let of_status = end.is_none().then_some("status unknown, has run: taken as finished");
    let events = [
        Some((submit_us.min(start_us), SUBMIT, 0)),
        Some((start_us, SCHEDULE, 1)),
        Some((end_us, end.unwrap_or(FINISH), 2)),
    ];
    Ok((events, [of_wait, of_status]))
}

/// The sum of a time and a span, which must be a valid time.
fn add(time_us: i64, span_us: i64, column: &'static str) -> Result<i64, Fault> {
    match time_us.checked_add(span_us) {
        Some(sum) if sum < 0 => Err((column, RejectReason::NegativeTime)),
        Some(sum) if sum < i64::MAX => Ok(sum),
        _ => Err((column, RejectReason::BadValue)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::{any_micros, micros, name, quantity, span_micros, whole};
    use super::super::parser::*;

    #[test]
    fn seconds_are_read_to_the_microsecond() {
        for (text, expected) in [
            ("0", Some(0)),
            ("12", Some(12_000_000)),
            ("-1", Some(-1_000_000)),
            ("-1.0", Some(-1_000_000)),
            ("0.5", Some(500_000)),
            (".5", Some(500_000)),
            ("5.", Some(5_000_000)),
            ("0.0000004", Some(0)),
            ("0.0000005", Some(1)),
            ("1132444805", Some(1_132_444_805_000_000)),
            ("1.1E9", Some(1_100_000_000_000_000)),
            ("9223372036854", Some(9_223_372_036_854_000_000)),
            ("9223372036855", None),
            ("", None),
            ("-", None),
            (".", None),
            ("1e", None),
            ("1e99", None),
            ("+1", None),
            ("1 ", None),
            ("--1", None),
            ("inf", None),
        ] {
            assert_eq!(micros(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn minus_one_is_missing_everywhere() {
        assert_eq!(any_micros(b"-1", "x"), Ok(None));
        assert_eq!(any_micros(b"-5", "x"), Ok(Some(-5_000_000)));
        assert_eq!(span_micros(b"-5", "x"), Err(("x", RejectReason::NegativeTime)));
        assert_eq!(whole(b"-1.0", "x"), Ok(None));
        assert_eq!(whole(b"4.0", "x"), Ok(Some(4)));
        assert_eq!(whole(b"4.5", "x"), Err(("x", RejectReason::BadValue)));
        assert_eq!(quantity(b"-1", "x"), Ok(None));
        assert_eq!(name(b"-1", "x"), Ok(None));
    }
}
