//! Policies as they are written: separated by blanks, with grids in braces.
//!
//! In: the words of `--policies`, or of a section of an analysis. Out: each policy once, with its
//! word, in the order in which they are shown.

use serde::{Deserialize, Serialize};

use crate::answers::words::parsed;
use crate::defaults::Defaults;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::notation::range;
use crate::replay::policies::PolicyPlan;

/// Policies as they were written, in the order in which they are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyList(Vec<(String, PolicyPlan)>);

impl Serialize for PolicyList {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let words: Vec<&str> = self.0.iter().map(|(word, _)| word.as_str()).collect();
        to.serialize_str(&words.join(" "))
    }
}

impl<'de> Deserialize<'de> for PolicyList {
    fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        parsed(source, parse_policies)
    }
}

pub(crate) fn parse_policies(text: &str) -> Result<PolicyList, String> {
    let mut policies = Vec::new();
    let words: Vec<Vec<String>> = text.split_whitespace().map(grid).collect::<Result<_, _>>()?;
    for word in words.into_iter().flatten() {
        let policy = word.parse().map_err(|error| format!("{error}"))?;
        add_once(&mut policies, (word, policy));
    }
    if policies.is_empty() {
        Err("no policy is named".to_owned())
    } else {
        Ok(PolicyList(policies))
    }
}

/// The requested policies, each once, or the default ones for the kind of trace.
///
/// # Errors
/// The default policies cannot be parsed.
pub fn policies(asked: &[PolicyList], lake: &Lake) -> Result<Vec<(String, PolicyPlan)>> {
    if asked.is_empty() {
        let usual = Defaults::of(lake).policies.join(" ");
        return Ok(parse_policies(&usual).map_err(Usage)?.0);
    }
    let mut policies = Vec::new();
    for policy in asked.iter().flat_map(|list| &list.0) {
        add_once(&mut policies, policy.clone());
    }
    Ok(policies)
}

/// Adds a policy unless it is already in the list, possibly written in another way.
fn add_once(policies: &mut Vec<(String, PolicyPlan)>, new: (String, PolicyPlan)) {
    if policies.iter().all(|(_, known)| *known != new.1) {
        policies.push(new);
    }
}

/// The most policies of a grid. More are probably a mistake, because braces multiply.
pub(crate) const POLICIES_MAX: usize = 1_000;

/// Expands `a{b,c}d` to `abd acd`; `{1..3}` is the same as `{1,2,3}`. Every choice in a pair of
/// braces is combined with every choice in the other pairs.
pub(crate) fn grid(text: &str) -> Result<Vec<String>, String> {
    let mut all = vec![String::new()];
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('{')
        && let Some((choices, after)) = tail.split_once('}')
    {
        let choices: Vec<String> = choices.split(',').flat_map(range).collect();
        if POLICIES_MAX < all.len() * choices.len() {
            return Err(format!("`{text}` expands to more than {POLICIES_MAX} policies"));
        }
        let with =
            |head: String| choices.iter().map(move |choice| format!("{head}{before}{choice}"));
        all = all.into_iter().flat_map(with).collect();
        rest = after;
    }
    for policy in &mut all {
        policy.push_str(rest);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_every_choice_with_every_other() {
        assert_eq!(grid("fifo").unwrap(), ["fifo"]);
        assert_eq!(
            grid("{fifo,fair}+late:cap={0.1,0.2}").unwrap(),
            ["fifo+late:cap=0.1", "fifo+late:cap=0.2", "fair+late:cap=0.1", "fair+late:cap=0.2",]
        );
        assert_eq!(
            grid("fifo:depth={1..3}").unwrap(),
            ["fifo:depth=1", "fifo:depth=2", "fifo:depth=3"]
        );
        assert_eq!(grid("late:cap={0.1").unwrap(), ["late:cap={0.1"], "left to their reader");
        assert!(grid(&"{a,b}".repeat(10)).is_err(), "1,024 of them");
    }

    #[test]
    fn a_policy_that_is_named_twice_is_listed_once() {
        let words = |text: &str| -> Vec<String> {
            parse_policies(text).unwrap().0.into_iter().map(|(word, _)| word).collect()
        };
        assert_eq!(words("fifo fair fifo"), ["fifo", "fair"]);
        assert_eq!(words("late fifo+late"), ["late"]);
    }
}
