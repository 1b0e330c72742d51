//! Which rows and columns of a table are shown, and in which units.

use std::collections::BTreeMap;

use super::columns::{
    LOWER_BOUNDS, ON_FRONT, UNIT, UNNOTED, VARIANCE, beside, columns_kept, counts_no_waits,
    heading_in, is_bare, is_beside, is_in_file_only, is_name, is_on_page, is_shown_above, is_unit,
    repeats_jobs, says_the_same, sorted_by, with_harm_first,
};
use crate::digits::{HOURS_FROM_S, unit_of_use};
use crate::report::headings::{is_statistic, is_use, is_use_by_unit};
use crate::results::Table;
use crate::studies::meter::CpuDefinition;

/// The parts of a table that are shown.
pub(super) struct Kept<'a> {
    pub(super) columns: Vec<usize>,
    pub(super) rows: Vec<&'a [String]>,
    /// Units that all rows have in common.
    pub(super) units: Vec<&'a str>,
    pub(super) zero_rows: usize,
    /// The number of rows with values that only the file has.
    pub(super) beaten_rows: usize,
    /// Columns that are zero in each of several rows.
    pub(super) zero_columns: Vec<&'a str>,
    /// Columns with values that only the file has.
    pub(super) in_file_only: Vec<&'a str>,
    /// The positions of columns of CPU, GPU or memory time.
    pub(super) amounts: Vec<usize>,
    /// Whether these amounts are shown in hours.
    pub(super) in_hours: bool,
    /// The unit of these amounts in the file, if the table or its result names one.
    pub(super) unit: Option<&'a str>,
}

impl Kept<'_> {
    /// Whether a column holds lengths of time, in the unit that all rows have in common.
    pub(super) fn are_lengths(&self, column: &str) -> bool {
        self.units == ["s"] && is_statistic(column)
    }

    /// The units for the caption. The unit of amounts is in their headings.
    pub(super) fn units(&self, table: &Table) -> Vec<String> {
        let is_in_heading = |unit: &str| !self.amounts.is_empty() && self.unit == Some(unit);
        let units = self.units.iter().copied().filter(|unit| !is_in_heading(unit));
        let of_hours = self.unit.filter(|_| table.header.iter().any(|column| is_in_hours(column)));
        let of_hours = of_hours.map(|unit| format!("CPU in {}", in_hours(unit)));
        units.map(str::to_owned).chain(of_hours).collect()
    }

    /// The heading of a column. The heading of an amount includes its unit.
    pub(super) fn heading(&self, table: &Table, column: &str) -> String {
        // The caption has the unit.
        if self.unit.is_some() && is_in_hours(column) {
            return heading_in(table, column).replace(" (h)", "");
        }
        if !self.amounts.iter().any(|&idx| table.header[idx] == column) {
            return heading_in(table, column);
        }
        let is_of_gpus = column.split('_').any(|word| word == "gpu");
        let unit = if is_of_gpus { Some(CpuDefinition::GPU_UNIT) } else { self.unit };
        let unit = match (unit, self.in_hours) {
            (Some(unit), true) => in_hours(unit),
            (Some(unit), false) => unit.to_owned(),
            (None, true) => "h".to_owned(),
            (None, false) => "s".to_owned(),
        };
        format!("{} ({unit})", heading_in(table, column))
    }
}

pub(super) fn kept<'a>(table: &'a Table, unit: Option<&'a str>) -> Kept<'a> {
    let is_told = |row: &&Vec<String>| !says_nothing(&table.header, row) && !is_bare(table, row);
    let told = table.rows.iter().filter(is_told).map(Vec::as_slice);
    let (rows, beaten): (Vec<&[String]>, Vec<&[String]>) =
        told.partition(|row| is_on_page(table, row));
    let mut rows = one_group(&table.header, rows);
    sort(table, &mut rows);
    let (is_whole, kept_columns) = (table.rows.len() == table.row_count, columns_kept(table));
    let (mut columns, mut units, mut zero_columns) = (Vec::new(), Vec::new(), Vec::new());
    let (mut in_file_only, mut of_amounts) = (Vec::new(), None);
    for (idx, column) in table.header.iter().enumerate() {
        let cell = |row: &&'_ [String]| row.get(idx).cloned().unwrap_or_default();
        // A column of missing names (`-`) counts as a column without a value.
        if rows.iter().all(|row| matches!(cell(row).as_str(), "" | "-"))
            || is_shown_above(table, column)
            || repeats_jobs(table, column)
            || says_the_same(table, column)
            || counts_no_waits(table, column)
            || [IS_TOTAL, ON_FRONT, VARIANCE, LOWER_BOUNDS].contains(&column.as_str())
            // It is written next to its value, and is kept or left out together with it.
            || is_beside(&table.header, column)
        {
            continue;
        }
        let first = rows.first().and_then(|row| row.get(idx)).map_or("", String::as_str);
        if is_unit(column) && rows.iter().all(|row| cell(row) == first) {
            if column == UNIT {
                of_amounts = Some(first);
            }
            if !units.contains(&first) {
                units.push(first);
            }
            continue;
        }
        let is_zero = |row: &&'_ [String]| {
            let is_zero = |text: &str| text.parse::<f64>() == Ok(0.0);
            let bounds = beside(&table.header, column).bounds;
            let bounds = bounds.into_iter().flat_map(|(low, high)| [low, high]);
            let mut bounds = bounds.filter_map(|idx| row.get(idx));
            is_zero(&cell(row)) && bounds.all(|text| text.is_empty() || is_zero(text))
        };
        let may_drop = is_whole && !is_name(column) && !kept_columns.contains(&column.as_str());
        if may_drop && ZEROS_FROM <= rows.len() && rows.iter().all(is_zero) {
            if !UNNOTED.contains(&column.as_str()) {
                zero_columns.push(column.as_str());
            }
            continue;
        }
        if is_in_file_only(table, column) {
            in_file_only.push(column.as_str());
            continue;
        }
        columns.push(idx);
    }
    let columns = with_harm_first(&table.header, columns);
    let zero_rows = table.rows.iter().filter(|row| !is_told(row)).count();
    let amounts = amounts(&table.header, &columns, of_amounts);
    let in_hours = are_long(&amounts, &rows);
    Kept {
        columns,
        rows,
        units,
        zero_rows,
        beaten_rows: beaten.len(),
        zero_columns,
        in_file_only,
        amounts,
        in_hours,
        unit: of_amounts.or(unit),
    }
}

/// Sorts the rows in the order of the chart on the page.
fn sort(table: &Table, rows: &mut [&[String]]) {
    let place = |name: &&str| table.header.iter().position(|known| known == name);
    if let Some(idx) = place(&"what").filter(|_| table.file == EPISODES) {
        by_kind(rows, idx, place(&"share"));
        return;
    }
    for idx in sorted_by(table).iter().rev().filter_map(place) {
        let value = |row: &[String]| row.get(idx).and_then(|text| text.parse().ok());
        let value = |row: &[String]| -> f64 { value(row).unwrap_or(0.0) };
        rows.sort_by(|one, other| value(other).total_cmp(&value(one)));
    }
}

/// The table of episodes.
const EPISODES: &str = "episodes.csv";

/// Sorts episodes by kind and, within each kind, by share. The kind with the largest share of its
/// events comes first; machines come last.
fn by_kind(rows: &mut [&[String]], what: usize, share: Option<usize>) {
    let share = |row: &[String]| -> f64 {
        let text = share.and_then(|idx| row.get(idx));
        text.and_then(|text| text.parse().ok()).unwrap_or(0.0)
    };
    let kind = |row: &[String]| row.get(what).cloned().unwrap_or_default();
    let mut largest: BTreeMap<String, f64> = BTreeMap::new();
    for row in rows.iter() {
        let most = largest.entry(kind(row)).or_default();
        *most = most.max(share(row));
    }
    let is_of_machines = |row: &[String]| kind(row).starts_with("machines");
    rows.sort_by(|one, other| {
        let of_kind = |row: &[String]| largest.get(&kind(row)).copied().unwrap_or(0.0);
        is_of_machines(one)
            .cmp(&is_of_machines(other))
            .then(of_kind(other).total_cmp(&of_kind(one)))
            .then(kind(one).cmp(&kind(other)))
            .then(share(other).total_cmp(&share(one)))
    });
}

/// The rows without that of a single outcome, if it equals the row for all outcomes.
fn one_group<'a>(header: &[String], rows: Vec<&'a [String]>) -> Vec<&'a [String]> {
    let Some(place) = header.iter().position(|column| column == "outcome") else { return rows };
    let [all, one] = rows.as_slice() else { return rows };
    let differs = |idx: usize| idx != place && all.get(idx) != one.get(idx);
    let is_same =
        all.get(place).is_some_and(|name| name == "all") && !(0..header.len()).any(differs);
    if is_same { vec![*all] } else { rows }
}

/// Whether a column of the file has CPU time in hours, of processors or of another unit that the
/// result names.
fn is_in_hours(column: &str) -> bool {
    column.ends_with("cpu_h")
}

/// A unit of CPU, GPU or memory time with hours instead of seconds; other units as they are.
fn in_hours(unit: &str) -> String {
    unit_of_use(unit, HOURS_FROM_S).0
}

/// The columns of CPU, GPU and memory times; none if rows have different units.
fn amounts(header: &[String], columns: &[usize], unit: Option<&str>) -> Vec<usize> {
    let those = |is_one: fn(&str) -> bool| -> Vec<usize> {
        columns.iter().copied().filter(|&idx| is_one(&header[idx])).collect()
    };
    if columns.iter().any(|&idx| header[idx] == UNIT) {
        return Vec::new();
    }
    let named = those(is_use);
    let is_of_use = unit.is_some_and(|unit| in_hours(unit) != unit);
    if named.is_empty() && is_of_use { those(is_use_by_unit) } else { named }
}

/// Whether amounts are shown in hours, as in sentences and charts. They are if the largest amount
/// is at least an hour of one unit. They also are if all amounts are zero, because other tables of
/// the page are in hours.
fn are_long(amounts: &[usize], rows: &[&[String]]) -> bool {
    let cells = amounts.iter().flat_map(|&idx| rows.iter().filter_map(move |row| row.get(idx)));
    let seconds = cells.filter_map(|cell| cell.parse::<f64>().ok());
    let most = seconds.map(f64::abs).fold(0.0, f64::max);
    most == 0.0 || HOURS_FROM_S <= most
}

/// Columns of zeros are left out of tables with at least this many rows.
const ZEROS_FROM: usize = 2;

/// The column that marks the row of all groups together. Its page names that row instead.
const IS_TOTAL: &str = "is_total";

/// Whether a row is the one of all groups together.
pub(super) fn is_total(table: &Table, row: &[String]) -> bool {
    let place = table.header.iter().position(|column| column == IS_TOTAL);
    place.and_then(|idx| row.get(idx)).is_some_and(|text| text == "true")
}

/// Whether a row has a zero, but no other number and no `true`. Names and other texts do not count.
pub(super) fn says_nothing(header: &[String], row: &[String]) -> bool {
    // In a table by hour, hour 0 is not a value.
    let is_key = |column: &str| is_name(column) || column == "hour";
    let mut cells = header.iter().zip(row).filter(|(column, _)| !is_key(column));
    let is_zero = |cell: &str| cell.parse::<f64>().map(|number| number == 0.0);
    let has_zero = cells.clone().any(|(_, cell)| is_zero(cell) == Ok(true));
    has_zero && cells.all(|(_, cell)| is_zero(cell) != Ok(false) && cell != "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn episodes_are_sorted_by_kind_and_share() {
        let row = |what: &str, share: &str| vec![what.to_owned(), share.to_owned()];
        let all = [
            row("machines left", "0.9"),
            row("tasks killed", "0.2"),
            row("tasks failed", "0.1"),
            row("tasks failed", "0.4"),
            row("tasks killed", "0.3"),
        ];
        let mut rows: Vec<&[String]> = all.iter().map(Vec::as_slice).collect();
        by_kind(&mut rows, 0, Some(1));
        let shares: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
        assert_eq!(shares, ["0.4", "0.1", "0.3", "0.2", "0.9"]);
    }
}
