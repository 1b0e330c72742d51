//! Compares two sets of results: what changed.
//!
//! In: stored results of two folders. Out: settings and inputs that differ, and for every table the
//! rows that only one has and the numbers that changed. Rows are paired by the first columns that
//! identify them in both tables; if no columns identify rows, equal rows are counted. Rows of
//! different meaning and numbers of different units are never compared.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use super::change::{ALL_TABLES, CellChange, ResultChange, Side, TableChange, is_share};
use super::envelope::Envelope;
use super::stored::{Stored, Table};
use crate::digits::{lasting, number_in};

/// Compares the results of the same name in two sets.
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
            settings: Vec::new(),
            data: Vec::new(),
            tables: Vec::new(),
            not_compared: Vec::new(),
        },
    };
    names.iter().map(of).collect()
}

fn compare_results(first: &Stored, second: &Stored) -> ResultChange {
    let mut differing = Vec::new();
    for ((key, one), (_, other)) in compared(first).into_iter().zip(compared(second)) {
        differences(key, &one, &other, &mut differing);
    }
    // A checksum has no meaning for a reader.
    differing.retain(|(path, ..)| !path.ends_with(".sha256"));
    let (settings, data) = differing.into_iter().partition(|(path, ..)| is_choice(path));
    let (tables, not_compared) = match other_rows(first, second) {
        Some(why) => (Vec::new(), vec![(ALL_TABLES.to_owned(), why)]),
        None => of_tables(first, second),
    };
    let name = first.name.clone();
    ResultChange { name, side: Side::Both, settings, data, tables, not_compared }
}

/// The changes of the tables of two results. Then the tables that are not compared, each with the
/// reason.
fn of_tables(first: &Stored, second: &Stored) -> (Vec<TableChange>, Vec<(String, String)>) {
    let mut not_compared: Vec<(String, String)> = Vec::new();
    let mut tables = Vec::new();
    for table in &first.tables {
        let Some(other) = second.tables.iter().find(|other| other.file == table.file) else {
            continue;
        };
        match compare_tables(table, other, units(first, second)) {
            Ok(change) => tables.push(change),
            Err(why) => not_compared.push((table.file.clone(), why)),
        }
    }
    let has = |result: &Stored, file: &str| result.tables.iter().any(|table| table.file == file);
    let lacks = |result: &Stored, file: &str| {
        !has(result, file) && !result.left_out.iter().any(|name| name == file)
    };
    for (one, other, why) in
        [(first, second, "only in the first"), (second, first, "only in the second")]
    {
        let files = one.tables.iter().map(|table| &table.file).chain(&one.left_out);
        not_compared.extend(
            files.filter(|file| lacks(other, file)).map(|file| (file.clone(), why.to_owned())),
        );
    }
    let large = first.left_out.iter().chain(&second.left_out);
    let is_in_both = |file: &&String| !lacks(first, file) && !lacks(second, file);
    let large: BTreeSet<&String> = large.filter(is_in_both).collect();
    let why = "too large, or missing";
    not_compared.extend(large.into_iter().map(|file| (file.clone(), why.to_owned())));
    (tables, not_compared)
}

/// The parts of a result that are compared, other than its tables.
fn compared(result: &Stored) -> [(&'static str, Value); 4] {
    let Envelope { program, source, settings, inputs, .. } = &result.whole;
    [
        ("program", json!(program)),
        ("source", json!(source)),
        ("settings", settings.clone()),
        ("inputs", json!(inputs)),
    ]
}

/// Collects the paths at which two values differ. It goes down as long as both have the same form.
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
                let table = one.get("table").and_then(Value::as_str);
                let name = table.map_or_else(|| place.to_string(), str::to_owned);
                differences(&format!("{path}.{name}"), one, other, found);
            }
        }
        _ => found.push((path.to_owned(), word(first), word(second))),
    }
}

/// Whether a difference is a choice of the user. Differences of the data are not choices: the
/// tables that were read, names of lakes, ends of windows, the number of intervals, and paths of
/// files.
fn is_choice(path: &str) -> bool {
    let mut parts = path.split('.');
    match (parts.next(), parts.next(), path.rsplit('.').next().unwrap_or(path)) {
        (Some("inputs"), ..) => false,
        (_, Some("windows" | "clusters"), last) => last != "name" && !last.ends_with("_us"),
        (_, Some("grid"), last) => last != "count" && last != "start_us",
        (_, Some(file), _) => !FILES.contains(&file),
        _ => true,
    }
}

/// Settings that name a file.
const FILES: [&str; 3] = ["accounts", "index_file", "slurm_conf"];

/// Settings that decide what a row describes.
const QUESTIONS: [&str; 3] = ["by", "group_by", "interval_s"];

/// The reason why rows of two results with the same name cannot be paired: they describe different
/// things.
fn other_rows(first: &Stored, second: &Stored) -> Option<String> {
    let word = |question: &str, value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "nothing".to_owned(),
        _ if question.ends_with("_s") => value.as_f64().map_or_else(String::new, lasting),
        _ => value.to_string(),
    };
    QUESTIONS.into_iter().find_map(|question| {
        let (one, other) = (&first.whole, &second.whole);
        let places = [(&one.settings, &other.settings), (&one.answer, &other.answer)].into_iter();
        let mut pairs = places.map(|(one, other)| (&one[question], &other[question]));
        let (one, other) = pairs.find(|(one, other)| one != other)?;
        let both = [one, other].map(|value| word(question, value)).join(" and ");
        Some(format!("other rows: {} {both}", question.trim_end_matches("_s").replace('_', " ")))
    })
}

/// The units of two results, if they differ.
fn units(first: &Stored, second: &Stored) -> Option<(String, String)> {
    #[derive(Deserialize)]
    struct Unit {
        unit: String,
    }
    let unit = |result: &Stored| Some(result.whole.read::<Unit>()?.unit);
    unit(first).zip(unit(second)).filter(|(one, other)| one != other)
}

/// Whether the numbers of a column do not depend on the unit of their table: shares, times and
/// counts.
fn has_own_unit(column: &str) -> bool {
    const ENDS: [&str; 16] = [
        "share",
        "us",
        "s",
        "h",
        "bytes",
        "rows",
        "jobs",
        "tasks",
        "events",
        "attempts",
        "users",
        "machines",
        "count",
        "intervals",
        "flags",
        "row",
    ];
    let name = column.trim_end_matches("_low").trim_end_matches("_high");
    let end = name.rsplit('_').next().unwrap_or(name);
    let is_cpu = name.split('_').any(|word| word == "cpu" || word == "usage");
    end == "share" || ENDS.contains(&end) && !is_cpu
}

type Row<'a> = &'a [String];

fn place_of(table: &Table, column: &str) -> usize {
    table.header.iter().position(|name| name == column).expect("a column of both tables")
}

/// The cells of a row in these columns.
fn cells_of(table: &Table, row: Row, columns: &[&str]) -> Vec<String> {
    columns.iter().map(|column| row[place_of(table, column)].clone()).collect()
}

/// The smallest number of first columns that identify all rows of a table; `None` if rows repeat.
fn own_key(table: &Table) -> Option<Vec<&str>> {
    (1..=table.header.len()).find_map(|count| {
        let mut seen = BTreeSet::new();
        let is_unique = table.rows.iter().all(|row| seen.insert(&row[..count]));
        is_unique.then(|| table.header[..count].iter().map(String::as_str).collect())
    })
}

/// The key of tables about the same outcomes by different definitions, of which only one has
/// sequences. An example is `--classes sequence` and `terminal`.
const OUTCOME: [&str; 1] = ["outcome"];

/// Whether a key identifies the rows of both tables, and at least one row is in both.
fn has_pairs(first: &Table, second: &Table, key: &[&str]) -> bool {
    let keys = |table: &Table| -> Option<BTreeSet<Vec<String>>> {
        let is_known = key.iter().all(|name| table.header.iter().any(|own| own == name));
        is_known.then(|| table.rows.iter().map(|row| cells_of(table, row, key)).collect())
    };
    let Some((ours, theirs)) = keys(first).zip(keys(second)) else { return false };
    let is_key = [ours.len(), theirs.len()] == [first.rows.len(), second.rows.len()];
    is_key && !ours.is_disjoint(&theirs)
}

/// Columns that identify a row only together, such as an account within a month. They are used
/// together even if a table has only one account in each month.
const TOGETHER: [[&str; 2]; 6] = [
    ["month", "account"],
    ["queue", "size"],
    ["outcome", "end_reason"],
    ["is_total", "platform"],
    ["platform", "cpu_capacity"],
    ["cpu_capacity", "memory_capacity"],
];

/// A key, extended by the columns that belong to its last column.
fn widened<'a>(mut key: Vec<&'a str>, tables: [&Table; 2]) -> Vec<&'a str> {
    let next = |last: &str| TOGETHER.into_iter().find(|[first, _]| *first == last);
    while let Some([_, more]) = key.last().and_then(|last| next(last)) {
        let is_next = |table: &&Table| table.header.get(key.len()).is_some_and(|own| own == more);
        if !tables.iter().all(is_next) {
            break;
        }
        key.push(more);
    }
    key
}

/// The columns by which rows of two tables are paired: the longer one of the two keys. `None` if
/// rows repeat. An error if the two tables need different columns.
fn key_of<'a>(first: &'a Table, second: &'a Table) -> Result<Option<Vec<&'a str>>, String> {
    let is_in = |table: &Table, name: &str| table.header.iter().any(|column| column == name);
    match (own_key(first), own_key(second)) {
        (Some(one), Some(other)) => {
            let (more, fewer) =
                if one.len() < other.len() { (&other, &one) } else { (&one, &other) };
            let is_within = fewer.iter().all(|name| more.contains(name));
            let is_in_both = more.iter().all(|name| is_in(first, name) && is_in(second, name));
            if is_within && is_in_both {
                return Ok(Some(widened(more.clone(), [first, second])));
            }
            Err(format!("other rows: identified by {} and by {}", one.join(", "), other.join(", ")))
        }
        _ if first.header == second.header => Ok(None),
        _ => Err("rows repeat, and the columns differ".to_owned()),
    }
}

/// The rows of two tables by month that can be compared. If the tables have different months, the
/// first and the last month of each are left out, because a month may be whole in one table and cut
/// in the other. If each table has only one month with jobs, these months are compared.
///
/// # Errors
/// No common month is left.
fn of_common_months(tables: [&Table; 2]) -> Result<Option<[Table; 2]>, String> {
    let months = tables.map(|table| -> BTreeSet<&str> {
        let has_months = table.header.first().is_some_and(|name| name == "month");
        table.rows.iter().filter(|_| has_months).map(|row| row[0].as_str()).collect()
    });
    if months.iter().any(BTreeSet::is_empty) || months[0] == months[1] {
        return Ok(None);
    }
    let ends: Vec<&str> =
        months.iter().flat_map(|own| [own.first(), own.last()]).flatten().copied().collect();
    let is_whole = |month: &&str| !ends.contains(month);
    if !months[0].intersection(&months[1]).any(is_whole) {
        if let Some(both) = of_single_months(tables) {
            return Ok(Some(both));
        }
        let told = |own: &BTreeSet<&str>| match (own.first(), own.last()) {
            (Some(from), Some(to)) if from != to => format!("{from} to {to}"),
            (from, _) => from.copied().unwrap_or_default().to_owned(),
        };
        return Err(format!("other months: {} and {}", told(&months[0]), told(&months[1])));
    }
    let kept = |table: &Table| {
        let mut kept = table.clone();
        kept.rows.retain(|row| is_whole(&row[0].as_str()));
        kept
    };
    Ok(Some(tables.map(kept)))
}

/// The rows of the only month with jobs in each of two tables, such as the reports of two months. A
/// table may also have an earlier month, in which a job began but none ended. Each row names both
/// months. A log may cover only a part of its month.
fn of_single_months(tables: [&Table; 2]) -> Option<[Table; 2]> {
    let only = |table: &Table| -> Option<String> {
        let jobs = table.header.iter().position(|name| name == "jobs");
        let has_jobs = |row: &&Vec<String>| jobs.is_none_or(|place| row[place] != "0");
        let months: BTreeSet<&String> =
            table.rows.iter().filter(has_jobs).map(|row| &row[0]).collect();
        months.first().filter(|_| months.len() == 1).map(|month| (*month).clone())
    };
    let (one, other) = only(tables[0]).zip(only(tables[1]))?;
    let named = if one == other { one.clone() } else { format!("{one} and {other} (may be cut)") };
    let kept = |table: &Table, month: &String| {
        let mut kept = table.clone();
        kept.rows.retain(|row| row[0] == *month);
        kept.rows.iter_mut().for_each(|row| row[0].clone_from(&named));
        kept
    };
    Some([kept(tables[0], &one), kept(tables[1], &other)])
}

fn compare_tables(
    first: &Table,
    second: &Table,
    units: Option<(String, String)>,
) -> Result<TableChange, String> {
    match of_common_months([first, second])? {
        Some([first, second]) => compare_rows(&first, &second, units),
        None => compare_rows(first, second, units),
    }
}

/// Compares the rows of two tables.
fn compare_rows(
    first: &Table,
    second: &Table,
    units: Option<(String, String)>,
) -> Result<TableChange, String> {
    let in_one = |one: &Table, other: &Table| -> Vec<String> {
        one.header.iter().filter(|name| !other.header.contains(name)).cloned().collect()
    };
    let mut key = key_of(first, second)?;
    let is_apart = key.as_ref().is_some_and(|key| !has_pairs(first, second, key));
    if is_apart && has_pairs(first, second, &OUTCOME) {
        key = Some(OUTCOME.to_vec());
    }
    let mut change = TableChange {
        file: first.file.clone(),
        key: key.iter().flatten().map(|&name| name.to_owned()).collect(),
        rows: 0,
        changed_rows: 0,
        only_first: Vec::new(),
        only_second: Vec::new(),
        columns: [in_one(first, second), in_one(second, first)].concat(),
        units,
        other_unit: Vec::new(),
        cells: Vec::new(),
    };
    match key {
        Some(key) => pair(first, second, &key, &mut change),
        None => count(first, second, &mut change),
    }
    Ok(change)
}

/// Pairs the rows of two tables by a key, and compares them.
fn pair(first: &Table, second: &Table, key: &[&str], change: &mut TableChange) {
    fn by_key<'a>(table: &'a Table, key: &[&str]) -> BTreeMap<Vec<String>, Row<'a>> {
        table.rows.iter().map(|row| (cells_of(table, row, key), row.as_slice())).collect()
    }
    let (ours, theirs) = (by_key(first, key), by_key(second, key));
    let is_compared =
        |name: &&String| second.header.contains(name) && !key.contains(&name.as_str());
    let columns: Vec<&String> = first.header.iter().filter(is_compared).collect();
    let unit = |row: Row, table: &Table| {
        let place = table.header.iter().position(|name| name == "unit")?;
        Some(row[place].clone())
    };
    // If columns name their unit, the other columns are not in the unit of the row.
    let names_own = first.header.iter().any(|name| name.ends_with("cpu_s"));
    let mut other_unit: BTreeSet<&str> = BTreeSet::new();
    change.only_second = theirs.keys().filter(|key| !ours.contains_key(*key)).cloned().collect();
    for (key, row) in &ours {
        let Some(other) = theirs.get(key) else {
            change.only_first.push(key.clone());
            continue;
        };
        change.rows += 1;
        let units = unit(row, first).zip(unit(other, second));
        let same = units.clone().filter(|(one, other)| !names_own && one == other);
        let same = same.map(|(unit, _)| unit);
        let own = units.filter(|(one, other)| one != other);
        if change.units.is_none() {
            change.units.clone_from(&own);
        }
        // A column `unit` gives the unit of each row. Without this column, the unit is that of the
        // whole result.
        let is_other = own.is_some() || (change.units.is_some() && unit(row, first).is_none());
        let before = change.cells.len();
        for &column in &columns {
            let (one, other) = (&row[place_of(first, column)], &other[place_of(second, column)]);
            let is_number = number_in(one).or(number_in(other)).is_some();
            if is_other && is_number && !has_own_unit(column) {
                other_unit.insert(column);
            } else if one != other {
                let change_of = cell_change(key.clone(), column, one, other);
                change.cells.push(CellChange { row_unit: same.clone(), ..change_of });
            }
        }
        change.changed_rows += usize::from(before < change.cells.len());
    }
    change.other_unit = other_unit.into_iter().map(str::to_owned).collect();
    weigh(first, second, &mut change.cells);
}

/// Sets each change in relation to the largest number of its column.
fn weigh(first: &Table, second: &Table, cells: &mut [CellChange]) {
    let numbers = |table: &Table, column: &str| -> f64 {
        let place = place_of(table, column);
        let numbers = table.rows.iter().filter_map(|row| number_in(&row[place]));
        numbers.map(f64::abs).filter(|number| number.is_finite()).fold(0.0, f64::max)
    };
    let mut largest: BTreeMap<String, f64> = BTreeMap::new();
    for cell in cells {
        let largest = *largest.entry(cell.column.clone()).or_insert_with(|| {
            if is_share(&cell.column) {
                return 1.0;
            }
            numbers(first, &cell.column).max(numbers(second, &cell.column))
        });
        // `largest` is not 0: if two numbers differ, at least one is not 0.
        cell.of_column = cell.change.map(|change| change / largest);
    }
}

/// Counts the rows that two tables have in common. It is used for tables with repeated rows, which
/// cannot be paired one to one.
fn count(first: &Table, second: &Table, change: &mut TableChange) {
    let mut theirs: BTreeMap<Row, usize> = BTreeMap::new();
    for row in &second.rows {
        *theirs.entry(row).or_default() += 1;
    }
    for row in &first.rows {
        match theirs.get_mut(row.as_slice()).filter(|count| 0 < **count) {
            Some(count) => {
                *count -= 1;
                change.rows += 1;
            }
            None => change.only_first.push(row.clone()),
        }
    }
    for (row, count) in theirs {
        change.only_second.extend(std::iter::repeat_n(row.to_vec(), count));
    }
}

fn cell_change(key: Vec<String>, column: &str, first: &str, second: &str) -> CellChange {
    let numbers = number_in(first).zip(number_in(second));
    let change = numbers.map(|(one, other)| other - one).filter(|change| change.is_finite());
    let relative = numbers.zip(change).map(|((one, _), change)| change / one.abs());
    CellChange {
        key,
        column: column.to_owned(),
        first: first.to_owned(),
        second: second.to_owned(),
        row_unit: None,
        change,
        relative: relative.filter(|share| share.is_finite()),
        of_column: None,
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

    fn compared(first: &Table, second: &Table) -> TableChange {
        compare_tables(first, second, None).unwrap()
    }

    #[test]
    fn rows_are_paired_by_what_tells_them_apart() {
        let first = table("outcome,class,cpu,old", &["a,1,10,x", "a,2,20,x", "b,1,0,x"]);
        let second = table("class,outcome,cpu,new", &["1,a,15,y", "2,a,20,y", "3,c,1,y"]);
        // In the second table, the class alone identifies rows; in the first, both columns are
        // needed.
        let change = compared(&first, &second);
        assert_eq!(change.key, ["outcome", "class"]);
        assert_eq!((change.rows, change.changed_rows), (2, 1));
        assert_eq!(change.only_first, [["b", "1"]]);
        assert_eq!(change.only_second, [["c", "3"]]);
        assert_eq!(change.columns, ["old", "new"]);
        let cell = change.largest(0.0).unwrap();
        assert_eq!(
            (cell.column.as_str(), cell.change, cell.relative),
            ("cpu", Some(5.0), Some(0.5))
        );
        assert!(!change.is_same());
        assert!(compared(&first, &first.clone()).is_same());
    }

    #[test]
    fn names_that_belong_together_pair_rows_together() {
        let first = table("month,account,jobs", &["2024-03,chem,1", "2024-04,chem,2"]);
        let second = table("month,account,jobs", &["2024-03,bio,7", "2024-04,chem,3"]);
        let change = compared(&first, &second);
        assert_eq!(change.key, ["month", "account"]);
        assert_eq!((change.rows, change.changed_rows), (1, 1));
        assert_eq!(change.only_first, [["2024-03", "chem"]]);
        assert_eq!(change.only_second, [["2024-03", "bio"]]);
        let whole = ["2024-04,chem,2", "2024-05,chem,4", "2024-06,chem,5"];
        let first = table("month,account,jobs", &[&["2024-03,chem,1"], &whole[..2]].concat());
        let second = table("month,account,jobs", &whole);
        let why = compare_tables(&first, &second, None).unwrap_err();
        assert_eq!(why, "other months: 2024-03 to 2024-05 and 2024-04 to 2024-06");
        // Of January to June and April to September, only May is whole in both.
        let months = |from: u32, to: u32| {
            let rows: Vec<String> =
                (from..=to).map(|month| format!("2024-{month:02},chem,7")).collect();
            table("month,account,jobs", &rows.iter().map(String::as_str).collect::<Vec<_>>())
        };
        for (one, other, common) in
            [((1, 6), (4, 9), 1), ((1, 12), (7, 18), 4), ((1, 5), (1, 12), 3)]
        {
            let [one, other] = [one, other].map(|(from, to)| months(from, to));
            let change = compared(&one, &other);
            assert_eq!((change.rows, change.changed_rows), (common, 0));
        }
        // Reports of one month each: in March no job ended, and chem has no row in May.
        let march = ["2024-03,chem,0", "2024-04,chem,4", "2024-04,bio,3"];
        let first = table("month,account,jobs", &march);
        let change = compared(&first, &table("month,account,jobs", &["2024-05,bio,5"]));
        assert_eq!((change.rows, change.changed_rows), (1, 1));
        assert_eq!(change.cells[0].key, ["2024-04 and 2024-05 (may be cut)", "bio"]);
        assert_eq!((change.cells[0].first.as_str(), change.cells[0].change), ("3", Some(2.0)));
        assert_eq!(change.only_first, [["2024-04 and 2024-05 (may be cut)", "chem"]]);
        // If one table has five months and the other six, those in the middle are whole in both.
        let long = ["2024-01,chem,1", "2024-02,chem,1", "2024-03,chem,1", "2024-04,chem,9"];
        let first = table("month,account,jobs", &[&long[..], &whole[1..2]].concat());
        let second = table("month,account,jobs", &[&long[..3], &whole[..]].concat());
        let change = compared(&first, &second);
        assert_eq!((change.rows, change.changed_rows), (3, 1));
        assert!(change.only_first.is_empty() && change.only_second.is_empty());
        // Each kind of machine has a capacity.
        let machines = |cpu| {
            let rows = ["true,,,1".to_owned(), format!("false,a,{cpu},1")];
            table("is_total,platform,cpu_capacity,machines", &rows.each_ref().map(String::as_str))
        };
        let change = compared(&machines("0.25"), &machines("0.5"));
        assert_eq!((change.rows, change.only_first.len(), change.only_second.len()), (1, 1, 1));
    }

    #[test]
    fn rows_of_other_keys_are_not_compared() {
        let all = table("threshold,saved", &["3,10", "5,20"]);
        let by_rule = table("rule,threshold,saved", &["a,3,10", "a,5,20", "b,3,1"]);
        let why = compare_tables(&all, &by_rule, None).unwrap_err();
        assert_eq!(why, "other rows: identified by threshold and by rule, threshold");
        let one_rule = table("rule,threshold,saved", &["a,3,10", "a,5,21"]);
        assert_eq!(compared(&by_rule, &one_rule).key, ["rule", "threshold"]);
    }

    #[test]
    fn outcomes_are_paired_where_only_one_side_has_sequences() {
        let first =
            table("sequence,outcome,count", &["014,finished,5", "013,failed,2", ",other,1"]);
        let second = table("sequence,outcome,count", &[",finished,6", ",failed,2", ",lost,3"]);
        let change = compared(&first, &second);
        assert_eq!(change.key, ["outcome"]);
        assert_eq!(change.rows, 2);
        assert_eq!((change.only_first.len(), change.only_second.len()), (1, 1));
        let count = change.cells.iter().find(|cell| cell.column == "count").unwrap();
        assert_eq!((count.key.as_slice(), count.change), (&["finished".to_owned()][..], Some(1.0)));
        assert!(!change.has_no_pairs());
        // An outcome in two rows is not a key, and other keys have no rows in common.
        let twice = table("sequence,outcome,count", &["a,finished,5", "b,finished,2"]);
        let change = compared(&first, &twice);
        assert!(change.has_no_pairs() && change.cells.is_empty());
        let other = table("class,count", &["x,1", "y,2"]);
        assert!(compared(&other, &table("class,count", &["z,1"])).has_no_pairs());
    }

    #[test]
    fn rows_that_nothing_tells_apart_are_counted() {
        let first = table("a,b", &["1,2", "1,2", "3,4"]);
        let second = table("a,b", &["3,4", "1,2", "1,5"]);
        let change = compared(&first, &second);
        assert_eq!((change.key.len(), change.rows), (0, 2));
        assert_eq!(change.only_first, [["1", "2"]]);
        assert_eq!(change.only_second, [["1", "5"]]);
        assert!(change.cells.is_empty() && !change.is_same());
        assert!(compared(&first, &table("a,b", &["3,4", "1,2", "1,2"])).is_same());
        assert!(compare_tables(&first, &table("a,c", &["1,2", "1,2"]), None).is_err());
    }

    #[test]
    fn numbers_of_other_units_are_not_compared() {
        let header = "outcome,jobs,cpu,cpu_share";
        let (first, second) = (table(header, &["a,2,10,0.5"]), table(header, &["a,3,99,0.75"]));
        let units = Some(("task-s".to_owned(), "NCU-s".to_owned()));
        let change = compare_tables(&first, &second, units).unwrap();
        assert_eq!(change.other_unit, ["cpu"]);
        let columns: Vec<&str> = change.cells.iter().map(|cell| cell.column.as_str()).collect();
        assert_eq!(columns, ["jobs", "cpu_share"]);
        assert!(!change.is_same());
        // A column `unit` gives the unit of each row.
        let header = "rule,threshold,unit";
        let first = table(header, &["a,5,events", "b,60,s"]);
        let second = table(header, &["a,5,events", "b,1,events"]);
        let change = compared(&first, &second);
        assert_eq!(change.units, Some(("s".to_owned(), "events".to_owned())));
        let cells: Vec<&str> = change.cells.iter().map(|cell| cell.column.as_str()).collect();
        assert_eq!(cells, ["unit"]);
        assert_eq!(change.key, ["rule"]);
        assert_eq!(change.other_unit, ["threshold"]);
    }

    proptest::proptest! {
        /// Every row is either paired or in only one table, and paired rows have the same key.
        #[test]
        fn no_row_is_lost_or_paired_twice(
            ours in proptest::collection::vec((0..4_u8, 0..4_u8, 0..3_u8), 0..12),
            theirs in proptest::collection::vec((0..4_u8, 0..4_u8, 0..3_u8), 0..12),
        ) {
            let table_of = |rows: &[(u8, u8, u8)]| {
                let lines: Vec<String> =
                    rows.iter().map(|(a, b, c)| format!("k{a},l{b},{c}")).collect();
                table("a,b,c", &lines.iter().map(String::as_str).collect::<Vec<_>>())
            };
            let (first, second) = (table_of(&ours), table_of(&theirs));
            let change = compared(&first, &second);
            proptest::prop_assert_eq!(change.rows + change.only_first.len(), ours.len());
            proptest::prop_assert_eq!(change.rows + change.only_second.len(), theirs.len());
            let scale = |rows: &[(u8, u8, u8)]| rows.iter().map(|row| f64::from(row.2)).fold(0.0, f64::max);
            for cell in change.cells.iter().filter(|cell| cell.column == "c") {
                let expected = cell.change.map(|one| one / scale(&ours).max(scale(&theirs)));
                proptest::prop_assert_eq!(cell.of_column, expected);
            }
            for cell in &change.cells {
                let holds = |rows: &[Vec<String>], value: &String| {
                    rows.iter().any(|row| row.starts_with(&cell.key) && row.contains(value))
                };
                proptest::prop_assert!(holds(&first.rows, &cell.first));
                proptest::prop_assert!(holds(&second.rows, &cell.second));
            }
        }
    }

    #[test]
    fn changes_from_nothing_have_no_share() {
        let cell = cell_change(Vec::new(), "x", "0", "5");
        assert_eq!((cell.change, cell.relative), (Some(5.0), None));
        let cell = cell_change(Vec::new(), "x", "", "5");
        assert_eq!((cell.change, cell.relative), (None, None));
    }

    #[test]
    fn choices_are_known_from_the_data() {
        for path in [
            "settings.cpu",
            "settings.windows.open_attempts",
            "settings.grid.interval_us",
            "program",
        ] {
            assert!(is_choice(path), "{path}");
        }
        for path in [
            "inputs.job_events.rows",
            "settings.windows.job_end_us",
            "settings.clusters.0.name",
            "settings.grid.count",
            "settings.accounts",
        ] {
            assert!(!is_choice(path), "{path}");
        }
    }

    #[test]
    fn the_largest_change_is_that_beside_the_largest_of_its_column() {
        let first = table("outcome,jobs,cpu_share", &["a,5000000,0.5", "b,5,0.5", "c,0,0"]);
        let second = table("outcome,jobs,cpu_share", &["a,4000000,0.6", "b,1000,0.4", "c,0,0"]);
        let change = compared(&first, &second);
        let largest = change.largest(0.0).unwrap();
        assert_eq!((largest.key[0].as_str(), largest.column.as_str()), ("a", "jobs"));
        assert_eq!(largest.of_column, Some(-0.2));
        let share = change.cells.iter().find(|cell| cell.is_share()).unwrap();
        assert_eq!(share.of_column, share.change, "points, whatever else is in the column");
        // A variance says least, even if it changed most.
        let of = |row: &str| table("outcome,variance,mean", &[row]);
        let change = compared(&of("a,1,100"), &of("a,900,101"));
        assert_eq!(change.largest(0.0).unwrap().column, "mean");
    }

    #[test]
    fn values_have_the_unit_of_their_row_unless_columns_name_their_own() {
        let units = |header: &str| -> Vec<Option<String>> {
            let change = compared(&table(header, &["a,1,s"]), &table(header, &["a,2,s"]));
            change.cells.into_iter().map(|cell| cell.row_unit).collect()
        };
        assert_eq!(units("outcome,mean,unit"), [Some("s".to_owned())]);
        assert_eq!(units("outcome,ran_cpu_s,unit"), [None]);
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
