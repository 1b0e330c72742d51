//! A whole analysis as one file, and an analysis that continues where it was stopped.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::support::{Place, golden, now, tree};

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

/// The files of an analysis, without pictures, without the lake and without the command line.
fn results(place: &Place, folder: &str) -> BTreeMap<String, String> {
    let is_text = |name: &String| name.ends_with(".json") || name.ends_with(".csv");
    let files = tree(&place.path(folder)).into_iter();
    let files = files.filter(|(name, _)| is_text(name) && !name.starts_with("report/"));
    files
        .map(|(name, bytes)| {
            let text = String::from_utf8(bytes).unwrap();
            match serde_json::from_str::<serde_json::Value>(&text) {
                // Checksums of results depend on their command lines as well.
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
                    // Parquet contains the command line, so its checksum differs.
                    for file in value["files"].as_array_mut().into_iter().flatten() {
                        if file["file"].as_str().is_some_and(|name| name.ends_with(".parquet")) {
                            *file = file["file"].clone();
                        }
                    }
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
    // The settings of the file are those of the results; each result has all of them.
    let sweep: serde_json::Value = serde_json::from_str(&found["sweep.json"]).unwrap();
    assert_eq!(sweep["settings"]["cpu"], "slots");
    assert_eq!(sweep["answer"]["rule"], "failures");
    assert_eq!(sweep["analysis"]["definitions"]["classes"], "terminal");
    assert_eq!(sweep["analysis"]["replay"]["policies"], serde_json::json!(["fifo", "fair"]));
    assert_eq!(sweep["analysis"]["sweep"]["seed"], 1, "what was left open is written out");
    assert!(found["account.csv"].contains("class"), "{}", found["account.csv"]);
    assert!(
        found["attempts.csv"].starts_with("priority,is_total,outcome,"),
        "{}",
        found["attempts.csv"]
    );
    // The file of a run repeats the run; the command line overrides the file.
    place.run(&["analyze", "--config", "found/analysis.toml", "--out", "again"]).ok();
    same(&results(&place, "again"), &found);
}

/// The definition of CPU time, which an analysis fills in, made other resources an error.
#[test]
fn an_analysis_can_ask_for_another_resource() {
    let place = place();
    let log = fs::read(golden("logs/small.sacct")).unwrap();
    fs::write(place.path("log.sacct"), log).unwrap();
    for (trace, resource, account) in
        [("trace", "memory", "account-memory.json"), ("log.sacct", "gpu", "account-gpu.json")]
    {
        let config = format!(
            "steps = [\"account\", \"fairness\"]\n[account]\nresource = \"{resource}\"\n\
             [fairness]\nresource = \"{resource}\"\n"
        );
        fs::write(place.path("other.toml"), config).unwrap();
        let args = ["analyze", trace, "--config", "other.toml", "--out", resource];
        place.run(&[&args[..], &["--max-rejects", "100%"]].concat()).ok();
        for name in [account, "fairness/result.json"] {
            let stored = result(&place, &format!("{resource}/{name}"));
            assert_eq!(stored["settings"]["resource"], resource, "{name}");
        }
    }
}

/// An analysis reads a lake once for all distributions; a command reads it for one of them.
#[test]
fn an_analysis_describes_what_each_command_describes() {
    let place = place();
    for group in [None, Some("priority"), Some("user")] {
        let out = group.unwrap_or("all");
        let key = group.map(|key| format!("[describe]\ngroup-by = \"{key}\"\n"));
        let config = format!("steps = [\"describe\"]\n{}", key.unwrap_or_default());
        fs::write(place.path("one.toml"), config).unwrap();
        place.run(&["analyze", "trace", "--config", "one.toml", "--out", out]).ok();
        let lake = place.path(&format!("{out}/lake")).display().to_string();
        let whats =
            ["job-durations", "job-survival", "tasks-per-job", "events-per-task", "waiting"];
        for what in whats.into_iter().chain(["attempts", "finish-given-events"]) {
            let mut command = vec!["describe", "--what", what, "--lake", &lake, "--out", "alone"];
            command.extend(group.iter().flat_map(|key| ["--group-by", key]));
            place.run(&command).ok();
            for file in [format!("{what}.csv"), format!("{what}-curves.csv")] {
                let read = |folder: &str| fs::read(place.path(&format!("{folder}/{file}"))).ok();
                let alone = read("alone").or_else(|| {
                    fs::read(place.path(&format!("alone/{}", file.replace(what, "result")))).ok()
                });
                assert_eq!(read(out), alone, "{out}: {file}");
                assert!(alone.is_some() || file.ends_with("-curves.csv"), "{file}");
            }
            fs::remove_dir_all(place.path("alone")).unwrap();
        }
    }
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
    // As if the sweep was interrupted and its results were damaged: its mark is gone.
    let marks = fs::read(place.path("found/steps.json")).unwrap();
    let mut marks: serde_json::Value = serde_json::from_slice(&marks).unwrap();
    assert!(marks["steps"].as_object_mut().unwrap().remove("sweep").is_some());
    fs::write(place.path("found/steps.json"), marks.to_string()).unwrap();
    let sweep = fs::read_to_string(place.path("found/sweep.json")).unwrap();
    fs::write(place.path("found/sweep.json"), sweep.replacen("slots", "clots", 1)).unwrap();
    let said = run(&[]);
    assert_eq!(said.matches("done before").count(), 3, "{said}");
    same(&results(&place, "found"), &found);
    // With another setting the step runs again.
    fs::write(place.path("analysis.toml"), CONFIG.replace("3,5", "3,6")).unwrap();
    let said = run(&[]);
    assert!(said.contains("[3/4] sweep\n") && said.matches("done before").count() == 3, "{said}");
    assert!(!run(&["--again"]).contains("done before"));
    // A step that another analysis left incomplete does not count as done in this one.
    let half = CONFIG.replace("3,5", "4,7").replace("bootstrap = 20", "bootstrap = 21");
    fs::write(place.path("half.toml"), half).unwrap();
    fs::remove_file(place.path("found/sweep-selection.csv")).unwrap();
    fs::create_dir(place.path("found/sweep-selection.csv")).unwrap();
    let stopped = place.run(&["analyze", "--config", "half.toml"]);
    assert_eq!(stopped.code, Some(2), "{}", stopped.stderr);
    fs::remove_dir(place.path("found/sweep-selection.csv")).unwrap();
    // All files are in place, so only the mark shows it.
    fs::write(place.path("found/sweep-selection.csv"), "").unwrap();
    assert!(run(&[]).contains("[3/4] sweep\n"), "its results are of the other analysis");
    assert_eq!(run(&[]).matches("done before").count(), 4);
    // A step with missing or changed results does not count as done either.
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
    // If the content of a named file changes, the step runs again.
    fs::write(place.path("shares.txt"), "a 1\na/x 1\n").unwrap();
    let config = "steps = [\"fairness\"]\n[fairness]\naccounts = \"shares.txt\"\n";
    run(config);
    let again = || place.run(&["analyze", "trace", "--config", "own.toml", "--out", "found"]).ok();
    assert!(again().stderr.contains("done before"));
    fs::write(place.path("shares.txt"), "a 1\na/x 2\n").unwrap();
    assert!(!again().stderr.contains("done before"));
}

/// Signals that an `analyze` gets, and milliseconds after its start.
pub(crate) const SIGNALS: [(&str, u64); 4] =
    [("-INT", 60), ("-TERM", 400), ("-INT", 900), ("-TERM", 1500)];

/// An analysis that gets a signal at any step ends within one or two seconds, and can be continued.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
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
        // A run that had ended, or did not yet handle signals, prints no message about it.
        if sent.is_ok_and(|status| status.success()) && code.is_some_and(|code| code != 0) {
            assert_eq!(code, Some(130), "{said}");
            assert!(said.contains("run the same command to continue"), "{said}");
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

/// The JSON of a result.
fn result(place: &Place, path: &str) -> serde_json::Value {
    serde_json::from_slice(&fs::read(place.path(path)).unwrap()).unwrap()
}

/// Traces of every kind that can be made here, each as a folder `trace`, with and without a usage
/// table.
fn traces() -> Vec<(&'static str, Place)> {
    let log = |name: &str, beside: &[&str]| {
        let place = Place::new();
        for name in [&[name], beside].concat() {
            let bytes = fs::read(golden("logs").join(name)).unwrap();
            place.raw(name, bytes);
        }
        place
    };
    let without_usage = place();
    fs::remove_dir_all(without_usage.path("trace/task_usage")).unwrap();
    vec![
        ("google-2011", place()),
        ("google-2011 without usage", without_usage),
        ("swf", log("small.swf", &[])),
        ("gwf", log("small.gwf", &[])),
        ("rumen", log("small-trace.json", &["small-topology.json"])),
    ]
}

/// An analysis has one definition of CPU time. It is the same in every step and in every separate
/// command. The usage of all users adds up to the ledger.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn every_command_takes_the_same_defaults_for_a_trace() {
    for (kind, place) in traces() {
        let args = ["analyze", "trace", "--out", "all", "--max-rejects", "100%"];
        let run = place.run(&args).ok();
        let expected = match kind {
            "rumen" => "slots",
            "google-2011 without usage" | "gwf" => "requested",
            // The small SWF log records the CPU time that jobs used.
            _ => "measured",
        };
        assert!(
            run.stderr.contains(&format!("--cpu        {expected} (")),
            "{kind}: {}",
            run.stderr
        );
        let of = |path: &str, key: &str| result(&place, path)["settings"][key].clone();
        for path in ["all/account.json", "all/sweep.json", "all/fairness/result.json"] {
            assert_eq!(of(path, "cpu"), expected, "{kind}: {path}");
        }
        for command in ["account", "sweep", "fairness"] {
            let args = [command, "--lake", "all/lake", "--out", command];
            place.run(&args).ok();
            assert_eq!(of(&format!("{command}/result.json"), "cpu"), expected, "{kind}: {command}");
        }
        // All running time is in both, open attempts included; the rows of the ledger add up to its
        // total.
        let ledger = result(&place, "account/result.json")["answer"].clone();
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        let ran = number(&ledger["total"]) - number(&ledger["outside_attempts"]);
        for path in ["fairness/result.json", "all/fairness/result.json"] {
            let used = number(&result(&place, path)["answer"]["total_cpu_s"]);
            assert!((used - ran).abs() <= 1e-6 * ran, "{kind}: {used} of {ran}");
            assert_eq!(of(path, "accrual"), "running", "{kind}");
        }
        assert_replayed_alike(&place, kind, &run.stderr);
    }
}

/// A log has the number of processors in its header, and its kill rules use running time.
fn assert_replayed_alike(place: &Place, kind: &str, said: &str) {
    if !place.path("all/replay/result.json").exists() {
        return;
    }
    let is_google = kind.starts_with("google");
    let killed = if is_google { "age" } else { "run-time" };
    assert!(said.contains(&format!("--killed     {killed} (replay)")), "{kind}: {said}");
    place.run(&["replay", "--lake", "all/lake", "--out", "replay"]).ok();
    let settings = |path: &str| result(place, path)["settings"].clone();
    for path in ["replay/result.json", "all/replay/result.json"] {
        let found = settings(path);
        let overcommit = found["overcommit"].as_f64().unwrap();
        assert!(overcommit == 1.0 || is_google && 1.0 < overcommit, "{kind}: {path}: {overcommit}");
        assert_eq!(found["killed"], killed, "{kind}: {path}");
        assert_eq!(found["policies"], settings("all/replay/result.json")["policies"], "{kind}");
    }
}

/// Jobs that used nothing: one sentence instead of a table of zeros; machine-readable output is
/// unchanged.
#[test]
fn a_ledger_of_nothing_is_one_sentence() {
    let place = Place::new();
    let jobs = [
        "1 0 -1 0 1 -1 -1 1 0 -1 1 1 1 1 1 -1 -1 -1",
        "2 5 -1 0 2 -1 -1 2 0 -1 0 2 1 1 1 -1 -1 -1",
    ];
    place.raw("log.swf", format!("; MaxProcs: 4\n{}\n", jobs.join("\n")));
    place.run(&["ingest", "trace/log.swf", "--lake", "lake"]).ok();
    for more in [&[][..], &["--group-by", "user"]] {
        let ask = |form: &str| {
            let line = [&["account", "--format", form][..], more].concat();
            place.run(&line).ok().stdout_text().to_owned()
        };
        let said = ask("table");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with("No ") && said.contains(" was used by 2 jobs: "), "{said}");
        let rows = ask("csv");
        assert!(rows.lines().nth(1).is_some_and(|row| row.contains(",0.0,")), "{rows}");
    }
    // Memory that the log does not record is unknown.
    let said = place.run(&["account", "--resource", "memory"]).ok().stdout_text().to_owned();
    assert!(said.starts_with("The memory time (requested) of all jobs is unknown"), "{said}");
}

/// A folder with only task events has no outcomes of jobs: no sentence, caption or page gives a
/// share of an outcome.
#[test]
fn what_a_folder_cannot_tell_is_said_to_be_unknown() {
    let place = place();
    for table in fs::read_dir(place.path("trace")).unwrap() {
        let path = table.unwrap().path();
        if path.is_dir() && !path.ends_with("task_events") {
            fs::remove_dir_all(path).unwrap();
        }
    }
    let run = place.run(&["analyze", "trace", "--out", "all"]).ok();
    let said = run.stdout_text();
    assert!(!said.contains("Jobs that finished used"), "{said}");
    assert!(said.contains("is unknown: `job_events` does not contain them."), "{said}");
    let index = fs::read_to_string(place.path("all/report/index.html")).unwrap();
    assert!(index.contains("is unknown"), "{index}");
    for (asks, table) in [
        ("What became of the jobs?", "job_events"),
        ("Would another policy do better?", "machine_events"),
    ] {
        let why = format!("The table <code>{table}</code> is not loaded.");
        let mut lines = index.lines().filter(|line| line.starts_with("<li>"));
        assert!(lines.any(|line| line.contains(asks) && line.contains(&why)), "{asks} {index}");
        assert_eq!(index.matches(&why).count(), 1, "said once: {why}");
    }
    assert!(
        !index.contains("Jobs that finished used") && !index.contains("finished job"),
        "{index}"
    );
    // Every finding names its tables and hours.
    let found = index.split("<ol class=\"found\">").nth(1).unwrap().split("</ol>").next().unwrap();
    let found: Vec<&str> = found.lines().filter(|line| line.starts_with("<li")).collect();
    assert!(!found.is_empty(), "{index}");
    for line in found {
        assert!(line.contains("task_events: all, "), "{line}");
    }
}

/// A log of one user, without machines, whose jobs have a single task and never fail.
#[test]
fn one_sentence_stands_for_a_table_of_zeros() {
    let place = Place::new();
    let job = |number: u64| {
        format!("{number} {} 0 100 1 -1 -1 1 -1 -1 1 7 1 1 1 1 -1 -1\n", number * 1000)
    };
    place.raw("log.swf", (1..=20).map(job).collect::<String>());
    let run = place.run(&["analyze", "trace", "--out", "all"]).ok();
    let said = run.stdout_text();
    for sentence in [
        "no job or phase of this trace has 10 tasks",
        "No task exceeds the lowest threshold of a rule (events 10,",
        "The only user, ",
    ] {
        assert!(said.contains(sentence), "{sentence}\n{said}");
    }
    assert!(run.stderr.contains("skipped: replay: "), "{}", run.stderr);
    let page = |name: &str| fs::read_to_string(place.path(&format!("all/report/{name}.html")));
    let index = page("index").unwrap();
    for (name, sentence) in [
        ("stragglers", "no job or phase of this trace has 10 tasks"),
        ("sweep", "No task exceeds"),
        ("fairness", "The only user"),
        ("replay", "The log records no machines"),
    ] {
        // A study without an answer has no page: the first page gives the reason.
        if let Ok(page) = page(name) {
            assert!(page.contains(sentence) && !page.contains("<figure"), "{name}: {page}");
        } else {
            let link = format!("href=\"{name}.html");
            assert!(index.contains(sentence) && !index.contains(&link), "{name}: {index}");
        }
    }
    assert!(index.contains("job_events: all, 5.3 hours.</p>"), "{index}");
    // Programs find the numbers in the JSON.
    let json = place.run(&["detect", "--lake", "all/lake", "--format", "json"]).ok().json();
    assert_eq!(json["counts"]["groups"], 0);
}

/// A log without status and waits: the assumptions are stated with every outcome, and no table
/// shows waits of 0.
#[test]
fn what_a_log_leaves_open_is_said_with_each_number_made_of_it() {
    let place = Place::new();
    let job = |number: u64| {
        format!(
            "{number} {} -1 100 1 -1 -1 1 -1 -1 -1 {} 1 1 1 1 -1 -1\n",
            number * 100,
            number % 3
        )
    };
    let jobs: String = (1..=30).map(job).collect();
    place.raw("log.swf", format!("; MaxProcs: 4\n{jobs}"));
    let run = place.run(&["analyze", "trace", "--out", "all"]).ok();
    let assumed = "status unknown, has run: taken as finished: 30";
    let starts = ["Half of 30 jobs", "On average, running tasks requested"];
    for start in starts {
        let mut lines = run.stdout_text().lines();
        let sentence = lines.find(|line| line.starts_with(start)).unwrap();
        assert!(sentence.contains(assumed), "{sentence}");
    }
    for name in ["classify-jobs.json", "account.json", "replay/result.json"] {
        let result = result(&place, &format!("all/{name}"));
        for chart in result["charts"].as_array().unwrap() {
            assert!(chart["caption"].as_str().unwrap().contains(assumed), "{name}: {chart}");
        }
    }
    let page = fs::read_to_string(place.path("all/report/distributions.html")).unwrap();
    assert!(
        page.contains("No wait is known: the log records none for any of its 30 jobs"),
        "{page}"
    );
    assert!(
        page.contains("Whether a job finished is unknown: the log records no status"),
        "{page}"
    );
    let index = fs::read_to_string(place.path("all/report/index.html")).unwrap();
    let unknown = "The log records no status: how its 30 jobs ended is unknown";
    assert_eq!(index.matches(unknown).count(), 1, "{index}");
    // No outcome is shown that was only assumed.
    assert!(!place.path("all/report/outcomes.html").exists());
    // The page to which the pages of jobs link back.
    let sweep = fs::read_to_string(place.path("all/report/sweep.html")).unwrap();
    assert!(sweep.contains(unknown) && !sweep.contains("<figure"), "{sweep}");
    let quality = fs::read_to_string(place.path("all/report/quality.html")).unwrap();
    for study in ["Outcomes and CPU time", "Kill sweep"] {
        let is_row = |row: &str| row.contains(study) && row.contains("not answered");
        assert!(quality.split("<tr").any(is_row), "{study}: {quality}");
    }
    let survival = result(&place, "all/job-survival.json");
    for chart in survival["charts"].as_array().unwrap() {
        let caption = chart["caption"].as_str().unwrap();
        assert!(
            caption.starts_with("30 jobs; the log does not record how jobs ended."),
            "{caption}"
        );
    }
    // Every job has one task and never waits: a chart of that would look like a result.
    for name in ["tasks-per-job", "attempts", "replay/replay-response", "replay/replay-queue"] {
        assert!(!place.path(&format!("all/{name}.svg")).exists(), "{name}");
    }
    assert!(index.contains("Who got how much, by user"), "{index}");
    assert!(!index.contains("lake; "), "{index}");
}

/// For a result in groups, the overview has the sentence about the whole.
#[test]
fn the_overview_of_a_result_in_groups_is_of_the_whole() {
    let place = place();
    place.ingest(&[]).ok();
    let sentence = |by: Option<&str>| {
        let group: Vec<&str> = by.iter().flat_map(|by| ["--group-by", by]).collect();
        for command in [&["account", "--cpu", "slots"][..], &["describe"]] {
            let folder = format!("found/{}", command[0]);
            place.run(&[command, &["--out", &folder], &group].concat()).ok();
        }
        place.run(&["report", "found", "--out", "pages"]).ok();
        let index = fs::read_to_string(place.path("pages/index.html")).unwrap();
        let said = index.lines().filter(|line| line.starts_with("<li>")).map(str::to_owned);
        said.filter(|line| line.contains("finished jobs") || line.contains("Half of"))
            .collect::<Vec<String>>()
    };
    let whole = sentence(None);
    assert_eq!(whole.len(), 2, "{whole:?}");
    for by in ["user", "priority", "class"] {
        assert_eq!(sentence(Some(by)), whole, "{by}");
    }
}

/// A job that was requeued and then finished counts as finished in every answer of an analysis. The
/// exact sequence of a single command calls it `other`.
#[test]
fn a_job_that_was_requeued_and_finished_is_no_waste() {
    let place = Place::new();
    let row = |job: u32, state: &str, [start, end]: [u32; 2]| {
        format!("{job}|{state}|{start}|{start}|{end}|2|120|u{job}\n")
    };
    let rows = row(1, "PREEMPTED", [1000, 1600])
        + &row(1, "COMPLETED", [1600, 5200])
        + &row(2, "COMPLETED", [1000, 1600]);
    let log = format!("JobID|State|Submit|Start|End|NCPUS|TimelimitRaw|User\n{rows}");
    fs::write(place.path("log.sacct"), log).unwrap();
    let run = place.run(&["analyze", "log.sacct", "--source", "slurm", "--out", "all"]).ok();
    assert!(run.stderr.contains("--classes    terminal ("), "{}", run.stderr);
    let account = result(&place, "all/account.json");
    assert_eq!(account["settings"]["classes"], "terminal");
    let finished = &account["answer"]["rows"][0];
    assert_eq!((&finished["outcome"], &finished["cpu"]), (&"finished".into(), &9600.0.into()));
    let page = fs::read_to_string(place.path("all/report/index.html")).unwrap();
    assert!(page.contains("No CPU time is known to be wasted"), "{page}");
    let sweep = fs::read_to_string(place.path("all/sweep.csv")).unwrap();
    let header: Vec<&str> = sweep.lines().next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let places = [at("condemned_tasks"), at("harmed_jobs")];
    let of = |row: &str| places.map(|place| row.split(',').nth(place).unwrap().to_owned());
    let killing: Vec<[String; 2]> =
        sweep.lines().skip(1).map(of).filter(|own| own[0] != "0").collect();
    assert!(!killing.is_empty() && killing.iter().all(|own| own[1] != "0"), "{sweep}");
    let jobs = result(&place, "all/jobs.json")["answer"]["jobs"].clone();
    for job in jobs.as_array().unwrap() {
        assert_eq!(job["outcome"], "finished", "{job}");
        assert!(job["requested_cpu"].as_f64().is_some_and(|cpu| 0.0 < cpu), "{job}");
    }
    let user = fs::read_to_string(place.path("all/report/users/0001.html")).unwrap();
    assert!(user.contains("by their last event") && !user.contains(">other<"), "{user}");
    let json = ["account", "--lake", "all/lake", "--format", "json"];
    let single = place.run(&json).ok().json();
    assert_eq!(
        (&single["classes"], &single["rows"][0]["cpu"]),
        (&"sequence".into(), &1200.0.into())
    );
}

/// User 1 had 100 processors on the first day, user 2 had 10 on the tenth. With a half-life of a
/// week, the early use still counts most (100 * 2^(-9/7) is 41). With half-lives of a day or less,
/// at most 100 / 512 of it is left after 9 days.
#[test]
fn a_log_has_the_places_of_users_under_other_half_lives() {
    let place = Place::new();
    let day = 86_400;
    let job = |id: u32, submit: u32, processors: u32| {
        format!(
            "{id} {submit} 0 {day} {processors} -1 -1 {processors} -1 -1 1 {id} 1 -1 -1 -1 -1 -1\n"
        )
    };
    let log = format!("; MaxProcs: 200\n{}{}", job(1, 0, 100), job(2, 9 * day, 10));
    fs::write(place.path("log.swf"), log).unwrap();
    place.run(&["ingest", "log.swf", "--lake", "lake"]).ok();
    place.run(&["fairness", "--lake", "lake", "--cpu", "requested", "--out", "found"]).ok();
    let table = fs::read_to_string(place.path("found/half-lives.csv")).unwrap();
    let (header, rows) = table.split_once('\n').unwrap();
    let lives = [21_600, 86_400, 604_800].map(|life| format!(",place_half_life_s_{life}")).concat();
    assert_eq!(header, format!("user,place_by_use{lives}"));
    let places: Vec<Vec<f64>> = rows
        .lines()
        .map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    assert_eq!(places, [[1.0, 1.0, 2.0, 2.0, 1.0], [2.0, 2.0, 1.0, 1.0, 2.0]]);
}

/// Promise: a table without rows is treated like a missing table, whether a study reads it alone or
/// with others.
#[test]
fn a_table_without_rows_leaves_its_studies_out() {
    let place = Place::new();
    let jobs = ["1000000,,7,0,u,2,n,l", "2000000,,7,1,u,2,n,l", "9000000,,7,4,u,2,n,l"];
    place.part("job_events", 0, jobs.join("\n"));
    place.part("task_events", 0, String::new());
    place.run(&["analyze", "trace", "--out", "all", "--quiet"]).ok();
    let read = |name: &str| -> serde_json::Value {
        let text = fs::read_to_string(place.path(&format!("all/{name}.json"))).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    for name in ["events-per-task", "waiting", "finish-given-events", "classify-tasks", "account"] {
        let why = read(name)["answer"]["nothing"].clone();
        assert_eq!(why, "The table `task_events` is empty.", "{name}");
    }
    assert_eq!(read("job-durations")["answer"]["nothing"], serde_json::Value::Null);
}
