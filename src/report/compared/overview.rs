//! What changed between two sets of results: in sentences, and table by table.

use std::fmt::Write;

use super::changes::{Reader, largest};
use super::comparable::{changed, unanswered_of, why_not};
use super::names::{Names, ONLY_IN};
use crate::digits::counted;
use crate::report::findings::NoAnswer;
use crate::report::html::Cell;
use crate::report::text::{caption, escape, sentence};
use crate::results::{ResultChange, Side, TableChange, growth};

/// A row for each table with a change, for each table that is not compared, and for each result of
/// only one side.
pub(super) fn overview(
    changes: &[ResultChange],
    unanswered: &[NoAnswer],
    names: &Names<'_>,
) -> String {
    let only = [names.first, names.second].map(|name| format!("{ONLY_IN}{name}"));
    let header = [
        "result",
        "table",
        "rows in both",
        "changed",
        &only[0],
        &only[1],
        "change that matters most",
    ];
    let growth = growth(changes);
    let mut rows = Vec::new();
    let mut reasons = Vec::new();
    for change in changes {
        let name = || Cell::name(&caption(&change.name));
        if let Some(own) = unanswered_of(change, unanswered) {
            let empty = || Cell::name("");
            let why = Cell::name(&why_not(own, names, &mut reasons));
            rows.push(vec![name(), empty(), empty(), empty(), empty(), empty(), why]);
            continue;
        }
        let said = match change.side {
            Side::First => only[0].as_str(),
            Side::Second => only[1].as_str(),
            Side::Both if change.tables.is_empty() && change.not_compared.is_empty() => "no tables",
            Side::Both => "",
        };
        if !said.is_empty() {
            let empty = || Cell::name("");
            rows.push(vec![name(), Cell::name(said), empty(), empty(), empty(), empty(), empty()]);
        }
        for (file, why) in &change.not_compared {
            let empty = || Cell::name("");
            rows.push(vec![
                name(),
                Cell::name(file),
                empty(),
                empty(),
                empty(),
                empty(),
                Cell::name(why),
            ]);
        }
        for table in changed(change) {
            let count = |count: usize| Cell::of(&count.to_string());
            rows.push(vec![
                name(),
                Cell::name(&table.file),
                count(table.rows),
                count(table.changed_rows),
                count(table.only_first.len()),
                count(table.only_second.len()),
                Cell::name(&largest(table, growth, Reader::OfPage)),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    names.table("What changed, table by table", &header.map(str::to_owned), &rows)
}

/// The answers of both sides in sentences, question by question.
pub(super) fn in_words(answers: &[(&str, [Option<String>; 2])], names: &Names<'_>) -> String {
    if answers.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2>What each of them says</h2>\n<dl class=\"sides\">\n");
    for (asks, sides) in answers {
        let said = |side: &Option<String>| {
            side.as_deref().map_or_else(|| "no such result".to_owned(), sentence)
        };
        let _ = match sides {
            [Some(first), Some(second)] if first == second => writeln!(
                text,
                "<dt>{}</dt>\n<dd><b>The same in both:</b> {}</dd>",
                escape(asks),
                sentence(first)
            ),
            [first, second] => writeln!(
                text,
                "<dt>{}</dt>\n<dd><b>{}:</b> {}</dd>\n<dd><b>{}:</b> {}</dd>",
                escape(asks),
                escape(names.first),
                said(first),
                escape(names.second),
                said(second)
            ),
        };
    }
    text.push_str("</dl>\n");
    text
}

/// A sentence that lists the tables that are the same on both sides. Tables of results without an
/// answer are not listed, since they show nothing.
pub(super) fn unchanged(changes: &[ResultChange], unanswered: &[NoAnswer]) -> String {
    let answered = changes.iter().filter(|change| unanswered_of(change, unanswered).is_none());
    let all = answered.flat_map(|change| &change.tables).filter(|table| table.is_same());
    let files: Vec<String> = all.map(|table| escape(&table.file)).collect();
    if files.is_empty() {
        return String::new();
    }
    format!("<p class=\"source\">The same in both: {}.</p>\n", files.join(", "))
}

/// A sentence that nothing changed. `None` unless every result is on both sides and all tables are
/// the same.
pub fn nothing_changed(changes: &[ResultChange]) -> Option<String> {
    let is_same = |change: &ResultChange| {
        change.side == Side::Both
            && change.not_compared.is_empty()
            && change.tables.iter().all(TableChange::is_same)
    };
    let tables: usize = changes.iter().map(|change| change.tables.len()).sum();
    (0 < tables && changes.iter().all(is_same)).then(|| {
        let differ = changes.iter().any(|change| !change.settings.is_empty());
        let more = if differ { " Settings differ." } else { "" };
        format!(
            "Nothing changed: both have the same values ({}).{more}",
            counted(tables as u64, "table")
        )
    })
}
