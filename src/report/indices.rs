//! The columns of fairness indices in tables of a page.
//!
//! In: a result with indices. Out: their columns, with headings and units for readers.

use super::headings::heading;
use super::html::Cell;
use super::text::{escape, sentence};
use crate::answers::fairness::{FairnessAnswer, InTable, KIND, MEMORY_KIND, in_table, meanings};
use crate::results::Stored;

/// The columns of a table that are values of indices. Their unit does not follow from their name,
/// because a name may consist of any words.
pub(crate) type OfIndices<'a> = [InTable<'a>];

/// The columns of indices in the tables of a result.
pub(super) fn of_indices(result: &Stored) -> Vec<InTable<'_>> {
    let is_of_indices = [KIND.name, MEMORY_KIND.name].contains(&result.name.as_str());
    let answer = || result.found::<FairnessAnswer>();
    is_of_indices.then(answer).flatten().map_or_else(Vec::new, in_table)
}

/// A column of an index on a page: its heading with its unit, and how many units of the file make
/// one shown unit.
pub(crate) struct IndexColumn<'a> {
    pub column: &'a str,
    pub heading: String,
    per: f64,
}

impl<'a> IndexColumn<'a> {
    /// The columns of indices in a table; `values` returns the cells of a column.
    pub(crate) fn all(
        indices: &OfIndices<'a>,
        values: impl Fn(&str) -> Vec<f64>,
    ) -> Vec<IndexColumn<'a>> {
        let of = |one: &InTable<'a>| {
            let (unit, per) = one.shown_in(values(one.column).into_iter().fold(0.0, f64::max));
            let unit = if unit.is_empty() { unit } else { format!(" ({unit})") };
            let named = one.heading.clone().unwrap_or_else(|| heading(one.column));
            IndexColumn { column: one.column, heading: named + &unit, per }
        };
        indices.iter().map(of).collect()
    }

    /// A value of the index.
    pub(crate) fn cell(&self, text: &str) -> Cell {
        match text.parse::<f64>() {
            Ok(value) if self.per != 1.0 => Cell::in_units_of(value, self.per),
            _ => Cell::of(text),
        }
    }
}

/// The meaning of each index, as a list; empty if no index needs an explanation.
pub(super) fn explained(answer: &FairnessAnswer) -> String {
    let items = meanings(answer).into_iter().map(|(name, meaning)| {
        format!("<li><code>{}</code>: {}.</li>\n", escape(name), sentence(&meaning))
    });
    let items: String = items.collect();
    if items.is_empty() {
        return items;
    }
    format!("<p class=\"source\">The indices:</p>\n<ul class=\"source\">\n{items}</ul>\n")
}
