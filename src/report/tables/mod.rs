//! Stored tables on a page: empty parts are left out, and long tables are folded.
//!
//! In: a table of a result. Out: the table as HTML with a link to its file. Left out are columns
//! without a value, variances, units that are the same in all rows (the caption has them), rows
//! whose numbers are all zero or unknown, and columns that are zero in every row. The omitted rows
//! are counted, and columns of zeros are named, as are those that only the file has. Intervals and
//! units of single rows are in the cells of their values. Rows with a threshold and no effect are
//! folded. The file has everything.

pub(super) mod cells;
mod columns;

use self::cells::cell_of;
use self::columns::{
    LOWER_BOUNDS, ON_FRONT, THRESHOLD, UNIT, UNNOTED, VARIANCE, beside, columns_kept,
    counts_no_waits, has_no_machines, heading_in, is_bare, is_beside, is_folded, is_in_file_only,
    is_name, is_on_page, is_shown_above, is_unit, repeats_jobs, says_the_same, sorted_by,
    with_harm_first,
};
use super::headings::{heading, is_statistic, is_use, is_use_by_unit};
use super::html::{self, Cell};
use super::indices::{IndexColumn, OfIndices};
use super::links::Links;
use super::text::escape;
use crate::digits::{HOURS_FROM_S, counted, grouped, unit_of_use};
use crate::results::Table;
use crate::studies::meter::CpuDefinition;

/// A table of more rows is folded.
const FOLDED_ABOVE: usize = 40;

/// Rows of a folded table that a page holds.
pub(super) const FOLDED_ROWS: usize = 100;

/// Whether a row has a zero and, names apart, no number except zeros and no `true`; other texts do
/// not count.
fn says_nothing(header: &[String], row: &[String]) -> bool {
    // Of a table by hour, hour 0 is no value.
    let is_key = |column: &str| is_name(column) || column == "hour";
    let mut cells = header.iter().zip(row).filter(|(column, _)| !is_key(column));
    let is_zero = |cell: &str| cell.parse::<f64>().map(|number| number == 0.0);
    let has_zero = cells.clone().any(|(_, cell)| is_zero(cell) == Ok(true));
    has_zero && cells.all(|(_, cell)| is_zero(cell) != Ok(false) && cell != "true")
}

/// Whether a row has a threshold, and other numbers that are all zero, apart from the number of tasks that
/// the rule acts on: to kill a task that has nothing left to use has no effect.
fn does_nothing(header: &[String], row: &[String]) -> bool {
    let place = header.iter().position(|column| column == THRESHOLD);
    place.is_some_and(|place| {
        let others = |cells: &[String]| -> Vec<String> {
            let acts = |idx: usize| header[idx].starts_with("condemned_");
            let cells = cells.iter().enumerate().filter(|(idx, _)| *idx != place && !acts(*idx));
            cells.map(|(_, cell)| cell.clone()).collect()
        };
        says_nothing(&others(header), &others(row))
    })
}

/// Fewer rows that do nothing are shown like the others.
const IDLE_FROM: usize = 3;

/// The parts of a table that are shown.
struct Kept<'a> {
    columns: Vec<usize>,
    rows: Vec<&'a [String]>,
    /// Units that all rows have in common.
    units: Vec<&'a str>,
    zero_rows: usize,
    /// Rows with values that only the file has.
    beaten_rows: usize,
    /// Columns that are zero in each of several rows.
    zero_columns: Vec<&'a str>,
    /// Columns with values that only the file has.
    in_file_only: Vec<&'a str>,
    /// Columns of CPU, GPU or memory time.
    amounts: Vec<usize>,
    /// Whether these are shown in hours.
    in_hours: bool,
    /// Their unit in the file, if the table or its result names one.
    unit: Option<&'a str>,
}

impl Kept<'_> {
    /// Whether a column holds lengths of time, in the unit that all rows have in common.
    fn are_lengths(&self, column: &str) -> bool {
        self.units == ["s"] && is_statistic(column)
    }

    /// The units of the caption; that of amounts is in their headings.
    fn units(&self, table: &Table) -> Vec<String> {
        let is_in_heading = |unit: &str| !self.amounts.is_empty() && self.unit == Some(unit);
        let units = self.units.iter().copied().filter(|unit| !is_in_heading(unit));
        let of_hours = self.unit.filter(|_| table.header.iter().any(|column| is_in_hours(column)));
        let of_hours = of_hours.map(|unit| format!("CPU in {}", in_hours(unit)));
        units.map(str::to_owned).chain(of_hours).collect()
    }

    /// The heading of a column; that of an amount has its unit.
    fn heading(&self, table: &Table, column: &str) -> String {
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

/// Whether a file has a CPU time in hours: of processors or of another unit that the result names.
fn is_in_hours(column: &str) -> bool {
    column.ends_with("cpu_h")
}

/// The unit in hours of a unit of CPU, GPU or memory time in seconds; others as they are.
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

/// Whether amounts are shown in hours, as in sentences and charts: if the largest is an hour of one
/// unit or more, or if all are zero, since other tables of the page are in hours.
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

/// Whether a row is of all groups together.
fn is_total(table: &Table, row: &[String]) -> bool {
    let place = table.header.iter().position(|column| column == IS_TOTAL);
    place.and_then(|idx| row.get(idx)).is_some_and(|text| text == "true")
}

fn kept<'a>(table: &'a Table, unit: Option<&'a str>) -> Kept<'a> {
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
        // A column of missing names (`-`) is a column without a value.
        if rows.iter().all(|row| matches!(cell(row).as_str(), "" | "-"))
            || is_shown_above(table, column)
            || repeats_jobs(table, column)
            || says_the_same(table, column)
            || counts_no_waits(table, column)
            || [IS_TOTAL, ON_FRONT, VARIANCE, LOWER_BOUNDS].contains(&column.as_str())
            // Its value, with which it is kept or left out, has it beside it.
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

/// Sorts the rows like the chart of the page.
fn sort(table: &Table, rows: &mut [&[String]]) {
    let place = |name: &&str| table.header.iter().position(|known| known == name);
    for idx in sorted_by(table).iter().rev().filter_map(place) {
        let value = |row: &[String]| row.get(idx).and_then(|text| text.parse().ok());
        let value = |row: &[String]| -> f64 { value(row).unwrap_or(0.0) };
        rows.sort_by(|one, other| value(other).total_cmp(&value(one)));
    }
}

/// The rows without the one for all outcomes, if there is only one outcome and its row is the same.
fn one_group<'a>(header: &[String], rows: Vec<&'a [String]>) -> Vec<&'a [String]> {
    let Some(place) = header.iter().position(|column| column == "outcome") else { return rows };
    let [all, one] = rows.as_slice() else { return rows };
    let differs = |idx: usize| idx != place && all.get(idx) != one.get(idx);
    let is_same =
        all.get(place).is_some_and(|name| name == "all") && !(0..header.len()).any(differs);
    if is_same { vec![*all] } else { rows }
}

/// What is not shown of a table, after the link to its file.
fn notes(table: &Table, kept: &Kept<'_>, cells: &[Vec<Cell>]) -> String {
    let (mut notes, shown) = (String::new(), cells.len());
    if shown < kept.rows.len() || table.rows.len() < table.row_count {
        let first = grouped(shown as u64);
        notes = format!("; the first {first} of {}", counted(table.row_count as u64, "row"));
    }
    if 0 < kept.zero_rows {
        let zeros = counted(kept.zero_rows as u64, "row");
        let are = if kept.zero_rows == 1 { "is" } else { "are" };
        notes = format!("{notes}; {zeros} with zeros only {are} not shown");
    }
    if 0 < kept.beaten_rows {
        let others = counted(kept.beaten_rows as u64, "other setting");
        notes = format!("{notes}; only in the file: {others}");
    }
    if !kept.zero_columns.is_empty() {
        let names: Vec<String> = kept.zero_columns.iter().map(|name| heading(name)).collect();
        let names = escape(&names.join(", "));
        notes = format!("{notes}; columns with only zeros are not shown: {names}");
    }
    if cells.iter().flatten().any(Cell::has_interval) {
        notes.push_str("; in small print: the 95 % interval");
    }
    let names: Vec<String> = kept.in_file_only.iter().map(|name| heading(name)).collect();
    if !names.is_empty() {
        notes = format!("{notes}; only in the file: {}", escape(&names.join(", ")));
    }
    let bounds = table.header.iter().position(|name| name == LOWER_BOUNDS);
    let has_bound = |row: &&[String]| {
        bounds.and_then(|place| row.get(place)).is_some_and(|names| !names.is_empty())
    };
    if kept.rows.iter().take(shown).any(has_bound) {
        notes.push_str("; ≥: some had not ended, so that the value is this or larger");
    }
    let repeated = table.header.iter().filter(|column| repeats_jobs(table, column));
    let repeated: Vec<String> = repeated.map(|column| heading(column)).collect();
    if !repeated.is_empty() {
        notes = format!("{notes}; as many as jobs: {}", repeated.join(", "));
    }
    if kept.rows.iter().any(|row| has_no_machines(table, row)) {
        notes.push_str(
            "; a row of 0 machines: they had this configuration first, and another one when last seen",
        );
    }
    notes
}

/// A stored table with a link to its file; `unit` is that of CPU, GPU and memory times, if the table
/// does not name it.
pub(crate) fn stored_table(
    caption: &str,
    table: &Table,
    root: &str,
    links: &Links,
    indices: &OfIndices<'_>,
    unit: Option<&str>,
) -> String {
    let kept = kept(table, unit);
    let values = |column: &str| -> Vec<f64> {
        let place = table.header.iter().position(|name| name == column);
        let cells = kept.rows.iter().filter_map(|row| row.get(place?));
        cells.filter_map(|cell| cell.parse().ok()).collect()
    };
    let indices = IndexColumn::all(indices, values);
    let index_of = |column: &str| indices.iter().find(|index| index.column == column);
    let in_words = kept.columns.iter().any(|&idx| kept.are_lengths(&table.header[idx]));
    let units: Vec<String> = if in_words { Vec::new() } else { kept.units(table) };
    let caption = match units.as_slice() {
        [] => caption.to_owned(),
        units if caption.ends_with(&format!("({})", units.join(", "))) => caption.to_owned(),
        units => format!("{caption} ({})", units.join(", ")),
    };
    let header: Vec<String> = kept.columns.iter().map(|&idx| table.header[idx].clone()).collect();
    let (all, most) =
        (kept.rows.len(), if links.are_in(&header) { usize::MAX } else { FOLDED_ROWS });
    let shown = if all <= 2 * FOLDED_ROWS { all } else { most.min(all) };
    let of_row = |row: &&[String]| -> Vec<Cell> {
        let cell = |&idx: &usize| match index_of(&table.header[idx]) {
            Some(index) => index.cell(row.get(idx).map_or("", String::as_str)),
            None => cell_of(table, &kept, links, row, idx),
        };
        kept.columns.iter().map(cell).collect()
    };
    let rows: Vec<Vec<Cell>> = kept.rows.iter().take(shown).map(of_row).collect();
    let (notes, file) = (notes(table, &kept, &rows), escape(&table.file));
    let source =
        format!("<p class=\"source\">Data: <a href=\"{root}data/{file}\">{file}</a>{notes}</p>\n");
    if rows.is_empty() {
        return format!("<p>{}: no value above zero.</p>\n{source}", escape(&caption));
    }
    let idle = kept.rows.iter().take(shown).map(|row| does_nothing(&table.header, row));
    let idle: Vec<bool> = idle.collect();
    let idle_count = idle.iter().filter(|is_idle| **is_idle).count();
    let whole = if IDLE_FROM <= idle_count && idle_count < idle.len() {
        html::table_with_idle(&caption, &header, |column| kept.heading(table, column), &rows, &idle)
    } else {
        let heading = |column: &str| match index_of(column) {
            Some(index) => index.heading.clone(),
            None => kept.heading(table, column),
        };
        html::named_table(&caption, &header, heading, &rows)
    };
    let rows_seen = if idle_count < idle.len() { all - idle_count } else { all };
    let is_short = rows_seen <= FOLDED_ABOVE && !is_folded(table);
    if is_short || links.are_in(&header) {
        return whole + &source;
    }
    // A report loads only the first rows of a long table.
    let all = if table.rows.len() < table.row_count { table.row_count } else { all };
    let (said, count) = (escape(&caption), counted(all as u64, "row"));
    format!(
        "<details class=\"long\"><summary>{said}: {count}</summary>\n{whole}</details>\n{source}"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(header: &[&str], rows: &[&[&str]]) -> Table {
        let own = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect();
        Table {
            file: "x.csv".to_owned(),
            header: own(header),
            rows: rows.iter().map(|row| own(row)).collect(),
            row_count: rows.len(),
        }
    }

    #[test]
    fn the_row_of_all_groups_is_named_and_the_mark_left_out() {
        let header = ["is_total", "platform", "machines", "outages"];
        let rows: [&[&str]; 3] =
            [&["true", "", "9", "4"], &["false", "x", "9", "4"], &["false", "", "0", "1"]];
        let mut machines = table(&header, &rows);
        let html = stored_table("Machines", &machines, "", &Links::default(), &[], None);
        assert!(!html.contains("total") && html.matches(">all<").count() == 1, "{html}");
        assert!(!html.contains("a row of 0 machines"), "{html}");
        machines.file = "machines.csv".to_owned();
        let html = stored_table("Machines", &machines, "", &Links::default(), &[], None);
        assert!(html.contains("; a row of 0 machines: they had"), "{html}");
        let header = ["platform", "machines", "machines_first"];
        let own = table(&header, &[&["x", "0", "9"], &["y", "5", "7"]]);
        let own = Table { file: "machines.csv".to_owned(), ..own };
        let html = stored_table("Machines", &own, "", &Links::default(), &[], None);
        assert!(!html.contains(">machines with this configuration when first seen<"), "{html}");
        let header = ["platform", "machines", "machines_first", "outages"];
        let own = table(&header, &[&["bare", "0", "32", "0"], &["used", "5", "7", "2"]]);
        let own = Table { file: "machines.csv".to_owned(), ..own };
        let html = stored_table("Machines", &own, "", &Links::default(), &[], None);
        assert!(!html.contains("bare") && html.contains("1 row with zeros only is not"), "{html}");
    }

    #[test]
    fn ends_of_attempts_and_chances_are_in_words() {
        let ends = table(&["ended", "attempts"], &[&["with job", "7"], &["open", "9"]]);
        let html = stored_table("Ends", &ends, "", &Links::default(), &[], None);
        assert!(html.contains("closed with their job") && html.contains("still running"), "{html}");
        let rows: [&[&str]; 2] = [&["up", "9", "0"], &["away", "7", "0.25"]];
        let spells = table(&["spell", "count", "p_exponential"], &rows);
        let html = stored_table("Spells", &spells, "", &Links::default(), &[], None);
        assert!(html.contains("&lt; 0.0001"), "{html}");
    }

    #[test]
    fn the_table_of_a_sweep_has_what_readers_compare() {
        let header = ["rule", "threshold", "condemned_at_end", "saved_share_failed", "harmed_jobs"];
        let rows: [&[&str]; 2] =
            [&["events", "10", "3", "0.5", "8"], &["events", "20", "1", "0.4", "4"]];
        let mut sweep = table(&header, &rows);
        sweep.file = "sweep.csv".to_owned();
        let html = stored_table("Sweep", &sweep, "", &Links::default(), &[], None);
        assert_eq!(html.matches("</th>").count(), 4, "{html}");
        assert!(
            html.contains("; only in the file: of these tasks, finished by then</p>"),
            "{html}"
        );
        // Other tables keep such columns.
        sweep.file = "detect.csv".to_owned();
        let html = stored_table("Sweep", &sweep, "", &Links::default(), &[], None);
        assert!(html.matches("</th>").count() == 5 && !html.contains("only in the file"), "{html}");
    }

    #[test]
    fn of_all_rules_in_one_plane_only_those_that_no_other_one_beats_are_shown() {
        let header = ["rule", "threshold", "harmed_jobs", "net_cpu", "unit", "is_on_front"];
        let rows: [&[&str]; 4] = [
            &["events", "10", "8", "7200", "NCU-s", "true"],
            &["events", "20", "9", "3600", "NCU-s", "false"],
            &["failures", "1", "0", "0", "NCU-s", "true"],
            &["oracle", "", "0", "9000", "NCU-s", "false"],
        ];
        let mut plane = table(&header, &rows);
        plane.file = "sweep-plane.csv".to_owned();
        let html = stored_table("Front", &plane, "", &Links::default(), &[], None);
        assert_eq!(html.matches("<tr>").count(), 2, "{html}");
        assert!(html.contains(">2</td>") && !html.contains("front<"), "{html}");
        assert!(html.contains("; only in the file: 3 other settings</p>"), "{html}");
        let mut none = table(&header, &rows[2..3]);
        none.file = "sweep-plane.csv".to_owned();
        let html = stored_table("Front", &none, "", &Links::default(), &[], None);
        assert!(html.starts_with("<p>Front: no value above zero.</p>"), "{html}");
        // Zeros alone have the unit of the tables beside them.
        none.file = "x.csv".to_owned();
        let html = stored_table("Sweep", &none, "", &Links::default(), &[], None);
        assert!(html.contains("net CPU (NCU\u{2011}h)"), "{html}");
    }

    #[test]
    fn an_interval_and_a_unit_are_in_the_cell_of_their_value() {
        let header = [
            "rule",
            "threshold",
            "threshold_unit",
            "net_share",
            "net_share_low",
            "net_share_high",
            "harmed_jobs",
            "harmed_jobs_low",
            "harmed_jobs_high",
            "x_low",
        ];
        let rows: [&[&str]; 2] = [
            &["restarts", "1", "restarts", "0.04", "0.02", "0.061", "0", "0", "3", "5"],
            &["dead-time", "7200", "s", "-0.01", "", "", "0", "0", "0", ""],
        ];
        let html = stored_table("Sweep", &table(&header, &rows), "", &Links::default(), &[], None);
        for cell in [
            "<td data-value=\"1\" data-unit=\"restarts\">1 restart</td>",
            "<td data-value=\"7200\" data-unit=\"s\">2 h</td>",
            "<td data-value=\"0.04\" data-low=\"0.02\" data-high=\"0.061\">4.00 % \
             <span class=\"interval\">2.00 % to 6.10 %</span></td>",
            "<td data-value=\"-0.01\">-1.00 %</td>",
            // A column of zeros is kept for a bound above zero.
            "<td data-value=\"0\" data-low=\"0\" data-high=\"3\">",
            // Bounds that are not shown are downloaded.
            "<td data-value=\"0\" data-low=\"0\" data-high=\"0\">0</td><td data-value=\"-0.01\">",
            ">x low<",
        ] {
            assert!(html.contains(cell), "{cell}: {html}");
        }
        assert_eq!(html.matches("</th>").count(), 5, "{html}");
        assert!(html.contains("<caption>Sweep</caption>"), "{html}");
        assert!(html.contains("; in small print: the 95 % interval"), "{html}");
    }

    #[test]
    fn hours_of_cpu_have_their_unit_in_the_caption() {
        let use_by = table(&["month", "cpu_h", "wasted_cpu_h"], &[&["2024-01", "7", "3"]]);
        let html = stored_table("Use", &use_by, "", &Links::default(), &[], Some("core-s"));
        assert!(html.contains("<caption>Use (CPU in core-h)</caption>"), "{html}");
        assert!(html.contains(">CPU</th>") && html.contains(">wasted CPU</th>"), "{html}");
        let html = stored_table("Use", &use_by, "", &Links::default(), &[], None);
        assert!(html.contains("<caption>Use</caption>") && html.contains(">CPU (h)</th>"));
    }

    #[test]
    fn counts_that_repeat_the_jobs_are_left_out() {
        let header = ["outcome", "jobs", "jobs_with_tasks", "tasks", "cpu"];
        let of = |tasks| {
            let mut account = table(
                &header,
                &[&["finished", "9", "9", "9", "1"], &["failed", "3", "3", tasks, "1"]],
            );
            account.file = "account.csv".to_owned();
            stored_table("CPU", &account, "", &Links::default(), &[], None)
        };
        assert_eq!(of("3").matches("</th>").count(), 3);
        assert!(of("3").contains("; as many as jobs: jobs with tasks, tasks"));
        assert!(of("4").contains(">their tasks<") && !of("4").contains(">of these with"));
    }

    #[test]
    fn detectors_are_in_the_order_of_their_chart() {
        let header = ["detector", "f1", "earlier_share"];
        let rows: [&[&str]; 5] = [
            &["none", "", ""],
            &["late", "0.1", "0.02"],
            &["yarn", "0.05", "0.3"],
            &["spark", "0.2", "0.02"],
            &["tqst", "0.3", "0"],
        ];
        let mut scores = table(&header, &rows);
        scores.file = "detect.csv".to_owned();
        let html = stored_table("Scores", &scores, "", &Links::default(), &[], None);
        let places = ["yarn", "spark", "late", "tqst", "none"].map(|name| html.find(name).unwrap());
        assert!(places.is_sorted(), "{html}");
        let parameters =
            table(&["detector", "settings"], &[&["yarn", "yarn:a=1,b=2"], &["none", "none"]]);
        let html = stored_table("Settings", &parameters, "", &Links::default(), &[], None);
        assert!(html.contains("a=1, b=2</") && html.contains("no parameters"), "{html}");
    }

    #[test]
    fn what_says_nothing_is_left_out_and_counted() {
        let header = ["sequence", "outcome", "count", "unit", "p99"];
        let rows: [&[&str]; 3] = [
            &["014", "finished", "9", "s", ""],
            &["013", "failed", "0", "s", ""],
            &["", "other", "0.0", "s", ""],
        ];
        let html = stored_table("Jobs", &table(&header, &rows), "", &Links::default(), &[], None);
        assert!(html.contains("<caption>Jobs (s)</caption>"), "{html}");
        assert!(html.contains("finished") && !html.contains("failed"), "{html}");
        assert!(!html.contains("p99") && !html.contains("unit"), "{html}");
        assert!(html.contains("2 rows with zeros only are not shown"), "{html}");
        let html =
            stored_table("Jobs", &table(&header, &rows[1..]), "", &Links::default(), &[], None);
        assert!(html.starts_with("<p>Jobs: no value above zero.</p>"), "{html}");
        // A column of zeros is named.
        let rows: [&[&str]; 2] = [&["014", "9", "0"], &["013", "3", "0.0"]];
        let header = ["sequence", "count", "not_finished"];
        let html = stored_table("Jobs", &table(&header, &rows), "", &Links::default(), &[], None);
        assert!(
            html.contains("; columns with only zeros are not shown: not finished</p>"),
            "{html}"
        );
        assert_eq!(html.matches("</th>").count(), 2, "{html}");
        let html =
            stored_table("Jobs", &table(&header, &rows[..1]), "", &Links::default(), &[], None);
        assert_eq!(html.matches("</th>").count(), 3, "{html}");
        // A key that is a number keeps its row.
        let html = stored_table(
            "Kills",
            &table(&["threshold", "saved"], &[&["10", "0"]]),
            "",
            &Links::default(),
            &[],
            None,
        );
        assert!(html.contains(">10<"), "{html}");
    }

    #[test]
    fn distributions_of_times_are_written_in_words() {
        let header = [
            "outcome", "count", "mean", "variance", "min", "p25", "median", "p75", "p90", "p99",
            "max", "unit", "censored", "at_least",
        ];
        let rows: [&[&str]; 2] = [
            &["all", "9", "7200", "4", "2", "1", "90", "300", "600", "7200", "86400", "s", "0", ""],
            &[
                "failed", "3", "600", "4", "2", "1", "9", "300", "600", "600", "7200", "s", "0",
                "mean,max",
            ],
        ];
        let html = stored_table("Waits", &table(&header, &rows), "", &Links::default(), &[], None);
        assert!(html.contains("<caption>Waits</caption>"), "{html}");
        assert!(html.contains(">2 h</td>") && html.contains(">90 s</td>"), "{html}");
        assert_eq!(html.matches("≥&nbsp;").count(), 2, "{html}");
        for gone in ["variance", "at least", "zeros"] {
            assert!(!html.contains(gone), "{gone}: {html}");
        }
    }

    #[test]
    fn times_of_use_of_an_hour_or_more_are_shown_in_hours_and_sorted_by_seconds() {
        let shown = |header: &[&str], rows: &[&[&str]]| {
            stored_table("CPU", &table(header, rows), "", &Links::default(), &[], None)
        };
        let header = ["outcome", "cpu", "unit", "share"];
        let long = [["finished", "7200", "core-s", "0.5"], ["failed", "-1800", "core-s", "0.1"]];
        let html = shown(&header, &long.each_ref().map(|row| &row[..]));
        assert!(
            html.contains("<caption>CPU</caption>") && html.contains(">CPU (core\u{2011}h)<"),
            "{html}"
        );
        assert!(html.contains("data-value=\"7200\">2</td>"), "{html}");
        assert!(html.contains("data-value=\"-1800\">-0.5</td>"), "{html}");
        let short = [["finished", "720", "core-s", "0.5"]];
        let html = shown(&header, &short.each_ref().map(|row| &row[..]));
        assert!(html.contains(">CPU (core-s)<") && html.contains(">720</td>"), "{html}");
        // Rows with units of their own stay as they are in the file.
        let mixed = [["finished", "7200", "core-s", "0.5"], ["failed", "9", "GiB-s", "0.1"]];
        let html = shown(&header, &mixed.each_ref().map(|row| &row[..]));
        assert!(html.contains(">7,200</td>"), "{html}");
        // A column that names its unit has it in its heading.
        let html = shown(&["ended", "lost_cpu_s", "running_s"], &[&["killed", "5400", "7200"]]);
        assert!(
            html.contains(">CPU time lost in outages that ended (h)</th>")
                && html.contains(">1.5</td>"),
            "{html}"
        );
        assert!(html.contains(">running, summed over tasks</th>") && html.contains(">2 h</td>"));
        let rows = [&["killed", "5400"][..]];
        let lost = table(&["ended", "lost_cpu_s"], &rows);
        let html = stored_table("Lost", &lost, "", &Links::default(), &[], Some("NCU-s"));
        assert!(
            html.contains(">CPU time lost in outages that ended (NCU\u{2011}h)</th>"),
            "{html}"
        );
        // A capacity is no time.
        let html = shown(&["cpu", "unit", "cpu_s"], &[&["4096", "core-s", "7200"]]);
        assert!(html.contains(">4,096</td>") && html.contains(">2</td>"), "{html}");
    }

    #[test]
    fn measures_have_three_decimals_and_readable_headings() {
        let header = ["rule", "day", "auc"];
        let html = stored_table(
            "x",
            &table(&header, &[&["last", "17156", "0.501914"], &["last", "3", "0.25"]]),
            "",
            &Links::default(),
            &[],
            None,
        );
        assert!(html.contains(">0.502</td>") && html.contains(">area under ROC</th>"), "{html}");
        assert!(html.contains(">2016-12-21</td>") && html.contains(">3</td>"), "{html}");
    }

    #[test]
    fn rules_of_a_prediction_come_by_how_they_rank_and_their_bins_are_folded() {
        let rows: [&[&str]; 3] = [&["last", "0.5"], &["class", ""], &["rate", "0.7"]];
        let mut rules = table(&["rule", "auc"], &rows);
        rules.file = "predict.csv".to_owned();
        let html = stored_table("Rules", &rules, "", &Links::default(), &[], None);
        let places = ["rate", "last", "class"];
        let places = places.map(|name| html.find(&format!(">{name}<")).unwrap());
        assert!(places.is_sorted() && !html.contains("<details"), "{html}");
        rules.file = "predict-calibration.csv".to_owned();
        let html = stored_table("Bins", &rules, "", &Links::default(), &[], None);
        assert!(html.starts_with("<details class=\"long\"><summary>Bins: 3 rows<"), "{html}");
    }

    #[test]
    fn a_limit_of_copies_is_a_share_in_per_cent() {
        let header = ["detector", "budget", "lost_s", "lost_share", "earlier_s", "earlier_share"];
        let rows: [&[&str]; 1] = [&["flink", "0.005", "900", "0.004", "90", "0.03"]];
        let html = stored_table("Copies", &table(&header, &rows), "", &Links::default(), &[], None);
        assert!(html.contains(">0.50 %</td>"), "{html}");
        for heading in [
            ">slot time of copies that lost<",
            ">copies that lost, share of all slot time<",
            ">job time saved<",
            ">job time saved, share of all<",
        ] {
            assert_eq!(html.matches(heading).count(), 1, "{heading}: {html}");
        }
    }

    #[test]
    fn jobs_with_a_page_come_by_their_running_time_without_columns_that_repeat() {
        let header = ["job_id", "outcome_sequence", "outcome_terminal", "tasks", "running_s"];
        let html = |other: &str, tasks: &str| {
            let rows: [&[&str]; 2] =
                [&["7", "failed", "failed", "1", "20"], &["8", "killed", other, tasks, "900"]];
            let own = Table { file: "jobs.csv".to_owned(), ..table(&header, &rows) };
            stored_table("Jobs", &own, "", &Links::default(), &[], None)
        };
        let short = html("killed", "1");
        assert!(short.find(">8<") < short.find(">7<") && short.contains(">8<"), "{short}");
        assert!(!short.contains("sequence") && !short.contains(">tasks<"), "{short}");
        let long = html("evicted", "2");
        assert!(long.contains("sequence") && long.contains("tasks"), "{long}");
        // Its CPU time says more than how long its tasks ran, if it is known of all.
        let html = |cpu: &str| {
            let rows: [&[&str]; 2] = [&["7", "7200", "NCU-s", "20"], &["8", cpu, "NCU-s", "900"]];
            let header = ["job_id", "requested_cpu", "unit", "running_s"];
            let own = Table { file: "jobs.csv".to_owned(), ..table(&header, &rows) };
            stored_table("Jobs", &own, "", &Links::default(), &[], None)
        };
        let known = html("3600");
        assert!(known.contains(">requested CPU (NCU\u{2011}h)<"), "{known}");
        assert!(!known.contains("running") && known.find(">7<") < known.find(">8<"), "{known}");
        assert!(html("").contains("running"), "{}", html(""));
    }

    #[test]
    fn a_long_table_is_folded() {
        let rows: Vec<&[&str]> = vec![&["1"]; FOLDED_ABOVE + 1];
        let html =
            stored_table("Jobs", &table(&["count"], &rows), "", &Links::default(), &[], None);
        assert!(html.starts_with("<details class=\"long\"><summary>Jobs: 41 rows<"), "{html}");
        let curves = Table {
            file: "x-curves.csv".to_owned(),
            ..table(&["running_s"], &[&["7200"], &["1"]])
        };
        let html = stored_table("Points", &curves, "", &Links::default(), &[], None);
        assert!(html.starts_with("<details class=\"long\"><summary>Points: 2 rows<"), "{html}");
        assert!(html.contains("data-value=\"7200\">2 h</td>"), "{html}");
        let longer = Table { row_count: 99, ..table(&["count"], &rows) };
        let html = stored_table("Jobs", &longer, "", &Links::default(), &[], None);
        assert!(html.contains("<summary>Jobs: 99 rows<"), "{html}");
        assert!(html.contains("the first 41 of 99 rows"), "{html}");
    }

    #[test]
    fn rows_without_effect_are_folded_and_harm_comes_first() {
        let header =
            ["rule", "threshold", "net_cpu", "wait_s_mean", "harmed_jobs", "condemned_tasks"];
        let idle: [&str; 6] = ["events", "90", "0", "0", "0", "0"];
        let acts: [&str; 6] = ["failures", "1", "0", "0", "0", "9"];
        let rows: Vec<&[&str]> =
            vec![&["events", "10", "5.12345", "183.69", "2", "7"], &idle, &acts, &idle];
        let html = stored_table("Sweep", &table(&header, &rows), "", &Links::default(), &[], None);
        assert_eq!(html.matches("<tr class=\"idle\">").count(), 3, "{html}");
        assert!(html.contains("Show the 3 rows without effect"), "{html}");
        let place = |column: &str| html.find(&format!("data-column=\"{column}\"")).unwrap();
        assert!(place("threshold") < place("harmed_jobs"));
        assert!(place("harmed_jobs") < place("net_cpu"));
        assert!(html.contains("data-value=\"5.12345\">5.123<"), "{html}");
        assert!(html.contains("data-value=\"183.69\">3.06 min<"), "{html}");
        let html =
            stored_table("Sweep", &table(&header, &rows[1..]), "", &Links::default(), &[], None);
        assert!(!html.contains("class=\"idle\""), "{html}");
    }

    #[test]
    fn lengths_are_in_words_and_variances_are_left_out() {
        let header = ["outcome", "unit", "mean", "p99", "variance", "variance_unit"];
        let rows: [&[&str]; 1] = [&["finished", "s", "7200", "18512.5", "466671", "s²"]];
        let html = stored_table("Waits", &table(&header, &rows), "", &Links::default(), &[], None);
        assert!(html.contains("<caption>Waits</caption>"), "{html}");
        assert!(html.contains(">2 h<") && html.contains(">5.14 h<"), "{html}");
        assert!(!html.contains("variance") && !html.contains("466"), "{html}");
    }

    proptest! {
        /// Every number except zero is on the page, as often as in the table.
        #[test]
        fn no_number_is_lost(
            cells in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0_u32), 1..9_u32], 3), 1..20),
        ) {
            let rows: Vec<Vec<String>> =
                cells.iter().map(|row| row.iter().map(u32::to_string).collect()).collect();
            let row_count = rows.len();
            let header = ["a", "b", "c"].map(str::to_owned).to_vec();
            let html = stored_table("x", &Table { file: "x.csv".to_owned(), header, rows, row_count }, "", &Links::default(), &[], None);
            for number in 1..9_u32 {
                let all = cells.iter().flatten().filter(|&&cell| cell == number).count();
                prop_assert_eq!(html.matches(&format!(">{number}</td>")).count(), all);
            }
        }
    }
}
