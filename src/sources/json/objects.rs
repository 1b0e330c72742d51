//! Splits text that comes in pieces into JSON objects that follow each other.
//!
//! In: blocks of text. Out: each whole object with the line where it begins, and any text between
//! objects that is not space. Braces are counted outside of strings; the parser checks whether an
//! object is valid JSON. The memory of one object, at most [`OBJECT_MAX`] bytes, is kept until the
//! end of the file.

use super::super::reject::{REJECT_TEXT_MAX, RejectReason};

/// The largest object, bytes; a job of a million attempts has half as many.
const OBJECT_MAX: usize = 256 << 20;

/// Text that is not a usable object, and why.
pub(super) type Junk<'a> = (&'a [u8], RejectReason);

/// Takes an object (`Ok`) or other text (`Err`), with its line.
pub(super) type Take<'a> = dyn FnMut(u64, Result<&[u8], Junk<'_>>) + 'a;

/// Up to this size, bytes, the buffer grows by doubling. Beyond it, the buffer reserves address
/// space for the largest object; only the written part takes memory. Doubling would hold the text
/// twice, and a third time until the allocator returns memory.
const DOUBLED_MAX: usize = 4 << 20;

/// The state of reading an object.
pub(super) struct Objects {
    buffer: Vec<u8>,
    line: u64,
    depth: u32,
    is_in_string: bool,
    is_escaped: bool,
    /// Whether it is larger than an object may be.
    is_too_large: bool,
    /// The most bytes of an object.
    max: usize,
}

impl Default for Objects {
    fn default() -> Self {
        Self {
            buffer: Vec::new(),
            line: 0,
            depth: 0,
            is_in_string: false,
            is_escaped: false,
            is_too_large: false,
            max: OBJECT_MAX,
        }
    }
}

impl Objects {
    /// Takes whole lines, the first of which is `first_line`, and calls `take` with objects (`Ok`)
    /// and other text (`Err`).
    pub(super) fn feed(&mut self, text: &[u8], first_line: u64, take: &mut Take<'_>) {
        let mut line = first_line;
        let mut start = 0;
        for (at, &byte) in text.iter().enumerate() {
            if self.depth == 0 {
                match byte {
                    b'{' => {
                        junk(&text[start..at], line, take);
                        start = at;
                        self.line = line;
                        self.depth = 1;
                    }
                    b'\n' => {
                        junk(&text[start..at], line, take);
                        start = at + 1;
                    }
                    _ => {}
                }
            } else if self.is_inside(byte) {
                // An object continues.
            } else if self.buffer.is_empty() {
                take(self.line, Ok(&text[start..=at]));
                start = at + 1;
            } else {
                self.keep(&text[start..=at]);
                let is_too_large = std::mem::take(&mut self.is_too_large);
                let object = self.buffer.as_slice();
                let junk = (object, RejectReason::OutOfRange);
                take(self.line, if is_too_large { Err(junk) } else { Ok(object) });
                self.buffer.clear();
                start = at + 1;
            }
            line += u64::from(byte == b'\n');
        }
        if 0 < self.depth {
            self.keep(&text[start..]);
        }
    }

    /// Keeps a piece of an object that continues; of a too large object, only the beginning.
    fn keep(&mut self, piece: &[u8]) {
        if !self.is_too_large && self.max < self.buffer.len() + piece.len() {
            self.is_too_large = true;
            self.buffer.truncate(REJECT_TEXT_MAX);
        }
        if !self.is_too_large {
            if DOUBLED_MAX < self.buffer.len() + piece.len() {
                self.buffer.reserve_exact(self.max - self.buffer.len());
            }
            self.buffer.extend_from_slice(piece);
        } else if self.buffer.is_empty() {
            self.buffer.extend_from_slice(&piece[..piece.len().min(REJECT_TEXT_MAX)]);
        }
    }

    /// Takes a byte of an object, and returns whether the object continues.
    #[inline]
    fn is_inside(&mut self, byte: u8) -> bool {
        if self.is_in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_string = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => self.is_in_string = true,
                b'{' => self.depth += 1,
                b'}' => self.depth -= 1,
                _ => {}
            }
        }
        0 < self.depth
    }

    /// The object that is open at the end of the text, if there is one.
    pub(super) fn unfinished(&self) -> Option<(u64, &[u8])> {
        (0 < self.depth).then_some((self.line, self.buffer.as_slice()))
    }
}

/// Calls `take` with text between objects that is not space.
fn junk(text: &[u8], line: u64, take: &mut Take<'_>) {
    let text = text.trim_ascii();
    if !text.is_empty() {
        take(line, Err((text, RejectReason::BadValue)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the pieces and lists what comes out; junk begins with `!`.
    fn check(pieces: &[&str], expected: &[&str]) {
        check_bounded(OBJECT_MAX, pieces, expected);
    }

    fn check_bounded(max: usize, pieces: &[&str], expected: &[&str]) {
        let mut objects = Objects { max, ..Objects::default() };
        let mut found = Vec::new();
        let mut line = 1;
        for piece in pieces {
            objects.feed(piece.as_bytes(), line, &mut |line, piece| {
                let text = |raw: &[u8]| String::from_utf8_lossy(raw).into_owned();
                found.push(match piece {
                    Ok(object) => format!("{line} {}", text(object)),
                    Err((junk, RejectReason::OutOfRange)) => format!("{line} !!{}", text(junk)),
                    Err((junk, _)) => format!("{line} !{}", text(junk)),
                });
            });
            line += piece.matches('\n').count() as u64;
        }
        if let Some((line, _)) = objects.unfinished() {
            found.push(format!("{line} unfinished"));
        }
        assert_eq!(found, expected, "{pieces:?}");
    }

    #[test]
    fn objects_are_whole_however_they_are_cut() {
        check(&["{\"a\":1}{\"b\":{}}\n {}\n"], &["1 {\"a\":1}", "1 {\"b\":{}}", "2 {}"]);
        check(&["{\n\"a\":\n", "\"}\\\"{\"\n", "}\n{}\n"], &["1 {\n\"a\":\n\"}\\\"{\"\n}", "5 {}"]);
        check(&["x {} y\n}\n{\n"], &["1 !x", "1 {}", "1 !y", "2 !}", "3 unfinished"]);
        check(&["", "\n\n"], &[]);
    }

    #[test]
    fn an_object_that_is_too_large_is_one_reject() {
        let pieces = ["{\"a\":\n", "[{},{}\n", "],{{}}\n", "}{}\n", "{\n", "\n"];
        let expected = ["1 !!{\"a\":\n", "4 {}", "5 unfinished"];
        check_bounded(8, &pieces, &expected);
    }

    #[test]
    fn an_object_takes_no_more_than_the_largest_may() {
        let max = 3 * DOUBLED_MAX;
        let mut objects = Objects { max, ..Objects::default() };
        let piece = [b"{".as_slice(), &vec![b' '; 100_000]].concat();
        let mut bytes = 0;
        let mut capacities = Vec::new();
        while bytes < 2 * max {
            objects.feed(&piece, 1, &mut |_, _| panic!("it has no end"));
            bytes += piece.len();
            capacities.push(objects.buffer.capacity());
        }
        assert!(objects.is_too_large);
        assert!(capacities.iter().all(|&capacity| capacity <= max), "{capacities:?}");
    }
}
