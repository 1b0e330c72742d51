//! Text of a page: escaped names, figures, and what results are called.

use std::fmt::Write;

use crate::answers::list;
use crate::cells::is_hidden;
use crate::digits::six_digits;

/// Text as it may stand in a page or in an attribute.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // What a browser would not show, shown.
            hidden if is_hidden(hidden) && hidden != '\n' => {
                let _ = write!(safe, "{}", hidden.escape_unicode());
            }
            other => safe.push(other),
        }
    }
    safe
}

/// A number as a reader wants it: six digits, without zeros that say nothing.
pub(super) fn figure_text(number: f64) -> String {
    let text = six_digits(number);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A result or table in the words of a reader.
pub(super) fn caption(name: &str) -> String {
    let known = list::kinds().find_map(|kind| kind.caption_of(name));
    known.map_or_else(|| heading(name), str::to_owned)
}

fn heading(name: &str) -> String {
    let text = name.replace('-', " ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
