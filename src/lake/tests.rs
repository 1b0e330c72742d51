//! A lake holds the rows of the raw parts, however it is divided: by `row_id`, bucket by bucket,
//! and for programs that do not know the buckets. The expected rows come from the text alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::{self, File};
use std::path::Path;

use arrow::array::AsArray;
use arrow::datatypes::{Float32Type, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

use super::ingest::ingest;
use super::plan::{Cut, IngestPlan, MaxRejects, Shard, choose_parts};
use super::{Lake, Origin};
use crate::schema::{ROW_ID, Source, Table, bucket_of};
use crate::sources::open_trace;
use crate::sources::part::Progress;

/// Time, job, index, event, user, CPU request.
type Line = (i64, i64, i32, i32, Option<String>, Option<f32>);

const COLUMNS: [&str; 7] =
    [ROW_ID, "time_us", "job_id", "task_index", "event_type", "user", "cpu_request"];

fn line() -> impl Strategy<Value = Line> {
    let user = prop::option::of("[a-c]{1,3}");
    (0..50_i64, 1..40_i64, 0..3, 0..9, user, prop::option::of((0..4_u8).prop_map(f32::from)))
}

/// Lines of a part, most often ordered by time.
fn part() -> impl Strategy<Value = Vec<Line>> {
    (prop::collection::vec(line(), 0..60), prop::bool::weighted(0.7)).prop_map(
        |(mut lines, is_sorted)| {
            if is_sorted {
                lines.sort_by_key(|line| line.0);
            }
            lines
        },
    )
}

/// How a lake is made: buckets, division, threads, shards.
type Way = (u32, u64, usize, usize, u32);

fn way() -> impl Strategy<Value = Way> {
    (1..6_u32, prop_oneof![Just(1), Just(900), Just(1 << 20)], 1..80_usize, 1..4_usize, 1..4_u32)
}

fn write_trace(folder: &Path, parts: &[Vec<Line>]) {
    let folder = folder.join("task_events");
    fs::create_dir_all(&folder).unwrap();
    for (number, lines) in parts.iter().enumerate() {
        let mut text = String::new();
        for (time, job, index, event, user, cpu) in lines {
            let user = user.as_deref().unwrap_or_default();
            let cpu = cpu.map(|cpu| cpu.to_string()).unwrap_or_default();
            writeln!(text, "{time},,{job},{index},7,{event},{user},1,2,{cpu},0.5,0.25,0").unwrap();
        }
        fs::write(folder.join(format!("part-{number:05}-of-{:05}.csv", parts.len())), text)
            .unwrap();
    }
}

fn build(trace: &Path, lake: &Path, (buckets, segment_bytes, run_rows, threads, shards): Way) {
    let found = open_trace(trace, Some(Source::Google2011), None).unwrap();
    let plan = |shard| IngestPlan {
        lake: lake.to_owned(),
        source: Source::Google2011,
        origin: Origin::Original,
        parts: choose_parts(&found, None, None),
        max_rejects: MaxRejects::Count(0),
        bucket_count: Some(buckets),
        shard,
        threads,
        cut: Cut { segment_bytes, run_rows_max: Some(run_rows) },
    };
    if 1 < shards {
        for index in 1..=shards {
            let outcome =
                ingest(&plan(Some(Shard::new(index, shards).unwrap())), &Progress::default());
            assert!(outcome.unwrap().failed.is_empty());
        }
    }
    assert!(ingest(&plan(None), &Progress::default()).unwrap().failed.is_empty());
}

fn add(batch: &RecordBatch, rows: &mut Vec<(i64, Line)>) {
    let i64s = |name| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>();
    let i32s = |name| batch.column_by_name(name).unwrap().as_primitive::<Int32Type>();
    let users = batch.column_by_name("user").unwrap().as_string::<i32>();
    let cpus = batch.column_by_name("cpu_request").unwrap().as_primitive::<Float32Type>();
    for (row, (user, cpu)) in users.iter().zip(cpus).enumerate() {
        rows.push((
            i64s(ROW_ID).value(row),
            (
                i64s("time_us").value(row),
                i64s("job_id").value(row),
                i32s("task_index").value(row),
                i32s("event_type").value(row),
                user.map(str::to_owned),
                cpu,
            ),
        ));
    }
}

/// The rows of a file as any Parquet reader finds them, with the bucket from its footer.
fn rows_of_file(path: &Path) -> Vec<(u32, Vec<(i64, Line)>)> {
    let open = || ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let about = open();
    let keys = about.metadata().file_metadata().key_value_metadata().unwrap();
    let buckets = keys.iter().find(|key| key.key == "jobfate.bucket_of_row_group").unwrap();
    let buckets =
        buckets.value.as_deref().unwrap().split(' ').map(|bucket| bucket.parse().unwrap());
    let read = |(group, bucket)| {
        let mut rows = Vec::new();
        for batch in open().with_row_groups(vec![group]).build().unwrap() {
            let batch = batch.unwrap();
            let cells = batch.column_by_name("bucket").unwrap().as_primitive::<Int32Type>();
            assert!(cells.values().iter().all(|&cell| i64::from(cell) == i64::from(bucket)));
            add(&batch, &mut rows);
        }
        (bucket, rows)
    };
    let all: Vec<(u32, Vec<(i64, Line)>)> = buckets.enumerate().map(read).collect();
    assert_eq!(all.len(), about.metadata().num_row_groups());
    all
}

fn check(parts: &[Vec<Line>], way: Way) {
    let place = tempfile::tempdir().unwrap();
    let (trace, path) = (place.path().join("trace"), place.path().join("lake"));
    write_trace(&trace, parts);
    build(&trace, &path, way);
    let mut expected: BTreeMap<i64, Line> = BTreeMap::new();
    for (number, lines) in (0_i64..).zip(parts) {
        for (place, line) in (1_i64..).zip(lines) {
            expected.insert((number << 40) | place, line.clone());
        }
    }
    let lake = Lake::open(&path).unwrap();
    lake.check_sums().unwrap();
    lake.compared().check_rows().unwrap();
    lake.check_footers().unwrap();
    // Bucket by bucket.
    let mut found = Vec::new();
    for bucket in 0..way.0 {
        let before = found.len();
        lake.scan(Table::TaskEvents, Some(bucket), &COLUMNS, |batch| add(&batch, &mut found))
            .unwrap();
        assert!(found[before..].iter().all(|(_, line)| bucket_of(line.1, way.0) == bucket));
    }
    assert_eq!(found.len(), expected.len());
    assert_eq!(found.into_iter().collect::<BTreeMap<i64, Line>>(), expected);
    // File by file, with each of its buckets ordered by time.
    let mut found = Vec::new();
    for file in lake.files(Table::TaskEvents) {
        let mut last: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
        for (bucket, rows) in rows_of_file(&path.join(&file.path)) {
            for (row_id, line) in &rows {
                assert_eq!(bucket_of(line.1, way.0), bucket);
                let place = (line.0, *row_id);
                assert!(last.insert(bucket, place).is_none_or(|last| last < place));
            }
            found.extend(rows);
        }
    }
    assert_eq!(found.len(), expected.len());
    assert_eq!(found.into_iter().collect::<BTreeMap<i64, Line>>(), expected);
    // There are no other files.
    let recorded: BTreeSet<String> =
        lake.files(Table::TaskEvents).iter().map(|file| file.path.clone()).collect();
    let names = fs::read_dir(path.join("task_events")).into_iter().flatten();
    let lying: BTreeSet<String> = names
        .map(|name| format!("task_events/{}", name.unwrap().file_name().to_string_lossy()))
        .collect();
    assert_eq!(lying, recorded);
    assert!(!path.join("manifest.journal").exists());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_lake_holds_the_rows_of_the_parts_wherever_it_is_cut(
        parts in prop::collection::vec(part(), 1..5),
        way in way(),
    ) {
        check(&parts, way);
    }
}

#[test]
fn the_rows_of_one_part_may_take_several_runs_and_files() {
    let line = |time| (time, 1 + time % 7, 0, 0, None, Some(1.0));
    let ordered: Vec<Line> = (0..100).map(line).collect();
    let files = |parts: &[Vec<Line>], run_rows| {
        let place = tempfile::tempdir().unwrap();
        let (trace, path) = (place.path().join("trace"), place.path().join("lake"));
        write_trace(&trace, parts);
        build(&trace, &path, (3, 1 << 20, run_rows, 1, 1));
        let lake = Lake::open(&path).unwrap();
        lake.files(Table::TaskEvents).iter().map(|file| file.stretches.0.len()).collect::<Vec<_>>()
    };
    assert_eq!(files(std::slice::from_ref(&ordered), 1000), [3]);
    // A block of text is one push, so runs are as long as parts here.
    assert_eq!(files(&[ordered.clone(), (100..200).map(line).collect()], 1), [6]);
    assert_eq!(files(&[ordered.clone(), ordered.clone()], 1), [3, 3], "not ordered by time");
    assert_eq!(files(&[ordered.clone(), ordered], 1000), [3], "sorted by time");
}
