//! Tables of answers: each column has a unit, a meaning, and a mark if it is shown by default.
//!
//! In: cells, column by column. Out: a record batch. The meaning of a column is metadata of its
//! field. So it is part of the batch in all its uses, such as the Parquet file and the table on a
//! terminal. If a unit is not given, it follows from the end of the name. If a meaning is not
//! given, it is taken from the glossary.
//!
//! ```ignore
//! Frame::default()
//!     .text("outcome", names)
//!     .float("cpu", sums).unit("NCU-s")
//!     .float("largest_job_share", shares).about("CPU of the largest job over `cpu`")
//!     .view(&["outcome", "cpu"])
//!     .batch()
//! ```

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use arrow::record_batch::RecordBatch;

use super::glossary;

/// The metadata key of the unit of a field.
pub(crate) const UNIT: &str = "unit";

/// The metadata key of the meaning.
pub(crate) const MEANING: &str = "meaning";

/// The metadata key of columns that a terminal shows by default.
pub(crate) const VIEW: &str = "view";

/// The metadata key of columns of sentences, which tables do not cut.
pub(crate) const WHOLE: &str = "whole";

/// Builds a batch column by column.
#[derive(Default)]
pub struct Frame {
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl Frame {
    fn with(mut self, name: &str, data_type: DataType, array: ArrayRef) -> Self {
        self.fields.push(Field::new(name, data_type, true));
        self.columns.push(array);
        self
    }

    /// Adds a column of names.
    #[must_use]
    pub fn text<T: AsRef<str>>(self, name: &str, cells: impl IntoIterator<Item = T>) -> Self {
        self.with(
            name,
            DataType::Utf8,
            Arc::new(cells.into_iter().map(Some).collect::<StringArray>()),
        )
    }

    /// Adds a column of names, some of which may be missing.
    #[must_use]
    pub fn maybe_text<'a>(
        self,
        name: &str,
        cells: impl IntoIterator<Item = Option<&'a str>>,
    ) -> Self {
        self.with(name, DataType::Utf8, Arc::new(cells.into_iter().collect::<StringArray>()))
    }

    /// Adds a column of whole numbers.
    pub(crate) fn int(self, name: &str, cells: impl IntoIterator<Item = i64>) -> Self {
        self.with(name, DataType::Int64, Arc::new(Int64Array::from_iter_values(cells)))
    }

    /// Adds a column of whole numbers, some of which may be missing.
    pub(crate) fn maybe_int(
        self,
        name: &str,
        cells: impl IntoIterator<Item = Option<i64>>,
    ) -> Self {
        self.with(name, DataType::Int64, Arc::new(cells.into_iter().collect::<Int64Array>()))
    }

    /// Adds a column of counts.
    #[must_use]
    pub fn count(self, name: &str, cells: impl IntoIterator<Item = u64>) -> Self {
        self.int(name, cells.into_iter().map(|count| i64::try_from(count).unwrap_or(i64::MAX)))
    }

    /// Adds a column of counts, some of which may be unknown.
    #[must_use]
    pub fn maybe_count(self, name: &str, cells: impl IntoIterator<Item = Option<u64>>) -> Self {
        let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        self.maybe_int(name, cells.into_iter().map(|count| count.map(whole)))
    }

    /// Adds a column of quantities, some of which may be unknown.
    pub(crate) fn float(self, name: &str, cells: impl IntoIterator<Item = Option<f64>>) -> Self {
        self.with(name, DataType::Float64, Arc::new(cells.into_iter().collect::<Float64Array>()))
    }

    /// Adds a column of yes or no, some of which may be unknown.
    pub(crate) fn flag(self, name: &str, cells: impl IntoIterator<Item = Option<bool>>) -> Self {
        self.with(name, DataType::Boolean, Arc::new(cells.into_iter().collect::<BooleanArray>()))
    }

    /// Sets the unit of the column added last. It is needed if the name of the column does not end
    /// in its unit; an empty unit is ignored.
    pub(crate) fn unit(self, unit: &str) -> Self {
        if unit.is_empty() { self } else { self.noted(UNIT, unit) }
    }

    /// Sets the meaning of the column added last, in one line, instead of that in the glossary.
    #[must_use]
    pub fn about(self, meaning: &str) -> Self {
        self.noted(MEANING, meaning)
    }

    /// Marks the column added last as sentences: tables never cut them.
    pub(crate) fn whole(self) -> Self {
        self.noted(WHOLE, "yes")
    }

    fn noted(mut self, key: &str, text: &str) -> Self {
        if let Some(field) = self.fields.last_mut() {
            note(field, key, text.to_owned());
        }
        self
    }

    /// Marks the columns that a terminal shows by default. A name that ends in `*` stands for all
    /// columns that start with the text before it. Names of missing columns are ignored.
    pub(crate) fn view(mut self, names: &[&str]) -> Self {
        let is_named = |field: &Field| {
            names.iter().any(|name| match name.strip_suffix('*') {
                Some(begin) => field.name().starts_with(begin),
                None => field.name() == name,
            })
        };
        for field in self.fields.iter_mut().filter(|field| is_named(field)) {
            note(field, VIEW, "default".to_owned());
        }
        self
    }

    /// The batch.
    pub fn batch(self) -> RecordBatch {
        let fields: Vec<Field> = self.fields.into_iter().map(explained).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), self.columns)
            .expect("columns are of one length")
    }
}

fn note(field: &mut Field, key: &str, text: String) {
    field.metadata_mut().insert(key, text);
}

/// A field with a unit and a meaning. If it has none yet, the unit follows from its name, and the
/// meaning is taken from the glossary.
fn explained(mut field: Field) -> Field {
    let known: [(&str, Option<String>); 2] = [
        (UNIT, glossary::unit(field.name()).map(str::to_owned)),
        (MEANING, glossary::meaning(field.name())),
    ];
    for (key, text) in known {
        if let Some(text) = text.filter(|_| !field.metadata().contains_key(key)) {
            note(&mut field, key, text);
        }
    }
    field
}

/// Adds units and meanings to a batch that was built elsewhere, such as the result of a query.
pub fn explain(batch: &RecordBatch) -> RecordBatch {
    let fields: Vec<Field> = batch
        .schema()
        .fields()
        .iter()
        .map(|field: &FieldRef| explained(field.as_ref().clone()))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), batch.columns().to_vec())
        .expect("columns and types stay")
}

/// The metadata of a column under a key.
pub(crate) fn noted<'a>(field: &'a Field, key: &str) -> Option<&'a str> {
    field.metadata().get(key).map(String::as_str)
}

/// The unit of a column in brackets; `None` if the name of the column ends in it.
pub(crate) fn unit_in_header(field: &Field) -> Option<String> {
    let unit = noted(field, UNIT)?;
    (glossary::unit(field.name()) != Some(unit)).then(|| format!(" ({unit})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_say_what_they_are() {
        let batch = Frame::default()
            .text("outcome", ["finished"])
            .float("cpu", [Some(1.0)])
            .unit("NCU-s")
            .int("start_us", [5])
            .float("own", [None])
            .about("something else")
            .view(&["outcome", "c*"])
            .batch();
        let schema = batch.schema();
        let of = |name: &str, key: &str| {
            noted(schema.field_with_name(name).unwrap(), key).map(str::to_owned)
        };
        assert_eq!(of("cpu", UNIT).as_deref(), Some("NCU-s"));
        assert_eq!(of("start_us", UNIT).as_deref(), Some("us"));
        assert_eq!(of("outcome", UNIT), None);
        assert!(of("outcome", MEANING).is_some(), "the glossary knows outcomes");
        assert_eq!(of("own", MEANING).as_deref(), Some("something else"));
        assert_eq!(of("cpu", VIEW).as_deref(), Some("default"));
        assert_eq!(of("own", VIEW), None);
    }
}
