//! Names of a trace are not trusted. They never act as markup, formula, path or SQL, and they are
//! unchanged in the output. Programs run only if the command line names them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use super::support::{Place, tree};

const EVIL: [&str; 16] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</style></svg><svg onload=alert(1)>",
    "javascript:alert(1)",
    "=cmd|' /C calc'!A0",
    "'=1+1",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "+1+1 x",
    "-2+3 x",
    "../../../outside",
    "/etc/outside",
    "..",
    "a/b\\c:d*e?f",
    "'; DROP TABLE job_events; --",
    "$(touch outside) `touch outside` ; touch outside",
    "\u{202e}txt.exe \u{200b}",
];

/// A trace in which every name is one of [`EVIL`].
fn place() -> Place {
    let place = Place::new();
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let (mut jobs, mut tasks, mut machines) = (String::new(), String::new(), String::new());
    for (number, name) in (1_u64..).zip(EVIL) {
        let name = quoted(name);
        writeln!(machines, "0,{number},0,{name},1,1").unwrap();
        let (from, to) = (number * 1_000_000_000, number * 1_000_000_000 + 900_000_000);
        for (time, event) in [(from, 0), (from + 1, 1), (to, 4)] {
            writeln!(jobs, "{time},,{number},{event},{name},0,{name},{name}").unwrap();
            writeln!(tasks, "{time},,{number},0,{number},{event},{name},0,1,0.5,0.1,0.1,0")
                .unwrap();
        }
    }
    place.part("job_events", 0, jobs);
    place.part("task_events", 0, tasks);
    place.raw("machine_events/part-00000-of-00001.csv", machines);
    place
}

/// A cell that a spreadsheet would run. Some hashes start with a plus; they are harmless.
fn runs(cell: &str) -> bool {
    let is_hash = cell.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    cell.starts_with(['=', '@', '\t', '\r'])
        || cell.starts_with(['+', '-']) && cell.parse::<f64>().is_err() && cell != "-" && !is_hash
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn names_do_nothing_wherever_they_are_shown() {
    let place = place();
    let config = "[trace]\nfolder = \"trace\"\nlake = \"lake\"\nout = \"found\"\n\
        [definitions]\ncpu = \"slots\"\n\
        [account]\ngroup-by = [\"user\"]\n[describe]\ngroup-by = \"user\"\n";
    fs::write(place.path("analysis.toml"), config).unwrap();
    let names = |place: &Place| tree(&place.path("")).into_keys().collect::<BTreeSet<String>>();
    let before = names(&place);
    place.run(&["analyze", "--config", "analysis.toml"]).ok();
    let by = ["fairness", "--by", "machine", "--cpu", "slots", "--out", "found-too"];
    place.run(&by).ok();
    place.run(&["query", "all", "--out", "found/facts"]).ok();
    place.run(&["report", "found"]).ok();
    place.run(&["report", "found-too"]).ok();

    let (mut pages, mut cells) = (0, 0);
    for name in names(&place).difference(&before) {
        let is_ours =
            ["found/", "found-too/", "lake/"].iter().any(|folder| name.starts_with(folder));
        let is_plain =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=".contains(&byte));
        assert!(is_ours && is_plain && !name.contains(".."), "{name}");
        let bytes = fs::read(place.path(name)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        if name.ends_with(".html") || name.ends_with(".svg") {
            pages += 1;
            for markup in ["<script>alert", "<img src=x", "<svg onload", "href=\"javascript"] {
                assert!(!text.contains(markup), "{markup} in {name}");
            }
        } else if name.ends_with(".csv") {
            for record in csv::Reader::from_reader(&bytes[..]).records() {
                for cell in &record.unwrap() {
                    cells += 1;
                    assert!(!runs(cell), "{cell:?} in {name}");
                }
            }
        }
    }
    assert!(20 < pages && 1_000 < cells, "{pages} pages, {cells} cells");
    assert!(!std::path::Path::new("/etc/outside").exists());
}

#[test]
fn names_come_back_as_they_were() {
    let place = place();
    place.ingest(&[]).ok();
    let args = ["account", "--cpu", "slots", "--group-by", "user", "--format", "json"];
    let answer = place.run(&args).ok().json();
    let users: BTreeSet<&str> =
        answer["rows"].as_array().unwrap().iter().filter_map(|row| row["user"].as_str()).collect();
    for name in EVIL {
        assert!(users.contains(name), "{name} among {users:?}");
    }
}

#[test]
fn a_terminal_is_reported_no_control() {
    let place = place();
    place.ingest(&[]).ok();
    let args = ["account", "--cpu", "slots", "--group-by", "user"];
    let text = place.run(&args).ok();
    let is_quiet = |letter: char| letter == '\n' || !letter.is_control() && letter != '\u{202e}';
    assert!(text.stdout_text().chars().all(is_quiet), "{}", text.stdout_text());
}

#[test]
fn a_program_runs_only_where_the_command_line_names_it() {
    let place = place();
    place.ingest(&[]).ok();
    let config = "[trace]\nfolder = \"trace\"\nlake = \"lake\"\nout = \"found\"\n\
        [fairness]\nindex-program = [\"x=touch outside\"]\n";
    fs::write(place.path("analysis.toml"), config).unwrap();
    let run = place.run(&["analyze", "--config", "analysis.toml"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    // A named program is started with a list of arguments, without a shell.
    let program = "x=echo $(touch outside) ; touch outside";
    place.run(&["fairness", "--cpu", "slots", "--index-program", program]);
    for name in ["outside", "found"] {
        assert!(!place.path(name).exists(), "{name}");
    }
}
