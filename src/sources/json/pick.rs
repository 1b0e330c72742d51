//! Reads the wanted keys of a JSON object that has many more.
//!
//! In: the text of an object, and the keys that are read. Out: the object with only these keys.
//! Other values take no memory, but must be valid JSON.

use std::borrow::Cow;
use std::fmt;

use rustc_hash::FxHashSet;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::super::records::Fault;
use super::super::records::amounts::quantity;
use super::super::reject::RejectReason;
use super::super::zone::{Stamp, Zone};

/// The fault of a value of the wrong type.
const BAD: RejectReason = RejectReason::BadValue;

/// A time that was never set.
const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// The keys that are read, at any depth of an object.
pub(in crate::sources) struct Pick {
    keys: FxHashSet<Cow<'static, str>>,
    /// Keys whose values are read completely.
    whole: FxHashSet<Cow<'static, str>>,
}

impl Pick {
    /// Reads the values of `keys`, and everything within the values of `whole`.
    pub(in crate::sources) fn of(
        keys: impl IntoIterator<Item = impl Into<Cow<'static, str>>>,
        whole: impl IntoIterator<Item = impl Into<Cow<'static, str>>>,
    ) -> Self {
        Self {
            keys: keys.into_iter().map(Into::into).collect(),
            whole: whole.into_iter().map(Into::into).collect(),
        }
    }

    /// Reads an object, or another value.
    pub(in crate::sources) fn read(&self, raw: &[u8]) -> Result<Value, Fault> {
        let mut json = serde_json::Deserializer::from_slice(raw);
        let read = Seed { pick: self, is_whole: false }.deserialize(&mut json);
        read.and_then(|value| json.end().map(|()| value)).map_err(|_| ("", BAD))
    }
}

#[derive(Clone, Copy)]
struct Seed<'p> {
    pick: &'p Pick,
    is_whole: bool,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<Cow<'_, str>>()? {
            let is_whole = self.is_whole || self.pick.whole.contains(&*key);
            if is_whole || self.pick.keys.contains(&*key) {
                let key = key.into_owned();
                object.insert(key, entries.next_value_seed(Seed { is_whole, ..self })?);
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Value::Object(object))
    }
}

/// The column of a fault at a path: the last key.
fn column_of(path: &'static str) -> &'static str {
    path.rsplit('/').next().unwrap_or_default()
}

/// A part of an object, which may be missing.
#[derive(Clone, Copy, Debug)]
pub(in crate::sources) struct Part<'a>(pub &'a Value);

impl<'a> Part<'a> {
    /// The part at a path such as `/status/phase`.
    ///
    /// `Value::pointer` is not used: it looks for escapes in every key, which takes a third of the
    /// time for pods.
    pub(in crate::sources) fn at(self, path: &str) -> Self {
        let mut at = Some(self.0);
        for key in path.split('/').skip(1) {
            at = match at {
                Some(Value::Array(items)) => key.parse().ok().and_then(|idx: usize| items.get(idx)),
                Some(part) => part.get(key),
                None => break,
            };
        }
        Self(at.unwrap_or(&Value::Null))
    }

    /// Whether it is missing or null.
    pub(in crate::sources) fn is_missing(self) -> bool {
        self.0.is_null()
    }

    /// A text; `None` if it is missing or null.
    pub(in crate::sources) fn text(self, path: &'static str) -> Result<Option<&'a str>, Fault> {
        self.of(path, Value::as_str)
    }

    /// A whole number.
    pub(in crate::sources) fn whole(self, path: &'static str) -> Result<Option<i64>, Fault> {
        self.of(path, Value::as_i64)
    }

    /// An ISO 8601 time, µs since 1970; without a zone it is in UTC. The first second of the year
    /// 1, as Go programs write an unset time, gives `None`.
    pub(in crate::sources) fn time(self, path: &'static str) -> Result<Option<i64>, Fault> {
        if self.at(path).0 == NO_TIME {
            return Ok(None);
        }
        let stamp = self.of(path, |value| Stamp::iso(value.as_str()?.as_bytes()))?;
        Ok(stamp.map(|stamp| stamp.instant_us(&Zone::utc()).first()))
    }

    /// The first of these times that is set; it must not be before 1970.
    pub(in crate::sources) fn first_time(self, paths: &[&'static str]) -> Result<i64, Fault> {
        let column = paths.first().map_or("", |path| column_of(path));
        for path in paths {
            match self.time(path)? {
                Some(at_us) if at_us < 0 => return Err((column, RejectReason::NegativeTime)),
                Some(at_us) => return Ok(at_us),
                None => {}
            }
        }
        Err((column, RejectReason::EmptyMandatory))
    }

    /// The latest time at a path within the items of a list.
    pub(in crate::sources) fn last_time(
        self,
        list: &'static str,
        path: &'static str,
    ) -> Result<Option<i64>, Fault> {
        let mut items = self.list(list)?;
        items.try_fold(None, |last: Option<i64>, item| Ok(last.max(item.time(path)?)))
    }

    /// The first of these parts by the time at a path; those without a time are the last.
    pub(in crate::sources) fn earliest(
        mut parts: impl Iterator<Item = Self>,
        path: &'static str,
    ) -> Result<Option<Self>, Fault> {
        let first = parts.try_fold(None, |first: Option<(i64, Self)>, part| {
            let at_us = part.time(path)?.unwrap_or(i64::MAX);
            Ok(first.filter(|&(first_us, _)| first_us <= at_us).or(Some((at_us, part))))
        })?;
        Ok(first.map(|(_, part)| part))
    }

    /// The first item of a list that has these texts at their paths.
    pub(in crate::sources) fn item<const N: usize>(
        self,
        list: &'static str,
        texts: [(&'static str, &str); N],
    ) -> Result<Option<Self>, Fault> {
        'items: for item in self.list(list)? {
            for (path, text) in texts {
                if item.text(path)? != Some(text) {
                    continue 'items;
                }
            }
            return Ok(Some(item));
        }
        Ok(None)
    }

    /// The items of a list; none if it is missing.
    pub(in crate::sources) fn list(
        self,
        path: &'static str,
    ) -> Result<impl DoubleEndedIterator<Item = Self> + Clone, Fault> {
        Ok(self.of(path, Value::as_array)?.map_or(&[][..], Vec::as_slice).iter().map(Self))
    }

    /// A quantity of Kubernetes, text or number; `None` if it is not one.
    pub(in crate::sources) fn quantity(self) -> Option<f64> {
        self.0.as_str().map_or_else(|| quantity(&self.0.to_string()), quantity)
    }

    /// A value, converted by `read`; the last key of its path is the column of the fault.
    fn of<T>(
        self,
        path: &'static str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let value = self.at(path).0;
        match read(value) {
            None if !value.is_null() => Err((column_of(path), BAD)),
            found => Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_that_are_not_wanted_are_left_out_at_every_depth() {
        let pick = Pick::of(["a", "list"], ["all"]);
        let text = r#"{"a":1,"b":{"a":2},"list":[{"a":"x","c":[{}]},null,2.5],"all":{"c":[true]}}"#;
        let expected = json!({"a": 1, "list": [{"a": "x"}, null, 2.5], "all": {"c": [true]}});
        assert_eq!(pick.read(text.as_bytes()), Ok(expected));
        for odd in ["{\"b\":[}", "{\"a\":1", "{} {}", ""] {
            assert_eq!(pick.read(odd.as_bytes()), Err(("", BAD)), "{odd}");
        }
    }

    #[test]
    fn a_value_of_another_kind_is_a_fault_of_its_key() {
        let object = json!({"a": {"b": "x", "c": 7, "d": [1], "e": null}});
        let part = Part(&object);
        assert_eq!(part.text("/a/b"), Ok(Some("x")));
        assert_eq!(part.text("/a/c"), Err(("c", BAD)));
        assert_eq!(part.whole("/a/c"), Ok(Some(7)));
        assert_eq!(part.text("/a/e"), Ok(None));
        assert_eq!(part.at("/a/x").text("/y"), Ok(None));
        assert_eq!(part.list("/a/d").unwrap().count(), 1);
        assert_eq!(part.list("/a/f").unwrap().count(), 0);
        assert!(part.list("/a/b").is_err());
    }

    #[test]
    fn the_first_and_the_last_of_some_times() {
        let at = |second: i64| format!("1970-01-01T00:00:{second:02}Z");
        let items = json!([{"t": at(3)}, {"t": at(7)}, {}, {"t": at(5)}]);
        let object = json!({"b": at(2), "c": at(1), "old": "1969-12-31T00:00:00Z", "list": items});
        let part = Part(&object);
        assert_eq!(part.first_time(&["/a", "/b", "/c"]), Ok(2_000_000));
        assert_eq!(part.first_time(&["/a/x"]), Err(("x", RejectReason::EmptyMandatory)));
        assert_eq!(part.first_time(&["/a", "/old"]), Err(("a", RejectReason::NegativeTime)));
        assert_eq!(part.last_time("/list", "/t"), Ok(Some(7_000_000)));
        assert_eq!(part.last_time("/none", "/t"), Ok(None));
        let earliest = Part::earliest(part.list("/list").unwrap(), "/t").unwrap().unwrap();
        assert_eq!(*earliest.0, json!({"t": at(3)}));
        let of_none = Part::earliest(part.list("/none").unwrap(), "/t").unwrap();
        assert!(of_none.is_none());
    }

    #[test]
    fn an_item_is_found_by_all_of_its_texts() {
        let object = json!({"list": [{"a": "x"}, {"a": "x", "b": "y"}, {"a": "y", "b": "y"}]});
        let part = Part(&object);
        let found = part.item("/list", [("/a", "x"), ("/b", "y")]).unwrap().unwrap();
        assert_eq!(*found.0, object["list"][1]);
        assert!(part.item("/list", [("/a", "z")]).unwrap().is_none());
        let bad = json!({"list": [{"a": 7}]});
        assert_eq!(Part(&bad).item("/list", [("/a", "x")]).err(), Some(("a", BAD)));
    }
}
