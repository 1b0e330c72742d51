//! The columns of the first rows of a table.

use serde_json::Value;

use super::words::MISSING_WORDS;
use crate::sources::records::lines::names_of;
use crate::sources::records::quotes::{Quotes, first_record};

/// The number of rows that are used.
const ROWS_LOOKED_AT: usize = 200;

/// A column of the table.
pub(super) struct Column {
    pub(super) name: String,
    /// Its cells, row by row; empty if a row has none.
    pub(super) cells: Vec<String>,
}

/// The columns of JSON objects.
pub(super) fn of_json(begin: &[u8]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    let lines = begin.split(|&byte| byte == b'\n').take(ROWS_LOOKED_AT);
    let read = |line: &[u8]| serde_json::from_slice::<Value>(line.trim_ascii()).ok();
    let rows: Vec<Value> = lines.filter_map(read).collect();
    for (row_idx, row) in rows.iter().enumerate() {
        each_value(row, "", &mut |name, value| {
            let idx = columns.iter().position(|column| column.name == name);
            let idx = idx.unwrap_or_else(|| {
                columns.push(Column { name: name.to_owned(), cells: Vec::new() });
                columns.len() - 1
            });
            let text = match value {
                Value::Null => return,
                Value::String(text) => text.trim().to_owned(),
                value => value.to_string(),
            };
            columns[idx].cells.resize(row_idx, String::new());
            columns[idx].cells.push(text);
        });
    }
    for column in &mut columns {
        column.cells.resize(rows.len(), String::new());
    }
    columns
}

/// Calls `take` with every value of an object, and of the objects in it, by its path (`t.submit`).
fn each_value<'v>(object: &'v Value, path: &str, take: &mut dyn FnMut(&str, &'v Value)) {
    for (name, value) in object.as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Object(_) => each_value(value, &path, take),
            _ => take(&path, value),
        }
    }
}

/// The separator and columns of lines of fields.
pub(super) fn of_fields(begin: &[u8]) -> (Option<u8>, Vec<Column>) {
    let names = |separator: u8| names_of(&first_record(begin, separator), separator);
    let count = |separator: &u8| names(*separator).len();
    // The first of the separators that give the most fields.
    let separator =
        *b",;\t|".iter().rev().max_by_key(|&separator| count(separator)).unwrap_or(&b',');
    let mut columns: Vec<Column> =
        names(separator).into_iter().map(|name| Column { name, cells: Vec::new() }).collect();
    // The last line may be cut off.
    let end = memchr::memrchr(b'\n', begin).unwrap_or(begin.len());
    let mut row_count = 0;
    Quotes::each_of(&begin[..end], Some(separator), |row| {
        if 0 < row_count {
            let mut cells = names_of(row.raw, separator).into_iter();
            for column in &mut columns {
                column.cells.push(cells.next().unwrap_or_default());
            }
        }
        row_count += 1;
        row_count <= ROWS_LOOKED_AT
    });
    (Some(separator), columns)
}

/// The cells of a column that are not missing.
pub(super) fn filled(column: &Column) -> impl Iterator<Item = &str> {
    let says = |cell: &&str| !cell.is_empty() && !MISSING_WORDS.contains(cell);
    column.cells.iter().map(String::as_str).filter(says)
}
