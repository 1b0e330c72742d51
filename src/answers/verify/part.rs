//! Checks of raw parts.

use std::collections::{BTreeMap, BTreeSet};

use arrow::record_batch::RecordBatch;

use crate::answers::Said;
use crate::digits::counted;
use crate::faults::{Interrupted, Result};
use crate::lake::manifest::ranges;
use crate::results::frame::Frame;
use crate::schema::Table;
use crate::sources::checksums::{Checksums, SumKind};
use crate::sources::part::{PartStop, Progress, read_part};
use crate::sources::{RawPart, SourceError, TraceFolder};
use crate::studies::checks;

/// The findings about a raw part.
pub struct PartReport {
    pub part: RawPart,
    /// Whether the checksum agrees with the list; `None` if the part is not listed.
    pub is_sum_right: Option<bool>,
    /// SHA-256 of the file, if it could be read.
    pub sha256: Option<String>,
    pub lines: u64,
    pub rejects: BTreeMap<&'static str, u64>,
    /// The first line that cannot be read as a row.
    pub first_reject: Option<String>,
    pub error: Option<SourceError>,
}

impl PartReport {
    /// Whether the part is readable, has no rejects, and does not contradict the list of checksums.
    pub fn is_ok(&self) -> bool {
        self.is_sum_right != Some(false) && self.error.is_none() && self.rejects.is_empty()
    }
}

/// Reads a raw part, and compares its checksum.
///
/// # Errors
/// The checksum cannot be computed, or the user interrupts. If a part cannot be read, the report
/// says so.
pub fn check_part(
    part: &RawPart,
    sums: Option<&Checksums>,
    progress: &Progress,
) -> Result<PartReport> {
    let mut rejects: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut first_reject = None;
    let read = read_part::<()>(part, progress, |block| {
        for reject in &block.rejects {
            *rejects.entry(reject.reason.name()).or_default() += 1;
            first_reject.get_or_insert_with(|| match reject.column {
                "" => format!("line {}, {}", reject.line, reject.reason.name()),
                column => format!("line {}, {column}, {}", reject.line, reject.reason.name()),
            });
        }
        Ok(())
    });
    let expected = sums.and_then(|sums| Some((sums.kind, sums.sums.get(&part.listed_name())?)));
    let found = |kind: SumKind, sha256: Option<&str>| match (kind, sha256) {
        (SumKind::Sha256, Some(sum)) => Ok(sum.to_owned()),
        _ => kind.of_file(&part.path),
    };
    let (lines, sha256, error) = match read {
        Ok(summary) => (summary.line_count, Some(summary.digest.sha256), None),
        Err(PartStop::Source(error)) => (0, None, Some(error)),
        Err(PartStop::Cancelled | PartStop::Sink(())) => return Err(Interrupted.into()),
    };
    let is_sum_right = match expected {
        _ if !part.joined.is_empty() => are_sums_right(part, sums)?,
        Some((kind, sum)) => Some(found(kind, sha256.as_deref())? == *sum),
        None => None,
    };
    let part = part.clone();
    Ok(PartReport { part, is_sum_right, sha256, lines, rejects, first_reject, error })
}

/// Whether the files of a part have the checksums of a list; `None` if the list has none of them.
fn are_sums_right(part: &RawPart, sums: Option<&Checksums>) -> Result<Option<bool>> {
    let Some(Checksums { kind, sums, .. }) = sums else { return Ok(None) };
    let mut are_right = None;
    for path in std::iter::once(&part.path).chain(&part.joined) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        if let Some(sum) = name.and_then(|name| sums.get(&name)) {
            are_right = Some(are_right.unwrap_or(true) && kind.of_file(path)? == *sum);
        }
    }
    Ok(are_right)
}

/// The faults of a part, in a line.
pub fn describe(report: &PartReport) -> String {
    let mut faults = Vec::new();
    if report.is_sum_right == Some(false) {
        faults.push("its checksum differs from the list".to_owned());
    }
    if let Some(error) = &report.error {
        faults.push(error.kind.to_string());
    }
    if let Some(first) = &report.first_reject {
        let count: u64 = report.rejects.values().sum();
        faults.push(format!("{} would be rejected (first: {first})", counted(count, "line")));
    }
    format!("{}: {}", report.part.listed_name(), faults.join("; "))
}

/// Warnings about parts that are the same file under two numbers.
pub fn same(reports: &[PartReport]) -> Vec<Said> {
    let mut known: BTreeMap<(Table, &str), u32> = BTreeMap::new();
    let mut said = Vec::new();
    for report in reports.iter().filter(|report| 0 < report.lines) {
        let (table, part) = (report.part.table, report.part.part);
        let Some(sum) = report.sha256.as_deref() else { continue };
        if let Some(first) = known.get(&(table, sum)) {
            said.push(Said::warning(checks::same_file(table, *first, part)));
        } else {
            known.insert((table, sum), part);
        }
    }
    said
}

/// Notes about missing parts. The list of checksums names them, or the names of the other parts
/// imply them.
pub fn absent(folder: &TraceFolder, sums: Option<&Checksums>) -> Vec<Said> {
    let mut said = Vec::new();
    for &table in folder.source.tables() {
        let parts = folder.parts.get(&table).map_or(&[][..], Vec::as_slice);
        let there: BTreeSet<u32> = parts.iter().map(|part| part.part).collect();
        let listed = sums.into_iter().flat_map(|sums| sums.sums.keys()).filter_map(|name| {
            name.strip_prefix(table.name())?.strip_prefix("/part-")?.split('-').next()?.parse().ok()
        });
        let promised = parts.iter().find_map(|part| part.of).map_or(0..0, |of| 0..of);
        let missing: BTreeSet<u32> =
            listed.chain(promised).filter(|part: &u32| !there.contains(part)).collect();
        let missing: Vec<u32> = missing.into_iter().collect();
        if parts.is_empty() {
            said.push(Said::note(format!("missing: the whole table {table}")));
        } else if !missing.is_empty() {
            said.push(Said::note(format!("missing: {table} parts {}", ranges(&missing))));
        }
    }
    said
}

/// A row per table, with the number of parts by result.
pub fn raw_table(folder: &TraceFolder, reports: &[PartReport]) -> RecordBatch {
    let tables: Vec<Table> = folder.parts.keys().copied().collect();
    let sum = |value: fn(&PartReport) -> u64| {
        let of_table = move |table: &Table| {
            reports.iter().filter(|report| report.part.table == *table).map(value).sum::<u64>()
        };
        tables.iter().map(of_table).collect::<Vec<u64>>()
    };
    Frame::default()
        .text("table", tables.iter().map(|table| table.name()))
        .count("parts", sum(|_| 1))
        .count("sum_right", sum(|report| u64::from(report.is_sum_right == Some(true))))
        .count("sum_wrong", sum(|report| u64::from(report.is_sum_right == Some(false))))
        .count("not_listed", sum(|report| u64::from(report.is_sum_right.is_none())))
        .count("unreadable", sum(|report| u64::from(report.error.is_some())))
        .count("lines", sum(|report| report.lines))
        .count("lines_without_row", sum(|report| report.rejects.values().sum()))
        .batch()
}
