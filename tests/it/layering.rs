//! The folders of `src/` have an order, and each folder uses only those before it.

use std::fs;
use std::path::{Path, PathBuf};

use super::support::repository;

/// The data flow, from left to right.
const LAYERS: [&str; 25] = [
    "units",
    "faults",
    "progress",
    "digits",
    "cells",
    "notation",
    "claims",
    "schema",
    "sources",
    "files",
    "lake",
    "facts",
    "studies",
    "fairness",
    "replay",
    "defaults",
    "charts",
    "results",
    "export",
    "answers",
    "report",
    "serve",
    "prelude",
    "fuzzing",
    "decisions",
];

/// Offers what programs need, including a generated lake.
const FRONT_DOOR: &str = "prelude";

/// Outside of the data flow. It uses only the layers in [`BELOW`], and only [`FRONT_DOOR`] uses it.
const BESIDE: &str = "synth";

/// The layers that it may use: the errors, and the types of events.
const BELOW: [&str; 2] = ["faults", "schema"];

/// Belongs to the program, not to the library. Its `crate::` paths are only to itself.
const PROGRAM: &str = "cli";

/// Items of `lib.rs` itself, which belong to no layer.
const ROOT_ITEMS: [&str; 1] = ["PROGRAM"];

/// Returns every `crate::` path in `source` that `layer` may not use.
/// `crate::{` counts as forbidden: one `use` line per layer keeps the dependency list readable,
/// and this check simple.
fn forbidden_paths<'a>(layer: &str, source: &'a str) -> Vec<&'a str> {
    let rank = |name: &str| LAYERS.iter().position(|known| *known == name);
    let may_use = |target: &str| {
        let (own, other) = (rank(layer), rank(target));
        target == layer
            || (layer != PROGRAM && ROOT_ITEMS.contains(&target))
            || (target == BESIDE && layer == FRONT_DOOR)
            || (BELOW.contains(&target) && layer == BESIDE)
            || own.zip(other).is_some_and(|(own, other)| other < own)
    };
    source
        .split("crate::")
        .skip(1)
        .map(|path| path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(path))
        .filter(|target| !may_use(target))
        .collect()
}

/// The longest chain of `super::` outside of tests. A chain as long as the depth of the file would
/// leave the layer.
fn longest_climb(source: &str) -> usize {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or(source);
    let mut longest = 0;
    for (at, _) in source.match_indices("super::") {
        let climb = source[at..].split("::").take_while(|step| *step == "super").count();
        longest = longest.max(climb);
    }
    longest
}

/// Every source file, with the names of its modules from the root: `lake/ingest.rs` gives `["lake",
/// "ingest"]`, `lake/mod.rs` gives `["lake"]`.
pub(crate) fn sources() -> Vec<(PathBuf, Vec<String>, String)> {
    let mut found = Vec::new();
    collect(&repository().join("src"), &mut Vec::new(), &mut found);
    found.sort();
    assert!(50 < found.len(), "the sources are found");
    found
}

fn collect(
    folder: &Path,
    steps: &mut Vec<String>,
    found: &mut Vec<(PathBuf, Vec<String>, String)>,
) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        steps.push(stem.clone());
        if path.is_dir() {
            collect(&path, steps, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let mut module = steps.clone();
            if stem == "mod" {
                module.pop();
            }
            let source = fs::read_to_string(&path).unwrap();
            found.push((path, module, source));
        }
        steps.pop();
    }
}

#[test]
fn a_layer_uses_only_those_before_it() {
    for (path, module, source) in sources() {
        let layer = module[0].as_str();
        // The last file writes Python from the command line, in a test of the program.
        if matches!(layer, "main" | "lib" | "python") {
            continue;
        }
        if layer == PROGRAM {
            let others = forbidden_paths(layer, &source);
            assert!(others.is_empty(), "{} uses {others:?}", path.display());
            continue;
        }
        assert!(!source.contains("jobfate::cli"), "{} uses the program", path.display());
        assert!(
            LAYERS.contains(&layer) || layer == BESIDE,
            "{}: `{layer}` is in no layer; give it a place in LAYERS",
            path.display()
        );
        let forbidden = forbidden_paths(layer, &source);
        assert!(forbidden.is_empty(), "{} uses {forbidden:?}", path.display());
        let climb = longest_climb(&source);
        assert!(climb < module.len(), "{} climbs out of `{layer}`", path.display());
    }
}

#[test]
fn every_layer_is_there() {
    for layer in LAYERS.iter().chain([&BESIDE]) {
        let folder = repository().join("src").join(layer);
        assert!(folder.is_dir() || folder.with_extension("rs").is_file(), "{layer}");
    }
}

#[test]
fn the_check_sees_what_is_wrong() {
    assert_eq!(forbidden_paths("lake", "use crate::facts::x;"), ["facts"]);
    assert_eq!(forbidden_paths("lake", "use crate::{sources, facts};"), [""]);
    assert_eq!(forbidden_paths("facts", "use crate::synth::Truth;"), ["synth"]);
    assert_eq!(forbidden_paths("synth", "use crate::units::CpuTime;"), ["units"]);
    assert_eq!(forbidden_paths("cli", "use crate::lake::x; use crate::cli::y;"), ["lake"]);
    let fine = "use crate::schema::Table; use crate::lake::x; let p = crate::PROGRAM;";
    assert!(forbidden_paths("lake", fine).is_empty());
    assert_eq!(longest_climb("use super::a; use super::super::b;"), 2);
    assert_eq!(longest_climb("use super::a;\n#[cfg(test)]\nmod tests { use super::super::b; }"), 1);
}

#[test]
fn only_the_command_line_speaks_of_anyhow_and_prints() {
    for (path, module, source) in sources() {
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let code: String = source.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect();
        let is_cli = module[0] == "cli";
        assert!(is_cli || !code.contains("anyhow::"), "{}: anyhow is for cli", path.display());
        let is_console = module == ["cli", "console"];
        for word in ["println!", "eprintln!", "print!(", "io::stdout()", "io::stderr()"] {
            assert!(is_console || !code.contains(word), "{}: {word}", path.display());
        }
    }
}
