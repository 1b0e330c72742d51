//! The amounts of a ledger by how attempts ended, and by the reasons that a log records.
//!
//! In: a ledger. Out: two further tables, their bars, and sentences that add to the outcomes of
//! jobs.

use arrow::record_batch::RecordBatch;

use super::answer::AccountAnswer;
use super::charts::bars;
use super::kind_of;
use crate::answers::sentences::percent;
use crate::charts::Chart;
use crate::digits::counted;
use crate::faults::Result;
use crate::results::frame::Frame;
use crate::results::store::Files;
use crate::studies::ledger::{EndRow, Ledger, ReasonAmount};

/// The last part of the name of a further table or chart; the first part is the name of the result.
const ENDS: &str = "ends";
const REASONS: &str = "reasons";

/// The smallest difference of two shares that counts as a difference.
const APART: f64 = 0.001;

/// The smallest share of an outcome whose main reason is reported.
const LARGE: f64 = 0.01;

/// The most bars of reasons.
const REASONS_MAX: usize = 16;

/// Stores the further tables. A table is stored only if it differs from the table of outcomes.
///
/// # Errors
/// A file could not be written.
pub fn put_details(ledger: &Ledger, files: &mut Files) -> Result<()> {
    let name = |part: &str| format!("{}-{part}", kind_of(ledger.meter).name);
    if let Some(rows) = ledger.ends.as_deref().filter(|rows| is_other(ledger, rows)) {
        files.table(&name(ENDS), &ends_table(ledger, rows))?;
    }
    if has_reasons(ledger) {
        files.table(&name(REASONS), &reasons_table(ledger))?;
    }
    Ok(())
}

fn ends_table(ledger: &Ledger, rows: &[EndRow]) -> RecordBatch {
    let frame = Frame::default()
        .text("ended", rows.iter().map(|row| row.end.as_str()))
        .about("How the attempts ended: `with job` at the end of their job, `open` at that of the window")
        .count("attempts", rows.iter().map(|row| row.attempts))
        .float(ledger.meter.column(), rows.iter().map(|row| Some(row.amount)));
    shares(frame, ledger, rows.iter().map(|row| row.share))
}

fn reasons_table(ledger: &Ledger) -> RecordBatch {
    let rows = || ledger.reasons.iter();
    let mut frame = Frame::default().text("outcome", rows().map(|row| row.outcome.as_str()));
    if rows().any(|row| row.course.is_some()) {
        frame = frame
            .maybe_text("course", rows().map(|row| row.course.as_deref()))
            .about("What `other` is: the outcome by the last event");
    }
    let frame = frame
        .text("end_reason", rows().map(|row| row.end_reason.as_str()))
        .count("jobs", rows().map(|row| row.jobs))
        .float(ledger.meter.column(), rows().map(|row| Some(row.amount)));
    shares(frame, ledger, rows().map(|row| row.share))
}

/// Adds the columns that follow an amount.
fn shares(
    frame: Frame,
    ledger: &Ledger,
    shares: impl ExactSizeIterator<Item = Option<f64>>,
) -> RecordBatch {
    let resource = ledger.meter.resource();
    frame
        .about(&format!("{}, in the unit that `unit` names", resource.title()))
        .unit(ledger.unit)
        .text("unit", (0..shares.len()).map(|_| ledger.unit))
        .float("share", shares)
        .about(&format!("Share of the {} of all attempts", resource.noun()))
        .batch()
}

/// Whether the ends of attempts differ from the outcomes of jobs: finished attempts and finished
/// jobs have different shares of the amount.
fn is_apart(rows: &[EndRow], of_jobs: f64) -> bool {
    let finished = rows.iter().filter(|row| row.end == FINISHED);
    APART < (finished.filter_map(|row| row.share).sum::<f64>() - of_jobs).abs()
}

/// Like `is_apart`, for a ledger.
fn is_other(ledger: &Ledger, rows: &[EndRow]) -> bool {
    let of_jobs = ledger.rows.iter().filter(|row| row.outcome == FINISHED);
    is_apart(rows, of_jobs.filter_map(|row| row.share).sum())
}

/// Whether the jobs of any outcome ended for several reasons.
fn has_reasons(ledger: &Ledger) -> bool {
    ledger.reasons.windows(2).any(|rows| rows[0].outcome == rows[1].outcome)
}

/// The name of both an outcome of jobs and an end of attempts.
const FINISHED: &str = "finished";

/// The bars of the further tables, by the last part of their name. A chart is drawn only if it
/// differs from the bars of outcomes.
pub(super) fn charts(ledger: &Ledger) -> Vec<(&'static str, Chart)> {
    let ends = ledger.ends.as_deref().filter(|rows| is_other(ledger, rows));
    let ends = ends.map(|rows| (ENDS, ends_chart(ledger, rows)));
    let reasons = has_reasons(ledger).then(|| (REASONS, reasons_chart(ledger)));
    ends.into_iter().chain(reasons).collect()
}

fn ends_chart(ledger: &Ledger, rows: &[EndRow]) -> Chart {
    let all = rows.iter().map(|row| (words(&row.end).to_owned(), tone(&row.end), row.amount));
    let said = ". It counts what attempts did: a task that finished in a job that was killed later has \
        finished, and what an evicted attempt had done is lost, whatever became of its job.";
    bars(ledger, "per end of attempts", all.collect(), said)
}

fn reasons_chart(ledger: &Ledger) -> Chart {
    let mut amounts: Vec<f64> = ledger.reasons.iter().map(|row| row.amount).collect();
    amounts.sort_by(|one, other| other.total_cmp(one));
    let least = amounts.get(REASONS_MAX - 1).copied().unwrap_or(0.0);
    let drawn = ledger.reasons.iter().filter(|row| least <= row.amount && 0.0 < row.amount);
    let label = |row: &ReasonAmount| match (row.outcome.as_str(), row.course.as_deref()) {
        // No outcome has these names.
        (_, Some(course @ ("evicted" | "lost"))) => format!("{course}: {}", row.end_reason),
        (outcome, Some(course)) => format!("{outcome}, {course}: {}", row.end_reason),
        (outcome, None) => format!("{outcome}: {}", row.end_reason),
    };
    let all = drawn.take(REASONS_MAX);
    let all: Vec<_> = all.map(|row| (label(row), row.outcome.clone(), row.amount)).collect();
    let used = ledger.reasons.iter().filter(|row| 0.0 < row.amount).count();
    let cut = if all.len() < used {
        format!(" The {} most common of {used} are drawn.", all.len())
    } else {
        String::new()
    };
    let said =
        format!(". By the outcome of jobs and the reason that the log gives for their end.{cut}");
    bars(ledger, "per reason of the end", all, &said)
}

/// An end in the words of sentences, bars and the tables of a page.
pub(crate) fn words(end: &str) -> &str {
    match end {
        "open" => "still running",
        "with job" => "closed with their job",
        other => other,
    }
}

/// The outcome whose colour an end has.
fn tone(end: &str) -> String {
    if end == "open" { "running" } else { end }.to_owned()
}

/// The meanings of ends that are not outcomes, or that count less than the events of the same name.
const MEANINGS: [(&str, &str); 6] = [
    ("failed", "failed while it ran: a FAIL of a task that does not run ends no attempt"),
    ("killed", "killed while it ran: what was killed before it started had no attempt"),
    ("evicted", "evicted while it ran: an EVICT of a task that does not run ends no attempt"),
    ("rescheduled", "ended by the next SCHEDULE of its task, without a recorded end"),
    ("with job", "without a recorded end; the file calls it `with job`"),
    ("open", "at the end of the window; the file calls it `open`"),
];

impl AccountAnswer {
    /// The meanings of the ends, if the page has a table of them.
    pub(super) fn names(&self) -> Vec<(String, String)> {
        let rows = self.ends.as_deref().filter(|_| self.by_ends().is_some()).unwrap_or_default();
        let is_there = |end: &str| rows.iter().any(|row| row.end == end);
        let all = MEANINGS.iter().filter(|(end, _)| is_there(end));
        all.map(|(end, meaning)| (words(end).to_owned(), (*meaning).to_owned())).collect()
    }

    /// Whether most of what finished attempts used belongs to jobs that did not finish: finished
    /// jobs used less than half of it.
    pub(crate) fn finished_in_other_jobs(&self) -> bool {
        let ends = self.ends.iter().flatten().filter(|row| row.end == FINISHED);
        let of_attempts: f64 = ends.filter_map(|row| row.share).sum();
        2.0 * self.sum_of(FINISHED, |row| row.share) < of_attempts
    }

    /// How attempts ended, if that differs from the outcomes of their jobs: `still running 74.6 %,
    /// evicted 10.5 %, ...`.
    pub(crate) fn by_ends(&self) -> Option<String> {
        let of_jobs = self.sum_of(FINISHED, |row| row.share);
        self.ends.as_deref().filter(|rows| is_apart(rows, of_jobs)).and_then(ends_told)
    }

    /// The reason for more than half of the amount that the jobs of an outcome used: `12.5 % in 9
    /// jobs that ended as TIMEOUT`. `None` if there is no such reason, if the outcome has only one
    /// reason, or if the share of the outcome is below `LARGE`.
    pub(crate) fn main_reason(&self, outcome: &str) -> Option<String> {
        let own = || self.reasons.iter().filter(|row| row.outcome == outcome);
        let all: f64 = own().filter_map(|row| row.share).sum();
        let largest = own().max_by(|one, other| one.amount.total_cmp(&other.amount))?;
        let ReasonAmount { end_reason, jobs, share, .. } = largest;
        let is_told = |share: &f64| LARGE <= all && all < 2.0 * share && 1 < own().count();
        let share = share.filter(is_told)?;
        let jobs = counted(*jobs, "job");
        Some(format!("{} in {jobs} that ended as {end_reason}", percent(share)))
    }
}

/// The shares of the ends, the largest first.
fn ends_told(rows: &[EndRow]) -> Option<String> {
    let mut all: Vec<(f64, &EndRow)> = rows
        .iter()
        .filter_map(|row| Some((row.share?, row)))
        .filter(|row| APART <= row.0)
        .collect();
    all.sort_by(|one, other| other.0.total_cmp(&one.0));
    let parts = all.iter().map(|(share, row)| format!("{} {}", words(&row.end), percent(*share)));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The line about the ends of attempts; `None` if they show the same as the outcomes of jobs.
pub(super) fn ends_line(ledger: &Ledger) -> Option<String> {
    let rows = ledger.ends.as_deref().filter(|rows| is_other(ledger, rows))?;
    Some(format!("by how attempts ended, whatever became of their jobs: {}", ends_told(rows)?))
}
