//! Reads a map from its text, and checks it.

use std::sync::Arc;

use toml::de::DeTable;

use super::columns::{MappedColumn, column};
use super::fields::Field;
use super::values::{Wrong, fate_of, section, string, strings, unknown};
use crate::notation::{Mistake, Spot};
use crate::sources::records::states::Fate;
use crate::sources::zone::Zone;

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
