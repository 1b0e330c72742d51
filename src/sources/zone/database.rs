//! Time zones of the system's database.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

use super::civil::{DAY_S, civil_of_day, day_of_civil, days_in, is_leap};
use super::instant::{Instant, offset_of};

/// The folders of zone files.
const FOLDERS: [&str; 3] = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo"];

/// A time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    pub(super) name: String,
    /// Offsets from UTC in seconds, each from a time on (seconds since 1970, UTC); ascending.
    pub(super) offsets: Vec<(i64, i32)>,
    /// The rule after the last of them.
    pub(super) rule: Option<Rule>,
}

/// The rule of a zone after its last recorded change: standard time and perhaps summer time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    standard_s: i32,
    summer: Option<(i32, Change, Change)>,
}

/// When the clock changes: a day of the year and the second of that day, by the clock before the
/// change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    day: Day,
    second: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Day {
    /// Month, week (5 is the last) and day of the week (0 is Sunday).
    Weekday(i64, i64, i64),
    /// Day of the year from 1, without 29 February.
    Julian(i64),
    /// Day of the year from 0.
    Zero(i64),
}

/// A name that is not a time zone.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not a time zone: give `UTC`, an offset such as `+01:00`, or a name that this system \
     knows, such as `Europe/Berlin`"
)]
pub struct ZoneError(String);

impl Zone {
    /// Coordinated universal time.
    pub fn utc() -> Self {
        Self::fixed("UTC", 0)
    }

    fn fixed(name: &str, offset_s: i32) -> Self {
        let rule = Some(Rule { standard_s: offset_s, summer: None });
        Self { name: name.to_owned(), offsets: Vec::new(), rule }
    }

    /// When the clock of the zone shows `local_s` (seconds since 1970 by that clock).
    pub(super) fn instant_of(&self, local_s: i64) -> Instant {
        // Offsets are less than a day: only those a day before and a day after can apply.
        let (early, late) = (self.offset_at(local_s - DAY_S), self.offset_at(local_s + DAY_S));
        let of = |offset: i32| {
            let utc = local_s - i64::from(offset);
            (self.offset_at(utc) == offset).then_some(utc)
        };
        match (of(early), of(late).filter(|_| early != late)) {
            (Some(first), Some(second)) => Instant::Twice(first, second),
            (Some(only), None) | (None, Some(only)) => Instant::Once(only),
            (None, None) => Instant::Never(local_s - i64::from(early)),
        }
    }

    /// Seconds by which the clock is ahead of UTC at a time.
    pub(super) fn offset_at(&self, utc_s: i64) -> i32 {
        let later = self.offsets.partition_point(|&(from_s, _)| from_s <= utc_s);
        match (&self.rule, later) {
            (Some(rule), later) if later == self.offsets.len() => rule.offset_at(utc_s),
            (_, 0) => self.offsets.first().map_or(0, |&(_, offset)| offset),
            (_, later) => self.offsets[later - 1].1,
        }
    }

    /// Reads a zone file.
    pub(super) fn of_file(name: &str, bytes: &[u8]) -> Option<Self> {
        let first = Header::read(bytes)?;
        // The second half holds 64-bit times; files of version 1 have none.
        let (header, body, width) = if bytes.get(4) == Some(&0) {
            (first, bytes.get(Header::SIZE..)?, 4)
        } else {
            let rest = bytes.get(Header::SIZE + first.body(4)..)?;
            (Header::read(rest)?, rest.get(Header::SIZE..)?, 8)
        };
        let times = body.get(..header.times * width)?;
        let kinds = body.get(header.times * width..)?.get(..header.times)?;
        let types = body.get(header.times * (width + 1)..)?.get(..header.types * 6)?;
        let offset_of = |kind: usize| -> Option<i32> {
            Some(i32::from_be_bytes(types.get(kind * 6..)?.get(..4)?.try_into().ok()?))
        };
        let mut offsets = vec![(i64::MIN, offset_of(0)?)];
        for (time, &kind) in times.chunks_exact(width).zip(kinds) {
            let at = if width == 4 {
                i64::from(i32::from_be_bytes(time.try_into().ok()?))
            } else {
                i64::from_be_bytes(time.try_into().ok()?)
            };
            offsets.push((at, offset_of(usize::from(kind))?));
        }
        let footer = body.get(header.body(width)..).unwrap_or_default();
        let footer = std::str::from_utf8(footer).ok()?.trim();
        let rule = if width == 8 && !footer.is_empty() { Some(Rule::read(footer)?) } else { None };
        Some(Self { name: name.to_owned(), offsets, rule })
    }
}

impl FromStr for Zone {
    type Err = ZoneError;

    fn from_str(name: &str) -> Result<Self, ZoneError> {
        if matches!(name, "UTC" | "Z" | "GMT") {
            return Ok(Self::utc());
        }
        if let Some(offset) = offset_of(name.as_bytes()) {
            return Ok(Self::fixed(name, offset));
        }
        let bad = || ZoneError(name.to_owned());
        let is_plain = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+-".contains(&byte))
        };
        if !name.split('/').all(is_plain) {
            return Err(bad());
        }
        let paths = FOLDERS.iter().map(|folder| Path::new(folder).join(name));
        let bytes =
            paths.filter(|path: &PathBuf| path.is_file()).find_map(|path| std::fs::read(path).ok());
        bytes.and_then(|bytes| Self::of_file(name, &bytes)).ok_or_else(bad)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The counts in the header of a half of a zone file.
struct Header {
    utc_marks: usize,
    standard_marks: usize,
    leaps: usize,
    times: usize,
    types: usize,
    letters: usize,
}

impl Header {
    const SIZE: usize = 44;

    fn read(bytes: &[u8]) -> Option<Self> {
        if !bytes.starts_with(b"TZif") {
            return None;
        }
        let count = |idx: usize| -> Option<usize> {
            let raw = bytes.get(20 + 4 * idx..)?.get(..4)?.try_into().ok()?;
            usize::try_from(u32::from_be_bytes(raw)).ok().filter(|&count| count < 1 << 20)
        };
        Some(Self {
            utc_marks: count(0)?,
            standard_marks: count(1)?,
            leaps: count(2)?,
            times: count(3)?,
            types: count(4)?,
            letters: count(5)?,
        })
    }

    /// Bytes after the header, with times of `width` bytes.
    const fn body(&self, width: usize) -> usize {
        self.times * (width + 1)
            + self.types * 6
            + self.letters
            + self.leaps * (width + 4)
            + self.standard_marks
            + self.utc_marks
    }
}

impl Rule {
    /// Reads a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (zone, changes) = match text.split_once(',') {
            Some((zone, changes)) => (zone, Some(changes)),
            None => (text, None),
        };
        let rest = without_name(zone)?;
        let (west, rest) = span_s(rest)?;
        let standard_s = i32::try_from(-west).ok()?;
        if rest.is_empty() {
            return Some(Self { standard_s, summer: None });
        }
        let rest = without_name(rest)?;
        let summer_s = if rest.is_empty() {
            standard_s + 3600
        } else {
            i32::try_from(-span_s(rest).filter(|(_, rest)| rest.is_empty())?.0).ok()?
        };
        let (begin, end) = changes?.split_once(',')?;
        Some(Self {
            standard_s,
            summer: Some((summer_s, Change::read(begin)?, Change::read(end)?)),
        })
    }

    pub(super) fn offset_at(&self, utc_s: i64) -> i32 {
        let Some((summer_s, begin, end)) = &self.summer else { return self.standard_s };
        let local_s = utc_s + i64::from(self.standard_s);
        let (year, _, _) = civil_of_day(local_s.div_euclid(DAY_S));
        let begin = begin.local_s(year) - i64::from(self.standard_s);
        let end = end.local_s(year) - i64::from(*summer_s);
        let is_summer = if begin < end {
            (begin..end).contains(&utc_s)
        } else {
            !(end..begin).contains(&utc_s)
        };
        if is_summer { *summer_s } else { self.standard_s }
    }
}

impl Change {
    /// Reads `M3.5.0/2`, `J60` or `59/3:00`.
    fn read(text: &str) -> Option<Self> {
        let (day, time) = text.split_once('/').unwrap_or((text, "2"));
        let (second, rest) = span_s(time)?;
        if !rest.is_empty() {
            return None;
        }
        let day = if let Some(rest) = day.strip_prefix('M') {
            let mut numbers = rest.split('.').map(|part| part.parse::<i64>().ok());
            let (month, week, weekday) = (numbers.next()??, numbers.next()??, numbers.next()??);
            let is_one = (1..=12).contains(&month) && (1..=5).contains(&week) && weekday < 7;
            Some(Day::Weekday(month, week, weekday)).filter(|_| is_one && 0 <= weekday)?
        } else if let Some(rest) = day.strip_prefix('J') {
            Day::Julian(rest.parse().ok().filter(|day| (1..=365).contains(day))?)
        } else {
            Day::Zero(day.parse().ok().filter(|day| (0..=365).contains(day))?)
        };
        Some(Self { day, second })
    }

    /// Its time in a year, s since 1970 by the clock before it.
    fn local_s(self, year: i64) -> i64 {
        let day = match self.day {
            Day::Weekday(month, week, weekday) => {
                let first = day_of_civil(year, month, 1);
                // 1 January 1970 was a Thursday.
                let first_weekday = (first + 4).rem_euclid(7);
                let mut day = first + (weekday - first_weekday).rem_euclid(7) + 7 * (week - 1);
                if first + days_in(year, month) <= day {
                    day -= 7;
                }
                day
            }
            Day::Julian(number) => {
                let is_after = 59 < number && is_leap(year);
                day_of_civil(year, 1, 1) + number - 1 + i64::from(is_after)
            }
            Day::Zero(number) => day_of_civil(year, 1, 1) + number,
        };
        day * DAY_S + self.second
    }
}

/// What follows the name of a zone in a rule.
fn without_name(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('<') {
        return rest.split_once('>').map(|(_, rest)| rest);
    }
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    (3 <= text.len() - rest.len()).then_some(rest)
}

/// `[+-]H[:MM[:SS]]` in seconds, and what follows it.
fn span_s(text: &str) -> Option<(i64, &str)> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != ':');
    let (digits, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let mut sum = 0;
    for (part, unit) in digits.split(':').zip([3600, 60, 1]) {
        sum += part.parse::<i64>().ok().filter(|part| *part < 1000)? * unit;
    }
    Some((sign * sum, rest))
}
