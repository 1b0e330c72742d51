//! The stored pages of the five papers, and `reproduce all`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;

use super::engines::{python, script};
use super::support::{Place, real_trace, repository, skipped};

const PAPERS: [&str; 5] = ["mandai", "ota", "tan", "asahara", "cui"];

fn kept(paper: &str, file: &str) -> String {
    let path = repository().join("reports").join(paper).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The content of the console blocks of a page.
fn blocks(page: &str) -> String {
    page.split("```console\n").skip(1).filter_map(|block| block.split("\n```").next()).collect()
}

/// Keys of the open and fitted parameters of a paper.
fn open_keys(paper: &str) -> Vec<String> {
    let text = kept(paper, &format!("{paper}-parameters.csv"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let place = |name: &str| text.lines().next().unwrap().split(',').position(|one| one == name);
    let (key, settled) = (place("key").unwrap(), place("settled").unwrap());
    let rows = reader.records().map(Result::unwrap);
    rows.filter(|row| &row[settled] != "given").map(|row| row[key].to_owned()).collect()
}

/// The page has a line `key=value: ...` for each value of a parameter, as `--vary` prints it.
#[test]
fn every_parameter_that_is_not_given_has_its_table_on_the_page() {
    for paper in PAPERS {
        let page = blocks(&kept(paper, "README.md"));
        let keys = open_keys(paper);
        assert!(!keys.is_empty(), "{paper}");
        for key in keys {
            let values: BTreeSet<&str> = page
                .lines()
                .filter_map(|line| line.strip_prefix(key.as_str())?.strip_prefix('='))
                .filter_map(|rest| rest.split_once(": ").map(|(value, _)| value))
                .collect();
            assert!(2 <= values.len(), "{paper}: `{key}` is varied over {values:?} on the page");
        }
    }
}

#[test]
fn the_kept_claims_of_all_five_have_the_same_columns_and_none_is_cut() {
    let headers: BTreeSet<String> = PAPERS
        .map(|paper| kept(paper, &format!("{paper}.csv")).lines().next().unwrap().to_owned())
        .into();
    assert_eq!(headers.len(), 1, "{headers:?}");
    for column in ["place", "claim", "published", "ours", "ours_low", "ours_high", "verdict"] {
        let header = headers.first().unwrap();
        assert!(header.split(',').any(|one| one == column), "{column}: {header}");
    }
    for paper in PAPERS {
        let page = kept(paper, "README.md");
        assert!(!blocks(&page).contains('…'), "{paper}: something is cut in a block of the page");
    }
}

/// The pages show every line of `reproduce all --stored reports`.
#[test]
fn the_tables_of_the_readmes_are_those_of_the_stored_claims() {
    let place = Place::new();
    let reports = repository().join("reports");
    let reports = reports.to_str().unwrap();
    let first = "study,claims,not_reproduced,same_direction,reproduced";
    for (page, further) in [
        ("README.md", "fitted,cannot_be_compared"),
        ("reports/README.md", "worked_examples,fitted,cannot_be_compared"),
    ] {
        let columns = format!("{first},{further}");
        let words = ["reproduce", "all", "--stored", reports, "--columns", &columns];
        let run = place.run(&words).ok();
        let said = run.stdout_text().trim_end();
        let page_text = fs::read_to_string(repository().join(page)).unwrap();
        assert!(blocks(&page_text).contains(said), "{page} lacks\n{said}");
    }
}

/// All files that a run writes, by name.
fn files_under(place: &Place, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![place.path(folder)];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(place.path(folder)).unwrap().display().to_string();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn two_runs_of_all_five_write_the_same_bytes_in_one_form() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    fs::create_dir(place.path("logs")).unwrap();
    fs::copy(repository().join("tests/golden/logs/small.swf"), place.path("logs/small.swf"))
        .unwrap();
    place.run(&["ingest", "logs/small.swf", "--lake", "log", "--max-rejects", "20%"]).ok();
    let run = || {
        let words = ["reproduce", "all", "--runs", "1", "--lake", "lake", "--ota-lake", "log"];
        place.run(&[&words[..], &["--out", "found"]].concat()).ok();
        let files = files_under(&place, "found");
        fs::remove_dir_all(place.path("found")).unwrap();
        files
    };
    let (one, other) = (run(), run());
    let names: Vec<&String> = one.keys().collect();
    assert_eq!(names, other.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{name} differs between two runs");
    }
    let headers: BTreeSet<Vec<u8>> = PAPERS
        .map(|paper| {
            let table = &one[&format!("{paper}/{paper}.csv")];
            table.split(|byte| *byte == b'\n').next().unwrap().to_vec()
        })
        .into();
    assert_eq!(headers.len(), 1, "the five tables have the same columns");
}

/// A simulation of experiment 5.2 that shares no code with the program.
#[test]
fn a_simulation_in_python_comes_to_the_same_times_and_restarts() {
    let Some(python) = python("numpy") else { return };
    let said = script(&python, "asahara_crosscheck.py", &[env!("CARGO_BIN_EXE_jobfate"), "3"]);
    assert!(said.ends_with("8 comparisons, 0 apart\n"), "{said}");
}

/// Published numbers about the trace of 2011 are compared with the counts of a script over its
/// files.
#[test]
#[cfg_attr(debug_assertions, ignore = "reads whole real traces")]
fn the_literature_is_compared_with_what_the_real_tables_say() {
    let Some(trace) = real_trace() else {
        return skipped("the real trace is not beside this repository");
    };
    let Some(python) = python("csv") else { return };
    let place = Place::new();
    let raw = trace.to_str().unwrap();
    let tables = "job_events,machine_events";
    place.run(&["ingest", raw, "--lake", "lake", "--tables", tables]).ok();
    let run = Command::new(python)
        .arg(repository().join("tests/scripts/literature_crosscheck.py"))
        .args([env!("CARGO_BIN_EXE_jobfate"), place.path("lake").to_str().unwrap(), raw])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("all equal: 21 values"), "{said}");
    let answer = place.run(&["reproduce", "literature", "--format", "json"]).ok().json();
    let claims = answer["claims"].as_array().unwrap();
    let of = |what: &str| {
        let own = |claim: &&Value| claim["claim"].as_str().unwrap().contains(what);
        claims.iter().filter(own).collect::<Vec<&Value>>()
    };
    for claim in of("capacity lost") {
        let is_ours = claim["published"] == 0.48;
        assert_eq!(claim["verdict"] == "reproduced", is_ours, "{claim}");
    }
    // Without the table of tasks, numbers about tasks are unknown. Scores on other samples are
    // never judged.
    assert_eq!(of("priority").len(), 5);
    for claim in of("priority").into_iter().chain(of("accuracy")).chain(of("EVICT")) {
        assert_eq!(claim["verdict"], "cannot_be_compared", "{claim}");
    }
    assert!(of("priority").iter().all(|claim| claim["ours"].is_null()));
    // Another trace has other published numbers.
    let log = repository().join("tests/golden/logs/small.swf");
    place.run(&["ingest", log.to_str().unwrap(), "--lake", "log", "--max-rejects", "100%"]).ok();
    let run = place.run(&["reproduce", "literature", "--lake", "log"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

/// The rows of an answer of `reproduce course`: question, measure and group with three numbers.
fn course_rows(answer: &Value) -> BTreeMap<(u64, String, i64), [Option<f64>; 3]> {
    let mut found = BTreeMap::new();
    for question in answer["questions"].as_array().unwrap() {
        let both = [&question["answer"], &question["other_readings"]];
        for row in both.iter().flat_map(|rows| rows.as_array().unwrap()) {
            let key = thousandths(row["group_key"].as_f64().unwrap());
            let measure = row["measure"].as_str().unwrap().to_owned();
            let numbers = ["part", "whole", "value"].map(|name| row[name].as_f64());
            let place = (question["number"].as_u64().unwrap(), measure, key);
            assert_eq!(found.insert(place, numbers), None, "{row} stands twice");
        }
    }
    found
}

#[expect(clippy::cast_possible_truncation, reason = "small quantities")]
fn thousandths(quantity: f64) -> i64 {
    (quantity * 1000.0).round() as i64
}

/// The golden answers are those of the SQL: `brute_force_gives_the_golden_answers` and the engines
/// are compared with the same files.
#[test]
fn the_ten_questions_are_answered_as_their_queries_do() {
    let place = Place::new().with_golden_trace();
    for buckets in ["1", "7"] {
        place.run(&["ingest", "trace", "--lake", buckets, "--buckets", buckets]).ok();
        let run = place.run(&["reproduce", "course", "--lake", buckets, "--format", "json"]).ok();
        let found = course_rows(&run.json());
        let mut expected = BTreeMap::new();
        for (question, query) in (1..).zip(&jobfate::facts::query::QUERIES[22..]) {
            let path = super::support::golden(&format!("answers/{}.csv", query.name));
            for record in csv::Reader::from_path(path).unwrap().records() {
                let record = record.unwrap();
                let number = |idx: usize| record[idx].parse::<f64>().ok();
                let place = (question, record[0].to_owned(), thousandths(number(1).unwrap()));
                expected.insert(place, [2, 3, 4].map(number));
            }
        }
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (place, numbers) in &found {
            let is_near = |(one, other): (&Option<f64>, &Option<f64>)| match (one, other) {
                (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * one.abs().max(1e-3),
                (one, other) => one == other,
            };
            let other = &expected[place];
            assert!(numbers.iter().zip(other).all(is_near), "{place:?}: {numbers:?} {other:?}");
        }
    }
}

/// The loaded parts of the real trace, recomputed from the raw files. If the table of a question is
/// missing, the answer says so.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn the_ten_questions_are_those_of_the_raw_files() {
    let Some(trace) = real_trace() else {
        return skipped("the real trace is not beside this repository");
    };
    let Some(python) = python("csv") else { return };
    let place = Place::new();
    let raw = trace.to_str().unwrap();
    let tables = if cfg!(debug_assertions) {
        "machine_events"
    } else {
        "job_events,task_events,machine_events"
    };
    place.run(&["ingest", raw, "--lake", "lake", "--tables", tables]).ok();
    let run = Command::new(python)
        .arg(repository().join("tests/scripts/course_crosscheck.py"))
        .args([env!("CARGO_BIN_EXE_jobfate"), place.path("lake").to_str().unwrap(), raw])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.ends_with(", 0 differ\n"), "{said}");
    let run = place.run(&["reproduce", "course", "--format", "json"]).ok();
    assert!(run.stderr.contains("question 6 needs table task_usage"), "{}", run.stderr);
    // Numbers from course reports are next to the interpretation that gives them.
    let questions = &run.json()["questions"];
    for said in questions[0]["published"].as_array().unwrap() {
        assert_eq!(said["equal"], true, "{said}");
    }
    assert_eq!(questions[1]["published"][0]["equal"], true);
    assert_eq!(questions[1]["published"][1]["equal"], true);
    assert!(questions[5]["answer"].as_array().unwrap().is_empty());
}

/// The baselines and the regression, run again by a script over the raw files.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn predictions_are_those_of_a_script_over_the_raw_files() {
    let Some(trace) = real_trace() else {
        return skipped("the real trace is not beside this repository");
    };
    let Some(python) = python("csv") else { return };
    let place = Place::new();
    let raw = trace.to_str().unwrap();
    place.run(&["ingest", raw, "--lake", "lake", "--tables", "job_events"]).ok();
    let program = env!("CARGO_BIN_EXE_jobfate");
    let lake = place.path("lake");
    script(&python, "predict_crosscheck.py", &[program, lake.to_str().unwrap(), raw]);
    let rules = ["predict", "--rules", "last,logistic", "--format", "json"];
    let answer = place.run(&rules).ok().json();
    let accuracy = |idx: usize| answer["rules"][idx]["accuracy"].as_f64().unwrap();
    assert!((accuracy(0) - 0.921_995).abs() < 1e-6, "{answer}");
    assert!(0.944 < accuracy(1), "{answer}");
}

/// The kill rules that use the current chance, run again by a script over raw files of the first
/// hours: the scripts take minutes for all of them.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn kills_by_the_chance_of_the_moment_are_those_of_a_script_over_the_raw_files() {
    let Some(trace) = real_trace() else {
        return skipped("the real trace is not beside this repository");
    };
    let Some(python) = python("csv") else { return };
    let place = Place::new();
    let raw = place.path("trace");
    fs::create_dir_all(raw.join("task_events")).unwrap();
    let first = (0..6).map(|part| format!("task_events/part-{part:05}-of-00500.csv.gz"));
    let whole = ["schema.csv", "job_events", "machine_events"].map(str::to_owned);
    for name in whole.into_iter().chain(first) {
        symlink(fs::canonicalize(trace.join(&name)).unwrap(), raw.join(&name)).unwrap();
    }
    place.run(&["ingest", "trace", "--lake", "lake"]).ok();
    let lake = place.path("lake");
    let program = env!("CARGO_BIN_EXE_jobfate");
    for name in ["history_crosscheck.py", "replay_history_crosscheck.py"] {
        script(&python, name, &[program, lake.to_str().unwrap(), raw.to_str().unwrap()]);
    }
}
