//! The real trace, if it exists next to this repository: Table 3.1.1 and other counted numbers.
//!
//! The numbers were counted in the original files, or published with them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use super::support::{Place, real_trace, skipped};

/// A lake of all available `job_events`, `task_events` (17 parts) and `machine_events`.
static REAL: LazyLock<Option<(Place, PathBuf)>> = LazyLock::new(|| {
    let trace = real_trace()?;
    let place = Place::new();
    place
        .run(&[
            "ingest",
            trace.to_str().unwrap(),
            "--lake",
            "lake",
            "--tables",
            "job_events,task_events,machine_events",
        ])
        .ok();
    Some((place, trace))
});

/// The lake, or a message that it is missing.
fn real() -> Option<&'static Place> {
    if REAL.is_none() {
        skipped("the real trace is not at `../shared/data/clusterdata-2011-2`");
    }
    REAL.as_ref().map(|(place, _)| place)
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn table_3_1_1() {
    let Some(place) = real() else { return };
    let run = place.run(&["classify", "--format", "json"]).ok().json();
    let mut rows = BTreeMap::new();
    for row in run["rows"].as_array().unwrap() {
        rows.insert(row["outcome"].as_str().unwrap().to_owned(), row["count"].as_u64().unwrap());
    }
    let expected = [
        ("failed", 10_124),
        ("finished", 385_581),
        ("killed", 272_341),
        ("other", 42),
        ("running", 3_986),
    ];
    assert_eq!(rows, expected.map(|(name, count)| (name.to_owned(), count)).into());
    assert_eq!(run["total"], 672_074);
    let csv = place.run(&["classify", "--sequences", "--format", "csv"]).ok();
    let sequences: Vec<String> = csv
        .stdout_text()
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            format!("{} {}", fields[0], fields[2])
        })
        .collect();
    assert_eq!(
        sequences,
        [
            "014 385581",
            "015 272341",
            "013 10124",
            "01 3986",
            "012 22",
            "016 16",
            "018 2",
            "013014 1",
            "018888 1"
        ]
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn the_general_classification_of_jobs() {
    let Some(place) = real() else { return };
    let run = place.run(&["classify", "--classes", "terminal", "--format", "csv"]).ok();
    let count = |outcome: &str| {
        let line = run.stdout_text().lines().find(|line| line.contains(&format!(",{outcome},")));
        line.and_then(|line| line.split(',').nth(2)?.parse::<u64>().ok()).unwrap()
    };
    // A job with 013014 has finished in the end; jobs with 018 and 018888 still run.
    assert_eq!((count("finished"), count("failed"), count("killed")), (385_582, 10_124, 272_341));
    assert_eq!(
        (count("evicted"), count("lost"), count("running"), count("pending")),
        (22, 16, 3_989, 0)
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn the_published_counts_agree() {
    let Some(place) = real() else { return };
    let run = place.run(&["verify", "--format", "csv"]).ok();
    assert!(run.stderr.contains("23 of 23 published counts agree"), "{}", run.stderr);
    assert!(
        run.stderr.contains("task_events: parts 0-13,15-17 of 500 are in the lake"),
        "{}",
        run.stderr
    );
    let count = |table: &str, what: &str| {
        let begin = format!("{table},{what},");
        let line = run.stdout_text().lines().find(|line| line.starts_with(&begin)).unwrap();
        line[begin.len()..].split(',').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(count("task_events", "rows"), 3_395_995);
    assert_eq!(count("task_events", "entities"), 767_616);
    assert_eq!(count("task_events", "rows at time 0"), 277_321);
    assert_eq!(count("task_events", "machines never announced"), 3);
    assert_eq!(count("task_events", "ties after time 0"), 0);
    assert_eq!(count("machine_events", "nulls in cpu_capacity"), 32);
    assert_eq!(count("job_events", "ended while pending"), 0);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn every_part_has_its_rows() {
    let Some(place) = real() else { return };
    let rows: Vec<(u32, u64)> = place.lake().manifest.tables["task_events"]
        .parts
        .iter()
        .map(|part| (part.part, part.rows))
        .collect();
    assert_eq!(
        rows,
        [
            (0, 450_146),
            (1, 77_776),
            (2, 160_642),
            (3, 115_400),
            (4, 115_555),
            (5, 167_471),
            (6, 154_001),
            (7, 188_349),
            (8, 132_651),
            (9, 265_865),
            (10, 220_704),
            (11, 163_282),
            (12, 216_156),
            (13, 181_337),
            (15, 195_831),
            (16, 263_412),
            (17, 327_417)
        ]
    );
    let jobs = &place.lake().manifest.tables["job_events"];
    assert_eq!(
        (jobs.parts.len(), jobs.rows(), jobs.max_time_us()),
        (500, 2_012_242, Some(2_506_198_229_242))
    );
    let tasks = &place.lake().manifest.tables["task_events"];
    assert_eq!(tasks.max_time_us(), Some(90_800_846_423));
    assert!(!place.path("lake/rejects").exists(), "the real trace has no bad line");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn the_state_machine_is_broken_248_times_up_to_part_13() {
    let Some((_, trace)) = REAL.as_ref() else {
        real();
        return;
    };
    let place = Place::new();
    let trace = trace.to_str().unwrap();
    place
        .run(&["ingest", trace, "--lake", "lake", "--tables", "task_events", "--parts", "0-13"])
        .ok();
    let run = place.run(&["verify", "--format", "csv"]).ok();
    for line in [
        "task_events,illegal transitions,248,",
        "task_events,illegal: EVICT while pending,248,",
        "task_events,ended while pending,29554,",
    ] {
        assert!(run.stdout_text().contains(line), "{line}\n{}", run.stdout_text());
    }
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn jobs_per_scheduling_class_last_seen() {
    let Some(place) = real() else { return };
    place.run(&["query", "q01", "--format", "parquet", "--out", "facts"]).ok();
    let mut reader = csv::Reader::from_path(place.path("facts/q01_job_outcomes.csv")).unwrap();
    let column =
        reader.headers().unwrap().iter().position(|name| name == "scheduling_class").unwrap();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).unwrap() {
        *counts.entry(record[column].to_owned()).or_default() += 1;
    }
    let expected = [("0", 257_275), ("1", 215_109), ("2", 194_511), ("3", 5_179)];
    assert_eq!(counts, expected.map(|(class, count)| (class.to_owned(), count)).into());
}

#[test]
fn the_slice_of_task_usage_is_read_flat() {
    let Some(trace) = real_trace() else {
        real();
        return;
    };
    let slice = trace.join("task_usage-slice");
    let lines: usize = fs::read_dir(&slice)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "csv"))
        .map(|path| fs::read_to_string(path).unwrap().lines().count())
        .sum();
    assert_eq!(lines, 120);
    let place = Place::new();
    place.run(&["ingest", slice.to_str().unwrap(), "--table", "task_usage", "--lake", "lake"]).ok();
    let entry = &place.lake().manifest.tables["task_usage"];
    assert_eq!((entry.rows(), entry.rejects()), (120, 0));
    // `verify` counts rows even without the whole table or its tasks.
    let run = place.run(&["verify", "--format", "csv"]).ok();
    assert!(run.stdout_text().contains("task_usage,rows,120,\n"), "{}", run.stdout_text());
}
