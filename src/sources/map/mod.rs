//! A map: the meaning and unit of each column of a table, and the meaning of its states.
//!
//! In: the text of a TOML file. Out: a [`Map`], or a mistake with its place. A map is checked as a
//! whole before the table is read; an unknown key, unit, pattern or outcome is an error at its
//! line, and is never ignored.

mod columns;
mod document;
mod fields;
mod values;

pub(super) use self::columns::{Form, MappedColumn};
pub use self::document::Map;
pub(super) use self::fields::{Field, Kind};
pub(super) use self::values::FATES;
