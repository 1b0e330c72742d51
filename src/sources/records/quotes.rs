//! Joins the lines of records that have line ends within quotes, as in RFC 4180.
//!
//! In: lines, one after the other. Out: records with the number of their first line. A quote at the
//! beginning of a field opens it, two quotes within it stand for one, and the next one closes it.
//!
//! ```text
//!  7,"a job      ─┐
//!  of two lines" ─┴─► one record, line 1
//!  8,5" disk     ───► a quote within a field is text
//!  9,"oops       ───► never closed: a line of its own
//! ```
//!
//! A quote counts as not closed in three cases: the file ends first, the record would be longer
//! than [`RECORD_MAX`] bytes, or text follows the closing quote in another line. Its line is then a
//! separate record (which is a reject), and the lines after it are read again. So a stray quote
//! costs only its own line.

use super::fields::Place;
use super::lines::Line;

/// The longest record of several lines, bytes.
pub(in crate::sources) const RECORD_MAX: usize = 1 << 20;

/// The lines of a record so far.
pub(in crate::sources) struct Quotes {
    /// The separator of the fields; `None` if each line is a record.
    separator: Option<u8>,
    /// The lines of an open record, with their ends, and the number of the first.
    open: Vec<u8>,
    first: u64,
}

impl Quotes {
    /// A reader of fields between separators. With `|`, quotes are text.
    pub(in crate::sources) fn of(separator: Option<u8>) -> Self {
        let separator = separator.filter(|&separator| separator != b'|');
        Self { separator, open: Vec::new(), first: 0 }
    }

    /// Calls `take` with the records of a text in order, until it returns false.
    pub(in crate::sources) fn each_of(
        text: &[u8],
        separator: Option<u8>,
        mut take: impl FnMut(Line<'_>) -> bool,
    ) {
        let (mut quotes, mut goes_on) = (Self::of(separator), true);
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let lines = text.split(|&byte| byte == b'\n');
        for (number, raw) in (1..).zip(lines) {
            if !goes_on {
                return;
            }
            let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
            quotes.add(Line { number, raw }, &mut |record| goes_on = goes_on && take(record));
        }
        quotes.finish(&mut |record| goes_on = goes_on && take(record));
    }

    /// Adds a line; calls `take` with the records that end with it.
    pub(in crate::sources) fn add(&mut self, line: Line<'_>, take: &mut dyn FnMut(Line<'_>)) {
        let is_open = !self.open.is_empty();
        let Some(separator) = self.separator else { return take(line) };
        if !is_open && memchr::memchr(b'"', line.raw).is_none() {
            return take(line);
        }
        let begin = if is_open { Place::Quoted } else { Place::Begin };
        match place_after(line.raw, separator, begin) {
            Some(Place::Quoted) if self.open.len() + line.raw.len() < RECORD_MAX => {
                if !is_open {
                    self.first = line.number;
                }
                self.open.extend_from_slice(line.raw);
                self.open.push(b'\n');
            }
            Some(Place::Begin | Place::Plain | Place::Closed) if is_open => {
                self.open.extend_from_slice(line.raw);
                take(Line { number: self.first, raw: &self.open });
                self.open.clear();
            }
            _ if is_open => {
                self.finish(take);
                self.add(line, take);
            }
            _ => take(line),
        }
    }

    /// Calls `take` with the lines of a record that was never closed, each as a separate record.
    pub(in crate::sources) fn finish(&mut self, take: &mut dyn FnMut(Line<'_>)) {
        let open = std::mem::take(&mut self.open);
        let lines =
            open.strip_suffix(b"\n").into_iter().flat_map(|text| text.split(|&b| b == b'\n'));
        (self.first..).zip(lines).for_each(|(number, raw)| take(Line { number, raw }));
    }
}

/// The place after a line that begins at `begin`. `None` if text follows the quote that closes a
/// quote of an earlier line.
fn place_after(line: &[u8], separator: u8, begin: Place) -> Option<Place> {
    let (mut place, mut is_from_before) = (begin, begin == Place::Quoted);
    for &byte in line {
        let next = place.after(byte, separator);
        is_from_before &= next != Place::Begin;
        if is_from_before && next == Place::Plain {
            return None;
        }
        place = next;
    }
    Some(place)
}

/// The first record of a text that is not blank, without a byte order mark. Fields in quotes may
/// have line ends.
pub(in crate::sources) fn first_record(begin: &[u8], separator: u8) -> Vec<u8> {
    let begin = begin.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(begin);
    let mut first = Vec::new();
    Quotes::each_of(begin, Some(separator), |line| {
        if !line.raw.trim_ascii().is_empty() {
            first.extend_from_slice(line.raw);
        }
        first.is_empty()
    });
    first
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fields::Fields;
    use super::*;

    fn records(text: &str) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        Quotes::each_of(text.as_bytes(), Some(b','), |line| {
            all.push((line.number, String::from_utf8(line.raw.to_vec()).unwrap()));
            true
        });
        all
    }

    #[track_caller]
    fn check(text: &str, expected: &[(u64, &str)]) {
        let expected: Vec<(u64, String)> =
            expected.iter().map(|&(number, text)| (number, text.to_owned())).collect();
        assert_eq!(records(text), expected, "{text}");
    }

    #[test]
    fn a_record_ends_where_its_quotes_are_closed() {
        check("1,a\n2,\"b\nc\",d\n3\n", &[(1, "1,a"), (2, "2,\"b\nc\",d"), (4, "3")]);
        check("\"a\r\n\r\nb\"\r\n2\r\n", &[(1, "\"a\n\nb\""), (4, "2")]);
        check("1, \"a\n\"\"b\"\"\n\" ,2\n", &[(1, "1, \"a\n\"\"b\"\"\n\" ,2")]);
        check("1,5\" disk\n2,\"x\"y\n", &[(1, "1,5\" disk"), (2, "2,\"x\"y")]);
        check("", &[(1, "")]);
    }

    #[test]
    fn a_quote_that_is_never_closed_costs_its_own_line() {
        check("1,\"a\n2,b\n3,c\n", &[(1, "1,\"a"), (2, "2,b"), (3, "3,c")]);
        // Text follows the quote that would close it.
        check("1,\"a\n2,\"b\n3,c\n", &[(1, "1,\"a"), (2, "2,\"b"), (3, "3,c")]);
        check("1,\"a\n2,\"b\nc\"\n", &[(1, "1,\"a"), (2, "2,\"b\nc\"")]);
        let far = format!("1,\"a\n{}4,\"b\"\n", "2,c\n".repeat(RECORD_MAX / 4));
        let found = records(&far);
        assert_eq!((found[0].1.as_str(), found.len()), ("1,\"a", RECORD_MAX / 4 + 2));
    }

    #[test]
    fn lines_are_records_if_quotes_are_text() {
        let mut lines = 0;
        for separator in [None, Some(b'|')] {
            Quotes::each_of(b"1|\"a\nb\"|2\n", separator, |_| {
                lines += 1;
                true
            });
        }
        assert_eq!(lines, 4);
    }

    proptest! {
        /// Promise: rows that were written with quotes are read back, for any texts in them.
        #[test]
        fn rows_in_quotes_are_read_back(
            rows in prop::collection::vec(prop::collection::vec("[a,\"\n x]{0,6}", 2..4), 1..8),
        ) {
            let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
            let lines = rows.iter().map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(","));
            let (mut number, mut expected, mut text) = (1, Vec::new(), String::new());
            for line in lines {
                expected.push((number, line.clone()));
                number += 1 + line.matches('\n').count() as u64;
                text.push_str(&line);
                text.push('\n');
            }
            let found = records(&text);
            prop_assert_eq!(&found, &expected);
            let mut fields = Fields::default();
            for ((_, record), row) in found.iter().zip(&rows) {
                fields.split(record.as_bytes(), b',');
                prop_assert_eq!(fields.len(), row.len());
                for (idx, cell) in row.iter().enumerate() {
                    let cell = cell.trim_matches([' ', '\n']);
                    prop_assert_eq!(fields.get(record.as_bytes(), idx), cell.as_bytes());
                }
            }
        }

        /// Promise: every line is in exactly one record, in order, in any text.
        #[test]
        fn no_line_is_lost(text in "[a,\"\n]{0,60}") {
            let text = format!("x{text}\n");
            let all: Vec<String> = records(&text).into_iter().map(|(_, record)| record).collect();
            prop_assert_eq!(all.join("\n") + "\n", text);
        }
    }
}
