//! Groups that only some lakes record.
//!
//! In: a lake, and the groups that an answer asks for. Out: nothing, or an error that names what
//! the lake does not record.

use crate::facts::jobs::{END_REASON, QOS};
use crate::faults::Usage;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::ledger::GroupBy;
use crate::studies::load::ACCOUNT;

/// Refuses a lake that does not record why jobs or tasks ended.
///
/// # Errors
/// The lake has the table, but not the reasons.
pub(crate) fn check_reasons(lake: &Lake, table: Table) -> Result<(), Usage> {
    if !lake.has(table) || lake.has_column(table, END_REASON) {
        return Ok(());
    }
    let text = format!("the lake does not record why jobs ended: {} has no reasons", lake.source());
    Err(Usage(text))
}

/// Refuses groups that the lake does not record.
///
/// # Errors
/// The lake does not record them.
pub(crate) fn check_group(lake: &Lake, group: GroupBy) -> Result<(), Usage> {
    match group {
        GroupBy::Reason => check_reasons(lake, Table::JobEvents),
        GroupBy::Qos if lake.has(Table::JobEvents) => check_qos(lake, Table::JobEvents),
        _ => Ok(()),
    }
}

/// Refuses a lake that does not record the account or group of users.
///
/// # Errors
/// It does not.
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
/// They have none.
pub(crate) fn check_qos(lake: &Lake, table: Table) -> Result<(), Usage> {
    if lake.has_column(table, QOS) {
        return Ok(());
    }
    let (source, table) = (lake.source().name(), table.name());
    Err(Usage(format!("the source `{source}` has no column `{QOS}` in `{table}`")))
}
