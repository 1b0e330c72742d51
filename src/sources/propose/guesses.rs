//! The possible meanings of columns, by their names.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::columns::{Column, filled};
use super::words::{NAMES, UNIT_ENDS};
use crate::sources::map::{Field, Kind};
use crate::sources::records::patterns::scaled;

/// The proposed meaning of a column.
pub(super) struct Guess {
    pub(super) field: Field,
    pub(super) column: usize,
    /// The unit that its name ends with.
    pub(super) unit: Option<&'static str>,
}

/// The ASCII letters and digits of a name, in lower case; umlauts are spelt out.
pub(super) fn plain(name: &str) -> String {
    let lower = name.to_lowercase().replace('ä', "ae").replace('ö', "oe").replace('ü', "ue");
    lower.replace('ß', "ss").chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Whether `words`, separated by blanks, contain a word.
pub(super) fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// The meanings of the columns, by name. A name may end with a unit.
pub(super) fn guesses(columns: &[Column]) -> Vec<Guess> {
    let mut taken = BTreeSet::new();
    let mut guesses = Vec::new();
    for &(field, names) in &NAMES {
        let of = |name: &str| {
            let (column, unit) = columns.iter().enumerate().find_map(|(idx, column)| {
                let is_open = !taken.contains(&idx) && fits(field, column);
                let rest = rest_after(&column.name, name).filter(|_| is_open)?;
                if rest.is_empty() {
                    return Some((idx, None));
                }
                let unit = UNIT_ENDS.iter().find(|(_, ends)| has(ends, &rest))?.0;
                let is_own = field.kind().units().iter().any(|(known, _)| *known == unit);
                is_own.then_some((idx, Some(unit)))
            })?;
            Some(Guess { field, column, unit })
        };
        if let Some(guess) = names.split(' ').find_map(of) {
            taken.insert(guess.column);
            guesses.push(guess);
        }
    }
    guesses
}

/// The rest of a column name after `name`; `None` if it does not begin with `name`. For a nested
/// column, such as `times.start`, the last part of its name is tried too.
fn rest_after(column: &str, name: &str) -> Option<String> {
    let own = [column, column.rsplit('.').next().unwrap_or_default()];
    own.into_iter().find_map(|own| plain(own).strip_prefix(name).map(str::to_owned))
}

/// Whether a column may hold a field: a column without any number cannot hold counts.
fn fits(field: Field, column: &Column) -> bool {
    let is_number =
        |cell: &str| [false, true].iter().any(|&comma| scaled(cell.as_bytes(), 1, comma).is_some());
    field.kind() != Kind::Count || filled(column).next().is_none() || filled(column).any(is_number)
}

/// Whether numbers have a comma for the decimals. They have if a recognised column shows one.
/// Otherwise any column of numbers may show one, unless a recognised column has decimal points.
pub(super) fn are_commas(columns: &[Column], guesses: &[Guess]) -> bool {
    let numbers = || guesses.iter().filter(|guess| guess.field.kind() != Kind::Text);
    let cells = || numbers().flat_map(|guess| filled(&columns[guess.column]));
    if cells().any(has_comma) {
        return true;
    }
    let is_of_numbers = |column: &&Column| {
        let all =
            |cell: &str| cell.bytes().all(|byte| byte.is_ascii_digit() || b"-.,".contains(&byte));
        filled(column).all(all)
    };
    let mut others = columns.iter().filter(is_of_numbers).flat_map(filled);
    others.any(has_comma) && !numbers().any(|guess| has_decimal_point(&columns[guess.column]))
}

/// Whether the points of a column are decimal points. They are if one of them is not between groups
/// of three digits, if all cells have a point, or if a large number has none.
fn has_decimal_point(column: &Column) -> bool {
    let is_decimal = |cell: &str| !is_grouped(cell) && scaled(cell.as_bytes(), 1, false).is_some();
    let has_point = |cell: &str| cell.contains('.');
    let mut cells = filled(column);
    filled(column).any(has_point)
        && (filled(column).any(|cell| has_point(cell) && is_decimal(cell))
            || filled(column).all(has_point)
            || cells.any(|cell| !has_point(cell) && 3 < cell.len()))
}

/// Whether a cell is a number with a comma for the decimals.
fn has_comma(cell: &str) -> bool {
    let all = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    cell.split_once(',').is_some_and(|(whole, part)| all(whole) && !part.is_empty() && all(part))
}

/// Whether a cell is a number whose points may be between groups of three digits: `1.440`.
pub(super) fn is_grouped(cell: &str) -> bool {
    let is_of = |group: &str, sizes: RangeInclusive<usize>| {
        sizes.contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit())
    };
    let first = |(first, rest): (&str, &str)| {
        is_of(first, 1..=3)
            && !first.starts_with('0')
            && rest.split('.').all(|group| is_of(group, 3..=3))
    };
    cell.split_once('.').is_some_and(first)
}
