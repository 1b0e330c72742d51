//! The names of the two sides on the page of a comparison.

use std::path::Path;

use crate::report::headings::heading;
use crate::report::html::{self, Cell};

/// The names of the two sides: those of their folders, or `first` and `second` if these names are
/// long or the same.
pub(super) struct Names<'a> {
    pub(super) first: &'a str,
    pub(super) second: &'a str,
}

impl<'a> Names<'a> {
    /// Longer names are not repeated on the page, letters.
    const LETTERS_MAX: usize = 24;

    pub(super) fn of(folders: [&'a str; 2]) -> Self {
        let [first, second] = folders.map(|folder| {
            let name = Path::new(folder).file_name().and_then(|name| name.to_str());
            name.filter(|name| name.chars().count() <= Self::LETTERS_MAX)
        });
        match first.zip(second) {
            Some((first, second)) if first != second => Self { first, second },
            _ => Self { first: "first", second: "second" },
        }
    }

    /// A table in which the names of the two sides stay as they are. Other headings may be columns
    /// of files.
    pub(super) fn table(&self, caption: &str, header: &[String], rows: &[Vec<Cell>]) -> String {
        let is_of_side = |name: &str| {
            let side = name.strip_prefix(ONLY_IN).unwrap_or(name);
            [self.first, self.second].contains(&side)
        };
        let own = |name: &str| if is_of_side(name) { name.to_owned() } else { heading(name) };
        html::named_table(caption, header, own, rows)
    }
}

/// The start of the heading of a column that counts rows of only one side.
pub(super) const ONLY_IN: &str = "only in ";
