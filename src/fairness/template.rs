//! A custom index from a TOML file: a template with parameters, or a formula.
//!
//! In: the file. Out: an [`Index`]. `jobfate fairness new` asks for the parameters and writes a
//! file:
//!
//! ```toml
//! name = "short-memory"
//! template = "decay"          # or "metered", "budget", "free"
//!
//! [parameters]
//! half_life_s = 21600
//! ```
//!
//! `charges` and `factors` name files of factors; paths are relative to the TOML file. Template
//! `free` reads its `formula` from the file; the parameters are names in the formula.

use std::fmt::Write as _;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::factors::Factors;
use super::formula::parse;
use super::indices::{Formulated, Index};
use super::{FairnessError, read_text};
use crate::notation::{Mistake, Spot};

/// An index with open parameters.
#[derive(Debug)]
pub struct Template {
    /// Its name in the file.
    pub name: &'static str,
    /// The meaning of its values.
    pub meaning: &'static str,
    /// The parameters: name, default, meaning.
    pub parameters: &'static [(&'static str, f64, &'static str)],
    /// The formula with these parameters; empty for `free`.
    pub formula: &'static str,
}

/// The templates.
pub static TEMPLATES: [Template; 4] = [
    Template {
        name: "metered",
        meaning: "a bill: CPU time at a price, weighted by the machines' charge factors",
        parameters: &[
            ("price", 1.0, "price of a CPU-hour"),
            ("free_s", 0.0, "CPU-seconds that are free of charge"),
        ],
        formula: "state used = 0\nupdate used = used + sum(cpu * charge)\n\
                  display bill = max(0, used - free_s) / 3600 * price\ndisplay used = used\n",
    },
    Template {
        name: "decay",
        meaning: "a priority: usage that decays with a half-life",
        parameters: &[
            ("half_life_s", 86_400.0, "seconds after which usage counts half"),
            ("start", 0.5, "value before the first interval"),
            ("floor", 0.0, "smallest value"),
            ("weight", 1.0, "factor that multiplies the value"),
        ],
        formula: "let beta = 0.5 ^ (dt / half_life_s)\nstate level = start\n\
                  update level = max(floor, beta * level + (1 - beta) * usage)\n\
                  display value = level * weight * factor\ndisplay level = level\n",
    },
    Template {
        name: "budget",
        meaning: "the used share of an allowance that is renewed in every period",
        parameters: &[
            ("allowance_s", 360_000.0, "CPU-seconds allowed in a period"),
            ("period_s", 604_800.0, "length of a period in seconds"),
        ],
        formula: "state used = 0\n\
                  update used = if(floor(k * dt / period_s) == floor((k - 1) * dt / period_s), used, 0) + usage\n\
                  display share = used / (allowance_s * factor)\ndisplay used = used\n",
    },
    Template {
        name: "free",
        meaning: "a formula of state, update and display expressions",
        parameters: &[],
        formula: "",
    },
];

impl Template {
    /// Finds a template by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        TEMPLATES.iter().find(|template| template.name == name)
    }

    /// The names of all templates.
    pub fn names() -> String {
        TEMPLATES.iter().map(|template| template.name).collect::<Vec<_>>().join(", ")
    }

    /// The text of a file with these parameters, in the order of [`Template::parameters`].
    pub fn fill(&self, name: &str, values: &[f64]) -> String {
        let mut text =
            format!("# {}\nname = \"{name}\"\ntemplate = \"{}\"\n", self.meaning, self.name);
        text.push_str("# charges = \"charges.txt\"   # factors of machines\n");
        text.push_str("# factors = \"factors.txt\"   # factors of users\n");
        if self.formula.is_empty() {
            text.push_str(
                "formula = \"\"\"\nstate level = 0\nupdate level = level + usage * price\n\
                 display level\n\"\"\"\n\n[parameters]\nprice = 1\n",
            );
            return text;
        }
        text.push_str("\n[parameters]\n");
        for ((parameter, _, meaning), value) in self.parameters.iter().zip(values) {
            writeln!(text, "{parameter} = {value}   # {meaning}").expect("strings take any text");
        }
        text
    }
}

/// Reads an index from a TOML file.
pub fn load(path: &Path) -> Result<Box<dyn Index>, FairnessError> {
    let source = read_text(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let read = File::read(&source)
        .map_err(|place| FairnessError::Template { path: path.to_owned(), place })?;
    let factors = |file: &Option<String>| match file {
        Some(file) => Factors::load(&folder.join(file).display().to_string()),
        None => Ok(Factors::default()),
    };
    let formula = parse(&read.formula, &read.parameters)
        .map_err(|place| FairnessError::Formula { path: path.to_owned(), place })?;
    let (charges, people) = (factors(&read.charges)?, factors(&read.factors)?);
    Ok(Box::new(Formulated::new(&read.name, formula, charges, people)))
}

/// The contents of a file.
#[derive(Debug, PartialEq)]
pub(crate) struct File {
    name: String,
    pub(crate) formula: String,
    pub(crate) parameters: Vec<(String, f64)>,
    charges: Option<String>,
    factors: Option<String>,
}

impl File {
    pub(crate) fn read(source: &str) -> Result<Self, Mistake> {
        let wrong =
            |spot: Spot, problem: String| Mistake::at(source, spot.start, spot.end, problem);
        let table = DeTable::parse(source)
            .map_err(|error| wrong(error.span().unwrap_or(0..0), error.message().to_owned()))?;
        let known = ["name", "template", "formula", "charges", "factors", "parameters"];
        for key in table.get_ref().keys() {
            if !known.contains(&key.get_ref().as_ref()) {
                let problem =
                    format!("unknown key `{}` (known: {})", key.get_ref(), known.join(", "));
                return Err(wrong(key.span(), problem));
            }
        }
        let text = |key: &str| -> Result<Option<(String, Spot)>, Mistake> {
            match table.get_ref().get(key) {
                None => Ok(None),
                Some(value) => match value.get_ref() {
                    DeValue::String(text) => Ok(Some((text.to_string(), value.span()))),
                    _ => Err(wrong(value.span(), format!("`{key}` must be a text in quotes"))),
                },
            }
        };
        let missing = |key: &str| Mistake::at(source, 0, 0, format!("`{key}` is missing"));
        let (name, spot) = text("name")?.ok_or_else(|| missing("name"))?;
        if name.trim().is_empty() {
            return Err(wrong(spot, "an index needs a name".to_owned()));
        }
        let (template, spot) = text("template")?.ok_or_else(|| missing("template"))?;
        let Some(template) = Template::find(&template) else {
            let problem =
                format!("there is no template `{template}` (known: {})", Template::names());
            return Err(wrong(spot, problem));
        };
        let given = parameters(table.get_ref(), &wrong)?;
        let formula = text("formula")?;
        let path = |key: &str| Ok(text(key)?.map(|(path, _)| path));
        let (charges, factors) = (path("charges")?, path("factors")?);
        if template.formula.is_empty() {
            let (formula, _) = formula.ok_or_else(|| missing("formula"))?;
            let parameters = given.into_iter().map(|(name, value, _)| (name, value)).collect();
            return Ok(Self { name, formula, parameters, charges, factors });
        }
        if let Some((_, spot)) = formula {
            return Err(wrong(spot, "only template `free` takes a `formula`".to_owned()));
        }
        check_parameters(template, &given).map_err(|(spot, problem)| wrong(spot, problem))?;
        let value = |name: &str, default| {
            given.iter().find(|given| given.0 == name).map_or(default, |given| given.1)
        };
        let parameters = template
            .parameters
            .iter()
            .map(|&(name, default, _)| (name.to_owned(), value(name, default)))
            .collect();
        Ok(Self { name, formula: template.formula.to_owned(), parameters, charges, factors })
    }
}

/// Rejects a parameter that the template does not have, and a time of 0 or less.
fn check_parameters(
    template: &Template,
    given: &[(String, f64, Spot)],
) -> Result<(), (Spot, String)> {
    for (name, _, spot) in given {
        if !template.parameters.iter().any(|known| known.0 == name) {
            let known: Vec<&str> = template.parameters.iter().map(|known| known.0).collect();
            let problem = format!(
                "template `{}` has no parameter `{name}` (it takes: {})",
                template.name,
                known.join(", ")
            );
            return Err((spot.clone(), problem));
        }
    }
    for (name, value, spot) in given {
        if matches!(name.as_str(), "half_life_s" | "period_s") && *value <= 0.0 {
            return Err((spot.clone(), format!("`{name}` must be a time above 0")));
        }
    }
    Ok(())
}

/// The table of parameters: the name, value and position of each.
fn parameters(
    table: &DeTable<'_>,
    wrong: &dyn Fn(Spot, String) -> Mistake,
) -> Result<Vec<(String, f64, Spot)>, Mistake> {
    let Some(value) = table.get("parameters") else { return Ok(Vec::new()) };
    let DeValue::Table(parameters) = value.get_ref() else {
        return Err(wrong(value.span(), "`parameters` must be a table".to_owned()));
    };
    let mut given = Vec::new();
    for (key, value) in parameters {
        let name = key.get_ref().to_string();
        let number: Option<f64> = match value.get_ref() {
            DeValue::Integer(number) => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        let Some(number) = number.filter(|number| number.is_finite()) else {
            return Err(wrong(value.span(), format!("`{name}` is not a number")));
        };
        given.push((name, number, key.span()));
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_an_index_with_its_defaults() {
        for template in &TEMPLATES {
            let values: Vec<f64> = template.parameters.iter().map(|known| known.1).collect();
            let text = template.fill("own", &values);
            let file = File::read(&text).unwrap();
            let formula = parse(&file.formula, &file.parameters).unwrap();
            assert!(!formula.columns().is_empty(), "{}", template.name);
            assert_eq!(file.name, "own");
        }
    }

    #[test]
    fn a_mistake_is_shown_at_its_place() {
        let check = |source: &str, expected: &str| {
            assert_eq!(File::read(source).unwrap_err().to_string(), expected);
        };
        check(
            "name = \"x\"\ntemplate = \"decai\"\n",
            "line 2, column 12: there is no template `decai` (known: metered, decay, budget, free)\n  \
             template = \"decai\"\n             ^^^^^^^",
        );
        check(
            "name = \"x\"\ntemplate = \"decay\"\n[parameters]\nhalflife = 5\n",
            "line 4, column 1: template `decay` has no parameter `halflife` (it takes: half_life_s, \
             start, floor, weight)\n  halflife = 5\n  ^^^^^^^^",
        );
        for (source, part) in [
            ("name = ", "line 1, column"),
            ("name = 5\ntemplate = \"decay\"", "`name` must be a text"),
            ("name = \"x\"", "`template` is missing"),
            ("nam = \"x\"", "unknown key `nam`"),
            ("name = \"\"\ntemplate = \"free\"", "needs a name"),
            ("name = \"x\"\ntemplate = \"free\"", "`formula` is missing"),
            ("name = \"x\"\ntemplate = \"decay\"\nformula = \"\"", "only template `free`"),
            ("name = \"x\"\ntemplate = \"decay\"\n[parameters]\nstart = \"a\"", "is not a number"),
            (
                "name = \"x\"\ntemplate = \"decay\"\n[parameters]\nhalf_life_s = -5",
                "a time above 0",
            ),
            ("name = \"x\"\ntemplate = \"budget\"\n[parameters]\nperiod_s = 0", "a time above 0"),
        ] {
            let said = File::read(source).unwrap_err().to_string();
            assert!(said.contains(part), "{source}: {said}");
        }
    }
}
