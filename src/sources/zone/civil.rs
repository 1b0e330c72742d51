//! Dates of the Gregorian calendar as days and microseconds since 1970, and back.

use crate::units::MICROS_PER_SECOND;

pub(super) const DAY_S: i64 = 86_400;

/// Whether a year has a 29th of February.
pub(super) const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of a month.
pub(super) const fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
///
/// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
pub(super) const fn day_of_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a number of days since 1970-01-01.
pub(in crate::sources) const fn civil_of_day(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, date)
}

/// Microseconds from 1970 to a date and time of the same clock; `None` if there is no such date.
pub(in crate::sources) fn local_us(
    (year, month, day): (i64, i64, i64),
    (hour, minute, second): (i64, i64, i64),
    micros: i64,
) -> Option<i64> {
    let is_date = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day);
    // A leap second counts as the second after it.
    if !is_date || 24 <= hour || 60 <= minute || 60 < second {
        return None;
    }
    let seconds = day_of_civil(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second;
    Some(seconds * MICROS_PER_SECOND + micros)
}
