//! The pages that `analyze` and `report` write: nothing is fetched from outside, every link has a
//! target, and no name of a trace acts as markup.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::engines::{python, script};
use super::support::{Place, skipped, tree};

/// Every page below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|end| end == "html") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The values of an attribute, as they are written.
fn values(html: &str, attribute: &str) -> Vec<String> {
    let start = format!(" {attribute}=\"");
    html.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// Checks every page: all references lead to files of the report, and nothing else is fetched.
fn check(report: &Path) -> Vec<PathBuf> {
    let all = pages(report);
    for page in &all {
        let html = fs::read_to_string(page).unwrap();
        let refers: BTreeSet<String> =
            ["href", "src"].into_iter().flat_map(|attribute| values(&html, attribute)).collect();
        assert!(refers.len() > 5, "{}: {refers:?}", page.display());
        for target in refers.iter().filter(|target| *target != "data:,") {
            let target = target.split('#').next().unwrap();
            let path = page.parent().unwrap().join(target);
            assert!(target.is_empty() || path.is_file(), "{}: {target}", page.display());
        }
        // The namespace of an SVG is a name, not an address.
        let html = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        assert!(!html.contains("http://") && !html.contains("https://"), "{}", page.display());
        assert_eq!(html.matches("<h1>").count(), 1, "{}", page.display());
        assert!(html.starts_with("<!DOCTYPE html>\n<html "), "{}", page.display());
        // A drawing is part of the page, not a separate page.
        for part in ["html", "head", "body", "main"] {
            let is_tag = |rest: &&str| rest.starts_with(['>', ' ']);
            let begins = html.split(&format!("<{part}")).skip(1).filter(is_tag).count();
            let ends = html.matches(&format!("</{part}>")).count();
            assert_eq!((begins, ends), (1, 1), "{part}: {}", page.display());
        }
        let images = html.matches("<img ").count();
        assert_eq!(values(&html, "alt").iter().filter(|alt| !alt.is_empty()).count(), images);
    }
    all
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn an_analysis_ends_with_pages_whose_ways_all_lead_somewhere() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "150", "--days", "1", "--parts", "2"]).ok();
    place.run(&["analyze", "trace", "--out", "all"]).ok();
    let found = check(&place.path("all/report"));
    let names: Vec<String> =
        found.iter().map(|page| page.file_name().unwrap().to_string_lossy().into_owned()).collect();
    for name in [
        "index",
        "outcomes",
        "distributions",
        "sweep",
        "stragglers",
        "replay",
        "fairness",
        "quality",
    ] {
        assert!(names.contains(&format!("{name}.html")), "{name}: {names:?}");
    }
    let users = found.iter().filter(|page| page.parent().unwrap().ends_with("users")).count();
    let result = fs::read_to_string(place.path("all/fairness/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert_eq!(users, result["answer"]["users"].as_array().unwrap().len(), "a page per user");
    // Its sentences use the stored numbers.
    let index = fs::read_to_string(place.path("all/report/index.html")).unwrap();
    let jobs = fs::read_to_string(place.path("all/classify-jobs.json")).unwrap();
    let jobs: serde_json::Value = serde_json::from_str(&jobs).unwrap();
    assert!(index.contains(&format!("Of {} jobs, ", jobs["answer"]["total"])), "{index}");
    // Each page with an answer has a sentence on the first page.
    let (navigation, main) = index.split_once("</nav>").unwrap();
    for file in values(navigation, "href").iter().filter(|file| file.ends_with(".html")) {
        let is_first = ["index.html", "quality.html"].contains(&file.as_str());
        assert!(is_first || main.contains(&format!("href=\"{file}#")), "{file}");
    }
    // The pages without a finding have their question there.
    let (_, others) = main.split_once("What the other pages show").unwrap();
    let (others, _) = others.split_once("</ul>").unwrap();
    for line in others.lines().filter(|line| line.starts_with("<li>")) {
        let question = line.split_once("</a>. <em>").and_then(|rest| rest.1.split_once("</em> "));
        assert!(question.is_some_and(|parts| parts.0.contains('?')), "{line}");
    }
    // The same results give the same pages.
    place.run(&["report", "all", "--out", "again"]).ok();
    for page in &found {
        let other = place.path("again").join(page.strip_prefix(place.path("all/report")).unwrap());
        assert_eq!(fs::read(page).unwrap(), fs::read(other).unwrap(), "{}", page.display());
    }
}

/// In a browser: no errors, nothing fetched, tables sort, charts show their values, at the width of
/// a desktop and of a phone, in light and dark mode.
#[test]
#[cfg_attr(any(debug_assertions, not(feature = "sql")), ignore = "needs sql and optimisation")]
fn a_browser_shows_the_pages_without_a_fault() {
    let Some(python) = python("playwright") else { return };
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "200", "--days", "1", "--parts", "2"]).ok();
    place.run(&["analyze", "trace", "--out", "all"]).ok();
    place.run(&["report", "all", "--out", "pages"]).ok();
    // Another half-life and ceiling, computed by the command; the sliders of the page are compared
    // with them.
    let faded =
        ["--lake", "all/lake", "--cpu", "measured", "--accrual", "running", "--interval", "3600"];
    let other =
        ["--index", "condor:half_life_s=7200", "--ceiling", "6%", "--top", "99", "--out", "faded"];
    place.run(&[&["fairness"][..], &faded, &other].concat()).ok();
    // A log with dates, over twelve days.
    let mut log = "JobID|User|Account|State|Submit|Start|End|NCPUS|Timelimit\n".to_owned();
    for job in 0..600 {
        let state = if job % 7 == 0 { "FAILED" } else { "COMPLETED" };
        let time =
            |minute: u32| format!("2017-01-{:02}T{:02}:{minute:02}:00", job / 50 + 1, job % 24);
        let times = [time(0), time(job % 3 + 1), time(job % 50 + 5)].join("|");
        writeln!(log, "{job}|u{}|a{}|{state}|{times}|4|01:00:00", job % 5, job % 2).unwrap();
    }
    fs::write(place.path("log.sacct"), log).unwrap();
    place.run(&["analyze", "log.sacct", "--out", "dated"]).ok();
    let load = fs::read_to_string(place.path("dated/report/load.html")).unwrap();
    assert!(load.contains(">date (UTC)<") && load.contains(">2017-01-06<"), "{load}");
    // A log without the jobs that ended before its tenth day. Its pages first show the time from
    // then on.
    let cut = |hour: u32| format!("2024-01-{:02}T{:02}:00:00", hour / 24 + 1, hour % 24);
    let mut log = "JobID|User|Account|State|Submit|Start|End|NCPUS|Timelimit\n".to_owned();
    for job in 0..120 {
        let start = if job < 40 { job * 5 } else { 241 + job };
        let end = if job < 40 { 241 + job % 3 } else { start + 1 };
        let times = [cut(start), cut(start), cut(end)].join("|");
        writeln!(log, "{job}|u{}|a|COMPLETED|{times}|4|20-00:00:00", job % 5).unwrap();
    }
    fs::write(place.path("cut.sacct"), log).unwrap();
    place.run(&["ingest", "cut.sacct", "--lake", "cut/lake"]).ok();
    place.run(&["load", "--lake", "cut/lake", "--out", "cut"]).ok();
    place.run(&["report", "cut"]).ok();
    let load = fs::read_to_string(place.path("cut/report/load.html")).unwrap();
    assert!(load.contains(" data-whole=\""), "{load}");
    // Of the other reports, the pages on which dates or the missing jobs make a difference.
    let dated = ["--only", "load", "episodes", "outcomes", "fairness"];
    for (pages, only) in
        [("pages", &[][..]), ("dated/report", &dated), ("cut/report", &["--only", "load"])]
    {
        let folder = place.path(pages);
        let args = [&[folder.to_str().unwrap()], only].concat();
        let said = script(&python, "report_pages.py", &args);
        if said.contains("SKIPPED:") {
            skipped(&said);
        } else {
            assert!(said.contains(" passed, 0 failed"), "{said}");
        }
    }
}

#[test]
fn names_of_a_trace_are_no_markup() {
    let place = Place::new();
    let evil = "<script>alert(1)</script>\" onload=\"x";
    let cell = format!("\"{}\"", evil.replace('"', "\"\""));
    let job = |kind: i32, time: i64| format!("{time},,7,{kind},{cell},0,{cell},logical");
    place.part(
        "job_events",
        0,
        [job(0, 1_000_000), job(1, 2_000_000), job(4, 9_000_000)].join("\n"),
    );
    let task = |kind: i32, time: i64| format!("{time},,7,0,5,{kind},{cell},0,1,0.5,,,");
    place.part(
        "task_events",
        0,
        [task(0, 1_000_000), task(1, 2_000_000), task(4, 9_000_000)].join("\n"),
    );
    place.ingest(&[]).ok();
    place.run(&["fairness", "--cpu", "slots", "--out", "found/fairness"]).ok();
    place.run(&["account", "--cpu", "slots", "--group-by", "user", "--out", "found/account"]).ok();
    place.run(&["report", "found"]).ok();
    let all = check(&place.path("found/report"));
    assert!(3 < all.len(), "{all:?}");
    let mut is_named = false;
    for page in all {
        let html = fs::read_to_string(&page).unwrap();
        assert!(!html.contains("<script>") && !html.contains("\" onload="), "{}", page.display());
        is_named |= html.contains("&lt;script&gt;alert(1)&lt;/script&gt;");
    }
    assert!(is_named, "the name is shown");
}

#[test]
fn two_sets_of_results_are_compared() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    for (folder, classes, thresholds) in
        [("one", "sequence", "2,3"), ("same", "sequence", "2,3"), ("other", "terminal", "3,4")]
    {
        let out = |name: &str| format!("{folder}/{name}");
        let base = ["--cpu", "slots", "--classes", classes];
        let run = |args: &[&str]| place.run(&[args, &base[..]].concat()).ok();
        run(&["account", "--out", &out("account")]);
        run(&["sweep", "--thresholds", thresholds, "--out", &out("sweep")]);
    }
    place.run(&["classify", "--out", "other/classify"]).ok();
    // Grouped on one side: the curve is that of all groups together.
    for folder in ["one", "same"] {
        place.run(&["describe", "--out", &format!("{folder}/describe")]).ok();
    }
    place.run(&["describe", "--group-by", "user", "--out", "other/describe"]).ok();
    let rows = |one: &str, other: &str| -> Vec<Vec<String>> {
        let run = place.run(&["report", "--compare", one, other, "--format", "csv"]).ok();
        let lines = run.stdout_text().lines().skip(1).map(str::to_owned).collect::<Vec<String>>();
        lines.iter().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    for row in rows("one", "same") {
        assert_eq!(&row[4..7], ["0", "0", "0"], "{row:?}");
    }
    let changed = rows("one", "other");
    let of = |name: &str| changed.iter().find(|row| row[0] == name).unwrap();
    assert_eq!(of("classify-jobs")[1], "only in the second");
    assert_ne!(of("account")[4], "0", "terminal outcomes hold other CPU");
    // Threshold 3 is in both, 2 and 4 in one each.
    assert_eq!(&of("sweep")[5..7], ["1", "1"]);
    place.run(&["report", "--compare", "one", "other", "--out", "changes"]).ok();
    let page = fs::read_to_string(place.path("changes/comparison.html")).unwrap();
    assert_eq!(of("account")[2], "1", "the classes are the one setting that differs: {changed:?}");
    for part in [">classes<", "sequence", "terminal", "CPU time by outcome"] {
        assert!(page.contains(part), "{part}");
    }
    let drawn =
        page.find("How long jobs last: the share of jobs at or below a time. The curves are");
    let drawn = &page[drawn.unwrap()..];
    let [first, second] = [" in one, ", " in other."].map(|name| {
        let shares = drawn[..drawn.find(name).unwrap()].rsplit([' ', ';']);
        shares.take(2).collect::<Vec<_>>().concat()
    });
    assert_eq!(first, second, "both are of the same jobs");
    // The values that are the same in both, question by question.
    let same = place.run(&["report", "--compare", "one", "same", "--out", "no-changes"]).ok();
    assert!(same.stderr.contains("Nothing changed: both have the same values"), "{}", same.stderr);
    let alike = fs::read_to_string(place.path("no-changes/comparison.html")).unwrap();
    assert!(
        alike.contains("Where did the CPU time go?</dt>\n<dd><b>The same in both:</b> "),
        "{alike}"
    );
    assert!(!alike.contains("<b>one:</b>") && !alike.contains("table by table"), "{alike}");
    let asks =
        "What became of the jobs?</dt>\n<dd><b>one:</b> no such result</dd>\n<dd><b>other:</b> ";
    assert!(page.contains(asks), "{page}");
    let json = fs::read(place.path("changes/comparison.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["results"][0]["tables"][0]["file"], "account.csv");
    assert_eq!(json["answers"][0]["question"], "What became of the jobs?");
    assert!(json["answers"][0]["first"].is_null() && json["answers"][0]["second"].is_string());
}

/// Earlier, checksums, paths and the span of the data counted as settings, and a change from 5 jobs
/// to 1,000 was `+19940.000 %`.
#[test]
fn months_are_compared_in_plain_figures() {
    let place = Place::new();
    for (month, failed) in [("12", 3), ("01", 300)] {
        let mut log = "JobID|User|Account|State|Submit|Start|End|NCPUS\n".to_owned();
        for job in 0..1000 {
            let state = if job < failed { "FAILED" } else { "COMPLETED" };
            let time = |minute: u32| format!("2017-{month}-01T{:02}:{minute:02}:00", job % 24);
            let times = [time(0), time(1), time(job % 7 + 2)].join("|");
            writeln!(log, "{job}|u{}|a{}|{state}|{times}|4", job % 5, job % 2).unwrap();
        }
        let raw = place.path(&format!("{month}.sacct"));
        fs::write(&raw, log).unwrap();
        let lake = format!("lake-{month}");
        place.run(&["ingest", raw.to_str().unwrap(), "--source", "slurm", "--lake", &lake]).ok();
        for command in ["account", "classify", "monthly", "fairness"] {
            let out = format!("{month}/{command}");
            place.run(&[command, "--lake", &lake, "--out", &out]).ok();
        }
    }
    let run = place.run(&["report", "--compare", "12", "01", "--out", "changes"]).ok();
    let text = run.stdout_text();
    assert!(!text.contains("+1000") && text.contains("0.133333 to 40 (300 times)"), "{text}");
    for line in text.lines().skip(1) {
        let differing: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(differing[2], "0", "no setting differs: {line}");
    }
    let page = fs::read_to_string(place.path("changes/comparison.html")).unwrap();
    assert!(!page.contains("Settings that differ") && !page.contains("sha256"), "{page}");
    let failed = "<td data-value=\"0.003\">0.30 %</td><td data-value=\"0.3\">30.00 %</td>";
    for part in [
        "Key figures",
        failed,
        "+29.70 points",
        ">100 times<",
        "Data that differ",
        "job_events: last row",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

/// A page shows a thousand rows; a comparison uses all rows.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn every_row_is_compared() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let sweep = |folder: &str, thresholds: &str, more: &[&str]| {
        let base = ["sweep", "--cpu", "slots", "--thresholds", thresholds, "--out", folder];
        place.run(&[&base[..], more].concat()).ok();
    };
    sweep("one", "1..=3000", &[]);
    sweep("other", "1..=2599,2601..=3001", &["--train-until", "0.01"]);
    let run = place.run(&["report", "--compare", "one", "other", "--format", "csv"]).ok();
    let text = run.stdout_text();
    let of = |table: &str| text.lines().find(|line| line.contains(table)).unwrap();
    assert!(of("sweep,sweep.csv,").contains(",2999,0,1,1,"), "{text}");
    assert!(of("sweep,sweep-selection.csv").contains(",0,0,0,0,only in the second"), "{text}");
}

/// Earlier, task-seconds were compared with NCU-seconds, hours with two hours, users with groups.
#[test]
fn what_is_not_alike_is_not_compared() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let keep = |folder: &str, command: &str| {
        let words: Vec<&str> = command.split(' ').chain(["--out", folder]).collect();
        place.run(&words).ok();
    };
    let compared = |one: &str, other: &str| {
        place
            .run(&["report", "--compare", one, other, "--format", "csv"])
            .ok()
            .stdout_text()
            .to_owned()
    };
    keep("slots", "sweep --cpu slots --thresholds 2,3");
    keep("requested", "sweep --cpu requested --thresholds 2,3");
    let said = compared("slots", "requested");
    let line = said.lines().find(|line| line.starts_with("sweep,sweep.csv,")).unwrap();
    assert!(line.contains("units differ (task-s, NCU-s)"), "{said}");
    assert!(line.contains("net_cpu") && line.contains("not compared"), "{said}");
    keep("rules", "sweep --cpu slots --thresholds 2,3 --rules events,failures");
    let said = compared("slots", "rules");
    assert!(said.contains("other rows: identified by threshold and by rule"), "{said}");
    keep("hour", "fairness --cpu slots --interval 3600");
    keep("hours", "fairness --cpu slots --interval 7200");
    keep("priority", "describe --what waiting --group-by priority");
    keep("user", "describe --what waiting --group-by user");
    for (one, other) in [("hour", "hours"), ("priority", "user")] {
        let said = compared(one, other);
        let others: Vec<&str> = said.lines().skip(1).collect();
        assert!(others.len() == 1 && others[0].contains(",all tables,"), "{said}");
        assert!(others[0].contains("other rows: "), "{said}");
    }
    for folder in ["slots", "rules", "hour", "priority"] {
        let said = compared(folder, folder);
        for line in said.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(&cells[4..7], ["0", "0", "0"], "{said}");
        }
    }
}

fn a_sweep(place: &Place, more: &[&str]) {
    let base = ["sweep", "--cpu", "slots", "--thresholds", "3,5", "--out", "found"];
    place.run(&[&base[..], more].concat()).ok();
}

/// Earlier, a table of one run was shown with the results of a later run.
#[test]
fn an_answer_takes_back_what_it_no_longer_has() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    a_sweep(&place, &["--rules", "events,failures", "--train-until", "0.01"]);
    let (first, mine) = (tree(&place.path("found")), place.path("found/sweep-mine.csv"));
    fs::write(&mine, "a\n1\n").unwrap();
    place.run(&["report", "found"]).ok();
    let page = || fs::read_to_string(place.path("found/report/sweep.html")).unwrap();
    assert!(page().contains("sweep-selection.csv") && !page().contains("sweep-mine.csv"));
    place.run(&["account", "--cpu", "slots", "--out", "found"]).ok();
    assert!(place.path("found/sweep.csv").exists(), "another answer takes nothing back");
    fs::remove_dir_all(place.path("found")).unwrap();
    a_sweep(&place, &["--rules", "events,failures", "--train-until", "0.01"]);
    assert!(first == tree(&place.path("found")), "the same command, the same bytes");
    fs::write(&mine, "a\n1\n").unwrap();
    let harmed = place.path("found/sweep-mine.svg");
    fs::write(&harmed, "mine now").unwrap();
    a_sweep(&place, &[]);
    assert!(!place.path("found/sweep-selection.csv").exists());
    assert!(mine.exists() && harmed.exists(), "what is another's stays");
    place.run(&["report", "found"]).ok();
    assert!(!page().contains("sweep-selection.csv") && !page().contains("sweep-mine.csv"));
}

/// Earlier, a truncated file, or one with a changed byte, was put into the report.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn results_that_are_not_as_they_were_written_are_refused() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    a_sweep(&place, &["--rules", "events,failures", "--train-until", "0.01"]);
    place.run(&["fairness", "--cpu", "slots", "--out", "found/fairness"]).ok();
    place.run(&["detect", "--out", "found/detect"]).ok();
    let journal = ["replay", "--policies", "fifo", "--journal", "--out", "found/replay"];
    place.run(&journal).ok();
    let files = tree(&place.path("found"));
    for name in ["fairness/series.parquet", "detect/detect-flags.csv", "replay/journal-1.txt"] {
        assert!(files.contains_key(name), "{name}");
    }
    let report = || place.run(&["report", "found", "--out", "report"]);
    report().ok();
    for (name, bytes) in &files {
        let path = place.path("found").join(name);
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        for (what, now) in [("cut", &bytes[..bytes.len() - 2]), ("flipped", &flipped)] {
            fs::write(&path, now).unwrap();
            for run in [report(), place.run(&["report", "--compare", "found", "found"])] {
                let about = format!("{name} {what}: {}", run.text());
                assert_eq!(run.code, Some(3), "{about}");
                assert!(run.stderr.contains(&format!("`found/{name}` ")), "{about}");
            }
        }
        fs::remove_file(&path).unwrap();
        if !name.ends_with("result.json") {
            assert_eq!(report().code, Some(3), "{name} removed");
        }
        if name.ends_with(".csv") {
            let run = place.run(&["report", "--compare", "found", "found"]);
            assert_eq!(run.code, Some(3), "{name} removed");
        }
        fs::write(&path, bytes).unwrap();
    }
    report().ok();
    // Only a file can be a result.
    fs::create_dir(place.path("found/folder.json")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path("found/dangling.json")).unwrap();
    assert!(Command::new("mkfifo").arg(place.path("found/pipe.json")).status().unwrap().success());
    report().ok();
}

/// Earlier, results of other commands lost their JSON, and those of an analysis no longer matched.
#[test]
fn answers_of_several_commands_share_a_folder() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let jsons = || {
        let names = tree(&place.path("found")).into_keys();
        names.filter(|name| name.ends_with(".json") && !name.contains('/')).collect::<Vec<_>>()
    };
    for command in
        [&["classify"][..], &["classify", "--by", "task"], &["account", "--cpu", "slots"]]
    {
        place.run(&[command, &["--out", "found"]].concat()).ok();
    }
    assert_eq!(jsons(), ["classify-jobs.json", "classify-tasks.json", "result.json"]);
    place.run(&["report", "found", "--out", "report"]).ok();
    place.run(&["classify", "--out", "found"]).ok();
    assert_eq!(jsons(), ["account.json", "classify-tasks.json", "result.json"]);
    place.run(&["report", "found", "--out", "report"]).ok();
    fs::remove_dir_all(place.path("found")).unwrap();
    let config = "steps = [\"classify\", \"account\"]\n[definitions]\ncpu = \"slots\"\n";
    fs::write(place.path("a.toml"), config).unwrap();
    let analyze = ["analyze", "trace", "--lake", "lake", "--config", "a.toml", "--out", "found"];
    place.run(&analyze).ok();
    place.run(&["account", "--cpu", "slots", "--out", "found"]).ok();
    place.run(&["report", "found", "--out", "report"]).ok();
    let said = place.run(&analyze).ok().stderr;
    assert!(said.contains("[2/2] account\n") && said.contains("[1/2] classify: done"), "{said}");
    assert!(!place.path("found/result.json").exists());
    place.run(&["report", "found", "--out", "report"]).ok();
    // A report of fewer results keeps no page of an earlier, larger one.
    place.run(&["account", "--cpu", "slots", "--out", "one"]).ok();
    place.run(&["fairness", "--cpu", "slots", "--out", "two"]).ok();
    place.run(&["report", "two", "--out", "report"]).ok();
    assert!(place.path("report/users/0001.html").exists());
    place.run(&["report", "one", "--out", "report"]).ok();
    for page in ["users/0001.html", "fairness.html"] {
        assert!(!place.path("report").join(page).exists(), "{page}");
    }
}

/// Earlier, two processes that wrote results into one folder mixed them.
#[test]
fn results_are_written_by_one_process_at_a_time() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    a_sweep(&place, &[]);
    let before = tree(&place.path("found"));
    let other = fs::File::open(place.path("found")).unwrap();
    other.try_lock().unwrap();
    let again = ["sweep", "--cpu", "slots", "--thresholds", "2", "--out", "found"];
    let run = place.run(&again);
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("another process is writing results into `found`"));
    assert!(before == tree(&place.path("found")));
    drop(other);
    // If a folder is in the place of a file, this is detected before anything is replaced.
    fs::remove_file(place.path("found/sweep-rules.svg")).unwrap();
    fs::create_dir(place.path("found/sweep-rules.svg")).unwrap();
    let run = place.run(&again);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("`found/sweep-rules.svg` was changed after it was written"));
    let now = tree(&place.path("found"));
    assert!(now.iter().all(|(name, bytes)| before[name] == *bytes), "{:?}", now.keys());
    fs::remove_dir(place.path("found/sweep-rules.svg")).unwrap();
    // The leftovers of a killed run are removed.
    fs::create_dir(place.path("found/.jobfate-work")).unwrap();
    fs::write(place.path("found/.jobfate-work/detect-flags.csv"), "half").unwrap();
    place.run(&again).ok();
    assert!(!place.path("found/.jobfate-work").exists());
}

/// Charts whose names differ only in punctuation, and rules that are named twice.
#[test]
fn every_chart_has_a_file_of_its_own() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    fs::write(place.path("f"), "display score = usage\n").unwrap();
    let formulas = ["x-3=f", "x=f", "x.=f", "x-2=f"].map(|pair| format!("--formula={pair}"));
    let formulas = formulas.each_ref().map(String::as_str);
    let fairness = ["fairness", "--cpu", "slots", "--out", "found/fairness"];
    place.run(&[&fairness[..], &formulas].concat()).ok();
    let charts = |folder: &str| {
        let names = tree(&place.path(folder)).into_keys();
        names.filter(|name| name.ends_with(".svg")).collect::<Vec<String>>()
    };
    let found = charts("found/fairness");
    for name in ["x", "x-2", "x-2-2", "x-3"] {
        assert!(found.contains(&format!("fairness-{name}.svg")), "{found:?}");
    }
    let run = place.run(&["report", "found"]).ok();
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    // The tables are named above the charts of a study; only the captions of the first page repeat
    // them.
    for (page, has) in [("index", true), ("fairness", false)] {
        let html = fs::read_to_string(place.path(&format!("found/report/{page}.html"))).unwrap();
        let captions: Vec<&str> = html.split("<figcaption>").skip(1).collect();
        assert!(!captions.is_empty() && html.contains("Tables: "), "{page}");
        for caption in captions {
            let (caption, _) = caption.split_once("</figcaption>").unwrap();
            assert_eq!(caption.contains("Tables: "), has, "{page}: {caption}");
        }
    }
}

/// The text of a JSON object with its checksum.
fn sealed(object: &str) -> String {
    use sha2::Digest;
    let sum = sha2::Sha256::digest(object);
    let sum: Vec<String> = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    let open = object.strip_suffix("\n}").unwrap();
    format!("{open},\n  \"checksum\": \"{}\"\n}}\n", sum.concat())
}

#[test]
fn what_is_no_result_is_refused() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).unwrap();
    let said = place.run(&["report", "empty"]);
    assert!(
        said.text().contains("exit code: 4") && said.text().contains("no results"),
        "{}",
        said.text()
    );
    fs::write(place.path("empty/result.json"), "{\"name\": ").unwrap();
    let said = place.run(&["report", "empty"]);
    assert!(said.text().contains("exit code: 3"), "{}", said.text());
    let result = |name: &str, version: u32, more: &str| {
        format!(
            "{{\"name\": \"{name}\", \"program\": \"jobfate\", \"format_version\": {version}{more}\n}}"
        )
    };
    let chart = ", \"charts\": [{\"file\": \"../x\", \"title\": \"\", \"caption\": \"\"}]";
    for (text, problem) in [
        (result("x", 2, ""), "its format is 2, not 3"),
        (result("x", 3, ""), "its checksum differs"),
        (sealed(&result("../x", 3, "")), "`../x` is not the name of a result"),
        (sealed(&result("x", 3, chart)), "`../x` is not the name of a chart"),
    ] {
        fs::write(place.path("empty/result.json"), text).unwrap();
        let said = place.run(&["report", "empty"]);
        assert_eq!(said.code, Some(3), "{}", said.text());
        assert!(said.text().contains(problem), "{problem} in {}", said.text());
    }
}

/// The numbers in a text: value, decimals, and whether it is a percentage.
fn numbers_in(text: &str) -> Vec<(f64, i32, bool)> {
    let text = text.replace("95 % interval", "").replace("under 0.1 %", "");
    let mut found = Vec::new();
    let bytes: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < bytes.len() {
        // A digit inside a word belongs to a name.
        let is_start = bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_alphanumeric());
        if !is_start {
            at += 1;
            continue;
        }
        let end = (at..bytes.len())
            .find(|&place| !bytes[place].is_ascii_digit() && !",.".contains(bytes[place]))
            .unwrap_or(bytes.len());
        let word: String = bytes[at..end].iter().filter(|letter| **letter != ',').collect();
        let word = word.trim_end_matches('.');
        let decimals = word.split('.').nth(1).map_or(0, str::len);
        let rest: String = bytes[end..].iter().take(2).collect();
        found.push((word.parse().unwrap(), i32::try_from(decimals).unwrap(), rest == " %"));
        at = end;
    }
    found
}

fn all_numbers(value: &serde_json::Value, found: &mut Vec<f64>) {
    match value {
        serde_json::Value::Number(number) => found.extend(number.as_f64()),
        serde_json::Value::Array(items) => items.iter().for_each(|one| all_numbers(one, found)),
        serde_json::Value::Object(items) => items.values().for_each(|one| all_numbers(one, found)),
        _ => {}
    }
}

/// The text of a piece of HTML.
fn plain(html: &str) -> String {
    let mut text = String::new();
    for piece in html.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, after)| after));
    }
    let marks = [
        ("&nbsp;", " "),
        ("&#39;", "'"),
        ("&quot;", "\""),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ];
    marks.iter().fold(text, |text, (from, to)| text.replace(from, to))
}

/// HTML in which amounts in larger units (`10.9 NCU-h`) are replaced by the exact amounts in their
/// titles.
fn exact(html: &str) -> String {
    let mut pieces = html.split("<span title=\"");
    let mut text = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (amount, rest) = piece.split_once('"').unwrap();
        text.push_str(amount);
        text.push_str(rest.split_once("</span>").unwrap().1);
    }
    text
}

/// A text in which times of the trace such as `0 d 11:40` and `25 d 21:30:05` are in seconds.
fn clocks_in_seconds(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut parts: Vec<String> = Vec::new();
    let mut place = 0;
    while let Some(word) = words.get(place) {
        let clock = words.get(place + 2).filter(|_| words.get(place + 1) == Some(&"d"));
        let (time, rest) = clock.map_or(("", ""), |clock| {
            clock.split_at(
                clock
                    .find(|sign: char| sign != ':' && !sign.is_ascii_digit())
                    .unwrap_or(clock.len()),
            )
        });
        let units: Vec<i64> = time.split(':').filter_map(|unit| unit.parse().ok()).collect();
        if let (Ok(days), [hours, minutes, seconds @ ..]) = (word.parse::<i64>(), &*units) {
            let minutes = (days * 24 + hours) * 60 + minutes;
            parts.push(format!("{}{rest}", minutes * 60 + seconds.iter().sum::<i64>()));
            place += 3;
        } else {
            parts.push((*word).to_owned());
            place += 1;
        }
    }
    parts.join(" ")
}

#[test]
fn times_of_a_trace_are_seconds() {
    let said = clocks_in_seconds("from 0 d 03:30 to 1 d 04:10, 25 d 21:30:05 on; 3 d 5 h; 2 d");
    assert_eq!(said, "from 12600 to 101400, 2237405 on; 3 d 5 h; 2 d");
}

/// The promise of the first screen: each sentence has its scope, and a link to a result. The result
/// holds all its numbers, or the amounts by outcome from which they follow.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn every_number_of_a_finding_stands_in_the_result_that_it_leads_to() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "200", "--days", "1", "--parts", "2"]).ok();
    place.run(&["analyze", "trace", "--out", "all", "--quiet"]).ok();
    let report = place.path("all/report");
    let index = fs::read_to_string(report.join("index.html")).unwrap();
    let list = index.split("<ol class=\"found\">").nth(1).unwrap().split("</ol>").next().unwrap();
    let found: Vec<&str> = list.split("<li").skip(1).collect();
    assert!((3..=6).contains(&found.len()), "{}", found.len());
    for finding in found {
        let href = values(finding, "href").pop().unwrap();
        let (page, anchor) = href.split_once('#').unwrap();
        let page = fs::read_to_string(report.join(page)).unwrap();
        assert!(page.contains(&format!("id=\"{anchor}\"")), "{href}");
        // The page contains the result, or says where it is.
        let name = format!("{anchor}.json");
        let is_left_out = format!("because of its size: {name} in the folder of the results");
        assert_ne!(page.contains(&format!("data/{name}\"")), page.contains(&is_left_out), "{name}");
        let json = fs::read_to_string(report.join("data").join(&name))
            .or_else(|_| fs::read_to_string(place.path("all").join(&name)))
            .unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let mut known = Vec::new();
        all_numbers(&json["answer"], &mut known);
        of_lost_jobs(&json["answer"], &mut known);
        of_choice(&json["answer"], &mut known);
        of_other(&json["answer"], &mut known);
        of_last_events(&json["answer"], &mut known);
        of_shares(&json["answer"], &mut known);
        of_equal_shares(&json["answer"], &mut known);
        of_truths(&json["answer"], &mut known);
        of_times(&json["answer"], &mut known);
        // The sentence is the answer, with the folded sentences that explain it.
        let said = finding.split("<p>").skip(1).map(|said| said.split("</p>").next().unwrap());
        let sentence = said.collect::<Vec<_>>().join(" ");
        // The name of a policy or rule may contain digits.
        let outside: String =
            sentence.split("<code>").map(|piece| piece.split("</code>").last().unwrap()).collect();
        let sentence = clocks_in_seconds(&plain(&exact(&outside)));
        let numbers = numbers_in(&sentence);
        assert!(!numbers.is_empty(), "{sentence}");
        for (number, decimals, is_share) in numbers {
            let per = if is_share { 100.0 } else { 1.0 };
            let off = 0.5001 * 10_f64.powi(-decimals);
            let is_there = known
                .iter()
                .any(|one| (one * per - number).abs() <= off.max((one * per).abs() * 6e-6));
            assert!(is_there, "{number} of `{sentence}` is not in {anchor}.json");
        }
        let scope = plain(finding.split("class=\"source\">").nth(1).unwrap());
        assert!(scope.contains("_events"), "{scope}");
    }
    // Links from a user to the jobs with pages, and back.
    let leads = |folder: &str, to: &str| {
        let pages = pages(&report.join(folder));
        pages.iter().any(|page| fs::read_to_string(page).unwrap().contains(to))
    };
    assert!(leads("users", "href=\"../jobs/") && leads("jobs", "href=\"../users/"));
}

/// The times of episodes in hours of the trace, and how long their events took, s.
fn of_times(answer: &serde_json::Value, known: &mut Vec<f64>) {
    for row in answer["rows"].as_array().into_iter().flatten() {
        let at = |name: &str| row[name].as_f64();
        let times = ["start_s", "end_s", "first_at_s", "last_at_s"].into_iter().filter_map(at);
        known.extend(times.map(|at_s| at_s / 3600.0));
        known.extend(at("first_at_s").zip(at("last_at_s")).map(|(first, last)| last - first));
    }
}

/// The shares of jobs by the last event of their sequences.
fn of_last_events(answer: &serde_json::Value, known: &mut Vec<f64>) {
    let rows: Vec<(&str, f64)> = answer["sequences"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|row| Some((row["sequence"].as_str()?, row["count"].as_f64()?)))
        .collect();
    let total: f64 = rows.iter().map(|row| row.1).sum();
    for event in '0'..='6' {
        let last = |text: &str| text.chars().rfind(|digit| ('0'..='6').contains(digit));
        let ended = rows.iter().filter(|row| last(row.0) == Some(event));
        known.push(ended.map(|row| row.1).sum::<f64>() / total);
    }
}

/// Shares that follow from the shares of a result: that of all jobs that did not finish, and that
/// of the jobs that are cut at the end of a replay.
fn of_shares(answer: &serde_json::Value, known: &mut Vec<f64>) {
    let rows = answer["rows"].as_array().into_iter().flatten();
    let lost =
        rows.filter(|row| ["killed", "failed", "other"].iter().any(|own| row["outcome"] == *own));
    known.push(lost.filter_map(|row| row["share"].as_f64()).sum());
    let jobs = ["jobs_still_running", "jobs"].map(|name| answer["history"][name].as_f64());
    known.extend(jobs[0].zip(jobs[1]).map(|(cut, jobs)| cut / jobs));
}

/// Numbers that follow from the amounts by outcome of a sweep, for jobs that did not finish: the
/// condemned tasks that had not ended by then, and the share of jobs that still ran at the end.
fn of_lost_jobs(answer: &serde_json::Value, known: &mut Vec<f64>) {
    let sum = |amounts: &serde_json::Value| -> f64 {
        let outcomes = amounts.as_object().into_iter().flatten();
        let lost = outcomes.filter(|(outcome, _)| *outcome != "finished");
        lost.filter_map(|(_, amount)| amount.as_f64()).sum()
    };
    let mut share = |amounts: &serde_json::Value| {
        known.extend(amounts["running"].as_f64().map(|open| open / sum(amounts)));
    };
    share(&answer["total_cpu"]);
    let rules = answer["rules"].as_array().into_iter().flatten();
    let rows: Vec<&serde_json::Value> =
        rules.flat_map(|rule| rule["rows"].as_array().unwrap()).collect();
    for row in &rows {
        share(&row["saved_cpu"]);
    }
    known.extend(
        rows.iter().map(|row| sum(&row["condemned_tasks"]) - sum(&row["condemned_at_end"])),
    );
}

/// Numbers that follow from the choice of a kill rule: the share of restarts after an eviction; the
/// shares of the earlier and later jobs in a saving; the saving of later jobs as a share of their
/// CPU; and a hundred times the price of a harmed job.
fn of_choice(answer: &serde_json::Value, known: &mut Vec<f64>) {
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or(0.0);
    let mut share = |part: f64, whole: &serde_json::Value| {
        known.extend(whole.as_f64().filter(|whole| *whole != 0.0).map(|whole| part / whole));
    };
    share(number(&answer["restarts_after_eviction"]), &answer["restarts"]);
    let selection = &answer["selection"];
    // The rows of the first rule, then those of the other rules, each with its rule.
    let first = [(&answer["rule"], &answer["rows"])].into_iter();
    let others = answer["rules"].as_array().into_iter().flatten();
    let all = first.chain(others.map(|rule| (&rule["rule"], &rule["rows"])));
    let all: Vec<_> = all.collect();
    for choice in [&selection["chosen"], &selection["gentler"]] {
        let [train, test] = ["train", "test"].map(|side| number(&choice[side]["net_cpu"]));
        share(test, &selection["test_cpu"]);
        let setting = &choice["train"];
        let own = all.iter().filter(|(rule, _)| **rule == setting["rule"]);
        let rows = own.filter_map(|(_, rows)| rows.as_array()).flatten();
        let chosen = rows.filter(|row| row["threshold"] == setting["threshold"]);
        chosen.for_each(|row| share(train + test, &row["net_cpu"]));
    }
    known.push(100.0 * number(&selection["price"]));
}

/// Numbers that follow from the exact sequences of a classification: the shares of the groups of
/// `other`.
fn of_other(answer: &serde_json::Value, known: &mut Vec<f64>) {
    let mut groups: BTreeMap<(bool, usize, Option<char>), f64> = BTreeMap::new();
    for row in answer["sequences"].as_array().into_iter().flatten() {
        let sequence = row["sequence"].as_str().unwrap();
        if row["outcome"] != "other" {
            continue;
        }
        let attempts = sequence.matches('1').count();
        let end = sequence.chars().rfind(|event| ('0'..='6').contains(event));
        let key = match (sequence.starts_with('0'), attempts) {
            (false, _) => (false, 0, None),
            (true, 0 | 1) => (true, attempts, end),
            (true, _) => (true, 2, None),
        };
        *groups.entry(key).or_default() += row["share"].as_f64().unwrap();
    }
    known.extend(groups.values());
}

/// Adds the factors in the names of definitions of stragglers, such as `median:1.5`.
fn of_truths(answer: &serde_json::Value, known: &mut Vec<f64>) {
    let names =
        answer["truths"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
    known.extend(names.filter_map(|name| name.split(':').nth(1)?.parse::<f64>().ok()));
}

/// Numbers that follow from the shares of users: an equal share, and how many users have more.
fn of_equal_shares(answer: &serde_json::Value, known: &mut Vec<f64>) {
    let Some(users) = answer["users"].as_array().filter(|users| !users.is_empty()) else { return };
    let number = |count: usize| f64::from(u32::try_from(count).unwrap());
    let equal = 1.0 / number(users.len());
    let above = users.iter().filter(|user| user["share"].as_f64().is_some_and(|own| equal < own));
    known.extend([equal, number(above.count())]);
}

/// The page of a job has the values of the rows of the trace.
#[test]
fn the_page_of_a_job_has_the_events_of_the_trace() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    fs::write(place.path("a.toml"), "steps = [\"sweep\"]\n").unwrap();
    place.run(&["analyze", "--lake", "lake", "--config", "a.toml", "--out", "found"]).ok();
    let report = place.path("found/report");
    check(&report);
    let rows = |table: &str| -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for part in fs::read_dir(place.path("trace").join(table)).unwrap() {
            let text = fs::read_to_string(part.unwrap().path()).unwrap();
            rows.extend(text.lines().map(|line| line.split(',').map(str::to_owned).collect()));
        }
        rows
    };
    let (jobs, tasks) = (rows("job_events"), rows("task_events"));
    let pages = pages(&report.join("jobs"));
    assert!(5 < pages.len(), "{pages:?}");
    for page in pages {
        let id = page.file_stem().unwrap().to_str().unwrap().to_owned();
        let html = fs::read_to_string(&page).unwrap();
        let events: Vec<&Vec<String>> = jobs.iter().filter(|row| row[2] == id).collect();
        let own: BTreeSet<&str> =
            tasks.iter().filter(|row| row[2] == id).map(|row| row[3].as_str()).collect();
        let word = if own.len() == 1 { "task" } else { "tasks" };
        assert!(html.contains(&format!("{} {word} with ", own.len())), "{id}: {own:?}");
        let table =
            html.split("Events of the job").nth(1).unwrap().split("</table>").next().unwrap();
        for name in ["SUBMIT", "SCHEDULE", "FINISH", "FAIL", "KILL"] {
            let code = ["SUBMIT", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL"]
                .iter()
                .position(|known| *known == name)
                .unwrap()
                .to_string();
            let count = events.iter().filter(|row| row[3] == code).count();
            assert_eq!(table.matches(&format!(">{name}<")).count(), count, "{id}: {name}");
        }
    }
    let sweep = fs::read_to_string(report.join("sweep.html")).unwrap();
    assert!(sweep.contains("href=\"jobs/"), "the table leads to the pages");
}

/// The page of a machine has the values of the rows of the trace.
#[test]
fn the_page_of_a_machine_has_the_attempts_and_outages_of_the_trace() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    fs::write(place.path("a.toml"), "steps = [\"machines\", \"sweep\"]\n").unwrap();
    place.run(&["analyze", "--lake", "lake", "--config", "a.toml", "--out", "found"]).ok();
    let report = place.path("found/report");
    check(&report);
    let rows = |table: &str| -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for part in fs::read_dir(place.path("trace").join(table)).unwrap() {
            let text = fs::read_to_string(part.unwrap().path()).unwrap();
            rows.extend(text.lines().map(|line| line.split(',').map(str::to_owned).collect()));
        }
        rows
    };
    let (machines, tasks) = (rows("machine_events"), rows("task_events"));
    let pages = pages(&report.join("machines"));
    assert!(!pages.is_empty());
    for page in &pages {
        let id = page.file_stem().unwrap().to_str().unwrap().to_owned();
        let html = fs::read_to_string(page).unwrap();
        let started: Vec<&Vec<String>> =
            tasks.iter().filter(|row| row[4] == id && row[5] == "1").collect();
        let jobs: BTreeSet<&str> = started.iter().map(|row| row[2].as_str()).collect();
        let counted = |count: usize, noun: &str| {
            format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
        };
        let ran = format!(
            "{} of {} ran on it",
            counted(started.len(), "attempt"),
            counted(jobs.len(), "job")
        );
        assert!(html.contains(&ran), "{id}: not `{ran}`");
        let left = machines.iter().filter(|row| row[1] == id && row[2] == "1").count();
        assert!(html.contains(&format!("It left {} and", counted(left, "time"))), "{id}: {left}");
    }
    let table = fs::read_to_string(report.join("machines.html")).unwrap();
    assert!(table.contains("href=\"machines/"), "the table leads to the pages");
}
