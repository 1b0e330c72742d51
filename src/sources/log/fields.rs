//! The fields of a line of a log.

use super::Fault;
use crate::sources::fields;
use crate::sources::reject::RejectReason;
use crate::units::MICROS_PER_SECOND;

/// Reads seconds, perhaps with a fraction, as µs, rounded half away from 0.
pub(super) fn micros(field: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match field {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, field),
    };
    let (whole, fraction) = match memchr::memchr(b'.', digits) {
        Some(at) => (&digits[..at], &digits[at + 1..]),
        None => (digits, &[][..]),
    };
    let is_plain = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    if whole.is_empty() && fraction.is_empty() || !is_plain(whole) || !is_plain(fraction) {
        return scientific(field);
    }
    let mut sum: i64 = 0;
    for digit in whole.iter().chain(fraction.iter().chain(std::iter::repeat(&b'0')).take(6)) {
        sum = sum.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
    }
    if fraction.get(6).is_some_and(|&digit| b'5' <= digit) {
        sum = sum.checked_add(1)?;
    }
    Some(if is_negative { -sum } else { sum })
}

/// Reads seconds with an exponent, such as `1.1E9`, as µs.
#[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
pub(super) fn scientific(field: &[u8]) -> Option<i64> {
    if !field.iter().any(|byte| matches!(byte, b'e' | b'E'))
        || !field.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
    {
        return None;
    }
    let seconds: f64 = std::str::from_utf8(field).ok()?.parse().ok()?;
    let micros = (seconds * 1e6).round();
    (micros.abs() < 9e18).then_some(micros as i64)
}

/// A span or time in seconds, as µs; -1 is missing, and other negative values are accepted.
pub(in crate::sources) fn any_micros(
    field: &[u8],
    column: &'static str,
) -> Result<Option<i64>, Fault> {
    match micros(field).ok_or((column, RejectReason::BadValue))? {
        value if value == -MICROS_PER_SECOND => Ok(None),
        value => Ok(Some(value)),
    }
}

/// The same, but other negative values are faults.
pub(in crate::sources) fn span_micros(
    field: &[u8],
    column: &'static str,
) -> Result<Option<i64>, Fault> {
    match any_micros(field, column)? {
        Some(value) if value < 0 => Err((column, RejectReason::NegativeTime)),
        value => Ok(value),
    }
}

/// A whole number; -1 is missing.
pub(in crate::sources) fn whole(field: &[u8], column: &'static str) -> Result<Option<i32>, Fault> {
    let bad = (column, RejectReason::BadValue);
    match micros(field).ok_or(bad)? {
        value if value == -MICROS_PER_SECOND => Ok(None),
        value if value < 0 || value % MICROS_PER_SECOND != 0 => Err(bad),
        value => i32::try_from(value / MICROS_PER_SECOND).map(Some).map_err(|_| bad),
    }
}

/// The status; -1 is missing.
pub(in crate::sources) fn status(field: &[u8]) -> Result<Option<i32>, Fault> {
    match whole(field, "status")? {
        Some(code) if 5 < code => Err(("status", RejectReason::UnknownEventType)),
        code => Ok(code),
    }
}

/// A quantity; -1 is missing.
pub(in crate::sources) fn quantity(
    field: &[u8],
    column: &'static str,
) -> Result<Option<f32>, Fault> {
    match fields::careful_f32(field) {
        Some(-1.0) => Ok(None),
        Some(value) if 0.0 <= value => Ok(Some(value)),
        _ => Err((column, RejectReason::BadValue)),
    }
}

/// A name; -1 and empty fields are missing.
pub(in crate::sources) fn name<'a>(
    field: &'a [u8],
    column: &'static str,
) -> Result<Option<&'a str>, Fault> {
    match fields::careful_text(field) {
        None => Err((column, RejectReason::BadValue)),
        Some("-1" | "") => Ok(None),
        Some(text) => Ok(Some(text)),
    }
}
