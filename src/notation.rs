//! The notation of policies, detectors and indices: `name:key=value,key=value`.
//!
//! In: text from a command line or a file. Out: a name and its parameters, taken one by one. An
//! unknown key, or a value that does not parse, is an error that lists the known ones; no default
//! is used silently. The result prints back in the order in which the keys are defined. A
//! [`Mistake`] marks a place in a text of several lines.

use crate::faults::{Code, Fault};
use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Names in a sentence: `a, b and c`.
pub(crate) fn listed<S: Borrow<str>>(names: &[S]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => {
            format!("{} and {}", most.join(", "), last.borrow())
        }
        names => names.concat(),
    }
}

/// Why a notation was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotationError {
    /// No such name.
    #[error("there is no {kind} `{name}` (known: {known}){}", meant(nearest.as_ref()))]
    UnknownName {
        /// The kind of name: a detector, a policy, an index.
        kind: &'static str,
        /// The given name.
        name: String,
        /// The known names.
        known: String,
        /// The name that was probably meant.
        nearest: Option<String>,
    },
    /// No such key.
    #[error("{kind} `{name}` has no parameter `{key}` (it takes: {known}){}", meant(nearest.as_ref()))]
    UnknownKey {
        /// The kind of name.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The given key.
        key: String,
        /// The known keys.
        known: String,
        /// The key that was probably meant.
        nearest: Option<String>,
    },
    /// A value that does not parse, or is out of range.
    #[error("{kind} `{name}`: `{key}={value}` is not {expected}")]
    BadValue {
        /// The kind of name.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The key.
        key: &'static str,
        /// The given value.
        value: String,
        /// The expected values.
        expected: &'static str,
    },
    /// A key was given twice.
    #[error("{kind} `{name}`: `{key}` is given twice")]
    Twice {
        /// The kind of name.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The key.
        key: String,
    },
    /// More parts of one kind than can be combined.
    #[error("{kind} `{name}`: `{key}` is one too many: at most {expected} can be combined")]
    TooMany {
        /// The kind of name.
        kind: &'static str,
        /// The name as written.
        name: String,
        /// The part that is too many.
        key: String,
        /// The number and kind of parts that can be combined.
        expected: &'static str,
    },
    /// Not of the form `key=value`.
    #[error("{kind} `{name}`: `{text}` is not of the form `key=value`")]
    NoPair {
        /// The kind of name.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The given text.
        text: String,
    },
}

impl Fault for NotationError {
    fn code(&self) -> Code {
        Code::Usage
    }
}

fn meant(nearest: Option<&String>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// The known name that was probably meant by `word`: the first of those that need the fewest
/// changes. A change adds, removes or replaces a letter, or swaps two. At most one change for every
/// three letters (rounded up) is allowed.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = word.chars().take(WORD_MAX + 1).collect();
    if WORD_MAX < letters.len() {
        return None;
    }
    let near = known.into_iter().map(|name| (distance(&letters, name), name));
    let most = |name: &str| name.chars().count().max(letters.len()).div_ceil(3);
    near.filter(|&(steps, name)| steps <= most(name)).min_by_key(|near| near.0).map(|near| near.1)
}

/// Longest word, in letters, that is treated as a typing mistake.
const WORD_MAX: usize = 60;

/// The number of letters to change, add, remove or swap with the next one, ignoring case.
fn distance(word: &[char], name: &str) -> usize {
    let name: Vec<char> = name.chars().collect();
    let is_same = |one: char, other: char| one.eq_ignore_ascii_case(&other);
    // rows[i][j] is the distance of the first i letters of the word to the first j of the name.
    let mut rows: Vec<Vec<usize>> = vec![(0..=name.len()).collect()];
    for (i, &letter) in word.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &other) in name.iter().enumerate() {
            let changed = rows[i][j] + usize::from(!is_same(letter, other));
            let mut least = changed.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if 0 < i && 0 < j && is_same(letter, name[j - 1]) && is_same(word[i - 1], other) {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[word.len()][name.len()]
}

/// A name with parameters that are still to be read.
#[derive(Clone, Debug)]
pub struct Notation {
    kind: &'static str,
    name: String,
    /// Given parameters that have not been read.
    given: Vec<(String, String)>,
    /// Keys read so far, in order.
    keys: Vec<&'static str>,
}

impl Notation {
    /// Parses `name` or `name:key=value,key=value`; errors use `kind` for the kind of name.
    pub fn parse(kind: &'static str, text: &str) -> Result<Self, NotationError> {
        let (name, pairs) = text.split_once(':').unwrap_or((text, ""));
        let mut notation =
            Self { kind, name: name.trim().to_owned(), given: Vec::new(), keys: Vec::new() };
        for pair in split_outside_braces(pairs, ',').filter(|pair| !pair.trim().is_empty()) {
            let Some((key, value)) = pair.split_once('=') else {
                let (name, text) = (notation.name, pair.to_owned());
                return Err(NotationError::NoPair { kind, name, text });
            };
            let key = key.trim().to_owned();
            if notation.given.iter().any(|(other, _)| *other == key) {
                return Err(NotationError::Twice { kind, name: notation.name, key });
            }
            notation.given.push((key, value.trim().to_owned()));
        }
        Ok(notation)
    }

    /// A name with parameters that are not text.
    ///
    /// # Errors
    /// A key is given twice.
    pub fn given<'n, V: fmt::Display>(
        kind: &'static str,
        name: &str,
        parameters: impl IntoIterator<Item = (&'n str, V)>,
    ) -> Result<Self, NotationError> {
        let mut notation = Self::parse(kind, name)?;
        for (key, value) in parameters {
            let key = key.to_owned();
            if notation.given.iter().any(|(other, _)| *other == key) {
                return Err(NotationError::Twice { kind, name: notation.name, key });
            }
            notation.given.push((key, value.to_string()));
        }
        Ok(notation)
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The error of a name that is not among `known`.
    pub fn unknown_name<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> NotationError {
        let known: Vec<&str> = known.into_iter().collect();
        NotationError::UnknownName {
            kind: self.kind,
            name: self.name.clone(),
            nearest: nearest(&self.name, known.iter().copied()).map(str::to_owned),
            known: known.join(", "),
        }
    }

    /// Takes a parameter, or its default if it is not given. `expected` completes "is not ...".
    pub fn take<T: FromStr>(
        &mut self,
        key: &'static str,
        expected: &'static str,
        default: T,
    ) -> Result<T, NotationError> {
        self.take_if(key, expected, default, |_| true)
    }

    /// Takes a parameter that must also be `valid`.
    pub fn take_if<T: FromStr>(
        &mut self,
        key: &'static str,
        expected: &'static str,
        default: T,
        valid: impl Fn(&T) -> bool,
    ) -> Result<T, NotationError> {
        self.keys.push(key);
        let Some(position) = self.given.iter().position(|(given, _)| given == key) else {
            return Ok(default);
        };
        let (_, value) = self.given.remove(position);
        match value.parse() {
            Ok(parsed) if valid(&parsed) => Ok(parsed),
            _ => Err(NotationError::BadValue {
                kind: self.kind,
                name: self.name.clone(),
                key,
                value,
                expected,
            }),
        }
    }

    /// Takes a finite number within `range`.
    pub fn number(
        &mut self,
        key: &'static str,
        expected: &'static str,
        default: f64,
        range: impl std::ops::RangeBounds<f64>,
    ) -> Result<f64, NotationError> {
        self.take_if(key, expected, default, |value: &f64| {
            value.is_finite() && range.contains(value)
        })
    }

    /// Takes a word that is one of `choices`.
    pub fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        expected: &'static str,
        default: T,
        choices: &[(&str, T)],
    ) -> Result<T, NotationError> {
        let known = |word: &String| choices.iter().any(|(choice, _)| choice == word);
        let word = self.take_if(key, expected, String::new(), known)?;
        Ok(choices.iter().find(|(choice, _)| *choice == word).map_or(default, |found| found.1))
    }

    /// Refuses parameters that no code has read.
    pub fn finish(self) -> Result<(), NotationError> {
        match self.given.into_iter().next() {
            None => Ok(()),
            Some((key, _)) => Err(NotationError::UnknownKey {
                kind: self.kind,
                name: self.name,
                nearest: nearest(&key, self.keys.iter().copied()).map(str::to_owned),
                key,
                known: if self.keys.is_empty() { "none".to_owned() } else { self.keys.join(", ") },
            }),
        }
    }
}

/// The pieces between separators outside of braces.
pub fn split_outside_braces(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |letter: char| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && letter == separator
    })
}

/// Longer ranges are treated as a mistake.
const RANGE_MAX: u64 = 10_000;

/// The whole numbers of a range, `1..4` as `1`, `2`, `3`, `4`; any other text unchanged.
pub fn range(text: &str) -> Vec<String> {
    let number = |text: &str| text.trim().parse::<i64>().ok();
    match text.split_once("..").and_then(|(from, to)| number(from).zip(number(to))) {
        Some((from, to)) if from <= to && to.abs_diff(from) < RANGE_MAX => {
            (from..=to).map(|number| number.to_string()).collect()
        }
        _ => vec![text.to_owned()],
    }
}

/// Writes `name:key=value,...`, or just the name if there are no parameters.
pub fn write_notation(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    parameters: &[(&str, &dyn fmt::Display)],
) -> fmt::Result {
    f.write_str(name)?;
    for (idx, (key, value)) in parameters.iter().enumerate() {
        write!(f, "{}{key}={value}", if idx == 0 { ':' } else { ',' })?;
    }
    Ok(())
}

/// A byte range of a text.
pub type Spot = std::ops::Range<usize>;

/// A mistake at a place in a text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Mistake {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// How many characters are wrong, at least 1.
    pub length: usize,
    /// The text of the line.
    pub text: String,
    /// The problem.
    pub problem: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, length, text, problem } = self;
        writeln!(f, "line {line}, column {column}: {problem}")?;
        writeln!(f, "  {}", text.replace('\t', " "))?;
        write!(f, "  {}{}", " ".repeat(column - 1), "^".repeat(*length))
    }
}

impl Mistake {
    /// A mistake at `start..end` (bytes) of `source`.
    pub fn at(source: &str, start: usize, end: usize, problem: impl Into<String>) -> Self {
        let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let text = source[line_start..].lines().next().unwrap_or_default();
        let line_end = line_start + text.len();
        Self {
            line: source[..line_start].matches('\n').count() + 1,
            column: source[line_start..start].chars().count() + 1,
            length: source[start..end.min(line_end).max(start)].chars().count().max(1),
            text: text.to_owned(),
            problem: problem.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(f64, bool), NotationError> {
        let mut notation = Notation::parse("detector", text)?;
        if notation.name() != "late" {
            return Err(notation.unknown_name(["late", "yarn"]));
        }
        let cap = notation.number("cap", "a share from 0 to 1", 0.1, 0.0..=1.0)?;
        let choices = [("yes", true), ("no", false)];
        let lag = notation.choice("lag", "`yes` or `no`", true, &choices)?;
        notation.finish()?;
        Ok((cap, lag))
    }

    #[test]
    fn parameters_are_taken_or_default() {
        assert_eq!(read("late"), Ok((0.1, true)));
        assert_eq!(read("late:"), Ok((0.1, true)));
        assert_eq!(read("late:lag=no, cap=0.25"), Ok((0.25, false)));
    }

    #[test]
    fn typos_are_errors_that_list_what_is_known() {
        let check = |text: &str, expected: &str| {
            assert_eq!(read(text).unwrap_err().to_string(), expected);
        };
        check("lat", "there is no detector `lat` (known: late, yarn); did you mean `late`?");
        check("nothing", "there is no detector `nothing` (known: late, yarn)");
        let text =
            "detector `late` has no parameter `cp` (it takes: cap, lag); did you mean `cap`?";
        check("late:cp=1", text);
        check("late:xyz=1", "detector `late` has no parameter `xyz` (it takes: cap, lag)");
        check("late:cap=2", "detector `late`: `cap=2` is not a share from 0 to 1");
        check("late:cap=nan", "detector `late`: `cap=nan` is not a share from 0 to 1");
        check("late:lag=maybe", "detector `late`: `lag=maybe` is not `yes` or `no`");
        check("late:cap", "detector `late`: `cap` is not of the form `key=value`");
        check("late:cap=0.1,cap=0.1", "detector `late`: `cap` is given twice");
    }

    #[test]
    fn slips_are_seen_through_and_other_words_are_not() {
        let known = ["late", "late021", "poisson", "spark", "hadoop", "flink", "tqst"];
        for (word, meant) in [
            ("lte", Some("late")),
            ("late21", Some("late021")),
            ("possion", Some("poisson")),
            ("Spark", Some("spark")),
            ("flnik", Some("flink")),
            ("oracle", None),
            ("", None),
            ("sparks-of-joy", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
        assert_eq!(nearest(&"a".repeat(100_000), known), None);
    }

    #[test]
    fn what_is_read_prints_back() {
        struct Late(f64);
        impl fmt::Display for Late {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_notation(f, "late", &[("cap", &self.0), ("lag", &"yes")])
            }
        }
        assert_eq!(Late(0.25).to_string(), "late:cap=0.25,lag=yes");
    }
}
