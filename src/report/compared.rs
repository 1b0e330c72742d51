//! The page of a comparison.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use arrow::record_batch::RecordBatch;

use super::ReportError;
use super::findings::{side_by_side, unanswered_by};
use super::headings::{heading, is_length};
use super::html::{self, Cell, Navigation, Page};
use super::place::NewFolder;
use super::text::{caption, escape, figure_text, percent, sentence};
use crate::digits::{counted, lasting, number_in};
use crate::results::frame::Frame;
use crate::results::{CellChange, Difference, ResultChange, Side, Stored, TableChange};

/// Changed values of a table that the page holds; `comparison.json` has all of them.
const CELLS_SHOWN: usize = 500;

/// Writes the page of a comparison of two folders, with its data, to the folder `out`, which is
/// replaced as a whole; returns its path.
///
/// # Errors
/// The folder holds something other than an earlier report, or a file cannot be written.
pub fn write_comparison(
    changes: &[ResultChange],
    sides: [(&str, &[Stored]); 2],
    out: &Path,
) -> Result<PathBuf, ReportError> {
    let mut folder = NewFolder::begin(out)?;
    let (names, results) = (sides.map(|side| side.0), sides.map(|side| side.1));
    let (answers, unanswered) = (side_by_side(results), unanswered_by(results));
    let mut body = format!(
        "<p class=\"lead\">First: <b>{}</b>. Second: <b>{}</b>.</p>\n",
        escape(names[0]),
        escape(names[1])
    );
    if let Some(said) = nothing_changed(changes) {
        let _ = writeln!(body, "<p class=\"answer\">{said}</p>");
    }
    body.push_str(&in_words(&answers));
    body.push_str(&overview(changes, &unanswered));
    body.push_str(&unchanged(changes));
    let common = [common(changes, settings_of), common(changes, data_of)];
    let (differ, sections) =
        (made_from(&common[0], &common[1]), sections(changes, &common, &unanswered));
    if !differ.is_empty() {
        let _ = write!(body, "<h2>What every result has different</h2>\n{differ}");
    }
    body.push_str(&sections);
    body.push_str(
        "<p class=\"source\">Complete comparison: <a href=\"comparison.json\">JSON</a></p>\n",
    );
    let file = "comparison.html".to_owned();
    let page = Page { file, title: "What changed".to_owned(), within: "comparison.html", body };
    let navigation = Navigation { pages: vec![("comparison.html", "What changed")] };
    folder.put("style.css", &super::style())?;
    folder.put("script.js", super::SCRIPT)?;
    let json = serde_json::json!({
        "program": crate::PROGRAM, "first": names[0], "second": names[1], "results": changes,
        "answers": answers.iter().map(|(asks, [first, second])| {
            serde_json::json!({"question": asks, "first": first, "second": second})
        }).collect::<Vec<_>>(),
    });
    folder.put("comparison.json", &format!("{json:#}\n"))?;
    folder.put("comparison.html", &page.html(&navigation))?;
    Ok(folder.publish()?.join("comparison.html"))
}

/// The answers of both in sentences, question by question.
fn in_words(answers: &[(&str, [Option<String>; 2])]) -> String {
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
                "<dt>{}</dt>\n<dd><b>First:</b> {}</dd>\n<dd><b>Second:</b> {}</dd>",
                escape(asks),
                said(first),
                said(second)
            ),
        };
    }
    text.push_str("</dl>\n");
    text
}

/// Why a result of both sides is not compared; `None` if it is.
fn why_not<'a>(change: &ResultChange, unanswered: &'a [(String, String)]) -> Option<&'a str> {
    let own = unanswered.iter().find(|(name, _)| *name == change.name);
    own.filter(|_| change.side == Side::Both).map(|(_, why)| why.as_str())
}

/// The tables that are the same in both, in a sentence.
fn unchanged(changes: &[ResultChange]) -> String {
    let all = changes.iter().flat_map(|change| &change.tables).filter(|table| table.is_same());
    let files: Vec<String> = all.map(|table| escape(&table.file)).collect();
    if files.is_empty() {
        return String::new();
    }
    format!("<p class=\"source\">The same in both: {}.</p>\n", files.join(", "))
}

/// That nothing changed, if so: every result is in both, and all of their tables are the same.
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

/// A line per table with a change, per table that is not compared, and per result of one side.
fn overview(changes: &[ResultChange], unanswered: &[(String, String)]) -> String {
    let header = [
        "result",
        "table",
        "rows in both",
        "changed",
        "only first",
        "only second",
        "change that matters most",
    ];
    let mut rows = Vec::new();
    for change in changes {
        let name = || Cell::name(&caption(&change.name));
        if let Some(why) = why_not(change, unanswered) {
            let empty = || Cell::name("");
            rows.push(vec![name(), empty(), empty(), empty(), empty(), empty(), Cell::name(why)]);
            continue;
        }
        let said = match change.side {
            Side::First => "only in the first",
            Side::Second => "only in the second",
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
        for table in change.tables.iter().filter(|table| !table.is_same()) {
            let count = |count: usize| Cell::of(&count.to_string());
            rows.push(vec![
                name(),
                Cell::name(&table.file),
                count(table.rows),
                count(table.changed_rows),
                count(table.only_first.len()),
                count(table.only_second.len()),
                Cell::name(&largest(table, Reader::OfPage)),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    html::table("What changed, table by table", &header.map(str::to_owned), &rows)
}

/// Who reads a change: a page has headings and units of time, a table on stdout has the names of
/// columns and seconds, as files do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    OfPage,
    OfTable,
}

/// The change of a table that matters most, in words; the units, if they differ.
fn largest(table: &TableChange, reader: Reader) -> String {
    if let Some((first, second)) = &table.units {
        let columns = table.other_unit.join(", ");
        let rest = if columns.is_empty() { "" } else { " not compared" };
        return format!("units differ ({first}, {second}) {columns}{rest}").trim_end().to_owned();
    }
    if table.has_no_pairs() {
        return "not compared: no row is in both".to_owned();
    }
    let Some(cell) = table.largest() else { return String::new() };
    let key = cell.key.join(" ");
    let of = if key.is_empty() { String::new() } else { format!(" of {key}") };
    let figure = |text: &str| match number_in(text) {
        Some(share) if cell.is_share() => percent(share),
        Some(number) if reader == Reader::OfPage && is_length(&cell.column) => lasting(number),
        Some(number) => figure_text(number),
        None if text.is_empty() => "nothing".to_owned(),
        None => text.to_owned(),
    };
    let by = how_much(cell).map_or_else(String::new, |by| format!(" ({by})"));
    let [first, second] = [&cell.first, &cell.second].map(|text| figure(text));
    let column = match reader {
        Reader::OfPage => heading(&cell.column),
        Reader::OfTable => cell.column.clone(),
    };
    format!("{column}{of}: {first} to {second}{by}")
}

/// How much a number changed: a share in points, a number that about doubled as a factor, the rest
/// in percent. `None` if a value is not a number, or if the first value is 0 (shares excepted).
fn how_much(cell: &CellChange) -> Option<String> {
    let (change, relative) = (cell.change?, cell.relative);
    if cell.is_share() {
        return Some(format!("{:+.2} points", change * 100.0));
    }
    // The percentage of a difference says nothing: from -820 s to 0.65 s.
    let is_difference = cell.column.ends_with("_change") || cell.column.starts_with("difference");
    let relative = relative.filter(|_| !is_difference)?;
    let is_positive = number_in(&cell.first).is_some_and(|first| 0.0 < first);
    Some(match relative {
        0.995.. if is_positive && relative < 9.0 => format!("{:.1} times", 1.0 + relative),
        0.995.. if is_positive => format!("{} times", figure_text((1.0 + relative).round())),
        _ => format!("{:+.1} %", relative * 100.0),
    })
}

/// A row per table, per result that only one side has, per table that is not compared, and per
/// result without tables.
pub fn comparison_table(changes: &[ResultChange]) -> RecordBatch {
    let (mut results, mut files, mut counts, mut most) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for change in changes {
        let missing = match change.side {
            Side::First => Some("only in the first"),
            Side::Second => Some("only in the second"),
            Side::Both => None,
        };
        if let Some(missing) = missing {
            results.push(change.name.as_str());
            files.push(missing);
            counts.push([0; 5]);
            most.push(String::new());
        }
        let no_table = change.side == Side::Both && change.tables.is_empty();
        let others = change.not_compared.iter().map(|(file, why)| (file.as_str(), why.as_str()));
        for (file, why) in others.chain(no_table.then_some(("no table", ""))) {
            results.push(change.name.as_str());
            files.push(file);
            counts.push([change.settings.len() as u64, 0, 0, 0, 0]);
            most.push(why.to_owned());
        }
        for table in &change.tables {
            results.push(change.name.as_str());
            files.push(table.file.as_str());
            counts.push([
                change.settings.len() as u64,
                table.rows as u64,
                table.changed_rows as u64,
                table.only_first.len() as u64,
                table.only_second.len() as u64,
            ]);
            most.push(largest(table, Reader::OfTable));
        }
    }
    let count = |place: usize| counts.iter().map(move |counts| counts[place]);
    Frame::default()
        .text("result", results)
        .text("table", files)
        .count("settings_differ", count(0))
        .count("rows", count(1))
        .count("changed", count(2))
        .count("only_first", count(3))
        .count("only_second", count(4))
        .text("largest_change", most)
        .batch()
}

fn settings_of(change: &ResultChange) -> &Vec<Difference> {
    &change.settings
}

fn data_of(change: &ResultChange) -> &Vec<Difference> {
    &change.data
}

/// The differences that most results of both sides share: they are listed once.
fn common(changes: &[ResultChange], of: fn(&ResultChange) -> &Vec<Difference>) -> Vec<Difference> {
    let both: Vec<&ResultChange> =
        changes.iter().filter(|change| change.side == Side::Both).collect();
    let mut all: Vec<Difference> = Vec::new();
    for one in both.iter().flat_map(|change| of(change)) {
        let count = both.iter().filter(|change| of(change).contains(one)).count();
        if 1 < count && both.len() < 2 * count && !all.contains(one) {
            all.push(one.clone());
        }
    }
    all
}

/// Tables of the settings and of the data that differ; empty without differences.
fn made_from(settings: &[Difference], data: &[Difference]) -> String {
    let mut text = String::new();
    let both = [
        ("Settings that differ", settings),
        ("Data that differ: path, time span, rows and remarks", data),
    ];
    for (title, found) in both.into_iter().filter(|(_, found)| !found.is_empty()) {
        let header = ["made from", "first", "second"].map(str::to_owned);
        let row = |(what, first, second): &Difference| {
            vec![Cell::name(what), Cell::name(first), Cell::name(second)]
        };
        let rows: Vec<Vec<Cell>> = found.iter().map(row).collect();
        text.push_str(&html::table(title, &header, &rows));
    }
    text
}

/// A folded section for each result of both sides with a difference that is not common.
fn sections(
    changes: &[ResultChange],
    common: &[Vec<Difference>; 2],
    unanswered: &[(String, String)],
) -> String {
    let mut text = String::new();
    let both = changes.iter().filter(|change| change.side == Side::Both);
    for one in both.filter(|change| why_not(change, unanswered).is_none()) {
        let own = |all: &[Difference], common: &[Difference]| -> Vec<Difference> {
            all.iter().filter(|found| !common.contains(found)).cloned().collect()
        };
        let (settings, data) = (own(&one.settings, &common[0]), own(&one.data, &common[1]));
        let differing = one.tables.iter().filter(|table| !table.is_same());
        let tables: String = differing.clone().map(table_section).collect();
        let made_from = made_from(&settings, &data);
        if tables.is_empty() && made_from.is_empty() {
            continue;
        }
        let count = match differing.count() {
            0 => "no table".to_owned(),
            some => counted(some as u64, "table"),
        };
        let _ = write!(
            text,
            "<section>\n<details><summary>{}: {count} changed</summary>\n{made_from}{tables}</details>\n\
            </section>\n",
            escape(&caption(&one.name))
        );
    }
    if text.is_empty() { text } else { format!("<h2>Result by result</h2>\n{text}") }
}

fn table_section(table: &TableChange) -> String {
    let mut text = String::new();
    if let Some((first, second)) = &table.units {
        let _ = writeln!(
            text,
            "<p>The first is in {}, the second in {}.</p>",
            escape(first),
            escape(second)
        );
    }
    if !table.other_unit.is_empty() {
        let columns = escape(&table.other_unit.join(", "));
        let _ = writeln!(text, "<p>Not compared, because their units differ: {columns}</p>");
    }
    if table.has_no_pairs() {
        let _ = writeln!(
            text,
            "<p>No value of {} is compared: no row has the same {} in both.</p>",
            escape(&table.file),
            escape(&table.key.join(", "))
        );
    }
    if table.key.is_empty() {
        text.push_str("<p>This table has repeated rows: equal rows are counted.</p>\n");
    }
    for (side, keys) in [("first", &table.only_first), ("second", &table.only_second)] {
        if !keys.is_empty() {
            let names: Vec<String> = keys.iter().take(20).map(|key| key.join(" ")).collect();
            let more = if 20 < keys.len() { ", ..." } else { "" };
            let _ = writeln!(
                text,
                "<p>Rows of {} in the {side} only ({}): {}{more}</p>",
                escape(&table.file),
                keys.len(),
                escape(&names.join(", "))
            );
        }
    }
    if !table.columns.is_empty() {
        let columns = escape(&table.columns.join(", "));
        let _ = writeln!(text, "<p>Columns in one only: {columns}</p>");
    }
    if table.cells.is_empty() {
        return text;
    }
    let mut header = table.key.clone();
    header.extend(["column", "first", "second", "change", "by"].map(str::to_owned));
    let row = |cell: &CellChange| {
        let number = |number: Option<f64>| Cell::of(&number.map_or_else(String::new, figure_text));
        let mut row: Vec<Cell> = cell.key.iter().map(|key| Cell::name(key)).collect();
        row.extend([
            Cell::name(&heading(&cell.column)),
            of_column(cell, &cell.first),
            of_column(cell, &cell.second),
            number(cell.change),
            Cell::name(&how_much(cell).unwrap_or_default()),
        ]);
        row
    };
    let rows: Vec<Vec<Cell>> = table.cells.iter().take(CELLS_SHOWN).map(row).collect();
    text.push_str(&html::table(&format!("Values of {} that changed", table.file), &header, &rows));
    if CELLS_SHOWN < table.cells.len() {
        let _ = writeln!(
            text,
            "<p class=\"source\">The first {CELLS_SHOWN} of {}.</p>",
            table.cells.len()
        );
    }
    text
}

/// A value of a column: a share in percent, a length of time in words, a number, or a text.
fn of_column(cell: &CellChange, text: &str) -> Cell {
    if cell.is_share() {
        Cell::share(text)
    } else if is_length(&cell.column) && !text.is_empty() {
        Cell::lasting(number_in(text))
    } else {
        Cell::of(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(column: &str, first: &str, second: &str, reader: Reader) -> String {
        let (one, other) = (number_in(first), number_in(second));
        let change = one.zip(other).map(|(one, other)| other - one);
        let relative = one.zip(change).map(|(one, change)| change / one.abs());
        let cell = CellChange {
            key: vec!["physics".to_owned()],
            column: column.to_owned(),
            first: first.to_owned(),
            second: second.to_owned(),
            change,
            relative: relative.filter(|share| share.is_finite()),
            of_column: change,
        };
        let change = TableChange {
            file: String::new(),
            key: Vec::new(),
            rows: 1,
            changed_rows: 1,
            only_first: Vec::new(),
            only_second: Vec::new(),
            columns: Vec::new(),
            units: None,
            other_unit: Vec::new(),
            cells: vec![cell],
        };
        largest(&change, reader)
    }

    #[test]
    fn what_is_the_same_or_cannot_be_compared_is_said() {
        let table = |rows: usize, only: usize| TableChange {
            file: "a.csv".to_owned(),
            key: vec!["sequence".to_owned()],
            rows,
            changed_rows: 0,
            only_first: vec![vec!["014".to_owned()]; only],
            only_second: vec![vec!["4".to_owned()]; only],
            columns: Vec::new(),
            units: None,
            other_unit: Vec::new(),
            cells: Vec::new(),
        };
        let change = |table: TableChange| ResultChange {
            name: "jobs".to_owned(),
            side: Side::Both,
            settings: Vec::new(),
            data: Vec::new(),
            tables: vec![table],
            not_compared: Vec::new(),
        };
        let same = nothing_changed(&[change(table(3, 0))]).unwrap();
        assert_eq!(same, "Nothing changed: both have the same values (1 table).");
        assert_eq!(nothing_changed(&[change(table(3, 0)), change(table(0, 1))]), None);
        assert_eq!(nothing_changed(&[]), None);
        assert_eq!(largest(&table(0, 1), Reader::OfPage), "not compared: no row is in both");
        let said = table_section(&table(0, 1));
        assert!(
            said.contains("No value of a.csv is compared: no row has the same sequence"),
            "{said}"
        );
        assert!(!table_section(&table(3, 1)).contains("No value"));
    }

    #[test]
    fn changes_are_said_in_plain_figures() {
        let cases = [
            ("jobs", "5363", "4771", "jobs of physics: 5,363 to 4,771 (-11.0 %)"),
            ("jobs", "5", "1002", "jobs of physics: 5 to 1,002 (200 times)"),
            ("wait_s", "1.0", "21858.0", "wait of physics: 1 s to 6.07 h (21,858 times)"),
            ("jobs", "10", "25", "jobs of physics: 10 to 25 (2.5 times)"),
            ("jobs", "10", "19", "jobs of physics: 10 to 19 (+90.0 %)"),
            ("jobs", "0", "7", "jobs of physics: 0 to 7"),
            ("net_cpu", "-2", "6", "net CPU of physics: -2 to 6 (+400.0 %)"),
            ("share", "0.0013", "0.0174", "share of physics: 0.13 % to 1.74 % (+1.61 points)"),
            ("wait_s", "", "7", "wait of physics: nothing to 7 s"),
            ("cpu", "0.1", "0.3333333333", "CPU of physics: 0.1 to 0.333333 (3.3 times)"),
        ];
        for (column, first, second, expected) in cases {
            assert_eq!(said(column, first, second, Reader::OfPage), expected);
        }
        let raw = said("wait_s", "1.0", "21858.0", Reader::OfTable);
        assert_eq!(raw, "wait_s of physics: 1 to 21,858 (21,858 times)");
    }
}
