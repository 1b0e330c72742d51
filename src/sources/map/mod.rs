//! A map: the meaning and unit of each column of a table, and the meaning of its states.
//!
//! In: the text of a TOML file. Out: a [`Map`], or a mistake with its place. A map is checked as a
//! whole before the table is read; an unknown key, unit, pattern or outcome is an error at its
//! line, and is never ignored.

use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use self::times::Pattern;
use super::records::states::Fate;
use super::zone::Zone;
use crate::notation::{Mistake, Spot};
use crate::schema::EventType;

pub(super) mod times;

macro_rules! fields {
    ($($name:ident $text:literal $kind:ident $meaning:literal,)+) => {
        /// The meaning of a column.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::sources) enum Field {
            $($name,)+
        }

        impl Field {
            /// All meanings, each with its name in a map, its kind and its description.
            pub(in crate::sources) const ALL: &'static [(Self, &'static str, Kind, &'static str)] =
                &[$((Self::$name, $text, Kind::$kind, $meaning),)+];

            pub(in crate::sources) const fn name(self) -> &'static str {
                Self::ALL[self as usize].1
            }

            pub(in crate::sources) const fn kind(self) -> Kind {
                Self::ALL[self as usize].2
            }
        }
    };
}

fields! {
    Job "job" Text "id of the job, by default the line number; several rows of a job are its attempts",
    User "user" Text "who submitted it",
    Submit "submit" Time "when it was submitted; by default start minus wait, or start",
    Start "start" Time "when it began; by default end minus run, or submit and wait",
    End "end" Time "when it ended; by default start and run",
    Run "run" Span "how long it ran",
    Wait "wait" Span "how long it waited",
    State "state" Text "its state, as [states] explains it; without it, each job that ended counts as finished",
    Cpus "cpus" Cores "CPUs allocated, or else requested",
    Memory "memory" Memory "memory allocated, or else requested",
    Gpus "gpus" Gpus "GPUs allocated, or else requested",
    GpuModel "gpu_model" Text "model of its GPUs",
    TimeLimit "time_limit" Span "longest time that it was allowed to run",
    CpuTime "cpu_time" Span "CPU time that it used, summed over its CPUs",
    UsedMemory "used_memory" Memory "memory that it used",
    Name "name" Text "name of the program or job",
    Account "account" Text "account that it was charged to",
    Group "group" Text "group of the user",
    Queue "queue" Text "queue or partition",
    Qos "qos" Text "quality of service",
    Cluster "cluster" Text "cluster",
    Priority "priority" Count "priority",
    Nodes "nodes" Count "number of machines",
    Machines "machines" Text "names of the machines, `n1` or `n[1-3,7]`",
    ExitCode "exit_code" Text "exit code",
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sources) enum Kind {
    Text,
    Time,
    Span,
    Cores,
    Memory,
    Gpus,
    Count,
}

impl Kind {
    /// The units of its numbers, each with its factor to µs, KiB, cores or GPUs.
    pub(in crate::sources) const fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Text | Self::Count => &[],
            Self::Time | Self::Span => {
                &[("us", 1.0), ("ms", 1e3), ("s", 1e6), ("min", 6e7), ("h", 3.6e9), ("d", 8.64e10)]
            }
            Self::Cores => &[("cores", 1.0), ("milli-cores", 0.001), ("percent", 0.01)],
            Self::Gpus => &[("gpus", 1.0), ("milli-gpus", 0.001), ("percent", 0.01)],
            Self::Memory => &[
                ("bytes", 1.0 / 1024.0),
                ("KB", 1e3 / 1024.0),
                ("MB", 1e6 / 1024.0),
                ("GB", 1e9 / 1024.0),
                ("TB", 1e12 / 1024.0),
                ("KiB", 1.0),
                ("MiB", 1024.0),
                ("GiB", 1_048_576.0),
                ("TiB", 1_073_741_824.0),
            ],
        }
    }

    /// The factor if the map names no unit; `None` if it must name one.
    const fn usual(self) -> Option<f64> {
        match self {
            Self::Span | Self::Memory => None,
            Self::Text | Self::Count | Self::Time | Self::Cores | Self::Gpus => Some(1.0),
        }
    }
}

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
        let list = self.attempts.as_deref().unwrap_or_default();
        let is_odd = |column: &&MappedColumn| {
            let path = column.name.split_once("[]");
            path.is_some_and(|(begin, _)| list.is_empty() || begin != list)
        };
        if let Some(column) = self.columns.iter().find(is_odd) {
            let problem = "`[]` follows the list of attempts that [table] names: `attempts = ...`";
            return Err(wrong(column.spot.clone(), problem.to_owned()));
        }
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
