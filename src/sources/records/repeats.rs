//! Events that several files of one log contain.
//!
//! In: the files of a log in order, such as one per month, each with the jobs that ran in it. Out:
//! for jobs in more than one file, the first file that contains each event. A job that ran into the
//! next month is one attempt: the first file has its start, and the first file that knows its end
//! ends it. The files are read twice. Memory holds 16 bytes per line, and the events of jobs that
//! are in several files.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use super::{Line, RecordFormat, Remarks, SCHEDULE, SUBMIT, Seen, events};
use crate::sources::SourceError;
use crate::sources::blocks::{BlockReader, TextBlock};
use crate::sources::repeats::{Key, Repeats};

/// The kind of every event that ends an attempt.
const END: i32 = -1;

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
    for (part, path) in (0..).zip(paths) {
        let from = ids.len();
        each(path, part, &format, &mut |job_id, _, _| ids.push((job_id, part)))?;
        ids[from..].sort_unstable();
        ids.dedup();
    }
    ids.sort_unstable();
    ids.dedup();
    let several: FxHashSet<i64> =
        ids.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0).collect();
    drop(ids);
    let mut repeats = Repeats::default();
    if several.is_empty() {
        return Ok(repeats);
    }
    for (part, path) in (0..).zip(paths) {
        each(path, part, &format, &mut |job_id, task_index, seen| {
            if several.contains(&job_id) {
                for kind in [Some(SUBMIT), seen.start_us.map(|_| SCHEDULE), seen.end.map(|_| END)] {
                    let Some(kind) = kind else { continue };
                    repeats.add(key((job_id, task_index), kind, seen), part);
                }
            }
        })?;
    }
    Ok(repeats)
}

/// The key of an event.
pub(super) fn key((job_id, task_index): (i64, i32), kind: i32, seen: Seen) -> Key {
    match kind {
        SUBMIT => (job_id, task_index, SUBMIT, seen.submit_us),
        SCHEDULE => (job_id, task_index, SCHEDULE, seen.start_us.unwrap_or(seen.submit_us)),
        _ => (job_id, task_index, END, seen.start_us.unwrap_or(seen.submit_us)),
    }
}

/// Calls `take` with the attempts of a file. Bad lines are skipped: they are rejected when the part
/// is read.
fn each<F: RecordFormat>(
    path: &Path,
    part: u32,
    format: &impl Fn(&Path, &[u8], u32) -> Result<F, SourceError>,
    take: &mut dyn FnMut(i64, i32, Seen),
) -> Result<(), SourceError> {
    let mut reader = BlockReader::open(path)?;
    let mut block = reader.next_block(TextBlock::default())?;
    let mut format = format(path, block.as_ref().map_or(&[][..], TextBlock::text), part)?;
    let (mut remarks, mut first_line) = (Remarks::default(), 1);
    while let Some(text) = block {
        let mut lines = 0;
        for (line, raw) in text.lines(first_line) {
            lines += 1;
            let raw = raw.strip_prefix(b"\xEF\xBB\xBF").filter(|_| line == 1).unwrap_or(raw);
            if raw.trim_ascii().is_empty() {
                continue;
            }
            if let Ok(Some(record)) = format.record(Line { number: line, raw }, &mut remarks)
                && let Ok((_, seen)) = events(&record.life, None, &mut Remarks::default())
            {
                take(record.job_id, record.task_index, seen);
            }
        }
        first_line += lines;
        block = reader.next_block(text)?;
    }
    Ok(())
}
