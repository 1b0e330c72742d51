//! The trace of 2019: both formats of its export, its alloc sets, and every study compared with the
//! same history in the format of 2011.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, AsArray, Float32Array, Int32Array};
use arrow::datatypes::Float32Type;
use arrow::json::ReaderBuilder;
use arrow::json::reader::infer_json_schema;
use flate2::read::GzDecoder;
use jobfate::schema::{Source, Table};
use jobfate::synth::{Form, SynthConfig, Truth, write_trace};
use parquet::arrow::ArrowWriter;

use super::support::{Place, contents, repository, skipped};

fn config(form: Form) -> SynthConfig {
    let small = SynthConfig { job_count: 150, days: 0.4, part_count: 2, ..SynthConfig::default() };
    SynthConfig { seed: 9, form, ..small }
}

fn traced(form: Form) -> (Place, Truth) {
    let place = Place::new();
    let truth = write_trace(&config(form), &place.path("trace"), &|_| ()).unwrap();
    (place, truth)
}

/// Writes every table of an export as Parquet, as an independent program would.
fn to_parquet(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".json.gz") else { continue };
        let open = || BufReader::new(GzDecoder::new(File::open(&path).unwrap()));
        let (schema, rows) = infer_json_schema(open(), None).unwrap();
        assert!(0 < rows, "{name}");
        let schema = Arc::new(schema);
        let file = File::create(to.join(format!("{stem}.parquet"))).unwrap();
        let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), None).unwrap();
        for batch in ReaderBuilder::new(schema).build(open()).unwrap() {
            writer.write(&batch.unwrap()).unwrap();
        }
        writer.close().unwrap();
    }
}

#[test]
fn json_and_parquet_make_the_same_lake() {
    let (place, truth) = traced(Form::Google2019);
    place.ingest(&["--buckets", "2"]).ok();
    to_parquet(&place.path("trace"), &place.path("tables"));
    place.run(&["ingest", "tables", "--lake", "other", "--buckets", "2"]).ok();
    let other = jobfate::lake::Lake::open(place.path("other")).unwrap();
    assert_eq!(other.source(), Source::Google2019);
    let (one, other) = (contents(&place.lake()), contents(&other));
    let rows: usize = one.values().map(Vec::len).sum();
    assert_eq!(rows as u64, truth.rows.values().sum::<u64>());
    assert!(one == other, "the rows differ");
    fs::write(place.path("tables/instance_usage-000000000000.parquet"), "PAR1 is no table")
        .unwrap();
    let damaged = place.run(&["ingest", "tables", "--lake", "third"]);
    assert_eq!(damaged.code, Some(3), "{}", damaged.stderr);
    assert!(damaged.stderr.contains("the Parquet file is damaged"), "{}", damaged.stderr);
}

#[test]
fn histograms_are_lists_in_the_lake() {
    let (place, truth) = traced(Form::Google2019);
    place.ingest(&["--buckets", "2"]).ok();
    let mut seen = 0_u64;
    let columns = ["max_cpu_rate", "cpu_usage_distribution", "tail_cpu_usage_distribution"];
    place
        .lake()
        .scan(Table::TaskUsage, None, &columns, |batch| {
            let largest: &Float32Array = batch.column(0).as_primitive();
            let (all, tail) = (batch.column(1).as_list::<i32>(), batch.column(2).as_list::<i32>());
            for row in (0..batch.num_rows()).filter(|&row| all.is_valid(row)) {
                let values = all.value(row);
                let values = values.as_primitive::<Float32Type>().values().to_vec();
                assert_eq!((values.len(), tail.value(row).len()), (11, 9));
                assert_eq!(values[10], largest.value(row), "the 100th percentile");
                assert!(values.is_sorted());
                seen += 1;
            }
        })
        .unwrap();
    assert!(truth.rows["task_usage"] / 2 < seen, "{seen} of {}", truth.rows["task_usage"]);
}

#[test]
fn alloc_sets_are_a_lake_of_their_own() {
    let (place, truth) = traced(Form::Google2019);
    place.ingest(&["--source", "google-2019-alloc-sets", "--buckets", "2"]).ok();
    let lake = place.lake();
    for table in ["job_events", "task_events", "task_usage"] {
        let rows = lake.manifest.tables[table].rows();
        assert_eq!(rows, truth.left_out[table]["alloc sets"], "{table}");
    }
    place.run(&["classify"]).ok();
    let mixed = place.run(&["ingest", "trace", "--lake", "lake"]);
    assert_eq!(mixed.code, Some(3), "jobs do not go into a lake of alloc sets");
    assert!(mixed.stderr.contains("google-2019-alloc-sets"), "{}", mixed.stderr);
}

/// The same history gives the same answers in both formats.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn every_study_says_of_2019_what_it_says_of_2011() {
    let [(old, _), (new, _)] = [Form::Google2011, Form::Google2019].map(traced);
    for place in [&old, &new] {
        place.ingest(&["--buckets", "2"]).ok();
    }
    for args in [
        &["classify", "--by", "task"][..],
        &["describe", "--what", "job-durations"],
        &["describe", "--what", "waiting", "--group-by", "user"],
        &["account", "--group-by", "priority,class,user"],
        &["sweep", "--rules", "events,failures,dead-time,restarts"],
        &["detect"],
        &["fairness", "--index", "metered", "--index", "condor"],
        &["query", "q13"],
    ] {
        let answer = |place: &Place| {
            place.run(&[args, &["--format", "csv"]].concat()).ok().stdout_text().to_owned()
        };
        let (of_old, of_new) = (answer(&old), answer(&new));
        assert!(2 < of_old.lines().count(), "{args:?}");
        assert_eq!(of_new, of_old, "{args:?}");
    }
    // In 2019 the job records which tasks must run on different machines; in 2011 this is drawn for
    // each task.
    let replayed = new.run(&["replay", "--format", "json", "--policies", "fifo priority"]).ok();
    assert_eq!(replayed.json()["policies"].as_array().unwrap().len(), 2);
    let mut apart = [0, 0];
    new.lake()
        .scan(Table::TaskEvents, None, &["different_machines", "priority"], |batch| {
            let (flags, priorities) = (batch.column(0).as_boolean(), batch.column(1));
            let priorities: &Int32Array = priorities.as_primitive();
            assert_eq!(priorities.iter().flatten().count(), batch.num_rows());
            for flag in flags.iter().flatten() {
                apart[usize::from(flag)] += 1;
            }
        })
        .unwrap();
    assert!(0 < apart[0] && 0 < apart[1], "{apart:?}");
}

/// Counted with plain Python: lines, types, machines, machines without a capacity.
#[test]
fn the_real_machines_are_read() {
    let folder = repository().join("../shared/data/google-2019");
    if !folder.is_dir() {
        return skipped("there is no real export at `../shared/data/google-2019`");
    }
    let place = Place::new();
    place.run(&["ingest", &folder.to_string_lossy(), "--lake", "lake"]).ok();
    let counts = place.run(&["verify", "--format", "csv"]).ok();
    for line in [
        "rows,46219",
        "event_type 0,27777",
        "event_type 1,17941",
        "event_type 2,501",
        "machines,10001",
        "nulls in cpu_capacity,459",
        "nulls in switch_id,0",
    ] {
        let line = format!("machine_events,{line},");
        assert!(counts.stdout_text().contains(&line), "{line} in {}", counts.stdout_text());
    }
    assert_eq!(
        place.lake().manifest.tables["machine_events"].max_time_us(),
        Some(2_678_851_683_489)
    );
}
