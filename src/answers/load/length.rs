//! Lengths of time, as they are written on the command line: `300`, `90s`, `5m`, `1h`, `1d`.
//!
//! In: text. Out: microseconds above 0. They are written back in the largest unit that gives a
//! whole number.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::digits;
use crate::units::{MICROS_PER_SECOND, micros_to_seconds, parse_micros};

/// A length of time with its unit: `300`, `90s`, `5m`, `1h`, `1d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Length(i64);

/// Units of a length of time and their microseconds, the longest first.
const UNITS: [(char, i64); 4] = [
    ('d', 86_400 * MICROS_PER_SECOND),
    ('h', 3600 * MICROS_PER_SECOND),
    ('m', 60 * MICROS_PER_SECOND),
    ('s', MICROS_PER_SECOND),
];

impl Length {
    /// A length in seconds.
    pub const fn seconds(seconds: i64) -> Self {
        Self(seconds * MICROS_PER_SECOND)
    }

    /// The length times `count`.
    pub(super) const fn times(self, count: i64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// The length, µs.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// `12 hours`, `an hour`, `1.5 s`: the largest unit that gives a whole number.
    pub(super) fn words(self) -> String {
        let names = ["day", "hour", "minute", "second"];
        let unit = UNITS.iter().zip(names).find(|((_, micros), _)| self.0 % micros == 0);
        match unit {
            Some(((_, micros), name)) if self.0 == *micros => {
                format!("{} {name}", if name == "hour" { "an" } else { "a" })
            }
            Some(((_, micros), name)) => digits::counted((self.0 / micros).unsigned_abs(), name),
            None => format!("{} s", micros_to_seconds(self.0)),
        }
    }
}

/// An error: the text is not a length of time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a length of time above 0, such as 300, 90s, 5m, 1h or 1d")]
pub struct LengthError(String);

impl FromStr for Length {
    type Err = LengthError;

    fn from_str(text: &str) -> Result<Self, LengthError> {
        let bad = || LengthError(text.to_owned());
        let unit = UNITS.iter().find(|unit| text.ends_with(unit.0));
        let number = text.strip_suffix(|last| unit.is_some_and(|unit| unit.0 == last));
        let micros = parse_micros(number.unwrap_or(text)).map_err(|_| bad())?;
        let times = unit.map_or(1, |unit| unit.1 / MICROS_PER_SECOND);
        let length = micros.checked_mul(times).filter(|&length| 0 < length).ok_or_else(bad)?;
        Ok(Self(length))
    }
}

impl TryFrom<String> for Length {
    type Error = LengthError;

    fn try_from(text: String) -> Result<Self, LengthError> {
        text.parse()
    }
}

impl From<Length> for String {
    fn from(length: Length) -> Self {
        length.to_string()
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|unit| self.0 % unit.1 == 0) {
            Some((unit, micros)) => write!(f, "{}{unit}", self.0 / micros),
            None => write!(f, "{}s", micros_to_seconds(self.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_print_back() {
        for (text, printed) in [
            ("5m", "5m"),
            ("300", "5m"),
            ("90s", "90s"),
            ("1h", "1h"),
            ("24h", "1d"),
            ("0.5", "0.5s"),
        ] {
            assert_eq!(text.parse::<Length>().unwrap().to_string(), printed);
        }
        for (text, words) in [
            ("5m", "5 minutes"),
            ("60", "a minute"),
            ("12h", "12 hours"),
            ("1h", "an hour"),
            ("90", "90 seconds"),
            ("0.5", "0.5 s"),
        ] {
            assert_eq!(text.parse::<Length>().unwrap().words(), words);
        }
        for text in ["", "m", "0", "0h", "-5m", "5 m", "5w", "1e3", "99999999999999d"] {
            assert!(text.parse::<Length>().is_err(), "{text}");
        }
    }
}
