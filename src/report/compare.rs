//! Two sets of results side by side: what changed.
//!
//! In: stored results of two folders. Out: settings and inputs that differ, and of every table the
//! rows that are in one only and the numbers that changed. Rows are paired by the first columns
//! that tell them apart in both tables.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::stored::{Stored, Table};

/// What changed in one result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResultChange {
    /// The result.
    pub name: String,
    /// In which of the two it is.
    pub side: Side,
    /// Settings, inputs and program that differ: what, before, after.
    pub made_from: Vec<(String, String, String)>,
    /// Tables that both have.
    pub tables: Vec<TableChange>,
    /// Tables that are not compared, and why.
    pub not_compared: Vec<(String, &'static str)>,
}

/// Where something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// In both.
    Both,
    /// In the first only.
    First,
    /// In the second only.
    Second,
}

/// What changed in one table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableChange {
    /// The file.
    pub file: String,
    /// The columns that pair rows; `row` alone where none tell them apart: pairs by number.
    pub key: Vec<String>,
    /// Rows that are in both.
    pub rows: usize,
    /// Those of them with a change.
    pub changed_rows: usize,
    /// Keys of rows in the first only.
    pub only_first: Vec<Vec<String>>,
    /// Keys of rows in the second only.
    pub only_second: Vec<Vec<String>>,
    /// Columns in one only.
    pub columns: Vec<String>,
    /// Values that changed, by row and column.
    pub cells: Vec<CellChange>,
}

/// A value that changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellChange {
    /// The row.
    pub key: Vec<String>,
    /// The column.
    pub column: String,
    /// Before.
    pub first: String,
    /// After.
    pub second: String,
    /// The difference, of numbers.
    pub change: Option<f64>,
    /// The same as a share of the first, where that is not 0.
    pub relative: Option<f64>,
}

impl TableChange {
    /// The largest relative change.
    pub fn largest(&self) -> Option<&CellChange> {
        let size = |cell: &&CellChange| cell.relative.map_or(f64::NEG_INFINITY, f64::abs);
        self.cells.iter().max_by(|one, other| size(one).total_cmp(&size(other)))
    }

    /// Whether the two tables say the same.
    pub fn is_same(&self) -> bool {
        self.changed_rows == 0
            && self.only_first.is_empty()
            && self.only_second.is_empty()
            && self.columns.is_empty()
    }
}

/// Compares results of one name, name by name.
pub fn compare(first: &[Stored], second: &[Stored]) -> Vec<ResultChange> {
    let by_name = |all: &'_ [Stored]| -> BTreeMap<String, usize> {
        all.iter().enumerate().map(|(idx, result)| (result.name.clone(), idx)).collect()
    };
    let (ours, theirs) = (by_name(first), by_name(second));
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let of = |name: &&String| match (ours.get(*name), theirs.get(*name)) {
        (Some(&one), Some(&other)) => compare_results(&first[one], &second[other]),
        (one, _) => ResultChange {
            name: (*name).clone(),
            side: if one.is_some() { Side::First } else { Side::Second },
            made_from: Vec::new(),
            tables: Vec::new(),
            not_compared: Vec::new(),
        },
    };
    names.iter().map(of).collect()
}

fn compare_results(first: &Stored, second: &Stored) -> ResultChange {
    let mut made_from = Vec::new();
    for key in ["program", "source", "settings", "inputs"] {
        differences(key, &first.value[key], &second.value[key], &mut made_from);
    }
    let tables = first.tables.iter().filter_map(|table| {
        let other = second.tables.iter().find(|other| other.file == table.file)?;
        Some(compare_tables(table, other))
    });
    let tables = tables.collect();
    let has = |result: &Stored, file: &str| result.tables.iter().any(|table| table.file == file);
    let lacks = |result: &Stored, file: &str| {
        !has(result, file) && !result.left_out.iter().any(|name| name == file)
    };
    let mut not_compared: Vec<(String, &'static str)> = Vec::new();
    for (one, other, why) in
        [(first, second, "only in the first"), (second, first, "only in the second")]
    {
        let files = one.tables.iter().map(|table| &table.file).chain(&one.left_out);
        not_compared
            .extend(files.filter(|file| lacks(other, file)).map(|file| (file.clone(), why)));
    }
    let large = first.left_out.iter().chain(&second.left_out);
    let is_in_both = |file: &&String| !lacks(first, file) && !lacks(second, file);
    let large: BTreeSet<&String> = large.filter(is_in_both).collect();
    not_compared.extend(large.into_iter().map(|file| (file.clone(), "too large, or not there")));
    let name = first.name.clone();
    ResultChange { name, side: Side::Both, made_from, tables, not_compared }
}

/// Where two values differ, as far in as both have the same form.
fn differences(
    path: &str,
    first: &Value,
    second: &Value,
    found: &mut Vec<(String, String, String)>,
) {
    if first == second {
        return;
    }
    let word = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    match (first, second) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                differences(&format!("{path}.{key}"), &first[key], &second[key], found);
            }
        }
        (Value::Array(one), Value::Array(other))
            if one.len() == other.len() && one.iter().chain(other).all(Value::is_object) =>
        {
            for (place, (one, other)) in one.iter().zip(other).enumerate() {
                let name = one["table"].as_str().map_or(place.to_string(), str::to_owned);
                differences(&format!("{path}.{name}"), one, other, found);
            }
        }
        _ => found.push((path.to_owned(), word(first), word(second))),
    }
}

type Row<'a> = &'a [String];

/// The rows of a table by the cells of some columns, if these tell all of them apart.
fn by_key<'a>(table: &'a Table, places: &[usize]) -> Option<BTreeMap<Vec<String>, Row<'a>>> {
    let mut rows = BTreeMap::new();
    for row in &table.rows {
        let key: Vec<String> = places.iter().map(|&place| row[place].clone()).collect();
        if rows.insert(key, row.as_slice()).is_some() {
            return None;
        }
    }
    Some(rows)
}

/// The rows of a table by their number, where nothing else tells them apart.
fn by_number(table: &Table) -> BTreeMap<Vec<String>, Row<'_>> {
    (1..)
        .zip(&table.rows)
        .map(|(number, row)| (vec![format!("{number:07}")], row.as_slice()))
        .collect()
}

fn place_of(table: &Table, column: &str) -> usize {
    table.header.iter().position(|name| name == column).expect("a column of both tables")
}

fn compare_tables(first: &Table, second: &Table) -> TableChange {
    let common: Vec<&String> =
        first.header.iter().filter(|name| second.header.contains(name)).collect();
    let places = |table: &Table, count: usize| -> Vec<usize> {
        common[..count].iter().map(|name| place_of(table, name)).collect()
    };
    let keyed = (1..=common.len()).find_map(|count| {
        let one = by_key(first, &places(first, count))?;
        Some((count, one, by_key(second, &places(second, count))?))
    });
    let in_one = |one: &Table, other: &Table| -> Vec<String> {
        one.header.iter().filter(|name| !other.header.contains(name)).cloned().collect()
    };
    let columns = [in_one(first, second), in_one(second, first)].concat();
    let mut change = TableChange {
        file: first.file.clone(),
        key: Vec::new(),
        rows: 0,
        changed_rows: 0,
        only_first: Vec::new(),
        only_second: Vec::new(),
        columns,
        cells: Vec::new(),
    };
    let (count, ours, theirs) = keyed.unwrap_or_else(|| (0, by_number(first), by_number(second)));
    change.key = common[..count].iter().map(|name| (*name).clone()).collect();
    if count == 0 {
        change.key.push("row".to_owned());
    }
    change.only_second = theirs.keys().filter(|key| !ours.contains_key(*key)).cloned().collect();
    for (key, row) in &ours {
        let Some(other) = theirs.get(key) else {
            change.only_first.push(key.clone());
            continue;
        };
        change.rows += 1;
        let before = change.cells.len();
        for column in &common[count..] {
            let (one, other) = (&row[place_of(first, column)], &other[place_of(second, column)]);
            if one != other {
                change.cells.push(cell_change(key.clone(), column, one, other));
            }
        }
        change.changed_rows += usize::from(before < change.cells.len());
    }
    change
}

fn cell_change(key: Vec<String>, column: &str, first: &str, second: &str) -> CellChange {
    let numbers = first.parse::<f64>().ok().zip(second.parse::<f64>().ok());
    let change = numbers.map(|(one, other)| other - one).filter(|change| change.is_finite());
    let relative = numbers.zip(change).map(|((one, _), change)| change / one.abs());
    CellChange {
        key,
        column: column.to_owned(),
        first: first.to_owned(),
        second: second.to_owned(),
        change,
        relative: relative.filter(|share| share.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(header: &str, rows: &[&str]) -> Table {
        let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<String>>();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| cells(row)).collect();
        Table { file: "a.csv".into(), header: cells(header), row_count: rows.len(), rows }
    }

    #[test]
    fn rows_are_paired_by_what_tells_them_apart() {
        let first = table("outcome,class,cpu,old", &["a,1,10,x", "a,2,20,x", "b,1,0,x"]);
        let second = table("class,outcome,cpu,new", &["1,a,15,y", "2,a,20,y", "3,c,1,y"]);
        let change = compare_tables(&first, &second);
        assert_eq!(change.key, ["outcome", "class"]);
        assert_eq!((change.rows, change.changed_rows), (2, 1));
        assert_eq!(change.only_first, [["b", "1"]]);
        assert_eq!(change.only_second, [["c", "3"]]);
        assert_eq!(change.columns, ["old", "new"]);
        let cell = change.largest().unwrap();
        assert_eq!(
            (cell.column.as_str(), cell.change, cell.relative),
            ("cpu", Some(5.0), Some(0.5))
        );
        assert!(!change.is_same());
        assert!(compare_tables(&first, &first.clone()).is_same());
    }

    #[test]
    fn rows_that_nothing_tells_apart_are_paired_by_number() {
        let first = table("a,b", &["1,2", "1,2", "3,4"]);
        let second = table("a,b", &["1,2", "1,5", "3,4"]);
        let change = compare_tables(&first, &second);
        assert_eq!((change.key.as_slice(), change.rows), (&["row".to_owned()][..], 3));
        assert_eq!(change.cells.len(), 1);
        assert_eq!(
            (change.cells[0].key[0].as_str(), change.cells[0].change),
            ("0000002", Some(3.0))
        );
        assert!(!change.is_same() && compare_tables(&first, &first.clone()).is_same());
    }

    #[test]
    fn changes_from_nothing_have_no_share() {
        let cell = cell_change(Vec::new(), "x", "0", "5");
        assert_eq!((cell.change, cell.relative), (Some(5.0), None));
        let cell = cell_change(Vec::new(), "x", "", "5");
        assert_eq!((cell.change, cell.relative), (None, None));
    }

    #[test]
    fn settings_differ_as_deep_as_they_are_alike() {
        let (one, other) = (
            serde_json::json!({"windows": {"a": 1, "b": 2}, "cpu": "slots", "inputs": [{"table": "t", "rows": 1}]}),
            serde_json::json!({"windows": {"a": 1, "b": 3}, "cpu": "measured", "inputs": [{"table": "t", "rows": 2}]}),
        );
        let mut found = Vec::new();
        differences("s", &one, &other, &mut found);
        let paths: Vec<&str> = found.iter().map(|one| one.0.as_str()).collect();
        assert_eq!(paths, ["s.cpu", "s.inputs.t.rows", "s.windows.b"]);
        assert_eq!((found[0].1.as_str(), found[0].2.as_str()), ("slots", "measured"));
    }
}
