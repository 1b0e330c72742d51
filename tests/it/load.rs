//! `load`: the sums of all intervals equal those of `account`, for any interval and groups; the
//! values of an interval equal a count of the random events; a count of the raw files gives the
//! same.

use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::Value;

use super::drawn::{Event, Job, attempts, end_of, jobs, lake, waits, window_end};
use super::engines::python;
use super::support::{Place, real_trace, repository, skipped};

/// Number of random traces.
const TRACES: u32 = 12;

const ALL: &str = "job_events,task_events,task_usage";

/// The JSON of a command.
fn json(place: &Place, args: &[&str]) -> Value {
    place.run(&[args, &["--format", "json"]].concat()).ok().json()
}

/// The mean of a column times the length of its row, added up over rows.
fn integral(rows: &Value, column: &str) -> f64 {
    let product = |row: &Value| {
        let length = row["end_s"].as_f64().unwrap() - row["start_s"].as_f64().unwrap();
        row[column].as_f64().unwrap_or(0.0) * length
    };
    rows.as_array().unwrap().iter().map(product).sum()
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * other.abs().max(1.0)
}

/// Spans of a task (start and end, s), from its events, the end of its job and that of the window.
type Spans = fn(&[Event], Option<u64>, u64) -> Vec<(u64, u64)>;

/// The time of spans in an interval (s), from the random events: task-seconds.
fn time_of(spans: Spans, jobs: &[Job], [from, to]: [f64; 2]) -> f64 {
    let end = window_end(jobs);
    #[expect(clippy::cast_precision_loss, reason = "below 400")]
    let within =
        |(start, end): (u64, u64)| ((end as f64).min(to) - (start as f64).max(from)).max(0.0);
    let of_job = |(events, tasks): &Job| -> f64 {
        let job_end = end_of(events);
        tasks.iter().flat_map(|task| spans(task, job_end, end)).map(within).sum()
    };
    jobs.iter().map(of_job).sum()
}

proptest! {
    #![proptest_config(Config { cases: TRACES, ..Config::default() })]

    #[test]
    fn intervals_add_up_to_the_ledger(
        jobs in jobs(),
        interval in 1_u32..500,
        by in prop::sample::select(vec!["priority-band", "class", "user", "outcome"]),
    ) {
        prop_assume!(0 < window_end(&jobs));
        let place = lake(&jobs, ALL);
        let interval = format!("{interval}s");
        let groups = if by == "user" { "1" } else { "6" };
        let load = json(&place, &["load", "--interval", &interval, "--by", by, "--groups", groups]);
        for (resource, definition, total, column) in [
            ("cpu", "requested", "cpu_allocated_s", "cpu_allocated"),
            ("cpu", "slots", "running_s", "running_tasks"),
            ("cpu", "measured", "cpu_used_s", "cpu_used"),
            ("memory", "requested", "memory_allocated_s", "memory_allocated"),
            ("memory", "canonical", "memory_used_s", "memory_used"),
        ] {
            let option = format!("--{resource}");
            let ledger = json(&place, &["account", "--resource", resource, &option, definition]);
            // A resource that no task requests is unknown.
            let sum = |key: &str| ledger[key].as_f64().unwrap_or(0.0);
            let inside = sum("total") - sum("outside_attempts");
            let own = load["totals"][total].as_f64().unwrap_or(0.0);
            // Halves and eighths: every sum is exact.
            prop_assert_eq!(own, inside, "{}", total);
            for rows in ["rows", "stacked"] {
                let sum = integral(&load[rows], column);
                prop_assert!(close(sum, inside), "{rows} {column}: {sum} and {inside}");
            }
        }
        for row in load["rows"].as_array().unwrap() {
            let ends = ["start_s", "end_s"].map(|name| row[name].as_f64().unwrap());
            let expected = time_of(waits, &jobs, ends);
            let found = row["pending_tasks"].as_f64().unwrap_or(0.0) * (ends[1] - ends[0]);
            prop_assert!(close(found, expected), "{ends:?}: {found} wait and {expected}");
            let expected = time_of(attempts, &jobs, ends);
            let found = row["running_tasks"].as_f64().unwrap_or(0.0) * (ends[1] - ends[0]);
            prop_assert!(close(found, expected), "{ends:?}: {found} and {expected}");
            let allocated = row["cpu_allocated"].as_f64().unwrap_or(0.0) * (ends[1] - ends[0]);
            prop_assert!(close(allocated, expected / 2.0), "every task asks for half");
        }
    }
}

#[test]
fn the_whole_table_holds_every_column_of_the_contract() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let load = json(&place, &["load", "--interval", "1h"]);
    let row = &load["rows"][0];
    for name in [
        "start_s",
        "end_s",
        "cpu_capacity",
        "cpu_allocated",
        "cpu_used",
        "cpu_pending",
        "memory_capacity",
        "memory_allocated",
        "memory_used",
        "running_tasks",
        "pending_tasks",
        "submitted_tasks",
        "evicted_tasks",
    ] {
        assert!(row.get(name).is_some(), "{name}");
    }
    // Without the table the use is missing, not 0.
    let place = Place::new().with_golden_trace();
    place.ingest(&["--tables", "job_events,task_events"]).ok();
    let load = json(&place, &["load"]);
    for row in load["rows"].as_array().unwrap() {
        assert!(row["cpu_used"].is_null() && row["cpu_capacity"].is_null(), "{row}");
    }
    assert!(load["totals"]["cpu_used_s"].is_null());
}

#[test]
fn too_many_intervals_are_refused() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let run = place.run(&["load", "--interval", "0.0001"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("longer --interval"), "{}", run.stderr);
}

/// Compares with a count of the raw files of a trace next to this repository.
fn check_raw(trace: &str, more: &[&str]) {
    let trace = repository().join("../shared/data").join(trace);
    if !trace.exists() {
        return skipped("the traces are not beside this repository");
    }
    let Some(python) = python("csv") else { return };
    let place = Place::new();
    let path = trace.to_str().unwrap();
    place.run(&[&["ingest", path, "--lake", "lake"], more].concat()).ok();
    let run = Command::new(python)
        .arg(repository().join("tests/scripts/load_crosscheck.py"))
        .args([env!("CARGO_BIN_EXE_jobfate"), place.path("lake").to_str().unwrap(), path])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("10 of 10"), "{said}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn raw_files_of_the_real_trace_say_the_same() {
    check_raw("clusterdata-2011-2", &["--tables", "job_events,task_events,machine_events"]);
}

/// Compares the free capacity that no waiting task fits with a search in the raw files.
fn check_fragmentation(place: &Place, raw: &str, drawn: [&str; 2]) {
    let Some(python) = python("numpy") else { return };
    let run = Command::new(python)
        .arg(repository().join("tests/scripts/fragmentation_crosscheck.py"))
        .args([env!("CARGO_BIN_EXE_jobfate"), place.path("lake").to_str().unwrap(), raw])
        .args(drawn)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let all = format!("{} of {}", drawn[1], drawn[1]);
    assert!(run.status.success() && said.contains(&all), "{said}");
}

#[test]
fn fragmentation_is_that_of_the_raw_files() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "200", "--days", "1", "--seed", "5"]).ok();
    place.ingest(&[]).ok();
    check_fragmentation(&place, place.path("trace").to_str().unwrap(), ["600", "40"]);
    let load = json(&place, &["load", "--interval", "600", "--fragmentation"]);
    let totals = &load["totals"];
    let share = |name: &str| totals[name].as_f64().unwrap();
    assert!(0.0 < share("cpu_fragmented_s") && 0.0 < share("memory_fragmented_s"), "{totals}");
    for (name, total) in
        [("cpu_fragmented", "cpu_fragmented_s"), ("memory_fragmented", "memory_fragmented_s")]
    {
        assert!(close(integral(&load["rows"], name), share(total)), "{name}");
    }
}

#[test]
fn fragmentation_is_unknown_without_machines() {
    let place = Place::new().with_golden_trace();
    place.ingest(&["--tables", "job_events,task_events"]).ok();
    let load = json(&place, &["load", "--fragmentation"]);
    assert!(load["totals"]["cpu_fragmented_s"].is_null(), "{}", load["totals"]);
    for row in load["rows"].as_array().unwrap() {
        assert!(row["cpu_free_on_machines"].is_null() && row["memory_fragmented"].is_null());
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn fragmentation_of_the_real_trace_is_that_of_the_raw_files() {
    let Some(trace) = real_trace() else {
        return skipped("the real trace is not beside this repository");
    };
    let place = Place::new();
    let raw = trace.to_str().unwrap();
    let tables = "job_events,task_events,machine_events";
    place.run(&["ingest", raw, "--lake", "lake", "--tables", tables]).ok();
    check_fragmentation(&place, raw, ["1", "4"]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "reads whole real traces")]
fn raw_lines_of_the_logs_say_the_same() {
    check_raw("swf/NASA-iPSC-1993-3.1-cln.swf.gz", &[]);
    check_raw("swf/LCG.swf.gz", &[]);
}

#[test]
fn fairness_of_memory_has_the_total_of_its_ledger() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    for memory in ["requested", "canonical", "assigned"] {
        let ledger = json(&place, &["account", "--resource", "memory", "--memory", memory]);
        let inside =
            ledger["total"].as_f64().unwrap() - ledger["outside_attempts"].as_f64().unwrap();
        let args = ["fairness", "--resource", "memory", "--memory", memory, "--index", "jain"];
        let users = json(&place, &args);
        // Eighths of the largest machine, so that every sum is exact.
        assert_eq!(users["total_memory_s"].as_f64(), Some(inside), "{memory}");
        assert_eq!(users["unit"], "NMU-s");
        let sum: f64 = users["users"]
            .as_array()
            .unwrap()
            .iter()
            .map(|user| user["memory_s"].as_f64().unwrap())
            .sum();
        assert!(close(sum, inside), "{memory}: {sum} and {inside}");
    }
    let run = place.run(&["fairness", "--resource", "memory", "--cpu", "slots"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("--cpu is for --resource cpu"), "{}", run.stderr);
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn the_fact_by_hour_has_the_sums_of_load() {
    //  hour     0         1         2         3         4
    //  task 1   |  ===========================              killed with its job in a silent hour
    //  task 2   |    =======================================|  FINISH
    let place = Place::new();
    let task = |time: u32, job: u32, kind: u32| {
        format!("{time}000000,,{job},0,5,{kind},u,0,1,0.5,0.25,,\n")
    };
    let tasks = [(0, 1, 0), (0, 2, 0), (1000, 1, 1), (2000, 2, 1), (15_000, 2, 4)];
    let tasks: String = tasks.iter().map(|&(time, job, kind)| task(time, job, kind)).collect();
    place.raw("task_events/part-00000-of-00001.csv", tasks);
    let job = |time: u32, kind: u32| format!("{time}000000,,1,{kind},u,0,n,l\n");
    place.raw("job_events/part-00000-of-00001.csv", [job(0, 0), job(9000, 5)].concat());
    // The machine leaves for an hour, and has twice the memory after that.
    let machines = "0,5,0,p,1,0.5\n8000000000,5,1,,,\n11600000000,5,0,p,,1\n";
    place.raw("machine_events/part-00000-of-00001.csv", machines);
    place.ingest(&[]).ok();
    let load = json(&place, &["load", "--interval", "1h"]);
    let facts = json(&place, &["query", "q18"]);
    let rows = facts["table"].as_array().unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            (row["hour_us"].as_i64().unwrap() / 3_600_000_000, row["slots_s"].as_f64().unwrap())
        })
        .collect();
    // Hours without an event also have a row, because tasks that run in them count.
    let expected = [(0, 4200.0), (1, 7200.0), (2, 5400.0), (3, 3600.0), (4, 600.0)];
    assert_eq!(found, expected);
    for (row, (hour, slots)) in rows.iter().zip(found) {
        let own = &load["rows"][usize::try_from(hour).unwrap()];
        let length = own["end_s"].as_f64().unwrap() - own["start_s"].as_f64().unwrap();
        assert!(close(own["running_tasks"].as_f64().unwrap() * length, slots), "{own}");
        for (of_load, of_fact) in [
            ("cpu_allocated", "requested_s"),
            ("memory_allocated", "requested_memory_s"),
            ("pending_tasks", "waiting_s"),
            ("cpu_capacity", "cpu_capacity_s"),
            ("memory_capacity", "memory_capacity_s"),
        ] {
            let fact = row[of_fact].as_f64().unwrap();
            assert!(close(own[of_load].as_f64().unwrap() * length, fact), "{of_fact}: {own} {row}");
        }
        assert_eq!(own["submitted_tasks"], row["submitted"]);
    }
}

/// In a trace with its own clock, service counts from time 0. If times are dates, it counts from
/// the first event of a task, because it is unknown when such a machine came.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn a_machine_of_a_dated_log_is_not_in_service_from_1970_on() {
    for (begin, up_s) in [(700_u64, 1000.0), (1_500_000_000, 300.0)] {
        let place = Place::new();
        let task = |time: u64, kind: u32| format!("{time}000000,,1,0,5,{kind},u,0,1,0.5,0.25,,\n");
        let tasks = [task(begin, 0), task(begin + 100, 1), task(begin + 300, 4)];
        place.raw("task_events/part-00000-of-00001.csv", tasks.concat());
        place.raw("machine_events/part-00000-of-00001.csv", "0,5,0,p,1,0.5\n");
        place.ingest(&[]).ok();
        let facts = json(&place, &["query", "q19"]);
        assert_eq!(facts["table"][0]["up_s"], up_s, "{facts}");
        assert_eq!(facts["table"][0]["slots_s"], 200.0);
    }
}
