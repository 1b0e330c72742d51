//! `jobfate detect`: stored results equal printed ones, refusals, and an independent replay.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use serde_json::Value;

use super::engines::{python, script};
use super::support::{Place, now, real_trace, skipped};

fn synthetic() -> Place {
    let place = Place::new();
    let args = ["synth", "trace", "--jobs", "400", "--days", "1", "--parts", "3", "--seed", "4"];
    place.run(&args).ok();
    place.ingest(&["--buckets", "3"]).ok();
    place
}

fn detect(place: &Place, more: &[&str]) -> Value {
    place.run(&[&["detect", "--format", "json"], more].concat()).ok().json()
}

/// Columns of a CSV file, row by row.
fn cells(place: &Place, name: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(place.path(name)).unwrap();
    let header = reader.headers().unwrap().clone();
    let places: Vec<usize> = columns
        .iter()
        .map(|column| header.iter().position(|name| name == *column).unwrap())
        .collect();
    reader
        .records()
        .map(|row| {
            let row = row.unwrap();
            places.iter().map(|&place| row[place].to_owned()).collect()
        })
        .collect()
}

/// Jobs of twelve tasks that run for years. If reports can change at any heartbeat, the command
/// prints how many heartbeats it would take. Otherwise it skips the heartbeats at which nothing
/// changes.
#[test]
fn jobs_of_years_are_judged_or_refused_in_seconds() {
    const YEAR_S: u64 = 31_536_000;
    let place = Place::new();
    let mut events: Vec<(u64, String)> = Vec::new();
    for job in 1..=200_u64 {
        for task in 0..12 {
            let end_s = 1000 + YEAR_S * (1 + job % 5) + 1000 * task + job;
            for (time_s, event) in [(1000 + job, 0), (1000 + job, 1), (end_s, 4)] {
                let row = format!("{time_s}000000,,{job},{task},7,{event},a,1,0,0.01,0.01,0,0\n");
                events.push((time_s, row));
            }
        }
    }
    events.sort_by_key(|&(time_s, _)| time_s);
    let rows: String = events.into_iter().map(|(_, row)| row).collect();
    place.part("task_events", 0, rows);
    place.ingest(&[]).ok();
    let begin = now();
    let judged = detect(&place, &["--detectors", "late", "hadoop", "--progress", "linear"]);
    assert_eq!(judged["counts"]["groups"], 200);
    for more in [["--progress", "siblings"], ["--noise", "0.2"]] {
        let run = place.run(&[&["detect"], &more[..]].concat());
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        let expected = "heartbeats, more than 1,000,000,000; give a longer time";
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
    assert!(begin.elapsed() < Duration::from_mins(2), "{:?}", begin.elapsed());
}

#[test]
fn the_stored_flags_add_up_to_the_scores() {
    let place = synthetic();
    let answer = detect(&place, &["--out", "out"]);
    assert!(0 < answer["counts"]["groups"].as_u64().unwrap(), "{}", answer["counts"]);
    let mut found: BTreeMap<(String, String), u64> = BTreeMap::new();
    for row in cells(&place, "out/detect-flags.csv", &["detector", "is_straggler"]) {
        *found.entry((row[0].clone(), row[1].clone())).or_default() += 1;
    }
    let stragglers = answer["stragglers"][0].as_u64().unwrap();
    assert!(0 < stragglers);
    for row in answer["rows"].as_array().unwrap() {
        let count = |verdict: &str| {
            let key = (row["detector"].as_str().unwrap().to_owned(), verdict.to_owned());
            found.get(&key).copied().unwrap_or(0)
        };
        let (hits, score) = (count("true"), &row["scores"][0]);
        assert_eq!(score["hits"], hits, "{row}");
        assert_eq!(score["false_alarms"], count("false"), "{row}");
        assert_eq!(score["missed"], stragglers - hits, "{row}");
        assert_eq!(row["flags_unjudged"], count(""), "{row}");
        assert_eq!(row["flags"], hits + count("false") + count(""), "{row}");
        assert!(row["detector"] != "oracle" || count("false") == 0, "never wrong");
        assert!(row["detector"] != "none" || row["flags"] == 0);
    }
    assert!(!found.is_empty());
    // Every detector under every ground truth; the first one decides.
    let columns = ["detector", "truth", "stragglers", "hits", "false_alarms"];
    let truths = cells(&place, "out/detect-truths.csv", &columns);
    let rows = answer["rows"].as_array().unwrap();
    let each = rows.len() * answer["stragglers"].as_array().unwrap().len();
    assert_eq!(truths.len(), each);
    let deciding: Vec<&[String]> =
        truths.iter().filter(|row| row[1] == "median:1.5").map(|row| &row[2..]).collect();
    for (row, stored) in rows.iter().zip(deciding) {
        let score = &row["scores"][0];
        let expected = [stragglers, score["hits"].as_u64().unwrap()];
        assert_eq!(stored[..2], expected.map(|count| count.to_string()), "{row}");
        assert_eq!(stored[2], score["false_alarms"].to_string(), "{row}");
    }
    // Copies without limit: one per flag, none declined.
    for row in answer["copies"].as_array().unwrap() {
        let mut rows = answer["rows"].as_array().unwrap().iter();
        let flags = rows.find(|other| other["detector"] == row["detector"]).unwrap();
        let tried = row["started"].as_u64().unwrap() + row["declined"].as_u64().unwrap();
        assert_eq!(flags["flags"], tried, "{row}");
        assert!(row["won"].as_u64() <= row["started"].as_u64());
        assert!(!row["budget"].is_null() || row["declined"] == 0, "{row}");
    }
}

/// Every table of an answer names a detector as in the command, so that tables can be joined.
#[test]
fn the_tables_of_an_answer_join_on_the_detector() {
    let place = synthetic();
    let detectors = "late late:cap=0.2 poisson";
    let args = ["--detectors", detectors, "--curve", "--windows", "30,60", "--out", "out"];
    let answer = detect(&place, &args);
    let names = |file: &str| -> BTreeSet<String> {
        cells(&place, file, &["detector"]).into_iter().map(|row| row[0].clone()).collect()
    };
    let settings = names("out/detect-settings.csv");
    let asked: BTreeSet<String> = detectors.split(' ').map(str::to_owned).collect();
    assert_eq!(names("out/detect.csv"), asked);
    assert!(asked.is_subset(&settings), "{settings:?}");
    let mut tables = 0;
    for entry in fs::read_dir(place.path("out")).unwrap() {
        let file = entry.unwrap().file_name().to_string_lossy().into_owned();
        let is_table = file.ends_with(".csv");
        let path = format!("out/{file}");
        let text = if is_table { fs::read_to_string(place.path(&path)).unwrap() } else { continue };
        if text.lines().next().unwrap().split(',').any(|name| name == "detector") {
            let found = names(&path);
            assert!(found.is_subset(&settings), "{file}: {found:?}");
            // Tables of all detectors hold the requested ones.
            let is_of_all = ["truths", "copies", "shifts"].iter().any(|name| file.contains(name));
            assert!(!is_of_all || asked.is_subset(&found), "{file}: {found:?}");
            tables += 1;
        }
    }
    assert!(6 <= tables, "{tables} tables name detectors");
    for (key, count) in [("rows", 3), ("copies", 24)] {
        let rows = answer[key].as_array().unwrap();
        let own = rows.iter().filter(|row| asked.contains(row["detector"].as_str().unwrap()));
        assert_eq!(own.count(), count, "{key}");
    }
}

#[test]
fn a_run_again_gives_the_same_bytes_on_any_number_of_threads() {
    let place = synthetic();
    let mut files = Vec::new();
    for threads in ["1", "3"] {
        let folder = "out";
        let args = ["detect", "--noise", "0.3", "--replacement", "draw", "--out", folder];
        let mut command = place.command(&args);
        assert!(command.env("RAYON_NUM_THREADS", threads).output().unwrap().status.success());
        let names = ["flags.csv", "flags.parquet", "copies.csv", "hours.csv"];
        files.push(
            names.map(|name| fs::read(place.path(&format!("{folder}/detect-{name}"))).unwrap()),
        );
    }
    assert!(files[0] == files[1], "the files differ");
}

#[test]
fn curves_windows_and_drawn_replacements_are_in_the_answer() {
    let place = synthetic();
    let answer =
        detect(&place, &["--detectors", "spark flink none", "--curve", "--windows", "30,60"]);
    assert_eq!(answer["rows"].as_array().unwrap().len(), 3);
    let curves = answer["curves"].as_array().unwrap();
    let named: Vec<&Value> = curves.iter().map(|curve| &curve["detector"]).collect();
    assert_eq!(named, ["spark", "flink"], "`none` has no curve");
    let flags = |point: &Value| {
        let score = &point["score"];
        score["hits"].as_u64().unwrap() + score["false_alarms"].as_u64().unwrap()
    };
    for curve in curves {
        let points = curve["points"].as_array().unwrap();
        assert_eq!(points.len(), 6);
        // The points go from cautious to eager: a smaller multiple flags all attempts that a larger
        // one flags.
        assert!(points.windows(2).all(|pair| flags(&pair[0]) <= flags(&pair[1])), "{curve}");
    }
    let added: Vec<&str> = answer["added"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["detector"].as_str().unwrap())
        .filter(|name| name.starts_with("poisson"))
        .collect();
    assert_eq!(added.len(), 4, "each window plain and scaled: {added:?}");
    let copies = |how: &str| {
        let answer = detect(&place, &["--detectors", "oracle", "--replacement", how]);
        answer["copies"].clone()
    };
    let (median, draw) = (copies("median"), copies("draw"));
    assert_eq!(draw, copies("draw"));
    assert_ne!(median, draw);
}

#[test]
fn what_is_unknown_is_refused_with_what_is_known() {
    let place = synthetic();
    for (args, words) in [
        (&["--detectors", "latte"][..], &["latte", "poisson", "flink", "yarn"][..]),
        (&["--detectors", "spark:quantle=0.5"], &["quantle", "quantile", "multiplier", "budget"]),
        (&["--detectors", "spark:quantile=2"], &["quantile", "0 to 1"]),
        (&["--detectors", " "], &["no detector"]),
        (&["--detectors", "late,spark"], &["late,spark", "by spaces, as in `late spark`"]),
        (&["--detectors", "late:budget=0.1,spark"], &["spark", "by spaces"]),
        (&["--truth", "longest"], &["longest", "median:1.5", "p90"]),
        (&["--heartbeat", "0"], &["heartbeat", "0.1 to 86400"]),
        (&["--noise", "-1"], &["-1"]),
        (&["--progress", "psychic"], &["linear", "usage", "siblings"]),
        (&["--replacement", "mean"], &["median", "draw"]),
    ] {
        let run = place.run(&[&["detect"], args].concat());
        assert_eq!(run.code, Some(2), "{args:?}\n{}", run.stderr);
        for word in words {
            assert!(run.stderr.contains(word), "{args:?} does not say {word}\n{}", run.stderr);
        }
    }
}

#[test]
fn a_lake_without_the_table_is_reported_so() {
    let place = synthetic();
    let args = ["ingest", "trace", "--lake", "jobs", "--tables", "job_events"];
    place.run(&args).ok();
    let run = place.run(&["detect", "--lake", "jobs"]);
    assert_ne!(run.code, Some(0));
    assert!(run.stderr.contains("task_events"), "{}", run.stderr);
    let args = ["ingest", "trace", "--lake", "events", "--tables", "job_events,task_events"];
    place.run(&args).ok();
    for more in [&["--progress", "usage"][..], &["--progress", "siblings", "--work", "measured"]] {
        let run = place.run(&[&["detect", "--lake", "events"], more].concat());
        assert_ne!(run.code, Some(0), "{more:?}");
        assert!(run.stderr.contains("task_usage"), "{more:?}: {}", run.stderr);
    }
    place.run(&["detect", "--lake", "events", "--progress", "siblings"]).ok();
}

#[test]
fn plain_python_flags_and_scores_alike() {
    let Some(python) = python("duckdb") else { return };
    let place = synthetic();
    let lake = place.path("lake");
    let jobfate = env!("CARGO_BIN_EXE_jobfate");
    let said = script(&python, "detect_crosscheck.py", &[jobfate, lake.to_str().unwrap()]);
    assert!(said.contains("comparisons alike"), "{said}");
}

#[test]
fn plain_python_flags_and_scores_alike_on_the_real_trace() {
    let Some(trace) = real_trace() else {
        skipped("the real trace is not at `../shared/data/clusterdata-2011-2`");
        return;
    };
    let Some(python) = python("duckdb") else { return };
    let place = Place::new();
    let trace = trace.to_str().unwrap();
    let args = ["ingest", trace, "--lake", "lake", "--tables", "task_events", "--parts", "0-3"];
    place.run(&args).ok();
    let lake = place.path("lake");
    let jobfate = env!("CARGO_BIN_EXE_jobfate");
    let said = script(&python, "detect_crosscheck.py", &[jobfate, lake.to_str().unwrap(), "60"]);
    assert!(said.contains("comparisons alike"), "{said}");
}
