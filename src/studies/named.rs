//! Values by name, in the order in which they are shown.
//!
//! In: names that the program knows or has read. Out: a JSON object; its keys keep their order.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(Vec<(Cow<'static, str>, T)>);

impl<T> Named<T> {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Names with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> + Clone {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// Whether there are no values.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of values.
    pub const fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<N: Into<Cow<'static, str>>, T> FromIterator<(N, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Pairs<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or(0).min(1024));
                while let Some((name, value)) = map.next_entry::<String, T>()? {
                    pairs.push((Cow::Owned(name), value));
                }
                Ok(Named(pairs))
            }
        }

        source.deserialize_map(Pairs(PhantomData))
    }
}
