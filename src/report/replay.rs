//! What a reader must know beside the policies of a replay: what each of them does, and the
//! assumptions that decide.
//!
//! In: a stored replay. Out: HTML above its charts; nothing for other results.

use super::html;
use super::text::escape;
use crate::answers::replay::{self, ReplayAnswer, explained};
use crate::results::Stored;

/// The policies in words and the decisive assumptions; empty for another result.
pub(super) fn context(result: &Stored) -> String {
    if result.name != replay::KIND.name {
        return String::new();
    }
    let Some(answer) = result.found::<ReplayAnswer>() else { return String::new() };
    let mut names: Vec<&str> = answer.policies.iter().map(|row| row.policy.as_str()).collect();
    names.dedup();
    let policies = names.into_iter().filter_map(|name| Some((name, explained(name)?)));
    format!("{}{}", html::facts(policies), assumed(answer))
}

/// The assumptions that decide, in one paragraph.
fn assumed(answer: &ReplayAnswer) -> String {
    if answer.decisive.is_empty() {
        return String::new();
    }
    format!(
        "<p class=\"source\">The replay is not the recorded schedule. {}</p>\n",
        escape(&answer.decisive.join(" "))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assumptions_that_decide_are_in_sight() {
        let decisive = vec!["No task is preempted.".to_owned(), "a < b.".to_owned()];
        let answer = ReplayAnswer { decisive, ..ReplayAnswer::default() };
        assert_eq!(
            assumed(&answer),
            "<p class=\"source\">The replay is not the recorded schedule. No task is preempted. \
            a &lt; b.</p>\n"
        );
        assert_eq!(assumed(&ReplayAnswer::default()), "");
    }
}
