//! Which part of the months of a calendar a trace covers.

use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::sources::zone::Month;
use crate::studies::calendar::Calendar;
use crate::studies::load::span_of;
use crate::units::MICROS_PER_DAY;

/// The first and the last date of a log, and the time between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Covered {
    /// The dates of the first event and of the last instant of the window.
    pub dates: [String; 2],
    /// From the first event to the end of the window, µs.
    pub length_us: i64,
    /// Months with more than a day missing at the start or the end of the log.
    pub in_part: Vec<Month>,
}

/// What a log covers of its calendar.
pub fn covered(lake: &Lake, windows: Windows, calendar: &Calendar) -> Covered {
    let unix = |at_us: i64| at_us.saturating_add(calendar.begin_us);
    let [from_us, to_us] = span_of(lake, windows).map(unix);
    let zone = &calendar.zone;
    // The end itself does not belong to the window.
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
