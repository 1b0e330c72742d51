//! The step of an analysis.

use super::report::{Trust, lake_report};
use crate::answers::study::{Verdict, Work};
use crate::faults::Result;

/// The step of an analysis; its verdict decides the exit code.
pub(crate) fn step(work: &Work<'_>) -> Result<Option<Verdict>> {
    let trust = if work.is_just_written { Trust::JustWritten } else { Trust::Nothing };
    let report = lake_report(work.lake, trust)?;
    work.screen.say_all(&report.said);
    let table = report.table();
    work.store(&report.answer(&table))?;
    let note = report.verdict();
    Ok(Some(Verdict { note, result: report.into_result() }))
}
