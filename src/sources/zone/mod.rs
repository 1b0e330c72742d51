//! Time zones and dates: local times to microseconds since 1970, UTC.
//!
//! In: the name of a zone (`UTC`, `+01:00`, `Europe/Berlin`) and times as logs write them. Out:
//! microseconds. Named zones are read from the system's zone files (`TZif`, RFC 9636); no other
//! file is read. A clock that is set back shows an hour twice, and both instants are given. A time
//! that a clock skips has the offset from before the change.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

use crate::units::MICROS_PER_SECOND;

mod civil;
mod month;

use civil::{DAY_S, day_of_civil, days_in, is_leap};
pub(super) use civil::{civil_of_day, local_us};
pub use month::Month;

/// The folders of zone files.
const FOLDERS: [&str; 3] = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo"];

/// A time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: String,
    /// Offsets from UTC in seconds, each from a time on (seconds since 1970, UTC); ascending.
    offsets: Vec<(i64, i32)>,
    /// The rule after the last of them.
    rule: Option<Rule>,
}

/// The rule of a zone after its last recorded change: standard time and perhaps summer time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    standard_s: i32,
    summer: Option<(i32, Change, Change)>,
}

/// When the clock of a zone shows a time; seconds or microseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instant {
    /// At one instant.
    Once(i64),
    /// At two: the clock was set back in between.
    Twice(i64, i64),
    /// Never: the clock was set forward. The instant has the offset from before the change.
    Never(i64),
}

impl Instant {
    /// The first instant.
    pub(super) const fn first(self) -> i64 {
        match self {
            Self::Once(at) | Self::Never(at) | Self::Twice(at, _) => at,
        }
    }

    /// The second instant, if there are two.
    pub(super) const fn second(self) -> Option<i64> {
        match self {
            Self::Twice(_, second) => Some(second),
            Self::Once(_) | Self::Never(_) => None,
        }
    }

    /// The start and end that fit a run time best, if either has two instants. The span may be
    /// longer than the run time, because of suspensions, but not shorter.
    pub(super) fn fit(start: Self, end: Self, run: i64) -> (i64, i64) {
        let of = |instant: Self| [Some(instant.first()), instant.second()].into_iter().flatten();
        let pairs = of(start).flat_map(|start| of(end).map(move |end| (start, end)));
        let misfit = |&(start, end): &(i64, i64)| {
            let longer = end - start - run;
            (longer < 0, longer.abs())
        };
        pairs.min_by_key(misfit).unwrap_or((start.first(), end.first()))
    }

    fn map(self, of: impl Fn(i64) -> i64) -> Self {
        match self {
            Self::Once(at) => Self::Once(of(at)),
            Self::Twice(first, second) => Self::Twice(of(first), of(second)),
            Self::Never(at) => Self::Never(of(at)),
        }
    }
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
    fn instant_of(&self, local_s: i64) -> Instant {
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
    fn offset_at(&self, utc_s: i64) -> i32 {
        let later = self.offsets.partition_point(|&(from_s, _)| from_s <= utc_s);
        match (&self.rule, later) {
            (Some(rule), later) if later == self.offsets.len() => rule.offset_at(utc_s),
            (_, 0) => self.offsets.first().map_or(0, |&(_, offset)| offset),
            (_, later) => self.offsets[later - 1].1,
        }
    }

    /// Reads a zone file.
    fn of_file(name: &str, bytes: &[u8]) -> Option<Self> {
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
    fn read(text: &str) -> Option<Self> {
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

    fn offset_at(&self, utc_s: i64) -> i32 {
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

/// A time as a log writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    /// Microseconds since 1970, UTC.
    Utc(i64),
    /// The same, by the clock of a zone that the text does not name.
    Local(i64),
}

impl Stamp {
    /// Reads `2016-12-21T21:43:34`, perhaps with a blank for the `T`, a fraction or a zone (`Z`,
    /// `+01:00`).
    pub(super) fn iso(text: &[u8]) -> Option<Self> {
        let number = |from: usize, to: usize| -> Option<i64> {
            let digits = text.get(from..to)?;
            if !digits.iter().all(u8::is_ascii_digit) {
                return None;
            }
            Some(digits.iter().fold(0, |sum, &digit| sum * 10 + i64::from(digit - b'0')))
        };
        let is = |at: usize, wanted: &[u8]| text.get(at).is_some_and(|byte| wanted.contains(byte));
        if !is(4, b"-/") || !is(7, b"-/") {
            return None;
        }
        let date = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        if text.len() == 10 {
            return local_us(date, (0, 0, 0), 0).map(Self::Local);
        }
        if !is(10, b"T ") || !is(13, b":") {
            return None;
        }
        let has_seconds = is(16, b":");
        let second = if has_seconds { number(17, 19)? } else { 0 };
        let time = (number(11, 13)?, number(14, 16)?, second);
        let mut rest = text.get(if has_seconds { 19 } else { 16 }..)?;
        let mut micros = 0;
        if let [b'.' | b',', more @ ..] = rest {
            let count = more.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if count == 0 {
                return None;
            }
            for at in 0..6 {
                let digit = more[..count].get(at).map_or(0, |digit| digit - b'0');
                micros = micros * 10 + i64::from(digit);
            }
            rest = &more[count..];
        }
        let local = local_us(date, time, micros)?;
        match rest {
            [] => Some(Self::Local(local)),
            b"Z" | b"z" => Some(Self::Utc(local)),
            zone => {
                let offset = offset_of(zone.trim_ascii_start())?;
                Some(Self::Utc(local - i64::from(offset) * MICROS_PER_SECOND))
            }
        }
    }

    /// The time that the clock shows, µs since 1970 by that clock.
    pub(super) const fn clock_us(self) -> i64 {
        match self {
            Self::Utc(us) | Self::Local(us) => us,
        }
    }

    /// The instant, or two if it is ambiguous, microseconds since 1970, UTC.
    pub(super) fn instant_us(self, zone: &Zone) -> Instant {
        match self {
            Self::Utc(us) => Instant::Once(us),
            Self::Local(us) => {
                let (seconds, micros) =
                    (us.div_euclid(MICROS_PER_SECOND), us.rem_euclid(MICROS_PER_SECOND));
                zone.instant_of(seconds).map(|at| at * MICROS_PER_SECOND + micros)
            }
        }
    }
}

/// Reads an offset: `+01:00`, `+0100` or `+01`, in seconds.
fn offset_of(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let two = |pair: &[u8]| -> Option<i32> {
        let is_number = pair.len() == 2 && pair.iter().all(u8::is_ascii_digit);
        is_number.then(|| i32::from(pair[0] - b'0') * 10 + i32::from(pair[1] - b'0'))
    };
    let (hours, minutes) = match digits.len() {
        2 => (two(digits)?, 0),
        4 => (two(&digits[..2])?, two(&digits[2..])?),
        5 if digits[2] == b':' => (two(&digits[..2])?, two(&digits[3..])?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(text: &str, zone: &Zone) -> Option<i64> {
        Stamp::iso(text.as_bytes()).map(|stamp| stamp.instant_us(zone).first() / MICROS_PER_SECOND)
    }

    #[test]
    fn times_are_read_with_and_without_a_zone() {
        let zone: Zone = "+02:00".parse().unwrap();
        for (text, expected) in [
            ("1970-01-01T00:00:00", Some(-7200)),
            ("1970-01-01 02:00:00", Some(0)),
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2016-12-21T21:43:34+01:00", Some(1_482_353_014)),
            ("2016-12-21T20:43:34+0000", Some(1_482_353_014)),
            ("2016-12-21T21:43:34.999 +01", Some(1_482_353_014)),
            ("2016-12-21T21:43Z", Some(1_482_356_580)),
            ("2016/12/21", Some(1_482_271_200)),
            ("2024-02-30T00:00:00", None),
            ("2016-13-01T00:00:00", None),
            ("2016-12-21T25:00:00", None),
            ("2016-12-21T21:43:34+1", None),
            ("2016-12-21T21:43:34.", None),
            ("Unknown", None),
            ("", None),
        ] {
            assert_eq!(seconds(text, &zone), expected, "{text}");
        }
    }

    #[test]
    fn a_rule_changes_the_clock_twice_a_year() {
        // Computed with Python's zoneinfo.
        let berlin = Zone {
            name: String::new(),
            offsets: Vec::new(),
            rule: Rule::read("CET-1CEST,M3.5.0,M10.5.0/3"),
        };
        assert!(berlin.rule.is_some());
        for (text, expected) in [
            ("2023-01-15T12:00:00", 1_673_780_400),
            ("2023-07-15T12:00:00", 1_689_415_200),
            ("2023-03-26T01:59:59", 1_679_792_399),
            ("2023-03-26T03:00:00", 1_679_792_400),
            ("2023-10-29T02:30:00", 1_698_539_400),
            ("2023-10-29T03:00:00", 1_698_544_800),
        ] {
            assert_eq!(seconds(text, &berlin), Some(expected), "{text}");
        }
        for (text, expected) in [
            ("2023-10-29T02:30:00", Instant::Twice(1_698_539_400, 1_698_543_000)),
            ("2023-10-29T01:59:59", Instant::Once(1_698_537_599)),
            ("2023-10-29T03:00:00", Instant::Once(1_698_544_800)),
            ("2023-03-26T02:30:00", Instant::Never(1_679_794_200)),
        ] {
            let found = Stamp::iso(text.as_bytes()).unwrap().instant_us(&berlin);
            assert_eq!(found, expected.map(|at| at * MICROS_PER_SECOND), "{text}");
        }
        let sydney = Rule::read("AEST-10AEDT,M10.1.0,M4.1.0/3").unwrap();
        assert_eq!(sydney.offset_at(1_673_780_400), 39_600);
        assert_eq!(sydney.offset_at(1_689_415_200), 36_000);
        assert_eq!(Rule::read("<-03>3").unwrap().offset_at(0), -10_800);
        for odd in ["", "C", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M3.9.0,M10.5.0"] {
            assert_eq!(Rule::read(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_zone_of_the_system_is_read_from_its_file() {
        // Some systems have no zone files.
        let Ok(berlin) = "Europe/Berlin".parse::<Zone>() else {
            return;
        };
        for (text, expected) in [
            ("1999-07-01T00:00:00", 930_780_000),
            ("2023-03-26T03:00:00", 1_679_792_400),
            ("2050-07-01T00:00:00", 2_540_239_200),
        ] {
            assert_eq!(seconds(text, &berlin), Some(expected), "{text}");
        }
        assert!("Europe/Nowhere".parse::<Zone>().is_err());
    }

    #[test]
    fn a_name_leads_to_no_other_file() {
        for odd in ["", "/etc/passwd", "../passwd", "Europe/../../passwd", ".", "Europe", "+25:00"]
        {
            assert!(odd.parse::<Zone>().is_err(), "{odd}");
        }
    }

    proptest! {
        #[test]
        fn a_day_is_a_date_and_back(day in -700_000_i64..2_900_000) {
            let (year, month, date) = civil_of_day(day);
            prop_assert_eq!(day_of_civil(year, month, date), day);
            let (next_year, next_month, next_date) = civil_of_day(day + 1);
            let follows = (next_year, next_month, next_date) == (year, month, date + 1)
                || next_date == 1 && date == days_in(year, month);
            prop_assert!(follows);
        }

        #[test]
        fn no_bytes_make_a_zone_file_or_a_time_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let mut file = b"TZif2".to_vec();
            file.extend(&bytes);
            let _ = Zone::of_file("x", &file);
            let _ = Stamp::iso(&bytes);
            let _ = Rule::read(&String::from_utf8_lossy(&bytes));
        }
    }
}
