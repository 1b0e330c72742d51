//! A whole analysis as one file, and one that goes on where it was stopped.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::support::{Place, now, tree};

fn place() -> Place {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "60", "--days", "0.5", "--parts", "2"]).ok();
    place
}

const CONFIG: &str = "steps = [\"sweep\", \"account\", \"describe\", \"replay\"]\n\
    [trace]\nfolder = \"trace\"\nlake = \"lake\"\nout = \"found\"\n\
    [definitions]\ncpu = \"slots\"\nclasses = \"terminal\"\n\
    [describe]\nwhat = \"attempts\"\ngroup_by = \"priority\"\n\
    [account]\ngroup-by = [\"class\"]\n\
    [sweep]\nrules = [\"failures\", \"events\"]\nthresholds = \"3,5\"\nbootstrap = 20\n\
    [replay]\npolicies = [\"fifo\", \"fair\"]\n";

/// The files of an analysis but for pictures, the lake, and the words of the command line.
fn results(place: &Place, folder: &str) -> BTreeMap<String, String> {
    let is_text = |name: &String| name.ends_with(".json") || name.ends_with(".csv");
    let files = tree(&place.path(folder)).into_iter();
    let files = files.filter(|(name, _)| is_text(name) && !name.starts_with("report/"));
    files
        .map(|(name, bytes)| {
            let text = String::from_utf8(bytes).unwrap();
            match serde_json::from_str::<serde_json::Value>(&text) {
                // The sums of results hold their command lines as well.
                Ok(steps) if name.ends_with("steps.json") => {
                    let steps = steps["steps"].as_object().unwrap();
                    let files = |step: &serde_json::Value| {
                        let files = step["files"].as_array().unwrap().iter();
                        files.map(|file| file["file"].clone()).collect::<Vec<_>>()
                    };
                    let steps: Vec<_> =
                        steps.iter().map(|(name, step)| (name, files(step))).collect();
                    (name, format!("{steps:?}"))
                }
                Ok(mut value) if name.ends_with(".json") && value.is_object() => {
                    value["command"] = serde_json::Value::Null;
                    value["checksum"] = serde_json::Value::Null;
                    value["analysis"]["trace"] = serde_json::Value::Null;
                    value["analysis_sha256"] = serde_json::Value::Null;
                    (name, value.to_string())
                }
                _ => (name, text),
            }
        })
        .collect()
}

/// Compares results file by file.
#[track_caller]
fn same(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    let changed: Vec<&String> = one.keys().filter(|name| one[*name] != other[*name]).collect();
    assert!(changed.is_empty(), "{changed:?}");
}

#[test]
fn a_file_holds_a_whole_analysis() {
    let place = place();
    fs::write(place.path("analysis.toml"), CONFIG).unwrap();
    let first = place.run(&["analyze", "--config", "analysis.toml"]).ok();
    assert!(first.stderr.contains("[4/4] replay"), "{}", first.stderr);
    let found = results(&place, "found");
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    for name in ["account.json", "sweep.json", "attempts.json", "replay/result.json"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!names.iter().any(|name| name.starts_with("detect") || name.starts_with("verify")));
    // The choices of the file are those of the results, each of which holds all of them.
    let sweep: serde_json::Value = serde_json::from_str(&found["sweep.json"]).unwrap();
    assert_eq!(sweep["settings"]["cpu"], "slots");
    assert_eq!(sweep["answer"]["rule"], "failures");
    assert_eq!(sweep["analysis"]["definitions"]["classes"], "terminal");
    assert_eq!(sweep["analysis"]["replay"]["policies"], serde_json::json!(["fifo", "fair"]));
    assert_eq!(sweep["analysis"]["sweep"]["seed"], 1, "what was left open is written out");
    assert!(found["account.csv"].contains("class"), "{}", found["account.csv"]);
    assert!(found["attempts.csv"].starts_with("priority,outcome,"), "{}", found["attempts.csv"]);
    // What it was run with does it again; the command line counts more.
    place.run(&["analyze", "--config", "found/analysis.toml", "--out", "again"]).ok();
    same(&results(&place, "again"), &found);
}

#[test]
fn an_analysis_goes_on_where_it_was_stopped() {
    let place = place();
    fs::write(place.path("analysis.toml"), CONFIG).unwrap();
    place.run(&["analyze", "--config", "analysis.toml"]).ok();
    let found = results(&place, "found");
    let run = |args: &[&str]| {
        let base = ["analyze", "--config", "analysis.toml"];
        place.run(&[&base[..], args].concat()).ok().stderr
    };
    let said = run(&[]);
    assert_eq!(said.matches("done before").count(), 4, "{said}");
    // As if the sweep had been begun and its results damaged: its mark is gone.
    let marks = fs::read(place.path("found/steps.json")).unwrap();
    let mut marks: serde_json::Value = serde_json::from_slice(&marks).unwrap();
    assert!(marks["steps"].as_object_mut().unwrap().remove("sweep").is_some());
    fs::write(place.path("found/steps.json"), marks.to_string()).unwrap();
    let sweep = fs::read_to_string(place.path("found/sweep.json")).unwrap();
    fs::write(place.path("found/sweep.json"), sweep.replacen("slots", "clots", 1)).unwrap();
    let said = run(&[]);
    assert_eq!(said.matches("done before").count(), 3, "{said}");
    same(&results(&place, "found"), &found);
    // Another choice is another question.
    fs::write(place.path("analysis.toml"), CONFIG.replace("3,5", "3,6")).unwrap();
    let said = run(&[]);
    assert!(said.contains("[3/4] sweep\n") && said.matches("done before").count() == 3, "{said}");
    assert!(!run(&["--again"]).contains("done before"));
    // A step that stops half-way in another analysis is not done in this one either.
    let half = CONFIG.replace("3,5", "4,7").replace("bootstrap = 20", "bootstrap = 21");
    fs::write(place.path("half.toml"), half).unwrap();
    fs::remove_file(place.path("found/sweep-selection.csv")).unwrap();
    fs::create_dir(place.path("found/sweep-selection.csv")).unwrap();
    let stopped = place.run(&["analyze", "--config", "half.toml"]);
    assert_eq!(stopped.code, Some(2), "{}", stopped.stderr);
    fs::remove_dir(place.path("found/sweep-selection.csv")).unwrap();
    // With every file in its place the mark alone can tell.
    fs::write(place.path("found/sweep-selection.csv"), "").unwrap();
    assert!(run(&[]).contains("[3/4] sweep\n"), "its results are of the other analysis");
    assert_eq!(run(&[]).matches("done before").count(), 4);
    // Nor is one whose results are gone, or are no longer what they were.
    fs::remove_file(place.path("found/account.csv")).unwrap();
    assert!(run(&[]).contains("[2/4] account\n"));
    let table = place.path("found/account.csv");
    let rows = fs::read_to_string(&table).unwrap();
    fs::write(&table, rows.replacen('1', "2", 1)).unwrap();
    assert!(run(&[]).contains("[2/4] account\n"));
    assert_eq!(fs::read_to_string(&table).unwrap(), rows);
}

#[test]
fn a_report_shows_its_own_analysis_alone() {
    let place = place();
    let run = |config: &str| {
        fs::write(place.path("own.toml"), config).unwrap();
        place.run(&["analyze", "trace", "--config", "own.toml", "--out", "found"]).ok();
        place.path("found/report/distributions.html")
    };
    let page = fs::read_to_string(run("steps = [\"describe\"]\n")).unwrap();
    assert!(page.contains("id=\"attempts\"") && page.contains("id=\"waiting\""));
    let page = run("steps = [\"describe\"]\n[describe]\nwhat = \"waiting\"\n");
    let page = fs::read_to_string(page).unwrap();
    assert!(!page.contains("id=\"attempts\"") && page.contains("id=\"waiting\""));
    // Another content of a file that is named is another question.
    fs::write(place.path("shares.txt"), "a 1\na/x 1\n").unwrap();
    let config = "steps = [\"fairness\"]\n[fairness]\naccounts = \"shares.txt\"\n";
    run(config);
    let again = || place.run(&["analyze", "trace", "--config", "own.toml", "--out", "found"]).ok();
    assert!(again().stderr.contains("done before"));
    fs::write(place.path("shares.txt"), "a 1\na/x 2\n").unwrap();
    assert!(!again().stderr.contains("done before"));
}

/// Signals that an `analyze` gets, and milliseconds after its begin.
pub(crate) const SIGNALS: [(&str, u64); 4] =
    [("-INT", 60), ("-TERM", 400), ("-INT", 900), ("-TERM", 1500)];

/// Stopped by a signal wherever it is, an analysis ends within a second or two and goes on later.
#[test]
fn a_signal_stops_an_analysis_and_nothing_is_lost() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "300", "--days", "1", "--parts", "3"]).ok();
    let args = ["analyze", "trace", "--out", "found"];
    for (signal, millis) in SIGNALS {
        let mut child =
            place.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        thread::sleep(Duration::from_millis(millis));
        let number = child.id().to_string();
        let begin = now();
        let sent = Command::new("kill").args([signal, &number]).status();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let code = child.wait().unwrap().code();
        let took = begin.elapsed();
        // One that was done before, or had not yet begun to listen, has nothing to say about it.
        if sent.is_ok_and(|status| status.success()) && code.is_some_and(|code| code != 0) {
            assert_eq!(code, Some(130), "{said}");
            assert!(said.contains("run the same command to go on"), "{said}");
            assert!(took < Duration::from_secs(2), "{took:?}");
        }
    }
    place.run(&args).ok();
    place.run(&["analyze", "trace", "--out", "undisturbed"]).ok();
    same(&results(&place, "found"), &results(&place, "undisturbed"));
    let lakes = ["found/lake", "undisturbed/lake"].map(|lake| tree(&place.path(lake)));
    assert!(lakes[0] == lakes[1], "the lakes are the same");
}

#[test]
fn a_file_that_is_none_is_shown_at_its_place() {
    let place = Place::new();
    fs::write(place.path("analysis.toml"), "[sweep]\nprise = 1\n").unwrap();
    let said = place.run(&["analyze", "--config", "analysis.toml"]);
    let text = said.text();
    assert!(text.contains("exit code: 2"), "{text}");
    assert!(text.contains("`analysis.toml`: line 2, column 1: [sweep] has no `prise`"), "{text}");
    let said = place.run(&["analyze", "--config", "nowhere.toml"]).text();
    assert!(said.contains("exit code: 4") && said.contains("nowhere.toml"), "{said}");
}
