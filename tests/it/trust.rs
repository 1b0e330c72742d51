//! The reliability of a sweep: intervals of every rule, and choices tested on later jobs.

use std::fs;

use serde_json::Value;

use super::support::Place;

const RULES: &str = "events,failures,restarts+events=5";

fn synthetic() -> Place {
    let place = Place::new();
    let args = ["synth", "trace", "--jobs", "400", "--days", "1", "--parts", "3", "--seed", "4"];
    place.run(&args).ok();
    place.ingest(&["--buckets", "3"]).ok();
    place
}

/// The sweeps of an answer: the first rule is at the top level of the JSON, the others in a list
/// next to it.
fn sweeps(answer: &Value) -> Vec<(&str, &Vec<Value>)> {
    let first = (answer["rule"].as_str().unwrap(), answer["rows"].as_array().unwrap());
    let others = answer["rules"].as_array().unwrap().iter();
    let others =
        others.map(|sweep| (sweep["rule"].as_str().unwrap(), sweep["rows"].as_array().unwrap()));
    [first].into_iter().chain(others).collect()
}

#[test]
fn every_rule_has_its_rows_and_intervals() {
    let place = synthetic();
    let args = [
        "sweep",
        "--cpu",
        "slots",
        "--rules",
        RULES,
        "--thresholds",
        "3,6,9,12",
        "--bootstrap",
        "60",
        "--format",
        "json",
        "--out",
        "out",
    ];
    let answer = place.run(&args).ok().json();
    let csv = fs::read_to_string(place.path("out/sweep.csv")).unwrap();
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    assert!(header.starts_with("rule,threshold,"), "{header}");
    for column in ["harmed_jobs_low", "harmed_jobs_high", "net_share_low", "net_share_high"] {
        assert!(header.split(',').any(|name| name == column), "{header}");
    }
    let mut spread = 0;
    for (rule, rows) in sweeps(&answer) {
        for row in rows {
            let line = lines.next().unwrap();
            assert!(line.starts_with(&format!("{rule},{},", row["threshold"])), "{rule}: {line}");
            let low_high = |name: &str| {
                let bound =
                    |side: &str| row["interval"][format!("{name}_{side}")].as_f64().unwrap();
                (bound("low"), bound("high"))
            };
            let (low, high) = low_high("harmed_jobs");
            let harmed = row["harmed_jobs"].as_f64().unwrap();
            // If a few jobs are harmed, the interval contains their number.
            assert!(low <= harmed && harmed <= high, "{rule}: {low} {harmed} {high}");
            let (low, high) = low_high("net_share");
            assert!(low <= high);
            spread += usize::from(low < high);
        }
    }
    assert_eq!(lines.next(), None, "every row is one of a rule");
    assert!(3 < spread, "resampling moves the numbers");
    for chart in ["sweep-rules.svg", "sweep-plane.svg"] {
        let svg = fs::read_to_string(place.path(&format!("out/{chart}"))).unwrap();
        assert!(svg.contains("95 %"), "{chart}");
    }
}

#[test]
fn resampling_depends_on_the_seed_alone() {
    let place = synthetic();
    let args = ["sweep", "--cpu", "slots", "--bootstrap", "40", "--format", "csv"];
    let run = |threads: &str, seed: &str| {
        let mut command = place.command(&[&args[..], &["--seed", seed]].concat());
        String::from_utf8(command.env("RAYON_NUM_THREADS", threads).output().unwrap().stdout)
            .unwrap()
    };
    assert_eq!(run("1", "7"), run("3", "7"));
    assert_ne!(run("1", "7"), run("1", "8"));
}

#[test]
fn the_choice_among_all_rules_is_the_best_of_the_past() {
    let place = synthetic();
    let args = [
        "sweep",
        "--cpu",
        "slots",
        "--rules",
        RULES,
        "--thresholds",
        "3,6,9,12",
        "--train-until",
        "0.5",
        "--price",
        "50",
        "--bootstrap",
        "60",
        "--out",
        "out",
    ];
    let run = place.run(&args).ok();
    let text = run.stdout_text();
    let table = text.split("\n\n").nth(1).unwrap();
    assert!(table.starts_with("among"), "{text}");
    let result: Value =
        serde_json::from_str(&fs::read_to_string(place.path("out/result.json")).unwrap()).unwrap();
    let selection = &result["answer"]["selection"];
    let gentler = usize::from(!selection["gentler"].is_null());
    let rows = 3 + 1 + gentler;
    assert_eq!(table.lines().count(), 1 + rows, "a row per rule and one for all: {table}");
    let gain = |choice: &Value, part: &str| choice[part]["gain"].as_f64().unwrap();
    let rules = selection["rules"].as_array().unwrap();
    let best = rules.iter().map(|rule| gain(rule, "train")).fold(0.0, f64::max);
    assert!(0.0 < best, "there is something to gain");
    let chosen = &selection["chosen"];
    assert_eq!(gain(chosen, "train"), best);
    let own = rules.iter().find(|rule| rule["train"] == chosen["train"]).unwrap();
    assert_eq!(own["test"], chosen["test"], "one choice has one score in the future");
    let hindsight = rules.iter().map(|rule| gain(rule, "hindsight")).fold(0.0, f64::max);
    assert_eq!(gain(chosen, "hindsight"), hindsight);
    for rule in rules.iter().chain([chosen]) {
        let score = &rule["test"];
        let net = score["net_cpu"].as_f64().unwrap();
        let harmed = score["harmed_jobs"].as_f64().unwrap();
        assert_eq!(gain(rule, "test"), net - 50.0 * harmed);
        // A harmed job counts a Poisson(1) number of times: their sum has the same variance.
        let bound = |side: &str| rule["test_interval"][format!("harmed_jobs_{side}")].as_f64();
        let (low, high) = (bound("low").unwrap(), bound("high").unwrap());
        let room = 4.0 * harmed.sqrt();
        assert!(harmed - room <= low && high <= harmed + room, "{rule}");
        assert!(low <= harmed && harmed <= high && (harmed == 0.0 || low < high), "{rule}");
    }
    let csv = fs::read_to_string(place.path("out/sweep-selection.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + rows, "{csv}");
    assert!(csv.lines().next().unwrap().contains(",test_gain_low,test_gain_high,"), "{csv}");
}

/// Sums of many values have the same digits for any number of threads.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn one_two_and_eight_threads_print_the_same() {
    let place = synthetic();
    for question in [
        &["classify", "--by", "task"][..],
        &["describe", "--what", "waiting", "--group-by", "user"],
        &["describe", "--what", "job-survival"],
        &["account", "--cpu", "measured", "--group-by", "priority,user"],
        &["account", "--cpu", "published"],
        &["sweep", "--rules", RULES, "--bootstrap", "40", "--train-until", "0.5"],
        &["detect", "--noise", "0.2"],
        &["replay", "--policies", "fifo", "fair", "fifo+late", "--seeds", "2"],
        &["fairness", "--accrual", "running", "--index", "metered", "--index", "jain"],
        &["query", "q07"],
    ] {
        let answer = |threads: &str| {
            let mut command = place.command(&[question, &["--format", "json"]].concat());
            let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
            assert!(output.status.success(), "{question:?}");
            output.stdout
        };
        let one = answer("1");
        for threads in ["2", "8"] {
            assert!(one == answer(threads), "{question:?} with {threads} threads");
        }
    }
}
