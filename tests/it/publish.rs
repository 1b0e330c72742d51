//! The promises of `--out`, for every command that writes: results are of one run and never of two,
//! no other file is overwritten or removed, and one process writes at a time. They hold even if a
//! command is killed while it moves its results into place.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::thread;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::faults::FAILING_DISK;
use super::support::{Place, Run, commands, now, options, tree};

/// The number of calls at which each command is killed while it moves its results into place.
pub(crate) const KILLS_INSIDE: usize = 40;

/// Calls of each command that fail.
pub(crate) const FAULTS_INSIDE: usize = 20;

/// Pairs of programs that start at about the same time, for each command.
pub(crate) const PAIRS: usize = 6;

/// The number of instants at which an analysis that replaces a finished one is killed.
pub(crate) const ANALYSES_KILLED: usize = 20;

const TRACE: &str = "synth trace --jobs 120 --days 0.5 --parts 2 --machines 12 --seed 3";
const OTHER: &str = "synth other --jobs 60 --days 0.4 --parts 2 --machines 9 --seed 4 --no-usage";

/// A command with two settings, and the folder that it writes to.
struct Writer {
    name: &'static str,
    commands: [&'static str; 2],
    /// The folder of --out.
    out: &'static str,
}

/// A command that writes into `found`.
const fn writing(name: &'static str, commands: [&'static str; 2]) -> Writer {
    Writer { name, commands, out: "found" }
}

/// Every command that writes results or pages. Both settings run the same command.
static WRITERS: [Writer; 17] = [
    writing("export", ["export --as swf --out found", "export --as batsim --out found"]),
    writing(
        "load",
        ["load --interval 10m --by user --out found", "load --interval 1h --out found"],
    ),
    writing(
        "episodes",
        ["episodes --least 1 --out found", "episodes --interval 1h --least 1 --out found"],
    ),
    writing("machines", ["machines --out found", "machines --together 60 --out found"]),
    writing(
        "monthly",
        ["monthly --lake centre --out found", "monthly --lake centre --users 1 --out found"],
    ),
    writing("predict", ["predict --out found", "predict --rules last-of-user --out found"]),
    writing(
        "sweep",
        [
            "sweep --cpu slots --thresholds 2..=9 --rules events,failures --train-until 0.2 --out found",
            "sweep --cpu slots --thresholds 3,5 --out found",
        ],
    ),
    writing(
        "detect",
        [
            "detect --detectors late hadoop --min-tasks 2 --out found",
            "detect --detectors mantri --min-tasks 2 --out found",
        ],
    ),
    writing(
        "replay",
        ["replay --policies fifo fair --journal --out found", "replay --policies fifo --out found"],
    ),
    writing(
        "fairness",
        [
            "fairness --cpu slots --interval 3600 --out found",
            "fairness --cpu slots --interval 7200 --out found",
        ],
    ),
    writing(
        "query",
        [
            "query all --thresholds 2 --out found",
            "query all --thresholds 3 --lake lake2 --out found",
        ],
    ),
    writing("account", ["account --cpu slots --out found", "account --cpu requested --out found"]),
    writing("classify", ["classify --out found", "classify --classes terminal --out found"]),
    writing(
        "describe",
        [
            "describe --what waiting --group-by priority --out found",
            "describe --what waiting --out found",
        ],
    ),
    writing("verify", ["verify trace --out found", "verify --lake lake --out found"]),
    Writer {
        out: "pages/report",
        ..writing("report", ["report one --out pages/report", "report two --out pages/report"])
    },
    writing(
        "analyze",
        [
            "analyze --lake lake --config one.toml --out found",
            "analyze --lake lake --config two.toml --out found",
        ],
    ),
];

/// Jobs of two accounts, as the accounting of Slurm prints them.
const LOG: &str = "JobID|User|Account|State|Submit|Start|End|NCPUS\n\
    1|a|x|COMPLETED|2024-01-30T10:00:00|2024-01-30T11:00:00|2024-02-02T11:00:00|4\n\
    2|b|y|FAILED|2024-02-01T10:00:00|2024-02-01T10:10:00|2024-02-01T12:00:00|2\n";

/// Commands that are killed, or get failing calls, while they move their results into place.
const DISTURBED: [&str; 7] =
    ["sweep", "detect", "replay", "fairness", "query", "report", "analyze"];

const ONE_TOML: &str = "steps = [\"classify\", \"account\", \"sweep\", \"fairness\"]\n\
    [definitions]\ncpu = \"slots\"\n[sweep]\nrules = [\"events\"]\nthresholds = \"3,5\"\n";
const TWO_TOML: &str = "steps = [\"classify\", \"account\", \"sweep\", \"fairness\"]\n\
    [definitions]\ncpu = \"requested\"\nclasses = \"terminal\"\n[sweep]\nrules = [\"failures\"]\nbootstrap = 0\n";

/// Lakes of two traces, and two sets of results.
static LAKES: LazyLock<Place> = LazyLock::new(|| {
    let place = Place::new();
    fs::write(place.path("centre.sacct"), LOG).unwrap();
    for command in [
        "ingest centre.sacct --lake centre",
        TRACE,
        OTHER,
        "ingest trace --lake lake --buckets 2",
        "ingest other --lake lake2 --buckets 2",
        "account --cpu slots --out one/account",
        "fairness --cpu slots --out one/fairness",
        "account --lake lake2 --cpu slots --out two/account",
        "classify --lake lake2 --out two/classify",
    ] {
        run(&place, command).ok();
    }
    place
});

/// A folder with the lakes, the results and the files of the analyses.
fn place() -> Place {
    let place = Place::new();
    for name in ["trace", "lake", "lake2", "centre", "one", "two"] {
        symlink(LAKES.path(name), place.path(name)).unwrap();
    }
    fs::write(place.path("one.toml"), ONE_TOML).unwrap();
    fs::write(place.path("two.toml"), TWO_TOML).unwrap();
    fs::create_dir(place.path("pages")).unwrap();
    place
}

type Files = BTreeMap<String, Vec<u8>>;

fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

fn run(place: &Place, command: &str) -> Run {
    place.run(&words(command))
}

/// The files that each setting of a command writes into an empty folder.
fn alone(writer: &Writer) -> [Files; 2] {
    writer.commands.map(|command| {
        let place = place();
        run(&place, command).ok();
        tree(&place.path(writer.out))
    })
}

fn of_name(name: &str) -> &'static Writer {
    WRITERS.iter().find(|writer| writer.name == name).unwrap()
}

/// Whether a folder holds every file of a run unchanged.
fn holds(found: &Files, run: &Files) -> bool {
    run.iter().all(|(name, bytes)| found.get(name) == Some(bytes))
}

/// Names of files that differ from both of two folders, for messages.
fn differing(one: &Files, other: &Files) -> Vec<String> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).cloned().collect()
}

/// The analyses whose results a report shows.
fn analyses_in(report: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(report.join("data")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| {
            let value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            value["analysis_sha256"].to_string()
        })
        .collect()
}

/// After a stopped command, the folder holds the results of one run, or the mix is reported.
fn assert_one_or_said(writer: &Writer, place: &Place, whole: &[Files; 2], about: &str) {
    let found = tree(&place.path(writer.out));
    if writer.name == "report" {
        assert!(whole.contains(&found), "{about}: {:?}", differing(&found, &whole[0]));
        return;
    }
    let report = run(place, "report found --out check");
    let is_of_one = whole.iter().any(|files| holds(&found, files));
    match report.code {
        Some(0) if writer.name == "analyze" => {
            let analyses = analyses_in(&place.path("check"));
            assert_eq!(analyses.len(), 1, "{about}: {analyses:?}");
        }
        Some(0) => assert!(is_of_one, "{about}"),
        Some(3) => {
            let words = "differs from what `found/";
            assert!(report.stderr.contains(words), "{about}: {}", report.stderr);
        }
        code => panic!("{about}: {code:?} {}", report.stderr),
    }
}

/// The fault at a call.
#[derive(Clone, Copy)]
enum Blow {
    Kill,
    /// The call fails with an error number; all later calls also fail if the disk stays broken.
    Fail {
        error: i32,
        stays: bool,
    },
}

/// Runs the second setting with a fault at a call of some kinds. Also returns the number of calls
/// of these kinds, if the run was not killed.
fn with_blow(
    place: &Place,
    writer: &Writer,
    (calls, at): (&str, usize),
    blow: Blow,
) -> (Output, usize) {
    let library = FAILING_DISK.as_ref().unwrap();
    let count = place.path("count");
    let mut command = place.command(&words(writer.commands[1]));
    command
        .env("LD_PRELOAD", library)
        .env("FAULT_UNDER", writer.out.split('/').next().unwrap())
        .env("FAULT_CALLS", calls)
        .env("FAULT_AT", at.to_string())
        .env("FAULT_COUNT", &count);
    match blow {
        Blow::Kill => command.env("FAULT_KILL", "1"),
        Blow::Fail { error, stays } => command
            .env("FAULT_ERROR", error.to_string())
            .env("FAULT_STAYS", if stays { "1" } else { "0" }),
    };
    let output = command.output().unwrap();
    let calls = fs::read_to_string(&count).ok().and_then(|text| text.trim().parse().ok());
    (output, calls.unwrap_or(0))
}

/// A folder with the results of the first setting of a command.
fn with_earlier(writer: &Writer, earlier: &Files) -> Place {
    let place = place();
    for (name, bytes) in earlier {
        let path = place.path(writer.out).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    place
}

/// Runs the second setting again after a fault; no trace of the fault remains.
fn assert_repaired(writer: &Writer, place: &Place, whole: &Files, about: &str) {
    let again = run(place, writer.commands[1]);
    assert_eq!(again.code, Some(0), "{about}: {}", again.stderr);
    let found = tree(&place.path(writer.out));
    assert!(found == *whole, "{about}: {:?}", differing(&found, whole));
    let beside = tree(&place.path(writer.out.split('/').next().unwrap()));
    assert_eq!(beside.len(), found.len(), "{about}: {:?}", beside.keys());
}

/// Promise: after a kill at any instant, the folder holds one run, or the mix is reported. A second
/// run of the command leaves the files of an undisturbed run.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_kill_inside_the_publishing_leaves_one_run_or_is_reported() {
    if FAILING_DISK.is_none() {
        return;
    }
    let mut draws = ChaCha8Rng::seed_from_u64(41);
    for writer in DISTURBED.map(of_name) {
        let whole = alone(writer);
        let mut killed = 0;
        // Renames and removals move the results; syncs and new folders prepare it.
        for (calls, wanted) in
            [("rename unlink", KILLS_INSIDE * 3 / 4), ("sync mkdir", KILLS_INSIDE / 4)]
        {
            let place = with_earlier(writer, &whole[0]);
            let (output, count) = with_blow(&place, writer, (calls, 0), Blow::Kill);
            assert!(output.status.success() && 0 < count, "{}: {count} {calls}", writer.name);
            assert!(tree(&place.path(writer.out)) == whole[1], "{}", writer.name);
            for _ in 0..wanted {
                let at = draws.random_range(1..=count);
                let place = with_earlier(writer, &whole[0]);
                let (output, _) = with_blow(&place, writer, (calls, at), Blow::Kill);
                let about = format!("{} killed at call {at} of {count} {calls}", writer.name);
                killed += usize::from(!output.status.success());
                assert_one_or_said(writer, &place, &whole, &about);
                assert_repaired(writer, &place, &whole[1], &about);
            }
        }
        assert!(KILLS_INSIDE * 3 / 4 < killed, "{}: {killed} kills", writer.name);
    }
}

/// Promise: if a call fails, the command exits with 4 and names the path; the folder is in the same
/// state as after a kill.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_failing_call_leaves_one_run_or_is_reported() {
    if FAILING_DISK.is_none() {
        return;
    }
    let (full, broken, read_only) =
        ((28, "No space left on device"), (5, "Input/output error"), (30, "Read-only file system"));
    let kinds = [
        ("write", full, true),
        ("rename", full, true),
        ("sync", broken, false),
        ("unlink", broken, false),
        ("mkdir", read_only, true),
    ];
    let mut draws = ChaCha8Rng::seed_from_u64(43);
    for writer in DISTURBED.map(of_name) {
        let whole = alone(writer);
        for (calls, (error, words), stays) in kinds {
            let blow = Blow::Fail { error, stays };
            let place = with_earlier(writer, &whole[0]);
            let (output, count) = with_blow(&place, writer, (calls, 0), blow);
            assert!(output.status.success(), "{}: {calls}", writer.name);
            for _ in 0..if 0 < count { FAULTS_INSIDE / kinds.len() } else { 0 } {
                let at = draws.random_range(1..=count);
                let place = with_earlier(writer, &whole[0]);
                let (output, _) = with_blow(&place, writer, (calls, at), blow);
                let said = String::from_utf8_lossy(&output.stderr);
                let about = format!("{}: {calls} {at} of {count}: {said}", writer.name);
                // These calls may fail: a folder may exist, and a leftover is removed by the next
                // run.
                let may_fail = ["mkdir", "unlink"].contains(&calls);
                if !(may_fail && output.status.success()) {
                    assert_eq!(output.status.code(), Some(4), "{about}");
                    let under = format!("`{}", writer.out.split('/').next().unwrap());
                    assert!(said.contains(&under) && said.contains(words), "{about}");
                }
                assert_one_or_said(writer, &place, &whole, &about);
                assert_repaired(writer, &place, &whole[1], &about);
            }
        }
    }
}

fn start(place: &Place, command: &str) -> Child {
    let mut command = place.command(&words(command));
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Promise: each of two programs with the same --out either does all of its work, or exits
/// immediately with a reason; the folder is that of one of them.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn two_at_once_leave_what_one_leaves() {
    let mut draws = ChaCha8Rng::seed_from_u64(42);
    let mut refused = 0;
    for writer in &WRITERS {
        let whole = alone(writer);
        let begin = now();
        run(&place(), writer.commands[0]).ok();
        let takes = begin.elapsed();
        for _ in 0..PAIRS {
            let place = place();
            let first = start(&place, writer.commands[0]);
            thread::sleep(takes.mul_f64(draws.random_range(0.0..0.6)));
            let second = start(&place, writer.commands[1]);
            let both = [first, second].map(|child| child.wait_with_output().unwrap());
            let mut done = 0;
            for output in &both {
                let said = String::from_utf8_lossy(&output.stderr);
                match output.status.code() {
                    Some(0) => done += 1,
                    Some(4) => {
                        refused += 1;
                        let words = "another process is writing results into `found";
                        assert!(said.contains(words), "{}: {said}", writer.name);
                    }
                    code => panic!("{}: {code:?} {said}", writer.name),
                }
            }
            assert!(0 < done, "{}", writer.name);
            let found = tree(&place.path(writer.out));
            assert!(whole.contains(&found), "{}: {:?}", writer.name, differing(&found, &whole[0]));
        }
    }
    assert!(PAIRS < refused, "{refused} programs met another one");
}

/// Promise: no command overwrites or removes a file that it has not written; it refuses before
/// anything changes.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn nothing_of_others_is_overwritten() {
    let mut draws = ChaCha8Rng::seed_from_u64(36);
    for writer in &WRITERS {
        let whole = alone(writer);
        let is_analysis = writer.name == "analyze";
        let own: Vec<&String> = whole[1].keys().collect();
        let mut names: Vec<String> =
            (0..12).map(|_| own[draws.random_range(0..own.len())].clone()).collect();
        if writer.name == "report" {
            names.extend(["mine.txt", "users/mine.html", "data/deep/mine"].map(str::to_owned));
        }
        for name in names {
            let place = place();
            let mine = place.path(writer.out).join(&name);
            fs::create_dir_all(mine.parent().unwrap()).unwrap();
            fs::write(&mine, "mine").unwrap();
            let before = tree(&place.path(writer.out));
            let refused = run(&place, writer.commands[1]);
            let about = format!("{} `{name}`: {}", writer.name, refused.stderr);
            assert_eq!(refused.code, Some(2), "{about}");
            let first = name.split('/').next().unwrap();
            assert!(refused.stderr.contains(&format!("`{}/{first}", writer.out)), "{about}");
            assert_eq!(fs::read(&mine).unwrap(), b"mine", "{about}");
            // Steps of an analysis that were done before are kept.
            assert!(is_analysis || before == tree(&place.path(writer.out)), "{about}");
        }
    }
}

/// Promise: an edited file of a result is not lost if the command runs again.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn an_edited_result_is_not_overwritten() {
    let mut draws = ChaCha8Rng::seed_from_u64(19);
    // An analysis repeats steps whose files were changed.
    for writer in WRITERS.iter().filter(|writer| writer.name != "analyze") {
        let own: Vec<String> = alone(writer)[0].keys().cloned().collect();
        for _ in 0..2 {
            let name = &own[draws.random_range(0..own.len())];
            let place = place();
            run(&place, writer.commands[0]).ok();
            let edited = place.path(writer.out).join(name);
            let mut bytes = fs::read(&edited).unwrap();
            bytes.extend(b"mine");
            fs::write(&edited, &bytes).unwrap();
            let again = run(&place, writer.commands[0]);
            let about = format!("{} `{name}`: {}", writer.name, again.stderr);
            assert_eq!(again.code, Some(2), "{about}");
            assert!(again.stderr.contains(&format!("`{}/", writer.out)), "{about}");
            assert_eq!(fs::read(&edited).unwrap(), bytes, "{about}");
        }
    }
}

/// Promise: a report replaces only its own earlier pages, all of them or none.
#[test]
fn a_report_replaces_only_a_report() {
    let place = place();
    let report = |results: &str| run(&place, &format!("report {results} --out pages/report"));
    report("one").ok();
    assert!(place.path("pages/report/users/0001.html").exists());
    report("two").ok();
    for page in ["users", "fairness.html"] {
        assert!(!place.path("pages/report").join(page).exists(), "{page}");
    }
    let whole = tree(&place.path("pages/report"));
    let mut draws = ChaCha8Rng::seed_from_u64(37);
    let names: Vec<&String> = whole.keys().collect();
    for _ in 0..20 {
        // A changed byte of a page, an additional file, a missing file: the change was made by a
        // user.
        let path = place.path("pages/report").join(names[draws.random_range(0..names.len())]);
        let bytes = fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        let at = draws.random_range(0..bytes.len());
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        let refused = report("one");
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(
            refused.stderr.contains("does not belong to an earlier report"),
            "{}",
            refused.stderr
        );
        assert_eq!(fs::read(&path).unwrap(), changed);
        fs::write(&path, &bytes).unwrap();
        let further = path.with_extension("mine");
        fs::write(&further, "").unwrap();
        assert_eq!(report("one").code, Some(2));
        fs::remove_file(&further).unwrap();
    }
    assert!(tree(&place.path("pages/report")) == whole);
    let mut here = place.command(&words("report ../../one --out ."));
    let output = here.current_dir(place.path("pages/report")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is the current folder"));
    report("one").ok();
    // If the path is a link, its target folder is replaced, and the link stays.
    symlink("report", place.path("pages/link")).unwrap();
    run(&place, "report two --out pages/link").ok();
    assert!(place.path("pages/link").is_symlink());
    assert!(tree(&place.path("pages/report")) == whole);
    assert_eq!(fs::read_dir(place.path("pages")).unwrap().count(), 2);
}

#[test]
fn manual_pages_replace_only_manual_pages() {
    let place = Place::new();
    for _ in 0..2 {
        run(&place, "man --out man1").ok();
    }
    fs::write(place.path("man1/jobfate-sweep.1"), "mine").unwrap();
    let refused = run(&place, "man --out man1");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("`man1/jobfate-sweep.1` is not a manual page"));
    assert_eq!(fs::read(place.path("man1/jobfate-sweep.1")).unwrap(), b"mine");
}

/// Commands that write something new. `TAKEN` is its name, which is that of an existing file.
const NAMES: [&str; 27] = [
    "export --as swf --out TAKEN",
    "synth TAKEN --jobs 5",
    "synth TAKEN/inside --jobs 5",
    "ingest trace --lake TAKEN",
    "ingest trace --lake TAKEN/inside",
    "analyze trace --lake TAKEN",
    "analyze --lake lake --out TAKEN",
    "fairness new TAKEN --template metered",
    "fairness new TAKEN/inside --template metered",
    "man --out TAKEN",
    "verify --lake lake --out TAKEN",
    "classify --out TAKEN",
    "describe --what waiting --out TAKEN",
    "account --cpu slots --out TAKEN",
    "sweep --cpu slots --out TAKEN",
    "detect --out TAKEN",
    "load --out TAKEN",
    "episodes --out TAKEN",
    "machines --out TAKEN",
    "monthly --lake centre --out TAKEN",
    "predict --out TAKEN",
    "fairness --out TAKEN",
    "replay --out TAKEN/inside",
    "query q01 --out TAKEN",
    "query all --out TAKEN",
    "report one --out TAKEN",
    "reproduce ota --out TAKEN",
];

/// Promise: an existing name is wrong use in every command that writes; the file is unchanged.
#[test]
fn a_name_that_is_taken_is_refused() {
    let place = place();
    fs::write(place.path("mine"), "mine").unwrap();
    for command in NAMES {
        let refused = run(&place, &command.replace("TAKEN", "mine"));
        assert_eq!(refused.code, Some(2), "{command}: {}", refused.stderr);
        assert!(refused.stderr.contains("`mine"), "{command}: {}", refused.stderr);
        let advises = ["give", "move it away"].iter().any(|word| refused.stderr.contains(word));
        assert!(advises, "{command}: {}", refused.stderr);
        assert_eq!(fs::read(place.path("mine")).unwrap(), b"mine", "{command}");
    }
    let known: BTreeSet<&str> =
        NAMES.iter().map(|command| command.split(' ').next().unwrap()).collect();
    for command in commands() {
        let writes = options(&command)
            .iter()
            .any(|option| option.name == "out" || (option.name == "lake" && command == "ingest"));
        assert!(!writes || known.contains(command.as_str()), "{command}");
    }
}

/// `fairness new` asks before it writes; a file that was created meanwhile is also kept.
#[test]
fn a_file_that_comes_while_questions_are_asked_stays() {
    let place = Place::new();
    let mut command = place.command(&words("fairness new mine.toml --template metered"));
    let mut child =
        command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut asked = [0; 1];
    child.stderr.as_mut().unwrap().read_exact(&mut asked).unwrap();
    fs::write(place.path("mine.toml"), "mine").unwrap();
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read(place.path("mine.toml")).unwrap(), b"mine");
    // A broken link is an existing name, too.
    symlink("nowhere", place.path("link.toml")).unwrap();
    let refused = run(&place, "fairness new link.toml --template metered");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(!place.path("nowhere").exists());
}

/// A report on a full disk named a file that it read.
#[test]
fn a_report_that_cannot_be_written_names_what_it_writes() {
    let Some(library) = &*FAILING_DISK else { return };
    let place = place();
    for calls in ["write", "open", "sync", "mkdir"] {
        let mut command = place.command(&words("report one --out pages/report"));
        command.env("LD_PRELOAD", library).env("FAULT_UNDER", "pages").env("FAULT_CALLS", calls);
        command.env("FAULT_AT", "3").env("FAULT_ERROR", "28").env("FAULT_STAYS", "1");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{calls}: {said}");
        assert!(said.contains("`pages/") && said.contains("No space left"), "{calls}: {said}");
        assert!(!said.contains("`one/") && !said.contains(".jobfate"), "{calls}: {said}");
        assert!(!place.path("pages/report").exists(), "{calls}");
    }
}

/// Promise: the facts in a folder are those of one lake, and `result.json` names the lake.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn facts_are_one_set() {
    let place = place();
    let sums = |lake: &str| {
        let manifest = fs::read(place.path(lake).join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        manifest["tables"].as_object().unwrap().keys().cloned().collect::<BTreeSet<String>>()
    };
    let mut draws = ChaCha8Rng::seed_from_u64(35);
    for _ in 0..8 {
        let lake = ["lake", "lake2"][draws.random_range(0..2)];
        let threshold = draws.random_range(2..5);
        run(&place, &format!("query all --lake {lake} --thresholds {threshold} --out facts")).ok();
        let found = tree(&place.path("facts"));
        let result: Value = serde_json::from_slice(&found["result.json"]).unwrap();
        let inputs = result["inputs"].as_array().unwrap().iter();
        let inputs: BTreeSet<String> =
            inputs.map(|input| input["table"].as_str().unwrap().to_owned()).collect();
        assert_eq!(inputs, sums(lake));
        assert_eq!(result["settings"]["thresholds"], serde_json::json!([threshold]));
        // Every file is one of the set and unchanged, and every query has its file.
        let files = result["files"].as_array().unwrap();
        let named: BTreeSet<&str> = files.iter().map(|it| it["file"].as_str().unwrap()).collect();
        let there: BTreeSet<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(there, named.iter().copied().chain(["result.json"]).collect());
        for file in files {
            let bytes = &found[file["file"].as_str().unwrap()];
            assert_eq!(file["bytes"], bytes.len());
            assert_eq!(file["crc32"], crc32fast::hash(bytes));
        }
        for query in result["answer"].as_array().unwrap() {
            let csv = &found[&format!("{}.csv", query["query"].as_str().unwrap())];
            let rows = csv::Reader::from_reader(&csv[..]).records().count();
            assert_eq!(query["rows"], rows);
        }
        let has_usage = found.contains_key("q07_cpu_measured.csv");
        assert_eq!(has_usage, lake == "lake", "facts of tables that this lake has");
    }
    // A single fact is not a set, and does not replace files of a set.
    let refused = run(&place, "query q01 --lake lake --out facts");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("it belongs to the result `facts`"), "{}", refused.stderr);
}

/// Promise: a report shows one analysis, and names the results of another one.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn an_analysis_killed_over_another_one_is_not_mixed_with_it() {
    let mut draws = ChaCha8Rng::seed_from_u64(32);
    let writer = of_name("analyze");
    let whole = alone(writer);
    let begin = now();
    run(&place(), writer.commands[1]).ok();
    let takes = begin.elapsed();
    let (mut named, mut killed) = (0, 0);
    for _ in 0..ANALYSES_KILLED {
        let place = place();
        run(&place, writer.commands[0]).ok();
        let mut child = start(&place, writer.commands[1]);
        thread::sleep(takes.mul_f64(draws.random_range(0.0..1.0)));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        assert_one_or_said(writer, &place, &whole, "killed");
        let report = run(&place, "report found --out check");
        named += usize::from(report.stderr.contains("which is from another analysis"));
        run(&place, writer.commands[1]).ok();
        assert!(tree(&place.path("found")) == whole[1]);
        // Its report is that of an undisturbed run.
        let report = run(&place, "report found --out check").ok();
        assert!(!report.stderr.contains("left out"), "{}", report.stderr);
    }
    assert!(ANALYSES_KILLED / 4 < killed && 0 < named, "{killed} killed, {named} named");
    // Results that a command writes into the folder of an analysis do not belong to it.
    let place = place();
    run(&place, writer.commands[1]).ok();
    run(&place, "account --cpu slots --out found/own").ok();
    let report = run(&place, "report found --out check").ok();
    assert!(report.stderr.contains(
        "left out: `found/own/result.json`, which is not from an \
    analysis"
    ));
    // Two analyses are not shown in one report.
    run(&place, &writer.commands[0].replace("--out found", "--out other")).ok();
    let both = run(&place, "report found other --out check");
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    assert!(both.stderr.contains("belong to different analyses"), "{}", both.stderr);
}

/// Promise: `analyze` takes a lake, a file or a folder, and gives the same answers for the same
/// data.
#[test]
fn an_analysis_takes_a_lake_a_file_or_a_folder() {
    let place = place();
    let log = "; MaxProcs: 4\n1 0 5 60 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1\n\
        2 10 0 30 2 -1 -1 2 60 -1 0 2 1 -1 1 -1 -1 -1\n\
        3 20 9 90 1 -1 -1 1 99 -1 5 1 1 -1 1 -1 -1 -1\n";
    fs::create_dir(place.path("log")).unwrap();
    fs::write(place.path("log/a.swf"), log).unwrap();
    fs::write(place.path("a.toml"), "steps = [\"classify\", \"account\"]\n").unwrap();
    let analyze = |from: &str, out: &str| {
        run(&place, &format!("analyze {from} --config a.toml --out {out}")).ok().stderr
    };
    analyze("log/a.swf", "file");
    analyze("log", "folder");
    let said = analyze("--lake file/lake", "lake-alone");
    assert!(said.contains("no TRACE_DIR is given: analysing the lake file/lake"), "{said}");
    assert!(!place.path("lake-alone/synthetic-trace").exists());
    // The lake of an earlier analysis is used without an option.
    let again = run(&place, "analyze --config a.toml --out file").ok().stderr;
    assert!(again.contains("analysing the lake file/lake"), "{again}");
    for table in ["classify-jobs.csv", "classify-tasks.csv", "account.csv"] {
        let of = |out: &str| fs::read(place.path(out).join(table)).unwrap();
        assert!(of("file") == of("folder") && of("file") == of("lake-alone"), "{table}");
    }
    // The written file repeats the analysis.
    run(&place, "analyze --config lake-alone/analysis.toml --out again").ok();
    assert!(!place.path("again/synthetic-trace").exists());
    let odd = run(&place, "analyze --lake file/lake --parts 0-1 --out odd");
    assert_eq!(odd.code, Some(2), "{}", odd.stderr);
    assert!(odd.stderr.contains("--parts sets how a trace is read"), "{}", odd.stderr);
    let nowhere = run(&place, "analyze nowhere --out deep/er");
    assert_eq!(nowhere.code, Some(4), "{}", nowhere.stderr);
    assert!(!place.path("deep").exists() && !place.path("odd").exists(), "nothing is left");
}

/// The tests cover every command with --out.
#[test]
fn every_command_that_writes_is_there() {
    let commands = Command::new(env!("CARGO_BIN_EXE_jobfate")).arg("--help").output().unwrap();
    let help = String::from_utf8_lossy(&commands.stdout).into_owned();
    let known: BTreeSet<&str> =
        WRITERS.iter().map(|writer| writer.name.split(' ').next().unwrap()).collect();
    for line in help.lines().filter_map(|line| line.strip_prefix("  ")) {
        let Some(name) = line.split(' ').next().filter(|name| !name.is_empty()) else { continue };
        let help = Command::new(env!("CARGO_BIN_EXE_jobfate")).args([name, "--help"]).output();
        let help = String::from_utf8_lossy(&help.unwrap().stdout).into_owned();
        // The studies of `reproduce` are written like other results; manuals have a separate test.
        let writes = help.contains("--out <DIR>") && !["reproduce", "man", "help"].contains(&name);
        assert!(!writes || known.contains(name), "{name} is not among the writers");
    }
}
