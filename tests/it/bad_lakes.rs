//! Lakes that are missing, damaged, of another kind or in use: an error with a hint, and no file
//! changes.

use std::fs::{self, File};

use insta::assert_snapshot;

use super::support::{LINE, Place, assert_repaired, tree};

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
        hint: `jobfate ingest TRACE_DIR --tables task_events --lake lake` adds it when its files are in TRACE_DIR
    ");
    assert_snapshot!(place.run(&["query", "q11"]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not use `lake`
        cause: table `task_usage` is not in the lake
        hint: `jobfate ingest TRACE_DIR --tables task_usage --lake lake` adds it when its files are in TRACE_DIR
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
        cause: the lake has format version 99, but this program reads 3
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
        hint: remove the lake and run `ingest` again; the raw trace is not changed
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
        hint: remove the lake and run `ingest` again; the raw trace is not changed
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
        hint: remove the lake and run `ingest` again; the raw trace is not changed
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
        hint: wait for it, or fill the lake in parallel with `--shard I/N`
    ");
    assert_eq!(place.ingest(&["--shard", "1/2"]).code, Some(4));
    // Programs that other tests start at the same time may also hold the file.
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
