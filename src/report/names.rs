//! The meaning of the names in a result, such as those of rules and detectors.
//!
//! In: a stored result and its kind. Out: a list of names with one line each, between the charts
//! and the tables; empty if the kind explains none.

use super::html;
use crate::results::Stored;
use crate::results::kind::Kind;

/// The list of names with their meanings.
pub(super) fn meanings(kind: &Kind<'_>, result: &Stored) -> String {
    let names = kind.names.map_or_else(Vec::new, |names| names(&result.whole));
    if names.is_empty() {
        return String::new();
    }
    let pairs = names.iter().map(|(name, meaning)| (name.as_str(), meaning.replace('`', "")));
    format!("<h3>What the names mean</h3>\n{}", html::facts(pairs))
}
