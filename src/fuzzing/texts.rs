//! Texts written by hand: an accepted text reads the same when it is written again, and a refusal
//! says why.

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

/// What is read prints as something that is read as the same, and prints alike.
fn survives<T: FromStr<Err: Debug> + Display>(text: &str) {
    if let Ok(read) = text.parse::<T>() {
        let written = read.to_string();
        let again = written.parse::<T>().map(|again| again.to_string());
        assert_eq!(again.ok().as_deref(), Some(written.as_str()), "`{text}`");
    }
}

/// A refusal says where, within the text.
fn says_where(source: &str, mistake: &Mistake) {
    assert!(1 <= mistake.line && mistake.line <= source.matches('\n').count() + 1);
    assert!(1 <= mistake.column && 1 <= mistake.length && !mistake.problem.is_empty());
    let shown = mistake.to_string();
    assert!(shown.contains(&mistake.problem));
}

/// Policies, detectors, kill rules, truths, clusters, workloads.
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

/// Lists of thresholds: positive, ascending, each once, and never too many.
pub fn thresholds(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(grid) = parse_grid(text) else { return };
    assert!(!grid.0.is_empty() && grid.0.len() <= 10_000 && 0 < grid.0[0]);
    assert!(grid.0.is_sorted_by(|one, next| one < next));
    let written: Vec<String> = grid.0.iter().map(ToString::to_string).collect();
    assert_eq!(parse_grid(&written.join(",")), Ok(grid));
}

/// Values that differ by place, so that every expression has something to work on.
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

/// Formulas of indices: what is taken can be worked out.
pub fn formula(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        formula_of(text, &[("a".to_owned(), 0.5), ("half_life".to_owned(), 86_400.0)]);
    }
}

/// Files of indices.
pub fn template(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match template::File::read(text) {
        Err(mistake) => says_where(text, &mistake),
        Ok(file) => formula_of(&file.formula, &file.parameters),
    }
}

/// Files of whole analyses: what is settled can be written and asked again.
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

/// Manifests of lakes: what is taken holds together, and is written as it was read.
pub fn manifest(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    // Random edits never guess a checksum, so edits behind a correct one are tested as well.
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
