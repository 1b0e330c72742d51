//! The calendar of a log: dates and times of day in its zone.
//!
//! In: a lake, and a zone (by default the zone in the header of the log). Out: the Unix time of
//! time 0 of the trace, and the month and local time of any time of the trace.

use crate::lake::Lake;
use crate::schema::Table;
use crate::sources::zone::{Month, Zone};
use crate::units::MICROS_PER_SECOND;

/// If the time of the first event is at least this large, times count from 1970.
pub(super) const TWENTY_YEARS_US: i64 = 631_152_000 * MICROS_PER_SECOND;

/// The first second of the year 10000, UTC. Times from then on do not count as dates.
const YEAR_10000_S: i64 = 253_402_300_800;

/// The calendar of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// The time zone.
    pub zone: Zone,
    /// The zone that the log names, if this program does not know it. In that case UTC is used.
    pub unknown_zone: Option<String>,
    /// Whether the zone is known: it was given, or the header names it. Otherwise it is UTC.
    pub is_told: bool,
    /// Unix time at time 0 of the trace, µs.
    pub begin_us: i64,
}

impl Calendar {
    /// The calendar of a lake, in the given zone or that of its header; `None` if no date is known.
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
        let is_told = known.is_some();
        Some(Self { zone: known.unwrap_or_else(Zone::utc), unknown_zone, is_told, begin_us })
    }

    /// The month of a time of the trace.
    pub fn month_of(&self, time_us: i64) -> Month {
        self.zone.month_of(time_us.saturating_add(self.begin_us))
    }

    /// The time that the zone's clock shows, µs since 1 January 1970 on that clock.
    pub fn local_us(&self, time_us: i64) -> i64 {
        self.zone.local_us(time_us.saturating_add(self.begin_us))
    }

    /// Calls `each` for each month of a span of time, with the part of the span in it, µs.
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
