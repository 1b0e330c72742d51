//! The groups of questions.

use super::words::Question;
use crate::studies::course::Row;
use crate::studies::mandai::Basis;

/// The group of a row, in words.
pub(super) fn group(question: &Question, row: &Row) -> String {
    match (row.group_key, question.group) {
        (-1.0, _) => "all".to_owned(),
        (-2.0, what) => format!("{what} unknown"),
        (key, what) => format!("{what} {key}"),
    }
}

/// The tables and parts from which a question was answered, in words.
pub(super) fn scope(question: &Question, basis: &Basis) -> String {
    let names: Vec<&str> = question.tables.iter().map(|table| table.name()).collect();
    match basis {
        Basis::Whole => format!("{}, whole", names.join(", ")),
        Basis::Partial(parts) => format!("{}; {parts}", names.join(", ")),
        Basis::Missing(table) => format!("needs {table}"),
    }
}
