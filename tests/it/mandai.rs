//! `reproduce mandai`: the claims of the paper of 2017 that have a row, and the charts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::support::Place;

/// Every claim of the paper: its place, and the sentence or number.
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
            "tasks over 3 events (of failed, killed jobs) resubmitted, % (over half)",
            "tasks over 3 events (by own end) resubmitted, % (over half)",
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

/// The claims of figure 4.2.2.
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
    // On a trace other than the paper's, no claim is judged reproduced or not reproduced.
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

/// The event types of each task and job as digits, directly from the files, by job and index.
fn sequences(
    place: &Place,
    table: &str,
    key: &[usize],
    event_type: usize,
) -> BTreeMap<String, String> {
    let mut rows: Vec<(u64, String, String)> = Vec::new();
    let mut parts: Vec<_> = fs::read_dir(place.path("trace").join(table))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    parts.sort();
    for part in parts {
        for line in fs::read_to_string(part).unwrap().lines() {
            let cells: Vec<&str> = line.split(',').collect();
            let name: Vec<&str> = key.iter().map(|&cell| cells[cell]).collect();
            rows.push((cells[0].parse().unwrap(), name.join("-"), cells[event_type].to_owned()));
        }
    }
    rows.sort_by_key(|row| row.0);
    let mut sequences: BTreeMap<String, String> = BTreeMap::new();
    for (_, name, digit) in rows {
        sequences.entry(name).or_default().push_str(&digit);
    }
    sequences
}

/// Gives each job a task with a sequence that is long only because of an update.
fn with_an_updated_task_of_each_job(place: &Place) {
    let path = place.path("trace").join("task_events/part-00001-of-00002.csv");
    let mut text = fs::read_to_string(&path).unwrap();
    let last = text.lines().last().unwrap().split(',').next().unwrap().to_owned();
    for job in sequences(place, "job_events", &[2], 3).keys() {
        for digit in ["0", "1", "8", "5"] {
            let cells = [&last, "", job, "900,9001", digit, "ann,3,9,0.25,0.125,0.0009765625,0"];
            text.push_str(&cells.join(","));
            text.push('\n');
        }
    }
    fs::write(path, text).unwrap();
}

#[test]
fn resubmitted_tasks_are_those_with_a_0_behind_an_end_in_the_files() {
    let place = Place::new().with_golden_trace();
    with_an_updated_task_of_each_job(&place);
    place.ingest(&[]).ok();
    let jobs = sequences(&place, "job_events", &[2], 3);
    let tasks = sequences(&place, "task_events", &[2, 3], 5);
    let percent = |is_bad: &dyn Fn(&str, &str) -> bool| {
        let long = tasks.iter().filter(|(name, own)| 3 < own.len() && is_bad(name, own));
        let (mut again, mut count) = (0.0, 0.0);
        for (_, own) in long {
            count += 1.0;
            let end = own.find(['2', '3', '4', '5', '6']);
            again += f64::from(u8::from(end.is_some_and(|end| own[end..].contains('0'))));
        }
        100.0 * again / count
    };
    let by_job = percent(&|name, _| {
        let job = name.split('-').next().unwrap();
        jobs.get(job).is_some_and(|sequence| sequence == "013" || sequence == "015")
    });
    let by_own_end = percent(&|_, own| {
        matches!(own.trim_end_matches(['7', '8']).chars().last(), Some('3' | '5'))
    });
    let answer = place.run(&["reproduce", "mandai", "--format", "json"]).ok().json();
    let ours = |whose: &str| {
        let claim = format!("tasks over 3 events ({whose}) resubmitted, % (over half)");
        let claims = answer["claims"].as_array().unwrap();
        claims.iter().find(|one| one["claim"] == claim.as_str()).unwrap()["ours"].as_f64().unwrap()
    };
    for (whose, expected) in [("of failed, killed jobs", by_job), ("by own end", by_own_end)] {
        assert!(0.0 < expected && expected < 100.0, "{whose}: the trace has both: {expected}");
        assert!((ours(whose) - expected).abs() < 1e-9, "{whose}: {expected}, {}", ours(whose));
    }
}
