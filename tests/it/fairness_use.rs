//! `jobfate fairness` with wrong or empty input: an error with the place, or an empty answer.

use std::fs;

use jobfate::prelude::BuiltInIndex;

use super::fairness::{no_machines, small};
use super::support::Place;

#[test]
fn mistakes_are_refused_with_their_place() {
    let place = small();
    fs::write(place.path("bad.formula"), "state u = 0\nupdate u = u + usge\ndisplay u\n").unwrap();
    fs::write(
        place.path("bad.toml"),
        "name = \"x\"\ntemplate = \"decay\"\n[parameters]\nhalf = 1\n",
    )
    .unwrap();
    let check = |more: &[&str], code: i32, parts: &[&str]| {
        let run = place.run(&[&["fairness"], more].concat());
        assert_eq!(run.code, Some(code), "{more:?}: {}", run.stderr);
        for part in parts {
            assert!(run.stderr.contains(part), "{more:?}: {}", run.stderr);
        }
    };
    check(&["--index", "condr"], 2, &["there is no index `condr` (known: metered, condor"]);
    check(&["--index", "condor:halflife=1"], 2, &["has no parameter `halflife`"]);
    check(
        &["--formula", "x=bad.formula"],
        2,
        &[
            "line 2, column 16",
            "did you mean `usage`?",
            "  update u = u + usge\n                 ^^^^",
        ],
    );
    check(&["--formula", "bad.formula"], 2, &["is not of the form NAME=FILE"]);
    check(&["--formula", "x=none.formula"], 4, &["could not read `none.formula`"]);
    check(&["--index-file", "bad.toml"], 2, &["`bad.toml` is wrong in line 4, column 1"]);
    check(
        &["--index-program", "x=sleep 30", "--time-limit", "0.3"],
        3,
        &["within the time limit of 0.3 s"],
    );
    check(&["--index-program", "x=echo hello"], 3, &["its first line is \"hello\""]);
    check(&["--index-program", "x=false"], 3, &["it ended (exit status: 1) before it answered"]);
    check(&["--index-program", "x=no-such-program-7"], 4, &["could not start the index `x`"]);
    check(&["--cpu", "published"], 2, &["`published` CPU time is known per job"]);
    check(&["--cpu", "measured"], 2, &["a trace of kind swf has no table `task_usage`"]);
    check(&["--by", "site", "--from", "100"], 2, &["select no part of the trace"]);
    check(&["--interval", "0"], 2, &["--interval must be a number"]);
    check(&["--lake", "lake", "--lake", "./lake"], 2, &["two lakes are called `lake`"]);
    check(&["--index", "jain", "--index", "jain"], 2, &["two indices are called `jain`"]);
    check(&["--lake", "nowhere"], 4, &["there is no lake"]);
    let long = "x".repeat(300);
    fs::write(place.path("x.formula"), "display usage").unwrap();
    for (flag, of) in [("--formula", "x.formula"), ("--index-program", "cat")] {
        check(
            &[flag, &format!("{long}={of}"), "--out", "long"],
            2,
            &["is longer than 100 letters"],
        );
    }
    for name in ["jain", "condor:x"] {
        let taken = format!("{name}=x.formula");
        check(&["--formula", &taken], 2, &[name, "is the name of a built-in index"]);
    }
    check(&["--formula", "a\u{202e}b=x.formula"], 2, &["the invisible character \\u{202e}"]);
    check(&["--index", &long, "--out", "long"], 2, &["there is no index"]);
    let far = ["--interval", "3600", "--window-end", "4294967295"];
    check(
        &far,
        2,
        &["intervals are too many", "give an earlier --window-end (the last event is at 9600 s)"],
    );
}

/// Promise: an index without a single defined value says so. Other indices print no such note.
#[test]
fn an_index_without_numbers_says_so() {
    let place = small();
    fs::write(place.path("none.formula"), "display usage / 0").unwrap();
    fs::write(place.path("some.formula"), "display usage").unwrap();
    for (formula, is_said) in [("none", true), ("some", false)] {
        let flag = format!("own={formula}.formula");
        let run = place.run(&["fairness", "--formula", &flag]).ok();
        let said = run.stderr.contains("own: its values are no numbers at any time");
        assert_eq!(said, is_said, "{formula}: {}", run.stderr);
    }
}

/// Promise: an index with some undefined values says how many there are, and its page says the
/// same.
#[test]
fn an_index_with_some_undefined_values_says_how_many() {
    let place = small();
    fs::write(place.path("some.formula"), "display rate = 1 / (usage - 1800)").unwrap();
    fs::write(place.path("whole.formula"), "display used = usage").unwrap();
    let flags = ["--formula", "A <b> share=some.formula", "--formula", "whole=whole.formula"];
    let run = place.run(&[&["fairness"], &flags[..], &["--out", "out"]].concat()).ok();
    let text = fs::read_to_string(place.path("out/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    let indices = result["answer"]["indices"].as_array().unwrap();
    let count = |index: usize, key: &str| indices[index]["undefined"][key].as_u64().unwrap();
    let series = fs::read_to_string(place.path("out/series.csv")).unwrap();
    let rows = |name: &str| series.lines().filter(|line| line.starts_with(name)).count() as u64;
    // A value that is undefined has no row.
    let [undefined, of] = ["values", "of_values"].map(|key| count(0, key));
    assert_eq!((of - undefined, count(1, "values")), (rows("A <b> share,"), 0));
    assert_eq!(count(1, "of_values"), rows("whole,"));
    place.run(&["report", "out", "--out", "pages"]).ok();
    let page = fs::read_to_string(place.path("pages/fairness.html")).unwrap();
    for said in [&run.stderr, &page] {
        assert_eq!(said.contains(&format!("{undefined} of {of} values")), 0 < undefined, "{said}");
        assert!(!said.contains("whole: 0 of"), "{said}");
    }
    assert!(0 < undefined, "{series}");
    // A column of a custom index has the name that its author gave, and no unit.
    assert!(page.contains("data-column=\"a_b_share_rate\""), "{page}");
    assert!(page.contains(">A &lt;b&gt; share: rate<"), "{page}");
}

#[test]
fn long_parameters_of_an_index_make_no_long_file_names() {
    let place = small();
    let folder = place.path(&"f".repeat(200));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("one.txt"), "user 1 2\n").unwrap();
    fs::write(folder.join("two.txt"), "user 1 3\n").unwrap();
    let index = |name: &str| format!("condor:factors={}", folder.join(name).display());
    let (one, two) = (index("one.txt"), index("two.txt"));
    place.run(&["fairness", "--index", &one, "--index", &two, "--out", "out"]).ok();
    let charts = fs::read_dir(place.path("out"))
        .unwrap()
        .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|end| end == "svg"));
    assert_eq!(charts.count(), 5, "one for each, the shares, the Lorenz curve, and entitlements");
}

#[test]
fn a_lake_in_which_nothing_ran_has_empty_answers() {
    let place = Place::new();
    let idle = "1 0 -1 -1 -1 -1 -1 2 -1 -1 5 1 1 -1 1 1 -1 -1\n";
    fs::write(place.path("idle.swf"), idle).unwrap();
    place.run(&["ingest", "idle.swf", "--lake", "lake"]).ok();
    for index in BuiltInIndex::ALL.map(BuiltInIndex::name) {
        let run = place.run(&["fairness", "--index", index, "--format", "json"]).ok();
        assert!(run.stderr.contains("no CPU time was used in the span"), "{}", run.stderr);
        assert_eq!(run.json()["users"].as_array().unwrap().len(), 0, "{index}");
    }
    place.run(&["fairness", "--what-if", "--out", "out"]).ok();
}

#[test]
fn lines_of_files_that_say_nothing_are_reported() {
    let place = small();
    fs::write(place.path("factors.txt"), "user alise 2\nuser 1 2\n").unwrap();
    let said = place.run(&["fairness", "--index", "condor:factors=factors.txt"]).ok();
    let text = said.text();
    assert!(
        text.contains("1 line of its files match nothing") && text.contains("user alise"),
        "{text}"
    );
    // Equal usage is equal, regardless of the groups of the users.
    let queues = place.run(&["fairness", "--by", "queue", "--index", "jain", "--show", "series"]);
    assert!(queues.ok().stdout_text().contains("jain"), "it is told");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn users_times_intervals_are_bounded_before_anything_is_gathered() {
    let place = Place::new();
    let job = |user: u32| format!("{user} {user} 0 10 1 -1 -1 1 -1 -1 1 {user} 1 -1 1 1 -1 -1\n");
    let log: String = (1..=20_000).map(job).collect();
    fs::write(place.path("many.swf"), log).unwrap();
    place.run(&["ingest", "many.swf", "--lake", "lake"]).ok();
    let run = place.run(&["fairness", "--interval", "1"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    for part in
        ["20,001 users in 20,010 intervals with 6 columns", "GiB", "give a longer --interval"]
    {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    let window = place.run(&["fairness", "--interval", "60", "--index", "jain:window_s=1e9"]);
    assert_eq!(window.code, Some(0), "{}", window.stderr);
    place.run(&["fairness"]).ok();
}

#[test]
fn one_user_is_a_sentence_and_what_if_names_the_users() {
    let place = Place::new();
    let job = "1 0 0 3600 1 -1 -1 1 -1 -1 1 7 1 -1 1 1 -1 -1\n";
    fs::write(place.path("one.swf"), job).unwrap();
    place.run(&["ingest", "one.swf", "--lake", "lake"]).ok();
    let run = place.run(&["fairness", "--what-if", "--format", "csv"]).ok();
    assert_eq!(run.stdout_text().lines().count(), 1, "no row of nothing");
    let run = place.run(&["fairness", "--what-if"]).ok();
    assert!(run.stdout_text().starts_with("The only user, 7, used"), "{}", run.text());
    let place = no_machines();
    let args = ["fairness", "--days", "0.4", "--what-if", "--index", "metered", "--index", "sge"];
    let places = place.run(&[&args[..], &["--show", "places", "--format", "csv"]].concat()).ok();
    assert_eq!(
        places.stdout_text(),
        "one,other,user,place_one,place_other,places_up\nmetered,sge,1,1.0,1.0,0.0\n\
         metered,sge,2,2.0,2.0,0.0\n"
    );
    let json = place.run(&[&args[..], &["--format", "json"]].concat()).ok();
    assert_eq!(json.json()["what_if_places"][0]["user"], "1");
    assert!(json.stderr.contains("sge compared with metered: heavier none; lighter none"));
}

#[test]
fn answers_for_machines_hold_no_words_among_numbers() {
    let place = no_machines();
    let run = place.run(&["fairness", "--top", "1", "--format", "csv"]).ok();
    let mut lines = run.stdout_text().lines();
    assert_eq!(
        lines.next().unwrap(),
        "user,cpu_s,unit,share,ran_cpu_s,peak_cores,peak_at_s,first_use_s,last_use_s,\
         largest_step_share,metered_cv,condor_eup"
    );
    assert_eq!(lines.count(), 1, "the rest is a note");
    assert!(run.stderr.contains("1 more user used the other 9.1 %"), "{}", run.stderr);
    let all = place.run(&["fairness", "--index", "jain", "--show", "series", "--format", "csv"]);
    let text = all.ok();
    assert!(text.stdout_text().lines().all(|line| !line.contains("(all)")), "no user, no name");
    // A job without a user.
    let nobody = "1 0 0 60 1 -1 -1 1 -1 -1 1 -1 1 -1 1 1 -1 -1\n";
    fs::write(place.path("nobody.swf"), nobody).unwrap();
    place.run(&["ingest", "nobody.swf", "--lake", "other"]).ok();
    let answer = place.run(&["fairness", "--lake", "other", "--format", "json"]).ok().json();
    assert!(answer["users"][0]["user"].is_null() && answer["clusters"][0]["heaviest"].is_null());
}
