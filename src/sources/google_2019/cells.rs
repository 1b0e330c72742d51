//! Turns the values of an object into the cells of a row.
//!
//! In: raw values, in the order of the columns. Out: a row, or its first fault.

use super::super::json::value::{Raw, must};
use super::super::records::Fault;
use super::super::reject::RejectReason;
use super::super::rows::{Cell, RowBlock};
use crate::schema::AMOUNT_MAX;

/// The cells of a row that have been read, and the first fault.
pub(super) struct Cells<'c> {
    cells: Vec<Cell<'c>>,
    pub(super) fault: Option<Fault>,
}

impl<'c> Cells<'c> {
    pub(super) fn new() -> Self {
        Self { cells: Vec::with_capacity(24), fault: None }
    }

    pub(super) fn put(&mut self, column: &'static str, cell: Result<Cell<'c>, RejectReason>) {
        self.cells.push(cell.unwrap_or_else(|reason| {
            self.fault.get_or_insert((column, reason));
            Cell::Missing
        }));
    }

    pub(super) fn nothing(&mut self) {
        self.cells.push(Cell::Missing);
    }

    pub(super) fn time(&mut self, column: &'static str, raw: &Raw<'_>) {
        let time = match raw.whole() {
            Ok(Some(time)) if time < 0 => Err(RejectReason::NegativeTime),
            other => must(other).map(Cell::I64),
        };
        self.put(column, time);
    }

    pub(super) fn id(&mut self, column: &'static str, raw: &Raw<'_>) {
        self.put(column, must(raw.whole()).map(Cell::I64));
    }

    /// An id; the value `nobody` is stored as missing.
    pub(super) fn id_or(&mut self, column: &'static str, raw: &Raw<'_>, nobody: i64) {
        self.put(column, raw.whole().map(|id| id.filter(|&id| id != nobody).into()));
    }

    pub(super) fn int(&mut self, column: &'static str, raw: &Raw<'_>) {
        self.put(column, raw.small().map(Cell::from));
    }

    pub(super) fn amount(&mut self, column: &'static str, raw: &Raw<'_>) {
        self.put(
            column,
            raw.float().and_then(|amount| amount.map(amount_of).transpose()).map(Cell::from),
        );
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lake keeps 32 bits")]
    pub(super) fn float(&mut self, column: &'static str, raw: &Raw<'_>) {
        self.put(column, raw.float().map(|value| value.map(|value| value as f32).into()));
    }

    pub(super) fn text(&mut self, column: &'static str, raw: &'c Raw<'_>) {
        self.put(column, raw.name().map(Cell::from));
    }

    pub(super) fn event(&mut self, event: Result<i32, RejectReason>) {
        self.put("event_type", event.map(Cell::I32));
    }

    /// Adds the row, or returns its first fault.
    pub(super) fn push(self, row_id: i64, rows: &mut RowBlock) -> Result<(), Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        rows.push_row(row_id, &self.cells);
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lake keeps 32 bits")]
pub(super) fn amount_of(amount: f64) -> Result<f32, RejectReason> {
    let amount = amount as f32;
    if (0.0..=AMOUNT_MAX).contains(&amount) { Ok(amount) } else { Err(RejectReason::OutOfRange) }
}

pub(super) fn amounts(list: &[Raw<'_>]) -> Result<Vec<f32>, RejectReason> {
    list.iter().map(|raw| amount_of(must(raw.float())?)).collect()
}

/// A list; an empty one is stored as missing.
pub(super) fn list(values: &Result<Vec<f32>, RejectReason>) -> Result<Cell<'_>, RejectReason> {
    match values {
        Ok(values) if values.is_empty() => Ok(Cell::Missing),
        Ok(values) => Ok(Cell::Floats(values)),
        Err(reason) => Err(*reason),
    }
}

/// The v2.1 number of an event; `None` for QUEUE and ENABLE.
pub(super) fn event_of(raw: &Raw<'_>) -> Result<Option<i32>, RejectReason> {
    match must(raw.whole())? {
        0 => Ok(Some(0)),
        1 | 2 => Ok(None),
        event @ 3..=10 => Ok(i32::try_from(event - 2).ok()),
        _ => Err(RejectReason::UnknownEventType),
    }
}

/// Why a row was added to the trace for a missing record, numbered as in v2.1; missing for recorded
/// rows.
pub(super) fn missing_of(raw: &Raw<'_>) -> Result<Cell<'static>, RejectReason> {
    Ok(raw.small()?.filter(|&kind| kind != 0).map(|kind| kind - 1).into())
}
