//! The values of a map: texts, lists, tables and the meanings of states.

use toml::de::{DeTable, DeValue};

use crate::notation::{Mistake, Spot};
use crate::schema::EventType;
use crate::sources::records::states::Fate;

/// The words for the meanings of states.
pub(in crate::sources) const FATES: [(&str, Fate); 8] = [
    ("finished", Fate::Ended(EventType::Finish)),
    ("failed", Fate::Ended(EventType::Fail)),
    ("killed", Fate::Ended(EventType::Kill)),
    ("evicted", Fate::Ended(EventType::Evict)),
    ("lost", Fate::Ended(EventType::Lost)),
    ("running", Fate::Running),
    ("pending", Fate::Pending),
    ("skip", Fate::Skip),
];

pub(super) type Wrong<'a> = &'a dyn Fn(Spot, String) -> Mistake;

pub(super) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    format!("unknown {what} `{name}` (known: {})", known.join(", "))
}

/// The meaning of a state.
pub(super) fn fate_of(value: &DeValue<'_>, spot: Spot, wrong: Wrong<'_>) -> Result<Fate, Mistake> {
    let word = string(value, spot.clone(), "an outcome", wrong)?;
    let fate = FATES.iter().find(|(name, _)| *name == word);
    let words = FATES.map(|(name, _)| name);
    fate.map(|(_, fate)| *fate).ok_or_else(|| wrong(spot, unknown("outcome", word, &words)))
}

/// A table of the document.
pub(super) fn section<'a>(
    document: &'a DeTable<'_>,
    name: &str,
    wrong: Wrong<'_>,
) -> Result<Option<&'a DeTable<'a>>, Mistake> {
    match document.get(name).map(|value| (value.get_ref(), value.span())) {
        None => Ok(None),
        Some((DeValue::Table(table), _)) => Ok(Some(table)),
        Some((_, spot)) => Err(wrong(spot, format!("`{name}` must be a table"))),
    }
}

pub(super) fn string<'a>(
    value: &'a DeValue<'_>,
    spot: Spot,
    what: &str,
    wrong: Wrong<'_>,
) -> Result<&'a str, Mistake> {
    match value {
        DeValue::String(text) => Ok(text),
        _ => Err(wrong(spot, format!("{what} must be a text in quotes"))),
    }
}

pub(super) fn strings(
    value: &DeValue<'_>,
    spot: &Spot,
    wrong: Wrong<'_>,
) -> Result<Vec<String>, Mistake> {
    let DeValue::Array(all) = value else {
        return Err(wrong(spot.clone(), "this must be a list of texts".to_owned()));
    };
    let one = |value: &toml::Spanned<DeValue<'_>>| {
        string(value.get_ref(), value.span(), "each of them", wrong).map(str::to_owned)
    };
    all.iter().map(one).collect()
}
