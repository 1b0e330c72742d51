//! The changes of each result, in folded sections.

use std::fmt::Write;

use super::changes::{how_much, is_lasting, shown_in};
use super::comparable::{changed, unanswered_of};
use super::names::Names;
use super::origin::made_from;
use crate::digits::{counted, number_in};
use crate::report::findings::NoAnswer;
use crate::report::headings::heading;
use crate::report::html::Cell;
use crate::report::text::{caption, escape};
use crate::results::{ALL_TABLES, CellChange, Difference, ResultChange, Side, TableChange};

/// The largest number of changed values of a table on the page; `comparison.json` has all of them.
const CELLS_SHOWN: usize = 500;

/// A folded section for each result with a difference that is not shared by most results.
pub(super) fn sections(
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
            _ if one.not_compared.iter().any(|(file, _)| file == ALL_TABLES) => {
                "not compared".to_owned()
            }
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
    use super::super::changes::{Reader, largest};
    use super::super::overview::nothing_changed;
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
}
