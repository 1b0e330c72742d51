//! The fields of a row of an accounting log.

use std::cmp::Ordering;

use crate::sources::reject::RejectReason;
use crate::units::MICROS_PER_SECOND;

/// A column and what is wrong there.
pub(in crate::sources) type Fault = (&'static str, RejectReason);

/// Where the next byte of a record is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Begin,
    Plain,
    Quoted,
    /// After the quote that closed a field, or before the second of two quotes.
    Closed,
}

impl Place {
    /// The place after a byte.
    pub(super) fn after(self, byte: u8, separator: u8) -> Self {
        match (self, byte) {
            (Self::Quoted, b'"') => Self::Closed,
            (Self::Closed | Self::Begin, b'"') | (Self::Quoted, _) => Self::Quoted,
            _ if byte == separator => Self::Begin,
            (Self::Begin | Self::Closed, b' ' | b'\t') => self,
            _ => Self::Plain,
        }
    }
}

/// The fields of a line between separators, without quotes. With the separator `|`, quotes belong
/// to the text.
#[derive(Default)]
pub(in crate::sources) struct Fields {
    /// Where each field begins and ends, in the line or in `text`.
    places: Vec<(usize, usize)>,
    /// The line without its quotes.
    text: Vec<u8>,
    is_quoted: bool,
    is_open: bool,
}

impl Fields {
    /// Splits a line into fields.
    pub(in crate::sources) fn split(&mut self, line: &[u8], separator: u8) {
        self.places.clear();
        self.is_open = false;
        self.is_quoted = separator != b'|' && memchr::memchr(b'"', line).is_some();
        if self.is_quoted {
            return self.split_quoted(line, separator);
        }
        let mut from = 0;
        for at in memchr::memchr_iter(separator, line) {
            self.places.push((from, at));
            from = at + 1;
        }
        self.places.push((from, line.len()));
    }

    /// Splits a line at commas into exactly `count` fields.
    ///
    /// # Errors
    /// There are fewer or more.
    pub(in crate::sources) fn split_into(
        &mut self,
        count: usize,
        line: &[u8],
    ) -> Result<&Self, Fault> {
        self.split(line, b',');
        match self.len().cmp(&count) {
            Ordering::Less => Err(("", RejectReason::TooFewColumns)),
            Ordering::Greater => Err(("", RejectReason::TooManyColumns)),
            Ordering::Equal => Ok(self),
        }
    }

    /// Splits a line with fields in quotes, where two quotes stand for one. A quote that is not at
    /// the beginning of its field is text.
    fn split_quoted(&mut self, line: &[u8], separator: u8) {
        self.text.clear();
        let (mut from, mut place) = (0, Place::Begin);
        for &byte in line {
            let next = place.after(byte, separator);
            match (place, next) {
                (Place::Begin, Place::Quoted) | (Place::Quoted, Place::Closed) => {}
                (_, Place::Begin) if byte == separator => {
                    self.places.push((from, self.text.len()));
                    from = self.text.len();
                }
                _ => self.text.push(byte),
            }
            place = next;
        }
        self.places.push((from, self.text.len()));
        self.is_open = place == Place::Quoted;
    }

    /// Whether the line ends within quotes.
    pub(in crate::sources) fn is_open(&self) -> bool {
        self.is_open
    }

    /// The number of fields.
    pub(in crate::sources) fn len(&self) -> usize {
        self.places.len()
    }

    /// Field `idx` of `line`, without surrounding blanks; empty after the last field.
    pub(in crate::sources) fn get<'a>(&'a self, line: &'a [u8], idx: usize) -> &'a [u8] {
        let text = if self.is_quoted { &self.text[..] } else { line };
        self.places.get(idx).map_or(&[][..], |&(from, to)| text[from..to].trim_ascii())
    }

    /// Joins the fields from `idx` on into one: the last column may hold separators.
    pub(in crate::sources) fn join_from(&mut self, idx: usize) {
        if let (Some(&(from, _)), Some(&(_, to))) = (self.places.get(idx), self.places.last()) {
            self.places.truncate(idx);
            self.places.push((from, to));
        }
    }

    /// Removes the last field, which is empty.
    pub(in crate::sources) fn drop_last(&mut self) {
        self.places.pop();
    }
}

/// Reads `[D-]HH:MM:SS[.fff]`, `MM:SS` or `D-HH:MM` as microseconds.
pub(in crate::sources) fn span_us(text: &[u8]) -> Option<i64> {
    let (days, rest) = match memchr::memchr(b'-', text) {
        Some(at) => (whole(&text[..at])?, &text[at + 1..]),
        None => (0, text),
    };
    let (clock, fraction) = match memchr::memchr(b'.', rest) {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &[][..]),
    };
    let mut parts = [0; 3];
    let mut count = 0;
    for part in clock.split(|&byte| byte == b':') {
        *parts.get_mut(count)? = whole(part)?;
        count += 1;
    }
    let seconds = match (count, days) {
        (3, _) => parts[0].checked_mul(3600)?.checked_add(parts[1] * 60)?.checked_add(parts[2])?,
        (2, 0) => parts[0].checked_mul(60)?.checked_add(parts[1])?,
        // As `sbatch` accepts it: `D-HH:MM`.
        (2, _) => parts[0].checked_mul(3600)?.checked_add(parts[1] * 60)?,
        _ => return None,
    };
    let mut micros = 0;
    for at in 0..6 {
        let digit = fraction.get(at).copied().unwrap_or(b'0');
        micros = micros * 10 + i64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
    }
    days.checked_mul(86_400)?
        .checked_add(seconds)?
        .checked_mul(MICROS_PER_SECOND)?
        .checked_add(micros)
}

/// A time limit in whole minutes, or as a length of time, µs; `None` for words that mean no limit.
pub(in crate::sources) fn minutes_us(text: &[u8]) -> Result<Option<i64>, RejectReason> {
    if matches!(text, b"" | b"UNLIMITED" | b"Partition_Limit" | b"INVALID" | b"NONE" | b"Unknown") {
        return Ok(None);
    }
    let minutes_us = whole(text).and_then(|count| count.checked_mul(60 * MICROS_PER_SECOND));
    minutes_us.or_else(|| span_us(text)).map(Some).ok_or(RejectReason::BadValue)
}

/// A whole number of at most 12 digits.
pub(in crate::sources) fn whole(text: &[u8]) -> Option<i64> {
    let is_plain = !text.is_empty() && text.len() <= 12 && text.iter().all(u8::is_ascii_digit);
    is_plain.then(|| text.iter().fold(0, |sum, &digit| sum * 10 + i64::from(digit - b'0')))
}

/// Calls `give` with each machine of a list such as `cpn-f13-[01-03,07],gpu[1-2]n[0-1],login`.
///
/// A name may have several brackets, and numbers keep their leading zeros. If an entry cannot be
/// read, or if the list would exceed 2^17 machines with it, its text is given.
pub(in crate::sources) fn expand_nodes(list: &str, give: &mut dyn FnMut(&str)) {
    let mut depth = 0_u32;
    let mut from = 0;
    let mut left = NODES_MAX;
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                expand_one(&list[from..at], &mut left, give);
                from = at + 1;
            }
            _ => {}
        }
    }
    expand_one(&list[from..], &mut left, give);
}

/// The most machines of one list.
const NODES_MAX: usize = 1 << 17;

/// Calls `give` with the names of one entry, which may have brackets.
fn expand_one(entry: &str, left: &mut usize, give: &mut dyn FnMut(&str)) {
    let entry = entry.trim();
    if entry.is_empty() {
        return;
    }
    let mut names = vec![String::new()];
    let mut rest = entry;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((inside, after)) = after.split_once(']') else { return give(entry) };
        for name in &mut names {
            name.push_str(before);
        }
        let Some(numbers) = numbers(inside).filter(|numbers| {
            numbers.len().checked_mul(names.len()).is_some_and(|count| count <= *left)
        }) else {
            return give(entry);
        };
        names = names
            .iter()
            .flat_map(|name| numbers.iter().map(move |number| format!("{name}{number}")))
            .collect();
        rest = after;
    }
    *left = left.saturating_sub(names.len());
    for mut name in names {
        name.push_str(rest);
        give(&name);
    }
}

/// The numbers of `01-03,07`, with their leading zeros.
fn numbers(inside: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for range in inside.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (from, to) = (whole(first.as_bytes())?, whole(last.as_bytes())?);
        if to < from || NODES_MAX < all.len() + usize::try_from(to - from).ok()? {
            return None;
        }
        let width = first.len();
        all.extend((from..=to).map(|number| format!("{number:0width$}")));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spans_are_read_as_slurm_writes_them() {
        for (text, expected) in [
            ("00:05:35", Some(335)),
            ("7-20:39:39", Some(679_179)),
            ("125-00:00:00", Some(10_800_000)),
            ("05:35", Some(335)),
            ("1-06:30", Some(109_800)),
            ("00:00:01.500", Some(1)),
            ("", None),
            ("5", None),
            ("UNLIMITED", None),
            ("1:2:3:4", None),
            ("00:00:0x", None),
            ("99999999999999-00:00:00", None),
            ("999999999999-999999999999:00:00", None),
        ] {
            assert_eq!(
                span_us(text.as_bytes()).map(|us| us / MICROS_PER_SECOND),
                expected,
                "{text}"
            );
        }
        assert_eq!(span_us(b"00:00:01.5"), Some(1_500_000));
    }

    #[test]
    fn a_list_of_nodes_names_each() {
        for (list, expected) in [
            ("cpn-f15-27", "cpn-f15-27"),
            ("cpn-f13-[01-03,07]", "cpn-f13-01 cpn-f13-02 cpn-f13-03 cpn-f13-07"),
            ("a[1-2]b[0-1],c", "a1b0 a1b1 a2b0 a2b1 c"),
            ("n[8-11]x", "n8x n9x n10x n11x"),
            ("a,b ,, c", "a b c"),
            ("a[1-", "a[1-"),
            ("a[3-1]", "a[3-1]"),
            ("a[x]", "a[x]"),
            ("a[0-999999999]", "a[0-999999999]"),
            ("", ""),
        ] {
            let mut names = Vec::new();
            expand_nodes(list, &mut |name| names.push(name.to_owned()));
            assert_eq!(names.join(" "), expected, "{list}");
        }
    }

    #[test]
    fn fields_in_quotes_may_hold_separators() {
        let mut fields = Fields::default();
        let line = br#"1,"a, ""b""", c ,,"x""#;
        fields.split(line, b',');
        let all: Vec<&[u8]> = (0..fields.len()).map(|idx| fields.get(line, idx)).collect();
        assert_eq!(all, [&b"1"[..], b"a, \"b\"", b"c", b"", b"x"]);
        let line = br#"5" disk,"a"b,,"#;
        fields.split(line, b',');
        let all: Vec<&[u8]> = (0..fields.len()).map(|idx| fields.get(line, idx)).collect();
        assert_eq!(all, [&b"5\" disk"[..], b"ab", b"", b""]);
        let line = b"1|a\"b|c|d";
        fields.split(line, b'|');
        fields.join_from(2);
        assert_eq!(
            (fields.len(), fields.get(line, 1), fields.get(line, 2)),
            (3, &b"a\"b"[..], &b"c|d"[..])
        );
    }

    proptest! {
        #[test]
        fn a_list_that_was_packed_names_what_was_packed(
            numbers in prop::collection::btree_set(0_u32..500, 1..40), width in 1_usize..5,
        ) {
            // Runs of consecutive numbers become ranges.
            let numbers: Vec<u32> = numbers.into_iter().collect();
            let mut ranges: Vec<(u32, u32)> = Vec::new();
            for &number in &numbers {
                match ranges.last_mut() {
                    Some((_, last)) if *last + 1 == number => *last = number,
                    _ => ranges.push((number, number)),
                }
            }
            let told: Vec<String> = ranges
                .iter()
                .map(|(from, to)| format!("{from:0width$}-{to:0width$}"))
                .collect();
            let mut names = Vec::new();
            expand_nodes(&format!("n[{}]", told.join(",")), &mut |name| names.push(name.to_owned()));
            let expected: Vec<String> = numbers.iter().map(|number| format!("n{number:0width$}")).collect();
            prop_assert_eq!(names, expected);
        }

        #[test]
        fn no_text_makes_the_readers_panic(text in "[-0-9:.,\\[\\]a-zA-Z ]{0,40}") {
            let _ = span_us(text.as_bytes());
            expand_nodes(&text, &mut |_| {});
        }
    }
}
