//! The table of outcomes with what the outcome `other` was, as its sentence says it.
//!
//! In: a stored classification and one of its tables. Out: the table with a row for each large part of
//! `other`; other tables as they are.

use std::borrow::Cow;

use crate::answers::classify::{ClassifyAnswer, KINDS, main_parts};
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

/// A row for each large part; that of `other` itself if nothing is.
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
}
