//! The machines: `server_event.csv`, one row per event.
//!
//! The trace adds all machines at its start. An error keeps new work off a machine for a time that
//! the trace does not give, while running work may continue. It is therefore stored as a change of
//! the machine, with the kind of error as the status.

use super::amounts::{amount, is_header, signed_time_us};
use crate::sources::records::fields::Fields;
use crate::sources::records::machines::Listed;
use crate::sources::records::row::Row;
use crate::sources::records::{Fault, Line, Remarks};
use crate::sources::reject::RejectReason;
use crate::sources::rows::Cell;

/// A machine from the time of an event; `None` for a header.
pub(super) fn listed<'a>(
    fields: &'a Fields,
    line: Line<'a>,
    remarks: &mut Remarks,
) -> Result<Option<Listed<'a>>, Fault> {
    let row = Row { fields, line: line.raw };
    if is_header(&row, line.number) {
        return Ok(None);
    }
    let time_us = match row.raw(0) {
        b"" => return Err(("time_us", RejectReason::EmptyMandatory)),
        text => signed_time_us(text, "time_us", remarks)?,
    };
    let name = row.text(1, "machine_name")?;
    let kind = row.text(2, "status")?;
    if !["add", "softerror", "harderror"].contains(&kind) {
        return Err(("status", RejectReason::UnknownEventType));
    }
    let (cores, memory) = (amount(&row, 4, "cpu_capacity")?, amount(&row, 5, "memory_capacity")?);
    let detail = row.optional(3, "detail")?;
    if kind != "add" {
        remarks.add("errors of machines without a duration: the machine stays");
    }
    let own = vec![Cell::Text(kind), detail.into()];
    Ok(Some(Listed { time_us, name, cores, memory, own }))
}
