//! Other engines: `DuckDB` and Polars from Python read a lake without jobfate and give the same
//! answers to the queries, and brute force in plain Python gives the golden answers.
//!
//! The Python is `JOBFATE_PYTHON`, or `python3`. Tests with imports that fail are skipped with a
//! message.

use std::path::Path;
use std::process::Command;

use jobfate::facts::query::{QUERIES, Query};
use jobfate::schema::Source;

use super::support::{Place, golden, real_trace, repository, skipped};

/// A Python that can import `modules`.
pub(crate) fn python(modules: &str) -> Option<String> {
    let python = std::env::var("JOBFATE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let check = Command::new(&python).args(["-c", &format!("import {modules}")]).output();
    if check.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    skipped(&format!("`{python}` is not there or cannot import {modules} (set JOBFATE_PYTHON)"));
    None
}

/// Runs a script of `tests/scripts/` and returns its stdout.
#[track_caller]
pub(crate) fn script(python: &str, name: &str, args: &[&str]) -> String {
    let path = repository().join("tests/scripts").join(name);
    let output = Command::new(python).arg(path).args(args).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{name} {args:?}\n{stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    stdout
}

/// Lakes of the golden trace and of a dirty synthetic one.
fn lakes() -> [Place; 2] {
    let golden = Place::new().with_golden_trace();
    golden.ingest(&["--buckets", "3"]).ok();
    let synthetic = Place::new();
    let args = [
        "synth", "trace", "--jobs", "250", "--days", "0.4", "--parts", "3", "--seed", "11",
        "--dirty",
    ];
    synthetic.run(&args).ok();
    synthetic.ingest(&["--buckets", "4", "--max-rejects", "50%"]).ok();
    [golden, synthetic]
}

#[test]
fn duckdb_and_polars_read_a_lake_without_us() {
    let Some(python) = python("duckdb, polars") else { return };
    for place in lakes() {
        let said = script(&python, "read_lake.py", &[place.path("lake").to_str().unwrap()]);
        assert_eq!(said, "6 tables read alike\n");
    }
}

#[test]
fn duckdb_gives_the_same_answers() {
    let Some(python) = python("duckdb, polars") else { return };
    let queries = repository().join("queries");
    for place in lakes() {
        let said = script(
            &python,
            "crosscheck.py",
            &[
                env!("CARGO_BIN_EXE_jobfate"),
                place.path("lake").to_str().unwrap(),
                queries.to_str().unwrap(),
                "2,10,50,257",
            ],
        );
        let is_asked = |query: &&Query| query.sources().contains(&Source::Google2011);
        assert_eq!(said.lines().count(), QUERIES.iter().filter(is_asked).count(), "{said}");
        assert!(!said.contains("skipped"), "{said}");
    }
}

#[test]
fn duckdb_gives_the_same_answers_about_logs() {
    let Some(python) = python("duckdb, polars") else { return };
    let queries = repository().join("queries");
    for log in ["small.swf", "small.gwf"] {
        let place = Place::new();
        let path = golden("logs").join(log);
        let ingest = ["ingest", path.to_str().unwrap(), "--lake", "lake", "--buckets", "3"];
        place.run(&[&ingest[..], &["--max-rejects", "100%"]].concat()).ok();
        let program = env!("CARGO_BIN_EXE_jobfate");
        let lake = place.path("lake");
        let args = [program, lake.to_str().unwrap(), queries.to_str().unwrap(), "2,10"];
        let said = script(&python, "crosscheck.py", &args);
        for query in
            ["q01_job_outcomes", "q03_attempts", "q13_usage_by_user_hour", "q14_job_requests"]
        {
            assert!(
                said.lines().any(|line| line.starts_with(query) && line.ends_with(" rows")),
                "{said}"
            );
        }
    }
}

/// The page for notebooks: every block runs and prints the text below it.
#[test]
fn the_python_page_is_what_it_says() {
    let Some(python) = python("duckdb, pandas, polars, pyarrow, tomllib") else { return };
    let said = script(&python, "python_page.py", &[env!("CARGO_BIN_EXE_jobfate")]);
    assert!(said.contains(" passed, 0 failed"), "{said}");
}

/// The Python module gives the results of the program for each command, and reports errors.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn the_python_module_gives_what_the_program_gives() {
    let Some(python) = python("duckdb, pandas, polars, pyarrow") else { return };
    let said = script(&python, "python_module.py", &[env!("CARGO_BIN_EXE_jobfate")]);
    assert!(said.contains(" compared"), "{said}");
}

/// The program prints the output on the README and on the pages that continue its session, and this
/// output contains the numbers in the text.
#[test]
fn the_readme_shows_what_the_program_prints() {
    let Some(python) = python("duckdb, numpy") else { return };
    let program = env!("CARGO_BIN_EXE_jobfate");
    let pages = ["README.md", "reports/sessions/outcomes.md", "reports/sessions/definitions.md"]
        .map(|page| repository().join(page));
    let pages = pages.iter().map(|page| page.to_str().unwrap());
    let args: Vec<&str> = [program].into_iter().chain(pages).collect();
    let said = script(&python, "readme.py", &args);
    said.lines().filter(|line| line.starts_with("SKIPPED:")).for_each(skipped);
    assert!(said.contains(" passed, 0 failed"), "{said}");
}

/// Every number in the text of a page is printed by one of its blocks or named with its source.
#[test]
fn the_numbers_of_every_page_are_printed_or_given() {
    let Some(python) = python("tomllib") else { return };
    let said = script(&python, "readme.py", &["--prose"]);
    assert!(said.contains(" passed, 0 failed"), "{said}");
}

#[test]
fn brute_force_gives_the_golden_answers() {
    let Some(python) = python("csv, fractions") else { return };
    let place = Place::new();
    let out = place.path("answers");
    let trace = golden("trace");
    let log = golden("logs/small.swf");
    let thresholds = super::queries::THRESHOLDS;
    let args = [trace.to_str().unwrap(), out.to_str().unwrap(), thresholds, log.to_str().unwrap()];
    script(&python, "naive_answers.py", &args);
    for query in &QUERIES {
        let name = format!("{}.csv", query.name);
        compare(&out.join(&name), &golden("answers").join(&name));
    }
}

/// Compares two answers cell by cell, quantities to 1e-12 of their size.
#[track_caller]
fn compare(naive: &Path, golden: &Path) {
    let read = |path: &Path| -> Vec<csv::StringRecord> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
        reader.records().map(Result::unwrap).collect()
    };
    let (naive, rows) = (read(naive), read(golden));
    assert_eq!(naive.len(), rows.len(), "{}", golden.display());
    for (line, (expected, found)) in (1..).zip(naive.iter().zip(&rows)) {
        assert_eq!(expected.len(), found.len(), "{}:{line}", golden.display());
        for (expected, found) in expected.iter().zip(found) {
            let is_near = match (expected.parse::<f64>(), found.parse::<f64>()) {
                (Ok(one), Ok(other)) => (one - other).abs() <= 1e-12 * one.abs(),
                _ => false,
            };
            assert!(
                expected == found || is_near,
                "{}:{line}: {expected} {found}",
                golden.display()
            );
        }
    }
}

#[test]
fn duckdb_adds_up_the_same_sweep() {
    let Some(python) = python("duckdb") else { return };
    let queries = repository().join("queries");
    let mut places = Vec::from(lakes());
    if let Some(trace) = real_trace() {
        let place = Place::new();
        place.run(&["ingest", trace.to_str().unwrap(), "--lake", "lake"]).ok();
        places.push(place);
    } else {
        skipped("the sweep of the real parts: the real trace is not beside this repository");
    }
    for place in places {
        let lake = place.path("lake");
        let args =
            [env!("CARGO_BIN_EXE_jobfate"), lake.to_str().unwrap(), queries.to_str().unwrap()];
        let said = script(&python, "sweep_crosscheck.py", &args);
        assert!(said.ends_with("numbers alike\n"), "{said}");
    }
}
