//! The first rows of a table as a map reads them.

use std::sync::Arc;

use crate::notation::Mistake;
use crate::schema::{Source, Table};
use crate::sources::map::{FATES, Map};
use crate::sources::mapped::Mapped;
use crate::sources::records::quotes::Quotes;
use crate::sources::records::{Fault, Record, RecordFormat, Remarks};
use crate::sources::rows::Cell;
use crate::sources::zone::{Zone, civil_of_day};
use crate::units::{MICROS_PER_SECOND, micros_to_seconds};

/// A row as a map reads it, or why it cannot be read.
#[derive(Clone, Debug)]
pub struct PreviewRow {
    /// The line of the file.
    pub line: u64,
    /// Job, user, submit, start, end, outcome, CPUs, memory (KiB), GPUs and time limit (s); or
    /// what is wrong.
    pub cells: Result<[String; 10], String>,
}

/// The first rows as a map reads them.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The rows.
    pub rows: Vec<PreviewRow>,
    /// The assumptions, each with its count.
    pub remarks: Vec<(String, u64)>,
}

/// The heads of the columns of [`Preview::table`].
const HEADS: [&str; 11] = [
    "line",
    "job",
    "user",
    "submit",
    "start",
    "end",
    "outcome",
    "cpus",
    "memory_kib",
    "gpus",
    "limit_s",
];

impl Preview {
    /// The rows as aligned lines.
    pub fn table(&self) -> String {
        let mut rows: Vec<Vec<String>> = vec![HEADS.map(str::to_owned).to_vec()];
        for row in &self.rows {
            let mut cells = vec![row.line.to_string()];
            match &row.cells {
                Ok(known) => cells.extend(known.iter().cloned()),
                Err(problem) => cells.push(format!("no row: {problem}")),
            }
            rows.push(cells);
        }
        // A rejected row is wider than any column.
        let full = || rows.iter().filter(|row| row.len() == HEADS.len());
        let widths: Vec<usize> = (0..HEADS.len())
            .map(|idx| full().map(|row| row[idx].chars().count()).max().unwrap_or_default())
            .collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<String>>().join("  ").trim_end().to_owned() + "\n"
        };
        rows.iter().map(line).collect()
    }
}

/// Reads the first `count` rows of a table that starts with `begin`.
///
/// # Errors
/// The map does not fit the table: for example, it names a column that the table does not have.
pub fn preview(
    begin: &[u8],
    map: Map,
    zone: Option<&Zone>,
    count: usize,
) -> Result<Preview, Mistake> {
    let zone = zone.cloned().or_else(|| map.zone.clone());
    let map = Arc::new(map);
    let mut format = Mapped::of(begin, 0, &map, zone.as_ref())?;
    let (mut shown, mut remarks) = (Vec::new(), Remarks::default());
    let begin = begin.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(begin);
    let end = memchr::memrchr(b'\n', begin).unwrap_or(begin.len());
    let separator = format.separator_of_quotes();
    Quotes::each_of(&begin[..end], separator, |line| {
        if shown.len() == count || line.raw.trim_ascii().is_empty() {
            return shown.len() < count;
        }
        let bad = |(column, reason): Fault| {
            let place = line_of(&map, column).map(|line| format!(" (line {line} of the map)"));
            let said = format!("{column} {}{}", reason.name(), place.unwrap_or_default());
            Err(said.trim().to_owned())
        };
        let attempts = match format.whole_count(line) {
            Ok(attempts) => attempts.min(count - shown.len()),
            Err(fault) => {
                shown.push(PreviewRow { line: line.number, cells: bad(fault) });
                return true;
            }
        };
        for _ in 0..attempts {
            let cells = match format.record(line, &mut remarks) {
                Ok(None) => continue,
                Ok(Some(record)) => Ok(cells_of(&record)),
                Err(fault) => bad(fault),
            };
            shown.push(PreviewRow { line: line.number, cells });
        }
        true
    });
    let remarks = remarks.all().map(|(wording, count)| (wording.to_owned(), count)).collect();
    Ok(Preview { rows: shown, remarks })
}

/// The line of a map that names a field, from 1.
fn line_of(map: &Map, field: &str) -> Option<usize> {
    let column = map.columns.iter().find(|column| column.field.name() == field)?;
    Some(Mistake::at(map.text(), column.spot.start, column.spot.end, "").line)
}

fn cells_of(record: &Record<'_>) -> [String; 10] {
    let dash = || "-".to_owned();
    let time = |at: Option<i64>| at.map_or_else(dash, clock);
    let outcome = match (record.life.end, record.life.start_us) {
        (Some((_, kind)), _) => {
            let known = FATES.iter().find(|(_, fate)| fate.end() == Some(kind));
            known.map_or_else(dash, |(name, _)| (*name).to_owned())
        }
        (None, Some(_)) => "running".to_owned(),
        (None, None) => "pending".to_owned(),
    };
    [
        record.job_name.map_or_else(|| record.job_id.to_string(), str::to_owned),
        record.user.map_or_else(dash, str::to_owned),
        time(record.life.submit_us),
        time(record.life.start_us),
        time(record.life.end.map(|end| end.0)),
        outcome,
        record.cpu.map_or_else(dash, |cpu| cpu.to_string()),
        record.memory.map_or_else(dash, |memory| memory.to_string()),
        match own(record, "gpu_request") {
            Cell::F32(gpus) => gpus.to_string(),
            _ => dash(),
        },
        match own(record, "requested_time_us") {
            Cell::I64(limit_us) => micros_to_seconds(limit_us).to_string(),
            _ => dash(),
        },
    ]
}

/// A cell of a column that not every source has.
fn own<'a>(record: &Record<'a>, column: &str) -> Cell<'a> {
    let columns = Table::TaskEvents.columns(Source::Mapped);
    let idx = columns.iter().rev().position(|known| known.name == column);
    let of_end = idx.and_then(|idx| record.own.iter().nth_back(idx));
    of_end.copied().unwrap_or(Cell::Missing)
}

/// A time in ISO 8601, UTC.
fn clock(at_us: i64) -> String {
    let seconds = at_us.div_euclid(MICROS_PER_SECOND);
    let (year, month, day) = civil_of_day(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
