//! The fields of a row, by position.
//!
//! In: a line that was split into fields. Out: texts and numbers. A mandatory field that is empty,
//! or a field that does not parse, is a fault of its column.

use super::Fault;
use super::fields::{Fields, whole};
use super::states::{Fate, States, named, state_of};
use crate::sources::fields::careful_text;
use crate::sources::reject::RejectReason;

/// A line that was split into fields.
#[derive(Clone, Copy)]
pub(in crate::sources) struct Row<'a> {
    pub fields: &'a Fields,
    pub line: &'a [u8],
}

impl<'a> Row<'a> {
    pub(in crate::sources) fn raw(&self, idx: usize) -> &'a [u8] {
        self.fields.get(self.line, idx)
    }

    /// A text that must be there.
    pub(in crate::sources) fn text(
        &self,
        idx: usize,
        column: &'static str,
    ) -> Result<&'a str, Fault> {
        self.optional(idx, column)?.ok_or((column, RejectReason::EmptyMandatory))
    }

    pub(in crate::sources) fn optional(
        &self,
        idx: usize,
        column: &'static str,
    ) -> Result<Option<&'a str>, Fault> {
        let text = careful_text(self.raw(idx)).ok_or((column, RejectReason::BadValue))?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// A whole number that must be there.
    pub(in crate::sources) fn whole(&self, idx: usize, column: &'static str) -> Result<i64, Fault> {
        self.number(idx, column)?.ok_or((column, RejectReason::EmptyMandatory))
    }

    /// A whole number.
    pub(in crate::sources) fn number(
        &self,
        idx: usize,
        column: &'static str,
    ) -> Result<Option<i64>, Fault> {
        match self.raw(idx) {
            b"" => Ok(None),
            text => whole(text).map(Some).ok_or((column, RejectReason::BadValue)),
        }
    }

    /// A count that must be there.
    pub(in crate::sources) fn count(&self, idx: usize, column: &'static str) -> Result<i32, Fault> {
        let number = self.whole(idx, column)?;
        i32::try_from(number).map_err(|_| (column, RejectReason::OutOfRange))
    }

    /// The meaning of a state, and its name.
    pub(in crate::sources) fn state(
        &self,
        states: &States,
        idx: usize,
        column: &'static str,
    ) -> Result<(Fate, &'static str), Fault> {
        state_of(named(states, self.raw(idx)), self.raw(idx), column)
    }
}
