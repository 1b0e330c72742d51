//! What the states of a log mean.
//!
//! In: the word of a field, and the states that the log knows. Out: what became of the attempt. A
//! word that is none of them is a fault, and never a guess.

use super::Fault;
use crate::schema::EventType;
use crate::sources::reject::RejectReason;

/// What a state means.
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

    /// Whether it was given a machine, as far as the state says.
    pub(in crate::sources) const fn has_begun(self) -> bool {
        matches!(self, Self::Ended(_) | Self::Running)
    }
}

/// States by what they mean: names between blanks, each perhaps with its short name behind a slash.
pub(in crate::sources) type States = [(Fate, &'static str)];

/// Letters that tell any two states apart.
const CUT_MIN: usize = 4;

/// What the state of a name or a short name means, with its name.
pub(in crate::sources) fn named(states: &States, word: &[u8]) -> Option<(Fate, &'static str)> {
    found(states, |name, short| name.as_bytes() == word || short.as_bytes() == word)
}

/// The same of a name in small letters or large ones, or one that was cut off to fit its column, and
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

/// The first state that is it, by its name and its short name.
fn found(states: &States, is_it: impl Fn(&str, &str) -> bool) -> Option<(Fate, &'static str)> {
    states.iter().find_map(|&(fate, names)| {
        names.split_ascii_whitespace().find_map(|state| {
            let (name, short) = state.split_once('/').unwrap_or((state, state));
            is_it(name, short).then_some((fate, name))
        })
    })
}

/// What was found of a field that must name a state.
///
/// # Errors
/// It is empty, or no state.
pub(in crate::sources) fn state_of(
    found: Option<(Fate, &'static str)>,
    word: &[u8],
    column: &'static str,
) -> Result<(Fate, &'static str), Fault> {
    let fault =
        if word.is_empty() { RejectReason::EmptyMandatory } else { RejectReason::UnknownEventType };
    found.ok_or((column, fault))
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
