//! Numbers for people: grouped by three, with at most six significant digits.
//!
//! In: numbers. Out: text for tables, notes and pages; files keep every digit.

/// Writes a number with its digits in groups of three: `2,012,242`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (idx, digit) in digits.chars().enumerate() {
        if 0 < idx && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 row`, `2,012 rows`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// The same for a number that may be negative.
pub fn grouped_signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

/// Six significant digits with grouped thousands; whole numbers in full, an exponent only for
/// extremes.
pub fn six_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..15.0).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    let decimals = if value.fract() == 0.0 { 0.0 } else { (5.0 - magnitude).max(0.0) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 9")]
    grouped_decimal(value, decimals as usize)
}

/// A number with three significant digits, or all digits before the decimal point: `4,071`, `27.2`,
/// `0.0123`.
pub fn three_digits(value: f64) -> String {
    some_digits(value, 3)
}

/// The same with four significant digits, for tables: `27.21`, `0.01234`.
pub fn four_digits(value: f64) -> String {
    some_digits(value, 4)
}

/// A number with `count` significant digits, or all digits before the decimal point.
fn some_digits(value: f64, count: u32) -> String {
    if value == 0.0 || !value.is_finite() {
        return six_digits(value);
    }
    let last = count.saturating_sub(1);
    let magnitude = value.abs().log10().floor();
    if !(-4.0..15.0).contains(&magnitude) {
        return format!("{value:.*e}", last as usize);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 7")]
    trimmed(grouped_decimal(value, (f64::from(last) - magnitude).max(0.0) as usize))
}

/// Six significant digits without trailing zeros.
pub fn figure_text(number: f64) -> String {
    trimmed(six_digits(number))
}

/// A number without trailing zeros.
fn trimmed(text: String) -> String {
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The unit in which people express a length of time, and its seconds.
pub fn unit_of_time(seconds: f64) -> (&'static str, f64) {
    match seconds.abs() {
        short if short < 120.0 => ("s", 1.0),
        short if short < 7200.0 => ("min", 60.0),
        long if long < 172_800.0 => ("h", 3600.0),
        _ => ("d", 86_400.0),
    }
}

/// CPU, GPU and memory times of at least this many seconds are shown in hours: an hour of one unit.
pub const HOURS_FROM_S: f64 = 3600.0;

/// The unit in which resource use of up to `top` is shown, and how many `unit` are one of it:
/// `NCU-h` and 3600 for `NCU-s`.
pub fn unit_of_use(unit: &str, top: f64) -> (String, f64) {
    match unit.strip_suffix("-s").filter(|_| HOURS_FROM_S <= top) {
        Some(resource) => (format!("{resource}-h"), 3600.0),
        None => (unit.to_owned(), 1.0),
    }
}

/// The unit of the amount in use at one time, for a unit of use over time: `processors` for
/// `processor-s`, `NCU` for `NCU-s`.
pub fn in_use(unit: &str) -> String {
    let plain = unit.trim_end_matches("-s");
    let has_plural = plain.starts_with(char::is_lowercase) || plain == "GPU";
    if has_plural { format!("{plain}s") } else { plain.to_owned() }
}

/// Whether an instant of the trace clock, in seconds, counts from 1970, so that its date is known.
/// Smaller values count from the start of the trace, because no trace lasts ten years.
pub fn is_date(seconds: f64) -> bool {
    315_360_000.0 <= seconds
}

/// An instant of the clock of a trace, in seconds: its date in UTC if it has one, or `2,506,200 s`.
pub fn instant(seconds: f64) -> String {
    if is_date(seconds) {
        #[expect(clippy::cast_possible_truncation, reason = "an instant of a trace")]
        #[expect(clippy::cast_sign_loss, reason = "after 1970")]
        let second = seconds as u64;
        format!("{} UTC", utc(second))
    } else {
        format!("{} s", six_digits(seconds))
    }
}

/// A time after the start of a trace: `25 d 21:30:05`, or `25 d 21:30` without the seconds. Times
/// before the start are shown as 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time of a trace")]
pub(crate) fn on_day(seconds: f64, with_seconds: bool) -> String {
    let whole = seconds.round() as u64;
    let [days, hours, minutes] = [whole / 86_400, whole / 3600 % 24, whole / 60 % 60];
    let rest = if with_seconds { format!(":{:02}", whole % 60) } else { String::new() };
    format!("{days} d {hours:02}:{minutes:02}{rest}")
}

/// A length of time with three digits: `45 s`, `12.5 min`, `3.4 h`, `29 d`.
pub fn lasting(seconds: f64) -> String {
    if 0.0 < seconds && seconds < 0.005 {
        return "under 0.01 s".to_owned();
    }
    let (unit, per) = unit_of_time(seconds);
    let amount = seconds / per;
    let decimals = match amount.abs() {
        large if 99.95 <= large => 0,
        large if 9.995 <= large => 1,
        _ => 2,
    };
    format!("{} {unit}", figure_text(format!("{amount:.decimals$}").parse().unwrap_or(amount)))
}

/// Lengths of time in one unit, that of the shortest, with three digits: `28.2 min` and `150 min`;
/// each in its own unit if the longest is much longer: `49.4 s` and `3.06 min`.
pub fn alike<const N: usize>(seconds: [f64; N]) -> [String; N] {
    let shortest = seconds.iter().copied().filter(|own| 0.0 < *own).fold(f64::INFINITY, f64::min);
    let (unit, per) = unit_of_time(if shortest.is_finite() { shortest } else { 0.0 });
    let most = if unit == "s" { 120.0 } else { 999.5 };
    if seconds.iter().any(|own| most <= own / per) {
        return seconds.map(lasting);
    }
    seconds.map(|seconds| format!("{} {unit}", three_digits(seconds / per)))
}

/// A number with the given number of decimals and grouped thousands: `15,308.95`.
pub fn grouped_decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let sign = if whole.starts_with('-') { "-" } else { "" };
    let whole = grouped(whole.trim_start_matches('-').parse().unwrap_or(u64::MAX));
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// The 64-bit number with the same shortest text as a 32-bit number: 0.2493 and not
/// 0.2493000030517578.
pub(crate) fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| f64::from(value))
}

/// Seconds since 1970 as a date and a time.
pub fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 0000-03-01, in years that begin in March (Hinnant, "chrono-compatible low-level
    // date algorithms").
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// The number in a cell; `None` for text. Digits after a leading zero are text, as in the event
/// sequence 014.
pub fn number_in(cell: &str) -> Option<f64> {
    let digits = cell.trim_start_matches('-').as_bytes();
    let is_text = matches!(digits, [b'0', b'0'..=b'9', ..]);
    if is_text { None } else { cell.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_sequences_are_text() {
        for (cell, expected) in [
            ("014", None),
            ("01", None),
            ("", None),
            ("x", None),
            ("0", Some(0.0)),
            ("-0.5", Some(-0.5)),
        ] {
            assert_eq!(number_in(cell), expected, "{cell}");
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(utc(1_795_412_345), "2026-11-23 05:39:05");
        assert_eq!(instant(1_795_412_345.5), "2026-11-23 05:39:05 UTC");
        assert_eq!(instant(2_506_200.0), "2,506,200 s");
    }

    #[test]
    fn numbers_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (2_012_242, "2,012,242")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn lengths_are_said_with_three_digits() {
        let said =
            [0.0, 0.0024, 0.126, 45.0, 119.9, 120.0, 750.0, 12_240.0, 165_600.0, 2_506_198.2];
        let said = said.map(lasting);
        let expected = [
            "0 s",
            "under 0.01 s",
            "0.13 s",
            "45 s",
            "120 s",
            "2 min",
            "12.5 min",
            "3.4 h",
            "46 h",
            "29 d",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn three_digits_are_enough_for_a_sentence() {
        for (value, text) in [
            (0.0, "0"),
            (4070.58, "4,071"),
            (27.2099, "27.2"),
            (1.000_59, "1"),
            (157.721, "158"),
            (0.012_34, "0.0123"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(three_digits(value), text);
        }
    }

    #[test]
    fn a_table_on_a_page_has_four_digits() {
        for (value, text) in [
            (49.4370, "49.44"),
            (0.000_278_414, "0.0002784"),
            (3600.25, "3,600"),
            (8.971_57e-6, "8.972e-6"),
        ] {
            assert_eq!(four_digits(value), text);
        }
    }

    #[test]
    fn six_digits_are_enough_for_a_table() {
        for (value, text) in [
            (0.0, "0"),
            (15_308.952, "15,309.0"),
            (-0.25, "-0.250000"),
            (-1234.5, "-1,234.50"),
            (1280.0, "1,280"),
            (2.818e10, "28,180,000,000"),
            (1e16, "1.00000e16"),
            (0.57372, "0.573720"),
            (1e-7, "1.00000e-7"),
        ] {
            assert_eq!(six_digits(value), text);
        }
    }
}
