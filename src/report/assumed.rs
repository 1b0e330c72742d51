//! Assumptions about lines of the trace, and facts that a log without a status cannot show.
//!
//! In: results. Out: the assumptions as a list, written once on a page instead of for each result;
//! and tables without the columns about facts that such a log does not record.

use std::borrow::Cow;

use super::about::NO_ZONE;
use super::machines::Units;
use super::text::sentence;
use crate::answers::load;
use crate::answers::monthly::{self, MonthlyAnswer};
use crate::answers::quality::assumption;
use crate::answers::sentences::Ends;
use crate::digits::grouped;
use crate::results::kind::Pages;
use crate::results::{Stored, Table};
use crate::schema::Source;

/// An assumption in the words of scopes, its wording on a page, and the number of lines.
struct Piece {
    in_scope: String,
    wording: String,
    count: u64,
}

/// Assumptions about lines of the trace.
pub(super) struct Assumed(Vec<Piece>);

impl Assumed {
    pub(super) fn of(results: &[Stored]) -> Self {
        let mut all: Vec<Piece> = Vec::new();
        for result in results {
            for (wording, &count) in result.whole.inputs.iter().flat_map(|input| &input.remarks) {
                let in_scope = format!("{wording}: {}", grouped(count));
                if all.iter().all(|known| known.in_scope != in_scope) {
                    all.push(Piece { in_scope, wording: wording.clone(), count });
                }
            }
        }
        Self(all)
    }

    /// The assumptions that at least one of the scopes mentions: those about the time zone, or the
    /// others.
    fn of_scopes(&self, scopes: &[String], are_of_zone: bool) -> Vec<String> {
        let bears = |piece: &&Piece| {
            piece.wording.starts_with(NO_ZONE) == are_of_zone
                && scopes.iter().any(|scope| scope.contains(&piece.in_scope))
        };
        let pieces = self.0.iter().filter(bears);
        pieces.map(|piece| sentence(&assumption(&piece.wording, piece.count))).collect()
    }

    /// A note for the end of a page about the time zone, if one of the scopes assumes it.
    pub(super) fn zone(&self, scopes: &[String]) -> String {
        let said = self.of_scopes(scopes, true).join(". ");
        if said.is_empty() { said } else { format!("<p class=\"source\">{said}.</p>\n") }
    }

    /// The other assumptions that at least one of the scopes mentions, as a list.
    pub(super) fn said(&self, scopes: &[String]) -> String {
        let items = self.of_scopes(scopes, false);
        if items.is_empty() {
            return String::new();
        }
        format!(
            "<p class=\"source\">Assumed where the log leaves something open:</p>\n\
            <ul class=\"source\">\n<li>{}.</li>\n</ul>\n",
            items.join(".</li>\n<li>")
        )
    }

    /// The text without the assumptions.
    pub(super) fn without(&self, text: &str) -> String {
        let cut = |text: String, piece: &Piece| {
            let piece = &piece.in_scope;
            text.replace(&format!("; {piece}"), "").replace(piece.as_str(), "")
        };
        self.0.iter().fold(text.to_owned(), cut)
    }
}

/// Whether a log records how the jobs of a result ended. Results about outcomes give their reason
/// themselves; this function is about tables that also have other figures.
fn ends_of(result: &Stored, pages: Option<Pages>) -> Ends {
    if pages == Some(Pages::Jobs) {
        return super::jobs::ends_of(result);
    }
    if result.name == monthly::KIND.name {
        let jobs = result.found::<MonthlyAnswer>().map_or(0, |answer| answer.jobs);
        return Ends::of(jobs, &result.whole.inputs);
    }
    Ends::Known
}

/// Columns that follow from how jobs ended.
const OF_ENDS: [&str; 8] = [
    "harmed_by",
    "outcome_sequence",
    "outcome_terminal",
    "not_finished_jobs",
    "wasted_cpu_h",
    "wasted_share",
    "late_cpu_h",
    "end_reason",
];

/// The table of how jobs ended.
const ENDS: &str = "monthly-ends.csv";

/// Whether a result has figures that depend on a status, although its log does not record a status.
pub(super) fn lacks_status(result: &Stored, pages: Option<Pages>) -> bool {
    ends_of(result, pages) == Ends::Assumed
}

/// The columns of a result that would state facts that its log does not record.
pub(super) fn unrecorded(result: &Stored, pages: Option<Pages>) -> Vec<&'static str> {
    let mut all = Vec::new();
    if lacks_status(result, pages) {
        all.extend(OF_ENDS);
    }
    // The number of machines of a log never changes, and one machine may stand for the whole
    // system.
    let source = result.whole.source.as_deref().and_then(|name| name.parse::<Source>().ok());
    if result.name == load::KIND.name && source.is_some_and(Source::is_log) {
        all.push("machines");
    }
    all
}

/// The table without these columns, which the log does not record; `None` for the table of how jobs
/// ended.
pub(super) fn recorded<'a>(table: &'a Table, unrecorded: &[&str]) -> Option<Cow<'a, Table>> {
    if unrecorded.is_empty() {
        return Some(Cow::Borrowed(table));
    }
    if table.file == ENDS {
        return None;
    }
    let kept: Vec<usize> = (0..table.header.len())
        .filter(|&place| !unrecorded.contains(&table.header[place].as_str()))
        .collect();
    let of = |cells: &[String]| {
        kept.iter().map(|&place| cells.get(place).cloned().unwrap_or_default()).collect()
    };
    Some(Cow::Owned(Table {
        header: of(&table.header),
        rows: table.rows.iter().map(|row| of(row)).collect(),
        ..table.clone()
    }))
}

/// A table in which classes of requests are in words, with their unit.
pub(crate) fn with_requests<'a>(table: &'a Table, source: Option<&str>) -> Cow<'a, Table> {
    let units = Units::of(source);
    let known = [("cpu_request", units.cpu), ("memory_request", units.memory)];
    let place = |name: &str| table.header.iter().position(|column| column == name);
    let places = known.into_iter().filter_map(|(name, unit)| Some((place(name)?, unit)));
    let places: Vec<(usize, &str)> = places.filter(|(_, unit)| !unit.is_empty()).collect();
    if places.is_empty() {
        return Cow::Borrowed(table);
    }
    let mut shown = table.clone();
    for row in &mut shown.rows {
        for &(place, unit) in &places {
            if let Some(cell) = row.get_mut(place).filter(|cell| !cell.is_empty()) {
                *cell = load::of_request(cell, unit);
            }
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_requests_have_their_unit() {
        let own = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect();
        let table = Table {
            file: "load-by-memory-request.csv".to_owned(),
            header: own(&["memory_request", "jobs"]),
            rows: vec![own(&["1000000 to 10000000", "7"])],
            row_count: 1,
        };
        let shown = with_requests(&table, Some("slurm"));
        assert_eq!(shown.rows[0].join(" "), "1.02 to 10.2 GB 7");
        assert_eq!(with_requests(&table, None).rows, table.rows);
    }

    #[test]
    fn the_time_zone_is_kept_apart_from_other_assumptions() {
        let piece = |wording: &str| Piece {
            in_scope: format!("{wording}: 7"),
            wording: wording.to_owned(),
            count: 7,
        };
        let (zone, wait) = (format!("{NO_ZONE} (x)"), "wait unknown: started at the submit");
        let assumed = Assumed(vec![piece(&zone), piece(wait)]);
        let scopes = [format!("all; {zone}: 7; {wait}: 7")];
        let (first, last) = (assumed.said(&scopes), assumed.zone(&scopes));
        assert!(first.contains("ait unknown") && !first.contains("ithout a zone"), "{first}");
        assert!(last.contains("ithout a zone") && !last.contains("ait unknown"), "{last}");
        assert_eq!(assumed.zone(&[]), "");
    }

    #[test]
    fn columns_of_outcomes_are_left_out_if_no_status_is_recorded() {
        let own = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect();
        let table = Table {
            file: "jobs.csv".to_owned(),
            header: own(&["job_id", "outcome_sequence", "tasks"]),
            rows: vec![own(&["7", "finished", "1"])],
            row_count: 1,
        };
        assert_eq!(recorded(&table, &[]).unwrap().header.len(), 3);
        let shown = recorded(&table, &OF_ENDS).unwrap();
        assert_eq!(shown.header.join(" "), "job_id tasks");
        assert_eq!(shown.rows[0].join(" "), "7 1");
        assert!(recorded(&Table { file: ENDS.to_owned(), ..table }, &OF_ENDS).is_none());
    }
}
