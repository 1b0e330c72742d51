//! Reads lists of machines, with a line for each machine or for each change of one.
//!
//! In: lines, which a function of the source reads. Out: rows of `machine_events`: the first line
//! of a machine adds it, and a later one changes it. A capacity that a line leaves out does not
//! change. Each machine takes about 24 bytes of memory.

use rustc_hash::FxHashMap;

use super::fields::Fields;
use super::{Fault, Line, Remarks, machine_id};
use crate::schema::row_id;
use crate::sources::blocks::TextBlock;
use crate::sources::folder::RawPart;
use crate::sources::part::{HandOut, Notes, PartParser};
use crate::sources::rows::{Cell, RowBlock};

/// A machine as a line describes it, from a time on.
pub(in crate::sources) struct Listed<'a> {
    pub time_us: i64,
    pub name: &'a str,
    pub cores: Option<f32>,
    pub memory: Option<f32>,
    /// The columns that only this source has.
    pub own: Vec<Cell<'a>>,
}

/// Reads a line that was split into fields; `None` for a header.
type Read = for<'a> fn(&'a Fields, Line<'a>, &mut Remarks) -> Result<Option<Listed<'a>>, Fault>;

/// Makes rows of `machine_events` from lines.
pub(in crate::sources) struct Machines {
    part: u32,
    read: Read,
    field_count: usize,
    fields: Fields,
    known: FxHashMap<i64, (Option<f32>, Option<f32>)>,
    remarks: Remarks,
}

impl Machines {
    /// A parser of lines with `field_count` fields.
    pub(in crate::sources) fn new(part: &RawPart, field_count: usize, read: Read) -> Self {
        let (fields, known) = (Fields::default(), FxHashMap::default());
        Self { part: part.part, read, field_count, fields, known, remarks: Remarks::default() }
    }

    fn machine(&mut self, line: Line<'_>, rows: &mut RowBlock) -> Result<(), Fault> {
        let fields = self.fields.split_into(self.field_count, line.raw)?;
        let Some(listed) = (self.read)(fields, line, &mut self.remarks)? else { return Ok(()) };
        let number = machine_id(listed.name);
        let before = self.known.get(&number).copied();
        let (cores_before, memory_before) = before.unwrap_or_default();
        let (cores, memory) = (listed.cores.or(cores_before), listed.memory.or(memory_before));
        self.known.insert(number, (cores, memory));
        let mut cells = vec![
            Cell::I64(listed.time_us),
            Cell::I64(number),
            Cell::I32(if before.is_none() { 0 } else { 2 }),
            Cell::Missing,
            cores.into(),
            memory.into(),
            Cell::Text(listed.name),
        ];
        cells.extend(listed.own);
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
