//! Plans as words. The same parsers read the file of an analysis and the flags of a command.
//!
//! In: options by name; each is a switch, a word or several words. Out: a plan, which `Deserialize`
//! reads, or the wrong option and the reason. `write` does the reverse.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::de::value::{MapAccessDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde::{Deserialize, Serialize, forward_to_deserialize_any};
use serde_json::Value;

use crate::notation::nearest;

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// A switch that is given or not.
    Flag(bool),
    /// One word.
    One(String),
    /// Several words.
    Many(Vec<String>),
}

impl From<&str> for Setting {
    fn from(text: &str) -> Self {
        Self::One(text.to_owned())
    }
}

/// Options by name.
pub type Section = BTreeMap<String, Setting>;

/// An option that is wrong, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The option, if it is known.
    pub key: Option<String>,
    /// The problem with the option.
    pub problem: String,
    /// Whether the option does not exist.
    pub is_unknown: bool,
}

impl Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) if !self.is_unknown => write!(f, "`{key}`: {}", self.problem),
            _ => f.write_str(&self.problem),
        }
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: Display>(problem: T) -> Self {
        Self { key: None, problem: problem.to_string(), is_unknown: false }
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        let meant = nearest(field, known.iter().copied());
        let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        let problem = format!("no `{field}` (known: {}){meant}", known.join(", "));
        Self { key: Some(field.to_owned()), problem, is_unknown: true }
    }
}

/// Reads a plan from its options. A missing option has the default of the plan.
///
/// # Errors
/// There is an option that the plan does not have, or a value that an option does not take.
pub fn read<T: DeserializeOwned>(section: &Section) -> Result<T, Wrong> {
    T::deserialize(MapAccessDeserializer::new(Options { rest: section.iter(), value: None }))
}

/// The options of a plan, without switches that are off and without empty lists.
pub fn write<T: Serialize>(plan: &T) -> Section {
    let word = |value: &Value| match value {
        Value::String(text) => text.clone(),
        // Written as users do: 3600, not 3600.0.
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or_else(String::new, |number| number.to_string())
        }
        other => other.to_string(),
    };
    let setting = |value: &Value| match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(Setting::Flag(true)),
        Value::Array(items) => match items.as_slice() {
            [] => None,
            [single] => Some(Setting::One(word(single))),
            several => Some(Setting::Many(several.iter().map(word).collect())),
        },
        single => Some(Setting::One(word(single))),
    };
    let Ok(Value::Object(options)) = serde_json::to_value(plan) else { return Section::new() };
    options.iter().filter_map(|(name, value)| Some((name.clone(), setting(value)?))).collect()
}

/// Options that are not read yet.
struct Options<'a> {
    rest: std::collections::btree_map::Iter<'a, String, Setting>,
    value: Option<(&'a str, &'a Setting)>,
}

impl<'de> MapAccess<'de> for Options<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Wrong> {
        let Some((name, setting)) = self.rest.next() else { return Ok(None) };
        self.value = Some((name, setting));
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let (name, setting) = self.value.take().expect("a value follows its key");
        let named = |wrong: Wrong| Wrong { key: Some(name.to_owned()), ..wrong };
        seed.deserialize(Of(setting.clone())).map_err(named)
    }
}

/// A value that is read as the type of the field.
pub struct Of(Setting);

impl Of {
    /// The single word of the value.
    fn word(&self) -> Result<&str, Wrong> {
        match &self.0 {
            Setting::One(word) => Ok(word),
            Setting::Flag(true) => Ok("true"),
            Setting::Flag(false) => Ok("false"),
            Setting::Many(_) => Err(de::Error::custom("takes one value and not several")),
        }
    }

    fn number<T: std::str::FromStr>(&self, what: &str) -> Result<T, Wrong> {
        let word = self.word()?;
        word.parse().map_err(|_| de::Error::custom(format!("`{word}` is not {what}")))
    }
}

/// Reads numbers of several types.
macro_rules! numbers {
    ($($method:ident $visit:ident $what:literal,)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
            visitor.$visit(self.number($what)?)
        })+
    };
}

impl<'de> Deserializer<'de> for Of {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.0 {
            Setting::Flag(is_set) => visitor.visit_bool(*is_set),
            Setting::One(word) => visitor.visit_str(word),
            Setting::Many(_) => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            Setting::Flag(is_set) => visitor.visit_bool(is_set),
            _ => Err(de::Error::custom("must be true or false")),
        }
    }

    numbers! {
        deserialize_u16 visit_u16 "a whole number from 0 to 65535",
        deserialize_u32 visit_u32 "a whole number from 0 to 4294967295",
        deserialize_u64 visit_u64 "a whole number of 0 or more",
        deserialize_i64 visit_i64 "a whole number",
        deserialize_f64 visit_f64 "a number",
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_str(self.word()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let words: Vec<Setting> = match self.0 {
            Setting::Many(words) => words.into_iter().map(Setting::One).collect(),
            single => vec![single],
        };
        visitor.visit_seq(SeqDeserializer::new(words.into_iter()))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_enum(self.word()?.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct map
        struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, Wrong> for Setting {
    type Deserializer = Of;

    fn into_deserializer(self) -> Of {
        Of(self)
    }
}

/// Reads one word or a list of words; a number or a boolean counts as a word.
struct Words;

impl<'de> Visitor<'de> for Words {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number or a list of them")
    }

    fn visit_bool<E: de::Error>(self, is_set: bool) -> Result<Self::Value, E> {
        Ok(vec![is_set.to_string()])
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(vec![number.to_string()])
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(vec![number.to_string()])
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(vec![number.to_string()])
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
        Ok(vec![word.to_owned()])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut words = Vec::new();
        while let Some(Word(word)) = items.next_element()? {
            words.push(word);
        }
        Ok(words)
    }
}

/// One word, which may be written as a number or a boolean.
struct Word(String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        match <[String; 1]>::try_from(source.deserialize_any(Words)?) {
            Ok([word]) => Ok(Self(word)),
            Err(_) => Err(de::Error::custom("takes one value and not several")),
        }
    }
}

/// Reads a value with the parser of its flag.
///
/// # Errors
/// The parser refuses the word, or there are several.
pub fn parsed<'de, D: Deserializer<'de>, T, E: Display>(
    source: D,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<T, D::Error> {
    parse(&Word::deserialize(source)?.0).map_err(de::Error::custom)
}

/// Reads a value that may be absent.
///
/// # Errors
/// The parser refuses the word, or there are several.
pub fn parsed_if<'de, D: Deserializer<'de>, T, E: Display>(
    source: D,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, D::Error> {
    let word: Option<Word> = Option::deserialize(source)?;
    word.map(|word| parse(&word.0).map_err(de::Error::custom)).transpose()
}

/// Reads a list whose members are separated by commas, with the parser of a member.
///
/// # Errors
/// The parser refuses a word.
pub fn parsed_list<'de, D: Deserializer<'de>, T, E: Display>(
    source: D,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<T>, D::Error> {
    let words = source.deserialize_any(Words)?;
    let pieces = words.iter().flat_map(|word| word.split(','));
    pieces.map(|piece| parse(piece).map_err(de::Error::custom)).collect()
}

/// Reads a list of values separated by commas.
///
/// # Errors
/// A value is not of the type.
pub fn commas<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    source: D,
) -> Result<Vec<T>, D::Error> {
    parsed_list(source, |word| T::deserialize(Of(word.into())))
}

/// Reads and writes a value as its text.
pub mod text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserializer, Serializer};

    /// Writes the value.
    ///
    /// # Errors
    /// The same errors as for the serializer.
    pub fn serialize<S: Serializer, T: Display>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    /// Reads the value.
    ///
    /// # Errors
    /// The text is not a value of the type.
    pub fn deserialize<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
        source: D,
    ) -> Result<T, D::Error> {
        super::parsed(source, str::parse)
    }
}

/// Reads and writes a value that may be absent.
pub mod maybe {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserializer, Serializer};

    /// Writes the value.
    ///
    /// # Errors
    /// The same errors as for the serializer.
    pub fn serialize<S: Serializer, T: Display>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.collect_str(value),
            None => to.serialize_none(),
        }
    }

    /// Reads the value.
    ///
    /// # Errors
    /// The text is not a value of the type.
    pub fn deserialize<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
        source: D,
    ) -> Result<Option<T>, D::Error> {
        super::parsed_if(source, str::parse)
    }
}

/// Reads and writes a list whose members are separated by commas.
pub mod texts {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserializer, Serializer};

    /// Writes the list.
    ///
    /// # Errors
    /// The same errors as for the serializer.
    pub fn serialize<S: Serializer, T: Display>(values: &[T], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(ToString::to_string))
    }

    /// Reads the list.
    ///
    /// # Errors
    /// A text is not a value of the type.
    pub fn deserialize<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
        source: D,
    ) -> Result<Vec<T>, D::Error> {
        super::parsed_list(source, str::parse)
    }
}

/// Defines functions with which serde reads a field, using the parser of its flag.
macro_rules! readers {
    ($($name:ident: $type:ty = $how:ident($parse:expr);)+) => {
        $(fn $name<'de, D: serde::Deserializer<'de>>(source: D) -> Result<$type, D::Error> {
            $crate::answers::words::$how(source, $parse)
        })+
    };
}
pub(crate) use readers;
