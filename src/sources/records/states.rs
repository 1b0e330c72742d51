//! The meanings of the states of a log.
//!
//! In: the word of a field, and the states that the log knows. Out: the outcome of the attempt. Any
//! other word is a fault, never a guess.

use super::Fault;
use crate::schema::EventType;
use crate::sources::reject::RejectReason;

/// The meaning of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sources) enum Fate {
    /// It ended by this event.
    Ended(EventType),
    Running,
    Pending,
    /// The row is left out.
    Skip,
}

impl Fate {
    /// The number of the event that ends it.
    pub(in crate::sources) const fn end(self) -> Option<i32> {
        match self {
            Self::Ended(event) => Some(event.number()),
            Self::Running | Self::Pending | Self::Skip => None,
        }
    }

    /// Whether it has started, judging by the state.
    pub(in crate::sources) const fn has_begun(self) -> bool {
        matches!(self, Self::Ended(_) | Self::Running)
    }
}

/// States by meaning: names separated by blanks, each with an optional short name after a slash.
pub(in crate::sources) type States = [(Fate, &'static str)];

/// The fewest letters of a truncated name. Of states that begin with the same letters, the first of
/// the list is taken.
const CUT_MIN: usize = 4;

/// The meaning of a state, by its name or its short name, and its name.
pub(in crate::sources) fn named(states: &States, word: &[u8]) -> Option<(Fate, &'static str)> {
    found(states, |name, short| name.as_bytes() == word || short.as_bytes() == word)
}

/// The same, for a name in upper or lower case, or one that was truncated to fit its column and
/// ends with `+`.
pub(in crate::sources) fn loosely_named(
    states: &States,
    word: &[u8],
) -> Option<(Fate, &'static str)> {
    let begin = word.strip_suffix(b"+").filter(|begin| CUT_MIN <= begin.len());
    let is_it = |name: &str, short: &str| {
        let is_begun = begin.is_some_and(|begin| {
            name.as_bytes().get(..begin.len()).is_some_and(|name| name.eq_ignore_ascii_case(begin))
        });
        is_begun || name.as_bytes().eq_ignore_ascii_case(word) || short.as_bytes() == word
    };
    found(states, is_it)
}

/// The first state that `is_it` accepts, by its name and its short name.
fn found(states: &States, is_it: impl Fn(&str, &str) -> bool) -> Option<(Fate, &'static str)> {
    states.iter().find_map(|&(fate, names)| {
        names.split_ascii_whitespace().find_map(|state| {
            let (name, short) = state.split_once('/').unwrap_or((state, state));
            is_it(name, short).then_some((fate, name))
        })
    })
}

/// The state that was found in a field that must name one.
///
/// # Errors
/// The field is empty, or does not name a state.
pub(in crate::sources) fn state_of(
    found: Option<(Fate, &'static str)>,
    word: &[u8],
    column: &'static str,
) -> Result<(Fate, &'static str), Fault> {
    let fault =
        if word.is_empty() { RejectReason::EmptyMandatory } else { RejectReason::UnknownEventType };
    found.ok_or((column, fault))
}

/// The part of a state that a pattern spells: all of it, or the beginning before its `*`, if any.
pub(in crate::sources) fn spelt<'s>(pattern: &str, state: &'s str) -> Option<&'s str> {
    let spelt = match pattern.strip_suffix('*') {
        None => state,
        Some(begin) => state.get(..begin.len())?.trim_end(),
    };
    Some(spelt).filter(|spelt| !spelt.is_empty())
}

/// The reason that a state names. It leaves out who ended the job (`CANCELLED by 1001`), unless the
/// matching pattern spells that.
pub(in crate::sources) fn reason_in<'s>(pattern: &str, state: &'s str) -> &'s str {
    let spelt = spelt(pattern, state).unwrap_or_default();
    let by = state.to_ascii_lowercase().find(" by ");
    by.map_or(state, |end| &state[..end.max(spelt.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_matched_to_the_letter_unless_loosely() {
        let states: &States = &[(Fate::Running, "RUNNING/R"), (Fate::Pending, "Pending")];
        for (word, exact, loose) in [
            ("RUNNING", true, true),
            ("R", true, true),
            ("Pending", true, true),
            ("running", false, true),
            ("RUNN+", false, true),
            ("pend+", false, true),
            ("r", false, false),
            ("RUN+", false, false),
            ("+", false, false),
        ] {
            assert_eq!(named(states, word.as_bytes()).is_some(), exact, "{word}");
            assert_eq!(loosely_named(states, word.as_bytes()).is_some(), loose, "{word}");
        }
    }
}
