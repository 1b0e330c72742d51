//! The tables of outcomes with the parts of the outcome `other`, in the words of the sentence about
//! it.
//!
//! In: a stored classification or ledger and one of its tables. Out: the table with a row for each
//! large part of `other`, or with the parts in the cell that names it; other tables as they are.

use std::borrow::Cow;

use crate::answers::account;
use crate::answers::classify::{ClassifyAnswer, KINDS, main_parts};
use crate::digits::grouped;
use crate::results::{Stored, Table};

/// The columns of a table of outcomes.
const COLUMNS: [&str; 4] = ["sequence", "outcome", "count", "share"];

/// The table with the parts of `other`.
pub(super) fn with_parts<'a>(result: &Stored, table: &'a Table) -> Cow<'a, Table> {
    let is_of_outcomes = KINDS.iter().any(|kind| kind.name == result.name);
    let place = table.rows.iter().position(|row| row.get(1).is_some_and(|own| own == "other"));
    let place = place.filter(|_| is_of_outcomes && table.header == COLUMNS);
    match place.and_then(|place| Some((place, result.found::<ClassifyAnswer>()?))) {
        Some((place, answer)) => {
            let mut own = table.clone();
            own.rows.splice(place..=place, rows(answer));
            Cow::Owned(own)
        }
        None => Cow::Borrowed(table),
    }
}

/// A ledger by outcome with the parts of `other`, if the jobs in that row are the jobs of the
/// outcomes.
pub(super) fn with_other_named<'a>(
    result: &Stored,
    table: &'a Table,
    all: &[Stored],
) -> Cow<'a, Table> {
    let is_ledger = account::KINDS.iter().any(|kind| kind.name == result.name)
        && table.file == format!("{}.csv", result.name);
    let jobs = all.iter().find(|own| own.name == KINDS[0].name).filter(|_| is_ledger);
    let named = jobs.and_then(Stored::found::<ClassifyAnswer>).and_then(|own| named(table, own));
    named.map_or(Cow::Borrowed(table), Cow::Owned)
}

fn named(table: &Table, jobs: &ClassifyAnswer) -> Option<Table> {
    let place = |name: &str| table.header.iter().position(|column| column == name);
    let (outcome, count) = (place("outcome")?, place("jobs")?);
    let row =
        table.rows.iter().position(|row| row.get(outcome).is_some_and(|own| own == "other"))?;
    let parts = main_parts(&jobs.sequences);
    let sum: u64 = parts.iter().map(|part| part.count).sum();
    let is_same = table.rows[row].get(count).is_some_and(|own| *own == sum.to_string());
    let words = parts.iter().map(|part| format!("{} {}", grouped(part.count), part.words));
    let words: Vec<String> = words.collect();
    (is_same && !words.is_empty()).then(|| {
        let mut own = table.clone();
        own.rows[row][outcome] = format!("other ({})", words.join(", "));
        own
    })
}

/// A row for each large part of `other`; a row for `other` itself if there is no part.
fn rows(answer: &ClassifyAnswer) -> Vec<Vec<String>> {
    let parts = main_parts(&answer.sequences).into_iter();
    let row = |words: &str, count: u64, share: f64| {
        vec![String::new(), words.to_owned(), count.to_string(), share.to_string()]
    };
    let rows: Vec<Vec<String>> =
        parts.map(|part| row(part.words, part.count, part.share)).collect();
    if rows.is_empty() { vec![row("other", 0, 0.0)] } else { rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::outcomes::OutcomeRow;

    #[test]
    fn the_rows_of_other_add_up_to_it() {
        let row = |sequence: &str, count: u64| OutcomeRow {
            sequence: Some(sequence.to_owned()),
            outcome: "other".to_owned(),
            count,
            share: 0.125,
        };
        let sequences = vec![row("05", 9), row("012", 4), row("0505", 2)];
        let rows = rows(&ClassifyAnswer { sequences, ..ClassifyAnswer::default() });
        let text: Vec<String> = rows.iter().map(|row| row[1..3].join(" ")).collect();
        assert_eq!(text, ["killed before the start 11", "evicted 4"]);
        assert_eq!(rows[0][3], "0.25");
        assert_eq!(super::rows(&ClassifyAnswer::default())[0][1..3], ["other", "0"]);
    }

    #[test]
    fn other_in_a_ledger_is_named_if_its_jobs_are_the_same() {
        let row = |sequence: &str, count: u64| OutcomeRow {
            sequence: Some(sequence.to_owned()),
            outcome: "other".to_owned(),
            count,
            share: 0.0,
        };
        let sequences = vec![row("05", 419), row("012", 86)];
        let jobs = ClassifyAnswer { sequences, ..ClassifyAnswer::default() };
        let own = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let table = |count: &str| Table {
            file: "account.csv".to_owned(),
            header: own(["outcome", "jobs"]),
            rows: vec![own(["finished", "9"]), own(["other", count])],
            row_count: 2,
        };
        let found = named(&table("505"), &jobs).unwrap();
        assert_eq!(found.rows[1][0], "other (419 killed before the start, 86 evicted)");
        assert!(named(&table("504"), &jobs).is_none(), "other jobs");
        assert!(named(&table("0"), &ClassifyAnswer::default()).is_none());
    }
}
