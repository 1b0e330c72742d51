//! The named or recognised source of a trace, the effects of a refused ingest, and warnings about
//! readable traces.

use std::fs;

use proptest::prelude::*;

use super::support::{Place, golden, gzip, tree};

/// A job of a log in the standard workload format.
fn job(number: u32, submit: u32, user: u32) -> String {
    format!("{number} {submit} 1 60 2 -1 -1 2 100 -1 1 {user} 1 -1 0 -1 -1 -1")
}

// A refused ingest leaves no files

/// Traces that are refused, each for a different reason.
fn refused_traces(place: &Place) -> [(&'static str, &'static [&'static str]); 5] {
    let write = |name: &str, bytes: &[u8]| fs::write(place.path(name), bytes).unwrap();
    write("notes.txt", b"some notes\n");
    write("bad.swf", format!("{}\n1 2 3\nx\n", job(1, 0, 1)).as_bytes());
    write("cut.swf.gz", &gzip(job(1, 0, 1).repeat(99).as_bytes())[..40]);
    write("other.gwf", b"1 2 3\n4 5 6\n");
    place.part("job_events", 0, "600,,7,0,u,1,n,l\nbad\n");
    [
        ("notes.txt", &[]),
        ("bad.swf", &["--max-rejects", "1"]),
        ("cut.swf.gz", &[]),
        ("other.gwf", &["--source", "gwf"]),
        ("trace", &["--max-rejects", "0"]),
    ]
}

#[test]
fn a_refused_ingest_leaves_no_folder() {
    let place = Place::new();
    for (trace, more) in refused_traces(&place) {
        for shard in [&[][..], &["--shard", "1/2"]] {
            let lake = if shard.is_empty() { "lake" } else { "shards" };
            let run = place.run(&[&["ingest", trace, "--lake", lake], more, shard].concat());
            assert_eq!(run.code, Some(3), "{trace}: {}", run.stderr);
        }
        assert!(!place.path("lake").exists(), "{trace} left {:?}", tree(&place.path("lake")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// After any refused traces, in any order, the next trace is ingested, and the lake is the same
    /// as in a new folder. This holds for an existing and for a new folder.
    #[test]
    #[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn what_was_refused_binds_no_other_trace(
        refused in proptest::collection::vec((0_usize..5, any::<bool>()), 1..5),
        was_made in any::<bool>(),
        good in 0_usize..3,
    ) {
        let place = Place::new();
        let traces = refused_traces(&place);
        if was_made {
            fs::create_dir(place.path("lake")).unwrap();
        }
        for (number, is_shard) in refused {
            let (trace, more) = traces[number];
            let shard: &[&str] = if is_shard { &["--shard", "1/2"] } else { &[] };
            let run = place.run(&[&["ingest", trace, "--lake", "lake"], more, shard].concat());
            prop_assert_eq!(run.code, Some(3), "{}: {}", trace, run.stderr);
        }
        let good = ["small.swf", "small.gwf", "small-trace.json"][good];
        fs::copy(golden("logs").join(good), place.path(good)).unwrap();
        let args = |lake| ["ingest", good, "--lake", lake, "--max-rejects", "100%"];
        place.run(&args("lake")).ok();
        place.run(&args("fresh")).ok();
        let ours = |lake: &str| {
            let mut files = tree(&place.path(lake));
            files.retain(|name, _| !name.starts_with("manifest-"));
            files
        };
        prop_assert!(ours("lake") == ours("fresh"));
    }
}

#[test]
fn a_lake_that_holds_parts_keeps_them_when_an_ingest_is_refused() {
    let place = Place::new();
    fs::write(place.path("log.swf"), job(1, 0, 1)).unwrap();
    place.run(&["ingest", "log.swf", "--lake", "lake"]).ok();
    let before = tree(&place.path("lake"));
    for (trace, more) in refused_traces(&place) {
        let run = place.run(&[&["ingest", trace, "--lake", "lake"], more].concat());
        assert_eq!(run.code, Some(3), "{trace}: {}", run.stderr);
        assert!(tree(&place.path("lake")) == before, "{trace}");
    }
}

// Recognition from content

/// A log of numbers with more fields than the format has.
fn wide_log() -> impl Strategy<Value = (Vec<Vec<i32>>, usize, bool, bool)> {
    let line = (0_i32..50, 1_i32..500, 1_i32..9, 0_i32..3);
    let lines = proptest::collection::vec(line, 1..40).prop_map(|lines| {
        let numbered = (1..).zip(lines);
        numbered
            .map(|(number, (wait, run, processors, user))| {
                let head = [number, number * 10, wait, run, processors, -1, -1, processors, 900];
                [&head[..], &[-1, 1, user, 1, -1, 0, -1, -1, -1]].concat()
            })
            .collect::<Vec<Vec<i32>>>()
    });
    (lines, 0_usize..8, any::<bool>(), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// A log with fields after the eighteenth gives the rows of the log without these fields, and a
    /// remark that counts its lines.
    #[test]
    #[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
    fn fields_behind_the_eighteenth_change_no_row((jobs, more, has_header, is_gzip) in wide_log()) {
        let place = Place::new();
        let header = if has_header { "; Version: 2.2\n; MaxProcs: 64\n" } else { "" };
        let text = |more: usize| {
            let line = |fields: &Vec<i32>| {
                let own = (0..more).map(|field| field.to_string());
                let all: Vec<String> = fields.iter().map(i32::to_string).chain(own).collect();
                all.join(" ")
            };
            format!("{header}{}\n", jobs.iter().map(line).collect::<Vec<String>>().join("\n"))
        };
        // Gzip is also recognised from content.
        let packed = |text: String| if is_gzip { gzip(text.as_bytes()) } else { text.into_bytes() };
        fs::write(place.path("plain.log"), text(0)).unwrap();
        fs::write(place.path("wide.log"), packed(text(more))).unwrap();
        let ask = |name: &str| {
            let run = place.run(&["ingest", &format!("{name}.log"), "--lake", name]).ok();
            let facts = place.run(&["query", "q01", "--lake", name, "--format", "csv"]).ok();
            (run.stderr, facts.stdout)
        };
        let (plain, wide) = (ask("plain"), ask("wide"));
        prop_assert_eq!(plain.1, wide.1);
        let said = format!("lines with more than 18 fields: the first 18 are read: {}", jobs.len());
        prop_assert_eq!(wide.0.contains(&said), 0 < more, "{}", wide.0);
        prop_assert!(!plain.0.contains("more than 18"), "{}", plain.0);
    }
}

#[test]
fn an_unrecognised_file_is_refused_with_what_was_seen() {
    let place = Place::new();
    let line = job(1, 0, 1);
    let cut = line.rsplit_once(' ').unwrap().0;
    for (text, said) in [
        (cut.to_owned(), "its first job has 17 fields; a job of SWF has 18 or more"),
        (format!("{cut} x"), "field 18 (`x`) is not a number"),
        (format!("# a grid\n{line}"), "18 fields, below a header with `#` as GWF has"),
        ("600,,7,0,u,1,n,l\n".to_owned(), "8 fields between commas"),
        ("<!DOCTYPE html>".to_owned(), "it begins like a page of HTML or XML"),
        (String::new(), "it is empty"),
    ] {
        fs::write(place.path("log.txt"), &text).unwrap();
        let run = place.run(&["ingest", "log.txt", "--lake", "lake"]);
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
        assert!(run.stderr.contains("hint: name it with `--source"), "{}", run.stderr);
    }
    fs::create_dir(place.path("folder")).unwrap();
    fs::write(place.path("folder/notes.txt"), "a b c\n").unwrap();
    let run = place.run(&["ingest", "folder", "--lake", "lake"]);
    assert!(
        run.stderr.contains("nor a log: `notes.txt`: its first job has 3 fields"),
        "{}",
        run.stderr
    );
}

// Warnings

#[test]
fn the_same_file_as_two_parts_is_warned_of() {
    let place = Place::new();
    place.part("job_events", 0, "600,,7,0,u,1,n,l\n");
    place.part("job_events", 1, "600,,7,0,u,1,n,l\n");
    let said = "parts 0 and 1 of job_events are the same file: its rows count twice";
    for run in [place.ingest(&[]).ok(), place.run(&["verify"]).ok()] {
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let raw = place.run(&["verify", "trace"]).ok();
    assert!(raw.stderr.contains("are the same file"), "{}", raw.stderr);
    let other = Place::new();
    other.part("job_events", 0, "600,,7,0,u,1,n,l\n");
    other.part("job_events", 1, "601,,7,1,u,1,n,l\n");
    for run in [other.ingest(&[]).ok(), other.run(&["verify"]).ok()] {
        assert!(!run.stderr.contains("same file"), "{}", run.stderr);
    }
}

#[test]
fn rows_that_look_wrong_are_warned_of() {
    let verify = |lines: &str| {
        let place = Place::new();
        place.part("job_events", 0, lines);
        let ingest = place.ingest(&[]).ok();
        let verify = place.run(&["verify", "--format", "json"]).ok();
        (ingest.stderr, verify.json()["warnings"].to_string())
    };
    let (ingest, warnings) =
        verify("0,,7,0,u,1,n,l\n0,,7,1,u,1,n,l\n0,,8,0,v,1,n,l\n0,,8,1,v,1,n,l\n");
    assert!(ingest.contains("every row of job_events is at time 0"), "{ingest}");
    assert!(warnings.contains("every row of job_events is at time 0"), "{warnings}");
    assert!(!warnings.contains("of one user"), "{warnings}");
    let (ingest, warnings) = verify("600,,7,8,u,1,n,l\n601,,8,8,u,1,n,l\n");
    assert!(!ingest.contains("time 0"), "{ingest}");
    assert!(warnings.contains("2 jobs, all of one user"), "{warnings}");
    assert!(warnings.contains("all count as `other`"), "{warnings}");
    let (_, warnings) = verify("600,,7,0,u,1,n,l\n601,,7,1,u,1,n,l\n602,,8,0,v,1,n,l\n");
    assert_eq!(warnings, "[]");
}

// Requests of the command line

#[test]
fn an_option_out_of_range_is_named_as_it_was_given() {
    let place = Place::new();
    for (option, value) in [
        ("--jobs", "0"),
        ("--days", "1e308"),
        ("--days", "NaN"),
        ("--parts", "0"),
        ("--machines", "2000000"),
        ("--scale", "1e300"),
    ] {
        let run = place.run(&["synth", "made", option, value]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("'{value}' for '{option}")), "{}", run.stderr);
        assert!(!run.stderr.contains("job_count") && run.stderr.len() < 400, "{}", run.stderr);
        assert!(!place.path("made").exists());
    }
}

#[test]
fn a_file_without_end_is_no_analysis() {
    let place = Place::new();
    let run = place.run(&["analyze", "--config", "/dev/zero"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("`/dev/zero` is larger than 1 MiB"), "{}", run.stderr);
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn lines_of_a_header_beyond_ten_thousand_are_counted() {
    let place = Place::new();
    let text = format!("{}; MaxProcs: 8\n{}\n", "; Note: x\n".repeat(10_500), job(1, 0, 1));
    fs::write(place.path("log.swf"), text).unwrap();
    let run = place.run(&["ingest", "log.swf", "--lake", "lake"]).ok();
    let said = "header lines beyond the first 10,000 or 1 MiB: left out: 500";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let machines = place.run(&["query", "q10", "--format", "csv"]).ok();
    assert_eq!(machines.stdout_text().lines().count(), 2, "the machine is known all the same");
}
