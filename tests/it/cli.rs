//! Whole runs: exit code, stdout and stderr together.
//!
//! Every error of an ingest is followed by the run that repairs it: nothing is lost, and what was
//! done before is kept.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use super::support::{Place, Run, assert_same_files, contents, gzip, skipped, tree};

const LINE: &str = "600,,7,0,u,1,n,l\n";

/// Ingests once more after a repair, and compares with a lake that never saw the fault.
#[track_caller]
fn assert_repaired(place: &Place, more: &[&str]) {
    place.ingest(more).ok();
    place.run(&[&["ingest", "trace", "--lake", "undisturbed"], more].concat()).ok();
    let undisturbed = jobfate::lake::Lake::open(&place.path("undisturbed")).unwrap();
    assert_eq!(contents(&place.lake()), contents(&undisturbed));
    place.lake().check_sums().unwrap();
}

// What goes well

#[test]
fn a_first_session() {
    let place = Place::new().with_golden_trace();
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 0
        --- stdout
        --- stderr
        job_events: 49 rows of 2 parts (0-1)
        task_events: 337 rows of 2 parts (0-1)
        task_usage: 36 rows of 2 parts (0-1)
        machine_events: 7 rows of 1 part (0)
        machine_attributes: 4 rows of 1 part (0)
        task_constraints: 4 rows of 2 parts (0-1)
        in [TIME]
        next: jobfate classify --lake lake
    ");
    assert_snapshot!(place.run(&["classify"]).text(), @r"
        exit code: 0
        --- stdout
        sequence  outcome   count      share
        014       finished      2   0.133333
        013       failed        2   0.133333
        015       killed        3   0.200000
        01        running       1  0.0666667
        -         other         7   0.466667
        --- stderr
        1 job begun before the window (time 0) is in, 4 are open at its end (2,990 s)
    ");
    assert_snapshot!(place.run(&["classify", "--by", "task", "--classes", "terminal"]).text(), @r"
        exit code: 0
        --- stdout
        sequence  outcome   count      share
        -         finished      8   0.380952
        -         failed        2  0.0952381
        -         killed        4   0.190476
        -         evicted       1  0.0476190
        -         lost          1  0.0476190
        -         pending       0          0
        -         running       5   0.238095
        -         unknown       0          0
        --- stderr
        2 tasks begun before the window (time 0) are in, 6 are open at its end (2,990 s)
    ");
    assert_snapshot!(place.run(&["classify", "--sequences", "--format", "csv"]).text(), @r"
        exit code: 0
        --- stdout
        sequence,outcome,count,share
        015,killed,3,0.2
        013,failed,2,0.13333333333333333
        014,finished,2,0.13333333333333333
        01,running,1,0.06666666666666667
        012,other,1,0.06666666666666667
        01301,other,1,0.06666666666666667
        013014,other,1,0.06666666666666667
        016,other,1,0.06666666666666667
        018,other,1,0.06666666666666667
        05,other,1,0.06666666666666667
        0714,other,1,0.06666666666666667
        --- stderr
        1 job begun before the window (time 0) is in, 4 are open at its end (2,990 s)
    ");
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 0
        --- stdout
        --- stderr
        in the lake already: 10 parts
        next: jobfate classify --lake lake
    ");
}

#[test]
fn the_json_of_classify_is_the_contract() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let run = place.run(&["classify", "--format", "json"]).ok();
    assert_snapshot!(serde_json::to_string_pretty(&run.json()["rows"]).unwrap(), @r#"
        [
          {
            "sequence": "014",
            "outcome": "finished",
            "count": 2,
            "share": 0.13333333333333333
          },
          {
            "sequence": "013",
            "outcome": "failed",
            "count": 2,
            "share": 0.13333333333333333
          },
          {
            "sequence": "015",
            "outcome": "killed",
            "count": 3,
            "share": 0.2
          },
          {
            "sequence": "01",
            "outcome": "running",
            "count": 1,
            "share": 0.06666666666666667
          },
          {
            "sequence": null,
            "outcome": "other",
            "count": 7,
            "share": 0.4666666666666667
          }
        ]
    "#);
    assert_eq!(run.json()["total"], 15);
    let sequences = run.json()["sequences"].as_array().unwrap().clone();
    let total: u64 = sequences.iter().map(|row| row["count"].as_u64().unwrap()).sum();
    assert_eq!(total, 15);
    assert!(
        run.stdout_text().starts_with("{\"rows\":[{\"sequence\":\"014\",\"outcome\":\"finished\",")
    );
}

#[test]
fn classify_keeps_its_answer_and_its_chart() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    assert_snapshot!(place.run(&["classify", "--out", "results"]).text(), @r"
        exit code: 0
        --- stdout
        sequence  outcome   count      share
        014       finished      2   0.133333
        013       failed        2   0.133333
        015       killed        3   0.200000
        01        running       1  0.0666667
        -         other         7   0.466667
        --- stderr
        1 job begun before the window (time 0) is in, 4 are open at its end (2,990 s)
        wrote results/result.json
    ");
    let files = tree(&place.path("results"));
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        [
            "classify-jobs.csv",
            "classify-jobs.parquet",
            "classify-jobs.png",
            "classify-jobs.svg",
            "result.json"
        ]
    );
    assert!(files["classify-jobs.png"].starts_with(b"\x89PNG"));
    let svg = String::from_utf8(files["classify-jobs.svg"].clone()).unwrap();
    assert!(svg.contains("finished (014)") && svg.contains("What became of 15 jobs"), "{svg}");
    let result: serde_json::Value = serde_json::from_slice(&files["result.json"]).unwrap();
    assert_eq!(result["command"].as_array().unwrap().len(), 4);
    assert_eq!(result["answer"]["total"], 15);
    assert_eq!(result["inputs"].as_array().unwrap().len(), 6);
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn answers_in_parquet_are_parquet() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    for args in [["classify", "--format"], ["query", "q03"], ["verify", "--format"]] {
        let more: &[&str] = if args[1] == "q03" { &["--format", "parquet"] } else { &["parquet"] };
        let run = place.run(&[&args, more].concat());
        let bytes = bytes::Bytes::from(run.stdout);
        let reader =
            parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        assert!(0 < reader.metadata().file_metadata().num_rows(), "{args:?}");
    }
}

#[test]
fn verify_of_a_lake_says_what_differs_from_what_is_published() {
    let place = Place::new().with_golden_trace();
    place.ingest(&["--tables", "job_events,task_constraints"]).ok();
    assert_snapshot!(place.run(&["verify"]).text(), @r"
        exit code: 0
        --- stdout
        table             what                       count  check
        job_events        distinct job_name             12  -
        job_events        distinct logical_job_name      5  -
        job_events        distinct user                  5  -
        job_events        ended while pending            1  -
        job_events        entities                      15  -
        job_events        event_type 0                  17  -
        job_events        event_type 1                  16  -
        job_events        event_type 2                   1  -
        job_events        event_type 3                   4  -
        job_events        event_type 4                   4  -
        job_events        event_type 5                   4  -
        job_events        event_type 6                   1  -
        job_events        event_type 7                   1  -
        job_events        event_type 8                   1  -
        job_events        exact duplicates               0  -
        job_events        first event is not SUBMIT      0  -
        job_events        illegal transitions            0  -
        job_events        jobs                          15  -
        job_events        missing_info 1                 1  -
        job_events        nulls in job_name              0  -
        job_events        nulls in logical_job_name      0  -
        job_events        nulls in missing_info         48  -
        job_events        nulls in scheduling_class      1  -
        job_events        nulls in user                  0  -
        job_events        rows                          49  -
        job_events        rows at time 0                 2  -
        job_events        rows at time 2^63-1            1  -
        job_events        scheduling_class 0            21  -
        job_events        scheduling_class 1            13  -
        job_events        scheduling_class 2            10  -
        job_events        scheduling_class 3             4  -
        job_events        ties                           3  -
        job_events        ties after time 0              2  -
        task_constraints  comparison_operator 0          1  -
        task_constraints  comparison_operator 1          1  -
        task_constraints  comparison_operator 2          1  -
        task_constraints  comparison_operator 3          1  -
        task_constraints  exact duplicates               0  -
        task_constraints  nulls in attribute_value       1  -
        task_constraints  rows                           4  -
        task_constraints  rows at time 0                 1  -
        task_constraints  rows at time 2^63-1            0  -
        --- stderr
        absent: task_events, all of it
        absent: task_usage, all of it
        absent: machine_events, all of it
        absent: machine_attributes, all of it
    ");
    // A table of one part is whole, but nothing says that the trace is that of 2011.
    place.ingest(&["--tables", "machine_events"]).ok();
    let run = place.run(&["verify", "--format", "csv"]).ok();
    assert!(run.stdout_text().contains("machine_events,rows,7,\n"), "{}", run.stdout_text());
    // A part of 500 does; and these are not its machines.
    fs::remove_dir_all(place.path("trace/task_usage")).unwrap();
    place.raw("task_usage/part-00007-of-00500.csv", "");
    place.ingest(&["--tables", "task_usage", "--parts", "7"]).ok();
    let run = place.run(&["verify", "--format", "csv"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.contains("warning: machine_events: rows is 7, published is 37,780"),
        "{}",
        run.stderr
    );
    assert!(run.stdout_text().contains("machine_events,rows,7,DIFFERS\n"));
}

#[test]
fn verify_of_a_raw_folder_checks_sums_and_lines() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    place.part("job_events", 1, "x\n");
    // printf '600,,7,0,u,1,n,l\n' | sha256sum
    let sum = sha256(&place.path("trace/job_events/part-00000-of-00002.csv"));
    place.raw("SHA256SUM", format!("{sum} *job_events/part-00000-of-00002.csv\n"));
    assert_snapshot!(place.run(&["verify", "trace"]).text(), @r"
        exit code: 1
        --- stdout
        table       parts  sum_right  sum_wrong  not_listed  unreadable  lines  lines_without_row
        job_events      2          1          0           1           0      2                  1
        --- stderr
        warning: job_events/part-00001-of-00002.csv: 1 line would give no row (first: line 1, too_few_columns)
        absent: task_events, all of it
        absent: task_usage, all of it
        absent: machine_events, all of it
        absent: machine_attributes, all of it
        absent: task_constraints, all of it
        error: 1 of 2 parts are not as they should be
    ");
    place.part("job_events", 1, LINE);
    place.ingest(&[]).ok();
    fs::remove_file(place.path("trace/job_events/part-00001-of-00002.csv")).unwrap();
    assert_snapshot!(place.run(&["verify", "trace"]).text(), @r"
        exit code: 0
        --- stdout
        table       parts  sum_right  sum_wrong  not_listed  unreadable  lines  lines_without_row
        job_events      1          1          0           0           0      1                  0
        --- stderr
        absent: job_events parts 1
        absent: task_events, all of it
        absent: task_usage, all of it
        absent: machine_events, all of it
        absent: machine_attributes, all of it
        absent: task_constraints, all of it
    ");
    place.part("job_events", 0, "601,,7,0,u,1,n,l\n");
    let run = place.run(&["verify", "trace"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("its checksum differs from the list"), "{}", run.stderr);
}

fn sha256(path: &Path) -> String {
    jobfate::sources::digest_file(path).unwrap().sha256
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn queries_are_listed_shown_and_kept() {
    let place = Place::new().with_golden_trace();
    assert_snapshot!(place.run(&["query"]).text(), @r"
        exit code: 0
        --- stdout
        q01_job_outcomes             what became of each job? (job_events)
        q02_task_outcomes            what became of each task? (task_events)
        q03_attempts                 when and where did each attempt of each task run, and how did it end? (task_events)
        q04_job_sizes                how many tasks does each job have? (task_events)
        q05_cpu_held                 how much CPU did each task hold while it ran: slots, and what it had asked for? (task_events)
        q06_windows_in_attempts      which part of each usage window lies inside an attempt of its task? (task_events, task_usage)
        q07_cpu_measured             how much CPU was measured of each task, inside its attempts and outside them? (task_events, task_usage)
        q08_crossings                when does each task exceed each threshold of events? (task_events)
        q09_held_after_crossings     how much CPU did each condemned task hold after each crossing? (task_events)
        q10_machine_periods          from when to when did each machine have which capacity? (machine_events)
        q11_cpu_published            how much CPU did each job use by the definition of the paper of 2017? (job_events, task_usage, machine_events)
        q12_measured_after_crossings how much CPU was measured of each condemned task after each crossing? (task_events, task_usage)
        q13_usage_by_user_hour       how much CPU was charged to each user in each hour, when the attempts ended? (job_events, task_events)
        q14_job_requests             what did the log say of each job besides its events? (job_events; swf, gwf only)
        q15_memory_held              how much memory had each task asked for while it ran? (task_events)
        q16_memory_measured          how much memory was measured of each task, inside its attempts and outside them? (task_events, task_usage)
        --- stderr
    ");
    let shown = place.run(&["query", "q04", "--show"]).ok();
    assert_eq!(shown.stdout_text(), include_str!("../../queries/q04_job_sizes.sql"));
    place.ingest(&[]).ok();
    assert_snapshot!(place.run(&["query", "q10"]).text(), @r"
        exit code: 0
        --- stdout
        machine_id  period       start_us         end_us  event_type  cpu_capacity  memory_capacity
              9001       1              0  1,000,000,000           0      0.500000         0.250000
              9001       2  1,000,000,000              -           2      0.250000         0.250000
              9002       1              0  1,500,000,000           0             1                1
              9002       2  1,500,000,000  1,800,000,000           1             0                0
              9002       3  1,800,000,000              -           0             1                1
              9003       1              0  1,200,000,000           0             -                -
              9003       2  1,200,000,000              -           2      0.500000         0.500000
        --- stderr
    ");
    let periods = place.run(&["query", "q10", "--format", "json"]).ok().json();
    assert_eq!(periods["query"], "q10_machine_periods");
    assert_eq!(
        periods["table"][1].to_string(),
        "{\"machine_id\":9001,\"period\":2,\"start_us\":1000000000,\"end_us\":null,\"event_type\":2,\
         \"cpu_capacity\":0.25,\"memory_capacity\":0.25}"
    );
    place.run(&["query", "q04_job_sizes", "--out", "facts"]).ok();
    let files = tree(&place.path("facts"));
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["q04_job_sizes.csv", "q04_job_sizes.parquet", "result.json"]
    );
    let result: serde_json::Value = serde_json::from_slice(&files["result.json"]).unwrap();
    assert_eq!(result["answer"]["key"], serde_json::json!(["job_id"]));
    assert_eq!(
        result["answer"]["rows"],
        String::from_utf8_lossy(&files["q04_job_sizes.csv"]).lines().count() - 1
    );
    assert_eq!(result["inputs"][0]["table"], "job_events");
    let args = ["query", "q08", "--thresholds", "3,2..=4:2,3", "--out", "facts"];
    place.run(&args).ok();
    let result = fs::read_to_string(place.path("facts/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["settings"]["thresholds"], serde_json::json!([2, 3, 4]));
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn the_end_of_the_window_can_be_given() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let slots = |more: &[&str]| {
        let run = place.run(&[&["query", "q05", "--format", "csv"], more].concat()).ok();
        let line =
            run.stdout_text().lines().find(|line| line.starts_with("114,1,")).unwrap().to_owned();
        line.split(',').nth(3).unwrap().to_owned()
    };
    // Task 114/1 runs from 2210 s and never ends; the last event is at 2990 s.
    assert_eq!(slots(&[]), "780.0");
    assert_eq!(slots(&["--window-end", "3000"]), "790.0");
    let early = place.run(&["account", "--cpu", "slots", "--window-end", "2210.5"]);
    assert_eq!(early.code, Some(2), "{}", early.stderr);
    assert!(early.stderr.contains("before the last event"), "{}", early.stderr);
}

#[test]
fn analyze_does_everything_in_one_go() {
    let place = Place::new();
    // A trace that is no whole table of 2011: nothing published applies.
    let jobs = super::support::golden("trace/job_events");
    super::support::copy_folder(&jobs, &place.path("trace/job_events"));
    assert_snapshot!(place.run(&["analyze", "trace", "--out", "all"]).text(), @r"
        exit code: 0
        --- stdout

        jobs
        sequence  outcome   count      share
        014       finished      2   0.133333
        013       failed        2   0.133333
        015       killed        3   0.200000
        01        running       1  0.0666667
        -         other         7   0.466667

        job durations (s)
        outcome   count  mean (s)  variance (s^2)  min (s)  p25 (s)  median (s)  p75 (s)   p90 (s)   p99 (s)  max (s)  censored  at_least                             left_censored
        all          14  1,084.21         570,777       10      600         820    1,280  2,060.00  2,884.70    2,990         4  mean,p75,p90,p99,max                             1
        finished      2     1,530          62,500    1,280    1,405       1,530    1,655     1,730     1,775    1,780         1  mean,p25,median,p75,p90,p99,max                  0
        failed        2       635           2,025      590  612.500         635  657.500       671   679.100      680         0  -                                                0
        killed        3   489.667         144,580       10  264.500         519  729.500   855.800   931.580      940         0  -                                                0
        running       1     2,990               0    2,990    2,990       2,990    2,990     2,990     2,990    2,990         1  mean,min,p25,median,p75,p90,p99,max              1
        other         6     1,065         322,058      500  647.500         900    1,235     1,730     2,135    2,180         2  mean,p75,p90,p99,max                             0

        Of 15 jobs, 13.3 % finished, 13.3 % failed, 20.0 % killed, 6.7 % running, 46.7 % other (job_events: all, 0.8 hours).
        Half of 14 jobs took at most 820 s, the longest 2,990 s; the mean is 1,084.21 s; 4 had not ended and stand with the time seen so far (job_events: all, 0.8 hours).
        The published counts do not apply to this trace; what is odd in it is counted (job_events: all, 0.8 hours).
        --- stderr
        ingest trace into all/lake
        job_events: 49 rows of 2 parts (0-1)
        for google-2011 (--config FILE with other values changes them):
          --cpu        requested (account, sweep, fairness)
          --accrual    running (fairness)
          --overcommit 1.25 (replay)
          --killed     age (replay)
          --policies   fifo:depth=100 fair:depth=100 fifo:depth=100+late:heartbeat_s=60 (replay)
          --sample     1 (replay)
          --machines   1 (replay)
        [1/8] verify
        absent: task_events, all of it
        absent: task_usage, all of it
        absent: machine_events, all of it
        absent: machine_attributes, all of it
        absent: task_constraints, all of it
        [2/8] classify
        skipped: classify-tasks: the lake has no table `task_events`
        [3/8] describe
        skipped: tasks-per-job: the lake has no table `task_events`
        skipped: events-per-task: the lake has no table `task_events`
        skipped: waiting: the lake has no table `task_events`
        skipped: attempts: the lake has no table `task_events`
        skipped: finish-given-events: the lake has no table `task_events`
        [4/8] account
        skipped: account: the lake has no table `task_events`
        [5/8] sweep
        skipped: sweep: the lake has no table `task_events`
        [6/8] detect
        skipped: detect: the lake has no table `task_events`
        [7/8] replay
        skipped: replay: the lake has no table `task_events`
        [8/8] fairness
        skipped: fairness: the lake has no table `task_events`
        results and charts: all
        report: all/report/index.html
    ");
    let files = tree(&place.path("all"));
    for name in ["verify.json", "classify-jobs.json", "classify-jobs.svg", "lake/manifest.json"] {
        assert!(files.contains_key(name), "{name}");
    }
    let again = place.run(&["analyze", "trace", "--out", "all"]).ok();
    assert!(again.stderr.contains("in the lake already: 2 parts"), "{}", again.stderr);
    assert!(again.stderr.contains("[2/8] classify: done before"), "{}", again.stderr);
}

#[test]
fn synth_writes_into_empty_folders_only() {
    let place = Place::new();
    let args = ["synth", "trace", "--jobs", "20", "--days", "0.1", "--parts", "2", "--no-usage"];
    place.run(&args).ok();
    let before = tree(&place.path("trace"));
    assert_snapshot!(place.run(&args).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: could not write a synthetic trace to `trace`
        cause: the folder is not empty
        hint: give a new folder, or empty this one
    ");
    assert!(tree(&place.path("trace")) == before);
    assert_snapshot!(place.run(&["synth", "other", "--days", "0"]).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: invalid value '0' for '--days <DAYS>': a number of days from 1/24 (an hour) to 3650

        For more information, try '--help'.
    ");
}

#[test]
fn a_flat_folder_needs_its_table() {
    let place = Place::new();
    place.raw("cut-part-00003-first120rows.csv", LINE);
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not read `trace`
        cause: there is no table of the trace in it, and no log: `cut-part-00003-first120rows.csv`: its first line has 8 fields between commas, as a part of the Google trace of 2011 may have: such parts lie in folders, or are named with `--table`
        hint: expected folders such as `job_events/part-00000-of-00500.csv.gz`, or a log; for a flat folder of parts of one table, say which with `--table`
    ");
    assert_snapshot!(place.ingest(&["--table", "job_events"]).text(), @r"
        exit code: 0
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (3)
        in [TIME]
        next: jobfate classify --lake lake
    ");
    assert_eq!(place.lake().manifest.tables["job_events"].parts[0].part, 3);
}

// Faults of the input

#[test]
fn no_such_folder() {
    let place = Place::new();
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 4
        --- stdout
        --- stderr
        error: could not read `trace`
        cause: there is no such folder
        hint: give the folder that holds `job_events/`, `task_events/`, ...
    ");
    assert_snapshot!(place.run(&["verify", "trace"]).text(), @r"
        exit code: 4
        --- stdout
        --- stderr
        error: could not read `trace`
        cause: there is no such folder
        hint: give the folder that holds `job_events/`, `task_events/`, ...
    ");
    place.part("job_events", 0, LINE);
    assert_repaired(&place, &[]);
}

#[test]
fn no_table_in_the_folder() {
    let place = Place::new();
    place.raw("notes.txt", "");
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not read `trace`
        cause: there is no table of the trace in it, and no log: `notes.txt`: it is empty
        hint: expected folders such as `job_events/part-00000-of-00500.csv.gz`, or a log; for a flat folder of parts of one table, say which with `--table`
    ");
    place.part("job_events", 0, LINE);
    assert_repaired(&place, &[]);
}

#[test]
fn none_of_the_chosen_parts() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    assert_snapshot!(place.ingest(&["--parts", "7"]).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: none of the chosen tables and parts is in the folder
    ");
    assert_snapshot!(place.ingest(&["--tables", "task_usage"]).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: none of the chosen tables and parts is in the folder
    ");
    assert_snapshot!(place.ingest(&["--tables", "job_events,task_usage"]).text(), @r"
        exit code: 0
        --- stdout
        --- stderr
        warning: table `task_usage` is not in the folder, or none of the chosen parts is
        job_events: 1 row of 1 part (0)
        in [TIME]
        next: jobfate classify --lake lake
    ");
}

/// Part 0 is good and part 1 is at fault; part 0 is kept, and part 1 follows once it is good.
#[track_caller]
fn check_fault(fault: &[u8], more: &[&str]) -> String {
    let place = Place::new();
    place.gzip_part("job_events", 0, LINE);
    let path = place.raw("job_events/part-00001-of-00002.csv.gz", fault);
    let run = place.ingest(more);
    assert_eq!(place.lake().manifest.tables["job_events"].part_ranges(), "0");
    fs::write(path, gzip(LINE.repeat(2).as_bytes())).unwrap();
    assert_repaired(&place, &[]);
    assert_eq!(place.lake().manifest.tables["job_events"].rows(), 3);
    run.text()
}

#[test]
fn a_file_that_is_not_gzip() {
    assert_snapshot!(check_fault(b"<html>404</html>\n", &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: the file is not gzip, though its name ends in `.gz`
        hint: a web server's error page, perhaps: look at the file, then download it again
        error: 1 of 2 parts could not be ingested; the lake holds the others
    ");
}

#[test]
fn an_empty_file_that_should_be_gzip() {
    assert_snapshot!(check_fault(b"", &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: the file is empty, not even a gzip header
        hint: download the part again (the trace's `fetch` in `data-scripts/` does), then run the same command: what is done is kept
        error: 1 of 2 parts could not be ingested; the lake holds the others
    ");
}

#[test]
fn a_gzip_that_is_cut_short() {
    let whole = gzip(LINE.repeat(1000).as_bytes());
    assert_snapshot!(check_fault(&whole[..whole.len() / 2], &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: the gzip stream is cut short
        hint: download the part again (the trace's `fetch` in `data-scripts/` does), then run the same command: what is done is kept
        error: 1 of 2 parts could not be ingested; the lake holds the others
    ");
}

#[test]
fn a_gzip_whose_crc_is_wrong() {
    let mut damaged = gzip(LINE.repeat(1000).as_bytes());
    let crc_at = damaged.len() - 6;
    damaged[crc_at] ^= 1;
    assert_snapshot!(check_fault(&damaged, &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: the gzip stream is damaged: corrupt gzip stream does not have a matching checksum
        hint: download the part again (the trace's `fetch` in `data-scripts/` does), then run the same command: what is done is kept
        error: 1 of 2 parts could not be ingested; the lake holds the others
    ");
}

#[test]
fn a_gzip_damaged_in_the_middle() {
    let text: String =
        (0..20_000).map(|job| format!("600,,{job},0,u,1,n,l")).collect::<Vec<String>>().join("\n");
    let mut damaged = gzip(text.as_bytes());
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xA5);
    let text = check_fault(&damaged, &[]);
    assert!(text.contains("cause: the gzip stream is damaged: "), "{text}");
}

#[test]
fn a_gzip_with_something_behind_it() {
    let trailing = [gzip(LINE.as_bytes()), b"garbage".to_vec()].concat();
    let text = check_fault(&trailing, &[]);
    assert!(text.contains("gzip stream is"), "{text}");
}

#[test]
fn every_row_has_another_number_of_columns() {
    let other = gzip(b"0,9001,0,PA=,0.5,0.25\n0,9002,0,PA=,1,1\n");
    assert_snapshot!(check_fault(&other, &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: no line has the 8 columns of table `job_events`: this is probably another trace
          line 1: too_few_columns: 0,9001,0,PA=,0.5,0.25
          line 2: too_few_columns: 0,9002,0,PA=,1,1
        hint: check that the folder holds the v2.1 trace of 2011, and the right table if you gave `--table`
        error: 1 of 2 parts could not be ingested; the lake holds the others
    ");
    assert_snapshot!(check_fault(&other, &["--max-rejects", "0"]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: no line has the 8 columns of table `job_events`: this is probably another trace
          line 1: too_few_columns: 0,9001,0,PA=,0.5,0.25
          line 2: too_few_columns: 0,9002,0,PA=,1,1
        hint: check that the folder holds the v2.1 trace of 2011, and the right table if you gave `--table`
        error: 1 of 2 parts could not be ingested; the lake holds the others
    ");
}

#[test]
fn too_many_rejects_by_count() {
    let text = format!("{}600,,7,9,u,1,n,l\nx\n-1,,7,0,u,1,n,l\n", LINE.repeat(4));
    assert_snapshot!(check_fault(&gzip(text.as_bytes()), &["--max-rejects", "2"]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: 3 of 7 lines gave no row, more than the allowed 2
          line 5, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 6: too_few_columns: x
          line 7, column `time_us`: negative_time: -1,,7,0,u,1,n,l
        hint: look at the lines, then allow more with `--max-rejects`
        error: 1 of 2 parts could not be ingested; the lake holds the others
    ");
}

#[test]
fn too_many_rejects_by_share() {
    let text = format!("{}{}", LINE.repeat(900), "600,,7,9,u,1,n,l\n".repeat(12));
    assert_snapshot!(check_fault(&gzip(text.as_bytes()), &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: 12 of 912 lines gave no row, more than the allowed 0.1%
          line 901, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 902, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 903, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 904, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 905, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 906, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 907, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 908, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 909, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 910, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
        hint: look at the lines, then allow more with `--max-rejects`
        error: 1 of 2 parts could not be ingested; the lake holds the others
    ");
}

#[test]
fn as_many_rejects_as_allowed_are_no_error() {
    for (more, is_ok) in [
        (&["--max-rejects", "2"][..], true),
        (&["--max-rejects", "1"], false),
        (&["--max-rejects", "0.2%"], true),
        (&["--max-rejects", "0.19%"], false),
        (&[], false),
    ] {
        let place = Place::new();
        place.part("job_events", 0, format!("{}{}", LINE.repeat(998), "x\n".repeat(2)));
        assert_eq!(place.ingest(more).code, Some(if is_ok { 0 } else { 3 }), "{more:?}");
    }
}

#[test]
fn more_faults_than_are_shown_in_full() {
    let place = Place::new();
    for part in 0..6 {
        place.raw(&format!("job_events/part-{part:05}-of-00006.csv.gz"), "x");
    }
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not use `trace/job_events/part-00000-of-00006.csv.gz`
        cause: the file is not gzip, though its name ends in `.gz`
        hint: a web server's error page, perhaps: look at the file, then download it again
        error: could not use `trace/job_events/part-00001-of-00006.csv.gz`
        cause: the file is not gzip, though its name ends in `.gz`
        hint: a web server's error page, perhaps: look at the file, then download it again
        error: could not use `trace/job_events/part-00002-of-00006.csv.gz`
        cause: the file is not gzip, though its name ends in `.gz`
        hint: a web server's error page, perhaps: look at the file, then download it again
        error: could not use `trace/job_events/part-00003-of-00006.csv.gz`: the file is not gzip, though its name ends in `.gz`
        error: could not use `trace/job_events/part-00004-of-00006.csv.gz`: the file is not gzip, though its name ends in `.gz`
        error: could not use `trace/job_events/part-00005-of-00006.csv.gz`: the file is not gzip, though its name ends in `.gz`
        error: 6 of 6 parts could not be ingested; nothing was stored
    ");
}

// Faults of the lake

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn no_lake() {
    let place = Place::new();
    assert_snapshot!(place.run(&["classify", "--lake", "nowhere"]).text(), @r"
        exit code: 4
        --- stdout
        --- stderr
        error: could not use `nowhere`
        cause: there is no lake (no `manifest.json`)
        hint: make one with `jobfate ingest TRACE_DIR --lake DIR`
    ");
    assert_snapshot!(place.run(&["query", "q01", "--lake", "nowhere"]).text(), @r"
        exit code: 4
        --- stdout
        --- stderr
        error: could not use `nowhere`
        cause: there is no lake (no `manifest.json`)
        hint: make one with `jobfate ingest TRACE_DIR --lake DIR`
    ");
    assert_snapshot!(place.run(&["verify", "--lake", "nowhere"]).text(), @r"
        exit code: 4
        --- stdout
        --- stderr
        error: could not use `nowhere`
        cause: there is no lake (no `manifest.json`)
        hint: make one with `jobfate ingest TRACE_DIR --lake DIR`
    ");
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn a_table_that_is_not_in_the_lake() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    place.ingest(&[]).ok();
    assert_snapshot!(place.run(&["classify", "--by", "task"]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not use `lake`
        cause: table `task_events` is not in the lake
        hint: `jobfate ingest TRACE_DIR --tables task_events --lake lake` adds it, once its files are in TRACE_DIR
    ");
    assert_snapshot!(place.run(&["query", "q11"]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not use `lake`
        cause: table `task_usage` is not in the lake
        hint: `jobfate ingest TRACE_DIR --tables task_usage --lake lake` adds it, once its files are in TRACE_DIR
    ");
}

#[test]
fn a_lake_of_another_version() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    place.ingest(&[]).ok();
    let path = place.path("lake/manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"format_version\": 3", "\"format_version\": 99, \"new\": 1"))
        .unwrap();
    let before = tree(&place.path("lake"));
    for args in [&["ingest", "trace"][..], &["classify"], &["verify"]] {
        assert_eq!(place.run(args).code, Some(3), "{args:?}");
    }
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not use `lake/manifest.json`
        cause: the lake has format version 99, this program reads 3
        hint: run `ingest` into a new folder with this program
    ");
    assert!(tree(&place.path("lake")) == before, "nothing was touched");
    fs::write(&path, text).unwrap();
    assert_repaired(&place, &[]);
}

#[test]
fn a_manifest_that_is_damaged() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    place.ingest(&[]).ok();
    fs::write(place.path("lake/manifest.json"), "{").unwrap();
    let before = tree(&place.path("lake"));
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not use `lake/manifest.json`
        cause: the manifest is damaged
        cause: EOF while parsing an object at line 1 column 1
        hint: remove the lake and run `ingest` again; the raw trace is not touched
    ");
    assert!(tree(&place.path("lake")) == before, "nothing was touched");
}

#[test]
fn a_file_of_the_lake_that_is_gone_or_another() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    place.ingest(&[]).ok();
    let file = place.path("lake/job_events/part-00000-00000.parquet");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[1..]).unwrap();
    assert_snapshot!(place.run(&["classify"]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not use `lake/job_events/part-00000-00000.parquet`
        cause: the file is not the one recorded in the manifest: it has 2434 bytes, not 2435
        hint: remove the lake and run `ingest` again; the raw trace is not touched
    ");
    assert_eq!(place.run(&["verify"]).code, Some(3));
    let mut same_size = bytes.clone();
    same_size[4..40].fill(0);
    fs::write(&file, same_size).unwrap();
    let run = place.run(&["classify"]);
    assert!(run.code != Some(0) && run.code != Some(70), "{:?} {}", run.code, run.stderr);
    fs::remove_file(&file).unwrap();
    assert_snapshot!(place.run(&["classify"]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not use `lake/job_events/part-00000-00000.parquet`
        cause: the file is not the one recorded in the manifest: No such file or directory (os error 2)
        hint: remove the lake and run `ingest` again; the raw trace is not touched
    ");
    fs::write(&file, bytes).unwrap();
    place.run(&["classify"]).ok();
}

#[test]
fn a_lake_of_another_kind_of_trace() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    place.ingest(&[]).ok();
    place.raw("truth.json", "{}");
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not use `lake`
        cause: the lake holds another kind of trace: google-2011 (original), not google-2011 (synthetic)
        hint: give another folder with `--lake`
    ");
}

#[test]
fn a_lake_that_another_process_writes() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    fs::create_dir(place.path("lake")).unwrap();
    let lock = File::create(place.path("lake/.lock")).unwrap();
    lock.lock().unwrap();
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 4
        --- stdout
        --- stderr
        error: could not use `lake`
        cause: another process is writing into the lake
        hint: wait for it, or fill the lake side by side with `--shard I/N`
    ");
    assert_eq!(place.ingest(&["--shard", "1/2"]).code, Some(4));
    // Programs that other tests are just starting may hold the file, too.
    lock.unlock().unwrap();
    assert_repaired(&place, &[]);
}

#[test]
fn shards_exclude_only_their_own_number() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    fs::create_dir(place.path("lake")).unwrap();
    let all = File::create(place.path("lake/.lock")).unwrap();
    all.lock_shared().unwrap();
    let own = File::create(place.path("lake/.lock-1-of-2")).unwrap();
    own.lock().unwrap();
    assert_eq!(place.ingest(&["--shard", "1/2"]).code, Some(4));
    assert_eq!(place.ingest(&["--shard", "2/2"]).code, Some(0));
    assert_eq!(place.ingest(&[]).code, Some(4), "a plain ingest waits for all shards");
    all.unlock().unwrap();
    own.unlock().unwrap();
    assert_repaired(&place, &[]);
}

// Faults of the machine

#[test]
fn a_lake_that_cannot_be_a_folder() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    fs::write(place.path("lake"), "").unwrap();
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: could not use `lake`
        cause: reading or writing failed
        cause: File exists (os error 17)
        hint: there is a file of that name; give a folder with `--lake`
    ");
    fs::remove_file(place.path("lake")).unwrap();
    assert_repaired(&place, &[]);
}

/// A small file system of its own, for as long as the test runs.
struct Mount(std::path::PathBuf);

impl Mount {
    /// Mounts `options` at `path`; `None` (and loud) where that is not allowed.
    fn new(path: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(path).unwrap();
        let is_done = mount(&["-t", "tmpfs", "-o", options, "tmpfs"], path);
        if !is_done {
            skipped("a small file system cannot be mounted here (needs root)");
        }
        is_done.then(|| Self(path.to_owned()))
    }

    fn remount(&self, options: &str) {
        assert!(mount(&["-o", &format!("remount,{options}")], &self.0));
    }
}

fn mount(args: &[&str], path: &Path) -> bool {
    let run = Command::new("mount").args(args).arg(path).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

impl Drop for Mount {
    fn drop(&mut self) {
        // A folder that stays mounted is cleared with the machine.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_lake_that_is_read_only() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    let Some(mount) = Mount::new(&place.path("lake"), "ro,size=1m") else { return };
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 4
        --- stdout
        --- stderr
        error: could not use `lake/.lock`
        cause: reading or writing failed
        cause: Read-only file system (os error 30)
        hint: give a folder that you may write to with `--lake`
    ");
    mount.remount("rw");
    assert_repaired(&place, &[]);
}

#[test]
fn a_disk_that_is_full() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "150", "--days", "0.5", "--parts", "4"]).ok();
    place.run(&["ingest", "trace", "--lake", "undisturbed"]).ok();
    let need: usize = tree(&place.path("undisturbed")).values().map(Vec::len).sum();
    let full = |size: usize| format!("size={size}");
    let Some(mount) = Mount::new(&place.path("lake"), &full(need / 4)) else { return };
    let check = |run: &Run| {
        assert_eq!(run.code, Some(4), "{}", run.stderr);
        assert!(run.stderr.contains("hint: free some space"), "{}", run.stderr);
    };
    // It is told before anything is written; who forces it fills the disk and goes on later.
    let refused = place.ingest(&[]);
    assert_eq!(refused.code, Some(4), "{}", refused.stderr);
    assert!(refused.stderr.contains("of disk, and"), "{}", refused.stderr);
    assert!(refused.stderr.contains("`--force` begins anyway"), "{}", refused.stderr);
    check(&place.ingest(&["--force"]));
    mount.remount(&full(need / 2));
    check(&place.ingest(&["--force"]));
    mount.remount(&full(need * 3));
    place.ingest(&[]).ok();
    assert_same_files(&place.path("undisturbed"), &place.path("lake"));
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    for args in [
        &["query", "q03", "--format", "csv"][..],
        &["classify", "--format", "json"],
        &["query"],
        &["--help"],
    ] {
        let mut child =
            place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        let notes = stderr.lines().filter(|line| !line.contains("begun before the window"));
        assert_eq!(notes.count(), 0, "{args:?}: {stderr}");
    }
}

// Wrong use

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn wrong_use_is_told_from_everything_else() {
    let place = Place::new();
    for args in [
        &[][..],
        &["frobnicate"],
        &["ingest"],
        &["ingest", "trace", "--frob"],
        &["ingest", "trace", "--parts", "3-1"],
        &["ingest", "trace", "--max-rejects", "1.5"],
        &["ingest", "trace", "--max-rejects", "-1"],
        &["ingest", "trace", "--max-rejects", "200%"],
        &["ingest", "trace", "--shard", "0/3"],
        &["ingest", "trace", "--shard", "4/3"],
        &["ingest", "trace", "--tables", "jobs"],
        &["ingest", "trace", "--table", "job_events", "--tables", "job_events"],
        &["ingest", "trace", "--threads", "0"],
        &["ingest", "trace", "--buckets", "0"],
        &["classify", "--classes", "both"],
        &["classify", "--by", "user"],
        &["classify", "--format", "xml"],
        &["classify", "--window-end", "soon"],
        &["query", "--show"],
        &["query", "q01", "--thresholds", "ten"],
        &["query", "q01", "--thresholds", "-5"],
        &["query", "q01", "--thresholds", "0"],
        &["sweep", "--harmed=-1"],
        &["sweep", "--harmed", "0"],
        &["verify", "--table", "job_events"],
        &["synth", "trace", "--scale", "1", "--jobs", "5"],
        &["synth", "trace", "--jobs", "0"],
        &["query", "q99"],
    ] {
        let run = place.run(args);
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.stderr);
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{args:?}");
    }
    assert!(!place.path("trace").exists(), "nothing was written");
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn an_unknown_name_lists_the_known_ones() {
    let place = Place::new();
    assert_snapshot!(place.run(&["query", "q99"]).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: there is no query `q99` (known: q01_job_outcomes, q02_task_outcomes, q03_attempts, q04_job_sizes, q05_cpu_held, q06_windows_in_attempts, q07_cpu_measured, q08_crossings, q09_held_after_crossings, q10_machine_periods, q11_cpu_published, q12_measured_after_crossings, q13_usage_by_user_hour, q14_job_requests, q15_memory_held, q16_memory_measured)
    ");
    assert_snapshot!(place.run(&["ingest", "trace", "--tables", "jobs"]).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: invalid value 'jobs' for '--tables <TABLE,...>': `jobs` is not a table (known: job_events, task_events, task_usage, machine_events, machine_attributes, task_constraints)

        For more information, try '--help'.
    ");
    assert_snapshot!(place.run(&["ingest", "trace", "--max-rejects", "1.5"]).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: invalid value '1.5' for '--max-rejects <COUNT|PERCENT>': `1.5` is neither a count (`100`) nor a share of the lines (`0.1%`)

        For more information, try '--help'.
    ");
    assert_snapshot!(place.run(&["classify", "--classes", "both"]).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: invalid value 'both' for '--classes <CLASSES>': `both` is neither `sequence` nor `terminal`

        For more information, try '--help'.
    ");
}

#[test]
fn the_version_is_an_answer() {
    let place = Place::new();
    let long = place.run(&["--version"]).ok();
    let lines: Vec<&str> = long.stdout_text().lines().collect();
    assert_eq!(lines[0], concat!("jobfate ", env!("CARGO_PKG_VERSION")));
    let is_commit = |text: &str| {
        let digits = text.strip_suffix("-modified").unwrap_or(text);
        digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let commit = lines[1].strip_prefix("commit: ").unwrap();
    assert!(commit == "unknown" || is_commit(commit), "{commit}");
    assert!(lines[2].contains("google-2011") && lines[3].contains("spark"), "{lines:?}");
    let short = place.run(&["-V"]).ok();
    assert!(commit == "unknown" || short.stdout_text().contains(commit));
}
