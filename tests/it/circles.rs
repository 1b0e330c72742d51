//! Imports inside a folder also go in one direction: no two files import each other.
//!
//! The face of a folder (`mod.rs`, or `x.rs` for `x/`) lists the files below it. This does not
//! count as an import: the items in it (the trait, the error type) come before all of these files.
//! A name that a face only re-exports counts for the file that defines it.

use std::collections::{BTreeMap, BTreeSet};

use super::layering::sources;

type Module = Vec<String>;

/// The names that a file uses, and the names that it re-exports.
#[derive(Default)]
struct Names {
    used: Vec<Module>,
    handed_on: BTreeMap<String, Module>,
    /// The short names of `use` lines.
    short: BTreeMap<String, Module>,
}

/// The text without comments and without code that is compiled only for tests; the test modules.
fn without_tests(source: &str) -> (String, Vec<String>) {
    let (mut code, mut tests) = (String::new(), Vec::new());
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let item = lines.find(|line| !line.trim_start().starts_with("#[")).unwrap_or_default();
            if item.ends_with('{') {
                let indent = item.len() - item.trim_start().len();
                let end = format!("{:indent$}}}", "");
                lines.find(|line| line.starts_with(&end));
            } else if let Some(name) = item.trim_end_matches(';').split("mod ").nth(1) {
                tests.push(name.to_owned());
            }
            continue;
        }
        code.push_str(line.split("//").next().unwrap_or_default());
        code.push('\n');
    }
    (code, tests)
}

/// The paths of a `use` tree: `a::{b, c::{d, e}}` gives three.
fn paths(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((head, rest)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or(tree).replace(char::is_whitespace, "")];
    };
    let inner = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut from, mut found) = (0, 0, Vec::new());
    let ends = inner.char_indices().chain([(inner.len(), ',')]);
    for (at, char) in ends {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = &inner[from..at];
                if !part.trim().is_empty() {
                    found.extend(
                        paths(part).into_iter().map(|path| format!("{}{path}", head.trim())),
                    );
                }
                from = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// The path from the root; `None` if it starts with a name that is not a module below `module`.
fn from_root(module: &[String], path: &str, known: &BTreeSet<Module>) -> Option<Module> {
    let mut base = module.to_vec();
    let mut steps = path.split("::").peekable();
    match *steps.peek()? {
        "crate" | "jobfate" => base.clear(),
        "self" | "super" => {}
        first => {
            let child = [module, &[first.to_owned()]].concat();
            return known
                .contains(&child)
                .then(|| [module, &steps.map(str::to_owned).collect::<Vec<_>>()].concat());
        }
    }
    for step in steps {
        match step {
            "crate" | "jobfate" | "self" => {}
            "super" => drop(base.pop()),
            name => base.push(name.to_owned()),
        }
    }
    Some(base)
}

fn names_of(module: &[String], code: &str, known: &BTreeSet<Module>) -> Names {
    let mut names = Names::default();
    let mut body = String::new();
    for statement in code.split_inclusive(';') {
        let Some(at) = statement.rfind("use ").filter(|&at| {
            let before = statement[..at].rsplit(['\n', '{', '}', ';']).next().unwrap_or_default();
            matches!(before.trim(), "" | "pub" | "pub(crate)" | "pub(super)")
                || before.trim().starts_with("pub(in")
        }) else {
            body.push_str(statement);
            continue;
        };
        let is_handed_on = statement[..at].trim_end().ends_with(['b', ')'])
            && statement[..at].rsplit('\n').next().unwrap_or_default().trim().starts_with("pub");
        body.push_str(&statement[..at]);
        for path in paths(statement[at + 4..].trim_end_matches(';')) {
            let Some(whole) = from_root(module, &path, known) else { continue };
            let name = whole.last().cloned().unwrap_or_default();
            names.short.insert(name.clone(), whole.clone());
            if is_handed_on {
                names.handed_on.insert(name, whole);
            } else {
                names.used.push(whole);
            }
        }
    }
    let is_path = |char: char| char.is_alphanumeric() || char == '_' || char == ':';
    for word in body.split(|char| !is_path(char)).filter(|word| word.contains("::")) {
        let word = word.trim_matches(':');
        let (first, rest) = word.split_once("::").unwrap_or((word, ""));
        let whole = match names.short.get(first) {
            Some(base) => Some([base.as_slice(), &[rest.to_owned()]].concat()),
            None => from_root(module, word, known),
        };
        names.used.extend(whole);
    }
    names
}

/// The file that defines what a path names.
fn home(path: &[String], all: &BTreeMap<Module, Names>, depth: usize) -> Option<Module> {
    let len = (1..=path.len()).rev().find(|&len| all.contains_key(&path[..len]))?;
    let file = path[..len].to_vec();
    let handed_on = path.get(len).and_then(|name| all[&file].handed_on.get(name));
    match handed_on {
        Some(target) if depth < 6 => home(&[target, &path[len + 1..]].concat(), all, depth + 1),
        _ => Some(file),
    }
}

/// Maps each file to the files that it imports.
fn imports(files: &[(Module, String)]) -> BTreeMap<Module, BTreeSet<Module>> {
    let known: BTreeSet<Module> = files.iter().map(|(module, _)| module.clone()).collect();
    let (mut all, mut tests) = (BTreeMap::new(), Vec::new());
    for (module, source) in files {
        let (code, own_tests) = without_tests(source);
        tests.extend(own_tests.into_iter().map(|name| [module.as_slice(), &[name]].concat()));
        all.insert(module.clone(), names_of(module, &code, &known));
    }
    let is_test = |module: &Module| tests.iter().any(|test| module.starts_with(test));
    let mut arrows = BTreeMap::new();
    for (module, names) in all.iter().filter(|(module, _)| !is_test(module)) {
        let targets = names.used.iter().filter_map(|path| home(path, &all, 0));
        // A face lists what is below it.
        let needed = targets.filter(|target| !target.starts_with(module));
        arrows.insert(module.clone(), needed.collect());
    }
    arrows
}

/// A path of imports from a file back to itself, if there is one.
fn circle(arrows: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    arrows.keys().find_map(|start| {
        let mut way_to: BTreeMap<&Module, &Module> = BTreeMap::new();
        let mut next = vec![start];
        while let Some(file) = next.pop() {
            for target in arrows.get(file).into_iter().flatten() {
                if way_to.contains_key(target) {
                    continue;
                }
                way_to.insert(target, file);
                if target == start {
                    let mut way = vec![start.clone()];
                    let mut at = way_to[start];
                    while at != start {
                        way.push(at.clone());
                        at = way_to[at];
                    }
                    return Some(way);
                }
                next.push(target);
            }
        }
        None
    })
}

#[test]
fn no_two_files_need_each_other() {
    let files: Vec<(Module, String)> = sources()
        .into_iter()
        .filter(|(_, module, _)| !matches!(module[0].as_str(), "main" | "lib"))
        .map(|(_, module, source)| (module, source))
        .collect();
    let arrows = imports(&files);
    let count: usize = arrows.values().map(BTreeSet::len).sum();
    assert!(500 < count, "the imports are found: {count}");
    assert_eq!(circle(&arrows), None);
}

#[test]
fn the_check_sees_circles() {
    let files = |all: &[(&str, &str)]| -> Vec<(Module, String)> {
        let module = |name: &str| name.split("::").map(str::to_owned).collect();
        all.iter().map(|(name, source)| (module(name), (*source).to_owned())).collect()
    };
    let is_round = |all: &[(&str, &str)]| circle(&imports(&files(all))).is_some();
    // A face and the files below it.
    let face = ("a", "mod b;\nmod c;\npub use b::B;\nfn f() { b::g() }");
    assert!(!is_round(&[face, ("a::b", "use super::A;"), ("a::c", "use super::A;")]));
    // Two files below it that import each other: by a `use`, through the face, by a path in the
    // code, in a group.
    for back in [
        "use super::B;",
        "use super::b::B;",
        "fn f() { super::b::g() }",
        "use crate::a::{A, b::{B, X}};",
        "use super::b;\nfn f() { b::g() }",
    ] {
        assert!(is_round(&[face, ("a::b", "use super::c::C;"), ("a::c", back)]), "{back}");
    }
    // Tests and comments may name any file.
    for back in ["#[cfg(test)]\nmod tests {\n    use super::super::b::B;\n}\n", "// super::b::B"] {
        assert!(!is_round(&[face, ("a::b", "use super::c::C;"), ("a::c", back)]), "{back}");
    }
}
