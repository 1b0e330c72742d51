//! What columns may mean, by their names.

use std::collections::BTreeSet;

use super::columns::{Column, filled};
use super::words::{NAMES, UNIT_ENDS};
use crate::sources::map::{Field, Kind};

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
                let rest = rest_after(&column.name, name).filter(|_| !taken.contains(&idx))?;
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

/// What a name of a column has after `name`; `None` if it is another name. Of a nested column, such
/// as `times.start`, the last name counts too.
fn rest_after(column: &str, name: &str) -> Option<String> {
    let own = [column, column.rsplit('.').next().unwrap_or_default()];
    own.into_iter().find_map(|own| plain(own).strip_prefix(name).map(str::to_owned))
}

/// Whether a number in a column has a comma for the decimals.
pub(super) fn has_comma(columns: &[Column], guess: &Guess) -> bool {
    let is_number = !matches!(guess.field.kind(), Kind::Text);
    let is_decimal = |cell: &str| {
        let (whole, part) = cell.split_once(',')?;
        let all = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        (all(whole) && !part.is_empty() && all(part)).then_some(())
    };
    is_number && filled(&columns[guess.column]).any(|cell| is_decimal(cell).is_some())
}
