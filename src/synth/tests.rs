//! Tests of whole traces: the same seed gives the same bytes, and counts match the files.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::fate::{Fate, planned_share};
use super::{Dirty, SynthConfig, Truth, write_trace};

fn small() -> SynthConfig {
    SynthConfig { seed: 7, job_count: 300, days: 0.5, part_count: 4, ..SynthConfig::default() }
}

fn make(config: &SynthConfig, dir: &Path, thread_count: usize) -> Truth {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(thread_count).build().unwrap();
    pool.install(|| write_trace(config, dir, &|_| {})).unwrap()
}

/// Every file under `dir` by relative name.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            for (inner, bytes) in files(&path) {
                found.insert(format!("{name}/{inner}"), bytes);
            }
        } else {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// The unpacked text of all parts of a table in order.
fn text_of(dir: &Path, table: &str) -> String {
    let mut text = String::new();
    for bytes in files(&dir.join(table)).values() {
        MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
        if !text.ends_with('\n') && !text.is_empty() {
            text.push('\n');
        }
    }
    text
}

#[test]
fn the_bytes_depend_on_the_seed_and_not_on_the_threads() {
    let dir = tempfile::tempdir().unwrap();
    let dirs = ["one", "two", "other"].map(|name| dir.path().join(name));
    let truth = make(&small(), &dirs[0], 1);
    assert_eq!(make(&small(), &dirs[1], 3), truth);
    make(&SynthConfig { seed: 8, ..small() }, &dirs[2], 2);
    let [one, two, other] = dirs.map(|dir| files(&dir));
    assert!(one == two, "one thread and three write the same files");
    assert!(one["SHA256SUM"] != other["SHA256SUM"], "another seed writes other files");
}

#[test]
fn rows_and_rejects_are_what_the_files_hold() {
    for dirty in [Dirty::Clean, Dirty::Dirty] {
        let dir = tempfile::tempdir().unwrap();
        let truth = make(&SynthConfig { dirty, ..small() }, dir.path(), 2);
        for (table, rows) in &truth.rows {
            let rejects: u64 = truth.rejects.get(table).map_or(0, |reasons| reasons.values().sum());
            let text = text_of(dir.path(), table);
            assert_eq!(text.lines().count() as u64, rows + rejects, "{table}, {dirty:?}");
            let crlf = text.matches("\r\n").count() as u64;
            assert_eq!(crlf, truth.crlf_lines.get(table).copied().unwrap_or(0), "{table}");
        }
        assert_eq!(truth.rejects.is_empty(), dirty == Dirty::Clean);
        assert!(!dir.path().join(".spill").exists());
    }
}

#[test]
fn usage_and_dirt_leave_the_jobs_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let dirs = ["all", "without", "dirty"].map(|name| dir.path().join(name));
    let all = make(&small(), &dirs[0], 2);
    let without = make(&SynthConfig { with_usage: false, ..small() }, &dirs[1], 2);
    let dirty = make(&SynthConfig { dirty: Dirty::Dirty, ..small() }, &dirs[2], 2);
    assert_eq!(text_of(&dirs[0], "task_events"), text_of(&dirs[1], "task_events"));
    assert_eq!(all.cpu["slots"], without.cpu["slots"]);
    assert_eq!(all.cpu["slots"], dirty.cpu["slots"]);
    assert_eq!(all.job_sequences, dirty.job_sequences);
    assert!(all.cpu["measured"].total > 0.0 && without.cpu["measured"].total == 0.0);
    assert!(!dirs[1].join("task_usage").exists());
    let extra = dirty.quality.duplicate_rows["task_events"];
    assert!(extra > 0 && dirty.rows["task_events"] == all.rows["task_events"] + extra);
}

#[test]
fn outcome_shares_are_near_the_plan_and_rarities_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let config =
        SynthConfig { job_count: 3_000, days: 1.0, with_usage: false, part_count: 2, ..small() };
    let truth = make(&config, dir.path(), 2);
    for (fate, class) in [(Fate::Finished, "finished"), (Fate::Killed, "killed")] {
        let found = truth.job_outcomes.sequence[class];
        let wanted = planned_share(fate) * 3_000.0;
        assert!((f64::from(u32::try_from(found).unwrap()) - wanted).abs() < 120.0, "{class}");
    }
    for rare in ["0", "05", "012", "016", "018", "013014", "018888", "01", "013"] {
        assert!(truth.job_sequences.contains_key(rare), "{rare}");
    }
    assert_eq!(truth.jobs, 3_000);
    assert!(truth.tasks_per_job.ones * 10 > truth.tasks_per_job.count * 7);
    let quality = &truth.quality;
    assert!(quality.task_ties_after_zero > 0 && quality.schedule_while_running > 0);
    assert!(quality.illegal_task_transitions["EVICT while pending"] > 0);
    assert!(truth.task_sequences.keys().any(|digits| digits.len() == 280));
    assert!(truth.stragglers.straggler_count >= 5 && truth.jobs_unknown >= 2);
}

#[test]
fn ledgers_close_and_the_truth_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let truth = make(&small(), dir.path(), 2);
    for (name, ledger) in &truth.cpu {
        let parts: f64 = ledger.sequence.values().sum();
        let sum = parts + ledger.unmatched + ledger.outside_attempts;
        assert!((sum - ledger.total).abs() < 1e-6 * ledger.total, "{name}");
    }
    assert!(truth.times.last_task_event_us == truth.times.last_job_event_us);
    assert!(truth.times.last_usage_end_us <= truth.times.last_task_event_us);
    let text = fs::read_to_string(dir.path().join("truth.json")).unwrap();
    let read: Truth = serde_json::from_str(&text).unwrap();
    assert_eq!(read.job_sequences, truth.job_sequences);
}

#[test]
fn a_folder_with_something_in_it_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("note"), "mine").unwrap();
    let error = write_trace(&small(), dir.path(), &|_| {}).unwrap_err();
    assert_eq!(error.kind().to_string(), "the folder is not empty");
    assert_eq!(files(dir.path()).len(), 1);
}

#[test]
fn one_job_is_a_trace_too() {
    let dir = tempfile::tempdir().unwrap();
    let config = SynthConfig { job_count: 1, days: 1.0 / 24.0, part_count: 3, ..small() };
    let truth = make(&config, dir.path(), 1);
    assert_eq!((truth.jobs, truth.tasks), (1, 1));
    assert_eq!(truth.times.last_task_event_us, truth.times.window_end_us - 1_000_000);
}
