//! Checks for groups that only some lakes record.
//!
//! In: a lake, and the groups that an answer needs. Out: nothing, or an error that names what the
//! lake does not record.

use crate::facts::jobs::{ACCOUNT, END_REASON, LABELS, QOS};
use crate::faults::Usage;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::ledger::GroupBy;

/// Refuses a lake that does not record why jobs or tasks ended.
///
/// # Errors
/// The lake has the table, but no reasons.
pub(crate) fn check_reasons(lake: &Lake, table: Table) -> Result<(), Usage> {
    if !lake.has(table) || lake.has_column(table, END_REASON) {
        return Ok(());
    }
    let text = format!("the lake does not record why jobs ended: {} has no reasons", lake.source());
    Err(Usage(text))
}

/// Refuses a group that the lake does not record.
///
/// # Errors
/// The lake does not record the group.
pub(crate) fn check_group(lake: &Lake, group: GroupBy) -> Result<(), Usage> {
    match group {
        GroupBy::Reason => check_reasons(lake, Table::JobEvents),
        _ if !lake.has(Table::JobEvents) => Ok(()),
        GroupBy::Account => check_accounts(lake, Table::JobEvents),
        _ => match group.label() {
            Some(label) => check_label(lake, Table::JobEvents, LABELS[label]),
            None => Ok(()),
        },
    }
}

/// Refuses a lake that does not record the account or group of users.
///
/// # Errors
/// The lake does not record it.
pub(crate) fn check_accounts(lake: &Lake, table: Table) -> Result<(), Usage> {
    if lake.has_column(table, ACCOUNT) {
        return Ok(());
    }
    let source = lake.source().name();
    Err(Usage(format!("the source `{source}` records no accounts or groups of users")))
}

/// Refuses a lake whose jobs or tasks have no quality of service.
///
/// # Errors
/// The jobs or tasks have no quality of service.
pub(crate) fn check_qos(lake: &Lake, table: Table) -> Result<(), Usage> {
    check_label(lake, table, QOS)
}

fn check_label(lake: &Lake, table: Table, column: &'static str) -> Result<(), Usage> {
    if lake.has_column(table, column) {
        return Ok(());
    }
    let (source, table) = (lake.source().name(), table.name());
    Err(Usage(format!("the source `{source}` has no column `{column}` in `{table}`")))
}
