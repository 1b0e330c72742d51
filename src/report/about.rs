//! The trace of a report in a few words: its file, its dates, and how many jobs, users and machines
//! it has.
//!
//! In: stored results. Out: text for the first line of the overview. Facts that no result has are
//! left out.

use super::text::instant;
use crate::answers::monthly::{self, MonthlyAnswer};
use crate::answers::sentences::Capacity;
use crate::answers::verify::{self, VerifyAnswer};
use crate::digits::{counted, lasting};
use crate::results::Stored;
use crate::schema::{Source, Table};

/// `, pozidriv.sacct.gz: 2016-12-21 21:43:34 to 2017-01-01 23:51:25 (11.1 d); 11,704 jobs of 18
/// users`.
pub(super) fn trace(results: &[Stored]) -> String {
    let file = results.iter().find_map(file).map_or_else(String::new, |file| format!(", {file}"));
    let facts = [time(results), amounts(results)];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if facts.is_empty() { file } else { format!("{file}: {}", facts.join("; ")) }
}

/// The name of the file or folder that was analysed, if the command names one.
fn file(result: &Stored) -> Option<String> {
    let [_, command, path, ..] = result.whole.command.as_slice() else { return None };
    let is_path = command == "analyze" && !path.starts_with('-');
    let name = path.trim_end_matches('/').rsplit('/').next();
    name.filter(|name| is_path && !name.is_empty()).map(str::to_owned)
}

/// The start of the remark about times without a zone, for any source.
pub(super) const NO_ZONE: &str = "times without a zone: taken as UTC";

/// The time from the first to the last event of jobs.
fn time(results: &[Stored]) -> Option<String> {
    let inputs = results.iter().flat_map(|result| &result.whole.inputs);
    let mut jobs = inputs.filter(|input| input.table == Table::JobEvents.name());
    let (start_s, end_s) = jobs.find_map(|input| input.start_s.zip(input.end_s))?;
    let length = lasting(end_s - start_s);
    if super::text::is_date(start_s) {
        let inputs = results.iter().flat_map(|result| &result.whole.inputs);
        let mut remarks = inputs.flat_map(|input| input.remarks.keys());
        let is_assumed = remarks.any(|remark| remark.starts_with(NO_ZONE));
        let zone = if is_assumed { "; the log names no time zone: taken as UTC" } else { "" };
        let [start, end] = [start_s, end_s].map(instant);
        // If a log is selected by time of end, the first submission does not describe its start
        // well.
        return Some(match super::early::complete_from(results) {
            Some(from) => format!(
                "jobs that ended from {from} to {end} UTC, the first of them submitted {start} ({length} \
                in all{zone})"
            ),
            None => format!("{start} to {end} UTC ({length}{zone})"),
        });
    }
    // Some logs give the start of their clock in the header; the answer by month then has the
    // dates.
    let months = results.iter().find(|result| result.name == monthly::KIND.name);
    let months = months.and_then(|result| result.found::<MonthlyAnswer>());
    Some(match months.filter(|months| !months.from_date.is_empty()) {
        Some(months) => format!("{} to {} ({length})", months.from_date, months.to_date),
        None => format!("{length}{}", undated(results)),
    })
}

/// `, without dates` if no result has the day on which the clock of the log began. The publisher of
/// the Google traces gives that day, and the page of load shows days of the week.
fn undated(results: &[Stored]) -> &'static str {
    let mut sources = results.iter().filter_map(|result| result.whole.source.as_ref());
    let is_published = sources.any(|name| name.parse().is_ok_and(Source::is_google));
    if is_published { "" } else { ", without dates" }
}

/// The number of jobs, users and machines, from the counts of the tables.
fn amounts(results: &[Stored]) -> Option<String> {
    let result = results.iter().find(|result| result.name == verify::KIND.name)?;
    let answer: &VerifyAnswer = result.found()?;
    let count = |table: Table, what: &str| {
        let mut counts = answer.counts.iter();
        let found = counts.find(|count| count.table == table.name() && count.what == what);
        found.map_or(0, |count| count.found)
    };
    let jobs = count(Table::JobEvents, "jobs");
    // A single machine stands for the whole system of a log. The same holds for one of several
    // machines if the log does not record the capacity.
    let made_up = u64::from(Capacity::of(&result.whole.inputs) == Capacity::FromUse);
    let machines = count(Table::MachineEvents, "machines").saturating_sub(made_up);
    let machines = if machines == 1 { 0 } else { machines };
    let all =
        [(jobs, "job"), (count(Table::JobEvents, "distinct user"), "user"), (machines, "machine")];
    let known = all.into_iter().filter(|(count, _)| 0 < *count);
    let known: Vec<String> = known.map(|(count, noun)| counted(count, noun)).collect();
    (!known.is_empty()).then(|| known.join(", "))
}
