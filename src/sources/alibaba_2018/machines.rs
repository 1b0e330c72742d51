//! The machines: `machine_meta`, a row for each change of one.

use rustc_hash::FxHashSet;

use super::super::blocks::TextBlock;
use super::super::part::{HandOut, Notes, PartParser};
use super::super::rows::RowBlock;
use super::{
    Cell, Fault, Fields, Kind, Line, RejectReason, Remarks, Row, SOURCE, machine_id, share, time,
    whole,
};
use crate::schema::row_id;

/// Makes rows of `machine_events` of the lines.
pub(super) struct Machines {
    part: u32,
    fields: Fields,
    seen: FxHashSet<i64>,
    remarks: Remarks,
}

impl Machines {
    pub(super) fn new(part: u32) -> Self {
        let (fields, seen) = (Fields::default(), FxHashSet::default());
        Self { part, fields, seen, remarks: Remarks::default() }
    }

    fn machine(&mut self, line: Line<'_>, rows: &mut RowBlock) -> Result<(), Fault> {
        let fields = self.fields.split_into(Kind::Machines.field_count(SOURCE), line.raw)?;
        let row = Row { fields, line: line.raw };
        if line.number == 1 && row.raw(1) == b"time_stamp" {
            return Ok(());
        }
        let name = row.text(0, "machine_name")?;
        let time_us = time(&row, 1, "time_us")?.unwrap_or(0);
        let cores = match row.raw(4) {
            b"" => None,
            text => Some(whole(text).ok_or(("cpu_capacity", RejectReason::BadValue))?),
        };
        #[expect(clippy::cast_precision_loss, reason = "a count of cores")]
        let cores = cores.map(|cores| cores as f32);
        let memory = share(&row, 5, "memory_capacity", &mut self.remarks)?;
        let status = row.optional(6, "status")?;
        if status != Some("USING") {
            self.remarks.add("machines in another state than USING: counted with their capacity");
        }
        let number = machine_id(name);
        // The first row of a machine adds it; a later one says what has changed.
        let kind = if self.seen.insert(number) { 0 } else { 2 };
        let cells = [
            Cell::I64(time_us),
            Cell::I64(number),
            Cell::I32(kind),
            Cell::Missing,
            cores.into(),
            memory.into(),
            Cell::Text(name),
            row.optional(2, "failure_domain_1")?.into(),
            row.optional(3, "failure_domain_2")?.into(),
            status.into(),
        ];
        rows.push_row(row_id(self.part, line.number), &cells);
        Ok(())
    }
}

impl PartParser for Machines {
    fn parse(
        &mut self,
        text: &TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        _hand_out: &mut HandOut<'_>,
    ) {
        Line::each(text, first_line, rows, |line, rows| self.machine(line, rows));
    }

    fn notes(&mut self) -> Notes {
        Notes { remarks: self.remarks.all().collect(), ..Notes::default() }
    }
}
