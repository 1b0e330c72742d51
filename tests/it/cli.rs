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
    place.lake().check_files().unwrap();
}

// What goes well

#[test]
fn a_first_session() {
    let place = Place::new().with_golden_trace();
    assert_snapshot!(place.ingest(&[]).text(), @"");
    assert_snapshot!(place.run(&["classify"]).text(), @"");
    assert_snapshot!(place.run(&["classify", "--by", "task", "--classes", "terminal"]).text(), @"");
    assert_snapshot!(place.run(&["classify", "--sequences", "--format", "csv"]).text(), @"");
    assert_snapshot!(place.ingest(&[]).text(), @"");
}

#[test]
fn the_json_of_classify_is_the_contract() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let run = place.run(&["classify", "--format", "json"]).ok();
    assert_snapshot!(serde_json::to_string_pretty(&run.json()["rows"]).unwrap(), @"");
    assert_eq!(run.json()["total"], 15);
    let sequences = run.json()["sequences"].as_array().unwrap().clone();
    let total: u64 = sequences.iter().map(|row| row["count"].as_u64().unwrap()).sum();
    assert_eq!(total, 15);
    assert!(run.stdout_text().starts_with("{\"rows\":[{\"sequence\":\"014\",\"outcome\":\"finished\","));
}

#[test]
fn classify_keeps_its_answer_and_its_chart() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    assert_snapshot!(place.run(&["classify", "--out", "results"]).text(), @"");
    let files = tree(&place.path("results"));
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["classify-jobs.csv", "classify-jobs.json", "classify-jobs.png", "classify-jobs.svg"]
    );
    assert!(files["classify-jobs.png"].starts_with(b"\x89PNG"));
    let svg = String::from_utf8(files["classify-jobs.svg"].clone()).unwrap();
    assert!(svg.contains("finished (014)") && svg.contains("What became of 15 jobs"), "{svg}");
    let result: serde_json::Value = serde_json::from_slice(&files["classify-jobs.json"]).unwrap();
    assert_eq!(result["command"].as_array().unwrap().len(), 4);
    assert_eq!(result["answer"]["total"], 15);
    assert_eq!(result["inputs"].as_array().unwrap().len(), 6);
}

#[test]
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
    assert_snapshot!(place.run(&["verify"]).text(), @"");
    // A table of one part is whole, and these are not the machines of 2011.
    place.ingest(&["--tables", "machine_events"]).ok();
    let run = place.run(&["verify", "--format", "csv"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("warning: machine_events: rows is 7, published is 37,780"), "{}", run.stderr);
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
    assert_snapshot!(place.run(&["verify", "trace"]).text(), @"");
    place.part("job_events", 1, LINE);
    place.ingest(&[]).ok();
    fs::remove_file(place.path("trace/job_events/part-00001-of-00002.csv")).unwrap();
    assert_snapshot!(place.run(&["verify", "trace"]).text(), @"");
    place.part("job_events", 0, "601,,7,0,u,1,n,l\n");
    let run = place.run(&["verify", "trace"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("its checksum differs from the list"), "{}", run.stderr);
}

fn sha256(path: &Path) -> String {
    jobfate::sources::digest_file(path).unwrap().sha256
}

#[test]
fn queries_are_listed_shown_and_kept() {
    let place = Place::new().with_golden_trace();
    assert_snapshot!(place.run(&["query"]).text(), @"");
    let shown = place.run(&["query", "q04", "--show"]).ok();
    assert_eq!(shown.stdout_text(), include_str!("../../queries/q04_job_sizes.sql"));
    place.ingest(&[]).ok();
    assert_snapshot!(place.run(&["query", "q10"]).text(), @"");
    assert_snapshot!(place.run(&["query", "q10", "--format", "json"]).text(), @"");
    place.run(&["query", "q04_job_sizes", "--out", "facts"]).ok();
    let files = tree(&place.path("facts"));
    assert_eq!(files.keys().collect::<Vec<_>>(), ["q04_job_sizes.csv", "q04_job_sizes.parquet"]);
}

#[test]
fn the_end_of_the_window_can_be_given() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let slots = |more: &[&str]| {
        let run = place.run(&[&["query", "q05", "--format", "csv"], more].concat()).ok();
        let line = run.stdout_text().lines().find(|line| line.starts_with("114,1,")).unwrap().to_owned();
        line.split(',').nth(3).unwrap().to_owned()
    };
    // Task 114/1 runs from 2210 s and never ends; the last event is at 2990 s.
    assert_eq!(slots(&[]), "780.0");
    assert_eq!(slots(&["--window-end", "3000"]), "790.0");
    assert_eq!(slots(&["--window-end", "2210.5"]), "0.5");
}

#[test]
fn analyze_does_everything_in_one_go() {
    let place = Place::new();
    // A trace that is no whole table of 2011: nothing published applies.
    super::support::copy_folder(
        &super::support::golden("trace/job_events"),
        &place.path("trace/job_events"),
    );
    assert_snapshot!(place.run(&["analyze", "trace", "--out", "all"]).text(), @"");
    let files = tree(&place.path("all"));
    for name in ["verify.json", "classify-jobs.json", "classify-jobs.svg", "lake/manifest.json"] {
        assert!(files.contains_key(name), "{name}");
    }
    let again = place.run(&["analyze", "trace", "--out", "all"]).ok();
    assert!(again.stderr.contains("2 parts were in the lake already"), "{}", again.stderr);
}

#[test]
fn synth_writes_into_empty_folders_only() {
    let place = Place::new();
    let args = ["synth", "trace", "--jobs", "20", "--days", "0.1", "--parts", "2", "--no-usage"];
    place.run(&args).ok();
    let before = tree(&place.path("trace"));
    assert_snapshot!(place.run(&args).text(), @"");
    assert!(tree(&place.path("trace")) == before);
    assert_snapshot!(place.run(&["synth", "other", "--days", "0"]).text(), @"");
}

#[test]
fn a_flat_folder_needs_its_table() {
    let place = Place::new();
    place.raw("cut-part-00003-first120rows.csv", LINE);
    assert_snapshot!(place.ingest(&[]).text(), @"");
    assert_snapshot!(place.ingest(&["--table", "job_events"]).text(), @"");
    assert_eq!(place.lake().manifest.tables["job_events"].parts[0].part, 3);
}

// Faults of the input

#[test]
fn no_such_folder() {
    let place = Place::new();
    assert_snapshot!(place.ingest(&[]).text(), @"");
    assert_snapshot!(place.run(&["verify", "trace"]).text(), @"");
    place.part("job_events", 0, LINE);
    assert_repaired(&place, &[]);
}

#[test]
fn no_table_in_the_folder() {
    let place = Place::new();
    place.raw("notes.txt", "");
    assert_snapshot!(place.ingest(&[]).text(), @"");
    place.part("job_events", 0, LINE);
    assert_repaired(&place, &[]);
}

#[test]
fn none_of_the_chosen_parts() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    assert_snapshot!(place.ingest(&["--parts", "7"]).text(), @"");
    assert_snapshot!(place.ingest(&["--tables", "task_usage"]).text(), @"");
    assert_snapshot!(place.ingest(&["--tables", "job_events,task_usage"]).text(), @"");
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
    assert_snapshot!(check_fault(b"<html>404</html>\n", &[]), @"");
}

#[test]
fn an_empty_file_that_should_be_gzip() {
    assert_snapshot!(check_fault(b"", &[]), @"");
}

#[test]
fn a_gzip_that_is_cut_short() {
    let whole = gzip(LINE.repeat(1000).as_bytes());
    assert_snapshot!(check_fault(&whole[..whole.len() / 2], &[]), @"");
}

#[test]
fn a_gzip_whose_crc_is_wrong() {
    let mut damaged = gzip(LINE.repeat(1000).as_bytes());
    let crc_at = damaged.len() - 6;
    damaged[crc_at] ^= 1;
    assert_snapshot!(check_fault(&damaged, &[]), @"");
}

#[test]
fn a_gzip_damaged_in_the_middle() {
    let text: String = (0..20_000).map(|job| format!("600,,{job},0,u,1,n,l\n")).collect();
    let mut damaged = gzip(text.as_bytes());
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xA5);
    let text = check_fault(&damaged, &[]);
    assert!(text.contains("cause: the gzip stream is damaged\n"), "{text}");
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
    assert_snapshot!(check_fault(&other, &["--max-rejects", "100"]), @"");
    assert_snapshot!(check_fault(&other, &["--max-rejects", "0"]), @"");
}

#[test]
fn too_many_rejects_by_count() {
    let text = format!("{}600,,7,9,u,1,n,l\nx\n-1,,7,0,u,1,n,l\n", LINE.repeat(4));
    assert_snapshot!(check_fault(&gzip(text.as_bytes()), &["--max-rejects", "2"]), @"");
}

#[test]
fn too_many_rejects_by_share() {
    let text = format!("{}{}", LINE.repeat(900), "600,,7,9,u,1,n,l\n".repeat(12));
    assert_snapshot!(check_fault(&gzip(text.as_bytes()), &[]), @"");
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
    assert_snapshot!(place.ingest(&[]).text(), @"");
}

// Faults of the lake

#[test]
fn no_lake() {
    let place = Place::new();
    assert_snapshot!(place.run(&["classify", "--lake", "nowhere"]).text(), @"");
    assert_snapshot!(place.run(&["query", "q01", "--lake", "nowhere"]).text(), @"");
    assert_snapshot!(place.run(&["verify", "--lake", "nowhere"]).text(), @"");
}

#[test]
fn a_table_that_is_not_in_the_lake() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    place.ingest(&[]).ok();
    assert_snapshot!(place.run(&["classify", "--by", "task"]).text(), @"");
    assert_snapshot!(place.run(&["query", "q11"]).text(), @"");
}

#[test]
fn a_lake_of_another_version() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    place.ingest(&[]).ok();
    let path = place.path("lake/manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"format_version\": 1", "\"format_version\": 99, \"new\": 1")).unwrap();
    let before = tree(&place.path("lake"));
    for args in [&["ingest", "trace"][..], &["classify"], &["verify"]] {
        assert_eq!(place.run(args).code, Some(3), "{args:?}");
    }
    assert_snapshot!(place.ingest(&[]).text(), @"");
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
    assert_snapshot!(place.ingest(&[]).text(), @"");
    assert!(tree(&place.path("lake")) == before, "nothing was touched");
}

#[test]
fn a_file_of_the_lake_that_is_gone_or_another() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    place.ingest(&[]).ok();
    let file = place.path("lake/job_events/bucket=00/part-00000-00000.parquet");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[1..]).unwrap();
    assert_snapshot!(place.run(&["classify"]).text(), @"");
    assert_eq!(place.run(&["verify"]).code, Some(3));
    let mut same_size = bytes.clone();
    same_size[4..40].fill(0);
    fs::write(&file, same_size).unwrap();
    let run = place.run(&["classify"]);
    assert!(run.code != Some(0) && run.code != Some(70), "{:?} {}", run.code, run.stderr);
    fs::remove_file(&file).unwrap();
    assert_snapshot!(place.run(&["classify"]).text(), @"");
    fs::write(&file, bytes).unwrap();
    place.run(&["classify"]).ok();
}

#[test]
fn a_lake_of_another_kind_of_trace() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    place.ingest(&[]).ok();
    place.raw("truth.json", "{}");
    assert_snapshot!(place.ingest(&[]).text(), @"");
}

#[test]
fn a_lake_that_another_process_writes() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    fs::create_dir(place.path("lake")).unwrap();
    let lock = File::create(place.path("lake/.lock")).unwrap();
    lock.lock().unwrap();
    assert_snapshot!(place.ingest(&[]).text(), @"");
    assert_eq!(place.ingest(&["--shard", "1/2"]).code, Some(4));
    drop(lock);
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
    drop((all, own));
    assert_repaired(&place, &[]);
}

// Faults of the machine

#[test]
fn a_lake_that_cannot_be_a_folder() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    fs::write(place.path("lake"), "").unwrap();
    assert_snapshot!(place.ingest(&[]).text(), @"");
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
    assert_snapshot!(place.ingest(&[]).text(), @"");
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
    check(&place.ingest(&[]));
    mount.remount(&full(need / 2));
    check(&place.ingest(&[]));
    mount.remount(&full(need * 3));
    place.ingest(&[]).ok();
    assert_same_files(&place.path("undisturbed"), &place.path("lake"));
}

#[test]
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
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

// Wrong use

#[test]
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
fn an_unknown_name_lists_the_known_ones() {
    let place = Place::new();
    assert_snapshot!(place.run(&["query", "q99"]).text(), @"");
    assert_snapshot!(place.run(&["ingest", "trace", "--tables", "jobs"]).text(), @"");
    assert_snapshot!(place.run(&["ingest", "trace", "--max-rejects", "1.5"]).text(), @"");
    assert_snapshot!(place.run(&["classify", "--classes", "both"]).text(), @"");
}

#[test]
fn the_version_is_an_answer() {
    let run = Place::new().run(&["--version"]).ok();
    assert_eq!(run.stdout_text(), concat!("jobfate ", env!("CARGO_PKG_VERSION"), "\n"));
}
