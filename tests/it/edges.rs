//! Every statistic counts and reports jobs that began before the window (time 0) or still run after
//! it. The expected counts come from the facts, which the queries define.

use std::collections::BTreeSet;
use std::fs;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use jobfate::facts::query::{Query, Settings};
use jobfate::facts::window::Windows;
use serde_json::{Value, json};

use super::support::Place;

/// A dirty synthetic trace with jobs from before its window.
fn synthetic() -> Place {
    let place = Place::new();
    let args = ["synth", "trace", "--jobs", "250", "--days", "0.4", "--parts", "3", "--dirty"];
    place.run(&args).ok();
    place.ingest(&["--buckets", "4", "--max-rejects", "50%"]).ok();
    place
}

/// The number of rows of a fact with 0 in a column.
fn at_zero(place: &Place, query: &str, column: &str) -> u64 {
    let lake = place.lake();
    let settings = Settings::new(Windows::of(&lake), vec![10]);
    let facts = Query::find(query).unwrap().run(&lake, &settings).unwrap();
    let times = facts.column_by_name(column).unwrap().as_primitive::<Int64Type>();
    times.iter().filter(|&time| time == Some(0)).count() as u64
}

/// Scheduled jobs whose first event is before the window.
fn submitted_before_and_scheduled(place: &Place) -> u64 {
    let csv = place.run(&["query", "q01", "--format", "csv"]).ok();
    let mut reader = csv::Reader::from_reader(&csv.stdout[..]);
    let header = reader.headers().unwrap().clone();
    let at = |name: &str| header.iter().position(|one| one == name).unwrap();
    let (begin, schedule) = (at("first_event_us"), at("first_schedule_us"));
    let rows = reader.records().map(Result::unwrap);
    rows.filter(|row| &row[begin] == "0" && !row[schedule].is_empty()).count() as u64
}

/// For every statistic, a job that was submitted before the window and scheduled in it began before
/// the window.
#[test]
fn classify_and_describe_count_the_same_jobs_as_begun_before() {
    let place = Place::new();
    // Four jobs: submitted before the window and scheduled in it; entirely before it; never
    // scheduled; entirely in the window.
    let mut rows = [(0, 1, 0), (700_000_000, 1, 1), (900_000_000, 1, 4), (0, 2, 0), (0, 2, 1)]
        .into_iter()
        .chain([(800_000_000, 2, 4), (0, 3, 0), (650_000_000, 3, 5), (610_000_000, 4, 0)])
        .chain([(620_000_000, 4, 1), (800_000_001, 4, 4)])
        .collect::<Vec<(i64, i64, i32)>>();
    rows.sort_unstable();
    let line = |&(at, job, event): &(i64, i64, i32)| format!("{at},,{job},{event},u,1,n,l\n");
    place.raw("job_events/part-00000-of-00001.csv", rows.iter().map(line).collect::<String>());
    place.ingest(&[]).ok();
    let count = |args: &[&str]| answer(&place, args)["censoring"]["left_censored"].clone();
    assert_eq!(count(&["classify"]), 3);
    assert_eq!(count(&["describe"]), 2, "jobs 1 and 2: job 3 has no duration");
    assert_eq!(count(&["describe", "--what", "job-survival"]), 2);
    for command in ["classify", "describe"] {
        let help = place.run(&[command, "--help"]).ok().stdout_text().replace('\n', " ");
        let said = "job or task began before the window if its first event";
        assert!(help.contains(said), "{command}: {help}");
    }
}

fn answer(place: &Place, args: &[&str]) -> Value {
    place.run(&[args, &["--format", "json"]].concat()).ok().json()
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn left_censored_rows_are_counted_in_every_statistic() {
    let place = synthetic();
    let jobs = at_zero(&place, "q01", "first_event_us");
    // Jobs without a SCHEDULE have no known duration.
    let scheduled = submitted_before_and_scheduled(&place);
    let tasks = at_zero(&place, "q02", "first_event_us");
    let attempts = at_zero(&place, "q03", "start_us");
    assert!([jobs, scheduled, tasks, attempts].iter().all(|&count| 0 < count), "it is about some");
    for (by, planted) in [("job", jobs), ("task", tasks)] {
        let ours = answer(&place, &["classify", "--by", by])["censoring"].clone();
        let sql = answer(&place, &["classify", "--by", by, "--engine", "polars"]);
        assert_eq!(ours["left_censored"], planted, "{by}");
        assert_eq!(ours, sql["censoring"], "the engines agree on what is open");
    }
    for (cpu, planted) in [("slots", attempts), ("measured", attempts), ("published", scheduled)] {
        for command in ["account", "sweep"] {
            let found = answer(&place, &[command, "--cpu", cpu]);
            assert_eq!(found["censoring"]["left_censored"], planted, "{command} {cpu}");
        }
    }
    for (what, planted) in
        [("job-durations", scheduled), ("events-per-task", tasks), ("attempts", tasks)]
    {
        let found = answer(&place, &["describe", "--what", what]);
        assert_eq!(found["censoring"]["left_censored"], planted, "{what}");
        let rows = found["rows"].as_array().unwrap();
        assert_eq!(rows[0]["left_censored"], planted, "{what}, all");
        let of_outcomes: u64 =
            rows[1..].iter().map(|row| row["left_censored"].as_u64().unwrap()).sum();
        assert_eq!(of_outcomes, planted, "{what}, outcomes");
    }
    let survival = answer(&place, &["describe", "--what", "job-survival"]);
    assert_eq!(survival["censoring"]["left_censored"], scheduled);
    let waiting = answer(&place, &["describe", "--what", "waiting"]);
    let submitted = at_zero(&place, "q02", "first_submit_us");
    assert_eq!(waiting["censoring"]["left_censored_out"], submitted);
    assert_eq!(waiting["censoring"]["left_censored"], 0);
}

#[test]
fn captions_and_notes_say_what_is_in() {
    let place = Place::new().with_golden_trace();
    place.ingest(&["--buckets", "2"]).ok();
    for (args, note, chart) in [
        (
            &["describe"][..],
            "1 job that began before the window (time 0) is included, 4 open at its end are closed then",
            "job-durations",
        ),
        (
            &["describe", "--censored", "exclude"],
            "4 jobs open at the end of the window are left out",
            "job-durations",
        ),
        (
            &["describe", "--what", "job-survival"],
            "1 job that began before the window (time 0) is included, 4 open at its end are censored then",
            "job-survival",
        ),
        (
            &["describe", "--what", "waiting"],
            "1 task that began before the window (time 0) is left out",
            "waiting",
        ),
        (
            &["describe", "--what", "events-per-task"],
            "2 tasks that began before the window (time 0) are included",
            "events-per-task",
        ),
        (
            &["account", "--cpu", "slots"],
            "2 attempts that began before the window (time 0) are included, 5 open at its end are closed then",
            "account-slots",
        ),
        (
            &["sweep"],
            "2 attempts that began before the window (time 0) are included, 5 open at its end are closed then",
            "sweep-rules",
        ),
        (
            &["classify"],
            "1 job that began before the window (time 0) is included, 4 are open at its end (2,990 s)",
            "classify-jobs",
        ),
    ] {
        let run = place.run(&[args, &["--out", "results"]].concat()).ok();
        assert!(run.stderr.contains(note), "{args:?}: {}", run.stderr);
        // A caption is broken into lines, each in a separate element.
        let svg = fs::read_to_string(place.path(&format!("results/{chart}.svg"))).unwrap();
        let words: BTreeSet<&str> = svg.split_whitespace().collect();
        for word in note.split_whitespace() {
            assert!(words.iter().any(|found| found.contains(word)), "{chart}: {word} of {note}");
        }
    }
}

#[test]
fn every_description_can_be_split_and_adds_up() {
    let place = synthetic();
    for what in ["job-durations", "tasks-per-job", "events-per-task", "waiting", "attempts"] {
        let whole = answer(&place, &["describe", "--what", what]);
        for group_by in ["priority", "class", "user"] {
            let args = ["describe", "--what", what, "--group-by", group_by];
            let rows = answer(&place, &args)["rows"].as_array().unwrap().clone();
            let every: Vec<&Value> = rows.iter().filter(|row| row["is_total"] == true).collect();
            for (split, row) in every.iter().zip(whole["rows"].as_array().unwrap()) {
                for key in ["outcome", "count", "median", "left_censored"] {
                    assert_eq!(split[key], row[key], "{what} by {group_by}: {key}");
                }
            }
            let of_groups: u64 = rows
                .iter()
                .filter(|row| row["is_total"] == false && row["outcome"] == "all")
                .map(|row| row["count"].as_u64().unwrap())
                .sum();
            assert_eq!(json!(of_groups), whole["rows"][0]["count"], "{what} by {group_by}");
        }
    }
    let survival = answer(&place, &["describe", "--what", "job-survival", "--group-by", "class"]);
    assert!(survival["rows"].as_array().unwrap().iter().any(|row| row["scheduling_class"] == 0));
}

#[test]
fn published_cpu_needs_no_task_events() {
    let (whole, bare) = (synthetic(), Place::new());
    let args = ["synth", "trace", "--jobs", "250", "--days", "0.4", "--parts", "3", "--dirty"];
    bare.run(&args).ok();
    let tables = "job_events,task_usage,machine_events";
    bare.ingest(&["--buckets", "4", "--max-rejects", "50%", "--tables", tables]).ok();
    let args = ["account", "--cpu", "published"];
    let (with, without) = (answer(&whole, &args), answer(&bare, &args));
    for key in ["total", "windows", "windows_without_rate", "windows_overlapping", "censoring"] {
        assert_eq!(with[key], without[key], "{key}");
    }
    for (with, without) in
        with["rows"].as_array().unwrap().iter().zip(without["rows"].as_array().unwrap())
    {
        assert_eq!((&with["outcome"], &with["cpu"]), (&without["outcome"], &without["cpu"]));
    }
    for args in [
        &["account", "--cpu", "published", "--group-by", "priority"][..],
        &["account", "--cpu", "slots"],
        &["sweep", "--cpu", "published"],
        &["describe", "--what", "attempts"],
        &["describe", "--group-by", "priority"],
    ] {
        let run = bare.run(args);
        assert_eq!(run.code, Some(3), "{args:?}");
        assert!(run.stderr.contains("table `task_events` is not in the lake"), "{}", run.stderr);
    }
}

#[test]
fn a_raw_folder_is_verified_into_files_too() {
    let place = Place::new().with_golden_trace();
    place.run(&["verify", "trace", "--out", "checked"]).ok();
    let result: Value =
        serde_json::from_str(&fs::read_to_string(place.path("checked/result.json")).unwrap())
            .unwrap();
    assert_eq!(result["answer"]["rows"][0]["table"], "job_events");
    assert!(place.path("checked/verify.csv").exists());
}

#[test]
fn the_end_of_the_window_says_what_classify_calls_open() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let run = place.run(&["classify", "--window-end", "4000"]).ok();
    assert!(run.stderr.contains("are open at its end (4,000 s)"), "{}", run.stderr);
    assert_eq!(place.run(&["classify", "--window-end", "100"]).code, Some(2));
}
