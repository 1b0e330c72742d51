//! Failing machines: disks that are full or break at any call, programs that are killed at any
//! instant, inputs that are slow or disappear. All remaining files are complete. A second run of
//! the command gives the bytes of an undisturbed run.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use jobfate::faults::{Code, Failure, PartsFailed};
use jobfate::lake::{Lake, LakeError, LakeErrorKind};
use jobfate::replay::cluster::ClusterError;
use jobfate::replay::detect::DetectPlanError;
use jobfate::replay::detectors::DetectorPlan;
use jobfate::results::ResultError;
use jobfate::sources::{SourceError, SourceErrorKind};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::resume::WIDE;
use super::support::{
    Place, Run, assert_same_files, contents, copy_folder, now, repository, skipped, tree,
};
use super::ways_in;

/// Number of instants at which `ingest` is killed, and the same number for `analyze`.
pub(crate) const KILLS: usize = 200;

/// Calls of `ingest` that fail.
pub(crate) const INGEST_FAULTS: usize = 200;

/// Calls of an `ingest` of each of [`LOGS`] that fail.
pub(crate) const LOG_FAULTS: usize = if cfg!(debug_assertions) { 18 } else { 60 };

/// Makes a log with the given number of jobs.
type Maker = fn(&Place, u32);

/// Logs of sources other than Google's: SWF, months of Slurm, and tables of Alibaba with machines.
const LOGS: [(Maker, &str); 3] =
    [(ways_in::swf, "trace/log.swf"), (ways_in::slurm, "trace"), (ways_in::alibaba_2017, "trace")];

/// Calls of `analyze` that fail.
pub(crate) const ANALYZE_FAULTS: usize = 60;

/// Instants at which a command that replaces earlier results is killed.
pub(crate) const RESULT_KILLS: usize = 60;

/// Calls of this command that fail.
pub(crate) const RESULT_FAULTS: usize = 60;

/// Calls on the trace that fail.
pub(crate) const INPUT_FAULTS: usize = 40;

/// Signals that an `ingest` gets.
pub(crate) const SIGNALS: usize = 8;

/// Sizes of a disk that is too small.
pub(crate) const FULL_DISKS: usize = 20;

const ANALYSIS: &str = "steps = [\"verify\", \"classify\", \"account\", \"sweep\", \"replay\"]\n\
    [trace]\nfolder = \"trace\"\nlake = \"found/lake\"\nout = \"found\"\n\
    [definitions]\ncpu = \"slots\"\n\
    [sweep]\nrules = [\"failures\", \"events\"]\nthresholds = \"3,5\"\n\
    [replay]\npolicies = [\"fifo\"]\n";

const INGEST: [&str; 6] = ["ingest", "trace", "--lake", "lake", "--buckets", "3"];
const ANALYZE: [&str; 3] = ["analyze", "--config", "analysis.toml"];
const MANY_REJECTS: [&str; 2] = ["--max-rejects", "50%"];

/// A trace with a bad line, an analysis of it, and the files of undisturbed runs.
static UNDISTURBED: LazyLock<Place> = LazyLock::new(|| {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "300", "--days", "1", "--parts", "4"]).ok();
    let machines =
        |of: u32| place.path(&format!("trace/machine_events/part-00000-of-{of:05}.csv.gz"));
    fs::rename(machines(1), machines(2)).unwrap();
    place.raw("machine_events/part-00001-of-00002.csv", "0,9,0,x,0.5,0.5\n1,9,0,x,no,0.5\n");
    fs::write(place.path("analysis.toml"), ANALYSIS).unwrap();
    for command in [&INGEST[..], &ANALYZE] {
        place.run(&[command, &MANY_REJECTS].concat()).ok();
    }
    place
});

const FIRST_SWEEP: &str =
    "sweep --cpu slots --thresholds 2..=9 --rules events,failures --train-until 0.5 --out found";
const SECOND_SWEEP: &str = "sweep --cpu slots --thresholds 3,5 --out found";

/// A lake, results of a sweep in `first`, and those of another sweep, with fewer files, in
/// `second`.
static RESULTS: LazyLock<Place> = LazyLock::new(|| {
    let place = Place::new();
    std::os::unix::fs::symlink(UNDISTURBED.path("lake"), place.path("lake")).unwrap();
    for (command, name) in [(FIRST_SWEEP, "first"), (SECOND_SWEEP, "second")] {
        place.run(&command.split(' ').collect::<Vec<&str>>()).ok();
        fs::rename(place.path("found"), place.path(name)).unwrap();
    }
    assert!(place.path("first/sweep-selection.csv").exists());
    assert!(!place.path("second/sweep-selection.csv").exists());
    place
});

/// A command under test in a separate place.
struct Trial {
    place: Place,
    args: Vec<&'static str>,
    /// The folder that it writes to.
    out: &'static str,
    /// The content of this folder before the run.
    before: Option<PathBuf>,
    /// The files of an undisturbed run.
    whole: PathBuf,
}

impl Trial {
    fn new(command: &[&'static str], out: &'static str) -> Self {
        let place = Place::new();
        copy_folder(&UNDISTURBED.path("trace"), &place.path("trace"));
        fs::write(place.path("analysis.toml"), ANALYSIS).unwrap();
        let args = [command, &MANY_REJECTS].concat();
        Self { place, args, out, before: None, whole: UNDISTURBED.path(out) }
    }

    fn ingest() -> Self {
        Self::new(&INGEST, "lake")
    }

    fn analyze() -> Self {
        Self::new(&ANALYZE, "found")
    }

    /// An `ingest` of a trace whose tables have several segments.
    fn wide() -> Self {
        let place = Place::new();
        std::os::unix::fs::symlink(WIDE.path("trace"), place.path("trace")).unwrap();
        Self { place, args: INGEST.to_vec(), out: "lake", before: None, whole: WIDE.path("whole") }
    }

    /// A sweep in the folder of the results of another sweep.
    fn results() -> Self {
        let place = Place::new();
        std::os::unix::fs::symlink(UNDISTURBED.path("lake"), place.path("lake")).unwrap();
        let args = SECOND_SWEEP.split(' ').collect();
        let before = Some(RESULTS.path("first"));
        Self { place, args, out: "found", before, whole: RESULTS.path("second") }
    }

    /// An `ingest` of a log, or of a folder of tables, of a source other than Google's, and the
    /// files of an undisturbed run.
    fn log(make: Maker, trace: &'static str) -> Self {
        let place = Place::new();
        make(&place, 300);
        let args = vec!["ingest", trace, "--lake", "lake", "--buckets", "3"];
        place.run(&args).ok();
        let whole = place.path("whole");
        fs::rename(place.path("lake"), &whole).unwrap();
        Self { place, args, out: "lake", before: None, whole }
    }

    fn command(&self) -> Command {
        let mut command = self.place.command(&self.args);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn lake(&self) -> PathBuf {
        self.place.path(if self.out == "lake" { "lake" } else { "found/lake" })
    }

    /// All recorded files are complete, even before the second run.
    fn assert_nothing_corrupted(&self) {
        if self.lake().join("manifest.json").exists() {
            Lake::open(self.lake()).unwrap().check_sums().unwrap();
        }
        if let Some(before) = &self.before {
            let run = self.place.run(&["report", "found", "--out", "report"]);
            let (found, whole) = (tree(&self.place.path("found")), tree(&self.whole));
            let is_whole = |all: &BTreeMap<String, Vec<u8>>| {
                all.iter().all(|(name, bytes)| found.get(name) == Some(bytes))
            };
            let is_of_one_run = is_whole(&whole) || is_whole(&tree(before));
            // A mix of two runs is reported.
            match run.code {
                Some(0) => assert!(is_of_one_run),
                Some(3) => {
                    assert!(!is_of_one_run && run.stderr.contains("differs from what `found/"));
                }
                code => panic!("{code:?}: {}", run.stderr),
            }
        }
    }

    /// Runs the command again and compares with the files of an undisturbed run.
    fn assert_repaired(&self) {
        self.place.run(&self.args).ok();
        assert_same_files(&self.whole, &self.place.path(self.out));
    }

    /// How long an undisturbed run takes.
    fn takes(&self) -> Duration {
        self.clear();
        let begin = now();
        self.place.run(&self.args).ok();
        begin.elapsed()
    }

    /// Resets the folder to its state before the first run.
    fn clear(&self) {
        let out = self.place.path(self.out);
        fs::remove_dir_all(&out).ok();
        if let Some(before) = &self.before {
            copy_folder(before, &out);
        }
    }
}

// Killed

/// Kills the command at random instants until a run ends before its kill, then starts again;
/// returns how many kills left work undone.
fn kill_often(trial: &Trial, count: usize, seed: u64) -> usize {
    let mut draws = ChaCha8Rng::seed_from_u64(seed);
    let takes = trial.takes();
    let mut interrupted = 0;
    let mut is_fresh = true;
    for _ in 0..count {
        if is_fresh {
            trial.clear();
        }
        let mut child = trial.command().spawn().unwrap();
        thread::sleep(takes.mul_f64(draws.random_range(0.0..1.0)));
        child.kill().unwrap();
        is_fresh = child.wait().unwrap().success();
        interrupted += usize::from(!is_fresh);
        trial.assert_nothing_corrupted();
        // Some repairs are checked before the next kill.
        if is_fresh || draws.random_range(0..4) == 0 {
            trial.assert_repaired();
            is_fresh = true;
        }
    }
    trial.assert_repaired();
    interrupted
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn an_ingest_killed_at_any_instant_is_repaired() {
    let interrupted = kill_often(&Trial::wide(), KILLS, 1);
    assert!(KILLS / 4 < interrupted, "{interrupted} kills came before the end");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn an_analysis_killed_at_any_instant_goes_on() {
    let interrupted = kill_often(&Trial::analyze(), KILLS, 2);
    assert!(KILLS / 4 < interrupted, "{interrupted} kills came before the end");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn results_are_replaced_as_a_whole_or_it_is_reported() {
    let interrupted = kill_often(&Trial::results(), RESULT_KILLS, 7);
    assert!(RESULT_KILLS / 4 < interrupted, "{interrupted} kills came before the end");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_signal_ends_an_ingest_soon_and_says_how_to_go_on() {
    let trial = Trial::wide();
    let takes = trial.takes();
    for signal in ["-INT", "-TERM"] {
        let mut stopped = 0;
        for number in 0..SIGNALS / 2 {
            trial.clear();
            let mut child = trial.command().spawn().unwrap();
            thread::sleep(takes.mul_f64([0.1, 0.3, 0.5, 0.7][number % 4]));
            let begin = now();
            Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
            let status = child.wait().unwrap();
            assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            // Before the program handles signals, the signal ends it immediately. After its end,
            // the signal has no effect.
            if status.code() == Some(130) {
                assert!(said.contains("run the same command to continue"), "{said}");
                stopped += 1;
            }
            trial.assert_nothing_corrupted();
        }
        trial.assert_repaired();
        if stopped == 0 {
            skipped(&format!("no {signal} met an ingest at work"));
        }
    }
}

// Failing calls

/// The library that makes calls fail; it is compiled once.
pub(crate) static FAILING_DISK: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let beside = folder.join(format!("failing_disk-{}.so", std::process::id()));
    let source = repository().join("tests/it/failing_disk.c");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&beside, &source])
        .arg("-ldl")
        .status();
    if made.is_ok_and(|status| status.success()) {
        let library = folder.join("failing_disk.so");
        fs::rename(beside, &library).unwrap();
        return Some(library);
    }
    skipped("no C compiler: nothing makes system calls fail");
    None
});

/// Which call fails, and how.
struct Fault<'a> {
    under: &'a str,
    calls: &'a str,
    at: usize,
    /// The error number and its message in the system.
    error: (i32, &'a str),
    stays: bool,
}

const FULL: (i32, &str) = (28, "No space left on device");
const BROKEN: (i32, &str) = (5, "Input/output error");
const READ_ONLY: (i32, &str) = (30, "Read-only file system");
const GONE: (i32, &str) = (2, "No such file or directory");

impl Fault<'_> {
    fn command(&self, trial: &Trial, library: &Path) -> Command {
        let mut command = trial.command();
        let stays = if self.stays { "1" } else { "0" };
        for (name, value) in [
            ("FAULT_UNDER", self.under),
            ("FAULT_CALLS", self.calls),
            ("FAULT_AT", &self.at.to_string()),
            ("FAULT_ERROR", &self.error.0.to_string()),
            ("FAULT_STAYS", stays),
        ] {
            command.env(name, value);
        }
        command.env("LD_PRELOAD", library);
        command
    }

    /// The number of calls if none fails.
    fn count(&self, trial: &Trial, library: &Path) -> usize {
        trial.clear();
        let path = trial.place.path("count");
        let status = Self { at: 0, ..*self }
            .command(trial, library)
            .env("FAULT_COUNT", &path)
            .status()
            .unwrap();
        assert!(status.success());
        fs::read_to_string(path).unwrap().trim().parse().unwrap()
    }

    fn run(&self, trial: &Trial, library: &Path) -> Run {
        let output = self.command(trial, library).output().unwrap();
        Run {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Makes random calls fail, one per run, and repairs after each run.
fn fail_often(trial: &Trial, faults: &[Fault], count: usize, seed: u64) {
    let Some(library) = &*FAILING_DISK else { return };
    let mut draws = ChaCha8Rng::seed_from_u64(seed);
    let calls: Vec<usize> = faults.iter().map(|fault| fault.count(trial, library)).collect();
    for round in 0..count {
        let fault = &faults[round % faults.len()];
        let all: Range<usize> = 0..calls[round % faults.len()];
        assert!(!all.is_empty(), "there are calls of `{}` under `{}`", fault.calls, fault.under);
        let fault = Fault { at: 1 + draws.random_range(all), ..*fault };
        trial.clear();
        let run = fault.run(trial, library);
        let about = format!("{} {} {}: {}", fault.calls, fault.at, fault.error.1, run.stderr);
        if run.code == Some(0) {
            // Some calls may fail without an error: a folder that already exists, or a look for a
            // file.
            assert!(["mkdir", "open"].contains(&fault.calls), "{about}");
        } else {
            assert_eq!(run.code, Some(4), "{about}");
            for said in ["error: ", fault.error.1, &format!("`{}", fault.under)] {
                assert!(run.stderr.contains(said), "{said} in {about}");
            }
            assert!(!run.stderr.contains("bug"), "{about}");
        }
        trial.assert_nothing_corrupted();
        if fault.under == trial.out {
            trial.assert_repaired();
        } else {
            // Parts that were added later are in separate files.
            trial.place.run(&trial.args).ok();
            let lakes = [trial.lake(), trial.whole.clone()];
            let [found, undisturbed] = lakes.map(|lake| contents(&Lake::open(&lake).unwrap()));
            assert_eq!(found, undisturbed, "{about}");
        }
    }
}

fn written(under: &str) -> [Fault<'_>; 6] {
    let fault = |calls, error, stays| Fault { under, calls, at: 0, error, stays };
    [
        fault("write", FULL, true),
        fault("write", BROKEN, false),
        fault("sync", BROKEN, false),
        fault("rename", FULL, true),
        fault("mkdir", READ_ONLY, true),
        fault("open", READ_ONLY, true),
    ]
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn an_ingest_survives_every_failing_call() {
    fail_often(&Trial::ingest(), &written("lake"), INGEST_FAULTS, 3);
}

/// Promise: the same for a log in one file, a log in several files, and a folder of tables.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn an_ingest_of_a_log_survives_every_failing_call() {
    for (seed, (make, trace)) in (21..).zip(LOGS) {
        let trial = Trial::log(make, trace);
        fail_often(&trial, &written("lake"), LOG_FAULTS, seed);
        let fault = |calls, error| Fault { under: "trace", calls, at: 0, error, stays: false };
        fail_often(&trial, &[fault("read", BROKEN), fault("open", GONE)], LOG_FAULTS / 3, seed);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn an_analysis_survives_every_failing_call() {
    fail_often(&Trial::analyze(), &written("found"), ANALYZE_FAULTS, 4);
}

/// For an existing lake, `analyze` also hashes the files and counts the rows, before the commands
/// that it runs on any lake.
#[test]
fn an_analysis_reads_less_of_a_lake_that_it_has_just_written() {
    let Some(library) = &*FAILING_DISK else { return };
    let trial = Trial::analyze();
    let steps = ANALYSIS.lines().next().unwrap();
    let text = ANALYSIS.replace(steps, "steps = [\"verify\"]");
    fs::write(trial.place.path("analysis.toml"), text).unwrap();
    let reads = Fault { under: "found/lake", calls: "read", at: 0, error: BROKEN, stays: false };
    let written = reads.count(&trial, library);
    let path = trial.place.path("count");
    let status = reads.command(&trial, library).env("FAULT_COUNT", &path).status().unwrap();
    assert!(status.success());
    let found: usize = fs::read_to_string(path).unwrap().trim().parse().unwrap();
    assert!(0 < written && written < found, "{written} reads and {found}");
    // The promise for an existing lake: a changed byte is found.
    let lake = Lake::open(trial.lake()).unwrap();
    let file = lake.manifest.tables.values().flat_map(|entry| &entry.files).next().unwrap();
    let mut bytes = fs::read(trial.lake().join(&file.path)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(trial.lake().join(&file.path), bytes).unwrap();
    let run = trial.place.run(&trial.args);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("its checksum differs"), "{}", run.stderr);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn results_survive_every_failing_call() {
    fail_often(&Trial::results(), &written("found"), RESULT_FAULTS, 8);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn an_input_that_breaks_or_goes_away_is_named() {
    let fault = |calls, error| Fault { under: "trace/", calls, at: 0, error, stays: false };
    fail_often(&Trial::ingest(), &[fault("read", BROKEN), fault("open", GONE)], INPUT_FAULTS, 5);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn reads_that_are_short_and_late_change_nothing() {
    let Some(library) = &*FAILING_DISK else { return };
    for trial in [Trial::ingest(), Trial::analyze()] {
        for (under, how) in [("trace", "2"), (trial.out, "1")] {
            trial.clear();
            let mut command = trial.command();
            command.env("LD_PRELOAD", library).env("FAULT_UNDER", under).env("FAULT_SHORT", how);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            trial.assert_repaired();
        }
    }
}

// A real disk that is full

/// A separate file system, unmounted at the end.
struct Disk(PathBuf);

impl Disk {
    fn new(path: PathBuf) -> Option<Self> {
        fs::create_dir_all(&path).unwrap();
        let disk = Self(path);
        disk.mount("size=1m").then_some(disk)
    }

    fn mount(&self, options: &str) -> bool {
        let run = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&self.0)
            .stderr(Stdio::null())
            .status();
        run.is_ok_and(|status| status.success())
    }

    fn again(&self, options: &str) {
        assert!(self.mount(&format!("remount,{options}")), "{options}");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).stderr(Stdio::null()).status();
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_disk_that_is_full_or_read_only_stops_an_ingest_that_goes_on_later() {
    let trial = Trial::ingest();
    let Some(disk) = Disk::new(trial.lake()) else {
        return skipped("no file system can be mounted here: no disk is full");
    };
    let needed: usize = tree(&UNDISTURBED.path("lake")).values().map(Vec::len).sum();
    let mut draws = ChaCha8Rng::seed_from_u64(6);
    let clear = || {
        for entry in fs::read_dir(trial.lake()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
    };
    for _ in 0..FULL_DISKS {
        clear();
        disk.again(&format!("rw,size={}", draws.random_range(1..needed.div_ceil(2))));
        // Without `--force` the command reports that the disk is too small; with it the disk fills
        // up.
        for more in [&[][..], &["--force"]] {
            clear();
            let run = trial.place.run(&[&trial.args[..], more].concat());
            assert_eq!(run.code, Some(4), "{}", run.stderr);
            let said = if more.is_empty() { "are free" } else { FULL.1 };
            assert!(run.stderr.contains(said), "{}", run.stderr);
            trial.assert_nothing_corrupted();
        }
        disk.again("ro,size=64m");
        let run = trial.place.run(&trial.args);
        assert_eq!(run.code, Some(4), "{}", run.stderr);
        assert!(run.stderr.contains(READ_ONLY.1), "{}", run.stderr);
        disk.again("rw,size=64m");
        trial.assert_repaired();
    }
}

#[test]
fn every_kind_of_error_has_its_code() {
    let io = |kind| io::Error::from(kind);
    let lake = |kind| LakeError::new(Path::new("lake"), kind);
    let file = || PathBuf::from("a");
    let parts = |is_bad_data| PartsFailed { failed: 1, wanted: 2, kept: 1, is_bad_data };
    let cases: [(Failure, Code); 11] = [
        (parts(true).into(), Code::BadData),
        (parts(false).into(), Code::Environment),
        (ResultError::Changed { path: file(), result: file() }.into(), Code::BadData),
        (ClusterError::Empty.into(), Code::BadData),
        ("p".parse::<DetectorPlan>().unwrap_err().into(), Code::Usage),
        (DetectPlanError::Truths { found: 0 }.into(), Code::Usage),
        (lake(LakeErrorKind::OtherVersion { found: 9 }).into(), Code::BadData),
        (lake(LakeErrorKind::Io(io(io::ErrorKind::StorageFull))).into(), Code::Environment),
        (lake(LakeErrorKind::Busy).into(), Code::Environment),
        (SourceError::new(Path::new("a"), SourceErrorKind::NotGzip).into(), Code::BadData),
        (SourceError::new(Path::new("a"), SourceErrorKind::NoFolder).into(), Code::Environment),
    ];
    for (failure, code) in cases {
        assert_eq!(failure.code(), code, "{failure}");
    }
}
