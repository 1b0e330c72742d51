//! The groups of values that are described.

use std::collections::BTreeSet;

use super::plan::Question;
use crate::answers::assumed::is_assumed;
use crate::answers::edges;
use crate::lake::Lake;
use crate::studies::censoring::Censoring;
use crate::studies::counted::Counted;
use crate::studies::samples::{Group, Samples, What};

/// Whether any outcome is recorded. If not, all values count as finished, and a separate curve of
/// finished jobs would be invented.
pub(super) fn ends_known(lake: &Lake, parts: &[(Part, Counted)], question: Question) -> bool {
    let of = |outcome: &str| {
        let own = parts.iter().filter(|(part, _)| part.group.is_none() && part.outcome == outcome);
        own.map(|(_, values)| values.count(|_| true)).sum::<u64>()
    };
    let finished = of("finished");
    question.group_by.is_some()
        || finished < of("all")
        || !is_assumed(lake, "status unknown", finished)
}

/// The group and the outcome of a row.
pub struct Part {
    /// The group; `None` for all groups together.
    pub(super) group: Option<String>,
    /// The outcome of the jobs, or `all`.
    pub(super) outcome: &'static str,
}

/// The values of every row of the answer: first all values, then every outcome. If values are
/// split, each group follows with the outcomes that occur in it.
pub(crate) fn parts_of(samples: &Samples, question: Question) -> Vec<(Part, Counted)> {
    let outcome_count = question.classes.outcomes().len();
    let mut parts = vec![(Part { group: None, outcome: "all" }, samples.of(|_| true))];
    // Without `job_events`, no outcome is known: a row of 0 finished jobs would be wrong.
    let mut outcomes = samples.values.keys().map(|key| key.1).peekable();
    let is_unknown = outcomes.peek().is_some() && outcomes.all(|outcome| outcome == outcome_count);
    let first = if is_unknown { outcome_count } else { 0 };
    for outcome in first..=outcome_count {
        let values = samples.of_outcome(outcome);
        if outcome < outcome_count || !values.is_empty() {
            parts.push((Part { group: None, outcome: question.outcome_name(outcome) }, values));
        }
    }
    if question.group_by.is_none() {
        return parts;
    }
    let groups: BTreeSet<&Group> = samples.values.keys().map(|key| &key.0).collect();
    for group in groups {
        let name = || Some(group.to_string());
        parts.push((Part { group: name(), outcome: "all" }, samples.of(|key| key.0 == *group)));
        let own = samples.values.iter().filter(|(key, _)| key.0 == *group);
        parts.extend(own.map(|((_, outcome), values)| {
            let outcome = question.outcome_name(*outcome);
            (Part { group: name(), outcome }, values.clone())
        }));
    }
    parts
}

/// The sentence about what crosses the edges of the window. In a survival curve, jobs that are open
/// at the end are censored, not closed.
pub fn edges_of(what: What, censoring: &Censoring) -> String {
    let said = edges::sentence(censoring);
    if what == What::JobSurvival { said.replace("closed then", "censored then") } else { said }
}
