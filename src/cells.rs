//! Converts names of a trace to CSV cells that no spreadsheet runs as a formula, and back.
//!
//! In: a name. Out: the same name, with a quote in front if a spreadsheet would run it as a
//! formula. Names that already start with such quotes get one more, so the original can be read
//! back. Also decides which characters are escaped when a name is shown.

use std::borrow::Cow;

/// Whether a spreadsheet would run the text, ignoring quotes before it.
///
/// Hashes (even with a plus in front) and the placeholder `-` stay unquoted: they contain nothing
/// to run.
fn may_run(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    let is_hash = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
    };
    let is_harmless = text == "-" || is_hash(text) && !text.starts_with('=');
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_harmless
}

/// The cell of a name.
pub fn guarded(name: &str) -> Cow<'_, str> {
    if may_run(name) { Cow::Owned(format!("'{name}")) } else { Cow::Borrowed(name) }
}

/// The name of a cell.
pub fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|name| may_run(name)).unwrap_or(cell)
}

/// Whether a character is invisible or changes the direction of text. Pages and tables escape it in
/// names.
pub fn is_hidden(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_empty = matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    letter.is_control() || turns || is_empty
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_get_a_quote_and_hashes_none() {
        for (name, cell) in [
            ("a", "a"),
            ("=1+1", "'=1+1"),
            ("'=1+1", "''=1+1"),
            ("'a", "'a"),
            ("+a/b=", "+a/b="),
            ("'+a/b=", "'+a/b="),
            ("@sum(a1)", "'@sum(a1)"),
            ("\tx", "'\tx"),
            ("-", "-"),
            ("-1.5 x", "'-1.5 x"),
            ("", ""),
        ] {
            assert_eq!(guarded(name), cell);
            assert_eq!(unguarded(cell), name);
        }
    }

    proptest! {
        #[test]
        fn a_name_comes_back_and_no_cell_runs(name in "'{0,3}[=+@\t\r-]?.{0,8}") {
            let cell = guarded(&name);
            prop_assert_eq!(unguarded(&cell), name.as_str());
            let begins = cell.starts_with(['=', '@', '\t', '\r']);
            prop_assert!(!begins, "{cell}");
        }
    }
}
