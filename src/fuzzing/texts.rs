//! Checks of texts that people write: an accepted text can be printed and read again with the same
//! meaning, and a rejected text gives an error that says why.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use super::choice;
use crate::answers::analysis::Config;
use crate::answers::sweep::plan::parse_grid;
use crate::fairness::formula::{self, MachineNumber, Number, Text, Values};
use crate::fairness::template;
use crate::lake::manifest::Manifest;
use crate::lake::plan::{MaxRejects, Shard};
use crate::notation::Mistake;
use crate::replay::detect::truth::Truth;
use crate::replay::detectors::DetectorPlan;
use crate::replay::policies::PolicyPlan;
use crate::replay::spec::{ClusterSpec, Law, TaskSpec};
use crate::schema::Source;
use crate::studies::outcomes::Classes;
use crate::studies::rules::RuleGrid;

/// Checks that a value read from `text` prints as a text that reads and prints the same again.
fn survives<T: FromStr<Err: Debug> + Display>(text: &str) {
    if let Ok(read) = text.parse::<T>() {
        let written = read.to_string();
        let again = written.parse::<T>().map(|again| again.to_string());
        assert_eq!(again.ok().as_deref(), Some(written.as_str()), "`{text}`");
    }
}

/// Checks that an error has a position within the text, and a reason.
fn says_where(source: &str, mistake: &Mistake) {
    assert!(1 <= mistake.line && mistake.line <= source.matches('\n').count() + 1);
    assert!(1 <= mistake.column && 1 <= mistake.length && !mistake.problem.is_empty());
    let shown = mistake.to_string();
    assert!(shown.contains(&mistake.problem));
}

/// Checks the notations of policies, detectors, kill rules, truths, clusters and workloads.
pub fn notation(input: &[u8]) {
    let (which, text) = choice(input);
    let Ok(text) = std::str::from_utf8(text) else { return };
    match which % 9 {
        0 => survives::<PolicyPlan>(text),
        1 => survives::<DetectorPlan>(text),
        2 => survives::<RuleGrid>(text),
        3 => survives::<Truth>(text),
        4 => survives::<Law>(text),
        5 => survives::<MaxRejects>(text),
        6 => survives::<Source>(text),
        7 => survives::<Classes>(text),
        _ => drop((text.parse::<ClusterSpec>(), text.parse::<TaskSpec>(), text.parse::<Shard>())),
    }
}

/// Checks lists of thresholds: positive, ascending, without duplicates, and at most 10,000.
pub fn thresholds(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(grid) = parse_grid(text) else { return };
    assert!(!grid.0.is_empty() && grid.0.len() <= 10_000 && 0 < grid.0[0]);
    assert!(grid.0.is_sorted_by(|one, next| one < next));
    let written: Vec<String> = grid.0.iter().map(ToString::to_string).collect();
    assert_eq!(parse_grid(&written.join(",")), Ok(grid));
}

/// Different values for each name and machine, so that every expression has usable input.
struct Places;

impl Values for Places {
    fn number(&self, name: Number, _: Option<usize>) -> f64 {
        f64::from(name as u8) - 2.5
    }
    fn machine_count(&self) -> usize {
        2
    }
    fn machine_number(&self, machine: usize, name: MachineNumber) -> f64 {
        f64::from(name as u8) + if machine == 0 { 0.0 } else { 1.5 }
    }
    fn text(&self, machine: Option<usize>, _: Text) -> &str {
        if machine.is_none() { "u" } else { "" }
    }
    fn state(&self, _: usize) -> f64 {
        0.5
    }
    fn total(&self, _: usize) -> f64 {
        7.0
    }
}

fn formula_of(text: &str, parameters: &[(String, f64)]) {
    match formula::parse(text, parameters) {
        Err(mistake) => says_where(text, &mistake),
        Ok(formula) => {
            assert!(!formula.columns().is_empty());
            let of_users = formula.expressions().map(|expr| expr.value(&Places, None));
            assert!(of_users.count() >= formula.columns().len());
        }
    }
}

/// Checks formulas of indices: an accepted formula can be evaluated.
pub fn formula(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        formula_of(text, &[("a".to_owned(), 0.5), ("half_life".to_owned(), 86_400.0)]);
    }
}

/// Checks files of indices.
pub fn template(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match template::File::read(text) {
        Err(mistake) => says_where(text, &mistake),
        Ok(file) => formula_of(&file.formula, &file.parameters),
    }
}

/// Checks files of whole analyses: an accepted configuration can be written and read again.
pub fn config(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match Config::read(text) {
        Err(mistake) => says_where(text, &mistake),
        Ok(config) => {
            let written = config.toml();
            let again = Config::read(&written).unwrap_or_else(|mistake| panic!("{mistake}"));
            assert_eq!(again.toml(), written);
            assert_eq!(again.json(), config.json());
        }
    }
}

/// Checks manifests of lakes: an accepted manifest is consistent, and writing it loses nothing.
pub fn manifest(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    // Random edits never produce a correct checksum, so manifests are parsed without checking it.
    let Ok((manifest, _)) = Manifest::parse(text) else { return };
    let again = Manifest::read(&manifest.text()).expect("what was written is read");
    assert_eq!(again, manifest);
    for (table, entry) in &manifest.tables {
        for file in &entry.files {
            let mut steps = file.path.split('/');
            assert!(steps.next() == Some(table) && steps.all(|step| step != ".."));
        }
    }
}
