//! A log that lacks the jobs that had ended before some instant, such as an export selected by time
//! of end.
//!
//! In: results. Out: the instant, and the warning on pages whose numbers include earlier times.

use super::tables::FOLDED_ROWS;
use super::text::escape;
use crate::answers::fairness::{self, FairnessAnswer};
use crate::answers::later_use::{LaterUse, Of};
use crate::answers::sentences::percent;
use crate::answers::{account, load};
use crate::digits::counted;
use crate::fairness::gather::By;
use crate::results::envelope::Measures;
use crate::results::{Stored, Table};
use crate::studies::first_end::{LACKS_EARLY, LACKS_OPEN};
use crate::studies::meter::CpuDefinition;

/// The instant from which a log seems to hold all jobs, if it was selected by time of end.
fn found(results: &[Stored]) -> Option<load::WholeFrom> {
    let of_load = |result: &&Stored| result.name == load::KIND.name;
    let mut loads = results.iter().filter(of_load).filter_map(Stored::found::<load::LoadAnswer>);
    loads.find_map(|answer| answer.whole_from.clone())
}

/// The same instant in seconds of the log's clock, and in words.
pub(super) fn whole_from(results: &[Stored]) -> Option<(f64, String)> {
    found(results).map(|from| (from.from_s, from.when))
}

/// The same instant in words.
pub(super) fn complete_from(results: &[Stored]) -> Option<String> {
    whole_from(results).map(|from| from.1)
}

/// A long table over time without the rows before the log holds all jobs, and a note about these
/// rows. `None` if no row is left out.
pub(super) fn whole_rows(table: &Table, results: &[Stored]) -> Option<(Table, String)> {
    let (from_s, when) = whole_from(results).filter(|_| 2 * FOLDED_ROWS < table.row_count)?;
    let place =
        table.header.iter().position(|name| ["start_s", "time_s"].contains(&name.as_str()))?;
    // If only the first rows are loaded, the rows must be sorted by time: later rows could
    // otherwise belong to the time that is left out.
    if table.rows.len() < table.row_count && 0 < place {
        return None;
    }
    // An interval of episodes that contains the instant counts as before it.
    let end = table.header.iter().position(|name| name == "end_s");
    let end = end.filter(|_| table.file == "episodes-intervals.csv");
    let is_before = |row: &Vec<String>| {
        let at_s = row.get(end.unwrap_or(place)).and_then(|cell| cell.parse::<f64>().ok());
        at_s.is_some_and(|at_s| at_s < from_s || end.is_some() && at_s <= from_s)
    };
    let (before, rows): (Vec<_>, Vec<_>) = table.rows.iter().cloned().partition(is_before);
    let own = Table { rows, row_count: table.row_count - before.len(), ..table.clone() };
    let count = counted(before.len() as u64, "row");
    let note =
        format!("<p class=\"source\">Only in the file: {count} before {}.</p>\n", escape(&when));
    // If all loaded rows would be left out, the table stays as it is: only the first rows of a very
    // long table are loaded.
    (!before.is_empty() && !own.rows.is_empty()).then_some((own, note))
}

/// A warning that numbers include a time for which the log lacks jobs; the consequences are folded.
/// Empty for a complete log.
pub(super) fn incomplete_in_short(results: &[Stored]) -> String {
    found(results).map_or_else(String::new, |from| {
        format!(
            "<details class=\"notice\"><summary>{}{}</summary>{}</details>\n",
            holds_only(&from),
            escape(&used_since(&from)),
            consequences(&from)
        )
    })
}

fn holds_only(from: &load::WholeFrom) -> String {
    let open = if from.lacks_open() { ", and none that still ran at its end" } else { "" };
    format!("The log seems to hold only jobs that ended from {} on{open}.", from.when)
}

/// A sentence about the users whose share of the use differs since then.
fn used_since(from: &load::WholeFrom) -> String {
    let used = from.used.as_ref().and_then(LaterUse::said);
    used.map_or_else(String::new, |said| format!(" {said}."))
}

/// The shares of a result about use, from the instant on at which the log is whole, as a sentence
/// without its full stop. `None` for a complete log, for other results, and if the shares hardly
/// differ from those of the whole log.
pub(super) fn later_shares(result: &Stored, results: &[Stored]) -> Option<String> {
    if result.whole.chosen::<Measures>().cpu != Some(CpuDefinition::Requested.to_string()) {
        return None;
    }
    let from = found(results)?;
    let used = from.used.as_ref()?;
    let when = &from.when;
    if result.name == account::KINDS[0].name {
        let [_, later] = used.unfinished()?.map(percent);
        return Some(format!(
            "From {when} on, {later} of the requested CPU time went to jobs that did not finish"
        ));
    }
    let by = Some(result).filter(|own| own.name == fairness::KIND.name);
    let by = by.and_then(Stored::found::<FairnessAnswer>).filter(|own| own.by == By::User);
    by.and_then(|_| used.most_from(when, Of::Users))
}

fn consequences(from: &load::WholeFrom) -> String {
    let open = if from.lacks_open() { format!(" {LACKS_OPEN}.") } else { String::new() };
    let means = from.means.said().map_or_else(String::new, |said| format!(" {said}."));
    format!("{LACKS_EARLY}.{means}{open}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::results::envelope::Envelope;

    /// Promise: shares of the time for which the log is whole come with shares of the same use.
    #[test]
    fn shares_from_the_first_end_on_are_those_of_requested_cpu() {
        let of = |name: &str, settings: Value, answer: Value| {
            let name = name.to_owned();
            Stored::of(Envelope { name, settings, answer, ..Envelope::default() })
        };
        let used = json!({"total_s": [1000.0, 500.0], "finished_s": [700.0, 450.0],
            "users": [{"name": "a", "cpu_s": [600.0, 100.0]}, {"name": "b", "cpu_s": [400.0, 400.0]}]});
        let load = json!({"whole_from": {"from_s": 150.0, "when": "noon", "used": used, "has_open": true}});
        let loads = [of(load::KIND.name, json!({}), load)];
        let said = |name: &str, cpu: &str, by: &str| {
            let answer = json!({"by": by, "total": 1000.0, "total_cpu_s": 1000.0});
            later_shares(&of(name, json!({"cpu": cpu}), answer), &loads)
        };
        let cpu = account::KINDS[0].name;
        assert_eq!(
            said(cpu, "requested", "user").unwrap(),
            "From noon on, 10.0 % of the requested CPU time went to jobs that did not finish"
        );
        assert_eq!(
            said(fairness::KIND.name, "requested", "user").unwrap(),
            "From noon on, user b requested most: 80.0 % of the CPU time"
        );
        assert_eq!(said(fairness::KIND.name, "requested", "queue"), None);
        assert_eq!(said(cpu, "measured", "user"), None);
        let own = of(cpu, json!({"cpu": "requested"}), json!({"total": 1000.0}));
        assert_eq!(later_shares(&own, &[]), None, "a complete log");
    }

    #[test]
    fn rows_before_the_log_is_whole_are_only_in_the_file() {
        let answer = json!({"whole_from": {"from_s": 150.0, "when": "noon"}});
        let name = load::KIND.name.to_owned();
        let results = [Stored::of(Envelope { name, answer, ..Envelope::default() })];
        let table = |rows: usize, row_count: usize| Table {
            file: "load.csv".to_owned(),
            header: ["start_s", "cpu"].map(str::to_owned).into(),
            rows: (0..rows).map(|at| vec![at.to_string(), "1".to_owned()]).collect(),
            row_count,
        };
        let (own, note) = whole_rows(&table(201, 201), &results).unwrap();
        assert_eq!((own.rows.len(), own.row_count, own.rows[0][0].as_str()), (51, 51, "150"));
        assert!(note.contains("150 rows before noon"), "{note}");
        // Nothing is left out of a short table, of one with only rows before the instant, or for a
        // complete log.
        assert!(whole_rows(&table(200, 200), &results).is_none());
        assert!(whole_rows(&table(150, 900), &results).is_none());
        assert!(whole_rows(&table(201, 201), &[]).is_none());
    }
}
