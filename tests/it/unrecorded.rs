//! Answers name the facts that they need but that the log does not record.

use std::fmt::Write;
use std::fs;

use proptest::prelude::*;
use serde_json::Value;

use super::support::Place;

/// Submit and wait of each job, s; whether its wait is recorded.
type Job = (u32, u32, bool);

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    prop::collection::vec((0_u32..500_000, 0_u32..9_000, any::<bool>()), 1..25)
}

fn as_swf(jobs: &[Job]) -> String {
    let mut text = String::from("; UnixStartTime: 1700000000\n; MaxProcs: 64\n");
    for (id, &(submit, wait, is_known)) in (1..).zip(jobs) {
        let wait = if is_known { i64::from(wait) } else { -1 };
        let line = format!("{id} {submit} {wait} 60 1 -1 -1 1 -1 -1 1 3 1 -1 1 1 -1 -1");
        writeln!(text, "{line}").unwrap();
    }
    text
}

/// The same jobs with their starts; without a submit column.
fn as_table(jobs: &[Job]) -> String {
    let mut text = String::from("job,begin,run,cpus,account\n");
    for (id, &(submit, wait, _)) in (1..).zip(jobs) {
        let begin = submit + wait;
        writeln!(text, "{id},2023-11-14 00:{:02}:{:02},60,1,a", begin / 60, begin % 60).unwrap();
    }
    text
}

const MAP: &str = "[table]\ntimezone = \"UTC\"\n[columns]\njob = \"job\"\nstart = { column = \"begin\", format = \"%F %T\" }\nrun = { column = \"run\", unit = \"s\" }\ncpus = \"cpus\"\naccount = \"account\"\n";

/// The answers of the commands that show waits: the command, its text, and its result.
fn answers(place: &Place) -> Vec<(&'static str, String, Value)> {
    answers_of(place, &[LOAD, ("monthly", &["monthly"]), DESCRIBE])
}

/// A command and its arguments.
type Asked = (&'static str, &'static [&'static str]);

const LOAD: Asked = ("load", &["load"]);
const DESCRIBE: Asked = ("describe", &["describe", "--what", "waiting"]);

fn answers_of(place: &Place, commands: &[Asked]) -> Vec<(&'static str, String, Value)> {
    let mut all = Vec::new();
    for &(name, args) in commands {
        let run = place.run(&[args, &["--format", "json"]].concat()).ok();
        all.push((name, format!("{}{}", run.stderr, run.json()), run.json()));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]
    /// Promise: an answer about waits says how many of them the log does not record.
    #[test]
    fn the_waits_that_a_log_lacks_are_counted(jobs in jobs()) {
        let place = Place::new();
        place.raw("log.swf", as_swf(&jobs));
        place.run(&["ingest", "trace/log.swf", "--lake", "lake"]).ok();
        let unknown = jobs.iter().filter(|job| !job.2).count();
        let count = jobs.len();
        for (name, said, _) in answers(&place) {
            prop_assert_eq!(said.contains("No wait is known"), unknown == count, "{}: {}", name, said);
            let exact = if name == "describe" {
                format!("wait unknown: started at the submit: {unknown}")
            } else {
                format!("no wait for {unknown} of {count} jobs")
            };
            let is_some = 0 < unknown && unknown < count;
            prop_assert!(!is_some || said.contains(&exact), "{}: {}", name, said);
            prop_assert!(0 < unknown || !said.contains("no wait for"), "{}: {}", name, said);
        }
    }
}

/// Promise: a table without submit times has no waits; they are not 0.
#[test]
fn a_table_without_submit_times_has_no_waits() {
    let place = Place::new();
    fs::write(place.path("table.csv"), as_table(&[(5, 7, true), (9, 100, true)])).unwrap();
    fs::write(place.path("map.toml"), MAP).unwrap();
    place.run(&["ingest", "table.csv", "--map", "map.toml", "--lake", "lake"]).ok();
    for (name, said, result) in answers(&place) {
        assert!(
            said.contains("No wait is known: the log records none for any of its 2 jobs"),
            "{name}: {said}"
        );
        assert!(!result.to_string().contains("\"wait_s_mean\":0"), "{name}: {result}");
    }
}

/// Promise: tasks of Alibaba 2017 have no recorded start, so they have no waits. Tasks that never
/// started still wait.
#[test]
fn tasks_without_starts_have_no_waits() {
    let place = Place::new();
    let text = "10,90,3,1,2,Terminated,50,0.01\n20,95,3,2,1,Failed,50,0.01\n\
        30,40,4,1,1,Waiting,50,0.01\n";
    place.raw("batch_task.csv", text);
    place.run(&["ingest", "trace/batch_task.csv", "--lake", "lake"]).ok();
    for (name, said, result) in answers_of(&place, &[LOAD, DESCRIBE]) {
        let none = "No wait is known: the log records none for any of its 2 tasks";
        assert!(said.contains(none), "{name}: {said}");
        assert!(said.contains("tasks of several instances"), "{name}: {said}");
        for wrong in ["\"wait_s_mean\":0", "\"slowdown_mean\":1"] {
            assert!(!result.to_string().contains(wrong), "{name}: {result}");
        }
        if name == "describe" {
            assert_eq!(result["rows"][0]["count"], 1, "the task that waits: {result}");
        }
    }
}

/// Without scheduling classes, the rule of classes repeats that of all jobs, so it is shown only on
/// request.
#[test]
fn a_log_without_classes_is_not_predicted_by_class() {
    let place = Place::new();
    let mut log = String::from("; MaxProcs: 64\n");
    for id in 1..60 {
        let status = i32::from(id % 3 != 0);
        writeln!(log, "{id} {} 5 60 1 -1 -1 1 -1 -1 {status} 3 1 -1 1 1 -1 -1", id * 100).unwrap();
    }
    fs::write(place.path("log.swf"), log).unwrap();
    place.run(&["ingest", "log.swf", "--lake", "lake"]).ok();
    let rules = |more: &[&str]| -> Vec<String> {
        let run = place.run(&[&["predict", "--format", "csv"], more].concat()).ok();
        let lines = run.stdout_text().lines().skip(1).map(str::to_owned).collect::<Vec<String>>();
        lines.iter().map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    let usual = rules(&[]);
    assert!(!usual.contains(&"class".to_owned()) && usual.contains(&"overall".to_owned()));
    assert_eq!(rules(&["--rules", "class,last"]), ["class", "last"]);
}

/// An attempt: whether its submit is recorded, its wait, and whether it ever ran.
type Row = (bool, u32, bool);

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    /// Promise: a known wait counts, even if other rows have no submit time, such as jobs cancelled
    /// before their start and later attempts.
    #[test]
    fn known_waits_count_beside_rows_without_a_submit(
        rows in prop::collection::vec((any::<bool>(), 1_u32..9_000, prop::bool::weighted(0.6)), 1..12),
        later in 0_usize..4,
    ) {
        let place = Place::new();
        let mut text = String::from("job,user,account,submit,start,end,state\n");
        for (id, &(is_known, wait, has_run)) in (1..).zip(&rows) {
            let at = 1_700_000_000 + 10_000 * id;
            let submit = if is_known { at.to_string() } else { String::new() };
            let (start, end) = (at + wait, at + wait + 60);
            let start = if has_run { start.to_string() } else { String::new() };
            let state = if has_run { "ok" } else { "cancelled" };
            writeln!(text, "{id},u,a,{submit},{start},{end},{state}").unwrap();
        }
        // Later attempts of the first job, if it has run, without a submit.
        let later = if rows[0].2 { later } else { 0 };
        for number in (0..later).map(|number| 1_700_500_000 + 1_000 * number) {
            writeln!(text, "1,u,a,,{number},{},ok", number + 60).unwrap();
        }
        fs::write(place.path("log.csv"), text).unwrap();
        let time = |name: &str| format!("{name} = {{ column = \"{name}\", unit = \"s\" }}\n");
        let map = format!(
            "[columns]\njob = \"job\"\nuser = \"user\"\naccount = \"account\"\nstate = \"state\"\n{}{}{}\
             [states]\nok = \"finished\"\ncancelled = \"killed\"\n",
            time("submit"), time("start"), time("end"),
        );
        fs::write(place.path("map.toml"), map).unwrap();
        place.run(&["ingest", "log.csv", "--map", "map.toml", "--lake", "lake"]).ok();
        let started: Vec<&Row> = rows.iter().filter(|row| row.2).collect();
        prop_assume!(!started.is_empty());
        let unknown = started.iter().filter(|row| !row.0).count();
        let monthly = place.run(&["monthly", "--format", "json"]).ok();
        let text = format!("{}{}", monthly.stderr, monthly.json());
        // Waits of jobs, with 0 for those that are assumed; unknown if none is recorded.
        let mut waits: Vec<u32> =
            started.iter().map(|row| if row.0 { row.1 } else { 0 }).collect();
        waits.sort_unstable();
        let median = f64::from(waits[(waits.len() - 1) / 2] + waits[waits.len() / 2]) / 2.0;
        let found = monthly.json()["wait_s_median"].as_f64();
        if unknown == started.len() {
            prop_assert_eq!(found, None, "{}", text);
        } else {
            prop_assert_eq!(found, Some(median), "{}", text);
        }
        // Later attempts have no wait that the log could record.
        if 0 < unknown && unknown < started.len() {
            let said = format!("The log records no wait for {unknown} of {} jobs", started.len());
            prop_assert!(text.contains(&said), "{} {}", said, text);
        } else if unknown == 0 {
            prop_assert!(!text.contains("records no wait"), "{}", text);
        }
    }
}

/// Promise: a job that failed in the second of its submit, and was submitted again in that second,
/// waits from then on.
#[test]
fn a_requeue_in_the_second_of_the_submit_waits() {
    let place = Place::new();
    let header = "JobID|User|Account|Submit|Start|End|State|AllocCPUS|JobName\n";
    let at = |time: &str| format!("2024-01-01T{time}");
    let row = |id: u32, times: [&str; 3], state: &str| {
        let [submit, start, end] = times.map(at);
        format!("{id}|u|x|{submit}|{start}|{end}|{state}|1|a\n")
    };
    let log = [
        row(1, ["00:00:00", "00:00:00", "00:00:00"], "NODE_FAIL"),
        row(1, ["00:00:00", "01:00:00", "02:00:00"], "COMPLETED"),
        row(2, ["00:00:00", "00:00:00", "00:00:01"], "NODE_FAIL"),
        row(2, ["00:00:01", "01:00:00", "02:00:00"], "COMPLETED"),
    ];
    fs::write(place.path("log.sacct"), header.to_owned() + &log.concat()).unwrap();
    place.run(&["ingest", "log.sacct", "--lake", "lake"]).ok();
    let found = place.run(&["load", "--interval", "1h", "--format", "json"]).ok().json();
    let first = &found["rows"][0];
    assert_eq!(first["submitted_tasks"], 4, "{first}");
    let pending = first["pending_tasks"].as_f64().unwrap();
    assert!((pending - (3600.0 + 3599.0) / 3600.0).abs() < 1e-9, "{pending}");
}

/// Promise: shares of the requested time are rounded to the nearest, not cut off.
#[test]
fn shares_of_the_requested_time_are_rounded() {
    let place = Place::new();
    let mut text =
        String::from("JobID|User|Account|Submit|Start|End|State|AllocCPUS|TimelimitRaw\n");
    let [at, end] = ["2024-01-01T00:00:00", "2024-01-01T00:00:01"];
    writeln!(text, "1|u|a|{at}|{at}|{end}|COMPLETED|1|600").unwrap();
    fs::write(place.path("log.sacct"), text).unwrap();
    place.run(&["ingest", "log.sacct", "--lake", "lake"]).ok();
    let found = place.run(&["describe", "--what", "estimates", "--format", "json"]).ok().json();
    // One second of 36,000 is 0.00277777... %, with seven decimals.
    let share = found["rows"][0]["median"].as_f64().unwrap();
    assert!((share - 0.002_777_8).abs() < 1e-12, "{share}");
}
