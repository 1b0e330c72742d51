//! Facts that need all files of a log: events that several of them contain, and the most processors
//! in use at once.
//!
//! In: the files of a log in order, such as one per month, each with the jobs that ran in it. Out:
//! for jobs in more than one file, the first file that contains each event; and the peak of the
//! log. A job that ran into the next month is one attempt: the first file has its start, and the
//! first file that has its end ends it. The files are read twice. Memory holds 32 bytes per line,
//! the last attempts of a file, and the events of jobs that are in several files.
//!
//! An attempt is identified by its start. If it ended when it started, its events have separate
//! kinds, since another attempt can start at the same time. But if an earlier file shows it as
//! open, its start is known.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use super::history::{Attempts, Seen};
use super::quotes::Quotes;
use super::{Line, Record, RecordFormat, Remarks, SCHEDULE, SUBMIT};
use crate::sources::SourceError;
use crate::sources::blocks::{BlockReader, TextBlock};
use crate::sources::repeats::{Key, Repeats};
use crate::units::most_at_once;

/// The kind of every event that ends an attempt.
const END: i32 = -1;

/// The kinds of the start and the end of an attempt that ended when it started.
const INSTANT_START: i32 = -2;
const INSTANT_END: i32 = -3;

/// The kind of the start of an attempt that had not ended.
const OPEN_START: i32 = -4;

/// Reads the files. `format` returns the format of one of them, from its path, the beginning of its
/// text and its number.
///
/// # Errors
/// A file cannot be read.
pub(in crate::sources) fn find_repeats<F: RecordFormat>(
    paths: &[PathBuf],
    format: impl Fn(&Path, &[u8], u32) -> Result<F, SourceError>,
) -> Result<Repeats, SourceError> {
    let mut ids: Vec<(i64, u32)> = Vec::new();
    let mut has_fleet = false;
    for (part, path) in (0..).zip(paths) {
        let from = ids.len();
        has_fleet |= each(path, part, &format, &mut |record, _| ids.push((record.job_id, part)))?;
        ids[from..].sort_unstable();
        ids.dedup();
    }
    ids.sort_unstable();
    ids.dedup();
    let several: FxHashSet<i64> =
        ids.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0).collect();
    drop(ids);
    let mut repeats = Repeats::default();
    if several.is_empty() && !has_fleet {
        return Ok(repeats);
    }
    let mut changes = Vec::new();
    for (part, path) in (0..).zip(paths) {
        let mut in_use = InUse { attempts: Attempts::default(), changes: &mut changes };
        each(path, part, &format, &mut |record, seen| {
            let task = (record.job_id, record.task_index);
            let is_in_several = several.contains(&record.job_id);
            if has_fleet {
                in_use.add(record, seen, &|kind, seen| {
                    is_in_several && is_told(&repeats, part, task, (kind, seen))
                });
            }
            if is_in_several {
                let start = seen.start_us.map(|_| SCHEDULE);
                let open = start.filter(|_| seen.end.is_none()).map(|_| OPEN_START);
                let kinds = [Some(SUBMIT), start, open, seen.end.map(|_| END)];
                for kind in kinds.into_iter().flatten() {
                    repeats.add(key(task, kind, seen), part);
                }
            }
        })?;
    }
    repeats.peak = most_at_once(&mut changes);
    Ok(repeats)
}

/// The processors that the attempts of a file take and give back, without those of rows that repeat
/// others.
struct InUse<'a> {
    attempts: Attempts,
    changes: &'a mut Vec<(i64, f32)>,
}

impl InUse<'_> {
    /// Adds an attempt, without the events that an earlier file has.
    fn add(&mut self, record: &Record<'_>, seen: Seen, is_told: &dyn Fn(i32, Seen) -> bool) {
        let task = (record.job_id, record.task_index);
        let step = self.attempts.step(task, seen, record.is_next, &mut Remarks::default());
        let Some(([_, start, end], seen, _)) = step else { return };
        if record.turn.is_none() {
            self.attempts.add(task, seen);
        }
        let Some(cpu) = record.cpu else { return };
        let changes = [(start, cpu), (end.filter(|_| seen.start_us.is_some()), -cpu)];
        for (event, amount) in changes {
            let own = event.filter(|&(_, kind, _)| !is_told(kind, seen));
            self.changes.extend(own.map(|(time_us, ..)| (time_us, amount)));
        }
    }
}

/// Whether a file before `part` has an event of an attempt.
pub(super) fn is_told(
    repeats: &Repeats,
    part: u32,
    task: (i64, i32),
    (kind, seen): (i32, Seen),
) -> bool {
    let is_told = |kind| repeats.is_told_before(part, key(task, kind, seen));
    is_told(kind) || kind == SCHEDULE && seen.is_instant() && is_told(OPEN_START)
}

/// The key of an event.
fn key((job_id, task_index): (i64, i32), kind: i32, seen: Seen) -> Key {
    let kind = match (kind, seen.is_instant()) {
        (SUBMIT, _) => return (job_id, task_index, SUBMIT, seen.submit_us),
        (OPEN_START, _) => OPEN_START,
        (SCHEDULE, false) => SCHEDULE,
        (SCHEDULE, true) => INSTANT_START,
        (_, false) => END,
        (_, true) => INSTANT_END,
    };
    (job_id, task_index, kind, seen.start_us.unwrap_or(seen.submit_us))
}

/// Calls `take` with the attempts of a file, and returns whether machines are made from them. Bad
/// lines are skipped: they are rejected when the part is read.
fn each<F: RecordFormat>(
    path: &Path,
    part: u32,
    format: &impl Fn(&Path, &[u8], u32) -> Result<F, SourceError>,
    take: &mut dyn FnMut(&Record<'_>, Seen),
) -> Result<bool, SourceError> {
    let mut reader = BlockReader::open(path)?;
    let mut block = reader.next_block(TextBlock::default())?;
    let mut format = format(path, block.as_ref().map_or(&[][..], TextBlock::text), part)?;
    let mut quotes = Quotes::of(format.separator_of_quotes());
    let (mut remarks, mut line_count) = (Remarks::default(), 0);
    let mut read = |line: Line<'_>| {
        if line.raw.trim_ascii().is_empty() {
            return;
        }
        for _ in 0..format.whole_count(line).unwrap_or(0) {
            if let Ok(Some(record)) = format.record(line, &mut remarks)
                && let Ok(seen) = Seen::of(&record.life, &mut Remarks::default())
            {
                take(&record, seen);
            }
        }
    };
    while let Some(text) = block {
        for (number, raw) in text.lines(line_count + 1) {
            line_count = number;
            quotes.add(Line::of(number, raw), &mut read);
        }
        block = reader.next_block(text)?;
    }
    quotes.finish(&mut read);
    Ok(format.has_fleet())
}
