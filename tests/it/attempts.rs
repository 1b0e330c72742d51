//! An attempt never outlasts its job, and gaps between loaded parts are reported.
//!
//! Traces are random, one part of `task_events` is left out, and the sums are computed here from
//! the raw events alone.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::Value;

use super::support::{Place, real_trace, skipped};

/// Number of random traces.
const TRACES: u32 = 8;

/// Parts of `task_events`; one in the middle is left out.
const PARTS: usize = 4;

/// Seconds that a part covers.
const PART_S: u64 = 100;

/// An event: when (s), and its type.
type Event = (u64, u32);

/// A job: its events, and those of each of its tasks.
type Job = (Vec<Event>, Vec<Vec<Event>>);

fn events(longest: usize) -> impl Strategy<Value = Vec<Event>> {
    let types = prop::sample::select(vec![0_u32, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8]);
    prop::collection::vec((1..PARTS as u64 * PART_S, types), 0..longest)
}

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let tasks = prop::collection::vec(events(7), 0..4);
    prop::collection::vec((events(5), tasks), 1..6)
}

/// Lines of a part, ordered by time. Events at the same instant keep the order of the list.
fn sorted(mut lines: Vec<(u64, String)>) -> String {
    lines.sort_by_key(|line| line.0);
    lines.into_iter().map(|line| line.1).collect()
}

/// Writes the trace without part `hole` of `task_events`.
fn write(place: &Place, jobs: &[Job], hole: usize) {
    let mut lines = Vec::new();
    for (id, (events, _)) in (1..).zip(jobs) {
        lines.extend(events.iter().map(|(time, kind)| {
            (*time, format!("{time}000000,,{id},{kind},user,0,name,logical\n"))
        }));
    }
    place.raw("job_events/part-00000-of-00001.csv", sorted(lines));
    for part in (0..PARTS).filter(|part| *part != hole) {
        let mut lines = Vec::new();
        for (id, (_, tasks)) in (1..).zip(jobs) {
            for (index, events) in tasks.iter().enumerate() {
                let own = events.iter().filter(|event| event.0 / PART_S == part as u64);
                lines.extend(own.map(|(time, kind)| {
                    (*time, format!("{time}000000,,{id},{index},5,{kind},user,0,1,0.5,,,\n"))
                }));
            }
        }
        place.raw(&format!("task_events/part-{part:05}-of-{PARTS:05}.csv"), sorted(lines));
    }
}

const TERMINAL: [u32; 5] = [2, 3, 4, 5, 6];

/// How an attempt ends with an event, by its type.
const ENDED: [&str; 7] = ["", "rescheduled", "evicted", "failed", "finished", "killed", "lost"];

/// Sums over attempts, from the raw events, s.
#[derive(Default)]
struct Expected {
    total: u64,
    /// Attempts that are closed with their job, and their length.
    closed: u64,
    closed_s: u64,
    /// The last instant at which an attempt runs.
    last: u64,
    /// By how they ended: attempts, and their length.
    ends: BTreeMap<&'static str, (u64, u64)>,
}

fn brute_force(jobs: &[Job], hole: usize, with_job: bool) -> Expected {
    let kept = |events: &[Event]| -> Vec<Event> {
        let mut kept: Vec<Event> =
            events.iter().copied().filter(|event| event.0 / PART_S != hole as u64).collect();
        kept.sort_by_key(|event| event.0);
        kept
    };
    let all = jobs.iter().flat_map(|job| &job.1).flat_map(|events| kept(events));
    let window_end = all.map(|event| event.0).max().unwrap_or(0);
    let mut found = Expected::default();
    for (events, tasks) in jobs {
        let mut events = events.clone();
        events.sort_by_key(|event| event.0);
        let last = events.iter().rfind(|event| event.1 < 2 || TERMINAL.contains(&event.1));
        let job_end = last.filter(|event| TERMINAL.contains(&event.1)).map(|event| event.0);
        for events in tasks {
            let events = kept(events);
            for (place, (start, _)) in events.iter().enumerate().filter(|(_, event)| event.1 == 1) {
                let next = events[place + 1..]
                    .iter()
                    .find(|event| event.1 == 1 || TERMINAL.contains(&event.1));
                let (end, how) = match (next, job_end) {
                    (Some(next), _) => (next.0, ENDED[next.1 as usize]),
                    (None, Some(end)) if with_job && end < window_end => {
                        found.closed += 1;
                        found.closed_s += end.max(*start) - start;
                        (end.max(*start), "with job")
                    }
                    (None, _) => (window_end, "open"),
                };
                found.total += end - start;
                let sum = found.ends.entry(how).or_default();
                *sum = (sum.0 + 1, sum.1 + end - start);
                found.last = found.last.max(if *start < end { end } else { 0 });
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(Config { cases: TRACES, ..Config::default() })]

    /// The ledger of every engine and definition equals that of the raw events.
    #[test]
    fn an_attempt_never_outlasts_its_job(jobs in jobs(), hole in 1..PARTS - 1) {
        let place = Place::new();
        write(&place, &jobs, hole);
        place.ingest(&["--buckets", "3"]).ok();
        for (choice, with_job) in [("job-end", true), ("window-end", false)] {
            let Expected { total, closed, closed_s, last, ends } = brute_force(&jobs, hole, with_job);
            let engines = if cfg!(feature = "sql") { &["native", "polars"][..] } else { &["native"] };
            for (cpu, engine) in ["slots", "requested"].iter().flat_map(|cpu| engines.iter().map(move |own| (*cpu, *own))) {
                let args = ["account", "--cpu", cpu, "--open-attempts", choice, "--engine", engine];
                let ledger = place.run(&[&args[..], &["--format", "json"]].concat()).ok().json();
                #[expect(clippy::cast_precision_loss, reason = "a few hundred seconds")]
                let seconds = |slots: u64| slots as f64 * if cpu == "slots" { 1.0 } else { 0.5 };
                prop_assert_eq!(&ledger["total"], seconds(total), "{} {}", cpu, engine);
                let found: BTreeMap<&str, (u64, f64)> = rows(&ledger["ends"]).map(|row| {
                    (row["end"].as_str().unwrap(), (row["attempts"].as_u64().unwrap(), row["amount"].as_f64().unwrap()))
                }).collect();
                let ends = ends.iter().map(|(how, (count, sum))| (*how, (*count, seconds(*sum))));
                prop_assert_eq!(found, ends.collect(), "{} {}", cpu, engine);
                prop_assert_eq!(&ledger["attempts_closed_with_job"], closed);
                prop_assert_eq!(&ledger["closed_with_job_cpu"], seconds(closed_s));
            }
            let args = ["fairness", "--cpu", "slots", "--open-attempts", choice, "--format", "json"];
            let run = place.run(&args).ok();
            let (fairness, said) = (run.json(), "no end in the loaded parts");
            prop_assert_eq!(&fairness["counts"]["closed_with_job"], closed);
            #[expect(clippy::cast_precision_loss, reason = "a few hundred seconds")]
            let (closed_s, last) = (closed_s as f64, last as f64);
            prop_assert_eq!(&fairness["counts"]["closed_with_job_cpu"], closed_s);
            prop_assert_eq!(run.stderr.contains(said), 0 < closed, "{}", run.stderr);
            let users = fairness["users"].as_array().unwrap();
            let ends = users.iter().map(|user| user["last_use_s"].as_f64().unwrap());
            let start = fairness["start_s"].as_f64().unwrap();
            prop_assert!(ends.map(|end| end + start).fold(0.0, f64::max) == last, "{users:?}");
        }
    }
}

/// The rows of a table in an answer.
fn rows(table: &Value) -> impl Iterator<Item = &Value> {
    table.as_array().unwrap().iter()
}

/// The table of `verify` by name.
fn counts(place: &Place) -> BTreeMap<String, u64> {
    let run = place.run(&["verify", "--format", "json"]).ok().json();
    let rows = run["counts"].as_array().unwrap().iter();
    rows.map(|row| {
        let name = format!("{} {}", row["table"].as_str().unwrap(), row["what"].as_str().unwrap());
        (name, row["count"].as_u64().unwrap())
    })
    .collect()
}

#[test]
fn a_gap_is_said_by_every_command_and_kept_in_the_result() {
    //  task_events   part 0 |SUBMIT 10 SCHEDULE 20|   part 1 missing   |part 2: 0 of job 2 at 250|
    //  job 1                                           KILL 150
    let place = Place::new();
    let jobs: Vec<Job> = vec![
        (vec![(10, 0), (20, 1), (150, 5)], vec![vec![(10, 0), (20, 1), (150, 5)]]),
        (vec![(250, 0)], vec![vec![(250, 0)]]),
    ];
    write(&place, &jobs, 1);
    let ingest = place.ingest(&[]).ok();
    let note = "Missing between loaded parts: task_events part 1 (hours 0.01 to 0.07)";
    let commands: [&[&str]; 6] = [
        &["account", "--cpu", "slots"],
        &["sweep", "--cpu", "slots"],
        &["describe", "--what", "attempts"],
        &["classify", "--by", "task"],
        &["fairness", "--cpu", "slots"],
        &["detect"],
    ];
    for command in commands {
        let run = place.run(&[command, &["--out", "out"]].concat()).ok();
        assert!(run.stderr.contains(note), "{command:?}: {}", run.stderr);
        let text = std::fs::read_to_string(place.path("out/result.json")).unwrap();
        let result: Value = serde_json::from_str(&text).unwrap();
        let inputs = result["inputs"].as_array().unwrap();
        let gaps = &inputs.iter().find(|input| input["table"] == "task_events").unwrap()["gaps"];
        assert_eq!(gaps[0]["parts"], "1", "{command:?}");
        for chart in result["charts"].as_array().unwrap() {
            let caption = chart["caption"].as_str().unwrap();
            let without = "without part 1 (hours 0.01 to 0.07)";
            assert_eq!(caption.matches(without).count(), 1, "{command:?}: {chart}");
        }
    }
    assert!(ingest.stderr.contains(note), "{}", ingest.stderr);
    // Answers that do not use the table do not mention it; `verify` reports the gap once.
    for (command, count) in [(["classify", "--by", "job"].as_slice(), 0), (&["verify"], 1)] {
        let said = place.run(command).stderr;
        assert_eq!(said.matches("Missing between").count(), count, "{command:?}: {said}");
    }
    let verify = place.run(&["verify"]).ok();
    assert!(verify.stderr.contains(note), "{}", verify.stderr);
    let counts = counts(&place);
    assert_eq!(counts["task_events attempts closed with their job"], 1);
    assert_eq!(counts["task_events attempts open at the end"], 0);
    assert_eq!(counts["task_events task-s of attempts closed with their job"], 130);
}

/// The hours of the values under the pointer of a chart of a result.
fn hours_shown(svg: &str) -> Vec<f64> {
    let after = svg.split("time (h): ").skip(1);
    after.filter_map(|rest| rest.split(['\n', '<']).next()?.parse().ok()).collect()
}

#[test]
fn charts_over_time_show_nothing_in_a_gap() {
    //  task_events   part 0 |0 at 10, 1 at 20|   part 1 missing   |part 2: 0 at 250, 1 at 280, 4 at 290|
    let events = vec![(10, 0), (20, 1), (150, 5)];
    let later = vec![(250, 0), (280, 1), (290, 4)];
    let jobs: Vec<Job> = vec![(events.clone(), vec![events]), (later.clone(), vec![later])];
    // Without the last part nothing is missing in between.
    for (hole, marks) in [(1, 1), (PARTS - 1, 0)] {
        let place = Place::new();
        write(&place, &jobs, hole);
        place.ingest(&[]).ok();
        place.run(&["load", "--interval", "2s", "--out", "out"]).ok();
        let read =
            |file: &str| std::fs::read_to_string(place.path(&format!("out/{file}"))).unwrap();
        let result: Value = serde_json::from_str(&read("result.json")).unwrap();
        let charts = result["charts"].as_array().unwrap().iter();
        let caption = |stem: &str| {
            let chart = charts.clone().find(|chart| chart["file"] == stem).unwrap();
            chart["caption"].as_str().unwrap().to_owned()
        };
        let svg = read("load-tasks.svg");
        let said = "Hatched: not in the log (hours 0.01 to 0.07 of the trace).";
        assert_eq!(caption("load-tasks").matches(said).count(), marks, "{hole}");
        assert_eq!(svg.matches(">not in the log</text>").count(), marks, "{hole}");
        // The axis begins with the first event, at 10 s.
        let seconds = hours_shown(&svg).into_iter().map(|hour| hour * 3600.0 + 10.0);
        let seconds: Vec<f64> = seconds.collect();
        let inside = seconds.iter().filter(|second| 20.001 < **second && **second < 249.999);
        assert_eq!(inside.count() == 0, hole == 1, "{seconds:?}");
        assert!(seconds.iter().any(|second| 250.0 < *second), "{seconds:?}");
        place.run(&["fairness", "--cpu", "slots", "--interval", "2", "--out", "shares"]).ok();
        let text = std::fs::read_to_string(place.path("shares/fairness-metered.svg")).unwrap();
        assert_eq!(text.matches(">not in the log</text>").count(), marks, "{hole}");
    }
}

#[test]
fn charts_of_a_replay_show_nothing_in_a_gap() {
    //  part 0                  part 1 missing      part 2
    //  tasks 0, 1  20 -- 60                        tasks 0, 1  260 -- 290
    let task = |from: u64| vec![(from, 0), (from + 10, 1), (from + 40, 4)];
    let job = |from: u64| (task(from), vec![task(from), task(from)]);
    let one = ["replay", "--policies", "fifo", "--cluster", "cluster:nodes=1,cpu=0.5"];
    for (hole, more, marks) in
        [(1, &[][..], 1), (PARTS - 1, &[], 0), (1, &["--arrivals", "closed:gap_s=5"], 0)]
    {
        let place = Place::new();
        write(&place, &[job(10), job(250)], hole);
        place.ingest(&[]).ok();
        place.run(&[&one[..], more, &["--out", "out"]].concat()).ok();
        let read =
            |file: &str| std::fs::read_to_string(place.path(&format!("out/{file}"))).unwrap();
        let result: Value = serde_json::from_str(&read("result.json")).unwrap();
        for stem in ["replay-queue", "replay-utilisation", "replay-gantt-1"] {
            let mut charts = result["charts"].as_array().unwrap().iter();
            let caption = &charts.find(|chart| chart["file"] == stem).unwrap()["caption"];
            let said = "Hatched: not in the log (hours 0.01 to 0.07 of the trace).";
            assert_eq!(caption.as_str().unwrap().matches(said).count(), marks, "{stem}: {caption}");
            let svg = read(&format!("{stem}.svg"));
            assert_eq!(svg.matches(">not in the log</text>").count(), marks, "{stem}: {hole}");
            // Bars have simulated ends, so they stay.
            let hours = if stem == "replay-gantt-1" { Vec::new() } else { hours_shown(&svg) };
            let seconds: Vec<f64> = hours.into_iter().map(|hour| hour * 3600.0).collect();
            let inside = seconds.iter().filter(|second| 51.0 < **second && **second < 249.0);
            assert!(marks == 0 || inside.count() == 0, "{stem}: {seconds:?}");
        }
    }
}

/// Besides the ledger, the detectors and the replay report what was closed with its job.
#[test]
fn what_is_closed_with_its_job_is_said_where_attempts_are_used() {
    //  part 0                  part 1 missing      part 2
    //  tasks 0, 1  20 --- 60 FINISH
    //  task 2      20 --------(end in the hole)     job ends at 250
    let place = Place::new();
    let ended = vec![(10, 0), (20, 1), (60, 4)];
    let lost = vec![(10, 0), (20, 1), (150, 4)];
    let other = vec![(210, 0), (220, 1), (290, 4)];
    let jobs: Vec<Job> = vec![
        (vec![(10, 0), (20, 1), (250, 4)], vec![ended.clone(), ended, lost]),
        (other.clone(), vec![other]),
    ];
    write(&place, &jobs, 1);
    place.raw("machine_events/part-00000-of-00001.csv", "0,5,0,p,1,1\n");
    place.ingest(&[]).ok();
    let said = "1 attempt has no end in the loaded parts and is closed at the end of its job";
    let run = place.run(&["detect", "--min-tasks", "2", "--out", "out"]).ok();
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let text = std::fs::read_to_string(place.path("out/result.json")).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["answer"]["counts"]["attempts_closed_with_job"], 1);
    for chart in result["charts"].as_array().unwrap() {
        assert!(chart["caption"].as_str().unwrap().contains(said), "{chart}");
        // A single hour has no earlier hour to compare with.
        assert!(!chart["file"].as_str().unwrap_or_default().contains("detect-shifts"), "{chart}");
    }
    let run = place.run(&["replay"]).ok();
    let said = "1 task without an end in the loaded parts, whose job ended";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

/// Counted in the original files by another program.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn the_ledger_of_the_real_parts_closes_attempts_with_their_jobs() {
    let Some(trace) = real_trace() else {
        skipped("the real trace is not at `../shared/data/clusterdata-2011-2`");
        return;
    };
    let place = Place::new();
    let tables = ["--tables", "job_events,task_events"];
    place.run(&[&["ingest", trace.to_str().unwrap(), "--lake", "lake"], &tables[..]].concat()).ok();
    let ledger = place.run(&["account", "--cpu", "slots", "--format", "json"]).ok().json();
    let whole = |outcome: &str| {
        let rows = ledger["rows"].as_array().unwrap();
        rows.iter().find(|row| row["outcome"] == outcome).unwrap()["cpu"].as_f64().unwrap().round()
    };
    assert_eq!(
        ["failed", "finished", "killed"].map(whole),
        [1_880_311_025.0, 61_662_338.0, 4_825_652_146.0]
    );
    assert_eq!(ledger["attempts_closed_with_job"], 8_533);
    let counts = counts(&place);
    assert_eq!(counts["task_events attempts closed with their job"], 8_533);
    assert_eq!(counts["task_events attempts open at the end"], 142_129);
}

/// Promise: an attempt that ends because the next one starts (as when a job is resized) keeps its
/// own running time, CPU time and time limit.
#[test]
fn an_attempt_that_the_next_one_ends_keeps_what_its_row_records() {
    let place = Place::new();
    let header = "JobID|JobIDRaw|Account|User|Submit|Start|End|ElapsedRaw|State|AllocCPUS|ReqCPUS|TimelimitRaw|TotalCPU|JobName\n";
    let day = "2024-01-01T";
    let log = format!(
        "{header}302|302|A|w|{day}00:00:00|{day}00:00:00|{day}03:00:00|10800|RESIZING|4|4|600|10:00:00|x\n\
         302|302|A|w|{day}00:00:00|{day}03:00:00|{day}03:01:00|60|COMPLETED|2|2|1|00:01:30|x\n"
    );
    place.raw("log.sacct", log);
    place.run(&["ingest", "trace/log.sacct", "--lake", "lake"]).ok();
    // 4 processors for 3 h and 2 for 1 min; 10 h of CPU time and 1.5 min.
    for (cpu, total) in [("requested", 43_320.0), ("slots", 10_860.0), ("measured", 36_090.0)] {
        let json = place.run(&["account", "--cpu", cpu, "--format", "json"]).ok().json();
        assert_eq!(json["total"], total, "{cpu}");
    }
    // Limits of 10 h and 1 min. Their used part is running time, under any definition of CPU time.
    for cpu in ["requested", "measured"] {
        let json = place.run(&["monthly", "--cpu", cpu, "--format", "json"]).ok().json();
        let of = |name: &str| json["limits"][0][name].as_f64().unwrap();
        let expected = [40.0 + 1.0 / 30.0, 12.0 + 1.0 / 30.0];
        for (name, expected) in ["asked_cpu_h", "used_cpu_h"].into_iter().zip(expected) {
            assert!((of(name) - expected).abs() < 1e-9, "{cpu}: {name} {}", of(name));
        }
    }
    let estimates = ["describe", "--what", "estimates", "--format", "json"];
    let json = place.run(&estimates).ok().json();
    let row = &json["rows"][0];
    assert_eq!([&row["count"], &row["min"], &row["max"]], [2.0, 30.0, 100.0]);
}
