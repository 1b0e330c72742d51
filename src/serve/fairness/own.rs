//! An index that a user enters: a template with its parameters, a formula, or a program that the
//! operator has named.
//!
//! In: the fields `own-...`. Out: a text or a flag for the command, or the mistake with its line
//! and column. Reading it runs nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::answers::fairness::gathered::check_name;
use crate::answers::load::Length;
use crate::fairness::formula;
use crate::fairness::template::{self, TEMPLATES, Template};
use crate::serve::ask::Wrong;
use crate::serve::form::Pairs;
use crate::serve::queue::Text;
use crate::units::micros_to_seconds;

/// The fields, except those of the parameters of templates.
pub(in crate::serve) const NAME: &str = "own-name";
pub(in crate::serve) const KIND: &str = "own-kind";
pub(in crate::serve) const TEMPLATE: &str = "own-template";
pub(in crate::serve) const FORMULA: &str = "own-formula";
pub(in crate::serve) const PROGRAM: &str = "own-program";

/// Longest text in a field, bytes: it becomes part of an address.
pub(in crate::serve) const TEXT_MAX: usize = 16 << 10;

/// Longest name of an index, characters.
const NAME_MAX: usize = 60;

/// A custom index, as the command takes it.
#[derive(Debug)]
pub(in crate::serve) enum Custom {
    /// A flag with a program of the operator.
    Program(String),
    /// A text that the command reads as a file.
    Text(Text),
}

/// A saved index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::serve) struct Saved {
    /// The version of this format; raised when the fields below change.
    pub format_version: u32,
    /// Its name.
    pub name: String,
    /// The fields in which it was entered.
    pub fields: Vec<(String, String)>,
}

impl Saved {
    /// A saved index from the fields of a form.
    pub(in crate::serve) fn of(name: &str, pairs: &Pairs) -> Self {
        let fields = pairs.filled().filter(|(field, _)| is_field(field));
        let fields = fields.map(|(field, value)| (field.to_owned(), value.to_owned())).collect();
        Self { format_version: 1, name: name.to_owned(), fields }
    }

    /// Its fields.
    pub(in crate::serve) fn pairs(&self) -> Pairs {
        let mut pairs = Pairs::default();
        for (name, value) in &self.fields {
            pairs.push(name, value);
        }
        pairs
    }

    /// The way it was entered: `template`, `formula` or `program`.
    pub(in crate::serve) fn kind(&self) -> &str {
        self.fields.iter().find(|(name, _)| name == KIND).map_or("", |(_, kind)| kind)
    }
}

/// Saved indices by id.
#[derive(Debug, Default)]
pub(in crate::serve) struct Shelf(Mutex<BTreeMap<String, Saved>>);

impl Shelf {
    pub(in crate::serve) fn of(all: Vec<(String, Saved)>) -> Self {
        Self(Mutex::new(all.into_iter().collect()))
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Saved>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::serve) fn get(&self, id: &str) -> Option<Saved> {
        self.inner().get(id).cloned()
    }

    /// All of them, sorted by name.
    pub(in crate::serve) fn all(&self) -> Vec<(String, Saved)> {
        let mut all: Vec<(String, Saved)> =
            self.inner().iter().map(|(id, saved)| (id.clone(), saved.clone())).collect();
        all.sort_by(|one, other| one.1.name.cmp(&other.1.name));
        all
    }

    pub(in crate::serve) fn put(&self, id: &str, saved: Saved) {
        self.inner().insert(id.to_owned(), saved);
    }

    pub(in crate::serve) fn remove(&self, id: &str) -> bool {
        self.inner().remove(id).is_some()
    }
}

/// The name of the field for a parameter of a template.
pub(in crate::serve) fn gap(template: &str, parameter: &str) -> String {
    format!("own-{template}-{parameter}")
}

/// Whether a field is part of an entered index.
pub(in crate::serve) fn is_field(name: &str) -> bool {
    let is_gap = || {
        let mut gaps = TEMPLATES.iter().flat_map(|template| {
            template.parameters.iter().map(|(parameter, ..)| gap(template.name, parameter))
        });
        gaps.any(|gap| gap == name)
    };
    matches!(name, NAME | KIND | TEMPLATE | FORMULA | PROGRAM) || is_gap()
}

/// Whether an index is entered.
pub(in crate::serve) fn is_entered(pairs: &Pairs) -> bool {
    pairs.get(KIND).is_some_and(|kind| kind != "none")
}

/// Reads the entered index.
pub(in crate::serve) fn read(
    programs: &[(String, String)],
    pairs: &Pairs,
) -> Result<Custom, Vec<Wrong>> {
    let name = name(pairs);
    let custom = match pairs.get(KIND) {
        Some("template") => filled(pairs),
        Some("formula") => written(pairs),
        Some("program") => chosen(programs, pairs),
        _ => Err(vec![Wrong::of(KIND, "it must be `template`, `formula` or `program`")]),
    };
    match (name, custom) {
        (Ok(name), Ok(custom)) => Ok(custom(name)),
        (Err(one), Err(others)) => Err(std::iter::once(one).chain(others).collect()),
        (Err(one), Ok(_)) => Err(vec![one]),
        (Ok(_), Err(others)) => Err(others),
    }
}

/// Makes the index, given its name.
type Named = Box<dyn FnOnce(&str) -> Custom>;

/// The name. It is checked, because it is used in texts, file names and charts.
pub(in crate::serve) fn name(pairs: &Pairs) -> Result<&str, Wrong> {
    let name = pairs.get(NAME).map(str::trim).ok_or_else(|| Wrong::of(NAME, "enter a name"))?;
    if NAME_MAX < name.chars().count() {
        return Err(Wrong::of(NAME, format!("it has more than {NAME_MAX} letters")));
    }
    let is_bad = |letter: char| matches!(letter, '"' | '\\' | '=') || letter.is_control();
    if let Some(letter) = name.chars().find(|letter| is_bad(*letter)) {
        return Err(Wrong::of(NAME, format!("a name cannot contain {letter:?}")));
    }
    check_name(name).map_err(|said| Wrong::of(NAME, said))?;
    Ok(name)
}

/// The value, in seconds, of a parameter in seconds that is written as a length, such as `7d` or
/// `12h`.
pub(super) fn seconds_of(parameter: &str, text: &str) -> Option<f64> {
    let has_unit = text.ends_with(['d', 'h', 'm', 's']);
    let length = text.parse::<Length>().ok().filter(|_| has_unit && parameter.ends_with("_s"))?;
    Some(micros_to_seconds(length.micros()))
}

/// A template with its parameters.
fn filled(pairs: &Pairs) -> Result<Named, Vec<Wrong>> {
    let name = pairs.get(TEMPLATE).unwrap_or_default();
    let Some(template) = Template::find(name).filter(|found| !found.formula.is_empty()) else {
        return Err(vec![Wrong::of(TEMPLATE, "choose a template")]);
    };
    let (mut values, mut wrong) = (Vec::new(), Vec::new());
    for (parameter, default, _) in template.parameters {
        let field = gap(template.name, parameter);
        let Some(text) = pairs.get(&field) else {
            values.push(*default);
            continue;
        };
        let seconds = seconds_of(parameter, text.trim());
        let number = || text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        match seconds.or_else(number) {
            Some(value) => values.push(value),
            None => wrong.push(Wrong::of(&field, format!("`{}` is not a number", text.trim()))),
        }
    }
    if wrong.is_empty()
        && let Err(mistake) = template::File::read(&template.fill("index", &values))
    {
        // The message names a parameter, and so the field.
        let of = template.parameters.iter().find(|known| mistake.problem.contains(known.0));
        let field = of.map_or_else(|| TEMPLATE.to_owned(), |known| gap(template.name, known.0));
        wrong.push(Wrong::of(&field, mistake.problem));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(Box::new(move |name| {
        let (field, flag) = ("your template".to_owned(), "--index-file=".to_owned());
        Custom::Text(Text { field, flag, content: template.fill(name, &values) })
    }))
}

/// A formula.
fn written(pairs: &Pairs) -> Result<Named, Vec<Wrong>> {
    let text = pairs.get(FORMULA).unwrap_or_default().replace("\r\n", "\n");
    if text.trim().is_empty() {
        return Err(vec![Wrong::of(FORMULA, "enter a formula")]);
    }
    if TEXT_MAX < text.len() {
        return Err(vec![Wrong::of(FORMULA, format!("it has more than {TEXT_MAX} bytes"))]);
    }
    if let Err(mistake) = formula::parse(&text, &[]) {
        return Err(vec![Wrong::of(FORMULA, mistake.to_string())]);
    }
    Ok(Box::new(move |name| {
        let (field, flag) = ("your formula".to_owned(), format!("--formula={name}="));
        Custom::Text(Text { field, flag, content: text })
    }))
}

/// A program of the operator.
fn chosen(programs: &[(String, String)], pairs: &Pairs) -> Result<Named, Vec<Wrong>> {
    let wanted = pairs.get(PROGRAM).unwrap_or_default();
    let Some((_, command)) = programs.iter().find(|(name, _)| name == wanted) else {
        let said = if programs.is_empty() {
            "the operator of this portal offers no program (`--index-program NAME=PROGRAM`)"
        } else {
            "choose one of the operator's programs"
        };
        return Err(vec![Wrong::of(PROGRAM, said)]);
    };
    let command = command.clone();
    Ok(Box::new(move |name| Custom::Program(format!("--index-program={name}={command}"))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(all: &[(&str, &str)]) -> Pairs {
        let mut pairs = Pairs::default();
        for (name, value) in all {
            pairs.push(name, value);
        }
        pairs
    }

    fn wrong(all: &[(&str, &str)]) -> Vec<(String, String)> {
        let programs = [("ours".to_owned(), "/bin/true".to_owned())];
        let bad = read(&programs, &pairs(all)).err().unwrap_or_default();
        bad.into_iter().map(|bad| (bad.parameter.unwrap_or_default(), bad.said)).collect()
    }

    #[test]
    fn each_mistake_is_at_its_field() {
        for (all, field, part) in [
            (vec![(KIND, "formula"), (FORMULA, "display usage")], NAME, "enter"),
            (
                vec![(KIND, "formula"), (NAME, "a=b"), (FORMULA, "display usage")],
                NAME,
                "contain '='",
            ),
            (
                vec![(KIND, "formula"), (NAME, "x\ny"), (FORMULA, "display usage")],
                NAME,
                "contain '\\n'",
            ),
            (vec![(KIND, "formula"), (NAME, "x")], FORMULA, "enter"),
            (
                vec![(KIND, "formula"), (NAME, "x"), (FORMULA, "display usag")],
                FORMULA,
                "line 1, column 9",
            ),
            (
                vec![(KIND, "formula"), (NAME, "x"), (FORMULA, "<script>")],
                FORMULA,
                "line 1, column 1",
            ),
            (
                vec![(KIND, "formula"), (NAME, "jain"), (FORMULA, "display usage")],
                NAME,
                "a built-in index",
            ),
            (
                vec![(KIND, "formula"), (NAME, "x\u{202e}y"), (FORMULA, "display usage")],
                NAME,
                "invisible character",
            ),
            (vec![(KIND, "template"), (NAME, "x")], TEMPLATE, "choose"),
            (vec![(KIND, "template"), (NAME, "x"), (TEMPLATE, "free")], TEMPLATE, "choose"),
            (
                vec![
                    (KIND, "template"),
                    (NAME, "x"),
                    (TEMPLATE, "decay"),
                    ("own-decay-half_life_s", "-1"),
                ],
                "own-decay-half_life_s",
                "above 0",
            ),
            (
                vec![
                    (KIND, "template"),
                    (NAME, "x"),
                    (TEMPLATE, "decay"),
                    ("own-decay-floor", "1e999"),
                ],
                "own-decay-floor",
                "not a number",
            ),
            (vec![(KIND, "program"), (NAME, "x"), (PROGRAM, "/bin/sh")], PROGRAM, "choose"),
            (vec![(KIND, "shell"), (NAME, "x")], KIND, "template"),
        ] {
            let found = wrong(&all);
            assert!(
                found.iter().any(|(at, said)| at == field && said.contains(part)),
                "{all:?}: {found:?}"
            );
        }
    }

    #[test]
    fn a_formula_that_is_too_deep_or_too_long_is_refused() {
        let deep = format!("display {}1{}", "(".repeat(5000), ")".repeat(5000));
        let nested = format!("let a = 1\n{}display a", "let b = a + a\n".repeat(900));
        let long = format!("display {}", "1 + ".repeat(TEXT_MAX));
        for text in [&deep, &nested, &long] {
            let found = wrong(&[(KIND, "formula"), (NAME, "x"), (FORMULA, text)]);
            assert_eq!(found.len(), 1, "{}", &text[..40]);
            assert_eq!(found[0].0, FORMULA);
        }
    }

    proptest! {
        #[test]
        fn no_formula_or_name_is_too_odd(name: String, text: String) {
            let all = [(KIND, "formula"), (NAME, name.as_str()), (FORMULA, text.as_str())];
            if let Ok(Custom::Text(text)) = read(&[], &pairs(&all)) {
                prop_assert!(text.flag.starts_with("--formula=") && text.flag.matches('=').count() == 2);
            }
        }
    }
}
