//! The page of a comparison.
//!
//! In: the changes between two folders of results. Out: a page with the answers of both, each change
//! of a table, and what differs in settings and data.

mod changes;
mod drawn;
mod figures;
mod origin;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::ReportError;
use super::findings::{NoAnswer, lacks_outcomes, side_by_side, unanswered_by};
use super::headings::heading;
use super::html::{self, Cell, Navigation, Page};
use super::place::NewFolder;
use super::text::{caption, escape, sentence};
use crate::digits::{counted, number_in};
use crate::results::{CellChange, Difference, ResultChange, Side, Stored, TableChange, growth};

pub use changes::comparison_table;
use changes::{Reader, how_much, is_lasting, largest, shown_in};
use origin::{common, data_of, made_from, settings_of};

/// What the page calls the two sides: the names of their folders, or first and second if these are
/// long or the same.
struct Names<'a> {
    first: &'a str,
    second: &'a str,
}

impl<'a> Names<'a> {
    /// Longer names are not repeated, letters.
    const LETTERS_MAX: usize = 24;

    fn of(folders: [&'a str; 2]) -> Self {
        let [first, second] = folders.map(|folder| {
            let name = Path::new(folder).file_name().and_then(|name| name.to_str());
            name.filter(|name| name.chars().count() <= Self::LETTERS_MAX)
        });
        match first.zip(second) {
            Some((first, second)) if first != second => Self { first, second },
            _ => Self { first: "first", second: "second" },
        }
    }

    /// A table in which the names of the sides stay as they are: others may be columns of files.
    fn table(&self, caption: &str, header: &[String], rows: &[Vec<Cell>]) -> String {
        let is_of_side = |name: &str| {
            let side = name.strip_prefix(ONLY_IN).unwrap_or(name);
            [self.first, self.second].contains(&side)
        };
        let own = |name: &str| if is_of_side(name) { name.to_owned() } else { heading(name) };
        html::named_table(caption, header, own, rows)
    }
}

/// How the heading of a column of rows of one side begins.
const ONLY_IN: &str = "only in ";

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
    let labels = &Names::of(names);
    let lacks_outcomes = |side: &[Stored]| side.iter().any(lacks_outcomes);
    let has_outcomes = !results.into_iter().any(lacks_outcomes);
    let known =
        if has_outcomes { changes.to_vec() } else { changes.iter().map(of_all_outcomes).collect() };
    let mut body = format!(
        "<p class=\"lead\">First: <b>{}</b>. Second: <b>{}</b>.</p>\n",
        escape(names[0]),
        escape(names[1])
    );
    if let Some(said) = nothing_changed(changes) {
        let _ = writeln!(body, "<p class=\"answer\">{said}</p>");
    }
    body.push_str(&figures::same_time(results));
    if nothing_changed(changes).is_none() {
        body.push_str(&figures::verdict(results, has_outcomes, labels));
    }
    body.push_str(&figures::table(results, has_outcomes, labels));
    body.push_str(&drawn::charts(results, labels));
    body.push_str(&in_words(&answers, labels));
    body.push_str(&overview(&known, &unanswered, labels));
    body.push_str(&unchanged(changes, &unanswered));
    let common = [common(&known, settings_of), common(&known, data_of)];
    let (differ, sections) =
        (made_from(&common[0], &common[1], labels), sections(&known, &common, &unanswered, labels));
    if !differ.is_empty() {
        let _ = write!(body, "<h2>What differs behind every result</h2>\n{differ}");
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
fn in_words(answers: &[(&str, [Option<String>; 2])], names: &Names<'_>) -> String {
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

/// The side without an answer of a result that both have; `None` if it is compared.
fn unanswered_of<'a>(change: &ResultChange, unanswered: &'a [NoAnswer]) -> Option<&'a NoAnswer> {
    let own = unanswered.iter().find(|one| one.result == change.name);
    own.filter(|_| change.side == Side::Both)
}

/// Why a result is not compared; a reason is given once.
fn why_not<'a>(own: &'a NoAnswer, names: &Names<'_>, said: &mut Vec<&'a str>) -> String {
    let (who, why) = match own.why.each_ref().map(Option::as_deref) {
        [Some(_), Some(_)] => return "not compared: neither has an answer".to_owned(),
        [Some(why), None] => (names.first, why),
        [None, other] => (names.second, other.unwrap_or_default()),
    };
    let more = if said.contains(&why) { String::new() } else { format!(" ({why})") };
    said.push(why);
    format!("not compared: {who} has no answer{more}")
}

/// A change without the rows of single outcomes: a side does not record how its jobs ended.
fn of_all_outcomes(change: &ResultChange) -> ResultChange {
    let mut kept = change.clone();
    for table in &mut kept.tables {
        let Some(place) = table.key.iter().position(|name| name == "outcome") else { continue };
        let is_of_all = |key: &Vec<String>| key.get(place).is_some_and(|name| name == "all");
        table.cells.retain(|cell| is_of_all(&cell.key));
        table.only_first.retain(is_of_all);
        table.only_second.retain(is_of_all);
        let rows: BTreeSet<&Vec<String>> = table.cells.iter().map(|cell| &cell.key).collect();
        table.changed_rows = rows.len();
    }
    let is_empty = |table: &TableChange| {
        let was = change.tables.iter().find(|known| known.file == table.file);
        table.is_same() && was.is_some_and(|known| !known.is_same())
    };
    let (emptied, tables) = kept.tables.into_iter().partition(is_empty);
    kept.tables = tables;
    let why = "not compared: one side does not record how jobs ended".to_owned();
    kept.not_compared.extend(emptied.into_iter().map(|table| (table.file, why.clone())));
    kept
}

/// The tables with a change. The curves of a table change with it.
fn changed(change: &ResultChange) -> Vec<&TableChange> {
    let all = || change.tables.iter().filter(|table| !table.is_same());
    let are_curves = |table: &&TableChange| table.file.ends_with("-curves.csv");
    if all().all(|table| are_curves(&table)) {
        return all().collect();
    }
    all().filter(|table| !are_curves(table)).collect()
}

/// The tables that are the same in both, in a sentence; those of results without an answer say
/// nothing.
fn unchanged(changes: &[ResultChange], unanswered: &[NoAnswer]) -> String {
    let answered = changes.iter().filter(|change| unanswered_of(change, unanswered).is_none());
    let all = answered.flat_map(|change| &change.tables).filter(|table| table.is_same());
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
fn overview(changes: &[ResultChange], unanswered: &[NoAnswer], names: &Names<'_>) -> String {
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

/// A folded section for each result of both sides with a difference that is not common.
fn sections(
    changes: &[ResultChange],
    common: &[Vec<Difference>; 2],
    unanswered: &[NoAnswer],
    names: &Names<'_>,
) -> String {
    let mut text = String::new();
    let both = changes.iter().filter(|change| change.side == Side::Both);
    for one in both.filter(|change| unanswered_of(change, unanswered).is_none()) {
        let own = |all: &[Difference], common: &[Difference]| -> Vec<Difference> {
            all.iter().filter(|found| !common.contains(found)).cloned().collect()
        };
        let (settings, data) = (own(&one.settings, &common[0]), own(&one.data, &common[1]));
        let differing = one.tables.iter().filter(|table| !table.is_same());
        let tables: String = differing.map(|table| table_section(table, names)).collect();
        let made_from = made_from(&settings, &data, names);
        if tables.is_empty() && made_from.is_empty() {
            continue;
        }
        let count = match (changed(one).len() as u64, one.not_compared.len() as u64) {
            (0, 0) => "no table changed".to_owned(),
            (0, others) => format!("{} not compared", counted(others, "table")),
            (some, 0) => format!("{} changed", counted(some, "table")),
            (some, others) => format!("{} changed, {others} not compared", counted(some, "table")),
        };
        let _ = write!(
            text,
            "<section>\n<details><summary>{}: {count}</summary>\n{made_from}{tables}</details>\n\
            </section>\n",
            escape(&caption(&one.name))
        );
    }
    if text.is_empty() { text } else { format!("<h2>Result by result</h2>\n{text}") }
}

fn table_section(table: &TableChange, names: &Names<'_>) -> String {
    let mut text = String::new();
    if let Some((first, second)) = &table.units {
        let _ = writeln!(
            text,
            "<p>{}: in {}; {}: in {}.</p>",
            escape(names.first),
            escape(first),
            escape(names.second),
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
    for (side, keys) in [(names.first, &table.only_first), (names.second, &table.only_second)] {
        if !keys.is_empty() {
            let names: Vec<String> = keys.iter().take(20).map(|key| key.join(" ")).collect();
            let more = if 20 < keys.len() { ", ..." } else { "" };
            let _ = writeln!(
                text,
                "<p>Rows of {} only in {} ({}): {}{more}</p>",
                escape(&table.file),
                escape(side),
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
    text + &cells(table, names)
}

/// The values that changed.
fn cells(table: &TableChange, names: &Names<'_>) -> String {
    let mut header = table.key.clone();
    header.extend(["column", names.first, names.second, "change", "by"].map(str::to_owned));
    let row = |cell: &CellChange| {
        let change = cell.change.map(|change| of_column(cell, &change.to_string()));
        let mut row: Vec<Cell> = cell.key.iter().map(|key| Cell::name(key)).collect();
        row.extend([
            Cell::name(&heading(&cell.column)),
            of_column(cell, &cell.first),
            of_column(cell, &cell.second),
            change.unwrap_or_else(|| Cell::name("")),
            Cell::name(&how_much(cell).unwrap_or_default()),
        ]);
        row
    };
    let rows: Vec<Vec<Cell>> = table.cells.iter().take(CELLS_SHOWN).map(row).collect();
    let caption = format!("Values of {} that changed", table.file);
    let mut text = names.table(&caption, &header, &rows);
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
    } else if is_lasting(cell) && !text.is_empty() {
        Cell::lasting(number_in(text))
    } else {
        match (number_in(text), shown_in(cell)) {
            (Some(number), Some((shown, per))) => {
                let unit = cell.row_unit.as_deref().unwrap_or_default();
                Cell::in_units_of(number, per).in_unit(unit, &shown)
            }
            _ => Cell::of(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(largest(&table(0, 1), 0.0, Reader::OfPage), "not compared: no row is in both");
        let said = table_section(&table(0, 1), &Names::of(["a/x", "b/y"]));
        assert!(
            said.contains("No value of a.csv is compared: no row has the same sequence"),
            "{said}"
        );
        assert!(!table_section(&table(3, 1), &Names::of(["a/x", "b/x"])).contains("No value"));
    }

    /// A table of outcomes, in which these rows changed.
    fn of_outcomes(file: &str, rows: &[&str]) -> TableChange {
        let cell = |outcome: &&str| CellChange {
            row_unit: None,
            key: vec![(*outcome).to_owned()],
            column: "count".to_owned(),
            first: "1".to_owned(),
            second: "2".to_owned(),
            change: Some(1.0),
            relative: Some(1.0),
            of_column: Some(1.0),
        };
        TableChange {
            file: file.to_owned(),
            key: vec!["outcome".to_owned()],
            rows: rows.len(),
            changed_rows: rows.len(),
            only_first: Vec::new(),
            only_second: Vec::new(),
            columns: Vec::new(),
            units: None,
            other_unit: Vec::new(),
            cells: rows.iter().map(cell).collect(),
        }
    }

    #[test]
    fn outcomes_that_a_side_does_not_record_are_not_compared() {
        let tables = vec![
            of_outcomes("lengths.csv", &["all", "finished"]),
            of_outcomes("ends.csv", &["finished", "failed"]),
        ];
        let change = ResultChange {
            name: "lengths".to_owned(),
            side: Side::Both,
            settings: Vec::new(),
            data: Vec::new(),
            tables,
            not_compared: Vec::new(),
        };
        let kept = of_all_outcomes(&change);
        assert_eq!(kept.tables.len(), 1);
        assert_eq!((kept.tables[0].changed_rows, &*kept.tables[0].cells[0].key[0]), (1, "all"));
        assert_eq!(kept.not_compared[0].0, "ends.csv");
        // What differs is not called the same.
        assert_eq!(unchanged(&[change], &[]), "");
    }

    #[test]
    fn curves_are_named_only_if_nothing_else_changed() {
        let of = |files: &[&str]| ResultChange {
            name: "lengths".to_owned(),
            side: Side::Both,
            settings: Vec::new(),
            data: Vec::new(),
            tables: files.iter().map(|file| of_outcomes(file, &["all"])).collect(),
            not_compared: Vec::new(),
        };
        let told = |files: &[&str]| -> Vec<String> {
            changed(&of(files)).into_iter().map(|table| table.file.clone()).collect()
        };
        assert_eq!(told(&["a.csv", "a-curves.csv"]), ["a.csv"]);
        assert_eq!(told(&["a-curves.csv"]), ["a-curves.csv"]);
    }
}
