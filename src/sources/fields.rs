//! Reads numbers from text, fast and correctly rounded.
//!
//! In: bytes of a line and a position. Out: the value and the position after it, or `None`, in
//! which case the careful parsers at the end decide whether the field is bad. The quick parsers
//! never accept what the careful ones refuse, and never give another value; a property test
//! compares the two.
//!
//! The quick parsers load eight bytes at a time. They find the first byte that is not a digit with
//! bit tricks, and turn the digits before it into a number with three multiplications.

/// Bytes that must follow the last line of a block, so that a load of eight is always in bounds.
pub(crate) const PADDING: usize = 32;

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// 10^k, exact in an `f32` up to k = 10.
const F32_POWERS: [f32; 8] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];

/// 10^-k, each rounded to the nearest `f64`.
const INVERSE_POWERS: [f64; 23] = [
    1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14,
    1e-15, 1e-16, 1e-17, 1e-18, 1e-19, 1e-20, 1e-21, 1e-22,
];

/// Whole numbers up to this are exact in an `f64`.
const F64_EXACT_MAX: u64 = 1 << 53;

#[expect(clippy::inline_always, reason = "measured with quick_float")]
#[inline(always)]
fn load8(text: &[u8], at: usize) -> u64 {
    let bytes: [u8; 8] = text[at..at + 8].try_into().expect("a slice of eight bytes");
    u64::from_le_bytes(bytes)
}

/// Returns the number made of the leading digits of the eight bytes in `word`, and their count.
#[inline(always)]
fn leading_digits(word: u64) -> (u64, usize) {
    const LOW_7: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let digits = word ^ 0x3030_3030_3030_3030;
    // The high bit of a byte is set when the byte is above 9, with no carry between bytes.
    let others = (((digits & LOW_7) + 0x7676_7676_7676_7676) | digits) & !LOW_7;
    let count = (others.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // Leading zero bytes stand for leading zero digits.
    let digits = digits << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(0x000F_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00FF_0000_00FF).wrapping_mul(0x0000_2710_0000_0001);
    (low.wrapping_add(high) >> 32, count)
}

/// Reads up to 18 digits at `at`; `None` if there are none or more.
#[expect(clippy::inline_always, reason = "measured with quick_float")]
#[inline(always)]
pub(crate) fn quick_digits(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let (first, count) = leading_digits(load8(text, at));
    if count == 0 {
        return None;
    }
    if count < 8 {
        return Some((first, at + count));
    }
    let (second, count) = leading_digits(load8(text, at + 8));
    let value = first * POWERS[count] + second;
    if count < 8 {
        return Some((value, at + 8 + count));
    }
    let (third, count) = leading_digits(load8(text, at + 16));
    (count <= 2).then(|| (value * POWERS[count] + third, at + 16 + count))
}

/// Reads a number of few digits at `at`, perhaps with an exponent; `None` if a careful parser must
/// read it.
#[expect(clippy::inline_always, reason = "measured: a call per field costs a tenth of the parser")]
#[inline(always)]
pub(crate) fn quick_float(text: &[u8], at: usize) -> Option<(f32, usize)> {
    // Most amounts in a trace are below 1. With this guess, the next load need not wait for the
    // length of the integer part, which halves the time per field.
    if text[at] == b'0' && text[at + 1] == b'.' {
        let word = load8(text, at + 2);
        let (mantissa, count) = leading_digits(word);
        if count == 8 {
            return fraction_goes_on(text, mantissa, at + 10);
        }
        let after = (word >> (8 * count)) & 0xFF;
        if count == 0 || after == u64::from(b'e') {
            return None;
        }
        // At most seven digits: both operands are exact in `f32`, so one quotient rounds once.
        #[expect(clippy::cast_precision_loss, reason = "below 2^24")]
        return Some((mantissa as f32 / F32_POWERS[count], at + 2 + count));
    }
    let (whole, whole_count) = leading_digits(load8(text, at));
    // More digits may follow the eight; this is rare, and left to the careful parser.
    if whole_count == 0 || whole_count == 8 {
        return None;
    }
    let end = at + whole_count;
    if text[end] != b'.' {
        return with_exponent(text, whole, 0, end);
    }
    let (fraction, count) = leading_digits(load8(text, end + 1));
    if count == 0 || count == 8 {
        return None;
    }
    with_exponent(text, whole * POWERS[count] + fraction, count, end + 1 + count)
}

/// Continues after eight digits behind `0.`; `None` for more than eleven, so that the mantissa
/// stays small.
#[inline]
fn fraction_goes_on(text: &[u8], mantissa: u64, at: usize) -> Option<(f32, usize)> {
    let (more, count) = leading_digits(load8(text, at));
    if 3 < count {
        return None;
    }
    with_exponent(text, mantissa * POWERS[count] + more, 8 + count, at + count)
}

/// Reads an exponent such as `e-05` if there is one, and rounds.
#[expect(clippy::inline_always, reason = "measured with quick_float")]
#[inline(always)]
fn with_exponent(text: &[u8], mantissa: u64, scale: usize, end: usize) -> Option<(f32, usize)> {
    if text[end] != b'e' {
        return round_to_f32(mantissa, scale).map(|value| (value, end));
    }
    if text[end + 1] != b'-' {
        return None;
    }
    let (exponent, count) = leading_digits(load8(text, end + 2));
    if count == 0 || 2 < count {
        return None;
    }
    let scale = scale + usize::try_from(exponent).ok()?;
    round_to_f32(mantissa, scale).map(|value| (value, end + 2 + count))
}

/// Returns `mantissa` / 10^`scale`, rounded once to `f32`; `None` when that is not certain.
///
/// The mantissa is exact in `f64`. The inverse power and the product are each off by at most half a
/// unit in the last place, so the product is within two units of the true value. Rounding it to 24
/// bits can go wrong only in two cases: it is that close to half-way between two `f32`, or it is
/// below their normal range, which 10^-22 never reaches. (A product takes a quarter of the time of
/// a quotient.)
#[inline(always)]
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "argued above")]
fn round_to_f32(mantissa: u64, scale: usize) -> Option<f32> {
    const HALF_WAY: u64 = 1 << 28;
    const BELOW_F32: u64 = (1 << 29) - 1;
    const MARGIN: u64 = 4;
    if F64_EXACT_MAX < mantissa || INVERSE_POWERS.len() <= scale {
        return None;
    }
    let product = mantissa as f64 * INVERSE_POWERS[scale];
    let from_half_way = (product.to_bits() & BELOW_F32).abs_diff(HALF_WAY);
    (MARGIN < from_half_way).then_some(product as f32)
}

/// Parses a whole number with an optional minus sign; no spaces, no plus, no leading text.
pub(crate) fn careful_i64(field: &[u8]) -> Option<i64> {
    if field.first() == Some(&b'+') {
        return None;
    }
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// The result of parsing a time field.
pub(crate) enum CarefulTime {
    /// A usable time.
    Time(i64),
    /// A whole number below 0.
    Negative,
    /// Not a time.
    Bad,
}

/// Parses a time. A time above 2^63-1 (raw traces write 2^64-1) means after the window and gives
/// 2^63-1.
pub(crate) fn careful_time(field: &[u8]) -> CarefulTime {
    match careful_i64(field) {
        Some(time) if time < 0 => CarefulTime::Negative,
        Some(time) => CarefulTime::Time(time),
        None if field.first().is_some_and(u8::is_ascii_digit) => {
            match std::str::from_utf8(field).ok().and_then(|text| text.parse::<u64>().ok()) {
                Some(_) => CarefulTime::Time(i64::MAX),
                None => CarefulTime::Bad,
            }
        }
        None => CarefulTime::Bad,
    }
}

/// Parses a finite decimal number; no spaces, no plus, no words such as `inf` or `nan`.
pub(crate) fn careful_f32(field: &[u8]) -> Option<f32> {
    let is_decimal =
        field.first().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'))
            && field.iter().all(|byte| {
                byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
            });
    if !is_decimal {
        return None;
    }
    let value: f32 = std::str::from_utf8(field).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// The same as an `f64`; the number must also be finite as an `f32`.
pub(crate) fn careful_f64(field: &[u8]) -> Option<f64> {
    careful_f32(field)?;
    std::str::from_utf8(field).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Parses `0`, `1`, `true` or `false`.
pub(crate) fn careful_bool(field: &[u8]) -> Option<bool> {
    match field {
        b"0" | b"false" => Some(false),
        b"1" | b"true" => Some(true),
        _ => None,
    }
}

/// The longest name, bytes; a name is copied into every row that has it.
pub(crate) const NAME_MAX: usize = 4096;

/// Checks a name: UTF-8 without control characters, not too long.
pub(crate) fn careful_text(field: &[u8]) -> Option<&str> {
    if NAME_MAX < field.len() {
        return None;
    }
    let text = std::str::from_utf8(field).ok()?;
    (!field.iter().any(u8::is_ascii_control)).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn padded(field: &str) -> Vec<u8> {
        let mut text = field.as_bytes().to_vec();
        text.push(b',');
        text.resize(text.len() + PADDING, 0);
        text
    }

    fn check_float(field: &str) {
        if let Some((value, end)) = quick_float(&padded(field), 0)
            && end == field.len()
        {
            let careful = careful_f32(field.as_bytes()).expect("the careful parser takes it too");
            assert_eq!(value.to_bits(), careful.to_bits(), "{field}");
        }
    }

    #[test]
    fn quick_floats_of_the_trace_are_taken_and_right() {
        for field in ["0.001249", "3.815e-05", "0", "1", "2.336", "0.5", "8.583e-06", "0.000008583"]
        {
            assert!(quick_float(&padded(field), 0).is_some(), "{field}");
            check_float(field);
        }
    }

    #[test]
    fn a_half_way_case_takes_the_careful_way() {
        // 1 + 2^-24 is half-way between two f32.
        assert_eq!(round_to_f32(10_000_000_596_046_448, 16), None);
        check_float("1.000000059604644775390625");
        check_float("16777217");
    }

    #[test]
    fn every_four_digit_float_rounds_like_the_careful_parser() {
        for mantissa in 0..100_000_u32 {
            check_float(&format!("0.{mantissa:05}"));
            check_float(&format!("0.0{mantissa:05}"));
            check_float(&format!("{}.{:04}", mantissa / 10_000, mantissa % 10_000));
            check_float(&format!("{}.{:03}e-{:02}", mantissa % 10, mantissa % 1000, mantissa % 24));
        }
    }

    #[test]
    fn long_and_odd_times_are_distinguished() {
        assert!(matches!(careful_time(b"18446744073709551615"), CarefulTime::Time(i64::MAX)));
        assert!(matches!(careful_time(b"9223372036854775807"), CarefulTime::Time(i64::MAX)));
        assert!(matches!(careful_time(b"18446744073709551616"), CarefulTime::Bad));
        assert!(matches!(careful_time(b"-5"), CarefulTime::Negative));
        assert!(matches!(careful_time(b"+5"), CarefulTime::Bad));
        assert!(matches!(careful_time(b" 5"), CarefulTime::Bad));
        assert!(matches!(careful_time(b"1.0"), CarefulTime::Bad));
    }

    #[test]
    fn words_and_signs_are_no_floats() {
        for field in ["inf", "nan", "+1", " 1", "1 ", "1e400", "", "-", "1.2.3", "0x1"] {
            assert_eq!(careful_f32(field.as_bytes()), None, "{field}");
        }
        assert_eq!(careful_f32(b"-0.5"), Some(-0.5));
    }

    proptest! {
        #[test]
        fn quick_digits_agree_with_the_careful_parser(value in 0u64..=u64::MAX, cut in 1usize..20) {
            let text = value.to_string();
            let field = &text[..cut.min(text.len())];
            if let Some((quick, end)) = quick_digits(&padded(field), 0) {
                prop_assert_eq!(end, field.len());
                prop_assert_eq!(quick, field.parse::<u64>().unwrap());
            }
        }

        #[test]
        fn quick_floats_agree_with_the_careful_parser(field in "[0-9]{1,9}(\\.[0-9]{0,14})?(e-[0-9]{1,3})?") {
            check_float(&field);
        }

        #[test]
        fn quick_floats_of_any_f32_agree(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            if value.is_finite() {
                check_float(&format!("{value}"));
                check_float(&format!("{value:e}"));
            }
        }
    }
}
