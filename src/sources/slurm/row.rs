//! A row of the table, by columns.

use super::columns::{Col, Layout};
use crate::sources::fields;
use crate::sources::records::amounts::tally;
use crate::sources::records::clock::{Clock, first};
use crate::sources::records::fields::{Fields, span_us, whole};
use crate::sources::records::{Fault, Remarks};
use crate::sources::reject::RejectReason;
use crate::sources::zone::{Instant, Stamp};
use crate::units::MICROS_PER_SECOND;

/// A line that was split into fields.
pub(super) struct Row<'a> {
    pub(super) layout: &'a Layout,
    pub(super) fields: &'a Fields,
    pub(super) line: &'a [u8],
    pub(super) clock: &'a Clock,
}

impl<'a> Row<'a> {
    /// The field of a column; empty if it is missing.
    pub(super) fn raw(&self, column: Col) -> &'a [u8] {
        self.layout.places[column as usize].map_or(&[][..], |idx| self.fields.get(self.line, idx))
    }

    /// A text; words such as `Unknown` are missing.
    pub(super) fn text(&self, column: Col) -> Result<Option<&'a str>, Fault> {
        match fields::careful_text(self.raw(column)) {
            None => Err((column.name(), RejectReason::BadValue)),
            Some("" | "Unknown" | "None" | "None assigned" | "(null)" | "N/A") => Ok(None),
            Some(text) => Ok(Some(text)),
        }
    }

    /// A time, µs since 1970; the first if the clock showed it twice.
    pub(super) fn time(&self, column: Col, remarks: &mut Remarks) -> Result<Option<i64>, Fault> {
        Ok(self.instant(column, remarks)?.map(|instant| first(instant, remarks)))
    }

    /// The instant of a time, which may be ambiguous, µs since 1970. The zero of a clock stands for
    /// an unknown time.
    pub(super) fn instant(
        &self,
        column: Col,
        remarks: &mut Remarks,
    ) -> Result<Option<Instant>, Fault> {
        let raw = self.raw(column);
        if matches!(raw, b"" | b"Unknown" | b"None" | b"N/A" | b"0" | b"NONE") {
            return Ok(None);
        }
        if let Some(seconds) = whole(raw) {
            return Ok(Some(Instant::Once(seconds * MICROS_PER_SECOND)));
        }
        let stamp = Stamp::iso(raw).ok_or((column.name(), RejectReason::BadValue))?;
        let instant = self.clock.instant(stamp, remarks);
        if instant.first() == 0 || stamp == Stamp::Local(0) {
            remarks.add_once("1970-01-01T00:00:00: taken as an unknown time");
            return Ok(None);
        }
        Ok(Some(instant))
    }

    /// A length of time, µs.
    pub(super) fn span(&self, column: Col) -> Result<Option<i64>, Fault> {
        match self.raw(column) {
            b"" | b"Unknown" | b"INVALID" => Ok(None),
            raw => span_us(raw).map(Some).ok_or((column.name(), RejectReason::BadValue)),
        }
    }

    /// A count; 0 is missing.
    pub(super) fn count(&self, column: Col) -> Result<Option<i32>, Fault> {
        let raw = self.raw(column);
        if matches!(raw, b"" | b"Unknown" | b"N/A") {
            return Ok(None);
        }
        let count = tally(raw).and_then(|count| i32::try_from(count).ok());
        let count = count.ok_or((column.name(), RejectReason::BadValue))?;
        Ok(Some(count).filter(|&count| 0 < count))
    }
}
