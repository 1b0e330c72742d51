//! The results of the checks of a lake, as they are stored and read back, and their sentence. The
//! sentence says how many counts agree with the published ones, or names the irregular rows if none
//! are published.

use serde::{Deserialize, Serialize};

use crate::digits::{counted, grouped};
use crate::lake::Gap;
use crate::results::rows::TableRows;
use crate::studies::checks::Check;

/// The answer of `verify`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VerifyAnswer {
    /// Published counts that apply, each with our count.
    pub checks: Vec<Check>,
    /// Tables that contradict each other.
    pub contradictions: Vec<String>,
    /// Observations that look wrong although no check fails.
    pub warnings: Vec<String>,
    /// The warning that jobs with an early end are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_end: Option<String>,
    /// Every count.
    pub counts: TableRows<Count>,
    /// The gaps between the parts.
    pub gaps: Vec<Gap>,
}

/// A count of a table.
#[derive(Clone, Debug, Deserialize)]
pub struct Count {
    /// The table.
    pub table: String,
    /// The name of the count.
    pub what: String,
    /// The count.
    #[serde(rename = "count")]
    pub found: u64,
}

/// Counts of rows that a trace should not have; in a clean trace they are 0.
const IRREGULAR: [&str; 5] = [
    "exact duplicates",
    "illegal transitions",
    "first event is not SUBMIT",
    "ended while pending",
    "attempts closed with their job",
];

impl VerifyAnswer {
    /// The sentence for a trace without published counts: its most frequent irregular rows.
    fn irregularities(&self) -> String {
        let begin = "No counts are published for this trace";
        let irregular = self.counts.iter().filter(|row| IRREGULAR.contains(&row.what.as_str()));
        let mut irregular: Vec<Count> = irregular.collect();
        if irregular.is_empty() {
            return format!("{begin}; its rows are counted below");
        }
        let all = irregular.len() as u64;
        irregular.retain(|row| 0 < row.found);
        if irregular.is_empty() {
            return format!("{begin}; {} for irregular rows found none", counted(all, "check"));
        }
        irregular.sort_by_key(|row| std::cmp::Reverse(row.found));
        let named = irregular.iter().take(3);
        let named = named
            .map(|Count { table, what, found }| format!("{what}: {} ({table})", grouped(*found)));
        let named: Vec<String> = named.collect();
        format!("{begin}. The most frequent irregularities: {}", named.join("; "))
    }

    /// The sentence with the number of counts that agree with the published ones, and the warnings.
    /// `None` if files were checked instead of a lake.
    pub(crate) fn sentence(&self) -> Option<String> {
        if self.checks.is_empty() && self.counts.is_empty() {
            return None;
        }
        let all = grouped(self.checks.len() as u64);
        let differing = self.checks.iter().filter(|check| !check.is_ok()).count();
        let said = if self.checks.is_empty() {
            self.irregularities()
        } else if differing == 0 {
            format!("All {all} published counts that apply agree")
        } else {
            format!("{} of {all} published counts differ", grouped(differing as u64))
        };
        let warned = self.warnings.iter().map(|text| format!(". Warning: {text}"));
        Some(std::iter::once(said).chain(warned).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    #[test]
    fn published_counts_agree_or_differ() {
        let check = |found: u64| json!({"table": "job_events", "what": "rows", "published": 5, "found": found});
        let said = |checks: &[Value]| {
            from_value::<VerifyAnswer>(json!({"checks": checks})).unwrap().sentence().unwrap()
        };
        assert_eq!(said(&[check(5), check(5)]), "All 2 published counts that apply agree");
        assert_eq!(said(&[check(5), check(6)]), "1 of 2 published counts differ");
        let of_files = json!({"rows": [{"table": "job_events", "part": 0}]});
        assert_eq!(from_value::<VerifyAnswer>(of_files).unwrap().sentence(), None);
    }

    #[test]
    fn what_is_irregular_is_named_the_most_frequent_first() {
        let count =
            |what: &str, count: u64| json!({"table": "task_events", "what": what, "count": count});
        let said = |counts: &[Value]| {
            from_value::<VerifyAnswer>(json!({"counts": counts})).unwrap().sentence().unwrap()
        };
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
