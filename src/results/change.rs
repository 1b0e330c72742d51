//! What changed between two sets of results: by result, table and value.

use serde::Serialize;

/// The name of what differs, its value before, and its value after.
pub type Difference = (String, String, String);

/// What changed in one result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResultChange {
    /// The result.
    pub name: String,
    /// Whether it is in both sets or in one.
    pub side: Side,
    /// Program, source and settings that differ: what, before, after.
    pub settings: Vec<Difference>,
    /// Differences in the data behind the two: files, span, rows and remarks.
    pub data: Vec<Difference>,
    /// Tables that both have.
    pub tables: Vec<TableChange>,
    /// Tables that are not compared, and why.
    pub not_compared: Vec<(String, String)>,
}

/// The sets that a result is in.
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
    /// The columns that pair rows; empty if rows repeat, so that equal rows are counted.
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
    /// The two units, if they differ: numbers in these units are not compared.
    pub units: Option<(String, String)>,
    /// Columns that are not compared because of their units.
    pub other_unit: Vec<String>,
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
    /// The unit that the row names, if it is the same in both, and of the CPU times and statistics of
    /// the row, not of its counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_unit: Option<String>,
    /// The difference, if both are numbers.
    pub change: Option<f64>,
    /// The difference over the first value, if that is not 0.
    pub relative: Option<f64>,
    /// The difference over the largest number of the column; for a column of shares, the difference
    /// itself.
    pub of_column: Option<f64>,
}

impl CellChange {
    /// Whether the numbers are parts of a whole, from 0 to 1.
    pub fn is_share(&self) -> bool {
        is_share(&self.column)
    }
}

impl TableChange {
    /// The largest change, measured against the largest number of its column: from 5 to 1,000 jobs
    /// is a small change in a column of millions. A variance, whose unit is a square, says less than
    /// any other value.
    pub fn largest(&self) -> Option<&CellChange> {
        let size = |cell: &&CellChange| match cell.column.as_str() {
            "variance" => f64::NEG_INFINITY,
            _ => cell.of_column.map_or(f64::NEG_INFINITY, f64::abs),
        };
        self.cells.iter().rev().max_by(|one, other| size(one).total_cmp(&size(other)))
    }

    /// Whether both tables have rows and none is in both, so that no value is compared.
    pub fn has_no_pairs(&self) -> bool {
        self.rows == 0 && !self.only_first.is_empty() && !self.only_second.is_empty()
    }

    /// Whether the two tables are the same.
    pub fn is_same(&self) -> bool {
        self.changed_rows == 0
            && self.only_first.is_empty()
            && self.only_second.is_empty()
            && self.columns.is_empty()
            && self.units.is_none()
    }
}

/// Whether a column has shares of a whole.
pub(super) fn is_share(column: &str) -> bool {
    column.contains("share")
}
