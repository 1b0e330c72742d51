//! The layout of the JSON of a result: indented as usual down to its answer, then one item per
//! line.
//!
//! In: a value. Out: text. A table of a thousand rows takes a thousand lines, and each line is
//! JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// The number of levels in which each item has a separate line: the result, its answer, and a table
/// in it.
const OPEN: usize = 3;

/// The text of a JSON value, with an item per line in its outer three levels.
pub(super) fn laid_out(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Lines::default()))?;
    Ok(String::from_utf8(text).expect("JSON is UTF-8"))
}

/// The position of the writer.
#[derive(Default)]
struct Lines {
    depth: usize,
    has_items: bool,
}

impl Lines {
    fn open<W: ?Sized + Write>(&mut self, out: &mut W, bracket: u8) -> io::Result<()> {
        self.depth += 1;
        self.has_items = false;
        out.write_all(&[bracket])
    }

    fn close<W: ?Sized + Write>(&mut self, out: &mut W, bracket: u8) -> io::Result<()> {
        self.depth -= 1;
        if self.has_items && self.depth < OPEN {
            self.end_line(out)?;
        }
        out.write_all(&[bracket])
    }

    fn item<W: ?Sized + Write>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        if !is_first {
            out.write_all(b",")?;
        }
        if self.depth <= OPEN { self.end_line(out) } else { Ok(()) }
    }

    fn end_line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        write!(out, "\n{:width$}", "", width = 2 * self.depth)
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b'[')
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b']')
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.item(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_items = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b'{')
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b'}')
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.item(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(if self.depth <= OPEN { b": " } else { b":" })
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_items = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_item_of_a_table_has_a_line() {
        let value = json!({
            "empty": {}, "answer": {"none": [], "rows": [{"a": 1, "b": [2, 3]}, {"a": null}]},
        });
        let text = laid_out(&value).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert!(
            text.contains("\n      {\"a\":1,\"b\":[2,3]},\n      {\"a\":null}\n    ]\n  }"),
            "{text}"
        );
        assert!(text.contains("\"none\": []") && text.contains("\"empty\": {}"), "{text}");
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 60, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::hash_map(".{0,3}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// The text is the same JSON as the value, for any value; deeper levels have no line ends.
        #[test]
        fn the_text_is_the_value(value in values()) {
            let text = laid_out(&value).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
            prop_assert!(text.lines().all(|line| !line.starts_with(&" ".repeat(2 * OPEN + 1))));
        }
    }
}
