//! Reads one part of a raw trace for a lake, counts its lines and decides whether to store it.
//!
//! In: a part, and the writer of its segment. Out: its entry in the manifest, or why it must not be
//! stored: it cannot be read, has too many rejects, or belongs to another table or trace.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::manifest::PartEntry;
use super::plan::{IngestPlan, MaxRejects};
use super::rejects::{self, RejectLog, Rejected};
use super::writer::SegmentWriter;
use super::{LakeError, LakeErrorKind};
use crate::sources::mask::{Mask, Masker};
use crate::sources::part::{PartStop, PartSummary, Progress, read_part};
use crate::sources::reading::Reading;
use crate::sources::{RawPart, Reject, RowBlock, expected_line};

/// Up to this many rejects of a part, their share of the lines is not checked before the end of the
/// part.
const REJECTS_UNJUDGED: u64 = 100_000;

/// A completely read part.
pub(super) struct ReadPart {
    pub entry: PartEntry,
    /// The file of its rejects, if there are any.
    pub rejects: Option<PathBuf>,
}

/// Reads a part, and passes its rows to the writer.
pub(super) fn read_one(
    plan: &IngestPlan,
    part: &RawPart,
    writer: &mut SegmentWriter,
    progress: &Progress,
) -> Result<ReadPart, PartStop<LakeError>> {
    let beside = writer.folder().join(format!("rejects-{:05}.csv", part.part));
    let mut rejects = RejectLog::new(part.part, beside);
    let mut seen = Seen::default();
    let Reading { mask, map, .. } = &*part.reading;
    let mut masker = mask.as_deref().map(|mask| Masker::new(mask, part.source, map.as_deref()));
    let summary = read_part(part, progress, |block| {
        if let Some(masker) = &mut masker {
            masker.hide(block);
        }
        seen.add(block);
        rejects.add(&mut block.rejects)?;
        let is_count = matches!(plan.max_rejects, MaxRejects::Count(_));
        if is_count || REJECTS_UNJUDGED < rejects.count() {
            judge(plan, part, &rejects, &seen)?;
        }
        writer.push(block)
    })?;
    judge(plan, part, &rejects, &seen).map_err(PartStop::Sink)?;
    // A few lines can stay below a limit although all belong to another table. A limit of 100 %
    // permits that.
    let may_all_be_bad = plan.max_rejects == MaxRejects::Percent(100.0);
    if 0 < seen.lines && !may_all_be_bad && is_other_trace(&rejects, &seen) {
        return Err(PartStop::Sink(other_trace(part, rejects.first)));
    }
    let rejected = rejects.finish().map_err(PartStop::Sink)?;
    let beside = rejected.beside.clone();
    let entry = seen.into_entry(part, &summary, rejected, plan.max_rejects);
    Ok(ReadPart { entry, rejects: beside })
}

/// The lines of a part so far.
#[derive(Default)]
struct Seen {
    lines: u64,
    rows: u64,
    min_time_us: Option<i64>,
    max_time_us: Option<i64>,
}

impl Seen {
    fn add(&mut self, block: &RowBlock) {
        self.lines += block.line_count;
        self.rows += block.row_ids.len() as u64;
        for &time in block.i64_cells(0) {
            self.min_time_us = Some(self.min_time_us.map_or(time, |min| min.min(time)));
            if time != i64::MAX {
                self.max_time_us = Some(self.max_time_us.map_or(time, |max| max.max(time)));
            }
        }
    }

    fn into_entry(
        self,
        part: &RawPart,
        summary: &PartSummary,
        rejected: Rejected,
        max: MaxRejects,
    ) -> PartEntry {
        let notes = &summary.notes;
        let mut remarks: BTreeMap<String, u64> =
            notes.remarks.iter().map(|(&wording, &count)| (wording.to_owned(), count)).collect();
        if 0 < rejected.left_out {
            remarks.insert(rejects::LEFT_OUT.to_owned(), rejected.left_out);
        }
        PartEntry {
            part: part.part,
            of: part.of,
            raw_file: part.stored_name(),
            raw_bytes: summary.digest.bytes,
            sha256: summary.digest.sha256.clone(),
            lines: summary.line_count,
            rows: self.rows,
            rejects: rejected.reasons,
            min_time_us: self.min_time_us,
            max_time_us: self.max_time_us,
            remarks,
            header: match part.reading.mask {
                Some(_) => Mask::header(&notes.header),
                None => notes.header.clone(),
            },
            max_rejects: max.to_string(),
            segment: String::new(),
        }
    }
}

/// Decides whether a part has too many rejects.
fn judge(
    plan: &IngestPlan,
    part: &RawPart,
    rejects: &RejectLog,
    seen: &Seen,
) -> Result<(), LakeError> {
    let count = rejects.count();
    if plan.max_rejects.allows(count, seen.lines) {
        return Ok(());
    }
    let first = rejects.first.clone();
    if is_other_trace(rejects, seen) {
        return Err(other_trace(part, first));
    }
    let allowed = plan.max_rejects.to_string();
    let (lines, joined) = (seen.lines, part.joined.len());
    let kind = LakeErrorKind::TooManyRejects { count, lines, allowed, joined, first };
    Err(LakeError::new(&part.path, kind))
}

/// Whether no line has a row, and at least half of the lines are rejected as a whole, such as for
/// their number of columns. A good line may have no row.
fn is_other_trace(rejects: &RejectLog, seen: &Seen) -> bool {
    let are_most = seen.lines <= rejects.count().saturating_mul(2);
    seen.rows == 0 && 0 < rejects.count() && are_most && rejects.are_of_lines
}

fn other_trace(part: &RawPart, first: Vec<Reject>) -> LakeError {
    let kind =
        LakeErrorKind::OtherTrace { expected: expected_line(part), kind: part.source, first };
    LakeError::new(&part.path, kind)
}
