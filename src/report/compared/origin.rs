//! The origin of two results: settings and data that differ.
//!
//! In: the differences of a comparison, by their keys in the JSON of the results. Out: tables for a
//! page, in words.

use super::names::Names;
use crate::report::html::Cell;
use crate::report::settings::in_words;
use crate::results::{Difference, ResultChange, Side};

pub(super) fn settings_of(change: &ResultChange) -> &Vec<Difference> {
    &change.settings
}

pub(super) fn data_of(change: &ResultChange) -> &Vec<Difference> {
    &change.data
}

/// The differences that more than half of the results of both sides share. They are listed only
/// once.
pub(super) fn common(
    changes: &[ResultChange],
    of: fn(&ResultChange) -> &Vec<Difference>,
) -> Vec<Difference> {
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

/// Tables of the settings and the data that differ; empty if nothing differs.
pub(super) fn made_from(settings: &[Difference], data: &[Difference], names: &Names<'_>) -> String {
    let mut text = String::new();
    let both = [
        ("Settings that differ", settings),
        ("Data that differ: path, time span, rows and remarks", data),
    ];
    for (title, found) in both.into_iter().filter(|(_, found)| !found.is_empty()) {
        let header = ["made from", names.first, names.second].map(str::to_owned);
        let row = |(what, first, second): &Difference| {
            // If only one side has a value, that value is used to name the difference.
            let whole = if first.is_empty() { second } else { first };
            let name = in_words(what, whole).0;
            let [first, second] = [first, second].map(|value| in_words(what, value).1);
            vec![Cell::name(&name), Cell::name(&first), Cell::name(&second)]
        };
        let rows: Vec<Vec<Cell>> = found.iter().map(row).collect();
        text.push_str(&names.table(title, &header, &rows));
    }
    text
}
