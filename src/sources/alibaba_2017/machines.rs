//! The machines: `server_event.csv`, a row for each event of one.
//!
//! All machines are added at the start. An error keeps new work away for a time that the trace does
//! not say, and what runs may go on: it is a change of the machine, with its kind as the status.

use rustc_hash::FxHashMap;

use super::super::blocks::TextBlock;
use super::super::part::{HandOut, Notes, PartParser};
use super::super::records::machine_id;
use super::super::rows::RowBlock;
use super::{Cell, Fault, Fields, Kind, Line, RejectReason, Remarks, Row, SOURCE, amount};
use super::{is_header, signed_time_us};
use crate::schema::row_id;

/// What a machine has, where a row says it.
type Capacity = (Option<f32>, Option<f32>);

/// Makes rows of `machine_events` of the lines.
pub(super) struct Machines {
    part: u32,
    fields: Fields,
    seen: FxHashMap<i64, Capacity>,
    remarks: Remarks,
}

impl Machines {
    pub(super) fn new(part: u32) -> Self {
        let (fields, seen) = (Fields::default(), FxHashMap::default());
        Self { part, fields, seen, remarks: Remarks::default() }
    }

    fn machine(&mut self, line: Line<'_>, rows: &mut RowBlock) -> Result<(), Fault> {
        let fields = self.fields.split_into(Kind::Machines.field_count(SOURCE), line.raw)?;
        let row = Row { fields, line: line.raw };
        if is_header(&row, line.number) {
            return Ok(());
        }
        let time_us = match row.raw(0) {
            b"" => return Err(("time_us", RejectReason::EmptyMandatory)),
            text => signed_time_us(text, "time_us", &mut self.remarks)?,
        };
        let name = row.text(1, "machine_name")?;
        let kind = row.text(2, "status")?;
        if !["add", "softerror", "harderror"].contains(&kind) {
            return Err(("status", RejectReason::UnknownEventType));
        }
        let (cores, memory) =
            (amount(&row, 4, "cpu_capacity")?, amount(&row, 5, "memory_capacity")?);
        let detail = row.optional(3, "detail")?;
        if kind != "add" {
            self.remarks
                .add("errors of machines: the trace does not say for how long, none leaves");
        }
        let number = machine_id(name);
        // The first row of a machine adds it; a later one says what has changed.
        let before = self.seen.get(&number).copied();
        let (cores_before, memory_before) = before.unwrap_or_default();
        let (cores, memory) = (cores.or(cores_before), memory.or(memory_before));
        self.seen.insert(number, (cores, memory));
        let cells = [
            Cell::I64(time_us),
            Cell::I64(number),
            Cell::I32(if before.is_none() { 0 } else { 2 }),
            Cell::Missing,
            cores.into(),
            memory.into(),
            Cell::Text(name),
            Cell::Text(kind),
            detail.into(),
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
