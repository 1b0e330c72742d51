//! `reproduce mandai`: which claims of the paper of 2017 have a row, and what is drawn.

use std::collections::BTreeSet;
use std::fs;

use super::support::Place;

/// Every claim of the paper, as read in it: its place, and the sentence or number.
const CLAIMS: [(&str, &[&str]); 11] = [
    (
        "table 3.1.1",
        &[
            "finished jobs",
            "finished jobs, % of the 672,032 that are not `other`",
            "failed jobs",
            "failed jobs, % of the 672,032 that are not `other`",
            "killed jobs",
            "killed jobs, % of the 672,032 that are not `other`",
            "running jobs",
            "running jobs, % of the 672,032 that are not `other`",
            "other jobs",
            "other jobs, % of the 672,032 that are not `other`",
        ],
    ),
    (
        "section 3.1, figure 3.1.1",
        &[
            "mean duration of a job, min",
            "median duration of a job, min",
            "variance of the duration, s²",
            "shortest duration, s",
            "longest duration, days (29 or more)",
        ],
    ),
    (
        "section 3.1, figure 3.1.2",
        &[
            "mean tasks of a job",
            "variance of the tasks of a job",
            "most tasks of a job",
            "75 % of jobs have at most, tasks",
        ],
    ),
    (
        "section 3.1",
        &[
            "memory of finished jobs, % (announced)",
            "memory of failed jobs, % (announced)",
            "memory of killed jobs, % (announced)",
            "memory of running jobs, % (announced)",
        ],
    ),
    (
        "table 3.1.2",
        &[
            "CPU time of finished jobs, %",
            "CPU time of failed jobs, %",
            "CPU time of killed jobs, %",
            "CPU time of running jobs, %",
            "CPU time of failed and killed jobs, %",
        ],
    ),
    ("section 3.2, figure 3.2.1", &["failed, killed jobs last longer than finished (p90, s)"]),
    ("section 3.2, figure 3.2.2", &["failed, killed jobs have more tasks than finished (mean)"]),
    ("section 4.1", &["jobs with at most 3 events, %, are over 99"]),
    (
        "section 4.1, figure 4.1.1",
        &[
            "tasks of failed, killed jobs over 3 events, % (20 or more)",
            "failed, killed tasks (own end) over 3 events, % (20 or more)",
            "tasks of finished jobs over 3 events, % (under half)",
            "finished tasks (own end) over 3 events, % (under half)",
        ],
    ),
    ("section 4.2", &["longest sequence of a task in a finished job"]),
    (
        "section 4.2, figure 4.2.1",
        &[
            "T = 10: CPU time saved of failed jobs, %",
            "T = 10: CPU time saved of killed jobs, %",
            "T = 300: CPU time saved of failed jobs, %",
            "T = 300: CPU time saved of killed jobs, %",
        ],
    ),
];

/// Those of figure 4.2.2.
const HARM: [&str; 2] = ["T = 10: harmed finished jobs", "T = 300: harmed finished jobs"];

#[test]
fn every_claim_has_a_row_and_no_row_is_without_a_claim() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let harm = HARM.map(|claim| ("section 4.2, figure 4.2.2", claim));
    let mut expected: Vec<(&str, &str)> = CLAIMS
        .iter()
        .flat_map(|(place, claims)| claims.iter().map(|claim| (*place, *claim)))
        .chain(harm)
        .collect();
    expected.sort_unstable();
    let answer =
        place.run(&["reproduce", "mandai", "--format", "json", "--out", "found"]).ok().json();
    let text = |claim: &serde_json::Value, key: &str| claim[key].as_str().unwrap().to_owned();
    let claims = answer["claims"].as_array().unwrap();
    let mut found: Vec<(String, String)> =
        claims.iter().map(|claim| (text(claim, "place"), text(claim, "claim"))).collect();
    found.sort_unstable();
    let found: Vec<(&str, &str)> =
        found.iter().map(|(place, claim)| (place.as_str(), claim.as_str())).collect();
    assert_eq!(found, expected);
    // Nothing of a trace that is not the paper's is called reproduced, nor the reverse.
    assert!(claims.iter().all(|claim| claim["verdict"] == "cannot_be_compared"), "{claims:?}");
    let names: BTreeSet<String> = fs::read_dir(place.path("found"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for (figure, has_marks) in [
        ("3.1.1", true),
        ("3.1.2", true),
        ("3.2.1", false),
        ("3.2.2", false),
        ("4.1.1", true),
        ("4.1.1-own-end", true),
        ("4.2.1", true),
        ("4.2.2", true),
    ] {
        let name = format!("figure-{figure}.svg");
        assert!(names.contains(&name), "{name} of {names:?}");
        let svg = fs::read_to_string(place.path("found").join(&name)).unwrap();
        assert_eq!(svg.contains("Rings: values that the paper prints."), has_marks, "{name}");
        assert_eq!(
            svg.contains("paper</text>") || svg.contains("paper\n</text>"),
            has_marks,
            "{name}"
        );
    }
}
