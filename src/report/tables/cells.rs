//! Cells of stored tables: numbers in the form of their column, with their interval and unit.

use super::columns::{LOWER_BOUNDS, MEASURES, PER_TASK_HOUR, beside, is_name, is_share};
use super::kept::{Kept, is_total};
use crate::answers::account::end_in_words;
use crate::answers::condition::name_of;
use crate::answers::predict::{self, short_name};
use crate::answers::sentences::short;
use crate::report::headings::{is_instant, is_length};
use crate::report::html::Cell;
use crate::report::links::Links;
use crate::results::Table;

/// A cell of a stored table: its value, with the unit and the interval that belong to it.
pub(super) fn cell_of(
    table: &Table,
    kept: &Kept<'_>,
    links: &Links,
    row: &[String],
    idx: usize,
) -> Cell {
    let text_at = |idx: usize| row.get(idx).map_or("", String::as_str);
    let (column, text) = (table.header[idx].as_str(), text_at(idx));
    if text.is_empty() && kept.columns.first() == Some(&idx) && is_total(table, row) {
        return Cell::name("all");
    }
    if let Some(page) = links.page(column, text) {
        return Cell::short_link(text, &short(text), &page);
    }
    let beside = beside(&table.header, column);
    let unit = beside.unit.map_or("", text_at);
    let value = |text: &str| in_unit(in_form(table, kept, text, idx), text, unit);
    let own = value(text);
    let bounds = beside.bounds.map(|(low, high)| [low, high].map(text_at));
    let own = match bounds.filter(|bounds| !bounds.contains(&"")) {
        Some([low, high]) => own.between(&value(low), &value(high)),
        None => own,
    };
    let bounds = table.header.iter().position(|name| name == LOWER_BOUNDS);
    let names = bounds.map_or("", text_at);
    if names.split(',').any(|name| name == column) { own.at_least() } else { own }
}

/// A value in the form of its column.
fn in_form(table: &Table, kept: &Kept<'_>, text: &str, idx: usize) -> Cell {
    let column = table.header[idx].as_str();
    match text {
        _ if matches!(column, "platform" | "user") => Cell::short_of(text, &short(text)),
        _ if is_rule(column) && table.file.starts_with(predict::KIND.name) => {
            Cell::short_of(text, &short_name(text))
        }
        _ if is_rule(column) => Cell::short_of(text, name_of(text)),
        _ if column == "harmed_by" => Cell::short_of(text, &names_of(text)),
        _ if column == "ended" => Cell::name(end_in_words(text)),
        _ if column == "spell" => Cell::name(&text.replace('_', " ")),
        _ if column == "settings" => Cell::name(&parameters(text)),
        _ if is_name(column) => Cell::name(text),
        "true" => Cell::name("yes"),
        "false" => Cell::name("no"),
        _ if column.ends_with("_request") => Cell::name(text),
        _ if PER_TASK_HOUR.contains(&column) => {
            text.parse().map_or_else(|_| Cell::of(text), |rate| Cell::in_units_of(rate, 0.001))
        }
        _ if is_share(column) || is_part_of_all(table, column) => Cell::share(text),
        // Survival times count from the start of each job or spell.
        _ if column == "time_s" && table.file.contains("survival") => {
            Cell::lasting(text.parse().ok())
        }
        _ if is_instant(column) => Cell::instant(text.parse().ok()),
        _ if is_length(column) || kept.are_lengths(column) => Cell::lasting(text.parse().ok()),
        _ if column == "day" => Cell::day(text),
        _ if kept.in_hours && kept.amounts.contains(&idx) => {
            text.parse().map_or_else(|_| Cell::of(text), Cell::hours)
        }
        _ if MEASURES.contains(&column) => Cell::measure(text),
        _ if column == "p_exponential" => Cell::chance(text),
        _ => Cell::of(text),
    }
}

/// Whether a column is a share of all CPU, although its name does not say so.
fn is_part_of_all(table: &Table, column: &str) -> bool {
    column == "cpu_requested" && table.file == "replay-record.csv"
}

/// The names of kill rules, with commas between them.
fn names_of(rules: &str) -> String {
    rules.split(", ").map(name_of).collect::<Vec<&str>>().join(", ")
}

/// Whether a column holds kill rules.
fn is_rule(column: &str) -> bool {
    column == "rule" || column.ends_with("_rule") || column == "among"
}

/// A value with the unit of its row. Lengths of time are in words; the unit of 1 is in the
/// singular.
pub(in crate::report) fn in_unit(value: Cell, text: &str, unit: &str) -> Cell {
    match (unit, text.parse::<f64>()) {
        ("", _) | (_, Err(_)) => value,
        ("s", Ok(seconds)) => Cell::lasting(Some(seconds)).in_unit(unit, ""),
        (_, Ok(1.0)) => value.in_unit(unit, &singular(unit)),
        (_, Ok(_)) => value.in_unit(unit, unit),
    }
}

/// `restart` for `restarts`; units such as `core-s` stay as they are.
fn singular(unit: &str) -> String {
    let end = unit.find(|letter: char| !letter.is_alphabetic()).unwrap_or(unit.len());
    let (word, rest) = unit.split_at(end);
    format!("{}{rest}", word.strip_suffix('s').unwrap_or(word))
}

/// The parameters of `name:key=value,key=value`, separated.
fn parameters(settings: &str) -> String {
    match settings.split_once(':') {
        Some((_, parameters)) => parameters.replace(',', ", "),
        None => "no parameters".to_owned(),
    }
}
