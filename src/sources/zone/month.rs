//! Local times and calendar months of a zone.
//!
//! ```text
//!  UTC     ----------|23:00---------------|22:00 -----
//!  Berlin  February  | March              | April (summer)
//! ```

use std::fmt;

use super::Zone;
use super::civil::{DAY_S, civil_of_day, day_of_civil};
use crate::units::MICROS_PER_SECOND;

/// A month of a year; written `2016-12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month(i64);

impl Month {
    /// The next month.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// Months since January of the year 0.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// Months from `earlier` to this one, both included.
    pub const fn count_from(self, earlier: Self) -> i64 {
        self.0 - earlier.0 + 1
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.0.div_euclid(12), self.0.rem_euclid(12) + 1)
    }
}

impl Zone {
    /// The month that the zone's calendar shows at a time, µs since 1970, UTC.
    pub fn month_of(&self, unix_us: i64) -> Month {
        let utc_s = unix_us.div_euclid(MICROS_PER_SECOND);
        let local_s = utc_s.saturating_add(i64::from(self.offset_at(utc_s)));
        let (year, month, _) = civil_of_day(local_s.div_euclid(DAY_S));
        Month(year * 12 + month - 1)
    }

    /// What the zone's clock shows at a time (µs since 1970, UTC), as µs since 1970 on that clock.
    pub fn local_us(&self, unix_us: i64) -> i64 {
        let offset_s = self.offset_at(unix_us.div_euclid(MICROS_PER_SECOND));
        unix_us.saturating_add(i64::from(offset_s) * MICROS_PER_SECOND)
    }

    /// The date that the zone's calendar shows at a time, µs since 1970, UTC: `2016-12-21`.
    pub fn date_of(&self, unix_us: i64) -> String {
        let utc_s = unix_us.div_euclid(MICROS_PER_SECOND);
        let local_s = utc_s.saturating_add(i64::from(self.offset_at(utc_s)));
        let (year, month, day) = civil_of_day(local_s.div_euclid(DAY_S));
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// The first instant of a month, µs since 1970, UTC.
    pub fn month_start_us(&self, Month(month): Month) -> i64 {
        let day = day_of_civil(month.div_euclid(12), month.rem_euclid(12) + 1, 1);
        self.instant_of(day * DAY_S).first().saturating_mul(MICROS_PER_SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_at_midnight_of_the_zone() {
        let berlin: Zone = "Europe/Berlin".parse().expect("the system has zone files");
        // 2017-04-01 00:00 in Berlin is 2017-03-31 22:00 UTC.
        let april = 1_490_997_600 * MICROS_PER_SECOND;
        let of = |zone: &Zone, at: i64| zone.month_of(at).to_string();
        assert_eq!(of(&berlin, april), "2017-04");
        assert_eq!(of(&berlin, april - 1), "2017-03");
        assert_eq!(of(&Zone::utc(), april), "2017-03");
        assert_eq!(berlin.month_start_us(berlin.month_of(april)), april);
        assert_eq!(berlin.month_of(april).count_from(berlin.month_of(april - 1)), 2);
        assert_eq!(
            [berlin.date_of(april), Zone::utc().date_of(april)],
            ["2017-04-01", "2017-03-31"]
        );
    }

    #[test]
    fn every_month_is_between_its_start_and_the_next() {
        for zone in ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"] {
            let zone: Zone = zone.parse().expect("the system has zone files");
            let mut month = zone.month_of(-3_000_000_000 * MICROS_PER_SECOND);
            for _ in 0..2400 {
                let (from, to) = (zone.month_start_us(month), zone.month_start_us(month.next()));
                assert!(from < to);
                assert_eq!([zone.month_of(from), zone.month_of(to - 1)], [month; 2], "{zone}");
                month = month.next();
            }
        }
    }
}
