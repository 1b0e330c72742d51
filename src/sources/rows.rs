//! Typed rows of one block of a part, column by column, and the lines that gave none.
//!
//! In: values pushed in the order of the table's columns. Out: whole columns with their missing
//! cells, ready to be stored. A row is either in every column or in none.

use std::iter::repeat_n;

use thiserror::Error;

use super::reject::{Reject, RejectReason, reject_text};
use crate::schema::{AMOUNT_MAX, Column, ColumnType, Source, Table};

/// The cells of one column. A missing cell holds a placeholder and is listed in `nulls`. If all
/// cells are missing, only their number is kept, since logs leave most columns empty.
#[derive(Debug, PartialEq)]
pub struct ColumnData {
    /// The cells, one per row.
    pub cells: Cells,
    /// Rows whose cell is missing, ascending.
    pub nulls: Vec<u32>,
    /// The number of rows if all cells are missing; `cells` and `nulls` are empty then.
    pub absent: u32,
}

/// Cells by how they are stored.
#[derive(Debug, PartialEq)]
pub enum Cells {
    /// Times, ids and large numbers.
    I64(Vec<i64>),
    /// Small whole numbers.
    I32(Vec<i32>),
    /// Quantities.
    F32(Vec<f32>),
    /// Yes or no.
    Bool(Vec<bool>),
    /// Names: `ends[i]` is where the i-th name ends in `bytes`.
    Text {
        /// Where each name ends.
        ends: Vec<u32>,
        /// All names, one after the other.
        bytes: String,
    },
    /// Lists of quantities: `ends[i]` is where the i-th ends in `values`.
    Lists {
        /// Where each list ends.
        ends: Vec<u32>,
        /// All values, one after the other.
        values: Vec<f32>,
    },
}

impl Cells {
    fn new(kind: ColumnType, capacity: usize) -> Self {
        match kind {
            ColumnType::Time | ColumnType::Id | ColumnType::Long => {
                Self::I64(Vec::with_capacity(capacity))
            }
            ColumnType::Int | ColumnType::Event(_) => Self::I32(Vec::with_capacity(capacity)),
            ColumnType::Float | ColumnType::Amount => Self::F32(Vec::with_capacity(capacity)),
            ColumnType::Bool => Self::Bool(Vec::with_capacity(capacity)),
            ColumnType::Text => Self::Text {
                ends: Vec::with_capacity(capacity),
                bytes: String::with_capacity(capacity * 48),
            },
            ColumnType::Floats => {
                Self::Lists { ends: Vec::with_capacity(capacity), values: Vec::new() }
            }
        }
    }

    pub(crate) fn push_missing(&mut self) {
        match self {
            Self::I64(cells) => cells.push(0),
            Self::I32(cells) => cells.push(0),
            Self::F32(cells) => cells.push(0.0),
            Self::Bool(cells) => cells.push(false),
            Self::Text { ends, bytes } => ends.push(end_of(bytes.len())),
            Self::Lists { ends, values } => ends.push(end_of(values.len())),
        }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        let Self::Text { ends, bytes } = self else {
            unreachable!("text goes into a text column");
        };
        bytes.push_str(text);
        ends.push(end_of(bytes.len()));
    }

    fn truncate(&mut self, row_count: usize) {
        match self {
            Self::I64(cells) => cells.truncate(row_count),
            Self::I32(cells) => cells.truncate(row_count),
            Self::F32(cells) => cells.truncate(row_count),
            Self::Bool(cells) => cells.truncate(row_count),
            Self::Text { ends, bytes } => {
                ends.truncate(row_count);
                bytes.truncate(ends.last().map_or(0, |&end| end as usize));
            }
            Self::Lists { ends, values } => {
                ends.truncate(row_count);
                values.truncate(ends.last().map_or(0, |&end| end as usize));
            }
        }
    }
}

fn end_of(len: usize) -> u32 {
    u32::try_from(len).expect("rows held at a time have less than 4 GiB of names")
}

/// The range of the cell of a row, given the end of each cell.
pub(crate) fn range_of(ends: &[u32], row: usize) -> std::ops::Range<usize> {
    let start = if row == 0 { 0 } else { ends[row - 1] as usize };
    start..ends[row] as usize
}

impl ColumnData {
    fn new(kind: ColumnType, capacity: usize) -> Self {
        Self { cells: Cells::new(kind, capacity), nulls: Vec::new(), absent: 0 }
    }

    /// Removes all rows but keeps the memory.
    fn clear(&mut self) {
        self.cells.truncate(0);
        self.nulls.clear();
        self.absent = 0;
    }

    /// Gives every row a placeholder, before the first cell with a value.
    fn fill(&mut self) {
        for row in 0..std::mem::take(&mut self.absent) {
            self.cells.push_missing();
            self.nulls.push(row);
        }
    }

    /// Adds a cell to `count` rows; the column has `base` rows before.
    fn push(&mut self, cell: Cell<'_>, count: usize, base: usize) {
        if matches!(cell, Cell::Missing) {
            return self.push_missing(count, base);
        }
        self.fill();
        match (&mut self.cells, cell) {
            (Cells::I64(cells), Cell::I64(value)) => cells.extend(repeat_n(value, count)),
            (Cells::I32(cells), Cell::I32(value)) => cells.extend(repeat_n(value, count)),
            (Cells::F32(cells), Cell::F32(value)) => cells.extend(repeat_n(value, count)),
            (Cells::Bool(cells), Cell::Bool(value)) => cells.extend(repeat_n(value, count)),
            (cells @ Cells::Text { .. }, Cell::Text(text)) => {
                (0..count).for_each(|_| cells.push_text(text));
            }
            (Cells::Lists { ends, values }, Cell::Floats(list)) => {
                for _ in 0..count {
                    values.extend_from_slice(list);
                    ends.push(end_of(values.len()));
                }
            }
            (_, cell) => unreachable!("{cell:?} does not fit its column"),
        }
    }

    /// Adds `count` missing cells after `base` rows.
    fn push_missing(&mut self, count: usize, base: usize) {
        let number = |row: usize| u32::try_from(row).expect("rows held at a time are few");
        if self.absent as usize == base {
            self.absent = number(base + count);
            return;
        }
        for row in base..base + count {
            self.cells.push_missing();
            self.nulls.push(number(row));
        }
    }

    /// Adds the cells of `rows` of another column of the same kind, with placeholders.
    fn extend_cells(&mut self, other: &Self, rows: &[u32]) {
        match (&mut self.cells, &other.cells) {
            (Cells::I64(own), Cells::I64(cells)) => {
                own.extend(rows.iter().map(|&row| cells[row as usize]));
            }
            (Cells::I32(own), Cells::I32(cells)) => {
                own.extend(rows.iter().map(|&row| cells[row as usize]));
            }
            (Cells::F32(own), Cells::F32(cells)) => {
                own.extend(rows.iter().map(|&row| cells[row as usize]));
            }
            (Cells::Bool(own), Cells::Bool(cells)) => {
                own.extend(rows.iter().map(|&row| cells[row as usize]));
            }
            (Cells::Text { ends: own_ends, bytes: own_bytes }, Cells::Text { ends, bytes }) => {
                for &row in rows {
                    own_bytes.push_str(&bytes[range_of(ends, row as usize)]);
                    own_ends.push(end_of(own_bytes.len()));
                }
            }
            (
                Cells::Lists { ends: own_ends, values: own_values },
                Cells::Lists { ends, values },
            ) => {
                for &row in rows {
                    own_values.extend_from_slice(&values[range_of(ends, row as usize)]);
                    own_ends.push(end_of(own_values.len()));
                }
            }
            _ => unreachable!("columns of one table are of one kind"),
        }
    }

    /// Adds the cells of `rows` (ascending) of another column of the same kind after `base` rows.
    fn append(&mut self, other: &Self, rows: &[u32], base: usize) {
        if rows.is_empty() {
            return;
        }
        if 0 < other.absent {
            return self.push_missing(rows.len(), base);
        }
        self.fill();
        self.extend_cells(other, rows);
        if other.nulls.is_empty() {
            return;
        }
        // Both lists ascend: walk them side by side.
        let mut nulls = other.nulls.iter().peekable();
        for (idx, row) in rows.iter().enumerate() {
            while nulls.next_if(|&null| null < row).is_some() {}
            if nulls.next_if_eq(&row).is_some() {
                self.nulls.push(u32::try_from(base + idx).expect("rows held at a time are few"));
            }
        }
    }
}

/// A value for a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A missing cell.
    Missing,
    /// A time, an id or a large number.
    I64(i64),
    /// A small whole number.
    I32(i32),
    /// A quantity.
    F32(f32),
    /// Yes or no.
    Bool(bool),
    /// A name.
    Text(&'a str),
    /// Several quantities.
    Floats(&'a [f32]),
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Missing, Cell::Text)
    }
}

impl From<Option<i64>> for Cell<'_> {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::Missing, Self::I64)
    }
}

impl From<Option<i32>> for Cell<'_> {
    fn from(value: Option<i32>) -> Self {
        value.map_or(Self::Missing, Self::I32)
    }
}

impl From<Option<f32>> for Cell<'_> {
    fn from(value: Option<f32>) -> Self {
        value.map_or(Self::Missing, Self::F32)
    }
}

/// The usable rows of one block of a part, and what was left out and why.
#[derive(Debug, PartialEq)]
pub struct RowBlock {
    /// The table.
    pub table: Table,
    /// The kind of trace, which decides the columns.
    pub source: Source,
    /// The file order of each row; see [`crate::schema::row_id`].
    pub row_ids: Vec<i64>,
    /// One per column of the table.
    pub columns: Vec<ColumnData>,
    /// Lines that could not be used.
    pub rejects: Vec<Reject>,
    /// Lines read, usable or not.
    pub line_count: u64,
}

impl RowBlock {
    /// An empty block with room for `capacity` rows.
    pub fn new(table: Table, source: Source, capacity: usize) -> Self {
        let columns = table
            .columns(source)
            .iter()
            .map(|column| ColumnData::new(column.kind, capacity))
            .collect();
        Self {
            table,
            source,
            row_ids: Vec::with_capacity(capacity),
            columns,
            rejects: Vec::new(),
            line_count: 0,
        }
    }

    /// Removes all rows but keeps the memory.
    pub fn clear(&mut self) {
        self.row_ids.clear();
        self.rejects.clear();
        self.line_count = 0;
        self.columns.iter_mut().for_each(ColumnData::clear);
    }

    /// Bytes of names and lists that the rows hold.
    pub fn text_bytes(&self) -> usize {
        let bytes = |column: &ColumnData| match &column.cells {
            Cells::Text { bytes, .. } => bytes.len(),
            Cells::Lists { values, .. } => values.len() * size_of::<f32>(),
            _ => 0,
        };
        self.columns.iter().map(bytes).sum()
    }

    /// The columns of the table.
    pub fn column_list(&self) -> &'static [Column] {
        self.table.columns(self.source)
    }

    /// Whether the table has a column of this name.
    pub fn has_column(&self, name: &str) -> bool {
        self.column_list().iter().any(|column| column.name == name)
    }

    /// Adds a row of a custom format, with its cells by column name; other columns are missing.
    ///
    /// # Errors
    /// A column is unknown, a cell does not fit its column, or a mandatory cell is missing. The row
    /// is then not added.
    pub fn add(&mut self, row_id: i64, cells: &[(&str, Cell<'_>)]) -> Result<(), RowError> {
        let columns = self.column_list();
        let mut row = vec![Cell::Missing; columns.len()];
        for &(name, cell) in cells {
            let fail = |problem| Err(RowError { column: name.to_owned(), problem });
            let Some(idx) = columns.iter().position(|column| column.name == name) else {
                return fail("is not a column of the table");
            };
            if let Some(problem) = misfit(columns[idx].kind, cell) {
                return fail(problem);
            }
            row[idx] = cell;
        }
        let is_needed = |(column, cell): &(&Column, &Cell<'_>)| {
            column.is_mandatory && matches!(cell, Cell::Missing)
        };
        if let Some((column, _)) = columns.iter().zip(&row).find(is_needed) {
            let problem = "is missing but mandatory";
            return Err(RowError { column: column.name.to_owned(), problem });
        }
        self.push_row(row_id, &row);
        Ok(())
    }

    /// Adds a line that gave no row, with the column at fault (empty for the whole line) and the
    /// reason.
    pub fn reject(&mut self, line: u64, column: &'static str, reason: RejectReason, raw: &[u8]) {
        self.rejects.push(Reject { line, column, reason, text: reject_text(raw) });
    }

    /// Adds a row with its cells in the order of the columns.
    pub(crate) fn push_row(&mut self, row_id: i64, cells: &[Cell<'_>]) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a row has every column");
        let base = self.row_ids.len();
        self.row_ids.push(row_id);
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(*cell, 1, base);
        }
    }

    /// Adds a row for each event (row id, time, type); `cells` has the cells of all other columns.
    pub(crate) fn push_events(
        &mut self,
        kind_idx: usize,
        events: &(impl Iterator<Item = (i64, i64, i32)> + Clone),
        cells: &[Cell<'_>],
    ) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a row has every column");
        let base = self.row_ids.len();
        self.row_ids.extend(events.clone().map(|(row_id, _, _)| row_id));
        let count = self.row_ids.len() - base;
        if count == 0 {
            return;
        }
        for (idx, (column, cell)) in self.columns.iter_mut().zip(cells).enumerate() {
            if idx == 0 || idx == kind_idx {
                for (row, (_, time_us, kind)) in (base..).zip(events.clone()) {
                    let cell = if idx == 0 { Cell::I64(time_us) } else { Cell::I32(kind) };
                    column.push(cell, 1, row);
                }
            } else {
                column.push(*cell, count, base);
            }
        }
    }

    /// The same rows in another order: row `order[i]` becomes row `i`.
    #[must_use]
    pub fn reordered(&self, order: &[u32]) -> Self {
        let mut ordered = Self::new(self.table, self.source, 0);
        ordered.row_ids.extend(order.iter().map(|&row| self.row_ids[row as usize]));
        let mut is_null = Vec::new();
        for (own, other) in ordered.columns.iter_mut().zip(&self.columns) {
            own.absent = other.absent;
            if 0 < other.absent {
                continue;
            }
            if let (Cells::Text { bytes: own, .. }, Cells::Text { bytes, .. }) =
                (&mut own.cells, &other.cells)
            {
                own.reserve_exact(bytes.len());
            }
            own.extend_cells(other, order);
            if other.nulls.is_empty() {
                continue;
            }
            is_null.clear();
            is_null.resize(self.row_ids.len(), false);
            other.nulls.iter().for_each(|&row| is_null[row as usize] = true);
            own.nulls.extend(
                (0_u32..).zip(order).filter(|(_, row)| is_null[**row as usize]).map(|(idx, _)| idx),
            );
        }
        ordered
    }

    /// Removes the cells of a row that was not completed.
    pub(crate) fn drop_unfinished_row(&mut self) {
        let row_count = self.row_ids.len();
        for column in &mut self.columns {
            column.absent = column.absent.min(u32::try_from(row_count).unwrap_or(u32::MAX));
            column.cells.truncate(row_count);
            while column.nulls.last().is_some_and(|&row| row_count <= row as usize) {
                column.nulls.pop();
            }
        }
    }

    /// Adds `rows` (ascending positions) of another block of the same table.
    pub fn append(&mut self, other: &Self, rows: &[u32]) {
        let base = self.row_ids.len();
        self.row_ids.extend(rows.iter().map(|&row| other.row_ids[row as usize]));
        for (column, data) in self.columns.iter_mut().zip(&other.columns) {
            column.append(data, rows, base);
        }
    }

    /// The cells of a column of whole 64-bit numbers.
    pub fn i64_cells(&self, column_idx: usize) -> &[i64] {
        match &self.columns[column_idx].cells {
            Cells::I64(cells) => cells,
            _ => unreachable!("times and ids are stored as i64"),
        }
    }
}

/// Why a cell does not fit a column of a kind; `None` if it fits.
fn misfit(kind: ColumnType, cell: Cell<'_>) -> Option<&'static str> {
    let problem = match (kind, cell) {
        (ColumnType::Time, Cell::I64(time)) if time < 0 => "is a time below 0",
        (ColumnType::Event(last), Cell::I32(number)) if !(0..=last).contains(&number) => {
            "is not a number of an event"
        }
        (ColumnType::Amount, Cell::F32(value)) if !(0.0..=AMOUNT_MAX).contains(&value) => {
            "is not an amount from 0 to 1,048,576"
        }
        (ColumnType::Float, Cell::F32(value)) if !value.is_finite() => "is not a finite number",
        (_, Cell::Missing)
        | (ColumnType::Id | ColumnType::Long | ColumnType::Time, Cell::I64(_))
        | (ColumnType::Int | ColumnType::Event(_), Cell::I32(_))
        | (ColumnType::Float | ColumnType::Amount, Cell::F32(_))
        | (ColumnType::Bool, Cell::Bool(_))
        | (ColumnType::Text, Cell::Text(_))
        | (ColumnType::Floats, Cell::Floats(_)) => return None,
        _ => "does not hold cells of this type",
    };
    Some(problem)
}

/// A row of a custom format that does not fit its table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column `{column}` {problem}")]
pub struct RowError {
    column: String,
    problem: &'static str,
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// What a column holds, row by row.
    fn platforms(block: &RowBlock) -> Vec<Option<String>> {
        let data = &block.columns[3];
        let Cells::Text { ends, bytes } = &data.cells else { unreachable!("a name") };
        let cell = |row: u32| {
            let is_there = data.absent == 0 && !data.nulls.contains(&row);
            is_there.then(|| bytes[range_of(ends, row as usize)].to_owned())
        };
        (0..u32::try_from(block.row_ids.len()).unwrap()).map(cell).collect()
    }

    fn block(platforms: &[Option<u8>]) -> RowBlock {
        let mut block = RowBlock::new(Table::MachineEvents, Source::Google2011, 0);
        for (row_id, platform) in (0..).zip(platforms) {
            let text = platform.map(|number| number.to_string());
            let platform = Cell::from(text.as_deref());
            let known = [Cell::I64(0), Cell::I64(1), Cell::I32(0)];
            let row = [&known[..], &[platform, Cell::Missing, Cell::Missing]].concat();
            block.push_row(row_id, &row);
        }
        block
    }

    proptest! {
        /// Promise: cells stay with their rows, no matter where and how many are missing.
        #[test]
        fn missing_cells_stay_missing(
            blocks in vec(vec((prop::option::weighted(0.2, 0..9_u8), any::<bool>()), 0..6), 0..5),
        ) {
            let mut all = RowBlock::new(Table::MachineEvents, Source::Google2011, 0);
            let mut expected = Vec::new();
            for drawn in &blocks {
                let cells: Vec<Option<u8>> = drawn.iter().map(|(cell, _)| *cell).collect();
                let chosen: Vec<u32> =
                    (0..).zip(drawn).filter(|(_, (_, is_in))| *is_in).map(|(row, _)| row).collect();
                all.append(&block(&cells), &chosen);
                let texts = chosen.iter().map(|&row| cells[row as usize].map(|cell| cell.to_string()));
                expected.extend(texts);
                prop_assert_eq!(&platforms(&all), &expected);
            }
            let order: Vec<u32> = (0..u32::try_from(expected.len()).unwrap()).rev().collect();
            expected.reverse();
            prop_assert_eq!(platforms(&all.reordered(&order)), expected);
            prop_assert_eq!(all.columns[4].absent as usize, all.row_ids.len());
            all.clear();
            prop_assert_eq!(platforms(&all), Vec::new());
        }
    }

    #[test]
    fn chosen_rows_keep_their_missing_cells() {
        let mut block = RowBlock::new(Table::MachineEvents, Source::Google2011, 4);
        for row in 0..4_u32 {
            block.row_ids.push(i64::from(row));
            for column in &mut block.columns {
                column.cells.push_missing();
                if row % 2 == 1 {
                    column.nulls.push(row);
                }
            }
        }
        let mut chosen = RowBlock::new(Table::MachineEvents, Source::Google2011, 0);
        chosen.append(&block, &[0, 1]);
        chosen.append(&block, &[1, 2, 3]);
        assert_eq!(chosen.row_ids, [0, 1, 1, 2, 3]);
        assert_eq!(chosen.columns[3].nulls, [1, 2, 4]);
        let turned = chosen.reordered(&[4, 0, 3, 2, 1]);
        assert_eq!(turned.row_ids, [3, 0, 2, 1, 1]);
        assert_eq!(turned.columns[3].nulls, [0, 3, 4]);
    }
}
