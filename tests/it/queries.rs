//! Golden answers: every query on the trace that is drawn in `tests/golden/README.md`.

use std::collections::BTreeMap;
use std::fs;

use jobfate::facts::query::QUERIES;

use jobfate::schema::Source;

use super::support::{Place, check_golden, golden, orphans, repository};

/// Thresholds that are reached inside an attempt, on the last event of a task, and after it.
pub(crate) const THRESHOLDS: &str = "2,10,17,18,257,258";

fn answer(place: &Place, lake: &str, query: &str) -> String {
    let args = ["query", query, "--lake", lake, "--thresholds", THRESHOLDS, "--format", "csv"];
    place.run(&args).ok().stdout_text().to_owned()
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn every_query_gives_its_golden_answer_however_many_buckets() {
    let place = Place::new().with_golden_trace();
    for (lake, buckets) in [("one", "1"), ("seven", "7")] {
        place.run(&["ingest", "trace", "--lake", lake, "--buckets", buckets]).ok();
    }
    let log = golden("logs/small.swf");
    for (lake, buckets) in [("log-one", "1"), ("log-seven", "7")] {
        let ingest = ["ingest", log.to_str().unwrap(), "--lake", lake, "--buckets", buckets];
        place.run(&[&ingest[..], &["--max-rejects", "100%"]].concat()).ok();
    }
    for query in &QUERIES {
        let is_of_log = !query.sources().contains(&Source::Google2011);
        let [one, seven] = if is_of_log { ["log-one", "log-seven"] } else { ["one", "seven"] };
        let found = answer(&place, one, query.name);
        check_golden(&format!("answers/{}.csv", query.name), &found);
        assert_eq!(answer(&place, seven, query.name), found, "{} in 7 buckets", query.name);
    }
}

/// Queries for logs run only on lakes of logs.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn a_query_of_logs_is_for_their_lakes_alone() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let run = place.run(&["query", "q14", "--lake", "lake"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let expected = "error: query `q14_job_requests` needs a lake of swf or gwf or slurm or mapped; this lake is of google-2011\n";
    assert_eq!(run.stderr, expected);
    let facts = |lake: &str, out: &str| -> Vec<String> {
        let run = place.run(&["query", "all", "--lake", lake, "--out", out]).ok();
        assert!(!run.stderr.contains("skipped q14"), "{}", run.stderr);
        let names = fs::read_dir(place.path(out)).unwrap();
        let mut names: Vec<String> = names
            .filter_map(|entry| {
                entry
                    .unwrap()
                    .file_name()
                    .into_string()
                    .unwrap()
                    .strip_suffix(".csv")
                    .map(str::to_owned)
            })
            .filter(|name| name.starts_with('q'))
            .collect();
        names.sort();
        names
    };
    assert!(!facts("lake", "facts").contains(&"q14_job_requests".to_owned()));
    for log in ["small.swf", "small.gwf"] {
        let path = golden("logs").join(log);
        let ingest = ["ingest", path.to_str().unwrap(), "--lake", log, "--max-rejects", "100%"];
        place.run(&ingest).ok();
        assert!(facts(log, &format!("facts-{log}")).contains(&"q14_job_requests".to_owned()));
    }
}

#[test]
fn no_answer_is_without_a_query() {
    let known: Vec<String> = QUERIES.iter().map(|query| format!("{}.csv", query.name)).collect();
    assert_eq!(orphans("answers", &known), Vec::<String>::new());
}

#[test]
fn the_folder_and_the_program_know_the_same_queries() {
    let mut files: Vec<String> = fs::read_dir(repository().join("queries"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter_map(|name| name.strip_suffix(".sql").map(str::to_owned))
        .collect();
    files.sort();
    let known: Vec<&str> = QUERIES.iter().map(|query| query.name).collect();
    assert_eq!(files, known);
    for (number, name) in (1..).zip(&known) {
        assert!(name.starts_with(&format!("q{number:02}_")), "{name} is number {number}");
    }
}

#[test]
fn every_query_states_its_question_and_its_order() {
    for query in &QUERIES {
        let labels: Vec<&str> = query
            .text
            .lines()
            .map_while(|line| line.strip_prefix("-- "))
            .filter_map(|line| Some(line.split_once(':')?.0))
            .filter(|label| matches!(*label, "Question" | "Tables" | "Key" | "Columns" | "Used by"))
            .collect();
        assert_eq!(labels, ["Question", "Tables", "Key", "Columns", "Used by"], "{}", query.name);
        assert!(query.question().ends_with('?'), "{}: {}", query.name, query.question());
        let last = query.text.trim_end().lines().last().unwrap();
        let order = last.strip_prefix("ORDER BY ").and_then(|rest| rest.strip_suffix(';'));
        let order: Vec<&str> = order
            .unwrap_or_else(|| panic!("{} ends in `{last}`", query.name))
            .split(", ")
            .map(|column| column.rsplit('.').next().unwrap().trim_matches('"'))
            .collect();
        assert_eq!(order, query.key(), "{} is ordered by its key", query.name);
    }
}

/// A whole number, or a quantity in thousandths.
#[expect(clippy::cast_possible_truncation, reason = "small quantities")]
fn number(text: &str) -> Option<i64> {
    let thousandths = |quantity: f64| (quantity * 1000.0).round() as i64;
    text.parse().ok().or_else(|| text.parse().ok().map(thousandths))
}

#[test]
fn a_golden_answer_has_one_row_per_key() {
    for query in &QUERIES {
        let path = golden(&format!("answers/{}.csv", query.name));
        let mut reader = csv::Reader::from_path(&path).unwrap();
        let header = reader.headers().unwrap().clone();
        let key: Vec<usize> = query
            .key()
            .iter()
            .map(|name| header.iter().position(|column| column == *name).unwrap())
            .collect();
        // Numbers as numbers, names as text.
        let mut keys: Vec<Vec<Result<i64, String>>> = Vec::new();
        for record in reader.records() {
            let record = record.unwrap();
            let cell = |&column: &usize| number(&record[column]).ok_or(record[column].to_owned());
            keys.push(key.iter().map(cell).collect());
        }
        assert!(!keys.is_empty(), "{} has an answer", query.name);
        assert!(keys.is_sorted_by(|one, next| one < next), "{}: ascending, unique", query.name);
    }
}

/// The sequences, computed again from the raw text by the definition.
#[test]
fn sequences_are_those_of_the_raw_lines() {
    for (table, query, job, task, event) in [
        ("job_events", "q01_job_outcomes", 2, None, 3),
        ("task_events", "q02_task_outcomes", 2, Some(3), 5),
    ] {
        let mut events: BTreeMap<Vec<u64>, Vec<(u64, usize, char)>> = BTreeMap::new();
        let mut place = 0;
        for part in 0..2 {
            let path = golden(&format!("trace/{table}/part-{part:05}-of-00002.csv"));
            for line in fs::read_to_string(path).unwrap().lines() {
                let fields: Vec<&str> = line.split(',').collect();
                let number = |idx: usize| fields[idx].parse::<u64>().unwrap();
                let key = std::iter::once(job).chain(task).map(number).collect();
                let kind = fields[event].chars().next().unwrap();
                events.entry(key).or_default().push((number(0), place, kind));
                place += 1;
            }
        }
        let mut expected = BTreeMap::new();
        for (key, mut history) in events {
            history.sort_unstable();
            let sequence: String = history.iter().map(|(.., kind)| kind).collect();
            expected.insert(key, sequence);
        }
        let mut found = BTreeMap::new();
        let keys = 1 + usize::from(task.is_some());
        let mut reader = csv::Reader::from_path(golden(&format!("answers/{query}.csv"))).unwrap();
        for record in reader.records() {
            let record = record.unwrap();
            let key = (0..keys).map(|idx| record[idx].parse::<u64>().unwrap()).collect();
            found.insert(key, record[keys].to_owned());
        }
        assert_eq!(found, expected, "{table}");
        let longest = found.values().map(String::len).max();
        assert_eq!(longest, Some(if task.is_some() { 258 } else { 6 }), "{table}");
    }
}
