//! Reads a JSON array of objects as lines of JSON, the form that the parsers read.
//!
//! In: the text of an array, or of several. Out: its objects, one per line; line ends within them
//! become spaces. Some text becomes separate lines, which parsers reject: text between objects
//! other than commas, an object with a line end inside a string, and an array that is not closed.

use std::io::{self, Read};

/// The number of bytes that are converted at a time.
const READ_BYTES: usize = 64 * 1024;

/// Whether a text begins like an array of JSON objects.
pub(super) fn is_array(begin: &[u8]) -> bool {
    let begin = begin.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(begin).trim_ascii_start();
    begin.strip_prefix(b"[").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"))
}

/// Reads the objects of an array as lines.
#[derive(Default)]
pub(super) struct ArrayText {
    /// Text that has not been converted.
    raw: Vec<u8>,
    splitter: Splitter,
    /// Converted text, and how much of it has been handed out.
    lines: Vec<u8>,
    at: usize,
}

impl ArrayText {
    /// An array whose text begins with `begin`.
    pub(super) fn new(begin: Vec<u8>) -> Self {
        Self { raw: begin, ..Self::default() }
    }

    /// Reads lines into `target`; `rest` is the text after the beginning. Returns 0 at the end.
    pub(super) fn read(&mut self, rest: &mut impl Read, target: &mut [u8]) -> io::Result<usize> {
        while self.at == self.lines.len() {
            self.lines.clear();
            self.at = 0;
            if self.raw.is_empty() {
                self.raw.resize(READ_BYTES, 0);
                let count = rest.read(&mut self.raw);
                self.raw.truncate(*count.as_ref().unwrap_or(&0));
                if count? == 0 {
                    self.splitter.finish(&mut self.lines);
                    if self.lines.is_empty() {
                        return Ok(0);
                    }
                }
            }
            self.splitter.add(&self.raw, &mut self.lines);
            self.raw.clear();
        }
        let count = target.len().min(self.lines.len() - self.at);
        target[..count].copy_from_slice(&self.lines[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// The place of the next byte in an array.
#[derive(Clone, Copy, Default)]
enum Place {
    /// Before its bracket.
    #[default]
    Before,
    /// Between its objects, or after its end.
    Between,
    /// In an object; the number of open braces.
    Object(u32),
    /// In a string of an object; the number of open braces, and whether the byte before is a
    /// backslash.
    Text(u32, bool),
    /// In something that is not an object.
    Junk,
}

/// Splits an array, whose text comes in pieces, into lines.
#[derive(Default)]
struct Splitter {
    place: Place,
    /// Whether the array has ended.
    is_closed: bool,
}

impl Splitter {
    fn add(&mut self, text: &[u8], lines: &mut Vec<u8>) {
        for &byte in text {
            self.place = self.after(byte, lines);
        }
    }

    /// Takes a byte, and returns the place of the next.
    fn after(&mut self, byte: u8, lines: &mut Vec<u8>) -> Place {
        match (self.place, byte) {
            (Place::Before, b'[') => return Place::Between,
            (Place::Before, _) => return Place::Before,
            (Place::Between, b'[') if self.is_closed => self.is_closed = false,
            (Place::Between, b']') => self.is_closed = true,
            (Place::Between, b',') => {}
            (Place::Between, _) if byte.is_ascii_whitespace() => {}
            (Place::Between, b'{') => {
                lines.push(byte);
                return Place::Object(1);
            }
            (Place::Object(1), b'}') => lines.extend(b"}\n"),
            (Place::Junk, b']' | b',' | b'\n') => {
                lines.push(b'\n');
                self.is_closed |= byte == b']';
            }
            (Place::Between | Place::Junk, _) => {
                lines.push(byte);
                return Place::Junk;
            }
            // A string has no line end: a quote is missing.
            (Place::Text(..), b'\n') => lines.push(b'\n'),
            (Place::Object(depth), _) => {
                lines.push(if matches!(byte, b'\n' | b'\r') { b' ' } else { byte });
                return match byte {
                    b'{' => Place::Object(depth + 1),
                    b'}' => Place::Object(depth - 1),
                    b'"' => Place::Text(depth, false),
                    _ => Place::Object(depth),
                };
            }
            (Place::Text(depth, is_escaped), _) => {
                lines.push(byte);
                return match byte {
                    b'"' if !is_escaped => Place::Object(depth),
                    _ => Place::Text(depth, byte == b'\\' && !is_escaped),
                };
            }
        }
        Place::Between
    }

    /// Ends the last line; an array that is not closed leaves its bracket as a line.
    fn finish(&mut self, lines: &mut Vec<u8>) {
        match std::mem::take(&mut self.place) {
            Place::Between if !self.is_closed => lines.extend(b"[\n"),
            Place::Object(_) | Place::Text(..) | Place::Junk => lines.push(b'\n'),
            Place::Before | Place::Between => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn lines_of(text: &str, begin: usize) -> String {
        let (begin, mut rest) = text.as_bytes().split_at(begin);
        let mut array = ArrayText::new(begin.to_vec());
        let (mut lines, mut piece) = (Vec::new(), [0; 7]);
        loop {
            match array.read(&mut rest, &mut piece).unwrap() {
                0 => return String::from_utf8(lines).unwrap(),
                count => lines.extend_from_slice(&piece[..count]),
            }
        }
    }

    #[test]
    fn what_does_not_belong_into_an_array_is_a_line() {
        let check = |text: &str, expected: &str| assert_eq!(lines_of(text, 0), expected, "{text}");
        check("[{\"a\":\n1}, {\"b\": \"},{\\\"\"}]\n", "{\"a\": 1}\n{\"b\": \"},{\\\"\"}\n");
        check("[{}, 7, {}]", "{}\n7\n{}\n");
        check("[{},\n{\"a\": 1", "{}\n{\"a\": 1\n");
        check("[{},", "{}\n[\n");
        check("[{}] {\"a\":1}\nx", "{}\n{\"a\":1}\nx\n");
        check("[]", "");
        check("[{}]\n[{}]", "{}\n{}\n");
        check("[{}] {\"a\":1}", "{}\n{\"a\":1}\n");
        // A missing quote affects its object, not the rest.
        check("[{\"a\": \"x\n},\n{\"b\": 1}]", "{\"a\": \"x\n}\n{\"b\": 1}\n");
        assert!(is_array(b"\xEF\xBB\xBF [\n {") && !is_array(b"[1]") && !is_array(b"{}"));
    }

    proptest! {
        /// Promise: objects of any content, in any layout and in pieces of any size, come out
        /// unchanged.
        #[test]
        fn objects_are_read_as_they_are(
            texts in prop::collection::vec("[a-z\\\\\"{}\\[\\],\n]{0,8}", 0..6),
            (is_pretty, cut) in (any::<bool>(), 0_usize..40),
        ) {
            let objects: Vec<Value> =
                texts.iter().map(|text| json!({"a": text, "b": [{"c": text}, [1]]})).collect();
            let text = if is_pretty {
                serde_json::to_string_pretty(&objects).unwrap()
            } else {
                serde_json::to_string(&objects).unwrap()
            };
            let lines = lines_of(&text, cut.min(text.len()));
            let read: Vec<Value> =
                lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            prop_assert_eq!(read, objects);
        }
    }
}
