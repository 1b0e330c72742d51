//! Queries and forms as pairs of names and values, with limits on their number and length.
//!
//! In: text from outside. Out: pairs in their order, or the limit that is exceeded. Bytes that are
//! not UTF-8 are refused and not replaced.

use std::fmt::Write;

/// Pairs in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs(Vec<(String, String)>);

/// Largest number of pairs.
const PAIRS_MAX: usize = 200;

/// Longest value, bytes.
pub(super) const VALUE_MAX: usize = 64 << 10;

impl Pairs {
    /// Reads a query or the body of a form.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if let Some(bad) = text.split(['&', '=']).find(|piece| decoded(piece).is_none()) {
            let cut: String = bad.chars().take(40).collect();
            return Err(format!("`{cut}` is not percent-encoded UTF-8"));
        }
        let pairs: Vec<(String, String)> =
            form_urlencoded::parse(text.as_bytes()).into_owned().take(PAIRS_MAX + 1).collect();
        if PAIRS_MAX < pairs.len() {
            return Err(format!("there are more than {PAIRS_MAX} parameters"));
        }
        if let Some((name, _)) = pairs.iter().find(|(_, value)| VALUE_MAX < value.len()) {
            let name: String = name.chars().take(40).collect();
            return Err(format!("`{name}` is longer than {VALUE_MAX} bytes"));
        }
        Ok(Self(pairs))
    }

    /// The pairs with a value that is not blank.
    pub(super) fn filled(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        let all = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        all.filter(|(_, value)| !value.trim().is_empty())
    }

    /// The first value of a name, if it is not blank.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.filled().find(|pair| pair.0 == name).map(|pair| pair.1)
    }

    /// The values of a name that are not blank.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.filled().filter(move |pair| pair.0 == name).map(|pair| pair.1)
    }

    /// Adds a pair.
    pub(super) fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// The pairs with a value that is not blank, as a query.
    pub(super) fn query(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(self.filled()).finish()
    }
}

/// A segment of a path or a piece of a query, with percent signs decoded; `None` if that is not
/// UTF-8.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// A text as a segment of a path, percent-encoded.
pub(super) fn encoded(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            safe.push(char::from(byte));
        } else {
            let _ = write!(safe, "%{byte:02X}");
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_too_much_or_no_text_is_refused() {
        assert!(Pairs::read(&"a=1&".repeat(PAIRS_MAX + 1)).unwrap_err().contains("more than 200"));
        assert!(Pairs::read(&format!("a={}", "x".repeat(VALUE_MAX + 1))).is_err());
        for bad in ["a=%ff", "%=1", "a=%1", "a=%zz"] {
            assert!(Pairs::read(bad).unwrap_err().contains("percent-encoded"), "{bad}");
        }
        assert_eq!(Pairs::read("a=+&b=%201").unwrap().filled().collect::<Vec<_>>(), [("b", " 1")]);
    }

    proptest! {
        #[test]
        fn whatever_was_written_is_read_back(pairs: Vec<(String, String)>) {
            let mut written = Pairs::default();
            for (name, value) in &pairs {
                written.push(name, value);
            }
            let read = Pairs::read(&written.query()).unwrap();
            prop_assert!(read.filled().eq(written.filled()));
        }

        #[test]
        fn no_text_is_too_odd_to_be_read(text: String) {
            if let Ok(pairs) = Pairs::read(&text) {
                prop_assert_eq!(Pairs::read(&pairs.query()).unwrap().query(), pairs.query());
            }
        }

        #[test]
        fn a_segment_comes_back(text: String) {
            let safe = encoded(&text);
            prop_assert!(!safe.contains(['/', '?', '#', '&', '"', '<']));
            prop_assert_eq!(decoded(&safe), Some(text));
        }
    }
}
