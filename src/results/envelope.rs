//! The JSON of a result: its name, the origin of its numbers, and the answer.
//!
//! In: nothing. Out: the type that is written and read back. The type of the answer depends on the
//! study; [`Envelope::read`] reads it.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::files::ResultFile;
use crate::lake::Gap;

/// The JSON of a result. Fields that are missing in older results are empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Envelope {
    /// Name and version of the program that wrote it.
    pub program: String,
    /// The version of the fields of this type.
    pub format_version: u32,
    /// What it answers: `account`, `sweep`, ...
    pub name: String,
    /// The command line that made it.
    #[serde(default)]
    pub command: Vec<String>,
    /// The kind of trace.
    #[serde(default)]
    pub source: Option<String>,
    /// The tables from which the result was made.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// Definitions and choices that affect the numbers: the plan of the study.
    #[serde(default)]
    pub settings: Value,
    /// Its charts.
    #[serde(default)]
    pub charts: Vec<Drawn>,
    /// Its other files.
    #[serde(default)]
    pub files: Vec<ResultFile>,
    /// What was found.
    #[serde(default)]
    pub answer: Value,
    /// The checksum of the analysis to which the result belongs. It is added after all other fields
    /// are written as text.
    #[serde(default, skip_serializing)]
    pub analysis_sha256: Option<String>,
    /// The checksum of all text before it; it is added last.
    #[serde(default, skip_serializing)]
    pub checksum: Option<String>,
    /// The answer as the type of its study, after it was read.
    #[serde(skip)]
    pub(crate) known: OnceLock<Option<Arc<dyn Any + Send + Sync>>>,
}

/// A table of the lake from which an answer was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Input {
    /// The table.
    pub table: String,
    /// Its parts, such as `1-17`.
    pub parts: String,
    /// Parts in the lake.
    pub part_count: Option<u64>,
    /// The total number of parts, if the names of parts give it.
    pub parts_of: Option<u64>,
    /// Rows in the lake.
    pub rows: Option<u64>,
    /// First time of a row in the lake, s.
    pub start_s: Option<f64>,
    /// Last time of a row in the lake, s.
    pub end_s: Option<f64>,
    /// The assumptions about its rows, each with how often it was made.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub remarks: BTreeMap<String, u64>,
    /// SHA-256 over the SHA-256 sums of the raw parts, in the order of their numbers.
    pub sha256: String,
    /// The gaps between the parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
}

impl Input {
    /// Whether no part is missing, as far as the names of the parts show this.
    pub(crate) fn is_whole(&self) -> bool {
        self.parts_of.zip(self.part_count).is_none_or(|(of, has)| of == has)
    }
}

/// A chart of an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drawn {
    /// The file, without folder and ending.
    pub file: String,
    /// The title.
    pub title: String,
    /// Definition, source and censoring.
    pub caption: String,
}

/// Settings that pages and sentences about every result need.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Measures {
    /// The definition of CPU time.
    #[serde(deserialize_with = "if_it_reads")]
    pub cpu: Option<String>,
    /// The definition of memory.
    #[serde(deserialize_with = "if_it_reads")]
    pub memory: Option<String>,
}

impl Envelope {
    /// The answer as the type of its study; it is read only once. `None` if the study was left out,
    /// or if the answer has another shape.
    pub fn found<T: DeserializeOwned + Send + Sync + 'static>(&self) -> Option<&T> {
        let read = || -> Option<Arc<dyn Any + Send + Sync>> { Some(Arc::new(self.read::<T>()?)) };
        let known = self.known.get_or_init(read).as_ref()?.downcast_ref();
        debug_assert!(known.is_some(), "`{}` has one type", self.name);
        known
    }

    /// Reads the answer as any type that covers a part of it; `None` if the study was left out, or
    /// if the answer has another shape.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        if is_left_out(&self.answer) { None } else { T::deserialize(&self.answer).ok() }
    }

    /// The reason, if there is nothing to show.
    pub fn nothing(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Nothing {
            nothing: Option<String>,
        }
        Nothing::deserialize(&self.answer).ok()?.nothing
    }

    /// Reads the settings as any type that covers a part of them. If they have another shape, the
    /// type's defaults are returned.
    pub fn chosen<T: DeserializeOwned + Default>(&self) -> T {
        T::deserialize(&self.settings).unwrap_or_default()
    }
}

/// The key of the sentence that says why a study has no answer for this trace.
pub const NOTHING: &str = "nothing";

/// Whether an answer consists only of the reason why there is none.
pub(super) fn is_left_out(answer: &Value) -> bool {
    answer.as_object().is_some_and(|keys| keys.len() == 1 && keys.contains_key(NOTHING))
}

/// Reads a setting whose type differs between studies; `None` if it has another type.
///
/// # Errors
/// The input is not JSON.
pub fn if_it_reads<'de, D, T>(source: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(T::deserialize(Value::deserialize(source)?).ok())
}

/// Reads an answer as this type and writes it again. The caller can check that nothing was lost.
///
/// # Errors
/// The value is not an answer of this type.
pub fn again<T: Serialize + DeserializeOwned>(answer: &Value) -> serde_json::Result<Value> {
    serde_json::to_value(T::deserialize(answer)?)
}

/// Reads a key that is present, so that null and a missing key can be distinguished.
///
/// # Errors
/// The key has a value of another type.
pub fn there<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    source: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(source).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_says_why_it_has_nothing() {
        let of = |answer| Envelope { answer, ..Envelope::default() };
        let why = "The table `task_events` is not loaded.";
        let left_out = of(json!({"nothing": why}));
        assert_eq!(left_out.nothing().as_deref(), Some(why));
        assert_eq!(left_out.read::<Value>(), None, "it has no answer");
        let unknown = of(json!({"nothing": why, "rows": []}));
        assert!(unknown.nothing().is_some() && unknown.read::<Value>().is_some());
        assert_eq!(of(json!({"rows": []})).nothing(), None);
    }
}
