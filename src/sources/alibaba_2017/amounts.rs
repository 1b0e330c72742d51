//! What the tables share: headers, times and amounts.

use crate::sources::fields;
use crate::sources::records::fields::whole;
use crate::sources::records::row::Row;
use crate::sources::records::{Fault, Remarks};
use crate::sources::reject::RejectReason;
use crate::units::MICROS_PER_SECOND;

/// Some copies of the trace have a header.
pub(super) fn is_header(row: &Row<'_>, number: u64) -> bool {
    number == 1 && row.raw(0).first().is_some_and(u8::is_ascii_alphabetic)
}

/// The CPU request of each instance, cores; the column has hundredths of a core.
pub(super) fn cores(row: &Row<'_>) -> Result<Option<f32>, Fault> {
    Ok(amount(row, 6, "plan_cpu")?.map(|hundredths| hundredths / 100.0))
}

/// An amount; `None` if the field is empty.
pub(super) fn amount(
    row: &Row<'_>,
    idx: usize,
    column: &'static str,
) -> Result<Option<f32>, Fault> {
    match row.raw(idx) {
        b"" => Ok(None),
        text => fields::careful_f32(text)
            .filter(|value| 0.0 <= *value)
            .map(Some)
            .ok_or((column, RejectReason::BadValue)),
    }
}

/// Reads seconds as µs; a time before the trace counts as its start.
pub(super) fn signed_time_us(
    text: &[u8],
    column: &'static str,
    remarks: &mut Remarks,
) -> Result<i64, Fault> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let seconds = whole(digits).ok_or((column, RejectReason::BadValue))?;
    if digits.len() < text.len() {
        remarks.add("times before the trace: set to its start");
        return Ok(0);
    }
    Ok(seconds * MICROS_PER_SECOND)
}
