//! Numbers and hashes as in the trace: integers, floats like C's `%.4g`, 44-character base64
//! hashes. Appends bytes to a row; the usual path never allocates.

use std::io::Write as _;

use super::draw::{Draws, Stream};

/// Appends an integer.
pub(super) fn push_int(out: &mut Vec<u8>, value: u64) {
    let mut digits = [0_u8; 20];
    let mut first = digits.len();
    let mut rest = value;
    loop {
        first -= 1;
        digits[first] = b'0' + u8::try_from(rest % 10).expect("a digit");
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

/// Appends a time, which is never negative.
pub(super) fn push_time(out: &mut Vec<u8>, time: i64) {
    push_int(out, u64::try_from(time).expect("times of the trace are not negative"));
}

/// Appends a non-negative number as C's `%.4g` prints it, and returns the value that a reader gets
/// back. Every sum of the truth uses the returned value.
pub(super) fn push_float(out: &mut Vec<u8>, value: f64) -> f32 {
    let from = out.len();
    push_g4(out, value);
    let text = std::str::from_utf8(&out[from..]).expect("digits are ASCII");
    text.parse().expect("a printed number reads back")
}

/// Appends a non-negative number as C's `%.4g` prints it.
pub(super) fn push_g4(out: &mut Vec<u8>, value: f64) {
    debug_assert!(value.is_finite() && value >= 0.0, "the trace has no such number: {value}");
    if value == 0.0 {
        out.push(b'0');
        return;
    }
    let (digits, exponent) = four_digits(value).unwrap_or_else(|| four_digits_slowly(value));
    let mut text = [0_u8; 4];
    let mut rest = digits;
    for slot in text.iter_mut().rev() {
        *slot = b'0' + u8::try_from(rest % 10).expect("a digit");
        rest /= 10;
    }
    let used = 4 - text.iter().rev().take_while(|digit| **digit == b'0').count();
    let digits = &text[..used.max(1)];
    match exponent {
        -4..=-1 => {
            out.extend_from_slice(&b"0.000"[..usize::try_from(1 - exponent).expect("2 to 5")]);
            out.extend_from_slice(digits);
        }
        0..=3 => {
            let whole = usize::try_from(exponent).expect("0 to 3") + 1;
            out.extend_from_slice(&text[..whole]);
            if digits.len() > whole {
                out.push(b'.');
                out.extend_from_slice(&digits[whole..]);
            }
        }
        _ => {
            out.push(digits[0]);
            if digits.len() > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(out, "e{sign}{:02}", exponent.abs()).expect("a Vec takes everything");
        }
    }
}

/// The four leading digits and the decimal exponent; `None` if arithmetic in `f64` might round in
/// the wrong direction.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1,000 to 9,999")]
fn four_digits(value: f64) -> Option<(u32, i32)> {
    let exponent = value.log10().floor() as i32;
    if !(-20..=15).contains(&exponent) {
        return None;
    }
    let scaled = value * 10_f64.powi(3 - exponent);
    let fraction = scaled - scaled.floor();
    if !(1_000.0..9_999.0).contains(&scaled) || (fraction - 0.5).abs() < 1e-6 {
        return None;
    }
    Some((scaled.round() as u32, exponent))
}

/// The same, from the exact number formatting of the standard library.
fn four_digits_slowly(value: f64) -> (u32, i32) {
    let text = format!("{value:.3e}");
    let (mantissa, exponent) = text.split_once('e').expect("`e` format has an exponent");
    let digits = mantissa.replace('.', "").parse().expect("four digits");
    (digits, exponent.parse().expect("an integer"))
}

/// Returns hash number `number` of a kind: 32 random bytes in base64, like the trace's hashes.
pub(super) fn hash_text(seed: u64, stream: Stream, number: u64) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = [0_u8; 33];
    Draws::new(seed, stream, number).fill(&mut bytes[..32]);
    let mut text = String::with_capacity(44);
    for group in bytes.chunks_exact(3) {
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for shift in [18, 12, 6, 0] {
            let index = usize::try_from((bits >> shift) & 63).expect("6 bits");
            text.push(char::from(ALPHABET[index]));
        }
    }
    text.pop();
    text.push('=');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(value: f64) -> String {
        let mut out = Vec::new();
        push_g4(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn floats_print_like_c() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.5, "0.5"),
            (0.03125, "0.03125"),
            (0.015_625, "0.01562"),
            (0.0625, "0.0625"),
            (0.000_038_15, "3.815e-05"),
            (0.000_1, "0.0001"),
            (0.000_099_999, "0.0001"),
            (0.000_09, "9e-05"),
            (0.123_45, "0.1235"),
            (0.999_96, "1"),
            (2.445, "2.445"),
            (12.345_6, "12.35"),
            (9_999.4, "9999"),
            (9_999.6, "1e+04"),
            (123_456.0, "1.235e+05"),
            (1.25e-9, "1.25e-09"),
            (1e-100, "1e-100"),
            (100.0, "100"),
        ] {
            assert_eq!(printed(value), text, "{value:e}");
        }
    }

    #[test]
    fn the_fast_digits_agree_with_the_exact_printer() {
        let mut draws = Draws::new(3, Stream::Job, 0);
        for _ in 0..200_000 {
            let value = draws.lognormal(0.01, 4.0);
            if let Some(fast) = four_digits(value) {
                assert_eq!(fast, four_digits_slowly(value), "{value:e}");
            }
        }
    }

    #[test]
    fn integers_and_hashes_print() {
        let mut out = Vec::new();
        for value in [0, 7, 10, u64::MAX] {
            push_int(&mut out, value);
            out.push(b' ');
        }
        assert_eq!(out, b"0 7 10 18446744073709551615 ");
        let hash = hash_text(1, Stream::User, 0);
        assert!(hash.len() == 44 && hash.ends_with('=') && !hash.contains(','));
    }
}
