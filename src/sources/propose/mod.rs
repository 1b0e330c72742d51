//! Proposes a first map for a table, from the names of its columns and its first rows, and previews
//! its rows as a map reads them. Maps of published tables come with the program.
//!
//! In: the beginning of a table. Out: the text of a map, with a comment on every assumption.
//! Columns and states that names and cells do not identify are left out, or become comments.

mod columns;
mod guesses;
mod preview;
pub mod ready;
mod text;
mod words;

use self::columns::{of_fields, of_json};
use self::guesses::{are_commas, guesses};
use self::text::written;
use super::mapped::table::is_json;
use super::records::lines::first_line;

pub use self::preview::{Preview, PreviewRow, preview};

/// A proposed map.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Its text.
    pub text: String,
    /// The number of lines to be checked, which are marked `CHECK`.
    pub checks: usize,
}

/// Proposes a map for a table that starts with `begin`.
///
/// # Errors
/// The reason why the table cannot be read.
pub fn propose(begin: &[u8]) -> Result<Proposal, String> {
    if begin.trim_ascii().is_empty() {
        return Err("it is empty".to_owned());
    }
    if std::str::from_utf8(first_line(begin)).is_err() || begin.contains(&0) {
        let how = "convert it first, for example with `iconv -f latin1 -t utf-8`";
        return Err(format!("it is not text in UTF-8: {how}"));
    }
    let (separator, columns) =
        if is_json(begin) { (None, of_json(begin)) } else { of_fields(begin) };
    if columns.len() < 2 {
        return Err("its first line does not name several columns between `,`, `;`, tabs or `|`, \
            and it is not JSON, one object a line"
            .to_owned());
    }
    let guesses = guesses(&columns);
    let is_comma = separator != Some(b',') && are_commas(&columns, &guesses);
    Ok(written(separator, &columns, &guesses, is_comma))
}
