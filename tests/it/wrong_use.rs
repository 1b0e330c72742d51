//! Wrong use exits with 2, reports the mistake and the allowed values, and writes no file.

use std::fs;

use insta::assert_snapshot;

use super::support::{Place, golden, tree};

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
fn wrong_use_exits_with_2() {
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
        &["verify", "trace", "--lake", "lake"],
        &["map", "helios", "--map", "philly"],
        &["query", "q01", "--thresholds", "-5"],
        &["query", "q01", "--thresholds", "0"],
        &["query", "all", "--show"],
        &["query", "--list", "--format", "json"],
        &["report", "results", "--format", "csv"],
        &["sweep", "--bootstrap", "1"],
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

/// A lake of a synthetic trace, with the trace, a log and its lake, and wrong files.
fn place() -> Place {
    let place = Place::new();
    let args = ["synth", "trace", "--jobs", "60", "--days", "0.5", "--parts", "2", "--seed", "4"];
    place.run(&args).ok();
    place.ingest(&[]).ok();
    fs::copy(golden("logs/small.swf"), place.path("log.swf")).unwrap();
    place.run(&["ingest", "log.swf", "--lake", "swf", "--max-rejects", "100%"]).ok();
    let replay = ["replay", "--lake", "swf", "--policies", "fifo", "--journal", "--out", "runs"];
    place.run(&replay).ok();
    for out in ["two/a", "two/b"] {
        place.run(&["classify", "--out", out]).ok();
    }
    fs::create_dir(place.path("empty")).unwrap();
    fs::write(place.path("junk"), "junk\n").unwrap();
    place
}

/// Wrong use that is found only with the trace or the lake: arguments, exit code, and words of the
/// error.
const WITH_LAKE: &[(&str, i32, &str)] = &[
    ("analyze --lake nothere --out found", 4, "there is no lake `nothere`: give TRACE_DIR, or"),
    ("analyze --lake empty --out found", 4, "there is no lake `empty`"),
    ("analyze --lake trace --out found", 4, "there is no lake `trace`"),
    ("analyze --lake lake --shard 1/2 --out found", 2, "--shard sets how a trace is read"),
    ("analyze --lake lake --force --out found", 2, "--force sets how a trace is read"),
    ("analyze trace --lake trace --out found", 2, "`trace` is a folder of the raw trace"),
    ("ingest trace --lake ./trace", 2, "`./trace` is a folder of the raw trace"),
    ("ingest trace --lake trace/job_events", 2, "is a folder of the raw trace"),
    ("ingest trace --lake new --table job_events", 3, "hint: leave `--table` out, or give that"),
    ("classify --columns nope --out found", 2, "--columns: there is no column `nope`"),
    ("classify --sort nope --out found", 2, "--sort: there is no column `nope`"),
    ("classify --sort count:up --out found", 2, "--sort: `up` is not a direction"),
    ("replay --policies fifo --columns nope --out found", 2, "--columns: there is no column"),
    ("account --group-by user,class,user", 2, "--group-by gives two columns `user`"),
    ("report two --out pages", 2, "`two/a/result.json` and `two/b/result.json` both have a result"),
    ("report two/a two/a --out pages", 2, "hint: give one of them, or compare"),
    ("report junk --out pages", 4, "hint: it is a file: give the folder of the results"),
    ("reproduce all --stored nothere", 4, "could not read `nothere`"),
    ("reproduce all --stored empty", 2, "--stored: `empty` has none of the studies"),
    ("reproduce all --stored empty --runs 2", 2, "--runs do not apply to --stored"),
    (
        "export --as swf --journal runs/journal-1.parquet --out found",
        2,
        "`runs/journal-1.parquet` is not the journal of a replay of this lake",
    ),
    ("fairness --slurm-conf junk", 2, "line 1: `junk` is not a setting KEY=VALUE of Slurm"),
    ("fairness --days 1e9", 2, "--days must be a number of days from 0 to 36500"),
    ("replay --policies fifo+kill:events=1+kill:events=2", 2, "`kill` is given twice"),
    ("replay --policies fifo --arrivals open,open", 2, "--arrivals names `open` twice"),
    ("replay --cluster cluster:nodes=1 --machines 0.5", 2, "--machines"),
    ("detect --work measured --progress linear", 2, "--work is for --progress siblings"),
    ("describe --waits started", 2, "--waits is for --what waiting"),
    ("describe --what job-survival --censored exclude", 2, "leave --censored out"),
    ("describe --what finish-given-events --censored exclude", 2, "leave --censored out"),
    ("load --groups 3", 2, "--groups is for --by user, account and qos"),
    ("load --groups 3 --by class", 2, "--groups is for --by user, account and qos"),
    ("load --resource cpu --memory assigned", 2, "--memory is for --resource memory"),
    ("load --by account", 2, "the source `google-2011` records no accounts"),
    ("sweep --seed 3", 2, "--seed is for --bootstrap"),
    ("sweep --rules failures --thresholds 5", 2, "--thresholds is for the rule `events`"),
    ("account --resource gpu", 2, "records no GPUs"),
    ("account --lake swf --cpu published", 2, "has no table `task_usage`"),
];

#[test]
fn wrong_use_of_a_lake_is_refused_and_writes_nothing() {
    let place = place();
    let before = tree(&place.path(""));
    for (words, code, said) in WITH_LAKE {
        let args: Vec<&str> = words.split(' ').collect();
        let run = place.run(&args);
        assert_eq!(run.code, Some(*code), "{words}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{words}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "{words}");
        assert!(tree(&place.path("")) == before, "{words}");
    }
}

/// A question that is asked twice is answered once, and unknown values are reported as unknown.
#[test]
fn what_is_not_wrong_use_is_answered() {
    let place = place();
    let rows = |args: &[&str]| place.run(args).ok().stdout_text().lines().count();
    let replay = ["replay", "--lake", "swf", "--format", "csv", "--policies", "fifo"];
    assert_eq!(rows(&[&replay[..], &["fifo"]].concat()), rows(&replay));
    let grouped = ["account", "--lake", "lake", "--by-reason", "--group-by", "user"];
    assert_eq!(place.run(&grouped).code, Some(2), "Google records no reasons");
    let run = place.run(&["predict", "--age", "99999d"]).ok();
    assert!(run.stdout_text().contains("reached the age of"), "{}", run.stdout_text());
    let run = place.run(&["detect", "--detectors", "late"]).ok();
    assert!(run.stderr.contains("1 detector, "), "{}", run.stderr);
}

#[test]
#[cfg(not(feature = "serve"))]
fn a_build_without_the_portal_says_so() {
    let run = Place::new().run(&["serve", "--lake", "lake"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert_eq!(
        run.stderr.trim(),
        "error: this build has no portal: build it with `--features serve`"
    );
}
