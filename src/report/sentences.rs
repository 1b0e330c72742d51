//! The findings of an analysis in a few sentences.
//!
//! In: results. Out: the first sentence of each finding, and the questions that the tables cannot
//! answer.

use super::findings;
use crate::results::Stored;

/// At most `count` sentences. First the first sentence of each finding with its numbers, the most
/// important finding first; then the questions that the tables cannot answer.
pub fn sentences(results: &[Stored], count: usize) -> Vec<String> {
    let findings::Findings { found, unanswered, .. } = findings::findings(results);
    let found = found.into_iter().map(|one| match one.scope.as_str() {
        "" => format!("{}.", findings::parts(&one.sentence).0),
        scope => format!("{} ({scope}).", findings::parts(&one.sentence).0),
    });
    let unanswered = unanswered.into_iter().map(|one| {
        let mut asks: Vec<String> = one.asks.into_iter().map(|asked| asked.0).collect();
        // If there is a question, titles of results with the same reason are left out.
        if asks.iter().any(|asked| asked.ends_with('?')) {
            asks.retain(|asked| asked.ends_with('?'));
        }
        format!("{} {}.", asks.join(" "), one.why)
    });
    found.chain(unanswered).take(count).collect()
}
