//! Extracts the items of a list from text that comes in pieces.
//!
//! In: blocks of text. Out: the same text, in which everything around the items of a `List` (its
//! braces, its other keys, the commas) becomes spaces. Items then follow each other like the lines
//! of a log. Line numbers do not change. Memory holds the text of one block.

/// The position of the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Outside of any list.
    Outside,
    /// Among the keys of a list.
    Keys,
    /// After the key of the items, before their bracket.
    Colon,
    /// Between items.
    Between,
}

/// The state of reading lists.
pub(super) struct Envelope {
    place: Place,
    /// Open braces and brackets within the value of a key, or within an item.
    depth: u32,
    is_in_string: bool,
    is_escaped: bool,
    /// The first bytes of the current string among the keys.
    word: Vec<u8>,
    has_items: bool,
}

/// The key of the items.
const ITEMS: &[u8] = b"items";

/// Whether a text begins with a list of items.
pub(in crate::sources) fn is_list(begin: &[u8]) -> bool {
    let mut envelope = Envelope::new();
    let has_ended = |envelope: &Envelope| envelope.place == Place::Outside;
    for &byte in super::without_mark(begin).trim_ascii_start() {
        envelope.is_of_item(byte);
        if envelope.has_items || has_ended(&envelope) {
            break;
        }
    }
    envelope.has_items
}

impl Envelope {
    pub(super) fn new() -> Self {
        Self {
            place: Place::Outside,
            depth: 0,
            is_in_string: false,
            is_escaped: false,
            word: Vec::new(),
            has_items: false,
        }
    }

    /// The text of a block with only its items. A list without items leaves its last brace, which
    /// is not an object.
    pub(super) fn strip(&mut self, text: &[u8]) -> Vec<u8> {
        text.iter()
            .map(|&byte| if self.is_of_item(byte) || byte == b'\n' { byte } else { b' ' })
            .collect()
    }

    /// Whether a list has begun but not ended.
    pub(super) fn is_open(&self) -> bool {
        self.place != Place::Outside
    }

    /// Takes a byte, and returns whether it belongs to an item or to something in its place.
    fn is_of_item(&mut self, byte: u8) -> bool {
        if self.is_in_string {
            self.in_string(byte);
            return self.place == Place::Between;
        }
        if 0 < self.depth {
            match byte {
                b'"' => self.is_in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
            return self.place == Place::Between;
        }
        match (self.place, byte) {
            (Place::Outside, b'{') => (self.place, self.has_items) = (Place::Keys, false),
            (Place::Outside, _) => return !byte.is_ascii_whitespace(),
            (Place::Keys, b'"') => {
                self.is_in_string = true;
                self.word.clear();
            }
            (Place::Keys, b':') if self.word == ITEMS => self.place = Place::Colon,
            (Place::Keys | Place::Colon, b'{') | (Place::Keys, b'[') => self.depth = 1,
            (Place::Colon, b'[') => (self.place, self.has_items) = (Place::Between, true),
            (Place::Keys | Place::Colon, b',') | (Place::Between, b']') => {
                self.word.clear();
                self.place = Place::Keys;
            }
            (Place::Keys | Place::Colon, b'}') => {
                self.place = Place::Outside;
                return !self.has_items;
            }
            (Place::Between, b'{') => {
                self.depth = 1;
                return true;
            }
            (Place::Between, b'"') => {
                self.is_in_string = true;
                return true;
            }
            (Place::Between, _) => return byte != b',',
            _ => {}
        }
        false
    }

    fn in_string(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => self.is_in_string = false,
            _ if self.place == Place::Keys && self.depth == 0 && self.word.len() <= ITEMS.len() => {
                self.word.push(byte);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_items_alone_are_left_on_their_lines_however_the_text_is_cut() {
        let check = |text: &str, expected: &str| {
            for step in [1, 3, 1000] {
                let (mut envelope, mut found) = (Envelope::new(), Vec::new());
                for piece in text.as_bytes().chunks(step) {
                    found.extend(envelope.strip(piece));
                }
                let found = String::from_utf8(found).unwrap();
                let words = |text: &str| -> Vec<String> {
                    text.split('\n').map(|line| line.trim().to_owned()).collect()
                };
                assert_eq!(words(&found), words(expected), "{text} by {step}");
                assert!(!envelope.is_open(), "{text}");
            }
        };
        check("{\"items\":[{\"a\":[1]}]}", "{\"a\":[1]}");
        check(
            "{\"kind\":\"items\",\n\"items\": [\n{},\n{\"items\":[]}\n],\"x\":[{}]}",
            "\n\n{}\n{\"items\":[]}\n",
        );
        check(
            "{\"metadata\":{\"items\":[{}]},\"items\":[{\"b\":\"]}\\\"\"}]}",
            "{\"b\":\"]}\\\"\"}",
        );
        check("{\"a\":1}", "}");
        check("{\"items\":null}", "}");
        check("{\"items\":[7]}", "7");
    }
}
