//! The finished jobs that the rules of a sweep harm.
//!
//! In: a sweep, whose rows name some of the jobs that each threshold harms, and jobs in detail.
//! Out: the named jobs, and the rules that harm a job.

use std::collections::{BTreeMap, BTreeSet};

use super::Swept;
use super::jobs::JobDetail;

/// Finished jobs that a rule would have harmed; jobs of the lowest thresholds come first.
pub(super) fn harmed(swept: &Swept, most: usize) -> Vec<i64> {
    let mut all = Vec::new();
    let longest = swept.sweeps.iter().map(|sweep| sweep.rows.len()).max().unwrap_or(0);
    for step in 0..longest {
        for row in swept.sweeps.iter().filter_map(|sweep| sweep.rows.get(step)) {
            all.extend(row.harmed.iter().map(|job| job.job_id));
        }
    }
    let mut seen = BTreeSet::new();
    all.retain(|id| seen.insert(*id));
    all.truncate(most);
    all
}

/// By job, the rules that have it in a row among the jobs that they harm most.
pub(super) fn naming(swept: &Swept) -> BTreeMap<i64, Vec<&str>> {
    let mut all: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for sweep in &swept.sweeps {
        let named = sweep.rows.iter().flat_map(|row| &row.harmed);
        let named: BTreeSet<i64> = named.map(|job| job.job_id).collect();
        for id in named {
            all.entry(id).or_default().push(&sweep.rule);
        }
    }
    all
}

/// The rules that harm a job. These are the rules whose rows name it and, if it finished, the rules
/// that kill one of its tasks before the task ends. Rows name only some of the jobs.
pub(super) fn harmed_by(job: &JobDetail, swept: &Swept, named: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    for sweep in &swept.sweeps {
        let kills = || job.kills.iter().any(|kill| kill.rule == sweep.rule && kill.acts());
        if named.contains(&sweep.rule.as_str()) || job.is_finished() && kills() {
            all.push(sweep.rule.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::jobs::JobDetails;
    use super::*;
    use crate::studies::kill_sweep::Sweep;

    #[test]
    fn a_job_names_the_rules_that_harm_it() {
        let kill = |rule: &str, over: u64| {
            json!({"rule": rule, "threshold": 1, "condemned_tasks": 1, "over_by_then": over,
                "first_s": 5.0})
        };
        let job = |outcome: &str| -> JobDetail {
            let kills = json!([kill("restarts", 0), kill("failures", 1)]);
            serde_json::from_value(json!({"job_id": 7, "outcome_by_sequence": outcome,
                "kills": kills}))
            .unwrap()
        };
        let sweep = |rule: &str, harmed: &[i64]| -> Sweep {
            let harmed: Vec<Value> = harmed
                .iter()
                .map(|id| {
                    json!({"job_id": id, "user": null, "job_name": null, "condemned_tasks": 1,
                        "destroyed_cpu": 1.0})
                })
                .collect();
            let rows = json!([{"threshold": 1, "harmed": harmed}]);
            serde_json::from_value(json!({"rule": rule, "rows": rows})).unwrap()
        };
        let sweeps = vec![sweep("events", &[7]), sweep("failures", &[]), sweep("restarts", &[])];
        let swept = Swept { sweeps, groups: Vec::new(), selection: None };
        let named_by = naming(&swept);
        assert_eq!(named_by.get(&7).map(Vec::len), Some(1));
        // A task that has ended before its kill loses nothing.
        let own = harmed_by(&job("finished"), &swept, &named_by[&7]);
        assert_eq!(own, ["events", "restarts"]);
        assert_eq!(harmed_by(&job("other"), &swept, &named_by[&7]), ["events"]);
        assert!(harmed_by(&job("failed"), &swept, &[]).is_empty());
        let details =
            |outcome: &str| JobDetails { jobs: vec![job(outcome)], ..JobDetails::default() };
        assert_eq!((details("finished").harmed(), details("failed").harmed()), (1, 0));
    }
}
