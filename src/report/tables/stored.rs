//! A stored table as HTML, with a link to its file and notes about its hidden parts.

use super::cells::cell_of;
use super::columns::{LOWER_BOUNDS, THRESHOLD, has_no_machines, is_folded, repeats_jobs};
use super::kept::{Kept, kept, says_nothing};
use crate::digits::{counted, grouped};
use crate::report::headings::heading;
use crate::report::html::{self, Cell};
use crate::report::indices::{IndexColumn, OfIndices};
use crate::report::links::Links;
use crate::report::text::escape;
use crate::results::Table;

/// A table with more rows is folded.
pub(super) const FOLDED_ABOVE: usize = 40;

/// Rows of a folded table that a page holds.
pub(in crate::report) const FOLDED_ROWS: usize = 100;

/// The smallest number of rows without effect that are folded.
const IDLE_FROM: usize = 3;

/// A stored table with a link to its file. `unit` is the unit of CPU, GPU and memory times, for
/// tables that do not name it.
pub(crate) fn stored_table(
    caption: &str,
    table: &Table,
    root: &str,
    links: &Links,
    indices: &OfIndices<'_>,
    unit: Option<&str>,
) -> String {
    let kept = kept(table, unit);
    let values = |column: &str| -> Vec<f64> {
        let place = table.header.iter().position(|name| name == column);
        let cells = kept.rows.iter().filter_map(|row| row.get(place?));
        cells.filter_map(|cell| cell.parse().ok()).collect()
    };
    let indices = IndexColumn::all(indices, values);
    let index_of = |column: &str| indices.iter().find(|index| index.column == column);
    let in_words = kept.columns.iter().any(|&idx| kept.are_lengths(&table.header[idx]));
    let units: Vec<String> = if in_words { Vec::new() } else { kept.units(table) };
    let caption = match units.as_slice() {
        [] => caption.to_owned(),
        units if caption.ends_with(&format!("({})", units.join(", "))) => caption.to_owned(),
        units => format!("{caption} ({})", units.join(", ")),
    };
    let header: Vec<String> = kept.columns.iter().map(|&idx| table.header[idx].clone()).collect();
    let (all, most) =
        (kept.rows.len(), if links.are_in(&header) { usize::MAX } else { FOLDED_ROWS });
    let shown = if all <= 2 * FOLDED_ROWS { all } else { most.min(all) };
    let of_row = |row: &&[String]| -> Vec<Cell> {
        let cell = |&idx: &usize| match index_of(&table.header[idx]) {
            Some(index) => index.cell(row.get(idx).map_or("", String::as_str)),
            None => cell_of(table, &kept, links, row, idx),
        };
        kept.columns.iter().map(cell).collect()
    };
    let rows: Vec<Vec<Cell>> = kept.rows.iter().take(shown).map(of_row).collect();
    let (notes, file) = (notes(table, &kept, &rows), escape(&table.file));
    let source =
        format!("<p class=\"source\">Data: <a href=\"{root}data/{file}\">{file}</a>{notes}</p>\n");
    if rows.is_empty() {
        return format!("<p>{}: no value above zero.</p>\n{source}", escape(&caption));
    }
    let idle = kept.rows.iter().take(shown).map(|row| does_nothing(&table.header, row));
    let idle: Vec<bool> = idle.collect();
    let idle_count = idle.iter().filter(|is_idle| **is_idle).count();
    let whole = if IDLE_FROM <= idle_count && idle_count < idle.len() {
        html::table_with_idle(&caption, &header, |column| kept.heading(table, column), &rows, &idle)
    } else {
        let heading = |column: &str| match index_of(column) {
            Some(index) => index.heading.clone(),
            None => kept.heading(table, column),
        };
        html::named_table(&caption, &header, heading, &rows)
    };
    let rows_seen = if idle_count < idle.len() { all - idle_count } else { all };
    let is_short = rows_seen <= FOLDED_ABOVE && !is_folded(table);
    if is_short || links.are_in(&header) {
        return whole + &source;
    }
    // A report loads only the first rows of a long table.
    let all = if table.rows.len() < table.row_count { table.row_count } else { all };
    let (said, count) = (escape(&caption), counted(all as u64, "row"));
    format!(
        "<details class=\"long\"><summary>{said}: {count}</summary>\n{whole}</details>\n{source}"
    )
}

/// Notes after the link to the file of a table, about the parts that the page does not show.
fn notes(table: &Table, kept: &Kept<'_>, cells: &[Vec<Cell>]) -> String {
    let (mut notes, shown) = (String::new(), cells.len());
    if shown < kept.rows.len() || table.rows.len() < table.row_count {
        let first = grouped(shown as u64);
        notes = format!("; the first {first} of {}", counted(table.row_count as u64, "row"));
    }
    if 0 < kept.zero_rows {
        let zeros = counted(kept.zero_rows as u64, "row");
        let are = if kept.zero_rows == 1 { "is" } else { "are" };
        notes = format!("{notes}; {zeros} with zeros only {are} not shown");
    }
    if 0 < kept.beaten_rows {
        let others = counted(kept.beaten_rows as u64, "other setting");
        notes = format!("{notes}; only in the file: {others}");
    }
    if !kept.zero_columns.is_empty() {
        let names: Vec<String> = kept.zero_columns.iter().map(|name| heading(name)).collect();
        let names = escape(&names.join(", "));
        notes = format!("{notes}; columns with only zeros are not shown: {names}");
    }
    if cells.iter().flatten().any(Cell::has_interval) {
        notes.push_str("; in small print: the 95 % interval");
    }
    let names: Vec<String> = kept.in_file_only.iter().map(|name| heading(name)).collect();
    if !names.is_empty() {
        notes = format!("{notes}; only in the file: {}", escape(&names.join(", ")));
    }
    let bounds = table.header.iter().position(|name| name == LOWER_BOUNDS);
    let has_bound = |row: &&[String]| {
        bounds.and_then(|place| row.get(place)).is_some_and(|names| !names.is_empty())
    };
    if kept.rows.iter().take(shown).any(has_bound) {
        notes.push_str("; ≥: some had not ended or began before the window, so that the value is this or larger");
    }
    let repeated = table.header.iter().filter(|column| repeats_jobs(table, column));
    let repeated: Vec<String> = repeated.map(|column| heading(column)).collect();
    if !repeated.is_empty() {
        notes = format!("{notes}; as many as jobs: {}", repeated.join(", "));
    }
    if kept.rows.iter().any(|row| has_no_machines(table, row)) {
        notes.push_str(
            "; a row of 0 machines: they had this configuration first, and another one when last seen",
        );
    }
    notes
}

/// Whether a row has a threshold but no effect: all other numbers are zero, except the number of
/// tasks on which the rule acts. Killing a task that has no work left has no effect.
fn does_nothing(header: &[String], row: &[String]) -> bool {
    let place = header.iter().position(|column| column == THRESHOLD);
    place.is_some_and(|place| {
        let others = |cells: &[String]| -> Vec<String> {
            let acts = |idx: usize| header[idx].starts_with("condemned_");
            let cells = cells.iter().enumerate().filter(|(idx, _)| *idx != place && !acts(*idx));
            cells.map(|(_, cell)| cell.clone()).collect()
        };
        says_nothing(&others(header), &others(row))
    })
}
