//! Months of a calendar, and how much of each the trace covers.

use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;
use crate::sources::zone::{Month, Zone};
use crate::studies::load::arrivals::TWENTY_YEARS_US;
use crate::studies::load::span_of;
use crate::units::{MICROS_PER_DAY, MICROS_PER_SECOND};

/// The first second of the year 10000, UTC: later times do not count as dates.
const YEAR_10000_S: i64 = 253_402_300_800;

/// The calendar of a log.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// The time zone.
    pub zone: Zone,
    /// The zone named in the log if it is unknown; the zone is then UTC.
    pub unknown_zone: Option<String>,
    /// Unix time at time 0 of the trace, µs.
    pub begin_us: i64,
}

impl Calendar {
    /// The calendar of a lake, in a zone or that of its header; `None` if no date is known.
    pub fn of(lake: &Lake, zone: Option<&Zone>) -> Option<Self> {
        let names = ["timezone", "TimeZoneString"]
            .into_iter()
            .filter_map(|key| lake.header(key).next()?.split_whitespace().next());
        let known = zone.cloned().or_else(|| names.clone().find_map(|name| name.parse().ok()));
        let unknown_zone = names.clone().next().filter(|_| known.is_none()).map(str::to_owned);
        let told = lake.header("UnixStartTime").find_map(|text| text.trim().parse::<i64>().ok());
        let told_us = told.filter(|start| (1..YEAR_10000_S).contains(start));
        let begin_us = told_us.map(|start| start * MICROS_PER_SECOND).or_else(|| {
            let parts = &lake.manifest.table(Table::TaskEvents)?.parts;
            let first = parts.iter().filter_map(|part| part.min_time_us).min()?;
            let dates = TWENTY_YEARS_US..YEAR_10000_S * MICROS_PER_SECOND;
            dates.contains(&first).then_some(0)
        })?;
        Some(Self { zone: known.unwrap_or_else(Zone::utc), unknown_zone, begin_us })
    }

    /// The month of a time of the trace.
    pub fn month_of(&self, time_us: i64) -> Month {
        self.zone.month_of(time_us.saturating_add(self.begin_us))
    }

    /// Passes each month of a span of time to `each`, with the part in it, µs.
    pub(super) fn split(&self, [from_us, to_us]: [i64; 2], mut each: impl FnMut(Month, i64)) {
        let (mut month, mut from_us) = (self.month_of(from_us), from_us);
        loop {
            let end_us = self.zone.month_start_us(month.next()).saturating_sub(self.begin_us);
            each(month, to_us.min(end_us) - from_us);
            if to_us <= end_us {
                return;
            }
            (month, from_us) = (month.next(), end_us);
        }
    }
}

/// The first and the last date of a log, and the time between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Covered {
    /// The dates of the first event and of the last instant of the window.
    pub dates: [String; 2],
    /// From the first event to the end of the window, µs.
    pub length_us: i64,
    /// Months of which more than a day is missing at the start or the end.
    pub in_part: Vec<Month>,
}

/// What a log covers of its calendar.
pub fn covered(lake: &Lake, windows: Windows, calendar: &Calendar) -> Covered {
    let unix = |at_us: i64| at_us.saturating_add(calendar.begin_us);
    let [from_us, to_us] = span_of(lake, windows).map(unix);
    let zone = &calendar.zone;
    // The end is not part of the window.
    let last_us = to_us.saturating_sub(1).max(from_us);
    let [first, last] = [from_us, last_us].map(|at_us| zone.month_of(at_us));
    let is_late = MICROS_PER_DAY < from_us.saturating_sub(zone.month_start_us(first));
    let is_early = MICROS_PER_DAY < zone.month_start_us(last.next()).saturating_sub(to_us);
    let mut in_part: Vec<Month> = [(first, is_late), (last, is_early)]
        .into_iter()
        .filter(|own| own.1)
        .map(|own| own.0)
        .collect();
    in_part.dedup();
    Covered {
        dates: [from_us, last_us].map(|at_us| zone.date_of(at_us)),
        length_us: to_us.saturating_sub(from_us),
        in_part,
    }
}

/// Number of months from the first event to the end of the window.
pub fn month_count(lake: &Lake, windows: Windows, calendar: &Calendar) -> i64 {
    let [from_us, to_us] = span_of(lake, windows);
    calendar.month_of(to_us).count_from(calendar.month_of(from_us))
}
