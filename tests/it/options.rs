//! Every option of every command refuses invalid values: exit code 2, and a sentence that names the
//! option. A negative number is refused after `=` and after a blank.
//!
//! ```text
//!  numbers   none, below zero, not a number, endless, of another notation, a word
//!  words     none, and one that is not among the known
//! ```
//!
//! The value name of an option says which values are valid, so a new option needs no
//! entry here. A new value name fails the test until it is in one of the lists.

use std::process::Command;

use super::support::{Place, commands, options};

/// Value names of numbers, and of lists and ranges of numbers.
const NUMBERS: [&str; 21] = [
    "CHARACTERS",
    "COUNT",
    "COUNT|PERCENT",
    "CPU_SECONDS",
    "DAYS",
    "DEVIATION",
    "FACTOR",
    "HOURS",
    "LENGTH",
    "LIST",
    "RANGES",
    "ROUNDS",
    "ROWS",
    "RUNS",
    "SECONDS",
    "SECONDS,...",
    "SEED",
    "SHARE",
    "TASKS",
    "THRESHOLD",
    "I/N",
];

/// Value names of a notation, or of a list that the help does not show item by item.
const WRITTEN: [&str; 19] = [
    "CLASSES",
    "DETECTOR",
    "FROM",
    "INDEX",
    "KEY=VALUE",
    "KEY=VALUE,...",
    "KIND",
    "KIND,...",
    "MASTER",
    "POLICY",
    "RULE,...",
    "SOURCE",
    "SPEC",
    "WIDTH",
    "TABLE",
    "TABLE,...",
    "TRUTH,...",
    "YES_OR_NO",
    "ZONE",
];

/// Value names of any text: paths, names of columns, settings of other programs.
const FREE: [&str; 13] = [
    "COUNT|NAME,...",
    "DIR",
    "FILE",
    "FILE.toml",
    "FIRST",
    "KEYFILE",
    "NAME",
    "NAME,...",
    "NAME=FILE",
    "NAME=PROGRAM",
    "PHASE",
    "RULE",
    "URL",
];

/// Texts that are not numbers.
const NO_NUMBERS: [&str; 9] = ["", " ", "-1", "nan", "-inf", "1e400", "0x10", "many", "1;2"];

/// Values outside of the range of one option.
const BEYOND: &[(&str, &str)] = &[
    ("account", "--columns=nope"),
    ("account", "--sort=nope"),
    ("account", "--sort=cpu:up"),
    ("detect", "--windows=0"),
    ("detect", "--windows=99999999999"),
    ("detect", "--windows=30,0"),
    ("detect", "--min-tasks=0"),
    ("detect", "--min-tasks=99999999999999999999"),
    ("detect", "--heartbeat=0"),
    ("detect", "--heartbeat=0.01"),
    ("detect", "--heartbeat=1e9"),
    ("detect", "--noise=11"),
    ("detect", "--truth="),
    ("detect", "--truth=p0"),
    ("detect", "--truth=p101"),
    ("detect", "--truth=median:nan"),
    ("detect", "--truth=median:1e400"),
    ("detect", "--detectors="),
    ("detect", "--detectors=late:cap=2"),
    ("detect", "--detectors=poisson:window_s=1e300"),
    ("detect", "--phase=nothing"),
    ("detect", "--seed=18446744073709551616"),
    ("describe", "--resamples=-5"),
    ("sweep", "--price=-0.5"),
    ("sweep", "--price=1e30"),
    ("sweep", "--price=1e300"),
    ("ingest", "--buckets=99999999999999999999999"),
    ("ingest", "--threads=99999999999999999999999"),
    ("replay", "--policies="),
    ("replay", "--policies=late:heartbeat_s=0"),
    ("replay", "--policies=late:heartbeat_s=-1"),
    ("fairness", "--index="),
    ("fairness", "--index=condor:half_life_s=-1"),
    ("synth", "--jobs=0"),
    ("synth", "--days=0"),
    ("synth", "--jobs=99999999999999999999999"),
    ("synth", "--seed=99999999999999999999999"),
    ("synth", "--scale=1e-320"),
    ("synth", "--scale=1e300"),
];

/// Separates an option and its value if they are two arguments.
const BLANK: char = '\0';

/// Arguments without which a command does not check its options.
fn needed(command: &str) -> &'static [&'static str] {
    match command {
        "ingest" | "map" => &["trace"],
        "journal" => &["journal.txt"],
        "report" => &["results"],
        "query" => &["q01"],
        "reproduce" => &["tan"],
        "synth" => &["made"],
        "completions" => &["bash"],
        _ => &[],
    }
}

/// What is wrong with the refusal of `option`, if anything. An option is `--name=VALUE`, or has a
/// blank instead of `=`.
fn fault(place: &Place, command: &str, option: &str) -> Option<String> {
    let args = [&[command], needed(command), &[option]].concat();
    let args: Vec<&str> = args.into_iter().flat_map(|arg| arg.split(BLANK)).collect();
    let mut run = Command::new("timeout");
    run.args(["-s", "KILL", "30", env!("CARGO_BIN_EXE_jobfate")]).args(&args);
    run.current_dir(place.path("")).env("COLUMNS", "100").env_remove("POLARS_MAX_THREADS");
    let output = run.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let name = option.split(['=', BLANK]).next().unwrap_or(option);
    let is_named = said.contains(name);
    let is_refused = output.status.code() == Some(2);
    // Messages of the standard library of Rust about a number that it cannot read.
    let is_rust = ["digit found", "float literal", "target type", "empty string"];
    let is_plain = !is_rust.iter().any(|words| said.contains(words));
    (!is_refused || !is_named || !is_plain).then(|| {
        let last: String = said.chars().take(300).collect();
        format!("{command} {option}: {:?}: {last}", output.status.code())
    })
}

fn place() -> Place {
    let place = Place::new();
    let args = ["synth", "trace", "--jobs", "60", "--days", "1", "--parts", "2", "--seed", "4"];
    place.run(&args).ok();
    place.ingest(&[]).ok();
    place
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn no_option_takes_what_it_cannot_mean() {
    let place = place();
    let (mut faults, mut tried) = (Vec::new(), 0);
    // The portal has separate tests.
    for command in commands().into_iter().filter(|command| command != "serve") {
        for option in options(&command) {
            let Some(value) = option.value else { continue };
            let bad: &[&str] = if option.is_word {
                &["", "nonsense", "-1", "nan"]
            } else if NUMBERS.contains(&value.as_str()) {
                &NO_NUMBERS
            } else if WRITTEN.contains(&value.as_str()) {
                &["", "nonsense", "-1", "nan"]
            } else {
                // A new value name must be added to a list.
                assert!(FREE.contains(&value.as_str()), "{command} --{}: {value}", option.name);
                continue;
            };
            for text in bad {
                tried += 1;
                let blank = (*text == "-1").then(|| format!("--{}{BLANK}{text}", option.name));
                for option in [Some(format!("--{}={text}", option.name)), blank] {
                    faults.extend(option.and_then(|it| fault(&place, &command, &it)));
                }
            }
        }
    }
    for (command, option) in BEYOND {
        tried += 1;
        faults.extend(fault(&place, command, option));
    }
    assert!(300 < tried, "{tried} are tried");
    assert!(faults.is_empty(), "{} of {tried}:\n{}", faults.len(), faults.join("\n"));
}

/// A refusal by the system is not wrong use: it gives exit code 4 and a sentence.
#[test]
fn limits_of_the_system_are_the_environment() {
    let place = place();
    for (limit, program, words) in [
        // A file of 4 KiB at most.
        ("ulimit -f 4", "detect --out out", "ulimit -f"),
        ("ulimit -f 4", "ingest trace --lake other", "ulimit -f"),
        ("ulimit -f 4", "synth more --jobs 3000", "ulimit -f"),
    ] {
        let line = format!("{limit}; exec \"$JOBFATE\" {program}");
        let run = place.shell(&line);
        assert_eq!(run.code, Some(4), "{line}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{line}: {}", run.stderr);
    }
    for (name, zero) in [
        ("POLARS_MAX_THREADS", 2),
        ("RAYON_NUM_THREADS", 0),
        ("POLARS_ASYNC_THREAD_COUNT", 2),
        ("POLARS_MAX_BLOCKING_THREAD_COUNT", 2),
    ] {
        for (value, code) in [("0", zero), ("-1", 2), ("", 2), ("many", 2), ("1", 0)] {
            let mut command = place.command(&["detect", "--detectors", "none"]);
            let output = command.env(name, value).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{name}={value}: {said}");
            assert!(code == 0 || said.contains(name), "{said}");
        }
    }
}

/// The limit of processes does not apply to the superuser, so the test runs as another user.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn threads_that_cannot_be_started_are_the_environment() {
    let place = place();
    std::fs::create_dir(place.path("open")).unwrap();
    for (rights, folder) in [("a+rX", ""), ("a+rX", "lake"), ("a+rwX", "open")] {
        let mut command = Command::new("chmod");
        assert!(command.args(["-R", rights]).arg(place.path(folder)).status().unwrap().success());
    }
    let (mut refused, mut done) = (0, 0);
    let few = ["detect", "verify", "ingest trace --lake open/lake$$"];
    let few = few.iter().flat_map(|&program| (1..=5).map(move |threads| (threads, program)));
    // The SQL engine has the most threads. Earlier, it waited forever if one of them could not
    // start.
    for (threads, program) in (1..=40).map(|threads| (threads, "query q01")).chain(few) {
        // A process that hangs is ended with code 124.
        let line = format!(
            "id -u | grep -q '^0$' && as='setpriv --reuid=64321 --clear-groups' || as=; \
             export POLARS_MAX_THREADS=2 RAYON_NUM_THREADS=2; \
             ulimit -u {threads}; exec timeout 60 $as \"$JOBFATE\" {program}"
        );
        let run = place.shell(&line);
        if run.stderr.contains("setpriv") || run.stderr.contains("Permission denied") {
            return super::support::skipped("cannot run as another user here");
        }
        // If more threads are available than requested, the command works.
        assert!(matches!(run.code, Some(0 | 4)), "{line}: {:?} {}", run.code, run.stderr);
        let is_told = run.stderr.contains("thread") && run.stderr.contains("ulimit -u");
        assert!(run.code == Some(0) || is_told, "{line}: {}", run.stderr);
        refused += u32::from(run.code == Some(4));
        done += u32::from(run.code == Some(0));
    }
    assert!(0 < refused, "the limit holds for whoever runs the test");
    assert!(0 < done, "40 threads are enough for pools of two");
}
