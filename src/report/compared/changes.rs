//! The changes of tables: the most important change of one table in words, and all changes as a
//! table for stdout.

use arrow::record_batch::RecordBatch;

use crate::digits::{is_date, lasting, number_in, unit_of_use};
use crate::report::headings::{heading, is_length, is_statistic, is_use_by_unit};
use crate::report::text::{figure_text, instant, percent};
use crate::results::frame::Frame;
use crate::results::{CellChange, ResultChange, Side, TableChange, growth};

/// The reader of a change. A page has headings, and times in suitable units. A table on stdout has
/// names of columns, and seconds, like the files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    OfPage,
    OfTable,
}

/// The most important change of a table in words. If the units differ, the units instead. `growth`
/// is the relative change of the number of jobs.
pub(super) fn largest(table: &TableChange, growth: f64, reader: Reader) -> String {
    if let Some((first, second)) = &table.units {
        let columns = table.other_unit.join(", ");
        let rest = if columns.is_empty() { "" } else { " not compared" };
        return format!("units differ ({first}, {second}) {columns}{rest}").trim_end().to_owned();
    }
    if table.has_no_pairs() {
        return "not compared: no row is in both".to_owned();
    }
    let Some(cell) = table.largest(growth) else { return String::new() };
    let key = match reader {
        Reader::OfPage => {
            let named = cell.key.iter().zip(&table.key);
            named.map(|(text, column)| in_words(column, text)).collect::<Vec<String>>().join(" ")
        }
        Reader::OfTable => cell.key.join(" "),
    };
    let of = if key.is_empty() { String::new() } else { format!(" of {key}") };
    let figure = |text: &str| match number_in(text) {
        Some(share) if cell.is_share() => percent(share),
        Some(number) if reader == Reader::OfPage && is_lasting(cell) => lasting(number),
        Some(number) => match shown_in(cell) {
            Some((unit, per)) if reader == Reader::OfPage => {
                format!("{} {unit}", figure_text(number / per))
            }
            _ => figure_text(number),
        },
        None if text.is_empty() => "nothing".to_owned(),
        None => text.to_owned(),
    };
    let by = how_much(cell).map_or_else(String::new, |by| format!(" ({by})"));
    let [first, second] = [&cell.first, &cell.second].map(|text| figure(text));
    let column = match reader {
        Reader::OfPage => heading(&cell.column),
        Reader::OfTable => cell.column.clone(),
    };
    // The unit of a priority follows from the settings of its index, so only the relative change is
    // the same in every unit.
    let is_priority = PRIORITIES.iter().any(|end| cell.column.ends_with(end));
    match how_much(cell).filter(|_| is_priority && reader == Reader::OfPage) {
        Some(by) => format!("{column}{of}: {by}"),
        None => format!("{column}{of}: {first} to {second}{by}"),
    }
}

/// How the names of columns of priorities end.
const PRIORITIES: [&str; 2] = ["_eup", "_rup"];

/// A value that names a row. Instants and lengths of time are in words.
fn in_words(column: &str, text: &str) -> String {
    match number_in(text) {
        Some(_) if column == "sequence" => match text {
            "014" => "finished (014)".to_owned(),
            "013" => "failed (013)".to_owned(),
            "015" => "killed (015)".to_owned(),
            "01" => "running (01)".to_owned(),
            other => other.to_owned(),
        },
        Some(seconds) if column.ends_with("_s") && is_date(seconds) => instant(seconds),
        Some(seconds) if column.ends_with("_s") => lasting(seconds),
        None if column.ends_with("_request") => {
            let parts = text
                .split(' ')
                .map(|part| number_in(part).map_or_else(|| part.to_owned(), figure_text));
            let parts: Vec<String> = parts.collect();
            format!("{} {}", heading(column), parts.join(" "))
        }
        _ => text.to_owned(),
    }
}

/// Whether a value is a length of time.
pub(super) fn is_lasting(cell: &CellChange) -> bool {
    cell.column.starts_with("first_use")
        || cell.column.starts_with("last_use")
        || is_length(&cell.column)
        || is_statistic(&cell.column) && cell.row_unit.as_deref() == Some("s")
}

/// The unit in which both values are shown, and how many units of the row make one of it. `None` if
/// the values are not in the unit of the row.
pub(super) fn shown_in(cell: &CellChange) -> Option<(String, f64)> {
    let has_unit = is_statistic(&cell.column) || is_use_by_unit(&cell.column);
    let unit = cell.row_unit.as_deref().filter(|_| has_unit)?;
    let numbers = [&cell.first, &cell.second].map(|text| number_in(text).unwrap_or(0.0).abs());
    Some(unit_of_use(unit, numbers[0].max(numbers[1])))
}

/// How much a number changed: a share in points, a number that about doubled or more as a factor,
/// other numbers in percent. `None` if a value is not a number, or if the first value is 0 (except
/// for shares).
pub(super) fn how_much(cell: &CellChange) -> Option<String> {
    let (change, relative) = (cell.change?, cell.relative);
    if cell.is_share() {
        return Some(format!("{:+.2} points", change * 100.0));
    }
    // A difference as a percentage has no meaning, for example from -820 s to 0.65 s.
    let is_difference = cell.column.ends_with("_change") || cell.column.starts_with("difference");
    let relative = relative.filter(|_| !is_difference)?;
    let is_positive = number_in(&cell.first).is_some_and(|first| 0.0 < first);
    Some(match relative {
        0.995.. if is_positive && relative < 9.0 => format!("{:.1} times", 1.0 + relative),
        0.995.. if is_positive => format!("{} times", figure_text((1.0 + relative).round())),
        _ => format!("{:+.1} %", relative * 100.0),
    })
}

/// One row for each table, for each result that only one side has, for each table that is not
/// compared, and for each result without tables.
pub fn comparison_table(changes: &[ResultChange]) -> RecordBatch {
    let (mut results, mut files, mut counts, mut most) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let growth = growth(changes);
    for change in changes {
        let missing = match change.side {
            Side::First => Some("only in the first"),
            Side::Second => Some("only in the second"),
            Side::Both => None,
        };
        if let Some(missing) = missing {
            results.push(change.name.as_str());
            files.push(missing);
            counts.push([0; 5]);
            most.push(String::new());
        }
        let is_empty = change.tables.is_empty() && change.not_compared.is_empty();
        let no_table = change.side == Side::Both && is_empty;
        let others = change.not_compared.iter().map(|(file, why)| (file.as_str(), why.as_str()));
        for (file, why) in others.chain(no_table.then_some(("no table", ""))) {
            results.push(change.name.as_str());
            files.push(file);
            counts.push([change.settings.len() as u64, 0, 0, 0, 0]);
            most.push(why.to_owned());
        }
        for table in &change.tables {
            results.push(change.name.as_str());
            files.push(table.file.as_str());
            counts.push([
                change.settings.len() as u64,
                table.rows as u64,
                table.changed_rows as u64,
                table.only_first.len() as u64,
                table.only_second.len() as u64,
            ]);
            most.push(largest(table, growth, Reader::OfTable));
        }
    }
    let count = |place: usize| counts.iter().map(move |counts| counts[place]);
    Frame::default()
        .text("result", results)
        .text("table", files)
        .count("settings_differ", count(0))
        .count("rows", count(1))
        .count("changed", count(2))
        .count("only_first", count(3))
        .count("only_second", count(4))
        .text("largest_change", most)
        .batch()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(column: &str, first: &str, second: &str, reader: Reader) -> String {
        said_in(None, column, [first, second], reader)
    }

    fn said_in(unit: Option<&str>, column: &str, values: [&str; 2], reader: Reader) -> String {
        let [first, second] = values;
        let (one, other) = (number_in(first), number_in(second));
        let change = one.zip(other).map(|(one, other)| other - one);
        let relative = one.zip(change).map(|(one, change)| change / one.abs());
        let cell = CellChange {
            row_unit: unit.map(str::to_owned),
            key: vec!["physics".to_owned()],
            column: column.to_owned(),
            first: first.to_owned(),
            second: second.to_owned(),
            change,
            relative: relative.filter(|share| share.is_finite()),
            of_column: change,
        };
        let change = TableChange {
            file: String::new(),
            key: vec!["user".to_owned()],
            rows: 1,
            changed_rows: 1,
            only_first: Vec::new(),
            only_second: Vec::new(),
            columns: Vec::new(),
            units: None,
            other_unit: Vec::new(),
            cells: vec![cell],
        };
        largest(&change, 0.0, reader)
    }

    #[test]
    fn values_have_the_unit_of_their_row_on_a_page() {
        let of = |unit, column, values| said_in(Some(unit), column, values, Reader::OfPage);
        assert_eq!(of("s", "max", ["60", "7200"]), "max of physics: 60 s to 2 h (120 times)");
        let cpu = ["7200", "3600"];
        assert_eq!(of("NCU-s", "cpu", cpu), "CPU of physics: 2 NCU-h to 1 NCU-h (-50.0 %)");
        assert_eq!(of("tasks", "max", ["4", "3"]), "max of physics: 4 tasks to 3 tasks (-25.0 %)");
        assert_eq!(
            of("NCU-s", "cpu", ["72", "36"]),
            "CPU of physics: 72 NCU-s to 36 NCU-s (-50.0 %)"
        );
        // A count of rows is not in their unit.
        assert_eq!(of("s", "count", ["4", "3"]), "count of physics: 4 to 3 (-25.0 %)");
        let in_file = said_in(Some("s"), "max", ["60", "7200"], Reader::OfTable);
        assert_eq!(in_file, "max of physics: 60 to 7,200 (120 times)");
    }

    #[test]
    fn changes_are_said_in_plain_figures() {
        let cases = [
            ("jobs", "5363", "4771", "jobs of physics: 5,363 to 4,771 (-11.0 %)"),
            ("jobs", "5", "1002", "jobs of physics: 5 to 1,002 (200 times)"),
            ("wait_s", "1.0", "21858.0", "wait of physics: 1 s to 6.07 h (21,858 times)"),
            ("jobs", "10", "25", "jobs of physics: 10 to 25 (2.5 times)"),
            ("jobs", "10", "19", "jobs of physics: 10 to 19 (+90.0 %)"),
            ("jobs", "0", "7", "jobs of physics: 0 to 7"),
            ("net_cpu", "-2", "6", "net CPU of physics: -2 to 6 (+400.0 %)"),
            ("share", "0.0013", "0.0174", "share of physics: 0.13 % to 1.74 % (+1.61 points)"),
            ("wait_s", "", "7", "wait of physics: nothing to 7 s"),
            ("cpu", "0.1", "0.3333333333", "CPU of physics: 0.1 to 0.333333 (3.3 times)"),
        ];
        for (column, first, second, expected) in cases {
            assert_eq!(said(column, first, second, Reader::OfPage), expected);
        }
        let priority = said("condor_eup", "337812", "680246", Reader::OfPage);
        assert!(priority.ends_with(" of physics: 2.0 times"), "{priority}");
        let class = in_words("memory_request", "100000000 to 1000000000");
        assert_eq!(class, "memory request 100,000,000 to 1,000,000,000");
        let raw = said("wait_s", "1.0", "21858.0", Reader::OfTable);
        assert_eq!(raw, "wait_s of physics: 1 to 21,858 (21,858 times)");
    }
}
