//! `jobfate replay` on a hand-made history, and experiments without a trace.
//!
//! ```text
//!  recorded  job 1  |1 ------------------ finish 101|          one machine; each job needs it all
//!            job 2     11 ............................|101 fail 111||111 - finish 131|  priority 9
//!            job 3     12 ....... killed 42
//!  preempted job 1  |1--11|evicted              |41 ---------------------------- 141|
//!            job 2        |11 fail 21||21 -- 41|
//! ```

use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use super::engines::python;
use super::support::{Place, Run, floats, ints, repository, texts};

fn history() -> Place {
    let place = Place::new();
    place.part("machine_events", 0, "0,7,0,p,1,1\n");
    let task = |time_s: u32, job: u32, machine: &str, event: u32, user: &str, priority: u32| {
        format!("{time_s}000000,,{job},0,{machine},{event},{user},1,{priority},1,0.5,0,0\n")
    };
    let rows = [
        task(1, 1, "", 0, "a", 0),
        task(1, 1, "7", 1, "a", 0),
        task(11, 2, "", 0, "b", 9),
        task(12, 3, "", 0, "a", 0),
        task(42, 3, "", 5, "a", 0),
        task(101, 1, "7", 4, "a", 0),
        task(101, 2, "7", 1, "b", 9),
        task(111, 2, "7", 3, "b", 9),
        task(111, 2, "", 0, "b", 9),
        task(111, 2, "7", 1, "b", 9),
        task(131, 2, "7", 4, "b", 9),
    ];
    place.part("task_events", 0, rows.concat());
    place.ingest(&[]).ok();
    place
}

fn replay(place: &Place, more: &[&str]) -> Run {
    let policies = ["replay", "--format", "json", "--policies", "fifo priority:preempt=yes"];
    // Without a request for overcommitment, a machine holds at most its capacity.
    let has_machines = more.iter().any(|word| matches!(*word, "--cluster" | "--overcommit"));
    let whole = if has_machines { &[][..] } else { &["--overcommit", "1"] };
    place.run(&[&policies, whole, more].concat())
}

#[test]
fn two_policies_come_out_as_drawn() {
    let place = history();
    let answer = replay(&place, &["--out", "out", "--journal"]).ok().json();
    let policies = &answer["policies"];
    let check = |policy: usize, key: &str, expected: f64| {
        let found = policies[policy].pointer(key).and_then(Value::as_f64);
        assert_eq!(found, Some(expected), "{key} of policy {policy}");
    };
    check(0, "/metrics/makespan_s", 130.0);
    check(0, "/metrics/job_response_s/mean", 250.0 / 3.0);
    check(0, "/metrics/waiting_s/mean", 45.0);
    check(0, "/metrics/utilisation", 1.0);
    check(0, "/metrics/failed/time_s", 10.0);
    check(0, "/metrics/killed/count", 0.0);
    check(1, "/metrics/makespan_s", 140.0);
    check(1, "/metrics/job_response_s/mean", 200.0 / 3.0);
    check(1, "/metrics/evicted/count", 1.0);
    check(1, "/wasted_cpu_s", 10.0);
    check(1, "/against_first/hurt", 1.0);
    check(1, "/against_first/helped", 1.0);
    assert_eq!(answer["history"]["failures"], 1);
    assert!(answer["assumptions"].as_array().unwrap().len() >= 5);

    let result: Value =
        serde_json::from_slice(&fs::read(place.path("out/result.json")).unwrap()).unwrap();
    for (key, value) in result["answer"].as_object().unwrap() {
        assert_eq!(answer[key], *value, "{key}");
    }
    assert!(result["settings"]["until"].is_null());
    for name in ["replay.csv", "replay-response.svg", "replay-queue.svg", "replay-utilisation.png"]
    {
        assert!(place.path("out").join(name).is_file(), "{name}");
    }
    let file = fs::File::open(place.path("out/journal-2.parquet")).unwrap();
    let mut reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let journal = reader.next().unwrap().unwrap();
    let at = |event: &str, job: i64| {
        let rows = texts(&journal, "event").into_iter().zip(ints(&journal, "time_us"));
        let rows = rows.zip(ints(&journal, "job_id"));
        let found = rows.filter(|((name, _), id)| *name == event && **id == job);
        found.map(|((_, time_us), _)| time_us / 1_000_000).collect::<Vec<i64>>()
    };
    assert_eq!(at("start", 1), [1, 41]);
    assert_eq!(at("evict", 1), [11]);
    assert_eq!(at("fail", 2), [21]);
    assert_eq!(at("kill", 3), [42]);
    assert_eq!(at("finish", 1), [141]);
}

#[test]
fn a_journal_reads_the_same_live_and_read_back() {
    let place = history();
    replay(&place, &["--out", "out", "--journal"]).ok();
    let live = fs::read_to_string(place.path("out/journal-2.txt")).unwrap();
    let expected = "\
1 submit 1/0
1 start 1/0 #1 on 7
11 submit 2/0
11 evict 1/0 #1 on 7
11 submit 1/0
11 start 2/0 #1 on 7
12 submit 3/0
21 fail 2/0 #1 on 7
21 submit 2/0
21 start 2/0 #2 on 7
41 finish 2/0 #2 on 7
41 start 1/0 #2 on 7
42 kill 3/0
141 finish 1/0 #2 on 7
";
    assert_eq!(live, expected);
    let back = place.run(&["journal", "out/journal-2.parquet"]).ok();
    assert_eq!(back.stdout_text(), live);
    assert!(place.path("out/replay-gantt-2.svg").is_file(), "a small run has a picture");
    let other = place.run(&["journal", "out/replay.csv"]);
    assert_eq!(other.code, Some(3));
    assert!(other.stderr.contains("is damaged, or not a Parquet file"), "{}", other.stderr);
    let table = place.run(&["replay", "--format", "parquet"]).ok().stdout;
    fs::write(place.path("t.parquet"), table).unwrap();
    let table = place.run(&["journal", "t.parquet"]);
    assert_eq!(table.code, Some(3));
    assert!(
        table.stderr.contains("is not a journal: it has no column `time_us`"),
        "{}",
        table.stderr
    );
}

#[test]
fn attempts_are_drawn_where_tasks_wait_and_once_for_policies_with_the_same_journal() {
    let place = history();
    let drawn = |out: &str, more: &[&str]| {
        place.run(&[&["replay", "--out", out][..], more].concat()).ok();
        [1, 2].map(|number| place.path(&format!("{out}/replay-gantt-{number}.svg")).is_file())
    };
    let same = ["--policies", "fifo fifo:depth=7", "--overcommit"];
    assert_eq!(drawn("full", &[&same[..], &["1"]].concat()), [true, false]);
    assert_eq!(drawn("free", &[&same[..], &["100"]].concat()), [false, false]);
    let result: Value =
        serde_json::from_slice(&fs::read(place.path("free/result.json")).unwrap()).unwrap();
    let answer = &result["answer"];
    // Job 1 starts immediately, job 2 after 90 s; job 3 never starts.
    let waits = &answer["recorded"]["waiting_s"];
    assert_eq!((&waits["count"], &waits["mean"]), (&2.into(), &45.0.into()));
    let decisive = answer["decisive"].to_string();
    assert!(decisive.contains("up to 100 times its capacity"), "{decisive}");
}

#[test]
fn a_machine_is_as_overcommitted_as_in_the_record_whatever_the_sample() {
    let place = Place::new();
    place.part("machine_events", 0, "0,7,0,p,0.5,1\n");
    let event = |time_s: u32, job: u32, machine: &str, kind: u32| {
        format!("{time_s}000000,,{job},0,{machine},{kind},u,1,0,0.3,0.1,0,0\n")
    };
    // Both jobs run from their submission on: 2 x 0.3 CPU on a machine of 0.5.
    let at = |time_s: u32, machine: &str, kind: u32| {
        [1, 2].map(|job| event(time_s, job, machine, kind)).concat()
    };
    place.part("task_events", 0, [at(1, "", 0), at(1, "7", 1), at(101, "7", 4)].concat());
    place.ingest(&[]).ok();
    let under = |more: &[&str]| {
        let told = ["replay", "--policies", "fifo", "--out", "out"];
        place.run(&[&told[..], more].concat()).ok();
        let found = fs::read(place.path("out/result.json")).unwrap();
        let found: Value = serde_json::from_slice(&found).unwrap();
        let factor = found["settings"]["overcommit"].as_f64().unwrap();
        (factor, found["answer"]["policies"][0]["metrics"]["waiting_s"]["mean"].clone())
    };
    assert_eq!(under(&[]), (1.2, 0.0.into()));
    assert_eq!(under(&["--overcommit", "recorded"]), (1.2, 0.0.into()));
    assert_eq!(under(&["--overcommit", "1"]), (1.0, 50.0.into()));
    // A sample has fewer tasks, but the record still has all tasks.
    assert_eq!(under(&["--sample", "0.5"]).0, 1.2);
}

/// Promise: the clones of Dolly stay within their budget, even if jobs are submitted at the same
/// time.
#[test]
fn clones_that_were_admitted_count_before_they_start() {
    let place = Place::new();
    let job = |number: u32, at_s: u32| {
        format!("{number} {at_s} 0 50 5 -1 -1 5 -1 -1 1 1 1 1 1 -1 -1 -1\n")
    };
    // Two attempts of 5 of 100 processors: a budget of a tenth admits the clone of one job at a time.
    let jobs = [job(1, 0), job(2, 0), job(3, 0), job(4, 0), job(5, 60)].concat();
    fs::write(place.path("log.swf"), jobs).unwrap();
    place.run(&["ingest", "log.swf", "--lake", "lake"]).ok();
    let policy = "fifo+dolly:straggle=0.2,tolerated=0.05,budget=0.1";
    let cluster = ["--cluster", "cluster:nodes=20,cpu=5", "--format", "json"];
    let run = place.run(&[&["replay", "--policies", policy][..], &cluster].concat()).ok().json();
    assert_eq!(run["policies"][0]["metrics"]["copies"][0], 2);
}

/// Promise: tasks from before the window arrive at its start (600 s), with or without later
/// records.
#[test]
fn what_began_before_the_window_arrives_at_its_start() {
    let place = Place::new();
    place.part("machine_events", 0, "0,7,0,p,1,1\n");
    let event = |time_s: u32, task: u32, kind: u32| {
        let machine = if kind == 0 { "" } else { "7" };
        format!("{time_s}000000,,1,{task},{machine},{kind},u,1,0,0.1,0.1,0,0\n")
    };
    let rows = [event(0, 0, 0), event(0, 1, 0), event(0, 0, 1), event(0, 1, 1), event(1000, 1, 8)];
    place.part("task_events", 0, rows.concat());
    place.ingest(&[]).ok();
    let run = place.run(&["replay", "--policies", "fifo", "--format", "json"]).ok().json();
    let metrics = &run["policies"][0]["metrics"];
    assert_eq!(metrics["makespan_s"], 400.0);
    let used = metrics["cpu_s"].as_f64().unwrap();
    assert!((used - 80.0).abs() < 1e-4, "{used}");
}

#[test]
fn a_kill_rule_saves_cpu_and_harms_jobs() {
    let place = history();
    let policies = "fifo fifo+kill:failures=1 fifo+kill:failures=1~user=b";
    let table = place.run(&["replay", "--format", "csv", "--policies", policies]).ok();
    let mut reader = csv::Reader::from_reader(table.stdout.as_slice());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    let check = |column: &str, expected: [&str; 3]| {
        let at = header.iter().position(|name| name == column).unwrap();
        assert_eq!(rows.iter().map(|row| &row[at]).collect::<Vec<&str>>(), expected, "{column}");
    };
    // Job 2 is killed when it fails at 111 s; its second attempt of 20 s does not start.
    check("condemned", ["0", "1", "0"]);
    check("jobs_harmed", ["0", "1", "0"]);
    check("used_cpu_s", ["130.0", "110.0", "130.0"]);
    check("finished", ["2", "1", "2"]);
    check("makespan_s", ["130.0", "110.0", "130.0"]);
    // The early kill does not count as help for that job; the others are unchanged.
    check("jobs_helped", ["0", "0", "0"]);
    check("response_s_change", ["0.0", "0.0", "0.0"]);
}

#[test]
fn a_grid_log_is_replayed_like_a_standard_one() {
    let jobs = [(0, 20, 4), (5, 30, 8), (6, 10, 2), (7, 40, 3)];
    let [swf, gwf] = [("log.swf", 10, true), ("log.gwf", 21, false)].map(|(name, more, is_swf)| {
        let place = Place::new();
        let mut log = if is_swf { "; MaxProcs: 10\n" } else { "# a grid\n" }.to_owned();
        for (number, (submit, run, processors)) in (1..).zip(jobs) {
            let rest = " -1".repeat(more);
            writeln!(log, "{number} {submit} 0 {run} {processors} -1 -1 {processors}{rest}")
                .unwrap();
        }
        place.raw(name, log);
        place.run(&["ingest", &format!("trace/{name}"), "--lake", "lake"]).ok();
        place
    });
    let run = |place: &Place, more: &[&str]| {
        let policies = ["replay", "--format", "csv", "--policies", "fifo easy wqr:copies=1"];
        place.run(&[&policies, more].concat())
    };
    let unknown = run(&gwf, &[]);
    assert_eq!(unknown.code, Some(2), "a grid log does not say what machines there were");
    assert!(unknown.stderr.contains("describe them with --cluster"), "{}", unknown.stderr);
    let cluster = ["--cluster", "cluster:nodes=1,cpu=10"];
    let table = run(&swf, &[]).ok();
    assert_eq!(run(&gwf, &cluster).ok().stdout, table.stdout);
    let fifo = table.stdout_text().lines().nth(1).unwrap();
    assert!(fifo.starts_with("fifo,90.0,4,"), "all one after another but job 3: {fifo}");
}

#[test]
fn seeds_give_means_with_intervals_and_grids_are_written_in_braces() {
    let place = history();
    let run = |more: &[&str]| {
        let policies = ["fifo", "{random,fair}+wqr:copies={1,2}"];
        let machine = ["--cluster", "cluster:nodes=1,speeds=1..4"];
        let args = [["replay", "--policies"], policies, machine].concat();
        place.run(&[&args[..], more].concat()).ok()
    };
    let many = run(&["--seeds", "6", "--format", "json"]).json();
    let policies = many["policies"].as_array().unwrap();
    assert_eq!(policies.len(), 5);
    assert_eq!(policies[4]["policy"], "fair+wqr:copies=2");
    let over = |policy: usize, figure: &str, key: &str| {
        policies[policy]["over_seeds"][figure][key].as_f64().unwrap()
    };
    for key in ["mean", "mean_low", "mean_high"] {
        assert_eq!(over(0, "difference_s", key), 0.0, "{key}");
    }
    // Each seed alone gives the values of this mean.
    let alone: Vec<f64> = (1..=6)
        .map(|seed| {
            let one = run(&["--seed", &seed.to_string(), "--format", "json"]).json();
            assert!(one["policies"][1].get("over_seeds").is_none());
            one["policies"][1]["metrics"]["job_response_s"]["mean"].as_f64().unwrap()
        })
        .collect();
    let mean = alone.iter().sum::<f64>() / 6.0;
    assert!((over(1, "response_s_mean", "mean") - mean).abs() < 1e-9, "{alone:?}");
    let least = alone.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(over(1, "response_s_mean", "min"), least);
    assert!(least < mean, "the machine is as fast as the seed says: {alone:?}");
    // The bounds are next to their column: Student's t with 5 degrees of freedom.
    let squares: f64 = alone.iter().map(|value| (value - mean).powi(2)).sum();
    let half = 2.571 * (squares / 5.0).sqrt() / 6.0_f64.sqrt();
    let rows = many["table"].as_array().unwrap();
    let of = |name: &str| rows[1][name].as_f64().unwrap();
    assert!((of("response_s_mean_low") - (mean - half)).abs() < 1e-9, "{alone:?}");
    assert!((of("response_s_mean_high") - (mean + half)).abs() < 1e-9, "{alone:?}");
    assert!(of("difference_s_low") < of("difference_s"));
    assert!(of("difference_s") < of("difference_s_high"));
    let alone = run(&["--seeds", "1", "--format", "csv"]);
    assert!(!alone.stdout_text().lines().next().unwrap().contains("_low"));
    assert_eq!(place.run(&["replay", "--seeds", "0"]).code, Some(2));
}

#[test]
fn the_same_replay_gives_the_same_bytes() {
    let place = history();
    assert_eq!(replay(&place, &[]).ok().stdout, replay(&place, &[]).ok().stdout);
}

#[test]
fn a_part_of_a_history_and_its_load_can_be_chosen() {
    let place = history();
    let mean = |more: &[&str]| {
        let answer = replay(&place, more).ok().json();
        answer["policies"][0]["metrics"]["job_response_s"]["mean"].as_f64().unwrap()
    };
    assert_eq!(mean(&["--until", "0.003"]), 100.0, "just job 1");
    // When job 2 has failed, job 3 goes first and is killed at 42 s; then job 2 takes 20 s more.
    assert_eq!(mean(&["--from", "0.003"]), 40.5, "jobs 2 and 3");
    assert_eq!(mean(&["--load", "2"]), (100.0 + 125.0 + 30.0) / 3.0);
    let faster = ["--cluster", "cluster:nodes=1,speeds=2"];
    assert_eq!(mean(&faster), (50.0 + 55.0 + 30.0) / 3.0);
    let nothing = place.run(&["replay", "--from", "5"]);
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.stderr.contains("no task arrives"), "{}", nothing.stderr);
}

#[test]
fn what_cannot_run_is_named_and_not_waited_for() {
    let place = history();
    let small = replay(&place, &["--cluster", "cluster:nodes=3,cpu=0.5"]).ok();
    assert_eq!(small.json()["policies"][0]["refused"], 3);
    assert!(
        small.stderr.contains("3 tasks never start because they are larger than any machine"),
        "{}",
        small.stderr
    );
    assert!(small.stderr.contains("such as 1/0, 2/0, 3/0"), "{}", small.stderr);
}

#[test]
fn typos_list_what_is_known() {
    let place = history();
    let typo = place.run(&["replay", "--policies", "fifo prioritty"]);
    assert_eq!(typo.code, Some(2));
    for known in ["prioritty", "priority", "fair", "late", "best-fit", "kill"] {
        assert!(typo.stderr.contains(known), "{known}: {}", typo.stderr);
    }
    assert_eq!(place.run(&["replay", "--sample", "0"]).code, Some(2));
    assert_eq!(place.run(&["replay", "--journal"]).code, Some(2), "--journal needs --out");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn experiments_need_no_trace_and_say_first_what_is_not_reproduced() {
    let place = Place::new();
    let cui = ["reproduce", "cui", "--runs", "2", "--out", "out", "--vary", "slots=1,2"];
    let table = place.run(&cui).ok();
    assert!(table.stdout_text().contains("not_reproduced"), "{}", table.stdout_text());
    let first = table.stderr.lines().next().unwrap();
    assert!(first.starts_with("Cui and others (2014): not reproduced: "), "{first}");
    for kind in ["given by the paper: slaves=9", "left open by the paper: speeds="] {
        assert!(table.stderr.contains(kind), "{}", table.stderr);
    }
    let files = ["cui.csv", "cui-curves.csv", "cui-parameters.csv", "cui-varied.csv"];
    for name in files.iter().chain(&["result.json", "cui-20-tasks-times.svg", "cui-varied.svg"]) {
        assert!(place.path("out").join(name).is_file(), "{name}");
    }
    let json = place.run(&["reproduce", "cui", "--runs", "2", "--format", "json"]).ok().json();
    let claims = json["claims"].as_array().unwrap();
    // Three numbers of tasks: five comparisons in each of five cells, and growth of three algorithms.
    assert_eq!(claims.len(), 3 * (5 * 5 + 3));
    let count = |name: &str| json["counts"][name].as_u64().unwrap();
    assert_eq!(count("claims"), claims.len() as u64);
    let verdicts =
        ["not_reproduced", "same_direction", "reproduced", "fitted", "cannot_be_compared"];
    assert_eq!(verdicts.map(count).iter().sum::<u64>(), count("claims"));
    for wrong in [
        &["reproduce", "tan", "trace"][..],
        &["reproduce", "mandai", "--runs", "3"],
        &["reproduce", "mandai", "--set", "runs=3"],
        &["reproduce", "tan", "--set", "period_s"],
        &["reproduce", "tan", "--set", "period=30"],
        &["reproduce", "tan", "--set", "period_s=0"],
        &["reproduce", "tan", "--set", "nodes=3"],
        &["reproduce", "tan", "--vary", "period_s"],
        &["reproduce", "tan", "--vary", "speeds=whole,none"],
        &["reproduce", "asahara", "--seed", "18446744073709551615"],
    ] {
        let run = place.run(wrong);
        assert_eq!(run.code, Some(2), "{wrong:?}: {}", run.stderr);
    }
    let typo = place.run(&["reproduce", "tan", "--set", "period=30"]);
    assert!(typo.stderr.contains("period_s, speeds"), "{}", typo.stderr);
    let batch = place.run(&["reproduce", "asahara", "--runs", "1", "--format", "parquet"]).ok();
    let bytes = bytes::Bytes::from(batch.stdout);
    let mut reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes)
        .unwrap()
        .build()
        .unwrap();
    let batch = reader.next().unwrap().unwrap();
    assert!(floats(&batch, "ours").iter().all(|ours| ours.is_finite()));
    assert!(batch.num_rows() >= 10);
}

/// A log of one processor, or of `processors`: jobs as (submit, wait, run, memory each, status).
fn log(processors: u32, jobs: &[(i64, i64, i64, i64, i64)]) -> Place {
    let place = Place::new();
    let mut text = format!("; MaxProcs: {processors}\n");
    for (number, (submit, wait, run, memory, status)) in (1..).zip(jobs) {
        let had = i64::from(0 <= *run);
        writeln!(
            text,
            "{number} {submit} {wait} {run} {had} -1 -1 1 3600 {memory} {status} 1 1 1 -1 -1 -1 -1"
        )
        .unwrap();
    }
    place.raw("log.swf", text);
    place.run(&["ingest", "trace/log.swf", "--lake", "lake"]).ok();
    place
}

fn first_policy(place: &Place, more: &[&str]) -> (Value, String) {
    let args = ["replay", "--format", "json", "--policies", "easy"];
    let run = place.run(&[&args, more].concat()).ok();
    let answer: Value = serde_json::from_slice(&run.stdout).unwrap();
    (answer["policies"][0].clone(), run.stderr)
}

#[test]
fn a_job_that_its_limit_stopped_does_not_run_past_it() {
    let place = log(1, &[(0, 3600, 3600, -1, 5)]);
    let makespan_s = |more: &[&str]| first_policy(&place, more).0["metrics"]["makespan_s"].clone();
    assert_eq!(makespan_s(&[]), 3600.0);
    assert_eq!(makespan_s(&["--killed", "run-time"]), 3600.0);
    assert_eq!(makespan_s(&["--killed", "age"]), 7200.0);
    let told = first_policy(&place, &[]).1;
    assert!(
        told.contains("assumed: 1 task killed while running: killed after the recorded running time (`--killed run-time`)."),
        "{told}"
    );
    // The Google trace has no time limits: a killed task is killed at its recorded age.
    let told = replay(&history(), &[]).ok().stderr;
    assert!(told.contains("assumed: 1 task killed: killed at the recorded age"), "{told}");
    let waiting = log(1, &[(0, 0, 100, -1, 1), (1, 30, -1, -1, 5)]);
    let told = first_policy(&waiting, &[]).1;
    assert!(
        told.contains("assumed: 1 task killed while waiting: leave at the recorded age; one whose turn comes before then ends at once, for it never ran."),
        "{told}"
    );
}

#[test]
fn a_job_killed_while_it_waited_does_no_work() {
    // Job 1 holds the processor until 10 s. Job 2 waits from 20 s until it is killed 3000 s later,
    // and job 3 arrives a second after job 2.
    let place = log(1, &[(0, 0, 10, -1, 1), (20, 3000, -1, -1, 5), (21, 0, 10, -1, 1)]);
    let makespan_s = |more: &[&str]| first_policy(&place, more).0["metrics"]["makespan_s"].clone();
    assert_eq!(makespan_s(&[]), 31.0, "its turn comes at once, and it ends there");
    assert_eq!(makespan_s(&["--killed", "age"]), 3030.0, "it runs until its recorded age");
}

#[test]
fn nothing_is_refused_for_memory_that_nobody_knows() {
    let place = log(10, &[(0, 0, 100, 4_000_000_000_000, 1), (0, 0, 100, 4_000_000_000_000, 1)]);
    let (policy, told) = first_policy(&place, &[]);
    assert_eq!(policy["metrics"]["makespan_s"], 100.0, "they run beside each other");
    assert_eq!(policy["refused"], 0);
    let expected =
        "assumed: The memory of any machine is unknown: requests for memory are not checked there.";
    assert!(told.contains(expected), "{told}");
    assert!(told.contains("No task has a known priority"), "{told}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_script_schedules_a_drawn_log_alike() {
    let Some(python) = python("csv") else { return };
    for seed in ["1", "2"] {
        let run = Command::new(&python)
            .arg(repository().join("tests/scripts/policies_crosscheck.py"))
            .args([env!("CARGO_BIN_EXE_jobfate"), seed, "150"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("33 of 33 policies equal"), "{said}");
    }
}

#[test]
fn more_heartbeats_than_anyone_waits_for_are_refused() {
    let place = history();
    let run = |rule: &str| place.run(&["replay", "--policies", rule]);
    assert_eq!(run("late:heartbeat_s=0.001").code, Some(0), "jobs of one task need none");
    let place = Place::new();
    place.part("machine_events", 0, "0,7,0,p,1,1\n");
    let mut rows = String::new();
    for index in 0..600 {
        for event in [0, 1] {
            let time_s = 1000 + 4000 * index;
            writeln!(rows, "{time_s}000000,,1,{index},,{event},a,1,0,0.001,0.001,0,0").unwrap();
        }
    }
    writeln!(rows, "2400000000000,,1,0,,4,a,1,0,0.001,0.001,0,0").unwrap();
    place.part("task_events", 0, rows);
    place.ingest(&[]).ok();
    let refused = place.run(&["replay", "--policies", "late:heartbeat_s=0.001"]);
    assert_eq!(refused.code, Some(2));
    let expected = "would need up to 1,200,000,000 heartbeats, more than 1,000,000,000; give a longer `heartbeat_s`";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
}

/// A trace in the format of Alibaba's trace of 2018, on one core:
///
/// ```text
///  j_1  M1      instances 1 and 2  from 100    |1 100-120|2 120-150|
///       M3      instance 4, fails  from 100                        |4 150-160|
///  j_2  M1      instance 6         from 140                                  |6 160-260|
///  j_1  R2_1    instance 3         from 130, waits until 150, behind 6                 |3 260-280|
///       J4_2_3  instance 5         from 150, waits until 280                                     |5 280-290|
///  j_3  M1_2 and R2_1 are a circle, and R5_9 waits for a task that is not there
/// ```
#[test]
fn tasks_of_a_graph_wait_for_those_before_them() {
    let place = graph();
    let starts = |out: &str, more: &[&str]| {
        let common = ["replay", "--policies", "fifo", "--out", out, "--journal"];
        let run = place.run(&[&common, more].concat()).ok();
        let journal = fs::read_to_string(place.path(&format!("{out}/journal-1.txt"))).unwrap();
        let starts: Vec<String> = journal
            .lines()
            .filter_map(|line| line.split_once(" start "))
            .map(|(at, task)| format!("{at} {}", task.split(' ').next().unwrap()))
            .collect();
        (starts, run.stderr)
    };
    let one_core = ["--cluster", "cluster:nodes=1,cpu=1"];
    let expected = [
        "100 1/1", "120 1/2", "150 1/4", "160 2/6", "260 1/3", "280 1/5", "1000 3/7", "1010 3/8",
        "1020 3/9",
    ];
    let (found, told) = starts("open", &one_core);
    assert_eq!(found, expected);
    for sentence in [
        "assumed: 2 tasks wait for others of their job (`depends_on`): they start once these are \
         over, finished or not, and not before they arrive.",
        "assumed: Dependencies left out: 1 on tasks that are not replayed, 2 in or behind circles.",
    ] {
        assert!(told.contains(sentence), "{told}");
    }
    // Users are unknown: closed arrivals are the recorded ones.
    let closed = [&one_core[..], &["--arrivals", "closed"]].concat();
    assert_eq!(starts("closed", &closed).0, expected);
    // The table of tasks alone: two cores for the instances of M1 together, and M3 finishes.
    place.run(&["ingest", "trace/batch_task.csv", "--lake", "tasks"]).ok();
    let (found, _) = starts("of-tasks", &["--lake", "tasks", "--cluster", "cluster:nodes=1,cpu=2"]);
    let expected =
        ["100 1/1", "130 1/3", "130 1/2", "140 2/1", "150 1/4", "1000 3/1", "1000 3/2", "1010 3/5"];
    assert_eq!(found, expected);
}

/// The tables of that trace.
fn graph() -> Place {
    let place = Place::new();
    let task = |name: &str, count: u32, (job, start, end): (u32, u32, u32)| {
        format!("{name},{count},j_{job},1,Terminated,{start},{end},100,0.1\n")
    };
    let tasks = [
        task("M1", 2, (1, 100, 130)),
        task("R2_1", 1, (1, 130, 150)),
        task("M3", 1, (1, 100, 110)),
        task("J4_2_3", 1, (1, 150, 160)),
        task("M1", 1, (2, 140, 240)),
        task("M1_2", 1, (3, 1000, 1010)),
        task("R2_1", 1, (3, 1000, 1010)),
        task("R5_9", 1, (3, 1000, 1010)),
    ];
    let instance = |number: u32, name: &str, (job, start, end): (u32, u32, u32)| {
        let state = if name == "M3" { "Failed" } else { "Terminated" };
        format!("ins_{number},{name},j_{job},1,{state},{start},{end},m_1,1,1,50,80,0.1,0.2\n")
    };
    let instances = [
        instance(1, "M1", (1, 100, 120)),
        instance(2, "M1", (1, 100, 130)),
        instance(3, "R2_1", (1, 130, 150)),
        instance(4, "M3", (1, 100, 110)),
        instance(5, "J4_2_3", (1, 150, 160)),
        instance(6, "M1", (2, 140, 240)),
        instance(7, "M1_2", (3, 1000, 1010)),
        instance(8, "R2_1", (3, 1000, 1010)),
        instance(9, "R5_9", (3, 1000, 1010)),
    ];
    place.raw("batch_task.csv", tasks.concat());
    place.raw("batch_instance.csv", instances.concat());
    place.run(&["ingest", "trace", "--lake", "lake"]).ok();
    place
}

/// In a log, some waits are unknown. A sample smaller than their number still has the recorded
/// waits. A log in which all waits are unknown has no recorded waits.
#[test]
fn recorded_waits_stay_in_a_sample() {
    for (unknown, is_told) in [(30, true), (200, false)] {
        let place = Place::new();
        let job = |number: u64| {
            let wait = if number <= unknown { -1 } else { 50 };
            format!("{number} {} {wait} 100 1 -1 -1 1 -1 -1 1 7 1 1 1 1 -1 -1\n", number * 1000)
        };
        place.raw("log.swf", format!("; MaxProcs: 4\n{}", (1..=200).map(job).collect::<String>()));
        place.run(&["ingest", "trace", "--lake", "lake", "--quiet"]).ok();
        let sampled = ["replay", "--lake", "lake", "--policies", "fifo", "--sample", "0.1"];
        let answer = place.run(&[&sampled[..], &["--format", "json"]].concat()).ok().json();
        let tasks = answer["history"]["tasks"].as_u64().unwrap();
        assert!(0 < tasks && tasks < 30, "{tasks}");
        assert_eq!(
            answer["recorded"]["waiting_s"]["mean"].as_f64().is_some(),
            is_told,
            "{}",
            answer["history"]
        );
    }
}
