//! The results of the studies on the lake.

use crate::answers::describe::{Described, Question, describe};
use crate::charts::Chart;
use crate::claims::Claim;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::checks::is_whole;
use crate::studies::distributions::Summary;
use crate::studies::mandai::Basis;

/// The claims, charts and notes so far.
#[derive(Default)]
pub(super) struct Found {
    pub(super) claims: Vec<Claim>,
    pub(super) charts: Vec<(String, Chart)>,
    pub(super) notes: Vec<String>,
}

/// Whether numbers from these tables are for the whole trace, for a part of it, or missing.
pub(in crate::answers::reproduce) fn basis(lake: &Lake, tables: &[Table]) -> Basis {
    if let Some(missing) = tables.iter().find(|table| !lake.has(**table)) {
        return Basis::Missing(format!("table {missing}"));
    }
    if !lake.manifest.origin.is_original() {
        return Basis::Partial("a synthetic or sampled trace".to_owned());
    }
    match tables.iter().find(|table| !is_whole(lake, **table)) {
        None => Basis::Whole,
        Some(table) => {
            let parts = lake
                .manifest
                .table(*table)
                .map(crate::lake::TableEntry::part_ranges)
                .unwrap_or_default();
            Basis::Partial(format!("{table} parts {parts}"))
        }
    }
}

/// The distribution that answers a question; `None` without its table.
pub(super) fn described(
    lake: &Lake,
    windows: Windows,
    question: Question,
    table: Table,
) -> Result<Option<Described>> {
    lake.has(table).then(|| describe(lake, windows, question)).transpose()
}

/// A statistic of the values of an outcome.
pub(super) fn value_of(
    described: Option<&Described>,
    outcome: &str,
    value: fn(&Summary) -> Option<f64>,
) -> Option<f64> {
    described?.summary(outcome).as_ref().and_then(value)
}
