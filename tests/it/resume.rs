//! A lake holds the same rows if it is made in steps, by shards, or on any number of threads. It
//! holds the same bytes if the files are cut in the same places.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use super::support::{Place, assert_same_files, contents, tree};

const PARTS: u32 = 5;

/// A trace whose `task_events` fill several segments (32 MiB of raw files each). In the real trace
/// only parts of usage are as large; here long names replace many rows.
///
/// ```text
///  task_events   part 0 | part 1 | part 2 | part 3 | part 4      17 MB each, one segment each
///  job_events    part 0 - part 4                                 one segment
///  task_usage    part 0 - part 4                                 one segment
///  machine_events                                                one segment
/// ```
///
/// An undisturbed run has left the lake `whole`.
pub(crate) static WIDE: LazyLock<Place> = LazyLock::new(|| {
    let place = Place::new();
    let name = |table: &str, part| format!("{table}/part-{part:05}-of-{PARTS:05}.csv");
    for part in 0..PARTS {
        let (mut tasks, mut jobs, mut usage) = (String::new(), String::new(), String::new());
        for row in 0..17_000_u64 {
            let time = (u64::from(part) * 17_000 + row) * 1_000;
            let job = 6_000_000 + row * 7919 % 997;
            let user = format!("{:04}", row % 13).repeat(250);
            writeln!(tasks, "{time},,{job},{},9,{},{user},1,4,0.5,0.25,0.01,0", row % 5, row % 9)
                .unwrap();
            if row % 4 == 0 {
                writeln!(jobs, "{time},,{job},{},user{},1,n,l", row % 9, row % 11).unwrap();
                writeln!(
                    usage,
                    "{time},{},{job},{},9,0.5,0.1,0.1,0,0,0.1,0,0,1,0,1.5,0.01,1,0,0.5",
                    time + 300,
                    row % 5
                )
                .unwrap();
            }
        }
        // A bad line, so that the lake also has rejects.
        usage.push_str("bad\n");
        place.raw(&name("task_events", part), tasks);
        place.raw(&name("job_events", part), jobs);
        place.raw(&name("task_usage", part), usage);
    }
    place.raw("machine_events/part-00000-of-00001.csv", "0,9,0,x,0.5,0.5\n");
    run(&place, "whole", &[]);
    place
});

fn run(place: &Place, lake: &str, more: &[&str]) {
    let all = [&["ingest", "trace", "--lake", lake, "--buckets", "3"], more].concat();
    place.run(&all).ok();
}

/// Compares a new lake of the wide trace, made by `make`, with the undisturbed lake.
fn compare(lake: &str, make: impl FnOnce(&Place, &Path)) {
    let path = WIDE.path(lake);
    make(&WIDE, &path);
    assert_same_files(&WIDE.path("whole"), &path);
}

#[test]
fn the_wide_trace_has_several_segments() {
    let files = tree(&WIDE.path("whole"));
    let of_tasks = |name: &&String| name.starts_with("task_events/") && name.ends_with(".parquet");
    assert_eq!(files.keys().filter(of_tasks).count(), 5, "a file per segment");
    assert!(files.contains_key("rejects/task_usage/part-00004.csv"));
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn the_number_of_threads_does_not_show() {
    for threads in ["1", "2", "8"] {
        let lake = format!("threads-{threads}");
        compare(&lake, |place, _| run(place, &lake, &["--threads", threads]));
    }
}

#[test]
fn a_second_run_has_nothing_to_do() {
    compare("twice", |place, path| {
        run(place, "twice", &[]);
        let manifest = fs::metadata(path.join("task_events")).unwrap().modified().unwrap();
        let again = place.run(&["ingest", "trace", "--lake", "twice"]).ok();
        assert!(again.stderr.contains("already in the lake: 16 parts"), "{}", again.stderr);
        let after = fs::metadata(path.join("task_events")).unwrap().modified().unwrap();
        assert_eq!(manifest, after, "no file was written");
    });
}

#[test]
fn tables_one_after_the_other_give_the_same_bytes() {
    compare("by-table", |place, _| {
        for table in ["task_usage", "machine_events", "job_events", "task_events"] {
            run(place, "by-table", &["--tables", table]);
        }
    });
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn parts_in_two_steps_give_the_same_rows() {
    let place = &*WIDE;
    for (lake, first) in [("early", "0-1"), ("late", "3-4"), ("odd", "1,3")] {
        run(place, lake, &["--parts", first]);
        run(place, lake, &[]);
        let path = place.path(lake);
        assert_eq!(
            contents(&jobfate::lake::Lake::open(&path).unwrap()),
            contents(&jobfate::lake::Lake::open(place.path("whole")).unwrap()),
            "{first} first"
        );
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn steps_along_the_segments_give_the_same_bytes() {
    // Each part of task_events is a separate segment.
    let place = &*WIDE;
    run(place, "in-order", &["--tables", "task_events"]);
    for part in ["3", "0", "4", "1-2"] {
        run(place, "out-of-order", &["--tables", "task_events", "--parts", part]);
    }
    assert_same_files(&place.path("in-order"), &place.path("out-of-order"));
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn shards_side_by_side_give_the_same_rows_and_are_folded() {
    let place = &*WIDE;
    let whole = contents(&jobfate::lake::Lake::open(place.path("whole")).unwrap());
    for count in [2, 3] {
        let lake = format!("shards-{count}");
        let path = place.path(&lake);
        let children: Vec<_> = (1..=count)
            .map(|index| {
                let shard = format!("{index}/{count}");
                let args =
                    ["ingest", "trace", "--lake", &lake, "--buckets", "3", "--shard", &shard];
                place.command(&args).stderr(std::process::Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert!(!path.join("manifest.json").exists());
        let lake_of_shards = jobfate::lake::Lake::open(&path).unwrap();
        assert_eq!(contents(&lake_of_shards), whole);
        let list = place.run(&["query", "q01", "--lake", &lake, "--format", "csv"]).ok();
        let expected = place.run(&["query", "q01", "--lake", "whole", "--format", "csv"]).ok();
        assert!(list.stdout == expected.stdout, "a lake of shards is read as one");
        run(place, &lake, &[]);
        assert_same_files(&place.path("whole"), &path);
    }
}

#[test]
fn what_a_kill_left_is_removed() {
    compare("leftovers", |place, path| {
        fs::create_dir_all(path.join(".work/0")).unwrap();
        fs::write(path.join(".work/0/segment-0.parquet"), "half").unwrap();
        for orphan in ["task_events", "machine_events"] {
            fs::create_dir_all(path.join(orphan)).unwrap();
            fs::write(path.join(orphan).join("part-00007-00009.parquet"), "orphan").unwrap();
        }
        fs::write(path.join("manifest.new"), "{ half").unwrap();
        run(place, "leftovers", &[]);
    });
}

#[test]
fn a_part_that_was_recorded_and_changed_is_refused() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let before = tree(&place.path("lake"));
    place.part("job_events", 1, "600,,7,0,u,1,n,l\n");
    let run = place.ingest(&[]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("part 1 of `job_events` is in the lake"), "{}", run.stderr);
    assert!(tree(&place.path("lake")) == before, "the lake is as it was");
}

#[test]
fn a_bad_part_does_not_keep_the_others_out() {
    let place = Place::new();
    let line = |part: u32| format!("{},,7,{part},u,1,n,l\n", 600 + part);
    for part in 0..5 {
        place.raw(&format!("job_events/part-{part:05}-of-00005.csv"), line(part));
    }
    let bad = "job_events/part-00002-of-00005.csv";
    place.raw(bad, "x\n");
    let run = place.ingest(&[]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert_eq!(place.lake().manifest.tables["job_events"].part_ranges(), "0-1,3-4");
    place.raw(bad, line(2));
    place.ingest(&[]).ok();
    let repaired = contents(&place.lake());
    place.run(&["ingest", "trace", "--lake", "other"]).ok();
    assert_eq!(repaired, contents(&jobfate::lake::Lake::open(place.path("other")).unwrap()));
}
