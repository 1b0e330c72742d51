//! Times, amounts and shares in a cell.

use crate::sources::fields;
use crate::sources::records::fields::whole;
use crate::sources::records::row::Row;
use crate::sources::records::{Fault, Remarks};
use crate::sources::reject::RejectReason;
use crate::units::MICROS_PER_SECOND;

/// A time, µs; `None` if it is empty or 0, which means outside of the trace.
pub(super) fn time(row: &Row<'_>, idx: usize, column: &'static str) -> Result<Option<i64>, Fault> {
    match row.raw(idx) {
        b"" => Ok(None),
        text => whole(text)
            .map(|second| Some(second * MICROS_PER_SECOND).filter(|&time| 0 < time))
            .ok_or((column, RejectReason::BadValue)),
    }
}

/// An amount that is written in hundredths; `None` if it is empty or -1 (unknown).
pub(super) fn amount(
    row: &Row<'_>,
    idx: usize,
    column: &'static str,
    remarks: &mut Remarks,
) -> Result<Option<f32>, Fault> {
    let text = row.raw(idx);
    if text.is_empty() {
        return Ok(None);
    }
    match fields::careful_f32(text) {
        Some(-1.0) => {
            remarks.add("amounts of -1 or 101: unknown");
            Ok(None)
        }
        Some(amount) if 0.0 <= amount => Ok(Some(amount / 100.0)),
        _ => Err((column, RejectReason::BadValue)),
    }
}

/// The same for a share of the largest machine's memory, where 101 also means unknown.
pub(super) fn share(
    row: &Row<'_>,
    idx: usize,
    column: &'static str,
    remarks: &mut Remarks,
) -> Result<Option<f32>, Fault> {
    if row.raw(idx) == b"101" {
        remarks.add("amounts of -1 or 101: unknown");
        return Ok(None);
    }
    amount(row, idx, column, remarks)
}
