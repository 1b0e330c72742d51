//! Leftovers in the sources, lengths of files, and dependencies of tests that change those of the
//! program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use super::layering::sources;
use super::support::repository;
use super::{analysis, concurrent, corrupt, faults, properties, publish, whole};

/// Texts that a source must not contain outside its tests.
const LEFTOVERS: [&str; 8] =
    ["todo!", "unimplemented!", "dbg!(", "#[allow(", "#![allow(", ".unwrap()", "TODO", "FIXME"];

/// Leftovers in a source, with their lines; its tests are left out.
fn leftovers(source: &str) -> Vec<(usize, &'static str)> {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or(source);
    let of_line = |(number, line): (usize, &str)| {
        LEFTOVERS
            .into_iter()
            .filter(|word| line.contains(word))
            .map(|word| (number, word))
            .collect::<Vec<_>>()
    };
    (1..).zip(code.lines()).flat_map(of_line).collect()
}

#[test]
fn the_sources_have_no_leftovers() {
    for (path, module, source) in sources() {
        if module.last().is_some_and(|name| name == "tests") {
            continue;
        }
        assert_eq!(leftovers(&source), [], "{}", path.display());
    }
}

#[test]
fn the_check_sees_leftovers() {
    let source =
        "fn a() {\n    b().unwrap();\n}\n#[cfg(test)]\nmod tests {\n    c().unwrap();\n}\n";
    assert_eq!(leftovers(source), [(2, ".unwrap()")]);
    assert_eq!(leftovers("#[allow(dead_code)]\n"), [(1, "#[allow(")]);
}

/// The most lines of a source, including comments and blank lines, without tests.
const LINES_MAX: usize = 500;

/// Sources with more lines, and their limits; tests do not count, in the same file or in separate
/// files.
fn long(sources: &[(Vec<String>, &str)]) -> Vec<(String, usize)> {
    let own = |(module, source): &(Vec<String>, &str)| -> Vec<Vec<String>> {
        let declared = source.split("#[cfg(test)]\nmod ").skip(1);
        let name = |text: &str| Some(text.split_once(';')?.0.to_owned());
        let names = declared.filter_map(name).filter(|name| !name.contains([' ', '\n']));
        names.map(|name| [module.as_slice(), &[name]].concat()).collect()
    };
    let tests: BTreeSet<Vec<String>> = sources.iter().flat_map(own).collect();
    let is_test = |module: &[String]| (1..=module.len()).any(|n| tests.contains(&module[..n]));
    let lines = |source: &str| {
        let mut lines = source.lines().peekable();
        let mut count = 0;
        while let Some(line) = lines.next() {
            let follows = lines.peek().copied().unwrap_or_default();
            if line.trim_start() == "#[cfg(test)]" && follows.ends_with('{') {
                let end = line.replace("#[cfg(test)]", "}");
                lines.find(|line| **line == end);
            } else {
                count += 1;
            }
        }
        count
    };
    let others = sources.iter().filter(|(module, _)| !is_test(module));
    let counted = others.map(|(module, source)| (module.join("/"), lines(source)));
    counted.filter(|(_, count)| LINES_MAX < *count).collect()
}

/// A longer file must be split by topic. `clippy.toml` limits functions.
#[test]
fn no_source_is_long() {
    let all = sources();
    let all: Vec<(Vec<String>, &str)> =
        all.iter().map(|(_, module, source)| (module.clone(), source.as_str())).collect();
    assert_eq!(long(&all), []);
}

#[test]
fn the_check_sees_long_sources() {
    let module = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<String>>();
    let lines = |count: usize| "a();\n".repeat(count);
    let tests = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(LINES_MAX), lines(9));
    let tests = format!("    #[cfg(test)]\n    fn c() {{\n{}    }}\n{tests}", lines(9));
    let behind = format!("{tests}b();\n");
    let parent = "#[cfg(test)]\nmod drawn;\nmod other;\n";
    let (many, more) = (lines(LINES_MAX + 1), lines(LINES_MAX + 2));
    let all = [
        (module("room"), parent),
        (module("room/drawn"), many.as_str()),
        (module("room/drawn/deep"), many.as_str()),
        (module("room/other"), more.as_str()),
        (module("short"), tests.as_str()),
        (module("behind"), behind.as_str()),
    ];
    let found = [("room/other", LINES_MAX + 2), ("behind", LINES_MAX + 1)];
    assert_eq!(long(&all), found.map(|(name, count)| (name.to_owned(), count)));
}

/// The most lines of code of a source of traces, without comments, blank lines and tests; and the
/// most files.
const SOURCE_LINES_MAX: usize = 600;
const SOURCE_FILES_MAX: usize = 6;

/// Modules that may be longer: two are shared by several sources, and one proposes maps and reads
/// no trace.
const SHARED: [&str; 3] = ["records", "json", "propose"];

/// Lines of code of a file, without comments, blank lines and tests.
fn code_lines(source: &str) -> usize {
    let mut lines = source.lines().peekable();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        if text == "#[cfg(test)]" {
            let next = lines.next().unwrap_or_default();
            if next.ends_with('{') {
                let end = line.replace("#[cfg(test)]", "}");
                lines.find(|line| **line == end);
            }
        } else if !text.is_empty() && !text.starts_with("//") {
            count += 1;
        }
    }
    count
}

/// The files and lines of each file or folder of the sources.
fn sources_of_traces(all: &[(Vec<String>, &str)]) -> BTreeMap<String, (usize, usize)> {
    let mut found: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (module, source) in all {
        let [room, name, rest @ ..] = module.as_slice() else { continue };
        if room == "sources" && rest.last().is_none_or(|file| file != "tests") {
            let (files, lines) = found.entry(name.clone()).or_default();
            *files += 1;
            *lines += code_lines(source);
        }
    }
    found
}

/// A source that grows longer contains code that other sources can also use.
#[test]
fn no_source_of_traces_is_long() {
    let all = sources();
    let all: Vec<(Vec<String>, &str)> =
        all.iter().map(|(_, module, source)| (module.clone(), source.as_str())).collect();
    let found = sources_of_traces(&all);
    for name in ["slurm", "kubernetes", "openb", "rumen", "mapped", "swf"].into_iter().chain(SHARED)
    {
        assert!(found.contains_key(name), "{name} is counted");
    }
    for (name, (files, lines)) in
        found.into_iter().filter(|(name, _)| !SHARED.contains(&name.as_str()))
    {
        assert!(files <= SOURCE_FILES_MAX, "src/sources/{name} has {files} files");
        assert!(lines <= SOURCE_LINES_MAX, "src/sources/{name} has {lines} lines of code");
    }
}

#[test]
fn the_check_counts_lines_of_code() {
    let source = "//! What.\n\nuse a;\n// Why.\nfn b() {\n}\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\n\
        mod more {\n    c();\n}\nfn d() {}\n";
    assert_eq!(code_lines(source), 4);
    let module = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<String>>();
    let all = [
        (module("sources/foo"), "a();\n"),
        (module("sources/foo/deep"), "a();\nb();\n"),
        (module("sources/foo/tests"), "c();\n"),
        (module("lake/foo"), "c();\n"),
        (module("sources"), "c();\n"),
    ];
    let expected = BTreeMap::from([("foo".to_owned(), (2, 3))]);
    assert_eq!(sources_of_traces(&all), expected);
}

/// Promise: the command-line layer stays small, and the README short.
#[test]
fn the_command_line_and_the_first_page_stay_short() {
    let all = sources();
    let of_cli = all.iter().filter(|(_, module, _)| module[0] == "cli");
    let lines: usize = of_cli.map(|(_, _, source)| source.lines().count()).sum();
    assert!((1..=5_000).contains(&lines), "src/cli has {lines} lines");
    let page = fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(page.lines().count() <= 200, "README.md has {} lines", page.lines().count());
}

/// Look-ups of a part of JSON by its name in a source, outside its tests.
fn lookups(source: &str) -> usize {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or(source);
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let of_line = |line: &str| {
        let indexed = line.match_indices("[\"").filter(|(at, _)| {
            let before = line[..*at].chars().next_back();
            before.is_some_and(|last| last.is_alphanumeric() || "_)]".contains(last))
        });
        // Forms of pages and maps have `get` too.
        let gets = if line.contains("Value::") { line.matches(".get(\"").count() } else { 0 };
        indexed.count() + gets + line.matches(".pointer(\"").count()
    };
    lines.map(of_line).sum()
}

/// Promise: a result is read as the type that wrote it. Two look-ups remain: one compares settings
/// of any content, and one writes the description of the interface.
#[test]
fn answers_are_read_by_their_types() {
    for (room, most) in [("answers", 0), ("report", 0), ("results", 1), ("serve", 1)] {
        let all = sources();
        let own = all.iter().filter(|(_, module, _)| module[0] == room);
        let own = own.filter(|(_, module, _)| module.last().is_none_or(|name| name != "tests"));
        let found: Vec<(String, usize)> = own
            .map(|(path, _, source)| (path.display().to_string(), lookups(source)))
            .filter(|(_, count)| 0 < *count)
            .collect();
        let count: usize = found.iter().map(|(_, count)| count).sum();
        assert!(count <= most, "{room} has {count} look-ups by name: {found:?}");
    }
}

#[test]
fn the_check_sees_lookups() {
    assert_eq!(lookups("a[\"b\"];\nc(d)[\"e\"][\"f\"];\n// g[\"h\"]\n"), 3);
    assert_eq!(lookups("json.get(\"a\").and_then(Value::as_str); json.pointer(\"/a\")"), 2);
    assert_eq!(lookups("form.get(\"a\")"), 0);
    assert_eq!(lookups("[\"a\"].len(); f([\"b\"]);\n#[cfg(test)]\nmod tests {\na[\"b\"]"), 0);
}

/// A module with files is one folder: `foo/mod.rs`, without a `foo.rs` in the folder above.
#[test]
fn a_folder_has_its_module_inside() {
    let all = sources();
    let paths: BTreeSet<_> = all.iter().map(|(path, ..)| path.with_extension("")).collect();
    for (path, ..) in &all {
        let folder = path.parent().unwrap();
        assert!(!paths.contains(folder), "{} has a file of the same name", folder.display());
    }
}

#[test]
fn every_source_says_what_it_is_for() {
    for (path, _, source) in sources() {
        let begin = source.trim_start_matches("#![recursion_limit = \"256\"]\n");
        assert!(begin.starts_with("//! "), "{} opens with a module comment", path.display());
    }
}

/// The features of every crate in a tree, by name and version.
fn features(edges: &str, more: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "-e", edges, "--prefix", "none", "-f", "{p}|{f}"])
        .args(more)
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut crates: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let (name, features) = line.trim_end_matches(" (*)").split_once('|').unwrap();
        let all = crates.entry(name.to_owned()).or_default();
        all.extend(features.split(',').map(str::to_owned));
    }
    crates
}

/// Promise: a program that uses only the library compiles no dependency that only the command line
/// needs.
#[test]
fn the_library_alone_needs_no_command_line() {
    let of_cli = ["clap", "clap_complete", "clap_mangen", "ctrlc", "indicatif", "mimalloc", "nix"];
    let names = |more: &[&str]| -> BTreeSet<String> {
        let crates = features("normal", &[&["--no-default-features"], more].concat());
        crates.keys().filter_map(|name| Some(name.split_once(" v")?.0.to_owned())).collect()
    };
    let (alone, program) = (names(&[]), names(&["--features", "cli"]));
    for name in of_cli.iter().chain(&["terminal_size"]) {
        assert!(program.contains(*name) && !alone.contains(*name), "{name}");
    }
    for name in ["plotters", "png", "pdf-writer"] {
        assert!(program.contains(name) && !alone.contains(name), "{name}");
    }
    assert!(alone.contains("parquet") && !alone.contains("polars"));
}

/// Otherwise `cargo test` would compile Polars a second time, which takes half an hour.
#[test]
fn dependencies_of_tests_change_no_other() {
    let (program, with_tests) = (features("normal,build", &[]), features("normal,build,dev", &[]));
    assert!(program.keys().any(|name| name.starts_with("polars v")), "the tree is read");
    assert!(with_tests.keys().any(|name| name.starts_with("insta v")), "with what tests need");
    let changed: Vec<String> = program
        .iter()
        .filter(|(name, features)| with_tests.get(*name) != Some(features))
        .map(|(name, features)| {
            format!("{name}: {features:?}, with tests {:?}", with_tests.get(name))
        })
        .collect();
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// A test that could not run has not passed.
#[test]
fn skipped_tests_count_as_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let (output, list) = (folder.path().join("output"), folder.path().join("skipped"));
    let said = "running 3 tests\n\
        test result: ok. 600 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished\n\
        test result: FAILED. 34 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
    fs::write(&output, said).unwrap();
    let count = || {
        let mut command = Command::new(repository().join(".ci/tests"));
        let run = command.arg("--count").args([&output, &list]).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    };
    assert_eq!(count(), "634 passed, 2 failed, 1 skipped\n");
    // One test may give its reason twice.
    fs::write(&list, "a::b\tno data\na::b\tno Python\na::c\tno Java\n").unwrap();
    assert_eq!(count(), "632 passed, 2 failed, 3 skipped\n");
}

/// No snapshot may wait for acceptance.
#[test]
fn no_snapshot_waits() {
    let waiting: Vec<String> = fs::read_dir(repository().join("tests/it"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".snap.new") || name.ends_with(".pending-snap"))
        .collect();
    assert_eq!(waiting, Vec::<String>::new());
}

/// The counts in the reliability table equal the constants of the tests.
#[test]
fn the_page_of_reliability_counts_what_the_tests_do() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    let (page, ci) = (read("reports/sessions/reliability.md"), read(".ci/run"));
    let row = |what: &str| {
        let begin = format!("| {what}");
        page.lines().find(|line| line.starts_with(&begin)).unwrap_or_else(|| panic!("{what}"))
    };
    let traces = properties::TRACES as usize;
    for (what, count) in [
        ("`ingest` is killed", faults::KILLS),
        ("`analyze` is killed", faults::KILLS),
        ("a `sweep` is killed whose folder holds an earlier result", faults::RESULT_KILLS),
        ("SIGINT or SIGTERM in an `ingest`", faults::SIGNALS),
        ("SIGINT or SIGTERM in an `analyze`", analysis::SIGNALS.len()),
        ("two `ingest` start", concurrent::PAIRS),
        ("one of two shards", concurrent::SHARDS_KILLED),
        ("a system call of `ingest` fails", faults::INGEST_FAULTS),
        ("a system call of `analyze` fails", faults::ANALYZE_FAULTS),
        ("a system call of a `sweep` fails", faults::RESULT_FAULTS),
        ("one of seven commands is killed", 7 * publish::KILLS_INSIDE),
        ("a system call of one of the seven", 7 * publish::FAULTS_INSIDE),
        ("an `analyze` is killed while", publish::ANALYSES_KILLED),
        ("a trace of 2019 or a grid log is changed", 2 * whole::MUTATED),
        ("the trace becomes unreadable", faults::INPUT_FAULTS),
        ("a disk that is really full", faults::FULL_DISKS),
        ("a bit flips in a gzip part", corrupt::FLIPS),
        ("a bit flips in a plain part", corrupt::FLIPS),
        ("a bit flips in the lake", corrupt::LAKE_FLIPS),
        ("a manifest is edited", corrupt::MANIFEST_EDITS),
        ("random traces go into a lake", traces),
    ] {
        let told = row(what).split(" | ").nth(1).unwrap().split(' ').next().unwrap();
        assert_eq!(told, jobfate::digits::grouped(count as u64), "{what}");
    }
    let asked = format!("of {} commands", corrupt::ASKED_FLIPS);
    assert!(row("a bit flips in the lake").contains(&asked), "{asked}");
    assert!(row("random workloads").contains("| 10,000 for each"));
    assert!(read("src/replay/properties.rs").contains("const CASES: u32 = drawn(10_000);"));
    assert!(row("the facts in Polars").contains("(10 in every run)"));
    assert!(ci.contains("engines_agree.py") && ci.contains("--seeds 10"));
    assert!(page.contains("20,000 each in every run") && ci.contains("fuzz/run --runs 20000"));
}
