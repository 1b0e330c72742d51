//! A value of an object, in any notation.
//!
//! In: JSON. Out: a [`Raw`] value, which is converted to the type of a column. `BigQuery` writes
//! 64-bit numbers as text, other programs as numbers; both are read.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::fields::NAME_MAX;
use super::super::reject::RejectReason;

/// A field of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::sources) enum Raw<'a> {
    /// Absent or null.
    #[default]
    Missing,
    Whole(i64),
    Float(f64),
    Bool(bool),
    Text(Cow<'a, str>),
    /// A list or an object, or a number out of range.
    Odd,
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Raw<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Raw<'de>, E> {
                Ok(Raw::Missing)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Raw<'de>, E> {
                Ok(Raw::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Raw<'de>, E> {
                Ok(Raw::Whole(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Raw<'de>, E> {
                Ok(i64::try_from(value).map_or(Raw::Odd, Raw::Whole))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Raw<'de>, E> {
                Ok(Raw::Float(value))
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Raw<'de>, E> {
                Ok(Raw::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Raw<'de>, E> {
                Ok(Raw::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw<'de>, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Raw::Odd)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Raw<'de>, A::Error> {
                while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Raw::Odd)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Raw<'_> {
    /// Whether it is missing or an empty text.
    pub(in crate::sources) fn is_absent(&self) -> bool {
        match self {
            Self::Missing => true,
            Self::Text(text) => text.is_empty(),
            _ => false,
        }
    }

    /// A whole number, which may be written as text.
    pub(in crate::sources) fn whole(&self) -> Result<Option<i64>, RejectReason> {
        match self {
            Self::Missing => Ok(None),
            Self::Whole(value) => Ok(Some(*value)),
            Self::Text(text) => text.parse().map(Some).map_err(|_| RejectReason::BadValue),
            _ => Err(RejectReason::BadValue),
        }
    }

    /// A whole number of 32 bits.
    pub(in crate::sources) fn small(&self) -> Result<Option<i32>, RejectReason> {
        let narrow = |value: i64| i32::try_from(value).map_err(|_| RejectReason::BadValue);
        self.whole()?.map(narrow).transpose()
    }

    /// A name; `None` if it is missing or empty.
    pub(in crate::sources) fn name(&self) -> Result<Option<&str>, RejectReason> {
        match self {
            Self::Missing => Ok(None),
            Self::Text(text) if NAME_MAX < text.len() => Err(RejectReason::OutOfRange),
            Self::Text(text) => Ok(Some(text.as_ref()).filter(|text| !text.is_empty())),
            _ => Err(RejectReason::BadValue),
        }
    }

    /// A number, which may be written as text.
    pub(in crate::sources) fn float(&self) -> Result<Option<f64>, RejectReason> {
        let value = match self {
            Self::Missing => return Ok(None),
            #[expect(clippy::cast_precision_loss, reason = "rounded as the text would be")]
            Self::Whole(value) => *value as f64,
            Self::Float(value) => *value,
            Self::Text(text) => text.parse().map_err(|_| RejectReason::BadValue)?,
            Self::Bool(_) | Self::Odd => return Err(RejectReason::BadValue),
        };
        // Columns hold 32 bits.
        #[expect(clippy::cast_possible_truncation, reason = "to see whether it fits")]
        let fits = (value as f32).is_finite();
        if fits { Ok(Some(value)) } else { Err(RejectReason::BadValue) }
    }
}

/// A value that must not be missing.
pub(in crate::sources) fn must<T>(
    value: Result<Option<T>, RejectReason>,
) -> Result<T, RejectReason> {
    value?.ok_or(RejectReason::EmptyMandatory)
}

/// Reads a value; null gives the default.
pub(in crate::sources) fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_beyond_32_bits_is_no_value() {
        assert_eq!(Raw::Float(3e38).float(), Ok(Some(3e38)));
        for text in ["1e39", "-1e39", "1e300", "inf", "NaN"] {
            assert!(Raw::Text(text.into()).float().is_err(), "{text}");
        }
        assert!(Raw::Float(1e39).float().is_err());
    }
}
