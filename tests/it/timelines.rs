//! The outcome study on traces that are small enough to be worked out by hand. Each has a drawn
//! timeline.
//!
//! A trace is text: `job ID TIME:TYPE ...`, `task JOB.INDEX TIME:TYPE ...`, `usage JOB.INDEX
//! START-END RATE`, times in seconds, an END of `>` after the trace; `|` puts the events after it
//! into the next part. The window of the tasks ends at the last event of a task.

use jobfate::facts::window::Windows;
use jobfate::studies::fold::{Asked, fold};
use jobfate::studies::kill_sweep::{SweepRow, sweep};
use jobfate::studies::ledger::{CpuDefinition, ledger};
use jobfate::studies::meter::Meter;
use jobfate::studies::rules::{Rule, RuleGrid};
use serde_json::Value;

use super::support::Place;

/// Writes the lines of a trace into two parts per table.
fn write(place: &Place, trace: &str) {
    let mut tables =
        [("job_events", [String::new(), String::new()]), ("task_events", Default::default())];
    let mut usage = String::new();
    for line in trace.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (job, index) = words[1].split_once('.').unwrap_or((words[1], ""));
        if words[0] == "usage" {
            let (start, end) = words[2].split_once('-').unwrap();
            let rest = ",".repeat(14);
            let end = if end == ">" { u64::MAX.to_string() } else { format!("{end}000000") };
            let line = format!("{start}000000,{end},{job},{index},5,{}{rest}\n", words[3]);
            usage.push_str(&line);
            continue;
        }
        let mut part = 0;
        for word in &words[2..] {
            let Some((time, kind)) = word.split_once(':') else {
                part = 1;
                continue;
            };
            let micros = if time == "0" { "0".to_owned() } else { format!("{time}000000") };
            let (table, line) = if words[0] == "job" {
                (0, format!("{micros},,{job},{kind},user,0,name,logical\n"))
            } else {
                (1, format!("{micros},,{job},{index},5,{kind},user,0,1,0.5,,,\n"))
            };
            tables[table].1[part].push_str(&line);
        }
    }
    for (table, parts) in &mut tables {
        for (number, text) in (0..).zip(parts.iter_mut()) {
            // Rows of a part are in time order; rows of one instant keep the order they have here.
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_by_key(|line| line.split(',').next().unwrap().parse::<u64>().unwrap());
            place.part(table, number, lines.join("\n"));
        }
    }
    place.part("task_usage", 0, usage);
}

/// The values that are not 0, as `outcome=value`.
fn shown(values: &impl serde::Serialize) -> String {
    let Value::Object(values) = serde_json::to_value(values).unwrap() else { panic!("by outcome") };
    let some: Vec<String> = values
        .iter()
        .filter(|(_, value)| value.as_f64() != Some(0.0))
        .map(|(outcome, value)| format!("{outcome}={}", value.as_f64().unwrap()))
        .collect();
    if some.is_empty() { "-".to_owned() } else { some.join(" ") }
}

/// Sweeps `threshold` under slots and measured CPU and compares the lines.
fn check(trace: &str, threshold: i64, expected: &str) {
    let place = Place::new();
    write(&place, trace);
    place.ingest(&["--buckets", "2"]).ok();
    let lake = place.lake();
    let study = |cpu| {
        let rules = vec![RuleGrid::new(Rule::Events, vec![threshold])];
        let asked = Asked { meter: Meter::Cpu(cpu), rules, ..Asked::default() };
        fold(&lake, Windows::of(&lake), &asked).unwrap()
    };
    let row = |cpu| -> SweepRow { sweep(&study(cpu), 0).rows.remove(0) };
    let (slots, measured) = (row(CpuDefinition::Slots), row(CpuDefinition::Measured));
    let book = ledger(&study(CpuDefinition::Measured));
    let found = format!(
        "condemned {}\nsaved slots {}\nsaved measured {}\nharmed {} destroyed slots {} measured {}\nmeasured {} outside {}",
        shown(&slots.condemned_tasks),
        shown(&slots.saved_cpu),
        shown(&measured.saved_cpu),
        slots.harmed_jobs.unwrap(),
        slots.destroyed_cpu.unwrap(),
        measured.destroyed_cpu.unwrap(),
        book.total - book.outside_attempts,
        book.outside_attempts,
    );
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(found, expected.join("\n"), "{trace}");
}

#[test]
fn a_task_that_crosses_at_the_instant_of_its_end_saves_nothing() {
    //  task 1.0   SUBMIT 10  SCHEDULE 20 |--------| FAIL 60: event number 3, T = 2
    //  usage                       |20====0.5====60|
    check(
        "job 1 10:0 20:1 60:3
         task 1.0 10:0 20:1 60:3
         usage 1.0 20-60 0.5",
        2,
        "condemned failed=1
         saved slots -
         saved measured -
         harmed 0 destroyed slots 0 measured 0
         measured 20 outside 0",
    );
}

#[test]
fn events_of_one_instant_in_two_parts_keep_the_order_of_the_parts() {
    //  part 0: SUBMIT 10, SCHEDULE 20, FAIL 40     part 1: SUBMIT 40, SCHEDULE 40, FINISH 70
    //  The sequence is 013014 and not 010314: two attempts, 20-40 and 40-70. T = 4 condemns at 40.
    check(
        "job 1 10:0 20:1 | 70:4
         task 1.0 10:0 20:1 40:3 | 40:0 40:1 70:4",
        4,
        "condemned finished=1
         saved slots finished=30
         saved measured -
         harmed 1 destroyed slots 20 measured 0
         measured 0 outside 0",
    );
}

#[test]
fn a_window_that_straddles_the_kill_is_cut_in_proportion() {
    //  attempt 1  |20----40|   attempt 2   |50-----------100|
    //  usage      |20=0.5==40|      |45======1.0=====95|
    //  T = 4: condemned at 50, the second SCHEDULE. Of the second window 45-50 is outside.
    check(
        "job 1 10:0 20:1 100:5
         task 1.0 10:0 20:1 40:3 40:0 50:1 100:5
         usage 1.0 20-40 0.5
         usage 1.0 45-95 1",
        4,
        "condemned killed=1
         saved slots killed=50
         saved measured killed=45
         harmed 0 destroyed slots 0 measured 0
         measured 55 outside 5",
    );
    // With an UPDATE_RUNNING at 60 as event number 6 and T = 5 the cut is inside the window.
    check(
        "job 1 10:0 20:1 100:5
         task 1.0 10:0 20:1 40:3 40:0 50:1 60:8 100:5
         usage 1.0 45-95 1",
        5,
        "condemned killed=1
         saved slots killed=40
         saved measured killed=35
         harmed 0 destroyed slots 0 measured 0
         measured 45 outside 5",
    );
}

#[test]
fn a_job_whose_only_task_is_condemned_is_harmed_once() {
    //  T = 3: condemned at 40, the second SUBMIT; 20 s were thrown away, 40 s are saved.
    check(
        "job 1 10:0 20:1 90:4
         task 1.0 10:0 20:1 40:2 40:0 50:1 90:4
         usage 1.0 20-40 0.25",
        3,
        "condemned finished=1
         saved slots finished=40
         saved measured -
         harmed 1 destroyed slots 20 measured 5
         measured 5 outside 0",
    );
}

#[test]
fn usage_after_death_is_outside_and_a_task_without_usage_has_slots_only() {
    //  task 1.0  |20-----40|        task 1.1  |20--------60|
    //  usage     |20===========55|  (none)
    check(
        "job 1 10:0 20:1 60:3
         task 1.0 10:0 20:1 40:3
         task 1.1 10:0 20:1 60:3
         usage 1.0 20-55 1
         usage 7.0 20-30 1",
        1,
        "condemned failed=2
         saved slots failed=60
         saved measured failed=20
         harmed 0 destroyed slots 0 measured 0
         measured 20 outside 25",
    );
}

#[test]
fn a_job_at_time_0_is_taken_as_written_and_an_open_attempt_ends_with_the_window() {
    //  task 1.0  SUBMIT 0, SCHEDULE 0 |-----------------| 80, the last event of any task
    //  task 2.0                  |20-------80|
    check(
        "job 1 0:0 0:1
         job 2 10:0 20:1 80:4
         task 1.0 0:0 0:1
         task 2.0 10:0 20:1 80:4
         usage 1.0 60-80 0.5",
        1,
        "condemned finished=1 running=1
         saved slots finished=60 running=80
         saved measured running=10
         harmed 1 destroyed slots 0 measured 0
         measured 10 outside 0",
    );
}

#[test]
fn a_job_that_was_reconfigured_under_its_id_is_other() {
    //  013014: neither finished nor failed by its sequence, so no job is harmed.
    check(
        "job 1 10:0 20:1 30:3 40:0 50:1 60:4
         task 1.0 10:0 20:1 30:3 40:0 50:1 60:4",
        2,
        "condemned other=1
         saved slots other=10
         saved measured -
         harmed 0 destroyed slots 0 measured 0
         measured 0 outside 0",
    );
}

#[test]
fn a_task_of_an_unknown_job_is_unmatched() {
    check(
        "job 2 10:0
         task 1.0 10:0 20:1 60:3
         usage 1.0 20-60 0.5",
        1,
        "condemned unmatched=1
         saved slots unmatched=40
         saved measured unmatched=20
         harmed 0 destroyed slots 0 measured 0
         measured 20 outside 0",
    );
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn a_usage_window_that_ends_after_the_trace_ends_with_the_window() {
    //  task 1.0   SUBMIT 10  SCHEDULE 20 |---------------------- ...   the window ends at 80
    //  task 2.0                      |20-----------------80| FINISH
    //  usage 1.0                          |60==0.5====> (2^64-1)
    //  usage 2.0                  |10=========1.0===========>: 10 s before the attempt are outside
    let trace = "job 1 10:0 20:1
         job 2 10:0 20:1 80:4
         task 1.0 10:0 20:1
         task 2.0 10:0 20:1 80:4
         usage 1.0 60-> 0.5
         usage 2.0 10-> 1";
    check(
        trace,
        1,
        "condemned finished=1 running=1
         saved slots finished=60 running=60
         saved measured finished=60 running=10
         harmed 1 destroyed slots 0 measured 0
         measured 70 outside 10",
    );
    let place = Place::new();
    write(&place, trace);
    // Capacity 0.5: job 2 runs for 60 s at a mean rate of 1.
    place.part("machine_events", 0, "0,5,0,,0.5,0.5\n");
    place.ingest(&["--buckets", "2"]).ok();
    let q07 = place.run(&["query", "q07", "--format", "csv"]).ok();
    let lines: Vec<&str> = q07.stdout_text().lines().skip(1).collect();
    assert_eq!(lines, ["1,0,1,0,0,10.0,0.0,0.0", "2,0,1,0,0,60.0,10.0,0.0"]);
    let q11 = place.run(&["query", "q11", "--format", "csv"]).ok();
    assert!(q11.stdout_text().contains("2,60.0,1.0,0.5,30.0"), "{}", q11.stdout_text());
    let published = place.run(&["account", "--cpu", "published", "--format", "json"]).ok().json();
    assert_eq!(published["rows"][0]["cpu"], 30.0);
    let measured = place.run(&["account", "--format", "json"]).ok().json();
    assert_eq!(measured["outside_attempts"], 10.0);
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn windows_that_overlap_are_counted_with_and_without_a_task() {
    //  task 1.0  |20==========60|       task 7.0 is unknown: |20=====40|
    //                |50====70|                                 |30====50|
    let place = Place::new();
    write(
        &place,
        "job 1 10:0 20:1 90:4
         task 1.0 10:0 20:1 90:4
         usage 1.0 20-60 1
         usage 7.0 20-40 1
         usage 7.1 25-35 1
         usage 1.0 50-70 1
         usage 7.0 30-50 1",
    );
    place.ingest(&["--buckets", "1"]).ok();
    let ledger = place.run(&["account", "--format", "json"]).ok().json();
    assert_eq!((&ledger["windows"], &ledger["windows_overlapping"]), (&5.into(), &2.into()));
    let q07 = place.run(&["query", "q07", "--format", "csv"]).ok();
    let counts = q07.stdout_text().lines().skip(1);
    let overlapping = counts.map(|line| line.split(',').nth(4).unwrap().parse::<u64>().unwrap());
    assert_eq!(overlapping.sum::<u64>(), 2);
    let verify = place.run(&["verify", "--format", "csv"]);
    let line = "task_usage,windows that overlap an earlier one,2,";
    assert!(verify.stdout_text().contains(line), "{}", verify.stdout_text());
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn classes_and_priorities_of_any_size_are_the_last_seen() {
    let place = Place::new();
    place.part(
        "job_events",
        0,
        "10,,1,0,u,2147483647,n,l\n20,,1,1,u,-2147483648,n,l\n10,,2,0,u,-1,n,l\n20,,2,1,u,,n,l\n",
    );
    place.part(
        "task_events",
        0,
        "10,,1,0,5,0,u,70000,5,,,,\n20,,1,0,5,1,u,-3,2147483647,,,,\n10,,2,0,5,0,u,16,-1025,,,,\n",
    );
    place.ingest(&["--buckets", "2"]).ok();
    let last = |query: &str, columns: usize, behind: usize| -> Vec<String> {
        let run = place.run(&["query", query, "--format", "csv"]).ok();
        let lines = run.stdout_text().lines().skip(1);
        let tail = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            fields[fields.len() - behind - columns..fields.len() - behind].join(" ")
        };
        lines.map(tail).collect()
    };
    assert_eq!(last("q01", 1, 0), ["-2147483648", "-1"]);
    assert_eq!(last("q02", 2, 4), ["-3 2147483647", "16 -1025"]);
    // The native rows keep them unchanged.
    let args =
        ["describe", "--what", "events-per-task", "--group-by", "priority", "--format", "json"];
    let rows = place.run(&args).ok().json();
    let groups: Vec<Option<i64>> =
        rows["rows"].as_array().unwrap().iter().map(|row| row["priority"].as_i64()).collect();
    assert!(groups.contains(&Some(2_147_483_647)) && groups.contains(&Some(-1025)), "{groups:?}");
    // Priorities and classes are numbers, and need no quote for spreadsheets.
    let args = ["account", "--cpu", "slots", "--group-by", "class", "--format", "csv"];
    let csv = place.run(&args).ok();
    assert!(csv.stdout_text().contains("\n-1,running"), "{}", csv.stdout_text());
}
