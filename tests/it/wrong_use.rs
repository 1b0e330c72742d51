//! Wrong use exits with 2, reports what was wrong and what is allowed, and writes no file.

use insta::assert_snapshot;

use super::support::{Place, tree};

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
        error: there is no query `q99` (known: q01_job_outcomes, q02_task_outcomes, q03_attempts, q04_job_sizes, q05_cpu_held, q06_windows_in_attempts, q07_cpu_measured, q08_crossings, q09_held_after_crossings, q10_machine_periods, q11_cpu_published, q12_measured_after_crossings, q13_usage_by_user_hour, q14_job_requests, q15_memory_held, q16_memory_measured, q17_attempt_facts, q18_cluster_by_hour, q19_machines, q20_previous_jobs, q21_evictions, q22_event_types, q23_course_machines, q24_course_capacity, q25_course_classes, q26_course_evictions, q27_course_locality, q28_course_requests, q29_course_peaks, q30_course_priorities, q31_course_failures, q32_course_waits)
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
