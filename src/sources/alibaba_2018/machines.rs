//! The machines: `machine_meta`, one row per change of a machine.

use super::amounts::{share, time};
use crate::sources::records::fields::{Fields, whole};
use crate::sources::records::machines::Listed;
use crate::sources::records::row::Row;
use crate::sources::records::{Fault, Line, Remarks};
use crate::sources::reject::RejectReason;
use crate::sources::rows::Cell;

/// A machine from the time of a change; `None` for a header.
pub(super) fn listed<'a>(
    fields: &'a Fields,
    line: Line<'a>,
    remarks: &mut Remarks,
) -> Result<Option<Listed<'a>>, Fault> {
    let row = Row { fields, line: line.raw };
    if line.number == 1 && row.raw(1) == b"time_stamp" {
        return Ok(None);
    }
    let name = row.text(0, "machine_name")?;
    let time_us = time(&row, 1, "time_us")?.unwrap_or(0);
    let cores = match row.raw(4) {
        b"" => None,
        text => Some(whole(text).ok_or(("cpu_capacity", RejectReason::BadValue))?),
    };
    #[expect(clippy::cast_precision_loss, reason = "a count of cores")]
    let cores = cores.map(|cores| cores as f32);
    let memory = share(&row, 5, "memory_capacity", remarks)?;
    let status = row.optional(6, "status")?;
    if status != Some("USING") {
        remarks.add("machines in a state other than USING: capacity counted");
    }
    let domains = [row.optional(2, "failure_domain_1")?, row.optional(3, "failure_domain_2")?];
    let own = domains.into_iter().chain([status]).map(Cell::from).collect();
    Ok(Some(Listed { time_us, name, cores, memory, own }))
}
