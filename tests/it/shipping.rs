//! The parts of a release agree: versions, dates, texts, and the files of the package.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use super::layering::sources;
use super::support::repository;

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The value of the first line `NAME: VALUE` or `NAME = VALUE`, without quotes.
fn value(text: &str, name: &str) -> String {
    let of_line = |line: &str| {
        let rest = line.strip_prefix(name)?.trim_start();
        Some(rest.strip_prefix([':', '='])?.trim().trim_matches('"').to_owned())
    };
    text.lines().find_map(of_line).unwrap_or_else(|| panic!("no line says {name}"))
}

#[test]
fn the_version_and_its_date_are_the_same_everywhere() {
    let citation = read("CITATION.cff");
    let version = value(&citation, "version");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let changes = read("CHANGELOG.md");
    let sections: Vec<&str> = changes.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(sections[0], "Unreleased", "where the next change goes");
    assert_eq!(sections[1], format!("{version} - {}", value(&citation, "date-released")));
}

#[test]
fn what_is_said_of_the_program_is_the_same_everywhere() {
    let (cargo, python) = (read("Cargo.toml"), read("pyproject.toml"));
    for name in ["name", "description", "license", "readme"] {
        assert_eq!(value(&python, name), value(&cargo, name), "{name}");
    }
    assert_eq!(value(&read("CITATION.cff"), "license"), value(&cargo, "license"));
    let rust = value(&cargo, "rust-version");
    assert!(read("Dockerfile").contains(&format!("FROM rust:{rust}-")));
    for workflow in [".github/workflows/ci.yml", ".github/workflows/release.yml"] {
        let text = read(workflow);
        assert!(text.contains(&format!("rustup toolchain install {rust} ")), "{workflow}");
    }
    assert!(read(".github/workflows/ci.yml").contains("run: .ci/run\n"));
    let release = read(".github/workflows/release.yml");
    assert!(release.contains(".ci/package archive") && release.contains(".ci/package wheel"));
}

/// The files that the sources include at compile time, relative to the repository.
fn compiled_in() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for (path, _, source) in sources() {
        let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or(&source);
        for macro_name in ["include_str!(\"", "include_bytes!(\""] {
            for rest in code.split(macro_name).skip(1) {
                let name = rest.split('"').next().unwrap();
                found.insert(plain(&path.parent().unwrap().join(name)));
            }
        }
    }
    found
}

/// A path relative to the repository, without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.strip_prefix(repository()).unwrap_or(path).components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

/// `tests/scripts/shipping.py` builds the package; this test finds missing files faster.
#[test]
fn the_package_holds_what_is_compiled_in_and_no_tests() {
    let run = Command::new(env!("CARGO"))
        .args(["package", "--list", "--offline", "--locked", "--allow-dirty"])
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let listed: BTreeSet<PathBuf> =
        String::from_utf8(run.stdout).unwrap().lines().map(PathBuf::from).collect();
    let assets = compiled_in();
    assert!(assets.contains(Path::new("src/report/style.css")), "{assets:?}");
    let queries = fs::read_dir(repository().join("queries")).unwrap();
    let queries = queries.map(|entry| plain(&entry.unwrap().path()));
    let queries = queries.filter(|path| path.extension().is_some_and(|end| end == "sql"));
    let needed = ["LICENSE", "README.md", "build.rs", "src/charts/font/LICENSE-DejaVu.txt"];
    for path in assets.iter().cloned().chain(queries).chain(needed.map(PathBuf::from)) {
        assert!(listed.contains(&path), "{} is not in the package", path.display());
    }
    for folder in ["tests", "reports", "fuzz", "data-scripts", ".ci", ".github"] {
        let inside: Vec<_> = listed.iter().filter(|path| path.starts_with(folder)).collect();
        assert!(inside.is_empty(), "{inside:?}");
    }
}
