//! Stored tables on a page: empty parts are left out, and long tables are folded.
//!
//! In: a table of a result. Out: the table as HTML with a link to its file. Left out are columns
//! without a value, variances, units that are the same in all rows (the caption has them), rows
//! whose numbers are all zero or unknown, and columns that are zero in every row. The omitted rows
//! are counted, and columns of zeros are named, as are those of a sweep that only the file has. Rows
//! with a threshold and only zeros are folded.
//! The file has everything.

use super::headings::{heading, is_instant, is_length, is_statistic, is_use, is_use_by_unit};
use super::html::{self, Cell};
use super::indices::{IndexColumn, OfIndices};
use super::links::Links;
use super::text::escape;
use crate::answers::machines;
use crate::answers::sentences::short;
use crate::digits::{HOURS_FROM_S, counted, grouped, unit_of_use};
use crate::results::Table;
use crate::studies::meter::CpuDefinition;

/// A table of more rows is folded.
const FOLDED_ABOVE: usize = 40;

/// Rows of a folded table that a page holds.
pub(super) const FOLDED_ROWS: usize = 100;

/// Columns whose whole numbers are names.
fn is_name(column: &str) -> bool {
    column.ends_with("_id")
        || matches!(
            column,
            "user"
                | "job_name"
                | "machine"
                | "sequence"
                | "priority"
                | "figure"
                | "size"
                | "account"
                | "queue"
        )
}

/// Columns of shares of a whole.
fn is_share(column: &str) -> bool {
    let is_of_whole = |word: &str| {
        matches!(word, "share" | "chance" | "precision" | "recall" | "accuracy" | "utilisation")
    };
    column == "false_positive_rate" || column.split('_').any(is_of_whole)
}

/// Columns of measures between 0 and 1 that are no shares of a whole.
const MEASURES: [&str; 3] = ["auc", "brier_score", "f1"];

/// Rates that pages show per 1,000 task-hours, as charts do.
const PER_TASK_HOUR: [&str; 3] = ["false_alarms_per_task_hour", "rate_in_calm", "rate_in_shift"];

/// The column that names the columns of a row that are only lower bounds. Their cells say so.
const LOWER_BOUNDS: &str = "at_least";

/// Columns of zeros that are not worth a note.
const UNNOTED: [&str; 2] = ["censored", "left_censored"];

/// The column with the unit of CPU, GPU and memory times.
const UNIT: &str = "unit";

fn is_unit(column: &str) -> bool {
    column == UNIT || column.ends_with("_unit")
}

/// Whether a row has a zero and, names apart, no number except zeros and no `true`; other texts do
/// not count.
fn says_nothing(header: &[String], row: &[String]) -> bool {
    let mut cells = header.iter().zip(row).filter(|(column, _)| !is_name(column));
    let is_zero = |cell: &str| cell.parse::<f64>().map(|number| number == 0.0);
    let has_zero = cells.clone().any(|(_, cell)| is_zero(cell) == Ok(true));
    has_zero && cells.all(|(_, cell)| is_zero(cell) != Ok(false) && cell != "true")
}

/// A column that sets what a row is about, and is a number.
const THRESHOLD: &str = "threshold";

/// Whether a row has a threshold, and other numbers that are all zero.
fn does_nothing(header: &[String], row: &[String]) -> bool {
    let place = header.iter().position(|column| column == THRESHOLD);
    place.is_some_and(|place| {
        let others = |cells: &[String]| -> Vec<String> {
            let cells = cells.iter().enumerate().filter(|(idx, _)| *idx != place);
            cells.map(|(_, cell)| cell.clone()).collect()
        };
        says_nothing(&others(header), &others(row))
    })
}

/// Fewer rows that do nothing are shown like the others.
const IDLE_FROM: usize = 3;

/// Harm and what it buys follow the names: at the right they would be cut off on most screens.
fn rank(column: &str) -> usize {
    match column {
        "harmed_jobs" | "jobs_harmed" | "jobs_hurt" => 0,
        "net_cpu" => 1,
        "net_share" => 2,
        _ => 3,
    }
}

/// The columns in the order of the page: names and thresholds, harm, the rest.
fn with_harm_first(header: &[String], mut columns: Vec<usize>) -> Vec<usize> {
    let of = |idx: &usize| header.get(*idx).map_or("", String::as_str);
    let is_key = |column: &str| {
        is_name(column) || matches!(column, "rule" | "policy" | THRESHOLD) || is_unit(column)
    };
    let keys = columns.iter().take_while(|idx| is_key(of(idx))).count();
    columns[keys..].sort_by_key(|idx| rank(of(idx)));
    columns
}

/// The parts of a table that are shown.
struct Kept<'a> {
    columns: Vec<usize>,
    rows: Vec<&'a [String]>,
    /// Units that all rows have in common.
    units: Vec<&'a str>,
    zero_rows: usize,
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
    fn units(&self) -> Vec<&str> {
        let is_in_heading = |unit: &str| !self.amounts.is_empty() && self.unit == Some(unit);
        self.units.iter().copied().filter(|unit| !is_in_heading(unit)).collect()
    }

    /// The heading of a column; that of an amount has its unit.
    fn heading(&self, table: &Table, column: &str) -> String {
        if !self.amounts.iter().any(|&idx| table.header[idx] == column) {
            return heading(column);
        }
        let is_of_gpus = column.split('_').any(|word| word == "gpu");
        let unit = if is_of_gpus { Some(CpuDefinition::GPU_UNIT) } else { self.unit };
        let unit = match (unit, self.in_hours) {
            (Some(unit), true) => in_hours(unit),
            (Some(unit), false) => unit.to_owned(),
            (None, true) => "h".to_owned(),
            (None, false) => "s".to_owned(),
        };
        format!("{} ({unit})", heading(column))
    }
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
/// unit or more.
fn are_long(amounts: &[usize], rows: &[&[String]]) -> bool {
    let cells = amounts.iter().flat_map(|&idx| rows.iter().filter_map(move |row| row.get(idx)));
    let mut seconds = cells.filter_map(|cell| cell.parse::<f64>().ok());
    seconds.any(|seconds| HOURS_FROM_S <= seconds.abs())
}

/// Columns of zeros are left out of tables with at least this many rows.
const ZEROS_FROM: usize = 2;

/// Columns of `fairness.csv` that the table of all users above it shows in words.
const OF_USERS: [&str; 8] = [
    "share",
    "ran_cpu_s",
    "peak_cores",
    "peak_gpus",
    "peak_at_s",
    "first_use_s",
    "last_use_s",
    "largest_step_share",
];

fn is_shown_above(table: &Table, column: &str) -> bool {
    table.file == "fairness.csv" && (OF_USERS.contains(&column) || is_usage(table, column))
}

/// Whether a column repeats the usage of users: a bill without prices is the usage.
fn is_usage(table: &Table, column: &str) -> bool {
    let place = |name: &str| table.header.iter().position(|known| known == name);
    let is_bill = column.starts_with("metered") && column.ends_with("_cv");
    let usage = place("cpu_s").zip(place(column).filter(|_| is_bill));
    usage.is_some_and(|(usage, bill)| table.rows.iter().all(|row| row.get(usage) == row.get(bill)))
}

/// The column that marks the row of all groups together. Its page names that row instead.
const IS_TOTAL: &str = "is_total";

/// A square of a unit says nothing to readers.
const VARIANCE: &str = "variance";

/// Whether a row is of all groups together.
fn is_total(table: &Table, row: &[String]) -> bool {
    let place = table.header.iter().position(|column| column == IS_TOTAL);
    place.and_then(|idx| row.get(idx)).is_some_and(|text| text == "true")
}

/// What a row of 0 machines means; empty if there is none.
fn no_machines(table: &Table) -> &'static str {
    // The file and its column of counts have the name of the study.
    let name = machines::KIND.name;
    let place = table.header.iter().position(|column| column == name);
    let has_none = |row: &Vec<String>| place.and_then(|idx| row.get(idx)).is_some_and(|n| n == "0");
    if table.file == format!("{name}.csv") && table.rows.iter().any(has_none) {
        "; a row of 0 machines: they had this configuration first, and another one when last seen"
    } else {
        ""
    }
}

/// Columns that are always kept, since the script of the page computes with them.
fn columns_kept(table: &Table) -> &'static [&'static str] {
    if table.file == "sweep.csv" { &["threshold", "net_cpu", "harmed_jobs"] } else { &[] }
}

/// Columns of a sweep that few readers compare, besides the bounds of intervals.
const DETAILS_OF_SWEEP: [&str; 7] = [
    "condemned_at_end",
    "harmed_at_end",
    "saved_share_running",
    "saved_share_other",
    "harmed_jobs_share",
    "largest_saved_share",
    "largest_destroyed_share",
];

/// Whether a column is the bound of an interval.
fn is_bound(column: &str) -> bool {
    column.ends_with("_low") || column.ends_with("_high")
}

/// Whether a column is only in the file: the table of a sweep would be too wide to read. The script
/// of the page uses the bounds of the net share.
fn is_in_file_only(table: &Table, column: &str) -> bool {
    let is_detail =
        DETAILS_OF_SWEEP.contains(&column) || is_bound(column) && !column.starts_with("net_share");
    table.file == "sweep.csv" && is_detail
}

fn kept<'a>(table: &'a Table, unit: Option<&'a str>) -> Kept<'a> {
    let is_told = |row: &&Vec<String>| !says_nothing(&table.header, row);
    let rows: Vec<&[String]> = table.rows.iter().filter(is_told).map(Vec::as_slice).collect();
    let rows = one_group(&table.header, rows);
    let (is_whole, kept_columns) = (table.rows.len() == table.row_count, columns_kept(table));
    let (mut columns, mut units, mut zero_columns) = (Vec::new(), Vec::new(), Vec::new());
    let (mut in_file_only, mut of_amounts) = (Vec::new(), None);
    for (idx, column) in table.header.iter().enumerate() {
        let cell = |row: &&'_ [String]| row.get(idx).cloned().unwrap_or_default();
        // A column of missing names (`-`) is a column without a value.
        if rows.iter().all(|row| matches!(cell(row).as_str(), "" | "-"))
            || is_shown_above(table, column)
            || column == IS_TOTAL
            || column == VARIANCE
            || column == LOWER_BOUNDS
        {
            continue;
        }
        let first = rows.first().and_then(|row| row.get(idx)).map_or("", String::as_str);
        if is_unit(column) && rows.iter().all(|row| cell(row) == first) {
            if column == UNIT {
                of_amounts = Some(first);
            }
            // The unit of a variance follows from that of its values.
            if !units.contains(&first) && column != "variance_unit" {
                units.push(first);
            }
            continue;
        }
        let is_zero = |row: &&'_ [String]| cell(row).parse::<f64>() == Ok(0.0);
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
        zero_columns,
        in_file_only,
        amounts,
        in_hours,
        unit: of_amounts.or(unit),
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

/// A cell of a stored table.
fn cell_of(table: &Table, kept: &Kept<'_>, links: &Links, row: &[String], idx: usize) -> Cell {
    let text = row.get(idx).map_or("", String::as_str);
    if text.is_empty() && kept.columns.first() == Some(&idx) && is_total(table, row) {
        return Cell::name("all");
    }
    let column = table.header[idx].as_str();
    if let Some(page) = links.page(column, text) {
        return Cell::link(text, &page);
    }
    let own = match text {
        _ if column == "platform" => Cell::short_of(text, &short(text)),
        _ if is_name(column) => Cell::name(text),
        "true" => Cell::name("yes"),
        "false" => Cell::name("no"),
        _ if column.ends_with("_request") => Cell::name(text),
        _ if PER_TASK_HOUR.contains(&column) => {
            text.parse().map_or_else(|_| Cell::of(text), |rate| Cell::in_units_of(rate, 0.001))
        }
        _ if is_share(column) => Cell::share(text),
        // A survival counts from the start of each job or spell.
        _ if column == "time_s" && table.file.contains("survival") => {
            Cell::lasting(text.parse().ok())
        }
        _ if is_instant(column) => Cell::instant(text.parse().ok()),
        _ if is_length(column) || kept.are_lengths(column) => Cell::lasting(text.parse().ok()),
        _ if column == "day" => Cell::day(text),
        _ if kept.in_hours && kept.amounts.contains(&idx) => {
            text.parse().map_or_else(|_| Cell::of(text), Cell::hours)
        }
        _ if MEASURES.contains(&column) => Cell::measure(text),
        _ => Cell::of(text),
    };
    let bounds = table.header.iter().position(|name| name == LOWER_BOUNDS);
    let names = bounds.and_then(|place| row.get(place)).map_or("", String::as_str);
    if names.split(',').any(|name| name == column) { own.at_least() } else { own }
}

/// What is not shown of a table, after the link to its file.
fn notes(table: &Table, kept: &Kept<'_>, shown: usize) -> String {
    let mut notes = String::new();
    if shown < kept.rows.len() || table.rows.len() < table.row_count {
        let first = grouped(shown as u64);
        notes = format!("; the first {first} of {}", counted(table.row_count as u64, "row"));
    }
    if 0 < kept.zero_rows {
        let zeros = counted(kept.zero_rows as u64, "row");
        let are = if kept.zero_rows == 1 { "is" } else { "are" };
        notes = format!("{notes}; {zeros} with zeros only {are} not shown");
    }
    if !kept.zero_columns.is_empty() {
        let names: Vec<String> = kept.zero_columns.iter().map(|name| heading(name)).collect();
        let names = escape(&names.join(", "));
        notes = format!("{notes}; columns with only zeros are not shown: {names}");
    }
    let (bounds, others): (Vec<&str>, Vec<&str>) =
        kept.in_file_only.iter().copied().partition(|column| is_bound(column));
    let names = others.iter().map(|name| heading(name));
    let bounds = (!bounds.is_empty()).then(|| "the bounds of the other intervals".to_owned());
    let names: Vec<String> = names.chain(bounds).collect();
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
    notes + no_machines(table)
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
    let units: Vec<&str> = if in_words { Vec::new() } else { kept.units() };
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
    let (notes, file) = (notes(table, &kept, shown), escape(&table.file));
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
    // Tables of curves are folded: the chart shows their points.
    let rows_seen = if idle_count < idle.len() { all - idle_count } else { all };
    let is_short = rows_seen <= FOLDED_ABOVE && !table.file.ends_with("-curves.csv");
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
    }

    #[test]
    fn the_table_of_a_sweep_has_what_readers_compare() {
        let header = [
            "rule",
            "threshold",
            "condemned_at_end",
            "saved_share_failed",
            "saved_share_failed_low",
            "harmed_jobs",
            "net_share",
            "net_share_low",
        ];
        let rows: [&[&str]; 2] = [
            &["events", "10", "3", "0.5", "0.4", "8", "0.04", "0.02"],
            &["events", "20", "1", "0.4", "0.3", "4", "0.03", "0.01"],
        ];
        let mut sweep = table(&header, &rows);
        sweep.file = "sweep.csv".to_owned();
        let html = stored_table("Sweep", &sweep, "", &Links::default(), &[], None);
        assert_eq!(html.matches("</th>").count(), 6, "{html}");
        let said = "; only in the file: condemned at end, the bounds of the other intervals</p>";
        assert!(html.contains(said) && html.contains("data-column=\"net_share_low\""), "{html}");
        // Other tables keep such columns.
        sweep.file = "detect.csv".to_owned();
        let html = stored_table("Sweep", &sweep, "", &Links::default(), &[], None);
        assert!(html.matches("</th>").count() == 8 && !html.contains("only in the file"), "{html}");
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
        assert!(html.contains(">lost CPU time (h)</th>") && html.contains(">1.5</td>"), "{html}");
        assert!(html.contains(">running, summed over tasks</th>") && html.contains(">2 h</td>"));
        let rows = [&["killed", "5400"][..]];
        let lost = table(&["ended", "lost_cpu_s"], &rows);
        let html = stored_table("Lost", &lost, "", &Links::default(), &[], Some("NCU-s"));
        assert!(html.contains(">lost CPU time (NCU\u{2011}h)</th>"), "{html}");
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
        let header = ["rule", "threshold", "net_cpu", "wait_s_mean", "harmed_jobs"];
        let idle: [&str; 5] = ["events", "90", "0", "0", "0"];
        let rows: Vec<&[&str]> =
            vec![&["events", "10", "5.12345", "183.69", "2"], &idle, &idle, &idle];
        let html = stored_table("Sweep", &table(&header, &rows), "", &Links::default(), &[], None);
        assert_eq!(html.matches("<tr class=\"idle\">").count(), 3, "{html}");
        assert!(html.contains("Show the 3 rows with only zeros"), "{html}");
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
