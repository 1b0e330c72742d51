//! What changed between two sets of results: by result, table and value.

use serde::Serialize;

use crate::digits::number_in;

/// The name of the different item, its value before, and its value after.
pub type Difference = (String, String, String);

/// What changed in one result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResultChange {
    /// The result.
    pub name: String,
    /// Whether it is in both sets or in one.
    pub side: Side,
    /// Settings that differ, including program and source: name, before, after.
    pub settings: Vec<Difference>,
    /// Differences in the data behind the two results: files, span, rows and remarks.
    pub data: Vec<Difference>,
    /// The tables that both results have.
    pub tables: Vec<TableChange>,
    /// The tables that are not compared, each with the reason.
    pub not_compared: Vec<(String, String)>,
}

/// The name that stands for all tables of a result, if none is compared for the same reason.
pub const ALL_TABLES: &str = "all tables";

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
    /// The columns by which rows are paired. Empty if rows repeat; equal rows are then counted.
    pub key: Vec<String>,
    /// The number of rows that are in both.
    pub rows: usize,
    /// The number of these rows with a change.
    pub changed_rows: usize,
    /// Keys of rows that only the first table has.
    pub only_first: Vec<Vec<String>>,
    /// Keys of rows that only the second table has.
    pub only_second: Vec<Vec<String>>,
    /// Columns that only one table has.
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
    /// The unit that the row names, if it is the same in both. It is the unit of the CPU times and
    /// statistics of the row, not of its counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_unit: Option<String>,
    /// The difference, if both are numbers.
    pub change: Option<f64>,
    /// The difference divided by the first value, if that is not 0.
    pub relative: Option<f64>,
    /// The difference divided by the largest number of the column; in a column of shares, the
    /// difference itself.
    pub of_column: Option<f64>,
}

impl CellChange {
    /// Whether the numbers are parts of a whole, from 0 to 1.
    pub fn is_share(&self) -> bool {
        is_share(&self.column)
    }

    /// Whether the number counts or adds up something, so that it grows with the log.
    fn is_of_size(&self) -> bool {
        let mut words = self.column.split('_');
        let is_rate = self.column.contains("_per_");
        !self.is_share() && !is_rate && words.any(|word| OF_SIZE.contains(&word))
    }
}

/// Words in the names of columns that count or add up something.
const OF_SIZE: [&str; 16] = [
    "attempts",
    "count",
    "cpu",
    "cumulative",
    "events",
    "flags",
    "gpu",
    "jobs",
    "machines",
    "negatives",
    "positives",
    "risk",
    "stragglers",
    "tasks",
    "users",
    "windows",
];

impl TableChange {
    /// The largest change, compared with the largest number of its column: a change from 5 to 1,000
    /// jobs is small in a column of millions. For counts and sums, only the difference from
    /// `growth` (the relative change of the log) matters: in a log with half of the jobs, each of
    /// them halves. The edges of intervals and instants say less than other values. A variance,
    /// whose unit is a square, says least.
    pub fn largest(&self, growth: f64) -> Option<&CellChange> {
        let size = |cell: &&CellChange| match cell.column.as_str() {
            "variance" => f64::NEG_INFINITY,
            column if says_little(column) => f64::MIN,
            _ => cell.of_column.map_or(f64::NEG_INFINITY, |own| {
                let known = number_in(&cell.first).zip(cell.change);
                let known = known.filter(|(_, change)| cell.is_of_size() && *change != 0.0);
                let apart = known.map_or(1.0, |(first, change)| 1.0 - growth * first / change);
                (own * apart).abs()
            }),
        };
        self.cells.iter().rev().max_by(|one, other| size(one).total_cmp(&size(other)))
    }

    /// Whether both tables have rows but none in common, so that no value is compared.
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

/// Whether a column is an edge of an interval or an instant: other values say more.
fn says_little(column: &str) -> bool {
    let is_edge = column.split('_').any(|word| word == "low" || word == "high");
    is_edge || column.starts_with("first_use") || column.starts_with("last_use")
}

/// An estimate of the relative change of the number of jobs: that of the outcomes with a changed
/// count. 0 if it is unknown, or if an outcome without a change has more jobs.
pub fn growth(changes: &[ResultChange]) -> f64 {
    let outcomes = changes.iter().filter(|change| change.name == JOBS).flat_map(|own| &own.tables);
    let counts = outcomes.flat_map(|table| &table.cells).filter(|cell| cell.column == "count");
    let (mut first, mut more, mut most) = (0.0, 0.0, 0.0_f64);
    for cell in counts {
        let (Some(own), Some(change)) = (number_in(&cell.first), cell.change) else { continue };
        (first, more) = (first + own, more + change);
        most = most.max(cell.of_column.map_or(0.0, |of| if of == 0.0 { 0.0 } else { change / of }));
    }
    // A row without a change is not among the cells, but may be the largest of its column.
    if first <= 0.0 || first.max(first + more) < most { 0.0 } else { more / first }
}

/// The result with the number of jobs.
const JOBS: &str = "classify-jobs";

/// Whether a column has shares of a whole.
pub(super) fn is_share(column: &str) -> bool {
    column.contains("share")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell(column: &str, [first, second]: [f64; 2], most: f64) -> CellChange {
        CellChange {
            key: Vec::new(),
            column: column.to_owned(),
            first: first.to_string(),
            second: second.to_string(),
            row_unit: None,
            change: Some(second - first),
            relative: (first != 0.0).then(|| (second - first) / first.abs()),
            of_column: Some((second - first) / most),
        }
    }

    fn table(cells: Vec<CellChange>) -> TableChange {
        TableChange {
            file: String::new(),
            key: Vec::new(),
            rows: cells.len(),
            changed_rows: cells.len(),
            only_first: Vec::new(),
            only_second: Vec::new(),
            columns: Vec::new(),
            units: None,
            other_unit: Vec::new(),
            cells,
        }
    }

    fn outcomes(cells: Vec<CellChange>) -> Vec<ResultChange> {
        vec![ResultChange {
            name: JOBS.to_owned(),
            side: Side::Both,
            settings: Vec::new(),
            data: Vec::new(),
            tables: vec![table(cells)],
            not_compared: Vec::new(),
        }]
    }

    proptest! {
        /// Promise: if one log is a part of the other, the named change is not only due to its
        /// size.
        #[test]
        fn the_size_of_a_log_is_not_what_matters_most(
            counts in prop::collection::vec(1.0..1000.0_f64, 2..9),
            factor in 0.1..3.0_f64,
        ) {
            prop_assume!(0.05 < (factor - 1.0).abs());
            let most = counts.iter().copied().fold(0.0, f64::max) * factor.max(1.0);
            let all = |column| {
                let own = counts.iter().map(move |&count| cell(column, [count, count * factor], most));
                own.collect::<Vec<CellChange>>()
            };
            let growth = growth(&outcomes(all("count")));
            prop_assert!((growth - (factor - 1.0)).abs() < 1e-9, "{growth}");
            let share = cell("largest_job_share", [0.2, 0.21], 1.0);
            let table = table(all("jobs").into_iter().chain([share]).collect());
            prop_assert_eq!(&table.largest(growth).unwrap().column, "largest_job_share");
        }
    }

    #[test]
    fn a_count_that_changed_otherwise_matters() {
        let cells = vec![
            cell("jobs", [1000.0, 500.0], 1000.0),
            cell("jobs", [800.0, 390.0], 1000.0),
            cell("jobs", [200.0, 190.0], 1000.0),
        ];
        let halved = table(cells);
        assert_eq!(halved.largest(-0.5).unwrap().first, "200");
        assert_eq!(halved.largest(0.0).unwrap().first, "1000");
        // The lost amount halves with the log; a rate does not.
        let cells = vec![
            cell("net_cpu", [-100.0, -50.0], 100.0),
            cell("jobs_per_hour", [100.0, 101.0], 101.0),
            cell("jobs", [100.0, 48.0], 100.0),
        ];
        assert_eq!(table(cells).largest(-0.5).unwrap().column, "jobs");
    }

    #[test]
    fn growth_is_not_known_if_most_jobs_are_in_a_row_without_a_change() {
        let cells = vec![cell("count", [5.0, 10.0], 10_000.0), cell("count", [1.0, 2.0], 10_000.0)];
        assert_eq!(growth(&outcomes(cells)), 0.0);
        assert_eq!(growth(&[]), 0.0);
    }
}
