//! Stored tables on a page: empty parts are left out, and long tables are folded.
//!
//! In: a table of a result. Out: the table as HTML with a link to its file. Left out are columns
//! without a value, units that are the same in all rows (the caption has them), rows whose numbers
//! are all zero or unknown, and columns that are zero in every row. The omitted rows are counted,
//! and columns of zeros are named. The file has everything.

use std::collections::BTreeSet;

use super::headings::heading;
use super::html::{self, Cell};
use super::links::Links;
use super::text::escape;
use crate::answers::machines;
use crate::digits::{counted, grouped};
use crate::results::Table;

/// A table of more rows is folded.
const FOLDED_ABOVE: usize = 40;

/// Rows of a folded table that a page holds.
const FOLDED_ROWS: usize = 100;

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
    let is_of_whole =
        |word: &str| matches!(word, "share" | "chance" | "precision" | "recall" | "accuracy");
    column == "false_positive_rate" || column.split('_').any(is_of_whole)
}

/// A column of lengths of time, which are written in words.
const RUNNING: &str = "running_s";

/// Columns of measures between 0 and 1 that are no shares of a whole.
const MEASURES: [&str; 3] = ["auc", "brier_score", "f1"];

/// The columns of a distribution that are in its unit.
const OF_DISTRIBUTION: [&str; 8] = ["mean", "min", "p25", "median", "p75", "p90", "p99", "max"];

/// The column that names the columns of a row that are only lower bounds. Their cells say so.
const LOWER_BOUNDS: &str = "at_least";

/// Columns that pages leave out: the files have them. A variance is in squared units, which tell a
/// reader nothing.
const LEFT_OUT: [&str; 2] = ["variance", LOWER_BOUNDS];

/// Columns of zeros that are not worth a note.
const UNNOTED: [&str; 2] = ["censored", "left_censored"];

/// Whether a row of a sweep is one of a rule that would have saved and harmed nothing.
fn has_no_effect(table: &Table, row: &[String]) -> bool {
    const EFFECTS: [&str; 2] = ["net_cpu", "harmed_jobs"];
    if !matches!(table.file.as_str(), "sweep.csv" | "sweep-plane.csv") {
        return false;
    }
    let is_bound = row.first().is_some_and(|rule| matches!(rule.as_str(), "never" | "oracle"));
    let is_zero = |column: &&str| {
        let place = table.header.iter().position(|name| name == *column);
        let cell = place.and_then(|idx| row.get(idx));
        cell.is_some_and(|cell| cell.parse::<f64>() == Ok(0.0))
    };
    !is_bound && EFFECTS.iter().all(is_zero)
}

/// Whether a table describes lengths of time in seconds, which a page writes in words.
fn describes_seconds(table: &Table) -> bool {
    let place = |name: &str| table.header.iter().position(|column| column == name);
    let is_described = OF_DISTRIBUTION.iter().all(|name| place(name).is_some());
    let unit = place("unit");
    let is_s =
        |row: &Vec<String>| unit.and_then(|idx| row.get(idx)).is_some_and(|unit| unit == "s");
    is_described && table.rows.iter().all(is_s)
}

fn is_unit(column: &str) -> bool {
    column == "unit" || column.ends_with("_unit")
}

/// Whether a row has a zero and, names apart, no number except zeros and no `true`; other texts do
/// not count.
fn says_nothing(header: &[String], row: &[String]) -> bool {
    let mut cells = header.iter().zip(row).filter(|(column, _)| !is_name(column));
    let is_zero = |cell: &str| cell.parse::<f64>().map(|number| number == 0.0);
    let has_zero = cells.clone().any(|(_, cell)| is_zero(cell) == Ok(true));
    has_zero && cells.all(|(_, cell)| is_zero(cell) != Ok(false) && cell != "true")
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
    /// Whether the rows describe lengths of time in seconds.
    are_times: bool,
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
    table.file == "fairness.csv" && OF_USERS.contains(&column)
}

/// The column that marks the row of all groups together. Its page names that row instead.
const IS_TOTAL: &str = "is_total";

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

fn kept(table: &Table) -> Kept<'_> {
    let is_told =
        |row: &&Vec<String>| !says_nothing(&table.header, row) && !has_no_effect(table, row);
    let rows: Vec<&[String]> = table.rows.iter().filter(is_told).map(Vec::as_slice).collect();
    let rows = one_group(&table.header, rows);
    let (is_whole, kept_columns) = (table.rows.len() == table.row_count, columns_kept(table));
    let (mut columns, mut units, mut zero_columns) = (Vec::new(), Vec::new(), Vec::new());
    for (idx, column) in table.header.iter().enumerate() {
        let cell = |row: &&'_ [String]| row.get(idx).cloned().unwrap_or_default();
        // A column of missing names (`-`) is a column without a value.
        if rows.iter().all(|row| matches!(cell(row).as_str(), "" | "-"))
            || is_shown_above(table, column)
            || column == IS_TOTAL
            || LEFT_OUT.contains(&column.as_str())
        {
            continue;
        }
        let first = rows.first().and_then(|row| row.get(idx)).map_or("", String::as_str);
        if is_unit(column) && rows.iter().all(|row| cell(row) == first) {
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
        columns.push(idx);
    }
    let zero_rows = table.rows.iter().filter(|row| !is_told(row)).count();
    let are_times = describes_seconds(table);
    Kept { columns, rows, units, zero_rows, zero_columns, are_times }
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

/// A range of whole numbers, `1000000 to 10000000`, with thousands separated.
fn grouped_range(text: &str) -> String {
    let number = |text: &str| text.parse::<u64>().ok().map(grouped);
    let pair = text.split_once(" to ").and_then(|(from, to)| Some((number(from)?, number(to)?)));
    pair.map_or_else(|| text.to_owned(), |(from, to)| format!("{from} to {to}"))
}

/// A cell of a row, with a sign if its value is only a lower bound.
fn cell((table, kept): (&Table, &Kept<'_>), links: &Links, row: &[String], idx: usize) -> Cell {
    let text = row.get(idx).map_or("", String::as_str);
    if text.is_empty() && kept.columns.first() == Some(&idx) && is_total(table, row) {
        return Cell::name("all");
    }
    let column = table.header[idx].as_str();
    let own = match links.page(column, text) {
        Some(page) => Cell::link(text, &page),
        None if is_name(column) => Cell::name(text),
        None if column.ends_with("_request") => Cell::name(&grouped_range(text)),
        None if is_share(column) => Cell::share(text),
        None if column == RUNNING => Cell::lasting(text.parse().ok()),
        None if kept.are_times && OF_DISTRIBUTION.contains(&column) => {
            Cell::lasting(text.parse().ok())
        }
        None if column == "day" => Cell::day(text),
        None if MEASURES.contains(&column) => Cell::measure(text),
        None => Cell::of(text),
    };
    let bounds = table.header.iter().position(|name| name == LOWER_BOUNDS);
    let names = bounds.and_then(|place| row.get(place)).map_or("", String::as_str);
    if names.split(',').any(|name| name == column) { own.at_least() } else { own }
}

/// What the page leaves out of a table of which it shows some rows, for the end of its source.
fn notes(table: &Table, kept: &Kept<'_>, shown: usize) -> String {
    let mut notes = String::new();
    if shown < kept.rows.len() || table.rows.len() < table.row_count {
        let first = grouped(shown as u64);
        notes = format!("; the first {first} of {}", counted(table.row_count as u64, "row"));
    }
    if 0 < kept.zero_rows {
        let zeros = counted(kept.zero_rows as u64, "row");
        let are = if kept.zero_rows == 1 { "is" } else { "are" };
        let what = if table.file.starts_with("sweep") {
            "that would have saved and harmed nothing"
        } else {
            "without a value above zero"
        };
        notes = format!("{notes}; {zeros} {what} {are} not shown");
    }
    if !kept.zero_columns.is_empty() {
        let names: Vec<&str> = kept.zero_columns.iter().map(|name| heading(name)).collect();
        let names = names.join(", ").replace('_', " ");
        notes = format!("{notes}; 0 in every row: {}", escape(&names));
    }
    notes + no_machines(table)
}

/// A stored table with a link to its file.
pub(crate) fn stored_table(caption: &str, table: &Table, root: &str, links: &Links) -> String {
    let kept = kept(table);
    let caption = match kept.units.as_slice() {
        [] => caption.to_owned(),
        ["s"] if kept.are_times => caption.to_owned(),
        units if caption.ends_with(&format!("({})", units.join(", "))) => caption.to_owned(),
        units => format!("{caption} ({})", units.join(", ")),
    };
    let name = |idx: &usize| heading(&table.header[*idx]).to_owned();
    let header: Vec<String> = kept.columns.iter().map(name).collect();
    let (all, most) =
        (kept.rows.len(), if links.are_in(&header) { usize::MAX } else { FOLDED_ROWS });
    let shown = if all <= 2 * FOLDED_ROWS { all } else { most.min(all) };
    let rows: Vec<Vec<Cell>> = kept
        .rows
        .iter()
        .take(shown)
        .map(|row| kept.columns.iter().map(|&idx| cell((table, &kept), links, row, idx)).collect())
        .collect();
    let notes = notes(table, &kept, shown);
    let file = escape(&table.file);
    let source =
        format!("<p class=\"source\">Data: <a href=\"{root}data/{file}\">{file}</a>{notes}</p>\n");
    if rows.is_empty() {
        return format!("<p>{}: no value above zero.</p>\n{source}", escape(&caption));
    }
    let whole = html::table(&caption, &header, &rows);
    // Tables of curves are folded: the chart shows their points.
    let is_short = all <= FOLDED_ABOVE && !table.file.ends_with("-curves.csv");
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

/// The place, above the table of a sweep, where the script offers a price of a harmed job and a
/// threshold. Empty unless the page has the whole table with one row per rule and threshold, since
/// the script computes from its rows.
pub(crate) fn what_if(table: &Table, unit: &str, price: f64) -> String {
    let at = |column: &str| table.header.iter().position(|name| name == column);
    let keys = ["rule", "threshold"].map(at);
    let of = |row: &[String]| keys.map(|idx| idx.and_then(|idx| row.get(idx).cloned()));
    let settings: BTreeSet<[Option<String>; 2]> = table.rows.iter().map(|row| of(row)).collect();
    let is_whole = table.rows.len() == table.row_count && table.row_count <= 2 * FOLDED_ROWS;
    if !is_whole || keys.contains(&None) || settings.len() < table.row_count {
        return String::new();
    }
    let unit = escape(unit);
    format!("<div class=\"what-if\" data-unit=\"{unit}\" data-price=\"{price}\"></div>\n")
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
        let html = stored_table("Machines", &machines, "", &Links::default());
        assert!(!html.contains("total") && html.matches(">all<").count() == 1, "{html}");
        assert!(!html.contains("a row of 0 machines"), "{html}");
        machines.file = "machines.csv".to_owned();
        let html = stored_table("Machines", &machines, "", &Links::default());
        assert!(html.contains("; a row of 0 machines: they had"), "{html}");
    }

    #[test]
    fn what_says_nothing_is_left_out_and_counted() {
        let header = ["sequence", "outcome", "count", "unit", "p99"];
        let rows: [&[&str]; 3] = [
            &["014", "finished", "9", "s", ""],
            &["013", "failed", "0", "s", ""],
            &["", "other", "0.0", "s", ""],
        ];
        let html = stored_table("Jobs", &table(&header, &rows), "", &Links::default());
        assert!(html.contains("<caption>Jobs (s)</caption>"), "{html}");
        assert!(html.contains("finished") && !html.contains("failed"), "{html}");
        assert!(!html.contains("p99") && !html.contains("unit"), "{html}");
        assert!(html.contains("2 rows without a value above zero are not shown"), "{html}");
        let html = stored_table("Jobs", &table(&header, &rows[1..]), "", &Links::default());
        assert!(html.starts_with("<p>Jobs: no value above zero.</p>"), "{html}");
        // A column of zeros is named.
        let rows: [&[&str]; 2] = [&["014", "9", "0"], &["013", "3", "0.0"]];
        let header = ["sequence", "count", "not_finished"];
        let html = stored_table("Jobs", &table(&header, &rows), "", &Links::default());
        assert!(html.contains("; 0 in every row: not finished</p>"), "{html}");
        assert_eq!(html.matches("</th>").count(), 2, "{html}");
        let html = stored_table("Jobs", &table(&header, &rows[..1]), "", &Links::default());
        assert_eq!(html.matches("</th>").count(), 3, "{html}");
        // A key that is a number keeps its row.
        let html = stored_table(
            "Kills",
            &table(&["threshold", "saved"], &[&["10", "0"]]),
            "",
            &Links::default(),
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
        let html = stored_table("Waits", &table(&header, &rows), "", &Links::default());
        assert!(html.contains("<caption>Waits</caption>"), "{html}");
        assert!(html.contains(">2 h</td>") && html.contains(">90 s</td>"), "{html}");
        assert_eq!(html.matches("≥&nbsp;").count(), 2, "{html}");
        for gone in ["variance", "at least", "0 in every row"] {
            assert!(!html.contains(gone), "{gone}: {html}");
        }
    }

    #[test]
    fn measures_have_three_decimals_and_readable_headings() {
        let header = ["rule", "day", "auc"];
        let html = stored_table(
            "x",
            &table(&header, &[&["last", "17156", "0.501914"], &["last", "3", "0.25"]]),
            "",
            &Links::default(),
        );
        assert!(html.contains(">0.502</td>") && html.contains(">area under ROC</th>"), "{html}");
        assert!(html.contains(">2016-12-21</td>") && html.contains(">3</td>"), "{html}");
    }

    #[test]
    fn rules_without_effect_are_counted_and_not_shown() {
        let header = ["rule", "threshold", "condemned_tasks", "harmed_jobs", "net_cpu"];
        let rows: [&[&str]; 3] = [
            &["events", "10", "9", "0", "5"],
            &["events", "20", "0", "0", "0"],
            &["x", "1", "0", "0", "0"],
        ];
        let sweep = Table { file: "sweep.csv".to_owned(), ..table(&header, &rows) };
        let html = stored_table("Kills", &sweep, "", &Links::default());
        assert_eq!(html.matches("<tr>").count(), 2, "{html}");
        assert!(
            html.contains("; 2 rows that would have saved and harmed nothing are not shown"),
            "{html}"
        );
    }

    #[test]
    fn a_long_table_is_folded() {
        let rows: Vec<&[&str]> = vec![&["1"]; FOLDED_ABOVE + 1];
        let html = stored_table("Jobs", &table(&["count"], &rows), "", &Links::default());
        assert!(html.starts_with("<details class=\"long\"><summary>Jobs: 41 rows<"), "{html}");
        let curves = Table {
            file: "x-curves.csv".to_owned(),
            ..table(&["running_s"], &[&["7200"], &["1"]])
        };
        let html = stored_table("Points", &curves, "", &Links::default());
        assert!(html.starts_with("<details class=\"long\"><summary>Points: 2 rows<"), "{html}");
        assert!(html.contains("data-value=\"7200\">2 h</td>"), "{html}");
        let longer = Table { row_count: 99, ..table(&["count"], &rows) };
        let html = stored_table("Jobs", &longer, "", &Links::default());
        assert!(html.contains("<summary>Jobs: 99 rows<"), "{html}");
        assert!(html.contains("the first 41 of 99 rows"), "{html}");
    }

    #[test]
    fn a_price_is_offered_above_the_whole_of_a_sweep_alone() {
        let header = ["rule", "threshold", "net_cpu"];
        let rows: [&[&str]; 3] =
            [&["events", "10", "5"], &["events", "20", "3"], &["x", "10", "1"]];
        let whole = table(&header, &rows);
        let offered = "<div class=\"what-if\" data-unit=\"NCU-s\" data-price=\"3600\"></div>\n";
        assert_eq!(what_if(&whole, "NCU-s", 3600.0), offered);
        let cut = Table { row_count: 4, ..whole.clone() };
        assert_eq!(what_if(&cut, "NCU-s", 3600.0), "");
        // With groups, a rule and a threshold name several rows.
        let twice = table(&header, &[rows[0], rows[0]]);
        assert_eq!(what_if(&twice, "NCU-s", 3600.0), "");
        assert_eq!(what_if(&table(&["rule"], &[&["x"]]), "NCU-s", 3600.0), "");
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
            let html = stored_table("x", &Table { file: "x.csv".to_owned(), header, rows, row_count }, "", &Links::default());
            for number in 1..9_u32 {
                let all = cells.iter().flatten().filter(|&&cell| cell == number).count();
                prop_assert_eq!(html.matches(&format!(">{number}</td>")).count(), all);
            }
        }
    }
}
