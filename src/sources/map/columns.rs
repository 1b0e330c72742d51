//! The columns that a map names, and how their cells are read.

use toml::de::DeValue;

use super::fields::{Field, Kind};
use super::values::{Wrong, string, unknown};
use crate::notation::{Mistake, Spot};
use crate::sources::records::patterns::Pattern;

/// How the cells of a column are read.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sources) enum Form {
    /// As they are.
    Text,
    /// A number in units.
    Number(f64),
    /// `2024-01-01T00:00:00`, with or without a zone.
    Iso,
    /// By a pattern.
    Pattern(Pattern),
    /// `[D-]HH:MM:SS`.
    Clock,
}

/// A column that the map names.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sources) struct MappedColumn {
    pub(in crate::sources) field: Field,
    /// The name in the table.
    pub(in crate::sources) name: String,
    pub(in crate::sources) form: Form,
    /// Whether a table may lack it.
    pub(in crate::sources) is_optional: bool,
    /// Whether its value is the number of values at its path.
    pub(in crate::sources) is_count: bool,
    /// Its place in the map.
    pub(in crate::sources) spot: Spot,
}

impl MappedColumn {
    /// Whether it describes an attempt in the list of its job, and not the job.
    pub(in crate::sources) fn is_of_attempt(&self) -> bool {
        self.name.contains("[]")
    }
}

/// A line of `[columns]`.
pub(super) fn column(
    key: &str,
    key_spot: Spot,
    (value, spot): (&DeValue<'_>, Spot),
    wrong: Wrong<'_>,
) -> Result<MappedColumn, Mistake> {
    let known = Field::ALL.iter().find(|(_, name, _, _)| *name == key);
    let Some(&(field, _, kind, _)) = known else {
        let names: Vec<&str> = Field::ALL.iter().map(|(_, name, _, _)| *name).collect();
        return Err(wrong(key_spot, unknown("key", key, &names)));
    };
    let (mut name, mut form, mut is_optional, mut is_count) = (None, None, false, false);
    match value {
        DeValue::String(text) => name = Some(text.to_string()),
        DeValue::Table(table) => {
            for (key, value) in table {
                let (spot, value) = (value.span(), value.get_ref());
                match key.get_ref().as_ref() {
                    "column" => name = Some(string(value, spot, "a column", wrong)?.to_owned()),
                    "unit" => {
                        let unit = string(value, spot.clone(), "a unit", wrong)?;
                        form = Some(of_unit(kind, unit).map_err(|why| wrong(spot, why))?);
                    }
                    "format" => {
                        let text = string(value, spot.clone(), "a format", wrong)?;
                        form = Some(of_format(kind, text).map_err(|why| wrong(spot, why))?);
                    }
                    switch @ ("optional" | "count") => match value {
                        DeValue::Boolean(yes) if switch == "count" => is_count = *yes,
                        DeValue::Boolean(yes) => is_optional = *yes,
                        _ => return Err(wrong(spot, format!("`{switch}` is true or false"))),
                    },
                    other => {
                        let known = ["column", "unit", "format", "optional", "count"];
                        return Err(wrong(key.span(), unknown("key", other, &known)));
                    }
                }
            }
        }
        _ => {
            let problem = format!("`{key}` is a column: \"NAME\" or {{ column = \"NAME\", ... }}");
            return Err(wrong(spot, problem));
        }
    }
    let Some(name) = name else {
        return Err(wrong(spot, format!("`{key}` does not name its `column`")));
    };
    let form = match form {
        Some(form) => form,
        None => usual(kind).map_err(|why| wrong(spot.clone(), why))?,
    };
    Ok(MappedColumn { field, name, form, is_optional, is_count, spot })
}

fn of_unit(kind: Kind, name: &str) -> Result<Form, String> {
    let units = kind.units();
    if units.is_empty() {
        return Err("a column of this kind has no unit".to_owned());
    }
    let found = units.iter().find(|(known, _)| *known == name);
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    found.map(|(_, factor)| Form::Number(*factor)).ok_or_else(|| unknown("unit", name, &names))
}

fn of_format(kind: Kind, text: &str) -> Result<Form, String> {
    match (kind, text) {
        (Kind::Time, "iso") => Ok(Form::Iso),
        (Kind::Time, _) => Ok(Form::Pattern(Pattern::read(text)?)),
        (Kind::Span, "clock") => Ok(Form::Clock),
        (Kind::Span, _) => {
            Err("a length of time has a `unit`, or the format `clock`: [D-]HH:MM:SS".to_owned())
        }
        _ => Err("only times have a format".to_owned()),
    }
}

/// The form of a column without a unit or a format.
fn usual(kind: Kind) -> Result<Form, String> {
    match kind {
        Kind::Text => Ok(Form::Text),
        Kind::Time => Ok(Form::Iso),
        _ => kind.usual().map(Form::Number).ok_or_else(|| {
            let units: Vec<&str> = kind.units().iter().map(|(name, _)| *name).collect();
            format!("it needs a `unit`: {}", units.join(", "))
        }),
    }
}
