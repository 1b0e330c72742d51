//! Studies of accounting logs: what is charged, what is unknown, and what is refused.

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::prelude::*;

use super::support::Place;

const ROW: &str = "2024-01-01T00:00:00Z|2024-01-01T00:00:10Z|2024-01-01T00:01:50Z";

/// States in which a job of Slurm ends.
const STATES: [&str; 5] = ["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY"];

/// A lake of a Slurm export with a header.
fn of_slurm(header: &str, lines: &[String]) -> Place {
    let place = Place::new();
    place.raw("log.sacct", format!("{header}\n{}\n", lines.join("\n")));
    place.run(&["ingest", "trace/log.sacct", "--lake", "lake"]).ok();
    place
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Promise: `account` and `fairness` charge a job of Slurm its processors times the time that
    /// it ran, without suspensions. The expected values are a sum over the lines.
    #[test]
    fn a_job_is_charged_for_the_time_that_it_ran(
        jobs in prop::collection::vec((0_i32..1_000, 1_i32..5_000, 0_i32..3_000, 1_i32..64, 0..STATES.len()), 1..30),
    ) {
        let (mut lines, mut processor_s, mut slot_s) = (Vec::new(), 0, 0);
        let mut by_state: BTreeMap<&str, (u64, i32)> = BTreeMap::new();
        for (id, &(wait, run, suspended, cpus, state)) in jobs.iter().enumerate() {
            let state = STATES[state];
            let sum = by_state.entry(state).or_default();
            *sum = (sum.0 + 1, sum.1 + run * cpus);
            let start = 1_000 + wait;
            let end = start + run + suspended;
            lines.push(format!("{id}|u{}|{state}|1000|{start}|{end}|{run}|{cpus}", id % 3));
            processor_s += run * cpus;
            slot_s += run;
        }
        let place = of_slurm("JobID|User|State|Submit|Start|End|ElapsedRaw|NCPUS", &lines);
        let total = |args: &[&str]| place.run(args).ok().json()["total"].as_f64().unwrap();
        prop_assert_eq!(total(&["account", "--cpu", "requested", "--format", "json"]), f64::from(processor_s));
        prop_assert_eq!(total(&["account", "--cpu", "slots", "--format", "json"]), f64::from(slot_s));
        // By reason, and by the end of attempts: each job has one attempt.
        let ledger = place.run(&["account", "--cpu", "requested", "--format", "json"]).ok().json();
        let reasons = ledger["reasons"].as_array().unwrap().iter().map(|row| {
            (row["end_reason"].as_str().unwrap(), (row["jobs"].as_u64().unwrap(), row["amount"].as_f64().unwrap()))
        });
        let expected = by_state.iter().map(|(state, (jobs, sum))| (*state, (*jobs, f64::from(*sum))));
        prop_assert_eq!(reasons.collect::<BTreeMap<_, _>>(), expected.collect::<BTreeMap<_, _>>());
        let finished = by_state.get("COMPLETED").map(|sum| f64::from(sum.1));
        let ends = ledger["ends"].as_array().unwrap();
        let own = ends.iter().find(|row| row["end"] == "finished").map(|row| row["amount"].as_f64().unwrap());
        prop_assert_eq!(own, finished);
        let args = ["fairness", "--cpu", "requested", "--format", "json"];
        let found = place.run(&args).ok().json()["total_cpu_s"].as_f64().unwrap();
        prop_assert!((found - f64::from(processor_s)).abs() <= 1e-9 * found, "{found}, not {processor_s}");
    }
}

/// Promise: without a line that gives the processors of a job, its CPU time is unknown.
#[test]
fn cpu_time_that_no_line_tells_is_unknown() {
    let slurm = of_slurm("JobID|State|Submit|Start|End", &[format!("7|COMPLETED|{ROW}")]);
    let swf = Place::new();
    swf.raw("log.swf", "1 0 5 100 -1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n");
    swf.run(&["ingest", "trace/log.swf", "--lake", "lake"]).ok();
    for place in [slurm, swf] {
        let json = place.run(&["account", "--format", "json"]).ok().json();
        assert_eq!(json["total"], serde_json::Value::Null);
        for row in json["rows"].as_array().unwrap() {
            assert_eq!(
                (&row["cpu"], &row["share"]),
                (&serde_json::Value::Null, &serde_json::Value::Null)
            );
        }
        assert_eq!(json["rows"][0]["jobs"], 1);
        let run = place.run(&["account"]).ok();
        let said = "The CPU time (requested) of all jobs is unknown: the log does not record the \
            CPUs or processors of any of 1 attempt.";
        assert!(run.text().contains(said), "{}", run.text());
        // Their running times are known.
        let json = place.run(&["account", "--cpu", "slots", "--format", "json"]).ok().json();
        assert_eq!(json["total"], 100.0);
    }
}

/// Promise: grouping by a reason that the lake does not record is wrong use in every command.
#[test]
fn reasons_that_a_lake_does_not_have_are_refused_everywhere() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let mut said = String::new();
    for args in [
        &["classify", "--by-reason"][..],
        &["account", "--by-reason", "--cpu", "slots"],
        &["account", "--group-by", "reason", "--cpu", "slots"],
        &["sweep", "--group-by", "reason", "--cpu", "slots"],
        &["describe", "--group-by", "reason"],
        &["describe", "--group-by", "reason", "--what", "job-survival"],
    ] {
        let run = place.run(args);
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.stderr);
        let sentence =
            run.stderr.lines().find(|line| line.contains("does not record why")).unwrap();
        if said.is_empty() {
            sentence.clone_into(&mut said);
        }
        assert_eq!(sentence, said, "{args:?}");
    }
}

/// Promise: if a log records why jobs ended, the page of outcomes of its analysis shows the reasons
/// as `classify --by-reason` does.
#[test]
fn why_jobs_ended_is_on_the_page_of_outcomes() {
    let states = ["COMPLETED", "TIMEOUT", "OUT_OF_MEMORY", "PREEMPTED", "COMPLETED"];
    let lines = ["1", "2", "3", "4", "5"].into_iter().zip(states);
    let lines: Vec<String> =
        lines.map(|(id, state)| format!("{id}|{state}|{ROW}|2|normal")).collect();
    let place = of_slurm("JobID|State|Submit|Start|End|NCPUS|QOS", &lines);
    let ask = |classes: &str| {
        let args = ["classify", "--by-reason", "--classes", classes, "--format", "json"];
        place.run(&args).ok().json()
    };
    let asked = ask("sequence");
    place.run(&["analyze", "--lake", "lake", "--out", "found", "--quiet"]).ok();
    let read = |name: &str| std::fs::read_to_string(place.path("found").join(name)).unwrap();
    let stored: serde_json::Value = serde_json::from_str(&read("classify-jobs.json")).unwrap();
    assert_eq!(stored["answer"]["reasons"], ask("terminal")["reasons"]);
    let reasons = asked["reasons"].as_array().unwrap();
    assert_eq!(reasons.len(), 4, "{asked}");
    // An outcome that the exact sequence does not name has a word in `course`.
    let preempted = reasons.iter().find(|row| row["end_reason"] == "PREEMPTED").unwrap();
    assert_eq!((&preempted["outcome"], &preempted["course"]), (&"other".into(), &"evicted".into()));
    let page = read("report/outcomes.html");
    assert!(page.contains("Why 5 jobs ended") && page.contains("OUT_OF_MEMORY"), "{page}");
    assert!(page.contains("evicted: PREEMPTED") && !page.contains("other: "), "{page}");
    assert!(!page.contains("Why 5 tasks ended"), "each job is one task");
}

/// Promise: every study with groups splits a lake by quality of service if the lake has it, and
/// otherwise reports that it has none.
#[test]
fn qualities_of_service_are_groups() {
    let lines = ["normal", "normal", "high", ""].map(|qos| format!("|COMPLETED|{ROW}|2|{qos}"));
    let lines: Vec<String> = (1..).zip(lines).map(|(id, line)| format!("{id}{line}")).collect();
    let place = of_slurm("JobID|State|Submit|Start|End|NCPUS|QOS", &lines);
    let json = |args: &[&str]| {
        let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
        place.run(&args).ok().json()
    };
    let total = json(&["account"])["total"].as_f64().unwrap();
    let rows = json(&["account", "--group-by", "qos"])["rows"].as_array().unwrap().clone();
    let of = |qos: Option<&str>| {
        let row = rows.iter().find(|row| row["qos"].as_str() == qos);
        row.unwrap_or_else(|| panic!("{qos:?}: {rows:?}"))["cpu"].as_f64().unwrap()
    };
    assert_eq!(
        [of(Some("normal")), of(Some("high")), of(None)],
        [0.5, 0.25, 0.25].map(|part| part * total)
    );
    for args in [
        &["account", "--group-by", "qos", "--format", "csv"][..],
        &["describe", "--group-by", "qos", "--format", "csv"],
        &["sweep", "--group-by", "qos", "--thresholds", "3", "--format", "csv"],
        &["load", "--by", "qos", "--interval", "1d", "--format", "csv"],
        &["fairness", "--by", "qos", "--show", "users", "--format", "csv"],
    ] {
        let text = place.run(args).ok().stdout_text().to_owned();
        assert!(text.contains("normal") && text.contains("high"), "{args:?}: {text}");
    }
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    for args in [
        &["account", "--group-by", "qos", "--cpu", "slots"][..],
        &["describe", "--group-by", "qos"],
        &["sweep", "--group-by", "qos", "--cpu", "slots"],
        &["load", "--by", "qos"],
        &["fairness", "--by", "qos", "--cpu", "slots"],
    ] {
        let run = place.run(args);
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("column `qos`"), "{args:?}: {}", run.stderr);
    }
}

/// Promise: CPU time by account and by queue equals the sum over the lines of the log, computed
/// here.
#[test]
fn accounts_and_queues_are_groups() {
    let jobs = [("chem", "long", 2), ("chem", "short", 3), ("bio", "long", 4), ("", "long", 5)];
    let lines: Vec<String> = (1..)
        .zip(jobs)
        .map(|(id, (account, queue, cpus))| {
            format!("{id}|COMPLETED|{ROW}|{cpus}|{account}|{queue}")
        })
        .collect();
    let place = of_slurm("JobID|State|Submit|Start|End|NCPUS|Account|Partition", &lines);
    let cpus: i32 = jobs.iter().map(|job| job.2).sum();
    let total = place.run(&["account", "--format", "json"]).ok().json()["total"].as_f64().unwrap();
    let a_cpu = total / f64::from(cpus);
    for (group, expected) in [
        ("account", vec![(Some("chem"), 5.0), (Some("bio"), 4.0), (None, 5.0)]),
        ("queue", vec![(Some("long"), 11.0), (Some("short"), 3.0)]),
    ] {
        let args = ["account", "--group-by", group, "--format", "json"];
        let rows = place.run(&args).ok().json()["rows"].clone();
        for (name, cpus) in expected {
            let own = rows.as_array().unwrap().iter().filter(|row| row[group].as_str() == name);
            let cpu: f64 = own.map(|row| row["cpu"].as_f64().unwrap_or(0.0)).sum();
            assert_eq!(cpu, cpus * a_cpu, "{group} {name:?}: {rows}");
        }
        for args in [
            &["describe", "--group-by", group, "--format", "csv"][..],
            &["sweep", "--group-by", group, "--thresholds", "3", "--format", "csv"],
        ] {
            let text = place.run(args).ok().stdout_text().to_owned();
            let other = if group == "queue" { "chem" } else { "long" };
            let own = if group == "queue" { "long" } else { "chem" };
            assert!(text.contains(own) && !text.contains(other), "{args:?}: {text}");
        }
    }
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    for (group, said) in [("account", "no accounts"), ("queue", "column `queue`")] {
        let run = place.run(&["account", "--group-by", group, "--cpu", "slots"]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

/// Promise: `query q14` of a lake of Slurm has the values of the log for each job.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn the_requests_of_slurm_jobs_are_a_query() {
    let header = "JobID|State|Submit|Start|End|NCPUS|ReqCPUS|Partition|TimelimitRaw";
    let place = of_slurm(header, &[format!("7|COMPLETED|{ROW}|8|4|long|90")]);
    let run = place.run(&["query", "q14", "--format", "csv"]).ok();
    insta::assert_snapshot!(run.stdout_text(), @"
    job_id,user_group,executable,queue,partition,requested_processors,requested_time_us,requested_memory_kib,processors,cpu_time_us,used_memory_kib
    7,,,long,long,4,5400000000,,8,,
    ");
}

/// Promise: monthly files in a folder are one log, in which each attempt of a job occurs once.
#[test]
fn a_job_of_two_months_is_one_attempt() {
    let place = Place::new();
    let header = "JobID|State|Submit|Start|End|NCPUS";
    let mut first = String::new();
    writeln!(first, "{header}\n7|RUNNING|2024-01-31T00:00:00Z|2024-01-31T00:00:00Z|Unknown|2")
        .unwrap();
    writeln!(first, "8|PENDING|2024-01-31T00:00:00Z|Unknown|Unknown|2").unwrap();
    place.raw("2024-01.txt", first);
    let ended = "2024-01-31T00:00:00Z|2024-01-31T00:00:00Z|2024-02-01T00:00:00Z";
    let begun = "2024-01-31T00:00:00Z|2024-02-02T00:00:00Z|2024-02-03T00:00:00Z";
    place.raw("2024-02.txt", format!("{header}\n7|COMPLETED|{ended}|2\n8|FAILED|{begun}|2\n"));
    let run = place.run(&["ingest", "trace", "--lake", "lake"]).ok();
    let remark = "records of a job that an earlier file also has: counted once: 2";
    assert!(run.stderr.contains(remark), "{}", run.stderr);
    let run = place.run(&["classify", "--sequences", "--format", "csv"]).ok();
    insta::assert_snapshot!(run.stdout_text(), @"
    sequence,outcome,count,share
    013,failed,1,0.5
    014,finished,1,0.5
    ");
    let json = place.run(&["account", "--format", "json"]).ok().json();
    assert_eq!(json["total"], 2.0 * 86_400.0 * 2.0);
}

/// Promise: the machines over time are those that the log names; the whole system is not one of
/// them.
#[test]
fn machines_are_those_that_the_log_names() {
    for (nodes, count) in [(["n[1-3]", "n2"], "3.0"), (["", ""], "1.0")] {
        let lines: Vec<String> =
            (1..).zip(nodes).map(|(id, nodes)| format!("{id}|COMPLETED|{ROW}|2|{nodes}")).collect();
        let place = of_slurm("JobID|State|Submit|Start|End|NCPUS|NodeList", &lines);
        let text = place.run(&["load", "--interval", "10s", "--format", "csv"]).ok();
        let mut reader = csv::Reader::from_reader(text.stdout_text().as_bytes());
        let at = reader.headers().unwrap().iter().position(|name| name == "machines").unwrap();
        for row in reader.records() {
            assert_eq!(&row.unwrap()[at], count, "{nodes:?}");
        }
    }
}
