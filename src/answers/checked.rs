//! What checks of a lake found, in a sentence with numbers.
//!
//! In: the JSON of a stored `verify`. Out: how many counts agree with those published; where none are
//! published, the irregular rows.

use serde_json::Value;

use crate::digits::{counted, grouped};
use crate::results::kind::Sentence;

/// Of checks.
pub(crate) const CHECKS: Sentence = |it| quality(&it["answer"]);

/// Counts of rows that no trace should have: of a clean one they are 0.
const IRREGULAR: [&str; 5] = [
    "exact duplicates",
    "illegal transitions",
    "first event is not SUBMIT",
    "ended while pending",
    "attempts closed with their job",
];

/// What was counted of a trace for which nothing is published.
fn irregularities(answer: &Value) -> String {
    let begin = "No counts are published for this trace";
    let counts = answer["counts"].as_array().into_iter().flatten();
    let irregular = counts.filter_map(|count| {
        let (what, table) = (count["what"].as_str()?, count["table"].as_str()?);
        let amount = count["count"].as_u64()?;
        IRREGULAR
            .contains(&what)
            .then(|| (amount, format!("{what}: {} ({table})", grouped(amount))))
    });
    let mut irregular: Vec<(u64, String)> = irregular.collect();
    if irregular.is_empty() {
        return format!("{begin}; its rows are counted below");
    }
    let all = irregular.len() as u64;
    irregular.retain(|one| 0 < one.0);
    if irregular.is_empty() {
        return format!("{begin}; {} for irregular rows found none", counted(all, "check"));
    }
    irregular.sort_by_key(|one| std::cmp::Reverse(one.0));
    let named: Vec<String> = irregular.into_iter().take(3).map(|one| one.1).collect();
    format!("{begin}. The most frequent irregularities: {}", named.join("; "))
}

fn quality(answer: &Value) -> Option<String> {
    let checks = answer["checks"].as_array()?;
    let differing = checks.iter().filter(|check| check["found"] != check["published"]).count();
    let said = if checks.is_empty() {
        irregularities(answer)
    } else if differing == 0 {
        format!("All {} published counts that apply agree", grouped(checks.len() as u64))
    } else {
        format!(
            "{} of {} published counts differ",
            grouped(differing as u64),
            grouped(checks.len() as u64)
        )
    };
    let warnings = answer["warnings"].as_array().map_or(&[][..], Vec::as_slice);
    let warned = warnings.iter().filter_map(Value::as_str).map(|text| format!(". Warning: {text}"));
    Some(std::iter::once(said).chain(warned).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn published_counts_agree_or_differ() {
        let check = |found: u64| json!({"table": "job_events", "published": 5, "found": found});
        let said = |checks: &[Value]| quality(&json!({"checks": checks})).unwrap();
        assert_eq!(said(&[check(5), check(5)]), "All 2 published counts that apply agree");
        assert_eq!(said(&[check(5), check(6)]), "1 of 2 published counts differ");
    }

    #[test]
    fn what_is_irregular_is_named_the_most_frequent_first() {
        let count =
            |what: &str, count: u64| json!({"table": "task_events", "what": what, "count": count});
        let said = |counts: &[Value]| quality(&json!({"checks": [], "counts": counts})).unwrap();
        let rows = count("rows", 10);
        assert_eq!(
            said(std::slice::from_ref(&rows)),
            "No counts are published for this trace; its rows are counted below"
        );
        assert_eq!(
            said(&[rows.clone(), count("exact duplicates", 0), count("illegal transitions", 0)]),
            "No counts are published for this trace; 2 checks for irregular rows found none"
        );
        assert_eq!(
            said(&[rows, count("exact duplicates", 2), count("illegal transitions", 30)]),
            "No counts are published for this trace. The most frequent irregularities: illegal \
            transitions: 30 (task_events); exact duplicates: 2 (task_events)"
        );
    }
}
