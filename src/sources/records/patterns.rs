//! Reads the times and numbers of tables.
//!
//! In: a cell, and the pattern, unit and decimal sign that the map gives for its column. Out: whole
//! microseconds, or an amount. Nothing is guessed: a cell that does not fit gives no value.

use std::borrow::Cow;

use super::super::zone::{Stamp, local_us};
use crate::units::MICROS_PER_SECOND;

/// A pattern such as `%d.%m.%Y %H:%M`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sources) struct Pattern(Vec<Piece>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Field(u8),
    Literal(u8),
    Blank,
}

/// The letters of a pattern, for messages.
pub(in crate::sources) const LETTERS: &str = "%Y %m %d %y %b %H %I %p %M %S %f %z %F %T %%";

/// The first letters of months, in English and German.
const MONTHS: [[&str; 2]; 12] = [
    ["jan", "jän"],
    ["feb", "feb"],
    ["mar", "mär"],
    ["apr", "apr"],
    ["may", "mai"],
    ["jun", "jun"],
    ["jul", "jul"],
    ["aug", "aug"],
    ["sep", "sep"],
    ["oct", "okt"],
    ["nov", "nov"],
    ["dec", "dez"],
];

impl Pattern {
    /// Reads a pattern, or returns what is wrong with it.
    pub(in crate::sources) fn read(text: &str) -> Result<Self, String> {
        let pieces = Self::pieces(text)?;
        let has = |letters: &[u8]| {
            pieces
                .iter()
                .any(|piece| matches!(piece, Piece::Field(field) if letters.contains(field)))
        };
        if !has(b"Yy") || !has(b"mb") || !has(b"d") {
            return Err("it names no year, month and day".to_owned());
        }
        Ok(Self(pieces))
    }

    fn pieces(text: &str) -> Result<Vec<Piece>, String> {
        let mut pieces = Vec::new();
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            match byte {
                b'%' => match bytes.next() {
                    Some(b'F') => pieces.extend(Self::pieces("%Y-%m-%d")?),
                    Some(b'T') => pieces.extend(Self::pieces("%H:%M:%S")?),
                    Some(b'%') => pieces.push(Piece::Literal(b'%')),
                    Some(letter) if b"YmdybHIpMSfz".contains(&letter) => {
                        pieces.push(Piece::Field(letter));
                    }
                    Some(letter) => {
                        let letter = char::from(letter);
                        return Err(format!("`%{letter}` is not known (known: {LETTERS})"));
                    }
                    None => return Err("it ends with a `%`".to_owned()),
                },
                b' ' => pieces.push(Piece::Blank),
                _ => pieces.push(Piece::Literal(byte)),
            }
        }
        Ok(pieces)
    }

    /// Reads a time.
    pub(in crate::sources) fn stamp(&self, text: &[u8]) -> Option<Stamp> {
        let mut rest = text;
        let (mut date, mut time) = ([1970, 1, 1], [0, 0, 0]);
        let (mut micros, mut offset, mut afternoon) = (0, None, None);
        for piece in &self.0 {
            match piece {
                Piece::Literal(byte) => rest = rest.strip_prefix(&[*byte])?,
                Piece::Blank => rest = rest.trim_ascii_start(),
                Piece::Field(b'Y') => date[0] = number(&mut rest, 4, 4)?,
                Piece::Field(b'y') => date[0] = 2000 + number(&mut rest, 2, 2)?,
                Piece::Field(b'm') => date[1] = number(&mut rest, 1, 2)?,
                Piece::Field(b'b') => date[1] = month(&mut rest)?,
                Piece::Field(b'd') => date[2] = number(&mut rest, 1, 2)?,
                Piece::Field(b'H' | b'I') => time[0] = number(&mut rest, 1, 2)?,
                Piece::Field(b'M') => time[1] = number(&mut rest, 2, 2)?,
                Piece::Field(b'S') => time[2] = number(&mut rest, 2, 2)?,
                Piece::Field(b'f') => micros = fraction(&mut rest)?,
                Piece::Field(b'p') => {
                    let (half, after) = rest.split_at_checked(2)?;
                    afternoon = Some(match half.to_ascii_lowercase()[..] {
                        [b'a', b'm'] => false,
                        [b'p', b'm'] => true,
                        _ => return None,
                    });
                    rest = after;
                }
                Piece::Field(_) => {
                    offset = Some(zone_offset(rest)?);
                    rest = &[];
                }
            }
        }
        if !rest.is_empty() {
            return None;
        }
        if let Some(afternoon) = afternoon {
            time[0] = time[0] % 12 + if afternoon { 12 } else { 0 };
        }
        let local = local_us((date[0], date[1], date[2]), (time[0], time[1], time[2]), micros)?;
        Some(match offset {
            Some(offset) => Stamp::Utc(local - offset * MICROS_PER_SECOND),
            None => Stamp::Local(local),
        })
    }
}

/// Takes a number of `least` to `most` digits.
fn number(rest: &mut &[u8], least: usize, most: usize) -> Option<i64> {
    let count = rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if count < least {
        return None;
    }
    let (digits, after) = rest.split_at(count);
    *rest = after;
    Some(digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// Takes the digits of a fraction of a second, as µs.
fn fraction(rest: &mut &[u8]) -> Option<i64> {
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, after) = rest.split_at(count);
    *rest = after;
    let digit = |at: usize| digits.get(at).map_or(0, |digit| i64::from(digit - b'0'));
    (0 < count).then(|| (0..6).fold(0, |sum, at| sum * 10 + digit(at)))
}

/// Takes the name of a month and returns its number. Only its first three letters count.
fn month(rest: &mut &[u8]) -> Option<i64> {
    let count = rest.iter().take_while(|byte| byte.is_ascii_alphabetic() || 128 <= **byte).count();
    let (name, after) = rest.split_at(count);
    let name = std::str::from_utf8(name).ok()?.to_lowercase();
    *rest = after;
    let idx = MONTHS.iter().position(|names| names.iter().any(|known| name.starts_with(known)))?;
    i64::try_from(idx + 1).ok()
}

/// The offset from UTC in `+01:00` or `Z`, s.
fn zone_offset(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    // Offsets are read as in ISO 8601 times everywhere else.
    match Stamp::iso(format!("2000-01-01T00:00:00{}", text.trim()).as_bytes())? {
        Stamp::Utc(at) => {
            Some(local_us((2000, 1, 1), (0, 0, 0), 0)?.checked_sub(at)? / MICROS_PER_SECOND)
        }
        Stamp::Local(_) => None,
    }
}

/// A number times `unit`, rounded half away from 0. With `comma`, a comma begins the decimals, and
/// points that group digits are ignored.
pub(in crate::sources) fn scaled(text: &[u8], unit: i64, comma: bool) -> Option<i64> {
    let text = plain(text, comma)?;
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, &text[..]),
    };
    if digits.contains(['e', 'E']) {
        let value: f64 = text.parse().ok()?;
        #[expect(clippy::cast_precision_loss, reason = "units are below 2^53")]
        let whole = (value * unit as f64).round();
        #[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
        return (whole.abs() < 9.2e18).then_some(whole as i64);
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = &fraction[..fraction.len().min(15)];
    if whole.len() > 19 {
        return None;
    }
    let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: i128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    // With many digits and decimals it may not fit.
    let product = (whole * scale + part).checked_mul(i128::from(unit))?;
    i64::try_from(sign * (product.checked_add(scale / 2)? / scale)).ok()
}

/// A number from 0 up.
pub(in crate::sources) fn amount(text: &[u8], comma: bool) -> Option<f64> {
    plain(text, comma)?.parse().ok().filter(|value: &f64| value.is_finite() && 0.0 <= *value)
}

/// A decimal number with a point for the decimals, perhaps with an exponent.
fn plain(text: &[u8], comma: bool) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(text).ok()?;
    let text = if comma {
        Cow::Owned(text.replace('.', "").replace(',', "."))
    } else {
        Cow::Borrowed(text)
    };
    let is_decimal = text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"-+.eE".contains(&byte))
        && !text.starts_with('+')
        && text.matches('.').count() < 2;
    is_decimal.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(pattern: &str, text: &str) -> Option<Stamp> {
        Pattern::read(pattern).unwrap().stamp(text.as_bytes())
    }

    #[test]
    fn times_are_read_by_their_pattern() {
        // 2024-03-05 06:07:08 by its clock.
        let expected = Stamp::Local(1_709_618_828_000_000);
        for (pattern, text) in [
            ("%d.%m.%Y %H:%M:%S", "05.03.2024 06:07:08"),
            ("%d.%m.%y %T", "5.3.24   6:07:08"),
            ("%m/%d/%Y %I:%M:%S %p", "3/5/2024 06:07:08 AM"),
            ("%F %T", "2024-03-05 06:07:08"),
            ("%d. %b %Y, %H:%M:%S", "5. März 2024, 06:07:08"),
            ("%b %d %Y %H:%M:%S", "Mar 05 2024 06:07:08"),
            ("%Y%m%d%H%M%S", "20240305060708"),
        ] {
            assert_eq!(at(pattern, text), Some(expected), "{pattern} {text}");
        }
        assert_eq!(
            at("%F %T %z", "2024-03-05 07:07:08 +0100"),
            Some(Stamp::Utc(1_709_618_828_000_000))
        );
        assert_eq!(
            at("%F %T.%f", "2024-03-05 06:07:08.25"),
            Some(Stamp::Local(1_709_618_828_250_000))
        );
        assert_eq!(at("%F %I %p", "2024-03-05 12 pm"), at("%F %H", "2024-03-05 12"));
        for (pattern, text) in [
            ("%d.%m.%Y %H:%M", "05.03.2024 06:07:08"),
            ("%d.%m.%Y", "31.02.2024"),
            ("%d.%m.%Y", "2024-03-05"),
            ("%d.%m.%Y", ""),
        ] {
            assert_eq!(at(pattern, text), None, "{pattern} {text}");
        }
        for (pattern, problem) in [
            ("%d.%m.%Y %Q", "`%Q` is not known"),
            ("%H:%M", "it names no year"),
            ("%d.%m.%Y %", "it ends with a `%`"),
        ] {
            assert!(Pattern::read(pattern).unwrap_err().starts_with(problem), "{pattern}");
        }
    }

    #[test]
    fn numbers_are_read_with_either_sign_of_decimals() {
        for (text, unit, comma, expected) in [
            ("90", 60_000_000, false, Some(5_400_000_000)),
            ("1,5", 60_000_000, true, Some(90_000_000)),
            ("1.234,5", 1_000_000, true, Some(1_234_500_000)),
            ("1704067200.25", 1_000_000, false, Some(1_704_067_200_250_000)),
            ("1704067200123456", 1, false, Some(1_704_067_200_123_456)),
            ("0.0000005", 1_000_000, false, Some(1)),
            ("1.5e3", 1_000_000, false, Some(1_500_000_000)),
            ("-1", 1_000_000, false, Some(-1_000_000)),
            (".5", 2, false, Some(1)),
            ("1,5", 1, false, None),
            ("1,2,3", 1, true, None),
            ("", 1, false, None),
            ("abc", 1, false, None),
            ("99999999999999999999", 1, false, None),
            ("9999999999999999999", 1_000_000, false, None),
            ("2222222222222222220,577777777777777777777", 60_000_000, true, None),
            ("-2222222222222222220.577777777777777777777", 60_000_000, false, None),
            ("0.577777777777777777777", 60_000_000, false, Some(34_666_667)),
        ] {
            assert_eq!(scaled(text.as_bytes(), unit, comma), expected, "{text}");
        }
        assert_eq!(amount(b"2,5", true), Some(2.5));
        assert_eq!(amount(b"-2", false), None);
    }
}
