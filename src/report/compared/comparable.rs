//! What can be compared: results that both sides answer, and outcomes that both sides record.

use std::collections::BTreeSet;

use super::names::Names;
use crate::report::findings::NoAnswer;
use crate::results::{ResultChange, Side, TableChange};

/// The reason why a result that both sides have is not answered by both; `None` if it is compared.
pub(super) fn unanswered_of<'a>(
    change: &ResultChange,
    unanswered: &'a [NoAnswer],
) -> Option<&'a NoAnswer> {
    let own = unanswered.iter().find(|one| one.result == change.name);
    own.filter(|_| change.side == Side::Both)
}

/// Why a result is not compared. Each reason is given only once on a page.
pub(super) fn why_not<'a>(own: &'a NoAnswer, names: &Names<'_>, said: &mut Vec<&'a str>) -> String {
    let (who, why) = match own.why.each_ref().map(Option::as_deref) {
        [Some(_), Some(_)] => return "not compared: neither has an answer".to_owned(),
        [Some(why), None] => (names.first, why),
        [None, other] => (names.second, other.unwrap_or_default()),
    };
    let more = if said.contains(&why) { String::new() } else { format!(" ({why})") };
    said.push(why);
    format!("not compared: {who} has no answer{more}")
}

/// A change without the rows of single outcomes, for sides of which one does not record how its
/// jobs ended.
pub(super) fn of_all_outcomes(change: &ResultChange) -> ResultChange {
    let mut kept = change.clone();
    for table in &mut kept.tables {
        let Some(place) = table.key.iter().position(|name| name == "outcome") else { continue };
        let is_of_all = |key: &Vec<String>| key.get(place).is_some_and(|name| name == "all");
        table.cells.retain(|cell| is_of_all(&cell.key));
        table.only_first.retain(is_of_all);
        table.only_second.retain(is_of_all);
        let rows: BTreeSet<&Vec<String>> = table.cells.iter().map(|cell| &cell.key).collect();
        table.changed_rows = rows.len();
    }
    let is_empty = |table: &TableChange| {
        let was = change.tables.iter().find(|known| known.file == table.file);
        table.is_same() && was.is_some_and(|known| !known.is_same())
    };
    let (emptied, tables) = kept.tables.into_iter().partition(is_empty);
    kept.tables = tables;
    let why = "not compared: one side does not record how jobs ended".to_owned();
    kept.not_compared.extend(emptied.into_iter().map(|table| (table.file, why.clone())));
    kept
}

/// The tables with a change. Tables of curves are left out unless only curves changed: they change
/// together with their table.
pub(super) fn changed(change: &ResultChange) -> Vec<&TableChange> {
    let all = || change.tables.iter().filter(|table| !table.is_same());
    let are_curves = |table: &&TableChange| table.file.ends_with("-curves.csv");
    if all().all(|table| are_curves(&table)) {
        return all().collect();
    }
    all().filter(|table| !are_curves(table)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::overview::unchanged;
    use super::*;
    use crate::results::CellChange;

    /// A table of outcomes in which these rows changed.
    fn of_outcomes(file: &str, rows: &[&str]) -> TableChange {
        let cell = |outcome: &&str| CellChange {
            row_unit: None,
            key: vec![(*outcome).to_owned()],
            column: "count".to_owned(),
            first: "1".to_owned(),
            second: "2".to_owned(),
            change: Some(1.0),
            relative: Some(1.0),
            of_column: Some(1.0),
        };
        TableChange {
            file: file.to_owned(),
            key: vec!["outcome".to_owned()],
            rows: rows.len(),
            changed_rows: rows.len(),
            only_first: Vec::new(),
            only_second: Vec::new(),
            columns: Vec::new(),
            units: None,
            other_unit: Vec::new(),
            cells: rows.iter().map(cell).collect(),
        }
    }

    #[test]
    fn outcomes_that_a_side_does_not_record_are_not_compared() {
        let tables = vec![
            of_outcomes("lengths.csv", &["all", "finished"]),
            of_outcomes("ends.csv", &["finished", "failed"]),
        ];
        let change = ResultChange {
            name: "lengths".to_owned(),
            side: Side::Both,
            settings: Vec::new(),
            data: Vec::new(),
            tables,
            not_compared: Vec::new(),
        };
        let kept = of_all_outcomes(&change);
        assert_eq!(kept.tables.len(), 1);
        assert_eq!((kept.tables[0].changed_rows, &*kept.tables[0].cells[0].key[0]), (1, "all"));
        assert_eq!(kept.not_compared[0].0, "ends.csv");
        // A table that differs is not listed as the same.
        assert_eq!(unchanged(&[change], &[]), "");
    }

    #[test]
    fn curves_are_named_only_if_nothing_else_changed() {
        let of = |files: &[&str]| ResultChange {
            name: "lengths".to_owned(),
            side: Side::Both,
            settings: Vec::new(),
            data: Vec::new(),
            tables: files.iter().map(|file| of_outcomes(file, &["all"])).collect(),
            not_compared: Vec::new(),
        };
        let told = |files: &[&str]| -> Vec<String> {
            changed(&of(files)).into_iter().map(|table| table.file.clone()).collect()
        };
        assert_eq!(told(&["a.csv", "a-curves.csv"]), ["a.csv"]);
        assert_eq!(told(&["a-curves.csv"]), ["a-curves.csv"]);
    }
}
