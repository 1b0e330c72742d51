//! A map: the meaning and unit of each column of a table, and the meaning of its states.
//!
//! In: the text of a TOML file. Out: a [`Map`], or a mistake with its place. A map is checked as a
//! whole before the table is read; an unknown key, unit, pattern or outcome is an error at its
//! line, and is never ignored.

use std::sync::Arc;

use toml::de::{DeTable, DeValue};

pub(super) use self::fields::{Field, Kind};
use super::records::patterns::Pattern;
use super::records::states::Fate;
use super::zone::Zone;
use crate::notation::{Mistake, Spot};
use crate::schema::EventType;

mod fields;

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
    /// Whether it is of an attempt in the list of its job, and not of the job.
    pub(in crate::sources) fn is_of_attempt(&self) -> bool {
        self.name.contains("[]")
    }
}

/// The words for the meanings of states.
pub(in crate::sources) const FATES: [(&str, Fate); 8] = [
    ("finished", Fate::Ended(EventType::Finish)),
    ("failed", Fate::Ended(EventType::Fail)),
    ("killed", Fate::Ended(EventType::Kill)),
    ("evicted", Fate::Ended(EventType::Evict)),
    ("lost", Fate::Ended(EventType::Lost)),
    ("running", Fate::Running),
    ("pending", Fate::Pending),
    ("skip", Fate::Skip),
];

/// The meaning of the columns and states of a table.
#[derive(Debug, PartialEq)]
pub struct Map {
    /// Its text.
    pub(in crate::sources) text: Arc<str>,
    pub(in crate::sources) separator: u8,
    pub(in crate::sources) is_comma: bool,
    pub(in crate::sources) zone: Option<Zone>,
    /// Texts of cells that count as missing.
    pub(in crate::sources) missing: Vec<String>,
    /// The names of the columns of a table without a header.
    pub(in crate::sources) names: Option<Vec<String>>,
    /// The path of the list that holds the attempts of a job, for JSON objects of jobs.
    pub(in crate::sources) attempts: Option<String>,
    /// The outcome of attempts before the last, if the state is that of the job.
    pub(in crate::sources) before_last: Option<Fate>,
    pub(in crate::sources) columns: Vec<MappedColumn>,
    pub(in crate::sources) states: Vec<(String, Fate)>,
}

impl Eq for Map {}

/// The keys of `[table]`.
const TABLE_KEYS: [&str; 8] =
    ["separator", "decimal", "timezone", "missing", "columns", "about", "attempts", "before_last"];

type Wrong<'a> = &'a dyn Fn(Spot, String) -> Mistake;

impl Map {
    /// Reads a map.
    ///
    /// # Errors
    /// The first mistake, with its line.
    pub fn read(source: &str) -> Result<Self, Mistake> {
        let wrong =
            |spot: Spot, problem: String| Mistake::at(source, spot.start, spot.end, problem);
        let document = DeTable::parse(source)
            .map_err(|error| wrong(error.span().unwrap_or(0..0), error.message().to_owned()))?;
        let document = document.get_ref();
        let known = ["table", "columns", "states"];
        let odd = document.keys().find(|key| !known.contains(&key.get_ref().as_ref()));
        if let Some(key) = odd {
            return Err(wrong(key.span(), unknown("key", key.get_ref(), &known)));
        }
        let mut map = Self {
            text: source.into(),
            separator: b',',
            is_comma: false,
            zone: None,
            missing: vec![String::new()],
            names: None,
            attempts: None,
            before_last: None,
            columns: Vec::new(),
            states: Vec::new(),
        };
        if let Some(table) = section(document, "table", &wrong)? {
            map.table(table, &wrong)?;
        }
        let Some(columns) = section(document, "columns", &wrong)? else {
            return Err(wrong(0..0, "there is no table [columns]".to_owned()));
        };
        for (key, value) in columns {
            map.columns.push(column(
                key.get_ref(),
                key.span(),
                (value.get_ref(), value.span()),
                &wrong,
            )?);
        }
        if let Some(states) = section(document, "states", &wrong)? {
            for (key, value) in states {
                let fate = fate_of(value.get_ref(), value.span(), &wrong)?;
                map.states.push((key.get_ref().to_lowercase(), fate));
            }
        }
        // In the order of the file.
        map.columns.sort_by_key(|column| column.spot.start);
        map.check(&wrong)?;
        Ok(map)
    }

    /// The keys of `[columns]`, each with its units and its description.
    pub fn keys() -> impl Iterator<Item = (&'static str, String, &'static str)> {
        Field::ALL.iter().map(|&(_, name, kind, meaning)| {
            let units: Vec<&str> = kind.units().iter().map(|(unit, _)| *unit).collect();
            (name, units.join(", "), meaning)
        })
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn table(&mut self, table: &DeTable<'_>, wrong: Wrong<'_>) -> Result<(), Mistake> {
        for (key, value) in table {
            let (spot, value) = (value.span(), value.get_ref());
            match key.get_ref().as_ref() {
                "separator" => {
                    let text = string(value, spot.clone(), "a separator", wrong)?;
                    let [byte] = text.as_bytes() else {
                        let problem = "a separator is one character, such as `;`, `,` or `\\t`";
                        return Err(wrong(spot, problem.to_owned()));
                    };
                    self.separator = *byte;
                }
                "decimal" => match string(value, spot.clone(), "the decimal sign", wrong)? {
                    "," => self.is_comma = true,
                    "." => self.is_comma = false,
                    _ => return Err(wrong(spot, "the decimal sign is `,` or `.`".to_owned())),
                },
                "timezone" => {
                    let name = string(value, spot.clone(), "a time zone", wrong)?;
                    let zone = name.parse::<Zone>();
                    self.zone = Some(zone.map_err(|error| wrong(spot, error.to_string()))?);
                }
                "missing" => self.missing.extend(strings(value, &spot, wrong)?),
                "columns" => self.names = Some(strings(value, &spot, wrong)?),
                "attempts" => {
                    self.attempts = Some(string(value, spot, "the path of a list", wrong)?.into());
                }
                "before_last" => self.before_last = Some(fate_of(value, spot, wrong)?),
                "about" => {
                    string(value, spot, "what the table is", wrong)?;
                }
                name => {
                    return Err(wrong(key.span(), unknown("key", name, &TABLE_KEYS)));
                }
            }
        }
        Ok(())
    }

    /// Checks that the times of attempts are given or can be derived, and that states have a
    /// meaning.
    fn check(&self, wrong: Wrong<'_>) -> Result<(), Mistake> {
        let has = |field: Field| self.columns.iter().any(|column| column.field == field);
        let at = self.text.find("[columns]").unwrap_or_default();
        let lacks = |problem: &str| Err(wrong(at..at + 9, problem.to_owned()));
        if !has(Field::Submit) && !has(Field::Start) && !has(Field::End) {
            return lacks("it names no time: give `submit`, `start` or `end`");
        }
        if !has(Field::End) && !has(Field::Run) {
            return lacks("nothing says when a job ended: give `end` or `run`");
        }
        self.check_attempts(wrong)?;
        let has_start = has(Field::Start) || has(Field::End) && has(Field::Run) || has(Field::Wait);
        if !has_start {
            return lacks(
                "nothing says when a job began: give `start`, `wait`, or `end` and `run`",
            );
        }
        if has(Field::State) && self.states.is_empty() {
            let state = self.columns.iter().find(|column| column.field == Field::State);
            let spot = state.map_or(at..at, |column| column.spot.clone());
            let problem = "`state` needs a table [states] that says what each state means";
            return Err(wrong(spot, problem.to_owned()));
        }
        Ok(())
    }

    /// Checks the columns of attempts, and what is counted.
    fn check_attempts(&self, wrong: Wrong<'_>) -> Result<(), Mistake> {
        let uncounted = |column: &&MappedColumn| column.is_count && !column.name.contains("[*]");
        if let Some(column) = self.columns.iter().find(uncounted) {
            let problem = "`count` is the number of values at a path with `[*]`";
            return Err(wrong(column.spot.clone(), problem.to_owned()));
        }
        let at = self.text.find("[table]").unwrap_or_default();
        let of_table = |problem: &str| Err(wrong(at..at + 7, problem.to_owned()));
        let Some(list) = self.attempts.as_deref() else {
            if self.before_last.is_some() {
                return of_table("`before_last` needs `attempts`, the list that holds them");
            }
            return Ok(());
        };
        let other = |column: &&MappedColumn| {
            column.name.split_once("[]").is_some_and(|(begin, _)| begin != list)
        };
        if let Some(column) = self.columns.iter().find(other) {
            let problem = format!("`[]` follows `{list}`, the list of attempts in [table]");
            return Err(wrong(column.spot.clone(), problem));
        }
        let is_of_attempt = |field: Field| {
            let mut own = self.columns.iter().filter(|column| column.field == field);
            own.any(MappedColumn::is_of_attempt)
        };
        if ![Field::Start, Field::End, Field::Run].into_iter().any(is_of_attempt) {
            return of_table(
                "`attempts` needs a time of an attempt, such as `start = \"NAME[].start\"`",
            );
        }
        match self.before_last {
            Some(fate) if fate.end().is_none() => {
                of_table("`before_last` is an end: finished, failed, killed, evicted or lost")
            }
            None if self.columns.iter().any(|column| column.field == Field::State)
                && !is_of_attempt(Field::State) =>
            {
                of_table(
                    "the state is that of a job: `before_last` says how earlier attempts ended",
                )
            }
            _ => Ok(()),
        }
    }

    /// The meaning of a state, if the map gives one. `*` applies to states that nothing else
    /// matches.
    pub(in crate::sources) fn fate(&self, state: &str) -> Option<Fate> {
        self.entry(state).map(|(_, fate)| *fate)
    }

    /// The entry of a state: its text in lower case, and its meaning.
    pub(in crate::sources) fn entry(&self, state: &str) -> Option<&(String, Fate)> {
        let state = state.to_lowercase();
        let is = |known: &str| match known.strip_suffix('*') {
            Some(begin) => !begin.is_empty() && state.starts_with(begin),
            None => known == state,
        };
        let found = self.states.iter().find(|(known, _)| is(known));
        found.or_else(|| self.states.iter().find(|(known, _)| known == "*"))
    }

    /// A mistake at a column that the table does not have.
    pub(in crate::sources) fn lacks(&self, column: &MappedColumn, found: &[String]) -> Mistake {
        let has = found.join(", ");
        let has = if has.is_empty() { has } else { format!(" (it has: {has})") };
        let problem = format!("the table has no column `{}`{has}", column.name);
        Mistake::at(&self.text, column.spot.start, column.spot.end, problem)
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    format!("unknown {what} `{name}` (known: {})", known.join(", "))
}

/// The meaning of a state.
fn fate_of(value: &DeValue<'_>, spot: Spot, wrong: Wrong<'_>) -> Result<Fate, Mistake> {
    let word = string(value, spot.clone(), "an outcome", wrong)?;
    let fate = FATES.iter().find(|(name, _)| *name == word);
    let words = FATES.map(|(name, _)| name);
    fate.map(|(_, fate)| *fate).ok_or_else(|| wrong(spot, unknown("outcome", word, &words)))
}

/// A table of the document.
fn section<'a>(
    document: &'a DeTable<'_>,
    name: &str,
    wrong: Wrong<'_>,
) -> Result<Option<&'a DeTable<'a>>, Mistake> {
    match document.get(name).map(|value| (value.get_ref(), value.span())) {
        None => Ok(None),
        Some((DeValue::Table(table), _)) => Ok(Some(table)),
        Some((_, spot)) => Err(wrong(spot, format!("`{name}` must be a table"))),
    }
}

fn string<'a>(
    value: &'a DeValue<'_>,
    spot: Spot,
    what: &str,
    wrong: Wrong<'_>,
) -> Result<&'a str, Mistake> {
    match value {
        DeValue::String(text) => Ok(text),
        _ => Err(wrong(spot, format!("{what} must be a text in quotes"))),
    }
}

fn strings(value: &DeValue<'_>, spot: &Spot, wrong: Wrong<'_>) -> Result<Vec<String>, Mistake> {
    let DeValue::Array(all) = value else {
        return Err(wrong(spot.clone(), "this must be a list of texts".to_owned()));
    };
    let one = |value: &toml::Spanned<DeValue<'_>>| {
        string(value.get_ref(), value.span(), "each of them", wrong).map(str::to_owned)
    };
    all.iter().map(one).collect()
}

/// A line of `[columns]`.
fn column(
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
