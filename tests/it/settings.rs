//! The settings that a result records.

use std::fs;

use serde_json::Value;

use super::support::{Place, options};

/// Options about the lake, the engine and the format of the answer; they change no number.
const OF_FORM: [&str; 21] = [
    "lake",
    "format",
    "chart-data",
    "chart-format",
    "chart-width",
    "no-title",
    "columns",
    "sort",
    "width",
    "top",
    "out",
    "engine",
    "spark-home",
    "spark-conf",
    "master",
    "spark-lake",
    "spark-program",
    "journal",
    "help",
    "quiet",
    "verbose",
];

/// Options that are in the settings under `windows` or, with several lakes, under `clusters`.
const OF_WINDOWS: [&str; 2] = ["window-end", "open-attempts"];

/// A command with a few options, and its recorded settings.
type Case = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const ASKED: [Case; 8] = [
    (
        "classify",
        &["--by", "task", "--classes", "terminal"],
        &[("by", "\"task\""), ("classes", "\"terminal\""), ("sequences", "false")],
    ),
    (
        "describe",
        &["--what", "waiting", "--waits", "ended"],
        &[("what", "\"waiting\""), ("waits", "\"ended\""), ("censored", "\"include\"")],
    ),
    (
        "account",
        &["--group-by", "user", "--cpu", "slots"],
        &[("group_by", "[\"user\"]"), ("cpu", "\"slots\""), ("resource", "\"cpu\"")],
    ),
    (
        "load",
        &["--interval", "90m", "--by", "user"],
        &[("interval", "\"90m\""), ("by", "\"user\""), ("groups", "6"), ("resource", "null")],
    ),
    ("machines", &["--together", "60"], &[("together", "\"1m\"")]),
    (
        "sweep",
        &["--thresholds", "2,3", "--price", "7"],
        &[("thresholds", "[2,3]"), ("price", "7.0"), ("seed", "1"), ("bootstrap", "0")],
    ),
    (
        "detect",
        &["--detectors", "late", "--noise", "0.25", "--windows", "30,60"],
        &[("noise", "0.25"), ("heartbeat", "10.0"), ("windows_s", "[30,60]")],
    ),
    (
        "replay",
        &["--policies", "fifo", "--sample", "0.5", "--from", "0"],
        &[("sample", "0.5"), ("load", "1.0"), ("policies", "[\"fifo\"]"), ("machines", "1.0")],
    ),
];

/// Promise: a result holds every option of its command, including defaults.
#[test]
fn the_settings_of_a_result_hold_every_option() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "60", "--days", "1", "--parts", "1"]).ok();
    place.run(&["ingest", "trace", "--lake", "lake", "--quiet"]).ok();
    let fairness: Case = (
        "fairness",
        &["--by", "class", "--index", "jain", "--free", "0.25"],
        &[("by", "\"class\""), ("free", "0.25"), ("interval", "3600.0"), ("index", "[\"jain\"]")],
    );
    for (command, args, said) in ASKED.iter().copied().chain([fairness]) {
        let all = [&[command, "--out", command, "--quiet"], args].concat();
        place.run(&all).ok();
        let text = fs::read(place.path(&format!("{command}/result.json"))).expect("it is stored");
        let result: Value = serde_json::from_slice(&text).expect("it is JSON");
        let settings = &result["settings"];
        let is_form =
            |name: &str| OF_FORM.contains(&name) && (command, name) != ("fairness", "top");
        for option in options(command) {
            let key = option.name.replace('-', "_");
            let is_held = if OF_WINDOWS.contains(&option.name.as_str()) {
                let place = settings.get("windows").unwrap_or(&settings["clusters"][0]);
                place["open_attempts"] == "job-end"
            } else {
                is_form(&option.name) || settings.get(&key).is_some()
            };
            assert!(is_held, "{command} --{}: {settings:#}", option.name);
        }
        for (key, value) in said {
            assert_eq!(settings[*key].to_string(), *value, "{command}: {key}");
        }
    }
}
