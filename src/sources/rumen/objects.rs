//! Objects of JSON that follow each other, out of a text that comes in pieces.
//!
//! In: blocks of text. Out: each whole object with the line it begins in, and what stands between
//! objects and is no space. Braces are counted outside of strings; whether an object is JSON is
//! for the parser to say.

/// An object larger than this is no job.
const OBJECT_MAX: usize = 1 << 30;

/// Takes an object (`Ok`), or what is none (`Err`), with its line.
pub(super) type Take<'a> = dyn FnMut(u64, Result<&[u8], &[u8]>) + 'a;

/// What is known of the object that has begun.
#[derive(Default)]
pub(super) struct Objects {
    buffer: Vec<u8>,
    line: u64,
    depth: u32,
    is_in_string: bool,
    is_escaped: bool,
}

impl Objects {
    /// Takes whole lines, the first of which is `first_line`, and hands out objects (`Ok`) and what
    /// is none (`Err`) with their lines.
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
                // An object goes on.
            } else if self.buffer.is_empty() {
                take(self.line, Ok(&text[start..=at]));
                start = at + 1;
            } else {
                self.buffer.extend_from_slice(&text[start..=at]);
                take(self.line, Ok(&self.buffer));
                self.buffer.clear();
                start = at + 1;
            }
            line += u64::from(byte == b'\n');
        }
        if 0 < self.depth {
            self.buffer.extend_from_slice(&text[start..]);
            if OBJECT_MAX < self.buffer.len() {
                take(self.line, Err(&self.buffer));
                *self = Self::default();
            }
        }
    }

    /// Takes a byte of an object and says whether the object goes on.
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

    /// The object that the text ended in, if any.
    pub(super) fn unfinished(&self) -> Option<(u64, &[u8])> {
        (0 < self.depth).then_some((self.line, self.buffer.as_slice()))
    }
}

/// Hands out what stands between objects, but for space and the mark of byte order.
fn junk(text: &[u8], line: u64, take: &mut Take<'_>) {
    let text = text.trim_ascii();
    let text = text.strip_prefix(b"\xEF\xBB\xBF").filter(|_| line == 1).unwrap_or(text);
    if !text.is_empty() {
        take(line, Err(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the pieces and lists what comes out; junk begins with `!`.
    fn check(pieces: &[&str], expected: &[&str]) {
        let mut objects = Objects::default();
        let mut found = Vec::new();
        let mut line = 1;
        for piece in pieces {
            objects.feed(piece.as_bytes(), line, &mut |line, piece| {
                let text = |raw: &[u8]| String::from_utf8_lossy(raw).into_owned();
                found.push(match piece {
                    Ok(object) => format!("{line} {}", text(object)),
                    Err(junk) => format!("{line} !{}", text(junk)),
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
}
