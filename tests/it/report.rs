//! The pages that `analyze` and `report` write: nothing from outside, every way leads somewhere,
//! and no name of a trace is markup.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::engines::{python, script};
use super::support::{Place, skipped};

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

/// Checks every page: what it refers to lies in the report, and nothing else is fetched.
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
        // The namespace of a picture is a name and no address.
        let html = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        assert!(!html.contains("http://") && !html.contains("https://"), "{}", page.display());
        assert_eq!(html.matches("<h1>").count(), 1, "{}", page.display());
        let images = html.matches("<img ").count();
        assert_eq!(values(&html, "alt").iter().filter(|alt| !alt.is_empty()).count(), images);
    }
    all
}

#[test]
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
    // Its sentences are made of the stored numbers.
    let index = fs::read_to_string(place.path("all/report/index.html")).unwrap();
    let jobs = fs::read_to_string(place.path("all/classify-jobs.json")).unwrap();
    let jobs: serde_json::Value = serde_json::from_str(&jobs).unwrap();
    assert!(index.contains(&format!("Of {} jobs, ", jobs["answer"]["total"])), "{index}");
    // The same results give the same pages.
    place.run(&["report", "all", "--out", "again"]).ok();
    for page in &found {
        let other = place.path("again").join(page.strip_prefix(place.path("all/report")).unwrap());
        assert_eq!(fs::read(page).unwrap(), fs::read(other).unwrap(), "{}", page.display());
    }
}

/// In a browser: no errors, nothing fetched, tables sort, charts tell their values, at the width
/// of a desk and of a phone, in light and dark.
#[test]
fn a_browser_shows_the_pages_without_a_fault() {
    let Some(python) = python("playwright") else { return };
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "200", "--days", "1", "--parts", "2"]).ok();
    place.run(&["analyze", "trace", "--out", "all"]).ok();
    place.run(&["report", "all", "--out", "pages"]).ok();
    let said = script(&python, "report_pages.py", &[place.path("pages").to_str().unwrap()]);
    if said.contains("SKIPPED:") {
        skipped(&said);
    } else {
        assert!(said.contains(" passed, 0 failed"), "{said}");
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
    for part in ["settings.classes", "sequence", "terminal", "CPU time by outcome"] {
        assert!(page.contains(part), "{part}");
    }
    let json = fs::read(place.path("changes/comparison.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["results"][0]["tables"][0]["file"], "account.csv");
}

/// A page shows a thousand rows; a comparison looks at all of them.
#[test]
fn every_row_is_compared() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    for folder in ["one", "other"] {
        place.run(&["account", "--cpu", "slots", "--out", folder]).ok();
        let rows: Vec<String> = (0..3000).map(|row| format!("{row},7")).collect();
        let mut rows = rows.join("\n");
        if folder == "other" {
            rows = rows.replace("\n2500,7", "\n2500,8").replace("\n2600,7", "");
            fs::write(place.path("other/account-new.csv"), "a\n1\n").unwrap();
        }
        fs::write(place.path(folder).join("account-more.csv"), format!("row,value\n{rows}\n"))
            .unwrap();
    }
    let run = place.run(&["report", "--compare", "one", "other", "--format", "csv"]).ok();
    let text = run.stdout_text();
    assert!(
        text.contains("account,account-more.csv,0,2999,1,1,0,value of 2500 +14.286 %"),
        "{text}"
    );
    assert!(text.contains("account,account-new.csv,0,0,0,0,0,only in the second"), "{text}");
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
    let other =
        r#"{"name": "../x", "program": "jobfate 0.1.0", "format_version": 1, "answer": {}}"#;
    fs::write(place.path("empty/result.json"), other).unwrap();
    let said = place.run(&["report", "empty"]);
    assert!(said.text().contains("is no name of a result"), "{}", said.text());
}
