//! Checks of a lake.

use arrow::record_batch::RecordBatch;
use serde_json::json;

use super::KIND;
use super::answer::VerifyAnswer;
use crate::answers::Said;
use crate::digits::grouped;
use crate::facts::census::{Census, census};
use crate::facts::window::Windows;
use crate::faults::{CheckFailed, Result};
use crate::lake::{Gap, Lake};
use crate::results::frame::Frame;
use crate::results::rows::TableRows;
use crate::results::store::Answer;
use crate::schema::Table;
use crate::studies::checks::{self, Check};
use crate::studies::first_end::FirstEnd;

/// The contents of a lake, and its faults.
pub struct LakeReport {
    census: Census,
    gaps: Vec<Gap>,
    contradictions: Vec<String>,
    /// Observations that look wrong although no check fails.
    pub(super) warnings: Vec<String>,
    first_end: Option<String>,
    pub(super) checks: Vec<Check>,
    /// The notes of the report.
    pub said: Vec<Said>,
}

/// Whether the files of a lake are known to be as they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Unknown: the files are compared with their checksums.
    Nothing,
    /// Known: this run has written and hashed all files.
    JustWritten,
}

/// Checks the files and the numbers of a lake; the notes name what is missing.
///
/// # Errors
/// A file cannot be read, or differs from its checksum.
pub fn lake_report(lake: &Lake, trust: Trust) -> Result<LakeReport> {
    // Every byte is read once; it is hashed, then counted.
    let census = match trust {
        Trust::Nothing => census(&lake.compared())?,
        Trust::JustWritten => census(lake)?,
    };
    if trust == Trust::Nothing {
        lake.check_rows()?;
        lake.check_footers()?;
    }
    let mut said = Vec::new();
    for &table in lake.source().tables() {
        match lake.manifest.table(table) {
            None => said.push(Said::note(format!("missing: the whole table {table}"))),
            Some(entry) if !entry.is_whole() => {
                let of = entry.parts.iter().find_map(|part| part.of);
                let of = of.map_or_else(String::new, |of| format!(" of {of}"));
                said.push(Said::note(format!(
                    "{table}: parts {}{of} are in the lake",
                    entry.part_ranges()
                )));
            }
            Some(_) => {}
        }
    }
    if let Some(note) = lake.gap_note() {
        said.push(Said::warning(note));
    }
    if !lake.manifest.origin.is_original() {
        said.push(Said::note("the trace is synthetic or a sample: published counts do not apply"));
    }
    let checks = checks::compare(lake, &census);
    for check in checks.iter().filter(|check| !check.is_ok()) {
        said.push(Said::warning(format!(
            "{}: {} is {}, published is {}",
            check.table,
            check.what,
            grouped(check.found),
            grouped(check.published)
        )));
    }
    let contradictions = checks::contradictions(lake, &census);
    said.extend(contradictions.iter().map(Said::warning));
    let first_end = FirstEnd::of(lake, Windows::of(lake))?.map(|first| first.said());
    let warnings = [checks::odd_parts(&lake.manifest), checks::odd_rows(&census)].concat();
    let warnings: Vec<String> = warnings.into_iter().chain(first_end.clone()).collect();
    said.extend(warnings.iter().map(Said::warning));
    for (wording, count) in lake.remarks(Table::TaskEvents) {
        said.push(Said::note(format!("task_events: {wording}: {}", grouped(count))));
    }
    said.extend(size_of_log(lake, &census));
    Ok(LakeReport { census, gaps: lake.gaps(), contradictions, warnings, first_end, checks, said })
}

/// A note with the number of jobs, next to the number in the header of the log. A cleaned log has
/// fewer jobs.
fn size_of_log(lake: &Lake, census: &Census) -> Option<Said> {
    let promised = lake.header("MaxJobs").find_map(|value| value.parse::<u64>().ok())?;
    let jobs = census.tables.get(&Table::JobEvents).and_then(|counts| counts.get("jobs"))?;
    let (jobs, promised) = (grouped(*jobs), grouped(promised));
    Some(Said::note(format!("{jobs} jobs; the header of the log states {promised}")))
}

impl LakeReport {
    /// One row per count.
    pub fn table(&self) -> RecordBatch {
        let counts: Vec<(Table, &String, u64)> = self
            .census
            .tables
            .iter()
            .flat_map(|(&table, counts)| {
                counts.iter().map(move |(what, &count)| (table, what, count))
            })
            .collect();
        let published = |table: Table, what: &str| {
            self.checks.iter().find(|check| check.table == table.name() && check.what == what)
        };
        let verdict = |table, what: &str| match published(table, what) {
            None => None,
            Some(check) if check.is_ok() => Some("as published"),
            Some(_) => Some("DIFFERS"),
        };
        Frame::default()
            .text("table", counts.iter().map(|(table, ..)| table.name()))
            .text("what", counts.iter().map(|(_, what, _)| what.as_str()))
            .count("count", counts.iter().map(|(.., count)| *count))
            .maybe_text("check", counts.iter().map(|(table, what, _)| verdict(*table, what)))
            .batch()
    }

    pub fn answer<'a>(&self, table: &'a RecordBatch) -> Answer<'a> {
        Answer {
            kind: KIND,
            table,
            json: json!(VerifyAnswer {
                checks: self.checks.clone(),
                contradictions: self.contradictions.clone(),
                warnings: self.warnings.clone(),
                first_end: self.first_end.clone(),
                counts: TableRows::of(table),
                gaps: self.gaps.clone(),
            }),
            settings: json!({}),
            charts: Vec::new(),
        }
    }

    /// The number of counts that are as published, in words; `None` if none are published.
    pub fn verdict(&self) -> Option<String> {
        let right = self.checks.iter().filter(|check| check.is_ok()).count();
        let all = self.checks.len();
        (0 < all).then(|| format!("{right} of {all} published counts agree"))
    }

    /// Whether the lake passes its checks.
    ///
    /// # Errors
    /// A count differs from the published one, or tables contradict each other; the exit code is 1.
    pub fn into_result(self) -> Result<()> {
        let wrong = self.checks.iter().filter(|check| !check.is_ok()).count();
        if !self.contradictions.is_empty() {
            Err(CheckFailed("the tables of the log contradict each other".to_owned()).into())
        } else if wrong == 0 {
            Ok(())
        } else {
            Err(CheckFailed(format!("{wrong} counts differ from the published ones")).into())
        }
    }
}
