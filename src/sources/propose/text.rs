//! The text of a map, from guesses.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Proposal;
use super::columns::{Column, filled};
use super::guesses::{Guess, has, is_grouped, plain};
use super::words::{FATE_WORDS, MISSING_WORDS, NO_JOB, PATTERNS, doubt};
use crate::sources::map::{Field, Kind, Map};
use crate::sources::mapped::{stamp_of, whole};
use crate::sources::records::fields::span_us;
use crate::sources::records::patterns::{Pattern, scaled};
use crate::sources::zone::Stamp;
use crate::units::MICROS_PER_SECOND;

/// The line of a column in a map, and what should be checked.
struct Line {
    text: String,
    check: Option<String>,
}

/// The text of the map.
pub(super) fn written(
    separator: Option<u8>,
    columns: &[Column],
    guesses: &[Guess],
    is_comma: bool,
) -> Proposal {
    let line = |guess: &Guess| {
        let Line { text, check } = line_of(columns, guesses, guess, is_comma);
        let points = || doubt_of_points(&columns[guess.column], guess.field, (separator, is_comma));
        Line { text, check: check.or_else(points) }
    };
    let lines: Vec<Line> = guesses.iter().map(line).collect();
    let mut text = String::from(
        "# Which column is what. Lines with CHECK hold something that had to be assumed.\n\n",
    );
    text.push_str(not_utf_8(columns, guesses));
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

/// Advice about cells that are not UTF-8. Rows that have such a cell in a column of the map are
/// rejected.
fn not_utf_8(columns: &[Column], guesses: &[Guess]) -> &'static str {
    let is_odd = |cell: &String| cell.contains(char::REPLACEMENT_CHARACTER);
    let has_odd = |column: &Column| column.cells.iter().any(is_odd);
    if guesses.iter().any(|guess| has_odd(&columns[guess.column])) {
        "# CHECK: some cells are not UTF-8, and their rows are rejected. Convert the table first, for\n\
        # example with `iconv -f latin1 -t utf-8`.\n\n"
    } else if columns.iter().any(has_odd) {
        "# Some cells are not UTF-8, but only in columns that are not used.\n\n"
    } else {
        ""
    }
}

/// What to check in a column of numbers with points or commas that may be between groups of three
/// digits.
fn doubt_of_points(
    column: &Column,
    field: Field,
    (separator, is_comma): (Option<u8>, bool),
) -> Option<String> {
    if field.kind() == Kind::Text {
        return None;
    }
    let is_english = |cell: &&str| cell.contains(',') && is_grouped(&cell.replace(',', "."));
    if is_comma && let Some(cell) = filled(column).find(is_english) {
        let (read, whole) = (cell.replace(',', "."), cell.replace(',', ""));
        return Some(format!("`{cell}` is read as {read}; as a whole number it is {whole}"));
    }
    let cell = filled(column).find(|cell| is_grouped(cell))?;
    let whole = cell.replace('.', "");
    if is_comma {
        return Some(format!("`{cell}` is read as {whole}"));
    }
    // A table with semicolons often comes from a program that writes 1440 as `1.440`.
    (separator == Some(b';'))
        .then(|| format!("`{cell}` is read as {cell}; with `decimal = \",\"` it is {whole}"))
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
    let cells: Vec<&str> = filled(column).collect();
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

/// The form of times in seconds.
const SECONDS: &str = "unit = \"s\"";

/// Whether times fit several patterns, such as day before month and month before day.
fn is_ambiguous(column: &Column) -> bool {
    let cells: Vec<&str> = filled(column).collect();
    let fits = |text: &&&str| {
        let pattern = Pattern::read(text).ok();
        pattern.is_some_and(|known| cells.iter().all(|cell| known.stamp(cell.as_bytes()).is_some()))
    };
    1 < PATTERNS.iter().filter(fits).take(2).count()
}

/// Whether numbers are too small for seconds since 1970: they end before March 1973.
fn is_small(column: &Column) -> bool {
    let numbers = filled(column).filter_map(|cell| scaled(cell.as_bytes(), 1, false));
    numbers.max().is_some_and(|most| most < 100_000_000)
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
        Kind::Text | Kind::Count => Line { check: doubt(guess.field, filled(column)), ..plain },
        Kind::Time => match time_of(column) {
            Some((more, _)) if more.is_empty() => plain,
            Some((more, _)) if is_ambiguous(column) => {
                with(&more, Some("day and month may be the other way round"))
            }
            Some((more, _)) if more == SECONDS && is_small(column) => {
                with(&more, Some("small numbers: seconds since any time?"))
            }
            Some((more, _)) => with(&more, None),
            None => with("format = \"iso\"", Some("the format of its times is not known")),
        },
        Kind::Span => {
            if filled(column).next().is_some()
                && filled(column).all(|cell| span_us(cell.as_bytes()).is_some())
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
    let found: BTreeSet<&str> = filled(column).collect();
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
        let line = match known.or_else(begun) {
            None => format!("# {} = \"...\"  # CHECK: what does it mean?\n", quoted(state)),
            Some((fate, words)) => {
                // The text after the word, such as the user who did it, differs from row to row.
                let first = state.split_whitespace().next().unwrap_or_default();
                let is_word = known.is_none() && has(words, &plain(first));
                let state = if is_word { format!("{first}*") } else { state.to_owned() };
                format!("{} = \"{fate}\"\n", quoted(&state))
            }
        };
        if !text.ends_with(&format!("\n{line}")) {
            text.push_str(&line);
        }
    }
    text
}
