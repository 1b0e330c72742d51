//! Every share names its denominator in JSON and in the help, and has that denominator.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::support::Place;

/// Every command that prints shares, with arguments so that all shares occur.
const QUESTIONS: &[(&str, &[&str])] = &[
    ("classify", &["", "--by task --classes terminal"]),
    (
        "describe",
        &["", "--what job-survival", "--what finish-given-events", "--what events-per-task"],
    ),
    ("account", &["--cpu slots", "--resource memory --group-by priority"]),
    (
        "sweep",
        &[
            "--thresholds 2,5 --bootstrap 20 --train-until 0.25",
            "--cpu slots --group-by priority --thresholds 2,5",
        ],
    ),
    ("detect", &["--detectors late poisson", "--detectors none --windows 30,60"]),
    ("replay", &["--policies fifo fifo+wqr:copies=2", "--policies fifo easy --seeds 2"]),
    (
        "fairness",
        &["", "--cpu slots --what-if", "--show machines", "--show clusters", "--show suggestions"],
    ),
];

/// The kind of share of a column or key, without its outcome or part of the trace; `None` if it is
/// not a share.
fn share_of(name: &str) -> Option<&str> {
    let name = name.strip_suffix("_low").or_else(|| name.strip_suffix("_high")).unwrap_or(name);
    let others = [
        "share",
        "precision",
        "recall",
        "f1",
        "utilisation",
        "load",
        "load_before",
        "chance",
        "share_at_or_below",
        "false_alarms_per_task_hour",
        "rate_in_shift",
        "rate_in_calm",
        "mean_ratio",
        "ratio_to_before",
        "largest_saved_in_all",
    ];
    match name {
        _ if name.starts_with("saved_share") => Some("saved_share"),
        _ if name.ends_with("_share") || others.contains(&name) => Some(name),
        _ => None,
    }
}

fn keys<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(object) => {
            // Settings are not part of the answer; `of` names the shares that it explains.
            let skipped = ["settings", "inputs", "of", "numerators", "history", "plan"];
            for (key, inner) in object.iter().filter(|(key, _)| !skipped.contains(&key.as_str())) {
                found.insert(key);
                keys(inner, found);
            }
        }
        Value::Array(array) => array.iter().for_each(|inner| keys(inner, found)),
        _ => {}
    }
}

#[test]
fn every_share_names_its_numerator_and_denominator() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "120", "--days", "0.5"]).ok();
    place.ingest(&[]).ok();
    for (command, questions) in QUESTIONS {
        let help = place.run(&[command, "--help"]).ok().stdout_text().replace("\n  ", " ");
        let (mut given, mut explained) = (BTreeSet::new(), BTreeSet::new());
        for (number, question) in questions.iter().enumerate() {
            let out = format!("{command}{number}");
            let words = question.split_whitespace();
            let words: Vec<&str> = [*command].into_iter().chain(words).collect();
            let json = place.run(&[&words[..], &["--format", "json", "--out", &out]].concat()).ok();
            let json = json.json();
            let mut names = BTreeSet::new();
            keys(&json, &mut names);
            let mut names: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
            for entry in fs::read_dir(place.path(&out)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|end| end == "csv") {
                    let text = fs::read_to_string(&path).unwrap();
                    names.extend(text.lines().next().unwrap().split(',').map(str::to_owned));
                }
            }
            let stored: Value =
                serde_json::from_slice(&fs::read(place.path(&out).join("result.json")).unwrap())
                    .unwrap();
            assert_eq!(stored["answer"]["of"], json["of"], "{command} {question}");
            for share in names.iter().filter_map(|name| share_of(name)) {
                for (what, word) in [("of", '/'), ("numerators", ':')] {
                    let text = json[what][share].as_str().unwrap_or_default();
                    assert!(!text.is_empty(), "{command} {question}: `{share}` has no {what}");
                    let begin: String = text.chars().take(12).collect();
                    assert!(help.contains(&format!("{word} {begin}")), "{command}: {text}\n{help}");
                }
                assert!(
                    help.contains(&format!("{share}: ")),
                    "{command}: `{share}` is not in --help"
                );
                given.insert(share.to_owned());
            }
            explained.extend(json["of"].as_object().unwrap().keys().cloned());
        }
        assert_eq!(explained, given, "{command} explains what it gives, and nothing else");
    }
}

/// A log of one machine with 10 processors, so that the capacity is known without the program; with
/// the processors of each job.
fn log(seed: u64) -> (Place, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = "; MaxProcs: 10\n".to_owned();
    let mut processors = Vec::new();
    for job in 1..=40 {
        let (submit, run) = (rng.random_range(0..2000), rng.random_range(1..900));
        let cores = rng.random_range(1..6);
        processors.push(f64::from(cores));
        let user = rng.random_range(1..5);
        let status = i32::from(rng.random_bool(0.8));
        writeln!(
            text,
            "{job} {submit} 0 {run} {cores} -1 -1 {cores} {run} -1 {status} {user} 1 1 1 -1 -1 -1"
        )
        .unwrap();
    }
    let place = Place::new();
    place.raw("log.swf", text);
    place.run(&["ingest", "trace/log.swf", "--lake", "lake"]).ok();
    (place, processors)
}

fn json(place: &Place, line: &str) -> Value {
    let words: Vec<&str> = line.split_whitespace().chain(["--format", "json"]).collect();
    place.run(&words).ok().json()
}

#[track_caller]
fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} {expected}");
}

#[test]
fn shares_are_what_they_say() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "150", "--days", "0.5", "--seed", "5"]).ok();
    place.ingest(&[]).ok();
    let number = |value: &Value| value.as_f64().unwrap();
    let rows = |answer: &Value, key: &str| answer[key].as_array().unwrap().clone();

    let classes = json(&place, "classify");
    let all: f64 = rows(&classes, "table").iter().map(|row| number(&row["count"])).sum();
    for row in rows(&classes, "table") {
        near(&row["share"], number(&row["count"]) / all);
    }
    let chances = json(&place, "describe --what finish-given-events");
    for row in rows(&chances, "table") {
        near(&row["chance"], number(&row["finished"]) / number(&row["tasks"]));
    }
    let ledger = json(&place, "account --cpu slots");
    let all: f64 = rows(&ledger, "table").iter().map(|row| number(&row["cpu"])).sum();
    for row in rows(&ledger, "table") {
        near(&row["share"], number(&row["cpu"]) / all);
    }
    let sweep = json(&place, "sweep --cpu slots --thresholds 2,3,5");
    let finished = rows(&ledger, "table")[0].clone();
    assert_eq!(finished["outcome"], "finished");
    for row in rows(&sweep, "rows") {
        near(
            &row["harmed_jobs_share"],
            number(&row["harmed_jobs"]) / number(&finished["jobs_with_tasks"]),
        );
        near(&row["destroyed_cpu_share"], number(&row["destroyed_cpu"]) / number(&finished["cpu"]));
    }
    let detect = json(&place, "detect --detectors late poisson oracle --min-tasks 3");
    let (mut flagged, mut lost) = (0, 0);
    for row in rows(&detect, "table") {
        let [hits, alarms, missed] =
            ["hits", "false_alarms", "missed"].map(|name| number(&row[name]));
        if 0.0 < hits + alarms {
            near(&row["precision"], hits / (hits + alarms));
            flagged += 1;
        }
        if 0.0 < hits + missed {
            near(&row["recall"], hits / (hits + missed));
            near(&row["f1"], 2.0 * hits / (hits + alarms + hits + missed));
        }
    }
    for row in rows(&detect, "copies") {
        near(&row["lost_share"], number(&row["lost_s"]) / (number(&detect["task_hours"]) * 3600.0));
        let response_s = number(&detect["response_hours"]) * 3600.0;
        near(&row["earlier_share"], number(&row["earlier_s"]) / response_s);
        lost += usize::from(0.0 < number(&row["lost_s"]));
    }
    assert!(0 < flagged && 0 < lost, "something to judge: {flagged} {lost}");
    let users = json(&place, "fairness --cpu slots --show users");
    let all: f64 = rows(&users, "users").iter().map(|row| number(&row["cpu_s"])).sum();
    near(&users["total_cpu_s"], all);
    for row in rows(&users, "users") {
        near(&row["share"], number(&row["cpu_s"]) / all);
        let most = row["by_interval"].as_array().unwrap().iter().map(|step| number(&step[1]));
        near(&row["largest_step_share"], most.fold(0.0, f64::max) / number(&row["cpu_s"]));
    }
}

#[test]
fn load_and_utilisation_are_of_the_processors_of_the_log() {
    let (place, _) = log(3);
    let users = json(&place, "fairness --cpu requested --interval 600 --show users --out out");
    let usage = fs::read_to_string(place.path("out/usage.csv")).unwrap();
    let mut ran: FxHashMap<usize, f64> = FxHashMap::default();
    for line in usage.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let end_s: f64 = cells[0].parse().unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
        let interval = (end_s / 600.0).ceil() as usize - 1;
        *ran.entry(interval).or_default() += cells[3].parse::<f64>().unwrap();
    }
    for (interval, load) in users["load"].as_array().unwrap().iter().enumerate() {
        near(load, ran.get(&interval).copied().unwrap_or_default() / 6000.0);
    }
    let replay = json(&place, "replay --policies fifo");
    let row = &replay["table"][0];
    let there = 10.0 * row["makespan_s"].as_f64().unwrap();
    near(&row["utilisation"], row["used_cpu_s"].as_f64().unwrap() / there);
}

/// CPU of each job of a journal, used and wasted, from its lines and the processors of the jobs.
fn cpu_by_job(journal: &str, processors: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut begun: FxHashMap<(String, String), f64> = FxHashMap::default();
    let (mut used, mut wasted) = (vec![0.0; processors.len()], vec![0.0; processors.len()]);
    for line in journal.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [at, event, task, attempt, ..] = words[..] else { continue };
        if !attempt.starts_with('#') {
            continue;
        }
        let at: f64 = at.parse().unwrap();
        let key = (task.to_owned(), attempt.to_owned());
        if ["start", "copy", "probe"].contains(&event) {
            assert_eq!(begun.insert(key, at), None, "{line}");
            continue;
        }
        let job = task.split('/').next().unwrap().parse::<usize>().unwrap() - 1;
        let cpu = (at - begun.remove(&key).unwrap()) * processors[job];
        used[job] += cpu;
        if ["cancel", "restart", "evict", "lost"].contains(&event) {
            wasted[job] += cpu;
        }
    }
    (used, wasted)
}

#[test]
fn the_largest_job_of_a_replay_is_that_of_its_journal() {
    let mut wasteful = 0;
    for seed in 0..6 {
        let (place, processors) = log(seed);
        let policies = "fifo fifo+wqr:copies=2 fifo+late:min_age_s=0 shortest+dolly";
        let cluster = "cluster:nodes=9,cpu=6";
        let line = format!("replay --policies {policies} --cluster {cluster} --out out --journal");
        let answer = json(&place, &line);
        for (number, row) in answer["table"].as_array().unwrap().iter().enumerate() {
            let file = format!("out/journal-{}.txt", number + 1);
            let journal = fs::read_to_string(place.path(&file)).unwrap();
            let (used, wasted) = cpu_by_job(&journal, &processors);
            for (name, amounts) in [("used", used), ("wasted", wasted)] {
                let sum: f64 = amounts.iter().sum();
                near(&row[format!("{name}_cpu_s")], sum);
                let share = &row[format!("largest_{name}_share")];
                if sum == 0.0 {
                    assert!(share.is_null(), "{share}");
                    continue;
                }
                near(share, amounts.iter().copied().fold(0.0, f64::max) / sum);
                wasteful += usize::from(name == "wasted");
            }
            assert_eq!(row["unit"], "processor-s");
        }
    }
    assert!(3 < wasteful, "copies were wasted: {wasteful}");
}

/// The events of a job and its only task, and whether the job has ended and has finished.
const LIVES: [(&str, bool, bool); 8] = [
    ("014", true, true),
    ("013", true, false),
    ("015", true, false),
    ("012013", true, false),
    ("0", false, false),
    ("01", false, false),
    ("0121", false, false),
    ("011", false, false),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    /// Promise: the chance to finish is about tasks of jobs that have ended. Open jobs do not count
    /// as jobs that did not finish.
    #[test]
    fn the_chance_to_finish_is_about_jobs_that_have_ended(
        lives in prop::collection::vec(prop::sample::select(LIVES.to_vec()), 1..20),
    ) {
        let place = Place::new();
        let (mut jobs, mut tasks) = (Vec::new(), Vec::new());
        for (id, (events, ..)) in (1..).zip(&lives) {
            for (at, event) in (0..).zip(events.chars()) {
                let time = 1_000_000_000 + at * 1_000_000;
                jobs.push(format!("{time},,{id},{event},u,0,n,n"));
                tasks.push(format!("{time},,{id},0,5,{event},u,0,1,0.5,,,"));
            }
        }
        place.part("job_events", 0, jobs.join("\n"));
        place.part("task_events", 0, tasks.join("\n"));
        place.ingest(&[]).ok();
        for classes in ["sequence", "terminal"] {
            let words = format!("describe --what finish-given-events --classes {classes}");
            let found = json(&place, &words)["table"].as_array().cloned().unwrap_or_default();
            let longest = lives.iter().filter(|life| life.1).map(|life| life.0.len()).max();
            prop_assert_eq!(found.len(), longest.unwrap_or(0));
            for row in found {
                let least = usize::try_from(row["events"].as_u64().unwrap()).unwrap();
                let ended = || lives.iter().filter(|life| life.1 && least <= life.0.len());
                prop_assert_eq!(row["tasks"].as_u64(), Some(ended().count() as u64));
                let finished = ended().filter(|life| life.2).count() as u64;
                prop_assert_eq!(row["finished"].as_u64(), Some(finished));
            }
        }
    }
}
