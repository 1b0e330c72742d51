//! The recorded history next to the policies of a replay: its numbers are those of the log, by the
//! definitions of the replays.

use std::fmt::Write;
use std::fs;

use proptest::prelude::*;
use serde_json::Value;

use super::support::Place;

/// A job: submission, wait and run, s; processors; status of the log (1 finished, 0 failed, 5
/// cancelled).
type Job = (u32, u32, u32, u32, u32);

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let status = prop::sample::select(vec![1, 1, 1, 0, 5]);
    let job = (0_u32..5_000, 0_u32..2_000, 1_u32..3_000, 1_u32..5, status);
    prop::collection::vec(job, 3..40)
}

fn log_of(jobs: &[Job]) -> String {
    let mut log = String::from("; MaxProcs: 4\n");
    let mut jobs = jobs.to_vec();
    jobs.sort_unstable();
    for (id, (submit, wait, run, procs, status)) in (1..).zip(jobs) {
        writeln!(
            log,
            "{id} {submit} {wait} {run} {procs} -1 -1 {procs} -1 -1 {status} 1 1 1 1 1 -1 -1"
        )
        .expect("a text takes all");
    }
    log
}

/// Ingests a log and replays it; returns the answer.
fn replayed(place: &Place, log: &str, more: &[&str]) -> Value {
    let lake = format!("{log}.lake");
    place.run(&["ingest", log, "--lake", &lake, "--quiet"]).ok();
    let args = ["replay", "--lake", &lake, "--policies", "fifo", "--format", "json"];
    place.run(&[&args[..], more].concat()).ok().json()
}

/// The sums over time, from the first submission on, of the waiting tasks and of the share of the CPU.
fn over_time(first_s: f64, csv: &str) -> [f64; 2] {
    let rows = csv.lines().skip(1);
    let rows: Vec<Vec<f64>> = rows
        .map(|row| row.split(',').take(3).map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let mut from_s = first_s;
    let mut sums = [0.0; 2];
    for row in &rows {
        sums[0] += row[1] * (row[0] - from_s);
        sums[1] += row[2] * (row[0] - from_s);
        from_s = row[0];
    }
    sums
}

fn is_near(one: f64, another: f64) -> bool {
    (one - another).abs() <= 1e-9 * another.abs().max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_record_has_the_numbers_of_the_log(jobs in jobs()) {
        let place = Place::new();
        fs::write(place.path("log.swf"), log_of(&jobs)).unwrap();
        let answer = replayed(&place, "log.swf", &["--out", "runs"]);
        let recorded = &answer["recorded"];
        // Over time, waits and requested CPU add up to those of the jobs.
        let waits_s: f64 = jobs.iter().map(|job| f64::from(job.1)).sum();
        let processor_s: f64 = jobs.iter().map(|job| f64::from(job.2 * job.3)).sum();
        let processors = answer["pooled_processors"].as_f64().unwrap();
        let first_s = f64::from(jobs.iter().map(|job| job.0).min().unwrap());
        let [waited, used] = over_time(first_s, &fs::read_to_string(place.path("runs/replay-record.csv")).unwrap());
        prop_assert!((waited - waits_s).abs() < 1e-6 * waits_s.max(1.0), "{} {}", waited, waits_s);
        let used = used * processors;
        prop_assert!((used - processor_s).abs() < 1e-6 * processor_s.max(1.0), "{} {}", used, processor_s);
        let mean = |values: Vec<f64>| {
            let count = values.len();
            (count, values.into_iter().sum::<f64>() / f64::from(u32::try_from(count).unwrap()))
        };
        let finished = || jobs.iter().filter(|job| job.4 == 1);
        let expected = [
            ("waiting_s", mean(jobs.iter().map(|job| f64::from(job.1)).collect())),
            ("job_response_s", mean(jobs.iter().map(|job| f64::from(job.1 + job.2)).collect())),
            ("bounded_slowdown", mean(finished().map(|job| {
                let [response, run] = [job.1 + job.2, job.2].map(f64::from);
                (response / run.max(10.0)).max(1.0)
            }).collect())),
        ];
        prop_assert_eq!(recorded["finished"].as_u64(), Some(finished().count() as u64));
        let cpu_s: f64 = jobs.iter().map(|job| f64::from(job.2 * job.3)).sum();
        prop_assert!(is_near(recorded["cpu_s"].as_f64().unwrap(), cpu_s), "{}", recorded);
        prop_assert_eq!(&recorded["dropped_cpu_s"], 0.0);
        for (name, (count, mean)) in expected {
            let found = &recorded[name];
            if count == 0 {
                prop_assert!(found.is_null(), "{}: {}", name, found);
                continue;
            }
            prop_assert_eq!(found["count"].as_u64(), Some(count as u64), "{}", name);
            let own = found["mean"].as_f64().unwrap();
            prop_assert!(is_near(own, mean), "{}: {} instead of {}", name, own, mean);
        }
    }
}

/// All recorded attempts together have the CPU time of `account`. Attempts that are not replayed
/// have a part of it.
#[test]
fn the_record_has_the_cpu_time_of_the_ledger() {
    let place = Place::new();
    let synth = ["synth", "trace", "--jobs", "300", "--days", "1", "--seed", "7", "--quiet"];
    place.run(&synth).ok();
    place.run(&["ingest", "trace", "--lake", "lake", "--quiet"]).ok();
    let json = |args: &[&str]| place.run(&[args, &["--format", "json"]].concat()).ok().json();
    let ledger = json(&["account", "--lake", "lake", "--cpu", "requested"]);
    let replay = json(&["replay", "--lake", "lake", "--policies", "fifo:depth=100"]);
    let value = |of: &Value, name: &str| of[name].as_f64().unwrap();
    let recorded = &replay["recorded"];
    let (all, dropped) = (value(recorded, "cpu_s"), value(recorded, "dropped_cpu_s"));
    // A replay begins at the start of the window; the ledger also includes attempts before it.
    let total = value(&ledger, "total");
    assert!(0.99 * total < all && all <= total, "{all} {ledger}");
    assert!(0.0 < dropped && dropped < all, "{recorded}");
    assert!(is_near(value(recorded, "dropped_cpu_share"), dropped / all), "{recorded}");
    assert!(0 < replay["history"]["dropped_attempts"].as_u64().unwrap(), "{}", replay["history"]);
}

/// A preempted attempt is left out, and a failed one is replayed. The expected values are worked
/// out by hand.
#[test]
fn what_is_not_replayed_is_reported_in_cpu_time() {
    let place = Place::new();
    // Attempts of one job: state, start, end, s; each of 2 processors.
    let row = |(state, start, end): (&str, u32, u32)| format!("7|{state}|100|{start}|{end}|2\n");
    let attempts = [("PREEMPTED", 110, 210), ("NODE_FAIL", 230, 240), ("COMPLETED", 250, 300)];
    let rows: String = attempts.map(row).concat();
    let log = format!("JobID|State|Submit|Start|End|NCPUS\n{rows}");
    fs::write(place.path("log.sacct"), log).unwrap();
    let recorded = &replayed(&place, "log.sacct", &[])["recorded"];
    assert_eq!(recorded["cpu_s"], 320.0, "{recorded}");
    assert_eq!(recorded["dropped_cpu_s"], 220.0, "{recorded}");
    assert_eq!(recorded["dropped_cpu_share"], 220.0 / 320.0, "{recorded}");
}

/// On machines other than those of the record, the recorded CPU is not shown as a share.
#[test]
fn the_cpu_of_the_record_is_not_a_share_of_simulated_machines() {
    let place = Place::new();
    fs::write(place.path("log.swf"), log_of(&[(0, 60, 90, 2, 1), (30, 60, 90, 2, 1)])).unwrap();
    let csv = |more: &[&str]| {
        replayed(&place, "log.swf", &[&["--out", "runs"], more].concat());
        fs::read_to_string(place.path("runs/replay-record.csv")).unwrap()
    };
    let shares = |csv: &str| csv.lines().skip(1).filter(|row| !row.ends_with(',')).count();
    assert!(0 < shares(&csv(&[])));
    let simulated = csv(&["--cluster", "cluster:nodes=1,cpu=4"]);
    assert!(1 < simulated.lines().count() && shares(&simulated) == 0, "{simulated}");
}

/// Jobs that are cut by the end of the log are left out of the second kind of responses. The
/// expected values are worked out by hand.
#[test]
fn responses_are_also_those_of_jobs_that_are_not_cut() {
    let place = Place::new();
    let log = "JobID|State|Submit|Start|End|NCPUS\n7|COMPLETED|100|110|210|1\n\
        8|COMPLETED|100|110|160|1\n9|RUNNING|100|110|Unknown|1\n";
    fs::write(place.path("log.sacct"), log).unwrap();
    let answer = replayed(&place, "log.sacct", &[]);
    for (of, mean) in [("/recorded", 85.0), ("/policies/0/metrics", 75.0)] {
        let own = answer.pointer(of).unwrap();
        assert_eq!(own["job_response_s"]["count"], 3, "{own}");
        assert_eq!(own["whole_job_response_s"]["count"], 2, "{own}");
        assert_eq!(own["whole_job_response_s"]["mean"], mean, "{own}");
    }
    fs::write(
        place.path("whole.sacct"),
        log.replace("9|RUNNING", "9|FAILED").replace("Unknown", "300"),
    )
    .unwrap();
    let answer = replayed(&place, "whole.sacct", &[]);
    assert!(answer.pointer("/recorded/whole_job_response_s").is_none(), "{answer}");
}

/// The journal of a replay is exported as a log and ingested. The record of that log has the
/// numbers of the replay.
#[test]
fn the_record_of_a_replayed_log_is_that_replay() {
    let place = Place::new();
    let job = |number: u32| {
        let status = [1, 1, 0][number as usize % 3];
        (number * 37 % 900, 0, 5 + number * 13 % 90, 1 + number % 4, status)
    };
    fs::write(place.path("log.swf"), log_of(&(1..=60).map(job).collect::<Vec<Job>>())).unwrap();
    let first = replayed(&place, "log.swf", &["--out", "runs", "--journal"]);
    let journal = "runs/journal-1.parquet";
    let export = ["export", "--lake", "log.swf.lake", "--journal", journal, "--as", "swf"];
    place.run(&[&export[..], &["--out", "out"]].concat()).ok();
    let second = replayed(&place, "out/log.swf", &[]);
    let (metrics, recorded) = (&first["policies"][0]["metrics"], &second["recorded"]);
    assert_eq!(recorded["finished"], metrics["finished"]);
    assert!(60.0 < metrics["waiting_s"]["mean"].as_f64().unwrap(), "{metrics}");
    for name in ["waiting_s", "job_response_s", "bounded_slowdown"] {
        for (key, value) in recorded[name].as_object().unwrap() {
            let (own, other) = (value.as_f64().unwrap(), metrics[name][key].as_f64().unwrap());
            assert!(is_near(own, other), "{name} {key}: {own} instead of {other}");
        }
    }
}

/// The page puts the record first; without recorded waits, its columns are left out.
#[test]
fn the_page_of_a_replay_starts_with_the_record() {
    for (wait, has_table) in [(70, true), (-1, false)] {
        let place = Place::new();
        let job = |number: i32| {
            format!("{number} {} {wait} 100 4 -1 -1 4 -1 -1 1 1 1 1 1 1 -1 -1\n", number * 50)
        };
        let jobs: String = (1..=9).map(job).collect();
        fs::write(place.path("log.swf"), format!("; MaxProcs: 4\n{jobs}")).unwrap();
        replayed(&place, "log.swf", &["--out", "found/replay"]);
        place.run(&["report", "found/replay", "--out", "report"]).ok();
        let page = fs::read_to_string(place.path("report/replay.html")).unwrap();
        let table = page.find("What happened, and what each policy would have done");
        assert_eq!(table.is_some(), has_table, "{page}");
        assert_eq!(page.contains("What each policy would have done"), !has_table);
        for heading in ["mean wait of all tasks", "median response of jobs"] {
            assert!(page.contains(heading), "{heading}");
        }
        assert_eq!(page.contains("of tasks that started in the record"), has_table);
        if let Some(table) = table {
            let [row, chart] = [">as recorded<", "<figure"].map(|text| page[table..].find(text));
            assert!(row.unwrap() < chart.unwrap(), "{page}");
            assert!(page[table..].contains("70 s"), "{page}");
        }
    }
}

/// A log without a status has no outcomes, so a comparison with a log that has outcomes does not
/// compare them.
#[test]
fn outcomes_that_one_side_lacks_are_not_compared() {
    let place = Place::new();
    for (name, status) in [("known", 1), ("unknown", -1)] {
        let job = |number: i32| {
            format!("{number} {} 5 100 1 -1 -1 1 -1 -1 {status} 1 1 1 1 1 -1 -1\n", number * 50)
        };
        let jobs: String = (1..=12 + status).map(job).collect();
        fs::write(place.path("log.swf"), format!("; MaxProcs: 4\n{jobs}")).unwrap();
        place.run(&["ingest", "log.swf", "--lake", name, "--quiet"]).ok();
        let out = format!("{name}-out/classify-jobs");
        place.run(&["classify", "--lake", name, "--out", &out, "--quiet"]).ok();
    }
    place.run(&["report", "--compare", "known-out", "unknown-out", "--out", "page"]).ok();
    let page = fs::read_to_string(place.path("page/comparison.html")).unwrap();
    assert!(page.contains("not compared: unknown-out has no answer (The log records"), "{page}");
    assert!(!page.contains("count of 014") && !page.contains("Result by result"), "{page}");
}
