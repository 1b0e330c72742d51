//! Whole successful runs: exit code, stdout and stderr together, and the files that they write.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use insta::assert_snapshot;

use super::support::{LINE, Place, copy_folder, golden, tree};

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
        1 job that began before the window (time 0) is included, 4 are open at its end (2,990 s)
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
        2 tasks that began before the window (time 0) are included, 6 without an end in the loaded parts are open at its end (2,990 s)
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
        1 job that began before the window (time 0) is included, 4 are open at its end (2,990 s)
    ");
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 0
        --- stdout
        --- stderr
        already in the lake: 10 parts
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
        1 job that began before the window (time 0) is included, 4 are open at its end (2,990 s)
        wrote results/result.json
    ");
    let files = tree(&place.path("results"));
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        [
            "classify-jobs-flow.png",
            "classify-jobs-flow.svg",
            "classify-jobs.csv",
            "classify-jobs.parquet",
            "classify-jobs.png",
            "classify-jobs.svg",
            "result.json"
        ]
    );
    assert!(files["classify-jobs.png"].starts_with(b"\x89PNG"));
    let svg = String::from_utf8(files["classify-jobs.svg"].clone()).unwrap();
    assert!(svg.contains(", 1 before the start") && !svg.contains("014"), "{svg}");
    assert!(svg.contains("What became of 15 jobs"), "{svg}");
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
        missing: the whole table task_events
        missing: the whole table task_usage
        missing: the whole table machine_events
        missing: the whole table machine_attributes
    ");
    // A table with a single part is complete, but nothing shows that it is from the trace of 2011.
    place.ingest(&["--tables", "machine_events"]).ok();
    let run = place.run(&["verify", "--format", "csv"]).ok();
    assert!(run.stdout_text().contains("machine_events,rows,7,\n"), "{}", run.stdout_text());
    // A part of 500 shows it, but these are not the machines of that trace.
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
        warning: job_events/part-00001-of-00002.csv: 1 line would be rejected (first: line 1, too_few_columns)
        missing: the whole table task_events
        missing: the whole table task_usage
        missing: the whole table machine_events
        missing: the whole table machine_attributes
        missing: the whole table task_constraints
        error: 1 of 2 parts are damaged or differ from their checksum
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
        missing: job_events parts 1
        missing: the whole table task_events
        missing: the whole table task_usage
        missing: the whole table machine_events
        missing: the whole table machine_attributes
        missing: the whole table task_constraints
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
fn queries_are_listed() {
    let place = Place::new().with_golden_trace();
    assert_snapshot!(place.run(&["query"]).text(), @r"
        exit code: 0
        --- stdout
        q01_job_outcomes             what became of each job? (job_events)
        q02_task_outcomes            what became of each task? (task_events)
        q03_attempts                 when and where did each attempt of each task run, and how did it end? (task_events)
        q04_job_sizes                how many tasks does each job have? (task_events)
        q05_cpu_held                 how much CPU did each task hold while it ran: slots, and the CPU that it requested? (task_events)
        q06_windows_in_attempts      which part of each usage window lies inside an attempt of its task? (task_events, task_usage)
        q07_cpu_measured             how much CPU was measured of each task, inside its attempts and outside them? (task_events, task_usage)
        q08_crossings                when does each task exceed each threshold of events? (task_events)
        q09_held_after_crossings     how much CPU did each condemned task hold after each crossing? (task_events)
        q10_machine_periods          what capacity did each machine have, and when? (machine_events)
        q11_cpu_published            how much CPU did each job use by the definition of the paper of 2017? (job_events, task_usage, machine_events)
        q12_measured_after_crossings how much CPU was measured of each condemned task after each crossing? (task_events, task_usage)
        q13_usage_by_user_hour       how much CPU was charged to each user in each hour, when the attempts ended? (job_events, task_events)
        q14_job_requests             what does the log record of each job in addition to its events? (job_events; swf, gwf, slurm, mapped only)
        q15_memory_held              how much memory had each task requested while it ran? (task_events)
        q16_memory_measured          how much memory was measured of each task, inside its attempts and outside them? (task_events, task_usage)
        q17_attempt_facts            which task and job does each attempt belong to, how long did it wait, how did it end, and what did it cost? (job_events, task_events)
        q18_cluster_by_hour          how much ran and waited in each hour, on what, and what happened? (task_events)
        q19_machines                 what did each machine do: how long was it up, what ran on it, and how did that end? (task_events, machine_events)
        q20_previous_jobs            which job did the same user submit before each job, and what became of that job? (job_events)
        q21_evictions                which task was evicted where, what had it requested and held, and when did it run again? (job_events, task_events)
        q22_event_types              what is each type of event called, and how many events of it do jobs and tasks have? (task_events)
        q23_course_machines          how are the machines distributed by their CPU capacity? (machine_events)
        q24_course_capacity          how much CPU capacity is lost while machines are away? (machine_events)
        q25_course_classes           how many jobs and tasks does each scheduling class have? (job_events, task_events)
        q26_course_evictions         do tasks of a low scheduling class have a higher chance of being evicted? (task_events)
        q27_course_locality          do tasks of one job run on the same machine? (task_events)
        q28_course_requests          do tasks that request more resources use more? (task_events, task_usage)
        q29_course_peaks             are peaks of use and evictions correlated? (task_events)
        q30_course_priorities        which priorities are evicted how often? (task_events)
        q31_course_failures          how often do jobs and tasks fail, by scheduling class? (job_events, task_events)
        q32_course_waits             how long do jobs and tasks wait, by scheduling class? (job_events, task_events)
        --- stderr
    ");
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn queries_are_shown_and_kept() {
    let place = Place::new().with_golden_trace();
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
#[expect(clippy::too_many_lines, reason = "all that a run says is one snapshot")]
fn analyze_does_everything_in_one_go() {
    let place = Place::new();
    // The trace is not a complete table of 2011, so no published number applies.
    let jobs = golden("trace/job_events");
    copy_folder(&jobs, &place.path("trace/job_events"));
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

        what the past of users predicts
        rule                jobs  accuracy  precision    recall  false_positive_rate       auc  brier_score  true_positives  false_positives  true_negatives  false_negatives
        last                  10  0.500000          1  0.166667                    0  0.583333     0.500000               1                0               4                5
        last-or-rate          10  0.400000   0.500000  0.333333             0.500000  0.416667     0.600000               2                2               2                4
        last-of-user          10  0.500000          1  0.166667                    0  0.583333     0.500000               1                0               4                5
        rate:half_life=5      10  0.500000   0.600000  0.500000             0.500000  0.416667     0.514121               3                2               2                3
        class                 10  0.700000          1  0.500000                    0  0.750000     0.300000               3                0               4                3
        overall               10  0.500000   0.600000  0.500000             0.500000  0.416667     0.512500               3                2               2                3
        logistic:step=0.05    10  0.500000   0.600000  0.500000             0.500000  0.458333     0.506805               3                2               2                3

        Of 15 jobs, 26.7 % finished, 26.7 % killed (6.7 % before the start), 20.0 % still running at the end, 13.3 % failed, 6.7 % evicted and not started again under the same id, 6.7 % lost (job_events: all, 0.8 hours; 1 job from before the window; 4 jobs open at the end of job_events (49.8 min)).
        Half of 14 jobs that started took at most 820 s, the longest 2,990 s; the mean is at least 1,084.21 s; 4 had not ended and count with the time seen so far (job_events: all, 0.8 hours; 1 job from before the window; 4 jobs open at the end of job_events (49.8 min)).
        Where did the CPU time go? Did something unusual happen? Which kill rule to take, and what does it cost? Which straggler detector is worth having? Would another policy do better? How full was the cluster? Who got how much? The table `task_events` is not loaded.
        --- stderr
        ingest trace into all/lake
        job_events: 49 rows of 2 parts (0-1)
        for google-2011 (--config FILE with other values changes them):
          --cpu        requested (account, monthly, sweep, fairness)
          --classes    sequence (classify, describe, account, load, sweep)
          --overcommit recorded (replay)
          --killed     age (replay)
          --policies   fifo:depth=100 fair:depth=100 fifo:depth=100+late:heartbeat_s=60 (replay)
          --sample     1 (replay)
          --machines   1 (replay)
          --accrual    running (fairness)
        [1/13] verify
        missing: the whole table task_events
        missing: the whole table task_usage
        missing: the whole table machine_events
        missing: the whole table machine_attributes
        missing: the whole table task_constraints
        [2/13] classify
        skipped: classify-tasks: the table `task_events` is not loaded
        [3/13] describe
        skipped: tasks-per-job: the table `task_events` is not loaded
        skipped: events-per-task: the table `task_events` is not loaded
        skipped: waiting: the table `task_events` is not loaded
        skipped: attempts: the table `task_events` is not loaded
        skipped: finish-given-events: the table `task_events` is not loaded
        [4/13] account
        skipped: account: the table `task_events` is not loaded
        [5/13] monthly
        skipped: monthly: the table `task_events` is not loaded
        [6/13] load
        skipped: load: the table `task_events` is not loaded
        [7/13] episodes
        skipped: episodes: the table `task_events` is not loaded
        [8/13] machines
        skipped: machines: the table `machine_events` is not loaded
        [9/13] sweep
        skipped: sweep: the table `task_events` is not loaded
        [10/13] predict
        of 15 jobs, 0 that ended but were submitted before the window (or have no recorded SUBMIT) and 5 without FINISH, FAIL or KILL as the last event are not counted
        [11/13] detect
        skipped: detect: the table `task_events` is not loaded
        [12/13] replay
        skipped: replay: the table `task_events` is not loaded
        [13/13] fairness
        skipped: fairness: the table `task_events` is not loaded
        results and charts: all
        report: all/report/index.html
    ");
    let files = tree(&place.path("all"));
    for name in ["verify.json", "classify-jobs.json", "classify-jobs.svg", "lake/manifest.json"] {
        assert!(files.contains_key(name), "{name}");
    }
    let again = place.run(&["analyze", "trace", "--out", "all"]).ok();
    assert!(again.stderr.contains("already in the lake: 2 parts"), "{}", again.stderr);
    assert!(again.stderr.contains("[2/13] classify: done before"), "{}", again.stderr);
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
        let notes = stderr.lines().filter(|line| !line.contains("began before the window"));
        assert_eq!(notes.count(), 0, "{args:?}: {stderr}");
    }
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
