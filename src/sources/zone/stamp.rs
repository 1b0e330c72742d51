//! Time stamps, with and without a zone.

use super::civil::local_us;
use super::database::Zone;
use super::instant::{Instant, offset_of};
use crate::units::MICROS_PER_SECOND;

/// A time as a log writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sources) enum Stamp {
    /// Microseconds since 1970, UTC.
    Utc(i64),
    /// The same, by the clock of a zone that the text does not name.
    Local(i64),
}

impl Stamp {
    /// Reads `2016-12-21T21:43:34`, perhaps with a blank for the `T`, a fraction or a zone (`Z`,
    /// `+01:00`).
    pub(in crate::sources) fn iso(text: &[u8]) -> Option<Self> {
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
    pub(in crate::sources) const fn clock_us(self) -> i64 {
        match self {
            Self::Utc(us) | Self::Local(us) => us,
        }
    }

    /// The instant, or two if it is ambiguous, microseconds since 1970, UTC.
    pub(in crate::sources) fn instant_us(self, zone: &Zone) -> Instant {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::civil::{civil_of_day, day_of_civil, days_in};
    use super::super::database::Rule;
    use super::super::stamp::*;

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
