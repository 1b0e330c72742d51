//! Proposes a first map for a table, from the names of its columns and its first rows, and previews
//! its rows as a map reads them.
//!
//! In: the beginning of a table. Out: the text of a map, with a comment on every assumption.
//! Columns and states that names and cells do not identify are left out, or become comments.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use super::map::times::{Pattern, scaled};
use super::map::{FATES, Field, Kind, Map};
use super::mapped::table::{ONE_ARRAY, is_array, is_json};
use super::mapped::{Mapped, stamp_of, whole};
use super::records::fields::span_us;
use super::records::lines::{first_line, names_of};
use super::records::quotes::{Quotes, first_record};
use super::records::{Record, RecordFormat, Remarks};
use super::zone::{Stamp, Zone, civil_of_day};
use crate::notation::Mistake;
use crate::units::MICROS_PER_SECOND;

mod words;

use self::words::{FATE_WORDS, MISSING_WORDS, NAMES, NO_JOB, PATTERNS, UNIT_ENDS, doubt};

/// The number of rows that are used.
const ROWS_LOOKED_AT: usize = 200;

/// A column of the table.
struct Column {
    name: String,
    /// Its cells, row by row; empty if a row has none.
    cells: Vec<String>,
}

/// The proposed meaning of a column.
struct Guess {
    field: Field,
    column: usize,
    /// The unit that its name ends with.
    unit: Option<&'static str>,
}

/// A proposed map.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Its text.
    pub text: String,
    /// The number of lines to be checked, which are marked `CHECK`.
    pub checks: usize,
}

/// Proposes a map for a table that starts with `begin`.
///
/// # Errors
/// The reason why the table cannot be read.
pub fn propose(begin: &[u8]) -> Result<Proposal, String> {
    if begin.trim_ascii().is_empty() {
        return Err("it is empty".to_owned());
    }
    if std::str::from_utf8(first_line(begin)).is_err() || begin.contains(&0) {
        let how = "convert it first, for example with `iconv -f latin1 -t utf-8`";
        return Err(format!("it is not text in UTF-8: {how}"));
    }
    if is_array(begin) {
        return Err(ONE_ARRAY.to_owned());
    }
    let (separator, columns) =
        if is_json(begin) { (None, of_json(begin)) } else { of_fields(begin) };
    if columns.len() < 2 {
        return Err("its first line does not name several columns between `,`, `;`, tabs or `|`, \
            and it is not JSON, one object a line"
            .to_owned());
    }
    let guesses = guesses(&columns);
    let is_comma =
        separator != Some(b',') && guesses.iter().any(|guess| has_comma(&columns, guess));
    Ok(written(separator, &columns, &guesses, is_comma))
}

/// The columns of JSON objects.
fn of_json(begin: &[u8]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    let lines = begin.split(|&byte| byte == b'\n').take(ROWS_LOOKED_AT);
    let read = |line: &[u8]| serde_json::from_slice::<Value>(line.trim_ascii()).ok();
    let rows: Vec<Value> = lines.filter_map(read).collect();
    for (row_idx, row) in rows.iter().enumerate() {
        for (name, value) in row.as_object().into_iter().flatten() {
            let idx = columns.iter().position(|column| column.name == *name);
            let idx = idx.unwrap_or_else(|| {
                columns.push(Column { name: name.clone(), cells: Vec::new() });
                columns.len() - 1
            });
            let text = match value {
                Value::Null => continue,
                Value::String(text) => text.trim().to_owned(),
                value => value.to_string(),
            };
            columns[idx].cells.resize(row_idx, String::new());
            columns[idx].cells.push(text);
        }
    }
    for column in &mut columns {
        column.cells.resize(rows.len(), String::new());
    }
    columns
}

/// The separator and columns of lines of fields.
fn of_fields(begin: &[u8]) -> (Option<u8>, Vec<Column>) {
    let names = |separator: u8| names_of(&first_record(begin, separator), separator);
    let count = |separator: &u8| names(*separator).len();
    // The first of those that give the most fields.
    let separator =
        *b",;\t|".iter().rev().max_by_key(|&separator| count(separator)).unwrap_or(&b',');
    let mut columns: Vec<Column> =
        names(separator).into_iter().map(|name| Column { name, cells: Vec::new() }).collect();
    // The last line may be cut off.
    let end = memchr::memrchr(b'\n', begin).unwrap_or(begin.len());
    let mut row_count = 0;
    Quotes::each_of(&begin[..end], Some(separator), |row| {
        if 0 < row_count {
            let mut cells = names_of(row.raw, separator).into_iter();
            for column in &mut columns {
                column.cells.push(cells.next().unwrap_or_default());
            }
        }
        row_count += 1;
        row_count <= ROWS_LOOKED_AT
    });
    (Some(separator), columns)
}

/// The ASCII letters and digits of a name, in lower case; umlauts are spelt out.
fn plain(name: &str) -> String {
    let lower = name.to_lowercase().replace('ä', "ae").replace('ö', "oe").replace('ü', "ue");
    lower.replace('ß', "ss").chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Whether `words`, separated by blanks, contain a word.
fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// The meanings of the columns, by name. A name may end with a unit.
fn guesses(columns: &[Column]) -> Vec<Guess> {
    let mut taken = BTreeSet::new();
    let mut guesses = Vec::new();
    for &(field, names) in &NAMES {
        let of = |name: &str| {
            let (column, unit) = columns.iter().enumerate().find_map(|(idx, column)| {
                let own = plain(&column.name);
                let rest = own.strip_prefix(name).filter(|_| !taken.contains(&idx))?;
                if rest.is_empty() {
                    return Some((idx, None));
                }
                let unit = UNIT_ENDS.iter().find(|(_, ends)| has(ends, rest))?.0;
                let is_own = field.kind().units().iter().any(|(known, _)| *known == unit);
                is_own.then_some((idx, Some(unit)))
            })?;
            Some(Guess { field, column, unit })
        };
        if let Some(guess) = names.split(' ').find_map(of) {
            taken.insert(guess.column);
            guesses.push(guess);
        }
    }
    guesses
}

/// The cells of a column that are not missing.
fn told(column: &Column) -> impl Iterator<Item = &str> {
    let says = |cell: &&str| !cell.is_empty() && !MISSING_WORDS.contains(cell);
    column.cells.iter().map(String::as_str).filter(says)
}

/// Whether a number in a column has a comma for the decimals.
fn has_comma(columns: &[Column], guess: &Guess) -> bool {
    let is_number = !matches!(guess.field.kind(), Kind::Text);
    let is_decimal = |cell: &str| {
        let (whole, part) = cell.split_once(',')?;
        let all = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        (all(whole) && !part.is_empty() && all(part)).then_some(())
    };
    is_number && told(&columns[guess.column]).any(|cell| is_decimal(cell).is_some())
}

/// The line of a column in a map, and what should be checked.
struct Line {
    text: String,
    check: Option<String>,
}

/// The text of the map.
fn written(
    separator: Option<u8>,
    columns: &[Column],
    guesses: &[Guess],
    is_comma: bool,
) -> Proposal {
    let lines: Vec<Line> =
        guesses.iter().map(|guess| line_of(columns, guesses, guess, is_comma)).collect();
    let mut text = String::from(
        "# Which column is what. Lines with CHECK hold something that had to be assumed.\n\n",
    );
    let is_odd = |cell: &String| cell.contains(char::REPLACEMENT_CHARACTER);
    if columns.iter().any(|column| column.cells.iter().any(is_odd)) {
        text.push_str(
            "# CHECK: some cells are not UTF-8; convert the table first if they matter, for example with\n\
            # `iconv -f latin1 -t utf-8`.\n\n",
        );
    }
    text.push_str("[table]\n");
    match separator {
        None | Some(b',') => {}
        Some(b'\t') => text.push_str("separator = \"\\t\"\n"),
        Some(byte) => _ = writeln!(text, "separator = \"{}\"", char::from(byte)),
    }
    if is_comma {
        text.push_str("decimal = \",\"\n");
    }
    if guesses.iter().any(|guess| is_local(&columns[guess.column], guess.field)) {
        text.push_str(
            "timezone = \"UTC\"  # CHECK: the times name no zone; \"Europe/Berlin\", for example\n",
        );
    }
    let is_missing = |word: &&&str| {
        let has = |guess: &Guess| columns[guess.column].cells.iter().any(|cell| cell == **word);
        guesses.iter().any(has)
    };
    let missing: Vec<String> =
        MISSING_WORDS.iter().filter(is_missing).map(|word| quoted(word)).collect();
    if !missing.is_empty() {
        _ = writeln!(text, "missing = [{}]", missing.join(", "));
    }
    text.push_str("\n[columns]\n");
    for line in &lines {
        let check =
            line.check.as_ref().map_or(String::new(), |check| format!("  # CHECK: {check}"));
        _ = writeln!(text, "{}{check}", line.text);
    }
    for (field, name, _, meaning) in Field::ALL.iter().take(8) {
        if !guesses.iter().any(|guess| guess.field == *field) {
            let check = if *field == Field::Job { NO_JOB } else { "" };
            _ = writeln!(text, "# {name} = \"...\"  # {check}{meaning}");
        }
    }
    if let Some(state) = guesses.iter().find(|guess| guess.field == Field::State) {
        text.push_str(&states(&columns[state.column]));
    }
    let is_used = |idx: &usize| guesses.iter().any(|guess| guess.column == *idx);
    let unused: Vec<&str> = (0..columns.len())
        .filter(|idx| !is_used(idx))
        .map(|idx| columns[idx].name.as_str())
        .collect();
    if !unused.is_empty() {
        _ = writeln!(text, "\n# Not used: {}", unused.join(", ").replace(char::is_control, " "));
    }
    let checks = text.matches("CHECK:").count();
    Proposal { text, checks }
}

/// A text in quotes, as in TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            _ if letter.is_control() => _ = write!(out, "\\u{:04X}", u32::from(letter)),
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// Whether the times of a column have no zone.
fn is_local(column: &Column, field: Field) -> bool {
    field.kind() == Kind::Time
        && time_of(column).is_some_and(|(_, stamp)| matches!(stamp, Stamp::Local(_)))
}

/// The form of the times of a column, as a key and value of the map (empty for ISO 8601), and the
/// first time.
fn time_of(column: &Column) -> Option<(String, Stamp)> {
    let cells: Vec<&str> = told(column).collect();
    let first = *cells.first()?;
    if cells.iter().all(|cell| Stamp::iso(cell.as_bytes()).is_some()) {
        return Some((String::new(), Stamp::iso(first.as_bytes())?));
    }
    for text in PATTERNS {
        let pattern = Pattern::read(text).ok()?;
        if cells.iter().all(|cell| pattern.stamp(cell.as_bytes()).is_some()) {
            return Some((format!("format = \"{text}\""), pattern.stamp(first.as_bytes())?));
        }
    }
    let numbers: Option<Vec<i64>> =
        cells.iter().map(|cell| scaled(cell.as_bytes(), 1, false)).collect();
    let largest = numbers?.into_iter().max()?;
    // Seconds, milliseconds or microseconds since 1970, or seconds since any time.
    let (unit, factor) = if largest < 100_000_000_000 {
        ("s", MICROS_PER_SECOND)
    } else if largest < 100_000_000_000_000 {
        ("ms", 1000)
    } else {
        ("us", 1)
    };
    let stamp = Stamp::Utc(scaled(first.as_bytes(), factor, false)?);
    Some((format!("unit = \"{unit}\""), stamp))
}

/// The line of a column.
fn line_of(columns: &[Column], guesses: &[Guess], guess: &Guess, is_comma: bool) -> Line {
    let column = &columns[guess.column];
    let name = quoted(&column.name);
    let key = guess.field.name();
    let plain = Line { text: format!("{key} = {name}"), check: None };
    let with = |more: &str, check: Option<&str>| Line {
        text: format!("{key} = {{ column = {name}, {more} }}"),
        check: check.map(str::to_owned),
    };
    let unit = |unit: &str, check| with(&format!("unit = \"{unit}\""), check);
    match guess.field.kind() {
        Kind::Text | Kind::Count => Line { check: doubt(guess.field, told(column)), ..plain },
        Kind::Time => match time_of(column) {
            Some((more, _)) if more.is_empty() => plain,
            Some((more, _)) => with(&more, None),
            None => with("format = \"iso\"", Some("the format of its times is not known")),
        },
        Kind::Span => {
            if told(column).next().is_some()
                && told(column).all(|cell| span_us(cell.as_bytes()).is_some())
            {
                return with("format = \"clock\"", None);
            }
            match (guess.unit, run_unit(columns, guesses, guess, is_comma)) {
                (Some(known), _) => unit(known, None),
                (None, Some(fits)) => unit(fits, None),
                (None, None) => unit("s", Some("s, min, h?")),
            }
        }
        Kind::Memory => match guess.unit {
            Some(known) => unit(known, None),
            None => unit("MiB", Some("bytes, KiB, MiB, GiB, GB?")),
        },
        Kind::Cores | Kind::Gpus => guess.unit.map_or(plain, |known| unit(known, None)),
    }
}

/// The unit in which run times match the times from start to end.
fn run_unit(
    columns: &[Column],
    guesses: &[Guess],
    guess: &Guess,
    is_comma: bool,
) -> Option<&'static str> {
    if guess.field != Field::Run {
        return None;
    }
    let of = |field: Field| guesses.iter().find(|guess| guess.field == field);
    let read = |field: Field| {
        let column = &columns[of(field)?.column];
        let (more, _) = time_of(column)?;
        let map = format!(
            "[columns]\nrun={{column=\"x\",unit=\"s\"}}\nstart={{column=\"x\"{}{more}}}",
            if more.is_empty() { "" } else { "," }
        );
        Some((Map::read(&map).ok()?, column))
    };
    let (starts, ends) = (read(Field::Start)?, read(Field::End)?);
    let at = |(map, column): &(Map, &Column), row: usize| {
        let form = &map.columns.iter().find(|column| column.field == Field::Start)?.form;
        stamp_of(column.cells.get(row)?.as_bytes(), form, is_comma)
    };
    let runs = &columns[guess.column].cells;
    Kind::Span.units().iter().map(|(name, _)| *name).find(|name| {
        let factor = Kind::Span.units().iter().find(|(known, _)| known == name);
        let factor = factor.map_or(1, |(_, factor)| whole(*factor));
        let fits = |row: usize| {
            let (start, end) = (at(&starts, row)?.clock_us(), at(&ends, row)?.clock_us());
            let run = scaled(runs[row].as_bytes(), factor, is_comma)?;
            let apart = (end - start - run).abs();
            Some(0 < run && apart <= factor.max(60 * MICROS_PER_SECOND) && apart * 4 <= end - start)
        };
        // Only rows with all three count; others have not begun or not ended.
        let whole: Vec<bool> = (0..runs.len()).filter_map(fits).collect();
        whole.len() < 2 * whole.iter().filter(|fits| **fits).count()
    })
}

/// The table `[states]` for a column.
fn states(column: &Column) -> String {
    let found: BTreeSet<&str> = told(column).collect();
    let mut text = String::from(
        "\n# finished, failed, killed, evicted, lost, running, pending; skip leaves a row out.\n[states]\n",
    );
    if found.iter().all(|state| state.parse::<i64>().is_ok()) {
        text.push_str("\"0\" = \"finished\"  # CHECK: taken as an exit code\n\"*\" = \"failed\"\n");
        return text;
    }
    for state in found {
        let word = plain(state);
        let known = FATE_WORDS.iter().find(|(_, words)| has(words, &word));
        // `CANCELLED by 1001`.
        let is_begin = |known: &str| 6 < known.len() && word.starts_with(known);
        let begun = || FATE_WORDS.iter().find(|(_, words)| words.split(' ').any(is_begin));
        let state = quoted(state);
        let line = known.or_else(begun).map_or_else(
            || format!("# {state} = \"...\"  # CHECK: what does it mean?\n"),
            |(fate, _)| format!("{state} = \"{fate}\"\n"),
        );
        text.push_str(&line);
    }
    text
}

/// A row as a map reads it, or why it cannot be read.
#[derive(Clone, Debug)]
pub struct PreviewRow {
    /// The line of the file.
    pub line: u64,
    /// Job, user, submit, start, end, outcome, CPUs and memory (KiB); or what is wrong.
    pub cells: Result<[String; 8], String>,
}

/// The first rows as a map reads them.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The rows.
    pub rows: Vec<PreviewRow>,
    /// The assumptions, each with its count.
    pub remarks: Vec<(String, u64)>,
}

/// Reads the first `count` rows of a table that starts with `begin`.
///
/// # Errors
/// The map does not fit the table, such as a column that the table does not have.
pub fn preview(
    begin: &[u8],
    map: Map,
    zone: Option<&Zone>,
    count: usize,
) -> Result<Preview, Mistake> {
    let zone = zone.cloned().or_else(|| map.zone.clone());
    let mut format = Mapped::of(begin, 0, &map.into(), zone.as_ref())?;
    let (mut shown, mut remarks) = (Vec::new(), Remarks::default());
    let begin = begin.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(begin);
    let end = memchr::memrchr(b'\n', begin).unwrap_or(begin.len());
    let separator = format.separator_of_quotes();
    Quotes::each_of(&begin[..end], separator, |line| {
        if shown.len() == count || line.raw.trim_ascii().is_empty() {
            return shown.len() < count;
        }
        let cells = match format.record(line, &mut remarks) {
            Ok(None) => return true,
            Ok(Some(record)) => Ok(cells_of(&record)),
            Err((column, reason)) => Err(format!("{column} {}", reason.name()).trim().to_owned()),
        };
        shown.push(PreviewRow { line: line.number, cells });
        true
    });
    let remarks = remarks.all().map(|(wording, count)| (wording.to_owned(), count)).collect();
    Ok(Preview { rows: shown, remarks })
}

fn cells_of(record: &Record<'_>) -> [String; 8] {
    let dash = || "-".to_owned();
    let time = |at: Option<i64>| at.map_or_else(dash, clock);
    let outcome = match (record.life.end, record.life.start_us) {
        (Some((_, kind)), _) => {
            let known = FATES.iter().find(|(_, fate)| fate.end() == Some(kind));
            known.map_or_else(dash, |(name, _)| (*name).to_owned())
        }
        (None, Some(_)) => "running".to_owned(),
        (None, None) => "pending".to_owned(),
    };
    [
        record.job_name.map_or_else(|| record.job_id.to_string(), str::to_owned),
        record.user.map_or_else(dash, str::to_owned),
        time(record.life.submit_us),
        time(record.life.start_us),
        time(record.life.end.map(|end| end.0)),
        outcome,
        record.cpu.map_or_else(dash, |cpu| cpu.to_string()),
        record.memory.map_or_else(dash, |memory| memory.to_string()),
    ]
}

/// A time in ISO 8601, UTC.
fn clock(at_us: i64) -> String {
    let seconds = at_us.div_euclid(MICROS_PER_SECOND);
    let (year, month, day) = civil_of_day(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
